/* SPDX-License-Identifier: Apache-2.0 */
/* revision.h: which rows of the listings have changed, by a revision that grows:
 * readers ask for rows newer than the revision they have.
 *
 * Nothing is recorded while leases and sites change. revision_look() walks all of them
 * and compares a stamp of each (64 bits of FNV-1a over what is shown) with the stamp of
 * the previous look. That takes some 200 ns per lease and 15 ns per host, and happens
 * only while there are readers.
 *
 * Order: the revisions of one look rise by lease id, then by site name. Layer: broker.
 */
#ifndef SUBLET_BROKER_REVISION_H
#define SUBLET_BROKER_REVISION_H

#include <stdint.h>

struct broker;

struct revision {
    uint64_t revision;
    int n_leases; /* at the last look */
};

/* The revision; the same as at the last look if nothing has changed. */
uint64_t revision_look(struct broker *broker);

#endif
