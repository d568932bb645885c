/* SPDX-License-Identifier: Apache-2.0 */
/* Cycles of a site that borrows for its Slurm cluster: guests that end without a node
 * are submitted again after waits that double, and no longer once a node was there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "slurm/slurm_borrow.h"

enum { CYCLE_MS = 10000 };

/* One job of one CPU waits all the time. */
struct world {
    struct slurm_borrow *borrow;
    struct arena arena;
    int64_t now_ms;
    int n_submits, n_warnings;
    uint64_t guest; /* the last one; 0: it has ended */
    uint64_t n_guests;
    bool guests_fail, has_node;
    const char *const *words; /* the command that runs */
};

static void command(void *arg, const char *const *words)
{
    ((struct world *)arg)->words = words;
}

static int list(void *arg, struct arena *arena, struct slurm_guest **guests)
{
    const struct world *world = arg;
    *guests = arena_alloc(arena, 1, sizeof(**guests));
    (*guests)[0] = (struct slurm_guest){.job = world->guest,
                                        .n_slots = 1,
                                        .has_host = true,
                                        .has_begun = true,
                                        .begun_ms = world->now_ms};
    return world->guest != 0;
}

static int host_max(void *arg)
{
    (void)arg;
    return 4;
}

static void submit(void *arg, int n_slots)
{
    struct world *world = arg;
    assert_int_equal(n_slots, 1);
    world->n_submits++;
    world->n_guests++;
    world->guest = world->guests_fail ? 0 : world->n_guests;
}

static void end(void *arg, uint64_t job)
{
    struct world *world = arg;
    assert_int_equal(job, world->guest);
    world->guest = 0;
}

static void log_text(void *arg, enum log_level level, const char *text)
{
    (void)level;
    ((struct world *)arg)->n_warnings += strstr(text, "without a node") != NULL;
}

static const char *answer(struct world *world)
{
    if (strcmp(world->words[0], "squeue") == 0) {
        return arena_printf(&world->arena, "%-32s|%-8s|%-16s|%-32s|%-64s|%-4096s|\n",
                            "9", "PD", "1", "1", "PartitionConfig", "");
    }
    return !world->has_node || world->guest == 0
               ? ""
               : arena_printf(&world->arena,
                              "sublet%-58llu|%-128s|%-48s|%-16s|%-16s|%-16s|%-1024s|"
                              "%-1024s|%-64s|\n",
                              (unsigned long long)world->guest, "idle+dynamic_norm",
                              "0/1/0/1", "1000", "N/A", "N/A", "sublet,north", "(null)",
                              "borrowed");
}

/* The next cycle; returns how many guests it has submitted. */
static int run_cycle(struct world *world)
{
    int before = world->n_submits;
    world->now_ms = slurm_borrow_wake_ms(world->borrow);
    slurm_borrow_tick(world->borrow, world->now_ms);
    while (slurm_borrow_wake_ms(world->borrow) == INT64_MAX) {
        slurm_borrow_done(world->borrow, answer(world), NULL, world->now_ms);
    }
    return world->n_submits - before;
}

static void begin(struct world *world)
{
    static const struct slurm_borrow_config config = {.partition = "borrowed",
                                                      .cycle_ms = CYCLE_MS,
                                                      .idle_ms = 300000,
                                                      .stay_ms = 86400000,
                                                      .notice_ms = 60000,
                                                      .max = 4,
                                                      .seed = 1};
    *world = (struct world){.now_ms = 1000000};
    arena_init(&world->arena);
    const struct slurm_borrow_io io = {.arg = world,
                                       .command = command,
                                       .list = list,
                                       .host_max = host_max,
                                       .submit = submit,
                                       .end = end,
                                       .log = log_text};
    world->borrow = slurm_borrow_new(&config, &io, world->now_ms);
}

static void finish(struct world *world)
{
    slurm_borrow_free(world->borrow);
    arena_release(&world->arena);
}

/* Also if they begin and end between two cycles, so that none was ever seen. */
static void test_fruitless(void **state)
{
    struct world world;
    (void)state;
    begin(&world);
    world.guests_fail = true;
    int64_t last_ms = 0, wait_ms = 0;
    int n_waits = 0;
    for (int i = 0; i < 60; i++) {
        if (run_cycle(&world) > 0) {
            if (last_ms != 0) {
                assert_true(world.now_ms - last_ms + CYCLE_MS > wait_ms);
                wait_ms = world.now_ms - last_ms;
                n_waits++;
            }
            last_ms = world.now_ms;
        }
    }
    assert_true(n_waits >= 4 && n_waits < 12);
    assert_in_range(wait_ms, (SLURM_BORROW_WAITS - 1) * CYCLE_MS,
                    (SLURM_BORROW_WAITS + 3) * CYCLE_MS);
    assert_in_range(world.n_warnings, n_waits, n_waits + 1);
    finish(&world);
}

static void test_fruitful(void **state)
{
    struct world world;
    (void)state;
    begin(&world);
    world.has_node = true;
    assert_int_equal(run_cycle(&world), 1);
    for (int i = 0; i < 5; i++) {
        (void)run_cycle(&world); /* it sees the node, on which the job has room */
        world.guest = 0;         /* its provider ends it */
        assert_int_equal(run_cycle(&world), 1);
    }
    assert_int_equal(world.n_warnings, 0);
    finish(&world);
}

/* A node that was there ends the waits. */
static void test_mended(void **state)
{
    struct world world;
    (void)state;
    begin(&world);
    world.guests_fail = true;
    for (int i = 0; i < 30; i++) {
        (void)run_cycle(&world);
    }
    world.guests_fail = false;
    world.has_node = true;
    for (int i = 0; i < 12 && world.guest == 0; i++) {
        (void)run_cycle(&world);
    }
    assert_true(world.guest != 0);
    (void)run_cycle(&world);
    world.guest = 0;
    assert_int_equal(run_cycle(&world), 1);
    finish(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_fruitless),
                                       cmocka_unit_test(test_fruitful),
                                       cmocka_unit_test(test_mended)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
