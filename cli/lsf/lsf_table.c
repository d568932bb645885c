/* SPDX-License-Identifier: Apache-2.0 */
/* lsf_table.c: each command of LSF, its options, and what becomes of them. */
#include "cli/lsf/lsf.h"

/* clang-format off */
#define FLAG(name, what) {name, NULL, LSF_TAKEN, NULL, what}
#define TAKE(name, value, what) {name, value, LSF_TAKEN, NULL, what}
#define AS(name, value, to, what) {name, value, LSF_TAKEN, to, what}
#define SKIP(name, value, what) {name, value, LSF_IGNORED, NULL, what}
#define NOTE(name, value, what) {name, value, LSF_NOTED, NULL, what}
#define NOT(name, value, what) {name, value, LSF_REFUSED, NULL, what}
#define END {NULL, NULL, LSF_END, NULL, NULL}

#define NO_FORWARDING "job forwarding is not built; lease hosts instead (HostExport)"
#define NO_GPU "GPUs are not resources of their own; use a numeric resource with -R \"rusage[ngpus=1]\""
#define NO_MAIL "no mail is sent; use -o and -e, or bhist"
#define NO_CHECKPOINT "checkpoints are not built; use -r, and let the job write its own state"
#define NO_RESERVATION "advance reservations are not built yet; use bsub -b, or a queue with DISPATCH_WINDOW"
#define NO_CLASS "service classes are not built; use a queue with FAIRSHARE, or a Limit section"
#define NO_LICENSE "License Scheduler is another product; use a resource of ResourceMap with -R \"rusage[lic=1]\""
#define NO_DATA "Data Manager is another product; copy files in the job or with -E"
#define NO_CSM "CSM is not supported; use -n and -R \"span[...]\""
#define NO_AFFINITY "the binding of jobs to processors is not shown; use sublet jobs -l"
#define NO_CONNECTOR "resource connectors are not built; lease hosts instead (HostExport)"
#define NO_SPEC_FILE "files in JSON, YAML and JSDL are not read; write the options as #BSUB lines into a script"
#define NO_PEND_LIMIT "LSF itself only tells RTM of a limit on the time that a job waits; look at pend_time of bjobs -o"
#define ONE_CLUSTER "there is one cluster"
#define NO_DEBUG "levels of logs are set by the daemon's configuration; look into its log (journalctl -u sublet-site)"
#define NO_SSH "X11 and ssh are not set up by the site; use -I and ssh -X"

/* -o FIELDS and the like, of every listing that has them */
#define FORMATS \
    TAKE("-o", "FORMAT", "these fields: \"NAME[:[-]WIDTH] ... delimiter='CHARACTER'\""), \
    FLAG("-json", "as JSON, with -o"), \
    AS("-noheader", NULL, "--noheader", "without the heading")

/* what bsub gives a job, and bmod changes */
#define SUBMISSION \
    TAKE("-J", "NAME", "the job's name; \"name[1-10,15]%3\" makes an array, 3 run at a time"), \
    TAKE("-Jd", "TEXT", "description of the job"), \
    TAKE("-q", "QUEUE", "the queue; without -q LSB_DEFAULTQUEUE, or the site's default"), \
    TAKE("-n", "MIN[,MAX]", "job slots"), \
    TAKE("-m", "HOSTS", "only these hosts and groups: \"hostA+2 groupB others\""), \
    TAKE("-R", "STRING", "resource requirements; several are joined"), \
    TAKE("-o", "FILE", "standard output, and then a report of the end, are appended to FILE; %J is the job's id, %I its index"), \
    TAKE("-oo", "FILE", "the same, and FILE is emptied when the job starts"), \
    TAKE("-e", "FILE", "standard error is appended to FILE"), \
    TAKE("-eo", "FILE", "the same, and FILE is emptied when the job starts"), \
    TAKE("-i", "FILE", "standard input"), \
    AS("-is", "FILE", "-i", "the same"), \
    TAKE("-cwd", "DIR", "working directory"), \
    FLAG("-x", "hosts of its own: nothing else runs there"), \
    FLAG("-r", "is run again when its host is lost"), \
    TAKE("-W", "[HOURS:]MINUTES[/HOST]", "run limit, of a host or a host model"), \
    TAKE("-c", "[HOURS:]MINUTES", "limit on CPU time"), \
    TAKE("-M", "SIZE", "limit on memory"), \
    TAKE("-v", "SIZE", "limit on virtual memory"), \
    TAKE("-p", "NUMBER", "limit on processes"), \
    TAKE("-T", "NUMBER", "limit on threads"), \
    TAKE("-F", "SIZE", "limit on files that a process writes"), \
    TAKE("-D", "SIZE", "limit on the data segment"), \
    TAKE("-S", "SIZE", "limit on the stack"), \
    TAKE("-C", "SIZE", "limit on core files"), \
    TAKE("-E", "COMMAND", "command before the job"), \
    TAKE("-Ep", "COMMAND", "command after the job"), \
    TAKE("-w", "CONDITION", "wait for other jobs: \"done(12) && exit(prep,3)\""), \
    TAKE("-b", "TIME", "not before [[[YEAR:]MONTH:]DAY:]HOUR:MINUTE"), \
    TAKE("-wa", "SIGNAL", "signal that warns the job before its run limit ends it"), \
    TAKE("-wt", "[HOURS:]MINUTES", "how long before the run limit the job is warned"), \
    TAKE("-t", "TIME", "ends at [[[YEAR:]MONTH:]DAY:]HOUR:MINUTE at the latest"), \
    FLAG("-ti", "with -w: ends once the condition can never be met"), \
    TAKE("-Q", "CODES", "is requeued for these exit codes: \"99 EXCLUDE(7)\""), \
    TAKE("-P", "PROJECT", "the project; without -P LSB_DEFAULTPROJECT"), \
    TAKE("-G", "GROUP", "the user group whose share counts; without -G LSB_DEFAULT_USERGROUP"), \
    TAKE("-sp", "PRIORITY", "priority among the user's jobs of the queue"), \
    TAKE("-app", "PROFILE", "application profile"), \
    TAKE("-env", "LIST", "variables of the job: none, all, NAME, NAME=VALUE, ~NAME")

