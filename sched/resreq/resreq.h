/* SPDX-License-Identifier: Apache-2.0 */
/* resreq.h: requirement strings: compiles several strings into one requirement, and
 * lists the hosts that it selects in the order that it asks for.
 *
 * Several strings of a job are joined: select sections with AND, order sections one
 * after the other; span, same, cu and affinity may be in one string only. The strings
 * of the job's application and queue are joined likewise. The order of a queue counts
 * only if the job has no string. How rusage of the levels is merged is in
 * resreq_rusage.h, span and same in resreq_span.h. Whether the result is within
 * RESRSV_LIMIT of the queue is a separate check (resrsv_limit_check).
 *
 * A job's only string, that of its application, or that of its queue may have
 * alternatives, {A} || {B}. Each is a requirement of its own, combined with the strings
 * of the other levels. Only one level may have some, so that those of an application
 * count if the job has no string, and those of a queue if nor has the application.
 * Otherwise that string is ignored as a whole, as in LSF.
 *
 * The affinity of a job counts before that of its application, and this before the
 * queue's. It has no place in parts of a compound requirement.
 *
 * A compound requirement, N*{A} + M*{B}, is found at the same places, and is given as a
 * list of its parts. A part has no alternatives of rusage, and neither balance nor excl
 * in cu, and all parts together reserve no more than RESREQ_RUSAGE_ITEMS_MAX.
 *
 * If the joined selections name no type, they get `type == any` if they name a string
 * or Boolean resource, else `type == local`; with `defaults_any` neither is added.
 *
 * Units: bytes. Ownership: the requirement lives in the arena and points into nothing
 * else; notes and errors point into the strings. Errors: ERR_PARSE with `error` filled;
 * the arena has scratch data then. The length of the strings (bounds.h) bounds the time
 * to below a millisecond. Source: LSF, "Resource requirement strings";
 * docs/design/resreq.md "Sections", "Select". Layer: sched. */
#ifndef SUBLET_SCHED_RESREQ_RESREQ_H
#define SUBLET_SCHED_RESREQ_RESREQ_H

#include "sched/affinity/affinity.h"
#include "sched/resreq/resreq_order.h"
#include "sched/resreq/resreq_program.h"
#include "sched/resreq/resreq_rusage.h"
#include "sched/resreq/resreq_select.h"
#include "sched/resreq/resreq_span.h"

enum resreq_reading {
    RESREQ_READ_SELECT, /* only select is parsed: BSUB_CHK_RESREQ */
    RESREQ_READ_ALL,
};

struct resreq_rules {
    struct resreq_language language;
    enum resreq_reading reading;
    bool defaults_any; /* of load thresholds and RES_SELECT */
};

struct resreq {
    const struct resreq *next; /* the next alternative; NULL: this is the last */
    bool is_compound;          /* it and all that follow are parts of one requirement */
    bool is_local;             /* no string names a type: `type == local` */
    int n_slots;               /* of the part; 0: the rest of the job's slots */
    int64_t delay_ms; /* a job may use it so long after its submission; the next one
                         has at least the same delay */
    struct resreq_program program;
    struct resreq_order order; /* no keys: no order was given */
    struct resreq_rusages rusages;
    struct resreq_span span;
    struct affinity_request affinity;
    unsigned sections; /* 1 << enum resreq_section, for each section that is present */
};

struct resreq_strings {
    const char *queue;        /* its RES_REQ; NULL or "": none */
    const char *resrsv_limit; /* its RESRSV_LIMIT, which is valid; NULL or "": none */
    const char *application;  /* NULL or "": none */
    const char *const *strings;
    int n_strings;
};

int resreq_compile(struct arena *arena, const struct resreq_rules *rules,
                   const struct resreq_strings *from, struct resreq *resreq,
                   struct resreq_notes *notes, struct resreq_error *error) MUST_CHECK;

/* Checks that a job with that many slots, from min to max (0: as many), has as many as
 * the parts of a compound requirement. `source` is the string that it stands in. */
int resreq_check_slots(const struct resreq *resreq, int min, int max,
                       const char *source, struct resreq_error *error) MUST_CHECK;
/* The slots of a string with a compound requirement whose parts all have a number; 0:
 * it is another one. */
int resreq_count_slots(struct arena *arena, const char *source);

/* Lists the rows of the table that are selected, ordered as asked for, else by row:
 * those of the first alternative, then those that only later ones select. `rows` has
 * room for all rows of the table. Returns their number. */
int resreq_list_hosts(const struct resreq *resreq, const struct resource_table *table,
                      const struct resreq_local *local, int *rows);

/* What the strings of all levels require together, as one string with the same meaning:
 * `select[(type == any) && (mem > 50)] rusage[mem=10]`. NULL: a string is not valid. */
const char *resreq_combined(struct arena *arena, const struct resreq_rules *rules,
                            const struct resreq_strings *from);

#endif
