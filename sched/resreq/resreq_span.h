/* SPDX-License-Identifier: Apache-2.0 */
/* resreq_span.h: how the slots of a parallel job are distributed over hosts: parses and
 * merges the sections span, same and cu.
 *
 *     span      hosts=1          all on one host
 *               hosts=-1         as without span, whatever the queue says
 *               ptile=N          N on each host
 *               ptile='!'        on each host as many as it has; with ,NAME:N after it
 *                                N on hosts of that type (with same[type]) or model
 *                                (with same[model])
 *               block=N          in blocks of N, as many on a host as fit
 *               stripe[=N]       one on each host in turn, up to N on each
 *     same      RESOURCE[:RESOURCE]...   static ones
 *     cu        on hosts of compute units of one type, unit by unit:
 *               type=T           one of COMPUTE_UNIT_TYPES, else its default
 *               pref=P           order of units: config, maxavail, minavail, bestfit
 *               maxcus=N         on at most N units
 *               usablecuslots=N  at least N slots on each unit but the last
 *               balance          equally many on each unit, on as few as possible
 *               excl             on units that no other job uses
 *
 * span and cu of the job count before those of its application, and these before its
 * queue's, each section as a whole. The resources of same of all levels are combined.
 *
 * Ownership: the arena's. Errors: ERR_PARSE. Source: docs/design/resreq.md "Span",
 * "Same", "Compute units". Layer: sched (base only). */
#ifndef SUBLET_SCHED_RESREQ_RESREQ_SPAN_H
#define SUBLET_SCHED_RESREQ_RESREQ_SPAN_H

#include "base/err.h"
#include "sched/resreq/resreq_section.h"
#include "sched/resreq/resreq_select.h"

enum resreq_span_kind {
    RESREQ_SPAN_NONE,
    RESREQ_SPAN_ANY, /* hosts=-1 */
    RESREQ_SPAN_HOST,
    RESREQ_SPAN_PTILE,
    RESREQ_SPAN_PTILE_ALL, /* ptile='!' */
    RESREQ_SPAN_BLOCK,
    RESREQ_SPAN_STRIPE,
};

enum {
    RESREQ_SAME_MAX =
        16, /* resources of all levels: hosts differ in fewer properties */
    RESREQ_PTILES_MAX = 100 /* types or models in one string */
};

/* Slots on hosts of a type or a model. */
struct resreq_ptile {
    const char *name;
    int n_slots;
};

enum resreq_cu_pref {
    RESREQ_CU_CONFIG, /* as in section ComputeUnit */
    RESREQ_CU_MAXAVAIL,
    RESREQ_CU_MINAVAIL,
    RESREQ_CU_BESTFIT, /* as few as possible, of these the fullest ones */
};

struct resreq_cu {
    bool is_given;
    int type; /* index of a type; -1: unknown, where the types are not known */
    enum resreq_cu_pref pref;
    int max_units;    /* 0: any number */
    int usable_slots; /* 0: no minimum */
    bool is_balanced, is_exclusive;
    struct resreq_place place; /* of the section; valid as long as the strings are */
};

struct resreq_span {
    enum resreq_span_kind kind;
    int n_slots; /* of PTILE and BLOCK; of STRIPE the most on a host, 0: any number */
    const struct resreq_ptile *ptiles;
    int n_ptiles;
    int same[RESREQ_SAME_MAX]; /* ids of resources, each once */
    int n_same;
    struct resreq_cu cu;
    struct resreq_place place; /* of the span; valid as long as the strings are */
};

/* Parses one of these sections and adds it to `span`. */
int resreq_span_parse(struct arena *arena, const struct resreq_language *language,
                      const struct resreq_part *part, struct resreq_span *span,
                      struct resreq_notes *notes,
                      struct resreq_error *error) MUST_CHECK;
/* Adds the span, same and cu of a lower level. */
void resreq_span_merge(struct resreq_span *span, const struct resreq_span *lower);
/* Checks that the result of all levels is consistent. */
int resreq_span_check(const struct resreq_span *span,
                      struct resreq_error *error) MUST_CHECK;

#endif
