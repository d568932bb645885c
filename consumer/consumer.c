/* SPDX-License-Identifier: Apache-2.0 */
/* consumer.c: see consumer.h. Here: the requests of the site, and the messages that are
 * repeated. contract.c has the contracts, attempt.c the attempts, attempt_report.c
 * handles messages of providers, output_fetch.c fetches output. */
#include "consumer/consumer_parts.h"

#include <stdlib.h>
#include <string.h>

#include "consumer/attempt.h"

struct consumer *consumer_new(const char *site)
{
    struct consumer *consumer = mem_alloc(1, sizeof(*consumer));
    consumer->patience = 1;
    consumer->orphans_ask_ms = INT64_MAX;
    attempts_init(&consumer->attempts, site);
    return consumer;
}

void consumer_set_patience(struct consumer *consumer, int patience)
{
    consumer->patience = patience;
}

void consumer_set_start_timeout(struct consumer *consumer, int64_t start_timeout_ms)
{
    consumer->start_timeout_ms = start_timeout_ms;
}

void consumer_free(struct consumer *consumer)
{
    if (consumer != NULL) {
        contracts_release(&consumer->contracts);
        attempts_release(&consumer->attempts);
        free(consumer);
    }
}

/* ------------------------------------------------------------ session, contracts */

void consumer_session(struct consumer *consumer, uint64_t session, int64_t now_ms,
                      struct effects *effects)
{
    struct attempts *attempts = &consumer->attempts;
    attempts->session = session;
    contracts_begin_session(&consumer->contracts);
    for (int i = 0; i < attempts->count; i++) {
        struct attempt *attempt = attempts->items[i];
        if (!attempt_is_asked_for(attempt)) {
            attempts_send_start(attempts, attempt, now_ms, effects);
        } else if (!attempt_is_ended(attempt)) {
            attempts_send_ask(attempts, attempt, now_ms, effects);
            resend_set_next(&attempt->control_resend, now_ms);
            attempts_send_control(attempts, attempt, now_ms, effects);
        } else if (attempt->resend.is_open) {
            attempts_send_output_ask(attempts, attempt, now_ms, effects);
        }
    }
}

void consumer_set_commits(struct consumer *consumer, uint64_t commits)
{
    consumer->attempts.commits = commits;
}

void consumer_doubt(struct consumer *consumer, uint64_t attempt)
{
    for (int i = 0; i < consumer->attempts.count; i++) {
        struct attempt *known = consumer->attempts.items[i];
        if (known->number > consumer->doubted_to && known->number <= attempt &&
            !known->is_orphan) {
            known->is_doubted = true;
        }
    }
    consumer->doubted_to = attempt;
}

void consumer_broker_lost(struct consumer *consumer)
{
    consumer->attempts.session = 0;
}

/* "north/1/south" is south's, and so is "north/1/south:NODE" of a pool. */
static bool is_own_lease(const struct consumer *consumer, const char *lease)
{
    size_t length;
    const char *name = msg_lease_consumer(lease, &length);
    return length == strlen(consumer->attempts.site) &&
           strncmp(name, consumer->attempts.site, length) == 0;
}

static void acknowledge_contract(const struct consumer *consumer,
                                 const struct contract *contract,
                                 struct effects *effects)
{
    struct peer broker = {.kind = PEER_BROKER, .name = ""};
    struct msg msg = {
        .kind = MSG_CONTRACT_ACK,
        .session = consumer->attempts.session,
        .site = "",
        .contract_ack = {contract->latest.lease, contract->latest.revision},
    };
    effects_send(effects, &broker, &msg);
}

