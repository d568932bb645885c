/* SPDX-License-Identifier: Apache-2.0 */
/* prop_place_compound.c: random passes over tiny sites with jobs that have compound
 * requirements or compute units of their own, against a twin that tries all
 * distributions of slots: a job starts if and only if there is one, and each start is
 * one. Which of several it is, is for the tests of spans and units. SEED=N repeats one
 * world. */
#include <inttypes.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "sched/place/place.h"

enum {
    WORLDS = 20000,
    HOSTS = 5,
    OWN = 3, /* the others are of one lease */
    UNITS = 2,
    CLASSES = 4,
    PARTS = 3,
    FREE_MAX = 3,
    AMOUNT_MAX = 5,
};

static const char *const names[HOSTS] = {"n1", "n2", "n3", "b1@north", "b2@north"};

/* What one part asks for; a job without parts has one. */
struct part {
    uint8_t matches[HOSTS];
    struct place_span span;
    struct place_filter filter;
    struct rusage_item item;
    struct resreq_rusage_phase phase;
    struct resreq_rusage_item usage;
    struct resreq_rusage rusage;
};

struct job {
    struct part parts[PARTS];
    int n_parts;
    struct rusage_request requests[PARTS];
    struct place_span_units units; /* of cu[excl] */
    bool has_units;
    struct job_class_entry entry;
    const struct job_class_entry *entries[1];
};

struct world {
    uint64_t seed;
    struct rng rng;
    struct place_host hosts[HOSTS];
    struct queue_config queues[CLASSES];
    struct queue_term terms[2];
    struct job jobs[CLASSES];
    struct place_class classes[CLASSES];
    int unit_of[HOSTS], next_in_unit[HOSTS], supply_of[HOSTS];
    int64_t left[HOSTS];
    struct rusage_resource memory;
    struct rusage_supply supply;
    struct place_snapshot snapshot;
};

static int between(struct world *world, int low, int high)
{
    return low + (int)rng_below(&world->rng, high - low + 1);
}

/* ---------------------------------------------------------------- worlds */

static void make_hosts(struct world *world)
{
    int first[UNITS], last[UNITS] = {-1, -1};
    for (int i = 0; i < HOSTS; i++) {
        bool is_own = i < OWN;
        int used = rng_percent(&world->rng, 60) ? 0 : between(world, 0, 2);
        world->hosts[i] = (struct place_host){
            .name = names[i],
            .site = is_own ? "" : "north",
            .lease = is_own ? "" : "north/1/x",
            .max = used + between(world, 0, FREE_MAX),
            .used = used,
            .is_open = rng_percent(&world->rng, 90),
            .is_shared = rng_percent(&world->rng, 10),
            .n_suspended = rng_percent(&world->rng, 10),
        };
        world->supply_of[i] = i;
        world->left[i] = between(world, 0, AMOUNT_MAX);
        world->next_in_unit[i] = -1;
        world->unit_of[i] =
            is_own && rng_percent(&world->rng, 90) ? between(world, 0, UNITS - 1) : -1;
        int unit = world->unit_of[i];
        if (unit >= 0) {
            first[unit] = last[unit] < 0 ? i : first[unit];
            world->next_in_unit[last[unit] < 0 ? i : last[unit]] = i;
            world->next_in_unit[i] = first[unit];
            last[unit] = i;
        }
    }
    world->memory =
        (struct rusage_resource){.name = "mem", .supply_of = world->supply_of};
    world->supply = (struct rusage_supply){&world->memory, 1, world->left, HOSTS};
}

static void make_part(struct world *world, struct part *part)
{
    static const enum place_span_kind kinds[] = {PLACE_SPAN_NONE, PLACE_SPAN_HOST,
                                                 PLACE_SPAN_PTILE, PLACE_SPAN_BLOCK,
                                                 PLACE_SPAN_STRIPE};
    bool has_span = rng_percent(&world->rng, 40);
    for (int i = 0; i < HOSTS; i++) {
        part->matches[i] = rng_percent(&world->rng, 70);
    }
    part->span = (struct place_span){.kind = kinds[has_span ? between(world, 1, 4) : 0],
                                     .n_slots = between(world, 1, 2)};
    part->filter = (struct place_filter){.matches = part->matches,
                                         .span = has_span ? &part->span : NULL};
    part->phase.milli = rng_percent(&world->rng, 50) ? between(world, 1, 3) : 0;
    bool is_per_slot = rng_percent(&world->rng, 50);
    part->item = (struct rusage_item){.scope = is_per_slot ? RESREQ_SCOPE_SLOT
                                                           : RESREQ_SCOPE_HOST,
                                      .milli = part->phase.milli};
    part->usage = (struct resreq_rusage_item){
        .scope = part->item.scope, .phases = &part->phase, .n_phases = 1};
    part->rusage = (struct resreq_rusage){&part->usage, 1};
}

