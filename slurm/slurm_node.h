/* SPDX-License-Identifier: Apache-2.0 */
/* slurm_node.h: the nodes of a Slurm cluster: what to ask sinfo, and what it answers.
 *
 * sinfo prints a line for each node and partition. A node that is in several partitions
 * becomes one node. Nodes that are borrowed hosts (slurm_guest.h) are not the site's
 * own: it neither shows nor lends them as its hosts.
 *
 * Units: MiB. Order: nodes by name, its partitions as printed. Ownership: all is in the
 * arena. Source: Slurm's sinfo(1). Layer: slurm. */
#ifndef SUBLET_SLURM_SLURM_NODE_H
#define SUBLET_SLURM_SLURM_NODE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"

struct slurm_node {
    const char *name;
    const char *state; /* with its flags: "idle", "mixed+reserved", "down+drain" */
    int cpus;          /* all of them */
    int used_cpus;     /* of Slurm's jobs */
    int64_t mem_mib;
    int64_t free_mem_mib;                     /* -1: not known */
    double load;                              /* of the last minute; -1: not known */
    const char *features, *gres, *partitions; /* separated by commas; "": none */
};

struct slurm_nodes {
    struct slurm_node *items;
    int count;
};

/* The command, ended by NULL. `partition` "": all of them. */
const char *const *slurm_node_command(struct arena *arena, const char *partition);

/* Reads the whole answer, without borrowed nodes. Errors: ERR_PARSE for a line that is
 * none of sinfo's, with its number; ERR_BOUNDS for a name or number out of bounds, or
 * more nodes than HOSTS_MAX. `nodes` is unchanged then. */
int slurm_node_read(struct arena *arena, const char *text, struct slurm_nodes *nodes,
                    struct err *err) MUST_CHECK;
/* The same, with borrowed nodes. */
int slurm_node_read_all(struct arena *arena, const char *text,
                        struct slurm_nodes *nodes, struct err *err) MUST_CHECK;

/* The job that runs the slurmd of a borrowed node: the node is dynamic, has the feature
 * "sublet", and is named "sublet" and that number. 0: it is no such node. */
uint64_t slurm_node_guest(const struct slurm_node *node);

/* Why the node is not wholly idle, so that it could not be lent now; NULL: it is. Only
 * the state "idle" without a flag is idle: a node that is reserved, planned for a job,
 * drained or powered down is not. */
const char *slurm_node_obstacle(struct arena *arena, const struct slurm_node *node);

#endif
