/* SPDX-License-Identifier: Apache-2.0 */
/* slurm_link.c: see slurm_link.h. */
#include "site/io/slurm_link.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fnv1a.h"
#include "site/site_lent.h"
#include "slurm/io/slurm_config.h"
#include "slurm/io/slurm_hosts.h"
#include "slurm/slurm_use.h"
#include "sys/accounts.h"
#include "sys/daemon.h"
#include "sys/log.h"

enum { WITHIN_MS = 30000, RELOAD_MS = 60000 };

struct slurm_link {
    struct slurm_link_parts parts;
    const struct site_setup *setup;
    struct arena texts; /* of the hosts' setting: they outlive configurations */
    struct slurm_hosts *hosts;
    struct arena arena; /* of one refresh */
    struct site_lent *lent;
    int n_lent;
    uint64_t sum; /* of the contracts that the agent has */
    int64_t reloaded_ms;
    bool has_kept; /* the nodes, for a reload */
};

/* ---------------------------------------------------------------- contracts */

static uint64_t add_text(uint64_t sum, const char *text)
{
    return fnv1a(sum, (const uint8_t *)text, strlen(text) + 1);
}

static uint64_t add_names(uint64_t sum, const char *const *names, int n_names)
{
    for (int i = 0; i < n_names; i++) {
        sum = add_text(sum, names[i]);
    }
    return add_text(sum, "");
}

static uint64_t sum_of(const struct site_lent *lent, int n_lent)
{
    uint64_t sum = FNV1A_START;
    for (int i = 0; i < n_lent; i++) {
        const struct provider_contract *contract = &lent[i].contract;
        const uint64_t numbers[] = {contract->epoch, contract->freeze,
                                    contract->ends_lost};
        sum = add_text(sum, contract->lease);
        sum = fnv1a(sum, (const uint8_t *)numbers, sizeof(numbers));
        sum = add_text(sum, lent[i].accounts);
        sum = add_names(sum, contract->hosts, contract->n_hosts);
        sum = add_names(sum, contract->candidates, contract->n_candidates);
    }
    return sum;
}

/* A contract whose users are not known cannot be a reservation. */
static void set_contracts(struct slurm_link *link)
{
    struct slurm_contract *contracts =
        arena_alloc(&link->arena, (size_t)link->n_lent + 1, sizeof(*contracts));
    int count = 0;
    for (int i = 0; i < link->n_lent; i++) {
        const struct provider_contract *from = &link->lent[i].contract;
        if (link->lent[i].accounts[0] == '\0') {
            log_line(LOG_LEVEL_WARNING,
                     "lease %s: no user of %s has an account here (UserMap): its nodes "
                     "are not reserved",
                     from->lease, from->consumer);
            continue;
        }
        contracts[count++] = (struct slurm_contract){.policy = from->policy,
                                                     .consumer = from->consumer,
                                                     .epoch = from->epoch,
                                                     .users = link->lent[i].accounts,
                                                     .keeps_jobs = !from->ends_lost,
                                                     .nodes = from->hosts,
                                                     .n_nodes = from->n_hosts,
                                                     .held = from->candidates,
                                                     .n_held = from->n_candidates};
    }
    slurm_hosts_set_contracts(link->hosts, contracts, count);
}

/* A freeze without candidates waits for nothing. */
static void freeze_without(struct slurm_link *link, int64_t now_ms)
{
    for (int i = 0; i < link->n_lent; i++) {
        const struct provider_contract *contract = &link->lent[i].contract;
        if (contract->n_candidates == 0) {
            site_lent_held(link->parts.site, contract->lease, contract->freeze, NULL, 0,
                           now_ms);
        }
    }
}

static void refresh(void *arg, int64_t now_ms)
{
    struct slurm_link *link = arg;
    arena_clear(&link->arena);
    link->n_lent = site_lent_list(link->parts.site, &link->arena, &link->lent);
    freeze_without(link, now_ms);
    uint64_t sum = sum_of(link->lent, link->n_lent);
    if (sum != link->sum) {
        link->sum = sum;
        set_contracts(link);
    }
}

