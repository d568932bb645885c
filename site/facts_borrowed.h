/* SPDX-License-Identifier: Apache-2.0 */
/* facts_borrowed.h: what is known of borrowed hosts ("n1@north"): rows of the facts'
 * table, behind those of own hosts.
 *
 * A row has what the host's provider tells of it, and over that what its contracts
 * grant: memory, swap space and shared resources that are this site's alone. They are
 * seen whatever the provider tells, and before it tells anything.
 *
 * Ownership: the table is borrowed and outlives this. Layer: site. */
#ifndef SUBLET_SITE_FACTS_BORROWED_H
#define SUBLET_SITE_FACTS_BORROWED_H

#include "base/msg.h"
#include "sched/resource_table.h"

struct facts_borrowed;

/* Rows from `n_own` on are these hosts'. */
struct facts_borrowed *facts_borrowed_new(struct resource_table *table, int n_own);
void facts_borrowed_free(struct facts_borrowed *borrowed);

/* As its provider tells of it: what our catalogue has, of the right type, counts. At
 * most as many as leases have hosts; the caller sees that it is one of ours. */
void facts_borrowed_take(struct facts_borrowed *borrowed, const char *name,
                         const struct load_value *values, int n_values);
bool facts_borrowed_is_told(const struct facts_borrowed *borrowed, const char *name);

/* A resource that contracts grant there: a number. */
struct facts_grant {
    int id;
    double number;
    bool is_on_top; /* one of the contracts competes for what the provider has: that
                       much more */
    bool is_absent; /* whatever the provider tells, it is not to be had */
};
/* All of them; replaces what there was. */
void facts_borrowed_grant(struct facts_borrowed *borrowed, const char *name,
                          const struct facts_grant *grants, int n_grants);

/* Its row, or -1: nothing is known of it. */
int facts_borrowed_row(const struct facts_borrowed *borrowed, const char *name);
/* Forgets those that `keeps` does not want any more. */
typedef bool (*facts_borrowed_keep_fn)(void *arg, const char *name);
void facts_borrowed_prune(struct facts_borrowed *borrowed, facts_borrowed_keep_fn keeps,
                          void *arg);

#endif