static void make_compound(struct world *world, struct job *job,
                          struct place_class *class)
{
    job->n_parts = between(world, 2, PARTS);
    bool has_rest = rng_percent(&world->rng, 30);
    for (int i = 0; i < job->n_parts; i++) {
        bool is_rest = has_rest && i == job->n_parts - 1;
        int n_slots = between(world, 1, 3);
        make_part(world, &job->parts[i]);
        job->requests[i] = (struct rusage_request){.items = &job->parts[i].item,
                                                   .n_items = 1,
                                                   .filter = &job->parts[i].filter,
                                                   .is_part = true,
                                                   .n_slots = is_rest ? 0 : n_slots,
                                                   .rusage = &job->parts[i].rusage};
        class->n_slots += n_slots;
    }
    class->max_slots = has_rest ? class->n_slots + between(world, 0, 3) : 0;
    class->rusages = job->requests;
    class->n_rusages = job->n_parts;
}

static void make_units(struct world *world, struct job *job, struct place_class *class)
{
    struct part *part = &job->parts[0];
    job->n_parts = 1;
    make_part(world, part);
    part->phase.milli = 0;
    job->has_units = true;
    job->units = (struct place_span_units){.unit_of = world->unit_of,
                                           .next_in_unit = world->next_in_unit,
                                           .n_units = UNITS,
                                           .max_units = between(world, 0, 1)};
    if (part->filter.span == NULL) {
        part->span = (struct place_span){.kind = PLACE_SPAN_NONE};
    }
    part->span.units = &job->units;
    part->filter.span = &part->span;
    class->filter = &part->filter;
    class->is_exclusive = true;
    class->n_slots = between(world, 1, 6);
}

static void make(struct world *world, uint64_t seed)
{
    memset(world, 0, sizeof(*world));
    world->seed = seed;
    rng_init(&world->rng, seed);
    make_hosts(world);
    world->terms[0] = (struct queue_term){.kind = QUEUE_ALL, .name = ""};
    world->terms[1] = (struct queue_term){.kind = QUEUE_ALL_REMOTE, .name = ""};
    for (int i = 0; i < CLASSES; i++) {
        struct job *job = &world->jobs[i];
        world->queues[i] = (struct queue_config){
            .name = "q",
            .priority = CLASSES - i,
            .terms = world->terms,
            .n_terms = 2,
            .is_balanced = rng_percent(&world->rng, 30),
        };
        job->entry.key = (uint64_t)i + 1;
        job->entries[0] = &job->entry;
        world->classes[i] = (struct place_class){
            .queue = i, .entries = job->entries, .n_entries = 1, .max_starts = INT_MAX};
        if (rng_percent(&world->rng, 30)) {
            make_units(world, job, &world->classes[i]);
        } else {
            make_compound(world, job, &world->classes[i]);
        }
    }
    world->snapshot = (struct place_snapshot){.hosts = world->hosts,
                                              .n_hosts = HOSTS,
                                              .queues = world->queues,
                                              .n_queues = CLASSES,
                                              .classes = world->classes,
                                              .n_classes = CLASSES,
                                              .supply = &world->supply,
                                              .now_ms = 1000,
                                              .max_starts = INT_MAX};
}

/* ---------------------------------------------------------------- the twin */

/* What is left as the jobs start one after the other. */
struct site {
    const struct world *world;
    int n_free[HOSTS];
    int64_t left[HOSTS];
    bool is_empty[HOSTS]; /* nothing is there, suspended or of others */
    bool is_closed[HOSTS];
};

static void site_init(struct site *site, const struct world *world)
{
    *site = (struct site){.world = world};
    for (int i = 0; i < HOSTS; i++) {
        const struct place_host *host = &world->hosts[i];
        site->n_free[i] = host->max - host->used;
        site->left[i] = world->left[i];
        site->is_closed[i] = !host->is_open;
        site->is_empty[i] =
            host->used == 0 && !host->is_shared && host->n_suspended == 0;
    }
}

static bool is_own_unit_empty(const struct site *site, int host)
{
    const int *unit_of = site->world->unit_of;
    bool is_empty = unit_of[host] >= 0;
    for (int i = 0; i < HOSTS; i++) {
        is_empty = is_empty && (unit_of[i] != unit_of[host] || site->is_empty[i]);
    }
    return is_empty;
}

