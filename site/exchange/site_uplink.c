/* SPDX-License-Identifier: Apache-2.0 */
/* site_uplink.c: see site_uplink.h. */
#include "site/exchange/site_uplink.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/resend.h"
#include "base/word_hash.h"
#include "site/config/site_config.h"

enum {
    USAGE_MS = 2000,       /* heartbeat */
    USAGE_CHANGE_MS = 100, /* a burst of changes is one message */
    COMMITS_STORE_MS = 10000,
    SESSION_BITS = 20, /* sessions of one boot: at one a second, six days at least */
};
static const struct resend_waits hello_waits = {.first_ms = 1000, .last_ms = 1000};
/* How long the broker may be silent: three heartbeats without a PONG; longer each time
 * while it is down. */
static const struct resend_waits silences = {.first_ms = 6000, .last_ms = 32000};
/* The same of a site that can turn to another broker. */
enum { USAGE_WITH_STANDBYS_MS = 600 };
static const struct resend_waits hellos_with_standbys = {.first_ms = 200,
                                                         .last_ms = 1000};
static const struct resend_waits silences_with_standbys = {.first_ms = 2000,
                                                           .last_ms = 2000};

struct site_uplink {
    struct site_uplink_setting setting;
    int64_t patience;
    bool is_up;
    uint64_t session;
    struct resend hello;
    uint64_t seq;     /* of USAGE */
    uint64_t digest;  /* of the last USAGE */
    int64_t heard_ms; /* last PONG or WELCOME */
    int64_t sent_ms;  /* last USAGE */
    bool is_held;     /* a USAGE may be due as soon as the last is old enough */
    int n_silences;   /* since the session was up */
    int n_refusals;   /* by standbys, likewise */
    uint64_t broker_commits, broker_commits_stored;
    int64_t commits_stored_ms;
    bool has_trouble;
    char trouble[sizeof(((struct err *)NULL)->text) + 64];
};

struct site_uplink_setting site_uplink_setting_of(const struct site_config *config)
{
    return (struct site_uplink_setting){.name = config->name,
                                        .roles = config->roles,
                                        .reclaim_delay_ms = config->reclaim_delay_ms,
                                        .is_alone = config->is_alone,
                                        .has_standbys = config->has_standbys,
                                        .patience = config->patience,
                                        .is_prompt = config->is_prompt};
}

struct site_uplink *site_uplink_new(const struct site_uplink_setting *setting)
{
    struct site_uplink *uplink = mem_alloc(1, sizeof(*uplink));
    uplink->setting = *setting;
    uplink->patience = setting->patience > 1 ? setting->patience : 1;
    return uplink;
}

void site_uplink_free(struct site_uplink *uplink)
{
    free(uplink);
}

void site_uplink_start(struct site_uplink *uplink, uint64_t boot, int64_t now_ms)
{
    /* A journal that is restored has the boot of an earlier start once more. The broker
     * would take its first session for the one that it knows. */
    uint64_t begin = (uint64_t)now_ms % (1U << (SESSION_BITS - 1));
    uplink->session = (boot << SESSION_BITS) + 1 + begin;
    resend_begin(&uplink->hello, now_ms);
    uplink->heard_ms = now_ms;
}

void site_uplink_set_trouble(struct site_uplink *uplink, const char *why)
{
    uplink->has_trouble = why != NULL;
    if (why != NULL) {
        snprintf(uplink->trouble, sizeof(uplink->trouble),
                 "the broker cannot be reached: %s", why);
    }
}

const char *site_uplink_trouble(const struct site_uplink *uplink)
{
    if (uplink->setting.is_alone) {
        return "this site has no broker, see BROKER in section Site";
    }
    return uplink->has_trouble ? uplink->trouble
                               : "the broker cannot be reached, try again later";
}

bool site_uplink_is_up(const struct site_uplink *uplink)
{
    return uplink->is_up;
}

uint64_t site_uplink_session(const struct site_uplink *uplink)
{
    return uplink->session;
}

static void send(const struct site_uplink *uplink, const struct msg *msg,
                 struct effects *effects)
{
    struct peer to = {.kind = PEER_BROKER, .name = ""};
    struct msg copy = *msg;
    copy.session = uplink->session;
    if (copy.site == NULL) {
        copy.site = "";
    }
    effects_send(effects, &to, &copy);
}

void site_uplink_send(const struct site_uplink *uplink, const struct msg *msg,
                      struct effects *effects)
{
    if (uplink->is_up) {
        send(uplink, msg, effects);
    }
}

