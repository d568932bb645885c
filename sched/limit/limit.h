/* SPDX-License-Identifier: Apache-2.0 */
/* bounds.h: how many slots and jobs there may be at a time, of whom, where: all limits
 * of a site in one form, what counts for them now, and what room they leave.
 *
 * A limit has four sides: users, queues, hosts, projects. A side names whom the limit
 * is for, and whether they share it (USERS) or each has one of its own (PER_USER). What
 * other sections call it:
 *
 *     QJOB_LIMIT of queue q     queues q together
 *     UJOB_LIMIT of queue q     queues q, each user
 *     HJOB_LIMIT of queue q     queues q, each host
 *     PJOB_LIMIT of queue q     queues q, each host, slots a processor
 *     JL/U of host h            hosts h, each user
 *     MAX_JOBS of user u        users u together; of a group "g@": each of its members
 *     JL/P of user u            users u, each host, slots a processor
 *
 * All limits that fit a job hold, and the tightest decides. A job that stands still and
 * has given its slots away counts only where the limit says so (counts_still), and
 * never as a job; a suspended one that keeps its slots counts as if it ran.
 * A class is what all jobs of one user, queue and project are to the limits; whoever
 * joins one leaves it again, and counts are kept under it.
 *
 * Units: slots, jobs. Ownership: the limits given are borrowed; classes and counts are
 * the set's. Order: of several limits without room the first in the list is named.
 * Source: ARCHITECTURE 5; lsf.md 3.3; LSF's lsb.resources. Layer: sched (base only). */
#ifndef SUBLET_SCHED_LIMIT_LIMIT_H
#define SUBLET_SCHED_LIMIT_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "model/msg.h"
#include "sched/queue/groups.h"

enum limit_mode {
    LIMIT_ANY,      /* the side says nothing */
    LIMIT_TOGETHER, /* those named share the limit */
    LIMIT_EACH,     /* each of those named has it */
};

struct limit_side {
    enum limit_mode mode;
    struct name_set names;
    const char *text; /* those named, as configured: "lab ~bo"; NULL: LIMIT_ANY */
};

enum { LIMIT_USERS, LIMIT_QUEUES, LIMIT_HOSTS, LIMIT_PROJECTS, LIMIT_SIDES };

struct limit {
    const char *name; /* as reasons name it: "QJOB_LIMIT of queue normal (10)" */
    struct limit_side sides[LIMIT_SIDES];
    int slots, jobs;             /* -1: none */
    int64_t per_processor_milli; /* thousandths of a slot; -1: none. Hosts: EACH */
    bool counts_still;
    const char *key;     /* its parameter, lives for ever; NULL: of section Limit */
    const char *label;   /* what `sublet limits` calls it: its parameter, or its NAME */
    const char *section; /* "Limit", "Queue", "Host", "User" */
};

/* The limit that a queue or host has by that parameter ("QJOB_LIMIT"); NULL: none. */
const struct limit *limits_find(const struct limit *list, int n_limits, const char *key,
                                int side, const char *name);

struct limits;
struct limits *limits_new(const struct limit *list, int n_limits);
void limits_free(struct limits *limits);

struct limit_owner;
struct limit_owner *limits_join(struct limits *limits, const char *user,
                                const char *queue, const char *project);
void limits_leave(struct limits *limits, struct limit_owner *class);
/* True where there are limits for this class; where they look at hosts. */
bool limits_have_any(const struct limit_owner *class);
bool limits_have_host_limits(const struct limit_owner *class);

/* A job has taken these slots (`sign` 1), or gives them back (-1); with `is_still` it
 * stands still. */
void limits_count(struct limits *limits, const struct limit_owner *class,
                  const struct host_slots *hosts, int n_hosts, bool is_still, int sign);

/* What a plan would add to the counts; the limits stay as they are. */
struct limits_tentative;
struct limits_tentative *limits_tentative_new(const struct limits *limits);
void limits_tentative_free(struct limits_tentative *draft);
void limits_tentative_count(struct limits_tentative *draft,
                            const struct limit_owner *class,
                            const struct host_slots *hosts, int n_hosts);

/* A job that is among the counts is none for a while (sign -1), or is one again (1), on
 * these hosts; its slots stay counted. */
void limits_tentative_job(struct limits_tentative *draft, struct arena *arena,
                          const struct limit_owner *class,
                          const struct host_slots *hosts, int n_hosts, int sign);

/* One that is among the counts, on the first hosts, gets the others more: one job all
 * along, on the new hosts too. */
void limits_tentative_grow(struct limits_tentative *draft, struct arena *arena,
                           const struct limit_owner *class,
                           const struct host_slots *has, int n_has,
                           const struct host_slots *more, int n_more);

/* One that runs is to stand still, or the other way round. */
void limits_tentative_yield(struct limits_tentative *draft,
                            const struct limit_owner *class,
                            const struct host_slots *hosts, int n_hosts, bool is_still);
/* One that stands still may go on: no limit that does not count it has too little room
 * for it. */
bool limits_may_resume(const struct limits_tentative *draft,
                       const struct limit_owner *class, const struct host_slots *hosts,
                       int n_hosts, int n_processors);

/* Slots that a job of the class may have in all as far as its user, queue and project
 * go; INT_MAX: any number. `limit` is the one that decides, NULL: none. */
int limits_slots_left(const struct limits_tentative *draft,
                      const struct limit_owner *class, const struct limit **limit);
/* The same of one host, for a job that has these pieces on other hosts so far. */
int limits_slots_left_on(const struct limits_tentative *draft,
                         const struct limit_owner *class, const char *host,
                         int n_processors, const struct host_slots *pieces,
                         int n_pieces, const struct limit **limit);
/* The slots a job of the class can ever have: no more is ever left, whatever ends. */
int limits_max_slots(const struct limit_owner *class, const struct limit **limit);
/* The same on a host, beside its pieces on others, whatever ends. */
int limits_max_slots_on(const struct limit_owner *class, const char *host,
                        int n_processors, const struct host_slots *pieces,
                        int n_pieces);

/* Slots that the limit allows at a time, on a host with so many processors; INT_MAX:
 * any number. */
int limit_slots(const struct limit *limit, int n_processors);
/* The side names it (or says nothing): the limit is for it, with others or alone. */
bool limit_side_has(const struct limit_side *side, const char *name);

#endif
