/* SPDX-License-Identifier: Apache-2.0 */
/* columns.c: see columns.h. */
#include "cli/listing/columns.h"

#include <string.h>

json_t *columns_find(const json_t *row, const char *path)
{
    while (json_is_object(row)) {
        json_t *whole = json_object_get(row, path);
        const char *dot = strchr(path, '.');
        char key[256];
        if (whole != NULL || dot == NULL || (size_t)(dot - path) >= sizeof key) {
            return whole;
        }
        memcpy(key, path, (size_t)(dot - path));
        key[dot - path] = '\0';
        row = json_object_get(row, key);
        path = dot + 1;
    }
    return NULL;
}

static const struct column jobs_table[] = {
    {"JOBID", "id", true, format_plain},
    {"USER", "user", false, format_plain},
    {"STAT", "state", false, format_plain},
    {"QUEUE", "queue", false, format_plain},
    {"SLOTS", "slots", true, format_plain},
    {"HOSTS", "hosts", false, format_hosts},
    {"JOB_NAME", "name", false, format_plain},
    {"SUBMIT_TIME", "submit_at", false, format_time},
    {NULL, NULL, false, NULL},
};

static const struct column jobs_block[] = {
    {"Job", "id", false, format_plain},
    {"Name", "name", false, format_plain},
    {"User", "user", false, format_plain},
    {"State", "state", false, format_plain},
    {"Reason", "reason", false, format_plain},
    {"Unmet requirements", "unmet", false, format_unmet},
    {"Leases", "leases", false, format_reasons},
    {"What to do", "hint", false, format_plain},
    {"Slots reserved", "reserved_slots", false, format_hosts},
    {"Reserves since", "reserved_since", false, format_time},
    {"Estimated start", "start_estimate", false, format_time},
    {"Backfill, slots of job", "backfill_of", false, format_plain},
    {"That job can start", "backfill_until", false, format_time},
    {"Ends with the gap", "backfill_end", false, format_time},
    {"Recalled by", "recall_at", false, format_time},
    {"Times preempted", "preemptions", false, format_count_if_any},
    {"Suspended for", "suspended_s", false, format_duration_if_any},
    {"Dependency", "depend", false, format_plain},
    {"Earliest start", "begin_at", false, format_time},
    {"Queue", "queue", false, format_plain},
    {"Project", "project", false, format_plain},
    {"User group", "user_group", false, format_plain},
    {"Command", "command", false, format_plain},
    {"Application", "app", false, format_plain},
    {"Limits", "limits", false, format_members},
    {"Pre-exec", "pre_exec", false, format_plain},
    {"Post-exec", "post_exec", false, format_plain},
    {"Slots", "slots", false, format_plain},
    {"Maximum slots", "max_slots", false, format_plain},
    {"Resizable", "resizable", false, format_plain},
    {"Requests more slots", "pending_slots", false, format_plain},
    {"Reason for that", "pending_slots_reason", false, format_plain},
    {"Being resized", "resizing", false, format_plain},
    {"Resize notification", "resize_notify", false, format_plain},
    {"Exclusive", "exclusive", false, format_plain},
    {"Interactive", "interactive", false, format_plain},
    {"Requirements", "resreq", false, format_plain},
    {"Reserves", "reserved", false, format_plain},
    {"Excluded hosts", "avoided", false, format_plain},
    {"Hosts", "hosts", false, format_hosts},
    {"Lease", "lease", false, format_plain},
    {"Submitted", "submit_at", false, format_time},
    {"Started", "start_at", false, format_time},
    {"Ended", "end_at", false, format_time},
    {"Exit code", "exit_code", false, format_plain},
    {NULL, NULL, false, NULL},
};

static const struct column hist_table[] = {
    {"JOBID", "id", true, format_plain},       {"USER", "user", false, format_plain},
    {"JOB_NAME", "name", false, format_plain}, {"STAT", "state", false, format_plain},
    {"PEND", "pend_s", true, format_plain},    {"PSUSP", "psusp_s", true, format_plain},
    {"RUN", "run_s", true, format_plain},      {"USUSP", "ususp_s", true, format_plain},
    {"SSUSP", "ssusp_s", true, format_plain},  {"UNKWN", "unkwn_s", true, format_plain},
    {"TOTAL", "total_s", true, format_plain},  {NULL, NULL, false, NULL},
};

