/* SPDX-License-Identifier: Apache-2.0 */
/* test_affinity.c: which processors tasks get. The rows are after LSF's manual,
 * "Affinity string" and "Submit jobs with affinity resource requirements". */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "sched/resreq/resreq.h"

#define TWO_SOCKETS "0:1:0=0,4;1,5|1:1:1=2,6;3,7" /* of two cores with two threads */
#define FOUR_CORES "0:1:0=0;1/1=2;3"              /* two sockets in one node */
#define EIGHT_CORES "0:1:0=0;1;2;3|1:1:1=4;5;6;7"

static struct arena arena;

static struct affinity_request read_request(const char *string)
{
    struct resources *resources = resources_new();
    struct resreq_rules rules = {.language = {.resources = resources},
                                 .reading = RESREQ_READ_ALL};
    const struct resreq_strings from = {.strings = &string, .n_strings = 1};
    struct resreq_notes notes = {.arena = &arena};
    struct resreq_error error;
    struct resreq resreq;
    int code = resreq_compile(&arena, &rules, &from, &resreq, &notes, &error);
    resources_free(resources);
    if (code != 0) {
        fail_msg("%s: %s", string, error.text);
    }
    return resreq.affinity;
}

static struct cpu_set read_set(const char *text)
{
    struct cpu_set set;
    struct err err;
    assert_int_equal(cpu_set_parse(text, strlen(text), &set, &err), 0);
    return set;
}

static struct cpu_topology read_topology(const char *text)
{
    struct cpu_topology topology;
    struct err err;
    assert_int_equal(cpu_topology_parse(&arena, text, &topology, &err), 0);
    return topology;
}

static void test_rows(void **state)
{
    static const struct {
        const char *topology, *used, *closed, *request;
        int n_tasks;
        const char *expected; /* the threads of each task that fits */
        const char *why;
    } rows[] = {
        {TWO_SOCKETS, "", "", "core(1)", 2, "0,4 1,5", "cores in order, both threads"},
        {TWO_SOCKETS, "", "", "thread(1)", 3, "0 4 1", "threads in order"},
        {TWO_SOCKETS, "", "", "core(2)", 3, "0-1,4-5 2-3,6-7", "only two fit"},
        {TWO_SOCKETS, "4", "", "core(1)", 4, "1,5 2,6 3,7",
         "a core of which a job has a thread is not free"},
        {TWO_SOCKETS, "4", "", "thread(1)", 2, "0 1", "but its other thread is"},
        {TWO_SOCKETS, "", "0-1,4-5", "thread(1)", 1, "2", "a closed socket"},
        {TWO_SOCKETS, "", "", "socket(1)", 3, "0-1,4-5 2-3,6-7", "whole sockets"},
        {TWO_SOCKETS, "6", "", "numa(1)", 2, "0-1,4-5", "the other is not whole"},
        {TWO_SOCKETS, "", "", "core(3)", 1, "0-2,4-6", "across sockets"},
        {TWO_SOCKETS, "", "", "core(3,same=socket)", 1, "", "no socket has three"},
        {TWO_SOCKETS, "0", "", "core(2,same=socket)", 2, "2-3,6-7", "from one socket"},
        {TWO_SOCKETS, "0", "", "core(2)", 1, "1-2,5-6", "without same, as they come"},
        {TWO_SOCKETS, "", "", "thread(2,same=core)*2", 1, "0-1,4-5",
         "LSF: 4 threads from 2 cores"},
        {TWO_SOCKETS, "", "", "thread(2,same=core,exclusive=(socket,intask))*2", 1,
         "0,2,4,6", "LSF: the cores come from different sockets"},
        {TWO_SOCKETS, "", "", "core(2,same=socket,exclusive=(socket,injob))", 3,
         "0-1,4-5 2-3,6-7", "LSF: each task has its socket"},
        {TWO_SOCKETS, "", "", "core(1,exclusive=(socket,injob))", 3, "0,4 2,6",
         "one task in a socket"},
        {TWO_SOCKETS, "0", "", "core(1,exclusive=(socket,alljobs))", 3, "2,6 3,7",
         "another job is in the first socket; tasks of the job may share one"},
        {TWO_SOCKETS, "0", "", "core(1,exclusive=(socket,injob|alljobs))", 3, "2,6",
         "both"},
        {TWO_SOCKETS, "0", "", "core(2,exclusive=(socket,injob))", 2, "2-3,6-7",
         "within one socket, though one core of the first is free"},
        {TWO_SOCKETS, "", "", "core(3,exclusive=(socket,injob))", 2, "0-2,4-6",
         "it takes both sockets if it must"},
        {TWO_SOCKETS, "", "", "core(1):distribute=balance", 3, "0,4 2,6 1,5",
         "sockets in turn"},
        {TWO_SOCKETS, "0", "", "core(1):distribute=balance", 2, "1,5 2,6",
         "the job's own tasks count, not others"},
        {TWO_SOCKETS, "", "", "thread(1):distribute=balance", 4, "0 2 1 3",
         "then cores in turn"},
        {TWO_SOCKETS, "", "", "core(2):distribute=balance", 1, "0-1,4-5",
         "the units of one task stay together"},
        {FOUR_CORES, "0", "", "core(1):distribute=pack", 2, "2 3",
         "the second socket has room for both"},
        {FOUR_CORES, "0", "", "core(1):distribute=pack", 1, "1",
         "the fullest socket with room"},
        {FOUR_CORES, "0", "", "core(1):distribute=pack", 3, "1 2 3",
         "no socket has room for three: not packed, but started"},
        {FOUR_CORES, "0", "", "core(1):distribute=pack(socket=1)", 3, "2 3",
         "LSF: pends instead; two would fit"},
        {FOUR_CORES, "0,2", "", "core(2):distribute=pack(socket=1)", 1, "", "none"},
        {EIGHT_CORES, "0-1,4-6", "", "core(1):distribute=pack", 2, "2 3",
         "the node with two free cores, not the one with one"},
        {EIGHT_CORES, "0,4-5", "", "core(1):distribute=pack", 2, "6 7",
         "the node with two free cores, not the one with three"},
        {EIGHT_CORES, "0", "", "core(1,same=numa):distribute=any", 2, "1 2",
         "same of one unit has no effect"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct cpu_topology topology = read_topology(rows[i].topology);
        struct affinity_request request =
            read_request(arena_printf(&arena, "affinity[%s]", rows[i].request));
        struct affinity_use use = {read_set(rows[i].used), read_set(rows[i].closed)};
        struct cpu_set tasks[8];
        int n = affinity_fit(&topology, &use, &request, rows[i].n_tasks, tasks);
        const char *text = "";
        for (int k = 0; k < n; k++) {
            char list[CPU_LIST_SIZE];
            cpu_set_format(&tasks[k], list);
            text = arena_printf(&arena, "%s%s%s", text, k > 0 ? " " : "", list);
        }
        if (strcmp(text, rows[i].expected) != 0) {
            fail_msg("%s of %s: %s, expected %s (%s)", rows[i].request,
                     rows[i].topology, text, rows[i].expected, rows[i].why);
        }
        assert_int_equal(affinity_fit(&topology, &use, &request, rows[i].n_tasks, NULL),
                         n);
    }
}

static void test_what_processes_may_use(void **state)
{
    static const struct {
        const char *request, *units, *cpus, *nodes, *why;
    } rows[] = {
        {"core(2)", "0,4", "0,4", "0", "LSF: the lowest unit by default"},
        {"core(2):cpubind=thread", "0,4", "0,4", "0", "LSF: all threads of the cores"},
        {"core(2):cpubind=core", "0,4", "0,4", "0", "its own level"},
        {"core(2):cpubind=socket", "0,4", "0-1,4-5", "0", "LSF: all of the socket"},
        {"thread(1):cpubind=core", "6", "2,6", "1", "the core"},
        {"core(2):cpubind=numa", "0,4,2,6", "0-7", "0-1", "both nodes"},
    };
    struct cpu_topology topology;
    (void)state;
    topology = read_topology(TWO_SOCKETS);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct affinity_request request =
            read_request(arena_printf(&arena, "affinity[%s]", rows[i].request));
        struct cpu_set units = read_set(rows[i].units), cpus, nodes;
        char text[CPU_LIST_SIZE];
        affinity_bound(&topology, &request, &units, &cpus, &nodes);
        cpu_set_format(&cpus, text);
        assert_string_equal(text, rows[i].cpus);
        cpu_set_format(&nodes, text);
        assert_string_equal(text, rows[i].nodes);
    }
}

