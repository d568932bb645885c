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

static uint64_t submit_rusage(struct site_stage *stage, const char *user,
                              const char *rusage)
{
    struct job_spec spec = site_stage_spec("local", "x");
    spec.res_reqs = &rusage;
    spec.n_res_reqs = 1;
    return site_stage_submit_spec(stage, user, &spec);
}

/* Of limit few of that user, as `limits` shows it. */
static int64_t stage_limit(struct site_stage *stage, const char *user,
                           const char *resource, const char *part)
{
    const struct msg_query query = {.kind = QUERY_LIMITS,
                                    .name = "few",
                                    .user = user,
                                    .queue = "",
                                    .host = "",
                                    .project = "",
                                    .after = ""};
    const struct msg_reply *reply = site_stage_query(stage, &query);
    const struct value *list = value_find(reply->value, "limits");
    const struct value *all = value_find(list->first, "resources");
    const struct value *found = value_find(value_find(all, resource), part);
    return found->kind == VALUE_REAL ? (int64_t)found->real : found->number;
}

static bool is_started(const struct site_stage *stage, uint64_t job)
{
    return site_stage_attempt_of(stage, job) != 0;
}

/* What jobs reserve counts again after a restart, with the amount at their start
 * although the reservation has ended; a limit in another unit; and what the listing
 * shows. */
