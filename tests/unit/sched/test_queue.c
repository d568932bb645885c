/* SPDX-License-Identifier: Apache-2.0 */
/* HOSTS of a queue: parsing, errors, and which hosts it allows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "sched/queue/queue.h"

static const char *const own_hosts[] = {"n1", "n2", "n3"};

struct world {
    struct arena arena;
    struct conf conf;
    struct groups groups;
    struct queue_config *queues;
    int n_queues;
};

static void read_text(struct world *world, const char *text)
{
    arena_init(&world->arena);
    conf_init(&world->conf, &world->arena);
    conf_read(&world->conf, "lsb.queues", text, strlen(text));
    groups_read(&world->conf, own_hosts, 3, &world->groups);
    queue_read(&world->conf, &world->groups, &world->queues, &world->n_queues);
}

static void read_hosts(struct world *world, const char *hosts)
{
    char text[512];
    snprintf(text, sizeof(text), "Begin Queue\nQUEUE_NAME = q\n%s%s\nEnd Queue\n",
             hosts[0] != '\0' ? "HOSTS = " : "", hosts);
    read_text(world, text);
}

static void test_allows(void **state)
{
    enum { NO = -1 };
    static const struct {
        const char *hosts, *host, *site;
        int preference; /* NO: not allowed */
        const char *why;
    } rows[] = {
        {"", "n1", "", 0, "default: all own hosts"},
        {"", "n1@north", "north", NO, "and never borrowed ones"},
        {"all", "n3", "", 0, "all own"},
        {"all", "n1@north", "north", NO, "all is own hosts only"},
        {"ALL", "n1", "", 0, "keywords are case-insensitive"},
        {"n1", "n1", "", 0, "named"},
        {"n1", "n2", "", NO, "not named"},
        {"n1 others", "n2", "", 0, "others are those not named"},
        {"n1+3 others", "n1", "", 3, "a named one keeps its own preference"},
        {"n1+3 others+1", "n2", "", 1, "others may be preferred too"},
        {"others", "n1@north", "north", NO, "others are own hosts"},
        {"allremote", "n1@north", "north", 0, "all borrowed"},
        {"allremote", "n1", "", NO, "no own"},
        {"all allremote", "n1", "", 0, "both"},
        {"all@north", "n9@north", "north", 0, "all of one provider"},
        {"all@north", "n9@south", "south", NO, "not of another"},
        {"n9@north", "n9@north", "north", 0, "one borrowed host, not validated"},
        {"n9@north", "n8@north", "north", NO, "another one of that site"},
        {"n1@north", "n1", "", NO, "an own host of that name is another host"},
        {"all ~n2", "n2", "", NO, "excluded"},
        {"all ~n2", "n1", "", 0, "the others stay"},
        {"all n2+5 ~n2", "n2", "", NO, "an exclusion beats everything"},
        {"all+1 n2+5", "n2", "", 5, "the highest preference counts"},
        {"n2+5 all+1", "n2", "", 5, "in any order"},
        {"all+1 allremote+2", "n1@x", "x", 2, "a preference on a keyword"},
        {"none", "n1", "", NO, "none is no host"},
        {"none", "n1@north", "north", NO, "nor a borrowed one"},
        {"(n1 n2)", "n2", "", 0, "parentheses around the list"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct world world;
        int preference = 0;
        read_hosts(&world, rows[i].hosts);
        if (world.n_queues != 1 || world.conf.n_errors != 0) {
            fail_msg("%s: \"%s\" was not read", rows[i].why, rows[i].hosts);
        }
        bool is_allowed =
            queue_allows(&world.queues[0], rows[i].host, rows[i].site, &preference);
        if (is_allowed != (rows[i].preference != NO) ||
            (is_allowed && preference != rows[i].preference)) {
            fail_msg("%s: \"%s\" and %s: allowed %d, preference %d", rows[i].why,
                     rows[i].hosts, rows[i].host, is_allowed, preference);
        }
        arena_release(&world.arena);
    }
}

static void test_first(void **state)
{
    struct world world;
    (void)state;
    read_hosts(&world, "n1 n2! n3!");
    assert_true(queue_has_first(&world.queues[0]));
    assert_false(queue_is_first(&world.queues[0], "n1", ""));
    assert_true(queue_is_first(&world.queues[0], "n3", ""));
    assert_false(queue_is_first(&world.queues[0], "n3@north", "north"));
    arena_release(&world.arena);
    read_hosts(&world, "n1 n2");
    assert_false(queue_has_first(&world.queues[0]));
    arena_release(&world.arena);
}

