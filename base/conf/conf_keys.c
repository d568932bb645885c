/* SPDX-License-Identifier: Apache-2.0 */
/* conf_keys.c: see conf_keys.h. */
#include "base/conf/conf_keys.h"

#include <string.h>
#include <strings.h>

#include "base/bounds.h"

#define SECOND INT64_C(1000)
#define MINUTE INT64_C(60000)
#define DAY INT64_C(86400000)
#define TEN_YEARS (3650 * DAY) /* the upper bound of all durations */

/* clang-format off */
#define KEY(name, of_kind, text, help, ...) \
    {.section = SECTION, .key = name, .kind = of_kind, .initial = text, .what = help, __VA_ARGS__}
#define TEXT(key, initial, what) KEY(key, CONF_TEXT, initial, what, .words = NULL)
#define NAME(key, initial, what) KEY(key, CONF_NAME, initial, what, .words = NULL)
#define LIST(key, initial, what) KEY(key, CONF_LIST, initial, what, .words = NULL)
#define HOSTS(key, initial, what) KEY(key, CONF_HOSTS, initial, what, .words = NULL)
#define YESNO(key, initial, what) KEY(key, CONF_YESNO, initial, what, .words = NULL)
#define INT(key, least, most, initial, what) \
    KEY(key, CONF_INT, initial, what, .min = least, .max = most)
#define COUNT(key, most, what) \
    KEY(key, CONF_COUNT, NULL, what, .max = most)
#define DURATION(key, unit, least, most, initial, what) \
    KEY(key, CONF_DURATION, initial, what, \
        .min = least, .max = most, .unit_ms = unit)
#define WORD(key, choice, initial, what) \
    KEY(key, CONF_WORD, initial, what, .words = choice)
#define WORDS(key, choice, what) \
    KEY(key, CONF_WORDS, NULL, what, .words = choice)

/* Of both hosts and queues. */
#define LOAD_THRESHOLDS \
    TEXT("R15S", NULL, "load thresholds, loadSched/loadStop: run queue over 15 seconds, for each core"), \
    TEXT("R1M", NULL, "load thresholds, loadSched/loadStop: run queue over a minute, for each core"), \
    TEXT("R15M", NULL, "load thresholds, loadSched/loadStop: run queue over 15 minutes, for each core"), \
    TEXT("UT", NULL, "load thresholds, loadSched/loadStop: CPU utilisation, 0.0 to 1.0"), \
    TEXT("PG", NULL, "load thresholds, loadSched/loadStop: pages per second"), \
    TEXT("LS", NULL, "load thresholds, loadSched/loadStop: login sessions"), \
    TEXT("IT", NULL, "load thresholds, loadSched/loadStop: idle minutes"), \
    TEXT("TMP", NULL, "load thresholds, loadSched/loadStop: MB in /tmp"), \
    TEXT("SWP", NULL, "load thresholds, loadSched/loadStop: MB of swap space"), \
    TEXT("SWAP", NULL, "the same as SWP"), \
    TEXT("MEM", NULL, "load thresholds, loadSched/loadStop: MB of memory"), \
    TEXT("IO", NULL, "load thresholds, loadSched/loadStop: KB per second that disks read and write")