static void test_resources(void **state)
{
    static const char text[] =
        "LSF_UNIT_FOR_LIMITS = GB\n"
        "Begin Site\nNAME = south\nSPOOL = /tmp/x\nEnd Site\n"
        "Begin Host\nHOST_NAME MXJ\ns1 8\nEnd Host\n"
        "Begin Queue\nQUEUE_NAME = local\nEnd Queue\n"
        "Begin Resource\nRESOURCENAME TYPE INTERVAL INCREASING DESCRIPTION\n"
        "lic Numeric () N (licences)\nEnd Resource\n"
        "Begin ResourceMap\nRESOURCENAME LOCATION\nlic (9@[all])\nEnd ResourceMap\n"
        "Begin Limit\nNAME PER_USER RESOURCE   MEM\n"
        "few  all      ([lic,4])  2\nEnd Limit\n";
    struct site_stage stage;
    (void)state;
    site_stage_init_text(&stage, text);
    site_stage_host_up(&stage, "s1");
    uint64_t first = submit_rusage(&stage, "ana", "rusage[lic=3]");
    assert_true(is_started(&stage, first));
    assert_true(is_started(&stage, submit_rusage(&stage, "ana", "rusage[lic=1]")));
    uint64_t held = submit_rusage(&stage, "ana", "rusage[lic=1]");
    assert_false(is_started(&stage, held));
    assert_string_equal(
        site_stage_job_text(&stage, held, "reason"),
        "Resource limit lic of few (section Limit) has been reached (queue local)");
    assert_true(is_started(&stage, submit_rusage(&stage, "bob", "rusage[lic=4]")));
    assert_int_equal(stage_limit(&stage, "ana", "lic", "used"), 4);
    assert_int_equal(stage_limit(&stage, "ana", "lic", "limit"), 4);
    assert_int_equal(stage_limit(&stage, "ana", "mem", "limit"), 2048);
    site_stage_restart(&stage);
    site_stage_host_up(&stage, "s1");
    site_stage_pass(&stage, 1000);
    assert_false(is_started(&stage, held));
    site_stage_control(&stage, "root", "1", CONTROL_KILL, 0);
    site_stage_pass(&stage, 1000);
    assert_true(is_started(&stage, held));
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

/* Rows of `limits` as "name users queues hosts projects slots jobs", "-" for none. */
static const char *amount_text(struct arena *arena, const struct value *amount)
{
    const struct value *used = value_find(amount, "used");
    const struct value *limit = value_find(amount, "limit");
    return limit->kind == VALUE_NULL ? "-"
           : used->kind == VALUE_NULL
               ? arena_printf(arena, "%d", (int)limit->number)
               : arena_printf(arena, "%d/%d", (int)used->number, (int)limit->number);
}

static const char *limits_text(struct site_stage *stage, struct msg_query query)
{
    static const char *const sides[] = {"users", "queues", "hosts", "projects"};
    struct arena *arena = &stage->arena;
    query.kind = QUERY_LIMITS;
    query.project = query.project != NULL ? query.project : "";
    const struct msg_reply *reply = site_stage_query(stage, &query);
    const char *text = "";
    if (reply->value == NULL) {
        return reply->text;
    }
    for (const struct value *row = value_find(reply->value, "limits")->first;
         row != NULL; row = row->next) {
        text = arena_printf(arena, "%s%s", text, value_find(row, "name")->text);
        for (size_t i = 0; i < sizeof(sides) / sizeof(sides[0]); i++) {
            const struct value *side = value_find(row, sides[i]);
            text = arena_printf(arena, "%s %s", text,
                                side->kind == VALUE_TEXT ? side->text : "-");
        }
        text = arena_printf(arena, "%s %s %s%s\n", text,
                            amount_text(arena, value_find(row, "slots")),
                            amount_text(arena, value_find(row, "jobs")),
                            value_find(row, "is_full")->flag ? " full" : "");
    }
    return text;
}

/* Which limits there are, of whom, and how full. */
static void test_listed(void **state)
{
    struct site_stage stage;
    char text[1024];
    (void)state;
    snprintf(text, sizeof(text), site_text, "JL/U", "2", "-",
             "QJOB_LIMIT = 6\nUJOB_LIMIT = 3\nHJOB_LIMIT = 4",
             "Begin UserGroup\nGROUP_NAME GROUP_MEMBER\nlab (ana cy)\nEnd UserGroup\n"
             "Begin User\nUSER_NAME MAX_JOBS\nlab@ 4\nEnd User\n"
             "Begin Limit\nNAME = few\nUSERS = lab bob\nQUEUES = local\nJOBS = 9\n"
             "End Limit\nBegin Limit\nPER_HOST PROJECTS SLOTS_PER_PROCESSOR\n"
             "all (gene default) 0.5\nEnd Limit");
    site_stage_init_text(&stage, text);
    assert_string_equal(limits_text(&stage, (struct msg_query){.limit = 0}), "");
    assert_string_equal(limits_text(&stage, (struct msg_query){.configured = true}),
                        "QJOB_LIMIT - local - - 6 -\n"
                        "UJOB_LIMIT all local - - 3 -\n"
                        "HJOB_LIMIT - local all - 4 -\n"
                        "JL/U all - s1 - 2 -\n"
                        "MAX_JOBS lab - - - 4 -\n"
                        "few lab bob local - - - 9\n"
                        "NONAME000 - - all gene default - -\n"
                        "MXJ - - s1 - 4 -\n"
                        "MXJ - - s2 - 4 -\n");
    site_stage_host_up(&stage, "s1");
    site_stage_host_up(&stage, "s2");
    submit_all(&stage);
    site_stage_submit(&stage, "local", "x");
    assert_string_equal(limits_text(&stage, (struct msg_query){.limit = 0}),
                        "QJOB_LIMIT - local - - 4/6 -\n"
                        "UJOB_LIMIT ana local - - 2/3 -\n"
                        "UJOB_LIMIT bob local - - 2/3 -\n"
                        "HJOB_LIMIT - local s1 - 2/4 -\n"
                        "HJOB_LIMIT - local s2 - 2/4 -\n"
                        "JL/U ana - s1 - 2/2 - full\n"
                        "MAX_JOBS ana - - - 2/4 -\n"
                        "few lab bob local - - - 4/9\n"
                        "NONAME000 - - s1 gene default 2/2 - full\n"
                        "NONAME000 - - s2 gene default 2/2 - full\n"
                        "MXJ - - s1 - 2/4 -\n"
                        "MXJ - - s2 - 2/4 -\n");
    site_stage_release(&stage);
}

/* What holds for a user, a group, a host, a project; a name, used or not. */
static void test_listed_for(void **state)
{
    static const char sections[] =
        "Begin UserGroup\nGROUP_NAME GROUP_MEMBER\nlab (ana cy)\nEnd UserGroup\n"
        "Begin User\nUSER_NAME MAX_JOBS\nlab 4\nbob 9\nEnd User\n"
        "Begin Limit\nNAME HOSTS PROJECTS JOBS\nfew s1 gene 2\nEnd Limit\n";
    static const struct {
        struct msg_query query;
        const char *text;
    } asked[] = {
        {{.user = "ana"},
         "UJOB_LIMIT ana local - - 3/4 -\nMAX_JOBS lab - - - 3/4 -\n"
         "MXJ - - s1 - 3/4 -\nMXJ - - s2 - 3/4 -\n"},
        {{.user = "lab", .host = "s2"},
         "UJOB_LIMIT ana local - - 3/4 -\nMAX_JOBS lab - - - 3/4 -\n"
         "MXJ - - s2 - 3/4 -\n"},
        {{.user = "bob", .queue = "other", .host = "s1"},
         "MAX_JOBS bob - - - 3/9 -\nMXJ - - s1 - 3/4 -\n"},
        {{.project = "gene", .host = "s2", .user = "cy", .with_ended = true},
         "UJOB_LIMIT all local - - 0/4 -\nMAX_JOBS lab - - - 3/4 -\n"
         "MXJ - - s2 - 3/4 -\n"},
        {{.name = "few"}, "few - - s1 gene - 0/2\n"},
        {{.name = "MAX_JOBS", .user = "bob"}, "MAX_JOBS bob - - - 3/9 -\n"},
        {{.name = "nope"}, "Limit <nope> is not found; see `sublet limits -c`"},
    };
    struct site_stage stage;
    char text[1024];
    (void)state;
    snprintf(text, sizeof(text), site_text, "", "", "", "UJOB_LIMIT = 4", sections);
    site_stage_init_text(&stage, text);
    site_stage_host_up(&stage, "s1");
    site_stage_host_up(&stage, "s2");
    submit_all(&stage);
    for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
        assert_string_equal(limits_text(&stage, asked[i].query), asked[i].text);
    }
    site_stage_release(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shown),      cmocka_unit_test(test_listed),
        cmocka_unit_test(test_listed_for), cmocka_unit_test(test_rows),
        cmocka_unit_test(test_restart),    cmocka_unit_test(test_resources),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
