/* SPDX-License-Identifier: Apache-2.0 */
/* run_table.h: the table of runs on this site's hosts: lookup, rows, and the slots that
 * runs use on each host.
 *
 * Ownership: runs belong to the table; a pointer is valid until run_table_sweep.
 * Forgotten runs are not found any more, but exist until then. Order: by site, then
 * attempt. Units: slots. Layer: site. */
#ifndef SUBLET_SITE_RUN_RUN_TABLE_H
#define SUBLET_SITE_RUN_RUN_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/resend.h"
#include "model/effect.h"
#include "sched/affinity/affinity.h"
#include "site/job/submission.h"
#include "site/run/host_table.h"

/* A change of its slots that the host has not answered yet (msg_run_resize). */
struct run_resizing {
    uint64_t number; /* 0: nothing */
    enum resize_event event;
    struct host_slots *hosts, *all;
    int n_hosts, n_all;
    char *command;
};

struct run {
    struct run_id id; /* owns the name of the site */
    char *job;
    char *lease; /* "": the site's own job */
    enum run_record record;
    struct host_slots *hosts; /* the first one executes it */
    int n_hosts;
    const struct job_spec *spec;
    struct submission *submission; /* that owns the spec; NULL: the run owns it */
    uint64_t token;                /* 0: none, or lost with a part of the journal */
    struct run_control control;
    struct run_exit exit; /* owns its text; is_recalled since the kill for a recall */
    int priority;         /* of the queue of its job */
    int64_t end_by_ms;    /* its job must end by then; 0: no such time */
    struct run_use use;   /* of a leased run, as stored last */
    char *binding;        /* its processors (model/cpu.h); "": any */

    /* Not stored. */
    int host; /* index of the executing host; -1: not configured any more */
    enum run_phase
        phase; /* as last reported by the host; UNKNOWN: no report since the start */
    int64_t start_ms;
    uint64_t control_done;
    struct run_resizing resizing; /* stored with its job */
    uint64_t resize_done;         /* as last reported by the host, with ... */
    int resize_code;              /* ... this exit code */
    bool is_seen;                 /* the host has reported on it in its session */
    bool is_away;                 /* its host is unreachable; its state is unknown */
    bool is_suspended;            /* as ordered; its slots are not in use */
    bool is_orphan;               /* the journal has no such run: it has no row, and
                                     gets no orders (runs.h) */
    bool is_given_up;             /* an orphan that is being ended */
    char *orphan_lease;           /* of an orphan; its slots count as the site's own */
    bool is_unconfirmed;          /* TAKEN since before the start, and its host has not
                                     connected since */
    uint64_t
        order_commit; /* that has its guard or latest resize; 0: before the start */
    uint64_t
        go_session; /* the session in which RUN_GO was sent; 0: none since the start */
    char *boot;     /* of the host, when its guard was stored; "" unknown */
    struct resend order;  /* to the host */
    struct resend report; /* of its end to the consumer (lending.c) */
    bool is_forgotten;
    struct run *prev, *next; /* of the runs of its host, in no order */
};

struct run_table;
/* `site` is this site's name; both are borrowed. */
struct run_table *run_table_new(const char *site, const struct host_table *hosts);
void run_table_free(struct run_table *table);

/* The hosts have changed: places[i] is the new index of the i-th; -1: it is removed. */
void run_table_change_hosts(struct run_table *table, const int *places);

/* Applies a row: a new run, or the stored state of a known run. `submission`: a new run
 * uses its spec; NULL: the spec of the row. */
struct run *run_table_put(struct run_table *table, const struct row_run *row,
                          struct submission *submission);
struct run *run_table_find(const struct run_table *table, const struct run_id *id);
/* The site's own by its attempt. */
struct run *run_table_find_own(const struct run_table *table, uint64_t attempt);
int run_table_count(const struct run_table *table);
struct run *run_table_at(const struct run_table *table,
                         int index); /* NULL: forgotten */
/* The runs that a host (by index) executes, or those whose host is not configured any
 * more (-1), in the arena and in the table's order; forgotten ones are left out. The
 * first NULL ends them. */
struct run **run_table_of_host(const struct run_table *table, int host,
                               struct arena *arena);
bool run_table_is_own(const struct run_table *table, const struct run *run);

/* Stores the row of the run, with its spec or without. What it uses of its lease is
 * added up until now. */
void run_table_store(struct run *run, bool with_spec, int64_t now_ms,
                     struct effects *effects);
/* Other hosts; the first one must be the same. Not stored yet. */
void run_table_set_hosts(struct run_table *table, struct run *run,
                         const struct host_slots *hosts, int n_hosts);
/* The change of slots that the host has to answer: a copy; NULL: none. */
void run_table_set_resizing(struct run *run, const struct msg_run_resize *order);
/* The run has ended: its slots are free. Not stored yet. */
void run_table_end(struct run_table *table, struct run *run,
                   const struct run_exit *exit);
/* Deletes its row; the run is freed by the next sweep. */
void run_table_forget(struct run_table *table, struct run *run,
                      struct effects *effects);
void run_table_sweep(struct run_table *table);

/* Updates whether the run is suspended, after a change of its phase, its latest control
 * action, or what was carried out. True if that has changed. */
bool run_table_update_suspended(struct run_table *table, struct run *run);

/* Stores that the run is suspended by an order that is not on record, and that others
 * may use its slots. */
void run_table_keep_suspended(struct run_table *table, struct run *run, int64_t now_ms,
                              struct effects *effects);
/* What runs that have not ended use of a host. */
struct run_table_use {
    int own, consumers; /* slots of runs that are not suspended ... */
    int own_suspended, consumers_suspended; /* ... and of those that are */
    int n_exclusive;           /* runs; those of consumers also while suspended */
    int n_exclusive_suspended; /* own ones, which have yielded */
};
/* Of a host (by index), until the run table changes. */
const struct run_table_use *run_table_use(const struct run_table *table, int host);
/* What runs that have not ended use of hosts whose topology is there: sets `use` of
 * each of these, in the arena. Suspended runs keep their processors. */
void run_table_bound(const struct run_table *table, struct arena *arena,
                     struct affinity_host *hosts);

#endif
