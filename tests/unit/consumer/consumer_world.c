/* SPDX-License-Identifier: Apache-2.0 */
/* consumer_world.c: see consumer_world.h. */
#include "tests/unit/consumer/consumer_world.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/conf/conf.h"

#define LEASE "north/1/south"

void consumer_world_init(struct consumer_world *world)
{
    memset(world, 0, sizeof(*world));
    arena_init(&world->memory);
    effects_init(&world->effects);
    world->now_ms = 1000000;
    world->consumer = consumer_new("south");
    world->reported = "";
    world->acknowledges = world->writes = true;
}

void consumer_world_release(struct consumer_world *world)
{
    consumer_free(world->consumer);
    effects_release(&world->effects);
    arena_release(&world->memory);
}

/* ------------------------------------------------------------ the broker's side */

void consumer_world_session(struct consumer_world *world, uint64_t session)
{
    world->session = session;
    consumer_session(world->consumer, session, world->now_ms, &world->effects);
}

void consumer_world_contract(struct consumer_world *world, uint64_t revision,
                             uint64_t epoch, enum lease_state state, const char *text)
{
    struct conf_words words = conf_words(&world->memory, text);
    struct host_split *hosts =
        arena_alloc(&world->memory, (size_t)words.count, sizeof(*hosts));
    for (int i = 0; i < words.count; i++) {
        size_t length = strcspn(words.words[i], "=");
        hosts[i].host = arena_strn(&world->memory, words.words[i], length);
        hosts[i].consumer = (int)strtol(words.words[i] + length + 1, NULL, 10);
        hosts[i].n_slots = 4;
        hosts[i].provider = 4 - hosts[i].consumer;
        hosts[i].is_down = strchr(words.words[i], '!') != NULL;
    }
    struct msg msg = {
        .kind = MSG_CONTRACT,
        .session = world->session,
        .site = "",
        .contract = {.lease = LEASE,
                     .revision = revision,
                     .epoch = epoch,
                     .type = LEASE_SHARED,
                     .state = state,
                     .is_made = state != LEASE_PENDING,
                     .is_provider_here = true,
                     .hosts = hosts,
                     .n_hosts = words.count},
    };
    consumer_contract(world->consumer, &msg, world->now_ms, &world->effects);
}

/* ------------------------------------------------------------ the site's side */

static struct consumer_attempt attempt_of(struct consumer_world *world, uint64_t number,
                                          const char *text)
{
    struct conf_words words = conf_words(&world->memory, text);
    struct host_slots *hosts =
        arena_alloc(&world->memory, (size_t)words.count, sizeof(*hosts));
    for (int i = 0; i < words.count; i++) {
        size_t length = strcspn(words.words[i], "=");
        hosts[i].host = arena_strn(&world->memory, words.words[i], length);
        hosts[i].n_slots = (int)strtol(words.words[i] + length + 1, NULL, 10);
    }
    struct job_spec *spec = arena_alloc(&world->memory, 1, sizeof(*spec));
    *spec = (struct job_spec){.name = "j",
                              .user = "ana",
                              .queue = "q",
                              .command = "true",
                              .cwd = "",
                              .in_file = "",
                              .out_file = "",
                              .err_file = ""};
    return (struct consumer_attempt){
        .attempt = number,
        .job = "12",
        .lease = LEASE,
        .epoch = 1,
        .hosts = hosts,
        .n_hosts = words.count,
        .spec = spec,
    };
}

void consumer_world_start(struct consumer_world *world, uint64_t number,
                          const char *hosts, const char *files)
{
    struct consumer_attempt attempt = attempt_of(world, number, hosts);
    attempt.has_out_file = strchr(files, 'o') != NULL;
    attempt.has_err_file = strchr(files, 'e') != NULL;
    consumer_start(world->consumer, &attempt, world->now_ms, &world->effects);
}

void consumer_world_resume(struct consumer_world *world, uint64_t number,
                           const char *hosts, bool is_taken)
{
    struct consumer_attempt attempt = attempt_of(world, number, hosts);
    attempt.is_admitted = is_taken;
    consumer_resume(world->consumer, &attempt, world->now_ms);
}

static const char *stream_name(enum output_stream stream)
{
    return stream == OUTPUT_OUT ? "out" : "err";
}

static const char *report_text(struct arena *arena, const struct consumer_report *news)
{
    static const char *const names[] = {
        [CONSUMER_ADMITTED] = "taken",      [CONSUMER_REFUSED] = "refused",
        [CONSUMER_LOST] = "lost",           [CONSUMER_RUNNING] = "running",
        [CONSUMER_SUSPENDED] = "suspended", [CONSUMER_CONTROLLED] = "done",
        [CONSUMER_OUTPUT] = "output",       [CONSUMER_ENDED] = "ended",
        [CONSUMER_UNKNOWN] = "unknown",
    };
    unsigned long long number = (unsigned long long)news->attempt;
    const char *name = names[news->kind];
    if (news->kind == CONSUMER_OUTPUT) {
        return arena_printf(arena, "%s %llu %s@%lld %.*s", name, number,
                            stream_name(news->stream), (long long)news->offset,
                            news->n_bytes, (const char *)news->bytes);
    }
    if (news->kind == CONSUMER_CONTROLLED) {
        return arena_printf(arena, "%s %llu/%llu", name, number,
                            (unsigned long long)news->control_done);
    }
    if (news->kind == CONSUMER_ENDED) {
        return arena_printf(arena, "%s %llu %s", name, number, news->exit.text);
    }
    return arena_printf(arena, "%s %llu", name, number);
}

