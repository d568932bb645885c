/* SPDX-License-Identifier: Apache-2.0 */
/* prop_slurm_borrow.c: a simulated Slurm cluster (sim/slurm) of which some nodes are
 * borrowed. Users submit and cancel jobs, providers give hosts, recall them, take them
 * away and lose them; commands are late or lost; slurmctld is killed and forgets; the
 * site restarts; an administrator drains, downs and deletes nodes. No guest is ended
 * while a job runs on its node, unless its slots are recalled; no job starts on a node
 * that has been told to leave; no CPU is used twice. Once the faults are over, every
 * job ends, and then all guests and their nodes are gone. SEED=N repeats one run,
 * WORLDS=N plays more. */
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
#include "sim/slurm/sim_slurm.h"
#include "slurm/slurm_borrow.h"

enum {
    WORLDS = 60,
    EVENTS = 150,
    GUESTS = 400,
    MAX = 12,
    HOSTS_SLOTS = 6,
    STEP_MAX_MS = 30000,
    CALM_MS = 6 * 3600 * 1000,
    START_MS = 1000000,
};

enum guest_state { WAITING, PLACED, BEGUN, ENDED };

struct guest {
    enum guest_state state;
    int n_slots;
    int64_t at_ms; /* PLACED: it begins then; BEGUN: since then */
    int64_t recall_ms;
    bool is_told; /* to leave, by a drain that slurmctld has carried out */
};

struct world {
    struct rng rng;
    uint64_t seed;
    int64_t now_ms;
    struct sim_slurm *slurm;
    struct slurm_borrow *borrow;
    struct arena arena; /* of the command under way */
    const char *const *command;
    int64_t command_ms; /* it is answered then */
    struct guest guests[GUESTS];
    int n_guests;
    bool has_faults, had_amnesia;
    int64_t n_done;
    uint64_t n_lives;
};

static const char *node_of(struct world *world, int guest, char name[32])
{
    (void)world;
    (void)snprintf(name, 32, "sublet%d", guest + 1);
    return name;
}

static void fault(const struct world *world, const char *what, const char *which)
{
    fail_msg("seed %" PRIu64 " at %" PRId64 " ms: %s: %s", world->seed,
             world->now_ms - START_MS, what, which);
}

/* ---------------------------------------------------------------- what the machine
 * needs
 */

static void command(void *arg, const char *const *words)
{
    struct world *world = arg;
    int count = 0;
    assert_null(world->command);
    while (words[count] != NULL) {
        count++;
    }
    arena_clear(&world->arena);
    const char **copy = arena_alloc(&world->arena, (size_t)count + 1, sizeof(*copy));
    for (int i = 0; i < count; i++) {
        copy[i] = arena_str(&world->arena, words[i]);
    }
    world->command = copy;
    world->command_ms =
        world->now_ms + (world->has_faults && rng_percent(&world->rng, 10)
                             ? rng_below(&world->rng, 30000)
                             : rng_below(&world->rng, 300));
}

static int list(void *arg, struct arena *arena, struct slurm_guest **guests)
{
    const struct world *world = arg;
    int count = 0;
    *guests = arena_alloc(arena, GUESTS, sizeof(**guests));
    for (int i = 0; i < world->n_guests; i++) {
        const struct guest *guest = &world->guests[i];
        if (guest->state != ENDED) {
            (*guests)[count++] = (struct slurm_guest){
                .job = (uint64_t)i + 1,
                .n_slots = guest->n_slots,
                .has_host = guest->state != WAITING,
                .has_begun = guest->state == BEGUN,
                .begun_ms = guest->state == BEGUN ? guest->at_ms : 0,
                .recall_ms = guest->recall_ms};
        }
    }
    return count;
}

static int host_max(void *arg)
{
    (void)arg;
    return HOSTS_SLOTS;
}

static void submit(void *arg, int n_slots)
{
    struct world *world = arg;
    int n_open = 0;
    for (int i = 0; i < world->n_guests; i++) {
        n_open += world->guests[i].state != ENDED;
    }
    assert_true(n_slots >= 1);
    if (n_open >= MAX) {
        fault(world, "too many guests", "");
    }
    if (world->n_guests < GUESTS) {
        world->guests[world->n_guests++] = (struct guest){.n_slots = n_slots};
    }
}

/* Its slurmd and all that it runs end. */
static void end_guest(struct world *world, int index)
{
    char name[32];
    if (world->guests[index].state == BEGUN) {
        sim_slurm_fail_node(world->slurm, node_of(world, index, name), INT32_MAX);
    }
    world->guests[index].state = ENDED;
}

