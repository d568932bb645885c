/* SPDX-License-Identifier: Apache-2.0 */
/* resreq_rusage.h: the rusage section: what a job reserves while it runs.
 *
 *     usages := usage { "||" usage }         alternatives, tried from left to right
 *     usage  := string { "," string }
 *     string := NAME=AMOUNTS[/scope]{:NAME=AMOUNTS[/scope]}[:duration=D][:decay=0|1]
 *     mem=(50 20):duration=(10 5):decay=(1 0)          phases, the last to the end
 *
 * Scope says what an amount is of: /job, of the job, at the first of its hosts; /host,
 * of each of its hosts; /slot (or /task), of each of its slots, where they are.
 *
 * An amount holds for its duration (minutes, or with s, m, h; none: as long as the job
 * runs), then nothing is reserved any more. With decay it falls in a straight line to
 * nothing, or to the next phase. A later phase never has more than one before it.
 *
 * Levels are merged by resource: the job's before its application's before its
 * queue's; where the stronger gives no duration the weaker's holds, with its decay.
 * What a queue reserves of a built-in resource, and for how long, a job may lower and
 * not exceed, where no range (RESRSV_LIMIT) says what it may. Where both have
 * alternatives each of the one goes with each of the other.
 *
 * Units: thousandths of the resource's unit (MB), milliseconds since the job began.
 * Ownership: the arena's; ids are those of the language's catalogue.
 * Errors: ERR_PARSE with the fault filled. A resource that is not consumable is one;
 * lenient, a note. Source: lsf.md 5.4. Layer: sched (base only). */
#ifndef SUBLET_SCHED_RESREQ_RESREQ_RUSAGE_H
#define SUBLET_SCHED_RESREQ_RESREQ_RUSAGE_H

#include "base/err.h"
#include "sched/resreq/resreq_section.h"
#include "sched/resreq/resreq_select.h"

enum {
    RESREQ_RUSAGE_ITEMS_MAX = 32, /* resources of a usage: a job reserves a handful */
    RESREQ_RUSAGE_PHASES_MAX = 8,
    RESREQ_RUSAGES_MAX = 16, /* alternatives, of all levels together */
};

#define RESREQ_RUSAGE_MILLI_MAX INT64_C(1000000000000000) /* 10^12 of a unit */

enum resreq_scope {
    RESREQ_SCOPE_DEFAULT, /* as the site has it (sched/resource/rusage_supply.h) */
    RESREQ_SCOPE_JOB,
    RESREQ_SCOPE_HOST,
    RESREQ_SCOPE_SLOT,
};

struct resreq_rusage_phase {
    int64_t milli;
    int64_t duration_ms; /* 0: to the end */
    bool decays;
};

/* One resource of a usage. */
struct resreq_rusage_item {
    int id; /* -1: an open catalogue does not have it */
    enum resreq_scope scope;
    const struct resreq_rusage_phase *phases;
    int n_phases;
    struct resreq_place place; /* of its name */
};

struct resreq_rusage {
    const struct resreq_rusage_item *items; /* in the order of the text */
    int n_items;
};

struct resreq_rusages {
    const struct resreq_rusage *alternatives;
    int n_alternatives; /* 0: nothing is reserved */
};

/* What a queue's jobs may reserve of a resource (RESRSV_LIMIT, resrsv_limit.h). */
struct resrsv_limit {
    int id;
    int64_t min_milli, max_milli;
};

struct resrsv_limits {
    const struct resrsv_limit *items;
    int n_items;
};

/* The range of that resource; NULL: it has none. */
const struct resrsv_limit *resreq_rusage_find_limit(const struct resrsv_limits *ranges,
                                                    int id);

/* Reads a section, and adds it to what other strings of the same level reserve: no
 * resource may be in both. */
int resreq_rusage_parse(struct arena *arena, const struct resreq_language *language,
                        const struct resreq_part *part, struct resreq_rusages *usages,
                        struct resreq_notes *notes,
                        struct resreq_error *fault) MUST_CHECK;

/* What the stronger level makes of the weaker one; with `ranges` (NULL: no) that is a
 * queue's, and caps what has none of them. */
int resreq_rusage_merge(struct arena *arena, const struct resreq_rusages *strong,
                        const struct resreq_rusages *weak,
                        const struct resrsv_limits *ranges,
                        struct resreq_rusages *merged,
                        struct resreq_error *fault) MUST_CHECK;

/* What is reserved so long after the job began, for one of what its scope says. */
int64_t resreq_rusage_milli(const struct resreq_rusage_item *item, int64_t elapsed_ms);
/* When that is less than now at the latest: the end of a phase that decays is its next
 * step of `step_ms`. INT64_MAX: never. */
int64_t resreq_rusage_next_ms(const struct resreq_rusage_item *item, int64_t elapsed_ms,
                              int64_t step_ms);

/* A usage as a text that resreq_rusage_read takes: `mem=4096/host:duration=60s,lic=2`.
 */
const char *resreq_rusage_text(struct arena *arena, const struct resources *resources,
                               const struct resreq_rusage *usage);
/* From a text without the keyword; what the catalogue does not have (any more) is left
 * out. A text that cannot be read reserves nothing. */
void resreq_rusage_read(struct arena *arena, const struct resources *resources,
                        const char *text, struct resreq_rusage *usage);
/* "4096", "20.5". */
const char *resreq_rusage_amount_text(struct arena *arena, int64_t milli);

#endif
