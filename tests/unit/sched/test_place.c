/* SPDX-License-Identifier: Apache-2.0 */
/* Placement: before, the jobs, after. Hosts are written "name max used [lease]", jobs
 * "id queue slots [-m host]", starts "id:host=n,host=n". */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sched/place.h"

/* Rows leave out what is nothing. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

enum { LIST_MAX = 8 };

/* Queue 0: own hosts. 1: all, borrowed too. 2: borrowed first. 3: own n2 preferred.
 * 4: borrowed only. 5: no host. */
static const struct queue_term terms_both[] = {{QUEUE_ALL, "", 0},
                                               {QUEUE_ALL_REMOTE, "", 0}};
static const struct queue_term terms_borrowed_first[] = {{QUEUE_ALL, "", 0},
                                                         {QUEUE_ALL_REMOTE, "", 1}};
static const struct queue_term terms_n2[] = {{QUEUE_ALL, "", 0}, {QUEUE_HOST, "n2", 1}};
static const struct queue_term terms_borrowed[] = {{QUEUE_ALL_REMOTE, "", 0}};
static const struct queue_term terms_none[] = {{QUEUE_NOT_HOST, "", 0}};
static const struct queue_config queues[] = {
    {"own", 30, NULL, 0, ""},
    {"both", 40, terms_both, 2, ""},
    {"away", 40, terms_borrowed_first, 2, ""},
    {"n2", 50, terms_n2, 2, ""},
    {"lease", 20, terms_borrowed, 1, ""},
    {"none", 10, terms_none, 1, ""},
};

struct host_text {
    const char *name;
    int max, used;
    const char *lease; /* NULL: own */
    bool is_closed;
};

struct job_text {
    uint64_t id;
    int queue, n_slots;
    const char *asked;
};

struct row {
    const char *why;
    struct host_text hosts[LIST_MAX];
    struct job_text jobs[LIST_MAX];
    const char *starts;
    enum reason reasons[LIST_MAX];
    int waiting_own;
};

