/* SPDX-License-Identifier: Apache-2.0 */
/* lsf_keys.c: see lsf_keys.h. */
#include "base/conf/lsf_keys.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/conf/conf_keys.h"

/* clang-format off */
#define ENTRY(name, of_class, text) {.section = SECTION, .key = name, .class = of_class, .what = text}
#define DIFFERS(name, text) ENTRY(name, LSF_DIFFERS, text)
#define IGNORED(name, text) ENTRY(name, LSF_IGNORED, text)
#define UNSUPPORTED(name, text) ENTRY(name, LSF_UNSUPPORTED, text)
#define REFUSED(name, text) ENTRY(name, LSF_REFUSED, text)

/* Sentences that several parameters share. */
#define LSF_DAEMONS "it tunes LSF's own daemons"
#define LSF_FILES "it places LSF's own files; ours are in SPOOL of section Site"
#define LSF_LOGS "it sets up LSF's own logs; our daemons log to standard error"
#define LSF_PORTS "it is a port of LSF's own daemons; ours are LISTEN of sections Site and Broker"
#define LSF_DEBUG "it debugs LSF's own daemons"
#define LSF_COMMANDS "it tunes LSF's own commands"
#define INSTALLER "it is a note of LSF's installer to itself"
#define FORMATS "sublet-lsf reads it from the environment of its user alone; set it there"
#define WINDOWS "it concerns hosts with Windows, which are not supported"
#define EGO "it concerns IBM's EGO, which is not used"
#define CRAY "it concerns machines of Cray, which are not supported"
#define LICENSES "it concerns LSF's own licence, which is not needed"
#define CONNECTOR "hosts are not rented from clouds by the site; add them as hosts when they are there"
#define DATA "data is not staged by the site; stage it in PRE_EXEC"
#define GPU "GPUs are not managed by name; define a numeric resource and reserve it by rusage"
#define CHECKPOINTS "jobs run without checkpoints; a job that is killed begins again"
#define MIGRATION "suspended jobs are not migrated; they resume on their hosts"
#define CHUNKS "jobs are not dispatched in chunks; each is dispatched by itself"
#define FORWARDING "jobs are not forwarded to other clusters; borrow slots by a lease instead"
#define SLA "there are no service classes; use SLOT_POOL, SLOT_RESERVE or a slot pool's shares"
#define GUARANTEE "there are no guarantee policies; use slot pools (SLOT_POOL, SLOT_SHARE)"
#define GLOBAL_FAIRSHARE "fairshare counts what ran at this site alone"
#define ADVANCE "advance reservations are not built; close hosts, or use windows of queues"
#define BLAUNCH "blaunch is not there; start tasks by ssh, MPI or PMIx on the hosts of LSB_HOSTS"
#define CONTAINERS "jobs are not started in containers by the site; use JOB_STARTER"
#define POWER "hosts are not switched off and on"
#define AFFINITY_TEXT "jobs are bound to processors by affinity[] of their requirement alone, on hosts with AFFINITY"
#define EXCEPTIONS "the condition is not watched; look at `sublet jobs -l` and at the metrics"
#define ENERGY "energy is not accounted and frequencies are not set"
#define PREDICTION "start times are told by reservations alone (`sublet jobs -l`)"
#define SESSIONS "there is no session scheduler; submit job arrays"
#define KERBEROS "tickets of Kerberos and tokens of AFS are not renewed for jobs"
#define QUERIES "queries are answered by the site's one process, within a bound for each user"
#define MAIL "no mail is sent about jobs; use `sublet wait`, `sublet events` or POST_EXEC"
#define NETWORKS "networks of parallel jobs (PE, switches) are not allocated"

#define SCALED_BY_NAME "a limit without a host, a model or DEFAULT_HOST_SPEC counts minutes of the host that runs the job"
#define ALWAYS_OF_JOB "limits are enforced, and count the whole job, with N too"
#define OF_JOB "the limit counts all processes of a job, as with LSB_JOB_MEMLIMIT = Y"

