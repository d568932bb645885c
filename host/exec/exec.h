/* SPDX-License-Identifier: Apache-2.0 */
/* exec.h: the pure part of a run: its spec, its record, the commands that it consists
 * of, and the signals that terminate it. Nothing is executed here, and no file is read.
 *
 *   guard_record  the state of a run, as its guard reports it and writes it to disk
 *   run_spec      what a guard has to run, as sublet-host writes it down
 *   stages        the sequence of a run's commands, and the result of the run
 *   user_env   the environment of a leased job is that of its account
 *   stage_env     the environment of commands before and after the job
 *   escalation    the sequence of signals that terminates a command
 *   exec_run      the step machine of a run, which uses all of these; its parts are in
 *                 exec_step.h
 *   exec_loop     steps it, carries out its effects, and steps the answers
 *
 * Source: LSF's PRE_EXEC, POST_EXEC, JOB_TERMINATE_INTERVAL; docs/design/scheduling.md
 * "Suspend, resume, terminate", "Resizable jobs". Layer: host/exec (pure). */
#ifndef SUBLET_HOST_EXEC_EXEC_H
#define SUBLET_HOST_EXEC_EXEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/bounds.h"
#include "base/err.h"
#include "model/job_control.h"
#include "model/job_rlimit.h"
#include "model/msg.h"

/* ---- the record of a run
 *
 * The record is the same in memory, on disk and on the guard's socket. As text it has
 * one line "name=value" per field. A parser skips unknown names and sets missing fields
 * to zero, so that guards and agents of different versions understand each other.
 *
 * Units: milliseconds of wall clock, KiB, bytes; clock ticks since boot for job_start.
 */
enum {
    GUARD_RECORD_TEXT_SIZE = 256,
    GUARD_RECORD_PATH_SIZE = 1024,
    GUARD_RECORD_MAX = 4096, /* as text */
    GUARD_RECORD_MARK_SIZE = 256,
};

struct guard_record {
    enum run_phase phase;
    enum run_end
        end; /* set before ENDED when the job is over, post-exec commands run */
    char boot_id[40];
    uint64_t guard_pid;
    uint64_t token;     /* what the GO request must carry; 63 bits, never 0 */
    uint64_t mark;      /* in the environment of all processes of the run: SUBLET_RUN */
    uint64_t job_pid;   /* also the session of the job; 0 until the job has begun */
    uint64_t job_start; /* field 22 of /proc/PID/stat */
    uint64_t start_ms, end_ms;
    uint64_t control_done;
    uint64_t can_resize;               /* 1: the guard knows GUARD_REQUEST_RESIZE */
    uint64_t resize_done, resize_code; /* of the last resize, as in RUN_STATE */
    uint64_t cause;                    /* enum run_cause */
    uint64_t code;
    uint64_t post;                        /* enum run_post, with ENDED */
    uint64_t cpu_ms, mem_kib;             /* mem_kib: the peak */
    uint64_t rss_kib, vsz_kib, n_threads; /* of its processes now, while it runs */
    uint64_t out_bytes, err_bytes;
    uint64_t seq; /* how often it was written to disk; 0: never */
    char text[GUARD_RECORD_TEXT_SIZE];
    char cgroup[GUARD_RECORD_PATH_SIZE]; /* "": processes are found by their session */
    char memory[GUARD_RECORD_PATH_SIZE]; /* cgroup of the version 1 memory controller */
};

/* Writes at most GUARD_RECORD_MAX bytes including the NUL; returns the length. */
size_t guard_record_format(const struct guard_record *record, char *text);
/* Errors: ERR_PARSE. */
int guard_record_parse(const char *text, size_t length, struct guard_record *record,
                       struct err *err) MUST_CHECK;

/* The variable that all processes of the run carry: "SUBLET_RUN=north.1.<mark>". */
void guard_record_mark(const struct guard_record *record, const char *run,
                       char text[GUARD_RECORD_MARK_SIZE]);

/* Copies a sentence into `record->text` as one line of printable ASCII. */
void guard_record_set_text(struct guard_record *record, const char *text);

