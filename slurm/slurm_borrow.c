/* SPDX-License-Identifier: Apache-2.0 */
/* slurm_borrow.c: see slurm_borrow.h. */
#include "slurm/slurm_borrow.h"

#include <stdlib.h>

#include "base/resend.h"
#include "base/rng.h"

/* slurmd registers within seconds; a guest without a node has failed. */
enum { BEGIN_MS = 180000 };

enum stage { WAITING, READING_NODES, READING_JOBS, ORDERING };

/* Since when the node of a guest is idle. */
struct idle {
    uint64_t job;
    int64_t since_ms;
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
    struct idle *idles;
    int n_idles;
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
        free(borrow->idles);
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

static void recall_idles(const struct slurm_borrow *borrow, struct slurm_guest *guests,
                         int n_guests)
{
    for (int i = 0; i < n_guests; i++) {
        for (int k = 0; k < borrow->n_idles; k++) {
            if (borrow->idles[k].job == guests[i].job) {
                guests[i].idle_since_ms = borrow->idles[k].since_ms;
            }
        }
    }
}

static void store_idles(struct slurm_borrow *borrow, const struct slurm_guest *guests,
                        int n_guests)
{
    borrow->idles =
        mem_grow(borrow->idles, (size_t)n_guests + 1, sizeof(*borrow->idles));
    borrow->n_idles = n_guests;
    for (int i = 0; i < n_guests; i++) {
        borrow->idles[i] = (struct idle){guests[i].job, borrow->plan.idle_since_ms[i]};
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
    recall_idles(borrow, guests, n_guests);
    slurm_guest_plan(&borrow->arena, &terms, guests, n_guests, &borrow->nodes, jobs,
                     &borrow->plan);
    store_idles(borrow, guests, n_guests);
    borrow->next_order = 0;
    for (int i = 0; i < borrow->plan.n_ends; i++) {
        borrow->io.end(borrow->io.arg, borrow->plan.ends[i]);
    }
    for (int i = 0; i < borrow->plan.n_submits; i++) {
        borrow->io.submit(borrow->io.arg, borrow->plan.submits[i]);
    }
}

/* ---------------------------------------------------------------- answers */

static int take_answer(struct slurm_borrow *borrow, const char *text, int64_t now_ms,
                       struct err *err)
{
    struct slurm_guest_jobs jobs;
    if (borrow->stage == READING_NODES) {
        int rc = slurm_node_read(&borrow->arena, text, &borrow->nodes, err);
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
