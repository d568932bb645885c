/* SPDX-License-Identifier: Apache-2.0 */
/* provider_world.c: see provider_world.h. */
#include "tests/unit/provider/provider_world.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/conf/conf.h"

void provider_world_init(struct provider_world *world)
{
    memset(world, 0, sizeof(*world));
    arena_init(&world->memory);
    effects_init(&world->effects);
    world->now_ms = 1000000;
    world->provider = provider_new("north", WORLD_FREEZE_MS);
}

void provider_world_release(struct provider_world *world)
{
    provider_free(world->provider);
    effects_release(&world->effects);
    arena_release(&world->memory);
}

struct provider_world *provider_world_new(int n_slots)
{
    struct provider_world *world = mem_alloc(1, sizeof(*world));
    provider_world_init(world);
    provider_set_local_used(world->provider, "n1", n_slots, 0);
    provider_set_local_used(world->provider, "n2", n_slots, 0);
    return world;
}

void provider_world_free(struct provider_world *world)
{
    provider_world_release(world);
    free(world);
}

/* ------------------------------------------------------------ disk */

static bool is_same_key(const struct row *a, const struct row *b)
{
    if (a->kind != b->kind) {
        return false;
    }
    if (a->kind == ROW_BOOK) {
        return strcmp(a->book.lease, b->book.lease) == 0;
    }
    if (a->kind == ROW_HIGH) {
        return strcmp(a->high.consumer, b->high.consumer) == 0;
    }
    if (a->kind == ROW_QUOTA) {
        return strcmp(a->quota.name, b->quota.name) == 0;
    }
    return strcmp(a->run.run.site, b->run.run.site) == 0 &&
           a->run.run.attempt == b->run.run.attempt;
}

static void store(struct provider_world *world, const struct row *row)
{
    int at = 0;
    while (at < world->n_rows && !is_same_key(&world->rows[at], row)) {
        at++;
    }
    bool is_gone = row_is_gone(row);
    if (is_gone && at < world->n_rows) {
        world->rows[at] = world->rows[--world->n_rows];
    } else if (!is_gone) {
        assert_true(at < WORLD_ROWS);
        row_copy(&world->memory, row, &world->rows[at]);
        world->n_rows += at == world->n_rows;
    }
}

static void commit(struct provider_world *world)
{
    for (int i = 0; i < world->effects.count; i++) {
        if (world->effects.items[i].kind == EFFECT_STORE) {
            store(world, &world->effects.items[i].row);
        }
    }
}

void provider_world_load(struct provider_world *world)
{
    provider_free(world->provider);
    world->provider = provider_new("north", WORLD_FREEZE_MS);
    for (int kind = 0; kind < ROW_KINDS; kind++) {
        for (int i = 0; i < world->n_rows; i++) {
            if ((int)world->rows[i].kind == kind) {
                provider_load(world->provider, &world->rows[i]);
            }
        }
    }
}

/* ------------------------------------------------------------ policies */

/* "NAME:POOL=INSTANCES" */
static void read_resource(struct provider_world *world, const char *word,
                          struct export_lease *lease)
{
    struct lease_resource *resource =
        arena_alloc(&world->memory, (size_t)lease->n_resources + 1, sizeof(*resource));
    if (lease->n_resources > 0) {
        memcpy(resource, lease->resources,
               (size_t)lease->n_resources * sizeof(*resource));
    }
    lease->resources = resource;
    resource += lease->n_resources++;
    size_t length = strcspn(word, ":");
    char *end;
    *resource = (struct lease_resource){
        .name = arena_strn(&world->memory, word, length),
        .pool = (int)strtol(word + length + 1, &end, 10),
        .hosts = "",
    };
    assert_int_equal(*end, '=');
    resource->n_instances = (int)strtol(end + 1, NULL, 10);
}

static void read_policy(struct provider_world *world, const char *text,
                        struct export_lease *lease)
{
    struct conf_words words = conf_words(&world->memory, text);
    assert_true(words.count >= 3);
    lease->place = (int)strtol(words.words[0], NULL, 10);
    lease->policy = lease->place > 0 ? "" : words.words[0];
    lease->consumer = words.words[1];
    lease->type = strcmp(words.words[2], "shared") == 0 ? LEASE_SHARED
                  : strcmp(words.words[2], "pool") == 0 ? LEASE_POOL
                                                        : LEASE_EXCLUSIVE;
    lease->terms.lease_term_ms = 300000;
    lease->hosts =
        arena_alloc(&world->memory, (size_t)words.count, sizeof(*lease->hosts));
    lease->content = words.words[2];
    for (int i = 3; i < words.count; i++) {
        const char *equals = strchr(words.words[i], '=');
        assert_non_null(equals);
        if (strchr(words.words[i], ':') != NULL) {
            read_resource(world, words.words[i], lease);
            continue;
        }
        struct export_part *part = &lease->hosts[lease->n_hosts++];
        part->host = arena_strn(&world->memory, words.words[i],
                                (size_t)(equals - words.words[i]));
        char *end;
        part->n_slots = (int)strtol(equals + 1, &end, 10);
        for (int k = 0; k < SPACES && *end == '/'; k++) {
            part->spaces[k] = (struct space){true, (int)strtol(end + 1, &end, 10)};
        }
        lease->content =
            arena_printf(&world->memory, "%s %s", lease->content, words.words[i]);
    }
}