/* the jobs that a command is about */
#define SELECTION \
    TAKE("-u", "USER", "jobs of this user; all: of everyone"), \
    TAKE("-q", "QUEUE", "jobs of this queue"), \
    TAKE("-m", "HOSTS", "jobs on these hosts, host groups or compute units"), \
    TAKE("-J", "NAME", "jobs of this name, as \"prep*\""), \
    TAKE("-P", "PROJECT", "jobs of this project"), \
    TAKE("-app", "PROFILE", "jobs of this application profile"), \
    TAKE("-G", "GROUP", "jobs for this user group"), \
    TAKE("-g", "GROUP", "jobs of this job group and those below it; GROUP/: of it alone"), \
    NOT("-sla", "CLASS", NO_CLASS), \
    NOT("-Lp", "PROJECT", NO_LICENSE)

#define NO_PAST "the history does not know this; use bjobs -a with the same option"

/* the same of the history */
#define PAST_SELECTION \
    TAKE("-u", "USER", "jobs of this user; all: of everyone"), \
    TAKE("-q", "QUEUE", "jobs of this queue"), \
    TAKE("-m", "HOST", "jobs that ran on this host"), \
    TAKE("-J", "NAME", "jobs of this name"), \
    TAKE("-P", "PROJECT", "jobs of this project"), \
    NOT("-app", "PROFILE", NO_PAST), \
    NOT("-G", "GROUP", NO_PAST), \
    NOT("-g", "GROUP", NO_PAST), \
    NOT("-sla", "CLASS", NO_CLASS), \
    NOT("-Lp", "PROJECT", NO_LICENSE)

static const struct lsf_option bsub_options[] = {
    SUBMISSION,
    FLAG("-K", "wait for the end, and exit as the job does"),
    FLAG("-I", "interactive: connected with this terminal, or these pipes"),
    FLAG("-Ip", "interactive, in a pseudo-terminal"),
    FLAG("-Is", "the same, in shell mode"),
    FLAG("-H", "hold the job (PSUSP) until bresume"),
    FLAG("-ar", "the job grows while it runs, up to MAX of -n"),
    TAKE("-rnc", "COMMAND", "command that notifies the job of changed slots"),
    NOT("-json", "FILE", NO_SPEC_FILE),
    NOT("-yaml", "FILE", NO_SPEC_FILE),
    NOT("-jsdl", "FILE", NO_SPEC_FILE),
    NOT("-jsdl_strict", "FILE", NO_SPEC_FILE),
    NOTE("-L", "SHELL", "profiles are not read; the job has the environment of the submission, or that of -env"),
    SKIP("-rn", NULL, "jobs are run again only with -r, or if the queue says so"),
    SKIP("-Ne", NULL, NO_MAIL),
    SKIP("-notify", "EVENTS", NO_MAIL),
    NOTE("-N", NULL, "no mail is sent; as in LSF, no report is written into the file of -o"),
    NOTE("-B", NULL, NO_MAIL),
    NOTE("-u", "ADDRESS", NO_MAIL),
    NOTE("-We", "[HOURS:]MINUTES", "the estimate is not used; backfill goes by -W"),
    NOTE("-mig", "MINUTES", "jobs do not migrate; -r runs one again when its host is lost"),
    NOTE("-eptl", "[HOURS:]MINUTES", NO_PEND_LIMIT),
    NOTE("-ptl", "[HOURS:]MINUTES", NO_PEND_LIMIT),
    NOT("-rcacct", "NAME", NO_CONNECTOR),
    SKIP("-ul", NULL, "the job has the limits that are set for it, not those of this shell"),
    SKIP("-tty", NULL, "a terminal is remembered without it"),
    SKIP("-Zs", NULL, "the script travels with the job in any case"),
    TAKE("-g", "GROUP", "the job group, a path such as /risk/portfolio1; it is made if need be"),
    NOT("-f", "FILES", "files are not copied; hosts of a site share their file system, else copy in -E"),
    TAKE("-a", "ESUB", "programs of LSF_SERVERDIR that check and change the options: \"fluent(5) ls_dyna\""),
    NOT("-k", "DIR", NO_CHECKPOINT),
    TAKE("-outdir", "DIR", "directory for relative files of -o and -e, made before the job starts; with %J, %I, %U and %P"),
    NOT("-hostfile", "FILE", "expected the hosts in -m, and -R \"span[ptile=N]\""),
    TAKE("-pack", "FILE", "each line of FILE is the options and the command of a job; alone on the line"),
    NOT("-s", "SIGNAL", "expected TERMINATE_CONTROL or SUSPEND_CONTROL in the queue"),
    NOT("-U", "RESERVATION", NO_RESERVATION),
    NOT("-sla", "CLASS", NO_CLASS),
    NOT("-gpu", "REQUIREMENT", NO_GPU),
    NOT("-clusters", "NAMES", NO_FORWARDING),
    NOT("-Lp", "PROJECT", NO_LICENSE),
    NOT("-data", "FILES", NO_DATA),
    NOT("-datachk", NULL, NO_DATA),
    NOT("-datagrp", "GROUP", NO_DATA),
    NOT("-stage", "WORDS", NO_DATA),
    NOT("-jsm", "WORD", NO_CSM),
    NOT("-csm", "WORD", NO_CSM),
    NOT("-alloc_flags", "WORDS", NO_CSM),
    NOT("-cn_cu", "UNIT", NO_CSM),
    NOT("-cn_mem", "SIZE", NO_CSM),
    NOT("-ln_mem", "SIZE", NO_CSM),
    NOT("-ln_slots", "NUMBER", NO_CSM),
    NOT("-nnodes", "NUMBER", NO_CSM),
    NOT("-core_isolation", "WORD", NO_CSM),
    NOT("-smt", "NUMBER", NO_CSM),
    NOT("-step_cgroup", "WORD", NO_CSM),
    NOT("-network", "WORDS", "networks are not allocated; use a resource with -R"),
    NOT("-jobaff", "WORDS", NO_CSM),
    NOT("-freq", "FREQUENCY", "CPU frequencies are not set"),
    NOT("-hl", NULL, "limits hold for the job as a whole already"),
    NOT("-IS", NULL, NO_SSH),
    NOT("-ISp", NULL, NO_SSH),
    NOT("-ISs", NULL, NO_SSH),
    NOT("-IX", NULL, NO_SSH),
    NOT("-XF", NULL, NO_SSH),
    NOT("-ext", "WORDS", "external schedulers are not built"),
    NOT("-extsched", "WORDS", "external schedulers are not built"),
    NOT("-X", NULL, NO_SSH),
    END,
};

