/* SPDX-License-Identifier: Apache-2.0 */
/* usage_watch.c: see usage_watch.h. */
#include "site/io/usage_watch.h"

#include <stdlib.h>
#include <unistd.h>

#include "consumer/consumer.h"
#include "provider/provider.h"
#include "sys/daemon.h"
#include "sys/log.h"

enum { SECOND_MS = 1000 };
#define FORGET_AFTER_MS INT64_C(60000)

struct usage_watch {
    zloop_t *loop;
    int timer;
    struct site *site;
    struct usage_store *store;
    int64_t now_ms, connected_ms; /* 0: the broker is away */
};

static void look_at_provider(struct usage_watch *watch)
{
    struct provider *provider = site_provider(watch->site);
    for (int i = 0; i < provider_count_leases(provider); i++) {
        const char *lease = provider_lease_id(provider, i);
        struct msg_state state;
        int n_used = 0;
        if (provider_find_lease(provider, lease, &state)) {
            for (int k = 0; k < state.n_hosts; k++) {
                n_used += state.hosts[k].provider_used;
            }
            usage_use(usage_store_usage(watch->store), lease, USAGE_PROVIDER, n_used,
                      watch->now_ms);
            usage_price(usage_store_usage(watch->store), lease, USAGE_LENT, state.price,
                        watch->now_ms);
        }
    }
}

void usage_watch_contracts(struct usage_watch *watch, int64_t now_ms)
{
    const struct consumer *consumer = site_consumer(watch->site);
    struct msg_contract contract;
    for (int i = 0; consumer_contract_at(consumer, i, &contract); i++) {
        int n_held = 0;
        for (int k = 0; k < contract.n_hosts && contract.state != LEASE_ENDED; k++) {
            n_held += contract.hosts[k].consumer;
        }
        const struct usage_split split = {.lease = contract.lease,
                                          .side = USAGE_CONSUMER,
                                          .n_slots = n_held,
                                          .epoch = contract.epoch,
                                          .at_ms = contract.split_ms};
        usage_split(usage_store_usage(watch->store), &split, now_ms);
        usage_price(usage_store_usage(watch->store), contract.lease, USAGE_CONSUMER,
                    contract.price, now_ms);
    }
}

static void forget_if_gone(void *arg, const struct usage_level *level)
{
    struct usage_watch *watch = arg;
    struct msg_contract contract;
    if (level->side == USAGE_CONSUMER &&
        !consumer_find_contract(site_consumer(watch->site), level->lease, &contract)) {
        usage_hold(usage_store_usage(watch->store), level->lease, USAGE_CONSUMER, 0,
                   watch->now_ms);
    }
}

static void look(struct usage_watch *watch)
{
    watch->now_ms = daemon_now_ms();
    if (!site_is_connected(watch->site)) {
        watch->connected_ms = 0;
    } else if (watch->connected_ms == 0) {
        watch->connected_ms = watch->now_ms;
    }
    look_at_provider(watch);
    usage_watch_contracts(watch, watch->now_ms);
    if (watch->connected_ms > 0 &&
        watch->now_ms - watch->connected_ms >= FORGET_AFTER_MS) {
        usage_each_held(usage_store_usage(watch->store), forget_if_gone, watch);
    }
}

static int on_second(zloop_t *loop, int timer, void *arg)
{
    struct usage_watch *watch = arg;
    struct err err;
    (void)loop;
    (void)timer;
    look(watch);
    int rc = usage_store_maintain(watch->store, watch->now_ms, &err);
    if (rc < 0 && rc != ERR_AWAY) { /* a full disk has room again: next time */
        log_line(LOG_LEVEL_ERROR,
                 "usage: commit failed: %s; the next start continues from what is on "
                 "disk",
                 err.text);
        _exit(EXIT_FAILURE);
    }
    return 0;
}

struct usage_watch *usage_watch_new(zloop_t *loop, struct site *site,
                                    struct usage_store *store)
{
    struct usage_watch *watch = mem_alloc(1, sizeof(*watch));
    *watch = (struct usage_watch){.loop = loop, .site = site, .store = store};
    watch->timer = zloop_timer(loop, SECOND_MS, 0, on_second, watch);
    return watch;
}

void usage_watch_free(struct usage_watch *watch)
{
    if (watch != NULL) {
        zloop_timer_end(watch->loop, watch->timer);
        free(watch);
    }
}