/* The slots of one part, by host, lie as it asks, without regard to room. */
static bool is_shape(const struct site *site, const struct job *job,
                     const struct part *part, const int *slots)
{
    int n_hosts = 0, n_rests = 0, unit = -1, n_units = 0;
    for (int i = 0; i < HOSTS; i++) {
        int tile = part->span.n_slots;
        if (slots[i] == 0) {
            continue;
        }
        if (!part->matches[i] || site->is_closed[i] ||
            (job->has_units && !is_own_unit_empty(site, i)) ||
            (part->span.kind == PLACE_SPAN_PTILE && slots[i] > tile) ||
            (part->span.kind == PLACE_SPAN_STRIPE && slots[i] > tile)) {
            return false;
        }
        n_hosts++;
        n_rests += part->span.kind == PLACE_SPAN_PTILE && slots[i] < tile;
        n_rests += part->span.kind == PLACE_SPAN_BLOCK && slots[i] % tile != 0;
        n_units += job->has_units && unit != site->world->unit_of[i];
        unit = site->world->unit_of[i];
    }
    return n_rests <= 1 && (part->span.kind != PLACE_SPAN_HOST || n_hosts <= 1) &&
           (!job->has_units || job->units.max_units == 0 || n_units <= 1);
}

/* Takes the slots of a part; false if there is not so much. */
static bool take(struct site *site, const struct part *part, const int *slots)
{
    bool has_all = true;
    for (int i = 0; i < HOSTS; i++) {
        bool is_per_slot = part->item.scope == RESREQ_SCOPE_SLOT;
        site->n_free[i] -= slots[i];
        site->left[i] -= part->phase.milli * (is_per_slot ? slots[i] : slots[i] > 0);
        has_all =
            has_all && (slots[i] == 0 || (site->n_free[i] >= 0 && site->left[i] >= 0));
    }
    return has_all;
}

static int part_slots(const struct place_class *class, const struct job *job, int part)
{
    int n_slots = class->n_slots;
    if (job->has_units) {
        return n_slots;
    }
    if (job->requests[part].n_slots > 0) {
        return job->requests[part].n_slots;
    }
    for (int i = 0; i < part; i++) {
        n_slots -= job->requests[i].n_slots;
    }
    return n_slots;
}

static bool has_way(const struct site *site, int index, int part, int first, int last);

/* Tries all ways to lay `n_left` slots on the hosts from `host` on. */
static bool has_way_from(const struct site *site, int index, int part, int first,
                         int last, int host, int n_left, int *slots)
{
    const struct job *job = &site->world->jobs[index];
    if (n_left == 0) {
        struct site then = *site;
        return is_shape(site, job, &job->parts[part], slots) &&
               take(&then, &job->parts[part], slots) &&
               has_way(&then, index, part + 1, first, last);
    }
    bool has_any = false;
    for (int n = 0; host < last && n <= n_left && n <= site->n_free[host] && !has_any;
         n++) {
        slots[host] = n;
        has_any =
            has_way_from(site, index, part, first, last, host + 1, n_left - n, slots);
        slots[host] = 0;
    }
    return has_any;
}

/* The parts from that one on can be placed on those hosts. */
static bool has_way(const struct site *site, int index, int part, int first, int last)
{
    const struct job *job = &site->world->jobs[index];
    int slots[HOSTS] = {0};
    return part == job->n_parts ||
           has_way_from(site, index, part, first, last, first,
                        part_slots(&site->world->classes[index], job, part), slots);
}

/* ---------------------------------------------------------------- compared */

static void expect(const struct world *world, bool is_so, int index, const char *what)
{
    const struct job *job = &world->jobs[index];
    char text[1024] = "";
    if (is_so) {
        return;
    }
    for (int i = 0; i < HOSTS; i++) {
        const struct place_host *host = &world->hosts[i];
        snprintf(text + strlen(text), sizeof(text) - strlen(text),
                 " %s %d/%d mem %d unit %d%s%s%s;", host->name, host->used, host->max,
                 (int)world->left[i], world->unit_of[i], host->is_open ? "" : " closed",
                 host->is_shared ? " shared" : "",
                 host->n_suspended ? " suspended" : "");
    }
    for (int i = 0; i < job->n_parts; i++) {
        const struct part *part = &job->parts[i];
        snprintf(text + strlen(text), sizeof(text) - strlen(text),
                 " part of %d, span %d %d, mem %d%s on",
                 part_slots(&world->classes[index], job, i),
                 part->filter.span == NULL ? 0 : (int)part->span.kind,
                 part->span.n_slots, (int)part->phase.milli,
                 part->item.scope == RESREQ_SCOPE_SLOT ? "/slot" : "/host");
        for (int k = 0; k < HOSTS; k++) {
            snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s",
                     part->matches[k] ? names[k] : "");
        }
    }
    fail_msg("SEED=%" PRIu64 ": job %d: %s:%s", world->seed, index + 1, what, text);
}

