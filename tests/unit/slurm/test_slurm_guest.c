/* SPDX-License-Identifier: Apache-2.0 */
/* Guests of a Slurm cluster: which jobs need nodes, which guests are submitted and
 * ended, and what their nodes are ordered. Lines are those of Slurm 22.05.8. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "slurm/slurm_guest.h"

/* Rows leave out what is nothing. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

enum { MAX = 4, NOW_MS = 1000000000, IDLE_MS = 300000, STAY_MS = 86400000 };

static const struct slurm_guest_terms terms = {.now_ms = NOW_MS,
                                               .idle_ms = IDLE_MS,
                                               .stay_ms = STAY_MS,
                                               .notice_ms = 60000,
                                               .begin_ms = 180000,
                                               .max = MAX};

/* ---------------------------------------------------------------- jobs */

static const char *line(struct arena *arena, const char *const cells[6])
{
    return arena_printf(arena, "%-32s|%-8s|%-16s|%-32s|%-64.64s|%-4096s|\n", cells[0],
                        cells[1], cells[2], cells[3], cells[4], cells[5]);
}
#define LINE(...) line(&arena, (const char *const[6]){__VA_ARGS__})

static void test_command(void **state)
{
    static const char *const wanted[] = {
        "squeue",
        "--noheader",
        "--array",
        "--partition=borrowed",
        "--states=PENDING,RUNNING,SUSPENDED,COMPLETING,CONFIGURING,STOPPED",
        "--Format",
        "JobArrayID:32|,StateCompact:8|,NumCPUs:16|,NumNodes:32|,Reason:64|,"
        "NodeList:4096|",
    };
    struct arena arena;
    (void)state;
    arena_init(&arena);
    const char *const *words = slurm_guest_job_command(&arena, "borrowed");
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
        assert_string_equal(words[i], wanted[i]);
    }
    assert_null(words[7]);
    assert_string_equal(
        slurm_guest_command(&arena, "/opt/slurmd --conf-server ctl"),
        "exec /opt/slurmd --conf-server ctl -D -Z -N \"sublet$LSB_JOBID\" --conf "
        "\"CPUs=$LSB_DJOB_NUMPROC Feature=sublet,${SUBLET_LEASE%%/*}\"");
    arena_release(&arena);
}

