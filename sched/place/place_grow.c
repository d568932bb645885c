/* SPDX-License-Identifier: Apache-2.0 */
/* place_grow.c: a running job that gets more slots; see place.h.
 *
 *     -n 4,32, has 20: n1 12, n2 8; its request is for 1 to 12 more
 *     free: n2 4: it gets n2 4, has 24 then, and asks for 1 to 8
 *
 * It counts for limits with the slots that it has; as a job it is out of them while it
 * is looked at, or JOBS=1 would stand against it. */
#include "sched/place/place_pass.h"
#include "sched/preempt/preempt.h"

static bool has_place(const struct place_grow *grow, int host)
{
    for (int i = 0; i < grow->n_hosts; i++) {
        if (grow->indexes[i] == host) {
            return true;
        }
    }
    return false;
}

/* Where an exclusive job may have slots: on hosts that are its own, or nobody's. */
static void open_hosts(struct place_pass *pass, const struct place_grow *grow)
{
    for (int i = 0; i < pass->snapshot->n_hosts; i++) {
        const struct place_host *host = &pass->snapshot->hosts[i];
        if (has_place(grow, i)) {
            pass->state.is_used_exclusively[i] = false;
        } else if (pass->state.used[i] > 0 || host->is_shared) {
            grow->mask[i] = 0;
        }
    }
}

static void close_host(struct place_pass *pass, int place)
{
    if (place >= 0) {
        pass->state.is_used_exclusively[place] = true;
    }
}

void place_grow_open(struct place_pass *pass, const struct place_class *line)
{
    const struct place_grow *grow = line->grow;
    if (line->limit_class != NULL) {
        limits_tentative_job(pass->draft, pass->arena, line->limit_class, grow->hosts,
                             grow->n_hosts, -1);
    }
    if (grow->mask != NULL) {
        open_hosts(pass, grow);
    }
}

/* It is a job again, and has more, also for who preempts others after it. */
static void count_more(struct place_pass *pass, const struct place_class *line,
                       const struct place_start *more)
{
    const struct place_grow *grow = line->grow;
    limits_tentative_job(pass->draft, pass->arena, line->limit_class, grow->hosts,
                         grow->n_hosts, 1);
    if (more == NULL) {
        return;
    }
    limits_tentative_grow(pass->draft, pass->arena, line->limit_class, grow->hosts,
                          grow->n_hosts, more->hosts, more->n_hosts);
    if (pass->snapshot->preempt != NULL) {
        preempt_count_growth(pass->snapshot->preempt, line->limit_class, grow->hosts,
                             grow->n_hosts, more->hosts, more->n_hosts);
    }
}

void place_grow_close(struct place_pass *pass, const struct place_class *line,
                      const struct place_start *more, struct pending_verdict *verdict)
{
    const struct place_grow *grow = line->grow;
    if (line->limit_class != NULL) {
        count_more(pass, line, more);
    }
    if (grow->mask == NULL) {
        return;
    }
    for (int i = 0; i < grow->n_hosts; i++) {
        close_host(pass, grow->indexes[i]);
    }
    for (int i = 0; more != NULL && i < more->n_hosts; i++) {
        close_host(pass, pass->alloc.indexes[i]);
    }
    if (more == NULL &&
        (verdict->reason == REASON_UNMET || verdict->reason == REASON_BUSY)) {
        verdict->reason = REASON_EXCLUSIVE;
    }
}