/* ---- the spec of a run, and a request to resize it
 *
 * The spec file begins with RUN_SPEC_HEAD. Then come "name=value" for each field,
 * "env=NAME=value" for each variable, "limit=NAME=number", "pre_exec=COMMAND",
 * "post_exec=COMMAND" and "control=suspend=COMMAND" for each of these, and "end=SUM",
 * a checksum of all bytes before it, so that nothing but what was ordered is executed.
 * Each item ends with a NUL, and a command may contain any other byte. What follows is
 * not of the spec (start_file.h).
 *
 * The resize file begins with RUN_SPEC_RESIZE_HEAD. Then come "number=", "command=" and
 * "n_slots=", "env=..." for variables that the job's commands have from then on,
 * "told=..." for variables of the notification command alone, and "end=SUM".
 *
 * Units: milliseconds. Ownership: all texts point into `bytes`, until release.
 * Errors: ERR_PARSE. */
#define RUN_SPEC_HEAD "sublet-spec 1"
#define RUN_SPEC_RESIZE_HEAD "sublet-resize 1"

enum {
    RUN_SPEC_ENV_FREE = 8, /* for the mark, PWD, and what user_env adds */
    RUN_SPEC_MAX =
        1 << 20, /* two RUN_STARTs of one frame each; hosts are named twice */
    RUN_SPEC_RESIZE_ENV_MAX = 8,
    RUN_SPEC_END_SIZE = 4 + 16 + 1,
};

struct run_spec {
    char *bytes;
    const char *run;     /* "SITE.ATTEMPT" */
    const char *account; /* "": the guard's own */
    const char *user;    /* who submitted it */
    const char *command;
    const char *cwd;       /* "": the run's work directory */
    const char *in_file;   /* "": /dev/null */
    const char *out_file;  /* "": a file in the run's directory */
    const char *err_file;  /* "": the same as the output */
    const char *cgroup;    /* directory to make the run's cgroup in; "": none */
    const char *memory;    /* the same for version 1's memory controller */
    const char *cpus;      /* processors that its commands may use, as in model/cpu.h;
                              "": any */
    const char *mem_nodes; /* their memory nodes; "": any */
    bool is_mem_strict;    /* it gets no memory from other nodes */
    bool is_leased;        /* never as root; output stays in the run's directory */
    int64_t private_view;  /* of leased runs: parts of the machine that are not seen */
    bool keeps_err;        /* errors go to the run's directory, apart from the output */
    bool keeps_out;        /* interactive jobs: likewise, instead of the terminal */
    bool replaces_out, replaces_err; /* the files are emptied at the start */
    int64_t report_ms;   /* a report is appended to the output; the submission; 0: no */
    int64_t interaction; /* enum interaction */
    int64_t umask;
    int64_t n_slots;       /* if several, it gets a SIGTSTP before it is stopped */
    int64_t run_limit_ms;  /* 0: none */
    int64_t end_within_ms; /* the job ends so long after its guard began; 0: no limit */
    int64_t wait_ms;       /* how long a guard without agent waits for the GO */
    int64_t grace_ms;      /* between the signals that terminate the job */
    const char **env;      /* NULL-terminated, with RUN_SPEC_ENV_FREE places behind */
    int n_env;
    struct job_rlimits limits;
    const char *pre_execs[EXEC_COMMANDS_MAX]; /* commands before the job */
    int n_pre_execs;
    const char *post_execs[EXEC_COMMANDS_MAX]; /* and after it */
    int n_post_execs;
    const char *controls[JOB_CONTROL_KINDS]; /* signal or command; NULL: the default */
};

/* What a RUN_START says about a run, except for its files and variables. Texts are
 * those of the message, and `bytes` is NULL. Errors: ERR_PARSE, ERR_BOUNDS. */
int run_spec_from_start(struct run_spec *spec, const struct msg_run_start *start,
                        struct err *err) MUST_CHECK;
/* Calls `visit` for each item of the spec that is not its default, except for its
 * variables: name "limit", key "mem", value "0" for "limit=mem=0". `key` is NULL for
 * items without one. */
typedef void (*run_spec_visit_fn)(void *arg, const char *name, const char *key,
                                  const char *value);
