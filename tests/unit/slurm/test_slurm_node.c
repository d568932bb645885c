/* SPDX-License-Identifier: Apache-2.0 */
/* What sinfo is asked, and what its lines say. Source: Slurm's sinfo(1). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/bounds.h"
#include "slurm/slurm_node.h"

/* A line as Slurm 22.05.8 prints it for columns of the width 0, each with a bar. */
static const char *line(struct arena *arena, const char *const cells[9])
{
    return arena_printf(arena, "%s|%s|%s|%s|%s|%s|%s|%s|%s|\n", cells[0], cells[1],
                        cells[2], cells[3], cells[4], cells[5], cells[6], cells[7],
                        cells[8]);
}
#define LINE(...) line(&arena, (const char *const[9]){__VA_ARGS__})

static void test_command(void **state)
{
    struct arena arena;
    arena_init(&arena);
    const char *const *words = slurm_node_command(&arena, "main");
    static const char *const wanted[] = {
        "sinfo",
        "--noheader",
        "--Node",
        "--Format",
        "NodeList:0|,StateComplete:0|,CPUsState:0|,Memory:0|,FreeMem:0|,CPUsLoad:0|,"
        "Features:0|,Gres:0|,PartitionName:0|",
        "--partition",
        "main",
    };
    (void)state;
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
        assert_string_equal(words[i], wanted[i]);
    }
    assert_null(words[7]);
    assert_null(slurm_node_command(&arena, "")[5]);
    arena_release(&arena);
}

static void test_nodes(void **state)
{
    struct arena arena;
    struct slurm_nodes nodes;
    struct err err;
    (void)state;
    arena_init(&arena);
    const char *text = arena_printf(
        &arena, "%s%s%s",
        LINE("n2", "idle", "0/4/0/4", "2000", "N/A", "N/A", "(null)", "(null)", "main"),
        LINE("n1", "mixed+reserved", "1/1/0/2", "1000", "640", "12.55", "big,ib",
             "gpu:a100:2(S:0)", "main"),
        LINE("n1", "mixed+reserved", "1/1/0/2", "1000", "640", "12.55", "big,ib",
             "gpu:a100:2(S:0)", "long"));
    assert_int_equal(slurm_node_read(&arena, text, &nodes, &err), 0);
    assert_int_equal(nodes.count, 2);
    const struct slurm_node *first = &nodes.items[0], *second = &nodes.items[1];
    assert_string_equal(first->name, "n1");
    assert_string_equal(first->state, "mixed+reserved");
    assert_int_equal(first->cpus, 2);
    assert_int_equal(first->used_cpus, 1);
    assert_int_equal(first->mem_mib, 1000);
    assert_int_equal(first->free_mem_mib, 640);
    assert_true(first->load == 12.55);
    assert_string_equal(first->features, "big,ib");
    assert_string_equal(first->gres, "gpu:a100:2(S:0)");
    assert_string_equal(first->partitions, "main,long");
    assert_string_equal(second->name, "n2");
    assert_int_equal(second->free_mem_mib, -1);
    assert_true(second->load == -1);
    assert_string_equal(second->features, "");
    assert_string_equal(second->gres, "");
    arena_release(&arena);
}

