/* SPDX-License-Identifier: Apache-2.0 */
/* report_queue.c: see exchange.h. */
#include "site/exchange/exchange.h"

#include <string.h>

void report_queue_init(struct report_queue *reports, struct arena *arena)
{
    *reports = (struct report_queue){.arena = arena};
}

void report_queue_collect(void *arg, const struct consumer_report *report)
{
    struct report_queue *reports = arg;
    if (reports->count == reports->capacity) {
        int capacity = reports->capacity == 0 ? 8 : reports->capacity * 2;
        struct consumer_report *items =
            arena_alloc(reports->arena, (size_t)capacity, sizeof(*items));
        if (reports->count > 0) {
            memcpy(items, reports->items, (size_t)reports->count * sizeof(*items));
        }
        reports->items = items;
        reports->capacity = capacity;
    }
    struct consumer_report *copy = &reports->items[reports->count++];
    *copy = *report;
    copy->exit.text = arena_str(reports->arena, report->exit.text);
    copy->reason = arena_str(reports->arena, report->reason);
    copy->bytes = report->n_bytes > 0 ? arena_copy(reports->arena, report->bytes,
                                                   (size_t)report->n_bytes)
                                      : NULL;
}

void report_queue_apply(const struct report_queue *reports, struct lifecycle *life,
                        struct pass_request *pass_request, int64_t now_ms,
                        struct effects *effects)
{
    for (int i = 0; i < reports->count; i++) {
        job_report_apply(life, &reports->items[i], now_ms, effects);
    }
    if (reports->count > 0) {
        pass_request_set(pass_request);
    }
}
