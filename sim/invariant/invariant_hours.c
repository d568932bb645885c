/* SPDX-License-Identifier: Apache-2.0 */
/* invariant_hours.c: HOURS that are used up hold: by what the broker has on record, no
 * hand-over begins that gives more slots of other sites to a leaf of which a node is
 * used up; by what a provider has on record, none of its leases runs a new job then.
 *
 * A hand-over that has begun before may end: its slots were granted before. */
#include "sim/invariant/invariant_state.h"

#include <stdio.h>
#include <string.h>

#include "model/quota.h"

/* What was last recorded of a node (key: its path), or of a lease at its provider. */
struct seen_hours {
    struct seen base;         /* key: n and the path, or q and the lease */
    bool is_spent;            /* a node */
    int64_t n_hours, used_ms; /* a lease */
};

/* A run that was on record before. */
struct seen_hours_run {
    struct seen base; /* key: r, the consumer, attempt */
    bool is_known;
};

static struct seen_hours *see_hours(struct invariants *invariants, const char *kind,
                                    const char *name)
{
    char key[INVARIANTS_KEY_SIZE];
    invariant_state_key(key, kind, name, "");
    return invariant_state_see(&invariants->hours, key, sizeof(struct seen_hours));
}

/* The nodes from the leaf of the contract up: "north/1/south:/eng/sim". */
static bool has_hours_left(struct invariants *invariants, const char *lease)
{
    char path[LEASE_ID_SIZE];
    snprintf(path, sizeof path, "%s", strchr(lease, ':') + 1);
    for (char *end; (end = strrchr(path, '/')) != NULL; *end = '\0') {
        if (see_hours(invariants, "n", path)->is_spent) {
            return false;
        }
    }
    return true;
}

/* Of a leaf of another site than the provider. */
static bool is_borrowed(const char *lease)
{
    const char *leaf = strstr(lease, ":/");
    size_t length;
    const char *consumer = msg_lease_consumer(lease, &length);
    return leaf != NULL &&
           !(strncmp(lease, consumer, length) == 0 && lease[length] == '/');
}

static bool broker_stored(struct invariants *invariants, const struct row *row,
                          struct invariants_text *text)
{
    if (row->kind == ROW_HOURS && row->hours.name[0] == '/') {
        see_hours(invariants, "n", row->hours.name)->is_spent =
            !row->hours.is_gone && row->hours.level == (int)QUOTA_SPENT;
    }
    return row->kind != ROW_HISTORY || row->history.event != HISTORY_INACTIVE ||
           !is_borrowed(row->history.lease) ||
           has_hours_left(invariants, row->history.lease) ||
           invariant_state_fail(text, "%s gets more slots, and hours of it are used up",
                                row->history.lease);
}

static bool is_lease_spent(struct invariants *invariants, const char *lease,
                           int64_t hour_ms)
{
    const struct seen_hours *seen = see_hours(invariants, "q", lease);
    return quota_level(&(struct quota){.n_hours = seen->n_hours,
                                       .used_ms = seen->used_ms,
                                       .hour_ms = hour_ms}) == QUOTA_SPENT;
}

static bool take_run(struct invariants *invariants, const struct row_run *row,
                     int64_t hour_ms, struct invariants_text *text)
{
    char key[INVARIANTS_KEY_SIZE], attempt[24];
    snprintf(attempt, sizeof attempt, "%llu", (unsigned long long)row->run.attempt);
    invariant_state_key(key, "r", row->run.site, attempt);
    struct seen_hours_run *run =
        invariant_state_see(&invariants->hours, key, sizeof *run);
    bool is_new = !run->is_known && !row->is_gone && row->record != RUN_RECORD_ENDED;
    run->is_known = true;
    return !is_new || invariants->has_restored ||
           !is_lease_spent(invariants, row->lease, hour_ms) ||
           invariant_state_fail(text,
                                "%s: attempt %s of %s begins, and its hours are "
                                "used up",
                                row->lease, attempt, row->run.site);
}

bool invariant_hours_stored(struct invariants *invariants, bool is_broker,
                            const struct row *row, int64_t hour_ms,
                            struct invariants_text *text)
{
    if (is_broker) {
        return broker_stored(invariants, row, text);
    }
    if (row->kind == ROW_QUOTA) {
        struct seen_hours *seen = see_hours(invariants, "q", row->quota.name);
        seen->n_hours = row->quota.is_gone ? 0 : row->quota.n_hours;
        seen->used_ms = row->quota.used_ms;
    }
    return row->kind != ROW_RUN || row->run.lease == NULL ||
           row->run.lease[0] == '\0' || take_run(invariants, &row->run, hour_ms, text);
}

void invariant_hours_restored(struct invariants *invariants)
{
    for (struct seen *at = invariants->hours; at; at = at->hh.next) {
        if (at->key[0] == 'n') {
            ((struct seen_hours *)at)->is_spent = false;
        }
    }
}