void consumer_contract(struct consumer *consumer, const struct msg *msg, int64_t now_ms,
                       struct effects *effects)
{
    const struct attempts *attempts = &consumer->attempts;
    if (attempts->session == 0 || msg->session != attempts->session ||
        !is_own_lease(consumer, msg->contract.lease)) {
        return;
    }
    struct contract *contract =
        contracts_set(&consumer->contracts, &msg->contract, now_ms);
    orphan_note_contract(consumer, now_ms);
    if (contract == NULL) {
        return;
    }
    for (int i = 0; i < attempts->count; i++) {
        struct attempt *attempt = attempts->items[i];
        if (!attempt_is_ended(attempt) &&
            strcmp(attempt->lease, msg->contract.lease) == 0) {
            contracts_count_use(contract, attempt->hosts, attempt->n_hosts,
                                &attempt->place, 1);
            if (attempt->is_yielded) {
                contracts_count_yielded(contract, attempt->hosts, attempt->n_hosts,
                                        &attempt->place, 1);
            }
        }
    }
    acknowledge_contract(consumer, contract, effects);
}

int consumer_count_hosts(const struct consumer *consumer)
{
    return consumer->contracts.n_hosts;
}

static bool is_reachable(const struct consumer *consumer,
                         const struct contract *contract)
{
    return consumer->attempts.session != 0 && contract->is_current &&
           contract->latest.is_provider_here;
}

/* While slots are recalled nothing starts: slots that become idle are returned. */
static bool may_start(const struct consumer *consumer, const struct contract *contract)
{
    enum lease_state state = contract->latest.state;
    return is_reachable(consumer, contract) &&
           (state == LEASE_PENDING || state == LEASE_ACTIVE) &&
           contract->latest.n_recalls == 0 && contract->avoided_until_ms == 0;
}

void consumer_host_at(const struct consumer *consumer, int index,
                      struct consumer_host *host)
{
    const struct contract *contract = consumer->contracts.hosts[index].contract;
    int at = consumer->contracts.hosts[index].index;
    const struct host_split *split = &contract->latest.hosts[at];
    *host = (struct consumer_host){
        .name = contract->names[at],
        .host = split->host,
        .site = contract->provider,
        .lease = contract->latest.lease,
        .epoch = contract->latest.epoch,
        .n_slots = split->n_slots,
        .n_held = split->consumer,
        .n_used = contract->used[at] - contract->yielded[at],
        .is_open = may_start(consumer, contract) && !split->is_down,
        .is_down = split->is_down,
        .is_unreachable = !is_reachable(consumer, contract),
        .is_made = contract->latest.is_made,
        .is_exclusive = contract->latest.type == LEASE_EXCLUSIVE,
        .takes_interactive = contract->latest.takes_interactive,
        .queues = contract->latest.queues,
        .n_queues = contract->latest.n_queues,
        .spaces = split->spaces,
        .resources = contract->latest.resources,
        .n_resources = contract->latest.n_resources,
    };
}

void consumer_count_slots(const struct consumer *consumer, int *n_held, int *n_idle)
{
    *n_held = *n_idle = 0;
    for (int i = 0; i < consumer->contracts.count; i++) {
        const struct contract *contract = consumer->contracts.items[i];
        bool is_open = may_start(consumer, contract);
        for (int k = 0; k < contract->latest.n_hosts; k++) {
            const struct host_split *split = &contract->latest.hosts[k];
            int n_left = split->consumer - (contract->used[k] - contract->yielded[k]);
            *n_held += split->consumer;
            *n_idle += is_open && !split->is_down && n_left > 0 ? n_left : 0;
        }
    }
}

uint64_t consumer_changes(const struct consumer *consumer)
{
    return consumer->contracts.n_changes;
}

int consumer_count_contracts(const struct consumer *consumer)
{
    return consumer->contracts.count;
}

int64_t consumer_rebalance_in_ms(const struct consumer *consumer, int index,
                                 int64_t now_ms)
{
    const struct contract *contract = consumer->contracts.items[index];
    int64_t every_ms = contract->latest.rebalance_every_ms;
    int64_t past_ms = now_ms - contract->rebalance_ms;
    if (every_ms == 0) {
        return -1;
    }
    return past_ms <= 0 ? -past_ms : (every_ms - past_ms % every_ms) % every_ms;
}

bool consumer_contract_at(const struct consumer *consumer, int index,
                          struct msg_contract *contract)
{
    if (index < 0 || index >= consumer->contracts.count) {
        return false;
    }
    *contract = consumer->contracts.items[index]->latest;
    return true;
}