static void on_report(void *arg, const struct consumer_report *report)
{
    struct consumer_world *world = arg;
    const char *text = report_text(&world->memory, report);
    world->reported = arena_printf(&world->memory, "%s%s%s", world->reported,
                                   world->reported[0] != '\0' ? "; " : "", text);
    if (report->kind == CONSUMER_OUTPUT && world->writes) {
        consumer_written(world->consumer, report->attempt, true, world->now_ms,
                         &world->effects);
    } else if (report->kind == CONSUMER_ENDED && world->acknowledges) {
        consumer_acknowledge(world->consumer, report->attempt, &world->effects);
    }
}

/* ------------------------------------------------------------ the provider's side */

static void hear(struct consumer_world *world, struct msg *msg, const char *site)
{
    msg->session = world->session;
    msg->site = site;
    consumer_message(world->consumer, msg, world->now_ms, &world->effects, on_report,
                     world);
}

void consumer_world_hear(struct consumer_world *world, uint64_t attempt,
                         enum attempt_state state, uint64_t control_done)
{
    struct msg msg = {
        .kind = MSG_ATTEMPT_STATE,
        .attempt_state = {.run = {"south", attempt, 0},
                          .state = state,
                          .start_ms = 5,
                          .control_done = control_done,
                          .exit = {.end = RUN_END_EXITED, .text = ""},
                          .reason = "why"},
    };
    hear(world, &msg, "north");
}

void consumer_world_hear_from(struct consumer_world *world, const char *site,
                              uint64_t attempt, enum attempt_state state)
{
    struct msg msg = {
        .kind = MSG_ATTEMPT_STATE,
        .attempt_state = {.run = {"south", attempt, 0},
                          .state = state,
                          .exit = {.end = RUN_END_EXITED, .text = ""},
                          .reason = ""},
    };
    hear(world, &msg, site);
}

void consumer_world_output(struct consumer_world *world, const char *bytes, bool is_end,
                           bool is_gone)
{
    const struct msg_output_ask *ask = NULL;
    for (int i = 0; i < world->effects.count; i++) {
        const struct effect *effect = &world->effects.items[i];
        if (effect->kind == EFFECT_SEND && effect->send.msg.kind == MSG_OUTPUT_ASK) {
            ask = &effect->send.msg.output_ask;
        }
    }
    assert_non_null(ask);
    struct msg msg = {
        .kind = MSG_OUTPUT,
        .output = {.run = ask->run,
                   .request = ask->request,
                   .stream = ask->stream,
                   .offset = ask->offset,
                   .bytes = (const uint8_t *)bytes,
                   .n_bytes = (int)strlen(bytes),
                   .is_end = is_end,
                   .is_gone = is_gone},
    };
    hear(world, &msg, "north");
}

void consumer_world_tick(struct consumer_world *world, int64_t later_ms)
{
    world->now_ms += later_ms;
    consumer_tick(world->consumer, world->now_ms, &world->effects, on_report, world);
}

/* ------------------------------------------------------------ looking */

static const char *sent_text(struct arena *arena, const struct msg *msg)
{
    if (msg->kind == MSG_START) {
        return arena_printf(arena, "START %llu",
                            (unsigned long long)msg->start.run.attempt);
    }
    if (msg->kind == MSG_ATTEMPT_ASK || msg->kind == MSG_ATTEMPT_ACK) {
        return arena_printf(arena, "%s %llu%s",
                            msg->kind == MSG_ATTEMPT_ASK ? "ASK" : "ACK",
                            (unsigned long long)msg->attempt.run.attempt,
                            msg->attempt.is_withdrawn ? " withdrawn" : "");
    }
    if (msg->kind == MSG_ATTEMPT_CONTROL) {
        return arena_printf(arena, "CONTROL %llu/%llu",
                            (unsigned long long)msg->lifecycle_control.run.attempt,
                            (unsigned long long)msg->lifecycle_control.control.number);
    }
    if (msg->kind == MSG_OUTPUT_ASK) {
        return arena_printf(arena, "OUTPUT %llu %s@%lld",
                            (unsigned long long)msg->output_ask.run.attempt,
                            stream_name(msg->output_ask.stream),
                            (long long)msg->output_ask.offset);
    }
    assert_int_equal(msg->kind, MSG_CONTRACT_ACK);
    return arena_printf(arena, "CONTRACT_ACK %llu",
                        (unsigned long long)msg->contract_ack.revision);
}

const char *consumer_world_sent(struct consumer_world *world)
{
    const char *text = "";
    for (int i = 0; i < world->effects.count; i++) {
        const struct effect *effect = &world->effects.items[i];
        assert_int_equal(effect->kind, EFFECT_SEND);
        assert_int_equal(effect->send.to.kind, PEER_BROKER);
        assert_int_equal(effect->send.msg.session, world->session);
        const char *one = sent_text(&world->memory, &effect->send.msg);
        text = arena_printf(&world->memory, "%s%s%s", text, i > 0 ? "; " : "", one);
    }
    effects_clear(&world->effects);
    return text;
}

const char *consumer_world_reported(struct consumer_world *world)
{
    const char *text = world->reported;
    world->reported = "";
    return text;
}

const char *consumer_world_hosts(struct consumer_world *world)
{
    const char *text = "";
    for (int i = 0; i < consumer_count_hosts(world->consumer); i++) {
        struct consumer_host host;
        consumer_host_at(world->consumer, i, &host);
        text = arena_printf(&world->memory, "%s%s%s %d/%d%s", text, i > 0 ? "; " : "",
                            host.name, host.n_held, host.n_used,
                            host.is_open ? " open" : "");
    }
    return text;
}
