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

/* A column is written as what it shows: text, a number and so on. What is a number is
 * aligned to the right. COLUMNS adds the end of the list. */
/* clang-format off */
#define COLUMNS(...) {__VA_ARGS__, {NULL, NULL, false, NULL}}
#define TEXT(heading, path) {heading, path, false, format_plain}
#define NUMBER(heading, path) {heading, path, true, format_plain}
#define COUNT_IF_ANY(heading, path) {heading, path, false, format_count_if_any}
#define DURATION(heading, path) {heading, path, false, format_duration}
#define DURATION_IF_ANY(heading, path) {heading, path, false, format_duration_if_any}
#define HOSTS(heading, path) {heading, path, false, format_hosts}
#define INDEX(heading, path) {heading, path, true, format_index}
#define INSTANCES(heading, path) {heading, path, false, format_instances}
#define KIB(heading, path) {heading, path, false, format_kib}
#define LOAD(heading, path) {heading, path, false, format_load}
#define MEMBERS(heading, path) {heading, path, false, format_members}
#define PERCENT(heading, path) {heading, path, true, format_percent}
#define REASONS(heading, path) {heading, path, false, format_reasons}
#define RESERVED(heading, path) {heading, path, false, format_reserved}
#define SIDE(heading, path) {heading, path, true, format_side}
#define SIZE(heading, path) {heading, path, true, format_size}
#define TIME(heading, path) {heading, path, false, format_time}
#define UNMET(heading, path) {heading, path, false, format_unmet}
#define USED(heading, path) {heading, path, true, format_used}
#define EACH_USED(heading, path) {heading, path, false, format_each_used}
/* clang-format on */

static const struct column jobs_table[] =
    COLUMNS(NUMBER("JOBID", "id"), TEXT("USER", "user"), TEXT("STAT", "state"),
            TEXT("QUEUE", "queue"), NUMBER("SLOTS", "slots"), HOSTS("HOSTS", "hosts"),
            TEXT("JOB_NAME", "name"), TIME("SUBMIT_TIME", "submit_at"));

static const struct column jobs_block[] = COLUMNS(
    TEXT("Job", "id"), TEXT("Name", "name"), TEXT("User", "user"),
    TEXT("State", "state"), TEXT("Reason", "reason"),
    UNMET("Unmet requirements", "unmet"), REASONS("Leases", "leases"),
    TEXT("What to do", "hint"), HOSTS("Slots reserved", "reserved_slots"),
    TIME("Reserves since", "reserved_since"), TIME("Estimated start", "start_estimate"),
    TEXT("Backfill, slots of job", "backfill_of"),
    TIME("That job can start", "backfill_until"),
    TIME("Ends with the gap", "backfill_end"), TIME("Recalled by", "recall_at"),
    COUNT_IF_ANY("Times preempted", "preemptions"),
    DURATION_IF_ANY("Suspended for", "suspended_s"), TEXT("Dependency", "depend"),
    TIME("Earliest start", "begin_at"), TEXT("Queue", "queue"),
    TEXT("Project", "project"), TEXT("User group", "user_group"),
    TEXT("Job group", "job_group"), TEXT("Command", "command"),
    TEXT("Application", "app"), MEMBERS("Limits", "limits"),
    TEXT("Pre-exec", "pre_exec"), TEXT("Post-exec", "post_exec"),
    TEXT("Slots", "slots"), TEXT("Maximum slots", "max_slots"),
    TEXT("Resizable", "resizable"), TEXT("Requests more slots", "pending_slots"),
    TEXT("Reason for that", "pending_slots_reason"), TEXT("Being resized", "resizing"),
    TEXT("Resize notification", "resize_notify"), TEXT("Exclusive", "exclusive"),
    TEXT("Interactive", "interactive"), TEXT("Requirements", "resreq"),
    TEXT("Reserves", "reserved"), TEXT("Excluded hosts", "avoided"),
    HOSTS("Hosts", "hosts"), TEXT("Processors", "processors"), TEXT("Lease", "lease"),
    DURATION_IF_ANY("CPU time", "cpu_s"), KIB("Memory", "rss_kib"),
    KIB("Peak memory", "mem_kib"), TIME("Submitted", "submit_at"),
    TIME("Started", "start_at"), TIME("Ended", "end_at"),
    TEXT("Exit code", "exit_code"), TEXT("Post-exec state", "post_state"));