static const struct lsf_option bmod_options[] = {
    SUBMISSION,
    FLAG("-xn", "not on hosts of its own"),
    FLAG("-rn", "is not run again"),
    FLAG("-Jdn", "without a description"),
    FLAG("-qn", "in the default queue"),
    FLAG("-Jn", "without a name"),
    FLAG("-mn", "on any host of the queue"),
    FLAG("-Rn", "without requirements"),
    FLAG("-on", "without an output file"),
    FLAG("-oon", "without an output file"),
    FLAG("-en", "without a file for standard error"),
    FLAG("-eon", "without a file for standard error"),
    FLAG("-in", "without an input file"),
    FLAG("-Wn", "without a run limit"),
    FLAG("-cn", "without a limit on CPU time"),
    FLAG("-Mn", "without a limit on memory"),
    FLAG("-vn", "without a limit on virtual memory"),
    FLAG("-pn", "without a limit on processes"),
    FLAG("-Tn", "without a limit on threads"),
    FLAG("-Fn", "without a limit on files"),
    FLAG("-Dn", "without a limit on the data segment"),
    FLAG("-Sn", "without a limit on the stack"),
    FLAG("-Cn", "without a limit on core files"),
    FLAG("-En", "without a command before the job"),
    FLAG("-Epn", "without a command after the job"),
    FLAG("-wn", "waits for no other job"),
    FLAG("-bn", "may start at once"),
    FLAG("-Pn", "in the default project"),
    FLAG("-Gn", "for no user group"),
    FLAG("-gn", "in no job group"),
    FLAG("-spn", "with the default priority"),
    FLAG("-appn", "without an application profile"),
    FLAG("-nn", "with the default number of slots"),
    TAKE("-Z", "COMMAND", "another command"),
    AS("-Zs", "COMMAND", "-Z", "the same"),
    SKIP("-Zsn", NULL, "the script travels with the job in any case"),
    NOTE("-u", "ADDRESS", NO_MAIL),
    NOTE("-N", NULL, NO_MAIL),
    NOTE("-B", NULL, NO_MAIL),
    NOTE("-Nn", NULL, NO_MAIL),
    NOTE("-Bn", NULL, NO_MAIL),
    NOTE("-un", NULL, NO_MAIL),
    NOTE("-We", "[HOURS:]MINUTES", "the estimate is not used; backfill goes by -W"),
    SKIP("-Wen", NULL, "the estimate is not used; backfill goes by -W"),
    SKIP("-Ne", NULL, NO_MAIL),
    SKIP("-notify", "EVENTS", NO_MAIL),
    SKIP("-notifyn", NULL, NO_MAIL),
    SKIP("-ul", NULL, "the job has the limits that are set for it, not those of this shell"),
    SKIP("-uln", NULL, "the job has the limits that are set for it, not those of this shell"),
    NOTE("-L", "SHELL", "profiles are not read; the job has the environment of the submission, or that of -env"),
    SKIP("-Ln", NULL, "profiles are not read"),
    NOTE("-mig", "MINUTES", "jobs do not migrate; -r runs one again when its host is lost"),
    SKIP("-mign", NULL, "jobs do not migrate"),
    NOTE("-ptl", "[HOURS:]MINUTES", NO_PEND_LIMIT),
    SKIP("-ptln", NULL, NO_PEND_LIMIT),
    NOTE("-eptl", "[HOURS:]MINUTES", NO_PEND_LIMIT),
    SKIP("-eptln", NULL, NO_PEND_LIMIT),
    TAKE("-a", "ESUB", "programs of LSF_SERVERDIR that check and change the options: \"fluent(5) ls_dyna\""),
    SKIP("-an", NULL, "a job does not remember the programs of -a"),
    NOT("-kn", NULL, NO_CHECKPOINT),
    NOT("-fn", NULL, "files are not copied; hosts of a site share their file system"),
    NOT("-Un", NULL, NO_RESERVATION),
    NOT("-slan", NULL, NO_CLASS),
    NOT("-gpun", NULL, NO_GPU),
    NOT("-Lpn", NULL, NO_LICENSE),
    NOT("-ext", "WORDS", "external schedulers are not built"),
    NOT("-extsched", "WORDS", "external schedulers are not built"),
    NOT("-hostfile", "FILE", "expected the hosts in -m, and -R \"span[ptile=N]\""),
    NOT("-hostfilen", NULL, "host files are not built"),
    NOT("-s", "SIGNAL", "expected TERMINATE_CONTROL or SUSPEND_CONTROL in the queue"),
    NOT("-sn", NULL, "expected TERMINATE_CONTROL or SUSPEND_CONTROL in the queue"),
    NOT("-hl", NULL, "limits hold for the job as a whole already"),
    NOT("-hln", NULL, "limits hold for the job as a whole already"),
    NOT("-network", "WORDS", "networks are not allocated; use a resource with -R"),
    NOT("-networkn", NULL, "networks are not allocated; use a resource with -R"),
    NOT("-freq", "FREQUENCY", "CPU frequencies are not set"),
    NOT("-freqn", NULL, "CPU frequencies are not set"),
    NOT("-jobaff", "WORDS", NO_CSM),
    NOT("-jobaffn", NULL, NO_CSM),
    NOT("-csm", "WORD", NO_CSM),
    NOT("-csmn", NULL, NO_CSM),
    NOT("-jsm", "WORD", NO_CSM),
    NOT("-jsmn", NULL, NO_CSM),
    NOT("-alloc_flags", "WORDS", NO_CSM),
    NOT("-alloc_flagsn", NULL, NO_CSM),
    NOT("-cn_cu", "UNIT", NO_CSM),
    NOT("-cn_cun", NULL, NO_CSM),
    NOT("-cn_mem", "SIZE", NO_CSM),
    NOT("-cn_memn", NULL, NO_CSM),
    NOT("-ln_mem", "SIZE", NO_CSM),
    NOT("-ln_memn", NULL, NO_CSM),
    NOT("-ln_slots", "NUMBER", NO_CSM),
    NOT("-ln_slotsn", NULL, NO_CSM),
    NOT("-nnodes", "NUMBER", NO_CSM),
    NOT("-nnodesn", NULL, NO_CSM),
    NOT("-core_isolation", "WORD", NO_CSM),
    NOT("-core_isolationn", NULL, NO_CSM),
    NOT("-smt", "NUMBER", NO_CSM),
    NOT("-smtn", NULL, NO_CSM),
    NOT("-step_cgroup", "WORD", NO_CSM),
    NOT("-step_cgroupn", NULL, NO_CSM),
    NOT("-data", "FILES", NO_DATA),
    NOT("-datan", NULL, NO_DATA),
    NOT("-datachk", NULL, NO_DATA),
    NOT("-datagrp", "GROUP", NO_DATA),
    NOT("-datagrpn", NULL, NO_DATA),
    NOT("-stage", "WORDS", NO_DATA),
    NOT("-clustersn", NULL, NO_FORWARDING),
    NOT("-rcacct", "NAME", NO_CONNECTOR),
    NOT("-rcacctn", NULL, NO_CONNECTOR),
    NOT("-rnc", "COMMAND", "expected bsub -rnc, or RESIZE_NOTIFY_CMD of the application profile"),
    NOT("-rncn", NULL, "expected bsub -rnc, or RESIZE_NOTIFY_CMD of the application profile"),
    NOT("-ar", NULL, "whether a job may be resized is fixed at its submission"),
    NOT("-arn", NULL, "whether a job may be resized is fixed at its submission"),
    AS("-isn", NULL, "-in", "without an input file"),
    FLAG("-tn", "without a termination time"),
    FLAG("-wtn", "with the queue's time of a warning, or none"),
    FLAG("-wan", "with the queue's warning, or none"),
    FLAG("-tin", "waits even for what can never be"),
    FLAG("-Qn", "is requeued for the queue's exit codes alone"),
    NOT("-outdir", "DIR", "it is fixed at the submission; expected another -o and -e"),
    NOT("-outdirn", NULL, "it is fixed at the submission; expected another -o and -e"),
    TAKE("-g", "GROUP", "the job group, a path such as /risk/portfolio1; it is made if need be"),
    NOT("-f", "FILES", "files are not copied; hosts of a site share their file system"),
    NOT("-k", "DIR", NO_CHECKPOINT),
    NOT("-U", "RESERVATION", NO_RESERVATION),
    NOT("-sla", "CLASS", NO_CLASS),
    NOT("-gpu", "REQUIREMENT", NO_GPU),
    NOT("-clusters", "NAMES", NO_FORWARDING),
    NOT("-Lp", "PROJECT", NO_LICENSE),
    END,
};

