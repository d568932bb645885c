/* SPDX-License-Identifier: Apache-2.0 */
/* Load thresholds: parsing, and which values exceed them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "sched/resource/resource.h"

static int id_of(const struct resources *resources, const char *name)
{
    return resources_find(resources, name, strlen(name));
}

static struct resources *catalogue(void)
{
    static const struct resource rows[] = {
        {.name = "heat", .interval_ms = 30000, .is_increasing = true},
        {.name = "room", .interval_ms = 30000},
        {.name = "size"},
        {.name = "gpu", .type = RESOURCE_BOOLEAN, .interval_ms = 30000},
    };
    struct resources *resources = resources_new();
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        int id;
        assert_int_equal(resources_add(resources, &rows[i], &id, NULL), 0);
    }
    return resources;
}

/* "sched 0.7 stop 2", or the complaint. */
static const char *read_text(const struct resources *resources, const char *name,
                             const char *text)
{
    static char read[512];
    struct load_threshold threshold;
    struct err err;
    if (load_threshold_parse(resources, id_of(resources, name), text, &threshold,
                             &err) != 0) {
        snprintf(read, sizeof(read), "%s", err.text);
        return read;
    }
    int n = 0;
    read[0] = '\0';
    for (int i = 0; i < LOAD_THRESHOLD_KINDS; i++) {
        if (threshold.has[i]) {
            n += snprintf(read + n, sizeof(read) - (size_t)n, "%s %g ",
                          i == LOAD_SCHED ? "sched" : "stop", threshold.bounds[i]);
        }
    }
    return read;
}

static void what_is_written_is_read_again(void **state)
{
    static const char *const texts[] = {"0.7/2", "/10", "3.5", "0/0",
                                        "1000000/0.000125"};
    struct resources *resources = catalogue();
    struct arena arena;
    (void)state;
    arena_init(&arena);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        int id = id_of(resources, "heat");
        struct load_threshold read, again;
        struct err err;
        assert_int_equal(load_threshold_parse(resources, id, texts[i], &read, &err), 0);
        const char *text = load_threshold_format(&arena, &read);
        assert_int_equal(load_threshold_parse(resources, id, text, &again, &err), 0);
        assert_memory_equal(again.has, read.has, sizeof(read.has));
        assert_true(again.bounds[0] == read.bounds[0] &&
                    again.bounds[1] == read.bounds[1]);
    }
    arena_release(&arena);
    resources_free(resources);
}

static void what_is_a_threshold(void **state)
{
    static const struct {
        const char *name, *text, *expected, *why;
    } rows[] = {
        {"r1m", "0.7/2.0", "sched 0.7 stop 2 ", "both"},
        {"mem", "500/100", "sched 500 stop 100 ", "an index that falls"},
        {"tmp", "200", "sched 200 ", "loadSched alone"},
        {"tmp", "200/", "sched 200 ", "likewise"},
        {"it", "/10", "stop 10 ", "loadStop alone"},
        {"heat", "/70", "stop 70 ", "an index of the site's own"},
        {"pg", "0/0", "sched 0 stop 0 ", "nothing at all"},
        {"r1m", "/", "\"/\", expected loadSched/loadStop as 0.7/2.0", "neither"},
        {"r1m", "high",
         "\"high\" is not a number, expected loadSched/loadStop as 0.7/2.0",
         "no number"},
        {"r1m", "1/2/3",
         "\"2/3\" is not a number, expected loadSched/loadStop as 0.7/2.0", "three"},
        {"r1m", "nan",
         "\"nan\" is not a number, expected loadSched/loadStop as 0.7/2.0",
         "strtod's own numbers are none"},
        {"r1m", "0x10",
         "\"0x10\" is not a number, expected loadSched/loadStop as 0.7/2.0",
         "nor is that"},
        {"mem", "-5", "\"-5\", expected 0 or more", "there is no such load"},
        {"ut", "0.5/90", "\"90\", expected 0.0 to 1.0", "a fraction, no percentage"},
        {"size", "5", "size is not a load index, expected a number with an INTERVAL",
         "it never changes"},
        {"gpu", "5", "gpu is not a load index, expected a number with an INTERVAL",
         "a Boolean"},
        {"ncpus", "5", "ncpus is not a load index, expected a number with an INTERVAL",
         "nor of LSF's own"},
    };
    struct resources *resources = catalogue();
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *found = read_text(resources, rows[i].name, rows[i].text);
        if (strcmp(found, rows[i].expected) != 0) {
            fail_msg("%s %s: %s: \"%s\", expected \"%s\"", rows[i].name, rows[i].text,
                     rows[i].why, found, rows[i].expected);
        }
    }
    resources_free(resources);
}

