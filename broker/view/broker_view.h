/* SPDX-License-Identifier: Apache-2.0 */
/* broker_view.h: the listings that broker_view() (broker.h) is made of.
 *
 * Source: docs/design/interfaces.md "JSON". Layer: broker. */
#ifndef SUBLET_BROKER_VIEW_BROKER_VIEW_H
#define SUBLET_BROKER_VIEW_BROKER_VIEW_H

#include "base/arena.h"
#include "base/err.h"
#include "broker/broker.h"
#include "broker/broker_parts.h"
#include "model/msg.h"
#include "model/page.h"

/* -------------------------------------------------------------- hosts_view.c */

/* `query`: of a provider, a name ("n1@north"), behind `after`. */
struct value *hosts_view_page(const struct broker *broker, struct arena *arena,
                              const struct msg_query *query, const char **next);

/* -------------------------------------------------------------- pools_view.c */

/* All pools, or the one that is named. */
struct value *pools_view_list(const struct broker *broker, struct arena *arena,
                              const struct msg_query *query, int64_t now_ms,
                              const char **next);

/* --------------------------------------------------------------- plan_view.c */

/* The nodes of the pool that is named; `host`: only the one with that path. */
struct value *plan_view_page(const struct broker *broker, struct arena *arena,
                             const struct msg_query *query, int64_t now_ms,
                             const char **next);

/* ---------------------------------------------------------------- pool_sample.c */

/* Pools and the nodes of their plans as numbers for charts, by the
 * latest cycle.
 *
 * What the cycle grants counts as held, what it recalls as recalled. A pool without a
 * cycle (since the start, or since its plan was loaded) has no samples.
 *
 * Units: slots. Ownership: names are borrowed until the next step.
 * Order: pools as configured; each pool, then its nodes in the order of plan.h. */

struct pool_sample {
    const char *pool;
    const char *node;    /* its path; NULL: the pool itself */
    int64_t slots, idle; /* of a pool */
    int64_t quota;       /* of a node */
    int64_t alloc, recalled, demand;
};

int pool_sample_count(const struct broker *broker);
/* index 0 .. pool_sample_count - 1. */
struct pool_sample pool_sample_at(const struct broker *broker, int index);

/* ---------------------------------------------------------------- http_target.c */

/* Parses a request's target, by one table of paths and one of
 * parameters.
 *
 * Parts of the path and values of parameters are decoded (%41) one by one, so that a
 * slash in a name stays in the name. A parameter that the path does not know, that is
 * there twice or is out of bounds is refused; an empty value counts as none.
 *
 * Errors: ERR_PARSE, ERR_BOUNDS (the parameter, and what was expected); ERR_NOT_FOUND
 * no such path.
 * Ownership: texts live in the arena. Source: docs/design/interfaces.md "HTTP". */

enum http_target_page {
    HTTP_TARGET_LEASES,
    HTTP_TARGET_LEASE, /* query.name: its id */
    HTTP_TARGET_HISTORY,
    HTTP_TARGET_DRAIN,
    HTTP_TARGET_RESUME,
    HTTP_TARGET_REBALANCE,
    HTTP_TARGET_SITES,
    HTTP_TARGET_OVERVIEW,
    HTTP_TARGET_HOSTS,
    HTTP_TARGET_EVENTS,
    HTTP_TARGET_STREAM,
    HTTP_TARGET_RECLAIM,
    HTTP_TARGET_POOLS,
    HTTP_TARGET_PLAN, /* query.name: the pool */
    HTTP_TARGET_RELOAD,
    HTTP_TARGET_SERIES,       /* of all sites together */
    HTTP_TARGET_SITE_SERIES,  /* query.name: the site */
    HTTP_TARGET_LEASE_SERIES, /* query.name: the lease */
    HTTP_TARGET_POOL_SERIES,  /* query.name: the pool */
    HTTP_TARGET_NODE_SERIES,  /* query.name: the pool and the node's path */
    HTTP_TARGET_USAGE,        /* query.name: a lease, query.provider: a site, or "" */
    HTTP_TARGET_ABOUT,
    HTTP_TARGET_HEALTH,
    HTTP_TARGET_METRICS,
    HTTP_TARGET_FILE, /* the page, and what belongs to it: `file` */
};

struct http_target {
    enum http_target_page page;
    struct msg_query query; /* no text is NULL */
    int64_t span_s;         /* of a series: the time before now; 0: all */
    const char *file;       /* a path without the first slash; "" is the page */
};

/* `uri`: as it came, "/path?name=value". `method` is one that the path knows, else
 * ERR_STATE, and `allow` (a literal) lists those that it knows. */
int http_target_parse(const char *method, const char *uri, struct arena *arena,
                      struct http_target *target, const char **allow,
                      struct err *err) MUST_CHECK;

/* ---------------------------------------------------------------- lease_event.c */

/* Rows of the history of leases, sites and pools as events: `sublet events`, the HTTP
 * API and the events of a simulation show a row alike. */

/* "lease_made" and so on. */
const char *lease_event_name(enum history_event event);

/* Adds what follows the name of an event: lease, site or node, and the reason. A
 * deadline is an instant, or in simulations the time since `start_ms`, which else is
 * negative. */
void lease_event_add(struct arena *arena, struct value *event,
                     const struct row_history *row, int64_t start_ms);

/* {"available", "used"} of one side, with the name of its site if that is not NULL. */
void lease_event_add_side(struct arena *arena, struct value *event, const char *key,
                          const char *site, int available, int used);

#endif