static void test_jobs(void **state)
{
    static const struct {
        const char *reason, *n_cpus, *n_nodes;
        bool needs_nodes;
        int n_all, n;
    } rows[] = {
        {"PartitionConfig", "4", "1", true, 4, 1},
        {"Resources", "5", "2", true, 5, 2},
        {"Priority", "1", "1", true, 1, 1},
        {"ReqNodeNotAvail, UnavailableNodes:sublet7", "2", "1-4", true, 2, 1},
        {"Nodes required for job are DOWN, DRAINED or reserved for jobs in higher", "2",
         "1", true, 2, 1},
        {"None", "3", "1", true, 3, 1},
        {"Dependency", "1", "1", false, 1, 1},
        {"JobHeldUser", "1", "1", false, 1, 1},
        {"BeginTime", "1", "1", false, 1, 1}, /* also one that was requeued just now */
        {"QOSMaxCpuPerUserLimit", "1", "1", false, 1, 1},
        {"AssocGrpCpuLimit", "1", "1", false, 1, 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct arena arena;
        struct slurm_guest_jobs jobs;
        struct err err;
        arena_init(&arena);
        const char *text = arena_printf(
            &arena, "%s%s",
            LINE("7_1", "PD", rows[i].n_cpus, rows[i].n_nodes, rows[i].reason, ""),
            LINE("8", "R", "4", "2", "None", "sublet[1-2]"));
        assert_int_equal(slurm_guest_job_read(&arena, text, &jobs, &err), 0);
        assert_int_equal(jobs.count, 2);
        assert_string_equal(jobs.items[0].id, "7_1");
        assert_int_equal(jobs.items[0].needs_nodes, rows[i].needs_nodes);
        assert_int_equal(jobs.items[0].n_cpus, rows[i].n_all);
        assert_int_equal(jobs.items[0].n_nodes, rows[i].n);
        assert_true(jobs.items[1].is_running && !jobs.items[1].needs_nodes);
        assert_int_equal(jobs.items[1].n_nodes, 2);
        assert_string_equal(jobs.items[1].nodes[1], "sublet2");
        arena_release(&arena);
    }
}

static void test_wrong(void **state)
{
    struct arena arena;
    struct slurm_guest_jobs jobs = {.count = -1};
    struct err err;
    (void)state;
    arena_init(&arena);
    const char *good = LINE("7", "PD", "1", "1", "None", "");
    const char *bad = LINE("8", "PD", "x", "1", "None", "");
    assert_int_equal(slurm_guest_job_read(
                         &arena, arena_printf(&arena, "%s%s", good, bad), &jobs, &err),
                     ERR_BOUNDS);
    assert_non_null(strstr(err.text, "line 2: NumCPUs"));
    assert_int_equal(slurm_guest_job_read(&arena, "JOBID PARTITION\n", &jobs, &err),
                     ERR_PARSE);
    assert_int_equal(jobs.count, -1);
    assert_int_equal(slurm_guest_job_read(&arena, "", &jobs, &err), 0);
    assert_int_equal(jobs.count, 0);
    arena_release(&arena);
}

/* ---------------------------------------------------------------- plans */

/* The plan as a text: "+4" submits a guest of 4 slots, "-7" ends guest 7. */
static const char *show(struct arena *arena, const struct slurm_guest_plan *plan)
{
    const char *text = "";
    for (int i = 0; i < plan->n_orders; i++) {
        for (int k = 1; plan->orders[i][k] != NULL; k++) {
            text = arena_printf(arena, "%s%s ", text, plan->orders[i][k]);
        }
        text = arena_printf(arena, "%s; ", text);
    }
    for (int i = 0; i < plan->n_submits; i++) {
        text = arena_printf(arena, "%s+%d ", text, plan->submits[i]);
    }
    for (int i = 0; i < plan->n_ends; i++) {
        text = arena_printf(arena, "%s-%d ", text, (int)plan->ends[i]);
    }
    return text;
}

/* Guests 7, with a node, and 8, which waits; and a job that waits. */
struct setting {
    const char *why;
    const char *state; /* of the node; NULL: it has none */
    int used;          /* CPUs of 4 there, by job 12 */
    int64_t begun_before_ms, idle_for_ms, recall_in_ms; /* 0: not */
    int waiting;                                        /* slots of guest 8; 0: none */
    int need, n_nodes; /* CPUs of the job that waits; 0: none */
    const char *plan;
    int host_max;
    bool is_drained; /* its lease */
    bool had_node;   /* the last plan saw it */
};

#define NODE "update NodeName=sublet7 "
#define DRAIN(why) NODE "State=DRAIN Reason=sublet: " why " ; "

static const struct setting settings[] = {
    {"nothing is there", NULL, 0, 0, 0, 0, 0, 0, 0, ""},
    {"a job waits", NULL, 0, 0, 0, 0, 0, 3, 1, "+3 "},
    {"a job on two nodes waits", NULL, 0, 0, 0, 0, 0, 5, 2, "+3 +3 "},
    {"no host is so large", NULL, 0, 0, 0, 0, 0, 9, 1, "+3 +3 +3 ", 4},
    {"a host is just so large", NULL, 0, 0, 0, 0, 0, 8, 1, "+8 ", 8},
    {"no more guests than the maximum", NULL, 0, 0, 0, 0, 0, 9, 9, "+1 +1 +1 +1 "},
    {"two nodes, since the one there is small", "mixed+dynamic_norm", 2, 60000, 0, 0, 0,
     8, 2, "+8 "},
    {"two nodes, which do not follow from its size", "mixed+dynamic_norm", 3, 60000, 0,
     0, 0, 4, 2, "+2 +2 "},
    {"the guest for it waits", NULL, 0, 0, 0, 0, 3, 3, 1, ""},
    {"the guest that waits is too small", NULL, 0, 0, 0, 0, 2, 3, 1, "+3 -8 "},
    {"the job waits no longer", NULL, 0, 0, 0, 0, 3, 0, 1, "-8 "},
    {"the node has room", "idle+dynamic_norm", 0, 60000, 0, 0, 0, 4, 1, ""},
    {"the node has no room", "mixed+dynamic_norm", 2, 60000, 0, 0, 0, 3, 1, "+3 "},
    {"each of the two nodes counts once", "idle+dynamic_norm", 0, 60000, 0, 0, 0, 2, 2,
     "+1 "},
    {"a node on its way is waited for", NULL, 0, 60000, 0, 0, 0, 4, 1, ""},
    {"a slurmd that never registered", NULL, 0, 180000, 0, 0, 0, 0, 1, "-7 "},
    {"slurmctld has forgotten its node", NULL, 0, 60000, 0, 0, 0, 4, 1, "+4 -7 ", 0,
     false, true},
    {"its node is there as before", "mixed+dynamic_norm", 1, 60000, 0, 0, 0, 0, 1, "",
     0, false, true},
    {"idle, but not for long", "idle+dynamic_norm", 0, 900000, IDLE_MS - 1, 0, 0, 0, 1,
     ""},
    {"idle for long", "idle+dynamic_norm", 0, 900000, IDLE_MS, 0, 0, 0, 1,
     DRAIN("it is idle")},
    {"idle for long, and needed now", "idle+dynamic_norm", 0, 900000, IDLE_MS, 0, 0, 2,
     1, ""},
    {"idle for long, and too small", "idle+dynamic_norm", 0, 900000, IDLE_MS, 0, 0, 5,
     1, DRAIN("it is idle") "+5 "},
    {"drained and idle", "idle+drain+dynamic_norm", 0, 900000, 0, 0, 0, 0, 1, "-7 "},
    {"drained, not idle", "allocated+drain+dynamic_norm", 1, 900000, 0, 0, 0, 0, 1, ""},
    {"drained, its last job is ending", "idle+completing+drain+dynamic_norm", 0, 900000,
     0, 0, 0, 0, 1, ""},
    {"its stay is over", "mixed+dynamic_norm", 1, STAY_MS, 0, 0, 0, 0, 1,
     DRAIN("its stay is over")},
    {"recalled, in an hour", "mixed+dynamic_norm", 1, 60000, 0, 3600000, 0, 0, 1,
     DRAIN("its slots are recalled")},
    {"recalled, and idle", "idle+drain+dynamic_norm", 0, 60000, 0, 3600000, 0, 0, 1,
     "-7 "},
    {"recalled, soon", "allocated+drain+dynamic_norm", 1, 60000, 0, 60000, 0, 0, 1,
     "requeue 12 ; "},
    {"recalled, at once", "mixed+dynamic_norm", 1, 60000, 0, 1, 0, 0, 1,
     DRAIN("its slots are recalled") "requeue 12 ; "},
    {"recalled before it registered", NULL, 0, 60000, 0, 3600000, 0, 0, 1, "-7 "},
    {"what is recalled has no room for others", "idle+dynamic_norm", 0, 60000, 0,
     3600000, 0, 2, 1, DRAIN("its slots are recalled") "+2 "},
    {"its lease is drained", "mixed+dynamic_norm", 1, 60000, 0, 0, 0, 0, 1,
     DRAIN("its lease is drained"), 0, true},
    {"its lease is drained, which is no recall", "mixed+drain+dynamic_norm", 1, 60000,
     0, 0, 0, 0, 1, "", 0, true},
    {"its lease is drained, and the node is idle", "idle+drain+dynamic_norm", 0, 60000,
     0, 0, 0, 0, 1, "-7 ", 0, true},
    {"a drained lease has no room for others", "idle+dynamic_norm", 0, 60000, 0, 0, 0,
     2, 1, DRAIN("its lease is drained") "+2 ", 0, true},
    {"a node that is down has no room", "down+dynamic_norm", 0, 60000, 0, 0, 0, 2, 1,
     "+2 "},
    {"nor one that does not respond", "idle+dynamic_norm+not_responding", 0, 60000, 0,
     0, 0, 2, 1, "+2 "},
};

static void make_plan(struct arena *arena, const struct setting *setting,
                      struct slurm_guest_plan *plan)
{
    static const char *const on[] = {"sublet7"};
    struct slurm_guest guests[2];
    struct slurm_node node = {.name = "sublet7",
                              .state = setting->state,
                              .cpus = 4,
                              .used_cpus = setting->used,
                              .features = "sublet,north"};
    struct slurm_guest_job jobs[2];
    struct slurm_guest_jobs all = {.items = jobs};
    int n_guests = 0;
    if (setting->begun_before_ms > 0) {
        guests[n_guests++] = (struct slurm_guest){
            .job = 7,
            .n_slots = 4,
            .has_host = true,
            .has_begun = true,
            .begun_ms = NOW_MS - setting->begun_before_ms,
            .is_drained = setting->is_drained,
            .recall_ms = setting->recall_in_ms > 0 ? NOW_MS + setting->recall_in_ms : 0,
            .seen = {setting->had_node,
                     setting->idle_for_ms > 0 ? NOW_MS - setting->idle_for_ms : 0}};
    }
    if (setting->waiting > 0) {
        guests[n_guests++] =
            (struct slurm_guest){.job = 8, .n_slots = setting->waiting};
    }
    if (setting->used > 0) {
        jobs[all.count++] = (struct slurm_guest_job){
            .id = "12", .is_running = true, .n_cpus = 1, .n_nodes = 1, .nodes = on};
    }
    if (setting->need > 0) {
        jobs[all.count++] = (struct slurm_guest_job){.id = "13",
                                                     .needs_nodes = true,
                                                     .n_cpus = setting->need,
                                                     .n_nodes = setting->n_nodes};
    }
    const struct slurm_nodes nodes = {&node, setting->state != NULL};
    struct slurm_guest_terms with = terms;
    with.host_max = setting->host_max;
    slurm_guest_plan(arena, &with, guests, n_guests, &nodes, &all, plan);
}

static void test_plans(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
        struct arena arena;
        struct slurm_guest_plan plan;
        arena_init(&arena);
        make_plan(&arena, &settings[i], &plan);
        const char *text = show(&arena, &plan);
        if (strcmp(text, settings[i].plan) != 0) {
            fail_msg("%s: \"%s\", expected \"%s\"", settings[i].why, text,
                     settings[i].plan);
        }
        arena_release(&arena);
    }
}