const struct lsf_key lsf_keys[] = {
#define SECTION "Parameters"
    DIFFERS("JOB_ACCEPT_INTERVAL", "the default is 0, so that a host accepts jobs as they come; LSF's default is 1"),
    DIFFERS("MBD_SLEEP_TIME", "it is the unit of JOB_ACCEPT_INTERVAL, SLOT_RESERVE and RESOURCE_RESERVE alone; passes are started by events"),
    DIFFERS("MAX_PREEXEC_RETRY", "the default is 5, and a job that failed as often is held (PSUSP)"),
    DIFFERS("SBD_SLEEP_TIME", "hosts report load every 15 seconds, so that a shorter time has no effect"),
    IGNORED("ACCT_ARCHIVE_AGE", "HISTORY_PERIOD bounds the history"),
    IGNORED("ACCT_ARCHIVE_SIZE", "HISTORY_PERIOD bounds the history"),
    IGNORED("ACCT_ARCHIVE_TIME", "HISTORY_PERIOD bounds the history"),
    UNSUPPORTED("ADVRSV_USER_LIMIT", ADVANCE),
    UNSUPPORTED("ALLOCATION_PLANNER", PREDICTION),
    UNSUPPORTED("ALLOW_EVENT_TYPE", "events are streamed by HTTP (`/api/v1/events`), all kinds of them"),
    UNSUPPORTED("ATTR_CREATE_USERS", "hosts have no attributes; define a Boolean resource"),
    UNSUPPORTED("ATTR_MAX_NUM", "hosts have no attributes; define a Boolean resource"),
    UNSUPPORTED("ATTR_TTL", "hosts have no attributes; define a Boolean resource"),
    IGNORED("BJOBS_RES_REQ_DISPLAY", "`jobs -l` shows the requirement of each level"),
    UNSUPPORTED("BSWITCH_MODIFY_RUSAGE", "the rusage of a running job stays as it is when the job is switched"),
    UNSUPPORTED("CHUNK_JOB_DURATION", CHUNKS),
    IGNORED("CLEAN_PERIOD_DONE", "jobs that are done are shown for CLEAN_PERIOD like others"),
    IGNORED("CONDENSE_PENDING_REASONS", "each job has its own reason"),
    UNSUPPORTED("CONTAINER_PROFILE", CONTAINERS),
    UNSUPPORTED("CSM_VALID_SMT", "modes of simultaneous multithreading are not set"),
    UNSUPPORTED("DEFAULT_JOB_CWD", "a job runs in the directory that it was submitted in, or in that of -cwd"),
    UNSUPPORTED("DEFAULT_JOB_OUTDIR", "output goes where -o says"),
    UNSUPPORTED("DEFAULT_RC_ACCOUNT_PER_PROJECT", CONNECTOR),
    UNSUPPORTED("DEFAULT_RESREQ_ORDER", "hosts are ordered by r15s:pg unless a requirement has an order section"),
    UNSUPPORTED("DEFAULT_SLA_VELOCITY", SLA),
    UNSUPPORTED("DEFAULT_USER_GROUP", "jobs without -G count for no group with ENFORCE_ONE_UG_LIMITS, and for each group of their user otherwise"),
    UNSUPPORTED("DETECT_IDLE_JOB_AFTER", EXCEPTIONS),
    IGNORED("DIAGNOSE_LOGDIR", LSF_LOGS),
    UNSUPPORTED("DISABLE_UACCT_MAP", "the lending site's UserMap decides; without a row no user is mapped"),
    IGNORED("EADMIN_TRIGGER_DURATION", "no eadmin is called; alerts are in the metrics"),
    UNSUPPORTED("EGO_SLOTBASED_VELOCITY_SLA", SLA),
    UNSUPPORTED("ELIGIBLE_PEND_TIME_FACTOR", "waiting time is no part of fairshare"),
    UNSUPPORTED("ENABLE_DEFAULT_EGO_SLA", SLA),
    IGNORED("ENABLE_DIAGNOSE", LSF_LOGS),
    IGNORED("ENABLE_EVENT_STREAM", "events are always streamed, by HTTP"),
    UNSUPPORTED("ENABLE_EXIT_RATE_PER_SLOT", EXCEPTIONS),
    UNSUPPORTED("ENABLE_GPU_FAIRSHARE", GPU),
    UNSUPPORTED("ENABLE_HOST_INTERSECTION", "hosts named with -m that the queue does not have are an error, not left out"),
    UNSUPPORTED("ENABLE_JOB_INFO_BY_ADMIN_ROLE", "ADMINS of section Site see every job"),
    UNSUPPORTED("ENABLE_USER_RESUME", "a job that an administrator stopped is resumed by an administrator"),
    UNSUPPORTED("ENFORCE_ONE_UG_LIMITS", "limits of every group of the user apply"),
    UNSUPPORTED("ENFORCE_UG_TREE", "a user may be in several groups; that the groups form a tree is not checked"),
    UNSUPPORTED("ESTIMATOR_CPUS", PREDICTION),
    UNSUPPORTED("ESTIMATOR_MAX_JOBS_PREDICTION", PREDICTION),
    UNSUPPORTED("ESTIMATOR_MAX_RUNTIME_PREDICTION", PREDICTION),
    UNSUPPORTED("ESTIMATOR_MAX_TIME_PREDICTION", PREDICTION),
    UNSUPPORTED("ESTIMATOR_SIM_START_INTERVAL", PREDICTION),
    IGNORED("EVALUATE_JOB_DEPENDENCY", "dependencies are judged when the jobs that they name change"),
    IGNORED("EVALUATE_JOB_DEPENDENCY_TIMEOUT", "dependencies are judged when the jobs that they name change"),
    IGNORED("EVALUATE_WAIT_CONDITION_TIMEOUT", LSF_DAEMONS),
    IGNORED("EVENT_STREAM_FILE", "events are streamed by HTTP"),
    IGNORED("EVENT_UPDATE_INTERVAL", "the journal is not copied to another directory"),
    UNSUPPORTED("EXIT_RATE_TYPE", "hosts are not closed because jobs fail on them"),
    UNSUPPORTED("EXTEND_JOB_EXCEPTION_NOTIFY", EXCEPTIONS),
    UNSUPPORTED("FAIRSHARE_ADJUSTMENT_FACTOR", "there is no plug-in for fairshare; the weight counts as 0"),
    UNSUPPORTED("FAIRSHARE_JOB_COUNT", "fairshare counts slots, not jobs"),
    UNSUPPORTED("FWD_JOB_FACTOR", FORWARDING),
    UNSUPPORTED("FWD_USER_JOB_FACTOR", FORWARDING),
    UNSUPPORTED("GLOBAL_EXIT_RATE", "hosts are not closed because jobs fail on them"),
    UNSUPPORTED("GLOBAL_LIMITS", "limits count the jobs of this site"),
    UNSUPPORTED("GPU_REQ_MERGE", GPU),
    UNSUPPORTED("GPU_RUN_TIME_FACTOR", GPU),
    IGNORED("GROUP_PEND_JOBS_BY", LSF_DAEMONS),
    UNSUPPORTED("INELIGIBLE", "all waiting jobs count as eligible"),
    UNSUPPORTED("JOB_ATTA_DIR", "messages and files are not attached to jobs"),
    UNSUPPORTED("JOB_CONTROLS_FAIL_DEFAULT_ACTION", "a control command that fails leaves the job as it is, with a warning"),
    UNSUPPORTED("JOB_CWD_TTL", "working directories are not removed"),
    UNSUPPORTED("JOB_DEP_LAST_SUB", "a dependency on a job name means all jobs of that name"),
    UNSUPPORTED("JOB_DISTRIBUTE_ON_HOST", "slots are placed by PLACEMENT of the queue, and by span[]"),
    UNSUPPORTED("JOB_EXIT_RATE_DURATION", "hosts are not closed because jobs fail on them"),
    UNSUPPORTED("JOB_GROUP_CLEAN", "job groups stay until bgdel deletes them"),
    UNSUPPORTED("JOB_GROUP_IDLE_TTL", "job groups stay until bgdel deletes them"),
    UNSUPPORTED("JOB_POSITION_CONTROL_BY_ADMIN", "users may move their own jobs among their own jobs"),
    UNSUPPORTED("JOB_RUNLIMIT_RATIO", "an estimate of the run time is no bound"),
    IGNORED("JOB_SCHEDULING_INTERVAL", "passes are started by events, not by an interval"),
    IGNORED("JOB_SPOOL_DIR", "input files and commands are kept in SPOOL"),
    IGNORED("JOB_SWITCH2_EVENT", LSF_FILES),
    UNSUPPORTED("LOCAL_MAX_PREEXEC_RETRY", "MAX_PREEXEC_RETRY counts for all hosts"),
    UNSUPPORTED("LOCAL_MAX_PREEXEC_RETRY_ACTION", "a job whose PRE_EXEC failed too often is held (PSUSP), as with SUSPEND"),
    IGNORED("LSB_SYNC_HOST_STAT_LIM", "hosts tell their state at once"),
    IGNORED("MAX_ACCT_ARCHIVE_FILE", "HISTORY_PERIOD bounds the history"),
    IGNORED("MAX_CONCURRENT_JOB_QUERY", QUERIES),
    IGNORED("MAX_CONCURRENT_QUERY", QUERIES),
    IGNORED("MAX_EVENT_STREAM_FILE_NUMBER", "events are streamed by HTTP"),
    IGNORED("MAX_EVENT_STREAM_SIZE", "events are streamed by HTTP"),
    IGNORED("MAX_INFO_DIRS", LSF_FILES),
    UNSUPPORTED("MAX_JOB_ATTA_SIZE", "messages and files are not attached to jobs"),
    UNSUPPORTED("MAX_JOB_MSG_NUM", "messages and files are not attached to jobs"),
    IGNORED("MAX_JOB_NUM", "CLEAN_PERIOD and HISTORY_PERIOD bound what is kept of finished jobs"),
    IGNORED("MAX_JOBID", "job ids are not used again before 2147483647"),
    IGNORED("MAX_JOBINFO_QUERY_PERIOD", QUERIES),
    UNSUPPORTED("MAX_PROTOCOL_INSTANCES", NETWORKS),
    IGNORED("MAX_RETRY", LSF_DAEMONS),
    IGNORED("MAX_SBD_CONNS", LSF_DAEMONS),
    IGNORED("MAX_SBD_FAIL", "a host counts as unavailable when its connection is silent; see LOST_AFTER"),
    IGNORED("MBD_EGO_CONNECT_TIMEOUT", EGO),
    IGNORED("MBD_EGO_READ_TIMEOUT", EGO),
    IGNORED("MBD_EGO_TIME2LIVE", EGO),
    IGNORED("MBD_QUERY_CPUS", QUERIES),
    IGNORED("MBD_REFRESH_TIME", QUERIES),
    IGNORED("MBD_USE_EGO_MXJ", EGO),
    IGNORED("MC_PENDING_REASON_PKG_SIZE", FORWARDING),
    IGNORED("MC_PENDING_REASON_UPDATE_INTERVAL", FORWARDING),
    IGNORED("MC_PLUGIN_SCHEDULE_ENHANCE", FORWARDING),
    IGNORED("MC_PLUGIN_UPDATE_INTERVAL", FORWARDING),
    UNSUPPORTED("MC_RESOURCE_MATCHING_CRITERIA", FORWARDING),
    IGNORED("MC_RUSAGE_UPDATE_INTERVAL", "borrowed hosts report with every heartbeat"),
    UNSUPPORTED("MC_SORT_BY_SUBMIT_TIME", FORWARDING),
    IGNORED("MIN_SWITCH_PERIOD", "HISTORY_PERIOD bounds the history"),
    IGNORED("NEWJOB_REFRESH", "a new job is shown at once, as with Y"),
    UNSUPPORTED("NQS_QUEUES_FLAGS", "jobs are not forwarded to NQS"),
    UNSUPPORTED("NQS_REQUESTS_FLAGS", "jobs are not forwarded to NQS"),
    UNSUPPORTED("ORPHAN_JOB_TERM_GRACE_PERIOD", "a job whose dependency can never be met stays pending and its reason says so; kill it by hand"),
    IGNORED("PEND_REASON_MAX_JOBS", "reasons are computed when they are asked for"),
    IGNORED("PEND_REASON_UPDATE_INTERVAL", "reasons are computed when they are asked for"),
    IGNORED("PERFORMANCE_THRESHOLD_FILE", LSF_LOGS),
    IGNORED("PERSIST_LIVE_CONFIG", "there is no bconf; edit the files and run `sublet reconfig`"),
    UNSUPPORTED("PLAN", PREDICTION),
    UNSUPPORTED("POWER_ON_WAIT", POWER),
    UNSUPPORTED("POWER_RESET_CMD", POWER),
    UNSUPPORTED("POWER_RESET_TIMEOUT", POWER),
    UNSUPPORTED("POWER_RESUME_CMD", POWER),
    UNSUPPORTED("POWER_RESUME_TIMEOUT", POWER),
    UNSUPPORTED("POWER_STATUS_LOG_MAX", POWER),
    UNSUPPORTED("POWER_SUSPEND_CMD", POWER),
    UNSUPPORTED("POWER_SUSPEND_TIMEOUT", POWER),
    UNSUPPORTED("PREEXEC_EXCLUDE_HOST_EXIT_VALUES", "a job whose PRE_EXEC failed may be tried on the same host again"),
    UNSUPPORTED("PRIVILEGED_USER_FORCE_BKILL", "users may kill their jobs by force (kill -r)"),
    UNSUPPORTED("RELAX_JOB_DISPATCH_ORDER", "jobs of one priority start in the order of submission, if they fit"),
    UNSUPPORTED("REMOTE_MAX_PREEXEC_RETRY", "MAX_PREEXEC_RETRY counts for all hosts"),
    UNSUPPORTED("REMOVE_HUNG_JOBS_FOR", "a job on a silent host stays until the host is back or an administrator ends it with kill -r"),
    UNSUPPORTED("RESIZABLE_JOBS", "jobs are resizable by RESIZABLE_JOBS of their application profile, or by -ar"),
    IGNORED("RETRY_INTERVAL", LSF_DAEMONS),
    IGNORED("RUSAGE_UPDATE_PERCENT", "usage is reported with every heartbeat"),
    IGNORED("RUSAGE_UPDATE_RATE", "usage is reported with every heartbeat"),
    IGNORED("SCHED_METRIC_ENABLE", "metrics are always there, by HTTP (/metrics)"),
    IGNORED("SCHED_METRIC_SAMPLE_PERIOD", "metrics are always there, by HTTP (/metrics)"),
    IGNORED("SCHED_PER_JOB_SORT", LSF_DAEMONS),
    IGNORED("SCHEDULER_THREADS", LSF_DAEMONS),
    UNSUPPORTED("SECURE_INFODIR_USER_ACCESS", "each user sees the jobs of all users"),
    UNSUPPORTED("SECURE_JOB_INFO_LEVEL", "each user sees the jobs of all users"),
    UNSUPPORTED("SIMPLIFIED_GUARANTEE", GUARANTEE),
    UNSUPPORTED("SLA_TIMER", SLA),
    UNSUPPORTED("SSCHED_ACCT_DIR", SESSIONS),
    UNSUPPORTED("SSCHED_MAX_RUNLIMIT", SESSIONS),
    UNSUPPORTED("SSCHED_MAX_TASKS", SESSIONS),
    UNSUPPORTED("SSCHED_REQUEUE_LIMIT", SESSIONS),
    UNSUPPORTED("SSCHED_RETRY_LIMIT", SESSIONS),
    UNSUPPORTED("SSCHED_UPDATE_SUMMARY_BY_TASK", SESSIONS),
    UNSUPPORTED("SSCHED_UPDATE_SUMMARY_INTERVAL", SESSIONS),
    UNSUPPORTED("STRIPING_WITH_MINIMUM_NETWORK", NETWORKS),
    UNSUPPORTED("SYSTEM_MAPPING_ACCOUNT", "jobs run as the user that submitted them; a user without an account is refused"),
    UNSUPPORTED("USE_SUSP_SLOTS", "slots of suspended jobs are free for other jobs, as with Y"),
    IGNORED("VALIDATE_HOST_NAMES", "names of hosts are always checked"),
    /* lsf.cluster has a section of that name, too. */
    IGNORED("ADJUST_DURATION", LSF_DAEMONS),
    IGNORED("ELIM_ABORT_VALUE", "an elim that fails is started again"),
    IGNORED("ELIM_POLL_INTERVAL", "hosts read what elims report as it comes"),
    IGNORED("ELIMARGS", "elims are started without arguments"),
    IGNORED("EXINTERVAL", "hosts report load every 15 seconds, and changes at once"),
    IGNORED("FLOAT_CLIENTS", LICENSES),
    IGNORED("FLOAT_CLIENTS_ADDR_RANGE", LICENSES),
    IGNORED("HOST_INACTIVITY_LIMIT", "a host counts as unavailable when its connection is silent"),
    IGNORED("LSF_ELIM_BLOCKTIME", "hosts read what elims report as it comes"),
    IGNORED("LSF_ELIM_DEBUG", LSF_DEBUG),
    IGNORED("LSF_ELIM_RESTARTS", "an elim that fails is started again"),
    UNSUPPORTED("LSF_HOST_ADDR_RANGE", "a host joins by its key (HOST_KEY), from any address"),
    IGNORED("MASTER_INACTIVITY_LIMIT", LSF_DAEMONS),
    IGNORED("PROBE_TIMEOUT", LSF_DAEMONS),
    IGNORED("PRODUCTS", LICENSES),
    IGNORED("RETRY_LIMIT", LSF_DAEMONS),
#undef SECTION
#define SECTION "Queue"
    DIFFERS("CPULIMIT", SCALED_BY_NAME),
    DIFFERS("MEMLIMIT", OF_JOB),
    DIFFERS("RUNLIMIT", SCALED_BY_NAME),
    DIFFERS("SWAPLIMIT", OF_JOB),
    UNSUPPORTED("APS_PRIORITY", "absolute priorities are not built; jobs are ordered by queue, fairshare and -sp"),
    REFUSED("CHKPNT", CHECKPOINTS),
    UNSUPPORTED("CHUNK_JOB_SIZE", CHUNKS),
    UNSUPPORTED("CONCURRENT_JOBS", "the number of jobs that run at a time is not bounded; use a Limit section with JOBS"),
    UNSUPPORTED("CONTAINER", CONTAINERS),
    UNSUPPORTED("CSM_REQ", "modes of simultaneous multithreading are not set"),
    UNSUPPORTED("DISPATCH_BY_QUEUE", "decisions are published after each pass over all queues"),
    UNSUPPORTED("ELIGIBLE_PEND_TIME_LIMIT", "a job pends as long as it must; its user is not told of a limit"),
    UNSUPPORTED("EXTSCHED", "options of external schedulers (-extsched) are not known"),
    UNSUPPORTED("FAIRSHARE_ADJUSTMENT_FACTOR", "there is no plug-in for fairshare; the weight counts as 0"),
    UNSUPPORTED("FWD_JOB_FACTOR", FORWARDING),
    UNSUPPORTED("FWD_USER_JOB_FACTOR", FORWARDING),
    UNSUPPORTED("GPU_REQ", GPU),
    UNSUPPORTED("GPU_RUN_TIME_FACTOR", GPU),
    UNSUPPORTED("HOST_POST_EXEC", "POST_EXEC runs on the first host of a parallel job alone"),
    UNSUPPORTED("HOST_PRE_EXEC", "PRE_EXEC runs on the first host of a parallel job alone"),
    UNSUPPORTED("IMPT_JOBBKLG", FORWARDING),
    UNSUPPORTED("IMPT_JOBLIMIT", FORWARDING),
    UNSUPPORTED("IMPT_SLOTBKLG", FORWARDING),
    UNSUPPORTED("IMPT_TASKBKLG", FORWARDING),
    UNSUPPORTED("IMPT_TASKLIMIT", FORWARDING),
    UNSUPPORTED("JOB_IDLE", EXCEPTIONS),
    UNSUPPORTED("JOB_OVERRUN", EXCEPTIONS),
    UNSUPPORTED("JOB_SIZE_LIST", "a job may have any size within TASKLIMIT"),
    UNSUPPORTED("JOB_UNDERRUN", EXCEPTIONS),
    UNSUPPORTED("LOAD_INDEX", "thresholds are keys of their own: r1m, mem, and so on"),
    UNSUPPORTED("LOCAL_MAX_PREEXEC_RETRY", "MAX_PREEXEC_RETRY counts for all hosts"),
    UNSUPPORTED("LOCAL_MAX_PREEXEC_RETRY_ACTION", "a job whose PRE_EXEC failed too often is held (PSUSP), as with SUSPEND"),
    UNSUPPORTED("MANDATORY_EXTSCHED", "options of external schedulers (-extsched) are not known"),
    UNSUPPORTED("MAX_PROTOCOL_INSTANCES", NETWORKS),
    UNSUPPORTED("MAX_RSCHED_TIME", FORWARDING),
    UNSUPPORTED("MC_FAST_SCHEDULE", FORWARDING),
    UNSUPPORTED("MC_FORWARD_DELAY", FORWARDING),
    UNSUPPORTED("MC_MAX_FWD_ACCEPT", FORWARDING),
    UNSUPPORTED("MIG", MIGRATION),
    UNSUPPORTED("NETWORK_REQ", NETWORKS),
    UNSUPPORTED("NQS_QUEUES", "jobs are not forwarded to NQS"),
    UNSUPPORTED("ORPHAN_JOB_TERM_GRACE_PERIOD", "a job whose dependency can never be met stays pending and its reason says so; kill it by hand"),
    UNSUPPORTED("PEND_TIME_LIMIT", "a job pends as long as it must; its user is not told of a limit"),
    UNSUPPORTED("QUEUE_GROUP", "queues are not grouped"),
    UNSUPPORTED("RC_ACCOUNT", CONNECTOR),
    UNSUPPORTED("RC_DEMAND_POLICY", CONNECTOR),
    UNSUPPORTED("RC_HOSTS", CONNECTOR),
    UNSUPPORTED("RCVJOBS_FROM", FORWARDING),
    UNSUPPORTED("RELAX_JOB_DISPATCH_ORDER", "jobs of one priority start in the order of submission, if they fit"),
    UNSUPPORTED("REMOTE_MAX_PREEXEC_RETRY", "MAX_PREEXEC_RETRY counts for all hosts"),
    UNSUPPORTED("SLA_GUARANTEES_IGNORE", GUARANTEE),
    UNSUPPORTED("SNDJOBS_TO", FORWARDING),
    UNSUPPORTED("STRIPING_WITH_MINIMUM_NETWORK", NETWORKS),
    UNSUPPORTED("USE_PAM_CREDS", "sessions of PAM are not opened for jobs"),
#undef SECTION
#define SECTION "Application"
    DIFFERS("CPULIMIT", SCALED_BY_NAME),
    DIFFERS("MEMLIMIT", OF_JOB),
    DIFFERS("RUNLIMIT", SCALED_BY_NAME),
    DIFFERS("SWAPLIMIT", OF_JOB),
    UNSUPPORTED("BIND_JOB", AFFINITY_TEXT),
    REFUSED("CHKPNT_DIR", CHECKPOINTS),
    UNSUPPORTED("CHKPNT_INITPERIOD", CHECKPOINTS),
    UNSUPPORTED("CHKPNT_METHOD", CHECKPOINTS),
    UNSUPPORTED("CHKPNT_PERIOD", CHECKPOINTS),
    UNSUPPORTED("CHUNK_JOB_SIZE", CHUNKS),
    UNSUPPORTED("CONTAINER", CONTAINERS),
    UNSUPPORTED("CPU_FREQUENCY", ENERGY),
    UNSUPPORTED("CSM_REQ", "modes of simultaneous multithreading are not set"),
    UNSUPPORTED("DJOB_COMMFAIL_ACTION", BLAUNCH),
    UNSUPPORTED("DJOB_DISABLED", BLAUNCH),
    UNSUPPORTED("DJOB_ENV_SCRIPT", BLAUNCH),
    UNSUPPORTED("DJOB_HB_INTERVAL", BLAUNCH),
    UNSUPPORTED("DJOB_HEARTBEAT_INTERVAL", BLAUNCH),
    UNSUPPORTED("DJOB_RESIZE_GRACE_PERIOD", BLAUNCH),
    UNSUPPORTED("DJOB_RU_INTERVAL", BLAUNCH),
    UNSUPPORTED("DJOB_TASK_BIND", AFFINITY_TEXT),
    UNSUPPORTED("ELASTIC", "elastic jobs are not built; use resizable jobs (RESIZABLE_JOBS)"),
    UNSUPPORTED("ELIGIBLE_PEND_TIME_LIMIT", "a job pends as long as it must; its user is not told of a limit"),
    UNSUPPORTED("ENV_VARS", "a job has the environment of its submission; set variables in JOB_STARTER"),
    UNSUPPORTED("ESTIMATED_RUNTIME", "an estimate of the run time is not used; give a run limit"),
    UNSUPPORTED("EXTSCHED", "options of external schedulers (-extsched) are not known"),
    UNSUPPORTED("GPU_REQ", GPU),
    UNSUPPORTED("HOST_POST_EXEC", "POST_EXEC runs on the first host of a parallel job alone"),
    UNSUPPORTED("HOST_PRE_EXEC", "PRE_EXEC runs on the first host of a parallel job alone"),
    UNSUPPORTED("JOB_CWD", "a job runs in the directory that it was submitted in, or in that of -cwd"),
    UNSUPPORTED("JOB_CWD_TTL", "working directories are not removed"),
    UNSUPPORTED("JOB_SIZE_LIST", "a job may have any size within TASKLIMIT"),
    UNSUPPORTED("LOCAL_MAX_PREEXEC_RETRY", "MAX_PREEXEC_RETRY counts for all hosts"),
    UNSUPPORTED("LOCAL_MAX_PREEXEC_RETRY_ACTION", "a job whose PRE_EXEC failed too often is held (PSUSP), as with SUSPEND"),
    UNSUPPORTED("MAX_PROTOCOL_INSTANCES", NETWORKS),
    UNSUPPORTED("MEMLIMIT_TYPE", "memory limits count a whole job"),
    UNSUPPORTED("MIG", MIGRATION),
    UNSUPPORTED("NETWORK_REQ", NETWORKS),
    UNSUPPORTED("ORPHAN_JOB_TERM_GRACE_PERIOD", "a job whose dependency can never be met stays pending and its reason says so; kill it by hand"),
    UNSUPPORTED("PEND_TIME_LIMIT", "a job pends as long as it must; its user is not told of a limit"),
    UNSUPPORTED("PERSISTENT_HOST_ORDER", "hosts that a job gains by growing come behind those that it has"),
    UNSUPPORTED("PRIORITY", "priority is that of the queue and of -sp"),
    UNSUPPORTED("REMOTE_MAX_PREEXEC_RETRY", "MAX_PREEXEC_RETRY counts for all hosts"),
    UNSUPPORTED("RTASK_GONE_ACTION", BLAUNCH),
    UNSUPPORTED("RUNTIME", "an estimate of the run time is not used; give a run limit"),
    UNSUPPORTED("STRIPING_WITH_MINIMUM_NETWORK", NETWORKS),
    UNSUPPORTED("USE_PAM_CREDS", "sessions of PAM are not opened for jobs"),
    UNSUPPORTED("WATCHDOG", "jobs are not watched by a script of the site"),
#undef SECTION
#define SECTION "Host"
    UNSUPPORTED("CHKPNT", CHECKPOINTS),
    UNSUPPORTED("EXIT_RATE", "hosts are not closed because jobs fail on them"),
    UNSUPPORTED("EXTENDED_MXJ", "MXJ is a number, or ! for the number of CPUs"),
    UNSUPPORTED("MIG", MIGRATION),
    IGNORED("ND", "the number of disks is measured by the host"),
    IGNORED("NPROC", "the number of processors is measured by the host"),
    IGNORED("REXPRI", "tasks run with the nice value of their queue or application profile (NICE)"),
    UNSUPPORTED("NQS_QUEUE", "jobs are not forwarded to NQS"),
#undef SECTION
#define SECTION "User"
    UNSUPPORTED("PRIORITY", "users and groups have no priority but that of fairshare"),
#undef SECTION
#define SECTION "UserMap"
    DIFFERS("DIRECTION", "export has no effect: the site that lends decides whom jobs run as"),
#undef SECTION
#define SECTION "UserGroup"
    UNSUPPORTED("PRIORITY", "users and groups have no priority but that of fairshare"),
#undef SECTION
#define SECTION "ReservationUsage"
    UNSUPPORTED("RESERVE", "what waiting jobs reserve is set by RESOURCE_RESERVE of the queue"),
#undef SECTION
#define SECTION "Limit"
    UNSUPPORTED("APPS", "a limit by application profile is not built; use queues"),
    UNSUPPORTED("CLUSTERS", "limits count the jobs of this site"),
    UNSUPPORTED("ELIGIBLE_PEND_JOBS", "jobs that wait for slots are not limited in number"),
    UNSUPPORTED("FWD_SLOTS", FORWARDING),
    UNSUPPORTED("FWD_TASKS", FORWARDING),
    UNSUPPORTED("INELIGIBLE", "jobs that a limit delays count as eligible"),
    UNSUPPORTED("JOBS_PER_SCHED_CYCLE", "jobs are not limited by scheduling cycle; passes are started by events"),
    UNSUPPORTED("LIC_PROJECTS", "there is no LSF License Scheduler"),
    UNSUPPORTED("PER_APP", "a limit by application profile is not built; use queues"),
    UNSUPPORTED("PER_CLUSTER", "limits count the jobs of this site"),
    UNSUPPORTED("PER_LIC_PROJECT", "there is no LSF License Scheduler"),
#undef SECTION
#define SECTION "Resource"
    UNSUPPORTED("BUILTIN", "it has no effect; built-in indexes have their own names"),
#undef SECTION
#define SECTION "HostExport"
    UNSUPPORTED("NAME_PREFIX", "borrowed hosts are named HOST@SITE"),
#undef SECTION
#define SECTION "Cluster"
    IGNORED(NULL, "a site's name is NAME of section Site, and it finds others by BROKER"),
#undef SECTION
#define SECTION "ComputeUnit"
    UNSUPPORTED("ADMIN", "ADMINS of section Site administrate every host"),
#undef SECTION
#define SECTION "GPU"
    UNSUPPORTED(NULL, GPU),
#undef SECTION
#define SECTION "GuaranteedResourcePool"
    UNSUPPORTED(NULL, GUARANTEE),
#undef SECTION
#define SECTION "GlobalFairshare"
    UNSUPPORTED(NULL, GLOBAL_FAIRSHARE),
#undef SECTION
#define SECTION "Global_Fairshare"
    UNSUPPORTED(NULL, GLOBAL_FAIRSHARE),
#undef SECTION
#define SECTION "Group"
    UNSUPPORTED(NULL, "hosts of LSF License Scheduler's groups are not known"),
#undef SECTION
#define SECTION "PluginModule"
    IGNORED(NULL, "the scheduler has no plug-ins; what LSF's own do is built in or said to be missing at its parameter"),
#undef SECTION
#define SECTION "RemoteClusters"
    IGNORED(NULL, "sites know each other by the broker: BROKER of section Site, and section Member at the broker"),
#undef SECTION
#define SECTION "RemoteTasks"
    IGNORED(NULL, "lsrun and its lists of tasks are not there"),
#undef SECTION
#define SECTION "LocalTasks"
    IGNORED(NULL, "lsrun and its lists of tasks are not there"),
#undef SECTION
#define SECTION "ReservationExport"
    UNSUPPORTED(NULL, ADVANCE),
#undef SECTION
#define SECTION "ResourceReservation"
    UNSUPPORTED(NULL, ADVANCE),
#undef SECTION
#define SECTION "ServiceClass"
    UNSUPPORTED(NULL, SLA),
#undef SECTION
#define SECTION "PowerPolicy"
    UNSUPPORTED(NULL, POWER),
#undef SECTION
#define SECTION "NameMap"
    UNSUPPORTED(NULL, FORWARDING),
#undef SECTION
#define SECTION "Hosts"
    UNSUPPORTED(NULL, "hosts of NQS are not known"),
#undef SECTION
#define SECTION "Users"
    UNSUPPORTED(NULL, "users of NQS are not known"),
#undef SECTION
#define SECTION "" /* lsf.conf, and what it may hold of ego.conf */
    DIFFERS("LSB_DISABLE_LIMLOCK_EXCL", "PREEMPT_JOBTYPE alone decides whether exclusive jobs are preempted"),
    IGNORED("ACCEPT_LICENSE", LICENSES),
    IGNORED("BLC_LD_PRELOAD", LICENSES),
    IGNORED("BSUB_CHK_RESREQ", "`sublet resreq check` checks a requirement without submitting"),
    IGNORED("CLEAN_PERIOD_DONE", "jobs that are done are shown for CLEAN_PERIOD like others"),
    IGNORED("EGO_AUDIT_LOG", EGO),
    IGNORED("EGO_AUDIT_LOGDIR", EGO),
    IGNORED("EGO_BINDIR", EGO),
    IGNORED("EGO_CONFDIR", EGO),
    IGNORED("EGO_DAEMONS_CPUS", EGO),
    IGNORED("EGO_DISABLE_UNRESOLVABLE_HOST", EGO),
    IGNORED("EGO_DISABLE_UNRESOLVABLE_HOSTS", EGO),
    IGNORED("EGO_ENABLE_AUTO_DAEMON_SHUTDOWN", EGO),
    IGNORED("EGO_ESLIM_TIMEOUT", EGO),
    IGNORED("EGO_KD_PORT", EGO),
    IGNORED("EGO_LIM_PORT", EGO),
    IGNORED("EGO_LOCAL_CONFDIR", EGO),
    IGNORED("EGO_LOCAL_RESOURCES", EGO),
    IGNORED("EGO_LOG_MASK", EGO),
    IGNORED("EGO_LOGDIR", EGO),
    IGNORED("EGO_MASTER_LIST", EGO),
    IGNORED("EGO_MODS", EGO),
    IGNORED("EGO_PEM_PORT", EGO),
    IGNORED("EGO_PIM_SWAP_REPORT", EGO),
    UNSUPPORTED("EGO_PREDEFINED_RESOURCES", EGO),
    IGNORED("EGO_RESOURCE_UPDATE_INTERVAL", EGO),
    IGNORED("EGO_RSH", EGO),
    IGNORED("EGO_SEC_CONF", EGO),
    IGNORED("EGO_SEC_PLUGIN", EGO),
    IGNORED("EGO_SERVERDIR", EGO),
    IGNORED("EGO_SLAVE_CTRL_REMOTE_HOST", EGO),
    IGNORED("EGO_STRIP_DOMAIN", EGO),
    IGNORED("EGO_TOP", EGO),
    IGNORED("EGO_UNIT_FOR_LIMITS", EGO),
    IGNORED("EGO_VERSION", EGO),
    IGNORED("EGO_WORKDIR", EGO),
    IGNORED("HSYNC_DUMP", LSF_DEBUG),
    UNSUPPORTED("JOB_STARTER", "the starter of interactive tasks (lsrun) is not there; JOB_STARTER of a queue is that of jobs"),
    IGNORED("LIM_COMPUTE_ONLY", LSF_DAEMONS),
    UNSUPPORTED("LSB_AFS_BIN_DIR", KERBEROS),
    UNSUPPORTED("LSB_AFS_JOB_SUPPORT", KERBEROS),
    UNSUPPORTED("LSB_AFS_LIB_DIR", KERBEROS),
    IGNORED("LSB_API_CONNTIMEOUT", LSF_COMMANDS),
    IGNORED("LSB_API_RECVTIMEOUT", LSF_COMMANDS),
    IGNORED("LSB_API_VERBOSE", LSF_COMMANDS),
    UNSUPPORTED("LSB_AUTH_DAEMONS", "daemons always authenticate by CURVE keys"),
    UNSUPPORTED("LSB_BHOSTS_FORMAT", FORMATS),
    IGNORED("LSB_BHOSTS_STATUS", LSF_COMMANDS),
    IGNORED("LSB_BJGROUP_FORMAT", LSF_COMMANDS),
    IGNORED("LSB_BJOBS_CONSISTENT_EXIT_CODE", LSF_COMMANDS),
    UNSUPPORTED("LSB_BJOBS_FORMAT", FORMATS),
    IGNORED("LSB_BJOBS_PENDREASON_LEVEL", LSF_COMMANDS),
    IGNORED("LSB_BLOCK_JOBINFO_TIMEOUT", QUERIES),
    IGNORED("LSB_BMGROUP_ALLREMOTE_EXPAND", LSF_COMMANDS),
    IGNORED("LSB_BPEEK_REMOTE_OUTPUT", LSF_COMMANDS),
    IGNORED("LSB_BPEEK_METHOD", LSF_COMMANDS),
    IGNORED("LSB_BPEEK_WAIT_TIME", LSF_COMMANDS),
    UNSUPPORTED("LSB_BQUEUES_FORMAT", FORMATS),
    IGNORED("LSB_BRC_FORMAT", LSF_COMMANDS),
    IGNORED("LSB_BSUB_ERR_RETRY", LSF_COMMANDS),
    UNSUPPORTED("LSB_BSUB_PARSE_SCRIPT", "`sublet sub` reads options in a script from standard input (`#SUBLET`), not from a file named as the command"),
    UNSUPPORTED("LSB_BSUBI_CMD_TYPE", LSF_COMMANDS),
    UNSUPPORTED("LSB_BUSERS_FORMAT", FORMATS),
    UNSUPPORTED("LSB_BWAIT_IN_JOBS", "`sublet wait` works in a job as elsewhere"),
    IGNORED("LSB_BWAIT_REREG_INTERVAL", LSF_COMMANDS),
    IGNORED("LSB_CHUNK_RUSAGE", CHUNKS),
    IGNORED("LSB_CMD_LOG_MASK", LSF_LOGS),
    IGNORED("LSB_CMD_LOGDIR", LSF_LOGS),
    IGNORED("LSB_CONFDIR", "configuration is read from the files and directories that the daemon is given"),
    UNSUPPORTED("LSB_CPUSET_BESTCPUS", AFFINITY_TEXT),
    UNSUPPORTED("LSB_CPUSET_DISPLAY_CPULIST", AFFINITY_TEXT),
    IGNORED("LSB_CRDIR", CHECKPOINTS),
    UNSUPPORTED("LSB_CSM_ACCT", "IBM Cluster System Manager is not used"),
    IGNORED("LSB_DEBUG", LSF_DEBUG),
    IGNORED("LSB_DEBUG_CMD", LSF_DEBUG),
    IGNORED("LSB_DEBUG_GPD", LSF_DEBUG),
    IGNORED("LSB_DEBUG_MBD", LSF_DEBUG),
    IGNORED("LSB_DEBUG_NQS", LSF_DEBUG),
    IGNORED("LSB_DEBUG_SBD", LSF_DEBUG),
    IGNORED("LSB_DEBUG_SCH", LSF_DEBUG),
    IGNORED("LSB_DEFAULT_JOBGROUP", "it is a variable of the environment of `sublet sub`; for all users set DEFAULT_JOBGROUP"),
    IGNORED("LSB_DEFAULTPROJECT", "it is a variable of the environment of `sublet sub`; for all users set DEFAULT_PROJECT"),
    UNSUPPORTED("LSB_DISABLE_RERUN_POST_EXEC", "POST_EXEC runs after each run of a job, also before it is rerun"),
    IGNORED("LSB_DISABLE_SUB_LOGIN_SHELL", LSF_COMMANDS),
    IGNORED("LSB_DISPATCH_CHECK_RESUME_INTVL", "suspended jobs are looked at in each pass"),
    IGNORED("LSB_DISPLAY_YEAR", "times are shown with their year"),
    UNSUPPORTED("LSB_EAUTH_DATA_REUSE", "users are known by the socket's credentials, not by eauth"),
    UNSUPPORTED("LSB_EAUTH_EACH_SUBPACK", "users are known by the socket's credentials, not by eauth"),
    UNSUPPORTED("LSB_ECHKPNT_KEEP_OUTPUT", CHECKPOINTS),
    UNSUPPORTED("LSB_ECHKPNT_METHOD", CHECKPOINTS),
    UNSUPPORTED("LSB_ECHKPNT_METHOD_DIR", CHECKPOINTS),
    IGNORED("LSB_ENABLE_ESTIMATION", PREDICTION),
    IGNORED("LSB_ENABLE_HPC_ALLOCATION", "a job is allocated slots, and PROCLIMIT counts slots"),
    IGNORED("LSB_ENABLE_PERF_METRICS_LOG", LSF_LOGS),
    IGNORED("LSB_ESUB_SINGLE_QUOTE", LSF_COMMANDS),
    UNSUPPORTED("LSB_ESUB_METHOD", "bsub and bmod read it, and LSF_SERVERDIR, from the environment of their user alone; set both there"),
    UNSUPPORTED("LSB_ESWITCH_METHOD", "no eswitch is called"),
    IGNORED("LSB_EVENTS_FILE_KEEP_OPEN", LSF_FILES),
    IGNORED("LSB_EXCLUDE_HOST_PERIOD", "a host is not excluded because a start failed there"),
    IGNORED("LSB_EXTEND_JOB_NAME", "names of jobs may be long, as with Y"),
    UNSUPPORTED("LSB_FANOUT_TIMEOUT_PER_LAYER", BLAUNCH),
    IGNORED("LSB_FORK_JOB_REQUEST", LSF_DAEMONS),
    UNSUPPORTED("LSB_GPU_AUTOBOOST", GPU),
    UNSUPPORTED("LSB_GPU_NEW_SYNTAX", GPU),
    UNSUPPORTED("LSB_GPU_POWER_MANAGEMENT", GPU),
    UNSUPPORTED("LSB_GPU_REQ", GPU),
    UNSUPPORTED("LSB_GSLA_PREFER_ORIG_HOSTS", GUARANTEE),
    IGNORED("LSB_HJOB_PER_SESSION", LSF_DAEMONS),
    IGNORED("LSB_INDEX_BY_JOB", LSF_DAEMONS),
    IGNORED("LSB_INTERACT_MSG_ENH", LSF_COMMANDS),
    IGNORED("LSB_INTERACT_MSG_EXITINFO", LSF_COMMANDS),
    IGNORED("LSB_INTERACT_MSG_INTVAL", LSF_COMMANDS),
    IGNORED("LSB_JOB_ARRAY_NAME_WITH_INDEX", LSF_COMMANDS),
    DIFFERS("LSB_JOB_CPULIMIT", ALWAYS_OF_JOB),
    DIFFERS("LSB_JOB_MEMLIMIT", ALWAYS_OF_JOB),
    UNSUPPORTED("LSB_JOB_REPORT_MAIL", MAIL),
    UNSUPPORTED("LSB_JOB_TMPDIR", "jobs have the TMPDIR of their submission"),
    IGNORED("LSB_JOBINFO_DIR", LSF_FILES),
    IGNORED("LSB_JOBID_DISP_LENGTH", "columns are as wide as their values"),
    IGNORED("LSB_KEEP_SYSDEF_RLIMIT", "limits that nobody sets are those of the host's daemon"),
    UNSUPPORTED("LSB_KRB_CHECK_INTERVAL", KERBEROS),
    UNSUPPORTED("LSB_KRB_LIB_PATH", KERBEROS),
    UNSUPPORTED("LSB_KRB_RENEW_MARGIN", KERBEROS),
    UNSUPPORTED("LSB_KRB_TGT_DIR", KERBEROS),
    UNSUPPORTED("LSB_KRB_TGT_FWD", KERBEROS),
    UNSUPPORTED("LSB_KRB_TGT_MBD", KERBEROS),
    IGNORED("LSB_LIMLOCK_EXCLUSIVE", LSF_DAEMONS),
    IGNORED("LSB_LOAD_TO_SERVER_HOSTS", LSF_DAEMONS),
    IGNORED("LSB_LOCALDIR", LSF_FILES),
    IGNORED("LSB_LOG_MASK_GPD", LSF_LOGS),
    IGNORED("LSB_LOG_MASK_MBD", LSF_LOGS),
    IGNORED("LSB_LOG_MASK_SBD", LSF_LOGS),
    IGNORED("LSB_LOG_MASK_SCH", LSF_LOGS),
    IGNORED("LSB_LRELAY_TIMEOUT", BLAUNCH),
    IGNORED("LSB_LSF_BEACON_TRANSFER", LSF_DAEMONS),
    UNSUPPORTED("LSB_MAILPROG", MAIL),
    UNSUPPORTED("LSB_MAILSERVER", MAIL),
    UNSUPPORTED("LSB_MAILSIZE_LIMIT", MAIL),
    UNSUPPORTED("LSB_MAILTO", MAIL),
    IGNORED("LSB_MAX_ASKED_HOSTS_NUMBER", "a job may name as many hosts as a request holds"),
    UNSUPPORTED("LSB_MAX_FORWARD_PER_SESSION", FORWARDING),
    IGNORED("LSB_MAX_JOB_DISPATCH_PER_SESSION", "a pass starts all jobs that fit"),
    IGNORED("LSB_MAX_NQS_QUEUES", "jobs are not forwarded to NQS"),
    IGNORED("LSB_MAX_PACK_JOBS", "submissions are not packed; submit an array"),
    IGNORED("LSB_MAX_PROBE_SBD", LSF_DAEMONS),
    IGNORED("LSB_MBD_BUSY_MSG", LSF_COMMANDS),
    IGNORED("LSB_MBD_CONNECT_FAIL_MSG", LSF_COMMANDS),
    IGNORED("LSB_MBD_DOWN_MSG", LSF_COMMANDS),
    IGNORED("LSB_MBD_MAX_SIG_COUNT", LSF_DAEMONS),
    IGNORED("LSB_MBD_PORT", LSF_PORTS),
    UNSUPPORTED("LSB_MC_CHKPNT_RERUN", CHECKPOINTS),
    UNSUPPORTED("LSB_MC_DISABLE_HOST_LOOKUP", FORWARDING),
    UNSUPPORTED("LSB_MC_INITFAIL_MAIL", MAIL),
    UNSUPPORTED("LSB_MC_INITFAIL_RETRY", FORWARDING),
    DIFFERS("LSB_MEMLIMIT_ENFORCE", ALWAYS_OF_JOB),
    UNSUPPORTED("LSB_MEMLIMIT_ENF_CONTROL", "a job above its memory limit is ended"),
    UNSUPPORTED("LSB_MIG2PEND", MIGRATION),
    UNSUPPORTED("LSB_MIXED_CASE_ENABLE", WINDOWS),
    IGNORED("LSB_MODE", INSTALLER),
    UNSUPPORTED("LSB_MOD_ALL_JOBS", "only -W, -M and -r of a job that has started can be changed, and without it too"),
    UNSUPPORTED("LSB_NQS_PORT", "jobs are not forwarded to NQS"),
    IGNORED("LSB_NUM_NIOS_CALLBACK_THREADS", LSF_COMMANDS),
    IGNORED("LSB_PACK_MESUB", LSF_COMMANDS),
    UNSUPPORTED("LSB_PLAN_KEEP_RESERVE", PREDICTION),
    IGNORED("LSB_POSTEXEC_SEND_MAIL", MAIL),
    IGNORED("LSB_PROFILE_MBD", LSF_DEBUG),
    IGNORED("LSB_PROFILE_SCH", LSF_DEBUG),
    UNSUPPORTED("LSB_PSET_BIND_DEFAULT", AFFINITY_TEXT),
    IGNORED("LSB_QUERY_ENH", QUERIES),
    IGNORED("LSB_QUERY_PORT", QUERIES),
    IGNORED("LSB_RC_DEFAULT_HOST_TYPE", CONNECTOR),
    IGNORED("LSB_RC_EXTERNAL_HOST_FLAG", CONNECTOR),
    IGNORED("LSB_RC_EXTERNAL_HOST_IDLE_TIME", CONNECTOR),
    IGNORED("LSB_RC_EXTERNAL_HOST_MAX_TTL", CONNECTOR),
    IGNORED("LSB_RC_MAX_NEWDEMAND", CONNECTOR),
    IGNORED("LSB_RC_MQTT_ERROR_LIMIT", CONNECTOR),
    IGNORED("LSB_RC_QUERY_INTERVAL", CONNECTOR),
    IGNORED("LSB_RC_REQUEUE_BUFFER", CONNECTOR),
    IGNORED("LSB_RC_TEMPLATE_REQUEST_DELAY", CONNECTOR),
    IGNORED("LSB_RC_TOPN_HOST_TAG", CONNECTOR),
    IGNORED("LSB_RC_UPDATE_INTERVAL", CONNECTOR),
    UNSUPPORTED("LSB_REQUEUE_TO_BOTTOM", "a job that is requeued keeps its place by its time of submission"),
    IGNORED("LSB_RLA_HOST_LIST", NETWORKS),
    IGNORED("LSB_RLA_PORT", LSF_PORTS),
    IGNORED("LSB_RLA_UPDATE", NETWORKS),
    IGNORED("LSB_RLA_WORKDIR", LSF_FILES),
    UNSUPPORTED("LSB_SACCT_ONE_UG", "fairshare counts a job for the group that -G names, or for the user's first one"),
    IGNORED("LSB_SBD_PORT", LSF_PORTS),
    UNSUPPORTED("LSB_SBD_FINISH_SLEEP", LSF_DAEMONS),
    IGNORED("LSB_SET_TMPDIR", "jobs have the TMPDIR of their submission"),
    IGNORED("LSB_SHAREDIR", LSF_FILES),
    IGNORED("LSB_SHORT_HOSTLIST", LSF_COMMANDS),
    UNSUPPORTED("LSB_SIGSTOP", "a job is suspended by SIGSTOP, or by SUSPEND of JOB_CONTROLS"),
    IGNORED("LSB_SKIP_FULL_HOSTS", "full hosts are not looked at, as with Y"),
    IGNORED("LSB_SSH_XFORWARD_CMD", "X11 is not forwarded to jobs"),
    UNSUPPORTED("LSB_START_EBROKERD", CONNECTOR),
    UNSUPPORTED("LSB_START_MPS", GPU),
    IGNORED("LSB_STDOUT_DIRECT", "output is always written to its file while the job runs, as with Y"),
    UNSUPPORTED("LSB_STOP_IGNORE_IT", "an idle host does not keep a job from being suspended"),
    IGNORED("LSB_SUB_COMMANDNAME", LSF_COMMANDS),
    IGNORED("LSB_SUBK_SHOW_EXEC_HOST", LSF_COMMANDS),
    IGNORED("LSB_SUBK_SHOW_JOBID", LSF_COMMANDS),
    IGNORED("LSB_SUPPRESS_CUSTOM_REASONS", LSF_COMMANDS),
    IGNORED("LSB_TIME_CMD", LSF_DEBUG),
    IGNORED("LSB_TIME_GPD", LSF_DEBUG),
    IGNORED("LSB_TIME_MBD", LSF_DEBUG),
    IGNORED("LSB_TIME_RESERVE_NUMJOBS", PREDICTION),
    IGNORED("LSB_TIME_SBD", LSF_DEBUG),
    IGNORED("LSB_TIME_SCH", LSF_DEBUG),
    IGNORED("LSB_TSJOBS_HELPER_HOSTS", WINDOWS),
    IGNORED("LSB_TSJOBS_HELPER_PORT", WINDOWS),
    IGNORED("LSB_TSJOBS_HELPER_TIMEOUT", WINDOWS),
    UNSUPPORTED("LSB_USER_REQUEUE_TO_BOTTOM", "a job that its user requeues keeps its place by its time of submission"),
    IGNORED("LSB_UTMP", "sessions of interactive jobs are not entered in utmp"),
    IGNORED("LSF_ACCEPT_NONCANONICAL_LONGNAME", LSF_DAEMONS),
    UNSUPPORTED("LSF_ACCEPT_NUMCLIENTS", LSF_DAEMONS),
    IGNORED("LSF_ADDON_HOSTS", LSF_DAEMONS),
    IGNORED("LSF_AFS_CELLNAME", KERBEROS),
    IGNORED("LSF_AM_OPTIONS", LSF_COMMANDS),
    IGNORED("LSF_API_CONNTIMEOUT", LSF_COMMANDS),
    IGNORED("LSF_API_RECVTIMEOUT", LSF_COMMANDS),
    UNSUPPORTED("LSF_ASPLUGIN", NETWORKS),
    IGNORED("LSF_AUTH", "users are known by the socket's credentials, daemons by CURVE keys"),
    IGNORED("LSF_AUTH_DAEMONS", "daemons always authenticate by CURVE keys"),
    UNSUPPORTED("LSF_BIND_JOB", AFFINITY_TEXT),
    IGNORED("LSF_BINDIR", LSF_FILES),
    UNSUPPORTED("LSF_BMPLUGIN", NETWORKS),
    IGNORED("LSF_CLUSTER", "a site's name is NAME of section Site"),
    IGNORED("LSF_CMD_LOG_MASK", LSF_LOGS),
    IGNORED("LSF_CMD_LOGDIR", LSF_LOGS),
    IGNORED("LSF_COLLECT_ENERGY_USAGE", ENERGY),
    IGNORED("LSF_CONF_RETRY_INT", LSF_DAEMONS),
    IGNORED("LSF_CONF_RETRY_MAX", LSF_DAEMONS),
    IGNORED("LSF_CONFDIR", "configuration is read from the files and directories that the daemon is given"),
    UNSUPPORTED("LSF_CPUSETLIB", AFFINITY_TEXT),
    UNSUPPORTED("LSF_CRASH_LOG", LSF_DEBUG),
    UNSUPPORTED("LSF_CRAYLINUX_CHECKPOINT_KILL", CRAY),
    UNSUPPORTED("LSF_CRAYLINUX_FRONT_NODE", CRAY),
    UNSUPPORTED("LSF_CRAYLINUX_FRONT_NODE_POLL_INTERVAL", CRAY),
    UNSUPPORTED("LSF_CRAY_PS_CLIENT", CRAY),
    UNSUPPORTED("LSF_CRAY_RUR_DIR", CRAY),
    UNSUPPORTED("LSF_CRAY_RUR_EPILOG_PATH", CRAY),
    UNSUPPORTED("LSF_CRAY_RUR_PROLOG_PATH", CRAY),
    UNSUPPORTED("LSF_CSM_RUSAGE", "IBM Cluster System Manager is not used"),
    IGNORED("LSF_CURRENT_SAMPLE", LSF_DAEMONS),
    IGNORED("LSF_DAEMON_WRAP", KERBEROS),
    IGNORED("LSF_DAEMONS_CPUS", LSF_DAEMONS),
    UNSUPPORTED("LSF_DATA_HOSTS", DATA),
    UNSUPPORTED("LSF_DATA_MANAGER", DATA),
    UNSUPPORTED("LSF_DATA_PORT", DATA),
    UNSUPPORTED("LSF_DATA_SERVER_PORT", DATA),
    UNSUPPORTED("LSF_DATA_SKIP_GROUP_CHECK", DATA),
    UNSUPPORTED("LSF_DCGM_PORT", GPU),
    IGNORED("LSF_DEBUG_CMD", LSF_DEBUG),
    IGNORED("LSF_DEBUG_LIM", LSF_DEBUG),
    IGNORED("LSF_DEBUG_RES", LSF_DEBUG),
    IGNORED("LSF_DEFAULT_FREQUENCY", ENERGY),
    IGNORED("LSF_DEFAULT_INSTALL", INSTALLER),
    IGNORED("LSF_DHCP_ENV", "hosts are known by their keys and names, not by addresses"),
    IGNORED("LSF_DISABLE_LSRUN", "lsrun is not there"),
    IGNORED("LSF_DISCARD_LOG", LSF_LOGS),
    IGNORED("LSF_DISPATCHER_LOGDIR", LSF_LOGS),
    UNSUPPORTED("LSF_DJOB_TASK_REG_WAIT_TIME", BLAUNCH),
    IGNORED("LSF_DUALSTACK_PREFER_IPV6", "endpoints name the address to use"),
    IGNORED("LSF_DUTY_CYCLE_LOG", LSF_LOGS),
    UNSUPPORTED("LSF_DYNAMIC_HOST_TIMEOUT", "a host is added and removed by rows of section Host and `sublet reconfig`"),
    UNSUPPORTED("LSF_DYNAMIC_HOST_WAIT_TIME", "a host is added and removed by rows of section Host and `sublet reconfig`"),
    IGNORED("LSF_EAUTH_OLDSTYLE_TIMEOUT", "users are known by the socket's credentials, not by eauth"),
    IGNORED("LSF_EGO_DAEMON_CONTROL", EGO),
    IGNORED("LSF_EGO_ENVDIR", EGO),
    IGNORED("LSF_ENABLE_BEACON", LSF_DAEMONS),
    IGNORED("LSF_ENABLE_CSA", "usage is accounted by the site itself"),
    IGNORED("LSF_ENABLE_DUALCORE", "EGO_DEFINE_NCPUS says what counts as a CPU"),
    IGNORED("LSF_ENABLE_EGO", EGO),
    IGNORED("LSF_ENABLE_EXTSCHEDULER", "options of external schedulers (-extsched) are not known"),
    IGNORED("LSF_ENABLE_PERF_METRICS_LOG", LSF_LOGS),
    IGNORED("LSF_ENABLE_SUPPORT_IPV6", "endpoints may be IPv6 addresses in brackets"),
    IGNORED("LSF_ENABLE_TMP_UNIT", LSF_COMMANDS),
    IGNORED("LSF_ENV_OVERRIDE", LSF_COMMANDS),
    IGNORED("LSF_ENVDIR", "configuration is read from the files and directories that the daemon is given"),
    IGNORED("LSF_EVENT_PROGRAM", "events are streamed by HTTP"),
    IGNORED("LSF_EVENT_RECEIVER", "events are streamed by HTTP"),
    IGNORED("LSF_EXT_SERVERDIR", LSF_FILES),
    IGNORED("LSF_GET_CONF", "configuration is read from the files and directories that the daemon is given"),
    UNSUPPORTED("LSF_GPU_AUTOCONFIG", GPU),
    UNSUPPORTED("LSF_GPU_RESOURCE_IGNORE", GPU),
    IGNORED("LSF_HOST_CACHE_DISABLE", LSF_DAEMONS),
    IGNORED("LSF_HOST_CACHE_NTTL", LSF_DAEMONS),
    IGNORED("LSF_HOST_CACHE_PTTL", LSF_DAEMONS),
    IGNORED("LSF_HOSTMODEL_INFO", LSF_COMMANDS),
    UNSUPPORTED("LSF_HPC_EXTENSIONS", "what works without it: CUMULATIVE_RUSAGE; other extensions have no effect"),
    UNSUPPORTED("LSF_HPC_NCPU_COND", "EGO_DEFINE_NCPUS says what counts as a CPU"),
    UNSUPPORTED("LSF_HPC_NCPU_INCR_CYCLES", "the number of CPUs is what the host reports"),
    UNSUPPORTED("LSF_HPC_NCPU_INCREMENT", "the number of CPUs is what the host reports"),
    UNSUPPORTED("LSF_HPC_NCPU_THRESHOLD", "the number of CPUs is what the host reports"),
    UNSUPPORTED("LSF_HPC_PJL_LOADENV_TIMEOUT", BLAUNCH),
    IGNORED("LSF_HWLOC_DYNAMIC", AFFINITY_TEXT),
    IGNORED("LSF_ID_PORT", LSF_PORTS),
    IGNORED("LSF_INCLUDEDIR", LSF_FILES),
    IGNORED("LSF_INDEP", LSF_FILES),
    UNSUPPORTED("LSF_INTELLIGENT_CPU_BIND", AFFINITY_TEXT),
    IGNORED("LSF_INTERACTIVE_STDERR", "standard error of an interactive job is its own stream, as with Y"),
    IGNORED("LSF_KEYSTONE_ENABLED", CONNECTOR),
    IGNORED("LSF_LD_PRELOAD_PASS", "the environment of a job is that of its submission, except LD_PRELOAD and LD_LIBRARY_PATH of programs that change their user"),
    IGNORED("LSF_LD_SECURITY", "commands before and after a job run as its user"),
    IGNORED("LSF_LIBDIR", LSF_FILES),
    UNSUPPORTED("LSF_LIC_SCHED_HOSTS", "there is no LSF License Scheduler"),
    UNSUPPORTED("LSF_LIC_SCHED_PREEMPT_REQUEUE", "there is no LSF License Scheduler"),
    UNSUPPORTED("LSF_LIC_SCHED_PREEMPT_SLOT_RELEASE", "there is no LSF License Scheduler"),
    UNSUPPORTED("LSF_LIC_SCHED_PREEMPT_STOP", "there is no LSF License Scheduler"),
    UNSUPPORTED("LSF_LIC_SCHED_STRICT_PROJECT_NAME", "there is no LSF License Scheduler"),
    IGNORED("LSF_LICENSE_ACCT_PATH", LICENSES),
    IGNORED("LSF_LICENSE_FILE", LICENSES),
    IGNORED("LSF_LICENSE_MAINTENANCE_INTERVAL", LICENSES),
    IGNORED("LSF_LICENSE_NOTIFICATION_INTERVAL", LICENSES),
    IGNORED("LSF_LIM_API_NTRIES", LSF_DAEMONS),
    IGNORED("LSF_LIM_DEBUG", LSF_DEBUG),
    IGNORED("LSF_LIM_IGNORE_CHECKSUM", LSF_DAEMONS),
    IGNORED("LSF_LIM_PORT", LSF_PORTS),
    IGNORED("LSF_LIM_SOL27_PLUGDIR", LSF_FILES),
    IGNORED("LSF_LINK_PATH", INSTALLER),
    IGNORED("LSF_LOAD_USER_PROFILE", WINDOWS),
    IGNORED("LSF_LOG_MASK", LSF_LOGS),
    IGNORED("LSF_LOG_MASK_LIM", LSF_LOGS),
    IGNORED("LSF_LOG_MASK_RES", LSF_LOGS),
    IGNORED("LSF_LOG_MASK_WIN", WINDOWS),
    IGNORED("LSF_LOG_QUEUE_SIZE", LSF_LOGS),
    IGNORED("LSF_LOG_THREAD", LSF_LOGS),
    IGNORED("LSF_LOGDIR", LSF_LOGS),
    IGNORED("LSF_LOGDIR_USE_WIN_REG", WINDOWS),
    IGNORED("LSF_LOGFILE_OWNER", LSF_LOGS),
    UNSUPPORTED("LSF_LSHOSTS_FORMAT", FORMATS),
    UNSUPPORTED("LSF_LSLOAD_FORMAT", FORMATS),
    IGNORED("LSF_LSLOGIN_SSH", "lslogin is not there"),
    IGNORED("LSF_MACHDEP", LSF_FILES),
    UNSUPPORTED("LSF_MANAGE_FREQUENCY", ENERGY),
    IGNORED("LSF_MANDIR", LSF_FILES),
    IGNORED("LSF_MASTER_LIST", "a site has one sublet-site"),
    IGNORED("LSF_MANAGER_LIST", "a site has one sublet-site"),
    IGNORED("LSF_MASTER_NSLOOKUP_TIMEOUT", LSF_DAEMONS),
    IGNORED("LSF_MAX_TRY_ADD_HOST", LSF_DAEMONS),
    IGNORED("LSF_MC_FORWARD_FAIRSHARE_CHARGE_DURATION", FORWARDING),
    IGNORED("LSF_MC_NON_PRIVILEGED_PORTS", LSF_PORTS),
    IGNORED("LSF_MISC", LSF_FILES),
    IGNORED("LSF_MONITOR_LICENSE_TOOL", LICENSES),
    IGNORED("LSF_MQ_BROKER_HOSTS", CONNECTOR),
    IGNORED("LSF_MULTICLUSTER_IGNORE", LSF_DAEMONS),
    IGNORED("LSF_NIOS_DEBUG", LSF_DEBUG),
    IGNORED("LSF_NIOS_DIE_CMD", LSF_COMMANDS),
    IGNORED("LSF_NIOS_ERR_LOGDIR", LSF_LOGS),
    IGNORED("LSF_NIOS_IGNORE_SIGWINDOW", LSF_COMMANDS),
    IGNORED("LSF_NIOS_JOBSTATUS_INTERVAL", LSF_COMMANDS),
    IGNORED("LSF_NIOS_MAX_TASKS", LSF_COMMANDS),
    IGNORED("LSF_NIOS_PEND_TIMEOUT", LSF_COMMANDS),
    IGNORED("LSF_NIOS_PORT_RANGE", LSF_PORTS),
    IGNORED("LSF_NIOS_RES_HEARTBEAT", LSF_COMMANDS),
    IGNORED("LSF_NON_PRIVILEGED_PORTS", LSF_PORTS),
    UNSUPPORTED("LSF_NTFY_PROGRAM", EXCEPTIONS),
    IGNORED("LSF_OPENAPI_PORT", LSF_PORTS),
    IGNORED("LSF_OPENSTACK_ENABLED", CONNECTOR),
    IGNORED("LSF_PAM_APPL_CHKPNT", CHECKPOINTS),
    IGNORED("LSF_PAM_CLEAN_JOB_DELAY", BLAUNCH),
    IGNORED("LSF_PAM_HOSTLIST_USE", BLAUNCH),
    IGNORED("LSF_PAM_PLUGINDIR", LSF_FILES),
    IGNORED("LSF_PAM_USE_ASH", BLAUNCH),
    IGNORED("LSF_PASSWD_DIR", WINDOWS),
    UNSUPPORTED("LSF_PE_NETWORK_NUM", NETWORKS),
    UNSUPPORTED("LSF_PE_NETWORK_UPDATE_INTERVAL", NETWORKS),
    IGNORED("LSF_PIM_INFODIR", LSF_FILES),
    IGNORED("LSF_PIM_LINUX_ENHANCE", "shared memory is counted by its share where cgroups are available"),
    IGNORED("LSF_PIM_SLEEPTIME", "a job's usage is measured by its guard"),
    IGNORED("LSF_PIM_SLEEPTIME_UPDATE", "a job's usage is measured by its guard"),
    IGNORED("LSF_PLUGIN_CUSTOM", LSF_FILES),
    IGNORED("LSF_POE_TIMEOUT_BIND", NETWORKS),
    IGNORED("LSF_POE_TIMEOUT_SELECT", NETWORKS),
    IGNORED("LSF_PORT_RANGE", LSF_PORTS),
    IGNORED("LSF_QUERY_ES_FUNCTIONS", QUERIES),
    IGNORED("LSF_QUERY_ES_SERVERS", QUERIES),
    IGNORED("LSF_REG_FLOAT_HOSTS", LICENSES),
    IGNORED("LSF_REMOTE_COPY_CMD", "output of leased jobs is copied by the site"),
    IGNORED("LSF_REPLACE_PIM_WITH_LINUX_CGROUP", "cgroups are used where they are available"),
    IGNORED("LSF_RES_ACCT", "interactive tasks (lsrun) are not there"),
    IGNORED("LSF_RES_ACCTDIR", "interactive tasks (lsrun) are not there"),
    IGNORED("LSF_RES_ACTIVE_TIME", LSF_DAEMONS),
    IGNORED("LSF_RES_ALIVE_TIMEOUT", LSF_DAEMONS),
    IGNORED("LSF_RES_CLIENT_TIMEOUT", LSF_DAEMONS),
    IGNORED("LSF_RES_CONNECT_RETRY", LSF_DAEMONS),
    IGNORED("LSF_RES_DEBUG", LSF_DEBUG),
    IGNORED("LSF_RES_PLUGINDIR", LSF_FILES),
    IGNORED("LSF_RES_PORT", LSF_PORTS),
    IGNORED("LSF_RES_RLIMIT_UNLIM", "limits that nobody sets are those of the host's daemon"),
    IGNORED("LSF_RES_SYNCUP_INTERVAL", LSF_DAEMONS),
    IGNORED("LSF_RES_TIMEOUT", LSF_DAEMONS),
    IGNORED("LSF_ROOT_REX", "root may submit jobs to its own site; leased jobs never run as root"),
    UNSUPPORTED("LSF_ROOT_USER", "ADMINS of section Site names the administrators"),
    IGNORED("LSF_RSH", LSF_COMMANDS),
    IGNORED("LSF_SECUREDIR", LSF_FILES),
    IGNORED("LSF_SERVER_HOSTS", LSF_DAEMONS),
    IGNORED("LSF_SERVERDIR", LSF_FILES),
    IGNORED("LSF_SHELL_AT_USERS", KERBEROS),
    IGNORED("LSF_SHIFT_JIS_INPUT", "names and commands are UTF-8"),
    IGNORED("LSF_STARTUP_PATH", "systemd starts the daemons"),
    IGNORED("LSF_STARTUP_USERS", "systemd starts the daemons"),
    IGNORED("LSF_STRICT_CHECKING", "messages are always checked"),
    IGNORED("LSF_STRIP_DOMAIN", "a host is known by the name of its row"),
    IGNORED("LSF_SUPPORTED_HARDWARE", LSF_DAEMONS),
    IGNORED("LSF_SUPPRESS_LOG", LSF_LOGS),
    UNSUPPORTED("LSF_SUSPEND_TASK_IMMEDIATE", POWER),
    IGNORED("LSF_SYSLOG", LSF_LOGS),
    IGNORED("LSF_TIME_CMD", LSF_DEBUG),
    IGNORED("LSF_TIME_LIM", LSF_DEBUG),
    IGNORED("LSF_TIME_RES", LSF_DEBUG),
    IGNORED("LSF_TMPDIR", "jobs have the TMPDIR of their submission"),
    IGNORED("LSF_TOP", LSF_FILES),
    UNSUPPORTED("LSF_TOPD_PORT", NETWORKS),
    UNSUPPORTED("LSF_TOPD_TIMEOUT", NETWORKS),
    IGNORED("LSF_TOPD_WORKDIR", LSF_FILES),
    IGNORED("LSF_UGROUP_TRANSFER", "the groups of a job's user are those of the host"),
    UNSUPPORTED("LSF_UDP_TO_TCP_THRESHOLD", LSF_DAEMONS),
    IGNORED("LSF_ULDB_DOMAIN", LSF_DAEMONS),
    UNSUPPORTED("LSF_UNIFORM_FREQUENCY", ENERGY),
    IGNORED("LSF_USE_HOSTEQUIV", "users are known by the socket's credentials, daemons by CURVE keys"),
    IGNORED("LSF_USER_DOMAIN", WINDOWS),
    IGNORED("LSF_VERSION", LSF_FILES),
    IGNORED("LSF_VPLUGIN", LSF_FILES),
    IGNORED("LSF_WINDOWS_HOST_TYPES", WINDOWS),
    IGNORED("LSF_XL_LINUX_BIND", AFFINITY_TEXT),
    IGNORED("LSFJS_RES_PORT", LSF_PORTS),
    UNSUPPORTED("MC_PLUGIN_REMOTE_RESOURCE", FORWARDING),
    IGNORED("NOREINSTALL", LSF_COMMANDS),
    IGNORED("XLSF_APPDIR", LSF_FILES),
    IGNORED("XLSF_UIDDIR", LSF_FILES),
#undef SECTION
    {.section = NULL},
};
/* clang-format on */