static const struct row rows[] = {
    {"one job, one host", {{"n1", 4, 0}}, {{1, 0, 1}}, "1:n1=1", {REASON_STARTED}, 0},
    {"the least loaded host first",
     {{"n1", 4, 2}, {"n2", 4, 1}},
     {{1, 0, 1}},
     "1:n2=1",
     {REASON_STARTED},
     0},
    {"load is used / max, not used: 1/2 is more than 2/8",
     {{"n1", 2, 1}, {"n2", 8, 2}},
     {{1, 0, 1}},
     "1:n2=1",
     {REASON_STARTED},
     0},
    {"equal loads: file order, and the load counts what was just placed",
     {{"n1", 4, 0}, {"n2", 4, 0}},
     {{1, 0, 1}, {2, 0, 1}, {3, 0, 1}},
     "1:n1=1 2:n2=1 3:n1=1",
     {REASON_STARTED, REASON_STARTED, REASON_STARTED},
     0},
    {"higher queue priority first, then id",
     {{"n1", 1, 0}},
     {{1, 0, 1}, {2, 1, 1}, {3, 1, 1}},
     "2:n1=1",
     {REASON_BUSY, REASON_STARTED, REASON_BUSY},
     2},
    {"equal priorities: the queue that stands first in the file",
     {{"n1", 1, 0}},
     {{1, 2, 1}, {2, 1, 1}},
     "2:n1=1",
     {REASON_BUSY, REASON_STARTED},
     1},
    {"a job that does not fit holds nobody back",
     {{"n1", 2, 1}},
     {{1, 0, 2}, {2, 0, 1}},
     "2:n1=1",
     {REASON_BUSY, REASON_STARTED},
     2},
    {"own hosts before borrowed ones of the same preference, however loaded",
     {{"n1", 4, 3}, {"b1@north", 4, 0, "north/1/x"}},
     {{1, 1, 1}},
     "1:n1=1",
     {REASON_STARTED},
     0},
    {"a full own host leaves the borrowed one",
     {{"n1", 4, 4}, {"b1@north", 4, 0, "north/1/x"}},
     {{1, 1, 1}},
     "1:b1@north=1",
     {REASON_STARTED},
     0},
    {"preference beats own",
     {{"n1", 4, 0}, {"b1@north", 4, 0, "north/1/x"}},
     {{1, 2, 1}},
     "1:b1@north=1",
     {REASON_STARTED},
     0},
    {"preference beats load",
     {{"n1", 4, 0}, {"n2", 4, 3}},
     {{1, 3, 1}},
     "1:n2=1",
     {REASON_STARTED},
     0},
    {"a job's preference beats its queue's",
     {{"n1", 4, 0}, {"n2", 4, 3}},
     {{1, 3, 1, "n1+1 others"}},
     "1:n1=1",
     {REASON_STARTED},
     0},
    {"a list without a preference leaves the queue's",
     {{"n1", 4, 0}, {"n2", 4, 3}},
     {{1, 3, 1, "n1 n2"}},
     "1:n2=1",
     {REASON_STARTED},
     0},
    {"others are the hosts of the queue that the job does not name",
     {{"n1", 4, 3}, {"n2", 4, 0}, {"b1@north", 4, 0, "north/1/x"}},
     {{1, 0, 4, "n1+1 others"}},
     "1:n1=1,n2=3",
     {REASON_STARTED},
     0},
    {"a parallel job takes slots along the order",
     {{"n1", 4, 2}, {"n2", 4, 1}, {"n3", 4, 0}},
     {{1, 0, 8}},
     "1:n3=4,n2=3,n1=1",
     {REASON_STARTED},
     0},
    {"a parallel job is on own hosts or on one lease, never on both",
     {{"n1", 2, 0},
      {"b1@north", 2, 0, "north/1/x"},
      {"b2@north", 2, 1, "north/1/x"},
      {"c1@west", 2, 0, "west/1/x"}},
     {{1, 1, 3}},
     "1:b1@north=2,b2@north=1",
     {REASON_STARTED},
     0},
    {"not enough anywhere, though enough together",
     {{"n1", 2, 0}, {"b1@north", 2, 0, "north/1/x"}},
     {{1, 1, 3}},
     "",
     {REASON_TOO_LARGE},
     3},
    {"enough slots, but in use", {{"n1", 4, 2}}, {{1, 0, 3}}, "", {REASON_BUSY}, 3},
    {"a closed host takes nothing",
     {{"n1", 4, 0, NULL, true}, {"n2", 4, 3}},
     {{1, 0, 1}, {2, 0, 1}},
     "1:n2=1",
     {REASON_STARTED, REASON_BUSY},
     1},
    {"all closed", {{"n1", 4, 0, NULL, true}}, {{1, 0, 1}}, "", {REASON_CLOSED}, 1},
    {"no host at all", {{"n1", 4, 0}}, {{1, 5, 1}}, "", {REASON_NO_HOST}, 0},
    {"nothing is borrowed yet", {{"n1", 4, 0}}, {{1, 4, 1}}, "", {REASON_NO_HOST}, 0},
    {"-m narrows the queue's hosts",
     {{"n1", 4, 0}, {"n2", 4, 3}},
     {{1, 0, 1, "n2"}},
     "1:n2=1",
     {REASON_STARTED},
     0},
    {"-m does not widen them",
     {{"n1", 4, 0}, {"b1@north", 4, 0, "north/1/x"}},
     {{1, 0, 1, "b1@north"}},
     "",
     {REASON_NO_HOST},
     0},
    {"used above max (it shrank): nothing new",
     {{"n1", 2, 3}},
     {{1, 0, 1}},
     "",
     {REASON_BUSY},
     1},
    {"one that is stuck does not speak for a smaller one behind it",
     {{"n1", 4, 2}},
     {{1, 0, 3}, {2, 0, 3}, {3, 0, 2}, {4, 0, 1}},
     "3:n1=2",
     {REASON_BUSY, REASON_BUSY, REASON_STARTED, REASON_BUSY},
     7},
};

static int give_hosts(const struct row *row, struct place_host *hosts)
{
    int count = 0;
    for (; count < LIST_MAX && row->hosts[count].name != NULL; count++) {
        const struct host_text *from = &row->hosts[count];
        const char *at = strchr(from->name, '@');
        hosts[count] = (struct place_host){
            .name = from->name,
            .site = at != NULL ? at + 1 : "",
            .lease = from->lease != NULL ? from->lease : "",
            .max = from->max,
            .used = from->used,
            .is_open = !from->is_closed,
        };
    }
    return count;
}

