/* SPDX-License-Identifier: Apache-2.0 */
/* prop_place.c: random passes over tiny sites against a twin without job classes,
 * candidate lists and heaps: it sorts all jobs, and for each job all hosts, and follows
 * place.h and place_alloc.h. Limits, slot pools and fairshare are not covered. SEED=N
 * repeats one run. */
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
    HOSTS = 6,
    QUEUES = 3,
    CLASSES = 5,
    ENTRIES = 4,
    TERMS = 3,
    NOW_MS = 1000,
    INTERVAL_MS = 50, /* of JOB_ACCEPT_INTERVAL, at most */
    LISTS = 2,        /* different -m and requirements */
    JOBS = CLASSES * ENTRIES,
    TEXT = 4096,
};

static const struct {
    const char *name, *site, *lease;
} names[HOSTS] = {
    {"n1", "", ""},
    {"n2", "", ""},
    {"n3", "", ""},
    {"b1@north", "north", "north/1/x"},
    {"b2@north", "north", "north/1/x"},
    {"b1@west", "west", "west/1/x"},
};

struct world {
    struct rng rng;
    struct place_host hosts[HOSTS];
    int n_hosts;
    struct queue_term queue_terms[QUEUES][TERMS], list_terms[LISTS][TERMS];
    struct queue_config queues[QUEUES];
    struct host_list lists[LISTS];
    struct place_filter filters[LISTS];
    uint8_t matches[LISTS][HOSTS];
    int places[LISTS][HOSTS];
    struct job_class_entry entries[JOBS];
    const struct job_class_entry *of_class[CLASSES][ENTRIES];
    struct place_class classes[CLASSES];
    struct place_snapshot snapshot;
};

/* ---------------------------------------------------------------- worlds */

static int between(struct world *world, int low, int high)
{
    return low + (int)rng_below(&world->rng, high - low + 1);
}

static void make_hosts(struct world *world)
{
    bool has_west = rng_percent(&world->rng, 50);
    int n_own = between(world, 0, 3), n_north = between(world, 0, 2);
    for (int i = 0; i < HOSTS; i++) {
        bool is_there = i < 3 ? i < n_own : i < 5 ? i - 3 < n_north : has_west;
        if (!is_there) {
            continue;
        }
        struct place_host *host = &world->hosts[world->n_hosts++];
        *host = (struct place_host){
            .name = names[i].name,
            .site = names[i].site,
            .lease = names[i].lease,
            .max = between(world, 0, 8),
            .is_open = rng_percent(&world->rng, 90),
            .is_used_exclusively = rng_percent(&world->rng, 5),
            .is_shared = rng_percent(&world->rng, 10),
            .dispatched_ms = between(world, NOW_MS - 2 * INTERVAL_MS, NOW_MS),
        };
        host->used = rng_percent(&world->rng, 10)
                         ? between(world, 0, host->max + 1) /* as after a reduction */
                         : between(world, 0, host->max / 2);
    }
}

static int make_terms(struct world *world, struct queue_term *terms)
{
    static const struct queue_term kinds[] = {
        {.kind = QUEUE_ALL, .name = ""},
        {.kind = QUEUE_ALL_REMOTE, .name = ""},
        {.kind = QUEUE_HOST, .name = "n1"},
        {.kind = QUEUE_HOST, .name = "n2"},
        {.kind = QUEUE_NOT_HOST, .name = "n1"},
        {.kind = QUEUE_ALL_AT, .name = "north"},
        {.kind = QUEUE_OTHERS, .name = ""},
        {.kind = QUEUE_HOST_AT, .name = "b2@north"},
        {.kind = QUEUE_ALL_AT, .name = "west"},
    };
    int n_kinds = sizeof(kinds) / sizeof(kinds[0]);
    int n_terms = rng_percent(&world->rng, 30) ? 1 : between(world, 2, TERMS);
    for (int i = 0; i < n_terms; i++) {
        bool is_wide = i < 2 && rng_percent(&world->rng, 70);
        terms[i] = kinds[is_wide ? i : between(world, 0, n_kinds - 1)];
        terms[i].preference = rng_percent(&world->rng, 30) ? between(world, 1, 2) : 0;
    }
    return n_terms;
}

