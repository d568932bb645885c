/* SPDX-License-Identifier: Apache-2.0 */
/* bench_resreq.c: how fast requirement strings are evaluated: compiled once, then
 * evaluated over 1,000 and 100,000 hosts, on one core. An evaluation is one string on
 * one host.
 *
 * The floor is what the same core does at the same time with the bare condition,
 * written in C over rows of hosts. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sched/resreq/resreq.h"
#include "tests/bench/bench.h"

static const double run_s = 0.3;

static const char *const strings[] = {
    "swp > 15",
    "type == local",
    "((2*r15s + 3*r1m + r15m) / 6 < 1.0) && !fs && (cpuf > 4.0)",
    "(swp > 50 && type == x86_64) || (swp > 35 && type == LINUX)",
};
static const char *const aims[] = {"50", "10", "10", "10"};

struct world {
    struct resources *resources;
    struct resource_table *table;
    uint8_t *matches;
    int n_hosts;
};

static void fill(struct world *world, int n_hosts)
{
    struct resource fs = {.name = "fs", .type = RESOURCE_BOOLEAN};
    struct err err;
    int id;
    world->n_hosts = n_hosts;
    world->resources = resources_new();
    if (resources_add(world->resources, &fs, &id, &err) != 0) {
        bench_fail("%s", err.text);
    }
    world->table = resource_table_new(world->resources);
    world->matches = mem_alloc((size_t)n_hosts, 1);
    resource_table_resize(world->table, n_hosts);
    for (int row = 0; row < n_hosts; row++) {
        struct resource_table *table = world->table;
        resource_table_set_number(table, row, RESOURCE_SWP, row * 37 % 100);
        resource_table_set_number(table, row, RESOURCE_R15S, row * 13 % 30 / 10.0);
        resource_table_set_number(table, row, RESOURCE_R1M, row * 17 % 30 / 10.0);
        resource_table_set_number(table, row, RESOURCE_R15M, row * 19 % 30 / 10.0);
        resource_table_set_number(table, row, RESOURCE_CPUF, row % 10);
        resource_table_set_flag(table, row, id, row % 3 == 0);
        resource_table_set_text(table, row, RESOURCE_TYPE,
                                row % 2 == 0 ? "x86_64" : "LINUX");
    }
}

static void drop(struct world *world)
{
    free(world->matches);
    resource_table_free(world->table);
    resources_free(world->resources);
}

static int compile(struct world *world, struct arena *arena, const char *string,
                   struct resreq *resreq)
{
    struct resreq_rules rules = {
        .language = {.resources = world->resources, .has_local = true}};
    struct resreq_strings from = {.strings = &string, .n_strings = 1};
    struct resreq_notes notes = {.arena = arena};
    struct resreq_error fault;
    return resreq_compile(arena, &rules, &from, resreq, &notes, &fault);
}

/* Millions of evaluations per second. */
static double evaluate(struct world *world, const struct resreq *resreq)
{
    struct resreq_local local = {.type = "LINUX", .model = ""};
    double start = bench_now(), now = start;
    long n_rounds = 0;
    while (now - start < run_s) {
        for (int i = 0; i < 10; i++, n_rounds++) {
            resreq_program_run(&resreq->program, world->table, NULL, &local,
                               world->matches);
        }
        now = bench_now();
    }
    return (double)n_rounds * world->n_hosts / (now - start) / 1e6;
}

/* swp > 15 for each host, through the table. */
static double evaluate_bare(struct world *world)
{
    double start = bench_now(), now = start;
    long n_rounds = 0;
    while (now - start < run_s) {
        for (int row = 0; row < world->n_hosts; row++) {
            world->matches[row] =
                resource_table_number(world->table, row, RESOURCE_SWP) > 15;
        }
        n_rounds++;
        now = bench_now();
    }
    return (double)n_rounds * world->n_hosts / (now - start) / 1e6;
}

static void measure(struct world *world, const char *string, const char *aim)
{
    char work[96];
    struct arena arena;
    struct resreq resreq;
    struct bench_series series = {.count = 0}, bare = {.count = 0};
    arena_init(&arena);
    if (compile(world, &arena, string, &resreq) != 0) {
        bench_fail("%s is refused", string);
    }
    for (int i = 0; i < BENCH_RUNS; i++) {
        bench_add(&series, evaluate(world, &resreq));
        bench_add(&bare, evaluate_bare(world));
    }
    snprintf(work, sizeof(work), "%d: %.40s", world->n_hosts, string);
    bench_print_row_floor(work, "M/s", &series, aim, "one by one", &bare);
    arena_release(&arena);
}

/* The longest string that a user may submit, with an error at its end. */
static void measure_refusal(struct world *world)
{
    struct bench_series series = {.count = 0};
    struct resreq resreq;
    size_t length = 4000;
    char *string = mem_alloc(length + 32, 1);
    memcpy(string, "swp", 3);
    for (size_t at = 3; at + 6 < length; at += 6) {
        memcpy(string + at, "+swp*2", 6);
    }
    strncat(string, " > ", 4);
    for (int i = 0; i < BENCH_RUNS; i++) {
        clock_t start = clock();
        for (int k = 0; k < 100; k++) {
            struct arena arena;
            arena_init(&arena);
            if (compile(world, &arena, string, &resreq) == 0) {
                bench_fail("what is wrong is taken");
            }
            arena_release(&arena);
        }
        bench_add(&series, (double)(clock() - start) / CLOCKS_PER_SEC / 100 * 1e6);
    }
    bench_print_row("4,000 bytes, refused", "us of CPU", &series, "1000");
    free(string);
}

int main(void)
{
    static const int sizes[] = {1000, 100000};
    struct world world;
    bench_print_head("Requirement strings, one core: hosts: string");
    for (int i = 0; i < 2; i++) {
        fill(&world, sizes[i]);
        for (int k = 0; k < 4; k++) {
            measure(&world, strings[k], aims[k]);
        }
        if (i == 0) {
            measure_refusal(&world);
        }
        drop(&world);
    }
    return 0;
}