static const struct column hist_table[] = COLUMNS(
    NUMBER("JOBID", "id"), TEXT("USER", "user"), TEXT("JOB_NAME", "name"),
    TEXT("STAT", "state"), NUMBER("PEND", "pend_s"), NUMBER("PSUSP", "psusp_s"),
    NUMBER("RUN", "run_s"), NUMBER("USUSP", "ususp_s"), NUMBER("SSUSP", "ssusp_s"),
    NUMBER("UNKWN", "unkwn_s"), NUMBER("TOTAL", "total_s"));

/* jobs -p -o; without -o it prints no table (cmd_jobs.c) */
static const struct column jobs_waiting[] =
    COLUMNS(NUMBER("JOBID", "id"), TEXT("USER", "user"), TEXT("STAT", "state"),
            TEXT("QUEUE", "queue"), NUMBER("SLOTS", "slots"), TEXT("JOB_NAME", "name"),
            TEXT("REASON", "reason"));

static const struct column hosts_table[] =
    COLUMNS(TEXT("HOST_NAME", "host"), TEXT("STATUS", "status"), NUMBER("JL/U", "jl_u"),
            NUMBER("MAX", "max"), NUMBER("NJOBS", "njobs"), NUMBER("RUN", "run"),
            NUMBER("SSUSP", "ssusp"), NUMBER("USUSP", "ususp"), NUMBER("RSV", "rsv"));

static const struct column hosts_block[] = COLUMNS(
    TEXT("Host", "host"), TEXT("Status", "status"), TEXT("Slots", "max"),
    TEXT("Slots of jobs", "njobs"), TEXT("Running", "run"), TEXT("Suspended", "ssusp"),
    TEXT("Suspended by users", "ususp"), TEXT("Reserved", "rsv"),
    TEXT("Run window", "run_window"), TEXT("Dispatch window", "dispatch_window"),
    TEXT("Type", "type"), TEXT("Model", "model"), TEXT("Processor", "architecture"),
    TEXT("CPU factor", "cpuf"), TEXT("CPUs", "ncpus"), TEXT("Sockets", "nprocs"),
    TEXT("Cores per socket", "ncores"), TEXT("Threads per core", "nthreads"),
    TEXT("Disks", "ndisks"), SIZE("Memory", "maxmem"), SIZE("Swap space", "maxswp"),
    SIZE("Space in /tmp", "maxtmp"), TEXT("Resources", "resources"),
    MEMBERS("Values", "values"), LOAD("Load", "load"),
    RESERVED("Reserved by jobs", "reserved"),
    TEXT("Processors for affinity", "affinity_cpus"),
    TEXT("Processors in use", "affinity_used"), TEXT("Lease", "lease"));

/* Load thresholds, as bhosts -l and bqueues -l show them. */
static const struct column thresholds_table[] = COLUMNS(
    TEXT("", "threshold"), NUMBER("r15s", "r15s"), NUMBER("r1m", "r1m"),
    NUMBER("r15m", "r15m"), NUMBER("ut", "ut"), NUMBER("pg", "pg"), NUMBER("io", "io"),
    NUMBER("ls", "ls"), NUMBER("it", "it"), SIZE("tmp", "tmp"), SIZE("swp", "swp"),
    SIZE("mem", "mem"), MEMBERS("others", "resources"));

static const struct columns_below hosts_below[] = {
    {thresholds_table, "thresholds", "SCHEDULING_PARAMETERS_OF"},
    {NULL, NULL, NULL},
};

static const struct column shared_table[] =
    COLUMNS(TEXT("RESOURCE", "resource"), NUMBER("TOTAL", "total"),
            NUMBER("RESERVED", "reserved"), NUMBER("AVAIL", "available"),
            TEXT("LOCATION", "location"));