static void end(void *arg, uint64_t job)
{
    struct world *world = arg;
    int index = (int)job - 1;
    struct guest *guest = &world->guests[index];
    char name[32];
    assert_true(job >= 1 && index < world->n_guests && guest->state != ENDED);
    if (guest->state == BEGUN && guest->recall_ms == 0 && !world->had_amnesia &&
        sim_slurm_count_used(world->slurm, node_of(world, index, name), NULL) > 0) {
        fault(world, "a guest is ended while jobs run on its node", name);
    }
    end_guest(world, index);
}

static void log_nothing(void *arg, enum log_level level, const char *text)
{
    (void)arg;
    (void)level;
    assert_true(text[0] != '\0');
}

static struct slurm_borrow *new_borrow(struct world *world)
{
    const struct slurm_borrow_config config = {.partition = "borrowed",
                                               .cycle_ms = 15000,
                                               .idle_ms = 60000,
                                               .stay_ms = 3600000,
                                               .notice_ms = 45000,
                                               .max = MAX,
                                               .seed = world->seed + world->n_lives++};
    const struct slurm_borrow_io io = {.arg = world,
                                       .command = command,
                                       .list = list,
                                       .host_max = host_max,
                                       .submit = submit,
                                       .end = end,
                                       .log = log_nothing};
    return slurm_borrow_new(&config, &io, world->now_ms);
}

/* ---------------------------------------------------------------- what happens */

static void note_drain(struct world *world)
{
    int guest;
    if (strcmp(world->command[0], "scontrol") == 0 &&
        strcmp(world->command[1], "update") == 0 &&
        strcmp(world->command[3], "State=DRAIN") == 0 &&
        sscanf(world->command[2], "NodeName=sublet%d", &guest) == 1) {
        world->guests[guest - 1].is_told = true;
    }
}

/* The command is carried out, or not; and so is the machine told, or not. */
static void answer(struct world *world)
{
    struct sim_slurm_answer answer = {.status = 1, .output = "", .error = "timeout"};
    struct err err = {.code = ERR_AWAY, .text = "no answer"};
    bool is_lost = world->has_faults && rng_percent(&world->rng, 5);
    if (!is_lost || rng_percent(&world->rng, 50)) {
        sim_slurm_run(world->slurm, world->command, &world->arena, &answer);
        if (answer.status == 0) {
            note_drain(world);
        }
    }
    world->command = NULL;
    (void)err_set(&err, ERR_IO, "%s", answer.error);
    struct arena arena =
        world->arena; /* the answer is there, and the next one begins */
    arena_init(&world->arena);
    slurm_borrow_done(world->borrow,
                      is_lost || answer.status != 0 ? NULL : answer.output, &err,
                      world->now_ms);
    arena_release(&arena);
}

static void run_line(struct world *world, const char *const *words)
{
    struct sim_slurm_answer answer;
    struct arena arena;
    arena_init(&arena);
    sim_slurm_run(world->slurm, words, &arena, &answer);
    arena_release(&arena);
}
#define RUN(...) run_line(world, (const char *const[]){__VA_ARGS__, NULL})

static void users_job(struct world *world)
{
    char wrap[32], n_cpus[32];
    (void)snprintf(wrap, sizeof(wrap), "sleep %d", (int)rng_below(&world->rng, 600));
    (void)snprintf(n_cpus, sizeof(n_cpus), "--ntasks=%d",
                   1 + (int)rng_below(&world->rng, HOSTS_SLOTS));
    RUN("sbatch", "--parsable", "--partition=borrowed", "--uid=ann", n_cpus, "--wrap",
        wrap);
}

/* Providers give hosts to guests that wait, and more slots than they need. */
static void provide(struct world *world)
{
    for (int i = 0; i < world->n_guests; i++) {
        struct guest *guest = &world->guests[i];
        if (guest->state == WAITING && rng_percent(&world->rng, 50)) {
            int n_more = HOSTS_SLOTS - guest->n_slots;
            guest->n_slots += n_more > 0 ? (int)rng_below(&world->rng, n_more + 1) : 0;
            guest->state = PLACED;
            guest->at_ms = world->now_ms + rng_below(&world->rng, 5000);
        }
    }
}

