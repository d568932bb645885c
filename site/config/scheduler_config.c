/* SPDX-License-Identifier: Apache-2.0 */
/* scheduler_config.c: SCHEDULER = slurm: the keys about the cluster, and what its nodes
 * and jobs cannot be lent for. The hosts are in generated sections Host and Resource
 * (slurm/slurm_sections.h), which are read before. */
#include <string.h>
#include <strings.h>

#include "base/conf/conf_value.h"
#include "site/config/config_parts.h"

static const char *text_of(const struct conf *conf, const struct conf_place *site,
                           const char *key)
{
    const char *text = conf_value_text(conf, site, key);
    return text != NULL ? text : "";
}

void scheduler_config_read(struct conf *conf, const struct conf_place *site,
                           struct site_setup *setup)
{
    static const char *const not_theirs[] = {"HOSTS_HERE", "LISTEN", "HOST_KEYS",
                                             "HOST_KEY", "ELIM"};
    setup->config.is_slurm = conf_value_word(conf, site, "SCHEDULER") == 1;
    setup->slurm = (struct site_slurm){
        .conf = text_of(conf, site, "SLURM_CONF"),
        .bin = text_of(conf, site, "SLURM_BIN"),
        .partition = text_of(conf, site, "SLURM_PARTITION"),
        .account = text_of(conf, site, "SLURM_ACCOUNT"),
        .spool = text_of(conf, site, "SLURM_SPOOL"),
        .term_ms = conf_value_duration(conf, site, "SLURM_TERM", 900000),
        .interval_ms = conf_value_duration(conf, site, "SLURM_INTERVAL", 15000),
    };
    if (setup->slurm.spool[0] == '\0') {
        setup->slurm.spool = arena_printf(conf->arena, "%s/slurm",
                                          setup->spool != NULL ? setup->spool : "");
    }
    for (size_t i = 0; i < sizeof(not_theirs) / sizeof(not_theirs[0]); i++) {
        if (setup->config.is_slurm &&
            conf_text(site->row, not_theirs[i], NULL) != NULL) {
            CONF_COMPLAIN(conf, CONF_ERROR, site, not_theirs[i],
                          "%s is about hosts with a sublet-host, and Slurm has the "
                          "hosts of this site, expected no %s",
                          not_theirs[i], not_theirs[i]);
        }
    }
    if (setup->config.is_slurm && setup->slurm.interval_ms * 4 > setup->slurm.term_ms) {
        CONF_COMPLAIN(conf, CONF_ERROR, site, "SLURM_INTERVAL",
                      "reservations would not be renewed in time, expected at most a "
                      "quarter of SLURM_TERM");
    }
}

/* ---------------------------------------------------------------- export policies */

/* The HostExport of that number, from 1. */
static struct conf_place find_policy(const struct conf *conf, int number)
{
    struct conf_place at = {0};
    while (conf_next_row(conf, "HostExport", &at) && --number > 0) {
        continue;
    }
    return at;
}

static void judge_part(struct conf *conf, const struct conf_place *at,
                       const struct site_config *config,
                       const struct export_lease *lease, const struct export_part *part)
{
    int max = config->hosts[part->index].max;
    if (part->n_slots != max) {
        CONF_COMPLAIN(conf, CONF_ERROR, at, "SLOTS",
                      "%d of the %d CPUs of node %s go to %s, which would divide the "
                      "node: a lease of Slurm's nodes is a reservation of whole nodes, "
                      "expected RES_SELECT and NHOSTS, or one consumer and SLOTS = %d",
                      part->n_slots, max, part->host, lease->consumer, max);
    }
    for (int k = 0; k < SPACES; k++) {
        if (part->spaces[k].is_given) {
            CONF_COMPLAIN(conf, CONF_ERROR, at, k == SPACE_MEM ? "MEM" : "SWAP",
                          "the consumer has all memory of a node that Slurm lends, "
                          "expected neither MEM nor SWAP");
        }
    }
}

static void judge_lease(struct conf *conf, const struct site_config *config,
                        struct export_lease *lease)
{
    struct conf_place at = find_policy(conf, lease->place);
    if (lease->type == LEASE_POOL) {
        CONF_COMPLAIN(conf, CONF_ERROR, &at, "DISTRIBUTION",
                      "a pool distributes slots, which would divide nodes of Slurm, "
                      "expected the name of a site");
        return;
    }
    lease->terms.takes_interactive = false;
    for (int i = 0; i < lease->n_hosts; i++) {
        judge_part(conf, &at, config, lease, &lease->hosts[i]);
    }
    for (int i = 0; i < config->users.n_rows; i++) {
        const struct user_map_row *row = &config->users.rows[i];
        if (strcmp(row->site, lease->consumer) == 0 &&
            strcasecmp(row->local, "all") == 0 && strcasecmp(row->user, "all") == 0) {
            CONF_COMPLAIN(conf, CONF_ERROR, &at, "DISTRIBUTION",
                          "UserMap gives all users of %s the account of their name, "
                          "but a reservation of Slurm lists its accounts, expected "
                          "them in UserMap one by one",
                          lease->consumer);
        }
    }
}

void scheduler_config_judge(struct conf *conf, const struct conf_place *site,
                            const struct site_config *config)
{
    (void)site;
    for (int i = 0; i < config->exports.n_leases && config->is_slurm; i++) {
        judge_lease(conf, config, &config->exports.leases[i]);
    }
}