static const struct column load_table[] =
    COLUMNS(TEXT("HOST_NAME", "host"), TEXT("status", "status"), INDEX("r15s", "r15s"),
            INDEX("r1m", "r1m"), INDEX("r15m", "r15m"), PERCENT("ut", "ut"),
            INDEX("pg", "pg"), NUMBER("ls", "ls"), NUMBER("it", "it"),
            SIZE("tmp", "tmp"), SIZE("swp", "swp"), SIZE("mem", "mem"));

static const struct column exported_table[] =
    COLUMNS(TEXT("HOST_NAME", "host"), NUMBER("MAX", "max"), NUMBER("NJOBS", "njobs"),
            NUMBER("RUN", "run"), NUMBER("SSUSP", "ssusp"), NUMBER("USUSP", "ususp"),
            NUMBER("RSV", "rsv"));

static const struct column exported_block[] = COLUMNS(
    TEXT("Host", "host"), TEXT("Consumer", "consumer"), TEXT("Leases", "leases"),
    TEXT("Slots", "exported"), TEXT("Held by consumer", "max"),
    TEXT("Slots of jobs", "njobs"), TEXT("Running", "run"), TEXT("Suspended", "ssusp"),
    TEXT("Suspended by users", "ususp"), TEXT("Reserved", "rsv"), SIZE("Memory", "mem"),
    SIZE("Swap space", "swp"), INSTANCES("Resources", "resources"));

static const struct column queues_table[] = COLUMNS(
    TEXT("QUEUE_NAME", "queue"), NUMBER("PRIO", "priority"), TEXT("STATUS", "status"),
    NUMBER("MAX", "max"), NUMBER("JL/U", "jl_u"), NUMBER("JL/P", "jl_p"),
    NUMBER("JL/H", "jl_h"), NUMBER("NJOBS", "njobs"), NUMBER("PEND", "pend"),
    NUMBER("RUN", "run"), NUMBER("SUSP", "susp"), NUMBER("RSV", "rsv"));

static const struct column queues_block[] = COLUMNS(
    TEXT("Queue", "queue"), TEXT("Description", "description"),
    TEXT("Priority", "priority"), TEXT("Status", "status"), TEXT("Hosts", "hosts"),
    TEXT("Placement", "placement"), TEXT("Exclusive jobs", "exclusive"),
    TEXT("Interactive jobs", "interactive"),
    DURATION("Reserves slots for", "max_reserve_s"), TEXT("Backfill", "backfill"),
    TEXT("Users", "users"), MEMBERS("Slots per job", "slots_per_job"),
    TEXT("Requested by running jobs", "pending_slots"), TEXT("Maximum slots", "max"),
    TEXT("Slots per user", "jl_u"), TEXT("Slots per processor", "jl_p"),
    TEXT("Slots per host", "jl_h"), TEXT("Slot pool", "slot_pool"),
    TEXT("Slot share", "slot_share"), TEXT("Slot hours used", "slot_use_h"),
    TEXT("Slot hours above its share", "slot_ahead_h"),
    DURATION("Delay of new jobs", "new_job_delay_s"), TEXT("Run window", "run_window"),
    TEXT("Dispatch window", "dispatch_window"), TEXT("Suspend condition", "stop_cond"),
    TEXT("Resume condition", "resume_cond"), TEXT("Preempts", "preempts"),
    TEXT("Preempted by", "preempted_by"), TEXT("Slots of jobs", "njobs"),
    TEXT("Waiting", "pend"), TEXT("Running", "run"), TEXT("Suspended", "susp"),
    TEXT("Reserved", "rsv"), MEMBERS("Limits", "limits"),
    MEMBERS("Default limits", "default_limits"), TEXT("Before jobs", "pre_exec"),
    TEXT("After jobs", "post_exec"), TEXT("Starter", "job_starter"),
    MEMBERS("Job controls", "job_controls"),
    TEXT("Requeue at exit", "requeue_exit_values"),
    TEXT("Maximum requeues", "max_job_requeue"),
    TEXT("Success at exit", "success_exit_values"), TEXT("Rerunnable", "rerunnable"));

/* Shares of a queue, as in bqueues -l. */
static const struct column shares_table[] =
    COLUMNS(TEXT("USER/GROUP", "account"), NUMBER("SHARES", "shares"),
            NUMBER("PRIORITY", "priority"), NUMBER("STARTED", "started"),
            NUMBER("RESERVED", "reserved"), INDEX("CPU_TIME", "cpu_s"),
            INDEX("RUN_TIME", "run_s"));

