/* SPDX-License-Identifier: Apache-2.0 */
/* load_interval.c: see load_interval.h. */
#include "site/load/load_interval.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "model/dup.h"

struct taken {
    char *host;
    int64_t at_ms;
    uint64_t waiting; /* the job that waits for slots still; 0: none */
};

struct load_interval {
    struct taken *taken;
    int n_taken, capacity;
};

struct load_interval *load_interval_new(void)
{
    return mem_alloc(1, sizeof(struct load_interval));
}

void load_interval_free(struct load_interval *turns)
{
    if (turns == NULL) {
        return;
    }
    for (int i = 0; i < turns->n_taken; i++) {
        free(turns->taken[i].host);
    }
    free(turns->taken);
    free(turns);
}

static struct taken *find_taken(const struct load_interval *turns, const char *host)
{
    for (int i = 0; i < turns->n_taken; i++) {
        if (strcmp(turns->taken[i].host, host) == 0) {
            return &turns->taken[i];
        }
    }
    return NULL;
}

void load_interval_expire(struct load_interval *turns, int64_t before_ms)
{
    int n_kept = 0;
    for (int i = 0; i < turns->n_taken; i++) {
        if (turns->taken[i].at_ms > before_ms) {
            turns->taken[n_kept++] = turns->taken[i];
        } else {
            free(turns->taken[i].host);
        }
    }
    turns->n_taken = n_kept;
}

static struct taken *see_taken(struct load_interval *turns, const char *host)
{
    struct taken *taken = find_taken(turns, host);
    if (taken != NULL) {
        return taken; /* of a parallel job, for another host's load */
    }
    if (turns->n_taken == turns->capacity) {
        turns->capacity = turns->capacity == 0 ? 8 : turns->capacity * 2;
        turns->taken =
            mem_grow(turns->taken, (size_t)turns->capacity, sizeof(*turns->taken));
    }
    turns->taken[turns->n_taken] = (struct taken){.host = dup_text(host)};
    return &turns->taken[turns->n_taken++];
}

void load_interval_start(struct load_interval *turns, const struct job *job,
                         bool is_waiting, int64_t now_ms)
{
    for (int i = 0; i < job->n_hosts; i++) {
        struct taken *taken = see_taken(turns, job->hosts[i].host);
        taken->at_ms = now_ms;
        taken->waiting = is_waiting ? job_key(job) : 0;
    }
}

void load_interval_restart(struct load_interval *turns, const struct job *job,
                           int64_t now_ms)
{
    for (int i = 0; i < turns->n_taken; i++) {
        if (turns->taken[i].waiting == job_key(job)) {
            turns->taken[i].at_ms = now_ms;
            turns->taken[i].waiting = 0;
        }
    }
}

int64_t load_interval_started_ms(const struct load_interval *turns, const char *host,
                                 bool is_stop)
{
    const struct taken *taken = find_taken(turns, host);
    bool is_free = taken == NULL || (is_stop && taken->waiting != 0);
    return is_free ? -1 : taken->at_ms;
}
