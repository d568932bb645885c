/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_leases.c: `sublet leases`, `lease show/history` and `sites`.
 * Source: docs/design/interfaces.md "Command line". */
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/listing/listing.h"
#include "model/msg.h"

const struct call_option cmd_leases_options[] = {
    {"--all", NULL, "the ended ones too", false},
    {"--provider", "SITE", "of this provider", false},
    {"--consumer", "SITE", "of this consumer", false},
    {"--state", "STATE", "pending, active, inactive, draining or ended", false},
    {"-l", NULL, "in full", false},
    {NULL, NULL, NULL, false},
};

const struct call_option cmd_leases_one_options[] = {
    {"--site", "SITE", "drain, resume: all leases of this site, also future ones",
     false},
    {"--no-wait", NULL, "drain: do not wait for the last job to end", false},
    {"--timeout", "TIME", "drain: wait so long at most (seconds, or s m h d)", false},
    {NULL, NULL, NULL, false},
};

static int take_state(const struct call *call, struct msg_query *query)
{
    const char *word = call_value(call, "--state");
    for (int state = LEASE_PENDING; word != NULL && state <= LEASE_ENDED; state++) {
        if (strcmp(word, msg_lease_state_name((enum lease_state)state)) == 0) {
            query->states = 1 << state;
        }
    }
    return word == NULL || query->states != 0
               ? CALL_OK
               : call_misuse(call,
                             "--state: '%s', expected pending, active, inactive, "
                             "draining or ended",
                             word);
}

int cmd_leases_run(struct call *call)
{
    struct msg_query query = listing_query(QUERY_LEASES);
    int status = take_state(call, &query);
    if (status != CALL_OK) {
        return status;
    }
    query.provider = call_text(call, "--provider");
    query.consumer = call_text(call, "--consumer");
    query.with_ended = call_has(call, "--all") || call->n_operands > 0;
    return listing_run(call, &query, "lease", &columns_leases);
}

int cmd_leases_sites(struct call *call)
{
    struct msg_query query = listing_query(QUERY_SITES);
    return listing_run(call, &query, "site", &columns_sites);
}

/* Shows the whole contract, then its hosts. */
static int show_lease(struct call *call, struct listing *listing)
{
    const json_t *row = json_array_get(listing->rows, 0);
    if (call_has(call, "--json") || call_has(call, "-o")) {
        return listing_show(call, listing, &columns_leases);
    }
    table_print_blocks(&call->arena, columns_leases.block, listing->rows);
    putchar('\n');
    table_print(&call->arena, columns_lease_hosts.table, json_object_get(row, "hosts"),
                !call_has(call, "--noheader"));
    return call_finish_output();
}

static int show_one(struct call *call, const char *id, enum query_kind kind)
{
    struct listing listing = {0};
    struct msg_query query = listing_query(kind);
    query.name = id;
    query.with_ended = true;
    int status = listing_get(call, &query, &listing);
    if (status == CALL_OK && json_array_size(listing.rows) == 0) {
        status = call_fail("lease <%s> is not found; see 'sublet leases --all'", id);
    } else if (status == CALL_OK && kind == QUERY_LEASES) {
        status = show_lease(call, &listing);
    } else if (status == CALL_OK) {
        status = listing_show(call, &listing, &columns_lease_history);
    }
    listing_free(&listing);
    return status;
}

int cmd_leases_one(struct call *call)
{
    const char *verb = call->n_operands > 0 ? call->operands[0] : "";
    bool is_show = strcmp(verb, "show") == 0;
    if (strcmp(verb, "drain") == 0) {
        return cmd_drain_run(call);
    }
    if (strcmp(verb, "resume") == 0) {
        return cmd_drain_resume(call);
    }
    if (strcmp(verb, "recover") == 0) {
        return cmd_drain_recover(call);
    }
    if (call_has(call, "--site") || call_has(call, "--no-wait") ||
        call_has(call, "--timeout")) {
        return call_misuse(call, "--site, --no-wait, --timeout: only with drain");
    }
    if (!is_show && strcmp(verb, "history") != 0) {
        return call_misuse(
            call, "expected show, history, drain, resume or recover, and a lease's id");
    }
    if (call->n_operands != 2) {
        return call_misuse(
            call, "%s: expected one lease's id, PROVIDER/POLICY/CONSUMER", verb);
    }
    return show_one(call, call->operands[1],
                    is_show ? QUERY_LEASES : QUERY_LEASE_HISTORY);
}
