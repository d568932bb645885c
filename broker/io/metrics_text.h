/* SPDX-License-Identifier: Apache-2.0 */
/* metrics_text.h: the broker's metrics as Prometheus reads them: one table of metrics.
 *
 * Zeros are shown. An ended lease has a state and no slots.
 * `store`: a path on the store's file system.
 * Ownership: the text is heap memory, the caller frees it.
 * Source: docs/design/interfaces.md "HTTP". Layer: broker/io. */
#ifndef SUBLET_BROKER_IO_METRICS_TEXT_H
#define SUBLET_BROKER_IO_METRICS_TEXT_H

#include <stddef.h>

#include "broker/broker.h"
#include "broker/io/metrics.h"

char *metrics_text_render(const struct metrics *metrics, const struct broker *broker,
                          const char *store, int64_t now_ms, size_t *length);

#endif
