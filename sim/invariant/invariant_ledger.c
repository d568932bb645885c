/* SPDX-License-Identifier: Apache-2.0 */
/* invariant_ledger.c: 15: the books of leases, by the rows that the broker, the
 * provider and the consumer store.
 *
 * Each lease has accounts: what either side holds by the provider's ledger, by the
 * broker's contract and by the consumer's, and what the consumer's jobs use by the
 * provider's runs and by the consumer's jobs. They are added up here as plain levels,
 * and by usage/ in hours; both have to be equal to the millisecond. A use that a
 * consumer books is of a run that the provider has on record, with the same lease and
 * slots. A split that the broker or the consumer books is that of the provider's record
 * of its epoch, from the same millisecond on.
 *
 * At the end, when nothing is on its way, all records of each account are equal to the
 * millisecond: what was used, whatever was lost or late on its way; and what was held,
 * but for epochs that their provider replaced before the broker, or the consumer, heard
 * of them. For these the split before counts.
 *
 * A site whose journal was restored has lost rows: its leases are not compared. If the
 * broker's store was restored, what was held is not. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "model/job_id.h"
#include "sim/invariant/invariant_state.h"

/* One of the lease's sites. */
static bool has_lost_rows(struct invariants *invariants, const char *lease)
{
    char name[NAME_SIZE];
    size_t length, provider_length = strcspn(lease, "/");
    const char *consumer = msg_lease_consumer(lease, &length);

    snprintf(name, sizeof name, "%.*s", (int)provider_length, lease);
    if (invariant_state_site(invariants, name)->is_restored) {
        return true;
    }
    snprintf(name, sizeof name, "%.*s", (int)length, consumer);
    return invariant_state_site(invariants, name)->is_restored;
}

static void pass_time(struct seen_account *account, int64_t now_ms)
{
    for (int i = 0; i < INVARIANT_ACCOUNTS; i++) {
        account->sum_ms[i] += account->n_slots[i] * (now_ms - account->at_ms);
    }
    account->at_ms = now_ms;
}

static struct seen_account *see_account(struct invariants *invariants,
                                        const char *lease, int64_t now_ms)
{
    struct seen_account *account =
        invariant_state_see(&invariants->accounts, lease, sizeof *account);

    account->at_ms = account->at_ms ? account->at_ms : now_ms;
    pass_time(account, now_ms);
    return account;
}

static void count_split(const struct host_split *hosts, int n_hosts, int *n_provider,
                        int *n_consumer)
{
    *n_provider = *n_consumer = 0;
    for (int i = 0; i < n_hosts; i++) {
        *n_provider += hosts[i].provider;
        *n_consumer += hosts[i].consumer;
    }
}

/* So many slots since that instant: what was added up since then is corrected. */
static void set_level(struct seen_account *account, enum invariant_account which,
                      int n_slots, int64_t since_ms)
{
    account->sum_ms[which] +=
        (n_slots - account->n_slots[which]) * (account->at_ms - since_ms);
    account->n_slots[which] = n_slots;
}

static void note_split(struct seen_account *account, const struct row_book *row,
                       int n_provider, int n_consumer)
{
    int n = account->n_splits;

    if (n > 0 && account->splits[n - 1].epoch == row->epoch) {
        return;
    }
    if ((n & (n - 1)) == 0) {
        account->splits = mem_grow(account->splits, n > 0 ? 2 * (size_t)n : 1,
                                   sizeof *account->splits);
    }
    account->splits[account->n_splits++] =
        (struct seen_split){.epoch = row->epoch,
                            .at_ms = row->split_ms,
                            .n_provider = n_provider,
                            .n_consumer = n_consumer};
}

static struct seen_split *find_split(const struct seen_account *account, uint64_t epoch)
{
    for (int i = account->n_splits - 1; i >= 0; i--) {
        if (account->splits[i].epoch == epoch) {
            return &account->splits[i];
        }
    }
    return NULL;
}

