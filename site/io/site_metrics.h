/* SPDX-License-Identifier: Apache-2.0 */
/* site_metrics.h: a site's own metrics, for Prometheus: what the broker is not told.
 *
 * Zeros are shown. Labels are names of the configuration: queues, and words.
 * Ownership: the text is heap memory, the caller frees it.
 * Source: docs/design/interfaces.md "HTTP". Layer: site/io. */
#ifndef SUBLET_SITE_IO_SITE_METRICS_H
#define SUBLET_SITE_IO_SITE_METRICS_H

#include <stddef.h>

#include "site/site.h"
#include "sys/histogram.h"

/* `spool`: a path on the file system of its journal. */
char *site_metrics_render(const struct site *site, const char *name, const char *spool,
                          const struct histogram *commits, int64_t now_ms,
                          size_t *length);

#endif