static int find_host(const char *name)
{
    int i = 0;
    while (strcmp(names[i], name) != 0) {
        i++;
    }
    return i;
}

/* Takes what the job has; its parts lie as the start says. */
static void check_start(struct site *site, int index, const struct place_start *start)
{
    const struct world *world = site->world;
    const struct job *job = &world->jobs[index];
    const struct place_class *class = &world->classes[index];
    int all[HOSTS] = {0}, sum = 0;
    struct site before = *site;
    for (int i = 0; i < start->n_hosts; i++) {
        int host = find_host(start->hosts[i].host);
        expect(world, (host < OWN) == (start->lease[0] == '\0'), index, "both sides");
        all[host] += start->hosts[i].n_slots;
        sum += start->hosts[i].n_slots;
    }
    int most = class->max_slots > class->n_slots ? class->max_slots : class->n_slots;
    expect(world, sum >= class->n_slots && sum <= most, index, "number of slots");
    for (int i = 0; i < job->n_parts; i++) {
        int slots[HOSTS] = {0}, n_slots = 0;
        const struct resreq_rusage_item *item =
            job->has_units ? NULL : &start->rusage->rusage->items[i];
        for (int k = 0; item != NULL && k < item->n_pieces; k++) {
            slots[find_host(start->hosts[item->pieces[k].host].host)] +=
                item->pieces[k].n_slots;
        }
        if (item == NULL) {
            memcpy(slots, all, sizeof(slots));
        }
        for (int k = 0; k < HOSTS; k++) {
            n_slots += slots[k];
            sum -= slots[k];
        }
        expect(world, n_slots >= part_slots(class, job, i), index, "a part has less");
        expect(world, is_shape(&before, job, &job->parts[i], slots), index,
               "a part lies otherwise");
        expect(world, take(site, &job->parts[i], slots), index, "there is not so much");
    }
    expect(world, sum == 0, index, "slots of no part");
    for (int i = 0; i < HOSTS; i++) {
        for (int k = 0; job->has_units && all[i] > 0 && k < HOSTS; k++) {
            bool is_its = world->unit_of[k] == world->unit_of[i];
            site->is_closed[k] = site->is_closed[k] || is_its;
        }
        site->is_empty[i] = site->is_empty[i] && all[i] == 0;
    }
}

static const struct place_start *find_start(const struct place_plan *plan, uint64_t key)
{
    for (int i = 0; i < plan->n_starts; i++) {
        if (plan->starts[i].job == key) {
            return &plan->starts[i];
        }
    }
    return NULL;
}

static void check_world(uint64_t seed, int *n_starts, int *n_waiting)
{
    static struct world world;
    struct arena arena;
    struct place_plan plan;
    struct site site;
    make(&world, seed);
    arena_init(&arena);
    place_plan(&arena, &world.snapshot, &plan);
    site_init(&site, &world);
    for (int i = 0; i < CLASSES; i++) {
        const struct place_start *start = find_start(&plan, world.jobs[i].entry.key);
        bool fits_own = has_way(&site, i, 0, 0, OWN);
        bool fits = fits_own || has_way(&site, i, 0, OWN, HOSTS);
        expect(&world, start != NULL || !fits, i, "it could start");
        expect(&world, start == NULL || fits, i, "it cannot start");
        if (start != NULL) {
            expect(&world, !fits_own || start->lease[0] == '\0', i,
                   "it is not at home");
            check_start(&site, i, start);
        }
        *n_starts += start != NULL;
        *n_waiting += start == NULL;
    }
    arena_release(&arena);
}

static void jobs_start_where_they_can(void **state)
{
    const char *seed = getenv("SEED");
    int n_starts = 0, n_waiting = 0;
    (void)state;
    for (uint64_t i = 1; seed == NULL && i <= WORLDS; i++) {
        check_world(i, &n_starts, &n_waiting);
    }
    if (seed != NULL) {
        check_world(strtoull(seed, NULL, 10), &n_starts, &n_waiting);
    }
    assert_true(seed != NULL || (n_starts > WORLDS / 2 && n_waiting > WORLDS / 2));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jobs_start_where_they_can),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