/* The split that somebody books is that of its epoch. */
static bool check_split(struct invariants *invariants,
                        const struct seen_account *account, bool is_broker,
                        const struct seen_split *booked, struct invariants_text *text)
{
    struct seen_split *split = find_split(account, booked->epoch);

    if (split) {
        split->is_brokers |= is_broker;
        split->is_consumers |= !is_broker;
    }
    return invariants->has_restored_broker || account->is_disputed ||
           has_lost_rows(invariants, account->base.key) ||
           (split && split->at_ms == booked->at_ms &&
            split->n_provider == booked->n_provider &&
            split->n_consumer == booked->n_consumer) ||
           invariant_state_fail(
               text,
               "%s: the %s books %d and %d slots of epoch %" PRIu64 " from %" PRId64
               " on, and its provider %d and %d from %" PRId64 " on",
               account->base.key, is_broker ? "broker" : "consumer", booked->n_provider,
               booked->n_consumer, booked->epoch, booked->at_ms,
               split ? split->n_provider : -1, split ? split->n_consumer : -1,
               split ? split->at_ms : -1);
}

/* ---- runs and jobs */

/* What is told of the run: what is added up is corrected. */
static void correct_use(struct invariants *invariants, struct seen_use_of_lease *seen,
                        enum invariant_account which, const struct run_use *use,
                        int64_t now_ms)
{
    struct seen_account *account = see_account(invariants, seen->lease, now_ms);
    int64_t *sum_ms = &account->sum_ms[which];

    *sum_ms -= seen->used_ms + seen->n_slots * (now_ms - seen->at_ms);
    *sum_ms += use->used_ms + use->n_slots * (now_ms - use->at_ms);
    account->n_slots[which] += use->n_slots - seen->n_slots;
    seen->used_ms = use->used_ms;
    seen->at_ms = use->at_ms;
    seen->n_slots = use->n_slots;
}

/* The attempt is over: what is told of it is all that it used. */
static void end_use(struct invariants *invariants, struct seen_use_of_lease *seen,
                    enum invariant_account which, int64_t now_ms)
{
    if (seen->n_slots > 0) { /* until now: its end was not told */
        see_account(invariants, seen->lease, now_ms)->n_slots[which] -= seen->n_slots;
    }
    seen->n_slots = 0;
    seen->used_ms = seen->at_ms = 0;
    seen->attempt = 0;
}

static struct seen_use_of_lease *see_use(struct invariants *invariants, char kind,
                                         const char *site, uint64_t number)
{
    char key[INVARIANTS_KEY_SIZE], digits[17];
    const char kinds[] = {kind, '\0'};
    int n = sizeof digits - 1;

    digits[n] = '\0';
    do { /* in hexadecimal */
        digits[--n] = "0123456789abcdef"[number % 16];
        number /= 16;
    } while (number > 0);
    invariant_state_key(key, kinds, site, digits + n);
    return invariant_state_see(&invariants->uses_of_leases, key,
                               sizeof(struct seen_use_of_lease));
}

/* The provider's record of a run: a change of its slots is at the present instant. */
static bool take_run(struct invariants *invariants, const struct row_run *row,
                     int64_t now_ms, struct invariants_text *text)
{
    struct seen_use_of_lease *run =
        see_use(invariants, 'r', row->run.site, row->run.attempt);
    bool is_over = row->is_gone || row->record == RUN_RECORD_ENDED;
    bool is_used = !is_over && row->control.action != CONTROL_SUSPEND;
    int n_slots = is_used ? msg_sum_slots(row->hosts, row->n_hosts) : 0;

    if (row->control.action == CONTROL_KILL && row->use.n_slots == 0) {
        n_slots = 0; /* others have the slots of a suspended run that is killed */
    }
    run->is_known = true;
    if (!row->lease[0] || (is_over && run->attempt == 0)) {
        return true;
    }
    if (!has_lost_rows(invariants, row->lease) &&
        (row->use.n_slots != n_slots ||
         (run->n_slots != n_slots && row->use.at_ms != now_ms))) {
        return invariant_state_fail(
            text,
            "attempt %" PRIu64 " of %s uses %d slots of %s by its record, from %" PRId64
            " on, and is to use %d",
            row->run.attempt, row->run.site, row->use.n_slots, row->lease,
            row->use.at_ms, n_slots);
    }
    run->attempt = row->run.attempt;
    snprintf(run->lease, sizeof run->lease, "%s", row->lease);
    correct_use(invariants, run, INVARIANT_LENT_USED, &row->use, now_ms);
    if (is_over) {
        end_use(invariants, run, INVARIANT_LENT_USED, now_ms);
    }
    return true;
}

