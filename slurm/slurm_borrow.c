/* SPDX-License-Identifier: Apache-2.0 */
/* slurm_borrow.c: see slurm_borrow.h. */
#include "slurm/slurm_borrow.h"

#include <stdlib.h>

#include "base/resend.h"
#include "base/rng.h"

/* slurmd registers within seconds; a guest without a node has failed. */
enum { BEGIN_MS = 180000 };

enum stage { WAITING, READING_NODES, READING_JOBS, ORDERING };

/* What the last plan saw of a guest. */
struct memory {
    uint64_t job;
    bool is_ended; /* by that plan, or before */
    struct slurm_guest_seen seen;
};

struct slurm_borrow {
    struct slurm_borrow_config config;
    struct slurm_borrow_io io;
    struct rng rng;
    struct arena arena; /* of the cycle */
    enum stage stage;
    int64_t wake_ms;
    int n_failed; /* cycles one after the other */
    bool has_failed;
    struct slurm_nodes nodes;
    struct slurm_guest_plan plan;
    int next_order;
    struct memory *memories;
    int n_memories;
    int n_submitted;   /* by the last plan */
    int n_fruitless;   /* times that guests had ended without a node, in a row */
    int64_t submit_ms; /* none is submitted before */
};

struct slurm_borrow *slurm_borrow_new(const struct slurm_borrow_config *config,
                                      const struct slurm_borrow_io *io, int64_t now_ms)
{
    struct slurm_borrow *borrow = mem_alloc(1, sizeof(*borrow));
    borrow->config = *config;
    borrow->io = *io;
    borrow->wake_ms = now_ms;
    rng_init(&borrow->rng, config->seed);
    arena_init(&borrow->arena);
    return borrow;
}

void slurm_borrow_free(struct slurm_borrow *borrow)
{
    if (borrow != NULL) {
        arena_release(&borrow->arena);
        free(borrow->memories);
        free(borrow);
    }
}

/* ---------------------------------------------------------------- cycles */

static void fail(struct slurm_borrow *borrow, const char *what)
{
    borrow->has_failed = true;
    borrow->io.log(borrow->io.arg, LOG_LEVEL_WARNING,
                   arena_printf(&borrow->arena, "slurm: %s", what));
}

static void rest(struct slurm_borrow *borrow, int64_t now_ms)
{
    int64_t wait_ms = borrow->config.cycle_ms;
    borrow->n_failed = borrow->has_failed ? borrow->n_failed + 1 : 0;
    if (borrow->has_failed) {
        wait_ms =
            resend_wait_ms((struct resend_waits){wait_ms, wait_ms * SLURM_BORROW_WAITS},
                           borrow->n_failed);
    }
    borrow->stage = WAITING;
    borrow->wake_ms =
        now_ms + wait_ms + rng_below(&borrow->rng, wait_ms / 5 + 1) - wait_ms / 10;
}

static void next_order(struct slurm_borrow *borrow, int64_t now_ms)
{
    borrow->stage = ORDERING;
    if (borrow->next_order < borrow->plan.n_orders) {
        borrow->io.command(borrow->io.arg, borrow->plan.orders[borrow->next_order++]);
    } else {
        rest(borrow, now_ms);
    }
}

/* ---------------------------------------------------------------- the plan */

static void remember(const struct slurm_borrow *borrow, struct slurm_guest *guests,
                     int n_guests)
{
    for (int i = 0; i < n_guests; i++) {
        for (int k = 0; k < borrow->n_memories; k++) {
            if (borrow->memories[k].job == guests[i].job) {
                guests[i].seen = borrow->memories[k].seen;
            }
        }
    }
}

static bool plan_ends(const struct slurm_borrow *borrow, uint64_t job)
{
    for (int i = 0; i < borrow->plan.n_ends; i++) {
        if (borrow->plan.ends[i] == job) {
            return true;
        }
    }
    return false;
}

static void store_memories(struct slurm_borrow *borrow,
                           const struct slurm_guest *guests, int n_guests)
{
    borrow->memories =
        mem_grow(borrow->memories, (size_t)n_guests + 1, sizeof(*borrow->memories));
    borrow->n_memories = n_guests;
    for (int i = 0; i < n_guests; i++) {
        borrow->memories[i] = (struct memory){
            guests[i].job, guests[i].is_ending || plan_ends(borrow, guests[i].job),
            borrow->plan.seen[i]};
    }
}

/* ---------------------------------------------------------------- fruitless guests */

static bool is_there(const struct slurm_guest *guests, int n_guests, uint64_t job)
{
    for (int i = 0; i < n_guests; i++) {
        if (guests[i].job == job) {
            return true;
        }
    }
    return false;
}

/* Guests that have ended since the last plan, not by its order, and without a node. Of
 * those that it has submitted, and that were never seen, only the number is known. */
