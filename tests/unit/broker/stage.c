/* SPDX-License-Identifier: Apache-2.0 */
/* stage.c: see stage.h. */
#include "tests/unit/broker/stage.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "proto/codec_relay.h"

static struct broker_member members[] = {
    {.name = "north", .roles = ROLE_PROVIDER | ROLE_CONSUMER},
    {.name = "ops", .roles = ROLE_ADMIN},
    {.name = "south", .roles = ROLE_CONSUMER},
    {.name = "west", .roles = ROLE_CONSUMER},
};

enum { N_MEMBERS = sizeof(members) / sizeof(members[0]) };

static struct broker_config config_of(const struct stage *stage)
{
    members[0].max_leases = stage->max_leases;
    return (struct broker_config){members, N_MEMBERS, STAGE_LOST_AFTER_MS, stage->pools,
                                  0};
}

static bool is_same_key(const struct row *a, const struct row *b)
{
    if (a->kind != b->kind) {
        return false;
    }
    if (a->kind == ROW_COUNTER) {
        return strcmp(a->counter.name, b->counter.name) == 0;
    }
    if (a->kind == ROW_LEASE) {
        return strcmp(a->lease.id, b->lease.id) == 0;
    }
    if (a->kind == ROW_POOL) {
        return strcmp(a->pool.name, b->pool.name) == 0;
    }
    if (a->kind == ROW_KEPT) {
        return strcmp(a->kept.pool, b->kept.pool) == 0 &&
               strcmp(a->kept.node, b->kept.node) == 0;
    }
    if (a->kind == ROW_HOURS) {
        return strcmp(a->hours.pool, b->hours.pool) == 0 &&
               strcmp(a->hours.name, b->hours.name) == 0 &&
               a->hours.since_ms == b->hours.since_ms &&
               a->hours.month_ms == b->hours.month_ms;
    }
    return a->kind == ROW_OVERRIDE && a->override.scope == b->override.scope &&
           strcmp(a->override.name, b->override.name) == 0;
}

static struct row *place_for(struct stage *stage, const struct row *row)
{
    for (int i = 0; i < stage->n_rows; i++) {
        if (is_same_key(&stage->rows[i], row)) {
            return &stage->rows[i];
        }
    }
    if (stage->n_rows == stage->capacity) {
        stage->capacity = stage->capacity * 2 + 64;
        stage->rows =
            mem_grow(stage->rows, (size_t)stage->capacity, sizeof(*stage->rows));
    }
    return memset(&stage->rows[stage->n_rows++], 0, sizeof(*stage->rows));
}

static void keep_rows(struct stage *stage)
{
    for (int i = 0; i < stage->effects.count; i++) {
        const struct effect *effect = &stage->effects.items[i];
        if (effect->kind == EFFECT_STORE) {
            struct row *place = place_for(stage, &effect->row);
            struct row whole = row_merge(&effect->row, place);
            row_copy(&stage->disk, &whole, place);
        }
    }
}

/* The body of a relayed message is not opened by the broker: as it arrives ... */
static void seal(struct msg *msg, struct arena *arena)
{
    uint8_t *bytes;
    size_t length;
    struct err err;
    if (codec_encode(msg, &bytes, &length, &err) < 0 ||
        codec_relay_decode(arena, bytes, length, broker_messages_is_relayed, msg,
                           &err) < 0) {
        fail_msg("%s", err.text);
    }
    free(bytes);
}

/* ... and as the other site reads it. */
static void open_sent(struct stage *stage)
{
    for (int i = 0; i < stage->effects.count; i++) {
        struct effect *effect = &stage->effects.items[i];
        uint8_t *bytes;
        size_t length;
        struct err err;
        if (effect->kind != EFFECT_SEND || !effect->send.msg.is_relayed) {
            continue;
        }
        if (codec_encode(&effect->send.msg, &bytes, &length, &err) < 0 ||
            codec_decode(&stage->effects.arena, bytes, length, &effect->send.msg,
                         &err) < 0) {
            fail_msg("%s", err.text);
        }
        free(bytes);
    }
}

static void step(struct stage *stage, const struct event *event)
{
    struct event tick = {.kind = EVENT_TICK, .now_ms = stage->now_ms};
    effects_clear(&stage->effects);
    if (event != NULL) {
        broker_step(stage->broker, event, &stage->effects);
    }
    broker_step(stage->broker, &tick, &stage->effects);
    keep_rows(stage);
    open_sent(stage);
}

static bool is_deleted(const struct row *row)
{
    return (row->kind == ROW_OVERRIDE && row->override.delay_ms < 0) ||
           (row->kind == ROW_POOL && row->pool.is_gone) ||
           (row->kind == ROW_KEPT && row->kept.is_gone) ||
           (row->kind == ROW_HOURS && row->hours.is_gone);
}

static void start(struct stage *stage)
{
    struct broker_config config = config_of(stage);
    stage->broker = broker_new(&config);
    for (int kind = ROW_COUNTER; kind < ROW_HISTORY; kind++) {
        for (int i = 0; i < stage->n_rows; i++) {
            const struct row *row = &stage->rows[i];
            if ((int)row->kind == kind && !is_deleted(row)) {
                broker_load(stage->broker, row);
            }
        }
    }
    effects_clear(&stage->effects);
    broker_start(stage->broker, stage->now_ms, &stage->effects);
    keep_rows(stage);
}

void stage_open(struct stage *stage)
{
    stage_open_pools(stage, NULL);
}

void stage_reload(struct stage *stage, const struct plan_pools *pools)
{
    stage->pools = pools;
    struct broker_config config = config_of(stage);
    broker_reload(stage->broker, &config, stage->now_ms);
    step(stage, NULL);
}