static const struct lsf_option bjobs_options[] = {
    SELECTION,
    FLAG("-a", "jobs in all states, also those that have ended"),
    FLAG("-d", "jobs that have ended"),
    FLAG("-p", "pending jobs, with the reasons"),
    FLAG("-r", "running jobs"),
    FLAG("-s", "suspended jobs, with the reasons"),
    FLAG("-l", "in full"),
    FLAG("-UF", "in full, without breaks of lines"),
    FLAG("-w", "fields are not cut"),
    FLAG("-W", "the same, with project, times and slots"),
    FLAG("-A", "arrays, with the number of elements in each state"),
    FLAG("-sum", "the number of jobs in each state"),
    FLAG("-hms", "times of -o as hours:minutes:seconds"),
    AS("-p0", NULL, "-p", "the same"),
    AS("-p1", NULL, "-p", "the same"),
    AS("-p2", NULL, "-p", "the same"),
    AS("-p3", NULL, "-p", "the same"),
    FLAG("-pe", "pending jobs that could start if there were room"),
    FLAG("-pi", "pending jobs that are held, or wait for other jobs or a time"),
    FLAG("-pei", "both, one after the other"),
    FLAG("-psum", "how many pending jobs have which reason"),
    FLAG("-script", "the command or the script of a job"),
    TAKE("-rusage", "NAMES", "jobs that reserve one of these resources"),
    FLAG("-plan", "pending jobs with reserved slots, or an estimated start"),
    FLAG("-pri", "with the priority of each job"),
    FLAG("-WF", "as -w, with the estimated time of the end"),
    FLAG("-WL", "as -w, with the time that is left"),
    FLAG("-WP", "as -w, with the part of the run limit that is over"),
    AS("-N", "HOST", "-cpuf", "CPU factors are not applied"),
    FLAG("-X", "hosts in place of condensed groups and units"),
    SKIP("-x", NULL, "no exceptions are detected"),
    FORMATS,
    NOT("-env", NULL, "the environment of a job is not shown to others; let the job print it"),
    FLAG("-aff", "with -l: the processors of each task"),
    NOT("-aps", NULL, "absolute priorities are not built; use bjobs -pri"),
    NOT("-prio", NULL, "absolute priorities are not built; use bjobs -pri"),
    NOT("-fwd", NULL, NO_FORWARDING),
    NOT("-ss", NULL, NO_CLASS),
    NOT("-U", "RESERVATION", NO_RESERVATION),
    NOT("-gpu", NULL, NO_GPU),
    NOT("-hostfile", NULL, "host files are not built"),
    SKIP("-cname", NULL, ONE_CLUSTER),
    NOT("-data", NULL, NO_DATA),
    END,
};