const struct columns columns_hist = {
    .table = hist_table,
    .block = hist_table,
    .nothing = "nothing is on record of such jobs",
};

/* jobs -p -o; without -o it prints no table (cmd_jobs.c) */
static const struct column jobs_waiting[] = {
    {"JOBID", "id", true, format_plain},
    {"USER", "user", false, format_plain},
    {"STAT", "state", false, format_plain},
    {"QUEUE", "queue", false, format_plain},
    {"SLOTS", "slots", true, format_plain},
    {"JOB_NAME", "name", false, format_plain},
    {"REASON", "reason", false, format_plain},
    {NULL, NULL, false, NULL},
};

const struct columns columns_jobs_waiting = {
    .table = jobs_waiting,
    .block = jobs_block,
    .nothing = "no waiting job found",
};

const struct columns columns_jobs = {
    .table = jobs_table,
    .block = jobs_block,
    .nothing = "no unfinished job found",
};

static const struct column hosts_table[] = {
    {"HOST_NAME", "host", false, format_plain},
    {"STATUS", "status", false, format_plain},
    {"JL/U", "jl_u", true, format_plain},
    {"MAX", "max", true, format_plain},
    {"NJOBS", "njobs", true, format_plain},
    {"RUN", "run", true, format_plain},
    {"SSUSP", "ssusp", true, format_plain},
    {"USUSP", "ususp", true, format_plain},
    {"RSV", "rsv", true, format_plain},
    {NULL, NULL, false, NULL},
};

static const struct column hosts_block[] = {
    {"Host", "host", false, format_plain},
    {"Status", "status", false, format_plain},
    {"Slots", "max", false, format_plain},
    {"Slots of jobs", "njobs", false, format_plain},
    {"Running", "run", false, format_plain},
    {"Suspended", "ssusp", false, format_plain},
    {"Suspended by users", "ususp", false, format_plain},
    {"Reserved", "rsv", false, format_plain},
    {"Run window", "run_window", false, format_plain},
    {"Dispatch window", "dispatch_window", false, format_plain},
    {"Type", "type", false, format_plain},
    {"Model", "model", false, format_plain},
    {"Processor", "architecture", false, format_plain},
    {"CPU factor", "cpuf", false, format_plain},
    {"CPUs", "ncpus", false, format_plain},
    {"Sockets", "nprocs", false, format_plain},
    {"Cores per socket", "ncores", false, format_plain},
    {"Threads per core", "nthreads", false, format_plain},
    {"Disks", "ndisks", false, format_plain},
    {"Memory", "maxmem", false, format_size},
    {"Swap space", "maxswp", false, format_size},
    {"Space in /tmp", "maxtmp", false, format_size},
    {"Resources", "resources", false, format_plain},
    {"Values", "values", false, format_members},
    {"Load", "load", false, format_load},
    {"Reserved by jobs", "reserved", false, format_reserved},
    {"Lease", "lease", false, format_plain},
    {NULL, NULL, false, NULL},
};

/* Load thresholds, as bhosts -l and bqueues -l show them. */
static const struct column thresholds_table[] = {
    {"", "threshold", false, format_plain},
    {"r15s", "r15s", true, format_plain},
    {"r1m", "r1m", true, format_plain},
    {"r15m", "r15m", true, format_plain},
    {"ut", "ut", true, format_plain},
    {"pg", "pg", true, format_plain},
    {"io", "io", true, format_plain},
    {"ls", "ls", true, format_plain},
    {"it", "it", true, format_plain},
    {"tmp", "tmp", true, format_size},
    {"swp", "swp", true, format_size},
    {"mem", "mem", true, format_size},
    {"others", "resources", false, format_members},
    {NULL, NULL, false, NULL},
};

static const struct columns_below hosts_below[] = {
    {thresholds_table, "thresholds", "SCHEDULING_PARAMETERS_OF"},
    {NULL, NULL, NULL},
};

const struct columns columns_hosts = {
    .table = hosts_table,
    .block = hosts_block,
    .below = hosts_below,
    .nothing = "no host found",
};

