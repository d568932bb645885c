/* SPDX-License-Identifier: Apache-2.0 */
/* A site gets another configuration while it runs: nothing that runs is touched, and
 * what was waiting goes on by what is configured now. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "provider/provider.h"
#include "tests/unit/site/site_stage.h"

#define SITE(parameters, hosts, queues)                                                \
    "Begin Site\nNAME = south\nSPOOL = /nowhere\nBROKER = tcp://127.0.0.1:1\n"         \
    "KEY = k\nBROKER_KEY = b\nADMINS = root olga\nEnd Site\n" parameters               \
    "Begin Host\nHOST_NAME MXJ\n" hosts "End Host\n" queues
#define QUEUE(name) "Begin Queue\nQUEUE_NAME = " name "\nEnd Queue\n"
#define EXPORT(slots)                                                                  \
    "Begin HostExport\nNAME = spare\nPER_HOST = s2\nSLOTS = " slots                    \
    "\nTYPE = shared\nDISTRIBUTION = ([east, 1])\nEnd HostExport\n"

static struct site_stage stage;

static int open_stage(void **state)
{
    site_stage_init(&stage);
    site_stage_host_up(&stage, "s1");
    site_stage_host_up(&stage, "s2");
    site_stage_broker_up(&stage);
    return 0;
}

static int close_stage(void **state)
{
    site_stage_release(&stage);
    return 0;
}

static uint64_t run_job(const char *queue, const char *host, uint64_t token)
{
    uint64_t job = site_stage_submit(&stage, queue, "work");
    uint64_t attempt = site_stage_attempt_of(&stage, job);
    site_stage_waiting(&stage, host, attempt, token);
    site_stage_running(&stage, host, attempt, token);
    assert_int_equal(site_stage_state(&stage, job), JOB_RUN);
    return job;
}

static void end_job(uint64_t job, const char *host)
{
    site_stage_exited(&stage, host, site_stage_attempt_of(&stage, job), 0);
    assert_int_equal(site_stage_state(&stage, job), JOB_DONE);
}

static void test_a_host_grows(void **state)
{
    for (int i = 0; i < 5; i++) {
        site_stage_submit(&stage, "local", "work");
    }
    uint64_t last = 5;
    assert_int_equal(site_stage_attempt_of(&stage, last), 0);
    assert_true(site_stage_reload(&stage, SITE("", "s1 3\ns2 2\n", QUEUE("local"))));
    assert_int_not_equal(site_stage_attempt_of(&stage, last), 0);
}

static void test_a_host_shrinks(void **state)
{
    uint64_t first = run_job("local", "s1", 1), second = run_job("local", "s2", 2);
    run_job("local", "s1", 3);
    assert_true(site_stage_reload(&stage, SITE("", "s1 1\ns2 1\n", QUEUE("local"))));
    uint64_t next = site_stage_submit(&stage, "local", "work");
    end_job(first, "s1"); /* s1 has one too many still */
    assert_int_equal(site_stage_attempt_of(&stage, next), 0);
    end_job(second, "s2");
    assert_int_not_equal(site_stage_attempt_of(&stage, next), 0);
}

/* Its job goes on; nothing new is begun there; then it is forgotten. */
static void test_a_host_goes(void **state)
{
    uint64_t job = run_job("local", "s1", 1);
    assert_true(site_stage_reload(&stage, SITE("", "s2 1\n", QUEUE("local"))));
    assert_int_equal(site_stage_state(&stage, job), JOB_RUN);
    assert_true(site_has_host(stage.site, "s1"));
    uint64_t other = run_job("local", "s2", 2);
    uint64_t waiting = site_stage_submit(&stage, "local", "work");
    assert_int_equal(site_stage_attempt_of(&stage, waiting), 0);
    end_job(job, "s1");
    site_stage_pass(&stage, 1000);
    assert_false(site_has_host(stage.site, "s1"));
    assert_int_equal(site_stage_attempt_of(&stage, waiting), 0);
    end_job(other, "s2");
    assert_int_not_equal(site_stage_attempt_of(&stage, waiting), 0);
}

static void test_a_host_comes(void **state)
{
    assert_true(
        site_stage_reload(&stage, SITE("", "s3 4\ns2 2\ns1 2\n", QUEUE("local"))));
    uint64_t job = run_job("local", "s2", 1); /* s3 is not here yet: order kept */
    site_stage_host_up(&stage, "s3");
    run_job("local", "s3", 2);
    end_job(job, "s2");
}

static void test_queues(void **state)
{
    uint64_t held[4];
    for (int i = 0; i < 4; i++) {
        held[i] = site_stage_submit(&stage, "local", "work");
    }
    uint64_t job = site_stage_submit(&stage, "normal", "work");
    assert_true(site_stage_reload(&stage, SITE("", "s1 8\ns2 8\n", QUEUE("local"))));
    assert_int_equal(site_stage_attempt_of(&stage, job), 0); /* its queue is gone ... */
    assert_int_not_equal(site_stage_attempt_of(&stage, held[3]), 0);
    assert_true(site_stage_reload(
        &stage, SITE("", "s1 8\ns2 8\n", QUEUE("local") QUEUE("normal"))));
    assert_int_not_equal(site_stage_attempt_of(&stage, job), 0); /* ... and back */
}