/* An element of a job that excludes all others is closed while it has it. */
static void test_taking(void **state)
{
    struct cpu_topology topology;
    struct affinity_use use = {.used = {{0}}};
    struct cpu_set units;
    char text[CPU_LIST_SIZE];
    (void)state;
    topology = read_topology(TWO_SOCKETS);
    units = read_set("0,4");
    struct affinity_request shared = read_request("affinity[core(1)]");
    affinity_take(&topology, &shared, &units, &use);
    cpu_set_format(&use.used, text);
    assert_string_equal(text, "0,4");
    assert_int_equal(cpu_set_count(&use.closed), 0);
    struct affinity_request alone =
        read_request("affinity[core(1,exclusive=(socket,alljobs))]");
    units = read_set("2,6");
    affinity_take(&topology, &alone, &units, &use);
    cpu_set_format(&use.closed, text);
    assert_string_equal(text, "2-3,6-7");
}

/* The section of the job counts as a whole, and that of the application before the
 * queue's. */
static void test_levels(void **state)
{
    static const char job[] = "affinity[thread]";
    static const char *const strings[] = {job};
    static const struct {
        struct resreq_strings from;
        enum cpu_level unit, bind;
    } rows[] = {
        {{.queue = "affinity[core:cpubind=numa]"}, CPU_LEVEL_CORE, CPU_LEVEL_NUMA},
        {{.queue = "affinity[core:cpubind=numa]", .application = "affinity[socket]"},
         CPU_LEVEL_SOCKET,
         CPU_LEVEL_HOST},
        {{.queue = "affinity[core:cpubind=numa]",
          .application = "affinity[socket]",
          .strings = strings,
          .n_strings = 1},
         CPU_LEVEL_THREAD,
         CPU_LEVEL_HOST},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct resources *resources = resources_new();
        struct resreq_rules rules = {.language = {.resources = resources},
                                     .reading = RESREQ_READ_ALL};
        struct resreq_notes notes = {.arena = &arena};
        struct resreq_error error;
        struct resreq resreq;
        assert_int_equal(
            resreq_compile(&arena, &rules, &rows[i].from, &resreq, &notes, &error), 0);
        assert_int_equal(resreq.affinity.unit, rows[i].unit);
        assert_int_equal(resreq.affinity.bind, rows[i].bind);
        resources_free(resources);
    }
}

static int set_up(void **state)
{
    (void)state;
    arena_init(&arena);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_what_processes_may_use),
        cmocka_unit_test(test_taking),
        cmocka_unit_test(test_levels),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
