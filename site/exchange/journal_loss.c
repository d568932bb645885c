/* SPDX-License-Identifier: Apache-2.0 */
/* journal_loss.c: see exchange.h. */
#include "site/exchange/exchange.h"

#include <stddef.h>
#include <string.h>

static const struct {
    const char *name;
    size_t offset;
} counters[] = {
    {"commits", offsetof(struct journal_loss, present.commits)},
    {"lost_commits", offsetof(struct journal_loss, lost.commits)},
    {"lost_attempts", offsetof(struct journal_loss, lost.attempt)},
    {"lost_jobs", offsetof(struct journal_loss, lost.job)},
    {"lost_from", offsetof(struct journal_loss, from)},
    {"lost_to", offsetof(struct journal_loss, to)},
    {"doubted_to", offsetof(struct journal_loss, doubted_to)},
    {"doubted_attempt", offsetof(struct journal_loss, doubted_attempt)},
};

static uint64_t *counter_at(struct journal_loss *loss, size_t index)
{
    return (uint64_t *)(void *)((char *)loss + counters[index].offset);
}

void journal_loss_load(struct journal_loss *loss, const struct row_counter *counter)
{
    for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++) {
        if (strcmp(counter->name, counters[i].name) == 0) {
            *counter_at(loss, i) = counter->value;
        }
    }
}

static void store(const char *name, uint64_t value, struct effects *effects)
{
    effects_store(effects,
                  &(struct row){.kind = ROW_COUNTER, .counter = {name, value}});
}

static void store_all(struct journal_loss *loss, struct effects *effects)
{
    for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++) {
        store(counters[i].name, *counter_at(loss, i), effects);
    }
    store("attempt", loss->present.attempt, effects);
    store("job", loss->present.job, effects);
}

static uint64_t missing(uint64_t present, uint64_t known)
{
    return known > present ? known - present : 0;
}

bool journal_loss_learn(struct journal_loss *loss, const struct journal_mark *known,
                        const char *who, struct effects *effects)
{
    struct journal_mark before = loss->present;
    if (!msg_raise_mark(&loss->present, known)) {
        return false;
    }
    struct journal_mark now = {
        .commits = missing(before.commits, known->commits),
        .attempt = missing(before.attempt, known->attempt),
        .job = missing(before.job, known->job),
    };
    loss->lost.commits += now.commits;
    loss->lost.attempt += now.attempt;
    loss->lost.job += now.job;
    loss->doubted_attempt = loss->loaded_attempt;
    if (now.attempt > 0) {
        bool is_first = loss->to == 0 || before.attempt < loss->from;
        loss->from = is_first ? before.attempt + 1 : loss->from;
        loss->to = known->attempt;
        loss->doubted_to = loss->loaded_job;
    }
    store_all(loss, effects);
    effects_log(effects, LOG_LEVEL_ERROR,
                "the journal is behind what %s knows: commits missing: %llu, attempts: "
                "%llu, jobs: %llu; see `sublet runs --orphans`",
                who, (unsigned long long)now.commits, (unsigned long long)now.attempt,
                (unsigned long long)now.job);
    return true;
}

uint64_t journal_loss_doubted_to(const struct journal_loss *loss)
{
    return loss->lost.attempt > 0 ? loss->doubted_to : 0;
}

bool journal_loss_is_alarm(const struct journal_loss *loss)
{
    return loss->lost.commits != 0 || loss->lost.attempt != 0 || loss->lost.job != 0;
}

void journal_loss_accept(struct journal_loss *loss, struct effects *effects)
{
    loss->lost = (struct journal_mark){0};
    store_all(loss, effects);
}

void journal_loss_count_commit(struct journal_loss *loss, struct effects *effects)
{
    store("commits", ++loss->present.commits, effects);
}
