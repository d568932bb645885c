/* SPDX-License-Identifier: Apache-2.0 */
/* msg_run.h: the messages about runs, between consumer and provider and between a site
 * and its hosts; their fields are in model/schema_run.c.
 *
 * Units, Ownership: as msg.h. Source: docs/design/safety.md. Layer: model. */
#ifndef SUBLET_MODEL_MSG_RUN_H
#define SUBLET_MODEL_MSG_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "model/msg_job.h"

struct msg_start {
    struct run_id run; /* site: the consumer, which must be the authenticated sender */
    const char *lease;
    uint64_t epoch;
    const char *job;                /* its id as users see it, "12" or "12[3]" */
    const struct host_slots *hosts; /* provider's own host names; first runs it */
    int n_hosts;
    struct job_spec spec;
    int priority;          /* of its queue: a recall ends the lowest priority first */
    int64_t end_within_ms; /* the time after which its job must have ended, because
                              other jobs need the slots; 0: no such time */
    uint64_t commits;      /* of the consumer's journal */
};

struct msg_attempt { /* ATTEMPT_ASK, ATTEMPT_ACK */
    struct run_id run;
    uint64_t commits;  /* ACK: of the consumer's journal, with the end on record */
    bool is_withdrawn; /* ASK: it is not to start any more, unless it may have */
    bool lists;        /* ASK: for the consumer's runs from this attempt to `list_to` */
    uint64_t list_to;
};

enum attempt_state {
    ATTEMPT_TAKEN,   /* admitted: the guard is being started */
    ATTEMPT_REFUSED, /* never started and never will; another run may have its number
                      */
    ATTEMPT_RUNNING,
    ATTEMPT_SUSPENDED,
    ATTEMPT_ENDED,
    ATTEMPT_LOST,   /* not in the ledger, and not above the decided attempts: never
                       started,   or acknowledged long ago */
    ATTEMPT_ABSENT, /* above the decided attempts: START never arrived */
};

struct msg_attempt_state {
    struct run_id run;
    enum attempt_state state;
    int64_t start_ms;         /* RUNNING and later */
    uint64_t control_done;    /* number of the last order carried out */
    struct run_exit exit;     /* ENDED */
    const char *reason;       /* REFUSED */
    struct journal_mark mark; /* the last one that the provider has of the consumer; 0
                                 of a run without a nonce */
    struct run_use use;       /* of a run that is on record */
};

struct msg_attempt_control {
    struct run_id run;
    struct run_control control;
};

struct msg_output_ask {
    struct run_id run;
    uint64_t request; /* chosen by the sender, returned with the piece */
    enum output_stream stream;
    int64_t offset;
    int n_bytes; /* at most OUTPUT_CHUNK_MAX */
};

struct msg_output {
    struct run_id run;
    uint64_t request;
    enum output_stream stream;
    int64_t offset;
    const uint8_t *bytes;
    int n_bytes;
    bool is_end;  /* no more output now; for an ended run: at all */
    bool is_gone; /* no such output here */
};

/* One value that a host reports: a load index, a static resource, or a resource that
 * its administrator defined or measures by a program (docs/resources.md). */
struct load_value {
    const char *name;
    const char *value; /* as text; the site knows the type */
    bool is_exclusive; /* only jobs that ask for it may run on this host */
};

struct lease_load_host {
    const char *host;                /* the provider's name for it */
    const struct load_value *values; /* all that are known */
    int n_values;
    const struct load_value
        *thresholds; /* its own, as "0.7/2.0" (sched/resource/resource.h) */
    int n_thresholds;
};

/* In both messages, offsets count the bytes of a stream since its run started, so that
 * messages may be repeated, late or lost. A side sends at most STREAM_WINDOW bytes that
 * the other side has not acknowledged. */