bool consumer_find_contract(const struct consumer *consumer, const char *lease,
                            struct msg_contract *contract)
{
    const struct contract *found = contracts_find(&consumer->contracts, lease);
    if (found != NULL) {
        *contract = found->latest;
    }
    return found != NULL;
}

bool consumer_recall_at(const struct consumer *consumer, int index,
                        struct consumer_recall *recall)
{
    const struct contract *contract = consumer->contracts.items[index];
    *recall = (struct consumer_recall){
        .lease = contract->latest.lease,
        .n_used = contract->n_used,
        .recalls = contract->recalls,
        .n_recalls = contract->latest.n_recalls,
        .is_whole = contract->latest.is_whole,
        .hosts = contract->latest.hosts,
        .used = contract->used,
        .n_hosts = contract->latest.n_hosts,
    };
    return recall->n_recalls > 0;
}

void consumer_demands(const struct consumer *consumer, const int *waiting,
                      struct arena *arena, struct lease_demand **demands,
                      int *n_demands)
{
    const struct contracts *contracts = &consumer->contracts;
    *n_demands = contracts->count;
    *demands = arena_alloc(arena, (size_t)contracts->count, sizeof(**demands));
    for (int i = 0; i < contracts->count; i++) {
        const struct contract *contract = contracts->items[i];
        (*demands)[i] = (struct lease_demand){
            .lease = arena_str(arena, contract->latest.lease),
            .epoch = contract->latest.epoch,
            .n_used = contracts_used(contract),
            .n_waiting = waiting != NULL ? waiting[i] : 0,
        };
    }
}

struct priority_use *consumer_uses(const struct consumer *consumer, int n_more,
                                   struct arena *arena, int *n_uses)
{
    const struct attempts *attempts = &consumer->attempts;
    struct priority_use *uses =
        arena_alloc(arena, (size_t)attempts->count + (size_t)n_more, sizeof(*uses));
    *n_uses = 0;
    for (int i = 0; i < attempts->count; i++) {
        const struct attempt *attempt = attempts->items[i];
        if (attempt->phase == ATTEMPTS_ENDED || attempt->is_yielded ||
            strchr(attempt->lease, ':') == NULL) {
            continue;
        }
        uses[(*n_uses)++] =
            (struct priority_use){arena_str(arena, attempt->lease), attempt->priority,
                                  msg_sum_slots(attempt->hosts, attempt->n_hosts)};
    }
    return uses;
}

/* ------------------------------------------------------------ requests of the site */

void consumer_start(struct consumer *consumer, const struct consumer_attempt *from,
                    int64_t now_ms, struct effects *effects)
{
    struct attempt *attempt = attempts_add(&consumer->attempts, from, now_ms);
    if (attempt != NULL) {
        attempt_report_count_use(consumer, attempt, 1);
        attempts_send_start(&consumer->attempts, attempt, now_ms, effects);
    }
}

void consumer_resume(struct consumer *consumer, const struct consumer_attempt *from,
                     int64_t now_ms)
{
    struct attempt *attempt = attempts_add(&consumer->attempts, from, now_ms);
    if (attempt != NULL) {
        attempt->is_doubted = attempt->number <= consumer->doubted_to;
        attempt_report_count_use(consumer, attempt, 1);
    }
}

void consumer_control(struct consumer *consumer, uint64_t number,
                      const struct run_control *control, int64_t now_ms,
                      struct effects *effects)
{
    struct attempt *attempt = attempts_find(&consumer->attempts, number);
    if (attempt == NULL || control->number < attempt->control.number) {
        return;
    }
    if (control->number > attempt->control.number) {
        attempt->control = *control;
        if (control->number > attempt->control_done) {
            resend_begin(&attempt->control_resend, now_ms);
        }
        attempt_report_update_yielded(consumer, attempt);
    }
    attempts_send_control(&consumer->attempts, attempt, now_ms, effects);
}

void consumer_keep_suspended(struct consumer *consumer, uint64_t number)
{
    struct attempt *attempt = attempts_find(&consumer->attempts, number);
    if (attempt != NULL) {
        attempt_report_keep_suspended(consumer, attempt);
    }
}

