/* SPDX-License-Identifier: Apache-2.0 */
/* admitted.h: the attempts of each consumer that were admitted, the slots they use, and
 * the highest attempt of each consumer that was decided.
 *
 * Ownership: strings are copied; leases and hosts are borrowed from the ledger, which
 * never removes any. Order: by consumer, then attempt. Source: docs/design/safety.md
 * "Jobs" 7 and 9. Layer: provider. */
#ifndef SUBLET_PROVIDER_ADMITTED_H
#define SUBLET_PROVIDER_ADMITTED_H

#include "provider/ledger.h"

struct admitted_slots {
    struct ledger_host *host;
    int n_slots;
};

struct admitted_run {
    char *site;
    uint64_t attempt, nonce;
    struct ledger_lease *lease;
    bool is_ended;   /* its slots are free; its end is not acknowledged */
    bool is_yielded; /* suspended; other jobs of its lease may use its slots */
    struct admitted_slots *hosts;
    int n_hosts;
};

struct admitted_highest {
    char *consumer;
    struct journal_mark mark;
};

struct admitted {
    struct admitted_run **runs;
    int n_runs, runs_capacity;
    struct admitted_highest **highest;
    int n_highest, highest_capacity;
};

void admitted_release(struct admitted *admitted);

struct admitted_run *admitted_find(const struct admitted *admitted,
                                   const struct run_id *run);
/* Counts its slots as used by the consumer, unless it has ended. */
void admitted_add(struct admitted *admitted, struct ledger *ledger,
                  const struct run_id *run, struct ledger_lease *lease,
                  const struct host_slots *hosts, int n_hosts, bool is_ended);
void admitted_set_yielded(struct admitted_run *run, bool is_yielded);
/* A run that has yielded may resume: no other run uses its slots. */
bool admitted_fits(const struct admitted_run *run);
/* Its slots are free, and its hosts need reconciling. */
void admitted_end(struct admitted_run *run);
void admitted_remove(struct admitted *admitted, const struct run_id *run);

/* The highest attempt of the consumer that was decided, and what else its STARTs said
 * of its journal. Zeros: nothing is decided. */
struct journal_mark admitted_highest(const struct admitted *admitted,
                                     const char *consumer);
/* Never lowers it. Returns the result. */
struct journal_mark admitted_set_highest(struct admitted *admitted,
                                         const char *consumer,
                                         const struct journal_mark *mark);

#endif