static bool take_job(struct invariants *invariants, const char *site,
                     const struct row_job_state *row, int64_t now_ms,
                     struct invariants_text *text)
{
    struct seen_use_of_lease *job =
        see_use(invariants, 'j', site, job_id_key(row->id, row->index));
    bool is_over = row->is_gone || row->state == JOB_DONE || row->state == JOB_EXIT ||
                   !row->lease || !row->lease[0];
    bool is_other = !is_over && job->attempt != row->attempt;
    uint64_t attempt = job->attempt;

    if (is_other) {
        end_use(invariants, job, INVARIANT_CONSUMER_USED, now_ms);
        snprintf(job->lease, sizeof job->lease, "%s", row->lease);
        attempt = job->attempt = row->attempt;
    }
    if (attempt != 0 && row->use.at_ms != 0) {
        correct_use(invariants, job, INVARIANT_CONSUMER_USED, &row->use, now_ms);
    }
    if (is_over) {
        end_use(invariants, job, INVARIANT_CONSUMER_USED, now_ms);
    }
    return attempt == 0 || row->use.at_ms == 0 ||
           has_lost_rows(invariants, job->lease) ||
           see_use(invariants, 'r', site, attempt)->is_known ||
           invariant_state_fail(text,
                                "job %" PRIu64 "[%d] of %s uses %s by attempt %" PRIu64
                                ", of which its provider has no record",
                                row->id, row->index, site, job->lease, attempt);
}

/* What a quota counts are the slots of runs that have not yielded them: at least what
 * runs that are not suspended use. */
static bool take_quota(struct invariants *invariants, const struct row_quota *row,
                       int64_t now_ms, struct invariants_text *text)
{
    struct seen_account *account = see_account(invariants, row->name, now_ms);
    int64_t used_ms = account->sum_ms[INVARIANT_LENT_USED];

    if (!account->has_quota || row->is_gone || row->month_ms != account->month_ms) {
        account->has_quota = !row->is_gone;
        account->month_ms = row->month_ms;
        account->before_ms = used_ms - row->used_ms;
    }
    return has_lost_rows(invariants, row->name) || row->is_gone ||
           row->used_ms >= used_ms - account->before_ms ||
           invariant_state_fail(text,
                                "%s: its quota counts %" PRId64
                                " slot-ms, and its runs have used %" PRId64,
                                row->name, row->used_ms, used_ms - account->before_ms);
}

static void take_book(struct invariants *invariants, const struct row_book *row,
                      int64_t now_ms)
{
    struct seen_account *account = see_account(invariants, row->lease, now_ms);
    int n_hosts = row->is_gone || row->is_ended ? 0 : row->n_hosts, n_provider,
        n_consumer;

    count_split(row->hosts, n_hosts, &n_provider, &n_consumer);
    set_level(account, INVARIANT_PROVIDER_HELD, n_provider, now_ms);
    set_level(account, INVARIANT_LENT_HELD, n_consumer, now_ms);
    note_split(account, row, n_provider, n_consumer);
    usage_hold(invariants->usage, row->lease, USAGE_PROVIDER, n_provider, now_ms);
    usage_hold(invariants->usage, row->lease, USAGE_LENT, n_consumer, now_ms);
}

/* Its provider, which may not be one any more, goes on with it: what is held is not
 * compared from now on. */
static bool is_ended_by_broker(struct seen_account *account, uint64_t epoch,
                               enum lease_state state)
{
    const struct seen_split *split = find_split(account, epoch);
    bool is_it =
        state == LEASE_ENDED && split && split->n_provider + split->n_consumer > 0;

    account->is_disputed |= is_it;
    return is_it;
}

