/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_broker.c: a broker among members that send arbitrary messages. */
#include <string.h>

#include "broker/broker.h"
#include "tests/fuzz/machine.h"

static const struct broker_member members[] = {
    {.name = "north", .roles = ROLE_PROVIDER | ROLE_CONSUMER},
    {.name = "ops", .roles = ROLE_ADMIN},
    {.name = "south", .roles = ROLE_CONSUMER | ROLE_PROVIDER},
    {.name = "west", .roles = ROLE_CONSUMER},
};

static const struct peer peers[] = {
    {.kind = PEER_SITE, .name = "north", .link = 1, .roles = 3},
    {.kind = PEER_SITE, .name = "south", .link = 2, .roles = 3},
    {.kind = PEER_SITE, .name = "west", .link = 3, .roles = 2},
    {.kind = PEER_CLIENT, .name = "ops", .link = 4, .roles = ROLE_ADMIN},
    {.kind = PEER_SITE, .name = "north", .link = 5, .roles = 3},
};

static const char *const words[] = {"",
                                    "north",
                                    "south",
                                    "west",
                                    "north/1/south",
                                    "north/1/west",
                                    "2",
                                    "n1",
                                    "south/2/north",
                                    "north/2/south",
                                    "n2",
                                    "n1@north",
                                    "1",
                                    "nobody"};

static void *create(void)
{
    const struct broker_config config = {
        .members = members, .n_members = 4, .lost_after_ms = 15000};
    return broker_new(&config);
}

static void destroy(void *self)
{
    broker_free(self);
}

static void load(void *self, const struct row *row)
{
    broker_load(self, row);
}

static void start(void *self, int64_t now_ms, struct effects *effects)
{
    broker_start(self, now_ms, effects);
}

static void step(void *self, const struct event *event, struct effects *effects)
{
    broker_step(self, event, effects);
}

static int64_t wake_ms(const void *self)
{
    return broker_wake_ms(self);
}

static void view(void *self, struct invariants_view *view)
{
    view->broker = self;
}

/* Open contracts, without state that is only in memory. */
static const char *describe(void *self, struct arena *arena)
{
    const char *text = "";
    const char *last = "";
    for (int i = 0; i < broker_count_leases(self); i++) {
        struct row_lease lease;
        const char *id = broker_lease_id(self, i);
        if (strcmp(last, id) >= 0) {
            input_fail("%s stands behind %s", id, last);
        }
        last = id;
        if (!broker_find_lease(self, id, &lease)) {
            input_fail("%s is not found", id);
        }
        if (lease.state == LEASE_ENDED) {
            continue;
        }
        text = arena_printf(arena, "%s%s %d %d epoch %llu made %d withdrawn %d:", text,
                            id, (int)lease.type, (int)lease.state,
                            (unsigned long long)lease.epoch, lease.is_made,
                            lease.is_withdrawn);
        for (int h = 0; h < lease.n_hosts; h++) {
            const struct host_split *host = &lease.hosts[h];
            if (host->provider + host->consumer != host->n_slots) {
                input_fail("%s on %s: %d + %d is not %d", id, host->host,
                           host->provider, host->consumer, host->n_slots);
            }
            text = arena_printf(arena, "%s %s %d+%d", text, host->host, host->provider,
                                host->consumer);
        }
        text = arena_printf(arena, "%s\n", text);
    }
    return text;
}

/* The provider north, which freezes leases and accepts proposals. */
static bool answer(const struct msg *heard, const struct peer *to, struct arena *arena,
                   struct peer *from, struct msg *answer)
{
    static const struct host_split whole[] = {
        {.host = "n1", .n_slots = 4, .provider = 3, .consumer = 1, .provider_used = 3},
        {.host = "n2", .n_slots = 4, .provider = 4}};
    (void)arena;
    *from = peers[0];
    for (int i = 0; i < (int)(sizeof(peers) / sizeof(peers[0])); i++) {
        if (to->name != NULL && strcmp(peers[i].name, to->name) == 0) {
            *from = peers[i];
            break;
        }
    }
    *answer = (struct msg){.kind = MSG_STATE, .session = heard->session, .site = ""};
    answer->state.reason = "";
    answer->state.is_made = true;
    answer->state.lease = "north/1/south";
    if (heard->kind == MSG_FREEZE) {
        answer->state.lease = heard->freeze.lease;
        answer->state.epoch = heard->freeze.base;
        answer->state.freeze = heard->freeze.freeze;
        answer->state.is_frozen = true;
    } else if (heard->kind == MSG_PROPOSE) {
        answer->state.lease = heard->propose.lease;
        answer->state.epoch = heard->propose.base + 1;
        answer->state.hosts = heard->propose.hosts;
        answer->state.n_hosts = heard->propose.n_hosts;
        return true;
    } else if (heard->kind == MSG_CONTRACT) {
        answer->kind = MSG_CONTRACT_ACK;
        answer->contract_ack = (struct msg_contract_ack){
            .lease = heard->contract.lease, .revision = heard->contract.revision};
        return true;
    } else if (heard->kind == MSG_WELCOME) {
        answer->state.epoch = 1;
    } else {
        return false;
    }
    answer->state.hosts = whole;
    answer->state.n_hosts = 2;
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct machine_role role = {
        .relays = broker_messages_is_relayed,
        .create = create,
        .destroy = destroy,
        .load = load,
        .start = start,
        .step = step,
        .wake_ms = wake_ms,
        .view = view,
        .describe = describe,
        .answer = answer,
        .peers = peers,
        .n_peers = (int)(sizeof(peers) / sizeof(peers[0])),
        .words = words,
        .n_words = (int)(sizeof(words) / sizeof(words[0])),
    };
    return machine_run(&role, data, size);
}
