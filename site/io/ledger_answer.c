/* SPDX-License-Identifier: Apache-2.0 */
/* ledger_answer.c: see ledger_answer.h. */
#include "site/io/ledger_answer.h"

#include <stdlib.h>

#include "model/ledger_page.h"
#include "site/io/usage_detail.h"
#include "sys/log.h"

static void add_to_sums(void *sums, const struct usage_row *row)
{
    usage_sums_add(sums, row);
}

struct filling {
    struct ledger_hour *hours;
    int count;
};

static int64_t at_least_none(int64_t slot_ms)
{
    return slot_ms > 0 ? slot_ms : 0;
}

static void take_hour(void *arg, const struct usage_row *row)
{
    struct filling *filling = arg;
    if (filling->count < LEDGER_HOURS_MAX) {
        filling->hours[filling->count++] =
            (struct ledger_hour){.start_ms = row->start_ms,
                                 .is_provider = row->side == USAGE_PROVIDER,
                                 .is_lent = row->side == USAGE_LENT,
                                 .n_moved = row->n_moved,
                                 .held_ms = at_least_none(row->held_ms),
                                 .used_ms = at_least_none(row->used_ms),
                                 .idle_ms = at_least_none(row->idle_ms)};
    }
}

static int read_page(struct usage_store *store, const struct msg_query *query,
                     struct arena *arena, struct msg_ledger *ledger, struct err *err)
{
    int64_t end_ms = query->from_ms + LEDGER_PAGE_MS;
    struct usage_sums *sums =
        usage_sums_new(USAGE_BY_LEASE | USAGE_BY_SIDE | USAGE_BY_HOUR);
    struct filling filling = {0};
    filling.hours = arena_alloc(arena, LEDGER_HOURS_MAX, sizeof(*filling.hours));
    *ledger = (struct msg_ledger){.request = query->request,
                                  .lease = query->name,
                                  .next_ms = end_ms < query->to_ms ? end_ms : 0};
    end_ms = end_ms < query->to_ms ? end_ms : query->to_ms;
    int rc = usage_store_read_lease(store, query->name, query->from_ms, end_ms,
                                    add_to_sums, sums, err);
    rc = rc == 0 ? usage_store_merged_ms(store, &ledger->merged_ms, err) : rc;
    rc = rc == 0 ? usage_store_first_ms(store, &ledger->first_ms, err) : rc;
    usage_sums_each(sums, take_hour, &filling);
    usage_sums_free(sums);
    ledger->hours = filling.hours;
    ledger->n_hours = filling.count;
    return rc;
}

struct details {
    struct arena *arena;
    struct ledger_run *runs;
    struct ledger_split *splits;
    int count;
};

static void take_run(void *arg, const struct usage_run *run)
{
    struct details *details = arg;
    details->runs[details->count++] =
        (struct ledger_run){.attempt = run->attempt,
                            .job = arena_str(details->arena, run->job),
                            .is_lent = run->side == USAGE_LENT,
                            .start_ms = run->start_ms,
                            .end_ms = run->end_ms == USAGE_OPEN ? 0 : run->end_ms,
                            .used_ms = at_least_none(run->used_ms),
                            .at_ms = run->at_ms,
                            .n_slots = run->n_slots};
}

static int read_runs(struct usage_store *store, const struct msg_query *query,
                     struct arena *arena, struct msg_ledger *ledger, struct err *err)
{
    struct details details = {.arena = arena};
    details.runs = arena_alloc(arena, LEDGER_RUNS_MAX, sizeof(*details.runs));
    *ledger = (struct msg_ledger){.request = query->request, .lease = query->name};
    int rc = usage_detail_read_runs(
        usage_store_detail(store), query->name, strtoull(query->after, NULL, 10),
        query->from_ms, query->to_ms, LEDGER_RUNS_MAX, take_run, &details, err);
    ledger->runs = details.runs;
    ledger->n_runs = details.count;
    ledger->next_run = details.count == LEDGER_RUNS_MAX
                           ? details.runs[LEDGER_RUNS_MAX - 1].attempt
                           : 0;
    return rc;
}

static void take_split(void *arg, const struct usage_split *split)
{
    struct details *details = arg;
    details->splits[details->count++] =
        (struct ledger_split){.at_ms = split->at_ms,
                              .epoch = split->epoch,
                              .is_provider = split->side == USAGE_PROVIDER,
                              .is_lent = split->side == USAGE_LENT,
                              .n_slots = split->n_slots};
}

static int read_splits(struct usage_store *store, const struct msg_query *query,
                       struct arena *arena, struct msg_ledger *ledger, struct err *err)
{
    struct details details = {.arena = arena};
    details.splits = arena_alloc(arena, LEDGER_SPLITS_MAX, sizeof(*details.splits));
    *ledger = (struct msg_ledger){.request = query->request, .lease = query->name};
    int rc = usage_detail_read_splits(usage_store_detail(store), query->name,
                                      query->from_ms, query->to_ms, LEDGER_SPLITS_MAX,
                                      take_split, &details, err);
    ledger->splits = details.splits;
    ledger->n_splits = details.count;
    return rc;
}

static int read_detail(struct usage_store *store, const struct msg_query *query,
                       struct arena *arena, struct msg_ledger *ledger, struct err *err)
{
    switch (ledger_page_detail(query->by)) {
    case LEDGER_RUNS:
        return read_runs(store, query, arena, ledger, err);
    case LEDGER_SPLITS:
        return read_splits(store, query, arena, ledger, err);
    case LEDGER_HOURS:
        break;
    }
    return read_page(store, query, arena, ledger, err);
}

void ledger_answer(struct usage_store *store, const struct effect *ask, int64_t now_ms,
                   struct effects *more)
{
    const struct msg_query *query = &ask->history.query;
    struct peer to = ask->history.to;
    struct err err = {0};
    struct msg msg = {.kind = MSG_LEDGER,
                      .session = ask->history.session,
                      .site = arena_str(&more->arena, query->host)};
    usage_book(usage_store_usage(store), now_ms);
    int rc = read_detail(store, query, &more->arena, &msg.ledger, &err);
    to.name = arena_str(&more->arena, to.name);
    if (to.kind == PEER_BROKER && rc == 0) {
        effects_send(more, &to, &msg);
    } else if (to.kind == PEER_BROKER) { /* the other site waits in vain */
        log_line(LOG_LEVEL_WARNING, "usage: the books of %s: %s", query->name,
                 err.text);
    } else if (rc == 0) {
        effects_reply(more, &to, query->request, "",
                      ledger_page_show(&msg.ledger, &more->arena), "");
    } else {
        effects_reply_error(more, &to, query->request, rc, "usage: %s", err.text);
    }
}
