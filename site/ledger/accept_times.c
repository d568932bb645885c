/* SPDX-License-Identifier: Apache-2.0 */
/* accept_times.c: see site_ledger.h. */
#include "site/ledger/site_ledger.h"

#include <stdlib.h>
#include <string.h>

#define uthash_fatal(message) abort()
#include <uthash.h>

#include "site/job/job.h"

struct accept {
    int64_t at_ms;
    UT_hash_handle hh;
    char host[];
};

/* the number of hosts before old entries are dropped */
enum { ACCEPTS_MIN = 64 };

struct accept_times {
    struct accept *by_host;
    int64_t longest_ms;
    unsigned n_most; /* hosts before old entries are dropped */
};

struct accept_times *accept_times_new(void)
{
    return mem_alloc(1, sizeof(struct accept_times));
}

static void forget(struct accept_times *times, int64_t before_ms)
{
    struct accept *accept, *next;
    HASH_ITER (hh, times->by_host, accept, next) {
        if (accept->at_ms < before_ms) {
            HASH_DEL(times->by_host, accept);
            free(accept);
        }
    }
}

void accept_times_free(struct accept_times *times)
{
    if (times != NULL) {
        forget(times, INT64_MAX);
        free(times);
    }
}

static void note(struct accept_times *times, const char *host, int64_t now_ms)
{
    struct accept *accept;
    HASH_FIND_STR(times->by_host, host, accept);
    if (accept == NULL) {
        size_t size = strlen(host) + 1;
        accept = mem_alloc(1, sizeof(*accept) + size);
        memcpy(accept->host, host, size);
        HASH_ADD_STR(times->by_host, host, accept);
    }
    accept->at_ms = now_ms;
}

void accept_times_set_interval(struct accept_times *times, int64_t longest_ms)
{
    times->longest_ms = longest_ms;
}

void accept_times_set(struct accept_times *times, const struct host_slots *hosts,
                      int n_hosts, int64_t now_ms)
{
    for (int i = 0; times->longest_ms > 0 && i < n_hosts; i++) {
        note(times, hosts[i].host, now_ms);
    }
    if (HASH_COUNT(times->by_host) > times->n_most) { /* leases come and go */
        forget(times, now_ms - times->longest_ms);
        times->n_most = 2 * HASH_COUNT(times->by_host) + ACCEPTS_MIN;
    }
}

void accept_times_load(struct accept_times *times, const struct job_table *jobs,
                       int64_t now_ms)
{
    int64_t since_ms = now_ms - times->longest_ms;
    for (int i = 0; times->longest_ms > 0 && i < job_table_count(jobs); i++) {
        const struct job *job = job_table_at_const(jobs, i);
        int64_t at_ms = job->start_ms != 0 ? job->start_ms : now_ms;
        bool was_given = job->attempt != 0 || job->start_ms != 0;
        for (int k = 0; was_given && at_ms > since_ms && k < job->n_hosts; k++) {
            if (accept_times_get(times, job->hosts[k].host) < at_ms) {
                note(times, job->hosts[k].host, at_ms);
            }
        }
    }
}

int64_t accept_times_get(const struct accept_times *times, const char *host)
{
    struct accept *accept;
    HASH_FIND_STR(times->by_host, host, accept);
    return accept != NULL ? accept->at_ms : INT64_MIN;
}
