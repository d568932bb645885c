/* SPDX-License-Identifier: Apache-2.0 */
/* site_lent.c: see site_lent.h. */
#include "site/site_lent.h"

#include "site/site_parts.h"

void site_lent_begin(struct site *site)
{
    if (!site->config->is_slurm) {
        return;
    }
    provider_set_prepares(site->provider);
    for (int i = 0; i < site->config->n_hosts; i++) {
        provider_set_whole(site->provider, site->config->hosts[i].name);
    }
}

int site_lent_list(struct site *site, struct arena *arena, struct site_lent **list)
{
    int n_leases = provider_count_leases(site->provider), count = 0;
    *list = arena_alloc(arena, (size_t)n_leases + 1, sizeof(**list));
    for (int i = 0; i < n_leases; i++) {
        struct site_lent *lent = &(*list)[count];
        if (provider_contract_at(site->provider, i, arena, &lent->contract)) {
            lent->accounts =
                lease_user_accounts(site->config, lent->contract.consumer, arena);
            count++;
        }
    }
    return count;
}

void site_lent_waiting(struct site *site, int n_slots)
{
    provider_set_foreign_waiting(site->provider, n_slots);
}

void site_lent_held(struct site *site, const char *lease, uint64_t freeze,
                    const char *const *hosts, int n_hosts, int64_t now_ms)
{
    provider_set_held(site->provider, lease, freeze, hosts, n_hosts, now_ms);
}
