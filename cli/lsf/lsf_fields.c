/* SPDX-License-Identifier: Apache-2.0 */
/* lsf_fields.c: the fields of each listing: LSF's names, widths and headings, and where
 * the site's JSON has the value. */
#include "cli/lsf/lsf.h"

/* clang-format off */
#define FIELD(name, alias, width, heading, path, format) \
    {name, alias, width, heading, path, lsf_format_##format}
#define END {NULL, NULL, 0, NULL, NULL, NULL}

static const struct lsf_field jobs[] = {
    FIELD("jobid", "id", 7, "JOBID", "id", job_id),
    FIELD("jobindex", NULL, 8, "JOBINDEX", "id", job_index),
    FIELD("stat", NULL, 5, "STAT", "state", text),
    FIELD("user", NULL, 7, "USER", "user", text),
    FIELD("user_group", "ugroup", 15, "USER_GROUP", "user_group", text),
    FIELD("queue", NULL, 10, "QUEUE", "queue", text),
    FIELD("job_name", "name", 10, "JOB_NAME", "name", text),
    FIELD("job_description", "description", 17, "JOB_DESCRIPTION", "description", text),
    FIELD("proj_name", "project", 11, "PROJ_NAME", "project", text),
    FIELD("proj", NULL, 11, "PROJ_NAME", "project", text),
    FIELD("application", "app", 13, "APPLICATION", "app", text),
    FIELD("service_class", "sla", 13, "SERVICE_CLASS", "", text),
    FIELD("job_group", "group", 10, "JOB_GROUP", "job_group", text),
    FIELD("job_priority", "priority", 12, "JOB_PRIORITY", "priority", plain),
    FIELD("rsvid", NULL, 40, "RSVID", "", text),
    FIELD("esub", NULL, 20, "ESUB", "", text),
    FIELD("kill_reason", NULL, 50, "KILL_REASON", "reason", kill_reason),
    FIELD("suspend_reason", NULL, 50, "SUSPEND_REASON", "", text),
    FIELD("resume_reason", NULL, 50, "RESUME_REASON", "", text),
    FIELD("dependency", NULL, 15, "DEPENDENCY", "depend", text),
    FIELD("pend_reason", NULL, 11, "PEND_REASON", "pend_reason", text),
    FIELD("command", "cmd", 15, "COMMAND", "command", text),
    FIELD("pre_exec_command", "pre_cmd", 16, "PRE_EXEC_COMMAND", "pre_exec", joined),
    FIELD("post_exec_command", "post_cmd", 17, "POST_EXEC_COMMAND", "post_exec", joined),
    FIELD("resize_notification_command", "resize_cmd", 27, "RESIZE_NOTIFICATION_COMMAND", "resize_notify", text),
    FIELD("kill_issue_host", NULL, 50, "KILL_ISSUE_HOST", "", text),
    FIELD("suspend_issue_host", NULL, 50, "SUSPEND_ISSUE_HOST", "", text),
    FIELD("resume_issue_host", NULL, 50, "RESUME_ISSUE_HOST", "", text),
    FIELD("charged_saap", "saap", 50, "CHARGED_SAAP", "", text),
    FIELD("pids", NULL, 20, "PIDS", "", text),
    FIELD("exit_code", NULL, 10, "EXIT_CODE", "exit_code", plain),
    FIELD("exit_reason", NULL, 50, "EXIT_REASON", "reason", exit_reason),
    FIELD("interactive", NULL, 11, "INTERACTIVE", "interactive", yes),
    FIELD("from_host", NULL, 11, "FROM_HOST", "", from_host),
    FIELD("first_host", NULL, 11, "FIRST_HOST", "hosts", first_host),
    FIELD("exec_host", NULL, 11, "EXEC_HOST", "exec_hosts", exec_host),
    FIELD("nexec_host", NULL, 10, "NEXEC_HOST", "n_hosts", plain),
    FIELD("ask_hosts", NULL, 30, "ASK_HOSTS", "ask_hosts", joined),
    FIELD("host_file", NULL, 10, "HOST_FILE", "", text),
    FIELD("alloc_slot", NULL, 20, "ALLOC_SLOT", "hosts", exec_host),
    FIELD("nalloc_slot", NULL, 10, "NALLOC_SLOT", "slots_allocated", plain),
    FIELD("exclusive", NULL, 13, "EXCLUSIVE", "exclusive", yes),
    FIELD("nreq_slot", NULL, 10, "NREQ_SLOT", "slots", plain),
    FIELD("submit_time", NULL, 15, "SUBMIT_TIME", "submit_at", time),
    FIELD("start_time", NULL, 15, "START_TIME", "start_at", time),
    FIELD("estimated_start_time", "estart_time", 20, "ESTIMATED_START_TIME", "start_estimate", time),
    FIELD("specified_start_time", "sstart_time", 20, "SPECIFIED_START_TIME", "begin_at", time),
    FIELD("specified_terminate_time", "sterminate_time", 24, "SPECIFIED_TERMINATE_TIME", "terminate_at", time),
    FIELD("time_left", NULL, 11, "TIME_LEFT", "end_at", time_left),
    FIELD("finish_time", NULL, 16, "FINISH_TIME", "end_at", finish_time),
    FIELD("estimated_run_time", "ertime", 20, "ESTIMATED_RUN_TIME", "", text),
    FIELD("ru_utime", NULL, 12, "RU_UTIME", "", text),
    FIELD("ru_stime", NULL, 12, "RU_STIME", "", text),
    FIELD("%complete", NULL, 11, "%COMPLETE", "run_s", complete),
    FIELD("ependtime", NULL, 12, "EPENDTIME", "", text),
    FIELD("ipendtime", NULL, 12, "IPENDTIME", "", text),
    FIELD("estimated_sim_start_time", "esstart_time", 24, "ESTIMATED_SIM_START_TIME", "", text),
    FIELD("effective_plimit", NULL, 18, "EFFECTIVE_PLIMIT", "", text),
    FIELD("plimit_remain", NULL, 15, "PLIMIT_REMAIN", "", text),
    FIELD("effective_eplimit", NULL, 19, "EFFECTIVE_EPLIMIT", "", text),
    FIELD("eplimit_remain", NULL, 16, "EPLIMIT_REMAIN", "", text),
    FIELD("plan_start_time", NULL, 20, "PLAN_START_TIME", "start_estimate", time),
    FIELD("plan_finish_time", NULL, 20, "PLAN_FINISH_TIME", "start_estimate", plan_finish),
    FIELD("warning_action", "warn_act", 15, "WARNING_ACTION", "warning_action", text),
    FIELD("action_warning_time", "action_warn_time", 19, "ACTION_WARNING_TIME", "limits.warning_s", seconds),
    FIELD("pend_time", NULL, 12, "PEND_TIME", "pend_s", plain),
    FIELD("pendstate", NULL, 9, "PENDSTATE", "pend_state", text),
    FIELD("cpu_used", NULL, 10, "CPU_USED", "cpu_s", seconds),
    FIELD("run_time", NULL, 15, "RUN_TIME", "run_s", seconds),
    FIELD("idle_factor", NULL, 11, "IDLE_FACTOR", "run_s", idle_factor),
    FIELD("exception_status", "except_stat", 16, "EXCEPTION_STATUS", "", text),
    FIELD("slots", NULL, 5, "SLOTS", "slots_allocated", plain),
    FIELD("mem", NULL, 15, "MEM", "rss_kib", mem),
    FIELD("max_mem", NULL, 15, "MAX_MEM", "mem_kib", mem),
    FIELD("avg_mem", NULL, 15, "AVG_MEM", "", text),
    FIELD("memlimit", NULL, 10, "MEMLIMIT", "limits.mem_kib", limit_size),
    FIELD("swap", NULL, 10, "SWAP", "vsz_kib", mem),
    FIELD("swaplimit", NULL, 10, "SWAPLIMIT", "limits.swap_kib", limit_size),
    FIELD("nthreads", NULL, 10, "NTHREADS", "threads", plain),
    FIELD("hrusage", NULL, 50, "HRUSAGE", "", text),
    FIELD("gpu_num", "gnum", 10, "GPU_NUM", "", text),
    FIELD("gpu_mode", "gmode", 20, "GPU_MODE", "", text),
    FIELD("j_exclusive", "j_excl", 15, "J_EXCLUSIVE", "", text),
    FIELD("gpu_alloc", "galloc", 30, "GPU_ALLOC", "", text),
    FIELD("network_req", NULL, 15, "NETWORK_REQ", "", text),
    FIELD("mem_eff", NULL, 10, "MEM_EFF", "mem_kib", mem_efficiency),
    FIELD("cpu_eff", NULL, 10, "CPU_EFF", "slots_allocated", cpu_efficiency),
    FIELD("energy", NULL, 20, "ENERGY", "", text),
    FIELD("gpfsio", NULL, 20, "GPFSIO", "", text),
    FIELD("min_req_proc", NULL, 12, "MIN_REQ_PROC", "slots", plain),
    FIELD("max_req_proc", NULL, 12, "MAX_REQ_PROC", "max_slots", plain),
    FIELD("effective_resreq", "eresreq", 17, "EFFECTIVE_RESREQ", "combined_resreq", text),
    FIELD("combined_resreq", "cresreq", 20, "COMBINED_RESREQ", "combined_resreq", text),
    FIELD("filelimit", NULL, 10, "FILELIMIT", "limits.file_kib", limit_size),
    FIELD("corelimit", NULL, 10, "CORELIMIT", "limits.core_kib", limit_size),
    FIELD("stacklimit", NULL, 10, "STACKLIMIT", "limits.stack_kib", limit_size),
    FIELD("processlimit", NULL, 12, "PROCESSLIMIT", "limits.processes", plain),
    FIELD("runtimelimit", NULL, 12, "RUNTIMELIMIT", "limits.run_s", limit_minutes),
    FIELD("input_file", NULL, 10, "INPUT_FILE", "in_file", text),
    FIELD("output_file", NULL, 11, "OUTPUT_FILE", "out_file", text),
    FIELD("error_file", NULL, 10, "ERROR_FILE", "err_file", text),
    FIELD("output_dir", NULL, 15, "OUTPUT_DIR", "output_dir", text),
    FIELD("sub_cwd", NULL, 10, "SUB_CWD", "cwd", text),
    FIELD("exec_home", NULL, 10, "EXEC_HOME", "", text),
    FIELD("exec_cwd", NULL, 10, "EXEC_CWD", "exec_cwd", text),
    FIELD("forward_cluster", "fwd_cluster", 15, "FORWARD_CLUSTER", "", text),
    FIELD("forward_time", "fwd_time", 15, "FORWARD_TIME", "", text),
    FIELD("srcjobid", NULL, 8, "SRCJOBID", "", text),
    FIELD("dstjobid", NULL, 8, "DSTJOBID", "", text),
    FIELD("source_cluster", "srcluster", 15, "SOURCE_CLUSTER", "", text),
    FIELD("lease", NULL, 20, "LEASE", "lease", text),
    /* columns of -W and -A */
    FIELD("w_cpu", NULL, 10, "CPU_USED", "cpu_clock", text),
    FIELD("a_spec", NULL, 18, "ARRAY_SPEC", "name", text),
    FIELD("a_owner", NULL, 8, "OWNER", "user", text),
    FIELD("a_njobs", NULL, 5, "NJOBS", "njobs", count),
    FIELD("a_pend", NULL, 4, "PEND", "PEND", count),
    FIELD("a_done", NULL, 4, "DONE", "DONE", count),
    FIELD("a_run", NULL, 4, "RUN", "RUN", count),
    FIELD("a_exit", NULL, 4, "EXIT", "EXIT", count),
    FIELD("a_ssusp", NULL, 5, "SSUSP", "SSUSP", count),
    FIELD("a_ususp", NULL, 5, "USUSP", "USUSP", count),
    FIELD("a_psusp", NULL, 5, "PSUSP", "PSUSP", count),
    END,
};

static const struct lsf_field hosts[] = {
    FIELD("host_name", "hname", 20, "HOST_NAME", "host", text),
    FIELD("status", "stat", 15, "STATUS", "status", text),
    FIELD("cpuf", NULL, 10, "CPUF", "cpuf", plain),
    FIELD("jl_u", "jlu", 8, "JL/U", "jl_u", plain),
    FIELD("max", NULL, 8, "MAX", "max", plain),
    FIELD("njobs", NULL, 8, "NJOBS", "njobs", count),
    FIELD("run", NULL, 8, "RUN", "run", count),
    FIELD("ssusp", NULL, 8, "SSUSP", "ssusp", count),
    FIELD("ususp", NULL, 8, "USUSP", "ususp", count),
    FIELD("rsv", NULL, 8, "RSV", "rsv", count),
    FIELD("dispatch_window", "dispwin", 50, "DISPATCH_WINDOW", "dispatch_window", text),
    FIELD("lease", NULL, 20, "LEASE", "lease", text),
    FIELD("consumer", NULL, 15, "CONSUMER", "consumer", text),
    FIELD("available_mem", NULL, 15, "AVAILABLE_MEM", "load.mem", size),
    FIELD("reserved_mem", NULL, 15, "RESERVED_MEM", "reserved.mem", size),
    FIELD("total_mem", NULL, 15, "TOTAL_MEM", "maxmem", size),
    FIELD("comments", NULL, 50, "COMMENTS", "", text),
    FIELD("gpu_num", "gnum", 10, "GPU_NUM", "", text),
    FIELD("gpu_alloc", "ngpus_alloc", 10, "GPU_ALLOC", "", text),
    END,
};

static const struct lsf_field queues[] = {
    FIELD("queue_name", "qname", 15, "QUEUE_NAME", "queue", text),
    FIELD("description", "desc", 50, "DESCRIPTION", "description", text),
    FIELD("priority", "prio", 10, "PRIO", "priority", plain),
    FIELD("status", "stat", 15, "STATUS", "status", text),
    FIELD("max", NULL, 10, "MAX", "max", plain),
    FIELD("jl_u", "jlu", 10, "JL/U", "jl_u", plain),
    FIELD("jl_p", "jlp", 10, "JL/P", "jl_p", plain),
    FIELD("jl_h", "jlh", 10, "JL/H", "jl_h", plain),
    FIELD("njobs", NULL, 10, "NJOBS", "njobs", count),
    FIELD("pend", NULL, 10, "PEND", "pend", count),
    FIELD("run", NULL, 10, "RUN", "run", count),
    FIELD("susp", NULL, 10, "SUSP", "susp", count),
    FIELD("rsv", NULL, 10, "RSV", "rsv", count),
    FIELD("ssusp", NULL, 10, "SSUSP", "", text),
    FIELD("ususp", NULL, 10, "USUSP", "", text),
    FIELD("nice", NULL, 6, "NICE", "limits.nice", plain),
    FIELD("res_req", "resreq", 20, "RES_REQ", "res_req", text),
    FIELD("run_windows", "runwindow", 50, "RUN_WINDOWS", "run_window", text),
    FIELD("dispatch_windows", "dispwindow", 50, "DISPATCH_WINDOWS", "dispatch_window", text),
    FIELD("pre_exec", NULL, 20, "PRE_EXEC", "pre_exec", joined),
    FIELD("post_exec", NULL, 20, "POST_EXEC", "post_exec", joined),
    FIELD("hosts", NULL, 20, "HOSTS", "hosts", text),
    FIELD("users", NULL, 20, "USERS", "users", text),
    /* the column PRIO */
    FIELD("q_prio", NULL, 4, "PRIO", "priority", priority),
    END,
};

static const struct lsf_field users[] = {
    FIELD("user", NULL, 15, "USER/GROUP", "user", text),
    FIELD("jl_p", "jlp", 8, "JL/P", "jl_p", plain),
    FIELD("max", NULL, 8, "MAX", "max", plain),
    FIELD("njobs", NULL, 8, "NJOBS", "njobs", count),
    FIELD("pend", NULL, 8, "PEND", "pend", count),
    FIELD("run", NULL, 8, "RUN", "run", count),
    FIELD("ssusp", NULL, 8, "SSUSP", "ssusp", count),
    FIELD("ususp", NULL, 8, "USUSP", "ususp", count),
    FIELD("rsv", NULL, 8, "RSV", "reserved", count),
    FIELD("share", NULL, 8, "SHARES", "shares", plain),
    FIELD("priority", NULL, 10, "PRIORITY", "priority", plain),
    FIELD("started", NULL, 8, "STARTED", "started", count),
    FIELD("reserved", NULL, 8, "RESERVED", "reserved", count),
    FIELD("cpu_time", NULL, 9, "CPU_TIME", "cpu_s", plain),
    FIELD("run_time", NULL, 9, "RUN_TIME", "run_s", plain),
    END,
};

static const struct lsf_field load[] = {
    FIELD("host_name", "hname", 20, "HOST_NAME", "host", text),
    FIELD("status", "stat", 15, "status", "status", text),
    FIELD("r15s", NULL, 6, "r15s", "r15s", index),
    FIELD("r1m", NULL, 6, "r1m", "r1m", index),
    FIELD("r15m", NULL, 6, "r15m", "r15m", index),
    FIELD("ut", NULL, 6, "ut", "ut", percent),
    FIELD("pg", NULL, 6, "pg", "pg", index),
    FIELD("io", NULL, 6, "io", "io", index),
    FIELD("ls", NULL, 6, "ls", "ls", plain),
    FIELD("it", NULL, 6, "it", "it", plain),
    FIELD("tmp", NULL, 10, "tmp", "tmp", size),
    FIELD("swp", NULL, 10, "swp", "swp", size),
    FIELD("mem", NULL, 10, "mem", "mem", size),
    END,
};

static const struct lsf_field lshosts[] = {
    FIELD("host_name", "hname", 20, "HOST_NAME", "host", text),
    FIELD("type", NULL, 10, "type", "type", text),
    FIELD("model", NULL, 10, "model", "model", text),
    FIELD("cpuf", NULL, 10, "cpuf", "cpuf", plain),
    FIELD("ncpus", NULL, 10, "ncpus", "ncpus", plain),
    FIELD("maxmem", NULL, 10, "maxmem", "maxmem", size),
    FIELD("maxswp", NULL, 10, "maxswp", "maxswp", size),
    FIELD("maxtmp", NULL, 10, "maxtmp", "maxtmp", size),
    FIELD("server", NULL, 10, "server", "server", text),
    FIELD("ndisks", NULL, 10, "ndisks", "ndisks", plain),
    FIELD("nprocs", NULL, 6, "nprocs", "nprocs", plain),
    FIELD("ncores", NULL, 6, "ncores", "ncores", plain),
    FIELD("nthreads", NULL, 8, "nthreads", "nthreads", plain),
    FIELD("resources", "res", 20, "RESOURCES", "resources", names),
    END,
};

static const struct lsf_field hist[] = {
    FIELD("jobid", "id", 7, "JOBID", "id", job_id),
    FIELD("user", NULL, 7, "USER", "user", text),
    FIELD("job_name", "name", 9, "JOB_NAME", "name", text),
    FIELD("pend", NULL, 7, "PEND", "pend_s", whole),
    FIELD("psusp", NULL, 7, "PSUSP", "psusp_s", whole),
    FIELD("run", NULL, 7, "RUN", "run_s", whole),
    FIELD("ususp", NULL, 7, "USUSP", "ususp_s", whole),
    FIELD("ssusp", NULL, 7, "SSUSP", "ssusp_s", whole),
    FIELD("unkwn", NULL, 7, "UNKWN", "unkwn_s", whole),
    FIELD("total", NULL, 7, "TOTAL", "total_s", whole),
    END,
};

static const struct lsf_field limits[] = {
    FIELD("name", NULL, 12, "NAME", "name", text),
    FIELD("users", NULL, 12, "USERS", "users", text),
    FIELD("queues", NULL, 12, "QUEUES", "queues", text),
    FIELD("hosts", NULL, 12, "HOSTS", "hosts", text),
    FIELD("projects", NULL, 12, "PROJECTS", "projects", text),
    FIELD("slots", NULL, 8, "SLOTS", "slots", used),
    FIELD("mem", NULL, 12, "MEM", "resources.mem", used),
    FIELD("tmp", NULL, 12, "TMP", "resources.tmp", used),
    FIELD("swp", NULL, 12, "SWP", "resources.swp", used),
    FIELD("jobs", NULL, 8, "JOBS", "jobs", used),
    FIELD("resources", NULL, 20, "RESOURCES", "resources", each_used),
    END,
};

static const struct lsf_field shared[] = {
    FIELD("resource", NULL, 24, "RESOURCE", "resource", text),
    FIELD("total", NULL, 12, "TOTAL", "total", plain),
    FIELD("reserved", NULL, 12, "RESERVED", "reserved", plain),
    FIELD("location", NULL, 30, "LOCATION", "location", text),
    END,
};

static const struct lsf_field values[] = {
    FIELD("resource", NULL, 24, "RESOURCE", "resource", text),
    FIELD("value", NULL, 20, "VALUE", "value", plain),
    FIELD("location", NULL, 30, "LOCATION", "location", text),
    END,
};

static const struct lsf_field job_groups[] = {
    FIELD("group_name", NULL, 18, "GROUP_NAME", "group", text),
    FIELD("njobs", NULL, 7, "NJOBS", "njobs", count),
    FIELD("pend", NULL, 7, "PEND", "pend", count),
    FIELD("run", NULL, 6, "RUN", "run", count),
    FIELD("ssusp", NULL, 6, "SSUSP", "ssusp", count),
    FIELD("ususp", NULL, 6, "USUSP", "ususp", count),
    FIELD("finish", NULL, 7, "FINISH", "finish", count),
    FIELD("sla", NULL, 5, "SLA", "sla", text),
    FIELD("jlimit", NULL, 8, "JLIMIT", "jlimit", text),
    FIELD("owner", NULL, 8, "OWNER", "owner", text),
    END,
};

static const struct lsf_field apps[] = {
    FIELD("app_name", NULL, 20, "APP_NAME", "app", text),
    FIELD("njobs", NULL, 8, "NJOBS", "njobs", count),
    FIELD("pend", NULL, 8, "PEND", "pend", count),
    FIELD("run", NULL, 8, "RUN", "run", count),
    FIELD("susp", NULL, 8, "SUSP", "susp", count),
    END,
};

static const struct lsf_field groups[] = {
    FIELD("group_name", NULL, 13, "GROUP_NAME", "group", text),
    FIELD("users", NULL, 20, "USERS", "members", joined),
    FIELD("hosts", NULL, 20, "HOSTS", "members", joined),
    END,
};

static const struct lsf_field units[] = {
    FIELD("name", NULL, 13, "NAME", "group", text),
    FIELD("type", NULL, 13, "TYPE", "type", text),
    FIELD("hosts", NULL, 20, "HOSTS", "members", joined),
    END,
};

static const struct lsf_field resources[] = {
    FIELD("resource_name", NULL, 14, "RESOURCE_NAME", "name", text),
    FIELD("type", NULL, 7, "TYPE ", "type", text),
    FIELD("order", NULL, 7, "ORDER ", "order", resource_order),
    FIELD("description", NULL, 20, "DESCRIPTION", "description", text),
    END,
};

static const struct lsf_field models[] = {
    FIELD("model_name", NULL, 18, "MODEL_NAME", "name", text),
    FIELD("type_name", NULL, 18, "TYPE_NAME", "name", text),
    FIELD("cpu_factor", NULL, 15, "CPU_FACTOR", "cpuf", cpu_factor),
    FIELD("architecture", NULL, 20, "ARCHITECTURE", "architecture", text),
    END,
};

static const struct lsf_field slots[] = {
    FIELD("slots", NULL, 15, "SLOTS", "slots", count),
    FIELD("runtime", NULL, 15, "RUNTIME", "runtime", text),
    FIELD("hosts", NULL, 20, "HOSTS", "hosts", text),
    END,
};

const struct lsf_listing lsf_fields_models = {"lsinfo", "MODELS", models,
    "model_name:=15 cpu_factor:15 architecture:=20", "No host model found"};
const struct lsf_listing lsf_fields_types = {"lsinfo", "TYPES", models,
    "type_name:=18", "No host type found"};
const struct lsf_listing lsf_fields_slots = {"bslots", "SLOTS", slots,
    "slots:14 runtime:=15", "No backfill window exists at this time."};
const struct lsf_listing lsf_fields_jobs = {"bjobs", "JOBS", jobs,
    "jobid:=7 user stat queue:10 from_host exec_host job_name submit_time:=12",
    "No unfinished job found"};
const struct lsf_listing lsf_fields_hosts = {"bhosts", "HOSTS", hosts,
    "host_name:18 status:12 jl_u:-4 max:-6 njobs:-6 run:-6 ssusp:-6 ususp:-6 rsv:-6",
    "No host found"};
const struct lsf_listing lsf_fields_queues = {"bqueues", "QUEUES", queues,
    "queue_name:15 q_prio:4 status:15 max:-3 jl_u:-4 jl_p:-4 jl_h:-4 njobs:-5 pend:-5 run:-5 susp:-5",
    "No queue found"};
const struct lsf_listing lsf_fields_users = {"busers", "USERS", users,
    "user:15 jl_p:-8 max:-6 njobs:-6 pend:-6 run:-6 ssusp:-6 ususp:-6 rsv:-6",
    "No user found"};
const struct lsf_listing lsf_fields_load = {"lsload", "HOSTS", load,
    "host_name:15 status:-6 r15s:-5 r1m:-5 r15m:-5 ut:-4 pg:-5 ls:-3 it:-5 tmp:-5 swp:-5 mem:-5",
    "No host found"};
const struct lsf_listing lsf_fields_lshosts = {"lshosts", "HOSTS", lshosts,
    "host_name:11 type:-7 model:-8 cpuf:-5 ncpus:-5 maxmem:-6 maxswp:-6 server:-6 resources:=20",
    "No host found"};
const struct lsf_listing lsf_fields_hist = {"bhist", "JOBS", hist,
    "jobid:=7 user job_name pend:=7 psusp:=7 run:=7 ususp:=7 ssusp:=7 unkwn:=7 total:=7",
    "No matching job found"};
const struct lsf_listing lsf_fields_limits = {"blimits", "LIMITS", limits,
    "name users queues hosts projects slots:-8 mem:-12 tmp:-12 swp:-12 jobs:-8 resources",
    "No resource usage found."};
const struct lsf_listing lsf_fields_values = {"lsload", "RESOURCES", values,
    "resource:24 value:-20 location:=30", "No such resource has a value."};
const struct lsf_listing lsf_fields_shared = {"bhosts", "RESOURCES", shared,
    "resource total:-12 reserved:-12 location:=30", "No shared resources defined."};
const struct lsf_listing lsf_fields_apps = {"bapp", "APPS", apps,
    "app_name njobs:-8 pend:-8 run:-8 susp:-8", "No application profiles defined."};
const struct lsf_listing lsf_fields_job_groups = {
    "bjgroup", "JOB GROUPS", job_groups,
    "group_name njobs:-7 pend:-7 run:-6 ssusp:-6 ususp:-6 finish:-7 sla jlimit:-8 owner",
    "No job group found"};
const struct lsf_listing lsf_fields_groups = {"bugroup", "GROUPS", groups,
    "group_name users:=20", "No user groups defined."};
const struct lsf_listing lsf_fields_host_groups = {"bmgroup", "GROUPS", groups,
    "group_name hosts:=20", "No host groups defined."};
const struct lsf_listing lsf_fields_units = {"bmgroup", "UNITS", units,
    "name type hosts:=20", "No compute units defined."};
const struct lsf_listing lsf_fields_resources = {"lsinfo", "RESOURCES", resources,
    "resource_name:=13 type:-7 order:-7 description:=20", "No resource found"};
/* clang-format on */
