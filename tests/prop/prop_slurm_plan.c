/* SPDX-License-Identifier: Apache-2.0 */
/* prop_slurm_plan.c: reservations of a small cluster of which nodes are lent, recalled
 * and used, with orders that are lost, users' own jobs that come at any time, and an
 * administrator who deletes, edits and overlaps. No order puts a node into two
 * reservations, takes one out while a job of its reservation runs there, or touches
 * what is not the site's; what the plan says is reserved or held is; and once the
 * faults are over, what is lent is reserved, and nothing else. SEED=N repeats one run.
 *
 * The cluster refuses what slurmctld 22.05.8 refuses (docs/adr/0024): to reserve nodes
 * that have jobs or another reservation, and to delete a reservation that is in use. */
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
#include "slurm/slurm_plan.h"

enum { WORLDS = 2000, STEPS = 60, NODES = 6, LEASES = 3, BOOKS = 16, TERM_S = 900 };

struct book { /* a reservation */
    char name[64], users[64];
    bool is_there, is_flex, nodes[NODES];
    int64_t end_s;
};

struct task {              /* the job of a node; each has at most one */
    bool is_there, is_own; /* of no lease */
    int book;              /* -1: none, or one that is gone */
};

struct lease {
    uint64_t epoch;
    bool nodes[NODES], held[NODES], may_change[NODES], is_frozen, keeps_jobs;
    bool is_gone; /* it has ended: there is no contract */
    bool has_node[NODES];
};

struct world {
    struct rng rng;
    uint64_t seed;
    int64_t now_s;
    struct book books[BOOKS];
    struct task tasks[NODES];
    struct lease leases[LEASES];
    bool has_faults;
};

static const char *const node_names[NODES] = {"n1", "n2", "n3", "n4", "n5", "n6"};
static const char *const consumers[LEASES] = {"south", "east_2", "west"};

/* ---------------------------------------------------------------- the cluster */

static int books_of(const struct world *world, int node)
{
    int count = 0;
    for (int i = 0; i < BOOKS; i++) {
        count += world->books[i].is_there && world->books[i].nodes[node];
    }
    return count;
}

static struct book *find_book(struct world *world, const char *name)
{
    for (int i = 0; i < BOOKS; i++) {
        if (world->books[i].is_there && strcmp(world->books[i].name, name) == 0) {
            return &world->books[i];
        }
    }
    return NULL;
}

static struct book *new_book(struct world *world)
{
    for (int i = 0; i < BOOKS; i++) {
        if (!world->books[i].is_there) {
            world->books[i] = (struct book){.is_there = true};
            return &world->books[i];
        }
    }
    return NULL;
}

static bool is_in_use(const struct world *world, const struct book *book, int node)
{
    return world->tasks[node].is_there &&
           world->tasks[node].book == (int)(book - world->books);
}

static void remove_book(struct world *world, struct book *book)
{
    book->is_there = false;
    for (int i = 0; i < NODES; i++) {
        if (is_in_use(world, book, i)) {
            world->tasks[i].is_there = book->is_flex;
            world->tasks[i].book = -1;
        }
    }
}

static void pass_time(struct world *world, int64_t seconds)
{
    world->now_s += seconds;
    for (int i = 0; i < BOOKS; i++) {
        if (world->books[i].is_there && world->books[i].end_s <= world->now_s) {
            remove_book(world, &world->books[i]);
        }
    }
}

/* ---------------------------------------------------------------- orders */

static const char *value_of(const struct slurm_order *order, const char *key)
{
    for (int i = 0; order->words[i] != NULL; i++) {
        if (strncmp(order->words[i], key, strlen(key)) == 0) {
            return order->words[i] + strlen(key);
        }
    }
    return NULL;
}

