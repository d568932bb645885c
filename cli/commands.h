/* SPDX-License-Identifier: Apache-2.0 */
/* commands.h: functions and options for the table of commands in main.c.
 *
 * Each runs one command and returns its exit status (call.h).
 * Layer: cli. */
#ifndef SUBLET_CLI_COMMANDS_H
#define SUBLET_CLI_COMMANDS_H

#include "cli/call.h"
#include "model/msg.h"

extern const struct call_option cmd_resize_options[], cmd_submit_options[],
    cmd_modify_options[], cmd_jobs_options[], cmd_job_control_options[],
    cmd_peek_options[], cmd_resources_hosts_options[], cmd_load_options[],
    cmd_resources_queues_options[], cmd_leases_options[], cmd_leases_one_options[],
    cmd_reclaim_delay_options[], cmd_events_options[], cmd_simulate_options[],
    cmd_top_options[], main_version_options[], cmd_resreq_options[], cmd_plan_options[],
    cmd_hist_options[], cmd_job_group_options[], cmd_usage_options[],
    cmd_resources_limits_options[], cmd_runs_options[], cmd_slurm_options[];

int cmd_submit_run(struct call *call);
/* The words of a submission: `announce` gives the sentence that is printed about it
 * ("": none); with -K `waiting` and `finished` go to standard error. */
struct cmd_submit_words {
    const char *(*announce)(struct call *call, const struct msg_reply *reply);
    const char *waiting, *finished;
    bool complains; /* with -K, about a job that is not DONE */
    /* After a refusal, waits and returns true if the site is to be asked again. NULL:
     * it is never. */
    bool (*retry)(struct call *call, const struct msg_reply *reply, int n_tries);
};
/* Submits a job whose command is read, by the call's other options. */
int cmd_submit_as(struct call *call, struct msg *msg,
                  const struct cmd_submit_words *words);
/* BSUB_CHK_RESREQ: strictly checks the selection without submitting a job, by the names
 * that the site defines if it answers. */
int cmd_submit_check(struct call *call);
int cmd_modify_run(struct call *call);
int cmd_jobs_run(struct call *call);
int cmd_hist_run(struct call *call);
int cmd_usage_run(struct call *call);
int cmd_job_control_kill(struct call *call);
int cmd_job_control_stop(struct call *call);
int cmd_job_control_resume(struct call *call);
extern const struct call_option cmd_job_move_options[];
int cmd_job_move_requeue(struct call *call);
int cmd_job_move_rerun(struct call *call);
int cmd_job_move_switch(struct call *call);
int cmd_job_move_top(struct call *call);
int cmd_job_move_bottom(struct call *call);
int cmd_resize_run(struct call *call);
int cmd_job_move_queue(struct call *call);
int cmd_wait_run(struct call *call);
int cmd_peek_run(struct call *call);
int cmd_resources_hosts(struct call *call);
int cmd_resources_queues(struct call *call);
int cmd_resources_exports(struct call *call);
int cmd_resources_users(struct call *call);
int cmd_resources_limits(struct call *call);
int cmd_runs_run(struct call *call);
int cmd_slurm_run(struct call *call);
int cmd_load_run(struct call *call);
int cmd_leases_run(struct call *call);
int cmd_leases_one(struct call *call);
int cmd_rebalance_run(struct call *call);
int cmd_drain_run(struct call *call);
int cmd_drain_resume(struct call *call);
int cmd_drain_recover(struct call *call);
int cmd_job_group_list(struct call *call);
int cmd_job_group_order(struct call *call);
int cmd_host_control_close(struct call *call);
int cmd_host_control_open(struct call *call);
int cmd_reconfig_run(struct call *call);
int cmd_brokers_run(struct call *call);
int cmd_leases_sites(struct call *call);
int cmd_reclaim_delay_run(struct call *call);
int cmd_events_run(struct call *call);
int cmd_top_run(struct call *call);
int cmd_snapshot_run(struct call *call);
int cmd_plan_run(struct call *call);
int cmd_plan_live_pools(struct call *call);
extern const struct call_option cmd_check_options[];
int cmd_check_run(struct call *call);
int cmd_doctor_run(struct call *call);
int cmd_keygen_run(struct call *call);
int cmd_simulate_run(struct call *call);
int cmd_resreq_run(struct call *call);

#endif
