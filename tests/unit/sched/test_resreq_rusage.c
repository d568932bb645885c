/* SPDX-License-Identifier: Apache-2.0 */
/* rusage of queue, application and job, merged, and how it decreases over time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sched/resource/rusage_supply.h"
#include "sched/resreq/resreq.h"
#include "sched/resreq/resreq_rusage.h"

enum { STRINGS = 3 };

static struct arena arena;
static struct resources *resources;

static int set_up(void **state)
{
    static const struct resource lic = {
        .name = "lic", .type = RESOURCE_NUMERIC, .is_consumable = true};
    struct err err;
    int id;
    (void)state;
    arena_init(&arena);
    resources = resources_new();
    return resources_add(resources, &lic, &id, &err);
}

static int tear_down(void **state)
{
    (void)state;
    resources_free(resources);
    arena_release(&arena);
    return 0;
}

/* "a || b", or the fault's sentence. */
static const char *merge(const char *queue, const char *app, const char *const *strings)
{
    const struct resreq_rules rules = {
        .language = {.resources = resources, .has_local = true},
        .reading = RESREQ_READ_ALL};
    struct resreq_strings from = {
        .queue = queue, .application = app, .strings = strings};
    struct resreq_notes notes = {.arena = &arena};
    struct resreq_error fault;
    struct resreq resreq;
    while (from.n_strings < STRINGS && strings[from.n_strings] != NULL) {
        from.n_strings++;
    }
    if (resreq_compile(&arena, &rules, &from, &resreq, &notes, &fault) != 0) {
        return arena_printf(&arena, "%s %s", fault.text, fault.hint);
    }
    const char *text = "";
    for (int i = 0; i < resreq.rusages.n_alternatives; i++) {
        text = arena_printf(
            &arena, "%s%s%s", text, i > 0 ? " || " : "",
            resreq_rusage_text(&arena, resources, &resreq.rusages.alternatives[i]));
    }
    return text;
}

