/* SPDX-License-Identifier: Apache-2.0 */
/* test_slurm_sections.c: nodes as sections of a configuration, what is said of their
 * use, and what a script leaves. Source: Slurm's slurm.conf(5), gres.conf(5). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "slurm/slurm_script.h"
#include "slurm/slurm_sections.h"
#include "slurm/slurm_use.h"

static void assert_has(const char *text, const char *part)
{
    if (strstr(text, part) == NULL) {
        fail_msg("\"%s\" is not in\n%s", part, text);
    }
}

static void test_sections(void **state)
{
    static struct slurm_node items[] = {
        {.name = "n1",
         .cpus = 2,
         .features = "big,ib,mem",
         .gres = "gpu:a100:2(S:0-1)"},
        {.name = "n2",
         .cpus = 4,
         .features = "big,4g,",
         .gres = "gpu:1,gpu:v100:3,shard"},
        {.name = "n3", .cpus = 0, .features = "", .gres = "lustre:no_consume:4K"},
    };
    const struct slurm_nodes nodes = {items, 3};
    struct arena arena;
    (void)state;
    arena_init(&arena);
    const char *text = slurm_sections_format(&arena, &nodes);
    assert_has(text, "n1 2 (big ib)\n"); /* "mem" is a load, "4g" is no name */
    assert_has(text, "n2 4 (big)\n");
    assert_has(text, "n3 0 ()\n");
    assert_has(text, "\nbig Boolean () () ");
    assert_has(text, "\ngpu Numeric () N ");
    assert_has(text, "\ngpu (2@[n1] 4@[n2])\n");
    assert_has(text, "\nshard (1@[n2])\n");
    arena_release(&arena);
}

static void test_sections_without_anything(void **state)
{
    static struct slurm_node item = {
        .name = "n1", .cpus = 2, .features = "", .gres = ""};
    struct arena arena;
    (void)state;
    arena_init(&arena);
    assert_string_equal(slurm_sections_format(&arena, &(struct slurm_nodes){&item, 1}),
                        "Begin Host\nHOST_NAME MXJ RESOURCES\nn1 2 ()\nEnd Host\n");
    assert_string_equal(slurm_sections_format(&arena, &(struct slurm_nodes){&item, 0}),
                        "Begin Host\nHOST_NAME MXJ RESOURCES\nEnd Host\n");
    arena_release(&arena);
}

/* ---------------------------------------------------------------- use */

static bool is_seven(void *arg, int64_t job_id)
{
    (void)arg;
    return job_id == 7;
}