bool consumer_is_yielded(const struct consumer *consumer, uint64_t number)
{
    const struct attempt *attempt = attempts_find(&consumer->attempts, number);
    return attempt != NULL && attempt->is_yielded;
}

void consumer_written(struct consumer *consumer, uint64_t number, bool is_ok,
                      int64_t now_ms, struct effects *effects)
{
    struct attempt *attempt = attempts_find(&consumer->attempts, number);
    if (attempt != NULL) {
        output_fetch_written(&consumer->attempts, attempt, is_ok, now_ms, effects);
    }
}

void consumer_cut_output(struct consumer *consumer, uint64_t number, int64_t now_ms)
{
    struct attempt *attempt = attempts_find(&consumer->attempts, number);
    if (attempt != NULL) {
        output_fetch_cut(attempt, now_ms);
    }
}

bool consumer_is_fetching(const struct consumer *consumer, uint64_t number)
{
    const struct attempt *attempt = attempts_find(&consumer->attempts, number);
    return attempt != NULL && attempt_is_ended(attempt);
}

void consumer_acknowledge(struct consumer *consumer, uint64_t number,
                          struct effects *effects)
{
    struct attempt *attempt = attempts_find(&consumer->attempts, number);
    if (attempt != NULL && attempt_is_ended(attempt)) {
        struct run_id run = attempts_run(&consumer->attempts, attempt);
        /* The batch that has stored the end is the next commit. */
        attempts_send_acknowledge(&consumer->attempts, attempt->provider, &run,
                                  consumer->attempts.commits + 1, effects);
        attempts_remove(&consumer->attempts, number);
    }
}

/* ------------------------------------------------------------ withdrawal */

bool consumer_is_withdrawn(const struct consumer *consumer, uint64_t number)
{
    const struct attempt *attempt = attempts_find(&consumer->attempts, number);
    return attempt != NULL && attempt->is_withdrawn && attempt_is_starting(attempt);
}

bool consumer_avoids(const struct consumer *consumer, const char *lease)
{
    const struct contract *contract = contracts_find(&consumer->contracts, lease);
    return contract != NULL && contract->avoided_until_ms != 0;
}

bool consumer_end_avoiding(struct consumer *consumer, int64_t now_ms)
{
    bool has_ended = false;
    for (int i = 0; i < consumer->contracts.count; i++) {
        struct contract *contract = consumer->contracts.items[i];
        if (contract->avoided_until_ms != 0 && contract->avoided_until_ms <= now_ms) {
            contract->avoided_until_ms = 0;
            has_ended = true;
        }
    }
    return has_ended;
}

/* When it has waited for START_TIMEOUT. */
static int64_t withdraw_at(const struct consumer *consumer,
                           const struct attempt *attempt)
{
    bool can_be = consumer->start_timeout_ms > 0 && !attempt->is_withdrawn &&
                  attempt_is_starting(attempt);
    return can_be ? attempt->sent_ms + consumer->start_timeout_ms * consumer->patience
                  : INT64_MAX;
}

/* ------------------------------------------------------------ time */

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t ask_at(const struct consumer *consumer, const struct attempt *attempt)
{
    int64_t last_ms = attempt->received_ms > attempt->asked_ms ? attempt->received_ms
                                                               : attempt->asked_ms;
    return last_ms + ATTEMPTS_ASK_MS * consumer->patience;
}

/* When the next message about the attempt is due. */
static int64_t send_at(const struct consumer *consumer, const struct attempt *attempt)
{
    if (attempt->is_orphan && attempt_is_ended(attempt)) {
        return INT64_MAX;
    }
    if (!attempt_is_asked_for(attempt) || attempt_is_ended(attempt)) {
        return resend_wake_ms(&attempt->resend);
    }
    /* An order waits until the provider has decided. */
    return attempt->phase == ATTEMPTS_SENT
               ? ask_at(consumer, attempt)
               : least(ask_at(consumer, attempt),
                       resend_wake_ms(&attempt->control_resend));
}

