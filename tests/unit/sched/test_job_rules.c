/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of site, queue and application merged for a job: which level takes precedence.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "sched/queue/queue.h"

static const char *const own_hosts[] = {"n1"};

struct world {
    struct arena arena;
    struct conf conf;
    struct queue_config *queues;
    struct application *apps;
    struct job_rules site;
    struct job_rules_stack stack;
};

/* "slow" has the factor 1, "fast" 4. */
static double factor_of(const void *arg, const char *name)
{
    (void)arg;
    return strcmp(name, "slow") == 0 ? 1 : strcmp(name, "fast") == 0 ? 4 : 0;
}

static void read_keys(struct world *world, const char *site, const char *queue,
                      const char *app)
{
    char text[1024];
    struct groups groups;
    int n_queues, n_apps;
    snprintf(text, sizeof(text),
             "Begin Parameters\nCLEAN_PERIOD = 10\n%s\nEnd Parameters\n"
             "Begin Queue\nQUEUE_NAME = q\n%s\nEnd Queue\n"
             "Begin Application\nNAME = a\n%s\nEnd Application\n",
             site, queue, app);
    memset(world, 0, sizeof(*world));
    arena_init(&world->arena);
    conf_init(&world->conf, &world->arena);
    conf_read(&world->conf, "lsb.conf", text, strlen(text));
    conf_check(&world->conf);
    groups_read(&world->conf, own_hosts, 1, &groups);
    queue_read(&world->conf, &groups, &world->queues, &n_queues);
    application_read(&world->conf, &world->apps, &n_apps);
    const struct conf_section *section = conf_next(&world->conf, "Parameters", NULL);
    struct conf_place at = {section, &section->rows[0]};
    job_rules_read(&world->conf, &at, &world->site);
    assert_int_equal(n_apps, 1);
    world->stack = (struct job_rules_stack){.site = &world->site,
                                            .queue = &world->queues[0].rules.job,
                                            .app = &world->apps[0].rules,
                                            .cpu_factor = factor_of};
}

/* The limits of a job with that one limit, or without, on a host with that factor.
 * False if it is refused with the words of `says`, as it has to be unless they are
 * NULL.
 */
static bool limits_of(struct world *world, const char *limit, double factor,
                      const char *why, const char *says, struct job_rlimits *limits)
{
    struct err err = {.text = ""};
    struct job_terms terms = {0};
    struct job_spec spec = {
        .command = "run", .limits = &limit, .n_limits = limit != NULL};
    int code = job_rules_check(&world->stack, &spec, &terms, &err);
    if (says != NULL) {
        if (code == 0 || strstr(err.text, says) == NULL) {
            fail_msg("%s: \"%s\"", why, err.text);
        }
        return false;
    }
    assert_int_equal(code, 0);
    job_rules_apply(&world->arena, &world->stack, factor, &spec);
    assert_int_equal(job_rlimits_read(spec.limits, spec.n_limits, limits, &err), 0);
    return true;
}

