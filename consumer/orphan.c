/* SPDX-License-Identifier: Apache-2.0 */
/* orphan.c: attempts that a lost part of the journal has sent: providers are asked for
 * their runs, which are followed like other attempts but reported to nobody, until an
 * administrator has them adopted or ended. Source: docs/design/safety.md "Journals that
 * are behind". */
#include <stdlib.h>
#include <string.h>

#include "consumer/consumer_parts.h"
#include "model/dup.h"

/* Providers are asked again and again: one may connect later, and an answer has few of
 * its runs. */
enum { ORPHANS_ASK_MS = 30000, CONTRACT_ASK_MS = 1000 };

/* A provider that lies cannot fill the memory. */
enum { ORPHANS_MAX = 10000 };

void orphan_keep(struct consumer *consumer, uint64_t from, uint64_t to, bool is_asking,
                 int64_t now_ms)
{
    consumer->orphans_from = from;
    consumer->orphans_to = to;
    consumer->orphans_ask_ms = is_asking && to > 0 ? now_ms : INT64_MAX;
}

static bool is_kept(const struct consumer *consumer, uint64_t number)
{
    return number >= consumer->orphans_from && number <= consumer->orphans_to;
}

/* The first attempt of that provider that may be missing here. */
static uint64_t next_of(const struct consumer *consumer, const char *provider)
{
    uint64_t next = consumer->orphans_from;
    for (int i = 0; i < consumer->attempts.count; i++) {
        const struct attempt *attempt = consumer->attempts.items[i];
        if (attempt->is_orphan && attempt->number >= next &&
            strcmp(attempt->provider, provider) == 0) {
            next = attempt->number + 1;
        }
    }
    return next;
}

void orphan_note_contract(struct consumer *consumer, int64_t now_ms)
{
    if (consumer->orphans_ask_ms != INT64_MAX &&
        consumer->orphans_ask_ms > now_ms + CONTRACT_ASK_MS) {
        consumer->orphans_ask_ms = now_ms + CONTRACT_ASK_MS;
    }
}

void orphan_tick(struct consumer *consumer, int64_t now_ms, struct effects *effects)
{
    const struct contracts *contracts = &consumer->contracts;
    if (consumer->attempts.session == 0 || consumer->orphans_ask_ms > now_ms) {
        return;
    }
    consumer->orphans_ask_ms = now_ms + ORPHANS_ASK_MS;
    for (int i = 0; i < contracts->count; i++) {
        const char *provider = contracts->items[i]->provider;
        bool is_asked =
            i > 0 && strcmp(contracts->items[i - 1]->provider, provider) == 0;
        uint64_t from = next_of(consumer, provider);
        if (!is_asked && from <= consumer->orphans_to) {
            attempts_send_list(&consumer->attempts, provider, from,
                               consumer->orphans_to, effects);
        }
    }
}

/* Contracts are in order of their ids, and so of their providers. */
int64_t orphan_wake_ms(const struct consumer *consumer)
{
    bool can_ask = consumer->attempts.session != 0 && consumer->contracts.count > 0;
    return can_ask ? consumer->orphans_ask_ms : INT64_MAX;
}

static int count(const struct consumer *consumer)
{
    int n_orphans = 0;
    for (int i = 0; i < consumer->attempts.count; i++) {
        n_orphans += consumer->attempts.items[i]->is_orphan;
    }
    return n_orphans;
}

bool orphan_found(struct consumer *consumer, const struct msg *msg, int64_t now_ms,
                  struct effects *effects)
{
    const struct msg_start *start = &msg->start;
    const struct consumer_attempt from = {
        .attempt = start->run.attempt,
        .nonce = start->run.nonce,
        .job = start->job,
        .lease = start->lease,
        .epoch = start->epoch,
        .hosts = start->hosts,
        .n_hosts = start->n_hosts,
        .spec = &start->spec,
        .priority = start->priority,
        .has_out_file = start->spec.out_file[0] != '\0',
        .has_err_file = start->spec.err_file[0] != '\0',
    };
    size_t length = strlen(msg->site);
    bool is_of_sender =
        strncmp(start->lease, msg->site, length) == 0 && start->lease[length] == '/';
    if (strcmp(start->run.site, consumer->attempts.site) != 0 || !is_of_sender ||
        !is_kept(consumer, start->run.attempt) || count(consumer) >= ORPHANS_MAX) {
        return false;
    }
    struct attempt *attempt = attempts_add(&consumer->attempts, &from, now_ms);
    if (attempt == NULL) {
        return false;
    }
    attempt->is_orphan = true;
    attempt->phase = ATTEMPTS_ADMITTED;
    resend_end(&attempt->resend);
    attempt_report_count_use(consumer, attempt, 1);
    effects_log(effects, LOG_LEVEL_WARNING,
                "%s has attempt %llu (job <%s>), which is not on record here: it is "
                "kept, see `sublet runs --orphans`",
                msg->site, (unsigned long long)start->run.attempt, start->job);
    return true;
}

