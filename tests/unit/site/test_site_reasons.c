/* SPDX-License-Identifier: Apache-2.0 */
/* Every reason of the table (sched/pending/pending.h), reached: a site is
 * brought to where a job waits for it, and says so as a word, a sentence, a hint and a
 * number. A reason that is added without a row here, or a line in docs/scheduling.md,
 * is a failure. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "sched/pending/pending.h"
#include "tests/unit/site/site_stage.h"

enum { TEXT_BYTES = 65536, HOUR_MS = 3600000 };

/* s1 is up, s2 away; s3, the pool's, and wide come when a test says so. */
#define SITE                                                                           \
    "Begin Site\nNAME = south\nSPOOL = /tmp/x\nEnd Site\n"                             \
    "Begin Host\nHOST_NAME MXJ\ns1 2\ns2 2\ns3 4\nwide 4000\nEnd Host\n"               \
    "Begin Resource\nRESOURCENAME TYPE INTERVAL INCREASING DESCRIPTION\n"              \
    "lic Numeric () N (licences)\nEnd Resource\n"                                      \
    "Begin ResourceMap\nRESOURCENAME LOCATION\nlic (1@[all])\nEnd ResourceMap\n"       \
    "Begin Queue\nQUEUE_NAME = local\nPRIORITY = 30\nHOSTS = s1\nEnd Queue\n"          \
    "Begin Queue\nQUEUE_NAME = high\nPRIORITY = 90\nHOSTS = s1\n"                      \
    "PREEMPTION = PREEMPTIVE[local]\nEnd Queue\n"                                      \
    "Begin Queue\nQUEUE_NAME = few\nHOSTS = s1\nQJOB_LIMIT = 1\nEnd Queue\n"           \
    "Begin Queue\nQUEUE_NAME = thin\nHOSTS = s1\nHJOB_LIMIT = 1\nEnd Queue\n"          \
    "Begin Queue\nQUEUE_NAME = slow\nHOSTS = s1\n"                                     \
    "JOB_ACCEPT_INTERVAL = 1\nEnd Queue\n"                                             \
    "Begin Queue\nQUEUE_NAME = alone\nHOSTS = s1\nEXCLUSIVE = Y\nEnd Queue\n"          \
    "Begin Queue\nQUEUE_NAME = night\nHOSTS = s1\n"                                    \
    "DISPATCH_WINDOW = 20:00-21:00\nEnd Queue\n"                                       \
    "Begin Queue\nQUEUE_NAME = brief\nHOSTS = s1\n"                                    \
    "RUN_WINDOW = 0:00-12:00 12:00-23:00\nRUNLIMIT = 24:00\nEnd Queue\n"               \
    "Begin Queue\nQUEUE_NAME = later\nHOSTS = s1\n"                                    \
    "NEW_JOB_SCHED_DELAY = 60\nEnd Queue\n"                                            \
    "Begin Queue\nQUEUE_NAME = away\nHOSTS = s2\nEnd Queue\n"                          \
    "Begin Queue\nQUEUE_NAME = abroad\nHOSTS = allremote\nEnd Queue\n"                 \
    "Begin Queue\nQUEUE_NAME = wide\nHOSTS = wide\nEnd Queue\n"                        \
    "Begin Queue\nQUEUE_NAME = calm\nHOSTS = s1\npg = 10\nEnd Queue\n"                 \
    "Begin Queue\nQUEUE_NAME = tried\nHOSTS = s1\nPRE_EXEC = x\nEnd Queue\n"           \
    "Begin Queue\nQUEUE_NAME = picky\nHOSTS = s1\n"                                    \
    "REQUEUE_EXIT_VALUES = EXCLUDE(20)\nEnd Queue\n"                                   \
    "Begin Queue\nQUEUE_NAME = one\nPRIORITY = 9\nHOSTS = s3\nSLOT_POOL = A\n"         \
    "SLOT_SHARE = 50\nEnd Queue\n"                                                     \
    "Begin Queue\nQUEUE_NAME = two\nPRIORITY = 1\nHOSTS = s3\nSLOT_POOL = A\n"         \
    "SLOT_SHARE = 50\nEnd Queue\n"
#define LATE "Begin Queue\nQUEUE_NAME = late\nHOSTS = s2\nEnd Queue\n"

static const struct job_terms at_once; /* nothing besides slots */

