/* SPDX-License-Identifier: Apache-2.0 */
/* host_topology.h: the processors of this machine, as hwloc finds them: those that this
 * process may use. HWLOC_SYNTHETIC and the other variables of hwloc apply.
 *
 * Layer: host (agent). */
#ifndef SUBLET_HOST_AGENT_HOST_TOPOLOGY_H
#define SUBLET_HOST_AGENT_HOST_TOPOLOGY_H

/* As model/cpu.h writes it, on the heap. "": it cannot be found, or is too large; the
 * log says so. */
char *host_topology_read(void);

#endif
