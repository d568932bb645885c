/* SPDX-License-Identifier: Apache-2.0 */
/* site_usage.h: what the broker is told of this site as a whole (USAGE). Layer: site.
 */
#ifndef SUBLET_SITE_EXCHANGE_SITE_USAGE_H
#define SUBLET_SITE_EXCHANGE_SITE_USAGE_H

#include "model/effect.h"

struct site;

/* Lists live in the arena. The sequence number is the uplink's to fill. */
void site_usage_read(const struct site *site, struct arena *arena,
                     struct msg_usage *usage);

#endif
