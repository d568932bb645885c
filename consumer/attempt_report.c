/* SPDX-License-Identifier: Apache-2.0 */
/* attempt_report.c: what providers report about attempts, and the reports to the site.
 *
 * The site may call the consumer during a report (acknowledge, control, written), and
 * so remove the attempt. It is looked up again by its number afterwards.
 *
 * A provider's message, by the phase that the attempt has here:
 *
 *              sent               admitted, running, suspended   ended
 *   REFUSED    forgotten          late                           late
 *   LOST       forgotten          forgotten                      late
 *   ABSENT     START again        forgotten                      late
 *   others     admitted or later  forward, never back            late
 *
 * REFUSED of an attempt that may have started and ended (is_doubted) says only that its
 * number was decided: the answer to ATTEMPT_ASK counts.
 *
 * A state with another nonce is about another run, of a job that this site's journal
 * has lost: it is not of the attempt. A provider that has taken an attempt before an
 * upgrade has no nonce of it; both journals know that it was taken.
 *
 * ABSENT is the answer to ATTEMPT_ASK, which is sent only for admitted attempts. If it
 * comes for one of those, the provider has lost its record, and so perhaps the host:
 * the run may have begun, and is not begun again unless its job is rerunnable. */
#include "consumer/consumer_parts.h"

#include <string.h>

#include "consumer/attempt.h"
#include "model/dup.h"

void attempt_report_count_use(struct consumer *consumer, struct attempt *attempt,
                              int sign)
{
    struct contract *contract = contracts_find(&consumer->contracts, attempt->lease);
    if (contract != NULL) {
        contracts_count_use(contract, attempt->hosts, attempt->n_hosts, &attempt->place,
                            sign);
    }
}

static bool has_yielded(const struct attempt *attempt)
{
    const struct run_control *control = &attempt->control;
    if (attempt->phase != ATTEMPTS_SUSPENDED) {
        return false;
    }
    if (control->action == CONTROL_KILL) {
        /* Its provider ends it without resuming it, unless a post-exec command follows.
         */
        return attempt->is_yielded && !attempt->has_post;
    }
    return control->number != 0 && control->action == CONTROL_SUSPEND &&
           control->yields && attempt->control_done >= control->number;
}

void attempt_report_update_yielded(struct consumer *consumer, struct attempt *attempt)
{
    bool is_yielded = has_yielded(attempt);
    struct contract *contract = contracts_find(&consumer->contracts, attempt->lease);
    if (is_yielded != attempt->is_yielded && contract != NULL) {
        contracts_count_yielded(contract, attempt->hosts, attempt->n_hosts,
                                &attempt->place, is_yielded ? 1 : -1);
    }
    attempt->is_yielded = is_yielded;
}

void attempt_report_keep_suspended(struct consumer *consumer, struct attempt *attempt)
{
    attempt->control = (struct run_control){
        .number = attempt->control_done, .action = CONTROL_SUSPEND, .yields = true};
    resend_end(&attempt->control_resend);
    attempt_report_update_yielded(consumer, attempt);
}

/* ------------------------------------------------------------ reports */

/* Calls the site; returns the attempt, or NULL if the site removed it. */
static struct attempt *report(struct consumer *consumer,
                              const struct reporter *reporter,
                              const struct consumer_report *what)
{
    uint64_t number = what->attempt;
    reporter->on_report(reporter->arg, what);
    return attempts_find(&consumer->attempts, number);
}

struct attempt *attempt_report_state(struct consumer *consumer,
                                     const struct reporter *reporter,
                                     const struct attempt *attempt,
                                     enum consumer_report_kind kind)
{
    struct consumer_report state = {
        .kind = kind,
        .attempt = attempt->number,
        .start_ms = attempt->start_ms,
        .control_done = attempt->control_done,
        .use = attempt->use,
        .reason = "",
    };
    return report(consumer, reporter, &state);
}

static enum consumer_report_kind kind_of(enum attempts_phase phase)
{
    switch (phase) {
    case ATTEMPTS_RUNNING:
        return CONSUMER_RUNNING;
    case ATTEMPTS_SUSPENDED:
        return CONSUMER_SUSPENDED;
    case ATTEMPTS_SENT:
    case ATTEMPTS_ADMITTED:
    case ATTEMPTS_ENDED:
        break;
    }
    return CONSUMER_ADMITTED;
}

/* Its provider has answered a withdrawal: it did not start in time there. */
static void avoid(struct consumer *consumer, const struct attempt *attempt,
                  int64_t now_ms)
{
    struct contract *contract = contracts_find(&consumer->contracts, attempt->lease);
    if (contract != NULL) {
        contract->avoided_until_ms =
            now_ms + consumer->start_timeout_ms * consumer->patience;
    }
}

