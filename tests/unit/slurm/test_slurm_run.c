/* SPDX-License-Identifier: Apache-2.0 */
/* Runs of leased jobs as jobs of Slurm. The values are what squeue of Slurm 22.05.8 has
 * printed for jobs in a reservation. Source: Slurm's sbatch(1), squeue(1), scancel(1),
 * docs/adr/0024-leases-of-slurm-nodes.md. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "slurm/slurm_run.h"

static const char ours[] = "sublet:north:south:12:77";
static const struct run_id run_12 = {"south", 12, 77};

struct line {
    const char *id, *code, *user, *status, *start, *end, *comment;
};

static const char *print(struct arena *arena, const char *text, const struct line *line)
{
    return arena_printf(
        arena, "%s%-16s|%-8s|%-256s|%-256s|%-16s|%-24s|%-24s|%-512.512s|\n", text,
        line->id, line->code, line->user, "sublet_north_p_south_e3", line->status,
        line->start, line->end, line->comment);
}

static const struct slurm_run *read_one(struct arena *arena, const struct line *line)
{
    struct slurm_runs runs = {.count = -1};
    struct err err = {.text = ""};
    if (slurm_run_read(arena, print(arena, "", line), &runs, &err) != 0) {
        fail_msg("%s", err.text);
    }
    return slurm_run_find(&runs, "north", &run_12, "nobody");
}

static void test_states(void **state)
{
    static const struct {
        struct line line;
        enum slurm_run_state state;
        int wait_status;
        int64_t start_s, end_s;
    } rows[] = {
        {{"1", "F", "nobody", "1792", "1795512308", "1795512309", ours},
         SLURM_RUN_ENDED,
         7 << 8,
         1795512308,
         1795512309},
        {{"3", "F", "nobody", "9", "1795512308", "1795512308", ours},
         SLURM_RUN_ENDED,
         9,
         1795512308,
         1795512308},
        {{"4", "CA", "nobody", "15", "1795512308", "1795512317", ours},
         SLURM_RUN_ENDED,
         15,
         1795512308,
         1795512317},
        {{"4", "R", "nobody", "0", "1795512308", "NONE", ours},
         SLURM_RUN_RUNNING,
         0,
         1795512308,
         0},
        {{"4", "CG", "nobody", "0", "1795512308", "1795512317", ours},
         SLURM_RUN_RUNNING,
         0,
         1795512308,
         0}, /* it still has its CPUs */
        {{"4", "XX", "nobody", "0", "1795512308", "NONE", ours},
         SLURM_RUN_RUNNING,
         0,
         1795512308,
         0},
        {{"4", "ST", "nobody", "0", "1795512308", "NONE", ours},
         SLURM_RUN_STOPPED,
         0,
         1795512308,
         0},
        {{"4", "PD", "nobody", "0", "N/A", "N/A", ours}, SLURM_RUN_WAITING, 0, 0, 0},
        {{"4", "RD", "nobody", "0", "N/A", "N/A", ours}, /* held for ever */
         SLURM_RUN_ENDED,
         0,
         0,
         0},
        {{"4", "PD", "nobody", "0", "1795512999", "N/A", ours}, /* expected */
         SLURM_RUN_WAITING,
         0,
         0,
         0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct arena arena;
        arena_init(&arena);
        const struct slurm_run *run = read_one(&arena, &rows[i].line);
        assert_non_null(run);
        assert_int_equal(run->state, rows[i].state);
        assert_int_equal(run->wait_status, rows[i].wait_status);
        assert_int_equal(run->start_s, rows[i].start_s);
        assert_int_equal(run->end_s, rows[i].end_s);
        assert_string_equal(run->code, rows[i].line.code);
        assert_string_equal(run->reservation, "sublet_north_p_south_e3");
        arena_release(&arena);
    }
}

/* Jobs that are not this run. */
static void test_others(void **state)
{
    static const char *const comments[] = {
        "",
        "x",
        "sublet",
        "sublet:north:south:12",
        "sublet:north:south:12:77:",
        "sublet:north:south:012:77",
        "sublet:north:south:12:78",
        "sublet:north:south:13:77",
        "sublet:north:east:12:77",
        "sublet:west:south:12:77",
        "Sublet:north:south:12:77",
        "sublet:north::12:77",
        "sublet:north:south:0:77",
        "sublet:north:south:-1:77",
        "sublet:north:south:12:77 ;",
    };
    struct arena arena;
    (void)state;
    arena_init(&arena);
    for (size_t i = 0; i < sizeof(comments) / sizeof(comments[0]); i++) {
        struct line line = {"1", "R", "nobody", "0", "5", "NONE", comments[i]};
        if (read_one(&arena, &line) != NULL) {
            fail_msg("\"%s\" is taken for the run", comments[i]);
        }
    }
    struct line line = {"1", "R", "root", "0", "5", "NONE", ours};
    assert_null(read_one(&arena, &line)); /* of another user */
    arena_release(&arena);
}