/* Each job in a line of its own. */
struct waiting {
    struct line_turn turns[LIST_MAX];
    struct line_turn *queued[LIST_MAX];
    struct place_line lines[LIST_MAX];
};

/* "n1+2 others" */
static const struct asked *read_asked(struct arena *arena, const char *text)
{
    static const struct groups no_groups = {0};
    struct asked *asked = arena_alloc(arena, 1, sizeof(*asked));
    struct conf_words words = conf_words(arena, text);
    struct err err;
    if (text == NULL) {
        return NULL;
    }
    assert_int_equal(
        asked_read(arena, &no_groups, words.words, words.count, asked, &err), 0);
    return asked;
}

static int give_jobs(struct arena *arena, const struct row *row,
                     struct waiting *waiting)
{
    int count = 0;
    for (; count < LIST_MAX && row->jobs[count].id != 0; count++) {
        const struct job_text *from = &row->jobs[count];
        waiting->turns[count] = (struct line_turn){.key = from->id};
        waiting->queued[count] = &waiting->turns[count];
        waiting->lines[count] = (struct place_line){
            .queue = from->queue,
            .n_slots = from->n_slots,
            .asked = read_asked(arena, from->asked),
            .turns = &waiting->queued[count],
            .n_turns = 1,
            .max_starts = INT_MAX,
        };
    }
    return count;
}

static int by_id(const void *left, const void *right)
{
    const struct place_start *a = left, *b = right;
    return a->job < b->job ? -1 : a->job > b->job;
}

static void write_starts(const struct place_plan *plan, char *text, size_t size)
{
    text[0] = '\0';
    qsort(plan->starts, (size_t)plan->n_starts, sizeof(*plan->starts), by_id);
    for (int i = 0; i < plan->n_starts; i++) {
        size_t at = strlen(text);
        snprintf(text + at, size - at, "%s%llu:", i > 0 ? " " : "",
                 (unsigned long long)plan->starts[i].job);
        for (int k = 0; k < plan->starts[i].n_hosts; k++) {
            at = strlen(text);
            snprintf(text + at, size - at, "%s%s=%d", k > 0 ? "," : "",
                     plan->starts[i].hosts[k].host, plan->starts[i].hosts[k].n_slots);
        }
    }
}

static void test_place(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct row *row = &rows[i];
        struct place_host hosts[LIST_MAX];
        struct waiting waiting;
        struct place_snapshot snapshot = {
            .queues = queues, .n_queues = 6, .max_starts = LIST_MAX};
        struct place_plan plan;
        struct arena arena;
        char starts[256];
        arena_init(&arena);
        snapshot.n_hosts = give_hosts(row, hosts);
        snapshot.n_lines = give_jobs(&arena, row, &waiting);
        snapshot.hosts = hosts;
        snapshot.lines = waiting.lines;
        place_plan(&arena, &snapshot, &plan);
        write_starts(&plan, starts, sizeof(starts));
        if (strcmp(starts, row->starts) != 0) {
            fail_msg("%s: \"%s\", expected \"%s\"", row->why, starts, row->starts);
        }
        for (int k = 0; k < snapshot.n_lines; k++) {
            if (plan.verdicts[k].reason != row->reasons[k]) {
                fail_msg("%s: job %d: %s", row->why, k + 1,
                         reason_text(&arena, &plan.verdicts[k]));
            }
        }
        if (plan.waiting_own != row->waiting_own) {
            fail_msg("%s: %d slots wait for own hosts", row->why, plan.waiting_own);
        }
        arena_release(&arena);
    }
}

static void test_waiting_of_leases(void **state)
{
    const struct place_host hosts[] = {
        {"n1", "", "", 1, 1, 0, true},
        {"b1@north", "north", "north/1/x", 0, 0, 0, true},
        {"b2@north", "north", "north/1/x", 1, 1, 0, true},
        {"c1@west", "west", "west/1/x", 0, 0, 0, false},
    };
    static const struct row row = {
        .jobs = {{1, 0, 1}, /* own only */
                 {2, 1, 2}, /* all */
                 {3, 1, 4, "b2@north"}},
    };
    struct waiting waiting;
    struct place_snapshot snapshot = {.hosts = hosts,
                                      .n_hosts = 4,
                                      .queues = queues,
                                      .n_queues = 6,
                                      .lines = waiting.lines,
                                      .max_starts = LIST_MAX};
    struct place_plan plan;
    struct arena arena;
    (void)state;
    arena_init(&arena);
    snapshot.n_lines = give_jobs(&arena, &row, &waiting);
    place_plan(&arena, &snapshot, &plan);
    assert_int_equal(plan.n_starts, 0);
    assert_int_equal(plan.waiting_own, 3);
    assert_int_equal(plan.waiting_lease[1], 6); /* 2 and the 4 that name one of it */
    assert_int_equal(plan.waiting_lease[2], 0); /* counted at the first host */
    assert_int_equal(plan.waiting_lease[3], 2);
    arena_release(&arena);
}

