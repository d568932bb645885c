/* SPDX-License-Identifier: Apache-2.0 */
/* guard_record.h: a run as its guard has it, in memory, on disk and on the guard's
 * socket.
 *
 * As text it is a line "name=value" per field; unknown names are skipped and missing
 * ones zero, so that guards and agents of different versions understand each other.
 *
 * Units: milliseconds of wall clock, KiB, bytes; clock ticks since boot for job_start.
 * Errors: ERR_NOT_FOUND no record, ERR_PARSE not one, ERR_IO the system's words.
 * Layer: host (libc and base only: the guard links it). */
#ifndef SUBLET_HOST_EXEC_GUARD_RECORD_H
#define SUBLET_HOST_EXEC_GUARD_RECORD_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "model/msg.h"

enum {
    GUARD_RECORD_TEXT_SIZE = 256,
    GUARD_RECORD_PATH_SIZE = 1024,
    GUARD_RECORD_MAX = 4096, /* as text */
    GUARD_RECORD_MARK_SIZE = 256,
};

struct guard_record {
    enum run_phase phase;
    enum run_end end; /* before ENDED: the job is over, commands after it run */
    char boot_id[40];
    uint64_t guard_pid;
    uint64_t token;     /* what a go must carry; 63 bits, never 0 */
    uint64_t mark;      /* in the environment of all its processes, as SUBLET_RUN */
    uint64_t job_pid;   /* also its session; 0 until it has begun */
    uint64_t job_start; /* field 22 of /proc/PID/stat */
    char cgroup[GUARD_RECORD_PATH_SIZE]; /* "": held by its session alone */
    char memory[GUARD_RECORD_PATH_SIZE]; /* of version 1's controller; "": none */
    uint64_t start_ms, end_ms;
    uint64_t control_done;
    uint64_t can_resize;               /* 1: it knows GUARD_REQUEST_RESIZE */
    uint64_t resize_done, resize_code; /* of the last one, as RUN_STATE has it */
    uint64_t cause;                    /* enum run_cause */
    uint64_t code;
    uint64_t cpu_ms, mem_kib;
    uint64_t out_bytes, err_bytes;
    uint64_t seq; /* how often it was written to disk; 0: never */
    char text[GUARD_RECORD_TEXT_SIZE];
};

/* Writes at most GUARD_RECORD_MAX bytes with the NUL; returns the length. */
size_t guard_record_format(const struct guard_record *record, char *text);
int guard_record_parse(const char *text, size_t length, struct guard_record *record,
                       struct err *err) MUST_CHECK;

/* What its processes carry in their environment: "SUBLET_RUN=north.1.<mark>". */
void guard_record_mark(const struct guard_record *record, const char *run,
                       char text[GUARD_RECORD_MARK_SIZE]);

/* Copies a sentence into `record->text` as one line. */
void guard_record_set_text(struct guard_record *record, const char *text);

#endif
