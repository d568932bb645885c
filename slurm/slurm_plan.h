/* SPDX-License-Identifier: Apache-2.0 */
/* slurm_plan.h: which reservations a Slurm cluster must have, by what a provider has
 * lent, and what to order of scontrol so that it has them.
 *
 * A node that comes to a consumer goes into the reservation of the contract's epoch,
 * and stays in it for as long as the consumer has the node. While a contract is frozen,
 * nodes that might change sides are held in the reservation of the next epoch, which
 * only `agent` can use; after the commit it is the consumer's, or is deleted. A node is
 * put into a reservation only if it is wholly idle and in no other one that begins
 * before the end of two terms, whoever made that, and taken out only if no job of that
 * reservation runs on it. So a node that passes from one reservation to another is in
 * none of them in the answers between, and nodes that are busy stay.
 *
 * The end of a reservation is a dead man's switch: it is moved to a term from now when
 * a third of the term has passed. A reservation that no contract has any more is
 * deleted, or, while jobs run in it, left to end. What an administrator has changed is
 * put right; other reservations than those of the site are never touched.
 *
 * A reservation of a later epoch than the next one, or one of the next epoch in which
 * jobs run, says that the site's journal is behind. Nothing of that contract is
 * ordered then.
 *
 * A plan is made from what was read since the last orders. The order that makes a
 * reservation larger is the last one about it, since slurmctld refuses it if a node has
 * fallen into other hands; the next plan sees why.
 *
 * Units: seconds. Order: contracts and their nodes as given. Ownership: all is in the
 * arena, or borrowed. Errors: ERR_EXISTS if a node is in two contracts, or a contract
 * there twice; ERR_BOUNDS for more nodes than a word of a command can name. Source:
 * docs/adr/0024-leases-of-slurm-nodes.md. Layer: slurm. */
#ifndef SUBLET_SLURM_SLURM_PLAN_H
#define SUBLET_SLURM_SLURM_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "slurm/slurm_job.h"
#include "slurm/slurm_node.h"
#include "slurm/slurm_reservation.h"

struct slurm_contract {
    const char *policy, *consumer;
    uint64_t epoch;    /* in force; the consumer has its nodes under it or before */
    const char *users; /* whose jobs the consumer may run, separated by commas */
    bool keeps_jobs;   /* ON_LOST = keep: jobs outlive their reservation */
    const char *const *nodes; /* of the consumer */
    int n_nodes;
    const char *const *held; /* frozen: nodes that may become the consumer's */
    int n_held;
};

struct slurm_terms {
    const char *site;
    const char *agent; /* the account that reserves what is held */
    int64_t term_s;    /* of the dead man's switch */
    int64_t now_s;     /* since 1970, of the wall clock */
};

struct slurm_answers {
    struct slurm_nodes nodes;
    struct slurm_jobs jobs;
    struct slurm_reservations reservations;
};

struct slurm_order {
    const char *reservation;
    const char *const *words; /* the command, ended by NULL */
};

/* What was read of a contract. */
struct slurm_standing {
    bool *has_node; /* of contract->nodes: it is reserved for the consumer's users */
    bool *is_held;  /* of contract->held: it is held, and wholly idle */
    bool is_behind; /* the site's journal is: nothing is ordered */
};

struct slurm_plan {
    struct slurm_order *orders; /* to be carried out in this order */
    int n_orders;
    struct slurm_standing *standings; /* of each contract */
};

int slurm_plan_make(struct arena *arena, const struct slurm_terms *terms,
                    const struct slurm_contract *contracts, int n_contracts,
                    const struct slurm_answers *answers, struct slurm_plan *plan,
                    struct err *err) MUST_CHECK;

#endif
