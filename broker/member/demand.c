/* SPDX-License-Identifier: Apache-2.0 */
/* demand.c: see demand.h. */
#include "broker/member/demand.h"

#include <stdlib.h>
#include <string.h>

void demand_release(struct member *member)
{
    free(member->queues);
    member->queues = NULL;
    member->n_queues = 0;
}

static int compare(const void *left, const void *right)
{
    const struct queue_demand *a = left, *b = right;
    int order = strcmp(a->queue, b->queue);
    return order != 0 ? order
                      : (a->n_waiting > b->n_waiting) - (a->n_waiting < b->n_waiting);
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
    /* Each leaf of a plan asks for its own in every cycle. */
    qsort(member->queues, (size_t)member->n_queues, sizeof(*member->queues), compare);
}

static int64_t waiting_in(const struct member *member, const char *queue)
{
    int low = 0, high = member->n_queues;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (strcmp(member->queues[middle].queue, queue) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    int64_t n_waiting = 0;
    for (; low < member->n_queues && strcmp(member->queues[low].queue, queue) == 0;
         low++) {
        n_waiting += member->queues[low].n_waiting;
    }
    return n_waiting;
}

static bool is_listed_before(const char *const *queues, int place)
{
    for (int i = 0; i < place; i++) {
        if (strcmp(queues[i], queues[place]) == 0) {
            return true;
        }
    }
    return false;
}

int64_t demand_waiting(const struct member *member, const char *const *queues,
                       int n_queues)
{
    int64_t n_waiting = 0;
    for (int i = 0; i < member->n_queues && n_queues == 0; i++) {
        n_waiting += member->queues[i].n_waiting;
    }
    for (int i = 0; i < n_queues; i++) {
        if (!is_listed_before(queues, i)) {
            n_waiting += waiting_in(member, queues[i]);
        }
    }
    return n_waiting;
}