/* The memory limit in KiB that a job ends up with; -1: none; or why it is refused. */
static void test_limits(void **state)
{
    static const struct {
        const char *why, *queue, *app, *job;
        long long kib;
        const char *says;
    } rows[] = {
        {"nobody says anything", "", "", NULL, -1, NULL},
        {"the queue's one value is default and maximum", "MEMLIMIT = 9", "", NULL, 9,
         NULL},
        {"the queue's default", "MEMLIMIT = 5 9", "", NULL, 5, NULL},
        {"the job's beats it", "MEMLIMIT = 5 9", "", "mem=7", 7, NULL},
        {"not its maximum", "MEMLIMIT = 5 9", "", "mem=10", 0,
         "MEMLIMIT: Cannot exceed queue's hard limit(s), which is 9 KB"},
        {"the application's beats the queue's default", "MEMLIMIT = 5 9",
         "MEMLIMIT = 7", NULL, 7, NULL},
        {"not its maximum", "MEMLIMIT = 5 9", "MEMLIMIT = 20", NULL, 9, NULL},
        {"the application's maximum counts too", "MEMLIMIT = 5 9", "MEMLIMIT = 3 6",
         "mem=7", 0, "which is 6 KB"},
        {"its one value is a default", "MEMLIMIT = 5 9", "MEMLIMIT = 6", "mem=7", 7,
         NULL},
        {"the job's beats the application's default", "", "MEMLIMIT = 5 9", "mem=8", 8,
         NULL},
        {"what a job cannot request", "", "", "nice=-5", 0,
         "a job cannot request NICE"},
        {"nor what is not known", "", "", "sleep=5", 0, "is not known here"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct world world;
        struct job_rlimits limits;
        read_keys(&world, "", rows[i].queue, rows[i].app);
        if (limits_of(&world, rows[i].job, 1, rows[i].why, rows[i].says, &limits)) {
            int64_t kib = limits.values[JOB_RLIMIT_MEM];
            if ((kib == JOB_RLIMIT_NONE ? -1 : kib) != rows[i].kib) {
                fail_msg("%s: %lld", rows[i].why, (long long)kib);
            }
        }
        arena_release(&world.arena);
    }
}

/* LSF: a CPU limit with a host is multiplied by its factor, and divided by the factor
 * of the host that runs the job. */
static void test_scaled_cpu_limits(void **state)
{
    static const struct {
        const char *why, *site, *queue, *app, *job;
        double factor; /* of the host that runs it */
        int minutes;
        const char *says;
    } rows[] = {
        {"without a host it is the same everywhere", "", "CPULIMIT = 60", "", NULL, 4,
         60, NULL},
        {"of a slow host, on a fast one", "", "CPULIMIT = 60/slow", "", NULL, 4, 15,
         NULL},
        {"of a fast host, on a slow one", "", "CPULIMIT = 60/fast", "", NULL, 1, 240,
         NULL},
        {"the queue names the host for it", "",
         "CPULIMIT = 60\nDEFAULT_HOST_SPEC = fast", "", NULL, 2, 120, NULL},
        {"the queue's host beats the site's", "DEFAULT_HOST_SPEC = slow",
         "CPULIMIT = 60\nDEFAULT_HOST_SPEC = fast", "", NULL, 2, 120, NULL},
        {"the site's", "DEFAULT_HOST_SPEC = slow", "CPULIMIT = 60", "", NULL, 2, 30,
         NULL},
        {"the site's, for the application", "DEFAULT_HOST_SPEC = fast", "",
         "CPULIMIT = 60", NULL, 2, 120, NULL},
        {"the job's own host beats them", "", "DEFAULT_HOST_SPEC = fast", "",
         "cpu=3600000/slow", 2, 30, NULL},
        {"a job without a host has the queue's", "", "DEFAULT_HOST_SPEC = fast", "",
         "cpu=3600000", 2, 120, NULL},
        {"more minutes of a slow host are within less of a fast one", "",
         "CPULIMIT = 10/fast 100/fast", "", "cpu=23400000/slow", 1, 390, NULL},
        {"but not so many", "", "CPULIMIT = 10/fast 100/fast", "", "cpu=24600000/slow",
         1, 0, "CPULIMIT: Cannot exceed queue's hard limit(s), which is 100 min"},
        {"fewer minutes of a fast host exceed more of a slow one", "",
         "CPULIMIT = 10/slow 100/slow", "", "cpu=1800000/fast", 1, 0, "exceed"},
        {"the least maximum is not that of the least number", "",
         "CPULIMIT = 10/fast 100/fast", "CPULIMIT = 10/slow 150/slow",
         "cpu=12000000/slow", 1, 0, "which is 150 min"},
        {"a default may be the larger number", "", "CPULIMIT = 100/slow 50/fast", "",
         NULL, 1, 100, NULL},
        {"and is at most the maximum", "", "CPULIMIT = 300/slow 50/fast", "", NULL, 1,
         200, NULL},
        {"a host that is not known", "", "", "", "cpu=60000/other", 1, 0,
         "other is no host model"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct world world;
        struct job_rlimits limits;
        read_keys(&world, rows[i].site, rows[i].queue, rows[i].app);
        assert_null(world.conf.diags);
        if (limits_of(&world, rows[i].job, rows[i].factor, rows[i].why, rows[i].says,
                      &limits)) {
            if (limits.values[JOB_RLIMIT_CPU] != rows[i].minutes * INT64_C(60000)) {
                fail_msg("%s: %lld", rows[i].why,
                         (long long)limits.values[JOB_RLIMIT_CPU]);
            }
            assert_string_equal(limits.cpu_host, "");
        }
        arena_release(&world.arena);
    }
}

/* Before it has a host, a job shows the limit that it was given. */
static void test_a_limit_keeps_its_host_until_it_is_scaled(void **state)
{
    static const char *const given[] = {"cpu=3600000/fast"};
    struct world world;
    (void)state;
    read_keys(&world, "", "", "");
    struct job_spec spec = {.command = "run", .limits = given, .n_limits = 1};
    struct job_terms terms = {.run_limit_host = ""};
    assert_true(job_rules_needs_factor(&world.stack, &spec, &terms));
    job_rules_apply(&world.arena, &world.stack, 0, &spec);
    assert_string_equal(spec.limits[0], given[0]);
    spec.n_limits = 0;
    assert_false(job_rules_needs_factor(&world.stack, &spec, &terms));
    arena_release(&world.arena);
}

/* In minutes, the run limit of a job on a host with that factor, or why it is refused.
 * LSF: the factor of the named host, else of DEFAULT_HOST_SPEC of the queue, else of
 * the site; with ABS_RUNLIMIT the limit is the same on all hosts. */
static void test_run_limit_of_a_host(void **state)
{
    static const char fast[] = "DEFAULT_HOST_SPEC = fast",
                      absolute[] = "ABS_RUNLIMIT = Y", relative[] = "ABS_RUNLIMIT = N";
    static const struct {
        const char *why, *site, *queue, *app, *host;
        int minutes;
        double factor;
        int expected; /* -1: refused */
    } rows[] = {
        {"without a host", "", "", "", "", 60, 4, 60},
        {"of a model, on a slower host", "", "", "", "fast", 60, 1, 240},
        {"of a model, on a faster host", "", "", "", "slow", 60, 4, 15},
        {"of the site's host", fast, "", "", "", 10, 1, 40},
        {"of the job's own host first", fast, "", "", "slow", 10, 1, 10},
        {"of the queue's host first", "DEFAULT_HOST_SPEC = slow", fast, "", "", 10, 2,
         20},
        {"the same everywhere", absolute, "", "", "slow", 60, 4, 60},
        {"by the application", absolute, "", relative, "slow", 60, 4, 15},
        {"and not by it", relative, "", absolute, "slow", 60, 4, 60},
        {"the queue's, with its host", "", "RUNLIMIT = 60/fast", "", "", 0, 1, 240},
        {"the default, with its host", "", "RUNLIMIT = 10/fast 60", "", "", 0, 1, 40},
        {"the default up to the maximum", "", "RUNLIMIT = 30/fast 60/slow", "", "", 0,
         1, 60},
        {"the application's default", "", "RUNLIMIT = 60/fast", "RUNLIMIT = 20/slow",
         "", 0, 4, 5},
        {"up to the maximum of a faster host", "", "RUNLIMIT = 30/fast", "", "slow",
         120, 1, 120},
        {"above it", "", "RUNLIMIT = 30/fast", "", "slow", 121, 1, -1},
        {"above it in minutes", absolute, "RUNLIMIT = 30/fast", "", "slow", 31, 1, -1},
        {"the site's host is the maximum's", fast, "RUNLIMIT = 30", "", "slow", 121, 1,
         -1},
        {"an unknown host", "", "", "", "nowhere", 10, 1, -1},
        {"shorter than its unit", "", "", "", "slow", 1, 1e9, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct world world;
        struct err err;
        struct job_terms terms = {.run_limit_host = rows[i].host};
        struct job_spec spec = {
            .command = "run", .n_slots = 1, .run_limit_ms = rows[i].minutes * 60000};
        read_keys(&world, rows[i].site, rows[i].queue, rows[i].app);
        int code = job_rules_check(&world.stack, &spec, &terms, &err);
        int64_t ms =
            code == 0 ? job_rules_run_limit(&world.stack, &spec, &terms, rows[i].factor)
                      : -60000;
        if (ms / 60000 != rows[i].expected || ms == 0) {
            fail_msg("%s: %lld ms", rows[i].why, (long long)ms);
        }
        arena_release(&world.arena);
    }
}

static void test_run_limit_and_slots(void **state)
{
    struct world world;
    struct err err;
    struct job_terms terms = {0};
    (void)state;
    read_keys(&world, "", "RUNLIMIT = 10 60\nPROCLIMIT = 2 4 8",
              "RUNLIMIT = 30\nPROCLIMIT = 3 16");
    struct job_spec spec = {.command = "run"};
    assert_int_equal(job_rules_check(&world.stack, &spec, &terms, &err), 0);
    assert_int_equal(spec.run_limit_ms, 30 * 60000);
    assert_int_equal(spec.n_slots, 3);
    spec = (struct job_spec){.command = "run", .n_slots = 9};
    assert_int_not_equal(job_rules_check(&world.stack, &spec, &terms, &err), 0);
    spec = (struct job_spec){.command = "run", .n_slots = 2};
    assert_int_not_equal(job_rules_check(&world.stack, &spec, &terms, &err), 0);
    spec =
        (struct job_spec){.command = "run", .n_slots = 4, .run_limit_ms = 31 * 60000};
    assert_int_equal(job_rules_check(&world.stack, &spec, &terms, &err), 0);
    spec.run_limit_ms = 61 * 60000;
    assert_int_not_equal(job_rules_check(&world.stack, &spec, &terms, &err), 0);
    arena_release(&world.arena);
}

static const char *joined(struct arena *arena, const char *const *list, int n_list)
{
    const char *text = "";
    for (int i = 0; i < n_list; i++) {
        text = arena_printf(arena, "%s%s;", text, list[i]);
    }
    return text;
}

static void test_commands(void **state)
{
    static const char *const own[] = {"job"};
    static const struct {
        const char *queue, *app;
        bool has_own;
        const char *before, *after;
    } rows[] = {
        {"", "", false, "", ""},
        {"PRE_EXEC = q\nPOST_EXEC = q", "", false, "q;", "q;"},
        {"PRE_EXEC = q\nPOST_EXEC = q", "PRE_EXEC = a\nPOST_EXEC = a", false, "q;a;",
         "a;q;"},
        {"PRE_EXEC = q\nPOST_EXEC = q", "PRE_EXEC = a\nPOST_EXEC = a", true, "q;job;",
         "job;q;"},
        {"", "PRE_EXEC = a\nPOST_EXEC = a", true, "job;", "job;"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct world world;
        read_keys(&world, "", rows[i].queue, rows[i].app);
        assert_int_equal(world.conf.n_errors, 0);
        struct job_spec spec = {.command = "run",
                                .pre_execs = own,
                                .n_pre_execs = rows[i].has_own,
                                .post_execs = own,
                                .n_post_execs = rows[i].has_own};
        job_rules_apply(&world.arena, &world.stack, 1, &spec);
        assert_string_equal(joined(&world.arena, spec.pre_execs, spec.n_pre_execs),
                            rows[i].before);
        assert_string_equal(joined(&world.arena, spec.post_execs, spec.n_post_execs),
                            rows[i].after);
        arena_release(&world.arena);
    }
}

/* What suspends, resumes and ends a job; or why it is refused. */
static void test_controls(void **state)
{
    static const struct {
        const char *queue, *app, *controls, *says;
        bool is_requeued;
    } rows[] = {
        {"", "", "", NULL, false},
        {"JOB_CONTROLS = SUSPEND[SIGTSTP] resume [CONT] TERMINATE[ kill -9 "
         "$LSB_JOBPIDS ]",
         "", "suspend=SIGTSTP;resume=CONT;terminate=kill -9 $LSB_JOBPIDS;", NULL,
         false},
        {"JOB_CONTROLS = SUSPEND[if [ -e /x ]; then echo a; fi]", "",
         "suspend=if [ -e /x ]; then echo a; fi;", NULL, false},
        {"JOB_CONTROLS = SUSPEND[USR1] TERMINATE[TERM]", "SUSPEND_CONTROL = /opt/rest",
         "suspend=/opt/rest;terminate=TERM;", NULL, false},
        {"", "TERMINATE_CONTROL = SIGTERM", "terminate=SIGTERM;", NULL, false},
        {"JOB_CONTROLS = SUSPEND[brequeue $LSB_JOBID] RESUME[USR2]", "", "resume=USR2;",
         NULL, true},
        {"JOB_CONTROLS = SUSPEND[/opt/lsf/bin/brequeue $LSB_JOBID]", "", "", NULL,
         true},
        {"JOB_CONTROLS = SUSPEND[sublet requeue $LSB_JOBID]", "", "", NULL, true},
        {"JOB_CONTROLS = SUSPEND[brequeue $LSB_JOBID]", "SUSPEND_CONTROL = STOP",
         "suspend=STOP;", NULL, false},
        {"JOB_CONTROLS = SUSPEND[CHKPNT]", "", "", "checkpoints are not supported",
         false},
        {"JOB_CONTROLS = SUSPEND[]", "", "", "nothing to suspend", false},
        {"JOB_CONTROLS = SUSPEND[a] SUSPEND[b]", "", "", "twice", false},
        {"JOB_CONTROLS = SUSPEND[a", "", "", "not closed", false},
        {"JOB_CONTROLS = SUSPEND a", "", "", "expected SUSPEND[...]", false},
        {"JOB_CONTROLS = HALT[a]", "", "", "expected SUSPEND[...]", false},
        {"JOB_CONTROLS = SUSPEND[SIGNAL]", "", "", "unknown signal", false},
        {"JOB_CONTROLS = SUSPEND[bstop $LSB_JOBID]", "", "", "wait for itself", false},
        {"JOB_CONTROLS = RESUME[sublet resume $LSB_JOBID]", "", "", "wait for itself",
         false},
        {"JOB_CONTROLS = TERMINATE[brequeue $LSB_JOBID]", "", "", "wait for itself",
         false},
        {"", "TERMINATE_CONTROL = /opt/lsf/bin/bkill; mail", "", "wait for itself",
         false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct world world;
        struct job_rules rules;
        read_keys(&world, "", rows[i].queue, rows[i].app);
        struct job_spec spec = {.command = "run"};
        job_rules_apply(&world.arena, &world.stack, 1, &spec);
        job_rules_merge(&world.stack, &rules);
        const char *controls = joined(&world.arena, spec.controls, spec.n_controls);
        const char *says = world.conf.diags != NULL ? world.conf.diags->text : "";
        if (strcmp(controls, rows[i].controls) != 0 ||
            (rows[i].says != NULL) != (world.conf.n_errors == 1) ||
            strstr(says, rows[i].says != NULL ? rows[i].says : "") == NULL ||
            job_controls_requeue(&rules.controls) != rows[i].is_requeued) {
            fail_msg("%s%s: \"%s\", \"%s\"", rows[i].queue, rows[i].app, controls,
                     says);
        }
        arena_release(&world.arena);
    }
}

/* For commands after the job: whether it waits again. */
static void test_requeue_codes_go_along(void **state)
{
    static const char *const env[] = {"A=1", "LSB_EXIT_REQUEUE=5", "B=2"};
    struct world world;
    (void)state;
    read_keys(&world, "", "REQUEUE_EXIT_VALUES = 99 100", "");
    struct job_spec spec = {.command = "run", .env = env, .n_env = 3};
    job_rules_apply(&world.arena, &world.stack, 1, &spec);
    assert_string_equal(joined(&world.arena, spec.env, spec.n_env),
                        "A=1;B=2;LSB_EXIT_REQUEUE=99 100;");
    arena_release(&world.arena);
    read_keys(&world, "", "", "");
    spec = (struct job_spec){.command = "run", .env = env, .n_env = 3};
    job_rules_apply(&world.arena, &world.stack, 1, &spec);
    assert_ptr_equal(spec.env, env);
    arena_release(&world.arena);
}

static void test_the_rest(void **state)
{
    struct world world;
    struct job_rules rules;
    (void)state;
    read_keys(&world,
              "MAX_JOB_REQUEUE = 1\nMAX_PREEXEC_RETRY = 2\nJOB_PREPROC_TIMEOUT = 3",
              "MAX_JOB_REQUEUE = 4\nREQUEUE_EXIT_VALUES = 9\nSUCCESS_EXIT_VALUES = 8\n"
              "JOB_STARTER = q\nRERUNNABLE = Y\nNICE = 3",
              "MAX_PREEXEC_RETRY = 6\nREQUEUE_EXIT_VALUES = 7\nJOB_STARTER = a\n"
              "RERUNNABLE = N\nNICE = 4\nJOB_PREPROC_TIMEOUT = 5");
    assert_int_equal(world.conf.n_errors, 0);
    job_rules_merge(&world.stack, &rules);
    assert_int_equal(rules.max_requeues, 4);
    assert_int_equal(job_rules_pre_tries(&rules), 6);
    assert_true(job_rules_requeue(&rules, 7));
    assert_false(job_rules_requeue(&rules, 9));
    assert_true(job_rules_succeed(&rules, 8));
    assert_string_equal(rules.job_starter, "a");
    assert_int_equal(rules.rerunnable, 0);
    assert_int_equal(rules.soft.values[JOB_RLIMIT_NICE], 4);
    assert_int_equal(rules.soft.values[JOB_RLIMIT_PRE_TIME], 5 * 60000);
    world.stack.app = NULL;
    job_rules_merge(&world.stack, &rules);
    assert_int_equal(job_rules_pre_tries(&rules), 2);
    assert_int_equal(rules.soft.values[JOB_RLIMIT_PRE_TIME], 3 * 60000);
    world.stack.site = NULL;
    job_rules_merge(&world.stack, &rules);
    assert_int_equal(job_rules_pre_tries(&rules), 5); /* LSF's default */
    arena_release(&world.arena);
}

/* The job's own warning, else the application's, else the queue's (bsub -wa, -wt). A
 * longer time than that of the queue is no excess: it is no limit. */
static void test_warning(void **state)
{
    static const char *const own[] = {"warn=USR1"}, *const time[] = {"warning=600000"};
    struct world world;
    struct err err;
    struct job_terms terms = {0};
    (void)state;
    read_keys(&world, "", "JOB_WARNING_ACTION = URG\nJOB_ACTION_WARNING_TIME = 0:02",
              "JOB_WARNING_ACTION = /opt/app/save $LSB_JOBPIDS");
    assert_int_equal(world.conf.n_errors, 0);
    struct job_spec spec = {.command = "true", .n_slots = 1, .queue = ""};
    job_rules_apply(&world.arena, &world.stack, 1, &spec);
    assert_int_equal(spec.n_controls, 1);
    assert_string_equal(spec.controls[0], "warn=/opt/app/save $LSB_JOBPIDS");
    assert_int_equal(spec.n_limits, 1);
    assert_string_equal(spec.limits[0], "warning=120000");
    spec = (struct job_spec){.command = "true",
                             .n_slots = 1,
                             .queue = "",
                             .controls = own,
                             .n_controls = 1,
                             .limits = time,
                             .n_limits = 1};
    assert_int_equal(job_rules_check(&world.stack, &spec, &terms, &err), 0);
    job_rules_apply(&world.arena, &world.stack, 1, &spec);
    assert_int_equal(spec.n_controls, 1);
    assert_string_equal(spec.controls[0], "warn=USR1");
    assert_string_equal(spec.limits[0], "warning=600000");
    arena_release(&world.arena);
}

/* A user chooses a signal that warns the job, not what suspends it or what a host runs.
 */
static void test_bad_warning(void **state)
{
    static const char *const texts[] = {"warn=/bin/sh", "warn=CHKPNT", "suspend=USR1",
                                        "terminate=true", "warn"};
    struct world world;
    (void)state;
    read_keys(&world, "", "", "");
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct job_spec spec = {.command = "true",
                                .n_slots = 1,
                                .queue = "",
                                .controls = &texts[i],
                                .n_controls = 1};
        struct err err;
        struct job_terms terms = {0};
        assert_int_equal(job_rules_check(&world.stack, &spec, &terms, &err), ERR_PARSE);
        assert_non_null(strstr(err.text, "-wa"));
    }
    arena_release(&world.arena);
}

static void test_bad(void **state)
{
    static const struct {
        const char *queue, *app, *says;
    } rows[] = {
        {"MEMLIMIT = 9 5", "", "the default is above the maximum"},
        {"MEMLIMIT = 1 2 3", "", "3 values, expected [DEFAULT] MAX"},
        {"CPULIMIT = 1/", "", "expected [HOURS:]MINUTES[/HOST]"},
        {"RUNLIMIT = 1/", "", "expected [HOURS:]MINUTES[/HOST]"},
        {"RUNLIMIT = 3/a 2/a", "", "the default is above the maximum"},
        {"CORELIMIT = none", "", "is not a size"},
        {"PROCESSLIMIT = 0", "", "expected 1 to"},
        {"", "NICE = 30", "expected -20 to 20"},
        {"", "STACKLIMIT = 5X", "has no known unit"},
        {"JOB_WARNING_ACTION = CHKPNT", "", "checkpoints are not supported"},
        {"JOB_ACTION_WARNING_TIME = 1 2", "", "2 values, expected one"},
        {"JOB_ACTION_WARNING_TIME = 0", "", "expected more than 0"},
        {"JOB_CONTROLS = WARN[USR1]", "", "expected SUSPEND[...]"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct world world;
        read_keys(&world, "", rows[i].queue, rows[i].app);
        bool is_said = false;
        for (const struct conf_diag *diag = world.conf.diags; diag != NULL;
             diag = diag->next) {
            is_said = is_said || strstr(diag->text, rows[i].says) != NULL;
        }
        if (!is_said) {
            fail_msg("%s%s: not said: %s", rows[i].queue, rows[i].app, rows[i].says);
        }
        arena_release(&world.arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scaled_cpu_limits),
        cmocka_unit_test(test_a_limit_keeps_its_host_until_it_is_scaled),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_run_limit_of_a_host),
        cmocka_unit_test(test_run_limit_and_slots),
        cmocka_unit_test(test_commands),
        cmocka_unit_test(test_controls),
        cmocka_unit_test(test_requeue_codes_go_along),
        cmocka_unit_test(test_the_rest),
        cmocka_unit_test(test_warning),
        cmocka_unit_test(test_bad_warning),
        cmocka_unit_test(test_bad),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