/* Borrowed nodes are not the site's own; nodes that only look like them are. */
static void test_borrowed(void **state)
{
    static const struct {
        const char *name, *state, *features;
        uint64_t guest;
    } rows[] = {
        {"sublet57", "idle+dynamic_norm", "sublet,north", 57},
        {"sublet58", "mixed+drain+dynamic_norm", "north,sublet", 58},
        {"sublet59", "idle", "sublet,north", 0},
        {"sublet60", "idle+dynamic_norm", "sublets,north", 0},
        {"sublet", "idle+dynamic_norm", "sublet", 0},
        {"sublet0", "idle+dynamic_norm", "sublet", 0},
        {"sublet6x", "idle+dynamic_norm", "sublet", 0},
        {"n61", "idle+dynamic_norm", "sublet", 0},
    };
    struct arena arena;
    struct slurm_nodes own, all;
    struct err err;
    const char *text = "";
    (void)state;
    arena_init(&arena);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        text = arena_printf(&arena, "%s%s", text,
                            LINE(rows[i].name, rows[i].state, "0/4/0/4", "2000", "N/A",
                                 "N/A", rows[i].features, "(null)", "borrowed"));
    }
    assert_int_equal(slurm_node_read_all(&arena, text, &all, &err), 0);
    assert_int_equal(all.count, sizeof(rows) / sizeof(rows[0]));
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        for (int k = 0; k < all.count; k++) {
            if (strcmp(all.items[k].name, rows[i].name) == 0) {
                assert_int_equal(slurm_node_guest(&all.items[k]), rows[i].guest);
            }
        }
    }
    assert_int_equal(slurm_node_read(&arena, text, &own, &err), 0);
    assert_int_equal(own.count, all.count - 2);
    for (int k = 0; k < own.count; k++) {
        assert_int_equal(slurm_node_guest(&own.items[k]), 0);
    }
    arena_release(&arena);
}

/* Slurm cuts a value of a column that has a width. */
static void test_long_values(void **state)
{
    struct arena arena;
    struct slurm_nodes nodes;
    struct err err;
    char features[4000];
    (void)state;
    arena_init(&arena);
    memset(features, 'f', sizeof(features) - 1);
    features[sizeof(features) - 1] = '\0';
    const char *text =
        LINE("n1", "idle", "0/4/0/4", "2000", "N/A", "N/A", features, "(null)", "main");
    assert_int_equal(slurm_node_read(&arena, text, &nodes, &err), 0);
    assert_string_equal(nodes.items[0].features, features);
    arena_release(&arena);
}

static void test_nothing(void **state)
{
    struct arena arena;
    struct slurm_nodes nodes = {.count = -1};
    struct err err;
    (void)state;
    arena_init(&arena);
    assert_int_equal(slurm_node_read(&arena, "", &nodes, &err), 0);
    assert_int_equal(nodes.count, 0);
    arena_release(&arena);
}

/* A node of which a bad answer is made by replacing one cell. */
static void test_refused(void **state)
{
    static const struct {
        const char *why;
        int cell;
        const char *text;
        int code;
    } rows[] = {
        {"no name", 0, "", ERR_BOUNDS},
        {"a name that is none", 0, "n1 n2", ERR_BOUNDS},
        {"a name that is too long", 0,
         "n234567890123456789012345678901234567890123456789012345678901234",
         ERR_BOUNDS},
        {"a value with a bar", 6, "a|b", ERR_PARSE},
        {"a value with the end of a line", 6, "a\nb", ERR_PARSE},
        {"three numbers of CPUs", 2, "0/4/4", ERR_PARSE},
        {"five numbers of CPUs", 2, "0/4/0/4/0", ERR_PARSE},
        {"CPUs that are no sum", 2, "1/4/0/4", ERR_PARSE},
        {"a negative number of CPUs", 2, "-1/5/0/4", ERR_BOUNDS},
        {"more CPUs than a host may have", 2, "0/100001/0/100001", ERR_BOUNDS},
        {"CPUs that are no number", 2, "a/4/0/4", ERR_BOUNDS},
        {"no memory", 3, "", ERR_BOUNDS},
        {"memory with a unit", 3, "2G", ERR_BOUNDS},
        {"a negative load", 5, "-1", ERR_PARSE},
        {"a load that is no number", 5, "nan", ERR_PARSE},
        {"a load without a bound", 5, "inf", ERR_PARSE},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *cells[9] = {"n1",  "idle",   "0/4/0/4", "2000", "100",
                                "0.5", "(null)", "(null)",  "main"};
        struct slurm_nodes nodes = {.count = -1};
        struct err err = {.text = ""};
        struct arena arena;
        arena_init(&arena);
        cells[rows[i].cell] = rows[i].text;
        const char *text =
            arena_printf(&arena, "%s%s",
                         LINE("n0", "idle", "0/1/0/1", "1", "1", "0", "a", "b", "main"),
                         line(&arena, cells));
        int code = slurm_node_read(&arena, text, &nodes, &err);
        if (code != rows[i].code || nodes.count != -1 ||
            strstr(err.text, "line 2") == NULL) {
            fail_msg("%s: %d (%s), expected %d", rows[i].why, code, err.text,
                     rows[i].code);
        }
        arena_release(&arena);
    }
}