/* An interactive job goes nowhere where these are not taken, and does not want more
 * there; where they are it is as any other. */
static void test_interactive_lines(void **state)
{
    struct place_host hosts[] = {
        {"n1", "", "", 1, 1, 0, true},
        {"b1@north", "north", "north/1/x", 1, 0, 0, true, .is_batch = true},
        {"c1@west", "west", "west/1/x", 0, 0, 0, true},
    };
    static const struct row row = {.jobs = {{1, 1, 1}}};
    (void)state;
    for (int takes = 0; takes < 2; takes++) {
        struct waiting waiting;
        struct place_plan plan;
        struct arena arena;
        arena_init(&arena);
        struct place_snapshot snapshot = {.hosts = hosts,
                                          .n_hosts = 3,
                                          .queues = queues,
                                          .n_queues = 6,
                                          .lines = waiting.lines,
                                          .max_starts = LIST_MAX};
        snapshot.n_lines = give_jobs(&arena, &row, &waiting);
        waiting.lines[0].bond = PLACE_INTERACTIVE;
        hosts[1].is_batch = takes == 0;
        place_plan(&arena, &snapshot, &plan);
        assert_int_equal(plan.n_starts, takes);
        assert_int_equal(plan.waiting_lease[1], 0);
        assert_int_equal(plan.waiting_lease[2], takes == 0);
        waiting.lines[0].bond = PLACE_HOME;
        place_plan(&arena, &snapshot, &plan);
        assert_int_equal(plan.n_starts, 0);
        assert_int_equal(plan.waiting_lease[2], 0);
        arena_release(&arena);
    }
}

/* ---------------------------------------------------------------- requirements */

/* n1 to n3 and a borrowed one, all alike but for what requirements make of them. */
static void plan_filtered(struct arena *arena, const struct place_filter *filter,
                          int n_slots, struct place_plan *plan)
{
    static const struct place_host hosts[] = {
        {"n1", "", "", 4, 2, 0, true},
        {"n2", "", "", 4, 0, 0, true},
        {"n3", "", "", 4, 1, 0, true},
        {"b1@north", "north", "north/1/x", 4, 3, 0, true},
    };
    const struct row row = {.jobs = {{1, 1, n_slots}}};
    struct waiting waiting;
    struct place_snapshot snapshot = {.hosts = hosts,
                                      .n_hosts = 4,
                                      .queues = queues,
                                      .n_queues = 6,
                                      .lines = waiting.lines,
                                      .max_starts = 1};
    snapshot.n_lines = give_jobs(arena, &row, &waiting);
    waiting.lines[0].filter = filter;
    place_plan(arena, &snapshot, plan);
}

