/* SPDX-License-Identifier: Apache-2.0 */
/* match_store.h: the hosts that classes of requirements matched in the last passes.
 *
 * Classes that match the same hosts share a filter, so that place.h finds candidates
 * once for all of them. A filter is dropped with the last class that has it.
 *
 * Ownership: a filter belongs to the store, and is valid until the next pass begins or
 * its classes get others. The store is bounded by MATCH_STORE_BYTES; a class for which
 * there is no room gets a filter for the pass only. Classes that a pass did not ask for
 * lose theirs when room is needed. Layer: site. */
#ifndef SUBLET_SITE_PASS_MATCH_STORE_H
#define SUBLET_SITE_PASS_MATCH_STORE_H

#include "sched/place/place.h"

enum { MATCH_STORE_BYTES = 64 * 1024 * 1024 };

/* What a class matched. */
struct stored_match {
    uint64_t generation; /* of value_watch.h; 0: nothing is stored */
    bool has_left;       /* resources that it names were reserved by jobs */
    uint64_t used;       /* generation of the last pass that asked */
    struct stored_filter *filter;
};

struct match_store;
struct match_store *match_store_new(void);
void match_store_free(struct match_store *store);
void match_store_clear(struct match_store *store);

/* A pass over so many hosts begins. `rows` are their rows in the table of resources;
 * all matches are dropped if they are others than before. */
void match_store_begin(struct match_store *store, uint64_t generation, const int *rows,
                       int n_hosts);
/* The match of the class with that index. Valid until the next call. */
struct stored_match *match_store_at(struct match_store *store, int class);
/* The filter; NULL: all hosts. */
const struct place_filter *match_store_filter(const struct stored_match *match);
/* Stores a copy of the filter as of this pass. Returns the copy, or `filter` if there
 * is no room. Filters without an order and a span are shared. */
const struct place_filter *match_store_set(struct match_store *store,
                                           struct stored_match *match,
                                           const struct place_filter *filter,
                                           bool has_left);
size_t match_store_bytes(const struct match_store *store);

#endif
