/* SPDX-License-Identifier: Apache-2.0 */
/* journal_loss.h: notices that this site's journal is older than what others know of
 * it: it was replaced by an older copy, or has lost commits.
 *
 * Others are the broker (WELCOME), the site's hosts (HOST_HELLO, RUN_FOUND, RUN_STATE)
 * and the providers of its leases (ATTEMPT_STATE). Nothing is started on a host or on a
 * lease before that host, or the broker, has sent its mark. Once the journal is known
 * to be behind, nothing is started before all hosts have connected (host_table.h). What
 * a mark missed is refused by the host or the provider that has the attempt, and its
 * answer has the next mark. After each mark all counters of the site are above it, so
 * that no number is used again.
 *
 * What was about to start by the journal may have started and ended (site/run/runs.c
 * for runs on own hosts, consumer_doubt for leased ones).
 *
 * A job that waits by the journal may have been started by a lost attempt, and may have
 * ended. It is not started again until an administrator has accepted the loss, unless
 * it is rerunnable.
 *
 * What was lost is added up in the journal, as an alarm, until an administrator has
 * accepted it. The range of lost attempts is remembered for good: runs with such an
 * attempt are orphans (site/run/runs.h), whenever they are found.
 *
 * Source: docs/design/safety.md "Journals that are behind". Layer: site. */
#ifndef SUBLET_SITE_EXCHANGE_JOURNAL_LOSS_H
#define SUBLET_SITE_EXCHANGE_JOURNAL_LOSS_H

#include <stdbool.h>
#include <stdint.h>

#include "model/effect.h"

struct journal_loss {
    struct journal_mark lost;    /* how many of each; until they are accepted */
    uint64_t from, to;           /* attempts that may have been lost; to 0: none */
    struct journal_mark present; /* as of the latest commit */
    uint64_t loaded_job;         /* the last job of the journal at the start ... */
    uint64_t loaded_attempt;     /* ... and the last attempt */
    uint64_t doubted_attempt;    /* the last attempt that the journal had when it was
                                    found to be behind: what is undecided up to there
                                    may have started and ended; 0: none. For good */
    uint64_t doubted_to;         /* jobs that the journal had when attempts were found
                                    to be missing: those that wait may have started */
};

/* A counter of the journal: "commits", "lost_commits" and so on. Others are ignored. */
void journal_loss_load(struct journal_loss *loss, const struct row_counter *counter);

/* Compares `present` with what another knows, and raises it above that. True if the
 * journal was behind: it is logged, and the counters are stored. `who`: "host n1". */
bool journal_loss_learn(struct journal_loss *loss, const struct journal_mark *known,
                        const char *who, struct effects *effects);
/* The alarm is over. */
void journal_loss_accept(struct journal_loss *loss, struct effects *effects);
/* Jobs with numbers up to this one are not started again before the loss of attempts is
 * accepted; 0: there is none. */
uint64_t journal_loss_doubted_to(const struct journal_loss *loss);
bool journal_loss_is_alarm(const struct journal_loss *loss);
/* The batch stores something: it has the next number. */
void journal_loss_count_commit(struct journal_loss *loss, struct effects *effects);

#endif
