/* SPDX-License-Identifier: Apache-2.0 */
/* slurm_keeper.c: see slurm_keeper.h. */
#include "slurm/io/slurm_keeper.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/resend.h"
#include "base/rng.h"

enum stage { WAITING, READING_NODES, READING_JOBS, READING_RESERVATIONS, ORDERING };

struct slurm_keeper {
    struct slurm_keeper_config config;
    struct rng rng;
    struct arena contracts_arena;
    struct slurm_contract *contracts;
    int n_contracts;
    uint64_t version;
    enum stage stage;
    struct slurm_child *child; /* NULL while it waits */
    int64_t wake_ms;           /* of the next cycle */
    int n_rounds;              /* in this cycle */
    int n_failed;              /* cycles one after the other */
    bool is_stale;             /* the contracts have changed since the last plan */
    bool has_changed;          /* an order of this round was taken */
    bool has_failed;           /* some command of this cycle */
    /* What is being read, and what was read before. */
    struct arena arenas[2];
    int reading;
    struct slurm_answers answers[2];
    struct slurm_plan plan;
    int next_order;
    int64_t began_ms;
    struct slurm_report report;
    struct err err;
};

struct slurm_keeper *slurm_keeper_new(const struct slurm_keeper_config *config)
{
    struct slurm_keeper *keeper = mem_alloc(1, sizeof(*keeper));
    *keeper = (struct slurm_keeper){.config = *config, .wake_ms = INT64_MAX};
    keeper->report.failure = "";
    rng_init(&keeper->rng, config->seed);
    arena_init(&keeper->contracts_arena);
    arena_init(&keeper->arenas[0]);
    arena_init(&keeper->arenas[1]);
    return keeper;
}

void slurm_keeper_free(struct slurm_keeper *keeper)
{
    if (keeper == NULL) {
        return;
    }
    slurm_child_free(keeper->child);
    arena_release(&keeper->contracts_arena);
    arena_release(&keeper->arenas[0]);
    arena_release(&keeper->arenas[1]);
    free(keeper);
}

/* ---------------------------------------------------------------- contracts */

static const char *const *copy_names(struct arena *arena, const char *const *names,
                                     int n_names)
{
    const char **copy = arena_alloc(arena, (size_t)n_names + 1, sizeof(*copy));
    for (int i = 0; i < n_names; i++) {
        copy[i] = arena_str(arena, names[i]);
    }
    return copy;
}

void slurm_keeper_set_contracts(struct slurm_keeper *keeper,
                                const struct slurm_contract *contracts, int n_contracts,
                                uint64_t version, int64_t now_ms)
{
    struct arena *arena = &keeper->contracts_arena;
    arena_clear(arena);
    keeper->contracts =
        arena_alloc(arena, (size_t)n_contracts + 1, sizeof(*keeper->contracts));
    keeper->n_contracts = n_contracts;
    keeper->version = version;
    for (int i = 0; i < n_contracts; i++) {
        struct slurm_contract *copy = &keeper->contracts[i];
        *copy = contracts[i];
        copy->policy = arena_str(arena, copy->policy);
        copy->consumer = arena_str(arena, copy->consumer);
        copy->users = arena_str(arena, copy->users);
        copy->nodes = copy_names(arena, copy->nodes, copy->n_nodes);
        copy->held = copy_names(arena, copy->held, copy->n_held);
    }
    keeper->is_stale = keeper->stage != WAITING;
    keeper->wake_ms = now_ms;
}

/* ---------------------------------------------------------------- commands */

static void fail(struct slurm_keeper *keeper)
{
    keeper->has_failed = true;
    keeper->report.failure = keeper->err.text;
}

static int start(struct slurm_keeper *keeper, const char *const *words, int64_t now_ms)
{
    keeper->report.n_commands++;
    return slurm_child_new(&keeper->config.place, words, now_ms, &keeper->child,
                           &keeper->err);
}

/* The next cycle is due after a while. */
static void rest(struct slurm_keeper *keeper, int64_t now_ms)
{
    int64_t longest_ms = keeper->config.term_s * 1000 / 4;
    int64_t wait_ms = keeper->config.cycle_ms;
    if (keeper->has_failed) {
        keeper->n_failed++;
        wait_ms = resend_wait_ms(
            (struct resend_waits){wait_ms, longest_ms > wait_ms ? longest_ms : wait_ms},
            keeper->n_failed);
    } else {
        keeper->n_failed = 0;
    }
    wait_ms += rng_below(&keeper->rng, wait_ms / 5 + 1) - wait_ms / 10;
    keeper->stage = WAITING;
    keeper->wake_ms = keeper->is_stale ? now_ms : now_ms + wait_ms;
}

static void read_again(struct slurm_keeper *keeper, int64_t now_ms)
{
    struct arena *arena = &keeper->arenas[keeper->reading];
    arena_clear(arena);
    keeper->stage = READING_NODES;
    keeper->began_ms = now_ms;
    keeper->has_changed = false;
    keeper->n_rounds++;
    if (start(keeper, slurm_node_command(arena, keeper->config.partition), now_ms) <
        0) {
        fail(keeper);
        rest(keeper, now_ms);
    }
}

/* ---------------------------------------------------------------- orders */