void run_spec_visit(const struct run_spec *spec, run_spec_visit_fn visit, void *arg);
/* The last item of the spec file or the resize file that begins with these bytes. */
void run_spec_end(char end[RUN_SPEC_END_SIZE], const char *bytes, size_t length);
/* The length of the spec at the beginning of these bytes; 0 if it has no end. */
size_t run_spec_length(const char *bytes, size_t length);
/* Takes ownership of `bytes`, from malloc, also if it fails. */
int run_spec_parse(char *bytes, size_t length, struct run_spec *spec,
                   struct err *err) MUST_CHECK;
void run_spec_release(struct run_spec *spec);

struct resize_request {
    char *bytes; /* from malloc; NULL: there is none */
    int64_t number, n_slots;
    const char *command;
    const char *env[RUN_SPEC_RESIZE_ENV_MAX], *command_env[RUN_SPEC_RESIZE_ENV_MAX];
    int n_env, n_command_env;
};

/* Parses request->bytes. Returns false if they are truncated or no resize file. */
bool run_spec_parse_resize(struct resize_request *request, size_t length);

/* ---- the environment of a leased job
 *
 * A leased job has the environment of the account that it runs as: USER, LOGNAME, HOME,
 * SHELL and PATH are the account's, and whatever else describes the user's account,
 * session and machine at the consumer is left out (user_env.c has the list). The
 * user's own variables stay.
 *
 * `spec` is of the guard, which knows the account. Its texts must live as long. */
struct user_env {
    char user[NAME_SIZE + 8], logname[NAME_SIZE + 8];
    char *home, *shell; /* heap */
};
/* Call it before the mark is added. */
void user_env_apply(struct user_env *env, struct run_spec *spec, const char *user,
                    const char *home, const char *shell);
void user_env_release(struct user_env *env);

/* ---- the sequence of commands
 *
 * A run executes its pre-exec commands, the job, and its post-exec commands, one after
 * the other. A report of the job is written right after it. If a pre-exec command fails
 * or is killed, the job does not begin. Post-exec commands run in any case. The result
 * of the run is that of the job, or of the failed pre-exec command. */
enum stage { STAGE_PRE_EXEC, STAGE_JOB, STAGE_REPORT, STAGE_POST_EXEC, STAGE_DONE };
/* A command before the job that exits with this code ends the job for good
 * (LSB_EXIT_PRE_ABORT). */
enum { STAGE_PRE_ABORT = MSG_PRE_ABORT };
/* The time that writing the report may take: the file system may be away. */
enum { STAGE_REPORT_MS = 60000 };

struct stages {
    const struct run_spec *spec;
    enum stage stage;
    int at; /* index of the command within its stage */
    /* The result, once the job has ended or cannot begin: */
    bool is_decided;
    enum run_end end;
    enum run_cause cause;
    int code;
    int status; /* wait status; 0: the job never began */
    bool is_killed;
    bool has_post_failed; /* a post-exec command has failed, or will not run */
    char text[GUARD_RECORD_TEXT_SIZE];
};

/* How a command ended. */
struct stage_outcome {
    int status;           /* wait status */
    enum run_cause cause; /* the limit that terminated it */
    bool is_killed;       /* by a kill request */
    bool is_late;         /* its stage exceeded its time limit */
    const char *failure;  /* why the command could not begin; "": it did */
};

/* Starts with the first command that exists. */
void stages_init(struct stages *stages, const struct run_spec *spec);
/* For a run whose job has ended as the record says: only post-exec commands are left.
 */
void stages_init_post_exec(struct stages *stages, const struct run_spec *spec,
                           const struct guard_record *record);
/* The current command; NULL after the last one. */
const char *stages_command(const struct stages *stages);
/* The time limit of all commands of the current stage; JOB_RLIMIT_NONE: none. */
int64_t stages_limit_ms(const struct stages *stages);
/* The current command has ended: moves to the next one. */
void stages_advance(struct stages *stages, const struct stage_outcome *outcome);

