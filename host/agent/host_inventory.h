/* SPDX-License-Identifier: Apache-2.0 */
/* host_inventory.h: what this machine is. Layer: host. */
#ifndef SUBLET_HOST_AGENT_HOST_INVENTORY_H
#define SUBLET_HOST_AGENT_HOST_INVENTORY_H

struct host_inventory {
    char boot_id[40]; /* as the kernel writes it */
    int n_cpus;       /* that this process may use */
};

void host_inventory_read(struct host_inventory *inventory);

#endif
