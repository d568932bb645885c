/* SPDX-License-Identifier: Apache-2.0 */
/* queue.h: queues and application profiles as configured, and the hosts that jobs may
 * use.
 *
 * HOSTS: `all` (own hosts), `others` (own hosts that are not named), `allremote` (all
 * borrowed hosts), `all@site`, `host@site`, host names and host groups, `~host` with
 * all, `name+N` for a preference (default 0, higher first), `none`. Default: all own
 * hosts and no borrowed ones.
 *
 * -m of a job restricts the HOSTS of its queue further. It has the same words without
 * `~`; `others` stands for all hosts that the list does not name.
 *
 *     n1+2 pair+1 others      n1 first, then the hosts of pair, then any other host
 *
 * If the job has a preference for any host, only the job's preferences count, not the
 * queue's.
 *
 * n1! in either list makes a host, or the hosts of a group, a candidate for the first
 * execution host: the first host of a job is one of those. If the job names any, the
 * queue's do not count.
 *
 * JOB_ACCEPT_INTERVAL: the time for which a host gets no further job after one was
 * dispatched to it, by any queue.
 *
 *     JOB_ACCEPT_INTERVAL = 1      times MBD_SLEEP_TIME (60 s)
 *     JOB_ACCEPT_INTERVAL = 90s    2m
 *
 * The value of a queue takes precedence over that of section Parameters. Without
 * either, a host gets jobs as long as it has free slots.
 *
 * An application profile has settings of a kind of job, independent of its queue
 * (job_rules.h says which level takes precedence).
 *
 * Units: milliseconds. Ownership: in conf's arena; a list of -m in the arena that it
 * was read into. Errors: diagnostics; of -m ERR_PARSE, but an unknown host is no error.
 * Source: docs/design/leases.md "The consumer's side"; LSF's lsb.params, lsb.queues,
 * lsb.applications, bsub -m. Layer: sched (base only). */
#ifndef SUBLET_SCHED_QUEUE_QUEUE_H
#define SUBLET_SCHED_QUEUE_QUEUE_H

#include <stdbool.h>

#include "base/conf/conf.h"
#include "base/window.h"
#include "sched/queue/groups.h"
#include "sched/queue/job_rules.h"
#include "sched/queue/reservation_config.h"
#include "sched/resource/resource.h"

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
    const char *name; /* "" if the kind has no name */
    int preference;
    bool is_first;                /* a job's first host may be one of these */
    const struct name_set *hosts; /* the hosts of a group */
};

/* INTERACTIVE: which jobs the queue accepts. */
enum queue_interactive {
    QUEUE_TAKES_ALL,
    QUEUE_TAKES_BATCH,       /* NO */
    QUEUE_TAKES_INTERACTIVE, /* ONLY */
};

/* Which users may use a queue, and when; and its rules for each job. Its limits are in
 * limit.h. */
struct queue_rules {
    struct name_set admins; /* ADMINISTRATORS */
    struct name_set users;  /* USERS */
    struct window_list run_windows, dispatch_windows;
    bool ignores_deadline; /* IGNORE_DEADLINE */
    struct job_rules job;
};

struct queue_config {
    const char *name;
    int priority;                   /* default 1; higher first */
    const struct queue_term *terms; /* no terms: QUEUE_ALL */
    int n_terms;
    const char *description;
    const char *res_req;        /* RES_REQ; NULL: none */
    const char *resrsv_limit;   /* RESRSV_LIMIT; NULL: none */
    int64_t accept_interval_ms; /* JOB_ACCEPT_INTERVAL; 0: none */
    int64_t new_job_delay_ms;   /* NEW_JOB_SCHED_DELAY, from the submission on */
    bool is_balanced;           /* PLACEMENT of parallel jobs: balanced or stacked */
    bool is_exclusive;          /* EXCLUSIVE: jobs may ask for exclusive hosts */
    /* The type of compute units that jobs may have exclusively, "" the default one;
     * NULL: they may not. */
    const char *exclusive_units;
    enum queue_interactive interactive;
    struct load_thresholds thresholds; /* load thresholds, read by threshold_config.c */
    const char *stop_cond, *resume_cond; /* selection strings; NULL: none */
    struct reservation_config reservation;
    struct queue_rules rules;
};

/* Parses EXCLUSIVE: Y, N, CU, CU[] or CU[TYPE], in any case of letters. Sets both
 * fields of the queue; a TYPE is in the arena and may be unknown. Errors: ERR_PARSE,
 * and jobs may ask for nothing. */
