/* SPDX-License-Identifier: Apache-2.0 */
/* maker_grants.c: what leases have besides slots: memory and swap space of hosts that
 * report them, and instances of a shared resource. */
#include "tests/sim/maker_parts.h"

enum { MEMORY_MAX = 900, LICENCES_MAX = 12, SCRATCH = 6 };

static void choose_policy(struct maker *maker, struct maker_policy *policy)
{
    policy->mem = policy->swap = 0;
    if (policy->is_pool) {
        return; /* a pool, whose plan chooses the consumers */
    }
    if (maker_chance(maker, 40)) {
        policy->mem = maker_between(maker, 1, MEMORY_MAX);
    }
    if (maker_chance(maker, 25)) {
        policy->swap = maker_between(maker, 1, MEMORY_MAX);
    }
}

void maker_choose_grants(struct maker *maker, struct maker_site *site)
{
    struct maker_licences *licences = &site->licences;

    *licences = (struct maker_licences){.is_otherwise = maker_chance(maker, 10)};
    for (int i = 0; i < site->n_policies; i++) {
        choose_policy(maker, &site->policies[i]);
    }
    if (maker_chance(maker, 50)) {
        licences->n_first = maker_between(maker, 1, site->n_hosts);
        licences->n_placed[0] = maker_between(maker, 0, LICENCES_MAX);
        licences->n_placed[1] = maker_between(maker, 0, LICENCES_MAX);
        licences->n_instances =
            maker_chance(maker, 70) ? maker_between(maker, 1, LICENCES_MAX) : 0;
    }
    for (int i = 0; i < HOSTS_OF_SITE_MAX; i++) {
        site->memory[i] =
            maker_chance(maker, 50) ? maker_between(maker, 1, MEMORY_MAX) : 0;
    }
}

static void write_place(struct maker *maker, int self, int n_instances, int first,
                        int end)
{
    if (first >= end) {
        return;
    }
    maker_say(maker, " %d@[", n_instances);
    for (int i = first; i < end; i++) {
        maker_say(maker, "%sh%d%d", i > first ? " " : "", self + 1, i + 1);
    }
    maker_say(maker, "]");
}

void maker_write_resources(struct maker *maker, int self)
{
    const struct maker_site *site = &maker->sites[self];
    const struct maker_licences *licences = &site->licences;
    int n_first = licences->n_first < site->n_hosts ? licences->n_first : site->n_hosts;

    maker_say(
        maker,
        "Begin Resource\nRESOURCENAME TYPE INTERVAL INCREASING RELEASE CONSUMABLE\n"
        "lic Numeric () %s Y Y\nscratch Numeric () N N Y\nEnd Resource\n",
        licences->is_otherwise ? "Y" : "N");
    maker_say(maker,
              "Begin ResourceMap\nRESOURCENAME LOCATION\nscratch (%d@[default])\n",
              SCRATCH);
    if (n_first == 0) {
        maker_say(maker, "End ResourceMap\n");
        return;
    }
    maker_say(maker, "lic (");
    write_place(maker, self, licences->n_placed[0], 0, n_first);
    write_place(maker, self, licences->n_placed[1], n_first, site->n_hosts);
    maker_say(maker, ")\nEnd ResourceMap\n");
}

/* Exports to all consumers that the policies name. */
void maker_write_shared(struct maker *maker, int self)
{
    const struct maker_site *site = &maker->sites[self];
    bool is_named[SITES_MAX] = {false};
    bool is_any = false;

    for (int i = 0; i < site->n_policies; i++) {
        const struct maker_policy *policy = &site->policies[i];

        for (int k = 0; !policy->is_pool && k < policy->n_consumers; k++) {
            is_named[policy->consumers[k]] = is_any = true;
        }
    }
    if (site->licences.n_first == 0 || site->licences.n_instances == 0 || !is_any) {
        return;
    }
    maker_say(maker,
              "Begin SharedResourceExport\nNAME = lic\nNINSTANCES = %d\n"
              "DISTRIBUTION = (",
              site->licences.n_instances);
    for (int i = 0; i < maker->n_sites; i++) {
        if (is_named[i]) {
            maker_say(maker, "[s%d, %d] ", i + 1, maker_between(maker, 1, 3));
        }
    }
    maker_say(maker, ")\nEnd SharedResourceExport\n");
}