/* The attempt will never run, or its provider has no record of it. */
static void forget(struct consumer *consumer, const struct reporter *reporter,
                   struct attempt *attempt, enum consumer_report_kind kind,
                   const char *reason, int64_t now_ms)
{
    if (attempt->is_withdrawn && attempt_is_starting(attempt)) {
        avoid(consumer, attempt, now_ms);
        reason = "not started within START_TIMEOUT, and withdrawn";
    }
    struct consumer_report end = {
        .kind = kind,
        .attempt = attempt->number,
        .start_ms = attempt->start_ms,
        .use = attempt->use,
        .may_have_begun = attempt->is_doubted,
        .reason = reason,
    };
    attempt->phase = ATTEMPTS_ENDED;
    attempt_report_update_yielded(consumer, attempt);
    attempt_report_count_use(consumer, attempt, -1);
    attempts_remove(&consumer->attempts, attempt->number);
    reporter->on_report(reporter->arg, &end);
}

void attempt_report_end(struct consumer *consumer, const struct reporter *reporter,
                        struct attempt *attempt)
{
    if (attempt == NULL || attempt->fetch != FETCH_DONE || attempt->is_reported) {
        return;
    }
    attempt->is_reported = true;
    struct consumer_report end = {
        .kind = CONSUMER_ENDED,
        .attempt = attempt->number,
        .start_ms = attempt->exit.start_ms,
        .control_done = attempt->control_done,
        .use = attempt->use,
        .exit = attempt->exit,
        .reason = "",
    };
    end.exit.text = attempt->end_text != NULL ? attempt->end_text : "";
    report(consumer, reporter, &end);
}

/* ------------------------------------------------------------ ATTEMPT_STATE */

static struct attempt *admit(struct consumer *consumer, const struct reporter *reporter,
                             struct attempt *attempt, int64_t now_ms,
                             struct effects *effects)
{
    if (attempt_is_decided(attempt)) {
        return attempt;
    }
    attempts_decide(attempt);
    attempt = attempt_report_state(consumer, reporter, attempt, CONSUMER_ADMITTED);
    if (attempt != NULL) {
        attempts_send_control(&consumer->attempts, attempt, now_ms, effects);
    }
    return attempt;
}

static struct attempt *note_control(struct consumer *consumer,
                                    const struct reporter *reporter,
                                    struct attempt *attempt, uint64_t control_done)
{
    if (control_done <= attempt->control_done) {
        return attempt;
    }
    attempt->control_done = control_done;
    if (control_done >= attempt->control.number) {
        resend_end(&attempt->control_resend);
    }
    attempt_report_update_yielded(consumer, attempt);
    return attempt_report_state(consumer, reporter, attempt, CONSUMER_CONTROLLED);
}

/* Running or suspended. A state from before a control that was carried out is late. */
static void move_on(struct consumer *consumer, const struct reporter *reporter,
                    struct attempt *attempt, const struct msg_attempt_state *state,
                    bool was_unknown)
{
    enum attempts_phase phase =
        state->state == ATTEMPT_SUSPENDED ? ATTEMPTS_SUSPENDED : ATTEMPTS_RUNNING;
    bool has_changed = false;
    if (state->state != ATTEMPT_TAKEN && state->control_done >= attempt->control_done) {
        has_changed = phase != attempt->phase || state->start_ms != attempt->start_ms;
        attempt->phase = phase;
        attempt->start_ms = state->start_ms;
        attempt_report_update_yielded(consumer, attempt);
    }
    if (has_changed || was_unknown) {
        attempt_report_state(consumer, reporter, attempt, kind_of(attempt->phase));
    }
}

static void end(struct consumer *consumer, const struct reporter *reporter,
                struct attempt *attempt, const struct run_exit *exit, int64_t now_ms,
                struct effects *effects)
{
    attempt->phase = ATTEMPTS_ENDED;
    attempt_report_update_yielded(consumer, attempt);
    attempt_report_count_use(consumer, attempt, -1);
    attempt->exit = *exit;
    attempt->end_text = dup_text(exit->text);
    output_fetch_begin(&consumer->attempts, attempt, now_ms, effects);
    attempt_report_end(consumer, reporter, attempt);
}

/* Admitted, running, suspended or ended. Messages that were lost are made up for. */
static void follow(struct consumer *consumer, const struct reporter *reporter,
                   struct attempt *attempt, const struct msg_attempt_state *state,
                   int64_t now_ms, struct effects *effects)
{
    bool was_unknown = attempt->is_unknown;
    attempt->is_unknown = false;
    if (state->use.at_ms >= attempt->use.at_ms) { /* else the message is late */
        attempt->use = state->use;
    }
    attempt = admit(consumer, reporter, attempt, now_ms, effects);
    if (attempt != NULL) {
        attempt = note_control(consumer, reporter, attempt, state->control_done);
    }
    if (attempt == NULL || attempt_is_ended(attempt)) {
        return;
    }
    if (state->state == ATTEMPT_ENDED) {
        end(consumer, reporter, attempt, &state->exit, now_ms, effects);
    } else {
        move_on(consumer, reporter, attempt, state, was_unknown);
    }
}

