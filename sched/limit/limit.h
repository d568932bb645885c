/* SPDX-License-Identifier: Apache-2.0 */
/* limit.h: limits on slots, jobs and resources: all limits of a site in one form, what
 * counts towards them now, and how many slots they leave.
 *
 * A limit has four sides: users, queues, hosts, projects. A side names those to which
 * the limit applies, and says whether they share it (USERS) or each has its own
 * (PER_USER). The limits of other sections in this form:
 *
 *     QJOB_LIMIT of queue q     queues q together
 *     UJOB_LIMIT of queue q     queues q, each user
 *     HJOB_LIMIT of queue q     queues q, each host
 *     PJOB_LIMIT of queue q     queues q, each host, slots per processor
 *     JL/U of host h            hosts h, each user
 *     MAX_JOBS of user u        users u together; of a group "g@": each of its members
 *     JL/P of user u            users u, each host, slots per processor
 *
 * All limits that apply to a job hold, and the tightest decides. A yielded job, which
 * is suspended and has released its slots, counts towards slots only if the limit says
 * so (counts_yielded), and never as a job. A suspended job that keeps its slots counts
 * like a running one. An owner is a combination of user, queue and project. Its jobs
 * are the same to all limits. Every limits_join is followed by a limits_leave.
 *
 * A limit on a resource (MEM, SWP, TMP, RESOURCE, LICENSE of section Limit) bounds what
 * jobs reserve of it by rusage. A job that reserves none is not limited. The limit is a
 * supply that its jobs share (site/ledger/limit_supply.c), so that it is not part of
 * the counts here.
 *
 * Units: slots, jobs, thousandths of a resource's unit. Ownership: the limits given are
 * borrowed; owners and counts belong to the set. limit_config_read allocates in conf's
 * arena. Errors: diagnostics. Order: if several limits leave no slot, the first one in
 * the list is named. The list has limits of the site, queues, hosts and users, then
 * Limit sections, each in file order. Source: docs/design/scheduling.md "Decided",
 * "Suspended jobs and limits"; LSF's lsb.queues, lsb.hosts, lsb.users, lsb.resources.
 * Layer: sched (base only). */
#ifndef SUBLET_SCHED_LIMIT_LIMIT_H
#define SUBLET_SCHED_LIMIT_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "model/msg.h"
#include "sched/queue/queue.h"

enum limit_mode {
    LIMIT_ANY,      /* the side is not given */
    LIMIT_TOGETHER, /* those named share the limit */
    LIMIT_EACH,     /* each of those named has its own */
};

struct limit_side {
    enum limit_mode mode;
    struct name_set names;
    const char *text; /* as configured: "lab ~bo"; NULL: LIMIT_ANY */
};

enum { LIMIT_USERS, LIMIT_QUEUES, LIMIT_HOSTS, LIMIT_PROJECTS, LIMIT_SIDES };

/* How much of a resource the jobs of a limit may reserve. */
struct limit_amount {
    const char *resource;
    int64_t milli;   /* unless is_percent */
    bool is_percent; /* of what each host has; hosts are EACH */
    int percent;
    const char *name; /* in reasons: "mem of lab (section Limit)" */
};

struct limit {
    const char *name; /* in reasons: "QJOB_LIMIT of queue normal (10)" */
    struct limit_side sides[LIMIT_SIDES];
    int slots, jobs;             /* -1: none */
    int64_t per_processor_milli; /* thousandths of a slot; -1: none. Hosts are EACH */
    bool counts_yielded;
    const char *key;     /* its parameter, a literal; NULL: of section Limit */
    const char *label;   /* in `sublet limits`: its parameter, or its NAME */
    const char *section; /* "Limit", "Queue", "Host", "User" */
    const struct limit_amount *amounts;
    int n_amounts;
    bool is_job_group; /* of one: a yielded job counts as a job, as it is started */
};

/* A job group with a limit that may change, and the groups above it. */
struct limit_group {
    const char *path;
    const struct limit *limit;
    const struct limit_group *parent; /* NULL: none */
};

/* The limit with that parameter ("QJOB_LIMIT") of a queue or host; NULL: none. */
const struct limit *limits_find(const struct limit *list, int n_limits, const char *key,
                                int side, const char *name);

struct limits;
struct limits *limits_new(const struct limit *list, int n_limits);
void limits_free(struct limits *limits);
const struct limit *limits_list(const struct limits *limits, int *n_limits);

struct limit_owner;
struct limit_owner *limits_join(struct limits *limits, const char *user,
                                const char *queue, const char *project);
/* The same for jobs of a job group, to which its limit and those of the groups above it
 * apply; NULL: none. The group outlives the owner. */
struct limit_owner *limits_join_group(struct limits *limits, const char *user,
                                      const char *queue, const char *project,
                                      const struct limit_group *group);