/* The examples of docs/design/resreq.md "Rusage" and of resreq_rusage.h. */
static void test_levels(void **state)
{
    static const struct {
        const char *why, *queue, *app, *strings[STRINGS + 1], *merged;
    } rows[] = {
        {"nothing", NULL, NULL, {NULL}, ""},
        {"a job's own",
         NULL,
         NULL,
         {"rusage[mem=20, lic=1:duration=2]"},
         "mem=20,lic=1:duration=120s"},
        {"a threshold is of its resource, whatever the duration",
         NULL,
         NULL,
         {"rusage[mem=20:threshold=500:swp=5:duration=2, lic=1:threshold=3]"},
         "mem=20:threshold=500:duration=120s,swp=5:duration=120s,lic=1:threshold=3"},
        {"the queue's threshold stays, as its duration does",
         "rusage[mem=200:threshold=500, lic=1:threshold=2]",
         NULL,
         {"rusage[mem=100, lic=1:threshold=4]"},
         "mem=100:threshold=500,lic=1:threshold=4"},
        {"duration and decay are of their string",
         NULL,
         NULL,
         {"rusage[mem=20:swp=50:duration=1h, lic=1:duration=30s:decay=1]"},
         "mem=20:duration=3600s,swp=50:duration=3600s,lic=1:duration=30s:decay=1"},
        {"by resource",
         "rusage[mem=200:lic=1]",
         NULL,
         {"rusage[mem=100]"},
         "mem=100,lic=1"},
        {"the queue's duration stays",
         "rusage[mem=200:duration=20:decay=1]",
         NULL,
         {"rusage[mem=100]"},
         "mem=100:duration=1200s:decay=1"},
        {"a shorter one wins",
         "rusage[mem=200:duration=20:decay=1]",
         NULL,
         {"rusage[mem=100:duration=10]"},
         "mem=100:duration=600s"},
        {"application before queue",
         "rusage[mem=200]",
         "rusage[mem=100]",
         {NULL},
         "mem=100"},
        {"job before application",
         "rusage[mem=200]",
         "rusage[mem=150,swp=5]",
         {"rusage[mem=100]"},
         "mem=100,swp=5"},
        {"built-in resources: not more than the queue's",
         "rusage[mem=200]",
         NULL,
         {"rusage[mem=201]"},
         "cannot exceed queue's resource reservation"},
        {"nor by its application",
         "rusage[mem=200]",
         "rusage[mem=201]",
         {NULL},
         "cannot exceed queue's resource reservation"},
        {"but more than its application's",
         NULL,
         "rusage[mem=200]",
         {"rusage[mem=201]"},
         "mem=201"},
        {"defined ones: more", "rusage[lic=2]", NULL, {"rusage[lic=3]"}, "lic=3"},
        {"not for longer, whatever it is",
         "rusage[lic=2:duration=5]",
         NULL,
         {"rusage[lic=1:duration=6]"},
         "the queue reserves it for less time"},
        {"alternatives",
         NULL,
         NULL,
         {"rusage[mem=20:lic=1||mem=20:swp=50:lic=2]"},
         "mem=20,lic=1 || mem=20,swp=50,lic=2"},
        {"each with each",
         "rusage[swp=1||swp=2]",
         NULL,
         {"rusage[lic=1||lic=2]"},
         "lic=1,swp=1 || lic=1,swp=2 || lic=2,swp=1 || lic=2,swp=2"},
        {"several strings",
         NULL,
         NULL,
         {"rusage[mem=1]", "rusage[lic=2]"},
         "mem=1,lic=2"},
        {"of one level, not the same",
         NULL,
         NULL,
         {"rusage[mem=1]", "rusage[mem=2]"},
         "another -R string reserves it as well"},
        {"scopes",
         "rusage[mem=5/slot]",
         NULL,
         {"rusage[mem=4,lic=2/job]"},
         "mem=4/slot,lic=2/job"},
        {"the stronger scope",
         "rusage[mem=5/slot]",
         NULL,
         {"rusage[mem=4/host]"},
         "mem=4/host"},
        {"/task is /slot", NULL, NULL, {"rusage[mem=4/task]"}, "mem=4/slot"},
        {"an alias, units, a fraction",
         NULL,
         NULL,
         {"rusage[swap=1.5G, mem=0.25]"},
         "swp=1536,mem=0.25"},
        {"phases",
         NULL,
         NULL,
         {"rusage[mem=(50 20):duration=(10 5):decay=(1 0)]"},
         "mem=(50 20):duration=(600s 300s):decay=(1 0)"},
        {"the last one without an end",
         NULL,
         NULL,
         {"rusage[mem=(50 20):duration=10:decay=1]"},
         "mem=(50 20):duration=600s:decay=1"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *merged = merge(rows[i].queue, rows[i].app, rows[i].strings);
        bool is_fault = strstr(merged, "Error") != NULL;
        if (is_fault ? strstr(merged, rows[i].merged) == NULL || !rows[i].merged[0]
                     : strcmp(merged, rows[i].merged) != 0) {
            fail_msg("%s: \"%s\", expected \"%s\"", rows[i].why, merged,
                     rows[i].merged);
        }
    }
}

static void test_time(void **state)
{
    static const struct {
        const char *text;
        int64_t at_s;
        const char *amount;
    } rows[] = {
        {"mem=50", 0, "50"},
        {"mem=50", 1000000, "50"},
        {"mem=50:duration=100", 5999, "50"},
        {"mem=50:duration=100", 6000, "0"},
        {"mem=50:duration=100:decay=1", 0, "50"},
        {"mem=50:duration=100:decay=1", 60,
         "49.5"}, /* docs/design/resreq.md "Rusage" */
        {"mem=50:duration=100:decay=1", 3000, "25"},
        {"mem=50:duration=100:decay=1", 6000, "0"},
        {"mem=(50 20):duration=(10 5):decay=(1 0)", 300, "35"}, /* to the next */
        {"mem=(50 20):duration=(10 5):decay=(1 0)", 600, "20"},
        {"mem=(50 20):duration=(10 5):decay=(1 0)", 899, "20"},
        {"mem=(50 20):duration=(10 5):decay=(1 0)", 900, "0"},
        {"mem=(50 20):duration=10", 599, "50"},
        {"mem=(50 20):duration=10", 1000000, "20"},
        {"mem=50:duration=100:decay=1", -5, "50"}, /* a clock that went back */
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct resreq_rusage usage;
        resreq_rusage_read(&arena, resources, rows[i].text, &usage);
        assert_int_equal(usage.n_items, 1);
        int64_t milli = resreq_rusage_milli(&usage.items[0], rows[i].at_s * 1000);
        assert_string_equal(resreq_rusage_amount_text(&arena, milli), rows[i].amount);
    }
}

static void test_next_change(void **state)
{
    enum { STEP_MS = 15000 };
    struct resreq_rusage usage;
    (void)state;
    resreq_rusage_read(&arena, resources,
                       "mem=50,swp=5:duration=1,lic=(4 2):duration=1:decay=1", &usage);
    assert_int_equal(resreq_rusage_next_ms(&usage.items[0], 0, STEP_MS), INT64_MAX);
    assert_int_equal(resreq_rusage_next_ms(&usage.items[1], 100, STEP_MS), 60000);
    assert_int_equal(resreq_rusage_next_ms(&usage.items[1], 60000, STEP_MS), INT64_MAX);
    assert_int_equal(resreq_rusage_next_ms(&usage.items[2], 0, STEP_MS), STEP_MS);
    assert_int_equal(resreq_rusage_next_ms(&usage.items[2], 50000, STEP_MS), 60000);
    assert_int_equal(resreq_rusage_next_ms(&usage.items[2], 60000, STEP_MS), INT64_MAX);
}

/* What is on record is read again as it was; what is not known any more is left out. */
static void test_record(void **state)
{
    static const char *const rows[][2] = {
        {"mem=4096/host,lic=2/job", NULL},
        {"mem=(50 20.125)/slot:duration=(600s 300s):decay=(1 0),lic=1/job", NULL},
        {"gone=4,lic=1:duration=60s", "lic=1:duration=60s"},
        {"gone=4", ""},
        {"", ""},
        {"mem=", ""},
        {"mem=5]", ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct resreq_rusage usage;
        resreq_rusage_read(&arena, resources, rows[i][0], &usage);
        assert_string_equal(resreq_rusage_text(&arena, resources, &usage),
                            rows[i][1] != NULL ? rows[i][1] : rows[i][0]);
    }
}

/* RESRSV_LIMIT: what is refused of the queue's text, or of what a job reserves. */
static void test_ranges(void **state)
{
    static const struct {
        const char *why, *range, *queue, *job, *says;
    } rows[] = {
        {"without a least", "[mem=100]", NULL, "rusage[mem=100]", "mem=100"},
        {"above", "[mem=100]", NULL, "rusage[mem=101]", "allows mem=up to 100"},
        {"below", "[mem=10,100]", NULL, "rusage[mem=9]", "allows mem=from 10 to 100"},
        {"at both ends", "[mem=10,10]", NULL, "rusage[mem=10]", "mem=10"},
        {"units", "[mem=1G,2G]", NULL, "rusage[mem=2048]", "mem=2048"},
        {"a fraction", " [lic=0.5,1.5]  [mem=1] ", NULL, "rusage[lic=1.5]", "lic=1.5"},
        {"each by itself", "[lic=2] [mem=9]", NULL, "rusage[mem=1:lic=3]", "lic=up to"},
        {"others are free", "[lic=2]", NULL, "rusage[swp=9000]", "swp=9000"},
        {"each alternative", "[lic=2]", NULL, "rusage[lic=1||lic=3]", "lic=up to 2"},
        {"of phases the first", "[mem=10,50]", NULL, "rusage[mem=(50 5):duration=1]",
         "mem=(50 5):duration=60s"},
        {"the queue's word is a default", "[mem=100]", "rusage[mem=50]",
         "rusage[mem=60]", "mem=60"},
        {"which is there", "[mem=100]", "rusage[mem=50]", "rusage[lic=1]",
         "lic=1,mem=50"},
        {"and a bound of what is in no range", "[lic=100]", "rusage[mem=50]",
         "rusage[mem=60]", "cannot exceed queue's resource reservation"},
        {"nor of its duration", "[lic=9]", "rusage[lic=1:duration=5]",
         "rusage[lic=2:duration=6]", "lic=2:duration=360s"},
        {"no resource", "[nosuch=1]", NULL, "rusage[mem=1]",
         "no resource of this name"},
        {"nothing to consume", "[ncpus=1]", NULL, "rusage[mem=1]", "not consumable"},
        {"twice", "[mem=1] [mem=2]", NULL, "rusage[mem=1]", "has a range already"},
        {"twice under another name", "[swp=1] [swap=2]", NULL, "rusage[mem=1]",
         "has a range already"},
        {"no brackets", "mem=1", NULL, "rusage[mem=1]", "expected [RESOURCE=MAX]"},
        {"not closed", "[mem=1", NULL, "rusage[mem=1]", "expected [RESOURCE=MAX]"},
        {"nothing", "[]", NULL, "rusage[mem=1]", "expected [RESOURCE=MAX]"},
        {"no amount", "[mem=]", NULL, "rusage[mem=1]", "expected an amount"},
        {"no number", "[mem=a,2]", NULL, "rusage[mem=1]", "expected an amount"},
        {"negative", "[mem=-1]", NULL, "rusage[mem=1]", "expected an amount"},
        {"too large", "[mem=1e30]", NULL, "rusage[mem=1]", "expected an amount"},
        {"three", "[mem=1,2,3]", NULL, "rusage[mem=1]", "bracket's end"},
        {"the wrong way round", "[mem=2,1]", NULL, "rusage[mem=1]", "least is more"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct resreq_rules rules = {
            .language = {.resources = resources, .has_local = true},
            .reading = RESREQ_READ_ALL};
        const struct resreq_strings from = {.queue = rows[i].queue,
                                            .resrsv_limit = rows[i].range,
                                            .strings = &rows[i].job,
                                            .n_strings = 1};
        struct resreq_notes notes = {.arena = &arena};
        struct resreq_error fault = {.hint = ""};
        struct resrsv_limits ranges;
        struct resreq resreq;
        int code =
            resrsv_limit_parse(&arena, resources, rows[i].range, &ranges, &fault);
        code = code != 0
                   ? code
                   : resreq_compile(&arena, &rules, &from, &resreq, &notes, &fault);
        code = code != 0 ? code
                         : resrsv_limit_check(&arena, resources, &ranges,
                                              &resreq.rusages, &fault);
        const char *got = code != 0
                              ? arena_printf(&arena, "%s %s", fault.text, fault.hint)
                              : resreq_rusage_text(&arena, resources,
                                                   &resreq.rusages.alternatives[0]);
        if (code != 0 ? strstr(got, rows[i].says) == NULL
                      : strcmp(got, rows[i].says) != 0) {
            fail_msg("%s: %s, expected %s", rows[i].why, got, rows[i].says);
        }
    }
}

/* What the parts of a compound requirement reserve: each for its own slots, on hosts of
 * the job by their indexes. */
static void test_pieces(void **state)
{
    static const char text[] =
        "mem=1000/slot/'0*1',mem=100/slot:duration=60s/'0*1 2*3'";
    static const char good[] =
        "mem=1000/slot/'0*1',mem=100/slot/'0*1 2*3':duration=60s,"
        "lic=1/job/'2*4 1*1'";
    static const char begun[] = "gone=2:threshold=9,mem=20:threshold=500";
    struct resreq_rusage rusage;
    (void)state;
    resreq_rusage_read(&arena, resources, begun, &rusage);
    assert_string_equal(resreq_rusage_text(&arena, resources, &rusage), "mem=20");
    resreq_rusage_read(&arena, resources, good, &rusage);
    assert_int_equal(rusage.n_items, 3);
    assert_string_equal(resreq_rusage_text(&arena, resources, &rusage), good);
    assert_int_equal(rusage_supply_times_on(&rusage.items[0], 0, 2), 1);
    assert_int_equal(rusage_supply_times_on(&rusage.items[0], 2, 3), 0);
    assert_int_equal(rusage_supply_times_on(&rusage.items[1], 2, 3), 3);
    assert_int_equal(rusage_supply_times_on(&rusage.items[2], 0, 2), 0);
    assert_int_equal(rusage_supply_times_on(&rusage.items[2], 1, 1), 0);
    assert_int_equal(rusage_supply_times_on(&rusage.items[2], 2, 4), 1); /* its first */
    assert_int_equal(resreq_rusage_milli(&rusage.items[1], 61000), 0);
    resreq_rusage_read(&arena, resources, text, &rusage);
    assert_int_equal(rusage.n_items, 0); /* pieces come before the duration */
    resreq_rusage_read(&arena, resources, "mem=5/slot", &rusage);
    assert_int_equal(rusage_supply_times_on(&rusage.items[0], 1, 3), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_levels),      cmocka_unit_test(test_time),
        cmocka_unit_test(test_next_change), cmocka_unit_test(test_record),
        cmocka_unit_test(test_ranges),      cmocka_unit_test(test_pieces),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