/* The environment of the current pre-exec or post-exec command: that of the job with
 * LSF's PATH. Post-exec commands also have LSB_JOBEXIT_STAT, the wait status of the job
 * (0: it did not begin), and LSB_JOBPEND=1 if the job will be requeued.
 *
 * Ownership: the list is heap memory, its texts belong to the spec or to this struct.
 */
struct stage_env {
    const char **list; /* NULL-terminated, with a free place for PWD */
    char status[64];
};

void stage_env_init(struct stage_env *env, const struct stages *stages);
void stage_env_release(struct stage_env *env);

/* ---- escalation of signals
 *
 * A command is terminated by SIGINT, SIGTERM and SIGKILL, with JOB_TERMINATE_INTERVAL
 * between them. SIGXCPU comes first if the CPU limit is the reason. SIGKILL is repeated
 * until the caller finds no process any more.
 *
 * Units: milliseconds of the monotonic clock. */
#define ESCALATION_NEVER INT64_MAX

struct escalation {
    int next_signal; /* index of the next signal to be sent */
    int64_t next_ms; /* when it is due; NEVER: nothing is being terminated */
};

void escalation_init(struct escalation *escalation);
bool escalation_is_on(const struct escalation *escalation);
/* Starts with `signal` (SIGXCPU, SIGINT or SIGKILL), which is due at once. An
 * escalation that is on already continues unchanged, except that SIGKILL takes effect
 * at once. */
void escalation_begin(struct escalation *escalation, int signal, int64_t now_ms);
/* Another means is tried first: SIGINT is due at `until_ms`, unless signals have been
 * sent already. */
void escalation_postpone(struct escalation *escalation, int64_t until_ms);
/* Returns the signal that is due now, 0 if none is. The next one is due `pause_ms`
 * later. */
int escalation_next(struct escalation *escalation, int64_t pause_ms, int64_t now_ms);

/* ---- a run as a step machine
 *
 * One run, from its GO to its end. exec_run_step takes what has happened and returns
 * what is to be done; it never waits. The caller carries out the effects in their order
 * and reports each result as the next event, before any other event. Time is an
 * argument. sublet-guard steps it with processes, the simulator with simulated ones.
 *
 * Record before gate: a command waits at its gate until the record that it has begun is
 * on disk (LAUNCH, SAVE, OPEN_GATE). A command that cannot be launched or recorded has
 * failed; if it is the first one, the run has FAILED and no other command runs.
 *
 * What a command has left behind is killed until no process is left, for half a minute
 * at most, before post-exec commands begin and before the end.
 *
 * The command of the stage, a command of JOB_CONTROLS and a resize notification are the
 * three children. When the command ends, the other two are dropped, except that the
 * command that terminates a job is waited for.
 *
 * The time JOB_RLIMIT_WARNING before its run limit ends it, the job gets the signal or
 * the command of JOB_CONTROL_WARN, at once if that time is longer than the run limit. A
 * longer limit warns it again. The warning waits for a command of JOB_CONTROLS or a
 * notification that runs; a command of JOB_CONTROLS that begins later takes its place.
 *
 * A kill and a limit send signals to all processes (escalation), after a resume. They
 * terminate the current command: before the job this keeps the job from beginning,
 * after the job it does not change the result. A request whose number was carried out
 * is answered and not repeated. One that comes before the GO, or between two commands,
 * is carried out with the next command; a kill before the GO ends the run at once.
 * SUSPENDED is reported only once all processes are stopped, because other jobs get the
 * slots then; those that are deep in the kernel are stopped again until they are. A
 * record that cannot be written is written again every second, also after the end. A
 * run that waits for its GO without an agent gives up after spec->wait_ms. Post-exec
 * commands run to their end also in a suspended run.
 *
 * Units: milliseconds of one monotonic clock. Ownership: the spec is borrowed. */
enum exec_child { EXEC_COMMAND, EXEC_CONTROL_COMMAND, EXEC_NOTIFICATION };

