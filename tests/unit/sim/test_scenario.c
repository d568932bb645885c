/* SPDX-License-Identifier: Apache-2.0 */
/* test_scenario.c: parsing of scenarios, and diagnostics. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "sim/scenario/scenario.h"
#include "tests/unit/sim/play_stage.h"

/* ---- words and values */

static void a_line_is_words(void **state)
{
    static const struct {
        const char *why, *line, *words; /* joined by | */
    } rows[] = {
        {"blanks part them", "  at 0\tsubmit ", "at|0|submit"},
        {"a comment ends it", "at 0 # submit", "at|0"},
        {"a sign inside a word is none", "a#b", "a#b"},
        {"quotes hold blanks", "name='a b' \"c d\"", "name=a b|c d"},
        {"quotes elsewhere stand as they are", "{\"n1\":1}", "{\"n1\":1}"},
        {"nothing", "   # all of it", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct scenario_line line = {.number = 1};
        struct arena arena;
        const char *words = "";

        arena_init(&arena);
        assert_int_equal(scenario_line_split(&arena, rows[i].line, strlen(rows[i].line),
                                             &line, NULL),
                         0);
        for (int k = 0; k < line.n_words; k++) {
            words =
                arena_printf(&arena, "%s%s%s", words, k ? "|" : "", line.words[k].text);
        }
        if (strcmp(words, rows[i].words) != 0) {
            fail_msg("%s: %s", rows[i].why, words);
        }
        arena_release(&arena);
    }
}

static void values_have_units(void **state)
{
    static const struct {
        const char *text;
        int64_t ms; /* -1: none */
    } times[] = {{"0", 0},          {"90", 90000},
                 {"1.5", 1500},     {"10m", 600000},
                 {"1.5h", 5400000}, {"2d", 172800000},
                 {"0.001s", 1},     {"", -1},
                 {"m", -1},         {"5x", -1},
                 {"5mm", -1},       {"-5", -1},
                 {"1e3", -1},       {"9223372036854775807d", -1}};
    static const struct {
        const char *text;
        int in_10000;
    } chances[] = {{"0", 0},     {"0.1", 1000},   {"1", 10000}, {"10%", 1000},
                   {"0.5%", 50}, {"100%", 10000}, {"1.1", -1},  {"101%", -1},
                   {"ten", -1},  {"%", -1}};
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        int64_t ms = -1;
        int rc = scenario_line_duration(times[i].text, 1000, &ms, NULL);

        assert_int_equal(rc == 0, times[i].ms >= 0);
        assert_int_equal(ms, times[i].ms);
    }
    for (size_t i = 0; i < sizeof chances / sizeof chances[0]; i++) {
        int in_10000 = -1;
        int rc = scenario_line_chance(chances[i].text, &in_10000, NULL);

        assert_int_equal(rc == 0, chances[i].in_10000 >= 0);
        assert_int_equal(in_10000, chances[i].in_10000);
    }
}

/* ---- errors */

