/* SPDX-License-Identifier: Apache-2.0 */
/* host_agent.h: the session of this host with its site.
 *
 * The agent sends HOST_HELLO until it gets a WELCOME. Then it reports every run, then
 * HOST_SYNCED, and from then on each run again when it changes. The end of a run is
 * repeated until the site forgets the run. Resources and load of the machine are
 * reported after SYNCED, and then as load.h says. If the site is silent for 10 s, or
 * does not know the session, the agent begins a new session on a new connection.
 * Messages of other sessions are ignored.
 *
 * Layer: host. */
#ifndef SUBLET_HOST_AGENT_HOST_AGENT_H
#define SUBLET_HOST_AGENT_HOST_AGENT_H

#include <czmq.h>

#include "base/err.h"
#include "host/agent/host_runs.h"
#include "host/agent/host_spool.h"
#include "host/load/load.h"
#include "sys/wire/wire.h"

struct host_agent;
/* All arguments are borrowed for its life. The change function of the runs must be
 * host_agent_on_change with the agent. */
struct host_agent *host_agent_new(zloop_t *loop, const char *name, const char *boot_id,
                                  const struct host_spool *spool, struct load *load,
                                  struct wire_client *client);
void host_agent_free(struct host_agent *agent);
int host_agent_start(struct host_agent *agent, struct host_runs *runs,
                     struct err *err) MUST_CHECK;

void host_agent_on_change(void *agent, struct host_run *run, bool is_gone);

#endif
