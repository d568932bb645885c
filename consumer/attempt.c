/* SPDX-License-Identifier: Apache-2.0 */
/* attempt.c: see attempt.h. */
#include "consumer/attempt.h"

#include <stdlib.h>
#include <string.h>

#include "base/sorted.h"
#include "consumer/contract.h"
#include "model/dup.h"
#include "model/record.h"

static const struct resend_waits waits = {.first_ms = 1000, .last_ms = 1000};

static void free_attempt(struct attempt *attempt)
{
    arena_release(&attempt->start_memory);
    free(attempt->hosts);
    dup_free(attempt->lease);
    free(attempt->provider);
    dup_free(attempt->end_text);
    free(attempt);
}

void attempts_init(struct attempts *attempts, const char *site)
{
    memset(attempts, 0, sizeof(*attempts));
    attempts->site = dup_text(site);
}

void attempts_release(struct attempts *attempts)
{
    for (int i = 0; i < attempts->count; i++) {
        free_attempt(attempts->items[i]);
    }
    free(attempts->items);
    dup_free(attempts->site);
    memset(attempts, 0, sizeof(*attempts));
}

static int compare(const void *number, const void *attempt)
{
    uint64_t a = *(const uint64_t *)number,
             b = ((const struct attempt *)attempt)->number;
    return (a > b) - (a < b);
}

struct attempt *attempts_find(const struct attempts *attempts, uint64_t number)
{
    return sorted_find(attempts->items, attempts->count, &number, compare);
}

struct attempt *attempts_next(const struct attempts *attempts, uint64_t number)
{
    int at = sorted_place(attempts->items, attempts->count, &number, compare);
    at += at < attempts->count && attempts->items[at]->number == number;
    return at < attempts->count ? attempts->items[at] : NULL;
}

static void keep_start(struct attempts *attempts, struct attempt *attempt,
                       const struct consumer_attempt *from)
{
    struct msg_start start = {
        .run = {attempts->site, from->attempt, from->nonce},
        .lease = from->lease,
        .epoch = from->epoch,
        .job = from->job,
        .hosts = from->hosts,
        .n_hosts = from->n_hosts,
        .spec = *from->spec,
        .priority = from->priority,
    };
    record_copy(&attempt->start_memory, &schema_run_leased_start, &start,
                &attempt->start);
    attempt->end_by_ms = from->end_by_ms;
}

static struct attempt *attempt_new(const struct consumer_attempt *from, int64_t now_ms)
{
    struct attempt *attempt = mem_alloc(1, sizeof(*attempt));
    arena_init_small(&attempt->start_memory);
    attempt->number = from->attempt;
    attempt->nonce = from->nonce;
    attempt->lease = dup_text(from->lease);
    attempt->provider = contracts_provider_of(from->lease);
    attempt->epoch = from->epoch;
    attempt->has_out_file = from->has_out_file;
    attempt->has_err_file = from->has_err_file;
    attempt->control = from->control;
    attempt->received_ms = attempt->sent_ms = now_ms;
    attempt->asked_ms = INT64_MIN / 2; /* never */
    if (attempt->control.number > 0) {
        resend_begin(&attempt->control_resend, now_ms);
    }
    attempt->n_hosts = from->n_hosts;
    attempt->priority = from->priority;
    attempt->has_post = from->spec->n_post_execs > 0;
    attempt->hosts = record_dup_list(&schema_run_slots, from->hosts, from->n_hosts);
    return attempt;
}

struct attempt *attempts_add(struct attempts *attempts,
                             const struct consumer_attempt *from, int64_t now_ms)
{
    if (attempts_find(attempts, from->attempt) != NULL) {
        return NULL;
    }
    struct attempt *attempt = attempt_new(from, now_ms);
    if (from->is_admitted) {
        attempt->phase = ATTEMPTS_ADMITTED;
    } else {
        keep_start(attempts, attempt, from);
        resend_begin(&attempt->resend, now_ms);
    }
    attempts->items = sorted_add(attempts->items, &attempts->count, &attempts->capacity,
                                 &attempt->number, compare, attempt);
    return attempt;
}

void attempts_remove(struct attempts *attempts, uint64_t number)
{
    struct attempt *attempt =
        sorted_remove(attempts->items, &attempts->count, &number, compare);
    if (attempt != NULL) {
        free_attempt(attempt);
    }
}