static void set_nodes(struct world *world, struct book *book, const char *list)
{
    bool wanted[NODES] = {false};
    char text[256];
    snprintf(text, sizeof(text), "%s", list);
    char *rest = text;
    for (const char *name; (name = strsep(&rest, ",")) != NULL;) {
        assert_true(name[0] == 'n' && name[1] >= '1' && name[1] <= '6');
        wanted[name[1] - '1'] = true;
    }
    for (int i = 0; i < NODES; i++) {
        if (wanted[i] && !book->nodes[i] &&
            (world->tasks[i].is_there || books_of(world, i) > 0)) {
            if (books_of(world, i) > 0) {
                fail_msg("seed %" PRIu64 ": %s would be in two reservations",
                         world->seed, node_names[i]);
            }
            return; /* "Requested nodes are busy" */
        }
        if (!wanted[i] && book->nodes[i] && is_in_use(world, book, i)) {
            fail_msg("seed %" PRIu64 ": %s is taken out of %s while a job of it runs",
                     world->seed, node_names[i], book->name);
        }
    }
    memcpy(book->nodes, wanted, sizeof(wanted));
}

static bool has_nodes(const struct book *book)
{
    for (int i = 0; i < NODES; i++) {
        if (book->nodes[i]) {
            return true;
        }
    }
    return false;
}

static void delete_book(struct world *world, struct book *book)
{
    for (int i = 0; i < NODES; i++) {
        if (is_in_use(world, book, i)) {
            fail_msg("seed %" PRIu64 ": %s is deleted while a job of it runs",
                     world->seed, book->name);
        }
    }
    book->is_there = false;
}

static void change_book(struct world *world, struct book *book,
                        const struct slurm_order *order)
{
    const char *end = value_of(order, "EndTime=now+");
    const char *nodes = value_of(order, "Nodes=");
    const char *users = value_of(order, "Users=");
    if (nodes != NULL) {
        set_nodes(world, book, nodes);
    }
    if (end != NULL) {
        book->end_s = world->now_s + strtol(end, NULL, 10);
    }
    if (users != NULL) {
        snprintf(book->users, sizeof(book->users), "%s", users);
    }
    if (value_of(order, "Flags=FLEX") != NULL || value_of(order, "Flags+=") != NULL) {
        book->is_flex = true;
    } else if (value_of(order, "Flags-=") != NULL) {
        book->is_flex = false;
    }
}

static void carry_out(struct world *world, const struct slurm_order *order)
{
    const char *verb = order->words[1];
    struct book *book = find_book(world, order->reservation);
    if (strncmp(order->reservation, "sublet_north_", strlen("sublet_north_")) != 0) {
        fail_msg("seed %" PRIu64 ": %s is not the site's", world->seed,
                 order->reservation);
    }
    assert_string_equal(value_of(order, "ReservationName="), order->reservation);
    if (strcmp(verb, "create") == 0) {
        assert_null(book);
        book = new_book(world);
        if (book != NULL) {
            snprintf(book->name, sizeof(book->name), "%s", order->reservation);
            change_book(world, book, order);
            book->is_there = has_nodes(book);
        }
    } else if (book != NULL && strcmp(verb, "delete") == 0) {
        delete_book(world, book);
    } else if (book != NULL) {
        change_book(world, book, order);
    }
}

/* ---------------------------------------------------------------- answers */

static void read_nodes(const struct world *world, struct arena *arena,
                       struct slurm_nodes *nodes)
{
    nodes->items = arena_alloc(arena, NODES, sizeof(*nodes->items));
    nodes->count = NODES;
    for (int i = 0; i < NODES; i++) {
        bool is_used = world->tasks[i].is_there;
        nodes->items[i] = (struct slurm_node){
            .name = node_names[i],
            .state = is_used                  ? "allocated"
                     : books_of(world, i) > 0 ? "idle+reserved"
                                              : "idle",
            .cpus = 4,
            .used_cpus = is_used ? 4 : 0,
        };
    }
}