static bool take_contract(struct invariants *invariants, const struct row_lease *row,
                          int64_t now_ms, struct invariants_text *text)
{
    struct seen_account *account = see_account(invariants, row->id, now_ms);
    struct seen_split split = {.epoch = row->epoch, .at_ms = row->split_ms};

    account->is_open = row->state != LEASE_ENDED;
    if (is_ended_by_broker(account, row->epoch, row->state) ||
        account->broker_epoch == row->epoch || row->epoch == 0) {
        return true;
    }
    count_split(row->hosts, account->is_open ? row->n_hosts : 0, &split.n_provider,
                &split.n_consumer);
    account->broker_epoch = row->epoch;
    set_level(account, INVARIANT_BROKER_PROVIDER, split.n_provider, split.at_ms);
    set_level(account, INVARIANT_BROKER_CONSUMER, split.n_consumer, split.at_ms);
    return check_split(invariants, account, true, &split, text);
}

bool invariant_ledger_contract(struct invariants *invariants,
                               const struct msg_contract *contract,
                               struct invariants_text *text)
{
    struct seen_account *account =
        invariant_state_find(invariants->accounts, contract->lease);
    struct seen_split split = {.epoch = contract->epoch, .at_ms = contract->split_ms};

    if (!account || account->consumer_epoch == contract->epoch ||
        (contract->epoch < account->consumer_epoch &&
         contract->split_ms < account->consumer_ms) ||
        is_ended_by_broker(account, contract->epoch, contract->state)) {
        return true; /* or a contract of before, of a broker that is behind */
    }
    account = see_account(invariants, contract->lease, invariants->now_ms);
    count_split(contract->hosts, contract->state != LEASE_ENDED ? contract->n_hosts : 0,
                &split.n_provider, &split.n_consumer);
    account->consumer_epoch = contract->epoch;
    account->consumer_ms = contract->split_ms;
    set_level(account, INVARIANT_CONSUMER_HELD, split.n_consumer, split.at_ms);
    const struct usage_split held = {.lease = contract->lease,
                                     .side = USAGE_CONSUMER,
                                     .n_slots = split.n_consumer,
                                     .epoch = contract->epoch,
                                     .at_ms = contract->split_ms};
    usage_split(invariants->usage, &held, invariants->now_ms);
    return check_split(invariants, account, false, &split, text);
}

bool invariant_ledger_stored(struct invariants *invariants, int index, const char *site,
                             const struct row *row, int64_t now_ms,
                             struct invariants_text *text)
{
    if (index < 0) {
        return row->kind != ROW_LEASE || row->lease.keeps_lists ||
               take_contract(invariants, &row->lease, now_ms, text);
    }
    usage_jobs_stored(invariants->usage_jobs, index, row, now_ms);
    if (row->kind == ROW_BOOK) {
        take_book(invariants, &row->book, now_ms);
    } else if (row->kind == ROW_RUN) {
        return take_run(invariants, &row->run, now_ms, text);
    } else if (row->kind == ROW_QUOTA) {
        return take_quota(invariants, &row->quota, now_ms, text);
    } else if (row->kind == ROW_JOB_STATE) {
        return take_job(invariants, site, &row->job_state, now_ms, text);
    }
    return true;
}

/* ---- comparison */

static void add_booked(void *arg, const struct usage_row *row)
{
    struct invariants *invariants = arg;
    struct seen_account *account =
        see_account(invariants, row->lease, invariants->now_ms);

    if (row->side == USAGE_PROVIDER) {
        account->booked_ms[INVARIANT_PROVIDER_HELD] += row->held_ms;
    } else if (row->side == USAGE_LENT) {
        account->booked_ms[INVARIANT_LENT_HELD] += row->held_ms;
        account->booked_ms[INVARIANT_LENT_USED] += row->used_ms;
    } else {
        account->booked_ms[INVARIANT_CONSUMER_HELD] += row->held_ms;
        account->booked_ms[INVARIANT_CONSUMER_USED] += row->used_ms;
    }
}

static bool check_hours(const struct invariants *invariants,
                        const struct seen_account *account,
                        struct invariants_text *text)
{
    static const enum invariant_account booked[] = {
        INVARIANT_PROVIDER_HELD, INVARIANT_LENT_HELD, INVARIANT_LENT_USED,
        INVARIANT_CONSUMER_USED, INVARIANT_CONSUMER_HELD};
    size_t count = sizeof booked / sizeof booked[0];

