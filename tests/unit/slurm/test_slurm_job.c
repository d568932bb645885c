/* SPDX-License-Identifier: Apache-2.0 */
/* The jobs of a cluster, and which of them are runs of the site. The values are what
 * squeue of Slurm 22.05.8 has printed for jobs in a reservation. Source: Slurm's
 * squeue(1), docs/adr/0024-leases-of-slurm-nodes.md. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/bounds.h"
#include "slurm/slurm_job.h"

static const char ours[] = "sublet:north:south:12:77";
static const struct run_id run_12 = {"south", 12, 77};

struct line {
    const char *id, *code, *user, *status, *start, *end, *comment;
    const char *cpus, *reason, *reservation, *nodes, *partitions; /* NULL: as below */
};

#define LINE(a, b, c, d, e, f, g)                                                      \
    .id = a, .code = b, .user = c, .status = d, .start = e, .end = f, .comment = g

static const char *given(const char *text, const char *other)
{
    return text != NULL ? text : other;
}

static const char *print(struct arena *arena, const char *text, const struct line *line)
{
    return arena_printf(
        arena, "%s%s|%s|%s|%s|%s|%s|%s|%s|%-24.24s|%-240.240s|%-200.200s|%s|\n", text,
        line->id, line->code, line->user, given(line->partitions, "main"),
        given(line->cpus, "1"), line->status, line->start, line->end,
        given(line->reason, "None"),
        given(line->reservation, "sublet_north_p_south_e3"), line->comment,
        given(line->nodes, "n1"));
}

static const struct slurm_job *read_one(struct arena *arena, const struct line *line)
{
    struct slurm_jobs runs = {.count = -1};
    struct err err = {.text = ""};
    if (slurm_job_read(arena, print(arena, "", line), &runs, &err) != 0) {
        fail_msg("%s", err.text);
    }
    return slurm_job_find_run(&runs, "north", &run_12, "nobody");
}

static void test_states(void **state)
{
    static const struct {
        struct line line;
        enum slurm_job_phase phase;
        int wait_status;
        int64_t start_s, end_s;
    } rows[] = {
        {{LINE("1", "F", "nobody", "1792", "1795512308", "1795512309", ours)},
         SLURM_JOB_ENDED,
         7 << 8,
         1795512308,
         1795512309},
        {{LINE("3", "F", "nobody", "9", "1795512308", "1795512308", ours)},
         SLURM_JOB_ENDED,
         9,
         1795512308,
         1795512308},
        {{LINE("4", "CA", "nobody", "15", "1795512308", "1795512317", ours)},
         SLURM_JOB_ENDED,
         15,
         1795512308,
         1795512317},
        {{LINE("4", "R", "nobody", "0", "1795512308", "NONE", ours)},
         SLURM_JOB_RUNNING,
         0,
         1795512308,
         0},
        {{LINE("4", "CG", "nobody", "0", "1795512308", "1795512317", ours)},
         SLURM_JOB_RUNNING,
         0,
         1795512308,
         0}, /* it still has its CPUs */
        {{LINE("4", "XX", "nobody", "0", "1795512308", "NONE", ours)},
         SLURM_JOB_RUNNING,
         0,
         1795512308,
         0},
        {{LINE("4", "ST", "nobody", "0", "1795512308", "NONE", ours)},
         SLURM_JOB_STOPPED,
         0,
         1795512308,
         0},
        {{LINE("4", "PD", "nobody", "0", "N/A", "N/A", ours)},
         SLURM_JOB_WAITING,
         0,
         0,
         0},
        {{LINE("4", "RD", "nobody", "0", "N/A", "N/A", ours)}, /* held for ever */
         SLURM_JOB_ENDED,
         0,
         0,
         0},
        {{LINE("4", "PD", "nobody", "0", "1795512999", "N/A", ours)}, /* expected */
         SLURM_JOB_WAITING,
         0,
         0,
         0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct arena arena;
        arena_init(&arena);
        const struct slurm_job *run = read_one(&arena, &rows[i].line);
        assert_non_null(run);
        assert_int_equal(run->phase, rows[i].phase);
        assert_int_equal(run->wait_status, rows[i].wait_status);
        assert_int_equal(run->start_s, rows[i].start_s);
        assert_int_equal(run->end_s, rows[i].end_s);
        assert_string_equal(run->state, rows[i].line.code);
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
        struct line line = {LINE("1", "R", "nobody", "0", "5", "NONE", comments[i])};
        if (read_one(&arena, &line) != NULL) {
            fail_msg("\"%s\" is taken for the run", comments[i]);
        }
    }
    struct line line = {LINE("1", "R", "root", "0", "5", "NONE", ours)};
    assert_null(read_one(&arena, &line)); /* of another user */
    arena_release(&arena);
}

/* A comment that has lines like those of squeue, and one that is cut. */
static void test_forged(void **state)
{
    struct arena arena;
    struct slurm_jobs runs;
    struct err err;
    char cut[700];
    (void)state;
    arena_init(&arena);
    memset(cut, 'c', sizeof(cut) - 1);
    cut[sizeof(cut) - 1] = '\0';
    struct line forged = {LINE(
        "9", "R", "nobody", "0", "5", "NONE",
        "a|b|n1|\n1|F|nobody|main|1|0|5|6|None |r |sublet:north:south:12:77 |n1|\n")};
    struct line full = {LINE("8", "R", "nobody", "0", "5", "NONE", cut)};
    struct line copy = {LINE("7", "F", "nobody", "0", "5", "6", ours)};
    struct line genuine = {LINE("6", "R", "nobody", "0", "5", "NONE", ours)};
    const char *text = print(&arena, "", &forged);
    text = print(&arena, text, &full);
    text = print(&arena, text, &copy);
    text = print(&arena, text, &genuine);
    assert_int_equal(slurm_job_read(&arena, text, &runs, &err), 0);
    assert_int_equal(runs.count, 4);
    assert_int_equal(slurm_job_find_run(&runs, "north", &run_12, "nobody")->id, 6);
    arena_release(&arena);
}

static void test_wrong(void **state)
{
    static const struct line lines[] = {
        {LINE("x", "R", "nobody", "0", "5", "NONE", ours)},
        {LINE("1", "R", "nobody", "65536", "5", "NONE", ours)},
        {LINE("1", "F", "nobody", "0", "5", "NONE", ours)},
        {LINE("1", "R", "nobody", "0", "now", "NONE", ours)},
        {LINE("0", "R", "nobody", "0", "5", "NONE", "")},
        {LINE("1", "PD", "bob", "0", "N/A", "N/A", ""), .cpus = "many"},
    };
    struct arena arena;
    struct slurm_jobs runs = {.count = -1};
    struct err err;
    (void)state;
    arena_init(&arena);
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        const char *text = print(&arena, "", &lines[i]);
        assert_int_equal(slurm_job_read(&arena, text, &runs, &err), ERR_BOUNDS);
        assert_non_null(strstr(err.text, "line 1"));
    }
    assert_int_equal(slurm_job_read(&arena, "slurm_load_jobs error\n", &runs, &err),
                     ERR_PARSE);
    assert_int_equal(runs.count, -1);
    assert_int_equal(slurm_job_read(&arena, "", &runs, &err), 0);
    assert_int_equal(runs.count, 0);
    arena_release(&arena);
}