enum exec_event_kind {
    EXEC_GO,            /* `failure`: the run cannot begin */
    EXEC_CONTROL,       /* a valid `control` */
    EXEC_RESIZE,        /* `resize` */
    EXEC_LAUNCHED,      /* `child`; a command is at its gate */
    EXEC_LAUNCH_FAILED, /* `child`, `failure`: not launched, or not recorded */
    EXEC_SAVED,         /* the record that the command has begun is on disk */
    EXEC_EXITED,        /* `child`, `status`, `cause`, `failure`: it was not executed */
    EXEC_STOPPED,       /* all processes are stopped */
    EXEC_CLEARED,       /* no process of the run is left */
    EXEC_LIMIT_EXCEEDED, /* `cause`: by the job, while it runs */
    EXEC_USER_CONNECTED, /* the user of an interactive job, or the wait is over */
    EXEC_DRAINED,        /* its user has all output, or the wait is over */
    EXEC_UNSAVED,        /* the record could not be written */
    EXEC_HOMELESS,       /* nor ever will: the run's directory was deleted */
    EXEC_ALONE,          /* no agent is connected ... */
    EXEC_ATTENDED,       /* ... and one is again */
    EXEC_WITHDRAWN,      /* the agent needs nothing of it any more */
    EXEC_TIME,           /* exec_run_wake_ms has been reached */
};

struct exec_resize {
    uint64_t number;
    int64_t n_slots;
    bool has_command; /* the job is notified, and may refuse */
};

struct exec_event {
    enum exec_event_kind kind;
    enum exec_child child;
    int status;           /* wait status */
    enum run_cause cause; /* EXITED: the limit that the kernel enforced */
    const char *failure;  /* NULL or "": none */
    struct run_control control;
    struct exec_resize resize;
};

enum exec_effect_kind {
    EXEC_LAUNCH,        /* `child`; answered by LAUNCHED or LAUNCH_FAILED */
    EXEC_SAVE,          /* writes the record; SAVED or LAUNCH_FAILED */
    EXEC_WATCH_LIMITS,  /* of the job */
    EXEC_CHANGE_LIMITS, /* the memory limit is run.mem_limit_kib now */
    EXEC_OPEN_GATE,     /* the command begins */
    EXEC_SIGNAL,        /* `signal` to all processes */
    EXEC_TERMINATE,     /* `signal` to all processes, to end them */
    EXEC_STOP,          /* all processes; STOPPED, or it is done again */
    EXEC_CONTINUE,      /* all processes; `signal`: SIGCONT is sent as well, or 0 */
    EXEC_KILL,          /* `child` and its session; it is EXITED later */
    EXEC_DROP,          /* likewise, but its end is not reported */
    EXEC_CLEAR,         /* kills all that is left behind; CLEARED, now or later */
    EXEC_RELEASE,       /* the cgroups of commands that have ended are removed */
    EXEC_DRAIN,         /* output goes to the user; DRAINED, now or later */
    EXEC_ACCEPT_SLOTS,  /* the variables of the resize are those of the run */
    EXEC_PUBLISH,       /* writes the record, and reports it in any case; UNSAVED */
    EXEC_WRITE,         /* writes the record; UNSAVED */
    EXEC_REPORT,        /* reports the record */
    EXEC_END,           /* the run is over: PUBLISH */
    EXEC_REMOVE,        /* the run never was: its directory goes */
};

struct exec_effect {
    enum exec_effect_kind kind;
    enum exec_child child;
    enum job_control control; /* of a CONTROL_COMMAND */
    int signal;
};

enum { EXEC_EFFECTS_MAX = 24 }; /* the longest step has 14 */

struct exec_effects {
    struct exec_effect list[EXEC_EFFECTS_MAX];
    int count;
};

#define EXEC_NEVER INT64_MAX
/* A guard without agent waits so long for its GO: run_spec.wait_ms. */
enum { EXEC_GO_WAIT_MS = 60000 };

struct exec_run {
    const struct run_spec *spec;
    struct stages stages;
    enum run_phase phase;
    uint64_t control_done, resize_done;
    int resize_code;
    bool is_interactive;
    bool has_started;  /* a command has begun, or was skipped for its time */
    bool awaits_user;  /* the job is held at the gate until its user has connected */
    bool is_draining;  /* only output that its user has not received is left */
    bool was_killed;   /* a kill request, for any command of the run */
    int64_t end_by_ms; /* other jobs need its slots then; NEVER */
    int64_t run_limit_ms, n_slots;
    int64_t mem_limit_kib; /* that it was changed to; 0: as its spec has it */
    int64_t ran_ms;        /* the job's time in RUNNING, up to running_since_ms */
    int64_t running_since_ms;

