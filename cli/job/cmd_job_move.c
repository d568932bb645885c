/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_job_move.c: `sublet requeue`, `switch`, `btop` and `bbot`; `queue`, which opens,
 * closes, activates and inactivates a queue. */
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/connect.h"
#include "cli/job/job_answers.h"
#include "cli/job_operand.h"
#include "model/msg.h"

static int check_jobs(const struct call *call, int first)
{
    if (call->n_operands <= first) {
        return call_misuse(call, "no job, expected its id");
    }
    if (call->n_operands - first > JOBS_PER_COMMAND_MAX) {
        return call_misuse(call, "%d jobs, expected at most %d",
                           call->n_operands - first, JOBS_PER_COMMAND_MAX);
    }
    for (int i = first; i < call->n_operands; i++) {
        if (!job_operand_is_valid(call->operands[i])) {
            return call_misuse(call, "'%s' is not a job id, expected as 12 or 12[3]",
                               call->operands[i]);
        }
    }
    return CALL_OK;
}

/* Sends the message and prints the answer. */
static int ask(struct call *call, struct msg *msg, uint64_t *request)
{
    const char *text;
    int status = connect_request(call, msg, request, &text);
    if (status != CALL_OK) {
        return status;
    }
    puts(text);
    return call_finish_output();
}

static int order(struct call *call, struct msg *msg)
{
    struct connect *connect;
    struct msg_reply reply;
    struct err err;
    if (connect_new(call, &connect, &err) != 0) {
        return call_fail_err(&err);
    }
    int code = connect_ask(connect, msg, &msg->job_move.request, CONNECT_PATIENCE_MS,
                           &call->arena, &reply, &err);
    connect_free(connect);
    return job_answers_print(&reply, code, &err);
}

static int move_jobs(struct call *call, enum job_move move, const char *queue,
                     int first)
{
    struct msg msg = {.kind = MSG_JOB_MOVE};
    int status = check_jobs(call, first);
    if (status != CALL_OK) {
        return status;
    }
    msg.job_move.move = move;
    msg.job_move.queue = queue;
    msg.job_move.is_held = call_has(call, "-H");
    msg.job_move.jobs = (const char *const *)call->operands + first;
    msg.job_move.n_jobs = call->n_operands - first;
    return order(call, &msg);
}

const struct call_option cmd_job_move_options[] = {
    {"-H", NULL, "they are held (PSUSP) until they are resumed", false},
    {"--ended", NULL, "jobs that have ended are run again", false},
    {NULL, NULL, NULL, false},
};

int cmd_job_move_requeue(struct call *call)
{
    return move_jobs(call, call_has(call, "--ended") ? MOVE_RERUN : MOVE_REQUEUE, "",
                     0);
}

int cmd_job_move_rerun(struct call *call)
{
    return move_jobs(call, MOVE_RERUN, "", 0);
}

int cmd_job_move_switch(struct call *call)
{
    if (call->n_operands == 0) {
        return call_misuse(call, "no queue, expected QUEUE JOB...");
    }
    return move_jobs(call, MOVE_SWITCH, call->operands[0], 1);
}

int cmd_job_move_top(struct call *call)
{
    return move_jobs(call, MOVE_TOP, "", 0);
}

int cmd_job_move_bottom(struct call *call)
{
    return move_jobs(call, MOVE_BOTTOM, "", 0);
}

int cmd_job_move_queue(struct call *call)
{
    static const struct {
        const char *word;
        enum queue_order order;
    } orders[] = {{"open", QUEUE_OPEN},
                  {"close", QUEUE_CLOSE},
                  {"activate", QUEUE_ACTIVATE},
                  {"inactivate", QUEUE_INACTIVATE}};
    struct msg msg = {.kind = MSG_QUEUE_CONTROL};
    if (call->n_operands != 2) {
        return call_misuse(call, "expected open, close, activate or inactivate, and a "
                                 "queue");
    }
    for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
        if (strcmp(orders[i].word, call->operands[0]) == 0) {
            msg.queue_control.order = orders[i].order;
            msg.queue_control.queue = call->operands[1];
            return ask(call, &msg, &msg.queue_control.request);
        }
    }
    return call_misuse(call, "'%s', expected open, close, activate or inactivate",
                       call->operands[0]);
}