/* Submits; the id. */
static uint64_t put(struct site_stage *stage, const char *queue, const char *name,
                    int n_slots, const char *res_req, const struct job_terms *terms)
{
    struct peer from = site_stage_user("ana");
    struct msg msg = {.kind = MSG_SUBMIT, .site = ""};
    msg.submit.request = ++stage->request;
    msg.submit.spec = site_stage_spec(queue, "work");
    msg.submit.spec.name = name;
    msg.submit.spec.n_slots = n_slots;
    msg.submit.spec.is_exclusive = strcmp(queue, "alone") == 0;
    msg.submit.spec.res_reqs = &res_req;
    msg.submit.spec.n_res_reqs = res_req != NULL;
    msg.submit.terms = *terms;
    msg.submit.terms.has_slots = true;
    site_stage_message(stage, &from, &msg);
    const struct msg_reply *reply = site_stage_reply(stage);
    assert_string_equal(reply->code != 0 ? reply->text : "", "");
    return (uint64_t)value_find(reply->value, "job")->number;
}

static uint64_t add(struct site_stage *stage, const char *queue, int n_slots)
{
    return put(stage, queue, "", n_slots, NULL, &at_once);
}

static void run(struct site_stage *stage, uint64_t id)
{
    uint64_t attempt = site_stage_attempt_of(stage, id);
    assert_true(attempt != 0);
    site_stage_waiting(stage, "s1", attempt, attempt);
    site_stage_running(stage, "s1", attempt, attempt);
}

static uint64_t depend_on(struct site_stage *stage, const char *condition)
{
    const struct job_terms terms = {.depend = condition};
    return put(stage, "local", "", 1, NULL, &terms);
}

/* ---------------------------------------------------------------- how to get there */

static void get_new(struct site_stage *stage)
{
    for (int i = 0; i < 3; i++) {
        put(stage, "wide", "many[1-1000]", 1, NULL, &at_once);
    }
    site_stage_host_up(stage, "wide"); /* a pass begins fewer: the rest is next */
}

static void get_queue_gone(struct site_stage *stage)
{
    add(stage, "late", 1);
    assert_true(site_stage_reload(stage, SITE));
}

static void get_queue_inactive(struct site_stage *stage)
{
    struct peer root = site_stage_user("root");
    struct msg msg = {.kind = MSG_QUEUE_CONTROL, .site = ""};
    msg.queue_control =
        (struct msg_queue_control){++stage->request, QUEUE_INACTIVATE, "local"};
    site_stage_message(stage, &root, &msg);
    add(stage, "local", 1);
}

static void get_queue_window(struct site_stage *stage)
{
    add(stage, "night", 1);
}

static void get_deadline(struct site_stage *stage)
{
    add(stage, "brief", 1);
}

static void get_begin_time(struct site_stage *stage)
{
    const struct job_terms terms = {.begin_ms = stage->now_ms + HOUR_MS};
    put(stage, "local", "", 1, NULL, &terms);
}

static void get_new_job_delay(struct site_stage *stage)
{
    add(stage, "later", 1);
}

static void get_dependency(struct site_stage *stage)
{
    put(stage, "local", "first", 1, NULL, &at_once);
    depend_on(stage, "done(first)");
}

static void get_dependency_never(struct site_stage *stage)
{
    uint64_t first = put(stage, "local", "first", 1, NULL, &at_once);
    run(stage, first);
    site_stage_exited(stage, "s1", site_stage_attempt_of(stage, first), 1);
    depend_on(stage, "done(first)");
}

static void get_array_limit(struct site_stage *stage)
{
    put(stage, "local", "part[1-2]%1", 1, NULL, &at_once);
}

static void get_doubted(struct site_stage *stage)
{
    struct peer from = site_stage_host("s1");
    struct msg msg = {.kind = MSG_HOST_HELLO, .site = "", .session = 99};
    msg.host_hello = (struct msg_host_hello){
        .name = "s1", .boot_id = "boot", .knows_nonces = true, .mark = {.attempt = 9}};
    add(stage, "local", 9);
    site_stage_restart(stage);
    site_stage_message(stage, &from, &msg);
}

static void get_retry(struct site_stage *stage)
{
    uint64_t id = add(stage, "tried", 1);
    uint64_t attempt = site_stage_attempt_of(stage, id);
    struct msg_run_state failed = {
        .phase = RUN_ENDED,
        .exit = {.end = RUN_END_FAILED, .cause = RUN_CAUSE_PRE_EXEC, .code = 4}};
    run(stage, id);
    site_stage_run_state(stage, "s1", "south", attempt, &failed);
}

static void get_limit(struct site_stage *stage)
{
    add(stage, "few", 1);
    add(stage, "few", 1);
}

static void get_job_group(struct site_stage *stage)
{
    struct peer from = site_stage_user("root");
    struct msg msg = {.kind = MSG_JOB_GROUP, .session = 4, .site = ""};
    msg.job_group = (struct msg_job_group){.request = 1,
                                           .action = JOB_GROUP_ADD,
                                           .path = "/none",
                                           .has_limit = true,
                                           .owner = ""};
    site_stage_message(stage, &from, &msg);
    struct msg submit = {.kind = MSG_SUBMIT, .session = 4, .site = ""};
    submit.submit.request = 2;
    submit.submit.spec = site_stage_spec("local", "x");
    submit.submit.terms.depend = submit.submit.terms.project = "";
    submit.submit.terms.job_group = "/none";
    site_stage_message(stage, &from, &submit);
}