static const struct lsf_option bkill_options[] = {
    SELECTION,
    TAKE("-s", "SIGNAL", "send this signal: 10, USR1 or SIGUSR1"),
    FLAG("-l", "the names of signals"),
    SKIP("-b", NULL, "many jobs at once are fast already"),
    NOT("-r", NULL, "a job whose host is away is forgotten by sublet runs --end; use bkill"),
    TAKE("-stat", "STATE", "all jobs in this state: run, pend or susp"),
    TAKE("-C", "REASON", "why, for bhist and kill_reason of bjobs -o"),
    NOT("-d", NULL, "jobs are not set to DONE; use bkill"),
    END,
};

static const struct lsf_option select_options[] = {
    SELECTION,
    NOTE("-C", "REASON", "reasons of users are not kept"),
    END,
};

static const struct lsf_option bswitch_options[] = {
    SELECTION,
    SKIP("-a", NULL, "jobs that wait are switched, whatever their profile"),
    NOTE("-C", "REASON", "reasons of users are not kept"),
    END,
};

static const struct lsf_option bstop_options[] = {
    SELECTION,
    FLAG("-a", "jobs in all states; bstop 0 means all of yours in any case"),
    SKIP("-d", NULL, "jobs that have ended are not stopped"),
    NOTE("-C", "REASON", "reasons of users are not kept"),
    END,
};

static const struct lsf_option brequeue_options[] = {
    SELECTION,
    FLAG("-r", "running jobs"),
    FLAG("-d", "jobs that are DONE"),
    FLAG("-e", "jobs that are EXIT"),
    FLAG("-a", "jobs that run, are suspended or have ended"),
    FLAG("-H", "they are held (PSUSP) until bresume"),
    NOT("-p", NULL, NO_FORWARDING),
    END,
};

static const struct lsf_option move_options[] = {
    TAKE("-u", "USER", "jobs of this user; all: of everyone"),
    END,
};

static const struct lsf_option bpeek_options[] = {
    SELECTION,
    FLAG("-f", "follow until the job has ended"),
    SKIP("-d", NULL, "output of jobs that have ended is shown in any case"),
    END,
};

static const struct lsf_option bresize_options[] = {
    FLAG("-c", "also withdraws the request for more slots"),
    SKIP("-rncn", NULL, "no command notifies the job"),
    NOT("-rnc", "COMMAND", "expected bsub -rnc, or RESIZE_NOTIFY_CMD of the application profile"),
    TAKE("-n", "NUMBER", "of request: so many slots"),
    END,
};

static const struct lsf_option bwait_options[] = {
    TAKE("-w", "CONDITION", "as bsub -w; an id stands for ended(id)"),
    TAKE("-t", "MINUTES", "gives up after so long"),
    TAKE("-r", "MINUTES", "looks again as often; sublet looks each second"),
    END,
};

static const struct lsf_option bhist_options[] = {
    PAST_SELECTION,
    FLAG("-a", "jobs in all states"),
    FLAG("-d", "jobs that have ended"),
    FLAG("-e", "jobs that have exited"),
    FLAG("-p", "pending jobs"),
    FLAG("-r", "running jobs"),
    FLAG("-s", "suspended jobs"),
    FLAG("-l", "each event"),
    AS("-b", NULL, "-b", "the same, in brief"),
    FLAG("-w", "fields are not cut"),
    FLAG("-UF", "each event, without breaks of lines"),
    SKIP("-n", "NUMBER", "there is one history, and all of it is searched"),
    SKIP("-f", "FILE", "there is one history, and all of it is searched"),
    SKIP("-cname", NULL, ONE_CLUSTER),
    SKIP("-N", "HOST", "CPU times are not scaled"),
    TAKE("-C", "TIME0,TIME1", "jobs that ended between"),
    TAKE("-S", "TIME0,TIME1", "jobs that were submitted between"),
    TAKE("-D", "TIME0,TIME1", "jobs that were started between"),
    FLAG("-t", "the events of all jobs, in the order of their times"),
    TAKE("-T", "TIME0,TIME1", "with -t: the events between"),
    NOT("-hostfile", NULL, "host files are not built"),
    NOT("-aff", NULL, NO_AFFINITY),
    NOT("-gpu", NULL, NO_GPU),
    NOT("-fwd", NULL, NO_FORWARDING),
    NOT("-data", NULL, NO_DATA),
    END,
};

