/* SPDX-License-Identifier: Apache-2.0 */
/* test_fake_stages.c: the stages of a run and its result. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "model/job_rlimit.h"
#include "sim/world/fake_stages.h"

/* Runs the stages with the exit codes in `codes`; "in1 job out1". */
static const char *run_through(struct arena *arena, struct fake_stages *stages,
                               const struct fake_stages_result *outcomes,
                               int n_outcomes)
{
    const char *text = "";
    for (int i = 0; stages->stage != FAKE_STAGE_OVER; i++) {
        const char *command = fake_stages_command(stages);
        text = arena_printf(arena, "%s%s%s", text, i > 0 ? " " : "",
                            command ? command : "job");
        fake_stages_advance(stages,
                            i < n_outcomes ? &outcomes[i]
                                           : &(struct fake_stages_result){.code = 0},
                            arena);
    }
    return text;
}

static void test_stages(void **state)
{
    static const char *const before[] = {"in1", "in2"}, *const after[] = {"out"};
    static const struct {
        const char *why;
        int n_before, n_after;
        struct fake_stages_result outcomes[3];
        const char *runs;
        enum run_end end;
        enum run_cause cause;
        int code;
    } rows[] = {
        {"the job alone",
         0,
         0,
         {{.code = 3}},
         "job",
         RUN_END_EXITED,
         RUN_CAUSE_NONE,
         3},
        {"all of them", 2, 1, {{.code = 0}}, "in1 in2 job out", RUN_END_EXITED, 0, 0},
        {"what fails before leaves it unbegun, and what cleans up runs",
         2,
         1,
         {{.code = 0}, {.code = 4}},
         "in1 in2 out",
         RUN_END_FAILED,
         RUN_CAUSE_PRE_EXEC,
         4},
        {"so does what takes too long",
         2,
         0,
         {{.is_late = true}},
         "in1",
         RUN_END_FAILED,
         RUN_CAUSE_PRE_EXEC,
         2},
        {"killed before it started",
         2,
         1,
         {{.is_killed = true}},
         "in1 out",
         RUN_END_SIGNALLED,
         RUN_CAUSE_NONE,
         15},
        {"killed", 0, 1, {{.is_killed = true}}, "job out", RUN_END_SIGNALLED, 0, 15},
        {"its run limit",
         0,
         1,
         {{.is_limited = true}},
         "job out",
         RUN_END_LIMIT,
         RUN_CAUSE_RUN_LIMIT,
         130},
        {"what fails after it changes nothing",
         0,
         1,
         {{.code = 0}, {.code = 9}},
         "job out",
         RUN_END_EXITED,
         RUN_CAUSE_NONE,
         0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct arena arena;
        struct fake_stages stages;
        arena_init(&arena);
        struct job_spec spec = {.pre_execs = before,
                                .n_pre_execs = rows[i].n_before,
                                .post_execs = after,
                                .n_post_execs = rows[i].n_after};
        fake_stages_init(&stages, &arena, &spec);
        const char *runs = run_through(&arena, &stages, rows[i].outcomes, 3);
        if (strcmp(runs, rows[i].runs) != 0 || stages.exit.end != rows[i].end ||
            stages.exit.cause != rows[i].cause || stages.exit.code != rows[i].code) {
            fail_msg("%s: %s, end %d, cause %d, code %d", rows[i].why, runs,
                     stages.exit.end, stages.exit.cause, stages.exit.code);
        }
        arena_release(&arena);
    }
}

static void test_rules(void **state)
{
    static const char *const limits[] = {"pre_time=1000"};
    static const char *const controls[] = {"suspend=TSTP", "terminate=/bin/leave now"};
    struct arena arena;
    struct fake_stages stages;
    (void)state;
    arena_init(&arena);
    struct job_spec spec = {
        .limits = limits, .n_limits = 1, .controls = controls, .n_controls = 2};
    fake_stages_init(&stages, &arena, &spec);
    assert_int_equal(stages.limits_ms[FAKE_STAGE_PRE], 1000);
    assert_true(stages.limits_ms[FAKE_STAGE_POST] == JOB_RLIMIT_NONE);
    assert_null(stages.actions[JOB_CONTROL_SUSPEND]); /* a signal */
    assert_null(stages.actions[JOB_CONTROL_RESUME]);
    assert_string_equal(stages.actions[JOB_CONTROL_TERMINATE], "/bin/leave now");
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stages),
        cmocka_unit_test(test_rules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
