/* SPDX-License-Identifier: Apache-2.0 */
/* site_reload.h: hosts that are not configured any more: at the start those stay on
 * which something runs by the journal, at a tick they go when their last job has ended.
 * The rest of reloading is in site.h. Layer: site. */
#ifndef SUBLET_SITE_SITE_RELOAD_H
#define SUBLET_SITE_SITE_RELOAD_H

#include "model/effect.h"

struct site;

/* The scheduler gets the parts as they are now: at the start, and after another
 * configuration. */
void site_reload_connect(struct site *site);
/* The host has reported: if it has no MXJ, its slots may be others now. */
void site_reload_count_cpus(struct site *site, int host, int64_t now_ms,
                            struct effects *effects);
void site_reload_start(struct site *site, int64_t now_ms, struct effects *effects);
void site_reload_tick(struct site *site, int64_t now_ms, struct effects *effects);

#endif