static void read_books(const struct world *world, struct arena *arena,
                       struct slurm_reservations *reservations)
{
    reservations->items = arena_alloc(arena, BOOKS, sizeof(*reservations->items));
    for (int i = 0; i < BOOKS; i++) {
        const struct book *book = &world->books[i];
        const char **names = arena_alloc(arena, NODES, sizeof(*names));
        int n_names = 0;
        for (int k = 0; k < NODES; k++) {
            if (book->nodes[k]) {
                names[n_names++] = node_names[k];
            }
        }
        if (book->is_there) {
            reservations->items[reservations->count++] =
                (struct slurm_reservation){.name = arena_str(arena, book->name),
                                           .start_s = world->now_s - 1,
                                           .end_s = book->end_s,
                                           .users = arena_str(arena, book->users),
                                           .is_flex = book->is_flex,
                                           .is_active = true,
                                           .nodes = names,
                                           .n_nodes = n_names};
        }
    }
}

static void read_world(const struct world *world, struct arena *arena,
                       struct slurm_answers *answers)
{
    *answers = (struct slurm_answers){.jobs.count = 0};
    read_nodes(world, arena, &answers->nodes);
    read_books(world, arena, &answers->reservations);
    answers->jobs.items = arena_alloc(arena, NODES, sizeof(*answers->jobs.items));
    for (int i = 0; i < NODES; i++) {
        const struct task *task = &world->tasks[i];
        if (task->is_there) {
            answers->jobs.items[answers->jobs.count++] = (struct slurm_job){
                .id = i + 1,
                .state = "R",
                .reservation = task->book >= 0 ? world->books[task->book].name : "",
                .nodes = &node_names[i],
                .n_nodes = 1};
        }
    }
}

static int read_leases(const struct world *world, struct arena *arena,
                       struct slurm_contract contracts[LEASES])
{
    int count = 0;
    for (int i = 0; i < LEASES; i++) {
        const struct lease *lease = &world->leases[i];
        if (lease->is_gone) {
            continue;
        }
        const char **nodes = arena_alloc(arena, NODES, sizeof(*nodes));
        const char **held = arena_alloc(arena, NODES, sizeof(*held));
        contracts[count] = (struct slurm_contract){.policy = "p",
                                                   .consumer = consumers[i],
                                                   .epoch = lease->epoch,
                                                   .users = "ann,bob",
                                                   .keeps_jobs = lease->keeps_jobs,
                                                   .nodes = nodes,
                                                   .held = held};
        for (int k = 0; k < NODES; k++) {
            if (lease->nodes[k]) {
                nodes[contracts[count].n_nodes++] = node_names[k];
            } else if (lease->held[k]) {
                held[contracts[count].n_held++] = node_names[k];
            }
        }
        count++;
    }
    return count;
}

/* ---------------------------------------------------------------- the plan */

static void take_standing(struct world *world, struct lease *lease,
                          const struct slurm_standing *standing)
{
    int n_nodes = 0, n_held = 0;
    assert_false(standing->is_behind);
    for (int i = 0; i < NODES; i++) {
        lease->has_node[i] = lease->nodes[i] && standing->has_node[n_nodes];
        lease->may_change[i] =
            !lease->nodes[i] && lease->held[i] && standing->is_held[n_held];
        n_nodes += lease->nodes[i];
        n_held += !lease->nodes[i] && lease->held[i];
        if ((lease->has_node[i] || lease->may_change[i]) && books_of(world, i) != 1) {
            fail_msg("seed %" PRIu64 ": %s is in %d reservations", world->seed,
                     node_names[i], books_of(world, i));
        }
        if (lease->may_change[i] && world->tasks[i].is_there) {
            fail_msg("seed %" PRIu64 ": %s is held, and not idle", world->seed,
                     node_names[i]);
        }
    }
}

static void own_job(struct world *world)
{
    int node = (int)rng_below(&world->rng, NODES);
    if (!world->tasks[node].is_there && books_of(world, node) == 0) {
        world->tasks[node] = (struct task){true, true, -1};
    }
}

