/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_reclaim_delay.c: `sublet reclaim-delay`: shows or sets the time between two
 * rebalances. Units: a bare number is minutes, as MC_RECLAIM_DELAY; suffixes s m h d.
 * Source: docs/design/interfaces.md "Command line"; docs/design/leases.md "Decided". */
#include <string.h>

#include "base/conf/conf.h"
#include "base/conf/conf_keys.h"
#include "cli/commands.h"
#include "cli/connect.h"
#include "cli/listing/listing.h"
#include "model/msg.h"

const struct call_option cmd_reclaim_delay_options[] = {
    {"--lease", "ID", "for this lease only", false},
    {"--provider", "SITE", "for all leases of this provider", false},
    {NULL, NULL, NULL, false},
};

static int set_delay(struct call *call, struct msg *msg)
{
    const char *text;
    int status = connect_request(call, msg, &msg->set_reclaim.request, &text);
    if (status == CALL_OK && text[0] != '\0') {
        call_say("%s", text);
    }
    return status;
}

/* The scope by the options; all leases without one. */
static int read_scope(const struct call *call, enum reclaim_scope *scope,
                      const char **name)
{
    const char *lease = call_value(call, "--lease");
    const char *provider = call_value(call, "--provider");
    if (lease != NULL && provider != NULL) {
        return call_misuse(call, "--lease and --provider together, expected one");
    }
    *scope = lease != NULL      ? RECLAIM_LEASE
             : provider != NULL ? RECLAIM_PROVIDER
                                : RECLAIM_ALL;
    *name = lease != NULL ? lease : provider != NULL ? provider : "";
    return CALL_OK;
}

/* Shows what counts for all, or for the lease or provider. The query has one name for
 * both: a lease's id has a `/`, and a site's name has none. */
static int show_delay(struct call *call, const struct msg_set_reclaim *scope)
{
    bool is_id = strchr(scope->name, '/') != NULL;
    if (scope->scope == RECLAIM_LEASE && !is_id) {
        return call_fail("lease \"%s\": no such lease; see `sublet leases`",
                         scope->name);
    }
    if (scope->scope == RECLAIM_PROVIDER && (is_id || scope->name[0] == '\0')) {
        return call_fail("site \"%s\": no such site; see `sublet sites`", scope->name);
    }
    struct msg_query query = listing_query(QUERY_RECLAIM);
    query.name = scope->name;
    return listing_run(call, &query, "lease or provider", &columns_reclaim);
}

int cmd_reclaim_delay_run(struct call *call)
{
    struct msg msg = {.kind = MSG_SET_RECLAIM};
    struct msg_set_reclaim *set = &msg.set_reclaim;
    struct err err;
    int status = read_scope(call, &set->scope, &set->name);
    if (status != CALL_OK) {
        return status;
    }
    if (call->n_operands == 0) {
        return show_delay(call, set);
    }
    if (call->n_operands > 1) {
        return call_misuse(call, "more than one value");
    }
    if (strcmp(call->operands[0], "default") == 0) {
        set->delay_ms = -1;
    } else if (conf_parse_key_duration(conf_keys_find("Parameters", "MC_RECLAIM_DELAY"),
                                       call->operands[0], &set->delay_ms, &err) != 0) {
        return call_misuse(call, "%s", err.text);
    }
    return set_delay(call, &msg);
}