static const struct lsf_option bacct_options[] = {
    PAST_SELECTION,
    FLAG("-d", "jobs that are DONE"),
    FLAG("-e", "jobs that are EXIT"),
    FLAG("-l", "each job"),
    FLAG("-w", "fields are not cut"),
    FLAG("-UF", "each job, without breaks of lines"),
    TAKE("-C", "TIME0,TIME1", "jobs that ended between"),
    TAKE("-S", "TIME0,TIME1", "jobs that were submitted between"),
    TAKE("-D", "TIME0,TIME1", "jobs that were started between"),
    SKIP("-b", NULL, "in brief, as in any case"),
    SKIP("-f", "FILE", "there is one history, and all of it is searched"),
    SKIP("-N", "HOST", "CPU times are not scaled"),
    SKIP("-x", NULL, "no exceptions are detected"),
    SKIP("-E", NULL, "the time that a job waits is not divided"),
    SKIP("-cname", NULL, ONE_CLUSTER),
    NOT("-U", "RESERVATION", NO_RESERVATION),
    NOT("-M", "FILE", "expected the hosts in -m"),
    NOT("-aff", NULL, NO_AFFINITY),
    NOT("-gpu", NULL, NO_GPU),
    NOT("-hostfile", NULL, "host files are not built"),
    NOT("-rcacct", "NAMES", NO_CONNECTOR),
    NOT("-rcalloc", "NAMES", NO_CONNECTOR),
    END,
};

static const struct lsf_option bhosts_options[] = {
    FLAG("-l", "in full"),
    FLAG("-w", "fields are not cut"),
    FLAG("-e", "exported hosts"),
    FLAG("-s", "shared resources"),
    TAKE("-R", "STRING", "hosts that match"),
    FLAG("-a", "all hosts, as in any case"),
    FORMATS,
    FLAG("-X", "the hosts of condensed groups and units, each by itself"),
    SKIP("-x", NULL, "no exceptions are detected"),
    SKIP("-alloc", NULL, "slots are counted as allocated"),
    SKIP("-cname", NULL, ONE_CLUSTER),
    NOT("-cache", NULL, "there is no cache"),
    NOT("-cu", NULL, "name the compute unit as an operand, or use bmgroup -cu"),
    NOT("-aff", NULL, "use sublet hosts -l, which shows the processors in use"),
    NOT("-gpu", NULL, NO_GPU),
    NOT("-rc", NULL, NO_CONNECTOR),
    NOT("-rconly", NULL, NO_CONNECTOR),
    END,
};

static const struct lsf_option bqueues_options[] = {
    FLAG("-l", "in full"),
    FLAG("-w", "fields are not cut"),
    TAKE("-m", "HOST", "queues that may use this host"),
    TAKE("-u", "USER", "queues that this user may use"),
    FORMATS,
    FLAG("-r", "with the shares, as -l"),
    FLAG("-all", "all queues, as in any case"),
    SKIP("-alloc", NULL, "slots are counted as allocated"),
    SKIP("-cname", NULL, ONE_CLUSTER),
    NOT("-usage", NULL, "use blimits -q QUEUE"),
    END,
};

static const struct lsf_option busers_options[] = {
    FLAG("-w", "fields are not cut"),
    FORMATS,
    SKIP("-alloc", NULL, "slots are counted as allocated"),
    END,
};

static const struct lsf_option lsload_options[] = {
    FLAG("-l", "also io and other measured resources"),
    FLAG("-w", "fields are not cut"),
    TAKE("-R", "STRING", "hosts that match, in its order"),
    TAKE("-n", "NUMBER", "so many hosts"),
    FORMATS,
    SKIP("-N", NULL, "run queues are not scaled"),
    SKIP("-E", NULL, "run queues are not scaled"),
    SKIP("-a", NULL, "hosts are configured: all are shown"),
    SKIP("-cname", NULL, ONE_CLUSTER),
    TAKE("-I", "NAMES", "these load indices: \"ut:mem:r1m\""),
    FLAG("-s", "values of section Resource on each host; operands name resources"),
    NOT("-gpu", NULL, NO_GPU),
    NOT("-gpuload", NULL, NO_GPU),
    END,
};

static const struct lsf_option lshosts_options[] = {
    FLAG("-l", "in full"),
    FLAG("-w", "fields are not cut"),
    TAKE("-R", "STRING", "hosts that match"),
    FORMATS,
    SKIP("-cname", NULL, ONE_CLUSTER),
    FLAG("-s", "values of section Resource on each host; operands name resources"),
    NOT("-T", NULL, "the topology of hosts is not kept"),
    NOT("-gpu", NULL, NO_GPU),
    NOT("-a", NULL, "dynamic hosts are not built"),
    END,
};

static const struct lsf_option groups_options[] = {
    FLAG("-l", "in full, as in any case"),
    FLAG("-r", "with the members of groups in groups"),
    FLAG("-w", "fields are not cut"),
    END,
};

static const struct lsf_option host_groups_options[] = {
    FLAG("-l", "in full, as in any case"),
    FLAG("-r", "with the members of groups in groups"),
    FLAG("-w", "fields are not cut"),
    FLAG("-cu", "compute units and their types"),
    SKIP("-x", NULL, "groups are shown as they are configured"),
    SKIP("-cname", NULL, ONE_CLUSTER),
    END,
};