static const struct columns_below queues_below[] = {
    {thresholds_table, "thresholds", "SCHEDULING_PARAMETERS_OF"},
    {shares_table, "shares", "SHARE_INFO_FOR"},
    {NULL, NULL, NULL},
};

static const struct column users_table[] = COLUMNS(
    TEXT("USER/GROUP", "user"), TEXT("QUEUE", "queue"), TEXT("ACCOUNT", "account"),
    NUMBER("SHARES", "shares"), NUMBER("PRIORITY", "priority"),
    INDEX("CPU_TIME", "cpu_s"), INDEX("RUN_TIME", "run_s"), NUMBER("NJOBS", "njobs"),
    NUMBER("PEND", "pend"), NUMBER("RUN", "run"), NUMBER("SSUSP", "ssusp"),
    NUMBER("USUSP", "ususp"));

static const struct column limits_table[] = COLUMNS(
    TEXT("NAME", "name"), TEXT("USERS", "users"), TEXT("QUEUES", "queues"),
    TEXT("HOSTS", "hosts"), TEXT("PROJECTS", "projects"), TEXT("EACH_OF", "each"),
    USED("SLOTS", "slots"), USED("JOBS", "jobs"), EACH_USED("RESOURCES", "resources"));

static const struct column limits_configured_table[] = COLUMNS(
    TEXT("NAME", "name"), TEXT("USERS", "users"), TEXT("QUEUES", "queues"),
    TEXT("HOSTS", "hosts"), TEXT("PROJECTS", "projects"), TEXT("EACH_OF", "each"),
    USED("SLOTS", "slots"), NUMBER("SLOTS/P", "slots.per_processor"),
    USED("JOBS", "jobs"), EACH_USED("RESOURCES", "resources"));

static const struct column job_groups_table[] = COLUMNS(
    TEXT("GROUP_NAME", "group"), NUMBER("NJOBS", "njobs"), NUMBER("PEND", "pend"),
    NUMBER("RUN", "run"), NUMBER("SSUSP", "ssusp"), NUMBER("USUSP", "ususp"),
    NUMBER("FINISH", "finish"), NUMBER("STARTED", "started"), NUMBER("JLIMIT", "limit"),
    TEXT("OWNER", "owner"));

static const struct column runs_table[] =
    COLUMNS(NUMBER("RUN", "attempt"), TEXT("AT", "at"), TEXT("STAT", "state"),
            TEXT("JOBID", "job"), TEXT("USER", "user"), TEXT("QUEUE", "queue"),
            NUMBER("SLOTS", "slots"), TEXT("LEASE", "lease"),
            TIME("START_TIME", "start_at"), TEXT("COMMAND", "command"));

static const struct column exports_table[] = COLUMNS(
    TEXT("LEASE", "lease"), TEXT("POLICY", "policy"), TEXT("CONSUMER", "consumer"),
    TEXT("TYPE", "type"), NUMBER("EPOCH", "epoch"), TEXT("STATE", "state"),
    NUMBER("SLOTS", "slots"), NUMBER("HELD_HERE", "provider"), NUMBER("LENT", "lent"),
    SIZE("MEM", "mem"), SIZE("SWP", "swp"), INSTANCES("RESOURCES", "resources"));

static const struct column leases_table[] =
    COLUMNS(TEXT("LEASE", "id"), TEXT("STATE", "state"), TEXT("STATUS", "status"),
            NUMBER("EPOCH", "epoch"), TEXT("TYPE", "type"),
            SIDE("PROVIDER", "provider"), SIDE("CONSUMER", "consumer"),
            TIME("NEXT", "next_rebalance_at"), TEXT("REASON", "reason"));

