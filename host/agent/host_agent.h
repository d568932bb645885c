/* SPDX-License-Identifier: Apache-2.0 */
/* host_agent.h: the daemon of a host: carries out what its session with the site
 * decides (host/exec/exec_session.h), in the loop that all daemons share (sys/shell.h).
 * Nothing is stored here: the directories of runs are what counts (run_dir.h).
 *
 * Layer: host. */
#ifndef SUBLET_HOST_AGENT_HOST_AGENT_H
#define SUBLET_HOST_AGENT_HOST_AGENT_H

#include <czmq.h>

#include "base/err.h"
#include "host/agent/host_runs.h"
#include "host/agent/host_spool.h"
#include "host/load/load.h"
#include "sys/shell.h"
#include "sys/wire/wire.h"

struct host_agent;
/* All arguments are borrowed for its life. */
struct host_agent *host_agent_new(zloop_t *loop, const char *name, const char *boot_id,
                                  const struct host_spool *spool, struct load *load,
                                  struct wire_client *client);
void host_agent_free(struct host_agent *agent);

/* For the table of runs, which works on both. */
struct exec_session *host_agent_session(struct host_agent *agent);
struct shell *host_agent_shell(struct host_agent *agent);

/* Begins the first session; call it once the runs are loaded. */
int host_agent_start(struct host_agent *agent, struct host_runs *runs,
                     struct err *err) MUST_CHECK;

#endif