/* Jobs of anybody: only those that have nodes have some, and only those that wait are
 * asked how many CPUs they want. */
static void test_jobs(void **state)
{
    static const struct line lines[] = {
        {LINE("17", "R", "bob", "0", "5", "NONE", "(null)"), .reservation = "second",
         .nodes = "n[1-2]", .cpus = "?"},
        {LINE("18", "CG", "bob", "99999", "soon", "?", "(null)"),
         .reservation = "(null)", .nodes = "n3"},
        {LINE("19", "PD", "bob", "0", "N/A", "N/A", "(null)"), .cpus = "8", .nodes = "",
         .reservation = "(null)", .reason = "ReqNodeNotAvail, May be reserved",
         .partitions = "main,big"},
        {LINE("20", "CD", "bob", "0", "5", "6", "(null)"), .nodes = "n1"},
        {LINE("21", "S", "bob", "0", "5", "NONE", "(null)"), .nodes = "n4"},
        {LINE("22", "PD", "bob", "0", "N/A", "N/A", "(null)"), .cpus = "4294967295",
         .reservation = "(null)", .nodes = "", .reason = "Dependency"},
    };
    struct arena arena;
    struct slurm_jobs jobs = {.count = -1};
    struct err err = {.text = ""};
    (void)state;
    arena_init(&arena);
    const char *text = "";
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        text = print(&arena, text, &lines[i]);
    }
    if (slurm_job_read(&arena, text, &jobs, &err) != 0) {
        fail_msg("%s", err.text);
    }
    assert_int_equal(jobs.count, 6);
    assert_int_equal(jobs.items[0].id, 17);
    assert_string_equal(jobs.items[0].reservation, "second");
    assert_int_equal(jobs.items[0].n_nodes, 2);
    assert_string_equal(jobs.items[0].nodes[1], "n2");
    assert_null(jobs.items[0].site);
    assert_string_equal(jobs.items[1].state, "CG");
    assert_true(slurm_job_has_nodes(&jobs.items[1])); /* it still has them */
    assert_string_equal(jobs.items[1].reservation, "");
    assert_int_equal(jobs.items[2].n_nodes, 0);
    assert_int_equal(jobs.items[2].n_cpus, 8);
    assert_int_equal(jobs.items[3].n_nodes, 0);
    assert_false(slurm_job_has_nodes(&jobs.items[3]));
    assert_true(slurm_job_has_nodes(&jobs.items[4]));
    assert_int_equal(jobs.items[5].n_cpus, SLOTS_MAX);
    assert_int_equal(slurm_job_count_waiting(&arena, &jobs, "", "north"), 8);
    assert_int_equal(slurm_job_count_waiting(&arena, &jobs, "big", "north"), 8);
    assert_int_equal(slurm_job_count_waiting(&arena, &jobs, "bi", "north"), 0);
    arena_release(&arena);
}

static void test_command(void **state)
{
    static const char *const wanted[] = {
        "squeue",
        "--noheader",
        "--all",
        "--local",
        "--states=all",
        "--Format",
        "JobID:0|,StateCompact:0|,UserName:0|,Partition:0|,NumCPUs:0|,exit_code:0|,"
        "StartTime:0|,EndTime:0|,Reason:24|,Reservation:240|,Comment:200|,NodeList:0|",
    };
    struct arena arena;
    (void)state;
    arena_init(&arena);
    const char *const *words = slurm_job_command(&arena);
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
        assert_string_equal(words[i], wanted[i]);
    }
    assert_null(words[7]);
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_states), cmocka_unit_test(test_others),
        cmocka_unit_test(test_forged), cmocka_unit_test(test_wrong),
        cmocka_unit_test(test_jobs),   cmocka_unit_test(test_command)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