static void test_policies(void **state)
{
    struct msg_state book;
    struct provider *provider;
    assert_true(site_stage_reload(&stage, SITE("", "s1 2\ns2 4\n", QUEUE("local"))
                                              EXPORT("4")));
    provider = site_provider(stage.site);
    assert_true(provider_find_lease(provider, "south/spare/east", &book));
    assert_int_equal(book.epoch, 1);
    assert_int_equal(book.hosts[0].n_slots, 4);
    assert_non_null(site_stage_sent(&stage, MSG_STATE, 0));

    run_job("local", "s1", 1);
    assert_true(site_stage_reload(&stage, SITE("", "s1 2\ns2 4\n", QUEUE("local"))
                                              EXPORT("2")));
    assert_true(provider_find_lease(provider, "south/spare/east", &book));
    assert_int_equal(book.epoch, 2);
    assert_int_equal(book.hosts[0].n_slots, 2);
    assert_true(site_stage_reload(&stage, SITE("", "s1 2\ns2 4\n", QUEUE("local"))));
    assert_true(provider_find_lease(provider, "south/spare/east", &book));
    assert_true(book.is_ended);
}

/* What HELLO says: a new session, and contracts told anew. */
static void test_reclaim_delay(void **state)
{
    uint64_t before = stage.session;
    assert_true(
        site_stage_reload(&stage, SITE("Begin Parameters\nMC_RECLAIM_DELAY = 30s\n"
                                       "End Parameters\n",
                                       "s1 2\ns2 2\n", QUEUE("local"))));
    const struct msg *hello = site_stage_sent(&stage, MSG_HELLO, 0);
    assert_non_null(hello);
    assert_true(hello->session > before);
    assert_int_equal(hello->hello.reclaim_delay_ms, 30000);
}

static void test_what_is_fixed(void **state)
{
    assert_false(site_stage_reload(&stage, "Begin Site\nNAME = other\nSPOOL = /n\n"
                                           "BROKER = x\nKEY = k\nBROKER_KEY = b\n"
                                           "End Site\nBegin Host\nHOST_NAME MXJ\n"
                                           "s1 1\nEnd Host\n" QUEUE("q")));
    assert_false(site_stage_reload(&stage, "Begin Site\nNAME = south\nSPOOL = /n\n"
                                           "End Site\nBegin Host\nHOST_NAME MXJ\n"
                                           "s1 1\nEnd Host\n" QUEUE("q")));
}

static void test_who_may(void **state)
{
    struct msg msg = {.kind = MSG_RECONFIG, .site = "", .reconfig.request = 9};
    struct peer ana = site_stage_user("ana"), root = site_stage_user("root");
    site_stage_message(&stage, &ana, &msg);
    assert_int_equal(site_stage_sent(&stage, MSG_REPLY, 0)->reply.code, ERR_DENIED);
    site_stage_message(&stage, &root, &msg);
    const struct effect *effect = site_stage_effect(&stage, EFFECT_RELOAD);
    assert_non_null(effect);
    assert_int_equal(effect->reload.request, 9);
}

static void report_cpus(const char *host, const char *n_procs, const char *n_cores)
{
    struct load_value values[] = {{"nprocs", n_procs, false},
                                  {"ncores", n_cores, false}};
    struct peer from = site_stage_host(host);
    struct msg msg = {.kind = MSG_HOST_LOAD, .session = stage.host_session, .site = ""};
    msg.host_load = (struct msg_host_load){.values = values, .n_values = 2};
    site_stage_message(&stage, &from, &msg);
}

/* s1 has as many slots as cores: none before it reports, and the same after a restart.
 */
static void test_a_host_counts_its_cpus(void **state)
{
    const char *text = SITE("EGO_DEFINE_NCPUS = cores\n", "s1 !\n", QUEUE("local"));
    site_stage_restart_text(&stage, text);
    site_stage_host_up(&stage, "s1");
    uint64_t first = site_stage_submit(&stage, "local", "work");
    uint64_t second = site_stage_submit(&stage, "local", "work");
    uint64_t third = site_stage_submit(&stage, "local", "work");
    assert_int_equal(site_stage_attempt_of(&stage, first), 0);
    report_cpus("s1", "1", "2");
    assert_int_not_equal(site_stage_attempt_of(&stage, first), 0);
    assert_int_not_equal(site_stage_attempt_of(&stage, second), 0);
    assert_int_equal(site_stage_attempt_of(&stage, third), 0);
    assert_int_equal(site_stage_count_rows(&stage, ROW_CPUS), 1);
    report_cpus("s1", "2", "1"); /* other processors, as many cores */
    assert_int_equal(site_stage_attempt_of(&stage, third), 0);
    site_stage_restart_text(&stage, text);
    site_stage_host_up(&stage, "s1");
    uint64_t fourth = site_stage_submit(&stage, "local", "work");
    assert_int_not_equal(site_stage_attempt_of(&stage, first), 0);
    assert_int_equal(site_stage_attempt_of(&stage, third), 0);
    report_cpus("s1", "3", "1");
    assert_int_not_equal(site_stage_attempt_of(&stage, third), 0);
    assert_int_equal(site_stage_attempt_of(&stage, fourth), 0);
    assert_true(site_stage_reload(&stage, SITE("", "s2 1\n", QUEUE("local"))));
    assert_int_equal(site_stage_count_rows(&stage, ROW_CPUS), 1); /* its jobs run */
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, open_stage, close_stage)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_host_grows),           TEST(a_host_shrinks), TEST(a_host_goes),
        TEST(a_host_comes),           TEST(queues),         TEST(policies),
        TEST(reclaim_delay),          TEST(what_is_fixed),  TEST(who_may),
        TEST(a_host_counts_its_cpus),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
