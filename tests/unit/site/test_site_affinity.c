/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs with affinity reserve hosts whose processors others have, and start once these
 * are free. Source: LSF, SLOT_RESERVE, BACKFILL, affinity. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "base/value.h"
#include "model/cpu.h"
#include "tests/unit/site/site_stage.h"

/* Four cores of one thread. */
static const char topology[] = "0:16000:0=0;1;2;3";

static const char text[] =
    "Begin Site\nNAME = south\nSPOOL = /tmp/x\nEnd Site\n"
    "Begin Host\nHOST_NAME MXJ AFFINITY\ns1 8 Y\nEnd Host\n"
    "Begin Queue\nQUEUE_NAME = large\nPRIORITY = 50\n"
    "SLOT_RESERVE = MAX_RESERVE_TIME[600]\nEnd Queue\n"
    "Begin Queue\nQUEUE_NAME = small\nPRIORITY = 20\nBACKFILL = Y\nEnd Queue\n";

static struct site_stage stage;

static void host_up(const char *host)
{
    struct msg msg = {.kind = MSG_HOST_HELLO};
    struct peer from = site_stage_host(host);
    msg.host_hello.name = host;
    msg.host_hello.boot_id = "boot-1";
    msg.host_hello.n_cpus = 4;
    msg.host_hello.topology = topology;
    msg.session = stage.host_session;
    msg.site = "";
    site_stage_message(&stage, &from, &msg);
    site_stage_host_synced(&stage, host);
}

static int set_up(void **state)
{
    (void)state;
    memset(&stage, 0, sizeof(stage));
    site_stage_init_text(&stage, text);
    host_up("s1");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    site_stage_release(&stage);
    return 0;
}

static uint64_t submit_pending(const char *queue, int n_slots, int64_t limit_ms,
                               const char *string)
{
    struct peer from = site_stage_user("ana");
    struct msg msg = {.kind = MSG_SUBMIT, .site = ""};
    msg.submit.request = ++stage.request;
    msg.submit.spec = site_stage_spec(queue, "work");
    msg.submit.spec.n_slots = n_slots;
    msg.submit.spec.run_limit_ms = limit_ms;
    msg.submit.spec.res_reqs = &string;
    msg.submit.spec.n_res_reqs = string != NULL;
    msg.submit.terms.has_slots = true;
    site_stage_message(&stage, &from, &msg);
    const struct msg_reply *reply = site_stage_reply(&stage);
    assert_int_equal(reply->code, 0);
    return (uint64_t)value_find(reply->value, "job")->number;
}

/* If it is dispatched, it runs. */
static uint64_t submit(const char *queue, int n_slots, int minutes, const char *string)
{
    uint64_t id = submit_pending(queue, n_slots, (int64_t)minutes * 60000, string);
    uint64_t attempt = site_stage_attempt_of(&stage, id);
    if (attempt != 0) {
        site_stage_waiting(&stage, "s1", attempt, 7);
        site_stage_running(&stage, "s1", attempt, 7);
    }
    return id;
}

static bool runs(uint64_t job)
{
    return site_stage_attempt_of(&stage, job) != 0;
}

static void end(uint64_t job)
{
    site_stage_exited(&stage, "s1", site_stage_attempt_of(&stage, job), 0);
}

static const struct value *reserved_slots(uint64_t job)
{
    struct msg_query query = {.kind = QUERY_JOBS};
    static char id[24];
    snprintf(id, sizeof(id), "%d", (int)job);
    query.name = id;
    const struct value *row =
        value_find(site_stage_query(&stage, &query)->value, "jobs")->first;
    return value_find(row, "reserved_slots");
}

static int n_reserved(uint64_t job)
{
    const struct value *slots = reserved_slots(job);
    return slots->kind == VALUE_NULL ? 0 : (int)value_find(slots, "s1")->number;
}

/* Slots are free all the time, processors are not: without the reservation the stream
 * of small jobs would keep the large one waiting for ever. */
static void a_large_job_gets_its_processors(void **state)
{
    (void)state;
    uint64_t first = submit("small", 2, 60, "affinity[core(1)]");
    uint64_t other = submit("small", 1, 0, "affinity[core(1)]");
    uint64_t large = submit("large", 4, 0, "affinity[core(1)]");
    assert_true(runs(first) && runs(other));
    assert_false(runs(large));
    assert_int_equal(n_reserved(large), 4);
    /* One core is free, but the host is kept. */
    uint64_t small = submit("small", 1, 0, "affinity[core(1)]");
    assert_false(runs(small));
    /* A job without affinity uses no processors, and has other slots. */
    uint64_t unbound = submit("small", 1, 0, NULL);
    assert_true(runs(unbound));
    end(first);
    assert_false(runs(large));
    assert_false(runs(small));
    end(other);
    assert_true(runs(large));
    assert_false(runs(small));
    end(large);
    assert_true(runs(small));
}

