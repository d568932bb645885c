/* SPDX-License-Identifier: Apache-2.0 */
/* slurm_config.h: completes the configuration of a site with SCHEDULER = slurm: its
 * nodes become sections (slurm_sections.h), and settings of the cluster that leases
 * cannot work with become diagnostics.
 *
 * Call it between the reading of files and conf_check. Errors: diagnostics of `conf`:
 * a section Host, a setting that defeats leases; slurmctld does not answer, unless
 * SPOOL has the nodes of an earlier time. Layer: slurm/io. */
#ifndef SUBLET_SLURM_IO_SLURM_CONFIG_H
#define SUBLET_SLURM_IO_SLURM_CONFIG_H

#include "base/conf/conf.h"
#include "slurm/io/slurm_child.h"
#include "slurm/slurm_node.h"

enum slurm_config_use {
    SLURM_CONFIG_CHECK,  /* asks, and keeps nothing */
    SLURM_CONFIG_START,  /* asks, and keeps the nodes in SPOOL */
    SLURM_CONFIG_RELOAD, /* takes the nodes that are kept: a daemon does not wait */
};
void slurm_config_complete(struct conf *conf, enum slurm_config_use use);
/* Keeps these nodes for the next reload, or start. */
void slurm_config_keep(const char *spool, const struct slurm_nodes *nodes);

#endif
