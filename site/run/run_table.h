/* SPDX-License-Identifier: Apache-2.0 */
/* run_table.h: the runs on this site's hosts as a table: finding them, their rows, and
 * how many slots of each host they use.
 *
 * Ownership: runs belong to the table; a pointer lives until run_table_sweep. Forgotten
 * runs are found no more, but live until then.
 * Order: by site, then attempt. Units: slots. Layer: site. */
#ifndef SUBLET_SITE_RUN_RUN_TABLE_H
#define SUBLET_SITE_RUN_RUN_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "model/effect.h"
#include "site/job/submission.h"
#include "site/run/host_table.h"

/* What a run's host has not answered yet (msg_run_resize). */
struct run_resizing {
    uint64_t number; /* 0: nothing */
    enum resize_event event;
    struct host_slots *hosts, *all;
    int n_hosts, n_all;
    char *command;
};

struct run {
    struct run_id id; /* its site is the run's own */
    char *job;
    char *lease; /* "": the site's own job */
    enum run_record record;
    struct host_slots *hosts; /* the first executes */
    int n_hosts;
    const struct job_spec *spec;
    struct submission *submission; /* whose spec that is; NULL: it is the run's own */
    uint64_t token;
    struct run_control control;
    struct run_exit exit; /* its text is the run's own; is_recalled from when its end
                             was ordered for that */
    int priority;         /* of the queue of its job */
    int64_t end_by_ms;    /* its job ends then at the latest; 0: no such time */

    /* Not on disk. */
    int host;             /* index of the executing one; -1: not configured any more */
    enum run_phase phase; /* as the host last said; UNKNOWN: not since the start */
    int64_t start_ms;
    uint64_t control_done;
    struct run_resizing resizing; /* on record with its job */
    uint64_t resize_done;         /* as the host last said, as ... */
    int resize_code;              /* ... that */
    bool is_seen;                 /* the host has spoken of it in its session */
    bool is_away;                 /* its host is, and nobody can tell */
    bool is_still; /* it stands still for good, and its slots are not in use */
    uint64_t
        go_session; /* the session that a go was sent in; 0: none since the start */
    char *boot;     /* of the host, when the guard went on record; "" unknown */
    int64_t resend_ms;
    int64_t tell_ms; /* for the owner of the run (lending) */
    int n_told;
    bool is_forgotten;
};

struct run_table;
/* `site` is this site's name; both are borrowed. */
struct run_table *run_table_new(const char *site, const struct host_table *hosts);
void run_table_free(struct run_table *table);

/* The hosts have changed: places[i] is where the i-th stands now, -1: it is gone. */
void run_table_change_hosts(struct run_table *table, const int *places);

/* Takes the row in: a new run, or what is now on record of a known one. The submission
 * that a new one executes as it stands; NULL: it executes the row's spec. */
struct run *run_table_put(struct run_table *table, const struct row_run *row,
                          struct submission *submission);
struct run *run_table_find(const struct run_table *table, const struct run_id *id);
/* The site's own by its attempt. */
struct run *run_table_find_own(const struct run_table *table, uint64_t attempt);
int run_table_count(const struct run_table *table);
struct run *run_table_at(const struct run_table *table,
                         int index); /* NULL: forgotten */
bool run_table_is_own(const struct run_table *table, const struct run *run);

/* The run's row as it stands, with its spec or without: a copy among the effects' ...
 */
const struct row_run *run_table_row(const struct run *run, bool with_spec,
                                    struct effects *effects);
/* ... and on record; returns the same. */
const struct row_run *run_table_store(const struct run *run, bool with_spec,
                                      struct effects *effects);
/* Other hosts, the first one stays. Not stored yet. */
void run_table_set_hosts(struct run_table *table, struct run *run,
                         const struct host_slots *hosts, int n_hosts);
/* What its host is to answer from now on: a copy; NULL: nothing. */
void run_table_set_resizing(struct run *run, const struct msg_run_resize *order);
/* Its exit is known: its slots are free. Not stored yet. */
void run_table_end(struct run_table *table, struct run *run,
                   const struct run_exit *exit);
/* Its row goes; it leaves the table at the next sweep. */
void run_table_forget(struct run_table *table, struct run *run,
                      struct effects *effects);
void run_table_sweep(struct run_table *table);

/* After the run's phase, its latest order, or how far orders were carried out has
 * changed: whether it stands still. True where that is another than before. */
bool run_table_settle(struct run_table *table, struct run *run);

/* Slots in use on a host by index: of runs that are not ended, but for those that stand
 * still. */
void run_table_used(const struct run_table *table, int host, int *own, int *consumers);
/* The same of those that stand still. */
void run_table_still(const struct run_table *table, int host, int *own, int *consumers);
/* One of them wants the host for itself, and has it. */
bool run_table_is_taken(const struct run_table *table, int host);
/* One of the site's own does that stands still, and has given its slots away. */
bool run_table_has_still(const struct run_table *table, int host);

#endif
