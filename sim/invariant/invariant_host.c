/* SPDX-License-Identifier: Apache-2.0 */
/* invariant_host.c: what really runs on each host, reported by the executors. */
#include "sim/invariant/invariant_state.h"

#include <stdio.h>
#include <string.h>

struct seen_use *invariant_host_see_use(struct invariants *invariants, const char *site,
                                        const char *host, const char *lease)
{
    char key[INVARIANTS_KEY_SIZE];

    invariant_state_key(key, site, host, lease);
    return invariant_state_see(&invariants->uses, key, sizeof(struct seen_use));
}

bool invariant_host_is_use_of(const struct seen_use *use, const char *site,
                              const char *host)
{
    const char *name = use->base.key + strlen(site) + 1;
    size_t length = strlen(host);

    return !strncmp(name, host, length) && name[length] == ' ';
}

static int larger(int a, int b)
{
    return a > b ? a : b;
}

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

void invariant_host_sized(struct invariants *invariants, const char *site,
                          const char *host, int n_slots, int n_decided)
{
    struct seen_use *all = invariant_host_see_use(invariants, site, host, "");

    /* Runs that a restored journal does not know use slots beside those on record. */
    bool has_lost = invariant_state_site(invariants, site)->is_restored;
    int n_before = has_lost ? all->used + n_decided : larger(all->used, n_decided);

    all->size = n_slots;
    all->limit = larger(n_slots, n_before);
}

/* The site has not run since its journal was restored: what begins on its hosts was
 * ordered before. */
static bool is_before_restart(struct invariants *invariants, const char *site)
{
    const struct seen_site *of = invariant_state_site(invariants, site);

    return of->is_restored && of->n_checks == of->restored_checks;
}

bool invariant_host_used(struct invariants *invariants, const char *site,
                         const struct executor_use *use, struct invariants_text *text)
{
    struct seen_use *all = invariant_host_see_use(invariants, site, use->host, "");

    if (use->lease[0]) {
        struct seen_use *leased =
            invariant_host_see_use(invariants, site, use->host, use->lease);

        invariants->n_use_changes++;
        leased->used += use->n_slots;
        if (use->n_slots > 0 && is_before_restart(invariants, site)) {
            leased->n_lost += use->n_slots;
        }
        leased->n_lost = smaller(leased->n_lost, leased->used);
    }
    if (use->n_slots > 0 && !use->is_again && !is_before_restart(invariants, site)) {
        invariant_state_site(invariants, site)->has_begun = true;
    }
    all->used += use->n_slots;
    int n_runs = use->is_part       ? 0
                 : use->n_slots > 0 ? 1
                 : use->n_slots < 0 ? -1
                                    : 0; /* that run */
    all->n_runs += n_runs;
    all->n_exclusive += use->is_exclusive ? n_runs : 0;
    if (all->n_exclusive > 0 && all->n_runs > 1) {
        return invariant_state_fail(text,
                                    "%d jobs run on %s of %s, and one is exclusive",
                                    all->n_runs, use->host, site);
    }
    if (use->n_gone > 0) {
        all->limit = larger(all->size, all->limit - use->n_gone);
    }
    if (use->n_slots <= 0 || (use->is_again && all->n_runs == 1)) {
        return true; /* alone: also where the host is too small for it now */
    }
    return all->used <= all->limit ||
           invariant_state_fail(text, "%d slots are in use on %s of %s, which has %d",
                                all->used, use->host, site, all->size);
}

static const struct seen_use *find_use(const struct invariants *invariants,
                                       const char *site, const char *host,
                                       const char *lease)
{
    char key[INVARIANTS_KEY_SIZE];

    invariant_state_key(key, site, host, lease);
    return invariant_state_find(invariants->uses, key);
}

bool invariant_host_is_used(const struct invariants *invariants, const char *site,
                            const char *host, const char *lease)
{
    const struct seen_use *use = find_use(invariants, site, host, lease);

    return use && use->used > 0;
}

void invariant_host_restored(struct invariants *invariants, const char *site)
{
    size_t length = strlen(site);

    invariants->n_use_changes++;
    for (struct seen *at = invariants->uses; at; at = at->hh.next) {
        struct seen_use *use = (struct seen_use *)at;

        if (strncmp(at->key, site, length) == 0 && at->key[length] == ' ') {
            use->n_lost = use->used;
        }
    }
}

int invariant_host_count_runs(const struct invariants *invariants, const char *site,
                              const char *host)
{
    const struct seen_use *use = find_use(invariants, site, host, "");

    return use ? use->n_runs : 0;
}
