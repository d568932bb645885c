/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_runs.c: `sublet runs`: the runs that the site's journal does not have, and what
 * becomes of them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/connect.h"
#include "cli/listing/listing.h"
#include "model/msg.h"

const struct call_option cmd_runs_options[] = {
    {"--orphans", NULL, "lists runs that the journal does not have", false},
    {"--adopt", NULL, "makes jobs of these runs", false},
    {"--end", NULL, "ends these runs", false},
    {"--accept-loss", NULL, "ends the alarm of a journal that was behind", false},
    {NULL, NULL, NULL, false},
};

/* "41", or "41@n1" with the host, or the provider. */
static bool read_run(const char *text, struct msg_orphan *order)
{
    char *end;
    errno = 0;
    order->attempt = strtoull(text, &end, 10);
    order->host = *end == '@' ? end + 1 : "";
    return text[0] >= '1' && text[0] <= '9' && errno == 0 &&
           order->attempt <= INT64_MAX && (*end == '\0' || (*end == '@' && end[1]));
}

static int decide(struct call *call, struct connect *connect,
                  const struct msg_orphan *order)
{
    struct msg msg = {.kind = MSG_ORPHAN, .orphan = *order};
    struct msg_reply reply;
    struct err err;
    if (connect_ask(connect, &msg, &msg.orphan.request, CONNECT_PATIENCE_MS,
                    &call->arena, &reply, &err) != 0) {
        return call_fail_err(&err);
    }
    puts(reply.text);
    return CALL_OK;
}

static int decide_all(struct call *call, enum orphan_order what)
{
    struct connect *connect;
    struct err err;
    int status = CALL_OK;
    struct msg_orphan order = {.order = what, .host = ""};
    for (int i = 0; i < call->n_operands; i++) {
        if (!read_run(call->operands[i], &order)) {
            return call_misuse(call, "a run is its number, or NUMBER@HOST");
        }
    }
    if (connect_new(call, &connect, &err) != 0) {
        return call_fail_err(&err);
    }
    for (int i = 0; i < call->n_operands; i++) {
        (void)read_run(call->operands[i], &order);
        int one = decide(call, connect, &order);
        status = status != CALL_OK ? status : one;
    }
    if (what == ORPHAN_ACCEPT_LOSS) {
        status = decide(call, connect, &order);
    }
    connect_free(connect);
    return status != CALL_OK ? status : call_finish_output();
}

int cmd_runs_run(struct call *call)
{
    bool adopts = call_has(call, "--adopt"), ends = call_has(call, "--end"),
         accepts = call_has(call, "--accept-loss");
    bool names_runs = adopts || ends;
    if (call_has(call, "--orphans") + adopts + ends + accepts != 1) {
        return call_misuse(
            call, "expected one of --orphans, --adopt, --end and --accept-loss");
    }
    if (names_runs != (call->n_operands > 0)) {
        return call_misuse(call, names_runs
                                     ? "no run, expected its number as listed by "
                                       "--orphans"
                                     : "takes no operands");
    }
    if (names_runs || accepts) {
        return decide_all(call, adopts ? ORPHAN_ADOPT
                                : ends ? ORPHAN_END
                                       : ORPHAN_ACCEPT_LOSS);
    }
    struct msg_query query = listing_query(QUERY_RUNS);
    return listing_run(call, &query, "run", &columns_runs);
}
