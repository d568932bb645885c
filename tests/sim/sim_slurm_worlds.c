/* SPDX-License-Identifier: Apache-2.0 */
/* sim_slurm_worlds.c: federations in which a Slurm cluster lends, in virtual time, with
 * the step machines of daemons and of the cluster's agent, and a simulated cluster.
 *
 * Faults are drawn by seed: daemons crash, also for longer than the term of
 * reservations; slurmctld is killed, forgets and is away; its answers are slow or lost;
 * administrators delete and edit reservations; nodes are set down and drained, and
 * fail; users of the cluster submit jobs all the time. The invariants of sim/invariant
 * hold after each step, no CPU is used twice by what runs on the nodes, and once the
 * faults are over every job ends and no change is open. SEED=N repeats one world, and
 * prints what the daemons log with TRACE=1; WORLDS=N plays more. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "broker/broker_config.h"
#include "sim/slurm/sim_slurm.h"
#include "sim/world/world.h"

enum { WORLDS = 12, FAULTS = 40, NORTH = 0, SOUTH = 1, N_NODES = 3 };

#define START_MS INT64_C(1795512300000)
#define MINUTE_MS INT64_C(60000)

static const char broker_text[] =
    "Begin Broker\nLISTEN = tcp://h:1\nSTATE = s\nKEY = k\nLOST_AFTER = 15s\nEnd "
    "Broker\n"
    "Begin Member\nNAME KEY_FILE ROLES\nnorth k (provider)\nsouth k (consumer)\n"
    "End Member\n";

static const char north_text[] =
    "Begin Site\nNAME = north\nSPOOL = s\nSCHEDULER = slurm\nEnd Site\n"
    "Begin Host\nHOST_NAME MXJ\nn1 2\nn2 4\nn3 4\nEnd Host\n"
    "Begin UserMap\nLOCAL REMOTE DIRECTION\nguest all@south import\nEnd UserMap\n"
    "Begin Queue\nQUEUE_NAME = normal\nHOSTS = allremote\nEnd Queue\n"
    "Begin Parameters\nMC_RECLAIM_DELAY = 1\nEnd Parameters\n"
    "Begin HostExport\nNAME = spare\nRES_SELECT = type==any\nNHOSTS = 3\n"
    "TYPE = shared\nINTERACTIVE = N\nON_LOST = %s\nDISTRIBUTION = ([south, 1])\n"
    "End HostExport\n";

static const char south_text[] = "Begin Site\nNAME = south\nSPOOL = s\nEnd Site\n"
                                 "Begin Host\nHOST_NAME MXJ\ns1 1\nEnd Host\n"
                                 "Begin Queue\nQUEUE_NAME = normal\nHOSTS = "
                                 "allremote\nRERUNNABLE = %s\nEnd Queue\n";

struct bench {
    struct arena arena;
    struct rng rng;
    uint64_t seed;
    struct world *world;
    int n_jobs;
};

/* ---------------------------------------------------------------- configurations */

static void read_conf(struct bench *bench, struct conf *conf, const char *text)
{
    conf_init(conf, &bench->arena);
    conf_read(conf, "world.conf", text, strlen(text));
    conf_check(conf);
}

static void expect_sound(const struct conf *conf)
{
    for (const struct conf_diag *diag = conf->diags; diag != NULL; diag = diag->next) {
        if (diag->severity == CONF_ERROR) {
            fail_msg("line %d: %s", diag->line, diag->text);
        }
    }
}

static const struct broker_config *read_broker(struct bench *bench)
{
    struct conf conf;
    struct broker_setup *setup = arena_alloc(&bench->arena, 1, sizeof(*setup));
    read_conf(bench, &conf, broker_text);
    assert_true(broker_config_read_simulated(&conf, setup));
    expect_sound(&conf);
    return &setup->config;
}

static const struct site_config *read_site(struct bench *bench, const char *text)
{
    struct conf conf;
    struct site_setup *setup = arena_alloc(&bench->arena, 1, sizeof(*setup));
    read_conf(bench, &conf, text);
    assert_true(site_config_read_simulated(&conf, setup));
    expect_sound(&conf);
    setup->config.is_alone = false;
    setup->config.clean_period_ms = INT64_MAX / 4;
    return &setup->config;
}

/* ---------------------------------------------------------------- events */

static void order(struct bench *bench, const char *const *words)
{
    struct sim_slurm_answer answer;
    sim_slurm_run(world_slurm_of(bench->world, NORTH), words, &bench->arena, &answer);
}
#define SLURM(...) order(bench, (const char *const[]){__VA_ARGS__, NULL})