static void test_same_terms(void **state)
{
    static const struct {
        const char *a, *b;
        bool is_same;
        const char *why;
    } rows[] = {
        {"", "", true, "neither says anything"},
        {"", "all", false, "the same hosts in other words: nobody needs to know"},
        {"all+1 ~n2 allremote", "all+1 ~n2 allremote", true, "word for word"},
        {"n1 others", "n2 others", false, "another host"},
        {"n1+2 others", "n1+1 others", false, "another preference"},
        {"all", "allremote", false, "another kind of term"},
        {"all ~n2", "all", false, "one term less"},
        {"n9@north", "n9@south", false, "a borrowed host of another site"},
        {"n1! n2", "n1 n2", false, "a first execution host"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct world a, b;
        read_hosts(&a, rows[i].a);
        read_hosts(&b, rows[i].b);
        if (queue_same_terms(&a.queues[0], &b.queues[0]) != rows[i].is_same ||
            queue_same_terms(&b.queues[0], &a.queues[0]) != rows[i].is_same) {
            fail_msg("%s: \"%s\" and \"%s\"", rows[i].why, rows[i].a, rows[i].b);
        }
        arena_release(&a.arena);
        arena_release(&b.arena);
    }
}

static void test_complaints(void **state)
{
    static const struct {
        const char *text;
        int line;
        const char *key, *says, *why;
    } rows[] = {
        {"Begin Queue\nQUEUE_NAME = q\nHOSTS = n1 n9\nEnd Queue\n", 3, "HOSTS",
         "unknown host \"n9\", expected one of section Host", "own hosts are checked"},
        {"Begin Queue\nQUEUE_NAME = q\nHOSTS = n1 ~n2\nEnd Queue\n", 3, "HOSTS",
         "~ excludes hosts only together with \"all\", expected all ~HOST",
         "an exclusion from nothing"},
        {"Begin Queue\nQUEUE_NAME = q\nHOSTS = all ~n9\nEnd Queue\n", 3, "HOSTS",
         "unknown host \"n9\", expected one of section Host", "excluded hosts too"},
        {"Begin Queue\nQUEUE_NAME = q\nHOSTS = n1+x\nEnd Queue\n", 3, "HOSTS",
         "\"n1+x\" has a bad preference", "a preference is a number"},
        {"Begin Queue\nQUEUE_NAME = q\nHOSTS = none n1\nEnd Queue\n", 3, "HOSTS",
         "\"none\" is combined with other values, expected it alone",
         "none stands alone"},
        {"Begin Queue\nQUEUE_NAME = q\nHOSTS = all!\nEnd Queue\n", 3, "HOSTS",
         "\"all!\": expected hosts or host groups before !", "all hosts are no choice"},
        {"Begin Queue\nQUEUE_NAME = q\nHOSTS = n9!\nEnd Queue\n", 3, "HOSTS",
         "unknown host \"n9\"", "first hosts are checked"},
        {"Begin Queue\nQUEUE_NAME = q\nHOSTS = n1@\nEnd Queue\n", 3, "HOSTS",
         "\"n1@\": ", "a site must have a name"},
        {"Begin Queue\nPRIORITY = 3\nEnd Queue\n", 1, NULL, "a queue without a name",
         "QUEUE_NAME is needed"},
        {"Begin Queue\nQUEUE_NAME = q\nJOB_ACCEPT_INTERVAL = 1h\nEnd Queue\n", 3,
         "JOB_ACCEPT_INTERVAL", "bad interval \"1h\"", "seconds and minutes only"},
        {"Begin Queue\nQUEUE_NAME = q\nJOB_ACCEPT_INTERVAL = -1\nEnd Queue\n", 3,
         "JOB_ACCEPT_INTERVAL", "bad interval \"-1\"", "not below 0"},
        {"Begin Queue\nQUEUE_NAME = q\nJOB_ACCEPT_INTERVAL = 1441m\nEnd Queue\n", 3,
         "JOB_ACCEPT_INTERVAL", "up to a day", "nor so long"},
        {"Begin Queue\nQUEUE_NAME = q\nEnd Queue\n"
         "Begin Parameters\nJOB_ACCEPT_INTERVAL = 1x\nEnd Parameters\n",
         5, "JOB_ACCEPT_INTERVAL", "bad interval \"1x\"", "the site's is read too"},
        {"Begin Queue\nQUEUE_NAME = q\nEnd Queue\nBegin Queue\nQUEUE_NAME = q\nEnd "
         "Queue\n",
         5, "QUEUE_NAME", "queue \"q\" is defined twice", "names are unique"},
        {"Begin Queue\nQUEUE_NAME = q\nRUNLIMIT = 10\nINTERRUPTIBLE_BACKFILL = 60\n"
         "End Queue\n",
         4, "INTERRUPTIBLE_BACKFILL",
         "the queue has no BACKFILL = Y, expected BACKFILL", "not without backfill"},
        {"Begin Queue\nQUEUE_NAME = q\nBACKFILL = Y\nINTERRUPTIBLE_BACKFILL = 60\n"
         "End Queue\n",
         4, "INTERRUPTIBLE_BACKFILL", "the queue has no RUNLIMIT, expected BACKFILL",
         "nor without a run limit"},
        {"Begin Queue\nQUEUE_NAME = q\nSLOT_RESERVE = 5\nEnd Queue\n", 3,
         "SLOT_RESERVE", "\"5\", expected MAX_RESERVE_TIME[N]", "a bare number"},
        {"Begin Queue\nQUEUE_NAME = q\nSLOT_RESERVE = MAX_RESERVE_TIME[0]\nEnd Queue\n",
         3, "SLOT_RESERVE", "expected MAX_RESERVE_TIME[N]", "no interval"},
        {"Begin Queue\nQUEUE_NAME = q\nSLOT_RESERVE = MAX_RESERVE_TIME[5] 6\nEnd "
         "Queue\n",
         3, "SLOT_RESERVE", "expected MAX_RESERVE_TIME[N]", "something behind it"},
        {"Begin Queue\nQUEUE_NAME = q\nRESOURCE_RESERVE = 5\nEnd Queue\n", 3,
         "RESOURCE_RESERVE", "\"5\", expected MAX_RESERVE_TIME[N]", "a bare number"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct world world;
        read_text(&world, rows[i].text);
        const struct conf_diag *diag = world.conf.diags;
        if (world.conf.n_errors != 1 || diag == NULL ||
            strstr(diag->text, rows[i].says) == NULL || diag->line != rows[i].line ||
            (rows[i].key != NULL &&
             (diag->key == NULL || strcmp(diag->key, rows[i].key)))) {
            fail_msg("%s: %d errors, line %d, \"%s\"", rows[i].why, world.conf.n_errors,
                     diag != NULL ? diag->line : 0, diag != NULL ? diag->text : "");
        }
        arena_release(&world.arena);
    }
}

static void test_fields(void **state)
{
    struct world world;
    (void)state;
    read_text(&world,
              "Begin Queue\nQUEUE_NAME = night\nPRIORITY = 40\nDESCRIPTION = for "
              "the night\nEnd Queue\n"
              "Begin Queue\nQUEUE_NAME = normal\nEnd Queue\n");
    assert_int_equal(world.n_queues, 2);
    assert_string_equal(world.queues[0].name, "night");
    assert_int_equal(world.queues[0].priority, 40);
    assert_string_equal(world.queues[0].description, "for the night");
    assert_string_equal(world.queues[1].name, "normal");
    assert_int_equal(world.queues[1].priority, 1);
    assert_int_equal(world.queues[1].n_terms, 0);
    arena_release(&world.arena);
}

/* JOB_ACCEPT_INTERVAL: the queue's, else the site's, else none. */
static void test_accept(void **state)
{
    static const struct {
        const char *queue, *site;
        int64_t ms;
    } rows[] = {
        {"", "", 0},
        {"JOB_ACCEPT_INTERVAL = 2", "", 120000},
        {"", "JOB_ACCEPT_INTERVAL = 3", 180000},
        {"JOB_ACCEPT_INTERVAL = 0", "JOB_ACCEPT_INTERVAL = 3", 0},
        {"JOB_ACCEPT_INTERVAL = 2", "MBD_SLEEP_TIME = 10", 20000},
        {"JOB_ACCEPT_INTERVAL = 45s", "MBD_SLEEP_TIME = 10", 45000},
        {"JOB_ACCEPT_INTERVAL = 2M", "", 120000},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct world world;
        char text[256];
        snprintf(text, sizeof(text),
                 "Begin Queue\nQUEUE_NAME = q\n%s\nEnd Queue\n"
                 "Begin Parameters\nDEFAULT_QUEUE = q\n%s\nEnd Parameters\n",
                 rows[i].queue, rows[i].site);
        read_text(&world, text);
        assert_int_equal(world.conf.n_errors, 0);
        assert_int_equal(world.queues[0].accept_interval_ms, rows[i].ms);
        arena_release(&world.arena);
    }
}

static void test_new_job_delay(void **state)
{
    static const struct {
        const char *value;
        int n_errors;
        int64_t ms;
    } rows[] = {{"0", 0, 0},       {"1", 0, 1000}, {"90", 0, 90000},
                {"5m", 0, 300000}, {"-1", 1, 0},   {"soon", 1, 0}};
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct world world;
        char text[256];
        snprintf(text, sizeof(text),
                 "Begin Queue\nQUEUE_NAME = q\nNEW_JOB_SCHED_DELAY = %s\nEnd Queue\n",
                 rows[i].value);
        read_text(&world, text);
        conf_check(&world.conf);
        assert_int_equal(world.conf.n_errors, rows[i].n_errors);
        assert_int_equal(world.queues[0].new_job_delay_ms, rows[i].ms);
        arena_release(&world.arena);
    }
}

static void test_reserving(void **state)
{
    struct world world;
    (void)state;
    read_text(&world,
              "Begin Queue\nQUEUE_NAME = wide\nSLOT_RESERVE = max_reserve_time [ 5 ]\n"
              "End Queue\n"
              "Begin Queue\nQUEUE_NAME = short\nBACKFILL = Y\nEnd Queue\n");
    assert_int_equal(world.conf.n_errors, 0);
    assert_int_equal(world.queues[0].reservation.max_ms, 300000);
    assert_int_equal(world.queues[0].reservation.session_ms, 60000);
    assert_false(world.queues[0].reservation.is_backfill);
    assert_int_equal(world.queues[1].reservation.max_ms, 0);
    assert_true(world.queues[1].reservation.is_backfill);
    assert_int_equal(world.queues[1].reservation.backfill_slice_ms, 0);
    arena_release(&world.arena);
    read_text(&world, "Begin Queue\nQUEUE_NAME = gaps\nBACKFILL = Y\nRUNLIMIT = 10\n"
                      "INTERRUPTIBLE_BACKFILL = 90\nEnd Queue\n");
    assert_int_equal(world.conf.n_errors, 0);
    assert_int_equal(world.queues[0].reservation.backfill_slice_ms, 90000);
    arena_release(&world.arena);
    read_text(&world,
              "Begin Queue\nQUEUE_NAME = wide\nSLOT_RESERVE = MAX_RESERVE_TIME[3]\n"
              "End Queue\nBegin Parameters\nMBD_SLEEP_TIME = 20\nEnd Parameters\n");
    assert_int_equal(world.queues[0].reservation.max_ms, 60000);
    assert_int_equal(world.queues[0].reservation.session_ms, 20000);
    assert_false(world.queues[0].reservation.has_resources);
    arena_release(&world.arena);
    /* It counts in place of SLOT_RESERVE, which is said. */
    read_text(&world,
              "Begin Queue\nQUEUE_NAME = wide\nSLOT_RESERVE = MAX_RESERVE_TIME[3]\n"
              "RESOURCE_RESERVE = MAX_RESERVE_TIME[2]\nEnd Queue\n");
    assert_int_equal(world.conf.n_errors, 0);
    assert_int_equal(world.conf.n_warnings, 1);
    assert_non_null(strstr(world.conf.diags->text, "the queue has RESOURCE_RESERVE"));
    assert_int_equal(world.queues[0].reservation.max_ms, 120000);
    assert_true(world.queues[0].reservation.has_resources);
    arena_release(&world.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_allows),        cmocka_unit_test(test_same_terms),
        cmocka_unit_test(test_first),         cmocka_unit_test(test_complaints),
        cmocka_unit_test(test_fields),        cmocka_unit_test(test_accept),
        cmocka_unit_test(test_new_job_delay), cmocka_unit_test(test_reserving),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
