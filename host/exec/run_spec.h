/* SPDX-License-Identifier: Apache-2.0 */
/* run_spec.h: what a guard is to run, as sublet-host wrote it down (run_spec.h).
 *
 * The file: RUN_SPEC_HEAD, then "name=value" for each field, "env=NAME=value" for
 * each variable, "limit=NAME=number", "pre_exec=COMMAND", "post_exec=COMMAND",
 * "control=suspend=COMMAND" for each of those, then "end=": all ended by a NUL, so that
 * a file that was cut is noticed and a command may have any other byte.
 *
 * Units: milliseconds. Ownership: all texts live in `bytes`, until release.
 * Errors: ERR_IO, ERR_PARSE, ERR_BOUNDS above RUN_SPEC_MAX.
 * Layer: host (guard). */
#ifndef SUBLET_HOST_EXEC_RUN_SPEC_H
#define SUBLET_HOST_EXEC_RUN_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bounds.h"
#include "base/err.h"
#include "model/job_control.h"
#include "model/job_rlimit.h"

#define RUN_SPEC_HEAD "sublet-spec 1"

enum {
    RUN_SPEC_ENV_FREE = 2,  /* for the mark, and PWD */
    RUN_SPEC_MAX = 1 << 20, /* a RUN_START is one frame; its hosts are named twice */
};

struct run_spec {
    char *bytes;
    const char *run;     /* "SITE.ATTEMPT" */
    const char *account; /* "": the guard's own */
    const char *command;
    const char *cwd;      /* "": the run's work directory */
    const char *in_file;  /* "": /dev/null */
    const char *out_file; /* "": kept with the run */
    const char *err_file; /* "": with the output */
    const char *cgroup;   /* directory to make the run's cgroup in; "": none */
    const char *memory;   /* the same of version 1's memory controller */
    bool is_leased;       /* never as root; output stays with the run */
    bool keeps_err;       /* errors kept with the run, apart from the output */
    bool keeps_out;       /* of an interactive job: likewise, not for its terminal */
    int64_t interaction;  /* enum interaction */
    int64_t umask;
    int64_t n_slots;       /* several: a parallel job is asked to stop before it must */
    int64_t run_limit_ms;  /* 0: none */
    int64_t end_within_ms; /* of the guard's begin the job ends; 0: no such time */
    int64_t wait_ms;       /* how long a guard without agent waits for the go */
    int64_t grace_ms;      /* between the signals that end it */
    const char **env;      /* NULL-terminated, with RUN_SPEC_ENV_FREE places behind */
    int n_env;
    struct job_rlimits limits;
    const char *pre_execs[EXEC_COMMANDS_MAX]; /* commands before the job */
    int n_pre_execs;
    const char *post_execs[EXEC_COMMANDS_MAX]; /* and after it */
    int n_post_execs;
    const char
        *controls[JOB_CONTROL_KINDS]; /* signal or command; NULL: the usual signals */
};

/* Takes `bytes`, from malloc, in any case. */
int run_spec_parse(char *bytes, size_t length, struct run_spec *spec,
                   struct err *err) MUST_CHECK;
void run_spec_release(struct run_spec *spec);

#endif
