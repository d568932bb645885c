/* SPDX-License-Identifier: Apache-2.0 */
/* metrics.h: the broker's counters (metrics_text.h prints them).
 *
 * A hand-over's time runs from the batch that decided it until the new contract was
 * handed to the sockets of both sides. A hand-over from before the broker's start is
 * not counted.
 *
 * Units: nanoseconds of histogram_now_ns(). Source: docs/design/interfaces.md "HTTP".
 * Layer: broker/io. */
#ifndef SUBLET_BROKER_IO_METRICS_H
#define SUBLET_BROKER_IO_METRICS_H

#include <stdint.h>

#include "model/effect.h"
#include "sys/histogram.h"

enum metrics_result {
    METRICS_MOVED,
    METRICS_UNCHANGED,
    METRICS_ABANDONED,
    METRICS_RESULTS
};

enum { METRICS_REASONS = 13 }; /* index: -code of enum err_code */

struct wire_server;
struct metrics_start; /* a hand-over under way */

struct metrics_counts {
    struct histogram handover;
    uint64_t rebalances[METRICS_RESULTS];
    uint64_t refused[METRICS_REASONS];
    uint64_t recalls_begun, recalls_done;
};

struct metrics {
    const struct histogram *commits;  /* the shell's */
    const struct wire_server *server; /* what members use */
    struct metrics_counts counts;
    struct metrics_start *starts;
};

void metrics_init(struct metrics *metrics);
void metrics_release(struct metrics *metrics);

void metrics_count_refused(struct metrics *metrics, int code);
/* Counts the effects of a batch that began and ended at these times. */
void metrics_count_batch(struct metrics *metrics, const struct effects *effects,
                         int64_t begin_ns, int64_t end_ns);

#endif
