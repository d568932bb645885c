/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_drain.c: `sublet lease drain` and `lease resume`: drains a lease, or all leases
 * of a site, for maintenance, and resumes them. `lease recover`: lets a provider that
 * has lost its ledger continue a lease.
 *
 * The order is stored when it is answered. Then progress is polled once per second
 * until the last job on the leases has ended. Interrupting the wait does not undo the
 * order. The wait continues over restarts of the daemon.
 *
 * Units: seconds for --timeout, or suffixes s m h d. Exit: 0 drained (with --no-wait:
 * stored), 1 refused, timed out, or resumed meanwhile. Source:
 * docs/design/interfaces.md "Command line"; docs/adr/0004. */
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/conf/conf.h"
#include "cli/commands.h"
#include "cli/connect.h"
#include "cli/listing/listing.h"
#include "model/msg.h"
#include "sys/daemon.h"

enum { LOOK_MS = 1000 };

struct drain {
    struct call *call;
    enum drain_scope scope;
    const char *name;    /* of the lease, or site */
    int64_t deadline_ms; /* of the wait; INT64_MAX: none */
    bool is_shown;       /* a progress line is on the terminal */
};

/* The remaining leases and slots. */
struct progress {
    int n_leases;    /* that have not ended */
    int n_used;      /* their slots in use */
    bool is_drained; /* the order is still in force */
};

/* ---------------------------------------------------------------- the order */

static int read_target(struct call *call, struct drain *drain)
{
    const char *site = call_value(call, "--site");
    const char *verb = call->operands[0];
    *drain = (struct drain){.call = call, .deadline_ms = INT64_MAX};
    if (call->n_operands != (site != NULL ? 1 : 2)) {
        return call_misuse(
            call,
            "%s: expected one lease's id, PROVIDER/POLICY/CONSUMER, or --site SITE",
            verb);
    }
    drain->scope = site != NULL ? DRAIN_SITE : DRAIN_LEASE;
    drain->name = site != NULL ? site : call->operands[1];
    return CALL_OK;
}

static int read_timeout(struct call *call, struct drain *drain)
{
    const char *text = call_value(call, "--timeout");
    int64_t timeout_ms;
    struct err err;
    if (text == NULL) {
        return CALL_OK;
    }
    if (conf_parse_duration(text, 1000, &timeout_ms, &err) != 0) {
        return call_misuse(call, "--timeout: %s", err.text);
    }
    drain->deadline_ms = daemon_now_ms() + timeout_ms;
    return CALL_OK;
}

enum order { ORDER_RESUME, ORDER_DRAIN, ORDER_RECOVER };

static int send_order(const struct drain *drain, enum order order)
{
    struct msg msg = {.kind = MSG_SET_DRAIN};
    const char *text;
    msg.set_drain.scope = drain->scope;
    msg.set_drain.name = drain->name;
    msg.set_drain.is_drained = order == ORDER_DRAIN;
    msg.set_drain.is_recovery = order == ORDER_RECOVER;
    int status = connect_request(drain->call, &msg, &msg.set_drain.request, &text);
    if (status == CALL_OK) {
        call_say("%s", text);
    }
    return status;
}

/* ---------------------------------------------------------------- progress */

/* The leases of the order, without ended leases of a site. */
static int fetch_leases(const struct drain *drain, struct connect *connect,
                        struct listing *leases, struct err *err)
{
    struct msg_query query = listing_query(QUERY_LEASES);
    if (drain->scope == DRAIN_LEASE) {
        query.name = drain->name;
        return listing_fetch(leases, connect, &query, err);
    }
    query.provider = drain->name;
    int rc = listing_fetch(leases, connect, &query, err);
    query.provider = "";
    query.consumer = drain->name;
    return rc == 0 ? listing_fetch(leases, connect, &query, err) : rc;
}

static bool is_drained(const json_t *row)
{
    return json_is_true(json_object_get(row, "drained"));
}

static int fetch_site(const struct drain *drain, struct connect *connect,
                      bool *is_site_drained, struct err *err)
{
    struct listing sites = {0};
    struct msg_query query = listing_query(QUERY_SITES);
    query.name = drain->name;
    int rc = listing_fetch(&sites, connect, &query, err);
    *is_site_drained = rc == 0 && is_drained(json_array_get(sites.rows, 0));
    listing_free(&sites);
    return rc;
}

static void sum_up(const struct listing *leases, struct progress *progress)
{
    size_t at;
    json_t *row;
    json_array_foreach(leases->rows, at, row)
    {
        const char *state = json_string_value(json_object_get(row, "state"));
        if (state == NULL || strcmp(state, "ended") == 0) {
            continue;
        }
        progress->n_leases++;
        progress->n_used += (int)json_integer_value(columns_find(row, "consumer.used"));
    }
}