static void submit(struct bench *bench)
{
    const char *name = arena_printf(&bench->arena, "j%d", ++bench->n_jobs);
    struct msg msg = {.kind = MSG_SUBMIT, .site = ""};
    msg.submit.request = 1;
    msg.submit.spec =
        (struct job_spec){.name = name,
                          .user = "",
                          .queue = "normal",
                          .command = arena_printf(&bench->arena, "run %d exit %d",
                                                  (int)rng_below(&bench->rng, 600000),
                                                  rng_percent(&bench->rng, 20) ? 3 : 0),
                          .cwd = "/",
                          .in_file = "",
                          .out_file = "",
                          .err_file = "",
                          .app = "",
                          .n_slots = 1 + (int)rng_below(&bench->rng, 2)};
    msg.submit.terms = (struct job_terms){.depend = "",
                                          .depend_on = "",
                                          .project = "",
                                          .has_slots = true,
                                          .user_group = "",
                                          .resize_notify = ""};
    (void)world_client_ask(bench->world, SOUTH, "ana", &msg, NULL, NULL);
}

static void own_job(struct bench *bench)
{
    SLURM(
        "sbatch", "--parsable", "--uid=user",
        arena_printf(&bench->arena, "--ntasks=%d", 1 + (int)rng_below(&bench->rng, 4)),
        "--wrap",
        arena_printf(&bench->arena, "sleep %d", (int)rng_below(&bench->rng, 600)));
}

static const char *a_node(struct bench *bench)
{
    static const char *const nodes[N_NODES] = {"n1", "n2", "n3"};
    return nodes[rng_below(&bench->rng, N_NODES)];
}

/* The name of some reservation; "": there is none. */
static const char *a_reservation(struct bench *bench)
{
    static const char *const words[] = {"scontrol", "--oneliner", "show", "reservation",
                                        NULL};
    struct sim_slurm_answer answer;
    sim_slurm_run(world_slurm_of(bench->world, NORTH), words, &bench->arena, &answer);
    const char *at = strstr(answer.output, "ReservationName=");
    for (const char *next = at; next != NULL && rng_percent(&bench->rng, 60);) {
        next = strstr(at + 1, "ReservationName=");
        at = next != NULL ? next : at;
    }
    return at != NULL ? arena_strn(&bench->arena, at, strcspn(at, " ")) : "";
}

static void administrator(struct bench *bench)
{
    const char *name = a_reservation(bench);
    const char *node = arena_printf(&bench->arena, "NodeName=%s", a_node(bench));
    switch (rng_below(&bench->rng, 8)) {
    case 0:
        SLURM("scontrol", "delete", name);
        break;
    case 1:
        SLURM("scontrol", "update", "reservation", name, "Users=root");
        break;
    case 2:
        SLURM("scontrol", "update", "reservation", name, "EndTime=now+60");
        break;
    case 3:
        SLURM("scontrol", "update", "reservation", name, "Flags+=FLEX");
        break;
    case 4:
        SLURM("scontrol", "update", node, "State=DRAIN", "Reason=test");
        break;
    case 5:
        SLURM("scontrol", "update", node, "State=DOWN", "Reason=test");
        break;
    case 6:
        SLURM("scontrol", "update", node, "State=RESUME");
        break;
    default:
        SLURM("scontrol", "reconfigure");
    }
}

static void trace(void *arg, int64_t now_ms, const char *line)
{
    (void)arg;
    printf("%8.3f %s\n", (double)now_ms / 1000, line);
}

static void run_for(struct bench *bench, int64_t ms)
{
    if (!world_run(bench->world, world_now_ms(bench->world) + ms)) {
        fail_msg("seed %" PRIu64 ": %s", bench->seed, world_violation(bench->world));
    }
}

/* slurmctld is killed, and what it has last on disk is a while old. Mostly a leased job
 * that waited then has begun, and begins again. */
static void forget(struct bench *bench)
{
    static const char *const waiting[] = {"squeue", "--user",   "guest",   "--states",
                                          "PD",     "--Format", "JobID:8", NULL};
    struct sim_slurm *cluster = world_slurm_of(bench->world, NORTH);
    struct sim_slurm_answer answer = {.output = ""};
    for (int i = 0; i < 600 && answer.output[0] == '\0'; i++) {
        if (i % 60 == 0) {
            submit(bench);
        }
        run_for(bench, 500);
        sim_slurm_run(cluster, waiting, &bench->arena, &answer);
    }
    sim_slurm_set_saving(cluster, false);
    run_for(bench, rng_below(&bench->rng, 20000));
    sim_slurm_kill(cluster, rng_below(&bench->rng, 10 * MINUTE_MS), true);
    sim_slurm_set_saving(cluster, true);
}

static void fault(struct bench *bench)
{
    struct world *world = bench->world;
    struct sim_slurm *cluster = world_slurm_of(world, NORTH);
    switch (rng_below(&bench->rng, 10)) {
    case 0:
        world_fault_crash(world, NORTH, rng_below(&bench->rng, 2 * MINUTE_MS));
        break;
    case 1: /* longer than the term */
        world_fault_crash(world, NORTH, rng_below(&bench->rng, 30 * MINUTE_MS));
        break;
    case 2:
        world_fault_crash(world, rng_percent(&bench->rng, 50) ? SOUTH : -1,
                          rng_below(&bench->rng, 2 * MINUTE_MS));
        break;
    case 3:
        forget(bench);
        break;
    case 4:
        sim_slurm_kill(cluster, rng_below(&bench->rng, 10 * MINUTE_MS), false);
        break;
    case 5:
        sim_slurm_fail_node(cluster, a_node(bench),
                            rng_below(&bench->rng, 5 * MINUTE_MS));
        break;
    case 6:
        world_fault_partition(world, rng_percent(&bench->rng, 50) ? SOUTH : NORTH,
                              rng_below(&bench->rng, 3 * MINUTE_MS));
        break;
    case 7:
        SLURM("scancel", "--user=guest");
        break;
    default:
        administrator(bench);
    }
}