static void held(void *arg, const struct slurm_contract *contract,
                 const char *const *nodes, int n_nodes)
{
    struct slurm_link *link = arg;
    for (int i = 0; i < link->n_lent; i++) {
        const struct provider_contract *from = &link->lent[i].contract;
        if (strcmp(from->policy, contract->policy) == 0 &&
            strcmp(from->consumer, contract->consumer) == 0 &&
            from->epoch == contract->epoch) {
            site_lent_held(link->parts.site, from->lease, from->freeze, nodes, n_nodes,
                           daemon_now_ms());
        }
    }
}

static void waiting(void *arg, int n_cpus)
{
    struct slurm_link *link = arg;
    site_lent_waiting(link->parts.site, n_cpus);
}

/* ---------------------------------------------------------------- nodes */

static bool is_same(const struct site_config *config, const struct slurm_nodes *nodes)
{
    int n_same = 0, n_hosts = 0;
    for (int i = 0; i < config->n_hosts; i++) {
        const struct site_host *host = &config->hosts[i];
        int node = slurm_use_find_node(nodes, host->name);
        n_hosts += !host->is_leaving;
        n_same +=
            !host->is_leaving && node >= 0 && nodes->items[node].cpus == host->max;
    }
    return n_same == n_hosts && n_hosts == nodes->count;
}

/* The nodes of the cluster are the hosts of the site: other ones are another
 * configuration. */
static void see(void *arg, const struct slurm_nodes *nodes)
{
    struct slurm_link *link = arg;
    int64_t now_ms = daemon_now_ms();
    bool has_changed = !is_same(&link->setup->config, nodes);
    if (!link->has_kept || has_changed) { /* at the first start there was no SPOOL */
        slurm_config_keep(link->setup->spool, nodes);
        link->has_kept = true;
    }
    if (has_changed && now_ms - link->reloaded_ms >= RELOAD_MS) {
        link->reloaded_ms = now_ms;
        log_line(LOG_LEVEL_NOTICE,
                 "Slurm has other nodes: the configuration is reloaded");
        link->parts.reload(link->parts.arg);
    }
}

static void set_nodes(struct slurm_link *link)
{
    const struct site_config *config = &link->setup->config;
    const char **names = mem_alloc((size_t)config->n_hosts + 1, sizeof(*names));
    for (int i = 0; i < config->n_hosts; i++) {
        names[i] = config->hosts[i].name;
    }
    slurm_hosts_set_nodes(link->hosts, names, config->n_hosts);
    free(names);
}

/* ---------------------------------------------------------------- life */

void slurm_link_change(struct slurm_link *link, const struct site_setup *setup)
{
    link->setup = setup;
    set_nodes(link);
}

int slurm_link_new(const struct slurm_link_parts *parts, const struct site_setup *setup,
                   struct slurm_link **link, struct err *err)
{
    struct slurm_link *made = mem_alloc(1, sizeof(*made));
    *made = (struct slurm_link){.parts = *parts, .setup = setup};
    arena_init(&made->texts);
    arena_init(&made->arena);
    const struct site_slurm *slurm = &setup->slurm;
    const struct slurm_hosts_setting setting = {
        .place = {.bin = arena_str(&made->texts, slurm->bin),
                  .conf = arena_str(&made->texts, slurm->conf),
                  .within_ms = WITHIN_MS},
        .agent = {.site = arena_str(&made->texts, setup->config.name),
                  .agent = accounts_own_name(&made->texts),
                  .partition = arena_str(&made->texts, slurm->partition),
                  .account = arena_str(&made->texts, slurm->account),
                  .term_s = slurm->term_ms / 1000,
                  .cycle_ms = slurm->interval_ms,
                  .seed = (uint64_t)daemon_now_ms() ^ (uint64_t)getpid()},
        .spool = arena_str(&made->texts, slurm->spool),
        .refresh = refresh,
        .held = held,
        .waiting = waiting,
        .seen = see,
        .arg = made,
    };
    int rc = slurm_hosts_new(parts->loop, parts->shell, &setting, &made->hosts, err);
    if (rc < 0) {
        slurm_link_free(made);
        return rc;
    }
    set_nodes(made);
    *link = made;
    return 0;
}

void slurm_link_free(struct slurm_link *link)
{
    if (link == NULL) {
        return;
    }
    slurm_hosts_free(link->hosts);
    arena_release(&link->texts);
    arena_release(&link->arena);
    free(link);
}