static const struct column leases_block[] = COLUMNS(
    TEXT("Lease", "id"), TEXT("Type", "type"), TEXT("State", "state"),
    TEXT("Status", "status"), TEXT("Epoch", "epoch"), SIDE("Provider uses", "provider"),
    SIDE("Consumer uses", "consumer"), INSTANCES("Resources", "resources"),
    TEXT("Drained", "drained"), TEXT("Interactive jobs", "interactive"),
    NUMBER("Credits per slot hour", "price"), NUMBER("Slot hours a month", "hours"),
    NUMBER("Slot hours used", "hours_used"),
    TEXT("Provider is behind, at epoch", "behind_epoch"),
    DURATION("Reclaim delay", "reclaim_delay_s"),
    TIME("Next rebalance", "next_rebalance_at"), TIME("Changed", "changed_at"),
    TEXT("Reason", "reason"));

static const struct column lease_hosts_table[] = COLUMNS(
    TEXT("HOST", "host"), NUMBER("SLOTS", "slots"), SIDE("PROVIDER", "provider"),
    SIDE("CONSUMER", "consumer"), SIZE("MEM", "mem"), SIZE("SWP", "swp"));

static const struct column history_table[] =
    COLUMNS(TIME("AT", "at"), TEXT("EVENT", "event"), TEXT("STATE", "state"),
            NUMBER("EPOCH", "epoch"), SIDE("PROVIDER", "provider"),
            SIDE("CONSUMER", "consumer"), TEXT("REASON", "reason"));

static const struct column sites_table[] = COLUMNS(
    TEXT("SITE", "site"), TEXT("ROLES", "roles"), TEXT("STATUS", "status"),
    NUMBER("OWN", "slots.own"), NUMBER("USED", "slots.used"),
    NUMBER("LENT", "slots.lent"), NUMBER("BORROWED", "slots.borrowed"),
    NUMBER("PENDING", "pending"), TEXT("DRAINED", "drained"), TIME("SINCE", "since"),
    COUNT_IF_ANY("COMMITS_LOST", "journal_lost.commits"));

static const struct column brokers_table[] =
    COLUMNS(TEXT("NAME", "name"), TEXT("ENDPOINT", "endpoint"), TEXT("ROLE", "role"),
            NUMBER("TERM", "term"), DURATION("LAG", "lag_s"), TEXT("STORE", "store"),
            TIME("SINCE", "since"));

static const struct column reclaim_table[] =
    COLUMNS(TEXT("SCOPE", "scope"), TEXT("NAME", "name"), DURATION("DELAY", "delay_s"),
            TEXT("SOURCE", "source"), DURATION("OVERRIDE", "override_s"));

static const struct column pools_table[] = COLUMNS(
    TEXT("POOL", "pool"), NUMBER("SLOTS", "slots"), NUMBER("CONFIGURED", "configured"),
    NUMBER("ALLOC", "alloc"), NUMBER("RECALLED", "recalled"), NUMBER("IDLE", "idle"),
    NUMBER("DEMAND", "demand"), NUMBER("HOSTS", "hosts"),
    NUMBER("PROVIDERS", "providers"), TEXT("PLACEMENT", "placement"),
    TEXT("WINDOW", "window"));

static const struct column plan_table[] = COLUMNS(
    TEXT("NODE", "node"), TEXT("SITE", "site"), NUMBER("OWNED", "owned"),
    NUMBER("SCALED", "scaled"), NUMBER("RESERVE", "reserve"), NUMBER("LIMIT", "limit"),
    NUMBER("DEMAND", "demand"), NUMBER("CLAIM", "claim"), NUMBER("QUOTA", "quota"),
    NUMBER("ALLOC", "alloc"), NUMBER("RECALLED", "recalled"), NUMBER("FREE", "free"),
    NUMBER("SHORTFALL", "shortfall"), NUMBER("HOURS", "hours"),
    NUMBER("HOURS_USED", "hours_used"), TEXT("LEVEL", "hours_level"),
    NUMBER("PRICE", "price"));

static const struct column plan_why_table[] =
    COLUMNS(TEXT("NODE", "node"), NUMBER("QUOTA", "quota"), NUMBER("ALLOC", "alloc"),
            TEXT("RULE", "rule"), TEXT("WHY", "why"), TEXT("LAST MOVE", "moved"));

