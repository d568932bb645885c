/* SPDX-License-Identifier: Apache-2.0 */
/* event_index.h: which events of a store that is a file are of which lease, in memory.
 *
 * An index in the file would have a page in its middle changed by nearly each event,
 * and by each event that is deleted. Here an event takes four bytes: a hash of its
 * lease. A reader therefore compares the lease of the row that is found. A search reads
 * at most all of the hashes, which are 4 MB (STORE_EVENTS_MAX).
 *
 * Source: docs/adr/0040-changes-are-appended.md. Layer: broker/io. */
#ifndef SUBLET_BROKER_IO_STORE_EVENT_INDEX_H
#define SUBLET_BROKER_IO_STORE_EVENT_INDEX_H

#include <stdint.h>

/* Zero-initialised: no events. */
struct event_index {
    uint32_t *hashes; /* of the events first_id, first_id + 1, ...; 0: there is none */
    int64_t first_id;
    int begin, count, capacity; /* those before `begin` are forgotten */
};
void event_index_release(struct event_index *index);

/* The event is new, or replaces the one of that id, whose transaction was taken back.
 * "" as the lease: the event is of a site. */
void event_index_add(struct event_index *index, int64_t id, const char *lease);

/* The events up to that one are deleted. */
void event_index_forget(struct event_index *index, int64_t id);

/* The first event with an id above `id`, or the last one with an id below it, that may
 * be of the lease; 0: there is none. */
int64_t event_index_next(const struct event_index *index, const char *lease,
                         int64_t id);
int64_t event_index_previous(const struct event_index *index, const char *lease,
                             int64_t id);

#endif
