/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_job_control.c: `sublet kill`, `stop` and `resume`: orders about one or more jobs.
 * Source: docs/design/interfaces.md "Command line"; LSF's bkill, bstop, bresume. */
#include <ctype.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/connect.h"
#include "cli/job/job_answers.h"
#include "cli/job_operand.h"
#include "model/msg.h"

const struct call_option cmd_job_control_options[] = {
    {"-s", "SIGNAL", "send this signal instead: USR1, SIGUSR1 or 10", false},
    {"-C", "TEXT", "of kill: why, for `jobs -l` and `hist`", false},
    {NULL, NULL, NULL, false},
};

/* "USR1", "SIGUSR1", "10"; 0 if it is not a signal. */
static int read_signal(const char *text)
{
    char *end;
    long number = strtol(text, &end, 10);
    if (end != text && *end == '\0') {
        return number > 0 && number < NSIG ? (int)number : 0;
    }
    if (strncasecmp(text, "SIG", 3) == 0) {
        text += 3;
    }
    for (int i = 1; i < NSIG; i++) {
        const char *name = sigabbrev_np(i);
        if (name != NULL && strcasecmp(name, text) == 0) {
            return i;
        }
    }
    return 0;
}

/* Checks for ids, or one "0" for all jobs of the caller. */
static int check_jobs(const struct call *call)
{
    if (call->n_operands == 0) {
        return call_misuse(call, "no job, expected its id, or 0 for all of your jobs");
    }
    for (int i = 0; i < call->n_operands; i++) {
        const char *job = call->operands[i];
        if (strcmp(job, "0") == 0 && call->n_operands == 1) {
            continue;
        }
        if (!job_operand_is_valid(job)) {
            return call_misuse(call,
                               "'%s' is not a job id, expected a number, or 0 alone "
                               "for all of your jobs",
                               job);
        }
    }
    return CALL_OK;
}

/* "0" may be more jobs than one request reaches; each request reaches others. */
static bool is_to_be_repeated(const struct msg *msg, const struct err *err)
{
    return err->code == ERR_FULL && strcmp(msg->job_control.jobs[0], "0") == 0 &&
           msg->job_control.action != CONTROL_SIGNAL;
}

/* Splits the jobs into messages of at most JOBS_PER_COMMAND_MAX. */
enum { ALL_REACHED = 2000 }; /* by one request, at least (site/api/job_signal.c) */
static int send_orders(struct call *call, struct connect *connect,
                       const struct msg_job_control *order)
{
    int status = CALL_OK;
    for (int at = 0; at < call->n_operands; at += JOBS_PER_COMMAND_MAX) {
        struct msg msg = {.kind = MSG_JOB_CONTROL, .job_control = *order};
        struct msg_reply reply;
        struct err err;
        int left = call->n_operands - at;
        msg.job_control.jobs = (const char *const *)call->operands + at;
        msg.job_control.n_jobs =
            left < JOBS_PER_COMMAND_MAX ? left : JOBS_PER_COMMAND_MAX;
        int code, n_tries = 0;
        do {
            code = connect_ask(connect, &msg, &msg.job_control.request,
                               CONNECT_PATIENCE_MS, &call->arena, &reply, &err);
        } while (code != 0 && is_to_be_repeated(&msg, &err) &&
                 ++n_tries <= JOBS_MAX / ALL_REACHED);
        int one = job_answers_print(&reply, code, &err);
        status = status != CALL_OK ? status : one;
    }
    return status;
}

static int order_jobs(struct call *call, const struct msg_job_control *order)
{
    struct connect *connect;
    struct err err;
    int status = check_jobs(call);
    if (status != CALL_OK) {
        return status;
    }
    if (connect_new(call, &connect, &err) != 0) {
        return call_fail_err(&err);
    }
    status = send_orders(call, connect, order);
    connect_free(connect);
    return status;
}

/* -C: one line of UTF-8. */
static int check_reason(const struct call *call, const char *reason)
{
    json_t *text = json_string(reason); /* NULL: it is not UTF-8 */
    bool is_good = text != NULL;
    json_decref(text);
    for (const char *at = reason; *at != '\0'; at++) {
        is_good = is_good && !iscntrl((unsigned char)*at);
    }
    return is_good && strlen(reason) <= KILL_REASON_MAX
               ? CALL_OK
               : call_misuse(call,
                             "-C: expected a reason of one line, in UTF-8, of at most "
                             "%d bytes",
                             KILL_REASON_MAX);
}

int cmd_job_control_kill(struct call *call)
{
    struct msg_job_control order = {.action = CONTROL_KILL,
                                    .reason = call_text(call, "-C")};
    const char *name = call_value(call, "-s");
    if (check_reason(call, order.reason) != CALL_OK) {
        return CALL_MISUSED;
    }
    if (name != NULL) {
        order.action = CONTROL_SIGNAL;
        order.signal = read_signal(name);
        if (order.signal == 0) {
            return call_misuse(call,
                               "-s: no signal '%s', expected a name as TERM or a "
                               "number",
                               name);
        }
    }
    return order_jobs(call, &order);
}

int cmd_job_control_stop(struct call *call)
{
    return order_jobs(call, &(struct msg_job_control){.action = CONTROL_SUSPEND});
}

int cmd_job_control_resume(struct call *call)
{
    return order_jobs(call, &(struct msg_job_control){.action = CONTROL_RESUME});
}
