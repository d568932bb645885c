/* SPDX-License-Identifier: Apache-2.0 */
/* site_reports.c: see site_reports.h. */
#include "site/site_reports.h"

#include <string.h>

#include "site/parts.h"
#include "site/turns.h"

void site_reports_init(struct site_reports *reports, struct arena *arena)
{
    *reports = (struct site_reports){.arena = arena};
}

void site_reports_collect(void *arg, const struct consumer_report *report)
{
    struct site_reports *reports = arg;
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

void site_reports_apply(struct site *site, const struct site_reports *reports,
                        int64_t now_ms, struct effects *effects)
{
    for (int i = 0; i < reports->count; i++) {
        turns_report(site->life, &reports->items[i], now_ms, effects);
    }
    if (reports->count > 0) {
        pass_request_set(&site->pass_request);
    }
}