static void get_limit_small(struct site_stage *stage)
{
    add(stage, "few", 2);
}

static void get_pool_part(struct site_stage *stage)
{
    put(stage, "one", "first[1-4]", 1, NULL, &at_once);
    put(stage, "two", "then[1-4]", 1, NULL, &at_once);
    site_stage_host_up(stage, "s3");
}

static void get_no_host(struct site_stage *stage)
{
    add(stage, "abroad", 1);
}

static void get_avoided(struct site_stage *stage)
{
    uint64_t id = add(stage, "picky", 1);
    run(stage, id);
    site_stage_exited(stage, "s1", site_stage_attempt_of(stage, id), 20);
}

static void get_unmet(struct site_stage *stage)
{
    put(stage, "local", "", 1, "hname == s2", &at_once);
}

static void get_too_large(struct site_stage *stage)
{
    add(stage, "local", 3);
}

static void get_closed(struct site_stage *stage)
{
    add(stage, "away", 1);
}

static void get_load(struct site_stage *stage)
{
    struct load_value pages = {"pg", "25", false};
    struct peer from = site_stage_host("s1");
    struct msg msg = {
        .kind = MSG_HOST_LOAD, .session = stage->host_session, .site = ""};
    msg.host_load = (struct msg_host_load){.values = &pages, .n_values = 1};
    site_stage_message(stage, &from, &msg);
    add(stage, "calm", 1);
}

static void get_host_limit(struct site_stage *stage)
{
    add(stage, "thin", 1);
    add(stage, "thin", 1);
}

static void get_reserve(struct site_stage *stage)
{
    put(stage, "local", "", 1, "rusage[lic=1]", &at_once);
    put(stage, "local", "", 1, "rusage[lic=1]", &at_once);
}

static void get_spent(struct site_stage *stage)
{
    put(stage, "local", "", 1, "rusage[lic=1]", &at_once);
    put(stage, "local", "", 1, "select[lic >= 1]", &at_once);
}

static void get_accept(struct site_stage *stage)
{
    add(stage, "local", 1);
    add(stage, "slow", 1);
}

static void get_shape_large(struct site_stage *stage)
{
    put(stage, "local", "", 2, "span[ptile=1]", &at_once);
}

static void get_shape(struct site_stage *stage)
{
    add(stage, "local", 1);
    put(stage, "local", "", 2, "span[hosts=1]", &at_once);
}

static void get_exclusive(struct site_stage *stage)
{
    add(stage, "local", 1);
    add(stage, "alone", 1);
}

static void get_preempting(struct site_stage *stage)
{
    run(stage, add(stage, "local", 2));
    add(stage, "high", 1); /* s1 has not said yet that it is suspended */
}

static void get_busy(struct site_stage *stage)
{
    add(stage, "local", 2);
    add(stage, "local", 1);
}

/* ---------------------------------------------------------------- the table */

struct way {
    void (*get)(struct site_stage *stage);
    const char *job;  /* that waits for it then */
    const char *says; /* of the sentence; a limit or a resource by its name */
};

