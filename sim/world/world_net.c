/* SPDX-License-Identifier: Apache-2.0 */
/* world_net.c: see world_net.h. */
#include "sim/world/world_net.h"

#include <stdlib.h>
#include <string.h>

#include "base/value.h"
#include "proto/codec_relay.h"

/* Every so many messages pass the codec, besides those that the broker relays; and
 * after the first ones, which are more than most random worlds have, fewer of them. */
enum { CODEC_EVERY = 16, CODEC_SELDOM = 256, CODEC_FIRST = 65536 };

/* As it arrives: encoded and decoded. NULL if that is not possible. */
static struct msg *pass_codec(struct world *world, const struct msg *msg,
                              bool is_to_broker, struct arena *arena)
{
    struct msg *arrived = arena_alloc(arena, 1, sizeof *arrived);
    uint8_t *bytes = NULL;
    size_t length;
    struct err err;

    if (codec_encode(msg, &bytes, &length, &err)) {
        world_state_violate(world, "a %s cannot be encoded: %s",
                            msg_kind_name(msg->kind), err.text);
        arrived = NULL;
    } else if (codec_relay_decode(arena, bytes, length,
                                  is_to_broker ? broker_messages_is_relayed : NULL,
                                  arrived, &err)) {
        world_state_violate(world, "a %s cannot be decoded: %s",
                            msg_kind_name(msg->kind), err.text);
        arrived = NULL;
    }
    free(bytes);
    return arrived;
}

static struct msg *copy(const struct msg *msg, struct arena *arena)
{
    struct msg *copy = arena_alloc(arena, 1, sizeof *copy);

    msg_copy(arena, msg, copy);
    return copy;
}

/* Its connection is to the deposed one of two brokers. */
static bool is_with_deposed(const struct world *world, int daemon)
{
    return world->deposed.exists && world->sites[daemon - 1].is_with_deposed;
}

/* `sent`: the batch that has the message; NULL: it has to be copied. */
static void post(struct world *world, const struct msg *msg, struct sent *sent,
                 enum agenda_kind kind, int from, int to, int64_t at_ms)
{
    bool is_relayed = kind == AGENDA_MESSAGE && broker_messages_is_relayed(msg->kind);
    int every = world->n_posted < CODEC_FIRST ? CODEC_EVERY : CODEC_SELDOM;
    bool is_coded = is_relayed || ++world->n_posted % (uint64_t)every == 0;

    if (is_coded || !sent) {
        sent = agenda_new_sent(&world->agenda);
        msg = is_coded ? pass_codec(world, msg, kind == AGENDA_MESSAGE && to == BROKER,
                                    &sent->effects.arena)
                       : copy(msg, &sent->effects.arena);
    } else {
        sent->n_users++;
    }
    if (!msg) {
        agenda_release_sent(&world->agenda, sent);
        return;
    }
    agenda_add(&world->agenda,
               (struct agenda_item){.at_ms = at_ms,
                                    .kind = kind,
                                    .from = from,
                                    .to = to,
                                    .is_to_deposed = kind == AGENDA_MESSAGE &&
                                                     to == BROKER &&
                                                     is_with_deposed(world, from),
                                    .msg = msg,
                                    .sent = sent});
}

static bool is_cut(const struct world *world, int daemon)
{
    return daemon != BROKER && world->sites[daemon - 1].cut_until_ms > world->now_ms;
}

static bool is_by_chance(struct world *world, int in_10000)
{
    return in_10000 > 0 && rng_below(&world->rng, 10000) < in_10000;
}

/* Between a site and the broker, messages may be lost, delayed and repeated. */
static void post_far(struct world *world, const struct msg *msg, struct sent *sent,
                     int from, int to)
{
    int copies = 1 + is_by_chance(world, world->options.repeat_in_10000);

    world->counts.messages++;
    if (is_cut(world, from) || is_cut(world, to) ||
        (from == BROKER && is_with_deposed(world, to) != world->deposed.is_in_place)) {
        world->counts.lost++;
        return;
    }
    while (copies--) {
        int64_t delay = world->options.delay_max_ms
                            ? rng_below(&world->rng, world->options.delay_max_ms + 1)
                            : 0;

        if (is_by_chance(world, world->options.loss_in_10000)) {
            world->counts.lost++;
        } else {
            post(world, msg, sent, AGENDA_MESSAGE, from, to,
                 world->now_ms + world->options.delay_ms + delay);
        }
    }
}

static int find_host(const struct world *world, int site, const struct peer *to)
{
    const struct world_site *of = &world->sites[site];

    for (int i = 0; i < of->n_machines; i++) {
        if ((uint64_t)of->machines[i] + 1 == to->link) {
            return of->machines[i];
        }
    }
    return to->name ? world_state_find_host(world, site, to->name) : -1;
}

static void note_reply(struct world *world, int daemon, const struct msg_reply *reply)
{
    const struct value *job = reply->value ? value_find(reply->value, "job") : NULL;
    struct invariants_text text = WORLD_TEXT(world);

    if (reply->code || !job || daemon == BROKER) {
        return;
    }
    world->counts.submitted++;
    world_state_check(world,
                      invariant_job_acknowledged(world->invariants,
                                                 world_state_daemon_name(world, daemon),
                                                 (uint64_t)job->number, &text),
                      &text);
}

/* A connection delivers in order. */
static int64_t arrival_ms(const struct world *world, const struct world_host *host,
                          int64_t *last_ms)
{
    int64_t at_ms = world->now_ms + host->delay_ms;

    *last_ms = at_ms > *last_ms ? at_ms : *last_ms;
    return *last_ms;
}

void world_net_send(struct world *world, int daemon, const struct effect *effect,
                    struct sent *sent)
{
    const struct peer *to = &effect->send.to;
    const struct msg *msg = &effect->send.msg;
    int target;

    switch (to->kind) {
    case PEER_BROKER:
        post_far(world, msg, sent, daemon, BROKER);
        break;
    case PEER_SITE:
        target = world_state_find_site(world, to->name);
        if (msg->kind == MSG_CONTRACT && !world->deposed.is_in_place) {
            invariants_contract_sent(world->invariants, msg->contract.lease,
                                     msg->contract.epoch);
        }
        if (target >= 0) {
            post_far(world, msg, sent, daemon, target + 1);
        }
        break;
    case PEER_HOST:
        target = find_host(world, daemon - 1, to);
        if (target >= 0) {
            struct world_host *host = &world->hosts[target];

            post(world, msg, sent, AGENDA_TO_HOST, daemon, target,
                 arrival_ms(world, host, &host->to_ms));
        } else {
            world_state_violate(world, "a message to a host that is not there");
        }
        break;
    case PEER_CLIENT:
        if (msg->kind == MSG_REPLY) {
            note_reply(world, daemon, &msg->reply);
        }
        break;
    case PEER_RUN: /* executor.c */
    case PEER_NONE:
        break;
    }
}

void world_net_send_from_host(struct world *world, int host, const struct msg *msg)
{
    struct world_host *from = &world->hosts[host];

    post(world, msg, NULL, AGENDA_FROM_HOST, host, from->site + 1,
         arrival_ms(world, from, &from->from_ms));
}
