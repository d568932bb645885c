/* SPDX-License-Identifier: Apache-2.0 */
/* export_memory.c: memory and swap space that leases have on a host.
 *
 * A lease gets what its policy gives it. If the host has less, the leases share what
 * the host has in proportion. A lease that is withdrawn, or whose
 * policy no longer has the host, keeps its memory until its last job there has ended.
 * If the host has not reported since the start, what is on record stays, and what a
 * changed policy gives is assumed to exist.
 *
 * Unlike slots, memory and swap space are not held by one side or the other: they are
 * the consumer's alone from the first epoch on, also in a shared lease.
 *
 * Units: MB. Order: what does not divide evenly goes to the earlier lease id.
 * Source: docs/design/leases.md "Export policies" ("If a host has less than
 * configured, what it has is exported").
 *
 * Example: n1 has 80 MB; policies give lease 1 25 and lease 2 75 of them. They get 20
 * and 60. When lease 1 is withdrawn, both keep what they have while a job of lease 1
 * runs. After that lease 2 gets 75. */
#include "provider/reconcile.h"

#include "base/webster.h"

static struct lease_share *entry_of(const struct ledger_host *host, int link)
{
    return &host->links[link].lease->hosts[host->links[link].index];
}

/* The lease keeps its memory until its last job there has ended. */
static bool is_leaving(const struct ledger_host *host, int link)
{
    return host->links[link].lease->is_withdrawn || entry_of(host, link)->n_wanted == 0;
}

/* What the policy gives. If the host has not reported, at most what is on record. */
static struct space wanted_of(const struct ledger_host *host, int link,
                              enum space_kind kind)
{
    const struct lease_share *entry = entry_of(host, link);
    struct space wanted = entry->wanted[kind], present = entry->spaces[kind];
    bool is_on_record = host->spaces_mib[kind] < 0 && present.is_given &&
                        !host->links[link].lease->is_revised;
    return is_on_record && present.mib < wanted.mib ? present : wanted;
}

/* Adds up what leaving leases have, and lists and adds up what the others want. */
static void add_up(const struct ledger_host *host, enum space_kind kind, int64_t *wants,
                   int64_t *held, int64_t *wanted)
{
    *held = *wanted = 0;
    for (int i = 0; i < host->n_links; i++) {
        const struct lease_share *entry = entry_of(host, i);
        wants[i] = is_leaving(host, i) ? 0 : wanted_of(host, i, kind).mib;
        *held +=
            is_leaving(host, i) && entry->n_slots > 0 ? entry->spaces[kind].mib : 0;
        *wanted += wants[i];
    }
}

static void reconcile_kind(struct ledger_host *host, enum space_kind kind)
{
    size_t n_links = (size_t)host->n_links;
    int64_t *wants = mem_alloc(n_links, sizeof(*wants));
    int64_t *parts = mem_alloc(n_links, sizeof(*parts));
    int64_t held, wanted, has = host->spaces_mib[kind];
    add_up(host, kind, wants, &held, &wanted);
    bool is_short = has >= 0 && wanted > 0 && wanted > has - held;
    if (is_short) {
        webster_share(has > held ? has - held : 0, wants, host->n_links, parts);
    }
    for (int i = 0; i < host->n_links; i++) {
        struct lease_share *entry = entry_of(host, i);
        if (is_leaving(host, i) && entry->n_slots == 0) {
            entry->spaces[kind] = (struct space){0};
        } else if (!is_leaving(host, i)) {
            entry->spaces[kind].is_given = entry->wanted[kind].is_given;
            entry->spaces[kind].mib = (int)(is_short ? parts[i] : wants[i]);
        }
    }
    free(wants);
    free(parts);
}

void export_memory_reconcile(struct ledger_host *host)
{
    for (int i = 0; i < SPACES && host->n_links > 0; i++) {
        reconcile_kind(host, (enum space_kind)i);
    }
}

int64_t export_memory_sum(const struct ledger_host *host, enum space_kind kind)
{
    int64_t mib = 0;
    for (int i = 0; i < host->n_links; i++) {
        mib += entry_of(host, i)->spaces[kind].mib;
    }
    return mib;
}
