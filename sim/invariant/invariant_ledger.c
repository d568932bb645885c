/* SPDX-License-Identifier: Apache-2.0 */
/* invariant_ledger.c: 15: the books of leases, by the rows that the broker, the
 * provider and the consumer store.
 *
 * Each lease has accounts: what either side holds by the provider's ledger and by the
 * broker's contract, and what the consumer's jobs use by the provider's runs and by the
 * consumer's jobs. They are added up here as plain levels, and by usage/ in hours; both
 * have to be equal to the millisecond. A use that a consumer books is of a run that the
 * provider has on record, with the same lease and slots. At the end, when nothing is on
 * its way, the levels of both records of each account are equal.
 *
 * A site whose journal was restored has lost rows: its leases are not compared. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "model/job_id.h"
#include "sim/invariant/invariant_state.h"

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

static void set_split(struct invariants *invariants, const char *lease,
                      const struct host_split *hosts, int n_hosts,
                      enum invariant_account first, int64_t now_ms)
{
    struct seen_account *account = see_account(invariants, lease, now_ms);

    account->n_slots[first] = account->n_slots[first + 1] = 0;
    for (int i = 0; i < n_hosts; i++) {
        account->n_slots[first] += hosts[i].provider;
        account->n_slots[first + 1] += hosts[i].consumer;
    }
}

/* ---- runs and jobs */

static void set_use(struct invariants *invariants, struct seen_use_of_lease *use,
                    const char *lease, int n_slots, enum invariant_account which,
                    int64_t now_ms)
{
    if (use->n_slots > 0) {
        see_account(invariants, use->lease, now_ms)->n_slots[which] -= use->n_slots;
    }
    use->n_slots = n_slots;
    if (n_slots > 0) {
        snprintf(use->lease, sizeof use->lease, "%s", lease);
        see_account(invariants, lease, now_ms)->n_slots[which] += n_slots;
    }
}

static struct seen_use_of_lease *see_use(struct invariants *invariants, char kind,
                                         const char *site, uint64_t number)
{
    char key[INVARIANTS_KEY_SIZE];

    snprintf(key, sizeof key, "%c %s %" PRIu64, kind, site, number);
    return invariant_state_see(&invariants->uses_of_leases, key,
                               sizeof(struct seen_use_of_lease));
}

static void take_run(struct invariants *invariants, const struct row_run *row,
                     int64_t now_ms)
{
    struct seen_use_of_lease *run =
        see_use(invariants, 'r', row->run.site, row->run.attempt);
    bool is_used = !row->is_gone && row->record != RUN_RECORD_ENDED &&
                   row->control.action != CONTROL_SUSPEND && row->lease[0];

    set_use(invariants, run, row->lease,
            is_used ? msg_sum_slots(row->hosts, row->n_hosts) : 0, INVARIANT_LENT_USED,
            now_ms);
    run->is_known = true;
}

static bool take_job(struct invariants *invariants, const char *site,
                     const struct row_job_state *row, int64_t now_ms,
                     struct invariants_text *text)
{
    struct seen_use_of_lease *job =
        see_use(invariants, 'j', site, job_id_key(row->id, row->index));
    bool is_used =
        !row->is_gone && row->state == JOB_RUN && row->lease && row->lease[0];

    if (row->state == JOB_UNKWN && !row->is_gone) {
        return true; /* as before */
    }
    set_use(invariants, job, row->lease,
            is_used ? msg_sum_slots(row->hosts, row->n_hosts) : 0,
            INVARIANT_CONSUMER_USED, now_ms);
    return !is_used || invariants->has_restored ||
           see_use(invariants, 'r', site, row->attempt)->is_known ||
           invariant_state_fail(text,
                                "job %" PRIu64 "[%d] of %s uses %s by attempt %" PRIu64
                                ", of which its provider has no record",
                                row->id, row->index, site, row->lease, row->attempt);
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
    return invariants->has_restored || row->is_gone ||
           row->used_ms >= used_ms - account->before_ms ||
           invariant_state_fail(text,
                                "%s: its quota counts %" PRId64
                                " slot-ms, and its runs have used %" PRId64,
                                row->name, row->used_ms, used_ms - account->before_ms);
}