static void begin_guests(struct world *world)
{
    for (int i = 0; i < world->n_guests; i++) {
        struct guest *guest = &world->guests[i];
        char name[32];
        if (guest->state == PLACED && guest->at_ms <= world->now_ms) {
            guest->state = BEGUN;
            if (!world->has_faults || rng_percent(&world->rng, 95)) { /* it registers */
                sim_slurm_add_node(world->slurm, &(struct sim_slurm_node){
                                                     .name = node_of(world, i, name),
                                                     .n_cpus = guest->n_slots,
                                                     .mem_mib = 1000,
                                                     .features = "sublet,north",
                                                     .partitions = "borrowed",
                                                     .is_dynamic = true});
            }
        } else if (guest->state == BEGUN && guest->recall_ms != 0 &&
                   guest->recall_ms <= world->now_ms) {
            end_guest(world, i); /* its provider does */
        }
    }
}

static void administrator(struct world *world, const char *node)
{
    const char *name = arena_printf(&world->arena, "NodeName=%s", node);
    switch (rng_below(&world->rng, 4)) {
    case 0:
        RUN("scontrol", "update", name, "State=DRAIN", "Reason=test");
        break;
    case 1:
        RUN("scontrol", "update", name, "State=RESUME");
        world->had_amnesia = true; /* it may undo what the machine has drained */
        break;
    case 2:
        RUN("scontrol", "update", name, "State=DOWN", "Reason=test");
        world->had_amnesia = true; /* its jobs are requeued, not ended at once */
        break;
    default:
        RUN("scontrol", "delete", name);
    }
}

static void restart(struct world *world)
{
    slurm_borrow_free(world->borrow);
    world->command = NULL;
    world->borrow = new_borrow(world);
}

static void event(struct world *world)
{
    char name[32] = "sublet1";
    int index = world->n_guests > 0 ? (int)rng_below(&world->rng, world->n_guests) : 0;
    struct guest *guest = &world->guests[index];
    bool has_guest = world->n_guests > 0 && guest->state == BEGUN;
    switch (rng_below(&world->rng, 12)) {
    case 0:
    case 1:
    case 2:
        users_job(world);
        break;
    case 3:
    case 4:
        provide(world);
        break;
    case 5:
        RUN("scancel",
            arena_printf(&world->arena, "%d", 1 + (int)rng_below(&world->rng, 60)));
        break;
    case 6:
        guest->recall_ms = !has_guest ? guest->recall_ms
                           : guest->recall_ms != 0
                               ? 0
                               : world->now_ms + rng_below(&world->rng, 300000);
        break;
    case 7:
        if (has_guest) { /* its machine is lost */
            end_guest(world, index);
        }
        break;
    case 8:
        if (rng_percent(&world->rng, 30)) {
            world->had_amnesia = true;
            sim_slurm_kill(world->slurm, rng_below(&world->rng, 600000), true);
        } else {
            sim_slurm_kill(world->slurm, rng_below(&world->rng, 60000), false);
        }
        break;
    case 9:
        restart(world);
        break;
    case 10:
        if (has_guest && rng_percent(&world->rng, 30)) {
            administrator(world, node_of(world, index, name));
        }
        break;
    default:
        break;
    }
}

/* ---------------------------------------------------------------- time */

static void check(struct world *world)
{
    const char *node = sim_slurm_overused(world->slurm);
    if (node != NULL) {
        fault(world, "CPUs are used twice", node);
    }
}

static int64_t least(int64_t left, int64_t right)
{
    return left < right ? left : right;
}

static int64_t next_of(const struct guest *guest)
{
    return guest->state == PLACED                           ? guest->at_ms
           : guest->state == BEGUN && guest->recall_ms != 0 ? guest->recall_ms
                                                            : INT64_MAX;
}

/* Everything up to that instant, in the order of time. */
static void run_until(struct world *world, int64_t until_ms)
{
    while (world->now_ms < until_ms) {
        int64_t next_ms = until_ms;
        int64_t wake_ms = slurm_borrow_wake_ms(world->borrow);
        int64_t slurm_ms = sim_slurm_next_ms(world->slurm);
        next_ms = least(least(next_ms, wake_ms), slurm_ms);
        next_ms = world->command != NULL && world->command_ms < next_ms
                      ? world->command_ms
                      : next_ms;
        for (int i = 0; i < world->n_guests; i++) {
            next_ms = least(next_ms, next_of(&world->guests[i]));
        }
        world->now_ms = next_ms > world->now_ms ? next_ms : world->now_ms;
        sim_slurm_advance(world->slurm, world->now_ms);
        begin_guests(world);
        if (world->command != NULL && world->command_ms <= world->now_ms) {
            answer(world);
        }
        slurm_borrow_tick(world->borrow, world->now_ms);
        check(world);
    }
}

