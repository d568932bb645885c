/* SPDX-License-Identifier: Apache-2.0 */
/* site_copy.h: a site's own copy of its configuration. Layer: site. */
#ifndef SUBLET_SITE_SITE_COPY_H
#define SUBLET_SITE_SITE_COPY_H

#include "base/arena.h"
#include "site/site.h"

/* Deep, all of it in the arena. NULL texts become "". */
const struct site_config *site_copy_config(struct arena *arena,
                                           const struct site_config *from);

#endif