/* How many orders there were. */
static int cycle(struct world *world)
{
    struct arena arena;
    struct slurm_answers answers;
    struct slurm_contract contracts[LEASES];
    struct slurm_plan plan;
    struct err err = {.text = ""};
    const struct slurm_terms terms = {"north", "root", TERM_S, world->now_s};
    arena_init(&arena);
    read_world(world, &arena, &answers);
    int n_contracts = read_leases(world, &arena, contracts);
    if (slurm_plan_make(&arena, &terms, contracts, n_contracts, &answers, &plan, &err) <
        0) {
        fail_msg("seed %" PRIu64 ": %s", world->seed, err.text);
    }
    for (int i = 0, k = 0; i < LEASES; i++) {
        if (!world->leases[i].is_gone) {
            take_standing(world, &world->leases[i], &plan.standings[k++]);
        }
    }
    for (int i = 0; i < plan.n_orders; i++) {
        if (world->has_faults && rng_percent(&world->rng, 20)) {
            own_job(world);
        }
        if (!world->has_faults || rng_percent(&world->rng, 80)) {
            carry_out(world, &plan.orders[i]);
        }
    }
    arena_release(&arena);
    return plan.n_orders;
}

/* ---------------------------------------------------------------- events */

static bool is_wanted(const struct world *world, int node)
{
    for (int i = 0; i < LEASES; i++) {
        if (world->leases[i].nodes[node] || world->leases[i].held[node]) {
            return true;
        }
    }
    return false;
}

/* As a provider does: idle nodes of the site are candidates; those of them that are
 * held may go to the consumer, whose idle nodes may go home. */
static void freeze_or_commit(struct world *world, struct lease *lease)
{
    if (!lease->is_frozen) {
        lease->is_frozen = true;
        for (int i = 0; i < NODES; i++) {
            lease->held[i] = !is_wanted(world, i) && !world->tasks[i].is_there &&
                             rng_percent(&world->rng, 60);
        }
        return;
    }
    bool is_lapsed = rng_percent(&world->rng, 25);
    for (int i = 0; i < NODES && !is_lapsed; i++) {
        if (lease->may_change[i] && rng_percent(&world->rng, 70)) {
            lease->nodes[i] = true;
        } else if (lease->nodes[i] &&
                   rng_percent(&world->rng, world->tasks[i].is_there ? 10 : 30)) {
            lease->nodes[i] = false; /* with a job: Slurm has not seen its end yet */
        }
    }
    lease->epoch += is_lapsed ? 0 : 1;
    lease->is_frozen = false;
    memset(lease->held, 0, sizeof(lease->held));
    memset(lease->may_change, 0, sizeof(lease->may_change));
}

/* Withdrawn, also with jobs that Slurm has not ended yet; or exported again. */
static void end_or_begin(struct lease *lease)
{
    const struct lease old = *lease;
    *lease = (struct lease){
        .epoch = old.epoch + 1, .keeps_jobs = old.keeps_jobs, .is_gone = !old.is_gone};
}

static void leased_job(struct world *world, const struct lease *lease)
{
    int node = (int)rng_below(&world->rng, NODES);
    for (int i = 0; i < BOOKS && lease->nodes[node] && lease->has_node[node]; i++) {
        const struct book *book = &world->books[i];
        if (book->is_there && book->nodes[node] &&
            strncmp(book->name, "sublet_", 7) == 0 && !world->tasks[node].is_there) {
            world->tasks[node] = (struct task){true, false, i};
        }
    }
}

static void administrator(struct world *world)
{
    struct book *book = &world->books[rng_below(&world->rng, BOOKS)];
    int node = (int)rng_below(&world->rng, NODES);
    bool is_used = false;
    for (int i = 0; i < NODES && book->is_there; i++) {
        is_used = is_used || is_in_use(world, book, i);
    }
    switch (rng_below(&world->rng, 5)) {
    case 0:
        book->is_there = book->is_there && is_used;
        break;
    case 1:
        snprintf(book->users, sizeof(book->users), "%s", "root");
        break;
    case 2:
        book->end_s += 100000;
        break;
    case 3:
        book->is_flex = !book->is_flex;
        break;
    default:
        book = new_book(world); /* with OVERLAP */
        if (book != NULL) {
            snprintf(book->name, sizeof(book->name), "maintenance%d",
                     (int)(book - world->books));
            book->end_s = world->now_s + 500;
            book->nodes[node] = true;
        }
    }
}