/* A job that ends before the reservation is due is backfilled, and no other. */
static void a_short_job_is_backfilled(void **state)
{
    (void)state;
    uint64_t first = submit("small", 2, 60, "affinity[core(1)]");
    uint64_t large = submit("large", 3, 0, "affinity[core(1)]");
    assert_false(runs(large));
    uint64_t long_one = submit("small", 1, 90, "affinity[core(1)]");
    assert_false(runs(long_one));
    uint64_t short_one = submit("small", 1, 30, "affinity[core(1)]");
    assert_true(runs(short_one));
    end(first);
    assert_true(runs(large)); /* three cores are free */
    assert_false(runs(long_one));
    end(short_one);
    assert_true(!runs(long_one) || runs(large));
}

/* What it waits for has no known end: nothing is backfilled, but the host is kept. */
static void an_unknown_end_keeps_the_host(void **state)
{
    (void)state;
    uint64_t first = submit("small", 2, 0, "affinity[core(1)]");
    uint64_t large = submit("large", 3, 0, "affinity[core(1)]");
    uint64_t short_one = submit("small", 1, 1, "affinity[core(1)]");
    assert_false(runs(large) || runs(short_one));
    end(first);
    assert_true(runs(large));
    assert_true(runs(short_one)); /* the fourth core */
}

/* More cores than the host has: it reserves nothing, and holds nobody up. */
static void what_never_fits_reserves_nothing(void **state)
{
    (void)state;
    uint64_t first = submit("small", 2, 60, "affinity[core(1)]");
    uint64_t large = submit("large", 5, 0, "affinity[core(1)]");
    uint64_t small = submit("small", 1, 0, "affinity[core(1)]");
    assert_true(runs(first));
    assert_false(runs(large));
    assert_int_equal(n_reserved(large), 0);
    assert_true(runs(small));
}

/* ---------------------------------------------------------------- random jobs */

/* Two hosts of four cores and eight slots; jobs that end at their run limits, others at
 * random. A job that reserves starts no later than it was once told, and no two jobs
 * ever have the same core. */
enum { WORLD_JOBS = 60, WORLD_STEPS = 80, WORLDS = 80, STEP_MS = 10000 };

static const char world_text[] =
    "Begin Site\nNAME = south\nSPOOL = /tmp/x\nEnd Site\n"
    "Begin Host\nHOST_NAME MXJ AFFINITY\ns1 8 Y\ns2 8 Y\nEnd Host\n"
    "Begin Queue\nQUEUE_NAME = large\nPRIORITY = 50\n"
    "SLOT_RESERVE = MAX_RESERVE_TIME[600]\nEnd Queue\n"
    "Begin Queue\nQUEUE_NAME = small\nPRIORITY = 20\nBACKFILL = Y\nEnd Queue\n";

struct world_job {
    uint64_t id, attempt;
    int64_t limit_ms, started_ms;
    int64_t promised_ms; /* INT64_MAX: nothing */
    bool is_over;
};

static struct world_job jobs[WORLD_JOBS];
static int n_jobs;

static void submit_random(struct rng *rng)
{
    static const char *const strings[] = {"affinity[core(1)]", "affinity[core(2)]",
                                          "affinity[core(1)*1:distribute=pack]", NULL};
    bool is_large = rng_below(rng, 4) == 0;
    char unlike[96]; /* of a class, only the first job reserves */
    const char *string = strings[is_large ? rng_below(rng, 3) : rng_below(rng, 4)];
    if (is_large) {
        snprintf(unlike, sizeof(unlike), "select[type==any || ncpus==%d] %s", n_jobs,
                 string);
        string = unlike;
    }
    struct world_job *job = &jobs[n_jobs];
    *job = (struct world_job){.promised_ms = INT64_MAX};
    job->limit_ms =
        rng_below(rng, 5) == 0 ? 0 : (int64_t)(1 + rng_below(rng, 20)) * STEP_MS;
    int n_slots = 1 + (int)rng_below(rng, is_large ? 5 : 2);
    job->id =
        submit_pending(is_large ? "large" : "small", n_slots, job->limit_ms, string);
    n_jobs++;
}

/* Runs that are new begin; true if there is one. */
static bool begin_runs(void)
{
    bool has_any = false;
    for (int i = 0; i < n_jobs; i++) {
        uint64_t attempt =
            jobs[i].is_over ? 0 : site_stage_attempt_of(&stage, jobs[i].id);
        if (attempt == 0 || jobs[i].attempt != 0) {
            continue;
        }
        const char *host = site_stage_job_row(&stage, jobs[i].id)->hosts[0].host;
        jobs[i].attempt = attempt;
        jobs[i].started_ms = stage.now_ms;
        site_stage_waiting(&stage, host, attempt, 7);
        site_stage_running(&stage, host, attempt, 7);
        has_any = true;
    }
    return has_any;
}

