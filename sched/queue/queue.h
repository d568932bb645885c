/* SPDX-License-Identifier: Apache-2.0 */
/* queue.h: queues as configured, and which hosts one may use.
 *
 * HOSTS: `all` (own hosts), `others` (own hosts not named), `allremote` (all borrowed),
 * `all@site`, `host@site`, host names, `~host` with all, `name+N` preference (default
 * 0, higher first), `none`. Default: all own hosts, never borrowed ones. A host group
 * stands for its hosts.
 *
 * Ownership: in conf's arena. Errors: diagnostics. Source: lsf.md 1.6.
 * Layer: sched (base only). */
#ifndef SUBLET_SCHED_QUEUE_QUEUE_H
#define SUBLET_SCHED_QUEUE_QUEUE_H

#include <stdbool.h>

#include "base/conf.h"
#include "sched/queue/groups.h"
#include "sched/queue/queue_rules.h"
#include "sched/reservation/reservation_config.h"
#include "sched/resource/load_threshold.h"

enum queue_term_kind {
    QUEUE_ALL,
    QUEUE_OTHERS,
    QUEUE_ALL_REMOTE,
    QUEUE_ALL_AT,  /* name: the site */
    QUEUE_HOST_AT, /* name: "host@site" */
    QUEUE_HOST,
    QUEUE_NOT_HOST,
    QUEUE_GROUP,
    QUEUE_NOT_GROUP,
};

struct queue_term {
    enum queue_term_kind kind;
    const char *name; /* "" where the kind says it all */
    int preference;
    const struct name_set *hosts; /* of a group */
};

/* INTERACTIVE: which jobs it takes. */
enum queue_interactive {
    QUEUE_TAKES_ALL,
    QUEUE_TAKES_BATCH,       /* NO */
    QUEUE_TAKES_INTERACTIVE, /* ONLY */
};

struct queue_config {
    const char *name;
    int priority;                   /* default 1; higher first */
    const struct queue_term *terms; /* none: QUEUE_ALL */
    int n_terms;
    const char *description;
    const char *res_req;      /* RES_REQ; NULL: none */
    const char *resrsv_limit; /* RESRSV_LIMIT; NULL: none */
    int64_t accept_ms;        /* JOB_ACCEPT_INTERVAL; 0: none */
    bool is_balanced;         /* PLACEMENT of parallel jobs: balanced; else stacked */
    bool is_exclusive;        /* EXCLUSIVE: jobs may ask for hosts of their own */
    enum queue_interactive interactive;
    struct load_thresholds thresholds;   /* of load; threshold_config.h reads them */
    const char *stop_cond, *resume_cond; /* selections; NULL: none */
    struct reservation_config reservation;
    struct queue_rules rules;
};

/* One word of a list: "all", "n1+2", "~n1", "n1@north", a group. Whether a name that is
 * no group is a host's is not judged. */
int queue_term_read(struct arena *arena, const struct groups *groups, const char *word,
                    struct queue_term *term, struct err *err) MUST_CHECK;
/* True where the term is about this host: `site` is "" for an own one. Not for
 * QUEUE_OTHERS, which only a list can tell; exclusions are about none. */
bool queue_term_covers(const struct queue_term *term, const char *host,
                       const char *site);

/* Reads all Queue sections, in file order. */
void queue_read(struct conf *conf, const struct groups *groups,
                struct queue_config **queues, int *n_queues);

/* True where jobs of the queue may run on this host; then its preference. `site` is ""
 * for an own host. An exclusion beats everything; of several terms that name it the
 * highest preference counts. */
bool queue_allows(const struct queue_config *queue, const char *host, const char *site,
                  int *preference);

/* True where their HOSTS are the same, word for word: whatever hosts there are, both
 * may use the same, with the same preferences. */
bool queue_same_terms(const struct queue_config *a, const struct queue_config *b);
/* True where both may use the same own hosts, and name the same borrowed ones. */
bool queue_same_hosts(const struct queue_config *a, const struct queue_config *b,
                      const struct groups *groups);

#endif