static void event(struct world *world)
{
    struct lease *lease = &world->leases[rng_below(&world->rng, LEASES)];
    switch (rng_below(&world->rng, 9)) {
    case 0:
    case 1:
        if (!lease->is_gone) {
            freeze_or_commit(world, lease);
        }
        break;
    case 2:
        leased_job(world, lease);
        break;
    case 3:
        own_job(world);
        break;
    case 4:
        world->tasks[rng_below(&world->rng, NODES)].is_there = false;
        break;
    case 5:
        pass_time(world, rng_percent(&world->rng, 10)
                             ? 2 * TERM_S /* the agent was away */
                             : rng_below(&world->rng, TERM_S / 3));
        break;
    case 6:
        administrator(world);
        break;
    case 7:
        end_or_begin(lease);
        break;
    default:
        break;
    }
}

/* ---------------------------------------------------------------- the property */

/* Freezes lapse, jobs end, and the reservations of others are over. */
static void calm_down(struct world *world)
{
    world->has_faults = false;
    for (int i = 0; i < NODES; i++) {
        world->tasks[i].is_there = false;
    }
    for (int i = 0; i < BOOKS; i++) {
        struct book *book = &world->books[i];
        book->is_there = book->is_there && strncmp(book->name, "sublet_", 7) == 0;
    }
    for (int i = 0; i < LEASES; i++) {
        world->leases[i].is_frozen = false;
        memset(world->leases[i].held, 0, sizeof(world->leases[i].held));
    }
    for (int i = 0; i < 4; i++) {
        cycle(world);
    }
}

static void check_calm(struct world *world)
{
    if (cycle(world) != 0) {
        fail_msg("seed %" PRIu64 ": there are orders although all is well",
                 world->seed);
    }
    for (int i = 0; i < NODES; i++) {
        bool is_lent = is_wanted(world, i);
        if (books_of(world, i) != (is_lent ? 1 : 0)) {
            fail_msg("seed %" PRIu64 ": %s is %s, and in %d reservations", world->seed,
                     node_names[i], is_lent ? "lent" : "not lent", books_of(world, i));
        }
        for (int k = 0; k < LEASES; k++) {
            assert_true(world->leases[k].has_node[i] == world->leases[k].nodes[i]);
        }
    }
    for (int i = 0; i < BOOKS; i++) {
        if (world->books[i].is_there) {
            assert_string_equal(world->books[i].users, "ann,bob");
            int64_t left_s = world->books[i].end_s - world->now_s;
            assert_true(left_s > TERM_S * 2 / 3 && left_s <= TERM_S + 60);
        }
    }
}

static void nodes_are_where_they_belong(void **state)
{
    const char *only = getenv("SEED");
    uint64_t first = only != NULL ? strtoull(only, NULL, 10) : 1;
    uint64_t last = only != NULL ? first : WORLDS;
    (void)state;
    for (uint64_t seed = first; seed <= last; seed++) {
        struct world world = {.seed = seed, .now_s = 1000000, .has_faults = true};
        rng_init(&world.rng, seed);
        for (int i = 0; i < LEASES; i++) {
            world.leases[i].epoch = 1;
            world.leases[i].keeps_jobs = rng_percent(&world.rng, 50);
            world.leases[i].nodes[i] = true; /* the reserved slot */
        }
        for (int i = 0; i < STEPS; i++) {
            event(&world);
            if (rng_percent(&world.rng, 70)) {
                cycle(&world);
            }
        }
        calm_down(&world);
        check_calm(&world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_are_where_they_belong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