/* A comment that has lines like those of squeue, and one that is cut. */
static void test_forged(void **state)
{
    struct arena arena;
    struct slurm_runs runs;
    struct err err;
    char cut[700];
    (void)state;
    arena_init(&arena);
    memset(cut, 'c', sizeof(cut) - 1);
    cut[sizeof(cut) - 1] = '\0';
    struct line forged = {"9",
                          "R",
                          "nobody",
                          "0",
                          "5",
                          "NONE",
                          "a\n1  |F |nobody |r |0 |5 |6 |sublet:north:south:12:77 |\n"};
    struct line full = {"8", "R", "nobody", "0", "5", "NONE", cut};
    struct line copy = {"7", "F", "nobody", "0", "5", "6", ours};
    struct line genuine = {"6", "R", "nobody", "0", "5", "NONE", ours};
    const char *text = print(&arena, "", &forged);
    text = print(&arena, text, &full);
    text = print(&arena, text, &copy);
    text = print(&arena, text, &genuine);
    assert_int_equal(slurm_run_read(&arena, text, &runs, &err), 0);
    assert_int_equal(runs.count, 2);
    assert_int_equal(slurm_run_find(&runs, "north", &run_12, "nobody")->job_id, 6);
    arena_release(&arena);
}

static void test_wrong(void **state)
{
    static const struct line lines[] = {
        {"x", "R", "nobody", "0", "5", "NONE", ours},
        {"1", "R", "nobody", "65536", "5", "NONE", ours},
        {"1", "F", "nobody", "0", "5", "NONE", ours},
        {"1", "R", "nobody", "0", "now", "NONE", ours},
    };
    struct arena arena;
    struct slurm_runs runs = {.count = -1};
    struct err err;
    (void)state;
    arena_init(&arena);
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        const char *text = print(&arena, "", &lines[i]);
        assert_int_equal(slurm_run_read(&arena, text, &runs, &err), ERR_BOUNDS);
        assert_non_null(strstr(err.text, "job 1 of the list"));
    }
    assert_int_equal(slurm_run_read(&arena, "slurm_load_jobs error\n", &runs, &err),
                     ERR_PARSE);
    assert_int_equal(runs.count, -1);
    assert_int_equal(slurm_run_read(&arena, "", &runs, &err), 0);
    assert_int_equal(runs.count, 0);
    arena_release(&arena);
}

static void expect_words(struct arena *arena, const char *const *words,
                         const char *wanted)
{
    const char *text = "";
    for (int i = 0; words[i] != NULL; i++) {
        text = arena_printf(arena, "%s%s%s", text, i > 0 ? " " : "", words[i]);
    }
    assert_string_equal(text, wanted);
}

static void test_commands(void **state)
{
    struct arena arena;
    struct slurm_run_order order = {.site = "north",
                                    .run = run_12,
                                    .user = "nobody",
                                    .group = "nogroup",
                                    .reservation = "sublet_north_p_south_e3",
                                    .node = "n2",
                                    .n_slots = 3,
                                    .partition = "",
                                    .account = "",
                                    .output = "/s/o",
                                    .error = "/s/e",
                                    .script = "/s/run"};
    (void)state;
    arena_init(&arena);
#define SUBMIT                                                                         \
    "sbatch --parsable --no-requeue --export=NIL --chdir=/ --job-name=sublet "         \
    "--time=UNLIMITED --nodes=1 --ntasks=1 --cpus-per-task=3 --nodelist=n2 "           \
    "--reservation=sublet_north_p_south_e3 --uid=nobody --gid=nogroup "                \
    "--output=/s/o --error=/s/e --comment=sublet:north:south:12:77 "
    expect_words(&arena, slurm_run_submit_command(&arena, &order), SUBMIT "/s/run");
    order.partition = "main";
    order.account = "lent";
    expect_words(&arena, slurm_run_submit_command(&arena, &order),
                 SUBMIT "--partition=main --account=lent /s/run");
    expect_words(&arena, slurm_run_signal_command(&arena, 4, "STOP"),
                 "scancel --full --signal=STOP 4");
    expect_words(&arena, slurm_run_kill_command(&arena, 4), "scancel 4");
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_states), cmocka_unit_test(test_others),
        cmocka_unit_test(test_forged), cmocka_unit_test(test_wrong),
        cmocka_unit_test(test_commands)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