static const struct lsf_option bparams_options[] = {
    FLAG("-l", "with descriptions, as -a"),
    FLAG("-a", "all parameters"),
    END,
};

static const struct lsf_option bapp_options[] = {
    FLAG("-l", "in full"),
    FLAG("-w", "fields are not cut"),
    AS("-noheader", NULL, "--noheader", "without the heading"),
    SKIP("-alloc", NULL, "slots are counted as allocated"),
    END,
};

static const struct lsf_option blimits_options[] = {
    FLAG("-w", "fields are not cut"),
    FLAG("-c", "as configured"),
    FLAG("-a", "also those that are not used"),
    TAKE("-n", "NAME", "of this name"),
    TAKE("-u", "USER", "that hold for this user, or group"),
    TAKE("-q", "QUEUE", "that hold for this queue"),
    TAKE("-m", "HOST", "that hold for this host, or group"),
    TAKE("-P", "PROJECT", "that hold for this project"),
    NOT("-Lp", "PROJECT", NO_LICENSE),
    NOT("-A", "PROFILE", "limits of application profiles are not built"),
    NOT("-fwd", NULL, NO_FORWARDING),
    SKIP("-cname", NULL, ONE_CLUSTER),
    END,
};

static const struct lsf_option bresources_options[] = {
    FLAG("-s", "shared resources"),
    SKIP("-l", NULL, "there is no more of them"),
    NOT("-g", NULL, "guarantees are not built; use a lease or a slot pool"),
    NOT("-m", NULL, "guarantees are not built; use a lease or a slot pool"),
    NOT("-p", NULL, "packages of resources are not built"),
    NOT("-k", NULL, "containers are not known to the site; name them in the job's command"),
    NOT("-q", "QUEUE", "guarantees are not built; use a lease or a slot pool"),
    END,
};

static const struct lsf_option bclusters_options[] = {
    SKIP("-w", NULL, "nothing is cut"),
    SKIP("-app", NULL, "applications are not forwarded"),
    END,
};

static const struct lsf_option bhpart_options[] = {
    SKIP("-r", NULL, "all groups of a partition are shown in any case"),
    FLAG("-w", "fields are not cut"),
    END,
};

static const struct lsf_option bslots_options[] = {
    FLAG("-l", "with the hosts"),
    TAKE("-n", "NUMBER", "only if at least so many slots are free"),
    TAKE("-R", "STRING", "on hosts that match"),
    NOT("-W", "[HOURS:]MINUTES", "free slots have no end, so that a job of any length may start"),
    FLAG("-w", "fields are not cut"),
    END,
};

static const struct lsf_option lsinfo_options[] = {
    FLAG("-l", "in full"),
    FLAG("-r", "resources alone"),
    AS("-R", NULL, "-r", "the same"),
    FLAG("-w", "fields are not cut"),
    FLAG("-m", "the models of hosts, and their CPU factors"),
    FLAG("-M", "the same, also of models that no host has: there are none"),
    FLAG("-t", "the types of hosts"),
    END,
};

static const struct lsf_option badmin_options[] = {
    NOTE("-C", "TEXT", "comments are not kept"),
    SKIP("-f", NULL, "nothing is asked"),
    SKIP("-v", NULL, "errors are said in any case"),
    NOT("-i", "LOCK", "a host has one lock; use hclose and hopen without -i"),
    NOT("-t", "TIMES", "use sublet events"),
    NOT("-c", "CLASSES", NO_DEBUG),
    NOT("-d", "MINUTES", NO_DEBUG),
    NOT("-o", NULL, NO_DEBUG),
    NOT("-l", "LEVEL", NO_DEBUG),
    END,
};

static const struct lsf_option bjgroup_options[] = {
    TAKE("-s", "GROUP", "by the hierarchy: this group and those below it; GROUP/: it alone; all: every group"),
    NOT("-N", NULL, "jobs are counted, not slots; use bjobs -o \"jobid slots\""),
    END,
};

static const struct lsf_option bgadd_options[] = {
    TAKE("-L", "NUMBER", "so many of its jobs may be started"),
    NOT("-sla", "CLASS", NO_CLASS),
    END,
};

static const struct lsf_option bgmod_options[] = {
    TAKE("-L", "NUMBER", "so many of its jobs may be started"),
    FLAG("-Ln", "any number of its jobs may be started"),
    TAKE("-u", "USER", "its owner from now on"),
    END,
};

static const struct lsf_option bgdel_options[] = {
    TAKE("-u", "USER", "of 0: the empty groups of this user; all: of everyone"),
    SKIP("-c", NULL, "empty groups alone are deleted in any case"),
    SKIP("-d", NULL, "a group that is named is deleted with those below it"),
    END,
};