static const struct way ways[REASONS] = {
    [REASON_NEW] = {get_new, "3[1000]", "New job"},
    [REASON_STARTED] = {NULL, NULL, NULL}, /* of jobs that wait no more */
    [REASON_QUEUE_GONE] = {get_queue_gone, "1", "The queue is no longer configured"},
    [REASON_QUEUE_INACTIVE] = {get_queue_inactive, "1", "by the administrator"},
    [REASON_QUEUE_WINDOW] = {get_queue_window, "1", "time windows"},
    [REASON_DEADLINE] = {get_deadline, "1", "The run window of the queue closes"},
    [REASON_BEGIN_TIME] = {get_begin_time, "1", "start time"},
    [REASON_NEW_JOB_DELAY] = {get_new_job_delay, "1", "is postponed"},
    [REASON_DEPENDENCY] = {get_dependency, "2", "not satisfied"},
    [REASON_DEPENDENCY_NEVER] = {get_dependency_never, "2", "never satisfied"},
    [REASON_ARRAY_LIMIT] = {get_array_limit, "1[2]", "element limit"},
    [REASON_DOUBTED] = {get_doubted, "1", "may have started before"},
    [REASON_RETRY] = {get_retry, "1", "postponed"},
    [REASON_LIMIT] = {get_limit, "2", "QJOB_LIMIT"},
    [REASON_JOB_GROUP] = {get_job_group, "1", "/none"},
    [REASON_LIMIT_SMALL] = {get_limit_small, "1", "QJOB_LIMIT"},
    [REASON_SLOT_POOL] = {get_pool_part, "1[4]", "slot pool A"},
    [REASON_NO_HOST] = {get_no_host, "1",
                        "No host that the job may use is known to the site"},
    [REASON_AVOIDED] = {get_avoided, "1", "an exit code of EXCLUDE"},
    [REASON_UNMET] = {get_unmet, "1", "No host meets the job's resource requirements"},
    [REASON_RESERVED_BY_OTHERS] = {get_spent, "2", "lic (1, of which 1 are reserved)"},
    [REASON_TOO_LARGE] = {get_too_large, "1", "more slots than all hosts"},
    [REASON_CLOSED] = {get_closed, "1", "closed or unreachable"},
    [REASON_LOAD] = {get_load, "1", "pg 25 > 10 on s1"},
    [REASON_ACCEPT_INTERVAL] = {get_accept, "2", "Just started a job recently"},
    [REASON_HOST_LIMIT] = {get_host_limit, "2", "HJOB_LIMIT"},
    [REASON_RUSAGE] = {get_reserve, "2", "lic (need 1"},
    [REASON_SPAN_LARGE] = {get_shape_large, "1", "room on idle hosts (span[ptile=1])"},
    [REASON_SPAN] = {get_shape, "2", "(span[hosts=1]); most free: s1 with 1"},
    [REASON_EXCLUSIVE] = {get_exclusive, "2", "exclusive execution"},
    [REASON_PREEMPTING] = {get_preempting, "2", "that it preempts"},
    [REASON_BUSY] = {get_busy, "2", "are occupied"},
};

/* Its row of `jobs -l`. */
static const struct value *row_of(struct site_stage *stage, const char *job)
{
    const struct msg_query query = {
        .kind = QUERY_JOBS, .name = job, .user = "", .after = ""};
    const struct value *rows =
        value_find(site_stage_query(stage, &query)->value, "jobs");
    assert_non_null(rows);
    assert_non_null(rows->first);
    return rows->first;
}

static const char *text_of(const struct value *row, const char *key)
{
    const struct value *found = value_find(row, key);
    return found != NULL && found->kind == VALUE_TEXT ? found->text : "";
}

static void assert_told(struct site_stage *stage, enum pending_reason reason)
{
    const struct way *way = &ways[reason];
    int64_t counts[REASONS];
    site_count_reasons(stage->site, counts);
    assert_true(counts[reason] > 0);
    assert_int_equal(counts[REASON_STARTED], 0);

    const struct value *row = row_of(stage, way->job);
    const struct value *list = value_find(row, "pending_reasons");
    assert_string_equal(text_of(row, "pending"), pending_reason_name(reason));
    assert_string_equal(text_of(row, "hint"), pending_reason_help(reason));
    assert_true(pending_reason_help(reason)[0] != '\0');
    assert_int_equal(list->kind, VALUE_ARRAY);
    const char *sentence = list->first->text;
    if (strstr(sentence, way->says) == NULL || strchr(sentence, '%') != NULL) {
        fail_msg("%s: \"%s\" says nothing of %s", pending_reason_name(reason), sentence,
                 way->says);
    }
}

static void test_each_is_reached_and_told(void **state)
{
    (void)state;
    for (int i = 0; i < REASONS; i++) {
        struct site_stage stage;
        if (i == REASON_STARTED) {
            continue;
        }
        if (ways[i].get == NULL) {
            fail_msg("no test reaches the reason \"%s\"",
                     pending_reason_name((enum pending_reason)i));
        }
        site_stage_init_text(&stage, SITE LATE);
        site_stage_host_up(&stage, "s1");
        ways[i].get(&stage);
        assert_told(&stage, (enum pending_reason)i);
        site_stage_release(&stage);
    }
}

/* `name` in the table of docs/scheduling.md. */
static void test_each_is_documented(void **state)
{
    static const char path[] = "docs/scheduling.md";
    static char text[TEXT_BYTES];
    FILE *file = fopen(path, "r");
    (void)state;
    assert_non_null(file);
    text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
    fclose(file);
    char *table = strstr(text, "\n| pending | meaning |\n");
    assert_non_null(table);
    char *end = strstr(table, "\n\n");
    assert_non_null(end);
    *end = '\0';
    for (int i = 0; i < REASONS; i++) {
        char name[64];
        snprintf(name, sizeof(name), "`%s`",
                 pending_reason_name((enum pending_reason)i));
        if (i != REASON_STARTED && strstr(table, name) == NULL) {
            fail_msg("%s is not in the table of %s", name, path);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_is_reached_and_told),
        cmocka_unit_test(test_each_is_documented),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
