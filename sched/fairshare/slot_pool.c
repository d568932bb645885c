/* SPDX-License-Identifier: Apache-2.0 */
/* slot_pool.c: see fairshare.h.
 *
 *     15 slots, 50 30 20 percent; the second queue cannot use any
 *     round 1, of 15: 7.5 up to 8, 0, 3       4 are left
 *     round 2, of 4:  2, 0, 0.8 up to 1       1 is left
 *     round 3, of 1:  0.5 up to 1             in total 11, 0, 4
 *
 * Because of rounding up, every round distributes at least one slot as long as there is
 * one that a queue can use. So the rounds end.
 *
 * Rounding alone would decide small pools for ever: of 5 slots, queues with shares of
 * 14 11 17 7 5 would get one each, whatever they had before. A queue that has had more
 * than its share is therefore rounded down, as long as that leaves slots that others
 * can use: with 7 and 5 over, 17 14 11 get 1 1 1, and then 1 1 0.
 *
 * With decaying slot time alone, a queue with long jobs would gain: it keeps the slots
 * that it got when it had used little. So each queue also has a balance:
 *
 *     10 slots, 60 and 60 percent, both pending; the first has jobs of 9 h and 6 slots
 *     after 9 h its part is 5 of 10, its balance is 9, that of the other -9; now the
 *     other is first and gets 6 of each 10 slots that become free, until both are 0 */
#include "sched/fairshare/fairshare.h"

#include <math.h>

enum { PERCENT = 100 };

static const double hour_ms = 3600000.0;
/* Differences up to this many hours are rounding errors: a third of a millisecond of
 * one slot for each of 100 percent. */
static const double same = 1e-9;

/* That percentage of the slots. */
static int part_of(int share, int n_slots, bool is_rounded_up)
{
    return (int)(((int64_t)share * n_slots + (is_rounded_up ? PERCENT - 1 : 0)) /
                 PERCENT);
}

/* One round. Returns what is left of `n_slots`. */
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
    bool is_fair = true; /* as long as a queue that is not over gets something */
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

/* Insertion sort: a pool has few queues, mostly in order already. */
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
    double level = n_slots / rate;        /* the value that it converges to */
    return level + (use_hours - level) * exp(-rate * hours);
}

/* Sums over the queues of a pool that have pending jobs. */
struct slot_sums {
    int64_t n_slots; /* of all queues */
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

/* The bound of the balance. */
static double bound_of(const struct slot_member *member, double due, int64_t n_slots,
                       double hist_hours)
{
    double part = (double)(member->share * n_slots) / PERCENT;
    double most = fmax(fmax(part, due), 1);
    return hist_hours > 0 ? most * SLOT_POOL_MEMORY * hist_hours : INFINITY;
}

/* If the bound has become smaller, the balance is not reduced. */
static double grown(double balance, double by, double bound)
{
    double limit = fmax(fabs(balance), bound);
    return fmax(-limit, fmin(limit, balance + by));
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
            member->balance_hours =
                slot_pool_use(member->balance_hours, 0, elapsed_ms, hist_hours);
            continue;
        }
        double due = (double)(sums.n_shared * member->share) / (double)sums.share;
        member->balance_hours =
            grown(member->balance_hours, (member->n_slots - due) * hours,
                  bound_of(member, due, sums.n_slots, hist_hours));
    }
}

double slot_pool_weight(const struct slot_member *member)
{
    return member->use_hours + member->balance_hours;
}
