/* SPDX-License-Identifier: Apache-2.0 */
/* rusage_supply.c: see rusage_supply.h.
 *
 *     mem left: n1 100, n2 70; lic, shared by both: 5 left
 *     rusage[mem=30/slot, lic=1/slot], -n 6 on n1, then n2
 *     n1 alone: mem 3 slots, lic 5: 3 slots; n2 beside them: mem 2, lic 5 - 3: 2 slots
 */
#include "sched/resource/rusage_supply.h"

#include <limits.h>

static int pool_of(const struct rusage_supply *reserve, const struct rusage_item *ask,
                   int host)
{
    return reserve->kinds[ask->kind].pool_of[host];
}

int64_t rusage_supply_times(enum resreq_scope scope, int n_slots, bool is_first)
{
    switch (scope) {
    case RESREQ_SCOPE_JOB:
        return is_first;
    case RESREQ_SCOPE_SLOT:
        return n_slots;
    case RESREQ_SCOPE_HOST:
    case RESREQ_SCOPE_DEFAULT:
        break;
    }
    return 1;
}

/* A running job that gets more of a host that it has. */
static bool has_already(const struct rusage_request *asks,
                        const struct rusage_item *ask, int host)
{
    return asks->has != NULL && asks->has[host] && ask->scope != RESREQ_SCOPE_SLOT;
}

/* Of that pool by pieces on other hosts. */
static int64_t taken_by(const struct rusage_supply *reserve,
                        const struct rusage_request *asks,
                        const struct rusage_item *ask, int pool,
                        const struct rusage_piece *pieces, int n_pieces)
{
    int64_t n_times = 0;
    for (int i = 0; i < n_pieces; i++) {
        n_times += pool_of(reserve, ask, pieces[i].host) == pool &&
                           !has_already(asks, ask, pieces[i].host)
                       ? rusage_supply_times(ask->scope, pieces[i].n_slots, i == 0)
                       : 0;
    }
    return n_times * ask->milli;
}

static int room_of(const struct rusage_supply *reserve, const int64_t *left,
                   const struct rusage_request *asks, const struct rusage_item *ask,
                   int host, const struct rusage_piece *pieces, int n_pieces)
{
    int pool = pool_of(reserve, ask, host);
    if (has_already(asks, ask, host)) {
        return INT_MAX;
    }
    if (pool < 0 || left[pool] < ask->milli) {
        return 0;
    }
    if (ask->milli == 0 || ask->scope == RESREQ_SCOPE_JOB) {
        return INT_MAX;
    }
    int64_t rest = left[pool] - taken_by(reserve, asks, ask, pool, pieces, n_pieces);
    int64_t n_times = rest > 0 ? rest / ask->milli : 0;
    if (ask->scope != RESREQ_SCOPE_SLOT) {
        return n_times > 0 ? INT_MAX : 0;
    }
    return n_times < INT_MAX ? (int)n_times : INT_MAX;
}

int rusage_supply_max_slots(const struct rusage_supply *reserve, const int64_t *left,
                            const struct rusage_request *asks, int host,
                            const struct rusage_piece *pieces, int n_pieces,
                            int *lacking)
{
    int least = INT_MAX;
    for (int i = 0; i < asks->n_items && least > 0; i++) {
        int room =
            room_of(reserve, left, asks, &asks->items[i], host, pieces, n_pieces);
        if (room < least) {
            least = room;
            *lacking = i;
        }
    }
    return least;
}

int rusage_supply_max_slots_alone(const struct rusage_supply *reserve,
                                  const int64_t *left,
                                  const struct rusage_request *asks, int host,
                                  int *lacking)
{
    return rusage_supply_max_slots(reserve, left, asks, host, NULL, 0, lacking);
}

int rusage_supply_amounts(const struct rusage_supply *reserve,
                          const struct rusage_request *asks,
                          const struct rusage_piece *pieces, int n_pieces,
                          struct rusage_amount *parts)
{
    int n_parts = 0;
    for (int i = 0; i < asks->n_items; i++) {
        const struct rusage_item *ask = &asks->items[i];
        for (int k = 0; k < n_pieces; k++) {
            int pool = pool_of(reserve, ask, pieces[k].host);
            int64_t n_times =
                rusage_supply_times(ask->scope, pieces[k].n_slots, k == 0);
            if (pool >= 0 && n_times > 0 && !has_already(asks, ask, pieces[k].host)) {
                parts[n_parts++] = (struct rusage_amount){pool, n_times * ask->milli};
            }
        }
    }
    return n_parts;
}

void rusage_supply_take(int64_t *left, const struct rusage_amount *parts, int n_parts,
                        int sign)
{
    for (int i = 0; i < n_parts; i++) {
        left[parts[i].pool] -= sign * parts[i].milli;
    }
}

bool rusage_supply_has(const int64_t *left, const struct rusage_amount *parts,
                       int n_parts)
{
    for (int i = 0; i < n_parts; i++) {
        int64_t need = 0; /* of a pool that several parts draw from, all of it */
        for (int k = 0; k < n_parts; k++) {
            need += parts[k].pool == parts[i].pool ? parts[k].milli : 0;
        }
        if (left[parts[i].pool] < need) {
            return false;
        }
    }
    return true;
}