static void note_absent(struct consumer *consumer, const struct reporter *reporter,
                        struct attempt *attempt, int64_t now_ms)
{
    if (attempt_is_decided(attempt)) {
        attempt->is_doubted = true; /* it may have begun before the record was lost */
        forget(consumer, reporter, attempt, CONSUMER_LOST,
               "its provider has lost its record", now_ms);
    } else {
        /* START again, with the tick: no START has arrived. */
        attempt->is_withdrawn = attempt->is_doubted = false;
        attempt->sent_ms = now_ms;
        resend_set_next(&attempt->resend, now_ms);
    }
}

static void ask_soon(const struct consumer *consumer, struct attempt *attempt,
                     int64_t now_ms)
{
    attempt->asked_ms = attempt->received_ms =
        now_ms - ATTEMPTS_ASK_MS * consumer->patience;
}

static bool is_of_attempt(const struct attempt *attempt,
                          const struct msg_attempt_state *state)
{
    return state->run.nonce == attempt->nonce ||
           (state->run.nonce == 0 && attempt_is_decided(attempt));
}

static void note_state(struct consumer *consumer, const struct reporter *reporter,
                       const struct msg *msg, int64_t now_ms, struct effects *effects)
{
    const struct msg_attempt_state *state = &msg->attempt_state;
    if (strcmp(state->run.site, consumer->attempts.site) != 0) {
        return;
    }
    struct attempt *attempt = attempts_find(&consumer->attempts, state->run.attempt);
    if (attempt == NULL) {
        if (state->state == ATTEMPT_ENDED) {
            attempts_send_acknowledge(&consumer->attempts, msg->site, &state->run,
                                      consumer->attempts.commits, effects);
        }
        return;
    }
    if (strcmp(msg->site, attempt->provider) != 0 || !is_of_attempt(attempt, state) ||
        attempt_is_ended(attempt)) {
        return;
    }
    attempt->received_ms = now_ms;
    switch (state->state) {
    case ATTEMPT_REFUSED:
        if (attempt->is_doubted) {
            ask_soon(consumer, attempt, now_ms);
        } else if (!attempt_is_decided(attempt)) {
            forget(consumer, reporter, attempt, CONSUMER_REFUSED, state->reason,
                   now_ms);
        }
        break;
    case ATTEMPT_LOST:
        forget(consumer, reporter, attempt, CONSUMER_LOST,
               attempt->is_doubted
                   ? "its provider has no record of it, and this site's journal is "
                     "older than others know"
                   : "its provider has no record of it",
               now_ms);
        break;
    case ATTEMPT_ABSENT:
        note_absent(consumer, reporter, attempt, now_ms);
        break;
    case ATTEMPT_TAKEN:
    case ATTEMPT_RUNNING:
    case ATTEMPT_SUSPENDED:
    case ATTEMPT_ENDED:
        follow(consumer, reporter, attempt, state, now_ms, effects);
        break;
    }
}

/* ------------------------------------------------------------ OUTPUT */

static void note_output(struct consumer *consumer, const struct reporter *reporter,
                        const struct msg *msg, int64_t now_ms, struct effects *effects)
{
    const struct msg_output *piece = &msg->output;
    struct attempt *attempt = attempts_find(&consumer->attempts, piece->run.attempt);
    if (attempt == NULL || strcmp(piece->run.site, consumer->attempts.site) != 0 ||
        (piece->run.nonce != attempt->nonce && piece->run.nonce != 0) ||
        strcmp(msg->site, attempt->provider) != 0) {
        return;
    }
    attempt->received_ms = now_ms;
    if (output_fetch_take(&consumer->attempts, attempt, piece, now_ms, effects)) {
        struct consumer_report output = {
            .kind = CONSUMER_OUTPUT,
            .attempt = attempt->number,
            .reason = "",
            .stream = piece->stream,
            .offset = piece->offset,
            .bytes = piece->bytes,
            .n_bytes = piece->n_bytes,
        };
        attempt = report(consumer, reporter, &output);
    }
    attempt_report_end(consumer, reporter, attempt);
}

void attempt_report_on_message(struct consumer *consumer,
                               const struct reporter *reporter, const struct msg *msg,
                               int64_t now_ms, struct effects *effects)
{
    if (msg->kind == MSG_ATTEMPT_STATE) {
        note_state(consumer, reporter, msg, now_ms, effects);
    } else if (msg->kind == MSG_OUTPUT) {
        note_output(consumer, reporter, msg, now_ms, effects);
    }
}
