/* SPDX-License-Identifier: Apache-2.0 */
/* taken.h: which attempts of which consumer were taken, on which slots, and up to which
 * number each consumer's attempts are decided.
 *
 * Ownership: strings are copied; books and hosts are borrowed from books.h, which never
 * removes any. Order: by consumer, then attempt.
 * Source: ARCHITECTURE 2, "Jobs" 7 and 9. Layer: provider (base only). */
#ifndef SUBLET_PROVIDER_TAKEN_H
#define SUBLET_PROVIDER_TAKEN_H

#include "provider/books.h"

struct taken_slots {
    struct books_host *host;
    int n_slots;
};

struct taken_run {
    char *site;
    uint64_t attempt;
    struct book *book;
    bool is_ended; /* its slots are free, its end is not acknowledged */
    bool is_still; /* its slots are kept, and may be used by others of its lease */
    struct taken_slots *hosts;
    int n_hosts;
};

struct taken_high {
    char *consumer;
    uint64_t attempt;
};

struct taken {
    struct taken_run **runs;
    int n_runs, runs_capacity;
    struct taken_high *highs;
    int n_highs, highs_capacity;
};

void taken_release(struct taken *taken);

struct taken_run *taken_find(const struct taken *taken, const struct run_id *run);
/* Counts its slots as used by the consumer, unless it has ended. */
void taken_add(struct taken *taken, struct books *books, const struct run_id *run,
               struct book *book, const struct host_slots *hosts, int n_hosts,
               bool is_ended);
void taken_set_still(struct taken_run *run, bool is_still);
/* One that stands still may go on: no other uses its slots. */
bool taken_fits(const struct taken_run *run);
/* Its slots are free; the hosts want settling. */
void taken_end(struct taken_run *run);
void taken_remove(struct taken *taken, const struct run_id *run);

/* 0: nothing is decided. */
uint64_t taken_highest(const struct taken *taken, const char *consumer);
/* Never lowers it. */
void taken_set_highest(struct taken *taken, const char *consumer, uint64_t attempt);

#endif
