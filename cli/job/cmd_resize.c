/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_resize.c: `sublet resize`: changes the slots of a running job.
 * Source: docs/design/interfaces.md "Command line"; LSF's bresize. */
#include <stdio.h>
#include <string.h>

#include "base/conf/conf.h"
#include "base/err.h"
#include "cli/commands.h"
#include "cli/connect.h"
#include "cli/job_operand.h"
#include "model/msg.h"

const struct call_option cmd_resize_options[] = {
    {"-c", NULL, "with release: the job requests no more slots afterwards", false},
    {NULL, NULL, NULL, false},
};

enum { JOB = 0, WHAT = 1, FIRST = 2 }; /* operands */

/* "2@n1", or "n1" for all slots of the job there. */
static int read_slots(struct call *call, const char *text, struct host_slots *slots)
{
    const char *at = strchr(text, '@');
    struct err err;
    int64_t number = 0;
    if (at != NULL &&
        conf_parse_int(arena_strn(&call->arena, text, (size_t)(at - text)), 1,
                       SLOTS_MAX, &number, &err) != 0) {
        return call_misuse(call, "%s: %s; expected SLOTS@HOST, or HOST", text,
                           err.text);
    }
    *slots =
        (struct host_slots){.host = at != NULL ? at + 1 : text, .n_slots = (int)number};
    return CALL_OK;
}

static int read_release(struct call *call, struct msg_job_resize *resize)
{
    bool is_kept =
        call->n_operands > FIRST && strcmp(call->operands[FIRST], "all-but") == 0;
    int first = is_kept ? FIRST + 1 : FIRST, n_hosts = call->n_operands - first;
    int status = CALL_OK;
    if (n_hosts <= 0 || n_hosts > HOSTS_MAX) {
        return call_misuse(call, "expected the hosts whose slots %s, as n1 or 2@n1",
                           is_kept ? "stay" : "go");
    }
    struct host_slots *hosts =
        arena_alloc(&call->arena, (size_t)n_hosts, sizeof(*hosts));
    for (int i = 0; status == CALL_OK && i < n_hosts; i++) {
        status = read_slots(call, call->operands[first + i], &hosts[i]);
    }
    resize->order = is_kept ? JOB_RESIZE_KEEP : JOB_RESIZE_RELEASE;
    resize->hosts = hosts;
    resize->n_hosts = n_hosts;
    resize->is_last = call_has(call, "-c");
    return status;
}

/* "slots=4" */
static int read_size(struct call *call, struct msg_job_resize *resize)
{
    static const char key[] = "slots=";
    const char *what = call->operands[WHAT];
    int64_t number;
    struct err err;
    if (strncmp(what, key, sizeof(key) - 1) != 0) {
        return call_misuse(call, "'%s', expected slots=N, release or cancel", what);
    }
    if (conf_parse_int(what + sizeof(key) - 1, 1, SLOTS_MAX, &number, &err) != 0) {
        return call_misuse(call, "slots: %s", err.text);
    }
    resize->order = JOB_RESIZE_TO;
    resize->n_slots = (int)number;
    return CALL_OK;
}

static int read_what(struct call *call, struct msg_job_resize *resize)
{
    const char *what = call->n_operands > WHAT ? call->operands[WHAT] : "";
    bool is_release = strcmp(what, "release") == 0;
    if (call_has(call, "-c") && !is_release) {
        return call_misuse(call, "-c requires release");
    }
    if (is_release) {
        return read_release(call, resize);
    }
    if (call->n_operands != FIRST) {
        return call_misuse(call,
                           "expected JOB, and slots=N, release HOST... or cancel");
    }
    if (strcmp(what, "cancel") == 0) {
        resize->order = JOB_RESIZE_CANCEL;
        return CALL_OK;
    }
    return read_size(call, resize);
}

int cmd_resize_run(struct call *call)
{
    struct msg msg = {.kind = MSG_JOB_RESIZE};
    const char *text;
    if (call->n_operands == 0 || !job_operand_is_valid(call->operands[JOB])) {
        return call_misuse(call, "'%s' is not a job id, expected as 12 or 12[3]",
                           call->n_operands > 0 ? call->operands[JOB] : "");
    }
    msg.job_resize.job = call->operands[JOB];
    int status = read_what(call, &msg.job_resize);
    if (status == CALL_OK) {
        status = connect_request(call, &msg, &msg.job_resize.request, &text);
    }
    if (status != CALL_OK) {
        return status;
    }
    puts(text);
    return call_finish_output();
}