static void end_runs(struct rng *rng)
{
    for (int i = 0; i < n_jobs; i++) {
        struct world_job *job = &jobs[i];
        bool is_due = job->limit_ms != 0
                          ? stage.now_ms >= job->started_ms + job->limit_ms
                          : rng_below(rng, 12) == 0;
        if (!job->is_over && job->attempt != 0 && is_due) {
            job->is_over = true;
            site_stage_exited(&stage,
                              site_stage_job_row(&stage, job->id)->hosts[0].host,
                              job->attempt, 0);
        }
    }
}

static void check_cores(struct arena *arena)
{
    struct cpu_set used[2] = {{{0}}, {{0}}};
    for (int i = 0; i < n_jobs; i++) {
        struct cpu_binding binding;
        struct err err;
        if (jobs[i].is_over || jobs[i].attempt == 0) {
            continue;
        }
        const char *bound =
            site_stage_run_row(&stage, "south", jobs[i].attempt)->binding;
        if (bound[0] == '\0') {
            continue;
        }
        assert_int_equal(cpu_binding_parse(arena, bound, &binding, &err), 0);
        for (int k = 0; k < binding.n_hosts; k++) {
            struct cpu_set *of = &used[binding.hosts[k].host[1] - '1'];
            for (int t = 0; t < binding.hosts[k].n_tasks; t++) {
                assert_false(cpu_set_meets(of, &binding.hosts[k].tasks[t]));
                cpu_set_join(of, &binding.hosts[k].tasks[t]);
            }
        }
    }
}

/* "1970-01-01T00:01:40.000Z" */
static int64_t instant_of(const char *instant)
{
    int hours, minutes;
    double seconds;
    return sscanf(instant, "1970-01-01T%d:%d:%lfZ", &hours, &minutes, &seconds) == 3
               ? (int64_t)((hours * 3600 + minutes * 60 + seconds) * 1000)
               : INT64_MAX;
}

/* Only the first job that reserves is told an instant for good: it takes what is
 * reserved for the others, and may start earlier than it was told. */
static void check_promises(uint64_t seed, int *n_promises)
{
    bool is_first = true;
    for (int i = 0; i < n_jobs; i++) {
        struct world_job *job = &jobs[i];
        if (job->attempt != 0) {
            continue;
        }
        if (stage.now_ms - 2 * STEP_MS > job->promised_ms) {
            fail_msg("seed %llu: job %llu was to start at %lld, it is %lld",
                     (unsigned long long)seed, (unsigned long long)job->id,
                     (long long)job->promised_ms, (long long)stage.now_ms);
        }
        const char *estimate = site_stage_job_text(&stage, job->id, "start_estimate");
        if (reserved_slots(job->id)->kind != VALUE_NULL) {
            bool is_sooner = is_first && instant_of(estimate) < job->promised_ms;
            job->promised_ms = is_sooner ? instant_of(estimate) : job->promised_ms;
            *n_promises += is_sooner;
            is_first = false;
        }
    }
}

static void random_jobs_start_when_they_were_told(void **state)
{
    int n_promises = 0;
    (void)state;
    site_stage_release(&stage);
    for (uint64_t seed = 1; seed <= WORLDS; seed++) {
        struct rng rng;
        struct arena arena;
        rng_init(&rng, seed);
        arena_init(&arena);
        memset(&stage, 0, sizeof(stage));
        site_stage_init_text(&stage, world_text);
        host_up("s1");
        host_up("s2");
        n_jobs = 0;
        for (int step = 0; step < WORLD_STEPS; step++) {
            if (n_jobs < WORLD_JOBS && rng_below(&rng, 3) != 0) {
                submit_random(&rng);
            }
            do {
                end_runs(&rng);
            } while (begin_runs());
            check_cores(&arena);
            check_promises(seed, &n_promises);
            site_stage_pass(&stage, STEP_MS);
            site_stage_host_alive(&stage, "s1");
            site_stage_host_alive(&stage, "s2");
        }
        arena_release(&arena);
        site_stage_release(&stage);
    }
    assert_true(n_promises > WORLDS);
    memset(&stage, 0, sizeof(stage));
    site_stage_init_text(&stage, text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(a_large_job_gets_its_processors),
        TEST(a_short_job_is_backfilled),
        TEST(an_unknown_end_keeps_the_host),
        TEST(what_never_fits_reserves_nothing),
        TEST(random_jobs_start_when_they_were_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
