/* SPDX-License-Identifier: Apache-2.0 */
/* reservation_start.c: when jobs that reserve can start, and what falls free until
 * then; see reservation.h. */
#include <limits.h>
#include <stdlib.h>

#include "sched/reservation/reservation_item.h"

/* 1 where the job may have slots now, in the group where it reserves. */
static uint8_t *allowed_of(const struct reservation_pass *pass,
                           const struct reservation_item *item)
{
    const struct place_snapshot *place = pass->place;
    const struct place_class *class = &place->classes[item->reservation.class_index];
    int group = pass->state->group_of[item->pieces[0].host];
    const struct candidates *view = candidates_of(pass->state, class, 0);
    uint8_t *allowed = arena_alloc(pass->arena, (size_t)place->n_hosts, 1);
    for (int i = 0; i < place->n_hosts; i++) {
        allowed[i] = view->allowed[i] && pass->state->group_of[i] == group;
    }
    return allowed;
}

/* What it has not in hand of its hosts and pools. */
static void need_of_target(const struct reservation_pass *pass,
                           const struct reservation_item *item,
                           struct backfill_need *need)
{
    struct rusage_piece *pieces =
        arena_alloc(pass->arena, (size_t)item->n_pieces, sizeof(*pieces));
    struct rusage_amount *amounts =
        arena_alloc(pass->arena, (size_t)item->n_parts, sizeof(*amounts));
    for (int i = 0; i < item->n_pieces; i++) {
        const struct reservation_piece *piece = &item->pieces[i];
        pieces[i] =
            (struct rusage_piece){piece->host, piece->n_target - item->in_hand[i]};
    }
    for (int i = 0; i < item->n_parts; i++) {
        const struct reservation_part *part = &item->parts[i];
        amounts[i] = (struct rusage_amount){part->supply,
                                            part->need_milli - part->in_hand_milli};
    }
    *need = (struct backfill_need){.pieces = pieces,
                                   .n_pieces = item->n_pieces,
                                   .amounts = amounts,
                                   .n_amounts = item->n_parts};
}

static void need_of(const struct reservation_pass *pass,
                    const struct reservation_item *item, struct backfill_need *need)
{
    *need = (struct backfill_need){.n_missing = 0};
    if (item->n_pieces == 0) {
        return;
    }
    if (reservation_item_has_target(item)) {
        need_of_target(pass, item, need);
        return;
    }
    need->n_missing =
        pass->place->classes[item->reservation.class_index].n_slots - item->n_in_hand;
    need->allowed = allowed_of(pass, item);
}

static int count_pools(const struct reservation_pass *pass)
{
    return pass->place->supply != NULL ? pass->place->supply->n_supplies : 0;
}

void reservation_start_estimate(struct reservation_pass *pass,
                                const struct backfill_run *runs, int n_runs)
{
    struct arena *arena = pass->arena;
    int n_hosts = pass->place->n_hosts;
    int *n_free = arena_alloc(arena, (size_t)n_hosts, sizeof(*n_free));
    for (int i = 0; i < n_hosts; i++) {
        n_free[i] = place_state_free_slots(pass->state, i, false);
    }
    struct backfill_supply *supply =
        backfill_supply_new(arena, runs, n_runs, n_free, n_hosts,
                            pass->state->supply_left, count_pools(pass));
    for (int i = 0; i < pass->count; i++) {
        struct backfill_need need;
        need_of(pass, &pass->items[i], &need);
        struct reservation *reservation = &pass->items[i].reservation;
        int64_t start_ms = backfill_take(supply, &need, pass->place->now_ms);
        reservation->start_ms = start_ms > reservation->not_before_ms
                                    ? start_ms
                                    : reservation->not_before_ms;
    }
}

/* The supply starts without free slots: the state of the pass has those. */
static struct backfill_supply *supply_ahead(struct reservation_pass *pass)
{
    const struct reservation_snapshot *snapshot = pass->snapshot;
    struct arena *arena = pass->arena;
    int n_hosts = pass->place->n_hosts, n_pools = count_pools(pass);
    if (pass->supply == NULL) {
        int *none = arena_alloc(arena, (size_t)n_hosts, sizeof(*none));
        int64_t *nothing = arena_alloc(arena, (size_t)n_pools, sizeof(*nothing));
        pass->supply = backfill_supply_new(arena, snapshot->runs, snapshot->n_runs,
                                           none, n_hosts, nothing, n_pools);
    }
    return pass->supply;
}

void reservation_start_take(struct reservation_pass *pass,
                            const struct reservation_item *item)
{
    if (pass->has_targets) {
        struct backfill_need need;
        need_of(pass, item, &need);
        backfill_take(supply_ahead(pass), &need, pass->place->now_ms);
    }
}

int64_t reservation_start_end_ms(const struct reservation_pass *pass, int n_ends)
{
    const struct reservation_snapshot *snapshot = pass->snapshot;
    return n_ends == 0                 ? 0
           : n_ends > snapshot->n_runs ? BACKFILL_NEVER
                                       : snapshot->runs[n_ends - 1].end_ms;
}

static int compare_attempts(const void *left, const void *right)
{
    const struct reservation_end *a = left, *b = right;
    return a->attempt < b->attempt ? -1 : a->attempt > b->attempt;
}

const struct reservation_end *
reservation_start_list_ends(const struct reservation_pass *pass)
{
    const struct reservation_snapshot *snapshot = pass->snapshot;
    struct reservation_end *ends =
        arena_alloc(pass->arena, (size_t)snapshot->n_runs, sizeof(*ends));
    for (int i = 0; i < snapshot->n_runs; i++) {
        ends[i] = (struct reservation_end){snapshot->runs[i].attempt, i + 1};
    }
    qsort(ends, (size_t)snapshot->n_runs, sizeof(*ends), compare_attempts);
    return ends;
}

int reservation_start_find_end(const struct reservation_pass *pass,
                               const struct reservation_end *ends, uint64_t attempt)
{
    const struct reservation_end wanted = {.attempt = attempt};
    size_t n_ends = (size_t)pass->snapshot->n_runs;
    const struct reservation_end *found =
        n_ends > 0 ? bsearch(&wanted, ends, n_ends, sizeof(*ends), compare_attempts)
                   : NULL;
    return found != NULL ? found->n_ends : INT_MAX;
}

int reservation_start_count_ends(struct reservation_pass *pass)
{
    supply_ahead(pass);
    return pass->snapshot->n_runs + 1;
}

void reservation_start_add_all(const struct reservation_pass *pass, int *n_free,
                               int64_t *left)
{
    for (int i = 0; i < pass->snapshot->n_runs; i++) {
        const struct backfill_run *run = &pass->snapshot->runs[i];
        for (int k = 0; k < run->n_pieces; k++) {
            n_free[run->pieces[k].host] += run->pieces[k].n_slots;
        }
        for (int k = 0; k < run->n_amounts; k++) {
            left[run->amounts[k].supply] += run->amounts[k].milli;
        }
    }
}

int reservation_start_freed(struct reservation_pass *pass, int n_ends, int host)
{
    return backfill_supply_freed(supply_ahead(pass), n_ends, host);
}

void reservation_start_add_left(struct reservation_pass *pass, int n_ends,
                                int64_t *left)
{
    backfill_supply_add_left(supply_ahead(pass), n_ends, left);
}
