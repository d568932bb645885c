/* SPDX-License-Identifier: Apache-2.0 */
/* span_match.h: what span, same and cu of a requirement make of the hosts of a pass.
 *
 * Hosts are alike where they have the same value of each resource of `same`, if all
 * that have any of them have all; else where they have the same value of one of them,
 * tried as they stand. A Boolean that a host does not have is false; a host that does
 * not have one of another type is like no other. ptile='!' is as many slots as the site
 * may use on the host now, but for the types, or models, that it gives a number.
 *
 * Compute units have own hosts only, so that no other host is in one.
 *
 * Ownership: the arena's. Source: docs/design/resreq.md "Span", "Same", "Compute
 * units", "Decided". Layer: site. */
#ifndef SUBLET_SITE_PASS_SPAN_MATCH_H
#define SUBLET_SITE_PASS_SPAN_MATCH_H

#include "sched/place/place.h"
#include "site/config/site_config.h"

struct span_match_hosts {
    const struct place_host *hosts;
    int n_hosts;
    const struct resource_table *table;
    const struct compute_units *units; /* of the configuration */
    const int *rows;                   /* by host; below 0: nothing is known of it */
    const uint8_t *matches;            /* by host: it meets the selection */
};

/* NULL: slots may lie anywhere. */
const struct place_span *span_match_make(struct arena *arena,
                                         const struct resreq_span *request,
                                         const struct span_match_hosts *hosts);

#endif