static void test_use(void **state)
{
    static const char *const on_n[] = {"n"};
    static const struct {
        const char *why, *node_state;
        int used;
        const char *reservation; /* of the node; "": none */
        int64_t begins_s;
        int64_t job; /* on the node; 0: none */
        const char *job_reservation;
        int n_foreign;
        bool is_out;
    } rows[] = {
        {"idle", "idle", 0, "", 0, 0, "", 0, false},
        {"a job of Slurm's own", "mixed", 1, "", 0, 9, "", 4, false},
        {"planned for one", "idle+planned", 0, "", 0, 0, "", 4, false},
        {"ours", "idle+reserved", 0, "sublet_north_p_south_e1", 0, 0, "", 0, false},
        {"a leased job", "mixed+reserved", 1, "sublet_north_p_south_e1", 0, 8,
         "sublet_north_p_south_e1", 0, false},
        {"a run whose reservation has ended", "mixed", 1, "", 0, 7, "", 0, false},
        {"beside it a job of Slurm's own", "mixed", 2, "", 0, 9, "", 4, false},
        {"in our reservation another job", "mixed+reserved", 1,
         "sublet_north_p_south_e1", 0, 9, "", 4, false},
        {"another site's", "idle+reserved", 0, "sublet_east_p_south_e1", 0, 0, "", 4,
         false},
        {"somebody's, soon", "idle", 0, "maint", 1100, 0, "", 4, false},
        {"somebody's, later", "idle", 0, "maint", 9000, 0, "", 0, false},
        {"drained", "idle+drain", 0, "", 0, 0, "", 4, true},
        {"ours and drained", "idle+drain+reserved", 0, "sublet_north_p_south_e1", 0, 0,
         "", 0, true},
        {"down", "down", 0, "", 0, 0, "", 4, true},
        {"does not answer", "idle*", 0, "", 0, 0, "", 4, true},
        {"powered down", "idle+powered_down", 0, "", 0, 0, "", 4, true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct arena arena;
        struct slurm_node node = {.name = "n",
                                  .state = rows[i].node_state,
                                  .cpus = 4,
                                  .used_cpus = rows[i].used};
        struct slurm_job job = {.id = rows[i].job,
                                .state = "R",
                                .reservation = rows[i].job_reservation,
                                .nodes = on_n,
                                .n_nodes = 1};
        struct slurm_reservation reservation = {.name = rows[i].reservation,
                                                .start_s = rows[i].begins_s,
                                                .nodes = on_n,
                                                .n_nodes = 1};
        const struct slurm_answers answers = {
            {&node, 1},
            {&job, rows[i].job != 0},
            {&reservation, rows[i].reservation[0] != '\0'}};
        const struct slurm_terms terms = {
            .site = "north", .agent = "root", .term_s = 100, .now_s = 1000};
        arena_init(&arena);
        const struct slurm_use *use =
            slurm_use_count(&arena, &terms, &answers, is_seven, NULL);
        if (use->n_foreign != rows[i].n_foreign || use->is_out != rows[i].is_out) {
            fail_msg("%s: %d %d", rows[i].why, use->n_foreign, use->is_out);
        }
        arena_release(&arena);
    }
}

/* ---------------------------------------------------------------- scripts */

static void test_ends(void **state)
{
    static const struct {
        const char *text;
        bool is_good, is_pre_exec;
        int status;
        int64_t ended_ms, cpu_ms;
    } rows[] = {
        {"job 7 1795512300123\n0m0.00s 0m0.01s\n0m1.25s 2m0.500s\n", true, false, 7,
         1795512300123, 121750},
        {"job 0 1\n0m0,00s 0m0,01s\n0m1,25s 0m0,5s\n", true, false, 0, 1, 1750},
        {"pre_exec 1 5\n", true, true, 1, 5, 0},
        {"job 3 5 post_error\n0m0.00s 0m0.01s\n0m1.25s 0m0.500s\n", true, false, 3, 5,
         1750},
        {"job 3 5 post_error", false, false, 0, 0, 0}, /* cut */
        {"job 3 5 post\n", false, false, 0, 0, 0},
        {"job 0 5\nnonsense\nmore\n", true, false, 0, 5, 0},
        {"job 256 5\n", false, false, 0, 0, 0},
        {"job -1 5\n", false, false, 0, 0, 0},
        {"job 7 5", false, false, 0, 0, 0}, /* cut */
        {"job 7\n", false, false, 0, 0, 0},
        {"post 7 5\n", false, false, 0, 0, 0},
        {"", false, false, 0, 0, 0},
        {"job 7 99999999999999999999\n", false, false, 0, 0, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct slurm_script_end end = {.status = -1};
        bool is_good = slurm_script_parse_end(rows[i].text, &end);
        if (is_good != rows[i].is_good) {
            fail_msg("\"%s\" is %s", rows[i].text, is_good ? "taken" : "refused");
        }
        if (is_good) {
            assert_int_equal(end.is_pre_exec, rows[i].is_pre_exec);
            assert_int_equal(end.has_post_failed,
                             strstr(rows[i].text, "post_error") != NULL);
            assert_int_equal(end.status, rows[i].status);
            assert_int_equal(end.ended_ms, rows[i].ended_ms);
            assert_int_equal(end.cpu_ms, rows[i].cpu_ms);
        } else {
            assert_int_equal(end.status, -1);
        }
    }
}

static void test_begins(void **state)
{
    int64_t begun_ms = 0, job_id = 0;
    (void)state;
    assert_true(slurm_script_parse_begun("12 1795512300123\n", &job_id, &begun_ms));
    assert_int_equal(begun_ms, 1795512300123);
    assert_int_equal(job_id, 12);
    assert_false(slurm_script_parse_begun("12 1795", &job_id, &begun_ms));
    assert_false(slurm_script_parse_begun(" 1795512300123\n", &job_id, &begun_ms));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sections),
        cmocka_unit_test(test_sections_without_anything),
        cmocka_unit_test(test_use),
        cmocka_unit_test(test_ends),
        cmocka_unit_test(test_begins),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