/* A guest that is ending is not ended again, and nothing waits for its node. */
static void test_ending(void **state)
{
    const struct slurm_guest guest = {.job = 7,
                                      .n_slots = 4,
                                      .has_host = true,
                                      .has_begun = true,
                                      .is_ending = true,
                                      .begun_ms = NOW_MS - 1000};
    struct slurm_guest_job job = {
        .id = "13", .needs_nodes = true, .n_cpus = 1, .n_nodes = 1};
    struct slurm_node node = {.name = "sublet7",
                              .state = "idle+drain+dynamic_norm",
                              .cpus = 4,
                              .features = "sublet"};
    const struct slurm_nodes nodes = {&node, 1};
    const struct slurm_guest_jobs jobs = {&job, 1};
    struct arena arena;
    struct slurm_guest_plan plan;
    (void)state;
    arena_init(&arena);
    slurm_guest_plan(&arena, &terms, &guest, 1, &nodes, &jobs, &plan);
    assert_string_equal(show(&arena, &plan), "+1 ");
    arena_release(&arena);
}

/* Since when a node is idle is told from plan to plan. */
static void test_idle(void **state)
{
    struct setting setting = {"", "idle+dynamic_norm", 0, 60000, 0, 0, 0, 0, 1, ""};
    struct arena arena;
    struct slurm_guest_plan plan;
    (void)state;
    arena_init(&arena);
    make_plan(&arena, &setting, &plan);
    assert_int_equal(plan.seen[0].idle_since_ms, NOW_MS);
    setting.idle_for_ms = 1000;
    make_plan(&arena, &setting, &plan);
    assert_int_equal(plan.seen[0].idle_since_ms, NOW_MS - 1000);
    setting.used = 1;
    setting.state = "mixed+dynamic_norm";
    make_plan(&arena, &setting, &plan);
    assert_int_equal(plan.seen[0].idle_since_ms, 0);
    arena_release(&arena);
}