static int count_fruitless(const struct slurm_borrow *borrow,
                           const struct slurm_guest *guests, int n_guests)
{
    int n_gone = 0, n_old = 0;
    for (int i = 0; i < borrow->n_memories; i++) {
        const struct memory *memory = &borrow->memories[i];
        bool is_gone = !is_there(guests, n_guests, memory->job);
        n_gone += is_gone && !memory->is_ended && !memory->seen.has_node;
        n_old += !is_gone;
    }
    int n_missing = borrow->n_submitted - (n_guests - n_old);
    return n_gone + (n_missing > 0 ? n_missing : 0);
}

static bool has_node(const struct slurm_borrow *borrow, int n_guests)
{
    for (int i = 0; i < n_guests; i++) {
        if (borrow->plan.seen[i].has_node) {
            return true;
        }
    }
    return false;
}

static void judge_fruitless(struct slurm_borrow *borrow, int n_ended, int n_guests,
                            int64_t now_ms)
{
    int64_t cycle_ms = borrow->config.cycle_ms;
    if (n_ended > 0) {
        borrow->n_fruitless++;
        borrow->submit_ms =
            now_ms + resend_wait_ms(
                         (struct resend_waits){cycle_ms, cycle_ms * SLURM_BORROW_WAITS},
                         borrow->n_fruitless);
        borrow->io.log(
            borrow->io.arg, LOG_LEVEL_WARNING,
            arena_printf(&borrow->arena,
                         "slurm: guests have ended without a node (%d); "
                         "`sublet jobs -a -l` and the log of sublet-slurmd on "
                         "their hosts say why",
                         n_ended));
    } else if (has_node(borrow, n_guests)) {
        borrow->n_fruitless = 0;
    }
}

static void make_plan(struct slurm_borrow *borrow, const struct slurm_guest_jobs *jobs,
                      int64_t now_ms)
{
    const struct slurm_borrow_config *config = &borrow->config;
    const struct slurm_guest_terms terms = {.now_ms = now_ms,
                                            .idle_ms = config->idle_ms,
                                            .stay_ms = config->stay_ms,
                                            .notice_ms = config->notice_ms,
                                            .begin_ms = BEGIN_MS,
                                            .max = config->max,
                                            .host_max =
                                                borrow->io.host_max(borrow->io.arg)};
    struct slurm_guest *guests;
    int n_guests = borrow->io.list(borrow->io.arg, &borrow->arena, &guests);
    int n_ended = count_fruitless(borrow, guests, n_guests);
    remember(borrow, guests, n_guests);
    slurm_guest_plan(&borrow->arena, &terms, guests, n_guests, &borrow->nodes, jobs,
                     &borrow->plan);
    store_memories(borrow, guests, n_guests);
    judge_fruitless(borrow, n_ended, n_guests, now_ms);
    borrow->n_submitted = now_ms < borrow->submit_ms ? 0 : borrow->plan.n_submits;
    borrow->next_order = 0;
    for (int i = 0; i < borrow->plan.n_ends; i++) {
        borrow->io.end(borrow->io.arg, borrow->plan.ends[i]);
    }
    for (int i = 0; i < borrow->n_submitted; i++) {
        borrow->io.submit(borrow->io.arg, borrow->plan.submits[i]);
    }
}

/* ---------------------------------------------------------------- answers */

static int take_answer(struct slurm_borrow *borrow, const char *text, int64_t now_ms,
                       struct err *err)
{
    struct slurm_guest_jobs jobs;
    if (borrow->stage == READING_NODES) {
        int rc = slurm_node_read_all(&borrow->arena, text, &borrow->nodes, err);
        if (rc < 0) {
            return err_prefix(err, "sinfo");
        }
        borrow->stage = READING_JOBS;
        borrow->io.command(
            borrow->io.arg,
            slurm_guest_job_command(&borrow->arena, borrow->config.partition));
        return 0;
    }
    int rc = slurm_guest_job_read(&borrow->arena, text, &jobs, err);
    if (rc < 0) {
        return err_prefix(err, "squeue");
    }
    make_plan(borrow, &jobs, now_ms);
    next_order(borrow, now_ms);
    return 0;
}

void slurm_borrow_done(struct slurm_borrow *borrow, const char *text,
                       const struct err *err, int64_t now_ms)
{
    struct err cause = {.text = ""};
    if (borrow->stage == ORDERING) {
        if (text == NULL) {
            fail(borrow, err->text);
        }
        next_order(borrow, now_ms);
    } else if (text == NULL || take_answer(borrow, text, now_ms, &cause) < 0) {
        fail(borrow, text == NULL ? err->text : cause.text);
        rest(borrow, now_ms);
    }
}

void slurm_borrow_tick(struct slurm_borrow *borrow, int64_t now_ms)
{
    if (borrow->stage == WAITING && now_ms >= borrow->wake_ms) {
        arena_clear(&borrow->arena);
        borrow->has_failed = false;
        borrow->stage = READING_NODES;
        borrow->io.command(
            borrow->io.arg,
            slurm_node_command(&borrow->arena, borrow->config.partition));
    }
}

int64_t slurm_borrow_wake_ms(const struct slurm_borrow *borrow)
{
    return borrow->stage == WAITING ? borrow->wake_ms : INT64_MAX;
}