static void next_order(struct slurm_keeper *keeper, int64_t now_ms)
{
    keeper->stage = ORDERING;
    while (keeper->next_order < keeper->plan.n_orders && !keeper->is_stale) {
        const struct slurm_order *order = &keeper->plan.orders[keeper->next_order++];
        if (start(keeper, order->words, now_ms) == 0) {
            return;
        }
        fail(keeper);
    }
    if (keeper->has_changed && !keeper->is_stale &&
        keeper->n_rounds < SLURM_KEEPER_ROUNDS) {
        read_again(keeper, now_ms);
    } else {
        rest(keeper, now_ms);
    }
}

/* All was read: what is reported, and what is ordered. The answers that were reported
 * before are not needed any more. */
static int make_plan(struct slurm_keeper *keeper)
{
    const struct slurm_terms terms = {.site = keeper->config.site,
                                      .agent = keeper->config.agent,
                                      .term_s = keeper->config.term_s,
                                      .now_s = time(NULL)};
    int rc =
        slurm_plan_make(&keeper->arenas[keeper->reading], &terms, keeper->contracts,
                        keeper->n_contracts, &keeper->answers[keeper->reading],
                        &keeper->plan, &keeper->err);
    if (rc == 0) {
        keeper->report.answers = &keeper->answers[keeper->reading];
        keeper->report.standings = keeper->plan.standings;
        keeper->report.version = keeper->version;
        keeper->report.read_ms = keeper->began_ms;
        keeper->next_order = 0;
        keeper->is_stale = false;
        keeper->reading = 1 - keeper->reading;
    }
    return rc;
}

/* ---------------------------------------------------------------- answers */

/* The answer of the command that has ended; then the next one begins. */
static int take_answer(struct slurm_keeper *keeper, const char *text, int64_t now_ms)
{
    struct arena *arena = &keeper->arenas[keeper->reading];
    struct slurm_answers *answers = &keeper->answers[keeper->reading];
    struct err *err = &keeper->err;
    int rc;
    if (keeper->stage == READING_NODES) {
        rc = slurm_node_read(arena, text, &answers->nodes, err);
        keeper->stage = READING_JOBS;
        return rc < 0 ? err_prefix(err, "sinfo")
                      : start(keeper, slurm_job_command(arena), now_ms);
    }
    if (keeper->stage == READING_JOBS) {
        rc = slurm_job_read(arena, text, &answers->jobs, err);
        keeper->stage = READING_RESERVATIONS;
        return rc < 0 ? err_prefix(err, "squeue")
                      : start(keeper, slurm_reservation_command, now_ms);
    }
    rc = slurm_reservation_read(arena, text, &answers->reservations, err);
    if (rc < 0) {
        return err_prefix(err, "scontrol show reservation");
    }
    return make_plan(keeper);
}

/* True: there is a new report. */
static bool end_reading(struct slurm_keeper *keeper, struct slurm_child *child,
                        int64_t now_ms)
{
    const char *text;
    int rc = slurm_child_output(child, &text, &keeper->err);
    if (rc == 0) {
        bool is_last = keeper->stage == READING_RESERVATIONS;
        rc = take_answer(keeper, text, now_ms);
        if (rc == 0) {
            if (is_last) {
                next_order(keeper, now_ms);
            }
            return is_last;
        }
    }
    fail(keeper);
    rest(keeper, now_ms);
    return true;
}

static void end_order(struct slurm_keeper *keeper, const struct slurm_child *child,
                      int64_t now_ms)
{
    const char *text;
    if (slurm_child_output(child, &text, &keeper->err) == 0) {
        keeper->has_changed = true;
    } else {
        fail(keeper);
    }
    next_order(keeper, now_ms);
}

/* ---------------------------------------------------------------- steps */

void slurm_keeper_fds(const struct slurm_keeper *keeper,
                      struct pollfd fds[SLURM_CHILD_FDS])
{
    if (keeper->child != NULL) {
        slurm_child_fds(keeper->child, fds);
        return;
    }
    for (int i = 0; i < SLURM_CHILD_FDS; i++) {
        fds[i] = (struct pollfd){.fd = -1};
    }
}

int64_t slurm_keeper_wake_ms(const struct slurm_keeper *keeper)
{
    return keeper->child != NULL ? slurm_child_deadline_ms(keeper->child)
                                 : keeper->wake_ms;
}

bool slurm_keeper_step(struct slurm_keeper *keeper, int64_t now_ms)
{
    if (keeper->stage == WAITING) {
        if (now_ms < keeper->wake_ms) {
            return false;
        }
        keeper->n_rounds = 0;
        keeper->has_failed = keeper->is_stale = false;
        keeper->report.failure = "";
        read_again(keeper, now_ms);
        return keeper->stage == WAITING; /* it could not even begin */
    }
    if (!slurm_child_step(keeper->child, now_ms)) {
        return false;
    }
    struct slurm_child *child = keeper->child;
    bool has_report = keeper->stage != ORDERING;
    keeper->child = NULL;
    if (has_report) {
        has_report = end_reading(keeper, child, now_ms);
    } else {
        end_order(keeper, child, now_ms);
    }
    slurm_child_free(child);
    return has_report;
}

struct slurm_report slurm_keeper_report(const struct slurm_keeper *keeper)
{
    return keeper->report;
}