    /* What terminates the current command: */
    struct escalation escalation;
    int64_t stage_until_ms; /* the time limit of pre-exec or post-exec commands */
    bool is_at_limit;       /* the run limit */
    bool is_warned;         /* of the run limit (JOB_CONTROL_WARN) */
    bool is_killed;         /* a kill request */
    bool is_late;           /* the time limit of its stage */

    struct run_control pending; /* came before the GO; number 0: none */
    struct {
        uint64_t number;   /* of the request */
        int64_t until_ms;  /* tried again then; NEVER: no request is pending */
        int64_t again_ms;  /* the wait after the next try */
        int causes;        /* enum suspend_cause, added up */
        bool is_signalled; /* some processes may have stopped at a SIGTSTP */
    } suspend;
    struct {
        bool is_running;
        enum job_control control;
        int signal;       /* terminate: the first one if it cannot be launched */
        int64_t until_ms; /* it is killed then */
    } side;               /* the command of JOB_CONTROLS */
    struct {
        bool is_running; /* its notification command */
        struct exec_resize request;
        int64_t until_ms; /* the command is killed then */
    } resize;
    int64_t give_up_ms; /* no agent is connected: waits no longer for its GO */
    int64_t save_ms;    /* the record on disk is behind: it is written then */
    bool is_gone;       /* nothing is left to be done, and never was a command */
    bool is_reaped;     /* by a later guard, which does not know what the first one did
                           after its last record */
    bool is_clearing;   /* what a command has left behind is being killed: */
    int64_t unsaved_ms, unsaved_since_ms; /* the last and the first of failed writes */
    int64_t clear_until_ms, clear_ms;
    bool is_over; /* the command has ended, the one that terminates it still runs: */
    struct {
        int status;
        enum run_cause cause;
        char failure[GUARD_RECORD_TEXT_SIZE];
    } ended;
};

/* A run that waits for its GO. */
void exec_run_init(struct exec_run *run, const struct run_spec *spec, int64_t now_ms);
/* A run whose guard was killed: the record is all that is known of it. EXEC_TIME, which
 * is due at once, kills what is left of its processes; then the run ends. Unless the
 * record says how the job ended, it is LOST. If it had begun, no post-exec command had,
 * and the machine did not go down meanwhile, they run before the end. */
void exec_run_load(struct exec_run *run, const struct run_spec *spec,
                   const struct guard_record *record, bool is_this_boot,
                   int64_t now_ms);
void exec_run_step(struct exec_run *run, const struct exec_event *event, int64_t now_ms,
                   struct exec_effects *effects);
/* Its guard is not needed any more. */
bool exec_run_is_over(const struct exec_run *run);
/* When EXEC_TIME is due; NEVER: it is not. */
int64_t exec_run_wake_ms(const struct exec_run *run);
/* Copies phase, requests and result to the record. */
void exec_run_fill_record(const struct exec_run *run, struct guard_record *record);
/* A resize with this number would be carried out or refused, not only answered. */
bool exec_resize_takes(const struct exec_run *run, uint64_t number);
/* No process of the run uses its slots: limits are not checked. */
bool exec_run_is_suspended(const struct exec_run *run);

/* ---- the loop of a run
 *
 * Steps a run with an event, carries out its effects in their order, and steps it with
 * each answer, until there is no answer left. */
struct exec_executor {
    int64_t (*now_ms)(void *arg);
    /* After each step, before its effects. */
    void (*on_step)(void *arg, const struct exec_event *event,
                    const struct exec_effects *effects);
    /* Returns true if there is an answer at once. The answer's `failure` may point to
     * the text of `err`. */
    bool (*carry_out)(void *arg, const struct exec_effect *effect, struct err *err,
                      struct exec_event *answer);
    void *arg;
};

void exec_loop_run(struct exec_run *run, const struct exec_event *event,
                   const struct exec_executor *executor);

#endif