bool invariant_ledger_stored(struct invariants *invariants, int index, const char *site,
                             const struct row *row, int64_t now_ms,
                             struct invariants_text *text)
{
    if (index < 0) {
        if (row->kind == ROW_LEASE) {
            bool is_over = row->lease.state == LEASE_ENDED;

            set_split(invariants, row->lease.id, row->lease.hosts,
                      is_over ? 0 : row->lease.n_hosts, INVARIANT_BROKER_PROVIDER,
                      now_ms);
            see_account(invariants, row->lease.id, now_ms)->is_open = !is_over;
        }
        return true;
    }
    usage_jobs_stored(invariants->usage_jobs, index, row, now_ms);
    if (row->kind == ROW_BOOK) {
        bool is_over = row->book.is_gone || row->book.is_ended;
        int n_hosts = is_over ? 0 : row->book.n_hosts;

        set_split(invariants, row->book.lease, row->book.hosts, n_hosts,
                  INVARIANT_PROVIDER_HELD, now_ms);
        const struct seen_account *account =
            see_account(invariants, row->book.lease, now_ms);
        usage_hold(invariants->usage, row->book.lease, USAGE_PROVIDER,
                   account->n_slots[INVARIANT_PROVIDER_HELD], now_ms);
        usage_hold(invariants->usage, row->book.lease, USAGE_LENT,
                   account->n_slots[INVARIANT_LENT_HELD], now_ms);
    } else if (row->kind == ROW_RUN) {
        take_run(invariants, &row->run, now_ms);
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
        account->booked_ms[INVARIANT_CONSUMER_USED] += row->used_ms;
    }
}

static bool check_account(const struct invariants *invariants,
                          const struct seen_account *account,
                          struct invariants_text *text)
{
    static const enum invariant_account booked[] = {
        INVARIANT_PROVIDER_HELD, INVARIANT_LENT_HELD, INVARIANT_LENT_USED,
        INVARIANT_CONSUMER_USED};
    const int *n_slots = account->n_slots;

    for (size_t i = 0; i < sizeof booked / sizeof booked[0]; i++) {
        int64_t sum_ms = account->sum_ms[booked[i]],
                booked_ms = account->booked_ms[booked[i]];

        if (sum_ms != booked_ms) {
            return invariant_state_fail(
                text,
                "%s: account %d has %" PRId64 " slot-ms, and %" PRId64 " in hours",
                account->base.key, (int)booked[i], sum_ms, booked_ms);
        }
    }
    if (invariants->has_restored) {
        return true;
    }
    if (n_slots[INVARIANT_LENT_USED] != n_slots[INVARIANT_CONSUMER_USED]) {
        return invariant_state_fail(
            text, "%s: jobs use %d slots for the provider, and %d for the consumer",
            account->base.key, n_slots[INVARIANT_LENT_USED],
            n_slots[INVARIANT_CONSUMER_USED]);
    }
    if (account->is_open &&
        (n_slots[INVARIANT_PROVIDER_HELD] != n_slots[INVARIANT_BROKER_PROVIDER] ||
         n_slots[INVARIANT_LENT_HELD] != n_slots[INVARIANT_BROKER_CONSUMER])) {
        return invariant_state_fail(
            text, "%s: %d and %d slots for the provider, %d and %d for the broker",
            account->base.key, n_slots[INVARIANT_PROVIDER_HELD],
            n_slots[INVARIANT_LENT_HELD], n_slots[INVARIANT_BROKER_PROVIDER],
            n_slots[INVARIANT_BROKER_CONSUMER]);
    }
    return true;
}

bool invariant_ledger_check(struct invariants *invariants, struct invariants_text *text)
{
    usage_book(invariants->usage, invariants->now_ms);
    usage_each(invariants->usage, add_booked, invariants);
    usage_clear(invariants->usage);
    for (struct seen *at = invariants->accounts; at; at = at->hh.next) {
        struct seen_account *account = (struct seen_account *)at;

        pass_time(account, invariants->now_ms);
        if (!check_account(invariants, account, text)) {
            return false;
        }
    }
    return true;
}