/* ---------------------------------------------------------------- worlds */

static struct world *make_world(struct bench *bench)
{
    const struct world_options options = {.seed = bench->seed,
                                          .start_ms = START_MS,
                                          .delay_ms = 5,
                                          .slurm_loss_in_10000 = 200,
                                          .slurm_slow_ms =
                                              rng_percent(&bench->rng, 20) ? 10000 : 0};
    struct world *world = world_new(&options, read_broker(bench));
    const char *north = arena_printf(&bench->arena, north_text,
                                     rng_percent(&bench->rng, 50) ? "kill" : "keep");
    assert_int_equal(world_add_site(world, read_site(bench, north)), NORTH);
    const char *south = arena_printf(&bench->arena, south_text,
                                     rng_percent(&bench->rng, 50) ? "yes" : "no");
    assert_int_equal(world_add_site(world, read_site(bench, south)), SOUTH);
    if (getenv("TRACE") != NULL) {
        world_set_trace(world, trace, NULL);
    }
    return world;
}

/* What the cluster says. */
static const char *describe(struct bench *bench)
{
    static const char *const commands[][6] = {
        {"sinfo", "--Format", "NodeList:8,StateComplete:40,CPUsState:12", NULL},
        {"squeue", "--states", "all", "--Format",
         "JobID:6,StateCompact:4,NodeList:6,Reservation:40,Comment:40", NULL},
        {"scontrol", "show", "reservation", NULL}};
    const char *text = "";
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
        struct sim_slurm_answer answer;
        sim_slurm_run(world_slurm_of(bench->world, NORTH), commands[i], &bench->arena,
                      &answer);
        text = arena_printf(&bench->arena, "%s%s", text, answer.output);
    }
    return text;
}

/* What an administrator does once the faults are over. */
static void calm_down(struct bench *bench)
{
    const struct world_options calm = {.delay_ms = 5};
    static const char *const nodes[N_NODES] = {"n1", "n2", "n3"};
    char reason[512] = "";
    world_fault_set_random(bench->world, &calm);
    run_for(bench, 45 * MINUTE_MS); /* all are up again, and lost jobs are found */
    for (int i = 0; i < N_NODES; i++) {
        SLURM("scontrol", "update",
              arena_printf(&bench->arena, "NodeName=%s", nodes[i]), "State=RESUME");
    }
    for (int i = 0; i < 24 * 60; i++) {
        run_for(bench, MINUTE_MS);
        if (world_is_settled(bench->world, reason, sizeof(reason))) {
            return;
        }
    }
    fail_msg("seed %" PRIu64 ": it does not come to an end: %s\n%s", bench->seed,
             reason, describe(bench));
}

/* How many leased jobs have begun. */
static uint64_t play(uint64_t seed)
{
    struct bench bench = {.seed = seed};
    arena_init(&bench.arena);
    rng_init(&bench.rng, seed);
    bench.world = make_world(&bench);
    run_for(&bench, MINUTE_MS);
    for (int i = 0; i < FAULTS; i++) {
        for (int k = 0; k < 3; k++) {
            submit(&bench);
            if (rng_percent(&bench.rng, 40)) {
                own_job(&bench);
            }
            run_for(&bench, rng_below(&bench.rng, MINUTE_MS));
        }
        fault(&bench);
    }
    calm_down(&bench);
    struct world_counts counts = world_counts(bench.world);
    if (getenv("TRACE") != NULL) {
        printf("begun %" PRIu64 ", handovers %" PRIu64 ", crashes %" PRIu64 "\n",
               counts.begun, counts.handovers, counts.crashes);
    }
    world_free(bench.world);
    arena_release(&bench.arena);
    return counts.begun;
}

static void test_worlds(void **state)
{
    const char *only = getenv("SEED"), *more = getenv("WORLDS");
    uint64_t first = only != NULL ? strtoull(only, NULL, 10) : 1;
    uint64_t last = only != NULL   ? first
                    : more != NULL ? strtoull(more, NULL, 10)
                                   : WORLDS;
    uint64_t n_begun = 0;
    (void)state;
    for (uint64_t seed = first; seed <= last; seed++) {
        n_begun += play(seed);
    }
    printf("%" PRIu64 " worlds, %" PRIu64 " leased jobs began\n", last - first + 1,
           n_begun);
    assert_true(n_begun > 10 * (last - first + 1)); /* something is played at all */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_worlds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