void provider_world_export(struct provider_world *world, const char *policies)
{
    world->plan.n_leases = 0;
    world->plan.leases =
        arena_alloc(&world->memory, strlen(policies) + 1, sizeof(struct export_lease));
    while (*policies != '\0') {
        size_t length = strcspn(policies, ";");
        read_policy(world, arena_strn(&world->memory, policies, length),
                    &world->plan.leases[world->plan.n_leases++]);
        policies += length + (policies[length] == ';');
    }
    effects_clear(&world->effects);
    provider_export(world->provider, &world->plan, world->now_ms, &world->effects);
    commit(world);
}

void provider_world_restart(struct provider_world *world)
{
    provider_world_load(world);
    effects_clear(&world->effects);
    provider_export(world->provider, &world->plan, world->now_ms, &world->effects);
    commit(world);
}

/* ------------------------------------------------------------ broker */

void provider_world_session(struct provider_world *world, uint64_t session)
{
    effects_clear(&world->effects);
    provider_session(world->provider, session, world->now_ms, &world->effects);
    commit(world);
}

static void broker_says(struct provider_world *world, const struct msg *msg)
{
    effects_clear(&world->effects);
    provider_broker_message(world->provider, msg, world->now_ms, &world->effects);
    commit(world);
}

void provider_world_freeze(struct provider_world *world, const char *lease,
                           uint64_t base, uint64_t freeze)
{
    struct msg msg = {.kind = MSG_FREEZE, .site = "", .freeze = {lease, base, freeze}};
    broker_says(world, &msg);
}

void provider_world_open(struct provider_world *world, const char *lease)
{
    provider_world_open_above(world, lease, 0);
}

void provider_world_open_above(struct provider_world *world, const char *lease,
                               uint64_t above)
{
    struct msg msg = {.kind = MSG_LEASE_OPEN, .lease_open = {lease, above, 0}};
    broker_says(world, &msg);
}

void provider_world_price(struct provider_world *world, const char *lease, int price)
{
    struct msg msg = {.kind = MSG_LEASE_OPEN, .lease_open = {lease, 0, price}};
    broker_says(world, &msg);
}

void provider_world_recall(struct provider_world *world, const char *lease,
                           uint64_t number, int n_held, int64_t left_ms)
{
    struct recall recall = {n_held, left_ms};
    struct msg msg = {.kind = MSG_RECALL,
                      .recall = {.lease = lease,
                                 .number = number,
                                 .is_whole = world->wants_whole,
                                 .recalls = &recall,
                                 .n_recalls = n_held >= 0}};
    broker_says(world, &msg);
}

void provider_world_propose(struct provider_world *world, const char *lease,
                            uint64_t base, const char *split)
{
    struct conf_words words = conf_words(&world->memory, split);
    struct host_split *hosts =
        arena_alloc(&world->memory, (size_t)words.count, sizeof(*hosts));
    for (int i = 0; i + 1 < words.count; i += 2) {
        struct host_split *host = &hosts[i / 2];
        host->host = words.words[i];
        char *colon;
        host->provider = (int)strtol(words.words[i + 1], &colon, 10);
        assert_int_equal(*colon, ':');
        host->consumer = (int)strtol(colon + 1, NULL, 10);
        host->n_slots = host->provider + host->consumer;
    }
    struct msg msg = {.kind = MSG_PROPOSE,
                      .site = "",
                      .propose = {lease, base, hosts, words.count / 2}};
    broker_says(world, &msg);
}

void provider_world_drain(struct provider_world *world, const char *lease,
                          uint64_t number, bool is_drained)
{
    struct msg msg = {
        .kind = MSG_DRAIN,
        .site = "",
        .drain = {.lease = lease, .number = number, .is_drained = is_drained}};
    broker_says(world, &msg);
}

/* ------------------------------------------------------------ consumers */

static void store_run(struct provider_world *world, const struct msg_start *start)
{
    struct row row = {
        .kind = ROW_RUN,
        .run = {.run = start->run,
                .job = "1",
                .lease = start->lease,
                .hosts = start->hosts,
                .n_hosts = start->n_hosts},
    };
    store(world, &row);
}