static void test_requirements(void **state)
{
    static const struct {
        const char *why;
        uint8_t matches[4];
        int places[4];
        bool has_order;
        int n_slots;
        const char *starts;
        enum reason reason;
    } filtered[] = {
        {"the least used of those that match",
         {1, 0, 1, 0},
         {0},
         false,
         1,
         "1:n3=1",
         REASON_STARTED},
        {"an order goes before use",
         {1, 1, 1, 1},
         {2, 1, 0, 3},
         true,
         1,
         "1:n3=1",
         REASON_STARTED},
        {"and before own and borrowed",
         {1, 1, 1, 1},
         {1, 1, 1, 0},
         true,
         1,
         "1:b1@north=1",
         REASON_STARTED},
        {"equal in the order: as without",
         {1, 1, 1, 0},
         {1, 1, 1, 0},
         true,
         1,
         "1:n2=1",
         REASON_STARTED},
        {"a parallel job takes along the order",
         {1, 1, 1, 0},
         {0, 2, 1, 0},
         true,
         6,
         "1:n1=2,n3=3,n2=1",
         REASON_STARTED},
        {"and only where it may", {1, 0, 1, 0}, {0}, false, 6, "", REASON_BUSY},
        {"no host meets them", {0, 0, 0, 0}, {0}, false, 1, "", REASON_UNMET},
        {"too large for those that do",
         {0, 0, 0, 1},
         {0},
         false,
         5,
         "",
         REASON_TOO_LARGE},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(filtered) / sizeof(filtered[0]); i++) {
        struct place_filter filter = {
            .matches = filtered[i].matches,
            .places = filtered[i].has_order ? filtered[i].places : NULL};
        struct place_plan plan;
        struct arena arena;
        char starts[256];
        arena_init(&arena);
        plan_filtered(&arena, &filter, filtered[i].n_slots, &plan);
        write_starts(&plan, starts, sizeof(starts));
        if (strcmp(starts, filtered[i].starts) != 0 ||
            plan.verdicts[0].reason != filtered[i].reason) {
            fail_msg("%s: \"%s\" %s", filtered[i].why, starts,
                     reason_text(&arena, &plan.verdicts[0]));
        }
        arena_release(&arena);
    }
}

static void test_stuck_is_of_one_filter(void **state)
{
    static const uint8_t none[] = {0}, all[] = {1};
    static const struct place_host host = {"n1", "", "", 2, 0, 0, true};
    static const struct row row = {
        .jobs = {{1, 0, 1}, {2, 0, 1}, {3, 0, 1}, {4, 0, 1}}};
    struct place_filter unmet = {.matches = none}, met = {.matches = all};
    struct waiting waiting;
    struct place_snapshot snapshot = {.hosts = &host,
                                      .n_hosts = 1,
                                      .queues = queues,
                                      .n_queues = 6,
                                      .lines = waiting.lines,
                                      .max_starts = LIST_MAX};
    struct place_plan plan;
    struct arena arena;
    char starts[64];
    (void)state;
    arena_init(&arena);
    snapshot.n_lines = give_jobs(&arena, &row, &waiting);
    waiting.lines[0].filter = waiting.lines[2].filter = &unmet;
    waiting.lines[1].filter = &met;
    place_plan(&arena, &snapshot, &plan);
    write_starts(&plan, starts, sizeof(starts));
    assert_string_equal(starts, "2:n1=1 4:n1=1");
    assert_int_equal(plan.waiting_own, 0);
    arena_release(&arena);
}

/* Two queues say the same of hosts, but the leaf that the host stands for is one's. */
static void test_alike_but_for_a_leaf(void **state)
{
    static const struct queue_config both[] = {{"low", 10, terms_borrowed, 1, ""},
                                               {"high", 20, terms_borrowed, 1, ""}};
    static const char *const low[] = {"low"};
    static const struct place_host host = {.name = "n1@north",
                                           .site = "north",
                                           .lease = "L",
                                           .max = 4,
                                           .is_open = true,
                                           .queues = low,
                                           .n_queues = 1};
    static const struct row row = {.jobs = {{1, 0, 1}, {2, 1, 1}}};
    struct waiting waiting;
    struct place_snapshot snapshot = {.hosts = &host,
                                      .n_hosts = 1,
                                      .queues = both,
                                      .n_queues = 2,
                                      .lines = waiting.lines,
                                      .max_starts = LIST_MAX};
    struct place_plan plan;
    struct arena arena;
    char starts[64];
    (void)state;
    arena_init(&arena);
    snapshot.n_lines = give_jobs(&arena, &row, &waiting);
    place_plan(&arena, &snapshot, &plan);
    write_starts(&plan, starts, sizeof(starts));
    assert_string_equal(starts, "1:n1@north=1");
    assert_int_equal(plan.verdicts[1].reason, REASON_NO_HOST);
    arena_release(&arena);
}

/* ---------------------------------------------------------------- lines */

enum { TURNS = 10000 };

struct long_line {
    struct line_turn turns[TURNS];
    struct line_turn *queued[TURNS];
    struct place_line line;
    struct place_snapshot snapshot;
    struct place_plan plan;
    struct arena arena;
};

static const struct place_host small_host = {"n1", "", "", 4, 1, 0, true};

