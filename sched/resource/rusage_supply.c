/* SPDX-License-Identifier: Apache-2.0 */
/* rusage_supply.c: see rusage_supply.h.
 *
 *     supplies  mem of n1: 100, mem of n2: 70, lic of both hosts: 5
 *     job       rusage[mem=30/slot, lic=1/slot], -n 6 on n1, then n2
 *     n1 alone: mem allows 3 slots, lic 5: 3 slots
 *     n2 then:  mem allows 2 slots, lic 5 - 3: 2 slots */
#include "sched/resource/rusage_supply.h"

#include <limits.h>

static int supply_of_host(const struct rusage_supply *supply,
                          const struct rusage_item *item, int host)
{
    return supply->resources[item->resource].supply_of[host];
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

int64_t rusage_supply_times_on(const struct resreq_rusage_item *item, int host,
                               int n_slots)
{
    if (item->n_pieces == 0) {
        return rusage_supply_times(item->scope, n_slots, host == 0);
    }
    for (int i = 0; i < item->n_pieces; i++) {
        if (item->pieces[i].host == host) {
            return rusage_supply_times(item->scope, item->pieces[i].n_slots, i == 0);
        }
    }
    return 0;
}

/* True for a running job that grows on a host where it has this reservation already:
 * only amounts per slot are added then. */
static bool is_reserved(const struct rusage_request *request,
                        const struct rusage_item *item, int host)
{
    return request->has != NULL && request->has[host] &&
           item->scope != RESREQ_SCOPE_SLOT;
}

/* What pieces on other hosts take from that supply. */
static int64_t taken_elsewhere(const struct rusage_supply *supply,
                               const struct rusage_request *request,
                               const struct rusage_item *item, int index,
                               const struct rusage_piece *pieces, int n_pieces)
{
    int64_t n_times = 0;
    for (int i = 0; i < n_pieces; i++) {
        n_times += supply_of_host(supply, item, pieces[i].host) == index &&
                           !is_reserved(request, item, pieces[i].host)
                       ? rusage_supply_times(item->scope, pieces[i].n_slots, i == 0)
                       : 0;
    }
    return n_times * item->milli;
}

/* True if the host has the amount once, and its threshold is met. */
static bool has_once(const struct rusage_supply *supply, const int64_t *left,
                     const struct rusage_item *item, int host)
{
    int index = supply_of_host(supply, item, host);
    return index >= 0 && left[index] >= item->milli &&
           left[index] >= item->threshold_milli;
}

static int max_slots_of(const struct rusage_supply *supply, const int64_t *left,
                        const struct rusage_request *request,
                        const struct rusage_item *item, int host,
                        const struct rusage_piece *pieces, int n_pieces)
{
    int index = supply_of_host(supply, item, host);
    if (is_reserved(request, item, host)) {
        return INT_MAX;
    }
    if (!has_once(supply, left, item, host)) {
        return 0;
    }
    if (item->milli == 0 || item->scope == RESREQ_SCOPE_JOB) {
        return INT_MAX;
    }
    int64_t rest =
        left[index] - taken_elsewhere(supply, request, item, index, pieces, n_pieces);
    int64_t n_times = rest > 0 ? rest / item->milli : 0;
    if (item->scope != RESREQ_SCOPE_SLOT) {
        return n_times > 0 ? INT_MAX : 0;
    }
    return n_times < INT_MAX ? (int)n_times : INT_MAX;
}

int rusage_supply_max_slots(const struct rusage_supply *supply, const int64_t *left,
                            const struct rusage_request *request, int host,
                            const struct rusage_piece *pieces, int n_pieces,
                            int *lacking)
{
    int least = INT_MAX;
    for (int i = 0; i < request->n_items && least > 0; i++) {
        int n_slots = max_slots_of(supply, left, request, &request->items[i], host,
                                   pieces, n_pieces);
        if (n_slots < least) {
            least = n_slots;
            *lacking = i;
        }
    }
    return least;
}

int rusage_supply_max_slots_alone(const struct rusage_supply *supply,
                                  const int64_t *left,
                                  const struct rusage_request *request, int host,
                                  int *lacking)
{
    return rusage_supply_max_slots(supply, left, request, host, NULL, 0, lacking);
}

void rusage_supply_find_lacks(const struct rusage_supply *supply, const int64_t *left,
                              const struct rusage_request *request, const int *hosts,
                              int n_hosts, int *lacking)
{
    for (int k = 0; k < n_hosts; k++) {
        lacking[k] = -1;
    }
    for (int i = request->n_items - 1; i >= 0; i--) { /* the first one counts */
        const struct rusage_item *item = &request->items[i];
        for (int k = 0; k < n_hosts; k++) {
            bool lacks = !has_once(supply, left, item, hosts[k]) &&
                         !is_reserved(request, item, hosts[k]);
            lacking[k] = lacks ? i : lacking[k];
        }
    }
}

int rusage_supply_find_lack(const struct rusage_supply *supply, const int64_t *left,
                            const struct rusage_request *request, int host)
{
    int lacking;
    rusage_supply_find_lacks(supply, left, request, &host, 1, &lacking);
    return lacking;
}

int rusage_supply_amounts(const struct rusage_supply *supply,
                          const struct rusage_request *request,
                          const struct rusage_piece *pieces, int n_pieces,
                          struct rusage_amount *amounts)
{
    int n_amounts = 0;
    for (int i = 0; i < request->n_items; i++) {
        const struct rusage_item *item = &request->items[i];
        for (int k = 0; k < n_pieces; k++) {
            int index = supply_of_host(supply, item, pieces[k].host);
            int64_t n_times =
                rusage_supply_times(item->scope, pieces[k].n_slots, k == 0);
            if (index >= 0 && n_times > 0 &&
                !is_reserved(request, item, pieces[k].host)) {
                amounts[n_amounts++] =
                    (struct rusage_amount){index, n_times * item->milli};
            }
        }
    }
    return n_amounts;
}

void rusage_supply_take(int64_t *left, const struct rusage_amount *amounts,
                        int n_amounts, int sign)
{
    for (int i = 0; i < n_amounts; i++) {
        left[amounts[i].supply] -= sign * amounts[i].milli;
    }
}

int64_t rusage_supply_take_some(int64_t *left, int64_t milli)
{
    int64_t n = *left < milli ? *left : milli;
    n = n > 0 ? n : 0;
    *left -= n;
    return n;
}

bool rusage_supply_has(const int64_t *left, const struct rusage_amount *amounts,
                       int n_amounts)
{
    for (int i = 0; i < n_amounts; i++) {
        int64_t need = 0; /* all amounts of the same supply count together */
        for (int k = 0; k < n_amounts; k++) {
            need += amounts[k].supply == amounts[i].supply ? amounts[k].milli : 0;
        }
        if (left[amounts[i].supply] < need) {
            return false;
        }
    }
    return true;
}
