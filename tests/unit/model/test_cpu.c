/* SPDX-License-Identifier: Apache-2.0 */
/* test_cpu.c: sets of processors, topologies and bindings as text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "model/cpu.h"

static void test_a_set_as_text(void **state)
{
    static const struct {
        const char *text, *expected; /* NULL: refused */
    } rows[] = {
        {"", ""},         {"0", "0"},         {"3,1,2", "1-3"}, {"0-3,8", "0-3,8"},
        {"2047", "2047"}, {"63-65", "63-65"}, {"5,5", "5"},     {"2048", NULL},
        {"1,", NULL},     {",1", NULL},       {"3-1", NULL},    {"a", NULL},
        {"1 2", NULL},    {"1-", NULL},       {"-1", NULL},     {"99999999999", NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct cpu_set set;
        struct err err = {.text = ""};
        char text[CPU_LIST_SIZE];
        int code = cpu_set_parse(rows[i].text, strlen(rows[i].text), &set, &err);
        assert_int_equal(code, rows[i].expected == NULL ? ERR_PARSE : 0);
        if (code == 0) {
            cpu_set_format(&set, text);
            assert_string_equal(text, rows[i].expected);
        }
    }
}

/* "cpu numa/socket/core" of each thread. */
static const char *topology_text(struct arena *arena, const struct cpu_topology *from)
{
    const char *text = "";
    for (int i = 0; i < from->n_units; i++) {
        const struct cpu_unit *unit = &from->units[i];
        text =
            arena_printf(arena, "%s%s%d:%d/%d/%d/%d", text, i > 0 ? " " : "", unit->cpu,
                         unit->of[CPU_LEVEL_NUMA], unit->of[CPU_LEVEL_SOCKET],
                         unit->of[CPU_LEVEL_CORE], unit->at[CPU_LEVEL_THREAD]);
    }
    return text;
}

static void test_a_topology(void **state)
{
    struct arena arena;
    struct cpu_topology topology;
    struct err err;
    (void)state;
    arena_init(&arena);
    assert_int_equal(cpu_topology_parse(&arena, "0:16000:0=0,4;1,5|1:8000:1=2,6;3,7",
                                        &topology, &err),
                     0);
    assert_string_equal(topology_text(&arena, &topology),
                        "0:0/0/0/0 4:0/0/0/1 1:0/0/1/0 5:0/0/1/1 "
                        "2:1/1/2/0 6:1/1/2/1 3:1/1/3/0 7:1/1/3/1");
    assert_int_equal(topology.nodes[1].mib, 8000);
    assert_int_equal(topology.n_of[CPU_LEVEL_CORE], 4);
    assert_int_equal(topology.units[6].at[CPU_LEVEL_CORE], 1);   /* of its socket */
    assert_int_equal(topology.units[6].at[CPU_LEVEL_SOCKET], 0); /* of its node */
    arena_release(&arena);
}

static void test_a_socket_of_two_nodes_is_one(void **state)
{
    struct arena arena;
    struct cpu_topology topology;
    struct err err;
    (void)state;
    arena_init(&arena);
    assert_int_equal(
        cpu_topology_parse(&arena, "2:1:5=0;1|3:1:5=2;3|4:1:6=4", &topology, &err), 0);
    assert_int_equal(topology.n_of[CPU_LEVEL_NUMA], 3);
    assert_int_equal(topology.n_of[CPU_LEVEL_SOCKET], 2);
    assert_int_equal(topology.units[3].of[CPU_LEVEL_SOCKET], 0);
    assert_int_equal(topology.units[4].of[CPU_LEVEL_SOCKET], 1);
    arena_release(&arena);
}

