/* SPDX-License-Identifier: Apache-2.0 */
/* lifecycle_parts.h: struct lifecycle, for the files that work on it. Layer: site. */
#ifndef SUBLET_SITE_JOB_LIFECYCLE_PARTS_H
#define SUBLET_SITE_JOB_LIFECYCLE_PARTS_H

#include "site/job/lifecycle.h"

struct lifecycle {
    struct lifecycle_parts parts;
    uint64_t last_attempt, stored_attempt; /* numbers; stored: in the journal, 0 until
                                              an attempt was started */
    int64_t deferred_ms;                   /* when the next deferred end is due */
};

#endif
