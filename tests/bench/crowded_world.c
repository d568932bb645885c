/* SPDX-License-Identifier: Apache-2.0 */
/* crowded_world.c: see crowded_world.h. */
#include "tests/bench/crowded_world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sim/world/world.h"
#include "site/config/site_config.h"
#include "tests/bench/bench.h"

enum {
    START_MS = 1000000,
    SECOND_MS = 1000,
    MINUTE_MS = 60000,
    JOB_MS = 30000,
    DELAY_S = 600,
    PATIENCE = 10000000, /* as in a scenario without faults: no heartbeats */
};

struct crowded {
    struct arena arena;
    int n_sites, n_each;
    const struct site_config **configs;
    struct broker_member *members;
    struct broker_config broker;
    struct world *world;
};

static void read_site(struct crowded *all, int index)
{
    struct site_setup setup;
    char *text = NULL;
    size_t length = 0;
    struct conf conf;
    FILE *file = open_memstream(&text, &length);
    fprintf(file,
            "Begin Site\nNAME = s%d\nEnd Site\nBegin Parameters\n"
            "MC_RECLAIM_DELAY = %ds\nEnd Parameters\nBegin Host\nHOST_NAME MXJ\n",
            index, DELAY_S);
    for (int i = 1; i <= all->n_each; i++) {
        fprintf(file, "n%d 3\n", i);
    }
    fprintf(file, "End Host\nBegin Queue\nQUEUE_NAME = far\nPRIORITY = 30\n"
                  "HOSTS = allremote\nEnd Queue\n");
    for (int i = 0; i < all->n_each; i++) {
        fprintf(file,
                "Begin HostExport\nPER_HOST = n%d\nSLOTS = 3\nTYPE = shared\n"
                "DISTRIBUTION = ([s%d, 1])\nEnd HostExport\n",
                i + 1, (index + 1 + i) % all->n_sites);
    }
    fclose(file);
    conf_init(&conf, &all->arena);
    conf_read(&conf, "site", text, length);
    free(text);
    conf_check(&conf);
    if (!site_config_read_simulated(&conf, &setup) || conf.n_errors > 0) {
        bench_fail("site %d cannot be configured", index);
    }
    setup.config.is_alone = false;
    setup.config.is_prompt = true;
    setup.config.patience = PATIENCE;
    setup.config.max_array_size = JOB_INDEX_MAX;
    setup.config.clean_period_ms = INT64_MAX / 4;
    all->configs[index] = arena_copy(&all->arena, &setup.config, sizeof(setup.config));
}

static int compare_members(const void *a, const void *b)
{
    return strcmp(((const struct broker_member *)a)->name,
                  ((const struct broker_member *)b)->name);
}

static void make_world(struct crowded *all)
{
    struct world_options options = {.seed = 1, .start_ms = START_MS, .is_calm = true};
    for (int i = 0; i < all->n_sites; i++) {
        read_site(all, i);
        all->members[i] = (struct broker_member){
            .name = all->configs[i]->name, .roles = ROLE_PROVIDER | ROLE_CONSUMER};
    }
    qsort(all->members, (size_t)all->n_sites, sizeof(*all->members), compare_members);
    all->broker = (struct broker_config){.members = all->members,
                                         .n_members = all->n_sites,
                                         .lost_after_ms = 15000LL * PATIENCE};
    all->world = world_new(&options, &all->broker);
    for (int i = 0; i < all->n_sites; i++) {
        world_add_site(all->world, all->configs[i]);
    }
}

static void submit_first_jobs(struct crowded *all, int site)
{
    char command[32], name[32];
    struct msg msg = {.kind = MSG_SUBMIT, .site = ""};
    snprintf(command, sizeof(command), "run %d", JOB_MS);
    snprintf(name, sizeof(name), "first[1-%d]", all->n_each);
    msg.submit.request = 1;
    msg.submit.spec = (struct job_spec){.name = name,
                                        .queue = "",
                                        .command = command,
                                        .user = "",
                                        .cwd = "/",
                                        .in_file = "",
                                        .out_file = "",
                                        .err_file = "",
                                        .n_slots = 1};
    if (!world_client_ask(all->world, site, "ana", &msg, NULL, NULL)) {
        bench_fail("site %d is down", site);
    }
}

