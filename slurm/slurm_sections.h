/* SPDX-License-Identifier: Apache-2.0 */
/* slurm_sections.h: the nodes of a Slurm cluster as sections Host, Resource and
 * ResourceMap of a configuration.
 *
 * Each node is a host with as many slots as CPUs. A feature is a Boolean resource, and
 * a GRES a numeric one, whose value is the count of all its types. Features and GRES
 * whose names cannot be resources, or are those of built-in ones, are left out.
 *
 * Order: nodes as given. Ownership: the text is in the arena. Layer: slurm. */
#ifndef SUBLET_SLURM_SLURM_SECTIONS_H
#define SUBLET_SLURM_SLURM_SECTIONS_H

#include "base/arena.h"
#include "slurm/slurm_node.h"

const char *slurm_sections_format(struct arena *arena, const struct slurm_nodes *nodes);

/* What a host reports of its node. Calls `add` for each value: loads, memory (MiB) and
 * CPUs, under the names of LSF's load indices and static resources. */
typedef void (*slurm_sections_add_fn)(void *arg, const char *name, const char *value);
void slurm_sections_report(struct arena *arena, const struct slurm_node *node,
                           slurm_sections_add_fn add, void *arg);

#endif