const struct conf_key conf_keys[] = {
#define SECTION "Site"
    NAME("NAME", NULL, "the site's name in the federation"),
    TEXT("BROKER", NULL, "where the broker listens, as tcp://HOST:PORT; several: the one that leads and its standbys, which are tried in turn"),
    TEXT("KEY", NULL, "file with the site's secret CURVE key"),
    TEXT("BROKER_KEY", NULL, "file with the broker's public CURVE key; of several brokers: one file for all, or one for each"),
    TEXT("SPOOL", NULL, "directory of the journal and of jobs' records"),
    TEXT("LISTEN", NULL, "where hosts on other machines connect, as tcp://HOST:PORT"),
    HOSTS("HOSTS_HERE", NULL, "hosts on this machine: the site starts their sublet-host"),
    TEXT("EGROUP", NULL, "program that tells the members of groups with (!), run as EGROUP -u GROUP or -m GROUP"),
    LIST("ELIM", NULL, "programs (elims) that measure resources for each sublet-host of HOSTS_HERE"),
    DURATION("FREEZE_TIMEOUT", SECOND, SECOND, DAY, "30s",
             "a frozen lease thaws by itself after this time"),
    DURATION("START_TIMEOUT", SECOND, SECOND, DAY, "5m",
             "a job that has not started on a borrowed host for this time is withdrawn"),
    LIST("ROLES", "provider consumer", "what the site does: provider, consumer"),
    WORD("SCHEDULER", "builtin slurm", "builtin", "what has the site's hosts: builtin: Sublet; slurm: a Slurm cluster, which lends whole nodes and goes on running its own jobs"),
    TEXT("SLURM_CONF", NULL, "with SCHEDULER = slurm: path of slurm.conf; default: Slurm's own"),
    TEXT("SLURM_BIN", NULL, "directory of sinfo, squeue, scontrol, sbatch and scancel; default: PATH"),
    NAME("SLURM_PARTITION", NULL, "partition whose nodes are the site's hosts, and in which jobs of leases run; default: all nodes, and Slurm's default partition"),
    NAME("SLURM_ACCOUNT", NULL, "account of slurmdbd for jobs of leases; default: that of their user"),
    TEXT("SLURM_SPOOL", NULL, "directory of leased jobs, which all nodes have at this path; default: SPOOL/slurm"),
    DURATION("SLURM_TERM", SECOND, 60 * SECOND, DAY, "15m", "Slurm itself ends a lease's reservations so long after the site last renewed them"),
    DURATION("SLURM_INTERVAL", SECOND, SECOND, 3600 * SECOND, "15s", "time between two looks at the cluster"),
    NAME("SLURM_BORROW_PARTITION", NULL, "partition of the site's own Slurm cluster whose nodes are borrowed hosts, and the queue of the jobs that run their slurmd"),
    TEXT("SLURM_BORROW_SLURMD", "slurmd", "what starts slurmd at the providers, as a command of a shell; options of it follow"),
    INT("SLURM_BORROW_NODES", 1, 1000, "16", "borrowed nodes at one time, at most MaxNodeCount of slurm.conf"),
    DURATION("SLURM_BORROW_IDLE", SECOND, SECOND, DAY, "5m", "a borrowed node that has been idle for so long is given back"),
    DURATION("SLURM_BORROW_STAY", SECOND, 60 * SECOND, 30 * DAY, "12h", "a borrowed node gets no further jobs after that time, and is given back when it is idle"),
    TEXT("SOCKET", NULL, "path of the socket for the command line; default in SPOOL"),
    TEXT("HOST_KEYS", NULL, "directory of the public keys of hosts on other machines, HOST.key for each"),
    TEXT("HOST_KEY", NULL, "file with a public key that all hosts on other machines may have; better: HOST_KEYS"),
    NAME("LEASE_USER", NULL, "the account of all jobs of other sites; default: each of their users has an account of LEASE_UIDS; "
                             "self: the daemon's own account, which is not root; a daemon that is not root lends nothing without self"),
    TEXT("LEASE_UIDS", "2000000000-2000065535", "user ids of the accounts of other sites' users, FIRST-LAST; no other account may have one of them"),
    LIST("ADMINS", "root", "users and user groups that may administrate the site"),
    TEXT("HTTP", NULL, "where metrics are served, as ADDRESS:PORT; default: they are not served"),
    LIST("HTTP_HOSTS", NULL, "further host names that HTTP requests may use; addresses, names without a dot and the machine's own name are always accepted"),
    WORD("OVERVIEW", "counts names none", "counts", "what the broker's page shows of the site; counts: hosts, queues, and how many jobs are pending for which reason; names: also pending jobs with their names and users; none: nothing"),
#undef SECTION
#define SECTION "Broker"
    TEXT("LISTEN", NULL, "where sites connect, as tcp://HOST:PORT"),
    TEXT("STATE", NULL, "file of the contracts (SQLite), or a database as postgresql://USER@HOST/NAME"),
    TEXT("KEY", NULL, "file with the broker's secret CURVE key"),
    DURATION("LOST_AFTER", SECOND, SECOND, DAY, "15s",
             "a site that is silent for this time counts as lost"),
    TEXT("HTTP", NULL, "where JSON and metrics are served, as ADDRESS:PORT; default: they are not served"),
    LIST("HTTP_HOSTS", NULL, "further host names that HTTP requests may use; addresses, names without a dot and the machine's own name are always accepted"),
    TEXT("TOKENS", NULL, "file of admin tokens for HTTP, NAME TOKEN or a token alone on each line, readable by its owner only; default: nothing can be changed over HTTP"),
    TEXT("HTTP_ROLES", NULL, "file that says what the users of a reverse proxy may do, USER ROLE or @GROUP ROLE on each line with ROLE read or change; the proxy has a line NAME TOKEN proxy in TOKENS"),
    DURATION("SAMPLE_INTERVAL", SECOND, SECOND, 3600 * SECOND, "1m",
             "time between two samples for charts, kept for 25 hours; of sites and pools one "
             "in 10 minutes is kept for a week"),
    INT("LEDGER_SIZE", 1, 1048576, "1024",
        "space of the broker's books of held slot time, in MB; beyond it the oldest hours are merged into days, and then the oldest days are deleted"),
    DURATION("SNAPSHOT_INTERVAL", SECOND, SECOND, DAY, NULL,
             "time between two snapshots of the contracts; default: none are made"),
    TEXT("SNAPSHOT", NULL, "file of these snapshots; default: STATE with .snapshot appended, none if STATE is a database"),
#undef SECTION
#define SECTION "Member"
    NAME("NAME", NULL, "a site, or an administrator of the federation"),
    TEXT("KEY_FILE", NULL, "file with its public CURVE key"),
    LIST("ROLES", NULL, "what it may do: provider, consumer, admin"),
    INT("MAX_LEASES", 1, LEASES_PER_PROVIDER_MAX, "100", "open leases with each other site; the smaller one counts if both sites have one; leases of pools do not count"),
#undef SECTION
#define SECTION "ClusterAdmins"
    LIST("ADMINISTRATORS", NULL, "users and user groups that may administrate the site, unless section Site has ADMINS"),
#undef SECTION
#define SECTION "Host"
    NAME("HOST_NAME", NULL, "the host, or default; node[001-128] is a row for each"),
    NAME("HOSTNAME", NULL, "the host, as in lsf.cluster"),
    COUNT("MXJ", SLOTS_MAX, "its job slots; !: the number of its CPUs (EGO_DEFINE_NCPUS), which is also the default"),
    TEXT("TYPE", NULL, "its type, one of section HostType"),
    TEXT("MODEL", NULL, "its model, one of section HostModel"),
    LIST("RESOURCES", NULL, "its resources: NAME, !NAME (exclusive), or NAME=VALUE"),
    WORD("SERVER", "0 1", "1", "1: it runs jobs; 0: a client, which is no host of the site"),
    INT("JL/U", 0, SLOTS_MAX, NULL, "slots of one user on it"),
    LOAD_THRESHOLDS,
    TEXT("DISPATCH_WINDOW", NULL, "when jobs may start on it: [DAY:]HOUR[:MINUTE]-[DAY:]HOUR[:MINUTE] ..."),
    TEXT("RUNWINDOW", NULL, "when jobs may run on it; they are suspended outside of it"),
    TEXT("AFFINITY", "N", "Y: it takes jobs with affinity[]; or the processors that these may have, such as (0,2-5)"),
#undef SECTION
#define SECTION "Queue"
    NAME("QUEUE_NAME", NULL, "the queue's name"),
    INT("PRIORITY", 1, INT32_MAX, "1", "queues with a larger value are served first"),
    TEXT("DESCRIPTION", NULL, "a description for users"),
    HOSTS("HOSTS", "all", "hosts that its jobs may use: all, others, allremote, all@site, host@site, host+1, ~host"),
    YESNO("BACKFILL", "N", "Y: jobs that end in time use slots that waiting jobs reserve"),
    TEXT("COMMITTED_RUN_TIME_FACTOR", NULL, "weight of committed run time in fairshare; default: section Parameters"),
    TEXT("CORELIMIT", NULL, "core file of a process, in KB; 0: none"),
    TEXT("CPU_TIME_FACTOR", NULL, "weight of CPU time in fairshare; default: section Parameters"),
    TEXT("CPULIMIT", NULL, "CPU time of all processes of a job: [DEFAULT] MAX, as [HOURS:]MINUTES, or [HOURS:]MINUTES/HOST for a host or host model, by whose CPU factor it is scaled"),
    TEXT("DATALIMIT", NULL, "data segment of a process, in KB: [DEFAULT] MAX"),
    TEXT("DEFAULT_HOST_SPEC", NULL, "the host or host model of CPU and run limits that name none"),
    WORD("DISPATCH_ORDER", "QUEUE", NULL, "QUEUE: queues of FAIRSHARE_QUEUES by priority, then users"),
    TEXT("DISPATCH_WINDOW", NULL, "when its jobs may start"),
    YESNO("ENABLE_HIST_RUN_TIME", NULL, "past run time counts in fairshare; default: section Parameters"),
    TEXT("EXCLUSIVE", "N", "Y: jobs may ask for hosts of their own (-x); CU[type]: also for compute units of that or a finer type (cu[excl]), CU: of the default type; N: for neither"),
    TEXT("FAIRSHARE", NULL, "shares of users, as USER_SHARES[[ana, 2] [lab, 1] [default, 1]]"),
    LIST("FAIRSHARE_QUEUES", NULL, "queues in which users have one priority, by FAIRSHARE of this one"),
    TEXT("FILELIMIT", NULL, "size of files that a process writes, in KB"),
    TEXT("HIST_HOURS", NULL, "hours after which past use counts as one tenth; default: section Parameters"),
    INT("HJOB_LIMIT", 0, INT32_MAX, NULL, "slots on one host"),
    WORD("INTERACTIVE", "YES NO ONLY", "YES", "interactive jobs; YES: accepted, NO: refused, ONLY: no other jobs are accepted"),
    INT("INTERRUPTIBLE_BACKFILL", 1, INT32_MAX, NULL, "shortest gap in reserved slots, in seconds, that its jobs may use; a job ends with its gap; requires BACKFILL and RUNLIMIT"),
    TEXT("JOB_ACCEPT_INTERVAL", NULL, "time during which a host accepts no further job of the queue after one was dispatched to it: a number of intervals of MBD_SLEEP_TIME, or with s or m; default: section Parameters"),
    TEXT("JOB_ACTION_WARNING_TIME", NULL, "time before the run limit at which a job gets JOB_WARNING_ACTION, as [HOURS:]MINUTES"),
    TEXT("JOB_CONTROLS", NULL, "signals or commands that suspend, resume and end its jobs: SUSPEND[...] "
         "RESUME[...] TERMINATE[...]"),
    TEXT("JOB_STARTER", NULL, "command that starts jobs"),
    TEXT("JOB_WARNING_ACTION", NULL, "signal or command that warns a job before its run limit ends it"),
    INT("MAX_JOB_PREEMPT", 1, INT32_MAX, NULL, "a job that was preempted more often than this is no longer preempted"),
    INT("MAX_JOB_REQUEUE", 1, INT32_MAX, NULL, "how often a job is requeued by REQUEUE_EXIT_VALUES before it is held; default: the site's"),
    INT("MAX_PREEXEC_RETRY", 1, INT32_MAX, NULL, "how often PRE_EXEC is tried before the "
        "job is held; default: the site's"),
    INT("MAX_SLOTS_IN_POOL", 0, INT32_MAX - 1, NULL, "maximum number of slots of the slot pool; set in its first queue"),
    DURATION("MAX_TOTAL_TIME_PREEMPT", MINUTE, 0, TEN_YEARS, NULL,
             "a job that was suspended for this time in total is no longer preempted"),
    TEXT("MEMLIMIT", NULL, "resident memory of all processes of a job, in KB: [DEFAULT] MAX"),
    DURATION("NEW_JOB_SCHED_DELAY", SECOND, 0, TEN_YEARS, "0", "how long a job waits after its submission before it is scheduled"),
    INT("NICE", -20, 20, NULL, "nice value of its jobs; 20 has the effect of 19"),
    TEXT("NO_PREEMPT_FINISH_TIME", NULL, "a job that reaches its run limit within this time is not preempted: minutes, or a part of the limit, as 10%"),
    DURATION("NO_PREEMPT_INTERVAL", MINUTE, 0, TEN_YEARS, NULL,
             "a job is not preempted before it has run for this time"),
    TEXT("NO_PREEMPT_RUN_TIME", NULL, "a job with a run limit that has run for this time is not preempted: "
                                      "minutes, or a part of the limit, as 50%"),
    TEXT("PJOB_LIMIT", NULL, "slots per processor"),
    TEXT("POST_EXEC", NULL, "command on the execution host after a job"),
    TEXT("PRE_EXEC", NULL, "command on the execution host before a job; if it fails, the job is requeued"),
    DURATION("PREEMPT_DELAY", SECOND, 0, TEN_YEARS, NULL, "time a job waits before it preempts"),
    TEXT("PREEMPTION", NULL, "PREEMPTIVE[QUEUE[+N] ...] PREEMPTABLE[QUEUE ...]: the queues that it may preempt, and those that may preempt it"),
    TEXT("PROCESSLIMIT", NULL, "processes of a job at a time: [DEFAULT] MAX"),
    LIST("PROCLIMIT", NULL, "slots of one job"),
    INT("QJOB_LIMIT", 0, INT32_MAX, NULL, "slots of the queue"),
    LIST("REQUEUE_EXIT_VALUES", NULL, "exit codes that requeue a job; after one of `EXCLUDE(CODE ...)` it does not run on "
                                      "the same hosts again; a code is a number, a range `100-120`, `all`, or `~CODE`"),
    WORD("PLACEMENT", "stacked balanced", "stacked",
         "slots of a parallel job: packed on one host after the other, or one on each host in turn"),
    YESNO("RERUNNABLE", "N", "jobs run again when their host is lost"),
    TEXT("RESOURCE_RESERVE", NULL, "MAX_RESERVE_TIME[N]: replaces SLOT_RESERVE; jobs with rusage, also sequential ones, reserve memory and other resources together with the slots"),
    TEXT("RES_REQ", NULL, "resource requirements of its jobs, joined with their own"),
    TEXT("RESRSV_LIMIT", NULL, "range of what its jobs may reserve (rusage): [RESOURCE=MAX] [RESOURCE=MIN,MAX]...; for these resources RES_REQ is a default and not a bound"),
    TEXT("RESUME_COND", NULL, "select requirement: hosts that meet it let suspended jobs resume, in place of loadSched"),
    TEXT("RUN_JOB_FACTOR", NULL, "weight of slots in use in fairshare; default: section Parameters"),
    YESNO("RUN_TIME_DECAY", NULL, "run time decays in fairshare; default: section Parameters"),
    TEXT("RUN_TIME_FACTOR", NULL, "weight of run time in fairshare; default: section Parameters"),
    TEXT("RUN_WINDOW", NULL, "when its jobs may run; they are suspended outside of it, or ended (TERMINATE_WHEN)"),
    TEXT("RUNLIMIT", NULL, "limit on run time: [DEFAULT] MAX, as [HOURS:]MINUTES[/HOST], of a host or a host model"),
    YESNO("IGNORE_DEADLINE", "N", "Y: a job starts even if RUN_WINDOW closes before its run limit, or else its CPU limit, is over"),
    TEXT("SLOT_POOL", NULL, "the slot pool that it shares in"),
    TEXT("SLOT_RESERVE", NULL, "MAX_RESERVE_TIME[N]: waiting parallel jobs reserve free slots, for N "
                               "intervals of MBD_SLEEP_TIME at a time"),
    INT("SLOT_SHARE", 1, 100, NULL, "its percentage of the slot pool"),
    TEXT("STACKLIMIT", NULL, "stack of a process, in KB"),
    TEXT("STOP_COND", NULL, "select requirement: jobs on hosts that meet it are suspended, in addition to loadStop"),
    LIST("SUCCESS_EXIT_VALUES", NULL, "exit codes that count as done"),
    TEXT("SWAPLIMIT", NULL, "virtual memory of all processes of a job, in KB"),
    LIST("TASKLIMIT", NULL, "tasks of one job"),
    LIST("TERMINATE_WHEN", NULL, "LOAD, PREEMPT, WINDOW: in that circumstance its jobs are terminated instead of suspended"),
    TEXT("THREADLIMIT", NULL, "threads of a job at a time: [DEFAULT] MAX"),
    INT("UJOB_LIMIT", 0, INT32_MAX, NULL, "slots of one user"),
    YESNO("USE_PRIORITY_IN_POOL", "N", "unused slots of the pool go to the jobs of highest priority; set in its first queue"),
    LIST("USERS", "all", "users that may submit to it"),
    LIST("ADMINISTRATORS", NULL, "users and user groups that control the queue and its jobs"),
    LOAD_THRESHOLDS,
#undef SECTION
#define SECTION "HostExport"
    NAME("NAME", NULL, "the policy's name; default: its number in the configuration"),
    HOSTS("PER_HOST", NULL, "hosts that are exported by name"),
    INT("SLOTS", 1, SLOTS_MAX, NULL, "slots exported on each host of PER_HOST"),
    TEXT("RES_SELECT", NULL, "select requirement that picks the hosts"),
    INT("NHOSTS", 1, HOSTS_MAX, NULL, "maximum number of hosts that RES_SELECT picks"),
    WORD("TYPE", "shared", NULL, "shared; without it the lease is exclusive"),
    LIST("DISTRIBUTION", NULL, "shares of the consumers: ([site, shares] ...)"),
    WORD("RECLAIM_POLICY", "lsf demand", NULL, "the rule by which idle slots move to one side"),
    DURATION("LEASE_TERM", SECOND, 0, TEN_YEARS, NULL,
             "time after which a lost consumer's idle slots return to the provider"),
    DURATION("MIN_HOLD", SECOND, 0, TEN_YEARS, NULL,
             "slots that were moved stay at least for this time"),
    INT("PRICE", 0, PRICE_MAX, "0", "credits for each slot hour that a consumer's jobs use"),
    INT("HOURS", 1, HOURS_MAX, NULL,
        "slot hours that each consumer's jobs may use in a calendar month (UTC)"),
    INT("MEM", 0, SPACE_MAX_MIB, NULL, "memory exported on each host, in MB"),
    INT("SWAP", 0, SPACE_MAX_MIB, NULL, "swap space exported on each host, in MB"),
    INT("SWP", 0, SPACE_MAX_MIB, NULL, "the same as SWAP"),
    WORD("ON_LOST", "keep kill", NULL,
         "kill: a lost consumer's jobs are ended after LEASE_TERM"),
    YESNO("INTERACTIVE", "Y", "N: consumers' interactive jobs (-I) do not run here"),
#undef SECTION
#define SECTION "Parameters"
    DURATION("MC_RECLAIM_DELAY", MINUTE, SECOND, TEN_YEARS, "10",
             "time between two rebalances of a lease"),
    WORD("RECLAIM_POLICY", "lsf demand", "lsf", "the rule by which idle slots move to one side"),
    DURATION("LEASE_TERM", SECOND, 0, TEN_YEARS, "5m",
             "time after which a lost consumer's idle slots return to the provider"),
    DURATION("MIN_HOLD", SECOND, 0, TEN_YEARS, "0",
             "slots that were moved stay at least for this time"),
    DURATION("CLEAN_PERIOD", SECOND, 0, TEN_YEARS, "3600",
             "finished jobs are shown for this time"),
    TEXT("JOB_PRIORITY_OVER_TIME", NULL, "INCREMENT/INTERVAL: the priority (-sp) of pending jobs grows by INCREMENT every INTERVAL minutes; requires MAX_USER_PRIORITY"),
    DURATION("EGROUP_UPDATE_INTERVAL", 60 * MINUTE, SECOND, TEN_YEARS, NULL, "EGROUP is run so often, in hours or with a suffix; else at the start and at reloads alone"),
    YESNO("JOB_REPORT", "Y", "N: bsub writes no report of a job's end into the file of -o"),
    DURATION("HISTORY_PERIOD", DAY, DAY / 24, TEN_YEARS, "30",
             "how long events of jobs are kept for hist; a bare number is days"),
    INT("LEDGER_SIZE", 1, 1048576, "1024",
        "disk space of the ledger of slot time, in MB; beyond it the oldest hours are merged into days, and then the oldest days are deleted"),
    INT("MAX_PEND_JOBS", 0, INT32_MAX, "0", "pending jobs of all users; 0: no bound but that of each user"),
    INT("MAX_PEND_SLOTS", 0, INT32_MAX, "0", "slots that pending jobs of all users ask for; 0: no bound but that of each user"),
    DURATION("SUB_TRY_INTERVAL", SECOND, SECOND, DAY, "60", "how long bsub waits before it tries again, if pending jobs are at their bound"),
    TEXT("DEFAULT_HOST_SPEC", NULL, "the host or host model of CPU and run limits that name none, unless the queue has one"),
    YESNO("ABS_RUNLIMIT", "N", "Y: run limits are wall-clock time on every host, whatever host they name"),
    INT("USER_JOBS_SIZE", 1, 1048576, "1024",
        "memory, and disk space of the journal, in MB, that the jobs of one user may take until CLEAN_PERIOD after their end; administrators have no such bound"),
    INT("MAX_JOB_ARRAY_SIZE", 1, JOB_INDEX_MAX, "1000",
        "elements of a job array, and the largest index"),
    LIST("COMPUTE_UNIT_TYPES", NULL, "types of compute units, the finest first; the one with ! after it is the default of cu[]"),
    LIST("DEFAULT_QUEUE", NULL, "queues for jobs that name none; the first one that accepts the job is used"),
    WORD("ON_LOST", "keep kill", "keep",
         "kill: a lost consumer's jobs are ended after LEASE_TERM"),
    TEXT("COMMITTED_RUN_TIME_FACTOR", "0", "weight of committed run time in fairshare"),
    TEXT("CPU_TIME_FACTOR", "0.7", "weight of CPU time in fairshare"),
    YESNO("STRICT_UG_CONTROL", "N", "Y: administrators of a user group control only jobs submitted for it (sub -G)"),
    NAME("DEFAULT_PROJECT", NULL, "project of jobs submitted without -P; default: default"),
    TEXT("DEFAULT_JOBGROUP", NULL, "job group of jobs submitted without -g: a path in which %p is the project and %u the user"),
    NAME("DEFAULT_APPLICATION", NULL, "application profile of jobs that do not name one"),
    YESNO("ENABLE_HIST_RUN_TIME", "N", "past run time counts in fairshare"),
    TEXT("HIST_HOURS", "5", "hours after which past use counts as one tenth"),
    TEXT("JOB_ACCEPT_INTERVAL", "0", "time during which a host accepts no further job after one was dispatched to it: a number of intervals of MBD_SLEEP_TIME, or with s or m"),
    WORD("JOB_INCLUDE_POSTPROC", "Y", NULL, "accepted without effect: POST_EXEC always belongs to the job"),
    DURATION("JOB_TERMINATE_INTERVAL", SECOND, SECOND, DAY, "10",
             "time between the signals that end a job: SIGINT, SIGTERM, SIGKILL"),
    TEXT("JOB_PREPROC_TIMEOUT", NULL, "how long PRE_EXEC may take, as [HOURS:]MINUTES"),
    TEXT("JOB_POSTPROC_TIMEOUT", NULL, "how long POST_EXEC may take, as [HOURS:]MINUTES"),
    INT("MAX_JOB_PREEMPT", 1, INT32_MAX, NULL, "a job that was preempted more often than this is no longer preempted"),
    YESNO("MAX_JOB_PREEMPT_RESET", NULL, "Y: the count of MAX_JOB_PREEMPT is reset whenever the job is requeued, N: never; default: when a user requeues it"),
    INT("MAX_JOB_REQUEUE", 1, INT32_MAX, NULL, "how often a job is requeued by REQUEUE_EXIT_VALUES before it is held; default: unlimited"),
    INT("MAX_PREEXEC_RETRY", 1, INT32_MAX, "5", "how often PRE_EXEC is tried before the job "
        "is held"),
    DURATION("MAX_TOTAL_TIME_PREEMPT", MINUTE, 0, TEN_YEARS, NULL,
             "a job that was suspended for this time in total is no longer preempted"),
    INT("MAX_USER_PRIORITY", 1, INT32_MAX / 2, NULL, "highest -sp of a job; without it no job may have one"),
    DURATION("MBD_SLEEP_TIME", SECOND, SECOND, DAY, "60",
             "the interval of JOB_ACCEPT_INTERVAL, SLOT_RESERVE and RESOURCE_RESERVE; scheduling passes are started by events, not by this interval"),
    TEXT("NO_PREEMPT_FINISH_TIME", NULL, "a job that reaches its run limit within this time is not preempted: minutes, or a part of the limit, as 10%"),
    DURATION("NO_PREEMPT_INTERVAL", MINUTE, 0, TEN_YEARS, "0",
             "a job is not preempted before it has run for this time"),
    TEXT("NO_PREEMPT_RUN_TIME", NULL, "a job with a run limit that has run for this time is not preempted: "
                                      "minutes, or a part of the limit, as 50%"),
    YESNO("PARALLEL_SCHED_BY_SLOT", "N", "Y: ncpus in requirement strings is the number of slots"),
    DURATION("PG_SUSP_IT", SECOND, 0, TEN_YEARS, "180", "a job that a threshold of pg has suspended resumes when nobody has used its host interactively (it) for so long; 0: at once"),
    LIST("PREEMPTABLE_RESOURCES", NULL, "resources whose holders are preempted by jobs that reserve them: "
                                        "mem, and defined ones with RELEASE"),
    DURATION("PREEMPT_DELAY", SECOND, 0, TEN_YEARS, "0", "time a job waits before it preempts"),
    LIST("PREEMPT_FOR", NULL, "limits that do not count suspended jobs (GROUP_JLP GROUP_MAX HOST_JLU USER_JLP), and which jobs are preempted (LEAST_RUN_TIME MINI_JOB OPTIMAL_MINI_JOB)"),
    LIST("PREEMPT_JOBTYPE", NULL, "EXCLUSIVE: exclusive jobs preempt other jobs and can be preempted themselves; BACKFILL: jobs of backfill queues can be preempted by queues whose priority is above all queues that reserve"),
    DURATION("PREEMPTION_WAIT_TIME", SECOND, 300 * SECOND, TEN_YEARS, "300",
             "time for preempted jobs to stop before others are preempted"),
    YESNO("RESOURCE_RESERVE_PER_SLOT", "N", "Y: an amount in rusage counts for each slot, and not for each host or job"),
    DURATION("RESUME_RESERVE_TIME", SECOND, 0, TEN_YEARS, "1800",
             "longest time for which free slots are kept from pending jobs for a suspended job that needs more slots; 0: none are kept"),
    TEXT("RUN_JOB_FACTOR", "3", "weight of slots in use in fairshare"),
    YESNO("RUN_TIME_DECAY", "N", "run time decays in fairshare"),
    TEXT("RUN_TIME_FACTOR", "0.7", "weight of run time in fairshare"),
    DURATION("SBD_SLEEP_TIME", SECOND, SECOND, 3600 * SECOND, "30",
             "load suspends or resumes at most one job of a host in this time; at least 15 seconds, the interval at which hosts report load"),
#undef SECTION
#define SECTION "HostType"
    NAME("TYPENAME", NULL, "a host type's name"),
#undef SECTION
#define SECTION "HostModel"
    NAME("MODELNAME", NULL, "a host model's name"),
    TEXT("CPUFACTOR", "1", "its relative speed"),
    LIST("ARCHITECTURE", NULL, "how hosts of it describe their processor"),
#undef SECTION
#define SECTION "Resource"
    TEXT("RESOURCENAME", NULL, "a resource's name"),
    WORD("TYPE", "Numeric Boolean String", NULL, "Numeric, Boolean or String"),
    INT("INTERVAL", 1, 86400, NULL, "seconds between two values of a dynamic resource"),
    YESNO("INCREASING", "N", "Y: a larger value is more load"),
    YESNO("RELEASE", "Y", "Y: a suspended job releases it"),
    YESNO("CONSUMABLE", NULL, "Y: jobs may reserve it; default: Y for a number that is "
                              "not INCREASING"),
    TEXT("DESCRIPTION", NULL, "a description for users"),
#undef SECTION
#define SECTION "Application"
    NAME("NAME", NULL, "the profile's name, for sub -app"),
    TEXT("DESCRIPTION", NULL, "a description for users"),
    YESNO("ABS_RUNLIMIT", NULL, "as in section Parameters; takes precedence over it"),
    TEXT("CORELIMIT", NULL, "as in section Queue; takes precedence over it"),
    TEXT("CPULIMIT", NULL, "as in section Queue; takes precedence over it"),
    TEXT("DATALIMIT", NULL, "as in section Queue; takes precedence over it"),
    TEXT("FILELIMIT", NULL, "as in section Queue; takes precedence over it"),
    TEXT("JOB_ACTION_WARNING_TIME", NULL, "time before the run limit at which a job gets JOB_WARNING_ACTION, as [HOURS:]MINUTES"),
    TEXT("JOB_POSTPROC_TIMEOUT", NULL, "how long POST_EXEC may take, as [HOURS:]MINUTES"),
    TEXT("JOB_PREPROC_TIMEOUT", NULL, "how long PRE_EXEC may take, as [HOURS:]MINUTES"),
    TEXT("JOB_STARTER", NULL, "command that starts jobs, before the queue's"),
    TEXT("JOB_WARNING_ACTION", NULL, "signal or command that warns a job before its run limit ends it"),
    INT("MAX_JOB_REQUEUE", 1, INT32_MAX, NULL, "as in section Queue; takes precedence over it"),
    INT("MAX_PREEXEC_RETRY", 1, INT32_MAX, NULL, "as in section Queue; takes precedence over it"),
    TEXT("MEMLIMIT", NULL, "as in section Queue; takes precedence over it"),
    INT("NICE", -20, 20, NULL, "nice value of its jobs, before the queue's; 20 has the effect of 19"),
    TEXT("POST_EXEC", NULL, "command after a job, before the queue's"),
    TEXT("PRE_EXEC", NULL, "command before a job, after the queue's"),
    TEXT("PROCESSLIMIT", NULL, "as in section Queue; takes precedence over it"),
    LIST("PROCLIMIT", NULL, "slots of one job, within the queue's"),
    LIST("REQUEUE_EXIT_VALUES", NULL, "exit codes that requeue a job, instead of the queue's"),
    YESNO("RERUNNABLE", NULL, "jobs run again when their host is lost, before the queue's"),
    TEXT("RES_REQ", NULL, "resource requirements of its jobs, joined with their own"),
    TEXT("RUNLIMIT", NULL, "limit on run time, before the queue's default"),
    TEXT("STACKLIMIT", NULL, "as in section Queue; takes precedence over it"),
    LIST("SUCCESS_EXIT_VALUES", NULL, "exit codes that count as done, instead of the queue's"),
    TEXT("SWAPLIMIT", NULL, "as in section Queue; takes precedence over it"),
    LIST("TASKLIMIT", NULL, "tasks of one job, within the queue's"),
    TEXT("THREADLIMIT", NULL, "as in section Queue; takes precedence over it"),
    WORD("JOB_INCLUDE_POSTPROC", "Y", NULL, "accepted without effect: POST_EXEC always belongs to the job"),
    INT("MAX_JOB_PREEMPT", 1, INT32_MAX, NULL, "as in section Queue; takes precedence over it"),
    DURATION("MAX_TOTAL_TIME_PREEMPT", MINUTE, 0, TEN_YEARS, NULL, "as in section Queue; takes precedence over it"),
    TEXT("NO_PREEMPT_FINISH_TIME", NULL, "as in section Queue; takes precedence over it"),
    DURATION("NO_PREEMPT_INTERVAL", MINUTE, 0, TEN_YEARS, NULL, "as in section Queue; takes precedence over it"),
    TEXT("NO_PREEMPT_RUN_TIME", NULL, "as in section Queue; takes precedence over it"),
    DURATION("PREEMPT_DELAY", SECOND, 0, TEN_YEARS, NULL, "as in section Queue; takes precedence over it"),
    WORD("RESIZABLE_JOBS", "Y N auto", NULL, "Y: its jobs may be resized while they run; auto: they also grow by themselves, as with sub -ar; N: they are not resized, also not with -ar"),
    TEXT("RESIZE_NOTIFY_CMD", NULL, "command that notifies a job of changed slots, on its first host as its user; a nonzero exit code refuses the change"),
    TEXT("RESUME_CONTROL", NULL, "signal or command that resumes jobs, before JOB_CONTROLS of the queue"),
    TEXT("SUSPEND_CONTROL", NULL, "signal or command that suspends jobs, before JOB_CONTROLS of the queue"),
    TEXT("TERMINATE_CONTROL", NULL, "signal or command that ends jobs, before JOB_CONTROLS of the queue"),
#undef SECTION
#define SECTION "User"
    TEXT("USER_NAME", NULL, "the user, or default"),
    INT("MAX_JOBS", 0, INT32_MAX, NULL, "slots of the user"),
    INT("MAX_PEND_JOBS", 0, INT32_MAX, "100000", "pending jobs of the user, of all users of GROUP, or of each user of GROUP@; elements of arrays count one by one"),
    INT("MAX_PEND_SLOTS", 0, INT32_MAX, NULL, "slots that pending jobs of the user ask for, as MAX_PEND_JOBS"),
    TEXT("JL/P", NULL, "slots per processor"),
#undef SECTION
#define SECTION "UserGroup"
    NAME("GROUP_NAME", NULL, "the group's name"),
    LIST("GROUP_MEMBER", NULL, "its members"),
    LIST("GROUP_ADMIN", NULL, "users and user groups that control the jobs of its members; [full] and [usershares] are accepted"),
    LIST("USER_SHARES", NULL, "shares of its members: ([ana, 2] [bo, 1])"),
    INT("MAX_PEND_JOBS", 0, INT32_MAX, NULL, "pending jobs of all its users together; elements of arrays count one by one"),
    INT("MAX_PEND_SLOTS", 0, INT32_MAX, NULL, "slots that the pending jobs of all its users ask for together"),
#undef SECTION
#define SECTION "UserMap"
    LIST("LOCAL", NULL, "the account at this site; all: the account of the same name"),
    LIST("REMOTE", NULL, "users of other sites, as (USER@SITE ...); all@SITE: everybody"),
    WORD("DIRECTION", "export import", NULL, "import: they run here as LOCAL; export: has no effect, the lending site decides"),
#undef SECTION
#define SECTION "HostGroup"
    NAME("GROUP_NAME", NULL, "the group's name"),
    HOSTS("GROUP_MEMBER", NULL, "its hosts, also as node[001-128] or node*"),
    LIST("GROUP_ADMIN", NULL, "users and user groups that close and open its hosts"),
    YESNO("CONDENSE", "N", "Y: bhosts shows the group as one row, and bjobs shows it in place of its hosts"),
#undef SECTION
#define SECTION "ComputeUnit"
    NAME("NAME", NULL, "the compute unit's name"),
    HOSTS("MEMBER", NULL, "hosts and host groups of a unit of the finest type; of other types, units of one finer type"),
    NAME("TYPE", NULL, "one of COMPUTE_UNIT_TYPES"),
    YESNO("CONDENSE", "N", "Y: as in section HostGroup"),
#undef SECTION
#define SECTION "HostPartition"
    NAME("HPART_NAME", NULL, "the partition's name"),
    HOSTS("HOSTS", NULL, "its hosts; all: those that are in no earlier partition"),
    LIST("USER_SHARES", NULL, "shares of users on them: ([ana, 2] [default, 1])"),
#undef SECTION
#define SECTION "ResourceMap"
    TEXT("RESOURCENAME", NULL, "a resource of section Resource"),
    LIST("LOCATION", NULL, "its location: VALUE@[hosts] ..., or [hosts] if it is measured"),
#undef SECTION
#define SECTION "ReservationUsage"
    TEXT("RESOURCE", NULL, "a numeric resource that jobs reserve; also mem, swp and tmp"),
    WORD("METHOD", "PER_JOB PER_HOST PER_SLOT PER_TASK", NULL, "how often an amount of it in rusage counts: PER_JOB, PER_HOST, or PER_SLOT, which is PER_TASK too"),
#undef SECTION
#define SECTION "SharedResourceExport"
    TEXT("NAME", NULL, "the shared resource"),
    INT("NINSTANCES", 1, INSTANCES_MAX, NULL, "maximum number of instances that are exported"),
    LIST("DISTRIBUTION", NULL, "shares of the consumers: ([site, shares] ...)"),
#undef SECTION
#define SECTION "Limit"
    TEXT("NAME", NULL, "the limit's name"),
    LIST("USERS", NULL, "users together"),
    LIST("PER_USER", NULL, "each of these users"),
    LIST("QUEUES", NULL, "queues together"),
    LIST("PER_QUEUE", NULL, "each of these queues"),
    HOSTS("HOSTS", NULL, "hosts together"),
    HOSTS("PER_HOST", NULL, "each of these hosts"),
    LIST("PROJECTS", NULL, "projects together"),
    LIST("PER_PROJECT", NULL, "each of these projects"),
    INT("SLOTS", 0, INT32_MAX, NULL, "job slots"),
    TEXT("SLOTS_PER_PROCESSOR", NULL, "job slots per processor"),
    INT("JOBS", 0, INT32_MAX, NULL, "jobs"),
    TEXT("MEM", NULL, "memory that jobs reserve (rusage), in MB or in LSF_UNIT_FOR_LIMITS; with PER_HOST also N% of each host's"),
    TEXT("SWP", NULL, "swap space that jobs reserve, like MEM"),
    TEXT("TMP", NULL, "space in /tmp that jobs reserve, like MEM"),
    TEXT("RESOURCE", NULL, "numeric resources that jobs reserve: [NAME,AMOUNT] ..."),
    TEXT("LICENSE", NULL, "the same as RESOURCE"),
#undef SECTION
#define SECTION "Pool"
    NAME("NAME", NULL, "the pool's name"),
    INT("SLOTS", 1, INT32_MAX - 1, NULL,
        "configured slots; default: sum of the first level's OWNED"),
    DURATION("CYCLE", SECOND, SECOND, DAY, "30s", "time between two cycles"),
    WORD("PLACEMENT", "stacked balanced exclusive", "stacked",
         "stacked: a host is filled before the next one; balanced: the emptiest host comes first; exclusive: a host belongs to one node at a time"),
    YESNO("REBALANCE", "Y", "a changed plan is enforced at once"),
    YESNO("EGO_HYBRID_EVENLY_DISTRIBUTE_SLOTS", "N", "slots that owners do not use are shared equally"),
    YESNO("EGO_DISABLE_RECLAIM_HYBRID_OWN", "N",
          "Y: no job is ended because ownership has shrunk with the pool"),
    INT("EGO_CONSUMER_PRIORITY_DEFAULT", 0, INT32_MAX, "0", "RANK of nodes without one"),
    YESNO("ALLOW_OVERCOMMIT", "N", "OWNED may be more than SLOTS"),
    WORD("ROUND", "rank largest_remainder sticky", "rank",
         "which nodes get the slots that remain after rounding"),
    INT("MAX_RECALL_PER_CYCLE", 1, INT32_MAX - 1, NULL,
        "maximum number of slots newly recalled in one cycle"),
    DURATION("MIN_HOLD", SECOND, 0, TEN_YEARS, "0",
             "slots that were moved stay at least for this time"),
    YESNO("SHARING", "Y", "N: nodes of ownership policy lend no idle slots to their siblings"),
    DURATION("PROVIDER_LOST_AFTER", SECOND, 0, DAY, "5m",
             "the slots of a provider that is lost still count for this time"),
    DURATION("MAX_BORROWER_GRACE", SECOND, 0, TEN_YEARS, NULL,
             "the longest GRACE that counts"),
#undef SECTION
#define SECTION "PlanNode"
    TEXT("NAME", NULL, "the node's path, as /eng/sim"),
    NAME("POOL", NULL, "the pool that it shares"),
    INT("OWNED", 0, INT32_MAX - 1, "0", "slots that it owns"),
    INT("RESERVE", 0, INT32_MAX - 1, "0", "owned slots that it never lends"),
    INT("LIMIT", 0, INT32_MAX - 1, NULL, "maximum number of slots that it gets"),
    INT("RANK", 0, INT32_MAX, NULL, "0 is served first; default: the pool's"),
    DURATION("GRACE", SECOND, 0, TEN_YEARS, "0", "how long a recalled slot may be kept"),
    INT("HOURS", 1, HOURS_MAX, NULL,
        "slot hours that jobs below it may use on other sites in a calendar month (UTC)"),
    INT("PRICE", 0, PRICE_MAX, NULL,
        "credits for each slot hour that jobs use on other sites; default: that of the node above"),
    WORD("POLICY", "hybrid ownership share", NULL,
         "of a first-level node and all below it; share: OWNED is a ratio; default: hybrid"),
    NAME("SITE", NULL, "the site of a leaf"),
    LIST("QUEUES", NULL, "the queues of the site that belong to the leaf; default: all"),
    NAME("WINDOW", NULL, "the time window that the row is for; default: all"),
#undef SECTION
#define SECTION "TimeWindow"
    NAME("NAME", NULL, "the window's name"),
    NAME("POOL", NULL, "the pool whose plan it belongs to"),
    TEXT("FROM", NULL, "when it begins, as HH:MM"),
    TEXT("TO", NULL, "when it ends, as HH:MM"),
#undef SECTION
#define SECTION ""
    WORD("EGO_DEFINE_NCPUS", "procs cores threads", NULL, "what ncpus counts; default: procs"),
    TEXT("LSF_LOCAL_RESOURCES", NULL, "further resources of the hosts of HOSTS_HERE, as [resource linux] [!bigmem] [resourcemap 2*verilog]"),
    YESNO("LSF_STRICT_RESREQ", NULL, "N: requirement strings have LSF's older, lenient syntax; default Y"),
    INT("LSB_NCPU_ENFORCE", 0, 1, NULL, "1: fairshare counts run time times slots; default 0"),
    YESNO("LSB_DISABLE_LIMLOCK_EXCL", NULL, "accepted without effect: PREEMPT_JOBTYPE decides"),
    WORDS("LSB_RESOURCE_ENFORCE", "memory cpu gpu", "accepted without effect: memory limits are always enforced by cgroups if these are available, and a job with affinity[] is always bound to its processors"),
    YESNO("LSF_PROCESS_TRACKING", NULL, "accepted without effect: processes are always tracked by cgroups if these are available"),
    YESNO("LSF_LINUX_CGROUP_ACCT", NULL, "accepted without effect: usage is always counted by cgroups if these are available"),
    YESNO("LSB_JOB_MEMLIMIT", NULL, "accepted without effect: memory limits always count the whole job"),
    YESNO("LSB_MEMLIMIT_ENFORCE", NULL, "accepted without effect: memory limits are always enforced"),
    WORD("LSF_UNIT_FOR_LIMITS", "KB MB GB TB PB EB", NULL, "unit of sizes in limits that have none; default: KB"),
    YESNO("LSB_JOB_CPULIMIT", NULL, "accepted without effect: CPU limits always count the whole job"),
    YESNO("EGO_HYBRID_EVENLY_DISTRIBUTE_SLOTS", NULL, "default for pools that do not set it"),
    YESNO("EGO_DISABLE_RECLAIM_HYBRID_OWN", NULL, "default for pools that do not set it"),
    INT("EGO_CONSUMER_PRIORITY_DEFAULT", 0, INT32_MAX, NULL, "default for pools that do not set it"),
#undef SECTION
    {.section = NULL},
};
/* clang-format on */

const struct conf_key *conf_keys_of(const char *section)
{
    for (const struct conf_key *entry = conf_keys; entry->section != NULL; entry++) {
        if (strcasecmp(entry->section, section) == 0) {
            return entry;
        }
    }
    return NULL;
}

const struct conf_key *conf_keys_among(const struct conf_key *first, const char *key)
{
    for (const struct conf_key *entry = first;
         entry != NULL && entry->section != NULL &&
         strcmp(entry->section, first->section) == 0;
         entry++) {
        if (strcasecmp(entry->key, key) == 0) {
            return entry;
        }
    }
    return NULL;
}

const struct conf_key *conf_keys_find(const char *section, const char *key)
{
    return conf_keys_among(conf_keys_of(section), key);
}
