/* SPDX-License-Identifier: Apache-2.0 */
/* preempt_draft.c: slots, limits and resources as if the victims of a plan stood still
 * (preempt_parts.h), and where a job would be then: on the first hosts of a group that
 * have room, in the snapshot's order. */
#include <limits.h>

#include "sched/preempt_parts.h"

/* ---------------------------------------------------------------- one victim */

int preempt_draft_free_on(const struct preempt *preempt, int host)
{
    const struct place_host *at = &preempt->place->hosts[host];
    int n_used = preempt->room->used[host] + preempt->delta[host];
    bool is_taken = preempt->room->is_taken[host] && !preempt->opened[host];
    if (is_taken || at->is_kept ||
        (preempt->is_exclusive && (n_used > 0 || at->is_shared))) {
        return 0;
    }
    return at->max > n_used ? at->max - n_used : 0;
}

/* An exclusive job on its own hosts that keeps them even if it stands still. */
static bool keeps_hosts(const struct preempt *preempt, const struct preempt_job *job)
{
    return job->is_exclusive && !preempt->snapshot->rules->has_exclusive;
}

static void note_free(struct preempt *preempt, const struct preempt_job *job, int more)
{
    int group = preempt->world.group_of[job->pieces[0].host];
    if (preempt->free_slots[group] >= 0) {
        preempt->free_slots[group] += more;
    }
    for (int i = 0; i < job->n_pieces; i++) {
        if (job->pieces[i].host < preempt->first_host[group]) {
            preempt->first_host[group] = job->pieces[i].host;
        }
    }
}

int preempt_draft_set(struct preempt *preempt, const struct preempt_view *view,
                      int index, bool is_still)
{
    const struct preempt_job *job = &preempt->world.jobs[index];
    int n_before = 0, n_after = 0;
    for (int i = 0; i < job->n_pieces; i++) {
        int host = job->pieces[i].host;
        n_before += view->allowed[host] ? preempt_draft_free_on(preempt, host) : 0;
        if (!keeps_hosts(preempt, job)) {
            preempt->delta[host] +=
                is_still ? -job->pieces[i].n_slots : job->pieces[i].n_slots;
            preempt->opened[host] =
                job->is_exclusive ? is_still : preempt->opened[host];
        }
        n_after += view->allowed[host] ? preempt_draft_free_on(preempt, host) : 0;
    }
    if (preempt->draft != NULL && job->class != NULL) {
        limits_draft_still(preempt->draft, job->class, job->hosts, job->n_pieces,
                           is_still);
    }
    preempt_give_set(&preempt->give, job, is_still);
    preempt->taken[index] = is_still;
    note_free(preempt, job, n_after - n_before);
    return n_after - n_before;
}

/* ---------------------------------------------------------------- where it would be */

int preempt_draft_room(const struct preempt *preempt, const struct place_line *line)
{
    const struct limit *limit;
    return line->class != NULL && preempt->draft != NULL
               ? limits_room(preempt->draft, line->class, &limit)
               : INT_MAX;
}

static int room_on(const struct preempt *preempt, const struct place_line *line,
                   int host)
{
    const struct place_host *at = &preempt->place->hosts[host];
    const struct limit *limit;
    if (line->class == NULL || preempt->draft == NULL ||
        !limits_have_hosts(line->class)) {
        return INT_MAX;
    }
    return limits_room_on(preempt->draft, line->class, at->name,
                          at->n_processors > 0 ? at->n_processors : at->max,
                          preempt->hosts, preempt->n_hosts, &limit);
}

/* Slots there that may be reserved for, besides the job's pieces so far. */
static int reserved_on(struct preempt *preempt, const struct preempt_choice *choice,
                       int host)
{
    return choice->view->asks == NULL
               ? INT_MAX
               : preempt_give_room(&preempt->give, choice->view->asks, host,
                                   preempt->hosts, preempt->places, preempt->n_hosts);
}

bool preempt_draft_put(struct preempt *preempt, const struct preempt_choice *choice)
{
    int open = choice->line->n_slots;
    preempt->n_hosts = 0;
    if (preempt_draft_room(preempt, choice->line) < open) {
        return false;
    }
    int first = preempt->place->n_hosts;
    bool is_limited =
        choice->view->asks != NULL ||
        (choice->line->class != NULL && limits_have_hosts(choice->line->class));
    for (int i = is_limited ? 0 : preempt->first_host[choice->group];
         i < preempt->place->n_hosts && open > 0; i++) {
        if (!choice->view->allowed[i] || preempt->world.group_of[i] != choice->group) {
            continue;
        }
        int n = preempt_draft_free_on(preempt, i),
            room = n > 0 ? room_on(preempt, choice->line, i) : 0;
        n = n < room ? n : room;
        room = n > 0 ? reserved_on(preempt, choice, i) : 0;
        n = n < room ? n : room;
        n = n < open ? n : open;
        if (n > 0) {
            first = i < first ? i : first;
            preempt->places[preempt->n_hosts] = i;
            preempt->hosts[preempt->n_hosts++] =
                (struct host_slots){preempt->place->hosts[i].name, n};
            open -= n;
        }
    }
    if (open == 0) {
        preempt->first_host[choice->group] = first;
    }
    return open == 0;
}

int64_t preempt_draft_free_in(struct preempt *preempt,
                              const struct preempt_choice *choice)
{
    int64_t n_free = 0;
    if (preempt->free_slots[choice->group] >= 0) {
        return preempt->free_slots[choice->group];
    }
    for (int i = 0; i < preempt->place->n_hosts; i++) {
        n_free +=
            choice->view->allowed[i] && preempt->world.group_of[i] == choice->group
                ? preempt_draft_free_on(preempt, i)
                : 0;
    }
    preempt->free_slots[choice->group] = n_free;
    return n_free;
}