static const struct lsf_key *find(const char *section, const char *key)
{
    for (const struct lsf_key *entry = lsf_keys; entry->section != NULL; entry++) {
        if (strcasecmp(entry->section, section) == 0 &&
            (key == NULL || entry->key == NULL || strcasecmp(entry->key, key) == 0)) {
            return key == NULL && entry->key != NULL ? NULL : entry;
        }
    }
    return NULL;
}

enum lsf_class lsf_keys_class(const char *section, const char *key, const char **what)
{
    const struct lsf_key *entry = find(section, key);
    *what = entry != NULL ? entry->what : NULL;
    if (entry != NULL) {
        return entry->class;
    }
    bool is_built = key != NULL ? conf_keys_find(section, key) != NULL
                                : conf_keys_of(section) != NULL;
    return is_built ? LSF_WORKS : LSF_UNKNOWN;
}

/* ---------------------------------------------------------------- typing errors */

enum { WORD_MAX = 64, NEAR_MAX = 2 };

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* Levenshtein's distance of two words, without case. Longer words than WORD_MAX are far
 * from all others. */
static int distance(const char *a, const char *b)
{
    int row[WORD_MAX + 1];
    int n_a = (int)strlen(a), n_b = (int)strlen(b);
    if (n_a > WORD_MAX || n_b > WORD_MAX || abs(n_a - n_b) > NEAR_MAX) {
        return NEAR_MAX + 1;
    }
    for (int j = 0; j <= n_b; j++) {
        row[j] = j;
    }
    for (int i = 1; i <= n_a; i++) {
        int diagonal = row[0];
        row[0] = i;
        for (int j = 1; j <= n_b; j++) {
            int changed = diagonal + (tolower((unsigned char)a[i - 1]) !=
                                      tolower((unsigned char)b[j - 1]));
            diagonal = row[j];
            row[j] = least(changed, least(row[j], row[j - 1]) + 1);
        }
    }
    return row[n_b];
}

/* Remembers the name if it is nearer than the one before. */
static void consider(const char *key, const char *name, int *nearest,
                     const char **found)
{
    int far = distance(key, name);
    if (far < *nearest) {
        *nearest = far;
        *found = name;
    }
}

const char *lsf_keys_nearest(const char *section, const char *key)
{
    const char *found = NULL;
    int nearest = least(NEAR_MAX + 1, ((int)strlen(key) + 1) / 2);
    for (const struct conf_key *entry = conf_keys; entry->section != NULL; entry++) {
        if (strcasecmp(entry->section, section) == 0) {
            consider(key, entry->key, &nearest, &found);
        }
    }
    for (const struct lsf_key *entry = lsf_keys; entry->section != NULL; entry++) {
        if (strcasecmp(entry->section, section) == 0 && entry->key != NULL) {
            consider(key, entry->key, &nearest, &found);
        }
    }
    return found;
}
