/* SPDX-License-Identifier: Apache-2.0 */
/* Limits of a configuration and what a site makes of them: how many of its waiting jobs
 * run, and what the others are told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/site/site_stage.h"

enum { JOBS = 6 };

static const char site_text[] = "Begin Site\nNAME = south\nSPOOL = /tmp/x\nEnd Site\n"
                                "Begin Host\nHOST_NAME MXJ %s\n"
                                "s1 4 %s\ns2 4 %s\nEnd Host\n"
                                "Begin Queue\nQUEUE_NAME = local\n%s\nEnd Queue\n%s\n";

struct limit_row {
    const char *why, *queue, *column, *value, *sections;
    int n_running; /* of six jobs, three of ana and three of bob */
    const char *reason;
};

static const struct limit_row rows[] = {
    {"no limit", "", "", "", "", 6, NULL},
    {"QJOB_LIMIT", "QJOB_LIMIT = 3", "", "", "", 3, "QJOB_LIMIT of queue local (3)"},
    {"UJOB_LIMIT", "UJOB_LIMIT = 1", "", "", "", 2, "UJOB_LIMIT of queue local (1)"},
    {"HJOB_LIMIT", "HJOB_LIMIT = 2", "", "", "", 4, "HJOB_LIMIT of queue local (2)"},
    {"PJOB_LIMIT: a host of 4 slots has 4 processors", "PJOB_LIMIT = 0.25", "", "", "",
     2, "PJOB_LIMIT of queue local (0.25)"},
    {"JL/U", "", "JL/U", "1", "", 4, "JL/U of host s"},
    {"MAX_JOBS of a user", "", "", "",
     "Begin User\nUSER_NAME MAX_JOBS\nbob 1\nEnd User", 4, "MAX_JOBS of user bob (1)"},
    {"MAX_JOBS of all others", "", "", "",
     "Begin User\nUSER_NAME MAX_JOBS\nbob 3\ndefault 1\nEnd User", 4,
     "MAX_JOBS of user default (1)"},
    {"MAX_JOBS of a group", "", "", "",
     "Begin UserGroup\nGROUP_NAME GROUP_MEMBER\nlab (ana bob)\nEnd UserGroup\n"
     "Begin User\nUSER_NAME MAX_JOBS\nlab 3\nEnd User",
     3, "MAX_JOBS of user lab (3)"},
    {"MAX_JOBS of each of a group", "", "", "",
     "Begin UserGroup\nGROUP_NAME GROUP_MEMBER\nlab (ana bob)\nEnd UserGroup\n"
     "Begin User\nUSER_NAME MAX_JOBS\nlab@ 2\nEnd User",
     4, "MAX_JOBS of user lab@ (2)"},
    {"Limit: slots of some users", "", "", "",
     "Begin Limit\nNAME = few\nUSERS = ana bob\nSLOTS = 5\nEnd Limit", 5,
     "few (section Limit)"},
    {"Limit: jobs of each user in a queue", "", "", "",
     "Begin Limit\nNAME = few\nPER_USER = all\nQUEUES = local\nJOBS = 2\nEnd Limit", 4,
     "few (section Limit)"},
    {"Limit: a host", "", "", "", "Begin Limit\nNAME HOSTS SLOTS\nfew s1 1\nEnd Limit",
     5, "few (section Limit)"},
    {"Limit: a project that nobody names", "", "", "",
     "Begin Limit\nNAME PROJECTS SLOTS\nfew gene 1\nEnd Limit", 6, NULL},
    {"Limit: slots a processor", "", "", "",
     "Begin Limit\nNAME PER_HOST SLOTS_PER_PROCESSOR\nfew all 0.5\nEnd Limit", 4,
     "few (section Limit)"},
};

static void init(struct site_stage *stage, const struct limit_row *row)
{
    char text[1024];
    snprintf(text, sizeof(text), site_text, row->column, row->value, row->value,
             row->queue, row->sections);
    site_stage_init_text(stage, text);
    site_stage_host_up(stage, "s1");
    site_stage_host_up(stage, "s2");
}

static void submit_all(struct site_stage *stage)
{
    for (int i = 0; i < JOBS; i++) {
        struct job_spec spec = site_stage_spec("local", "x");
        assert_true(site_stage_submit_spec(stage, i % 2 == 0 ? "ana" : "bob", &spec) >
                    0);
    }
}

static int count_started(struct site_stage *stage, const char **reason)
{
    int count = 0;
    for (uint64_t id = 1; id <= JOBS; id++) {
        if (site_stage_attempt_of(stage, id) != 0) {
            count++;
        } else {
            *reason = site_stage_job_text(stage, id, "reason");
        }
    }
    return count;
}

static void test_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct site_stage stage;
        const char *reason = NULL;
        init(&stage, &rows[i]);
        submit_all(&stage);
        int n_running = count_started(&stage, &reason);
        if (n_running != rows[i].n_running ||
            (rows[i].reason != NULL && strstr(reason, rows[i].reason) == NULL)) {
            fail_msg("%s: %d run, \"%s\"", rows[i].why, n_running,
                     reason != NULL ? reason : "");
        }
        site_stage_release(&stage);
    }
}

/* Counts come back with the journal, and go with the jobs. */
static void test_restart(void **state)
{
    struct site_stage stage;
    const char *reason = "";
    (void)state;
    init(&stage, &rows[1]);
    submit_all(&stage);
    site_stage_restart(&stage);
    site_stage_host_up(&stage, "s1");
    site_stage_host_up(&stage, "s2");
    assert_int_equal(count_started(&stage, &reason), 3);
    site_stage_control(&stage, "root", "1", CONTROL_KILL, 0);
    site_stage_pass(&stage, 1000);
    assert_true(site_stage_attempt_of(&stage, 4) != 0);
    site_stage_release(&stage);
}

/* As bqueues and bhosts show them. */
static void test_shown(void **state)
{
    struct site_stage stage;
    char text[1024];
    (void)state;
    snprintf(text, sizeof(text), site_text, "JL/U", "2", "-",
             "QJOB_LIMIT = 6\nUJOB_LIMIT = 3\nPJOB_LIMIT = 0.5\nHJOB_LIMIT = 4\n"
             "PROCLIMIT = 1 2 3\nUSERS = all ~bob",
             "Begin Limit\nNAME QUEUES SLOTS\nfew local 1\nEnd Limit");
    site_stage_init_text(&stage, text);
    const struct msg_query queues = {.kind = QUERY_QUEUES};
    const struct value *row =
        value_find(site_stage_query(&stage, &queues)->value, "queues")->first;
    assert_int_equal(value_find(row, "max")->number, 6);
    assert_int_equal(value_find(row, "jl_u")->number, 3);
    assert_true(value_find(row, "jl_p")->real == 0.5);
    assert_int_equal(value_find(row, "jl_h")->number, 4);
    assert_string_equal(value_find(row, "users")->text, "all ~bob");
    const struct value *slots = value_find(row, "slots_per_job");
    assert_int_equal(value_find(slots, "min")->number, 1);
    assert_int_equal(value_find(slots, "default")->number, 2);
    assert_int_equal(value_find(slots, "max")->number, 3);
    const struct msg_query hosts = {.kind = QUERY_HOSTS};
    row = value_find(site_stage_query(&stage, &hosts)->value, "hosts")->first;
    assert_int_equal(value_find(row, "jl_u")->number, 2);
    assert_int_equal(value_find(row->next, "jl_u")->kind, VALUE_NULL);
    site_stage_release(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shown),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_restart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