static void errors_have_their_line(void **state)
{
    static const struct {
        const char *text;       /* after the sites, so from line 3 */
        const char *diagnostic; /* a part of the only diagnostic */
    } rows[] = {
        {"nonsense", "3: \"nonsense\" is not a statement"},
        {"site north north.conf", "3: site \"north\" twice"},
        {"site third", "3: expected: site NAME FILE"},
        {"site a/b north.conf", "3: \"a/b\" is not a name"},
        {"site third none.conf", "3: none.conf: no such file"},
        {"site third other.conf", "3: site \"third\" is \"elsewhere\" in other.conf"},
        {"broker lonely.conf", "3: site \"south\" is not a member there"},
        {"broker north.conf", "3: no section Broker in north.conf"},
        {"broker broker.conf\nbroker broker.conf", "4: a second broker"},
        {"until x", "3: until: \"x\" is not a time"},
        {"hour x", "3: hour: \"x\" is not a time"},
        {"hour", "3: expected: hour TIME"},
        {"until 1h\nuntil 2h", "4: a second until"},
        {"at", "3: no time"},
        {"at soon submit south run=1", "3: at: \"soon\" is not a time"},
        {"at 0", "3: \"\" is nothing to do, expected one of"},
        {"at 0 fly south", "3: \"fly\" is nothing to do, expected one of submit"},
        {"at 2h submit south run=1\nuntil 1h", "3: later than the end (until, line 4)"},
        {"at 0 submit nowhere run=1", "3: submit: unknown site \"nowhere\""},
        {"at 0 submit south", "3: submit: too short"},
        {"at 0 submit south slots=1", "3: submit: no run="},
        {"at 0 submit south run=1 slots=0", "3: submit: slots: 0 is out of bounds"},
        {"at 0 submit south run=1 slots=two", "3: submit: slots:"},
        {"at 0 submit south run=-1", "3: submit: run: \"-1\" is not a time"},
        {"at 0 submit south run=99999d", "3: submit: run: 99999d is out of bounds"},
        {"at 0 submit south run=1 run=2", "3: submit: run= twice"},
        {"at 0 submit south run=1 colour=red",
         "3: submit: \"colour=red\", expected one"},
        {"at 0 submit south run=1 count=0", "3: submit: count: 0 is out of bounds"},
        {"at 0 submit south run=1 rerun=maybe", "3: submit: rerun: \"maybe\""},
        {"at 0 submit south run=1 exit=256", "3: submit: exit: 256 is out of bounds"},
        {"at 0 submit south run=1 limit=0", "3: submit: limit: 0 is out of bounds"},
        {"at 0 submit south run=1 name=a[1]", "3: submit: name:"},
        {"at 0 submit south run=1 queue=urgent",
         "3: unknown queue \"urgent\" of south"},
        {"at 0 submit south run=1 app=a/b", "3: submit: app:"},
        {"at 0 submit south run=1 app=solver",
         "3: unknown application \"solver\" of south, expected one of its section"},
        {"at 0 command /bin/in", "3: command: too short"},
        {"at 0 command /bin/in soon", "3: command: time: \"soon\" is not a time"},
        {"at 0 command \"/bin/in now\" 1m",
         "3: command: \"/bin/in now\", expected the"},
        {"at 0 command /bin/in 1m exit=256", "3: command: exit: 256 is out of bounds"},
        {"at 0 command /bin/in 1m fails=1", "3: command: \"fails=1\", expected one of"},
        {"at 0 submit south run=1 hosts=n1", "3: unknown host \"n1\" of south"},
        {"at 0 submit south run=1 res=\"mem >\"", "3: res: Error in select section"},
        {"at 0 submit south run=1 res=gpus",
         "3: res: Error in select section: Error near"},
        {"at 0 submit south run=1 name=a\nat 1 submit south run=1 name=a",
         "4: submit: job \"a\" twice (line 3)"},
        {"at 0 submit south run=1 name=\"a", "3: a quote is not closed"},
        {"at 0 submit south run=1 slots=4 max=2", "3: submit: max=2 is less than"},
        {"at 0 submit south run=1 exclusive=2", "3: submit: exclusive: \"2\""},
        {"at 0 submit south run=1 at_once=2", "3: submit: at_once= without count="},
        {"at 0 submit south run=1 priority=0", "3: submit: priority: 0 is out of"},
        {"at 0 submit south run=1 begin=-1", "3: submit: begin: \"-1\" is not a time"},
        {"at 0 submit south run=1 end=never",
         "3: submit: end: \"never\" is not a time"},
        {"at 0 submit south run=1 after=a",
         "3: after: Bad dependency condition: a: No"},
        {"at 0 submit south run=1 after=1",
         "3: after: Bad dependency condition: 1: No"},
        {"at 1 submit south run=1 name=a\nat 0 submit south run=1 after=a",
         "4: after: Bad dependency condition: a: No matching job found, expected jobs"},
        {"at 0 submit south run=1 name=a\nat 0 submit south run=1 after=\"done(a\"",
         "4: after: Bad dependency condition: expected )"},
        {"at 0 requeue south a", "3: unknown job \"a\" of south"},
        {"at 0 submit south run=1 name=a\nat 0 switch south a urgent",
         "4: unknown queue \"urgent\" of south"},
        {"at 0 queue south night close", "3: unknown queue \"night\" of south"},
        {"at 0 queue south normal shut", "3: queue: \"shut\", expected open, close"},
        {"at 0 kill south a", "3: unknown job \"a\" of south"},
        {"at 0 submit south run=1 name=a count=3\nat 1 kill south a[4]",
         "4: unknown job \"a[4]\""},
        {"at 0 submit north run=1 name=a\nat 1 stop south a", "4: unknown job \"a\""},
        {"at 0 set colour 5", "3: set: \"colour\", expected reclaim_delay"},
        {"at 0 set reclaim_delay 0",
         "3: set: reclaim_delay: 0 is out of bounds, expected 1s to 3650d"},
        {"at 0 set reclaim_delay 5m provider=x", "3: set: unknown site \"x\""},
        {"at 0 set reclaim_delay 5m lease=x", "3: set: \"lease=x\", expected"},
        {"at 0 slots north n9 1", "3: unknown host \"n9\" of north"},
        {"at 0 load north n9 mem=1", "3: unknown host \"n9\" of north"},
        {"at 0 load north n1", "3: load: too short"},
        {"at 0 load north n1 mem", "3: load: \"mem\", expected NAME=VALUE"},
        {"at 0 load north n1 mem=", "3: load: \"mem=\", expected NAME=VALUE"},
        {"at 0 rebalance north/spare", "3: \"north/spare\" is not a lease"},
        {"at 0 rebalance", "3: rebalance: too short"},
        {"at 0 drain west", "3: \"west\" is neither a lease nor a site"},
        {"at 0 reload south", "3: reload: too short"},
        {"at 0 reload west west.conf", "3: reload: unknown site \"west\""},
        {"at 0 reload south none.conf", "none.conf: no such file"},
        {"at 0 reload south other.conf",
         "3: site \"south\" is \"elsewhere\" in other.conf"},
        {"at 0 reload broker south.conf", "3: no section Broker in south.conf"},
        {"at 0 partition broker 5", "3: partition: unknown site \"broker\""},
        {"at 0 crash nobody 5", "3: crash: unknown site \"nobody\""},
        {"at 0 loss 2", "3: loss: \"2\" is not a probability"},
        {"at 0 backup nobody", "3: backup: unknown site \"nobody\""},
        {"at 0 recover south", "3: recover: too short"},
        {"at 0 recover broker end", "3: recover: unknown site \"broker\""},
        {"at 0 recover south keep", "3: recover: \"keep\", expected end or adopt"},
        {"at 0 fail south s1 roof 5",
         "3: fail: \"roof\", expected machine, disk, agent or guards"},
        {"at 0 workload south none.swf", "3: workload: none.swf: no such file"},
        {"at 0 workload south bad.swf", "3: workload: bad.swf:1: a job of 4 fields"},
        {"at 0 workload south two.swf scale=0",
         "3: workload: scale: 0 is out of bounds"},
        {"expect lease", "3: expected: expect at TIME"},
        {"expect at 1 moon south a b == 1", "3: expect: \"moon\", expected job"},
        {"expect at 1 job south a state == RUN", "3: unknown job \"a\""},
        {"at 0 submit south run=1 name=a count=2\nexpect at 1 job south a state == RUN",
         "4: \"a\" is 2 jobs, expected one of a[1] to a[2]"},
        {"expect at 1 lease north/1 state == active", "3: \"north/1\" is not a lease"},
        {"expect at 1 lease north/1/west state == active",
         "3: lease \"north/1/west\" is of no site"},
        {"expect at 1 queue north night pend == 1", "3: unknown queue \"night\""},
        {"expect at 1 site west used == 1", "3: unknown site \"west\""},
        {"expect at 1 site north slots.used = 1",
         "3: expect: expected: expect at TIME"},
        {"expect at 1 site north slots.used ==", "3: expect: expected: expect at TIME"},
        {"expect at 1 node p /eng quota", "3: expect: expected: expect at TIME"},
        {"expect at 1 node p /eng quota == 5", "3: unknown pool \"p\""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct play_stage stage;
        char text[512];

        snprintf(text, sizeof text, STAGE_SITES "%s\n", rows[i].text);
        play_stage_read(&stage, text);
        const char *found = play_stage_complaints(&stage);
        if (stage.scenario->conf.n_errors != 1 || !strstr(found, rows[i].diagnostic) ||
            strncmp(found, "test.scn:", 9) != 0) {
            fail_msg("%s: expected %s, found %d: %s", rows[i].text, rows[i].diagnostic,
                     stage.scenario->conf.n_errors, found);
        }
        play_stage_close(&stage);
    }
}

static void unsupported_statements_are_refused(void **state)
{
    static const char *const rows[] = {
        "at 0 rsv add",
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct play_stage stage;
        char text[256];

        snprintf(text, sizeof text, STAGE_SITES "%s\n", rows[i]);
        play_stage_read(&stage, text);
        assert_int_equal(stage.scenario->conf.n_errors, 1);
        assert_non_null(strstr(play_stage_complaints(&stage), "is not supported yet"));
        play_stage_close(&stage);
    }
}

static void all_errors_are_found_in_one_reading(void **state)
{
    struct play_stage stage;

    play_stage_read(&stage, "site north wrong.conf\nsite south south.conf\nwhat\n"
                            "at 0 submit south run=x\nat 0 kill south b\n");
    assert_int_equal(stage.scenario->conf.n_errors, 4);
    assert_non_null(strstr(play_stage_complaints(&stage), "wrong.conf:6: "));
    play_stage_close(&stage);
}

static void a_scenario_needs_a_site(void **state)
{
    struct play_stage stage;

    play_stage_read(&stage, "");
    assert_non_null(strstr(play_stage_complaints(&stage), "no site, expected"));
    play_stage_close(&stage);
}

/* ---- valid scenarios */

static void statements_are_sorted_by_time_then_line(void **state)
{
    struct play_stage stage;

    play_stage_read(&stage,
                    STAGE_SITES "at 2m kill south b\n"
                                "at 0 submit south run=1.5h name=b slots=2 user=ana\n"
                                "at 2m submit south run=10 count=3\n"
                                "expect at 1m job south b user == ana\n");
    assert_string_equal(play_stage_complaints(&stage), "");
    const struct statement *at = stage.scenario->statements;
    assert_int_equal(stage.scenario->n_statements, 4);
    assert_int_equal(at[0].line, 4);
    assert_int_equal(at[0].submit.run_ms, 5400000);
    assert_int_equal(at[0].submit.n_slots, 2);
    assert_string_equal(at[0].submit.user, "ana");
    assert_int_equal(at[1].kind, STATEMENT_EXPECT);
    assert_int_equal(at[2].line, 3);
    /* without a name: the statement's number; without until: the last instant */
    assert_string_equal(at[3].submit.name, "j3");
    assert_int_equal(stage.scenario->until_ms, 120000);
    assert_false(stage.scenario->has_faults);
    play_stage_close(&stage);
}

static void a_broker_file_is_read(void **state)
{
    struct play_stage stage;

    play_stage_read(&stage, STAGE_SITES "broker broker.conf\nat 0 crash broker 5\n");
    assert_string_equal(play_stage_complaints(&stage), "");
    assert_int_equal(stage.scenario->broker.config.lost_after_ms, 20000);
    assert_int_equal(stage.scenario->broker.config.n_members, 2);
    assert_true(stage.scenario->has_faults);
    play_stage_close(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_is_words),
        cmocka_unit_test(values_have_units),
        cmocka_unit_test(errors_have_their_line),
        cmocka_unit_test(unsupported_statements_are_refused),
        cmocka_unit_test(all_errors_are_found_in_one_reading),
        cmocka_unit_test(a_scenario_needs_a_site),
        cmocka_unit_test(statements_are_sorted_by_time_then_line),
        cmocka_unit_test(a_broker_file_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