static int look(const struct drain *drain, struct listing *leases,
                struct progress *progress, struct err *err)
{
    struct connect *connect;
    memset(progress, 0, sizeof(*progress));
    int rc = connect_new(drain->call, &connect, err);
    if (rc != 0) {
        return rc;
    }
    rc = fetch_leases(drain, connect, leases, err);
    if (rc == 0 && drain->scope == DRAIN_SITE) {
        rc = fetch_site(drain, connect, &progress->is_drained, err);
    } else if (rc == 0) {
        progress->is_drained = is_drained(json_array_get(leases->rows, 0));
    }
    if (rc == 0) {
        sum_up(leases, progress);
    }
    connect_free(connect);
    return rc;
}

/* ---------------------------------------------------------------- waiting */

/* Overwrites the progress line; NULL removes it. */
static void show(struct drain *drain, const char *line)
{
    if (!isatty(STDERR_FILENO) || (line == NULL && !drain->is_shown)) {
        return;
    }
    fprintf(stderr, "\r\033[K%s", line != NULL ? line : "");
    fflush(stderr);
    drain->is_shown = line != NULL;
}

static void show_progress(struct drain *drain, const struct progress *progress)
{
    struct arena *arena = &drain->call->arena;
    if (drain->scope == DRAIN_LEASE) {
        show(drain, arena_printf(arena, "draining %s: slots in use: %d", drain->name,
                                 progress->n_used));
    } else {
        show(drain, arena_printf(arena, "draining %s: leases: %d, slots in use: %d",
                                 drain->name, progress->n_leases, progress->n_used));
    }
}

static int give_up(struct drain *drain, const char *why)
{
    const char *what = drain->scope == DRAIN_LEASE ? "lease" : "site";
    show(drain, NULL);
    return call_fail("%s <%s> %s; see 'sublet leases'", what, drain->name, why);
}

static int finish(struct drain *drain, struct listing *leases)
{
    show(drain, NULL);
    call_say(drain->scope == DRAIN_LEASE ? "Lease <%s> is drained."
                                         : "Site <%s> is drained.",
             drain->name);
    return call_has(drain->call, "--json")
               ? listing_show(drain->call, leases, &columns_leases)
               : call_finish_output();
}

/* True if the wait is over, with its exit status. */
static bool is_over(struct drain *drain, int *status)
{
    struct listing leases = {0};
    struct progress progress;
    struct err err;
    int rc = look(drain, &leases, &progress, &err);
    bool is_done = true;
    if (rc == ERR_AWAY) {
        show(drain, "the daemon cannot be reached; the order remains in force");
        is_done = false;
    } else if (rc != 0) {
        show(drain, NULL);
        *status = call_fail_err(&err);
    } else if (!progress.is_drained) {
        *status = give_up(drain, "was resumed meanwhile");
    } else if (progress.n_leases == 0) {
        *status = finish(drain, &leases);
    } else {
        show_progress(drain, &progress);
        is_done = false;
    }
    listing_free(&leases);
    return is_done;
}

static int wait_until_drained(struct drain *drain)
{
    int status = CALL_OK;
    while (!is_over(drain, &status)) {
        int64_t left_ms = drain->deadline_ms - daemon_now_ms();
        if (left_ms <= 0) {
            return give_up(drain, "still drains");
        }
        poll(NULL, 0, left_ms < LOOK_MS ? (int)left_ms : LOOK_MS);
    }
    return status;
}

int cmd_drain_run(struct call *call)
{
    struct drain drain;
    int status = read_target(call, &drain);
    if (status == CALL_OK) {
        status = read_timeout(call, &drain);
    }
    if (status == CALL_OK) {
        status = send_order(&drain, ORDER_DRAIN);
    }
    if (status != CALL_OK || call_has(call, "--no-wait")) {
        return status;
    }
    return wait_until_drained(&drain);
}

int cmd_drain_resume(struct call *call)
{
    struct drain drain;
    int status = read_target(call, &drain);
    return status == CALL_OK ? send_order(&drain, ORDER_RESUME) : status;
}

int cmd_drain_recover(struct call *call)
{
    struct drain drain;
    int status = read_target(call, &drain);
    if (status == CALL_OK && drain.scope == DRAIN_SITE) {
        return call_misuse(call, "recover: one lease at a time, not --site");
    }
    return status == CALL_OK ? send_order(&drain, ORDER_RECOVER) : status;
}
