/* SPDX-License-Identifier: Apache-2.0 */
/* slurm_guest.h: borrowed hosts as nodes of the site's own Slurm cluster: which guests
 * there must be, and what to order so that their nodes come and go.
 *
 * A guest is a job of the site on a borrowed host, which runs a dynamic slurmd there
 * (slurmd -Z). Its node is named after the job ("sublet57"), has the feature "sublet",
 * and is in a partition of its own. Users submit to that partition. For each of their
 * jobs that waits and finds no room on nodes that are there or coming, the site submits
 * a guest of as many slots as the job needs CPUs on a node: on one node, unless the job
 * asks for several, or no borrowed host is so large. A guest that waits and is
 * not needed any more is ended. So the guests that wait are what the site demands of
 * others.
 *
 * A guest leaves if its slots are recalled, if its lease is drained, if it has stayed
 * for `stay_ms`, or if its node has been idle for `idle_ms` and no job that waits fits
 * it: its node is drained, and once it is idle the guest is ended. So no job can start
 * in between. What runs on
 * a node whose slots are taken in `notice_ms` is requeued by Slurm. A node whose guest
 * has ended is set down, so that its jobs are requeued, and deleted. A guest whose node
 * slurmctld does not know any more is ended: what it runs is on nobody's books.
 *
 * Only dynamic nodes with the feature and such a name are ordered anything.
 *
 * Units: milliseconds of the caller's clock. Order: guests as given, jobs as squeue
 * prints them, which is by priority. Ownership: all is in the arena, or borrowed.
 * Source: Slurm's "Dynamic Nodes", docs/adr/0033-borrowed-nodes-of-slurm.md. Layer:
 * slurm. */
#ifndef SUBLET_SLURM_SLURM_GUEST_H
#define SUBLET_SLURM_SLURM_GUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "slurm/slurm_node.h"

/* What a plan saw of the node of a guest, for the next one. */
struct slurm_guest_seen {
    bool has_node;         /* slurmctld knew it */
    int64_t idle_since_ms; /* 0: it was not idle */
};

struct slurm_guest {
    uint64_t job;
    int n_slots; /* that it has; while it waits, that it needs */
    bool has_host;
    bool has_begun;
    bool is_ending;    /* it was told to end */
    bool is_drained;   /* its lease is: nothing else may start there */
    int64_t begun_ms;  /* 0: it has not begun */
    int64_t recall_ms; /* its slots are taken then; 0: they are not recalled */
    struct slurm_guest_seen seen; /* by the last plan */
};

/* A job of the partition's users that waits or runs. */
struct slurm_guest_job {
    const char *id; /* "12", or "12_3" of an array */
    bool is_running;
    bool needs_nodes; /* it waits, and more nodes could let it start */
    int n_cpus;       /* on all of its nodes */
    int n_nodes;      /* that it asks for, or needs by what Slurm knows of nodes */
    const char *const *nodes; /* n_nodes of them, if it is running */
};

struct slurm_guest_jobs {
    struct slurm_guest_job *items;
    int count;
};

/* The command, ended by NULL. */
const char *const *slurm_guest_job_command(struct arena *arena, const char *partition);
/* Reads the whole answer. Errors: ERR_PARSE for a line that is none of squeue's, with
 * its number; ERR_BOUNDS for more than JOBS_MAX, or a number or name out of bounds.
 * `jobs` is unchanged then. */
int slurm_guest_job_read(struct arena *arena, const char *text,
                         struct slurm_guest_jobs *jobs, struct err *err) MUST_CHECK;

struct slurm_guest_terms {
    int64_t now_ms;
    int64_t idle_ms, stay_ms, notice_ms;
    int64_t begin_ms; /* a slurmd that has not registered for so long is ended */
    int max;          /* guests at one time */
    int host_max;     /* slots of the largest borrowed host; 0: not known */
};

struct slurm_guest_plan {
    const char *const *const *orders; /* commands, to be carried out in this order */
    int n_orders;
    const int *submits; /* the slots of each new guest */
    int n_submits;
    const uint64_t *ends; /* guests to end */
    int n_ends;
    const struct slurm_guest_seen *seen; /* of each guest, for the next plan */
};

void slurm_guest_plan(struct arena *arena, const struct slurm_guest_terms *terms,
                      const struct slurm_guest *guests, int n_guests,
                      const struct slurm_nodes *nodes,
                      const struct slurm_guest_jobs *jobs,
                      struct slurm_guest_plan *plan);

/* What a guest runs, for /bin/sh: `slurmd` is the program at the providers. The shell
 * knows the job's number, slots and lease. */
const char *slurm_guest_command(struct arena *arena, const char *slurmd);

#endif