static struct long_line *long_line_new(void)
{
    struct long_line *all = calloc(1, sizeof(*all));
    for (int i = 0; i < TURNS; i++) {
        all->turns[i].key = (uint64_t)i + 1;
        all->queued[i] = &all->turns[i];
    }
    all->line = (struct place_line){
        .n_slots = 1, .turns = all->queued, .n_turns = TURNS, .max_starts = INT_MAX};
    all->snapshot = (struct place_snapshot){.hosts = &small_host,
                                            .n_hosts = 1,
                                            .queues = queues,
                                            .n_queues = 6,
                                            .lines = &all->line,
                                            .n_lines = 1,
                                            .max_starts = TURNS};
    arena_init(&all->arena);
    return all;
}

static void long_line_free(struct long_line *all)
{
    arena_release(&all->arena);
    free(all);
}

static void test_many_alike(void **state)
{
    struct long_line *all = long_line_new();
    (void)state;
    place_plan(&all->arena, &all->snapshot, &all->plan);
    assert_int_equal(all->plan.n_starts, 3);
    assert_int_equal(all->plan.starts[2].job, 3);
    assert_int_equal(all->plan.waiting_own, TURNS - 3);
    assert_int_equal(all->plan.verdicts[0].reason, REASON_BUSY);
    assert_int_equal(all->plan.verdicts[0].n_full, 1);
    assert_false(all->plan.is_cut);
    long_line_free(all);
}

static void test_array_limit(void **state)
{
    struct long_line *all = long_line_new();
    (void)state;
    all->line.max_starts = 2;
    place_plan(&all->arena, &all->snapshot, &all->plan);
    assert_int_equal(all->plan.n_starts, 2);
    assert_int_equal(all->plan.verdicts[0].reason, REASON_ARRAY_LIMIT);
    assert_int_equal(all->plan.waiting_own, 0); /* more slots would not help */
    long_line_free(all);
}

static void test_cut(void **state)
{
    struct long_line *all = long_line_new();
    (void)state;
    all->snapshot.max_starts = 2;
    place_plan(&all->arena, &all->snapshot, &all->plan);
    assert_int_equal(all->plan.n_starts, 2);
    assert_true(all->plan.is_cut);
    assert_int_equal(all->plan.waiting_own, 0); /* nobody has looked at them all */
    long_line_free(all);
}

static void test_veto(void **state)
{
    struct long_line *all = long_line_new();
    (void)state;
    all->line.veto = REASON_QUEUE_WINDOW;
    place_plan(&all->arena, &all->snapshot, &all->plan);
    assert_int_equal(all->plan.n_starts, 0);
    assert_int_equal(all->plan.verdicts[0].reason, REASON_QUEUE_WINDOW);
    assert_int_equal(all->plan.waiting_own, 0);
    long_line_free(all);
}

/* No host has a slot left after the first line: the others are told what holds for
 * them, not what held when the last of their like was told. */
static void test_full(void **state)
{
    static const struct {
        const char *why;
        int queue, n_slots, max_starts;
        enum reason veto, reason;
        int n_full, n_excluded;
    } cases[] = {
        {"takes all that is free", 3, 1, INT_MAX, REASON_NEW, REASON_BUSY, 1, 0},
        {"alike", 3, 1, INT_MAX, REASON_NEW, REASON_BUSY, 1, 0},
        {"wider", 3, 4, INT_MAX, REASON_NEW, REASON_BUSY, 1, 0},
        {"as wide again, behind others", 0, 4, INT_MAX, REASON_NEW, REASON_BUSY, 1, 0},
        {"the host is too small", 0, 5, INT_MAX, REASON_NEW, REASON_TOO_LARGE, 1, 0},
        {"no host", 5, 1, INT_MAX, REASON_NEW, REASON_NO_HOST, 0, 1},
        {"its array has enough", 0, 1, 0, REASON_NEW, REASON_ARRAY_LIMIT, 0, 0},
        {"its queue is closed", 0, 1, INT_MAX, REASON_QUEUE_WINDOW, REASON_QUEUE_WINDOW,
         0, 0},
    };
    enum { LINES = sizeof(cases) / sizeof(cases[0]), EACH = 5 };
    struct long_line *all = long_line_new();
    struct place_line lines[LINES];
    (void)state;
    for (int i = 0; i < LINES; i++) {
        lines[i] = (struct place_line){.queue = cases[i].queue,
                                       .n_slots = cases[i].n_slots,
                                       .turns = &all->queued[i * EACH],
                                       .n_turns = EACH,
                                       .max_starts = cases[i].max_starts,
                                       .veto = cases[i].veto};
    }
    all->snapshot.lines = lines;
    all->snapshot.n_lines = LINES;
    place_plan(&all->arena, &all->snapshot, &all->plan);
    assert_int_equal(all->plan.n_starts, 3);
    assert_int_equal(all->plan.starts[2].job, 3);
    assert_false(all->plan.is_cut);
    assert_int_equal(all->plan.waiting_own, 2 + EACH + 4 * EACH * 2 + 5 * EACH);
    for (int i = 0; i < LINES; i++) {
        const struct reason_verdict *verdict = &all->plan.verdicts[i];
        if (verdict->reason != cases[i].reason || verdict->n_full != cases[i].n_full ||
            verdict->n_excluded != cases[i].n_excluded) {
            fail_msg("%s: %s, %d full, %d excluded", cases[i].why,
                     reason_name(verdict->reason), verdict->n_full,
                     verdict->n_excluded);
        }
    }
    long_line_free(all);
}