static void test_other_columns(void **state)
{
    static const char *const texts[] = {
        "NODELIST   NODES PARTITION STATE\n", /* of sinfo without --Format */
        "\n",
        "n1",
    };
    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct slurm_nodes nodes;
        struct err err;
        struct arena arena;
        arena_init(&arena);
        assert_int_equal(slurm_node_read(&arena, texts[i], &nodes, &err), ERR_PARSE);
        arena_release(&arena);
    }
    struct arena arena;
    struct slurm_nodes nodes;
    struct err err;
    arena_init(&arena);
    const char *good = LINE("n0", "idle", "0/1/0/1", "1", "1", "0", "a", "b", "main");
    const char *more = arena_printf(&arena, "%.*sx\n", (int)strlen(good) - 1, good);
    const char *less = arena_printf(&arena, "%.*s\n", (int)strlen(good) - 2, good);
    assert_int_equal(slurm_node_read(&arena, more, &nodes, &err), ERR_PARSE);
    assert_int_equal(slurm_node_read(&arena, less, &nodes, &err), ERR_PARSE);
    arena_release(&arena);
}

/* One more node than a site may have. */
static void test_bounds(void **state)
{
    struct arena arena;
    struct slurm_nodes nodes = {.count = -1};
    struct err err;
    (void)state;
    arena_init(&arena);
    size_t length =
        strlen(LINE("n00000", "idle", "0/1/0/1", "1", "1", "0", "a", "b", "m"));
    char *text = arena_alloc(&arena, (size_t)(HOSTS_MAX + 1) * length + 1, 1);
    struct arena scratch;
    arena_init(&scratch);
    for (int i = 0; i <= HOSTS_MAX; i++) {
        const char *name = arena_printf(&scratch, "n%05d", i);
        const char *cells[9] = {name, "idle", "0/1/0/1", "1", "1", "0", "a", "b", "m"};
        memcpy(text + (size_t)i * length, line(&scratch, cells), length);
        arena_clear(&scratch);
    }
    assert_int_equal(slurm_node_read(&arena, text, &nodes, &err), ERR_BOUNDS);
    text[(size_t)HOSTS_MAX * length] = '\0';
    assert_int_equal(slurm_node_read(&arena, text, &nodes, &err), 0);
    assert_int_equal(nodes.count, HOSTS_MAX);
    arena_release(&scratch);
    arena_release(&arena);
}

static void test_obstacle(void **state)
{
    static const struct {
        const char *state;
        int used;
        const char *obstacle; /* NULL: none */
    } rows[] = {
        {"idle", 0, NULL},
        {"mixed", 1, "1 of 4 CPUs are in use"},
        {"completing", 0, "its state is completing"},
        {"idle+reserved", 0, "its state is idle+reserved"},
        {"idle+planned", 0, "its state is idle+planned"},
        {"idle+drain", 0, "its state is idle+drain"},
        {"down", 0, "its state is down"},
        {"", 0, "its state is "},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct slurm_node node = {
            .name = "n1", .state = rows[i].state, .cpus = 4, .used_cpus = rows[i].used};
        struct arena arena;
        arena_init(&arena);
        const char *obstacle = slurm_node_obstacle(&arena, &node);
        if (rows[i].obstacle == NULL) {
            assert_null(obstacle);
        } else {
            assert_non_null(obstacle);
            assert_string_equal(obstacle, rows[i].obstacle);
        }
        arena_release(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_command),     cmocka_unit_test(test_nodes),
        cmocka_unit_test(test_long_values), cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_refused),     cmocka_unit_test(test_other_columns),
        cmocka_unit_test(test_bounds),      cmocka_unit_test(test_obstacle),
        cmocka_unit_test(test_borrowed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