/* Nodes without a guest, and nodes that look like those. */
static void test_orphans(void **state)
{
    static const struct {
        const char *name, *state, *features;
        int used;
        const char *plan;
    } rows[] = {
        {"sublet9", "idle+dynamic_norm", "sublet,north", 0,
         "update NodeName=sublet9 State=DOWN Reason=sublet: its lease has ended ; "
         "delete NodeName=sublet9 ; "},
        {"sublet9", "mixed+dynamic_norm", "sublet,north", 1,
         "update NodeName=sublet9 State=DOWN Reason=sublet: its lease has ended ; "
         "delete NodeName=sublet9 ; "},
        {"sublet9", "down+dynamic_norm", "sublet", 1, "delete NodeName=sublet9 ; "},
        {"sublet9", "idle", "sublet,north", 0, ""},
        {"sublet9", "idle+dynamic_norm", "north", 0, ""},
        {"sublet", "idle+dynamic_norm", "sublet", 0, ""},
        {"sublet9x", "idle+dynamic_norm", "sublet", 0, ""},
        {"n9", "idle+dynamic_norm", "sublet", 0, ""},
        {"sublet7", "idle+dynamic_norm", "sublet", 0, ""}, /* guest 7 has it */
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct slurm_guest guest = {.job = 7,
                                          .n_slots = 4,
                                          .has_host = true,
                                          .has_begun = true,
                                          .begun_ms = NOW_MS};
        struct slurm_node node = {.name = rows[i].name,
                                  .state = rows[i].state,
                                  .cpus = 4,
                                  .used_cpus = rows[i].used,
                                  .features = rows[i].features};
        const struct slurm_nodes nodes = {&node, 1};
        const struct slurm_guest_jobs jobs = {.count = 0};
        struct arena arena;
        struct slurm_guest_plan plan;
        arena_init(&arena);
        slurm_guest_plan(&arena, &terms, &guest, 1, &nodes, &jobs, &plan);
        assert_string_equal(show(&arena, &plan), rows[i].plan);
        arena_release(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_command), cmocka_unit_test(test_jobs),
        cmocka_unit_test(test_wrong),   cmocka_unit_test(test_plans),
        cmocka_unit_test(test_ending),  cmocka_unit_test(test_idle),
        cmocka_unit_test(test_orphans)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