/* ---------------------------------------------------------------- who goes on */

static const struct host_slots n1_four[] = {{"n1", 4}}, n1_two[] = {{"n1", 2}};

/* Two jobs of queue 0 that stand still on n1, of 4 slots and of 2, and one of 1 slot
 * that waits for it in the same queue. */
static void test_returns(void **state)
{
    static const struct {
        const char *why;
        struct place_host host;
        int n_returns, n_starts;
        uint64_t first;
    } cases[] = {
        {"both fit, and the waiting one", {.max = 8}, 2, 1, 1},
        {"the first has all", {.max = 4}, 1, 0, 1},
        {"what is free is kept for the first, and then for the second",
         {.max = 6, .used = 3},
         0,
         0,
         0},
        {"an exclusive job has the host", {.max = 8, .is_taken = true}, 0, 0, 0},
        {"one that stands still keeps it", {.max = 8, .is_kept = true}, 2, 0, 1},
        {"an exclusive one goes on alone", {.max = 8}, 1, 0, 1},
        {"an exclusive one waits, and nothing more begins",
         {.max = 8, .used = 1},
         0,
         0,
         0},
        {"an exclusive one waits for others", {.max = 8, .has_others = true}, 1, 1, 2},
        {"a host that takes nothing new has what it had", {.n_stay = 6}, 2, 0, 1},
        {"and no more", {.n_stay = 5, .used = 2}, 0, 0, 0},
        {"a host that is too small now, and nothing else runs there: one by one",
         {.max = 1, .is_unused = true},
         1,
         0,
         1},
        {"something runs there", {.max = 1, .used = 1}, 0, 0, 0},
        {"others have slots of it", {.max = 1}, 0, 0, 0},
        {"closed", {.max = 4, .is_unused = true}, 1, 0, 1},
    };
    static const int places[] = {0};
    struct place_return returns[] = {
        {.job = 1, .hosts = n1_four, .places = places, .n_hosts = 1},
        {.job = 2, .hosts = n1_two, .places = places, .n_hosts = 1}};
    static const struct row row = {.jobs = {{3, 0, 1}}};
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct place_host host = cases[i].host;
        struct waiting waiting;
        struct place_snapshot snapshot = {.hosts = &host,
                                          .n_hosts = 1,
                                          .queues = queues,
                                          .n_queues = 6,
                                          .lines = waiting.lines,
                                          .returns = returns,
                                          .n_returns = 2,
                                          .max_starts = LIST_MAX};
        struct place_plan plan;
        struct arena arena;
        arena_init(&arena);
        host.name = "n1";
        host.site = host.lease = "";
        host.is_open = strcmp(cases[i].why, "closed") != 0;
        returns[0].is_exclusive = strncmp(cases[i].why, "an exclusive one", 16) == 0;
        snapshot.n_lines = give_jobs(&arena, &row, &waiting);
        place_plan(&arena, &snapshot, &plan);
        if (plan.n_returns != cases[i].n_returns ||
            plan.n_starts != cases[i].n_starts ||
            (plan.n_returns > 0 && plan.returns[0] != cases[i].first)) {
            fail_msg("%s: %d go on, %d start", cases[i].why, plan.n_returns,
                     plan.n_starts);
        }
        arena_release(&arena);
    }
}