void stage_open_pools(struct stage *stage, const struct plan_pools *pools)
{
    memset(stage, 0, sizeof(*stage));
    stage->pools = pools;
    stage->now_ms = 1000000;
    effects_init(&stage->effects);
    arena_init(&stage->disk);
    start(stage);
}

void stage_close(struct stage *stage)
{
    broker_free(stage->broker);
    effects_release(&stage->effects);
    arena_release(&stage->disk);
    free(stage->rows);
}

void stage_restart(struct stage *stage)
{
    broker_free(stage->broker);
    start(stage);
}

void stage_say_as(struct stage *stage, const struct peer *peer, const struct msg *msg)
{
    struct event event = {.kind = EVENT_MESSAGE, .now_ms = stage->now_ms};
    struct arena arena;
    struct msg said = *msg;
    arena_init(&arena);
    if (broker_messages_is_relayed(msg->kind)) {
        seal(&said, &arena);
    }
    event.from = *peer;
    event.msg = &said;
    step(stage, &event);
    arena_release(&arena);
}

void stage_say(struct stage *stage, const char *site, uint64_t session,
               const struct msg *msg)
{
    struct peer peer = {.kind = PEER_SITE, .name = site, .link = session};
    struct msg said = *msg;
    said.session = session;
    said.site = msg->site != NULL ? msg->site : "";
    for (int i = 0; i < N_MEMBERS; i++) {
        if (strcmp(members[i].name, site) == 0) {
            peer.roles = members[i].roles;
        }
    }
    stage_say_as(stage, &peer, &said);
}

void stage_hello(struct stage *stage, const char *site, uint64_t session)
{
    struct msg msg = {.kind = MSG_HELLO};
    msg.hello.name = site;
    msg.hello.roles = ROLE_PROVIDER | ROLE_CONSUMER;
    msg.hello.reclaim_delay_ms = strcmp(site, "north") == 0 ? STAGE_DELAY_MS : 0;
    stage_say(stage, site, session, &msg);
}

void stage_usage(struct stage *stage, const char *site, uint64_t session, uint64_t seq)
{
    struct msg msg = {.kind = MSG_USAGE, .usage.seq = seq};
    stage_say(stage, site, session, &msg);
}

void stage_wait(struct stage *stage, int64_t ms)
{
    int64_t until_ms = stage->now_ms + ms;
    for (;;) {
        int64_t wake_ms = broker_wake_ms(stage->broker);
        bool is_more = wake_ms < until_ms;
        if (!is_more) {
            wake_ms = until_ms;
        }
        stage->now_ms = wake_ms > stage->now_ms ? wake_ms : stage->now_ms;
        step(stage, NULL);
        if (!is_more) {
            return;
        }
    }
}

void stage_wait_next(struct stage *stage)
{
    int64_t wake_ms = broker_wake_ms(stage->broker);
    if (wake_ms != INT64_MAX && wake_ms > stage->now_ms) {
        stage->now_ms = wake_ms;
    }
    step(stage, NULL);
}

void stage_wait_with(struct stage *stage, int64_t ms, const char *const *sites,
                     uint64_t session)
{
    const int64_t beat_ms = 5000;
    for (; ms > beat_ms; ms -= beat_ms) {
        stage_wait(stage, beat_ms);
        for (int i = 0; sites[i] != NULL; i++) {
            stage_usage(stage, sites[i], session, 0);
        }
    }
    stage_wait(stage, ms);
}

const struct msg *stage_sent(const struct stage *stage, const char *site,
                             enum msg_kind kind, int n)
{
    for (int i = 0; i < stage->effects.count; i++) {
        const struct effect *effect = &stage->effects.items[i];
        if (effect->kind == EFFECT_SEND && effect->send.msg.kind == kind &&
            strcmp(effect->send.to.name, site) == 0 && n-- == 0) {
            return &effect->send.msg;
        }
    }
    return NULL;
}

int stage_count_sent(const struct stage *stage, const char *site, enum msg_kind kind)
{
    int count = 0;
    while (stage_sent(stage, site, kind, count) != NULL) {
        count++;
    }
    return count;
}

bool stage_has_log(const struct stage *stage, const char *part)
{
    for (int i = 0; i < stage->effects.count; i++) {
        const struct effect *effect = &stage->effects.items[i];
        if (effect->kind == EFFECT_LOG && strstr(effect->log.text, part) != NULL) {
            return true;
        }
    }
    return false;
}

const struct row_lease *stage_stored(const struct stage *stage, const char *lease)
{
    for (int i = 0; i < stage->n_rows; i++) {
        const struct row *row = &stage->rows[i];
        if (row->kind == ROW_LEASE && strcmp(row->lease.id, lease) == 0) {
            return &row->lease;
        }
    }
    return NULL;
}

const struct row_history *stage_history(const struct stage *stage, const char *lease)
{
    for (int i = stage->n_rows - 1; i >= 0; i--) {
        const struct row *row = &stage->rows[i];
        if (row->kind == ROW_HISTORY && strcmp(row->history.lease, lease) == 0) {
            return &row->history;
        }
    }
    return NULL;
}

int stage_count_history(const struct stage *stage, const char *lease,
                        enum history_event event)
{
    int count = 0;
    for (int i = 0; i < stage->n_rows; i++) {
        const struct row *row = &stage->rows[i];
        count += row->kind == ROW_HISTORY && row->history.event == event &&
                 strcmp(row->history.lease, lease) == 0;
    }
    return count;
}
