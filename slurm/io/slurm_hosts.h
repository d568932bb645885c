/* SPDX-License-Identifier: Apache-2.0 */
/* slurm_hosts.h: the nodes of a Slurm cluster in the loop of a site's daemon: runs the
 * agent's commands as children, keeps the directories of runs, and passes messages
 * between the agent and the site's machine without a socket.
 *
 * It takes the place of the sockets of hosts (PEER_HOST). `refresh` is called before
 * each step of the agent, outside of a batch, when all that the site has promised is on
 * disk: it may call slurm_hosts_set_contracts.
 *
 * Units: milliseconds, seconds. Ownership: the setting's texts are borrowed. Layer:
 * slurm/io. */
#ifndef SUBLET_SLURM_IO_SLURM_HOSTS_H
#define SUBLET_SLURM_IO_SLURM_HOSTS_H

#include <czmq.h>

#include "slurm/io/slurm_child.h"
#include "slurm/slurm_agent.h"
#include "sys/shell.h"

struct slurm_hosts_setting {
    struct slurm_child_place place;
    struct slurm_agent_config agent;
    const char *spool; /* SLURM_SPOOL */
    void (*refresh)(void *arg, int64_t now_ms);
    /* As in slurm_agent_io. */
    void (*held)(void *arg, const struct slurm_contract *contract,
                 const char *const *nodes, int n_nodes);
    void (*waiting)(void *arg, int n_cpus);
    /* The cluster was looked at. */
    void (*seen)(void *arg, const struct slurm_nodes *nodes);
    void *arg;
};

struct slurm_hosts;
int slurm_hosts_new(zloop_t *loop, struct shell *shell,
                    const struct slurm_hosts_setting *setting,
                    struct slurm_hosts **hosts, struct err *err) MUST_CHECK;
void slurm_hosts_free(struct slurm_hosts *hosts); /* NULL is fine */

/* The hosts of the site; runs that were found in the spool are the agent's by then. */
void slurm_hosts_set_nodes(struct slurm_hosts *hosts, const char *const *names,
                           int n_names);
void slurm_hosts_set_contracts(struct slurm_hosts *hosts,
                               const struct slurm_contract *contracts, int n_contracts);

#endif