void attempts_decide(struct attempt *attempt)
{
    attempt->phase = ATTEMPTS_ADMITTED;
    resend_end(&attempt->resend);
    arena_release(&attempt->start_memory);
    memset(&attempt->start, 0, sizeof(attempt->start));
}

bool attempt_is_decided(const struct attempt *attempt)
{
    return attempt->phase != ATTEMPTS_SENT;
}

bool attempt_is_asked_for(const struct attempt *attempt)
{
    return attempt_is_decided(attempt) || attempt->is_withdrawn || attempt->is_doubted;
}

bool attempt_is_ended(const struct attempt *attempt)
{
    return attempt->phase == ATTEMPTS_ENDED;
}

bool attempt_is_starting(const struct attempt *attempt)
{
    return attempt->phase == ATTEMPTS_SENT || attempt->phase == ATTEMPTS_ADMITTED;
}

/* ------------------------------------------------------------ to the provider */

/* Does nothing without a session. */
static void send(const struct attempts *attempts, const char *provider, struct msg *msg,
                 struct effects *effects)
{
    struct peer broker = {.kind = PEER_BROKER, .name = ""};
    if (attempts->session == 0) {
        return;
    }
    msg->session = attempts->session;
    msg->site = provider;
    effects_send(effects, &broker, msg);
}

struct run_id attempts_run(const struct attempts *attempts,
                           const struct attempt *attempt)
{
    return (struct run_id){attempts->site, attempt->number, attempt->nonce};
}

void attempts_send_start(struct attempts *attempts, struct attempt *attempt,
                         int64_t now_ms, struct effects *effects)
{
    resend_sent(&attempt->resend, waits, now_ms);
    if (attempts->session == 0) {
        return;
    }
    struct msg msg = {.kind = MSG_START, .start = attempt->start};
    msg.start.end_within_ms = msg_end_within_ms(attempt->end_by_ms, now_ms);
    msg.start.commits = attempts->commits;
    send(attempts, attempt->provider, &msg, effects);
}

void attempts_send_ask(struct attempts *attempts, struct attempt *attempt,
                       int64_t now_ms, struct effects *effects)
{
    attempt->asked_ms = now_ms;
    struct msg msg = {
        .kind = MSG_ATTEMPT_ASK,
        .attempt = {.run = attempts_run(attempts, attempt),
                    .is_withdrawn = attempt->is_withdrawn},
    };
    send(attempts, attempt->provider, &msg, effects);
}

void attempts_send_control(struct attempts *attempts, struct attempt *attempt,
                           int64_t now_ms, struct effects *effects)
{
    bool is_open = attempt->phase != ATTEMPTS_SENT && attempt->phase != ATTEMPTS_ENDED;
    if (!is_open || resend_wake_ms(&attempt->control_resend) > now_ms) {
        return;
    }
    resend_sent(&attempt->control_resend, waits, now_ms);
    struct msg msg = {
        .kind = MSG_ATTEMPT_CONTROL,
        .lifecycle_control = {attempts_run(attempts, attempt), attempt->control},
    };
    send(attempts, attempt->provider, &msg, effects);
}

void attempts_send_acknowledge(struct attempts *attempts, const char *provider,
                               const struct run_id *run, uint64_t commits,
                               struct effects *effects)
{
    struct msg msg = {.kind = MSG_ATTEMPT_ACK,
                      .attempt = {.run = *run, .commits = commits}};
    send(attempts, provider, &msg, effects);
}

void attempts_send_list(struct attempts *attempts, const char *provider, uint64_t from,
                        uint64_t to, struct effects *effects)
{
    struct msg msg = {
        .kind = MSG_ATTEMPT_ASK,
        .attempt = {.run = {attempts->site, from, 0}, .lists = true, .list_to = to},
    };
    send(attempts, provider, &msg, effects);
}

void attempts_send_output_ask(struct attempts *attempts, struct attempt *attempt,
                              int64_t now_ms, struct effects *effects)
{
    resend_sent(&attempt->resend, waits, now_ms);
    struct msg msg = {
        .kind = MSG_OUTPUT_ASK,
        .output_ask = {.run = attempts_run(attempts, attempt),
                       .request = attempt->request,
                       .stream = attempt->stream,
                       .offset = attempt->offset,
                       .n_bytes = OUTPUT_CHUNK_MAX},
    };
    send(attempts, attempt->provider, &msg, effects);
}