static const struct column shared_table[] = {
    {"RESOURCE", "resource", false, format_plain},
    {"TOTAL", "total", true, format_plain},
    {"RESERVED", "reserved", true, format_plain},
    {"AVAIL", "available", true, format_plain},
    {"LOCATION", "location", false, format_plain},
    {NULL, NULL, false, NULL},
};

const struct columns columns_hosts_shared = {
    .table = shared_table,
    .nothing = "no shared resource found",
};

static const struct column load_table[] = {
    {"HOST_NAME", "host", false, format_plain},
    {"status", "status", false, format_plain},
    {"r15s", "r15s", true, format_index},
    {"r1m", "r1m", true, format_index},
    {"r15m", "r15m", true, format_index},
    {"ut", "ut", true, format_percent},
    {"pg", "pg", true, format_index},
    {"ls", "ls", true, format_plain},
    {"it", "it", true, format_plain},
    {"tmp", "tmp", true, format_size},
    {"swp", "swp", true, format_size},
    {"mem", "mem", true, format_size},
    {NULL, NULL, false, NULL},
};

const struct columns columns_load = {
    .table = load_table,
    .nothing = "no host found",
};

static const struct column exported_table[] = {
    {"HOST_NAME", "host", false, format_plain}, {"MAX", "max", true, format_plain},
    {"NJOBS", "njobs", true, format_plain},     {"RUN", "run", true, format_plain},
    {"SSUSP", "ssusp", true, format_plain},     {"USUSP", "ususp", true, format_plain},
    {"RSV", "rsv", true, format_plain},         {NULL, NULL, false, NULL},
};

static const struct column exported_block[] = {
    {"Host", "host", false, format_plain},
    {"Lease", "lease", false, format_plain},
    {"Slots", "exported", false, format_plain},
    {"Held by consumer", "max", false, format_plain},
    {"Slots of jobs", "njobs", false, format_plain},
    {"Running", "run", false, format_plain},
    {"Suspended", "ssusp", false, format_plain},
    {"Suspended by users", "ususp", false, format_plain},
    {"Reserved", "rsv", false, format_plain},
    {"Memory", "mem", false, format_size},
    {"Swap space", "swp", false, format_size},
    {"Resources", "resources", false, format_instances},
    {NULL, NULL, false, NULL},
};

const struct columns columns_hosts_exported = {
    .table = exported_table,
    .block = exported_block,
    .nothing = "no exported host found",
};

static const struct column queues_table[] = {
    {"QUEUE_NAME", "queue", false, format_plain},
    {"PRIO", "priority", true, format_plain},
    {"STATUS", "status", false, format_plain},
    {"MAX", "max", true, format_plain},
    {"JL/U", "jl_u", true, format_plain},
    {"JL/P", "jl_p", true, format_plain},
    {"JL/H", "jl_h", true, format_plain},
    {"NJOBS", "njobs", true, format_plain},
    {"PEND", "pend", true, format_plain},
    {"RUN", "run", true, format_plain},
    {"SUSP", "susp", true, format_plain},
    {"RSV", "rsv", true, format_plain},
    {NULL, NULL, false, NULL},
};

