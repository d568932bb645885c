/* SPDX-License-Identifier: Apache-2.0 */
/* slot_pool.c: the arithmetic of slot pools.
 *
 *     15 slots, 50 30 20 percent; the second queue has no use for any
 *     round 1, of 15: 7.5 up to 8, 0, 3       4 are left
 *     round 2, of 4:  2, 0, 0.8 up to 1       1 is left
 *     round 3, of 1:  0.5 up to 1             together 11, 0, 4
 *
 * Rounding up makes every round hand out at least a slot, while there is one and
 * somebody wants it: so it ends.
 *
 * Rounding alone would decide small pools for ever: 5 slots of five queues with shares
 * of 14 11 17 7 5 would be one each, whatever they had before. So who has had more than
 * its share is rounded down, as long as that leaves anything for the others: with 7 5
 * over, 17 14 11 get 1 1 1, and then 1 1 0.
 *
 * Who is over hangs on a memory that fades as long as one looks at slot time alone, and
 * a queue whose jobs are long gains by that: it holds what it got when it had little.
 * So what is above or below a queue's part is kept beside it:
 *
 *     10 slots, 60 and 60 percent, both wait; the first has jobs of 9 h and 6 slots
 *     9 h: its part is 5 of 10, it is 9 ahead, the other 9 behind; now the other stands
 *     first and has 6 of each 10 that fall free, until that is even */
#include "sched/fairshare/slot_pool.h"

#include <math.h>

enum { PERCENT = 100 };

static const double hour_ms = 3600000.0;
/* What is no more than rounding, in hours: a third of a slot's millisecond for each of
 * 100 percent. */
static const double same = 1e-9;

/* So many percent of the slots. */
static int part_of(int share, int n_slots, bool is_rounded_up)
{
    return (int)(((int64_t)share * n_slots + (is_rounded_up ? PERCENT - 1 : 0)) /
                 PERCENT);
}

/* One round; returns what is left of `n_slots`. */
static int hand_out(struct slot_part *parts, int n_parts, int n_slots, bool is_fair)
{
    int left = n_slots;
    for (int i = 0; i < n_parts && left > 0; i++) {
        struct slot_part *part = &parts[i];
        int64_t open = part->want - part->given;
        int give = part_of(part->share, n_slots, !(is_fair && part->is_over));
        give = give < left ? give : left;
        give = give < open ? give : (int)(open > 0 ? open : 0);
        part->given += give;
        left -= give;
    }
    return left;
}

int slot_pool_allocate(struct slot_part *parts, int n_parts, int n_slots, int rounds)
{
    int left = n_slots;
    for (int i = 0; i < n_parts; i++) {
        parts[i].given = 0;
    }
    bool is_fair = true; /* while somebody who has not had too much gets something */
    for (int round = 0; left > 0 && (rounds == 0 || round < rounds); round++) {
        int before = left;
        left = hand_out(parts, n_parts, left, is_fair);
        if (left == before && !is_fair) {
            break;
        }
        is_fair = is_fair && left < before;
    }
    return left;
}

static double use_per_share(const double *use, const int *share, int at)
{
    return use[at] / (share[at] > 0 ? share[at] : 1);
}

/* By insertion: a pool has few queues, and they mostly stand right. */
void slot_pool_sort(const double *use, const int *share, int n, int *order)
{
    for (int i = 0; i < n; i++) {
        double own = use_per_share(use, share, i);
        int place = i;
        for (; place > 0 && use_per_share(use, share, order[place - 1]) > own + same;
             place--) {
            order[place] = order[place - 1];
        }
        order[place] = i;
    }
}

void slot_pool_mark_over(const double *use, const int *share, int n, bool *is_over)
{
    double used = 0, shared = 0;
    for (int i = 0; i < n; i++) {
        used += use[i];
        shared += share[i] > 0 ? share[i] : 1;
    }
    for (int i = 0; i < n; i++) {
        double due = used / shared;
        is_over[i] = use_per_share(use, share, i) > due + same * fmax(1, fabs(due));
    }
}

/* ---------------------------------------------------------------- time */

double slot_pool_use(double use_hours, int n_slots, int64_t elapsed_ms,
                     double hist_hours)
{
    double hours = (double)elapsed_ms / hour_ms;
    if (elapsed_ms <= 0) {
        return use_hours;
    }
    if (hist_hours <= 0) {
        return use_hours + n_slots * hours;
    }
    double rate = log(10.0) / hist_hours; /* a tenth after HIST_HOURS */
    double level = n_slots / rate;        /* where it would settle */
    return level + (use_hours - level) * exp(-rate * hours);
}

/* What a pool's queues had that wait, and their shares. */
struct slot_sums {
    int64_t n_slots; /* of all its queues */
    int64_t n_shared, share;
};

static struct slot_sums sum_up(const struct slot_member *members, int n)
{
    struct slot_sums sums = {0};
    for (int i = 0; i < n; i++) {
        bool counts = members[i].is_waiting;
        sums.n_slots += members[i].n_slots;
        sums.n_shared += counts ? members[i].n_slots : 0;
        sums.share += counts ? members[i].share : 0;
    }
    return sums;
}

/* How far it may get ahead or behind. */
static double bound_of(const struct slot_member *member, double due, int64_t n_slots,
                       double hist_hours)
{
    double part = (double)(member->share * n_slots) / PERCENT;
    double most = fmax(fmax(part, due), 1);
    return hist_hours > 0 ? most * SLOT_POOL_MEMORY * hist_hours : INFINITY;
}

/* A bound that has become smaller takes nothing away. */
static double grown(double ahead, double by, double bound)
{
    double limit = fmax(fabs(ahead), bound);
    return fmax(-limit, fmin(limit, ahead + by));
}

void slot_pool_advance(struct slot_member *members, int n, int64_t elapsed_ms,
                       double hist_hours)
{
    struct slot_sums sums = sum_up(members, n);
    double hours = (double)elapsed_ms / hour_ms;
    for (int i = 0; i < n && elapsed_ms > 0; i++) {
        struct slot_member *member = &members[i];
        member->use_hours =
            slot_pool_use(member->use_hours, member->n_slots, elapsed_ms, hist_hours);
        if (!member->is_waiting || sums.share == 0) {
            member->ahead_hours =
                slot_pool_use(member->ahead_hours, 0, elapsed_ms, hist_hours);
            continue;
        }
        double due = (double)(sums.n_shared * member->share) / (double)sums.share;
        member->ahead_hours =
            grown(member->ahead_hours, (member->n_slots - due) * hours,
                  bound_of(member, due, sums.n_slots, hist_hours));
    }
}

double slot_pool_weight(const struct slot_member *member)
{
    return member->use_hours + member->ahead_hours;
}