static void remove_orphan(struct consumer *consumer, struct attempt *attempt)
{
    if (!attempt_is_ended(attempt)) {
        attempt_report_count_use(consumer, attempt, -1);
    }
    attempts_remove(&consumer->attempts, attempt->number);
}

static void finish(struct consumer *consumer, struct attempt *attempt,
                   struct effects *effects)
{
    struct run_id run = attempts_run(&consumer->attempts, attempt);
    attempts_send_acknowledge(&consumer->attempts, attempt->provider, &run,
                              consumer->attempts.commits, effects);
    remove_orphan(consumer, attempt);
}

static void note_state(struct consumer *consumer, struct attempt *attempt,
                       const struct msg_attempt_state *state, struct effects *effects)
{
    attempt->control_done = state->control_done;
    if (attempt->control_done >= attempt->control.number) {
        resend_end(&attempt->control_resend);
    }
    attempt->start_ms = state->start_ms;
    switch (state->state) {
    case ATTEMPT_REFUSED:
        break;
    case ATTEMPT_LOST:
    case ATTEMPT_ABSENT:
        remove_orphan(consumer, attempt);
        break;
    case ATTEMPT_TAKEN:
        break;
    case ATTEMPT_RUNNING:
        attempt->phase = ATTEMPTS_RUNNING;
        break;
    case ATTEMPT_SUSPENDED:
        attempt->phase = ATTEMPTS_SUSPENDED;
        break;
    case ATTEMPT_ENDED:
        attempt_report_count_use(consumer, attempt, -1);
        attempt->phase = ATTEMPTS_ENDED;
        attempt->exit = state->exit;
        attempt->exit.text = "";
        if (attempt->is_given_up) {
            finish(consumer, attempt, effects);
        }
        break;
    }
}

bool orphan_take_state(struct consumer *consumer, const struct msg *msg, int64_t now_ms,
                       struct effects *effects)
{
    const struct msg_attempt_state *state = &msg->attempt_state;
    struct attempt *attempt = attempts_find(&consumer->attempts, state->run.attempt);
    if (strcmp(state->run.site, consumer->attempts.site) != 0) {
        return false;
    }
    if (attempt == NULL) {
        return is_kept(consumer, state->run.attempt);
    }
    if (!attempt->is_orphan) {
        return false;
    }
    if (strcmp(msg->site, attempt->provider) == 0 &&
        attempt->nonce == state->run.nonce && !attempt_is_ended(attempt)) {
        attempt->received_ms = now_ms;
        note_state(consumer, attempt, state, effects);
    }
    return true;
}

bool orphan_next(const struct consumer *consumer, uint64_t after,
                 struct consumer_orphan *orphan)
{
    const struct attempt *attempt = attempts_next(&consumer->attempts, after);
    while (attempt != NULL && !attempt->is_orphan) {
        attempt = attempts_next(&consumer->attempts, attempt->number);
    }
    if (attempt == NULL) {
        return false;
    }
    enum run_phase phase = attempt->phase == ATTEMPTS_RUNNING     ? RUN_RUNNING
                           : attempt->phase == ATTEMPTS_SUSPENDED ? RUN_SUSPENDED
                           : attempt->phase == ATTEMPTS_ENDED     ? RUN_ENDED
                                                                  : RUN_WAITING;
    *orphan = (struct consumer_orphan){.start = &attempt->start,
                                       .provider = attempt->provider,
                                       .phase = phase,
                                       .start_ms = attempt->start_ms,
                                       .control_done = attempt->control_done,
                                       .is_given_up = attempt->is_given_up};
    return true;
}

void orphan_adopt(struct consumer *consumer, uint64_t number, int64_t now_ms)
{
    struct attempt *attempt = attempts_find(&consumer->attempts, number);
    bool is_suspended = attempt->phase == ATTEMPTS_SUSPENDED;
    if (attempt_is_ended(attempt)) {
        attempt_report_count_use(consumer, attempt, 1);
    }
    attempts_decide(attempt); /* its provider is asked for the state it is in */
    attempt->is_orphan = false;
    attempt->control = (struct run_control){.number = attempt->control_done};
    if (is_suspended) {
        attempt_report_keep_suspended(consumer, attempt);
    }
    attempt->asked_ms = attempt->received_ms = now_ms - ATTEMPTS_ASK_MS;
}

void orphan_end(struct consumer *consumer, uint64_t number, int64_t now_ms,
                struct effects *effects)
{
    struct attempt *attempt = attempts_find(&consumer->attempts, number);
    attempt->is_given_up = true;
    if (attempt_is_ended(attempt)) {
        finish(consumer, attempt, effects);
        return;
    }
    attempt->control = (struct run_control){
        .number = run_control_next(attempt->control_done), .action = CONTROL_KILL};
    resend_begin(&attempt->control_resend, now_ms);
    attempts_send_control(&consumer->attempts, attempt, now_ms, effects);
}