static void make_wishes(struct world *world, struct arena *arena)
{
    for (int i = 0; i < QUEUES; i++) {
        struct queue_config *queue = &world->queues[i];
        queue->name = "q";
        queue->priority = between(world, 1, 2);
        queue->terms = world->queue_terms[i];
        queue->n_terms = make_terms(world, world->queue_terms[i]);
        if (i > 0 && rng_percent(&world->rng, 40)) { /* equal: these share candidates */
            queue->n_terms = queue[-1].n_terms;
            memcpy(world->queue_terms[i], queue[-1].terms,
                   sizeof(world->queue_terms[i]));
        }
        queue->is_balanced = rng_percent(&world->rng, 40);
        queue->accept_interval_ms =
            rng_percent(&world->rng, 20) ? between(world, 1, INTERVAL_MS) : 0;
    }
    for (int i = 0; i < LISTS; i++) {
        struct host_list *list = &world->lists[i];
        int n_terms = make_terms(world, world->list_terms[i]);
        host_list_set(arena, world->list_terms[i], n_terms, list);
        bool has_order = rng_percent(&world->rng, 50);
        world->filters[i].matches = world->matches[i];
        world->filters[i].ranks = has_order ? world->places[i] : NULL;
        for (int k = 0; k < HOSTS; k++) {
            world->matches[i][k] = rng_percent(&world->rng, 80);
            world->places[i][k] = between(world, 0, 3);
        }
    }
}

static void make_lines(struct world *world)
{
    int n_classes = between(world, 1, CLASSES), n_jobs = 0;
    for (int i = 0; i < n_classes; i++) {
        struct place_class *class = &world->classes[i];
        int list = between(world, 0, LISTS), filter = between(world, 0, LISTS);
        *class = (struct place_class){
            .queue = between(world, 0, QUEUES - 1),
            .n_slots = rng_percent(&world->rng, 50) ? 1 : between(world, 1, 6),
            .max_slots = rng_percent(&world->rng, 30) ? between(world, 1, 8) : 0,
            .is_exclusive = rng_percent(&world->rng, 15),
            .host_list = list < LISTS ? &world->lists[list] : NULL,
            .filter = filter < LISTS ? &world->filters[filter] : NULL,
            .entries = world->of_class[i],
            .n_entries = between(world, 1, ENTRIES),
            .max_starts = rng_percent(&world->rng, 80) ? INT_MAX : between(world, 0, 2),
            .veto = rng_percent(&world->rng, 95) ? REASON_NEW : REASON_QUEUE_INACTIVE,
        };
        for (int k = 0; k < class->n_entries; k++) {
            struct job_class_entry *entry = &world->entries[n_jobs++];
            /* By priority, then key; the keys of all classes are mixed. */
            entry->priority = -k;
            entry->key = (uint64_t)(between(world, 0, 50) * JOBS + n_jobs);
            world->of_class[i][k] = entry;
        }
    }
    world->snapshot = (struct place_snapshot){
        .hosts = world->hosts,
        .n_hosts = world->n_hosts,
        .queues = world->queues,
        .n_queues = QUEUES,
        .classes = world->classes,
        .n_classes = n_classes,
        .now_ms = NOW_MS,
        .max_starts = rng_percent(&world->rng, 90) ? INT_MAX : between(world, 0, 3),
    };
}

/* ---------------------------------------------------------------- the twin */

struct twin_job {
    int class;
    const struct job_class_entry *entry;
};

struct twin {
    const struct place_snapshot *snapshot;
    struct twin_job jobs[JOBS];
    int n_jobs;
    int used[HOSTS];
    int64_t accepted_ms[HOSTS];
    bool is_taken[HOSTS];
    int n_started[CLASSES]; /* by class */
    int n_starts;
    bool is_cut;
    int waiting_own;
    char text[TEXT]; /* "7:n1=2,n2=1 " for each start */
    size_t length;
};

static bool is_before(const struct twin *twin, const struct twin_job *a,
                      const struct twin_job *b)
{
    const struct place_class *classes = twin->snapshot->classes;
    int queue_a = classes[a->class].queue, queue_b = classes[b->class].queue;
    int more = twin->snapshot->queues[queue_a].priority -
               twin->snapshot->queues[queue_b].priority;
    if (more != 0) {
        return more > 0;
    }
    return queue_a != queue_b ? queue_a < queue_b
                              : job_class_compare(a->entry, b->entry) < 0;
}

static void sort_jobs(struct twin *twin)
{
    for (int i = 0; i < twin->snapshot->n_classes; i++) {
        const struct place_class *class = &twin->snapshot->classes[i];
        for (int k = 0; k < class->n_entries; k++) {
            struct twin_job job = {i, class->entries[k]};
            int at = twin->n_jobs++;
            for (; at > 0 && is_before(twin, &job, &twin->jobs[at - 1]); at--) {
                twin->jobs[at] = twin->jobs[at - 1];
            }
            twin->jobs[at] = job;
        }
    }
}

