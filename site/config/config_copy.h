/* SPDX-License-Identifier: Apache-2.0 */
/* config_copy.h: a site's own copy of its configuration. Layer: site. */
#ifndef SUBLET_SITE_CONFIG_CONFIG_COPY_H
#define SUBLET_SITE_CONFIG_CONFIG_COPY_H

#include "base/arena.h"
#include "site/site.h"

/* Deep, all of it in the arena. NULL texts become "". */
const struct site_config *config_copy(struct arena *arena,
                                      const struct site_config *from);

#endif