    count -= invariants->has_restored_broker; /* contracts of before come again */
    for (size_t i = 0; i < count; i++) {
        int64_t sum_ms = account->sum_ms[booked[i]],
                booked_ms = account->booked_ms[booked[i]];

        if (sum_ms != booked_ms) {
            return invariant_state_fail(
                text,
                "%s: account %d has %" PRId64 " slot-ms, and %" PRId64 " in hours",
                account->base.key, (int)booked[i], sum_ms, booked_ms);
        }
    }
    return true;
}

static bool check_used(const struct seen_account *account, struct invariants_text *text)
{
    const int *n_slots = account->n_slots;
    const int64_t *sum_ms = account->sum_ms;

    if (n_slots[INVARIANT_LENT_USED] != n_slots[INVARIANT_CONSUMER_USED]) {
        return invariant_state_fail(
            text, "%s: jobs use %d slots for the provider, and %d for the consumer",
            account->base.key, n_slots[INVARIANT_LENT_USED],
            n_slots[INVARIANT_CONSUMER_USED]);
    }
    return sum_ms[INVARIANT_LENT_USED] == sum_ms[INVARIANT_CONSUMER_USED] ||
           invariant_state_fail(text,
                                "%s: jobs have used %" PRId64
                                " slot-ms for the provider, and %" PRId64
                                " for the consumer",
                                account->base.key, sum_ms[INVARIANT_LENT_USED],
                                sum_ms[INVARIANT_CONSUMER_USED]);
}

/* What the provider's splits come to for somebody who knew only some of them. */
static void add_told(const struct seen_account *account, bool is_broker,
                     int64_t sums[2])
{
    const struct seen_split *last = NULL;

    sums[0] = sums[1] = 0;
    for (int i = 0; i <= account->n_splits; i++) {
        const struct seen_split *split =
            i < account->n_splits ? &account->splits[i] : NULL;
        int64_t until_ms = split ? split->at_ms : account->at_ms;

        if (split && !(is_broker ? split->is_brokers : split->is_consumers)) {
            continue;
        }
        if (last) {
            sums[0] += last->n_provider * (until_ms - last->at_ms);
            sums[1] += last->n_consumer * (until_ms - last->at_ms);
        }
        last = split;
    }
}

static bool check_held(const struct seen_account *account, struct invariants_text *text)
{
    const int64_t *sum_ms = account->sum_ms;
    int64_t brokers[2], consumers[2];

    add_told(account, true, brokers);
    add_told(account, false, consumers);
    if (account->is_open && (sum_ms[INVARIANT_BROKER_PROVIDER] != brokers[0] ||
                             sum_ms[INVARIANT_BROKER_CONSUMER] != brokers[1])) {
        return invariant_state_fail(
            text,
            "%s: held %" PRId64 " and %" PRId64 " slot-ms by the provider, %" PRId64
            " and %" PRId64 " by the broker",
            account->base.key, brokers[0], brokers[1],
            sum_ms[INVARIANT_BROKER_PROVIDER], sum_ms[INVARIANT_BROKER_CONSUMER]);
    }
    return sum_ms[INVARIANT_CONSUMER_HELD] == consumers[1] ||
           invariant_state_fail(text,
                                "%s: the consumer held %" PRId64
                                " slot-ms by the provider, %" PRId64 " by itself",
                                account->base.key, consumers[1],
                                sum_ms[INVARIANT_CONSUMER_HELD]);
}

bool invariant_ledger_check(struct invariants *invariants, struct invariants_text *text)
{
    usage_book(invariants->usage, invariants->now_ms);
    usage_each(invariants->usage, add_booked, invariants);
    usage_clear(invariants->usage);
    for (struct seen *at = invariants->accounts; at; at = at->hh.next) {
        struct seen_account *account = (struct seen_account *)at;

        pass_time(account, invariants->now_ms);
        if (has_lost_rows(invariants, account->base.key)) {
            continue;
        }
        if (!check_hours(invariants, account, text) || !check_used(account, text) ||
            (!invariants->has_restored_broker && !account->is_disputed &&
             !check_held(account, text))) {
            return false;
        }
    }
    return true;
}