struct msg_stream_down {
    struct run_id run; /* from the user: site "", and attempt 0 if it is unknown */
    const char *job;   /* from the user; to a host "" */
    int64_t got_out, got_err; /* bytes of its output that have arrived */
    int64_t offset;           /* of its input */
    const uint8_t *bytes;
    int n_bytes;
    bool is_end;   /* the input ends with these */
    bool is_again; /* a time-out: bytes that have not arrived are to be resent */
    int n_rows, n_columns; /* of the user's terminal; 0: the user has none */
};

struct msg_stream_up {
    struct run_id run; /* attempt 0: the job does not run now */
    const char *job;   /* to the user; from a host "" */
    enum output_stream stream;
    int64_t offset;
    const uint8_t *bytes;
    int n_bytes;
    int64_t got_in; /* bytes of the input that were accepted */
    bool is_over;   /* the job's processes are gone: the output is complete with this */
    const char *note; /* of the site, for the user to read; "": none */
};

struct msg_lease_load {
    const char *lease;
    const struct lease_load_host *hosts;
    int n_hosts;
};

struct msg_host_hello {
    const char *name;
    const char *boot_id; /* of the machine; runs of an earlier boot are gone */
    int n_cpus;
    bool knows_nonces;        /* its RUN_STATE has the nonce of a run */
    struct journal_mark mark; /* the last one that it has of its site */
    const char *topology;     /* its processors (model/cpu.h); "": not known */
};

struct msg_host_alive { /* HOST_ALIVE, HOST_PONG */
    uint64_t seq;
    struct journal_mark mark; /* of the site: PONG */
};

/* What a run uses now, and has used. */
struct run_load {
    struct run_id run;
    int64_t cpu_ms;           /* until now */
    int64_t mem_kib;          /* peak */
    int64_t rss_kib, vsz_kib; /* resident and virtual memory of its processes now */
    int n_threads;
};

/* All values of a host. A value that is missing is no longer known. A run that is
 * missing has not changed. */
struct msg_host_load {
    const struct load_value *values;
    int n_values;
    const struct run_load *runs;
    int n_runs;
    /* Of a host that another scheduler has: slots of jobs that the site does not know,
     * and whether it takes no job at all. */
    int n_foreign;
    bool is_out;
};

struct msg_run_start {
    struct run_id run;
    const char *job;
    const char *lease; /* "": the site's own job */
    const struct host_slots *hosts;
    int n_hosts;
    struct job_spec spec;
    const char *account; /* the account it runs as, never root for a leased job;
                            "": that of the daemon */
    int64_t
        terminate_ms; /* time between the signals that end it; 0: the host's default */
    int64_t end_within_ms; /* as in START */
    const char *binding;   /* its processors (model/cpu.h); "": any */
};

struct msg_run_go {
    struct run_id run;
    uint64_t token; /* the guard that may start; another guard refuses. 0: the site has
                       lost its token, and asks for the state of the run */
    uint64_t commits; /* of the site's journal, with the guard on record */
};

struct msg_run_control {
    struct run_id run;
    struct run_control control;
};

enum resize_event { RESIZE_NONE, RESIZE_GROW, RESIZE_SHRINK };
/* The code of a resize, instead of its command's, if the run is suspended, or its job
 * has not started or is over. */
enum { RESIZE_NOT_NOW = 256 };

/* The number grows with each resize of a run. A resize that was already answered is
 * answered again, and not repeated. */
struct msg_run_resize {
    struct run_id run;
    uint64_t number;
    enum resize_event event;
    const struct host_slots *hosts; /* that are added, or released */
    int n_hosts;
    const struct host_slots *all; /* all slots of the run afterwards */
    int n_all;
    const char *command; /* the notification command; "": none */
};

struct msg_run { /* RUN_FORGET */
    struct run_id run;
};

struct msg_run_state {
    struct run_id run;
    enum run_phase phase;
    uint64_t token; /* the guard's own number */
    int64_t start_ms;
    uint64_t control_done;
    struct run_exit exit; /* ENDED */
    uint64_t resize_done; /* number of the last completed resize ... */
    int resize_code;      /* ... and the exit code of its command; 0: accepted */
    bool is_refused;      /* another run has its number: it never begins */
};

#endif
