/* SPDX-License-Identifier: Apache-2.0 */
/* resreq.h: requirement strings: several in, one compiled requirement out, and which
 * hosts it selects in which order.
 *
 * Strings of a job are joined: selections with AND, orders one behind the other; span,
 * same, cu and affinity may stand in one of them. Those of its application and its
 * queue are joined likewise, a queue's order counts only where the job has no string,
 * what each level reserves is merged as resreq_rusage.h says, and the shape of a
 * parallel job as resreq_span.h does; that it is within the
 * queue's RESRSV_LIMIT is for resrsv_limit.h to judge.
 *
 * A job's one string may have several alternatives, {A} || {B}: each is a requirement
 * of its own, with what application and queue say besides.
 *
 * Where the joined selections name no type: `type == any` if they name a string or a
 * Boolean resource, else `type == local`, or with `defaults_any` never.
 *
 * Units: bytes. Ownership: the requirement lives in the arena and points into nothing
 * else; notes and faults point into the strings. Errors: ERR_PARSE, ERR_UNBUILT with
 * the fault filled; the arena has scratch in it then. Nothing takes longer than the
 * length of the strings (bounds.h) allows: below a millisecond.
 * Source: seed 003; lsf.md 5.1, 5.2. Layer: sched (base only). */
#ifndef SUBLET_SCHED_RESREQ_RESREQ_H
#define SUBLET_SCHED_RESREQ_RESREQ_H

#include "sched/resreq/resreq_order.h"
#include "sched/resreq/resreq_program.h"
#include "sched/resreq/resreq_rusage.h"
#include "sched/resreq/resreq_select.h"
#include "sched/resreq/resreq_span.h"

enum resreq_reading {
    RESREQ_READ_SELECT,    /* the others are not looked into: BSUB_CHK_RESREQ */
    RESREQ_READ_ALL,       /* every section's shape */
    RESREQ_READ_SUPPORTED, /* and refuse those that nothing acts on yet */
};

struct resreq_rules {
    struct resreq_language language;
    enum resreq_reading reading;
    bool defaults_any; /* load, RES_SELECT */
};

struct resreq {
    const struct resreq *next; /* the next alternative; NULL: there is none */
    struct resreq_program program;
    struct resreq_order order; /* no keys: none was asked for */
    struct resreq_rusages usages;
    struct resreq_span shape;
    unsigned sections; /* 1 << enum resreq_section, of those that stand in it */
};

struct resreq_strings {
    const char *queue;       /* its RES_REQ; NULL or "": none */
    const char *range;       /* its RESRSV_LIMIT, which is good; likewise */
    const char *application; /* likewise */
    const char *const *strings;
    int n_strings;
};

int resreq_compile(struct arena *arena, const struct resreq_rules *rules,
                   const struct resreq_strings *from, struct resreq *resreq,
                   struct resreq_notes *notes, struct resreq_error *fault) MUST_CHECK;

/* Rows of the table that are selected, in the order that was asked for, else by row, of
 * the first alternative, then what others select besides;
 * `rows` has room for all. Returns how many. */
int resreq_list_hosts(const struct resreq *resreq, const struct resource_table *table,
                      const struct resreq_local *local, int *rows);

/* Several strings as the one that LSF shows for them: "select[(a) && (b)] order[x:y]";
 * one as it is. They have been compiled before. */
const char *resreq_join(struct arena *arena, const char *const *strings, int n_strings);

#endif
