/* SPDX-License-Identifier: Apache-2.0 */
/* revision.h: what of the listings has changed since somebody looked, by a revision
 * that grows: readers ask for what is newer than the revision they have.
 *
 * Nothing is noted while leases and sites change. A look goes over all of them and
 * compares a stamp (64 bits of FNV-1a) of what is shown of each with the one of the
 * look before: some 200 ns a lease and 15 a host, only while somebody reads.
 *
 * Order: revisions of one look rise by lease id, then by site name.
 * Layer: broker (base only). */
#ifndef SUBLET_BROKER_REVISION_H
#define SUBLET_BROKER_REVISION_H

#include <stdint.h>

struct broker;

struct revision {
    uint64_t revision;
    int n_leases; /* at the last look */
};

/* The revision: the same as at the last look where nothing has changed. */
uint64_t revision_look(struct broker *broker);

#endif