static const char commits_counter[] = "broker_commits";

bool site_uplink_load(struct site_uplink *uplink, const struct row_counter *counter)
{
    bool is_ours = strcmp(counter->name, commits_counter) == 0;
    if (is_ours) {
        uplink->broker_commits = uplink->broker_commits_stored = counter->value;
    }
    return is_ours;
}

void site_uplink_store(struct site_uplink *uplink, int64_t now_ms,
                       struct effects *effects)
{
    if (uplink->broker_commits > uplink->broker_commits_stored &&
        now_ms - uplink->commits_stored_ms >= COMMITS_STORE_MS) {
        uplink->broker_commits_stored = uplink->broker_commits;
        uplink->commits_stored_ms = now_ms;
        effects_store(
            effects,
            &(struct row){.kind = ROW_COUNTER,
                          .counter = {commits_counter, uplink->broker_commits_stored}});
    }
}

static void note_commits(struct site_uplink *uplink, uint64_t commits)
{
    if (commits > uplink->broker_commits) {
        uplink->broker_commits = commits;
    }
}

/* Says HELLO anew, under the next number. */
static void begin(struct site_uplink *uplink, int64_t now_ms)
{
    uplink->is_up = false;
    uplink->session++;
    resend_begin(&uplink->hello, now_ms);
    uplink->heard_ms = now_ms;
}

static void reconnect(const char *endpoint, struct effects *effects)
{
    effects_add(effects, EFFECT_RECONNECT)->reconnect.endpoint =
        arena_str(&effects->arena, endpoint);
}

bool site_uplink_welcome(struct site_uplink *uplink, const struct msg *msg,
                         int64_t now_ms, struct effects *effects)
{
    if (uplink->is_up || msg->session != uplink->session) {
        return false; /* repeated, or of an earlier HELLO */
    }
    if (msg->welcome.is_standby) {
        uplink->n_refusals++;
        effects_log(effects, uplink->n_refusals == 1 ? LOG_LEVEL_INFO : LOG_LEVEL_DEBUG,
                    "the broker is a standby: %s leads",
                    msg->welcome.text[0] != '\0' ? msg->welcome.text : "no broker");
        reconnect(msg->welcome.text, effects);
        begin(uplink, now_ms);
        if (uplink->n_refusals > 1) { /* the same standby may be asked again */
            resend_set_next(&uplink->hello, now_ms + hellos_with_standbys.first_ms);
        }
        return false;
    }
    if (!msg->welcome.is_accepted) {
        effects_log(effects, LOG_LEVEL_WARNING, "the broker refused the session: %s",
                    msg->welcome.text);
        if (msg->welcome.min_session >= uplink->session) {
            uplink->session = msg->welcome.min_session + 1;
            resend_set_next(&uplink->hello, now_ms);
        }
        return false;
    }
    note_commits(uplink, msg->welcome.broker_commits);
    uplink->is_up = true;
    resend_end(&uplink->hello);
    uplink->heard_ms = now_ms;
    uplink->sent_ms = 0;
    uplink->digest = 0;
    uplink->n_silences = uplink->n_refusals = 0;
    return true;
}

void site_uplink_pong(struct site_uplink *uplink, const struct msg *msg, int64_t now_ms)
{
    note_commits(uplink, msg->pong.broker_commits);
    uplink->heard_ms = now_ms;
}

bool site_uplink_stale(struct site_uplink *uplink, int64_t now_ms)
{
    bool was_up = uplink->is_up;
    if (was_up) {
        begin(uplink, now_ms);
    }
    return was_up;
}

bool site_uplink_change(struct site_uplink *uplink,
                        const struct site_uplink_setting *setting, int64_t now_ms)
{
    bool is_same = uplink->setting.roles == setting->roles &&
                   uplink->setting.reclaim_delay_ms == setting->reclaim_delay_ms;
    uplink->setting = *setting;
    return !is_same && site_uplink_stale(uplink, now_ms);
}

static void send_hello(struct site_uplink *uplink, int n_books, int64_t now_ms,
                       struct effects *effects)
{
    struct msg msg = {.kind = MSG_HELLO};
    msg.hello.name = uplink->setting.name;
    msg.hello.roles = uplink->setting.roles;
    msg.hello.n_books = n_books;
    msg.hello.reclaim_delay_ms = uplink->setting.reclaim_delay_ms;
    msg.hello.broker_commits = uplink->broker_commits;
    resend_sent(&uplink->hello,
                uplink->setting.has_standbys ? hellos_with_standbys : hello_waits,
                now_ms);
    send(uplink, &msg, effects);
}