static const struct column quota_table[] = COLUMNS(
    TEXT("NODE", "node"), NUMBER("OWNED", "owned"), NUMBER("SCALED", "scaled"),
    NUMBER("RESERVE", "reserve"), NUMBER("LIMIT", "limit"), NUMBER("DEMAND", "demand"),
    NUMBER("CLAIM", "claim"), NUMBER("QUOTA", "quota"), NUMBER("ALLOC", "alloc"),
    NUMBER("GRANT", "grant"), NUMBER("RECALL", "recall"), NUMBER("FREE", "free"));

static const struct column explain_table[] =
    COLUMNS(TEXT("NODE", "node"), NUMBER("QUOTA", "quota"), TEXT("RULE", "rule"),
            TEXT("WHY", "why"));

static const struct column slurm_nodes_table[] =
    COLUMNS(TEXT("HOST_NAME", "host"), TEXT("STATE", "state"), NUMBER("CPUS", "cpus"),
            NUMBER("USED", "used_cpus"), SIZE("MEM", "mem"), TEXT("GRES", "gres"),
            TEXT("FEATURES", "features"), TEXT("PARTITIONS", "partitions"),
            TEXT("IDLE", "idle"), TEXT("REASON", "reason"));

static const struct column slurm_settings_table[] =
    COLUMNS(TEXT("", "verdict"), TEXT("SETTING", "setting"), TEXT("VALUE", "value"),
            TEXT("WHAT TO DO", "advice"));

const struct columns columns_hist = {hist_table, hist_table, NULL,
                                     "nothing is on record of such jobs"};
const struct columns columns_jobs_waiting = {jobs_waiting, jobs_block, NULL,
                                             "no waiting job found"};
const struct columns columns_jobs = {jobs_table, jobs_block, NULL,
                                     "no unfinished job found"};
const struct columns columns_hosts = {hosts_table, hosts_block, hosts_below,
                                      "no host found"};
const struct columns columns_hosts_shared = {shared_table, NULL, NULL,
                                             "no shared resource found"};
const struct columns columns_load = {load_table, NULL, NULL, "no host found"};
const struct columns columns_hosts_exported = {exported_table, exported_block, NULL,
                                               "no exported host found"};
const struct columns columns_queues = {queues_table, queues_block, queues_below,
                                       "no queue found"};
const struct columns columns_users = {users_table, NULL, NULL, "no user found"};
const struct columns columns_limits = {
    limits_table, NULL, NULL, "no such limit is in use; see 'sublet limits -a'"};
const struct columns columns_job_groups = {job_groups_table, NULL, NULL,
                                           "no job group; see 'sublet jgroup add'"};
const struct columns columns_limits_configured = {limits_configured_table, NULL, NULL,
                                                  "no such limit is configured"};
const struct columns columns_runs = {runs_table, NULL, NULL, "no run without a job"};
const struct columns columns_exports = {exports_table, NULL, NULL,
                                        "nothing is exported"};
const struct columns columns_leases = {leases_table, leases_block, NULL,
                                       "no lease found"};
const struct columns columns_lease_hosts = {lease_hosts_table, NULL, NULL,
                                            "the lease has no hosts"};
const struct columns columns_lease_history = {history_table, NULL, NULL,
                                              "no history found"};
const struct columns columns_sites = {sites_table, NULL, NULL, "no site found"};
const struct columns columns_brokers = {brokers_table, NULL, NULL, "no broker found"};
const struct columns columns_reclaim = {reclaim_table, NULL, NULL,
                                        "no reclaim delay is set: 10m for all"};
const struct columns columns_pools = {pools_table, NULL, NULL,
                                      "the broker has no pools"};
const struct columns columns_plan = {plan_table, NULL, NULL, "the plan has no nodes"};
const struct columns columns_plan_why = {plan_why_table, NULL, NULL,
                                         "the plan has no such node"};
const struct columns columns_quota = {quota_table, NULL, NULL, "the plan has no nodes"};
const struct columns columns_explain = {explain_table, NULL, NULL,
                                        "the plan has no nodes"};
const struct columns columns_slurm_nodes = {slurm_nodes_table, NULL, NULL,
                                            "Slurm has no such node"};
const struct columns columns_slurm_settings = {slurm_settings_table, NULL, NULL, ""};