/* ---------------------------------------------------------------- limits */

/* Two hosts of 4 slots; the job of 3 slots, and then jobs of 1, all of queue 0. */
static void test_limits(void **state)
{
    static const char *const n1[] = {"n1"};
    static const struct place_host hosts[] = {{"n1", "", "", 4, 0, 0, true},
                                              {"n2", "", "", 4, 0, 0, true}};
    static const struct limit all = {
        .name = "all", .slots = 4, .jobs = -1, .per_processor_milli = -1};
    static const struct limit jobs = {
        .name = "jobs", .slots = -1, .jobs = 2, .per_processor_milli = -1};
    static const struct limit each_host = {
        .name = "each host",
        .slots = 2,
        .jobs = -1,
        .per_processor_milli = -1,
        .sides[LIMIT_HOSTS] = {LIMIT_EACH, {true, NULL, 0}}};
    static const struct limit on_n1 = {
        .name = "on n1",
        .slots = 0,
        .jobs = -1,
        .per_processor_milli = -1,
        .sides[LIMIT_HOSTS] = {LIMIT_TOGETHER, {false, n1, 1}}};
    static const struct limit half = {
        .name = "half",
        .slots = -1,
        .jobs = -1,
        .per_processor_milli = 500,
        .sides[LIMIT_HOSTS] = {LIMIT_EACH, {true, NULL, 0}}};
    static const struct {
        const char *why;
        const struct limit *limit;
        const char *starts;
        enum reason first, rest; /* where they do not start */
    } cases[] = {
        {"slots in all", &all, "1:n1=3 2:n2=1", REASON_STARTED, REASON_LIMIT},
        {"jobs in all", &jobs, "1:n1=3 2:n2=1", REASON_STARTED, REASON_LIMIT},
        {"two of each host: the parallel job is spread", &each_host,
         "1:n1=2,n2=1 2:n2=1", REASON_STARTED, REASON_HOST_LIMIT},
        {"none of a host", &on_n1, "1:n2=3 2:n2=1", REASON_STARTED, REASON_HOST_LIMIT},
        {"half a slot a processor", &half, "1:n1=2,n2=1 2:n2=1", REASON_STARTED,
         REASON_HOST_LIMIT},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct limits *limits = limits_new(cases[i].limit, 1);
        struct limits_class *class = limits_join(limits, "ana", "own", "default");
        static const struct row row = {
            .jobs = {{1, 0, 3}, {2, 0, 1}, {3, 0, 1}, {4, 0, 1}}};
        struct waiting waiting;
        struct place_snapshot snapshot = {.hosts = hosts,
                                          .n_hosts = 2,
                                          .queues = queues,
                                          .n_queues = 6,
                                          .lines = waiting.lines,
                                          .limits = limits,
                                          .max_starts = LIST_MAX};
        struct place_plan plan;
        struct arena arena;
        char starts[256];
        arena_init(&arena);
        snapshot.n_lines = give_jobs(&arena, &row, &waiting);
        for (int k = 0; k < snapshot.n_lines; k++) {
            waiting.lines[k].class = class;
        }
        place_plan(&arena, &snapshot, &plan);
        write_starts(&plan, starts, sizeof(starts));
        assert_string_equal(starts, cases[i].starts);
        assert_int_equal(plan.verdicts[0].reason, cases[i].first);
        assert_int_equal(plan.verdicts[3].reason, cases[i].rest);
        assert_string_equal(plan.verdicts[3].limit, cases[i].limit->name);
        arena_release(&arena);
        limits_leave(limits, class);
        limits_free(limits);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_place),
        cmocka_unit_test(test_requirements),
        cmocka_unit_test(test_stuck_is_of_one_filter),
        cmocka_unit_test(test_alike_but_for_a_leaf),
        cmocka_unit_test(test_interactive_lines),
        cmocka_unit_test(test_waiting_of_leases),
        cmocka_unit_test(test_many_alike),
        cmocka_unit_test(test_array_limit),
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_veto),
        cmocka_unit_test(test_full),
        cmocka_unit_test(test_returns),
        cmocka_unit_test(test_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