/* True if the host may be used at any time; then its preference. */
static bool is_for(const struct twin *twin, const struct place_class *class, int host,
                   int *preference)
{
    const struct place_host *at = &twin->snapshot->hosts[host];
    const struct queue_config *queue = &twin->snapshot->queues[class->queue];
    int of_job = 0;
    if (!queue_allows(queue, at->name, at->site, preference) ||
        (class->host_list != NULL &&
         !host_list_allows(class->host_list, at->name, at->site, &of_job)) ||
        (class->filter != NULL && !class->filter->matches[host])) {
        return false;
    }
    if (class->host_list != NULL && class->host_list->has_preferences) {
        *preference = of_job;
    }
    return true;
}

static int free_on(const struct twin *twin, const struct place_class *class, int host)
{
    const struct place_host *at = &twin->snapshot->hosts[host];
    int n_free = at->max - twin->used[host];
    int64_t accept_ms = twin->snapshot->queues[class->queue].accept_interval_ms;
    if (NOW_MS - twin->accepted_ms[host] < accept_ms) {
        return 0;
    }
    if (!at->is_open || twin->is_taken[host] || n_free < 0 ||
        (class->is_exclusive && (twin->used[host] > 0 || at->is_shared))) {
        return 0;
    }
    return n_free;
}

static bool is_better(const struct twin *twin, const struct place_class *class, int a,
                      int b)
{
    const struct place_host *hosts = twin->snapshot->hosts;
    const int *places = class->filter != NULL ? class->filter->ranks : NULL;
    int preference_a = 0, preference_b = 0;
    is_for(twin, class, a, &preference_a);
    is_for(twin, class, b, &preference_b);
    int differences[] = {
        preference_b - preference_a,
        places != NULL ? places[a] - places[b] : 0,
        (hosts[a].lease[0] != '\0') - (hosts[b].lease[0] != '\0'),
        twin->used[a] * hosts[b].max - twin->used[b] * hosts[a].max,
        a - b,
    };
    int i = 0;
    while (differences[i] == 0) {
        i++;
    }
    return differences[i] < 0;
}

/* Hosts with free slots for the class, best first. */
static int list_hosts(const struct twin *twin, const struct place_class *class,
                      int *list)
{
    int count = 0, preference;
    for (int i = 0; i < twin->snapshot->n_hosts; i++) {
        if (!is_for(twin, class, i, &preference) || free_on(twin, class, i) == 0) {
            continue;
        }
        int at = count++;
        for (; at > 0 && is_better(twin, class, i, list[at - 1]); at--) {
            list[at] = list[at - 1];
        }
        list[at] = i;
    }
    return count;
}

/* Reduces the list to own hosts, or to the hosts of the first lease, with enough slots.
 */
static int choose_hosts(const struct twin *twin, const struct place_class *class,
                        int *list, int count)
{
    const struct place_host *hosts = twin->snapshot->hosts;
    for (int i = 0; i < count; i++) {
        int chosen[HOSTS], n_chosen = 0, n_free = 0;
        for (int k = 0; k < count; k++) {
            if (strcmp(hosts[list[k]].lease, hosts[list[i]].lease) == 0) {
                chosen[n_chosen++] = list[k];
                n_free += free_on(twin, class, list[k]);
            }
        }
        if (n_free >= class->n_slots) {
            memcpy(list, chosen, sizeof(chosen));
            return n_chosen;
        }
    }
    return 0;
}