enum provider_verdict provider_world_start(struct provider_world *world,
                                           const char *consumer, uint64_t attempt,
                                           const char *lease, uint64_t epoch,
                                           const char *hosts)
{
    struct export_lease asked = {0};
    read_policy(world, arena_printf(&world->memory, "x x x %s", hosts), &asked);
    struct host_slots *slots =
        arena_alloc(&world->memory, (size_t)asked.n_hosts, sizeof(*slots));
    for (int i = 0; i < asked.n_hosts; i++) {
        slots[i] = (struct host_slots){asked.hosts[i].host, asked.hosts[i].n_slots};
    }
    struct msg_start start = {
        .run = {consumer, attempt},
        .lease = lease,
        .epoch = epoch,
        .job = "1",
        .hosts = slots,
        .n_hosts = asked.n_hosts,
        .spec.is_exclusive = world->wants_own_hosts,
        .spec.interaction = world->interaction,
    };
    const char *reason = NULL;
    effects_clear(&world->effects);
    enum provider_verdict verdict = provider_run_start(
        world->provider, &start, world->now_ms, &world->effects, &reason);
    world->reason = arena_str(&world->memory, reason);
    commit(world);
    if (verdict == PROVIDER_ADMITTED) {
        store_run(world, &start);
    }
    return verdict;
}

static void update_run(struct provider_world *world, const char *consumer,
                       uint64_t attempt, bool is_gone)
{
    for (int i = 0; i < world->n_rows; i++) {
        struct row row = world->rows[i];
        if (row.kind == ROW_RUN && row.run.run.attempt == attempt &&
            strcmp(row.run.run.site, consumer) == 0) {
            row.run.record = RUN_RECORD_ENDED;
            row.run.is_gone = is_gone;
            store(world, &row);
            return;
        }
    }
}

void provider_world_end(struct provider_world *world, const char *consumer,
                        uint64_t attempt)
{
    struct run_id run = {.site = consumer, .attempt = attempt};
    provider_run_ended(world->provider, &run);
    update_run(world, consumer, attempt, false);
    provider_world_tick(world, 0);
}

void provider_world_forget(struct provider_world *world, const char *consumer,
                           uint64_t attempt)
{
    struct run_id run = {.site = consumer, .attempt = attempt};
    provider_run_forgotten(world->provider, &run);
    update_run(world, consumer, attempt, true);
    provider_world_tick(world, 0);
}

void provider_world_tick(struct provider_world *world, int64_t later_ms)
{
    world->now_ms += later_ms;
    effects_clear(&world->effects);
    provider_tick(world->provider, world->now_ms, &world->effects);
    commit(world);
}

/* ------------------------------------------------------------ looking */

static const char *splits_text(struct provider_world *world, const char *text,
                               const struct host_split *hosts, int n_hosts)
{
    for (int i = 0; i < n_hosts; i++) {
        const struct host_split *host = &hosts[i];
        assert_int_equal(host->n_slots, host->provider + host->consumer);
        text = arena_printf(&world->memory, "%s%s %s %d/%d %d/%d%s", text,
                            i > 0 ? ";" : ":", host->host, host->provider,
                            host->provider_used, host->consumer, host->consumer_used,
                            host->is_down ? " down" : "");
    }
    return text;
}

const char *provider_world_book(struct provider_world *world, const char *lease)
{
    struct msg_state state;
    if (!provider_find_lease(world->provider, lease, &state)) {
        return "none";
    }
    const char *text = arena_printf(
        &world->memory, "%llu%s%s%s%s", (unsigned long long)state.epoch,
        state.is_made ? " made" : "", state.is_frozen ? " frozen" : "",
        state.is_withdrawn ? " withdrawn" : "", state.is_ended ? " ended" : "");
    return splits_text(world, text, state.hosts, state.n_hosts);
}

const char *provider_world_disk(struct provider_world *world, const char *lease)
{
    for (int i = 0; i < world->n_rows; i++) {
        const struct row *row = &world->rows[i];
        if (row->kind == ROW_BOOK && strcmp(row->book.lease, lease) == 0) {
            const char *text = arena_printf(&world->memory, "%llu%s%s%s",
                                            (unsigned long long)row->book.epoch,
                                            row->book.is_made ? " made" : "",
                                            row->book.is_withdrawn ? " withdrawn" : "",
                                            row->book.is_ended ? " ended" : "");
            return splits_text(world, text, row->book.hosts, row->book.n_hosts);
        }
    }
    return "none";
}

const struct msg_state *provider_world_state(const struct provider_world *world,
                                             const char *lease)
{
    const struct msg_state *found = NULL;
    for (int i = 0; i < world->effects.count; i++) {
        const struct effect *effect = &world->effects.items[i];
        if (effect->kind == EFFECT_SEND && effect->send.msg.kind == MSG_STATE &&
            strcmp(effect->send.msg.state.lease, lease) == 0) {
            found = &effect->send.msg.state;
        }
    }
    return found;
}

int provider_world_told(const struct provider_world *world, const char *lease)
{
    int n_told = 0;
    for (int i = 0; i < world->effects.count; i++) {
        const struct effect *effect = &world->effects.items[i];
        n_told += effect->kind == EFFECT_SEND && effect->send.msg.kind == MSG_STATE &&
                  strcmp(effect->send.msg.state.lease, lease) == 0;
    }
    return n_told;
}