static int64_t silent_at(const struct site_uplink *uplink)
{
    return uplink->heard_ms + resend_wait_ms(uplink->setting.has_standbys
                                                 ? silences_with_standbys
                                                 : silences,
                                             uplink->n_silences + 1) *
                                  uplink->patience;
}

bool site_uplink_tick(struct site_uplink *uplink, int n_books, int64_t now_ms,
                      struct effects *effects)
{
    if (uplink->setting.is_alone) {
        return false;
    }
    bool was_up = uplink->is_up;
    bool is_silent = now_ms >= silent_at(uplink);
    if (is_silent) {
        effects_log(effects, was_up ? LOG_LEVEL_WARNING : LOG_LEVEL_INFO,
                    "the broker is silent: connecting again");
        reconnect("", effects);
        uplink->n_silences += !was_up;
        begin(uplink, now_ms);
    }
    if (resend_wake_ms(&uplink->hello) <= now_ms) {
        send_hello(uplink, n_books, now_ms, effects);
    }
    return is_silent && was_up;
}

/* ---------------------------------------------------------------- usage */

static int64_t heartbeat_ms(const struct site_uplink *uplink)
{
    return (uplink->setting.has_standbys ? USAGE_WITH_STANDBYS_MS : USAGE_MS) *
           uplink->patience;
}

/* Of all but the sequence number; never 0. */
static uint64_t digest_of(const struct msg_usage *usage)
{
    uint64_t digest = 0;
    const int totals[] = {usage->n_own,      usage->n_own_used, usage->n_lent,
                          usage->n_borrowed, usage->n_idle,     usage->n_waiting,
                          usage->n_demands};
    for (size_t i = 0; i < sizeof(totals) / sizeof(totals[0]); i++) {
        digest = word_hash_add(digest, (uint64_t)totals[i]);
    }
    for (int i = 0; i < usage->n_demands; i++) {
        const struct lease_demand *demand = &usage->demands[i];
        digest = word_hash_text(digest, demand->lease);
        digest = word_hash_add(digest, demand->epoch);
        digest = word_hash_add(digest, (uint64_t)demand->n_used);
        digest = word_hash_add(digest, (uint64_t)demand->n_waiting);
        digest = word_hash_add(digest, demand->is_unnamed);
    }
    for (int i = 0; i < usage->n_queues; i++) {
        digest = word_hash_text(digest, usage->queues[i].queue);
        digest = word_hash_add(digest, (uint64_t)usage->queues[i].n_waiting);
        digest = word_hash_add(digest, (uint64_t)usage->queues[i].job_size);
        digest = word_hash_add(digest, usage->queues[i].needs);
    }
    for (int i = 0; i < usage->n_uses; i++) {
        const struct priority_use *use = &usage->uses[i];
        digest = word_hash_text(digest, use->lease);
        digest = word_hash_add(digest, (uint64_t)use->priority);
        digest = word_hash_add(digest, (uint64_t)use->n_slots);
    }
    return digest | 1;
}

bool site_uplink_wants_usage(struct site_uplink *uplink, int64_t now_ms)
{
    if (!uplink->is_up) {
        return false;
    }
    uplink->is_held = !uplink->setting.is_prompt && uplink->digest != 0 &&
                      now_ms - uplink->sent_ms < USAGE_CHANGE_MS;
    return !uplink->is_held;
}

void site_uplink_usage(struct site_uplink *uplink, const struct msg_usage *usage,
                       int64_t now_ms, struct effects *effects)
{
    uint64_t digest = digest_of(usage);
    if (digest == uplink->digest && now_ms - uplink->sent_ms < heartbeat_ms(uplink)) {
        return;
    }
    struct msg msg = {.kind = MSG_USAGE, .usage = *usage};
    msg.usage.seq = ++uplink->seq;
    uplink->digest = digest;
    uplink->sent_ms = now_ms;
    send(uplink, &msg, effects);
}

int64_t site_uplink_wake_ms(const struct site_uplink *uplink)
{
    if (uplink->setting.is_alone) {
        return INT64_MAX;
    }
    int64_t silent_ms = silent_at(uplink);
    int64_t pause_ms = uplink->is_held ? USAGE_CHANGE_MS : heartbeat_ms(uplink);
    int64_t next_ms =
        uplink->is_up ? uplink->sent_ms + pause_ms : resend_wake_ms(&uplink->hello);
    return next_ms < silent_ms ? next_ms : silent_ms;
}