static const struct column queues_block[] = {
    {"Queue", "queue", false, format_plain},
    {"Description", "description", false, format_plain},
    {"Priority", "priority", false, format_plain},
    {"Status", "status", false, format_plain},
    {"Hosts", "hosts", false, format_plain},
    {"Placement", "placement", false, format_plain},
    {"Exclusive jobs", "exclusive", false, format_plain},
    {"Interactive jobs", "interactive", false, format_plain},
    {"Reserves slots for", "max_reserve_s", false, format_duration},
    {"Backfill", "backfill", false, format_plain},
    {"Users", "users", false, format_plain},
    {"Slots per job", "slots_per_job", false, format_members},
    {"Requested by running jobs", "pending_slots", false, format_plain},
    {"Maximum slots", "max", false, format_plain},
    {"Slots per user", "jl_u", false, format_plain},
    {"Slots per processor", "jl_p", false, format_plain},
    {"Slots per host", "jl_h", false, format_plain},
    {"Slot pool", "slot_pool", false, format_plain},
    {"Slot share", "slot_share", false, format_plain},
    {"Slot hours used", "slot_use_h", false, format_plain},
    {"Slot hours above its share", "slot_ahead_h", false, format_plain},
    {"Run window", "run_window", false, format_plain},
    {"Dispatch window", "dispatch_window", false, format_plain},
    {"Suspend condition", "stop_cond", false, format_plain},
    {"Resume condition", "resume_cond", false, format_plain},
    {"Preempts", "preempts", false, format_plain},
    {"Preempted by", "preempted_by", false, format_plain},
    {"Slots of jobs", "njobs", false, format_plain},
    {"Waiting", "pend", false, format_plain},
    {"Running", "run", false, format_plain},
    {"Suspended", "susp", false, format_plain},
    {"Reserved", "rsv", false, format_plain},
    {"Limits", "limits", false, format_members},
    {"Default limits", "default_limits", false, format_members},
    {"Before jobs", "pre_exec", false, format_plain},
    {"After jobs", "post_exec", false, format_plain},
    {"Starter", "job_starter", false, format_plain},
    {"Job controls", "job_controls", false, format_members},
    {"Requeue at exit", "requeue_exit_values", false, format_plain},
    {"Maximum requeues", "max_job_requeue", false, format_plain},
    {"Success at exit", "success_exit_values", false, format_plain},
    {"Rerunnable", "rerunnable", false, format_plain},
    {NULL, NULL, false, NULL},
};

/* Shares of a queue, as in bqueues -l. */
static const struct column shares_table[] = {
    {"USER/GROUP", "account", false, format_plain},
    {"SHARES", "shares", true, format_plain},
    {"PRIORITY", "priority", true, format_plain},
    {"STARTED", "started", true, format_plain},
    {"RESERVED", "reserved", true, format_plain},
    {"CPU_TIME", "cpu_s", true, format_index},
    {"RUN_TIME", "run_s", true, format_index},
    {NULL, NULL, false, NULL},
};

static const struct columns_below queues_below[] = {
    {thresholds_table, "thresholds", "SCHEDULING_PARAMETERS_OF"},
    {shares_table, "shares", "SHARE_INFO_FOR"},
    {NULL, NULL, NULL},
};

const struct columns columns_queues = {
    .table = queues_table,
    .block = queues_block,
    .nothing = "no queue found",
    .below = queues_below,
};

static const struct column users_table[] = {
    {"USER/GROUP", "user", false, format_plain},
    {"QUEUE", "queue", false, format_plain},
    {"ACCOUNT", "account", false, format_plain},
    {"SHARES", "shares", true, format_plain},
    {"PRIORITY", "priority", true, format_plain},
    {"CPU_TIME", "cpu_s", true, format_index},
    {"RUN_TIME", "run_s", true, format_index},
    {"NJOBS", "njobs", true, format_plain},
    {"PEND", "pend", true, format_plain},
    {"RUN", "run", true, format_plain},
    {"SSUSP", "ssusp", true, format_plain},
    {"USUSP", "ususp", true, format_plain},
    {NULL, NULL, false, NULL},
};

const struct columns columns_users = {
    .table = users_table,
    .nothing = "no user found",
};

static const struct column limits_table[] = {
    {"NAME", "name", false, format_plain},
    {"USERS", "users", false, format_plain},
    {"QUEUES", "queues", false, format_plain},
    {"HOSTS", "hosts", false, format_plain},
    {"PROJECTS", "projects", false, format_plain},
    {"EACH_OF", "each", false, format_plain},
    {"SLOTS", "slots", true, format_used},
    {"JOBS", "jobs", true, format_used},
    {NULL, NULL, false, NULL},
};

const struct columns columns_limits = {
    .table = limits_table,
    .nothing = "no such limit is in use; see 'sublet limits -a'",
};