void maker_write_load(struct maker *maker, int self, int host)
{
    const struct maker_site *site = &maker->sites[self];
    int mib = site->memory[host];

    maker_say(maker, "load s%d h%d%d", self + 1, self + 1, host + 1);
    if (site->counts_cpus) {
        maker_say(maker, " nprocs=%d", site->cpus[host]);
    }
    if (mib > 0) {
        maker_say(maker, " maxmem=%d mem=%d maxswp=%d swp=%d", mib, mib, mib / 2,
                  mib / 2);
    }
    if (maker->has_loads) {
        maker_say(maker, " r1m=%d pg=%d it=%d", site->queue_length[host],
                  site->pages[host], site->is_used[host] ? 0 : 30);
    }
    maker_say(maker, "\n");
}

void maker_choose_load(struct maker *maker, struct maker_site *site, int host,
                       bool is_calm)
{
    site->queue_length[host] = is_calm ? 0 : maker_between(maker, 0, 5);
    site->pages[host] = is_calm ? 0 : 10 * maker_between(maker, 0, 5);
    site->is_used[host] = !is_calm && maker_chance(maker, 20);
}

/* What jobs reserve. Each own host has enough for one job, and licences are requested
 * only if there are any. */
void maker_write_usage(struct maker *maker, int self)
{
    const struct maker_site *site = &maker->sites[self];
    static const char *const usages[] = {
        "scratch=3",        "scratch=1/slot",   "scratch=2:duration=8s:decay=1",
        "lic=1||scratch=1", "lic=3||scratch=2", "lic=2:duration=5s||scratch=1"};
    int usage = maker_between(maker, 0, 5);

    /* A suspended job could wait for ever for what a lease has got since. */
    if (site->preempts && site->licences.n_instances > 0) {
        usage %= 3;
    }
    maker_say(maker, " res=\"rusage[%s]\"", usages[usage]);
}

/* The first own host is always enough, since no policy lends all its slots. Some jobs
 * can run nowhere else, and so in no pool of other hosts. */
void maker_write_wish(struct maker *maker, int self)
{
    static const char *const wishes[] = {
        "lic >= 1",    "lic >= 5",     "mem >= 100",  "maxswp > 50 && mem > 10",
        "maxmem == 0", "ncpus > 9999", "ncpus > 9999"};

    maker_say(maker, " res=\"select[%s || hname == h%d1]\"",
              wishes[maker_between(maker, 0, 6)], self + 1);
}

/* A span for which, at the end, the site's own slots are enough. */
void maker_write_span(struct maker *maker, int self, int n_slots)
{
    const struct maker_site *site = &maker->sites[self];
    int most = 0, n_hosts = 0;

    for (int i = 0; i < site->n_hosts; i++) {
        int n_private = maker_private_on(site, i);
        most = n_private > most ? n_private : most;
        n_hosts += n_private > 0;
    }
    bool fits_one = most >= n_slots, fits_each = n_hosts >= n_slots;
    switch (maker_between(maker, 0, 5)) {
    case 0:
        maker_say(maker, " res=\"span[%s]\"", fits_one ? "hosts=1" : "stripe");
        return;
    case 1:
        maker_say(maker, " res=\"span[%s]\"", fits_each ? "ptile=1" : "hosts=-1");
        return;
    case 2:
        maker_say(maker, " res=\"span[block=%d]%s\"", fits_one ? 2 : 1,
                  fits_one ? " same[hname]" : "");
        return;
    case 3:
        maker_say(maker, " res=\"span[%s]\"", fits_one ? "ptile='!'" : "stripe");
        return;
    case 4:
        maker_say(maker,
                  " res=\"{hname == h%d1 span[hosts=1]} || {rusage[scratch=1]}\"",
                  self + 1);
        return;
    default:
        maker_say(maker, " res=\"span[ptile=%d] same[server] rusage[scratch=1]\"",
                  fits_one ? n_slots : 1 + !fits_each);
    }
}
