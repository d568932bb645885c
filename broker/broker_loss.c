/* SPDX-License-Identifier: Apache-2.0 */
/* broker_loss.c: notices that the broker's store is older than what its sites know: it
 * was replaced by a copy, or its log was cut where nothing in the file shows it.
 *
 * Each batch that stores something has the next number. Sites get it with WELCOME and
 * PONG, and repeat it in HELLO. What the store lacks is added up, as an alarm, until
 * the broker is started once with --accept-loss. Contracts come back from the sites by
 * themselves; history, overrides and drains do not.
 * Source: docs/design/safety.md "Journals that are behind". */
#include <string.h>

#include "broker/broker_parts.h"

/* The greatest step that is believed: a member that lies cannot use up the numbers. */
enum { STEP_MAX = 1000000000 };

static const char commits_counter[] = "commits", lost_counter[] = "lost_commits";

static void store(const char *name, uint64_t value, struct effects *effects)
{
    effects_store(effects,
                  &(struct row){.kind = ROW_COUNTER, .counter = {name, value}});
}

void broker_loss_load(struct broker_loss *loss, const struct row_counter *counter)
{
    if (strcmp(counter->name, commits_counter) == 0) {
        loss->commits = counter->value;
    } else if (strcmp(counter->name, lost_counter) == 0) {
        loss->lost = counter->value;
    }
}

void broker_loss_start(struct broker_loss *loss, struct effects *effects)
{
    if (loss->is_accepted && loss->lost > 0) {
        loss->lost = 0;
        store(lost_counter, 0, effects);
    }
}

void broker_loss_learn(struct broker_loss *loss, uint64_t known, const char *site,
                       struct effects *effects)
{
    if (known <= loss->commits) {
        return;
    }
    uint64_t n_missing = known - loss->commits;
    if (n_missing > STEP_MAX) {
        effects_log(effects, LOG_LEVEL_ERROR,
                    "what site %s says of the broker's store is impossible: ignored",
                    site);
        return;
    }
    loss->commits = known;
    store(commits_counter, known, effects);
    if (!loss->is_accepted) {
        loss->lost += n_missing;
        store(lost_counter, loss->lost, effects);
    }
    effects_log(effects, loss->is_accepted ? LOG_LEVEL_WARNING : LOG_LEVEL_ERROR,
                "the store is behind what site %s knows: commits missing: %llu%s", site,
                (unsigned long long)n_missing,
                loss->is_accepted
                    ? ", accepted"
                    : "; contracts come back from the sites, but history, reclaim "
                      "delays and drains that were set since are missing: set them "
                      "again, then start the broker once with --accept-loss");
}

void broker_loss_count_commit(struct broker_loss *loss, struct effects *effects)
{
    for (int i = 0; i < effects->count; i++) {
        if (effects->items[i].kind == EFFECT_STORE) {
            store(commits_counter, ++loss->commits, effects);
            return;
        }
    }
}

void broker_loss_accept(struct broker *broker)
{
    broker->loss.is_accepted = true;
}

uint64_t broker_loss_commits(const struct broker *broker)
{
    return broker->loss.lost;
}
