/* SPDX-License-Identifier: Apache-2.0 */
/* resreq_config.h: requirement strings that stand in the configuration: RES_REQ and
 * RESRSV_LIMIT of queues, their STOP_COND and RESUME_COND, RES_SELECT of export
 * policies, and which rules they are read by (LSF_STRICT_RESREQ,
 * PARALLEL_SCHED_BY_SLOT).
 *
 * RES_SELECT is a select section only, its default is `type == any`, and there is no
 * local host. Where the configuration says all that it names (type, model and factor of
 * every host, RESOURCES, ResourceMap, names, slots) it is judged by that at once; else
 * when the hosts have told (export_select.h), or in a simulation, where hosts tell
 * nothing, with that absent.
 *
 * Errors: diagnostics of `conf`, with LSF's sentence, the column and our hint.
 * Source: docs/design/leases.md "Export policies", docs/design/resreq.md "Sections",
 * "Select"; docs/design/leases.md "Decided". Layer: site. */
#ifndef SUBLET_SITE_CONFIG_RESREQ_CONFIG_H
#define SUBLET_SITE_CONFIG_RESREQ_CONFIG_H

#include "base/conf.h"
#include "sched/resreq/resreq.h"
#include "site/site.h"

/* is_resreq_lenient, is_sched_by_slot; queues' strings are judged by them. Hosts and
 * resources have been read. */
void resreq_config_read(struct conf *conf, struct site_config *config);

/* Whom to ask which hosts a RES_SELECT means, while policies are read. */
struct resreq_selector;
struct resreq_selector *resreq_config_selector(struct conf *conf,
                                               const struct site_config *config,
                                               bool is_simulated);
void resreq_config_free(struct resreq_selector *selector);
/* `arg` is the selector; an export_match_fn. */
enum export_answer resreq_config_match(void *arg, const struct conf_section *section,
                                       const struct conf_row *row,
                                       const struct conf_cell *cell, uint8_t *matches);

/* The rules that this configuration gives to a requirement string. */
struct resreq_rules resreq_config_rules(const struct site_config *config,
                                        const struct resources *resources);
/* The rules by which a RES_SELECT or a condition is read, and whom its `local` means:
 * nobody. */
struct resreq_rules resreq_config_select_rules(const struct site_config *config,
                                               const struct resources *resources);
extern const struct resreq_local resreq_config_nowhere;

#endif
