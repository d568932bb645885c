/* SPDX-License-Identifier: Apache-2.0 */
/* config_parts.h: the readers of some sections of a site's configuration. site_config.c
 * calls them in order: hosts (and with them resources, their map and thresholds),
 * queues, compute units, requirement strings, rusage, export policies.
 *
 * Errors: diagnostics of `conf`. Layer: site. */
#ifndef SUBLET_SITE_CONFIG_CONFIG_PARTS_H
#define SUBLET_SITE_CONFIG_CONFIG_PARTS_H

#include "site/config/site_config.h"

/* Section Host and HOSTS_HERE; reads the definitions of resources and the thresholds of
 * hosts, too. */
void host_config_read(struct conf *conf, const struct conf_place *site,
                      struct site_setup *setup);

/* Section ComputeUnit and COMPUTE_UNIT_TYPES, once the groups are read. The finest type
 * has hosts and groups as members, and each other type has units of one finer type. A
 * host is in at most one unit of a type, and own hosts alone are. */
void compute_unit_read(struct conf *conf, struct site_config *config);

/* Export policies, once the requirement strings are read. */
void export_config_read(struct conf *conf, bool is_simulated,
                        struct site_config *config);

/* Section ResourceMap: fills config->places. */
void resource_map_read(struct conf *conf, const struct resources *catalogue,
                       const struct resource_config_host *hosts, int n_hosts,
                       struct resource_config *config);

/* Load thresholds of hosts, by the rows of each that count, the first one first; an
 * empty place is behind the last. */
enum { THRESHOLD_ROWS = 2 };
struct threshold_rows {
    struct conf_place rows[THRESHOLD_ROWS];
};
void threshold_config_hosts(struct conf *conf,
                            const struct resource_config *definitions,
                            const struct threshold_rows *rows, struct site_host *hosts,
                            int n_hosts);
void threshold_config_queues(struct conf *conf,
                             const struct resource_config *definitions,
                             struct queue_config *queues, int n_queues);
/* Sets has_thresholds and load_interval_ms. */
void threshold_config_read(struct conf *conf, struct site_config *config);

/* Sets is_resreq_lenient and is_sched_by_slot, and judges the strings of queues and
 * applications by them. */
void resreq_config_read(struct conf *conf, struct site_config *config);

/* Answers which hosts a RES_SELECT selects, while export policies are read. */
struct resreq_selector;
struct resreq_selector *resreq_config_selector(struct conf *conf,
                                               const struct site_config *config,
                                               bool is_simulated);
void resreq_config_free(struct resreq_selector *selector);
/* `arg` is the selector; an export_match_fn. */
enum export_answer resreq_config_match(void *arg, const struct conf_section *section,
                                       const struct conf_row *row,
                                       const struct conf_cell *cell, uint8_t *matches);

void rusage_config_read(struct conf *conf, struct site_config *config);

/* The hosts and models that CPULIMIT, RUNLIMIT and DEFAULT_HOST_SPEC name exist. */
void limit_host_config_check(struct conf *conf, const struct site_config *config);
/* The CPU factor of that model, or of the model that the configuration gives that host;
 * 0: there is none. `arg` is a site_config. */
double limit_host_config_factor(const void *arg, const char *name);

/* LEASE_UIDS. */
void lease_user_read_uids(struct conf *conf, const struct conf_place *site,
                          struct site_config *config);

/* scheduler_config.c: SCHEDULER = slurm. The second one judges export policies. */
void scheduler_config_read(struct conf *conf, const struct conf_place *site,
                           struct site_setup *setup);
void scheduler_config_judge(struct conf *conf, const struct conf_place *site,
                            const struct site_config *config);

/* slurm_borrow_config.c: after the queues. */
void slurm_borrow_config_read(struct conf *conf, const struct conf_place *site,
                              struct site_setup *setup);

/* pend_config.c */
void pend_config_read(struct conf *conf, const struct groups *groups, const char *key,
                      int of_others, struct pend_config *pend);

#endif