static void a_host_has_cores(void **state)
{
    static const struct {
        double n_cpus, n_procs, n_cores;
        const char *found, *why;
    } rows[] = {
        {0, 0, 0, "r1m 12 > 1", "nothing is told: one"},
        {4, 0, 0, "r1m 3 > 1", "ncpus"},
        {1, 1, 8, "r1m 1.5 > 1", "ncpus counts sockets by default"},
        {2, 2, 3, "r1m 2 > 1", "cores of all sockets"},
        {16, 1, 8, "", "and threads where it says so"},
    };
    struct resources *resources = resources_new();
    struct resource_table *table = resource_table_new(resources);
    struct arena arena;
    arena_init(&arena);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct load_threshold threshold;
        struct load_excess excess;
        assert_int_equal(
            load_threshold_parse(resources, RESOURCE_R1M, "1", &threshold, NULL), 0);
        struct load_thresholds thresholds = {&threshold, 1};
        resource_table_resize(table, 1);
        resource_table_set_number(table, 0, RESOURCE_R1M, 12);
        resource_table_set_number(table, 0, RESOURCE_NCPUS, rows[i].n_cpus);
        resource_table_set_number(table, 0, RESOURCE_NPROCS, rows[i].n_procs);
        resource_table_set_number(table, 0, RESOURCE_NCORES, rows[i].n_cores);
        const char *found =
            load_thresholds_find(&thresholds, table, 0, LOAD_SCHED, &excess)
                ? load_threshold_text(&arena, &excess)
                : "";
        if (strcmp(found, rows[i].found) != 0) {
            fail_msg("%s: \"%s\", expected \"%s\"", rows[i].why, found, rows[i].found);
        }
    }
    arena_release(&arena);
    resource_table_free(table);
    resources_free(resources);
}

/* What of the thresholds is beyond on the one host of the table; "": nothing. */
static const char *find(const struct resource_table *table, const char *name,
                        const char *text, enum load_threshold_kind side,
                        struct arena *arena)
{
    const struct resources *resources = resource_table_resources(table);
    struct load_threshold threshold;
    struct load_excess excess;
    assert_int_equal(
        load_threshold_parse(resources, id_of(resources, name), text, &threshold, NULL),
        0);
    struct load_thresholds thresholds = {&threshold, 1};
    return load_thresholds_find(&thresholds, table, 0, side, &excess)
               ? load_threshold_text(arena, &excess)
               : "";
}

static void what_is_beyond(void **state)
{
    static const struct {
        const char *name, *text;
        double value; /* -1: it is not told */
        const char *sched, *stop, *why;
    } rows[] = {
        {"pg", "10/20", 10, "", "", "a threshold is within itself"},
        {"pg", "10/20", 10.01, "pg 10.01 > 10", "", "between the two"},
        {"pg", "10/20", 21, "pg 21 > 10", "pg 21 > 20", "beyond both"},
        {"mem", "500/100", 500, "", "", "memory falls with load"},
        {"mem", "500/100", 100, "mem 100 < 500", "", "and is within itself"},
        {"mem", "500/100", 99, "mem 99 < 500", "mem 99 < 100", "beyond both"},
        {"it", "/10", 5, "it 5 < 10", "it 5 < 10", "nothing starts to be stopped"},
        {"tmp", "200", 0, "tmp 0 < 200", "", "no loadStop: nothing is suspended"},
        {"pg", "20/10", 15, "pg 15 > 10", "pg 15 > 10", "loadStop first: for both"},
        {"heat", "50/70", 71, "heat 71 > 50", "heat 71 > 70", "of the site's own"},
        {"room", "50/10", 9, "room 9 < 50", "room 9 < 10", "and one that falls"},
        {"heat", "50/70", -1, "heat is not reported", "", "unknown: no start, no stop"},
        {"heat", "/70", -1, "", "", "but for loadStop alone"},
        {"ut", "0.5", 0.5004, "ut 0.5004 > 0.5", "", "as exact as it takes"},
        {"r1m", "0.7/2.0", 8, "r1m 2 > 0.7", "", "of each of four processors"},
        {"r15s", "0.7/2.0", 8.4, "r15s 2.1 > 0.7", "r15s 2.1 > 2", "likewise"},
    };
    struct resources *resources = catalogue();
    struct resource_table *table = resource_table_new(resources);
    struct arena arena;
    arena_init(&arena);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        resource_table_resize(table, 0);
        resource_table_resize(table, 1);
        resource_table_set_number(table, 0, RESOURCE_NCPUS, 4);
        if (rows[i].value >= 0) {
            resource_table_set_number(table, 0, id_of(resources, rows[i].name),
                                      rows[i].value);
        }
        for (int side = 0; side < LOAD_THRESHOLD_KINDS; side++) {
            const char *found = find(table, rows[i].name, rows[i].text,
                                     (enum load_threshold_kind)side, &arena);
            const char *expected = side == LOAD_SCHED ? rows[i].sched : rows[i].stop;
            if (strcmp(found, expected) != 0) {
                fail_msg("%s %s: %s: \"%s\", expected \"%s\"", rows[i].name,
                         rows[i].text, rows[i].why, found, expected);
            }
        }
    }
    arena_release(&arena);
    resource_table_free(table);
    resources_free(resources);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_a_threshold),
        cmocka_unit_test(what_is_written_is_read_again),
        cmocka_unit_test(a_host_has_cores),
        cmocka_unit_test(what_is_beyond),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
