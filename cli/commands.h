/* SPDX-License-Identifier: Apache-2.0 */
/* commands.h: the functions and options behind the table of commands in main.c.
 *
 * Each runs one command and returns its exit status (call.h).
 * Layer: cli. */
#ifndef SUBLET_CLI_COMMANDS_H
#define SUBLET_CLI_COMMANDS_H

#include "cli/call.h"

extern const struct call_option cmd_resize_options[];
extern const struct call_option cmd_submit_options[], jobs_options[], control_options[],
    peek_options[], sites_options[], hosts_options[], load_options[], queues_options[],
    leases_options[], lease_options[], reclaim_options[], events_options[],
    simulate_options[], top_options[], version_options[], resreq_options[],
    plan_options[], pools_options[], hist_options[], limits_options[];

int submit_run(struct call *call);
int jobs_run(struct call *call);
int hist_run(struct call *call);
int control_kill(struct call *call);
int control_stop(struct call *call);
int control_resume(struct call *call);
int moves_requeue(struct call *call);
int moves_switch(struct call *call);
int moves_top(struct call *call);
int moves_bottom(struct call *call);
int resize_run(struct call *call);
int moves_queue(struct call *call);
int wait_run(struct call *call);
int peek_run(struct call *call);
int resources_hosts(struct call *call);
int resources_queues(struct call *call);
int resources_exports(struct call *call);
int resources_users(struct call *call);
int resources_limits(struct call *call);
int cmd_load_run(struct call *call);
int leases_run(struct call *call);
int leases_one(struct call *call);
int drain_run(struct call *call);
int drain_resume(struct call *call);
int drain_recover(struct call *call);
int hosts_close(struct call *call);
int hosts_open(struct call *call);
int reconfig_run(struct call *call);
int leases_sites(struct call *call);
int reclaim_run(struct call *call);
int events_run(struct call *call);
int top_run(struct call *call);
int snapshot_run(struct call *call);
int plan_run(struct call *call);
int cmd_plan_live_pools(struct call *call);
int check_run(struct call *call);
int keygen_run(struct call *call);
int cmd_simulate_run(struct call *call);
int resreq_run(struct call *call);

#endif
