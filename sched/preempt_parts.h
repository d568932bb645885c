/* SPDX-License-Identifier: Apache-2.0 */
/* preempt_parts.h: the inside of a plan of preemptions, for the files that make it:
 * preempt.c (which jobs of a line preempt, and what is kept for them),
 * preempt_choose.c (whom one job preempts), preempt_shape.c (whom one whose slots may
 * not lie anywhere), preempt_draft.c (what there would be if some stood still).
 *
 * The pass counts a victim's slots as used: they are until it stands still. What
 * victims give and what claims will take of that stands in `delta`, so that the next
 * one to preempt sees what is left over. Layer: sched, within preempt. */
#ifndef SUBLET_SCHED_PREEMPT_PARTS_H
#define SUBLET_SCHED_PREEMPT_PARTS_H

#include "sched/place_view.h"
#include "sched/preempt_give.h"
#include "sched/preempt_view.h"

/* One job's choice that is being made. */
struct preempt_choice {
    const struct place_line *line;
    struct preempt_view *view; /* of one of the line's alternatives */
    int group;
    int *order; /* indexes of jobs, as they are taken */
    int n_order;
    int *victims;
    int n_victims;
    bool takes_all; /* a limit is exceeded by far: one victim alone shows no effect */
};

struct preempt {
    const struct preempt_snapshot *snapshot;
    const struct place_snapshot *place;
    struct arena *arena;
    struct preempt_world world;
    struct limits_draft *draft;    /* as if all victims stood still; NULL: no limits */
    const struct place_room *room; /* of the pass */
    struct preempt_give give;
    int *delta;           /* by host: what victims give and claims will take of it */
    bool *taken;          /* by job */
    bool *opened;         /* by host: its exclusive job is a victim */
    bool is_exclusive;    /* the line that is looked at */
    int *order, *victims; /* scratch of a choice, by job */
    /* Of the line that is looked at: one for each alternative of what it reserves. */
    struct preempt_view *views[RESREQ_USAGES_MAX];
    int n_views;
    struct host_slots *hosts; /* scratch: where the job would be, ... */
    int *places;              /* ... the same as indexes */
    int n_hosts;
    /* By group, for the line that is looked at: free slots on the hosts of its view,
     * -1: not counted yet; and a host before which there are none. */
    int64_t *free_slots;
    int *first_host;
    struct preempt_plan plan;
    bool is_idle, was_asked; /* there is no victim at all; that is known */
};

/* ---------------------------------------------------------------- as if */

/* The victim stands still, or does not after all. Returns by how many slots there are
 * more for the view. */
int preempt_draft_set(struct preempt *preempt, const struct preempt_view *view,
                      int index, bool is_still);
/* Slots of that host that are free for the line; an exclusive one has none where
 * anything runs. */
int preempt_draft_free_on(const struct preempt *preempt, int host);
/* Slots under limits that hold wherever the job is. */
int preempt_draft_room(const struct preempt *preempt, const struct place_line *line);
/* Its slots may not lie anywhere. */
bool preempt_draft_has_shape(const struct preempt_choice *choice);
/* Puts the job on the group's hosts as things stand; false where it does not fit. */
bool preempt_draft_put(struct preempt *preempt, const struct preempt_choice *choice);
/* Free slots on the group's hosts. */
int64_t preempt_draft_free_in(struct preempt *preempt,
                              const struct preempt_choice *choice);

/* ---------------------------------------------------------------- choosing */

/* Of the choice's order the fewest first ones with which the job can be put stand
 * still, and are its victims; where all of them are too few, none is. */
bool preempt_shape_take(struct preempt *preempt, struct preempt_choice *choice);

/* The first group that will do, in the order of their best victims; under
 * OPTIMAL_MINI_JOB the first of those in which the fewest do. -1: none. */
int preempt_choose_group(struct preempt *preempt, struct preempt_choice *choice);
/* Takes victims in the choice's group; they stand still, and the job is put. */
bool preempt_choose_in(struct preempt *preempt, struct preempt_choice *choice);
/* The group where what victims of others leave over is enough; -1: none. */
int preempt_choose_left_over(struct preempt *preempt, struct preempt_choice *choice);

#endif