const struct lsf_command lsf_table_commands[] = {
    {"bsub", "[COMMAND...]", "sub", "Submits a job; without COMMAND its script is standard input.", bsub_options, CALL_WORDS_FOREIGN, lsf_submit_run},
    {"bjobs", "[JOB...]", "jobs", "Jobs.", bjobs_options, CALL_WORDS_MIXED, lsf_jobs_run},
    {"bkill", "JOB...|0", "kill", "Ends jobs, or sends them a signal.", bkill_options, CALL_WORDS_MIXED, lsf_control_kill},
    {"bstop", "JOB...|0", "stop", "Suspends jobs.", bstop_options, CALL_WORDS_MIXED, lsf_control_stop},
    {"bresume", "JOB...|0", "resume", "Resumes suspended jobs.", select_options, CALL_WORDS_MIXED, lsf_control_resume},
    {"bmod", "JOB", "modify", "Changes a job, or an array, that waits; of one that runs its limits (-W, -M), what it reserves (-R), and -r.", bmod_options, CALL_WORDS_MIXED, lsf_submit_modify},
    {"bswitch", "QUEUE JOB...|0", "switch", "Moves jobs that wait to another queue.", bswitch_options, CALL_WORDS_MIXED, lsf_control_switch},
    {"btop", "JOB [POSITION]", "btop", "Moves a job before all others of its queue and priority.", move_options, CALL_WORDS_MIXED, lsf_control_top},
    {"bbot", "JOB [POSITION]", "bbot", "Moves a job behind all others of its queue and priority.", move_options, CALL_WORDS_MIXED, lsf_control_bottom},
    {"brequeue", "[JOB...|0]", "requeue", "Ends jobs, and puts them back into their queue.", brequeue_options, CALL_WORDS_MIXED, lsf_control_requeue},
    {"bresize", "release HOSTS JOB|request JOB|cancel JOB", "resize", "Other slots for a running job.", bresize_options, CALL_WORDS_MIXED, lsf_control_resize},
    {"bpeek", "[JOB]", "peek", "What a job has written so far.", bpeek_options, CALL_WORDS_MIXED, lsf_control_peek},
    {"bhist", "[JOB...]", "hist", "What happened to jobs.", bhist_options, CALL_WORDS_MIXED, lsf_hist_run},
    {"bacct", "[JOB...]", "hist --json", "Accounting of ended jobs.", bacct_options, CALL_WORDS_MIXED, lsf_hist_account},
    {"bhosts", "[HOST|GROUP...]", "hosts", "Hosts and their slots.", bhosts_options, CALL_WORDS_MIXED, lsf_listing_hosts},
    {"bqueues", "[QUEUE...]", "queues", "Queues.", bqueues_options, CALL_WORDS_MIXED, lsf_listing_queues},
    {"busers", "[USER...|all]", "users", "Users and groups, and their jobs.", busers_options, CALL_WORDS_MIXED, lsf_listing_users},
    {"bugroup", "[GROUP...]", "", "User groups.", groups_options, CALL_WORDS_MIXED, lsf_listing_user_groups},
    {"bmgroup", "[GROUP...]", "", "Host groups, or compute units.", host_groups_options, CALL_WORDS_MIXED, lsf_listing_host_groups},
    {"bparams", "", "", "Parameters of the site.", bparams_options, CALL_WORDS_MIXED, lsf_listing_params},
    {"bapp", "[PROFILE...]", "", "Application profiles.", bapp_options, CALL_WORDS_MIXED, lsf_listing_apps},
    {"blimits", "", "limits", "Limits of slots and jobs, and their use.", blimits_options, CALL_WORDS_MIXED, lsf_listing_limits},
    {"bresources", "", "hosts -s", "Shared resources.", bresources_options, CALL_WORDS_MIXED, lsf_listing_shared},
    {"bclusters", "", "sites, leases", "The leases with other sites.", bclusters_options, CALL_WORDS_MIXED, lsf_listing_clusters},
    {"bwait", "[JOB...]", "wait", "Waits until a condition about jobs is met.", bwait_options, CALL_WORDS_MIXED, lsf_control_wait},
    {"bhpart", "[PARTITION...]", "users", "Host partitions and the shares in them.", bhpart_options, CALL_WORDS_MIXED, lsf_listing_partitions},
    {"bslots", "", "", "Free slots, and for how long.", bslots_options, CALL_WORDS_MIXED, lsf_listing_slots},
    {"lsid", "", "", "The name of the site, and its version.", NULL, CALL_WORDS_MIXED, lsf_listing_id},
    {"lshosts", "[HOST...]", "hosts -l", "Hosts and what they are.", lshosts_options, CALL_WORDS_MIXED, lsf_listing_lshosts},
    {"lsload", "[HOST...]", "load", "The load of hosts.", lsload_options, CALL_WORDS_MIXED, lsf_listing_load},
    {"lsinfo", "[RESOURCE...]", "", "Resources and their types.", lsinfo_options, CALL_WORDS_MIXED, lsf_listing_resources},
    {"badmin", "SUBCOMMAND [NAME...]", "open, close, queue, reconfig, check", "Controls hosts and queues.", badmin_options, CALL_WORDS_MIXED, lsf_admin_run},
    {"brsvadd", "", "", "advance reservations are not built yet; use bsub -b, or a queue with DISPATCH_WINDOW", NULL, CALL_WORDS_MIXED, NULL},
    {"brsvs", "", "", "advance reservations are not built yet; there are none", NULL, CALL_WORDS_MIXED, NULL},
    {"brsvdel", "", "", "advance reservations are not built yet; there are none", NULL, CALL_WORDS_MIXED, NULL},
    {"bjgroup", "", "jgroups", "Job groups and their jobs.", bjgroup_options, CALL_WORDS_MIXED, lsf_job_group_list},
    {"bgadd", "GROUP", "jgroup add", "Adds a job group.", bgadd_options, CALL_WORDS_MIXED, lsf_job_group_add},
    {"bgmod", "GROUP", "jgroup mod", "Changes the limit or the owner of a job group.", bgmod_options, CALL_WORDS_MIXED, lsf_job_group_modify},
    {"bgdel", "GROUP...|0", "jgroup del", "Deletes job groups and those below them.", bgdel_options, CALL_WORDS_MIXED, lsf_job_group_delete},
    {NULL, NULL, NULL, NULL, NULL, CALL_WORDS_MIXED, NULL},
};
/* clang-format on */
