/* SPDX-License-Identifier: Apache-2.0 */
/* load_machine.c: see load_machine.h. */
#include "host/load/load_machine.h"

#include <stdbool.h>
#include <stdlib.h>

static int compare_places(const void *left, const void *right)
{
    const struct load_cpu_place *a = left, *b = right;
    if (a->package != b->package) {
        return a->package < b->package ? -1 : 1;
    }
    return (a->core > b->core) - (a->core < b->core);
}

static int rounded_up(int count, int by)
{
    return by > 0 ? (count + by - 1) / by : 1;
}

void load_machine_count_cpus(struct load_machine *facts, struct load_cpu_place *places,
                             int n_places)
{
    int n_packages = 0, n_cores = 0;
    qsort(places, (size_t)n_places, sizeof(*places), compare_places);
    for (int i = 0; i < n_places; i++) {
        bool is_other_package = i == 0 || places[i].package != places[i - 1].package;
        n_packages += is_other_package;
        n_cores += is_other_package || places[i].core != places[i - 1].core;
    }
    facts->n_procs = n_packages > 0 ? n_packages : 1;
    facts->n_cores = rounded_up(n_cores, n_packages);
    facts->n_threads = rounded_up(n_places, n_cores);
}
