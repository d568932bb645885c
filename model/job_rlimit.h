/* SPDX-License-Identifier: Apache-2.0 */
/* job_rlimit.h: the table of resource limits of a job, except slots and run time.
 *
 * Each limit has a name that is sent with the job ("mem=1048576"), LSF's key in queues
 * and applications, and bsub's option. A job without a text for a limit is not limited.
 * 0 is a limit: CORELIMIT = 0 means no core files.
 *
 * Units: milliseconds of CPU time, KiB, processes, threads. In files and options: times
 * are [HOURS:]MINUTES, sizes are KB unless LSF_UNIT_FOR_LIMITS says otherwise or the
 * number has a unit (K KB M MB ... E EB). Ownership: texts are made in the arena given.
 * Errors: ERR_PARSE, ERR_BOUNDS with "..., expected ...".
 * Source: LSF's lsb.queues and bsub. Layer: model. */
#ifndef SUBLET_MODEL_JOB_RLIMIT_H
#define SUBLET_MODEL_JOB_RLIMIT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"

enum job_rlimit {
    JOB_RLIMIT_CPU,       /* of all its processes together */
    JOB_RLIMIT_MEM,       /* resident, of all its processes together */
    JOB_RLIMIT_SWAP,      /* virtual, of all its processes together */
    JOB_RLIMIT_PROCESSES, /* at a time */
    JOB_RLIMIT_THREADS,   /* at a time */
    JOB_RLIMIT_FILE,      /* of each process: the size of a file that it writes ... */
    JOB_RLIMIT_DATA,      /* ... its data segment ... */
    JOB_RLIMIT_STACK,     /* ... its stack ... */
    JOB_RLIMIT_CORE,      /* ... its core file */
    JOB_RLIMIT_NICE,      /* not a limit: the nice value of its processes */
    JOB_RLIMIT_PRE_TIME,  /* of its pre-execution commands, wall clock */
    JOB_RLIMIT_POST_TIME, /* of its post-execution commands, wall clock */
    JOB_RLIMIT_WARNING,   /* not a limit: the time before its run limit at which it is
                             warned (model/job_control.h) */
    JOB_RLIMITS
};

#define JOB_RLIMIT_NONE INT64_MAX
#define JOB_RLIMIT_TIME_MAX                                                            \
    (INT64_C(3650) * 86400000) /* the largest time: ten years                          \
                                */

enum job_rlimit_unit {
    JOB_RLIMIT_TIME,
    JOB_RLIMIT_SIZE_KIB,
    JOB_RLIMIT_COUNT,
    JOB_RLIMIT_NICENESS
};

struct job_rlimit_kind {
    const char *name;   /* in messages, on disk, in JSON */
    const char *key;    /* in configuration files */
    const char *option; /* of bsub; NULL: none */
    enum job_rlimit_unit unit;
    const char *what; /* one line for help */
};

extern const struct job_rlimit_kind job_rlimit_kinds[JOB_RLIMITS];

struct job_rlimits {
    int64_t values[JOB_RLIMITS]; /* JOB_RLIMIT_NONE: not limited */
    /* The host or model of a CPU limit such as 60/EPYC7, whose CPU factor it is meant
     * for; "": none was given. Of the limits of a run it is always "". */
    const char *cpu_host;
};

/* No limits. */
struct job_rlimits job_rlimits_none(void);

/* "90", "1:30", "90m": [HOURS:]MINUTES. */
int job_rlimit_parse_time(const char *text, int64_t *ms, struct err *err) MUST_CHECK;
/* The syntax of -W, -c, RUNLIMIT and CPULIMIT: a time, or "60/EPYC7", the time on a
 * host or model. */
int job_rlimit_parse_host_time(const char *text, int64_t *ms,
                               struct err *err) MUST_CHECK;
/* The host or model of a limit such as "60/EPYC7", within `text`; "": none. */
const char *job_rlimit_host(const char *text);
/* Parses a value, of a CPU limit without its host. `unit_kib` is the unit of a size
 * without a unit; `*is_bare` is true for such a size. */
int job_rlimit_parse(enum job_rlimit limit, const char *text, int64_t unit_kib,
                     int64_t *value, bool *is_bare, struct err *err) MUST_CHECK;
/* The unit's KiB: "KB" 1, "MB" 1024, ...; 0 if the word is not a unit. */
int64_t job_rlimit_unit_kib(const char *word);

/* The size in KiB, at most the largest size allowed. */
int64_t job_rlimit_scale(int64_t size, int64_t unit_kib);

/* "90 min", "1048576 KB", as queues and jobs are shown. */
const char *job_rlimit_text(struct arena *arena, enum job_rlimit limit, int64_t value);

/* Texts such as "mem=1048576" or "cpu=60000/EPYC7", one for each limit that is set.
 * What is read borrows from the texts. */
int job_rlimits_read(const char *const *texts, int n_texts, struct job_rlimits *limits,
                     struct err *err) MUST_CHECK;
int job_rlimits_write(struct arena *arena, const struct job_rlimits *limits,
                      const char *const **texts);

#endif