int queue_exclusive_read(struct arena *arena, const char *value,
                         struct queue_config *queue, struct err *err) MUST_CHECK;
/* Parses one word of a list: "all", "n1+2", "n1!", "~n1", "n1@north", a group. A name
 * that is not a group is assumed to be a host. */
int queue_term_read(struct arena *arena, const struct groups *groups, const char *word,
                    struct queue_term *term, struct err *err) MUST_CHECK;
/* True if the term includes this host; `site` is "" for an own host. Not for
 * QUEUE_OTHERS, which depends on the whole list. Exclusions include no host. */
bool queue_term_covers(const struct queue_term *term, const char *host,
                       const char *site);

/* Reads all Queue sections, in file order. */
void queue_read(struct conf *conf, const struct groups *groups,
                struct queue_config **queues, int *n_queues);

/* True if jobs of the queue may run on this host; gives its preference. `site` is ""
 * for an own host. An exclusion overrides everything. If several terms include the
 * host, the highest preference counts. */
bool queue_allows(const struct queue_config *queue, const char *host, const char *site,
                  int *preference);

/* True if their HOSTS are the same, word for word: then both allow the same hosts with
 * the same preferences, whatever hosts there are. */
/* True if HOSTS names first execution hosts. */
bool queue_has_first(const struct queue_config *queue);
/* True if the host is one of them. */
bool queue_is_first(const struct queue_config *queue, const char *host,
                    const char *site);
bool queue_same_terms(const struct queue_config *a, const struct queue_config *b);
/* True if both allow the same own hosts and name the same borrowed ones. */
bool queue_same_hosts(const struct queue_config *a, const struct queue_config *b,
                      const struct groups *groups);

/* MBD_SLEEP_TIME. */
int64_t accept_interval_mbd_sleep_ms(const struct conf *conf);
/* Of section Parameters. */
int64_t accept_interval_read_default(struct conf *conf);
/* Of a row of section Queue. */
int64_t accept_interval_read(struct conf *conf, const struct conf_place *at,
                             int64_t otherwise_ms);

/* ---------------------------------------------------------------- users, windows */

/* Reads a row of section Queue. */
void queue_rules_read(struct conf *conf, const struct groups *groups,
                      const struct conf_place *at, struct queue_rules *rules);

/* Returns 0 if this user may submit to the queue. `err` gets LSF's sentence otherwise.
 */
int queue_rules_check_user(const struct queue_rules *rules, const char *user,
                           struct err *err) MUST_CHECK;

/* ---------------------------------------------------------------- applications */

struct application {
    const char *name;
    const char *description;
    const char *res_req; /* RES_REQ; NULL: none */
    bool forbids_resize; /* RESIZABLE_JOBS = N */
    enum resizable resizable;
    const char *resize_notify; /* RESIZE_NOTIFY_CMD; "": none */
    struct job_rules rules;
};

/* Reads all Application sections. */
void application_read(struct conf *conf, struct application **applications,
                      int *n_applications);

/* By name, or NULL. */
const struct application *application_find(const struct application *applications,
                                           int n_applications, const char *name);

/* ---------------------------------------------------------------- hosts of a job */

struct host_list_name;

/* The list of -m of a job, and the hosts that the job avoids because it has exited
 * there with a code of EXCLUDE (REQUEUE_EXIT_VALUES). */
struct host_list {
    const struct queue_term *terms;
    int n_terms;
    const struct queue_term **wide_terms; /* terms that are not the name of a host */
    int n_wide_terms;
    struct host_list_name *by_name; /* hash table of the terms that are ... */
    size_t n_buckets; /* ... with a power of two of buckets; 0: no table */
    bool has_preferences, has_first;
    bool is_any; /* the job has no list: it may use any host */
    const char *const *avoided;
    int n_avoided;
};

int host_list_parse(struct arena *arena, const struct groups *groups,
                    const char *const *words, int n_words, struct host_list *list,
                    struct err *err) MUST_CHECK;

/* Builds a list of these terms, which are borrowed. */
void host_list_set(struct arena *arena, const struct queue_term *terms, int n_terms,
                   struct host_list *list);

/* True if the list includes the host, avoided or not. Gives its preference, the highest
 * one if several terms match. `site` is "" for an own host. */
bool host_list_allows(const struct host_list *list, const char *host, const char *site,
                      int *preference);
/* True if the host is named as a first execution host. */
bool host_list_is_first(const struct host_list *list, const char *host,
                        const char *site);
/* True if the job has exited on the host with a code of EXCLUDE. `list` may be NULL. */
bool host_list_avoids(const struct host_list *list, const char *host);

#endif
