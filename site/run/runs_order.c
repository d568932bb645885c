/* SPDX-License-Identifier: Apache-2.0 */
/* runs_order.c: what a host is told about one run, known or not. */
#include "site/run/runs_parts.h"

/* An answer takes milliseconds; a busy host must not get more requests than needed. */
static const struct resend_waits waits = {.first_ms = 2000, .last_ms = 2000};

void runs_order_control(const struct runs *runs, int host, const struct run_id *id,
                        const struct run_control *control, struct effects *effects)
{
    struct msg msg = {.kind = MSG_RUN_CONTROL};
    msg.run_control.run = *id;
    msg.run_control.control = *control;
    host_table_send(runs->hosts, host, &msg, effects);
}

void runs_order_forget(const struct runs *runs, int host, const struct run_id *id,
                       struct effects *effects)
{
    struct msg msg = {.kind = MSG_RUN_FORGET};
    msg.run.run = *id;
    host_table_send(runs->hosts, host, &msg, effects);
}

static void send_start(const struct runs *runs, const struct run *run, int64_t now_ms,
                       struct effects *effects)
{
    struct msg msg = {.kind = MSG_RUN_START};
    msg.run_start = (struct msg_run_start){
        .run = run->id,
        .job = run->job,
        .lease = run->lease,
        .hosts = run->hosts,
        .n_hosts = run->n_hosts,
        .spec = *run->spec,
        .account = runs_account_of(runs, run, now_ms, effects),
        .terminate_ms = runs->setting.terminate_ms,
        .end_within_ms = msg_end_within_ms(run->end_by_ms, now_ms),
        .binding = run->binding,
    };
    host_table_send(runs->hosts, run->host, &msg, effects);
}

void runs_order_go(const struct runs *runs, struct run *run, struct effects *effects)
{
    struct msg msg = {.kind = MSG_RUN_GO};
    msg.run_go.run = run->id;
    msg.run_go.token = run->token;
    msg.run_go.commits =
        run->order_commit > runs->commits ? run->order_commit : runs->commits;
    run->go_session = host_table_session(runs->hosts, run->host);
    host_table_send(runs->hosts, run->host, &msg, effects);
}

/* Before it the host learns how many commits the journal has with the resize: if that
 * part is lost, the slots that the run has by it are asked for. */
static void send_resize(const struct runs *runs, struct run *run,
                        struct effects *effects)
{
    runs_order_go(runs, run, effects);
    const struct run_resizing *resizing = &run->resizing;
    struct msg msg = {.kind = MSG_RUN_RESIZE};
    msg.run_resize = (struct msg_run_resize){
        .run = run->id,
        .number = resizing->number,
        .event = resizing->event,
        .hosts = resizing->hosts,
        .n_hosts = resizing->n_hosts,
        .all = resizing->all,
        .n_all = resizing->n_all,
        .command = resizing->command,
    };
    host_table_send(runs->hosts, run->host, &msg, effects);
}

/* An answer of the host about this run is outstanding. */
bool runs_order_is_due(const struct runs *runs, const struct run *run)
{
    if (run->is_forgotten || run->is_orphan || run->record == RUN_RECORD_ENDED ||
        run->host < 0 || !host_table_is_ready(runs->hosts, run->host)) {
        return false;
    }
    return run->record == RUN_RECORD_TAKEN || !run->is_seen || !runs_has_begun(run) ||
           run->control.number > run->control_done || run->resizing.number != 0;
}

/* A run is not suspended while its command is notified of a change of its slots. */
static bool is_suspend_delayed(const struct run *run)
{
    return run->resizing.number != 0 && run->control.action == CONTROL_SUSPEND;
}

static void expect_answer(struct runs *runs, struct run *run, int64_t now_ms)
{
    resend_sent(&run->order, waits, now_ms);
    if (run->order.next_ms < runs->next_ms) {
        runs->next_ms = run->order.next_ms;
    }
}

/* Sends the host the next order for this run. */
void runs_order_drive(struct runs *runs, struct run *run, int64_t now_ms,
                      struct effects *effects)
{
    if (!runs_order_is_due(runs, run)) {
        return;
    }
    expect_answer(runs, run, now_ms);
    if (run->record == RUN_RECORD_TAKEN) {
        send_start(runs, run, now_ms, effects);
        return;
    }
    bool is_open = !run->is_seen || !runs_has_begun(run);
    if (is_open) {
        runs_order_go(runs, run, effects);
    }
    if (!is_open && run->resizing.number != 0) {
        send_resize(runs, run, effects);
    }
    if (run->control.number > run->control_done && !is_suspend_delayed(run) &&
        (!is_open || runs_is_killed(run))) {
        runs_order_control(runs, run->host, &run->id, &run->control, effects);
    }
}