void limits_leave(struct limits *limits, struct limit_owner *owner);
/* True if any limit applies to the owner; if any such limit depends on hosts. */
bool limits_have_any(const struct limit_owner *owner);
bool limits_have_host_limits(const struct limit_owner *owner);

/* An amount that jobs of the owner reserve from. Owners with the same key share it; if
 * hosts are EACH, it is there once for each host. The limits' order. */
struct limit_share {
    const struct limit *limit;
    const struct limit_amount *amount;
    const char *key;
};
const struct limit_share *limits_shares(const struct limit_owner *owner, int *n_shares);

/* Counts a job that has taken these slots (`sign` 1), or released them (-1).
 * `is_yielded`: it counts as yielded. */
void limits_count(struct limits *limits, const struct limit_owner *owner,
                  const struct host_slots *hosts, int n_hosts, bool is_yielded,
                  int sign);

/* Tentative changes of the counts, on top of the limits, which stay as they are. */
struct limits_tentative;
struct limits_tentative *limits_tentative_new(const struct limits *limits);
void limits_tentative_free(struct limits_tentative *tentative);
void limits_tentative_count(struct limits_tentative *tentative,
                            const struct limit_owner *owner,
                            const struct host_slots *hosts, int n_hosts);

/* Removes a counted job as a job (sign -1), or adds it again (1), on these hosts; its
 * slots stay counted. */
void limits_tentative_job(struct limits_tentative *tentative, struct arena *arena,
                          const struct limit_owner *owner,
                          const struct host_slots *hosts, int n_hosts, int sign);

/* A counted job on the hosts `has` gets the slots `more`. It remains one job, on the
 * new hosts as well. */
void limits_tentative_grow(struct limits_tentative *tentative, struct arena *arena,
                           const struct limit_owner *owner,
                           const struct host_slots *has, int n_has,
                           const struct host_slots *more, int n_more);

/* A running job is to be yielded, or the other way round. */
void limits_tentative_yield(struct limits_tentative *tentative,
                            const struct limit_owner *owner,
                            const struct host_slots *hosts, int n_hosts,
                            bool is_yielded);
/* True if a yielded job may resume: every limit that does not count it has room for it.
 */
bool limits_may_resume(const struct limits_tentative *tentative,
                       const struct limit_owner *owner, const struct host_slots *hosts,
                       int n_hosts, int n_processors);

/* How many slots a job of the owner may have in total by limits on users, queues and
 * projects; INT_MAX: any number. `limit` is the one that decides, NULL: none. */
int limits_slots_left(const struct limits_tentative *tentative,
                      const struct limit_owner *owner, const struct limit **limit);
/* The same on one host, for a job that has these pieces on other hosts so far. */
int limits_slots_left_on(const struct limits_tentative *tentative,
                         const struct limit_owner *owner, const char *host,
                         int n_processors, const struct host_slots *pieces,
                         int n_pieces, const struct limit **limit);
/* How many slots a job of the owner could have if no other job ran. */
int limits_max_slots(const struct limit_owner *owner, const struct limit **limit);
/* The same on one host, in addition to its pieces on others. */
int limits_max_slots_on(const struct limit_owner *owner, const char *host,
                        int n_processors, const struct host_slots *pieces,
                        int n_pieces);

/* A host with the slots that jobs may use there. */
struct limit_host {
    const char *name;
    int n_processors;
    int n_slots; /* lowered by limit_capacity */
};
/* How many slots of the hosts jobs of these queues can use together by limits on hosts,
 * if no other job runs. */
int64_t limit_capacity(const struct limits *limits, struct arena *arena,
                       const char *const *queues, int n_queues,
                       struct limit_host *hosts, int n_hosts);

/* How many slots the limit allows on a host with that number of processors; INT_MAX:
 * any. */
int limit_slots(const struct limit *limit, int n_processors);
/* True if the side names it, or is not given. */
bool limit_side_has(const struct limit_side *side, const char *name);

struct limit_usage {
    int limit;                     /* index in the list */
    const char *each[LIMIT_SIDES]; /* whose count it is; NULL: the side is not EACH */
    int n_slots, n_jobs;
    const char *key; /* of its limit_share */
};

/* Lists all limits that have a count, once for each of those that have their own.
 * Order: the list's, then by users, queues, hosts, projects. Returns the number. */
int limit_usage_list(const struct limits *limits, struct arena *arena,
                     const struct limit_usage **uses);

/* Reads all limits of a configuration. Queue names are checked against the Queue
 * sections. */
void limit_config_read(struct conf *conf, const struct groups *groups,
                       const struct limit **limits, int *n_limits);

/* Reads MEM, SWP, TMP, RESOURCE and LICENSE of a Limit section, whose sides have been
 * read. That the resources exist is not checked. False: it has none of these keys. */
bool limit_amount_read(struct conf *conf, const struct conf_place *at,
                       struct limit *limit);

#endif