static void run_to(struct crowded *all, int64_t at_ms)
{
    if (!world_run(all->world, START_MS + at_ms)) {
        bench_fail("%s", world_violation(all->world));
    }
}

/* The number of leases in that state, and of all changes of contracts. */
static int count_leases(const struct crowded *all, enum lease_state state,
                        int *n_changes)
{
    const struct broker *broker = world_broker(all->world);
    int count = 0;
    *n_changes = 0;
    for (int i = 0; i < broker_count_leases(broker); i++) {
        struct row_lease lease;
        if (broker_find_lease(broker, broker_lease_id(broker, i), &lease)) {
            count += lease.state == state;
            *n_changes += (int)lease.epoch - 1;
        }
    }
    return count;
}

static void expect_all(const struct crowded *all, enum lease_state state,
                       const char *when, int *n_changes)
{
    int count = count_leases(all, state, n_changes);
    if (count != all->n_sites * all->n_each) {
        bench_fail("%d of %d leases are as they should be %s", count,
                   all->n_sites * all->n_each, when);
    }
}

static void live(struct crowded *all, struct crowded_life *life)
{
    int n_changes;
    make_world(all);
    run_to(all, SECOND_MS);
    expect_all(all, LEASE_PENDING, "when all have come", &n_changes);
    for (int i = 0; i < all->n_sites; i++) {
        submit_first_jobs(all, i);
    }
    run_to(all, MINUTE_MS);
    expect_all(all, LEASE_ACTIVE, "behind the first jobs", &n_changes);
    run_to(all, DELAY_S * SECOND_MS + MINUTE_MS);
    expect_all(all, LEASE_ACTIVE, "behind the round", &life->n_changes);
    if (life->n_changes != all->n_sites * all->n_each) {
        bench_fail("%d leases have changed", life->n_changes);
    }
    world_fault_crash(all->world, -1, SECOND_MS);
    run_to(all, DELAY_S * SECOND_MS + 2 * MINUTE_MS);
    expect_all(all, LEASE_ACTIVE, "behind the crash", &n_changes);
    life->n_steps = (long)world_counts(all->world).steps;
    life->n_leases = all->n_sites * all->n_each;
}

static void live_here(struct crowded_life *life, int n_sites, int n_leases_each)
{
    struct crowded all = {.n_sites = n_sites, .n_each = n_leases_each};
    struct timespec cpu;
    struct rusage usage;
    arena_init(&all.arena);
    all.configs = mem_alloc((size_t)n_sites, sizeof(*all.configs));
    all.members = mem_alloc((size_t)n_sites, sizeof(*all.members));
    live(&all, life);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
    getrusage(RUSAGE_SELF, &usage);
    life->cpu_s = (double)cpu.tv_sec + (double)cpu.tv_nsec / 1e9;
    life->peak_mib = (double)usage.ru_maxrss / 1024;
}

struct crowded_life crowded_world_live(int n_sites, int n_leases_each)
{
    struct crowded_life life = {0};
    int pipes[2], status;
    if (pipe(pipes) != 0) {
        bench_fail("no pipe");
    }
    pid_t pid = fork();
    if (pid == 0) {
        live_here(&life, n_sites, n_leases_each);
        ssize_t n = write(pipes[1], &life, sizeof(life));
        _exit(n == (ssize_t)sizeof(life) ? EXIT_SUCCESS : EXIT_FAILURE);
    }
    close(pipes[1]);
    if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0 ||
        read(pipes[0], &life, sizeof(life)) != (ssize_t)sizeof(life)) {
        bench_fail("the world of %d sites has failed", n_sites);
    }
    close(pipes[0]);
    return life;
}
