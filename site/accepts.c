/* SPDX-License-Identifier: Apache-2.0 */
/* accepts.c: see accepts.h. */
#include "site/accepts.h"

#include <stdlib.h>
#include <string.h>

#define uthash_fatal(message) abort()
#include <uthash.h>

#include "site/parts.h"

struct accept {
    int64_t at_ms;
    UT_hash_handle hh;
    char host[];
};

struct accepts {
    struct accept *by_host;
};

struct accepts *accepts_new(void)
{
    return mem_alloc(1, sizeof(struct accepts));
}

static void forget(struct accepts *accepts, int64_t before_ms)
{
    struct accept *accept, *next;
    HASH_ITER (hh, accepts->by_host, accept, next) {
        if (accept->at_ms < before_ms) {
            HASH_DEL(accepts->by_host, accept);
            free(accept);
        }
    }
}

void accepts_free(struct accepts *accepts)
{
    if (accepts != NULL) {
        forget(accepts, INT64_MAX);
        free(accepts);
    }
}

static void note(struct accepts *accepts, const char *host, int64_t now_ms)
{
    struct accept *accept;
    HASH_FIND_STR(accepts->by_host, host, accept);
    if (accept == NULL) {
        size_t size = strlen(host) + 1;
        accept = mem_alloc(1, sizeof(*accept) + size);
        memcpy(accept->host, host, size);
        HASH_ADD_STR(accepts->by_host, host, accept);
    }
    accept->at_ms = now_ms;
}

void accepts_note(struct site *site, const struct host_slots *hosts, int n_hosts,
                  int64_t now_ms)
{
    struct accepts *accepts = site->accepts;
    int64_t longest_ms = site->config->accept_ms;
    unsigned n_most = 2 * (unsigned)(site_hosts_count(site->hosts) +
                                     consumer_count_hosts(site->consumer) + n_hosts);
    for (int i = 0; longest_ms > 0 && i < n_hosts; i++) {
        note(accepts, hosts[i].host, now_ms);
    }
    if (HASH_COUNT(accepts->by_host) > n_most) { /* hosts come and go with leases */
        forget(accepts, now_ms - longest_ms);
    }
}

void accepts_start(struct site *site, int64_t now_ms)
{
    int64_t since_ms = now_ms - site->config->accept_ms;
    for (int i = 0; site->config->accept_ms > 0 && i < jobs_count(site->jobs); i++) {
        const struct job *job = jobs_at(site->jobs, i);
        int64_t at_ms = job->start_ms != 0 ? job->start_ms : now_ms;
        bool was_given = job->attempt != 0 || job->start_ms != 0;
        for (int k = 0; was_given && at_ms > since_ms && k < job->n_hosts; k++) {
            if (accepts_at(site->accepts, job->hosts[k].host) < at_ms) {
                note(site->accepts, job->hosts[k].host, at_ms);
            }
        }
    }
}

int64_t accepts_at(const struct accepts *accepts, const char *host)
{
    struct accept *accept;
    HASH_FIND_STR(accepts->by_host, host, accept);
    return accept != NULL ? accept->at_ms : INT64_MIN;
}
