/* SPDX-License-Identifier: Apache-2.0 */
/* event_log.h: turns the commits of the daemons in a simulated federation into events
 * (docs/design/interfaces.md "Scenarios") and a summary.
 *
 * A job's event is logged when its site's journal has it, a lease's when the broker's
 * history has it.
 *
 * Ownership: input is copied; an event is borrowed for the call. Order: by commit.
 * Source: docs/design/interfaces.md "Scenarios". Layer: sim. */
#ifndef SUBLET_SIM_PLAY_EVENT_LOG_H
#define SUBLET_SIM_PLAY_EVENT_LOG_H

#include "base/value.h"
#include "model/row.h"
#include "sim/play/summary.h"

struct event_log_options {
    const char *const *sites; /* names, by index */
    const int *n_slots;       /* of each */
    int n_sites;
    int64_t epoch_ms; /* the clock's reading at 0 */
    void (*on_event)(void *arg, const struct value *event); /* NULL: none */
    void (*on_level)(void *arg, int site, const struct summary_level *level,
                     int64_t now_ms); /* NULL: none */
    void *arg;
};

struct event_log;
/* The summary is updated by the log and must outlive it. */
struct event_log *event_log_new(const struct event_log_options *setting,
                                struct summary *summary);
void event_log_free(struct event_log *log);

/* `site` -1: the broker's. */
void event_log_stored(struct event_log *log, int site, const struct row *row,
                      int64_t now_ms);
void event_log_used(struct event_log *log, int site, int n_slots, int64_t now_ms);
void event_log_sized(struct event_log *log, int site, int n_slots, int64_t now_ms);
/* `value` NULL: none. */
void event_log_fault(struct event_log *log, const char *kind, const char *target,
                     int64_t now_ms);

#endif
