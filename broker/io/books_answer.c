/* SPDX-License-Identifier: Apache-2.0 */
/* books_answer.c: see books_answer.h. */
#include "broker/io/books_answer.h"

#include "model/ledger_page.h"

struct filling {
    struct ledger_hour *hours;
    int count;
    int64_t from_ms;
};

/* An hour comes in several parts, by lease, side and time in each. */
static struct ledger_hour *find_hour(struct filling *filling, int64_t start_ms,
                                     bool is_provider)
{
    for (int i = filling->count - 1; i >= 0; i--) {
        struct ledger_hour *hour = &filling->hours[i];
        if (hour->start_ms == start_ms && hour->is_provider == is_provider) {
            return hour;
        }
    }
    if (filling->count == LEDGER_HOURS_MAX) {
        return &filling->hours[LEDGER_HOURS_MAX - 1];
    }
    filling->hours[filling->count] =
        (struct ledger_hour){.start_ms = start_ms, .is_provider = is_provider};
    return &filling->hours[filling->count++];
}

static void take_hour(void *arg, const struct usage_row *row)
{
    struct ledger_hour *hour =
        find_hour(arg, row->start_ms, row->side == USAGE_PROVIDER);
    hour->held_ms += row->held_ms;
    hour->idle_ms += row->idle_ms;
}

/* A split that goes on counts with its slots in the first hour. */
static void take_change(void *arg, const struct books_change *change)
{
    struct filling *filling = arg;
    bool is_new = change->at_ms >= filling->from_ms;
    int64_t at_ms = is_new ? change->at_ms : filling->from_ms;
    for (int side = 0; side < USAGE_SIDES; side++) {
        bool is_provider = side == USAGE_PROVIDER;
        int n_slots = is_provider ? change->n_provider : change->n_consumer;
        struct ledger_hour *hour =
            find_hour(filling, at_ms - at_ms % USAGE_HOUR_MS, is_provider);
        hour->n_changes += is_new;
        hour->n_slots = n_slots > hour->n_slots ? n_slots : hour->n_slots;
    }
}

struct splits {
    struct ledger_split *items;
    int count;
};

static void add_split(void *arg, const struct books_change *change)
{
    struct splits *splits = arg;
    for (int side = 0; side < USAGE_SIDES && splits->count < LEDGER_SPLITS_MAX;
         side++) {
        bool is_provider = side == USAGE_PROVIDER;
        splits->items[splits->count++] = (struct ledger_split){
            .at_ms = change->at_ms,
            .epoch = change->epoch,
            .is_provider = is_provider,
            .n_slots = is_provider ? change->n_provider : change->n_consumer};
    }
}

static int read_splits(struct books *books, const struct msg_query *query,
                       struct arena *arena, struct value **value, struct err *err)
{
    struct splits splits = {0};
    splits.items = arena_alloc(arena, LEDGER_SPLITS_MAX, sizeof(*splits.items));
    int rc = books_read_changes(books, query->name, query->from_ms, query->to_ms,
                                add_split, &splits, err);
    const struct msg_ledger ledger = {.splits = splits.items, .n_splits = splits.count};
    *value = ledger_page_show(&ledger, arena);
    return rc;
}

int books_answer_read(struct books *books, const struct msg_query *query,
                      int64_t now_ms, struct arena *arena, struct value **value,
                      struct err *err)
{
    if (ledger_page_detail(query->by) == LEDGER_SPLITS) {
        return read_splits(books, query, arena, value, err);
    }
    struct filling filling = {.from_ms = query->from_ms};
    int64_t first_split_ms = 0;
    int64_t to_ms = query->to_ms < now_ms ? query->to_ms : now_ms;
    int64_t end_ms = query->from_ms + LEDGER_PAGE_MS;
    bool is_last = end_ms >= to_ms;
    struct msg_ledger ledger = {.next_ms = is_last ? 0 : end_ms};
    end_ms = is_last ? to_ms : end_ms;
    filling.hours = arena_alloc(arena, LEDGER_HOURS_MAX, sizeof(*filling.hours));
    int rc = books_read(books, query->name, query->from_ms, end_ms, take_hour, &filling,
                        err);
    if (rc == 0) {
        rc = books_read_changes(books, query->name, query->from_ms, end_ms, take_change,
                                &filling, err);
    }
    if (rc == 0) {
        rc = books_first(books, query->name, &ledger.first_ms, &first_split_ms, err);
    }
    ledger.hours = filling.hours;
    ledger.n_hours = filling.count;
    *value = ledger_page_show(&ledger, arena);
    return rc;
}
