/* SPDX-License-Identifier: Apache-2.0 */
/* demand.c: see demand.h. */
#include "broker/demand.h"

#include <stdlib.h>
#include <string.h>

void demand_release(struct member *member)
{
    free(member->queues);
    member->queues = NULL;
    member->n_queues = 0;
}

void demand_take(struct member *member, const struct msg_usage *usage)
{
    size_t size = (size_t)usage->n_queues * sizeof(*usage->queues);
    for (int i = 0; i < usage->n_queues; i++) {
        size += strlen(usage->queues[i].queue) + 1;
    }
    demand_release(member);
    member->queues = mem_alloc(size, 1);
    member->n_queues = usage->n_queues;
    char *text = (char *)&member->queues[usage->n_queues];
    for (int i = 0; i < usage->n_queues; i++) {
        size_t length = strlen(usage->queues[i].queue) + 1;
        member->queues[i].n_waiting = usage->queues[i].n_waiting;
        member->queues[i].queue = memcpy(text, usage->queues[i].queue, length);
        text += length;
    }
}

static bool is_listed(const char *const *queues, int n_queues, const char *queue)
{
    for (int i = 0; i < n_queues; i++) {
        if (strcmp(queues[i], queue) == 0) {
            return true;
        }
    }
    return n_queues == 0;
}

int64_t demand_waiting(const struct member *member, const char *const *queues,
                       int n_queues)
{
    int64_t n_waiting = 0;
    for (int i = 0; i < member->n_queues; i++) {
        if (is_listed(queues, n_queues, member->queues[i].queue)) {
            n_waiting += member->queues[i].n_waiting;
        }
    }
    return n_waiting;
}
