/* SPDX-License-Identifier: Apache-2.0 */
/* usage_log.c: the ledger of all sites of a world, and its rows by day. */
#include "sim/play/usage_log.h"

#include <stdlib.h>
#include <string.h>

#include "usage/usage.h"

struct usage_log {
    struct usage *usage;
    struct usage_jobs *jobs;
};

struct usage_log *usage_log_new(void)
{
    struct usage_log *log = mem_alloc(1, sizeof *log);

    log->usage = usage_new();
    log->jobs = usage_jobs_new(log->usage);
    return log;
}

void usage_log_free(struct usage_log *log)
{
    if (log) {
        usage_jobs_free(log->jobs);
        usage_free(log->usage);
        free(log);
    }
}

static void take_split(struct usage_log *log, const struct row_book *row,
                       int64_t now_ms)
{
    int n_provider = 0, n_consumer = 0;

    for (int i = 0; i < row->n_hosts && !row->is_gone && !row->is_ended; i++) {
        n_provider += row->hosts[i].provider;
        n_consumer += row->hosts[i].consumer;
    }
    usage_hold(log->usage, row->lease, USAGE_PROVIDER, n_provider, now_ms);
    usage_hold(log->usage, row->lease, USAGE_CONSUMER, n_consumer, now_ms);
    usage_hold(log->usage, row->lease, USAGE_LENT, n_consumer, now_ms);
}

void usage_log_own(struct usage_log *log, const struct msg_state *state, int64_t now_ms)
{
    int n_used = 0;

    for (int i = 0; i < state->n_hosts; i++) {
        n_used += state->hosts[i].provider_used;
    }
    usage_use(log->usage, state->lease, USAGE_PROVIDER, n_used, now_ms);
    usage_price(log->usage, state->lease, USAGE_LENT, state->price, now_ms);
    usage_price(log->usage, state->lease, USAGE_CONSUMER, state->price, now_ms);
}

void usage_log_stored(struct usage_log *log, int site, const struct row *row,
                      int64_t now_ms)
{
    if (row->kind == ROW_BOOK) {
        take_split(log, &row->book, now_ms);
    } else {
        usage_jobs_stored(log->jobs, site, row, now_ms);
    }
}

/* ---- the result */

struct shown {
    struct arena *arena;
    struct value *rows;
};

static void add_row(void *arg, const struct usage_row *from)
{
    struct shown *shown = arg;
    struct arena *arena = shown->arena;
    struct value *row = value_object(arena);
    const char *lease = arena_str(arena, from->lease);
    const char *provider = arena_strn(arena, lease, strcspn(lease, "/"));
    size_t length;
    const char *consumer = msg_lease_consumer(lease, &length);
    char date[32];

    consumer = arena_strn(arena, consumer, length);
    value_format_instant(from->start_ms, date);
    value_add_text(arena, row, "lease", lease);
    value_add_text(arena, row, "provider", provider);
    value_add_text(arena, row, "consumer", consumer);
    value_add_text(arena, row, "side", usage_side_name(from->side));
    value_add_text(arena, row, "site",
                   from->side == USAGE_CONSUMER ? consumer : provider);
    value_add_text(arena, row, "day", arena_strn(arena, date, 10));
    value_add_nonempty(arena, row, "user", arena_str(arena, from->owner.user));
    value_add_nonempty(arena, row, "queue", arena_str(arena, from->owner.queue));
    value_add_nonempty(arena, row, "project", arena_str(arena, from->owner.project));
    value_add_int(arena, row, "held_s", usage_sums_held_seconds(from));
    value_add_int(arena, row, "used_s", usage_sums_seconds(from->used_ms));
    value_add_int(arena, row, "idle_s", usage_sums_idle_seconds(from));
    value_add_real(arena, row, "credits", usage_sums_credits(from->cost_ms));
    value_add(arena, shown->rows, NULL, row);
}

struct adding {
    struct usage_sums *days;
    int64_t epoch_ms;
};

/* What the provider has of the consumer's side is what the consumer has: invariant 15
 * compares the two. */
static void add_to_sums(void *arg, const struct usage_row *row)
{
    const struct adding *adding = arg;
    struct usage_row from_start = *row;

    from_start.start_ms -= adding->epoch_ms;
    if (row->side != USAGE_LENT) {
        usage_sums_add(adding->days, &from_start);
    }
}

struct value *usage_log_show(struct usage_log *log, struct arena *arena,
                             int64_t epoch_ms, int64_t until_ms)
{
    struct value *root = value_object(arena);
    struct usage_sums *days =
        usage_sums_new(USAGE_BY_LEASE | USAGE_BY_SIDE | USAGE_BY_DAY | USAGE_BY_USER |
                       USAGE_BY_QUEUE | USAGE_BY_PROJECT);

    struct adding adding = {days, epoch_ms};

    usage_book(log->usage, epoch_ms + until_ms);
    usage_each(log->usage, add_to_sums, &adding);
    value_add_int(arena, root, "schema_version", 1);
    struct shown shown = {arena, value_add(arena, root, "usage", value_array(arena))};
    usage_sums_each(days, add_row, &shown);
    usage_sums_free(days);
    return root;
}
