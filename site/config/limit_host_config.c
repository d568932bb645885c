/* SPDX-License-Identifier: Apache-2.0 */
/* limit_host_config.c: the hosts and models that CPU and run limits are for: CPULIMIT =
 * 60/EPYC7, RUNLIMIT = 60/EPYC7 and DEFAULT_HOST_SPEC. Source: LSF's lsb.queues. */
#include "site/config/config_parts.h"

#include <string.h>

#include "model/job_rlimit.h"

double limit_host_config_factor(const void *arg, const char *name)
{
    const struct site_config *config = arg;
    for (int i = 0; i < config->n_hosts; i++) {
        if (strcmp(config->hosts[i].name, name) == 0) {
            name = config->hosts[i].model;
            break;
        }
    }
    for (int i = 0; i < config->resource_config.n_models; i++) {
        if (strcmp(config->resource_config.models[i].name, name) == 0) {
            return config->resource_config.models[i].cpuf;
        }
    }
    return 0;
}

static void check_host(struct conf *conf, const struct site_config *config,
                       const struct conf_place *at, const char *key, const char *host)
{
    if (host[0] != '\0' && limit_host_config_factor(config, host) <= 0) {
        conf_complain(conf, CONF_ERROR, at->section, at->row, conf_cell(at->row, key),
                      "\"%s\" is no host model, and no host with a model, of this site",
                      host);
    }
}

static void check_specs(struct conf *conf, const struct site_config *config,
                        const char *section)
{
    struct conf_place at = {0};
    while (conf_next_row(conf, section, &at)) {
        check_host(conf, config, &at, "DEFAULT_HOST_SPEC",
                   conf_text(at.row, "DEFAULT_HOST_SPEC", ""));
    }
}

static void check_limits(struct conf *conf, const struct site_config *config,
                         const char *section, const char *key)
{
    struct conf_place at = {0};
    while (conf_next_row(conf, section, &at)) {
        struct conf_words words = conf_words(conf->arena, conf_text(at.row, key, NULL));
        for (int i = 0; i < words.count; i++) {
            check_host(conf, config, &at, key, job_rlimit_host(words.words[i]));
        }
    }
}

void limit_host_config_check(struct conf *conf, const struct site_config *config)
{
    check_specs(conf, config, "Parameters");
    check_specs(conf, config, "Queue");
    check_limits(conf, config, "Queue", "CPULIMIT");
    check_limits(conf, config, "Queue", "RUNLIMIT");
    check_limits(conf, config, "Application", "CPULIMIT");
    check_limits(conf, config, "Application", "RUNLIMIT");
}
