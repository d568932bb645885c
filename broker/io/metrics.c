/* SPDX-License-Identifier: Apache-2.0 */
/* metrics.c: see metrics.h. */
#include "broker/io/metrics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define uthash_fatal(text) abort() /* out of memory, as everywhere */
#include <uthash.h>

#include "base/arena.h"

/* A lease that is inactive, since when and from what epoch. */
struct metrics_start {
    char lease[LEASE_ID_SIZE];
    int64_t begin_ns;
    uint64_t epoch;
    UT_hash_handle hh;
};

static const double handover_bounds[] = {0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.1,
                                         0.5,    1,     5,     15,    60,   300,   0};

void metrics_init(struct metrics *metrics)
{
    memset(metrics, 0, sizeof(*metrics));
    metrics->counts.handover.bounds = handover_bounds;
}

static void end_start(struct metrics *metrics, struct metrics_start *start)
{
    HASH_DEL(metrics->starts, start);
    free(start);
}

void metrics_release(struct metrics *metrics)
{
    struct metrics_start *start, *next;
    HASH_ITER (hh, metrics->starts, start, next) {
        end_start(metrics, start);
    }
}

void metrics_count_refused(struct metrics *metrics, int code)
{
    int reason = -code;
    metrics->counts.refused[reason > 0 && reason < METRICS_REASONS ? reason : 0]++;
}

static struct metrics_start *find_start(const struct metrics *metrics,
                                        const char *lease)
{
    struct metrics_start *found;
    HASH_FIND_STR(metrics->starts, lease, found);
    return found;
}

static void begin_handover(struct metrics *metrics, const struct row_history *row,
                           int64_t begin_ns)
{
    struct metrics_start *start = find_start(metrics, row->lease);
    if (start == NULL) {
        start = mem_alloc(1, sizeof(*start));
        snprintf(start->lease, sizeof(start->lease), "%s", row->lease);
        HASH_ADD_STR(metrics->starts, lease, start);
    }
    start->begin_ns = begin_ns;
    start->epoch = row->epoch;
}

static void end_handover(struct metrics *metrics, const struct row_history *row,
                         int64_t end_ns)
{
    struct metrics_start *start = find_start(metrics, row->lease);
    if (start == NULL) {
        return;
    }
    if (row->event == HISTORY_ACTIVE) {
        bool is_moved = row->epoch > start->epoch;
        metrics->counts.rebalances[is_moved ? METRICS_MOVED : METRICS_UNCHANGED]++;
        histogram_observe(&metrics->counts.handover, end_ns - start->begin_ns);
    } else {
        metrics->counts.rebalances[METRICS_ABANDONED]++;
    }
    end_start(metrics, start);
}

/* A recall's history ends no hand-over. */
static void count_event(struct metrics *metrics, const struct row_history *row,
                        int64_t begin_ns, int64_t end_ns)
{
    switch ((int)row->event) {
    case HISTORY_INACTIVE:
        begin_handover(metrics, row, begin_ns);
        break;
    case HISTORY_RECALL:
        metrics->counts.recalls_begun++;
        break;
    case HISTORY_RECALL_DONE:
        metrics->counts.recalls_done++;
        break;
    case HISTORY_QUOTA:
    case HISTORY_REBALANCE:
    case HISTORY_HOURS:
        break;
    default:
        end_handover(metrics, row, end_ns);
        break;
    }
}

void metrics_count_batch(struct metrics *metrics, const struct effects *effects,
                         int64_t begin_ns, int64_t end_ns)
{
    for (int i = 0; i < effects->count; i++) {
        const struct effect *effect = &effects->items[i];
        if (effect->kind == EFFECT_SEND && effect->send.msg.kind == MSG_ERROR) {
            metrics_count_refused(metrics, effect->send.msg.error.code);
        } else if (effect->kind == EFFECT_STORE && effect->row.kind == ROW_HISTORY) {
            count_event(metrics, &effect->row.history, begin_ns, end_ns);
        }
    }
}
