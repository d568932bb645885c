/* SPDX-License-Identifier: Apache-2.0 */
/* host_inventory.c: see host_inventory.h. */
#include "host/agent/host_inventory.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "host/kernel/boot_id.h"

static int count_cpus(void)
{
    cpu_set_t cpus;
    if (sched_getaffinity(0, sizeof(cpus), &cpus) == 0) {
        return CPU_COUNT(&cpus);
    }
    return (int)sysconf(_SC_NPROCESSORS_ONLN); /* more of them than the set holds */
}

void host_inventory_read(struct host_inventory *inventory)
{
    *inventory = (struct host_inventory){.n_cpus = count_cpus()};
    FILE *file = fopen(boot_id_path(), "re");
    if (file != NULL) {
        if (fgets(inventory->boot_id, sizeof(inventory->boot_id), file) == NULL) {
            inventory->boot_id[0] = '\0';
        }
        inventory->boot_id[strcspn(inventory->boot_id, "\n")] = '\0';
        fclose(file);
    }
}
