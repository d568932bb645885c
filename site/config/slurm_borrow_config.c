/* SPDX-License-Identifier: Apache-2.0 */
/* slurm_borrow_config.c: the keys SLURM_BORROW_*: borrowed hosts as nodes of the site's
 * own Slurm cluster. The partition's name is also that of a queue, which has borrowed
 * hosts only. */
#include <string.h>

#include "base/conf/conf_value.h"
#include "site/config/config_parts.h"

enum { MINUTE_MS = 60000, NODES_DEFAULT = 16 };

static const struct queue_config *find_queue(const struct site_config *config,
                                             const char *name)
{
    for (int i = 0; i < config->n_queues; i++) {
        if (strcmp(config->queues[i].name, name) == 0) {
            return &config->queues[i];
        }
    }
    return NULL;
}

/* It has hosts, and only of other sites. */
static bool is_remote(const struct queue_config *queue)
{
    for (int i = 0; i < queue->n_terms; i++) {
        enum queue_term_kind kind = queue->terms[i].kind;
        if (kind != QUEUE_ALL_REMOTE && kind != QUEUE_ALL_AT && kind != QUEUE_HOST_AT) {
            return false;
        }
    }
    return queue->n_terms > 0;
}

void slurm_borrow_config_read(struct conf *conf, const struct conf_place *site,
                              struct site_setup *setup)
{
    static const char key[] = "SLURM_BORROW_PARTITION";
    struct site_slurm_borrow *borrow = &setup->slurm_borrow;
    const char *slurmd = conf_value_text(conf, site, "SLURM_BORROW_SLURMD");
    borrow->partition = conf_value_text(conf, site, key);
    borrow->slurmd = slurmd != NULL ? slurmd : "slurmd";
    borrow->n_nodes =
        (int)conf_value_int(conf, site, "SLURM_BORROW_NODES", NODES_DEFAULT);
    borrow->idle_ms =
        conf_value_duration(conf, site, "SLURM_BORROW_IDLE", 5 * MINUTE_MS);
    borrow->stay_ms =
        conf_value_duration(conf, site, "SLURM_BORROW_STAY", 720 * MINUTE_MS);
    if (borrow->partition == NULL) {
        return;
    }
    const struct queue_config *queue = find_queue(&setup->config, borrow->partition);
    if (queue == NULL || !is_remote(queue)) {
        CONF_COMPLAIN(conf, CONF_ERROR, site, key,
                      "the jobs that run slurmd on borrowed hosts need a queue of the "
                      "partition's name with such hosts only, expected a section Queue "
                      "with QUEUE_NAME = %s and HOSTS = allremote",
                      borrow->partition);
    }
    if (setup->config.is_alone) {
        CONF_COMPLAIN(conf, CONF_ERROR, site, key,
                      "a site without a broker borrows no hosts, expected BROKER");
    }
}
