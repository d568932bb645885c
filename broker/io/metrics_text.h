/* SPDX-License-Identifier: Apache-2.0 */
/* metrics_text.h: the broker's metrics as Prometheus reads them. Zeros are shown.
 * Source: docs/design/interfaces.md "HTTP". Layer: broker/io. */
#ifndef SUBLET_BROKER_IO_METRICS_TEXT_H
#define SUBLET_BROKER_IO_METRICS_TEXT_H

#include <stddef.h>

#include "broker/io/metrics_snapshot.h"

/* The text, which the caller frees. */
char *metrics_text_print(const struct metrics_snapshot *snapshot, size_t *length);

#endif