/* AFFINITY = (1,4-5): what is left is numbered as if there were no more. */
static void test_a_part_of_a_topology(void **state)
{
    struct arena arena;
    struct cpu_topology topology;
    struct cpu_set cpus;
    struct err err;
    (void)state;
    arena_init(&arena);
    assert_int_equal(
        cpu_topology_parse(&arena, "0:1:0=0,4;1,5|1:2:1=2,6;3,7", &topology, &err), 0);
    assert_int_equal(cpu_set_parse("5,2,3", 5, &cpus, &err), 0);
    cpu_topology_keep(&arena, &topology, &cpus);
    assert_string_equal(topology_text(&arena, &topology),
                        "5:0/0/0/0 2:1/1/1/0 3:1/1/2/0");
    assert_int_equal(topology.nodes[1].mib, 2);
    arena_release(&arena);
}

static void test_bad_topologies(void **state)
{
    static const char *const texts[] = {
        "",          "0",        "0:1",      "0:1:",       "0:1:0",     "0:1:0=",
        "0:1:0=a",   "0:1:0=0;", "0:1:0=0,", "0:1:0=0|",   "0:1:0=0/",  "0:1:0=0 ",
        "0:1:0=0,0", "x:1:0=0",  "0:-1:0=0", "0:1:0=2048", "0:1:2048=1"};
    struct arena arena;
    (void)state;
    arena_init(&arena);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct cpu_topology topology;
        struct err err = {.text = ""};
        assert_int_equal(cpu_topology_parse(&arena, texts[i], &topology, &err),
                         ERR_PARSE);
        assert_non_null(strstr(err.text, "bad topology"));
    }
    arena_release(&arena);
}

static void test_a_binding_round_trip(void **state)
{
    static const char *const texts[] = {
        "core:-:-:-:-",
        "core:socket:-:-:localonly;n1 0-1,4-5 0 0,4 1,5",
        "thread:core:socket:injob|alljobs:localprefer;n1 0 0 0;n2 - - -",
    };
    static const char *const bad[] = {
        "",
        "core",
        "core:-:-:-",
        "core:-:-:-:-:-",
        "chip:-:-:-:-",
        "core:-:-:job:-",
        "core:-:-:-:-;n1",
        "core:-:-:-:-;n1 0",
        "core:-:-:-:-; 0 0",
        "core:-:-:-:-;n1 0 x",
        "core:-:-:-:-;n1 0  0",
        "core:-:-:-:-n1 0 0",
    };
    struct arena arena;
    struct cpu_binding binding;
    struct err err;
    (void)state;
    arena_init(&arena);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        assert_int_equal(cpu_binding_parse(&arena, texts[i], &binding, &err), 0);
        assert_string_equal(cpu_binding_format(&arena, &binding), texts[i]);
    }
    assert_int_equal(cpu_binding_parse(&arena, texts[1], &binding, &err), 0);
    assert_int_equal(binding.hosts[0].n_tasks, 2);
    assert_true(cpu_set_has(&binding.hosts[0].tasks[1], 5));
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(cpu_binding_parse(&arena, bad[i], &binding, &err), ERR_PARSE);
    }
    arena_release(&arena);
}

/* What is too long for RUN_START is not written at all. */
static void test_a_binding_has_a_bound(void **state)
{
    enum { TASKS = 5000 };
    struct arena arena;
    (void)state;
    arena_init(&arena);
    struct cpu_binding_host host = {
        .host = "n1",
        .n_tasks = TASKS,
        .tasks = arena_alloc(&arena, TASKS, sizeof(*host.tasks)),
    };
    struct cpu_binding binding = {.unit = CPU_LEVEL_CORE, .hosts = &host, .n_hosts = 1};
    for (int i = 0; i < TASKS; i++) {
        cpu_set_add(&host.tasks[i], 1000);
        cpu_set_add(&host.tasks[i], 1002);
    }
    assert_null(cpu_binding_format(&arena, &binding));
    host.n_tasks = 4000;
    assert_non_null(cpu_binding_format(&arena, &binding));
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_set_as_text),
        cmocka_unit_test(test_a_topology),
        cmocka_unit_test(test_a_socket_of_two_nodes_is_one),
        cmocka_unit_test(test_a_part_of_a_topology),
        cmocka_unit_test(test_bad_topologies),
        cmocka_unit_test(test_a_binding_round_trip),
        cmocka_unit_test(test_a_binding_has_a_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
