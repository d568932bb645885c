/* SPDX-License-Identifier: Apache-2.0 */
/* test_stages.c: the stages of a run and its result. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "host/exec/exec.h"
#include "model/job_rlimit.h"

/* The commands that run, as "in1 job out1"; the first ones end as given, others with 0.
 */
static const char *run_through(struct arena *arena, struct stages *stages,
                               const struct stage_outcome *outcomes, int n_outcomes)
{
    const char *text = "";
    for (int i = 0; stages->stage != STAGE_DONE; i++) {
        struct stage_outcome outcome = {0};
        text = arena_printf(arena, "%s%s%s", text, i > 0 ? " " : "",
                            stages_command(stages));
        if (i < n_outcomes) {
            outcome = outcomes[i];
        }
        outcome.failure = outcome.failure == NULL ? "" : outcome.failure;
        stages_advance(stages, &outcome);
    }
    return text;
}

static void test_stages(void **state)
{
    static const struct {
        const char *why;
        int n_before, n_after;
        struct stage_outcome outcomes[3];
        const char *runs;
        enum run_end end;
        enum run_cause cause;
        int code;
    } rows[] = {
        {"the job alone",
         0,
         0,
         {{.status = 3 << 8}},
         "job",
         RUN_END_EXITED,
         RUN_CAUSE_NONE,
         3},
        {"all of them",
         2,
         1,
         {{.status = 0 << 8}},
         "in1 in2 job out",
         RUN_END_EXITED,
         0,
         0},
        {"what fails before leaves it unbegun, and what cleans up runs",
         2,
         1,
         {{.status = 0 << 8}, {.status = 4 << 8}},
         "in1 in2 out",
         RUN_END_FAILED,
         RUN_CAUSE_PRE_EXEC,
         4},
        {"so does what takes too long",
         2,
         0,
         {{.status = SIGINT, .is_late = true}},
         "in1",
         RUN_END_FAILED,
         RUN_CAUSE_PRE_EXEC,
         2},
        {"killed before it started",
         2,
         1,
         {{.status = SIGTERM, .is_killed = true}},
         "in1 out",
         RUN_END_SIGNALLED,
         RUN_CAUSE_NONE,
         15},
        {"killed before it started, what ran then made nothing of the signal",
         1,
         0,
         {{.status = 0 << 8, .is_killed = true}},
         "in1",
         RUN_END_SIGNALLED,
         RUN_CAUSE_NONE,
         SIGINT},
        {"killed",
         0,
         1,
         {{.status = SIGTERM, .is_killed = true}},
         "job out",
         RUN_END_SIGNALLED,
         0,
         15},
        {"its run limit",
         0,
         1,
         {{.status = SIGINT, .cause = RUN_CAUSE_RUN_LIMIT}},
         "job out",
         RUN_END_LIMIT,
         RUN_CAUSE_RUN_LIMIT,
         130},
        {"what fails after it changes nothing",
         0,
         1,
         {{.status = 0 << 8}, {.status = 9 << 8}},
         "job out",
         RUN_END_EXITED,
         RUN_CAUSE_NONE,
         0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct arena arena;
        struct stages stages;
        arena_init(&arena);
        struct run_spec spec = {.command = "job",
                                .pre_execs = {"in1", "in2"},
                                .n_pre_execs = rows[i].n_before,
                                .post_execs = {"out"},
                                .n_post_execs = rows[i].n_after};
        stages_init(&stages, &spec);
        const char *runs = run_through(&arena, &stages, rows[i].outcomes, 3);
        if (strcmp(runs, rows[i].runs) != 0 || stages.end != rows[i].end ||
            stages.cause != rows[i].cause || stages.code != rows[i].code) {
            fail_msg("%s: %s, end %d, cause %d, code %d", rows[i].why, runs, stages.end,
                     stages.cause, stages.code);
        }
        arena_release(&arena);
    }
}

/* The report comes between the job and what cleans up, and changes no result; of a job
 * that has not begun there is none. */
static void test_report(void **state)
{
    struct run_spec spec = {.command = "job",
                            .report_ms = 1,
                            .pre_execs = {"in"},
                            .n_pre_execs = 1,
                            .post_execs = {"out"},
                            .n_post_execs = 1,
                            .limits = job_rlimits_none()};
    struct stages stages;
    struct arena arena;
    (void)state;
    arena_init(&arena);
    stages_init(&stages, &spec);
    assert_string_equal(
        run_through(&arena, &stages,
                    (struct stage_outcome[]){{.status = 0},
                                             {.status = 2 << 8},
                                             {.status = SIGKILL, .is_late = true}},
                    3),
        "in job report out");
    assert_int_equal(stages.end, RUN_END_EXITED);
    assert_int_equal(stages.code, 2);
    assert_false(stages.has_post_failed); /* only the report took too long */
    stages_init(&stages, &spec);
    assert_string_equal(
        run_through(&arena, &stages, &(struct stage_outcome){.status = 1 << 8}, 1),
        "in out");
    stages_init(&stages, &spec);
    stages.stage = STAGE_REPORT;
    assert_int_equal(stages_limit_ms(&stages), STAGE_REPORT_MS);
    arena_release(&arena);
}

/* One command that fails is enough, also if the next one succeeds; the job's own
 * failure and that of the report are none of the commands after it. */
static void test_post_fails(void **state)
{
    static const struct {
        const char *why;
        struct stage_outcome outcomes[4]; /* job, report, out1, out2 */
        bool has_failed;
    } rows[] = {
        {"all succeed", {{.status = 0}, {.status = 0}}, false},
        {"the job fails", {{.status = 3 << 8}}, false},
        {"the report fails", {{.status = 0}, {.status = 1 << 8}}, false},
        {"the first fails", {{.status = 0}, {.status = 0}, {.status = 1 << 8}}, true},
        {"the last fails",
         {{.status = 0}, {.status = 0}, {.status = 0}, {.status = 1 << 8}},
         true},
        {"one is killed, and exits with 0",
         {{.status = 0}, {.status = 0}, {.status = 0, .is_killed = true}},
         true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct run_spec spec = {.command = "job",
                                .report_ms = 1,
                                .post_execs = {"out1", "out2"},
                                .n_post_execs = 2,
                                .limits = job_rlimits_none()};
        struct stages stages;
        struct arena arena;
        arena_init(&arena);
        stages_init(&stages, &spec);
        assert_string_equal(run_through(&arena, &stages, rows[i].outcomes, 4),
                            "job report out1 out2");
        if (stages.has_post_failed != rows[i].has_failed) {
            fail_msg("%s", rows[i].why);
        }
        arena_release(&arena);
    }
}

static void put_item(void *to, const char *name, const char *key, const char *value)
{
    fprintf(to, "%s=%s%s%s%c", name, key == NULL ? "" : key, key == NULL ? "" : "=",
            value, '\0');
}

/* What a RUN_START says is what its guard reads from the file. */
/* Nothing but what was ordered is executed: each changed bit is one too many. */
static void expect_damage_is_noticed(const char *bytes, size_t length)
{
    for (size_t bit = 0; bit < 8 * length; bit++) {
        struct run_spec spec;
        char *damaged = malloc(length);
        assert_non_null(damaged);
        memcpy(damaged, bytes, length);
        damaged[bit / 8] = (char)(damaged[bit / 8] ^ 1 << bit % 8);
        assert_int_equal(run_spec_parse(damaged, length, &spec, NULL), ERR_PARSE);
        run_spec_release(&spec);
    }
}

static void test_spec(void **state)
{
    static const char *const limits[] = {"pre_time=1000", "mem=0"};
    static const char *const controls[] = {"suspend=TSTP", "terminate=/bin/leave now"};
    static const char *const before[] = {"in1", "in2"};
    struct msg_run_start start = {
        .lease = "",
        .account = "ann",
        .spec = {.command = "work",
                 .cwd = "/home/ann",
                 .err_file = "",
                 .out_file = "",
                 .user = "bob",
                 .replaces_err = true,
                 .report_ms = 77,
                 .n_slots = 4,
                 .run_limit_ms = 5000,
                 .limits = limits,
                 .n_limits = 2,
                 .pre_execs = before,
                 .n_pre_execs = 2,
                 .controls = controls,
                 .n_controls = 2},
        .end_within_ms = 9000,
        .terminate_ms = 700,
    };
    struct run_spec spec, parsed;
    char *bytes = NULL, end[RUN_SPEC_END_SIZE];
    size_t length = 0;
    (void)state;
    assert_int_equal(run_spec_from_start(&spec, &start, NULL), 0);
    FILE *to = open_memstream(&bytes, &length);
    fprintf(to, "%s%c", RUN_SPEC_HEAD, '\0');
    run_spec_visit(&spec, put_item, to);
    fflush(to);
    run_spec_end(end, bytes, length);
    fwrite(end, sizeof(end), 1, to);
    fclose(to);
    expect_damage_is_noticed(bytes, length);
    assert_int_equal(run_spec_length(bytes, length), length);
    assert_int_equal(run_spec_length(bytes, length - 1), 0);
    bytes = realloc(bytes, length + 5);
    assert_non_null(bytes);
    memcpy(bytes + length, "after", 5); /* is not of the spec */
    assert_int_equal(run_spec_length(bytes, length + 5), length);
    assert_int_equal(run_spec_parse(bytes, length + 5, &parsed, NULL), 0);
    assert_string_equal(parsed.account, "ann");
    assert_string_equal(parsed.user, "bob");
    assert_int_equal(parsed.report_ms, 77);
    assert_true(parsed.replaces_err);
    assert_false(parsed.replaces_out);
    assert_string_equal(parsed.command, "work");
    assert_string_equal(parsed.cwd, "/home/ann");
    assert_int_equal(parsed.n_slots, 4);
    assert_int_equal(parsed.run_limit_ms, 5000);
    assert_int_equal(parsed.end_within_ms, 9000);
    assert_int_equal(parsed.grace_ms, 700);
    assert_int_equal(parsed.limits.values[JOB_RLIMIT_PRE_TIME], 1000);
    assert_int_equal(parsed.limits.values[JOB_RLIMIT_MEM], 0);
    assert_true(parsed.limits.values[JOB_RLIMIT_POST_TIME] == JOB_RLIMIT_NONE);
    assert_int_equal(parsed.n_pre_execs, 2);
    assert_string_equal(parsed.pre_execs[1], "in2");
    assert_string_equal(parsed.controls[JOB_CONTROL_SUSPEND], "TSTP");
    assert_null(parsed.controls[JOB_CONTROL_RESUME]);
    assert_string_equal(parsed.controls[JOB_CONTROL_TERMINATE], "/bin/leave now");
    run_spec_release(&parsed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stages),
        cmocka_unit_test(test_report),
        cmocka_unit_test(test_post_fails),
        cmocka_unit_test(test_spec),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