static void send_due(struct consumer *consumer, struct attempt *attempt, int64_t now_ms,
                     struct effects *effects)
{
    struct attempts *attempts = &consumer->attempts;
    if (!attempt_is_asked_for(attempt)) {
        attempts_send_start(attempts, attempt, now_ms, effects);
        return;
    }
    if (attempt_is_ended(attempt)) {
        attempts_send_output_ask(attempts, attempt, now_ms, effects);
        return;
    }
    if (ask_at(consumer, attempt) <= now_ms) {
        attempts_send_ask(attempts, attempt, now_ms, effects);
    }
    attempts_send_control(attempts, attempt, now_ms, effects);
}

/* When the silence of its provider makes its state unknown. */
static int64_t unknown_at(const struct consumer *consumer,
                          const struct attempt *attempt)
{
    bool can_be = !attempt->is_orphan && attempt_is_decided(attempt) &&
                  !attempt->is_reported && !attempt->is_unknown;
    return can_be ? attempt->received_ms + ATTEMPTS_UNKNOWN_MS * consumer->patience
                  : INT64_MAX;
}

void consumer_message(struct consumer *consumer, const struct msg *msg, int64_t now_ms,
                      struct effects *effects, consumer_report_fn on_report, void *arg)
{
    struct reporter reporter = {on_report, arg};
    if (msg->kind == MSG_ATTEMPT_STATE &&
        orphan_take_state(consumer, msg, now_ms, effects)) {
        return;
    }
    attempt_report_on_message(consumer, &reporter, msg, now_ms, effects);
}

void consumer_tick(struct consumer *consumer, int64_t now_ms, struct effects *effects,
                   consumer_report_fn on_report, void *arg)
{
    struct reporter reporter = {on_report, arg};
    bool has_session = consumer->attempts.session != 0;
    uint64_t number = 0;
    struct attempt *attempt = attempts_find(&consumer->attempts, 0);
    attempt = attempt != NULL ? attempt : attempts_next(&consumer->attempts, number);
    orphan_tick(consumer, now_ms, effects);
    for (; attempt != NULL; attempt = attempts_next(&consumer->attempts, number)) {
        number = attempt->number;
        if (has_session && withdraw_at(consumer, attempt) <= now_ms) {
            attempt->is_withdrawn = true;
            attempts_send_ask(&consumer->attempts, attempt, now_ms, effects);
        }
        if (output_fetch_cut_at(attempt) <= now_ms) {
            output_fetch_give_up(attempt);
        } else if (has_session && send_at(consumer, attempt) <= now_ms) {
            send_due(consumer, attempt, now_ms, effects);
        }
        if (unknown_at(consumer, attempt) <= now_ms && attempt->fetch != FETCH_DONE) {
            attempt->is_unknown = true;
            attempt =
                attempt_report_state(consumer, &reporter, attempt, CONSUMER_UNKNOWN);
        }
        attempt_report_end(consumer, &reporter, attempt);
    }
}

int64_t consumer_wake_ms(const struct consumer *consumer)
{
    const struct attempts *attempts = &consumer->attempts;
    int64_t wake_ms = orphan_wake_ms(consumer);
    for (int i = 0; i < attempts->count; i++) {
        const struct attempt *attempt = attempts->items[i];
        if (attempt->fetch == FETCH_DONE) {
            wake_ms = attempt->is_reported ? wake_ms : 0;
            continue;
        }
        wake_ms = least(wake_ms, unknown_at(consumer, attempt));
        wake_ms = least(wake_ms, output_fetch_cut_at(attempt));
        if (attempts->session != 0) {
            wake_ms = least(wake_ms, send_at(consumer, attempt));
            wake_ms = least(wake_ms, withdraw_at(consumer, attempt));
        }
    }
    for (int i = 0; i < consumer->contracts.count; i++) {
        int64_t until_ms = consumer->contracts.items[i]->avoided_until_ms;
        wake_ms = least(wake_ms, until_ms != 0 ? until_ms : INT64_MAX);
    }
    return wake_ms;
}
