/* SPDX-License-Identifier: Apache-2.0 */
/* pool_news.c: see pool_news.h. */
#include "broker/pool/pool_news.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "broker/lease/lease.h"
#include "broker/pool/pool_table.h"

static int compare_hosts(const void *left, const void *right)
{
    const struct pool_seen_host *a = left, *b = right;
    int order = strcmp(a->policy, b->policy);
    return order != 0 ? order : strcmp(a->host, b->host);
}

/* Both are in order. */
static bool has_new_host(const struct pool_news *before, const struct pool_news *now)
{
    int k = 0;
    for (int i = 0; i < now->n_hosts; i++) {
        while (k < before->n_hosts &&
               compare_hosts(&before->hosts[k], &now->hosts[i]) < 0) {
            k++;
        }
        if (k == before->n_hosts ||
            compare_hosts(&before->hosts[k], &now->hosts[i]) != 0) {
            return true;
        }
    }
    return false;
}

struct pool_news pool_news_next(const struct pool_news *before,
                                const struct pool_snapshot *snapshot,
                                struct arena *arena)
{
    struct pool_news news = {.count = before->count};
    news.hosts = arena_alloc(arena, (size_t)snapshot->n_hosts, sizeof(*news.hosts));
    for (int i = 0; i < snapshot->n_hosts; i++) {
        const struct pool_host *host = &snapshot->hosts[i];
        if (host->n_slots > 0) {
            news.hosts[news.n_hosts++] = (struct pool_seen_host){
                arena_str(arena, host->idle_lease->row.id),
                arena_str(arena, host->host),
            };
        }
    }
    if (news.n_hosts > 0) {
        qsort(news.hosts, (size_t)news.n_hosts, sizeof(*news.hosts), compare_hosts);
    }
    news.count += has_new_host(before, &news);
    return news;
}