/* ---------------------------------------------------------------- the property */

static bool is_quiet(struct world *world)
{
    struct sim_slurm_answer jobs, nodes;
    struct arena arena;
    arena_init(&arena);
    static const char *const squeue[] = {"squeue", "--Format", "JobID:8", NULL};
    static const char *const sinfo[] = {"sinfo",       "--Format", "NodeList:16",
                                        "--partition", "borrowed", NULL};
    sim_slurm_run(world->slurm, squeue, &arena, &jobs);
    sim_slurm_run(world->slurm, sinfo, &arena, &nodes);
    bool is_quiet = sim_slurm_is_up(world->slurm) && jobs.output[0] == '\0' &&
                    nodes.output[0] == '\0';
    arena_release(&arena);
    for (int i = 0; i < world->n_guests; i++) {
        is_quiet = is_quiet && world->guests[i].state == ENDED;
    }
    return is_quiet;
}

static const char *describe(struct world *world)
{
    static const char *const squeue[] = {
        "squeue", "--states=all", "--Format",
        "JobID:6,StateCompact:4,NumCPUs:4,NodeList:10,Reason:20", NULL};
    static const char *const sinfo[] = {
        "sinfo", "--Format", "NodeList:12,StateComplete:40,CPUsState:12", NULL};
    struct sim_slurm_answer jobs, nodes;
    sim_slurm_run(world->slurm, squeue, &world->arena, &jobs);
    sim_slurm_run(world->slurm, sinfo, &world->arena, &nodes);
    const char *text = arena_printf(&world->arena, "%s%s", jobs.output, nodes.output);
    for (int i = 0; i < world->n_guests; i++) {
        if (world->guests[i].state != ENDED) {
            text =
                arena_printf(&world->arena, "%sguest %d: %d, %d slots\n", text, i + 1,
                             (int)world->guests[i].state, world->guests[i].n_slots);
        }
    }
    return text;
}

static void calm_down(struct world *world)
{
    int64_t until_ms = world->now_ms + CALM_MS;
    world->has_faults = false;
    if (world->had_amnesia) { /* what is running only in slurmctld's books */
        run_until(world, world->now_ms + 1200000);
        RUN("scancel", "--user=ann");
    }
    for (int i = 0; i < world->n_guests; i++) {
        world->guests[i].recall_ms = 0;
    }
    while (world->now_ms < until_ms && !is_quiet(world)) {
        provide(world);
        run_until(world, world->now_ms + STEP_MAX_MS);
    }
    if (!is_quiet(world)) {
        {
            fprintf(stderr, "%s n=%d\n", describe(world), world->n_guests);
            fault(world, "it does not come to an end", "");
        }
    }
}

/* How many guests there were. */
static int play(uint64_t seed)
{
    struct world world = {.seed = seed, .now_ms = START_MS, .has_faults = true};
    rng_init(&world.rng, seed);
    arena_init(&world.arena);
    world.slurm = sim_slurm_new(seed, "main,borrowed", NULL, START_MS);
    sim_slurm_add_node(world.slurm, &(struct sim_slurm_node){.name = "n1",
                                                             .n_cpus = 2,
                                                             .mem_mib = 1000,
                                                             .features = "",
                                                             .partitions = "main"});
    world.borrow = new_borrow(&world);
    for (int i = 0; i < EVENTS && world.n_guests < GUESTS / 2; i++) {
        run_until(&world, world.now_ms + rng_below(&world.rng, STEP_MAX_MS));
        event(&world);
    }
    calm_down(&world);
    slurm_borrow_free(world.borrow);
    sim_slurm_free(world.slurm);
    arena_release(&world.arena);
    return world.n_guests;
}

static void guests_come_and_go(void **state)
{
    const char *only = getenv("SEED"), *more = getenv("WORLDS");
    uint64_t first = only != NULL ? strtoull(only, NULL, 10) : 1;
    uint64_t last = only != NULL   ? first
                    : more != NULL ? strtoull(more, NULL, 10)
                                   : WORLDS;
    int n_guests = 0;
    (void)state;
    for (uint64_t seed = first; seed <= last; seed++) {
        n_guests += play(seed);
    }
    assert_true(n_guests > (int)(last - first)); /* they are there at all */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(guests_come_and_go)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
