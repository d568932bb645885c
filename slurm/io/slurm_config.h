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

/* `keeps`: the sections are kept in SPOOL for a time when slurmctld does not answer. */
void slurm_config_complete(struct conf *conf, bool keeps);

#endif