static const struct column limits_configured_table[] = {
    {"NAME", "name", false, format_plain},
    {"USERS", "users", false, format_plain},
    {"QUEUES", "queues", false, format_plain},
    {"HOSTS", "hosts", false, format_plain},
    {"PROJECTS", "projects", false, format_plain},
    {"EACH_OF", "each", false, format_plain},
    {"SLOTS", "slots", true, format_used},
    {"SLOTS/P", "slots.per_processor", true, format_plain},
    {"JOBS", "jobs", true, format_used},
    {NULL, NULL, false, NULL},
};

const struct columns columns_limits_configured = {
    .table = limits_configured_table,
    .nothing = "no such limit is configured",
};

static const struct column exports_table[] = {
    {"LEASE", "lease", false, format_plain},
    {"POLICY", "policy", false, format_plain},
    {"CONSUMER", "consumer", false, format_plain},
    {"TYPE", "type", false, format_plain},
    {"EPOCH", "epoch", true, format_plain},
    {"STATE", "state", false, format_plain},
    {"SLOTS", "slots", true, format_plain},
    {"HELD_HERE", "provider", true, format_plain},
    {"LENT", "lent", true, format_plain},
    {"MEM", "mem", true, format_size},
    {"SWP", "swp", true, format_size},
    {"RESOURCES", "resources", false, format_instances},
    {NULL, NULL, false, NULL},
};

const struct columns columns_exports = {
    .table = exports_table,
    .nothing = "nothing is exported",
};

static const struct column leases_table[] = {
    {"LEASE", "id", false, format_plain},
    {"STATE", "state", false, format_plain},
    {"STATUS", "status", false, format_plain},
    {"EPOCH", "epoch", true, format_plain},
    {"TYPE", "type", false, format_plain},
    {"PROVIDER", "provider", true, format_side},
    {"CONSUMER", "consumer", true, format_side},
    {"NEXT", "next_rebalance_at", false, format_time},
    {"REASON", "reason", false, format_plain},
    {NULL, NULL, false, NULL},
};

static const struct column leases_block[] = {
    {"Lease", "id", false, format_plain},
    {"Type", "type", false, format_plain},
    {"State", "state", false, format_plain},
    {"Status", "status", false, format_plain},
    {"Epoch", "epoch", false, format_plain},
    {"Provider uses", "provider", true, format_side},
    {"Consumer uses", "consumer", true, format_side},
    {"Resources", "resources", false, format_instances},
    {"Drained", "drained", false, format_plain},
    {"Interactive jobs", "interactive", false, format_plain},
    {"Provider is behind, at epoch", "behind_epoch", false, format_plain},
    {"Reclaim delay", "reclaim_delay_s", false, format_duration},
    {"Next rebalance", "next_rebalance_at", false, format_time},
    {"Changed", "changed_at", false, format_time},
    {"Reason", "reason", false, format_plain},
    {NULL, NULL, false, NULL},
};

const struct columns columns_leases = {
    .table = leases_table,
    .block = leases_block,
    .nothing = "no lease found",
};

static const struct column lease_hosts_table[] = {
    {"HOST", "host", false, format_plain},
    {"SLOTS", "slots", true, format_plain},
    {"PROVIDER", "provider", true, format_side},
    {"CONSUMER", "consumer", true, format_side},
    {"MEM", "mem", true, format_size},
    {"SWP", "swp", true, format_size},
    {NULL, NULL, false, NULL},
};

const struct columns columns_lease_hosts = {
    .table = lease_hosts_table,
    .nothing = "the lease has no hosts",
};

static const struct column history_table[] = {
    {"AT", "at", false, format_time},
    {"EVENT", "event", false, format_plain},
    {"STATE", "state", false, format_plain},
    {"EPOCH", "epoch", true, format_plain},
    {"PROVIDER", "provider", true, format_side},
    {"CONSUMER", "consumer", true, format_side},
    {"REASON", "reason", false, format_plain},
    {NULL, NULL, false, NULL},
};

const struct columns columns_lease_history = {
    .table = history_table,
    .nothing = "no history found",
};

static const struct column sites_table[] = {
    {"SITE", "site", false, format_plain},
    {"ROLES", "roles", false, format_plain},
    {"STATUS", "status", false, format_plain},
    {"OWN", "slots.own", true, format_plain},
    {"USED", "slots.used", true, format_plain},
    {"LENT", "slots.lent", true, format_plain},
    {"BORROWED", "slots.borrowed", true, format_plain},
    {"PENDING", "pending", true, format_plain},
    {"DRAINED", "drained", false, format_plain},
    {"SINCE", "since", false, format_time},
    {NULL, NULL, false, NULL},
};