static void say(struct twin *twin, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void say(struct twin *twin, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(twin->text + twin->length, TEXT - twin->length, format, args);
    va_end(args);
    twin->length += (size_t)n;
    assert_true(twin->length < TEXT);
}

static void give(struct twin *twin, const struct place_class *class, const int *list,
                 int count, uint64_t key)
{
    int wanted = class->max_slots > class->n_slots ? class->max_slots : class->n_slots;
    int given[HOSTS] = {0}, n_given = 0, before = -1;
    int most = twin->snapshot->queues[class->queue].is_balanced ? 1 : INT_MAX;
    while (n_given < wanted && n_given != before) {
        before = n_given;
        for (int i = 0; i < count; i++) {
            int n = free_on(twin, class, list[i]) - given[i];
            n = n < most ? n : most;
            n = n < wanted - n_given ? n : wanted - n_given;
            given[i] += n;
            n_given += n;
        }
    }
    say(twin, "%" PRIu64 ":%s", key, twin->snapshot->hosts[list[0]].lease);
    for (int i = 0; i < count; i++) {
        if (given[i] > 0) {
            say(twin, ",%s=%d", twin->snapshot->hosts[list[i]].name, given[i]);
            twin->used[list[i]] += given[i];
            twin->accepted_ms[list[i]] = NOW_MS;
            twin->is_taken[list[i]] = twin->is_taken[list[i]] || class->is_exclusive;
        }
    }
    say(twin, " ");
}

static void count_waiting(struct twin *twin, const struct place_class *class)
{
    int preference;
    for (int i = 0; i < twin->snapshot->n_hosts; i++) {
        if (twin->snapshot->hosts[i].lease[0] == '\0' &&
            is_for(twin, class, i, &preference)) {
            twin->waiting_own += class->n_slots;
            return;
        }
    }
}

static void run_twin(struct twin *twin, const struct place_snapshot *snapshot)
{
    *twin = (struct twin){.snapshot = snapshot};
    bool is_out[CLASSES] = {false}; /* not for lack of slots */
    for (int i = 0; i < snapshot->n_hosts; i++) {
        twin->used[i] = snapshot->hosts[i].used;
        twin->accepted_ms[i] = snapshot->hosts[i].dispatched_ms;
        twin->is_taken[i] = snapshot->hosts[i].is_used_exclusively;
    }
    sort_jobs(twin);
    for (int i = 0; i < twin->n_jobs; i++) {
        int index = twin->jobs[i].class, list[HOSTS];
        const struct place_class *class = &snapshot->classes[index];
        if (class->veto != REASON_NEW || twin->n_started[index] >= class->max_starts) {
            is_out[index] = true;
            continue;
        }
        int count = choose_hosts(twin, class, list, list_hosts(twin, class, list));
        if (count > 0) {
            give(twin, class, list, count, twin->jobs[i].entry->key);
            twin->n_started[index]++;
            twin->n_starts++;
        }
    }
    for (int i = 0; i < snapshot->n_classes; i++) {
        const struct place_class *class = &snapshot->classes[i];
        for (int k = twin->n_started[i]; k < class->n_entries && !is_out[i]; k++) {
            count_waiting(twin, class);
        }
    }
}

/* ---------------------------------------------------------------- the comparison */

/* The plan in the twin's format. */
static void write_plan(struct twin *as, const struct place_plan *plan)
{
    for (int i = 0; i < plan->n_starts; i++) {
        const struct place_start *start = &plan->starts[i];
        say(as, "%" PRIu64 ":%s", start->job, start->lease);
        for (int k = 0; k < start->n_hosts; k++) {
            say(as, ",%s=%d", start->hosts[k].host, start->hosts[k].n_slots);
        }
        say(as, " ");
    }
}

static void check_verdicts(const struct world *world, const struct twin *twin,
                           const struct place_plan *plan, uint64_t seed)
{
    for (int i = 0; i < world->snapshot.n_classes; i++) {
        bool is_through = twin->n_started[i] == world->classes[i].n_entries;
        enum pending_reason reason = plan->verdicts[i].reason;
        if (is_through != (reason == REASON_STARTED) || reason == REASON_NEW) {
            fail_msg("seed %" PRIu64 ": line %d: %d of %d start, and it says %s", seed,
                     i, twin->n_started[i], world->classes[i].n_entries,
                     pending_reason_name(reason));
        }
    }
    if (plan->waiting_own != twin->waiting_own) {
        fail_msg("seed %" PRIu64 ": %d slots wait for own hosts, expected %d", seed,
                 plan->waiting_own, twin->waiting_own);
    }
}

static void test_passes_are_as_written(void **state)
{
    const char *text = getenv("SEED");
    uint64_t first = text != NULL ? strtoull(text, NULL, 10) : 1;
    uint64_t last = text != NULL ? first : WORLDS;
    int n_starts = 0, n_waiting = 0;
    (void)state;
    for (uint64_t seed = first; seed <= last; seed++) {
        struct world world;
        struct arena arena;
        struct place_plan plan;
        static struct twin twin, got;
        memset(&world, 0, sizeof(world));
        rng_init(&world.rng, seed);
        make_hosts(&world);
        arena_init(&arena);
        make_wishes(&world, &arena);
        make_lines(&world);
        place_plan(&arena, &world.snapshot, &plan);
        run_twin(&twin, &world.snapshot);
        got = (struct twin){.snapshot = &world.snapshot};
        write_plan(&got, &plan);
        /* A truncated plan is the beginning of the whole plan. */
        bool is_cut = twin.n_starts > world.snapshot.max_starts;
        if (strncmp(twin.text, got.text, is_cut ? got.length : TEXT) != 0 ||
            plan.n_starts != (is_cut ? world.snapshot.max_starts : twin.n_starts) ||
            (is_cut && !plan.is_cut)) {
            fail_msg("seed %" PRIu64 ": expected %s\n  got %s", seed, twin.text,
                     got.text);
        }
        if (!plan.is_cut) {
            check_verdicts(&world, &twin, &plan, seed);
        }
        n_starts += plan.n_starts;
        n_waiting += twin.n_jobs - twin.n_starts;
        arena_release(&arena);
    }
    assert_true(text != NULL || (n_starts > WORLDS && n_waiting > WORLDS));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_passes_are_as_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
