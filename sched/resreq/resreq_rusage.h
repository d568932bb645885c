/* SPDX-License-Identifier: Apache-2.0 */
/* resreq_rusage.h: the rusage section: what a job reserves while it runs; and the
 * limits that a queue sets for it (RESRSV_LIMIT).
 *
 *     rusages := rusage { "||" rusage }      alternatives, tried from left to right
 *     rusage  := string { "," string }
 *     string  := item{:item}[:duration=D][:decay=0|1]
 *     item    := NAME=AMOUNTS[/scope][:threshold=AMOUNT]
 *     mem=(50 20):duration=(10 5):decay=(1 0)          phases, the last to the end
 *
 * The scope says what an amount is for: /job, once for the job, at its first host;
 * /host, once for each of its hosts; /slot (or /task), for each of its slots, on their
 * hosts.
 *
 * With a threshold a job starts only on hosts where so much of the resource is
 * available before it takes its amount.
 *
 * An amount is reserved for its duration (in minutes, or with s, m, h), or without one
 * as long as the job runs. With decay it decreases linearly to 0, or to the next phase.
 * No phase may have a larger amount than the one before it.
 *
 * Levels are merged by resource: the job's before its application's before its queue's.
 * If the stronger level gives no duration, the weaker one's holds, with its decay; and
 * likewise its threshold. If a
 * queue reserves a built-in resource, a job may lower the amount and the duration, but
 * not exceed them. If both levels have alternatives, each of one level is combined with
 * each of the other.
 *
 *     RESRSV_LIMIT = [mem=10,4G] [lic=2]     mem from 10 MB to 4 GB; lic at most 2
 *
 * For a resource in RESRSV_LIMIT the rusage of the queue is only a default, no bound.
 * The limit is compared with the amount of the first phase, which is the largest.
 *
 * Units: thousandths of the resource's unit (MB), milliseconds since the job began.
 * Ownership: the arena's; ids are those of the language's catalogue.
 * Errors: ERR_PARSE with `error` filled. It is an error to reserve a resource that is
 * not consumable; lenient, a note. Source: docs/design/resreq.md "Rusage", "Errors".
 * Layer: sched (base only).
 */
#ifndef SUBLET_SCHED_RESREQ_RESREQ_RUSAGE_H
#define SUBLET_SCHED_RESREQ_RESREQ_RUSAGE_H

#include "base/err.h"
#include "sched/resreq/resreq_section.h"
#include "sched/resreq/resreq_select.h"

enum {
    RESREQ_RUSAGE_ITEMS_MAX = 32, /* resources in a rusage: a job reserves a few */
    RESREQ_RUSAGE_PHASES_MAX = 8,
    RESREQ_RUSAGES_MAX = 16, /* alternatives, of all levels together */
};

#define RESREQ_RUSAGE_MILLI_MAX INT64_C(1000000000000000) /* 10^12 of the unit */

enum resreq_scope {
    RESREQ_SCOPE_DEFAULT, /* the default of the site */
    RESREQ_SCOPE_JOB,
    RESREQ_SCOPE_HOST,
    RESREQ_SCOPE_SLOT,
};

struct resreq_rusage_phase {
    int64_t milli;
    int64_t duration_ms; /* 0: to the end */
    bool decays;
};

/* Slots of a part of a compound requirement on a host of the job, by its index. */
struct resreq_rusage_piece {
    int host, n_slots;
};

/* One resource in a rusage. */
struct resreq_rusage_item {
    int id; /* -1: an unknown name, in an open catalogue */
    enum resreq_scope scope;
    int64_t threshold_milli; /* 0: none */
    const struct resreq_rusage_phase *phases;
    int n_phases;
    const struct resreq_rusage_piece *pieces; /* NULL: it counts on all of its hosts */
    int n_pieces;
    struct resreq_place place; /* of the name */
};

struct resreq_rusage {
    const struct resreq_rusage_item *items; /* in the order of the text */
    int n_items;
};

struct resreq_rusages {
    const struct resreq_rusage *alternatives;
    int n_alternatives; /* 0: nothing is reserved */
};

/* What jobs of a queue may reserve of a resource (RESRSV_LIMIT). */
struct resrsv_limit {
    int id;
    int64_t min_milli, max_milli;
};

struct resrsv_limits {
    const struct resrsv_limit *items;
    int n_items;
};

/* The limit of that resource; NULL: none. */
const struct resrsv_limit *resreq_rusage_find_limit(const struct resrsv_limits *limits,
                                                    int id);

/* Parses a section and adds it to those of other strings of the same level, which must
 * not have the same resources. */
int resreq_rusage_parse(struct arena *arena, const struct resreq_language *language,
                        const struct resreq_part *part, struct resreq_rusages *rusages,
                        struct resreq_notes *notes,
                        struct resreq_error *error) MUST_CHECK;

/* Merges two levels. With `limits` the weaker level is a queue's, and bounds what the
 * job reserves of resources that have no limit; NULL: it is not a queue's. */
int resreq_rusage_merge(struct arena *arena, const struct resreq_rusages *strong,
                        const struct resreq_rusages *weak,
                        const struct resrsv_limits *limits,
                        struct resreq_rusages *merged,
                        struct resreq_error *error) MUST_CHECK;

/* The amount that is reserved at that time after the job began, per unit of the scope.
 */
int64_t resreq_rusage_milli(const struct resreq_rusage_item *item, int64_t elapsed_ms);
/* When the amount decreases next, at the latest. Decay is followed in steps of
 * `step_ms`. INT64_MAX: it stays. */
int64_t resreq_rusage_next_ms(const struct resreq_rusage_item *item, int64_t elapsed_ms,
                              int64_t step_ms);

/* Writes a rusage as a text that resreq_rusage_read reads:
 * `mem=4096/host:duration=60s,lic=2`. An item with pieces has them after its scope, as
 * HOST*SLOTS: `mem=100/slot/'0*1 2*3'`. */
const char *resreq_rusage_text(struct arena *arena, const struct resources *resources,
                               const struct resreq_rusage *rusage);
/* Reads a text without the keyword. Resources that are not in the catalogue (any more)
 * are skipped. A text with an error reserves nothing. */
void resreq_rusage_read(struct arena *arena, const struct resources *resources,
                        const char *text, struct resreq_rusage *rusage);
/* Reads a token as an amount. False if it is no number, or too large. */
bool resreq_rusage_read_amount(const struct lex_token *token, int64_t *milli);
/* "4096", "20.5". */
const char *resreq_rusage_amount_text(struct arena *arena, int64_t milli);

/* Parses RESRSV_LIMIT. Errors are unknown names, resources that are not consumable or
 * occur twice, and a minimum above the maximum. Only hint and column of `error` are for
 * users. */
int resrsv_limit_parse(struct arena *arena, const struct resources *resources,
                       const char *text, struct resrsv_limits *limits,
                       struct resreq_error *error) MUST_CHECK;

/* Checks that what a job reserves with each of its alternatives is within the limits.
 * `error` gets LSF's sentence otherwise. */
int resrsv_limit_check(struct arena *arena, const struct resources *resources,
                       const struct resrsv_limits *limits,
                       const struct resreq_rusages *rusages,
                       struct resreq_error *error) MUST_CHECK;

#endif