const struct columns columns_sites = {
    .table = sites_table,
    .nothing = "no site found",
};

static const struct column reclaim_table[] = {
    {"SCOPE", "scope", false, format_plain},
    {"NAME", "name", false, format_plain},
    {"DELAY", "delay_s", false, format_duration},
    {"SOURCE", "source", false, format_plain},
    {"OVERRIDE", "override_s", false, format_duration},
    {NULL, NULL, false, NULL},
};

const struct columns columns_reclaim = {
    .table = reclaim_table,
    .nothing = "no reclaim delay is set: 10m for all",
};

static const struct column pools_table[] = {
    {"POOL", "pool", false, format_plain},
    {"SLOTS", "slots", true, format_plain},
    {"CONFIGURED", "configured", true, format_plain},
    {"ALLOC", "alloc", true, format_plain},
    {"RECALLED", "recalled", true, format_plain},
    {"IDLE", "idle", true, format_plain},
    {"DEMAND", "demand", true, format_plain},
    {"HOSTS", "hosts", true, format_plain},
    {"PROVIDERS", "providers", true, format_plain},
    {"PLACEMENT", "placement", false, format_plain},
    {"WINDOW", "window", false, format_plain},
    {NULL, NULL, false, NULL},
};

const struct columns columns_pools = {
    .table = pools_table,
    .nothing = "the broker has no pools",
};

static const struct column plan_table[] = {
    {"NODE", "node", false, format_plain},
    {"SITE", "site", false, format_plain},
    {"OWNED", "owned", true, format_plain},
    {"SCALED", "scaled", true, format_plain},
    {"RESERVE", "reserve", true, format_plain},
    {"LIMIT", "limit", true, format_plain},
    {"DEMAND", "demand", true, format_plain},
    {"CLAIM", "claim", true, format_plain},
    {"QUOTA", "quota", true, format_plain},
    {"ALLOC", "alloc", true, format_plain},
    {"RECALLED", "recalled", true, format_plain},
    {"FREE", "free", true, format_plain},
    {"SHORTFALL", "shortfall", true, format_plain},
    {NULL, NULL, false, NULL},
};

const struct columns columns_plan = {
    .table = plan_table,
    .nothing = "the plan has no nodes",
};

static const struct column plan_why_table[] = {
    {"NODE", "node", false, format_plain},
    {"QUOTA", "quota", true, format_plain},
    {"ALLOC", "alloc", true, format_plain},
    {"RULE", "rule", false, format_plain},
    {"WHY", "why", false, format_plain},
    {"LAST MOVE", "moved", false, format_plain},
    {NULL, NULL, false, NULL},
};

const struct columns columns_plan_why = {
    .table = plan_why_table,
    .nothing = "the plan has no such node",
};

static const struct column quota_table[] = {
    {"NODE", "node", false, format_plain},
    {"OWNED", "owned", true, format_plain},
    {"SCALED", "scaled", true, format_plain},
    {"RESERVE", "reserve", true, format_plain},
    {"LIMIT", "limit", true, format_plain},
    {"DEMAND", "demand", true, format_plain},
    {"CLAIM", "claim", true, format_plain},
    {"QUOTA", "quota", true, format_plain},
    {"ALLOC", "alloc", true, format_plain},
    {"GRANT", "grant", true, format_plain},
    {"RECALL", "recall", true, format_plain},
    {"FREE", "free", true, format_plain},
    {NULL, NULL, false, NULL},
};

const struct columns columns_quota = {
    .table = quota_table,
    .nothing = "the plan has no nodes",
};

static const struct column explain_table[] = {
    {"NODE", "node", false, format_plain},
    {"QUOTA", "quota", true, format_plain},
    {"RULE", "rule", false, format_plain},
    {"WHY", "why", false, format_plain},
    {NULL, NULL, false, NULL},
};

const struct columns columns_explain = {
    .table = explain_table,
    .nothing = "the plan has no nodes",
};
