/* SPDX-License-Identifier: Apache-2.0 */
/* host_agent.h: the session of this host with its site.
 *
 * HOST_HELLO is sent until it is welcomed; then every run as it is, then HOST_SYNCED;
 * from there on each run again when it changes. An end is told again and again until
 * the site forgets the run. What there is to tell of the machine is told after SYNCED
 * and then as load.h says. A site that is silent for 10 s, or knows no such session,
 * gets a new one, on a new connection. What belongs to another session is ignored.
 *
 * Layer: host. */
#ifndef SUBLET_HOST_AGENT_HOST_AGENT_H
#define SUBLET_HOST_AGENT_HOST_AGENT_H

#include <czmq.h>

#include "base/err.h"
#include "host/agent/host_inventory.h"
#include "host/agent/host_runs.h"
#include "host/agent/host_spool.h"
#include "host/load/load.h"
#include "sys/wire.h"

struct host_agent;
/* All is borrowed for its life; the runs' change function must be host_agent_on_change
 * with the agent. */
struct host_agent *host_agent_new(zloop_t *loop, const char *name,
                                  const struct host_inventory *inventory,
                                  const struct host_spool *spool, struct load *load,
                                  struct wire_client *client);
void host_agent_free(struct host_agent *agent);
int host_agent_start(struct host_agent *agent, struct host_runs *runs,
                     struct err *err) MUST_CHECK;

void host_agent_on_change(void *agent, struct host_run *run, bool is_gone);

#endif
