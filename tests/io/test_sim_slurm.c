/* SPDX-License-Identifier: Apache-2.0 */
/* A real Slurm cluster (tests/slurm/cluster) and a simulated one (sim/slurm) get the
 * same commands at the same time. Each command has the same outcome, and what slurm/
 * reads of both becomes the same: nodes, jobs, reservations and runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "sim/slurm/sim_slurm.h"
#include "slurm/slurm_plan.h"
#include "tests/io/slurm_cluster.h"

enum { PATIENCE_S = 150, MIN_JOB_AGE_S = 3600, WORDS_MAX = 40, LINES_MAX = 200 };

struct bench {
    struct arena arena;
    struct sim_slurm *slurm;
};

#define SUBMIT                                                                         \
    "sbatch --parsable --no-requeue --export=NIL --chdir=/ --job-name=sublet "         \
    "--time=UNLIMITED --nodes=1 --ntasks=1 --output=/dev/null --error=/dev/null "      \
    "--uid=daemon --gid=daemon "
#define CREATE "scontrol create reservation StartTime=now "
#define UPDATE "scontrol update reservation "

/* ---------------------------------------------------------------- two clusters */

/* Words are separated by blanks; "~" in one is a blank. */
static const char *const *split(struct bench *bench, const char *line)
{
    const char **words = arena_alloc(&bench->arena, WORDS_MAX, sizeof(*words));
    int n_words = 0;
    char *rest = arena_str(&bench->arena, line);
    for (char *word, *at; (word = strsep(&rest, " ")) != NULL;) {
        for (at = word; (at = strchr(at, '~')) != NULL;) {
            *at = ' ';
        }
        words[n_words] = word;
        n_words += word[0] != '\0';
    }
    words[n_words] = NULL;
    return words;
}

static void catch_up(struct bench *bench)
{
    struct timespec now;
    assert_int_equal(clock_gettime(CLOCK_REALTIME, &now), 0);
    sim_slurm_advance(bench->slurm, (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000);
}

/* The output, "" if the command fails. */
static const char *ask(struct bench *bench, const char *const *words, bool is_real,
                       bool *is_done, const char **why)
{
    struct sim_slurm_answer answer;
    const char *text = "";
    if (is_real) {
        struct err err = {.text = ""};
        *is_done = slurm_cluster_try(&bench->arena, words, &text, &err) == 0;
        *why = arena_str(&bench->arena, err.text);
        return *is_done ? text : "";
    }
    catch_up(bench);
    sim_slurm_run(bench->slurm, words, &bench->arena, &answer);
    *is_done = answer.status == 0;
    *why = answer.error;
    return *is_done ? answer.output : "";
}

/* Gives the command to both: the same outcome, and the same words about it. */
static void both(struct bench *bench, const char *line)
{
    const char *const *words = split(bench, line);
    const char *real_why, *why;
    bool is_real_done, is_done;
    const char *real = ask(bench, words, true, &is_real_done, &real_why);
    const char *text = ask(bench, words, false, &is_done, &why);
    size_t length = strcspn(why, "\n");
    const char *last = strchr(why, '\n');
    if (last != NULL && last[1] != '\0') { /* the error has the last line only */
        why = last + 1;
        length = strcspn(why, "\n");
    }
    if (is_real_done != is_done || strcmp(real, text) != 0 ||
        (!is_done &&
         strstr(real_why, arena_strn(&bench->arena, why, length)) == NULL)) {
        fail_msg("%s:\nSlurm: \"%s\" %s\nsimulated: \"%s\" %s", line, real, real_why,
                 text, why);
    }
}

/* ---------------------------------------------------------------- what is read */

static const char *names(struct arena *arena, const char *const *items, int n_items)
{
    const char *text = "";
    for (int i = 0; i < n_items; i++) {
        text = arena_printf(arena, "%s,%s", text, items[i]);
    }
    return text;
}

static const char *read_nodes(struct bench *bench, bool is_real, const char *text)
{
    struct arena *arena = &bench->arena;
    struct slurm_nodes nodes = {.count = 0};
    struct err err = {.text = ""};
    bool is_done;
    const char *why;
    const char *answer =
        ask(bench, slurm_node_command(arena, ""), is_real, &is_done, &why);
    if (!is_done || slurm_node_read(arena, answer, &nodes, &err) < 0) {
        return arena_printf(arena, "%snodes fail %s\n", text, err.text);
    }
    for (int i = 0; i < nodes.count; i++) {
        const struct slurm_node *node = &nodes.items[i];
        text = arena_printf(arena, "%snode %s %s %d/%d %s\n", text, node->name,
                            node->state, node->used_cpus, node->cpus, node->features);
    }
    return text;
}

static const char *read_jobs(struct bench *bench, bool is_real, const char *text)
{
    struct arena *arena = &bench->arena;
    struct slurm_jobs jobs = {.count = 0};
    struct err err = {.text = ""};
    bool is_done;
    const char *why;
    const char *answer = ask(bench, slurm_job_command(arena), is_real, &is_done, &why);
    if (!is_done || slurm_job_read(arena, answer, &jobs, &err) < 0) {
        return arena_printf(arena, "%sjobs fail %s\n", text, err.text);
    }
    for (int i = 0; i < jobs.count; i++) {
        const struct slurm_job *job = &jobs.items[i];
        text = arena_printf(arena, "%sjob %d %s %s%s\n", text, (int)job->id, job->state,
                            job->reservation, names(arena, job->nodes, job->n_nodes));
        if (job->site != NULL) {
            text = arena_printf(arena, "%srun %d of %s: %s %s %s %d %d%d\n", text,
                                (int)job->id, job->run.site, job->state, job->user,
                                job->reservation, job->wait_status, job->start_s > 0,
                                job->end_s > 0);
        }
    }
    return text;
}

static const char *read_reservations(struct bench *bench, bool is_real,
                                     const char *text)
{
    struct arena *arena = &bench->arena;
    struct slurm_reservations reservations = {.count = 0};
    struct err err = {.text = ""};
    bool is_done;
    const char *why;
    const char *answer = ask(bench, slurm_reservation_command, is_real, &is_done, &why);
    if (!is_done || slurm_reservation_read(arena, answer, &reservations, &err) < 0) {
        return arena_printf(arena, "%sreservations fail %s\n", text, err.text);
    }
    for (int i = 0; i < reservations.count; i++) {
        const struct slurm_reservation *item = &reservations.items[i];
        text = arena_printf(arena, "%sreservation %s %s flex=%d active=%d%s\n", text,
                            item->name, item->users, item->is_flex, item->is_active,
                            names(arena, item->nodes, item->n_nodes));
    }
    return text;
}

static int compare_lines(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* squeue sorts by partition and priority, too. */
static const char *sort_lines(struct bench *bench, const char *text)
{
    const char *lines[LINES_MAX], *sorted = "";
    size_t n_lines = 0;
    char *rest = arena_str(&bench->arena, text);
    for (char *line; (line = strsep(&rest, "\n")) != NULL && n_lines < LINES_MAX;) {
        lines[n_lines++] = line;
    }
    qsort(lines, n_lines, sizeof(lines[0]), compare_lines);
    for (size_t i = 0; i < n_lines; i++) {
        sorted = arena_printf(&bench->arena, "%s%s\n", sorted, lines[i]);
    }
    return sorted;
}

static const char *read_all(struct bench *bench, bool is_real)
{
    const char *text = read_nodes(bench, is_real, "");
    text = read_jobs(bench, is_real, text);
    return sort_lines(bench, read_reservations(bench, is_real, text));
}

/* Until both say the same, for longer than one of them needs to change its mind, and it
 * has that line. */
static void settle(struct bench *bench, const char *line)
{
    time_t begin_s = time(NULL);
    for (int n_same = 0; n_same < 8;) {
        struct arena scratch = bench->arena;
        arena_init(&bench->arena);
        const char *real = read_all(bench, true);
        const char *text = read_all(bench, false);
        bool is_same = strcmp(real, text) == 0 && strstr(text, line) != NULL;
        if (!is_same && time(NULL) - begin_s > PATIENCE_S) {
            fail_msg("\"%s\" does not come:\nSlurm:\n%ssimulated:\n%s", line, real,
                     text);
        }
        arena_release(&bench->arena);
        bench->arena = scratch;
        n_same = is_same ? n_same + 1 : 0;
        usleep(200000);
    }
}

/* ---------------------------------------------------------------- what is compared */

static void reservations(struct bench *bench)
{
    both(bench, CREATE "ReservationName=r1 EndTime=now+7200 Nodes=n1 Users=daemon");
    both(bench, CREATE "ReservationName=r1 EndTime=now+7200 Nodes=n2 Users=daemon");
    both(bench, CREATE "ReservationName=r2 EndTime=now+7200 Nodes=n1 Users=daemon");
    both(bench, CREATE "ReservationName=r2 EndTime=now+7200 Nodes=n9 Users=daemon");
    both(bench, CREATE "ReservationName=r2 EndTime=now+7200 Nodes=n2 Users=daemon,root "
                       "Flags=FLEX");
    settle(bench, "reservation r2 daemon,root flex=1 active=1,n2");
    both(bench, UPDATE "ReservationName=r9 EndTime=now+7200");
    both(bench, UPDATE "ReservationName=r2 Nodes=n1,n2");
    both(bench, UPDATE "ReservationName=r2 Flags-=FLEX");
    both(bench, UPDATE "ReservationName=r2 EndTime=now-5");
    settle(bench, "reservation r2 daemon,root flex=0");
    both(bench, UPDATE "ReservationName=r2 Users=daemon Flags+=FLEX EndTime=now+7250");
    settle(bench, "reservation r2 daemon flex=1");
    both(bench, "scontrol delete ReservationName=r2");
    both(bench, "scontrol delete ReservationName=r2");
}

static void runs(struct bench *bench)
{
    both(bench, SUBMIT "--cpus-per-task=2 --nodelist=n1 --reservation=r1 "
                       "--comment=sublet:north:south:1:7 --wrap sleep~3600");
    settle(bench, "run 1 of south: R daemon r1 0 10");
    both(bench, SUBMIT "--nodelist=n1 --reservation=r9 --wrap true");
    both(bench, SUBMIT "--cpus-per-task=3 --nodelist=n1 --reservation=r1 "
                       "--comment=sublet:north:south:2:7 --wrap true");
    both(bench, SUBMIT "--nodelist=n2 --reservation=r1 "
                       "--comment=sublet:north:south:3:7 --wrap true");
    both(bench, SUBMIT "--nodelist=n9 --wrap true");
    both(bench, "sbatch --parsable --uid=nobody --nodelist=n1 --reservation=r1 "
                "--wrap true");
    settle(bench, "run 4 of south: F daemon r1 1 11");
    both(bench, "scontrol delete ReservationName=r1");
    both(bench, UPDATE "ReservationName=r1 Nodes=n2");
    both(bench, CREATE "ReservationName=r2 EndTime=now+7200 Nodes=n1 Users=daemon");
    both(bench, UPDATE "ReservationName=r1 Nodes=n1,n2");
    settle(bench, "node n2 idle+reserved 0/4");
    both(bench, "scancel --full --signal=STOP 1");
    settle(bench, "run 1 of south: ST daemon r1 0 10");
    both(bench, "scancel --full --signal=CONT 1");
    settle(bench, "run 1 of south: R daemon r1 0 10");
    both(bench, "scancel 1");
    both(bench, "scancel 99");
    settle(bench, "run 1 of south: CA daemon r1 15 11");
    both(bench, "scancel --full --signal=STOP 1");
    both(bench, SUBMIT "--nodelist=n2 --reservation=r1 "
                       "--comment=sublet:north:south:4:7 --wrap sleep~1;exit~7");
    settle(bench, "of south: F daemon r1 1792 11");
}

/* Jobs of the site beside leases, and nodes that are taken out. */
static void sharing(struct bench *bench)
{
    both(bench, "sbatch --parsable --output=/dev/null --nodelist=n2 --wrap sleep~3600");
    both(bench, UPDATE "ReservationName=r1 Nodes=n1");
    settle(bench, "node n2 mixed 1/4");
    both(bench, UPDATE "ReservationName=r1 Nodes=n1,n2");
    both(bench, "scontrol update NodeName=n1 State=DRAIN Reason=test");
    both(bench, SUBMIT "--nodelist=n1 --reservation=r1 "
                       "--comment=sublet:north:south:5:7 --wrap sleep~3600");
    settle(bench, "of south: PD daemon r1 0 00");
    both(bench, "scontrol delete ReservationName=r1");
    both(bench, "scontrol update NodeName=n1 State=RESUME");
    settle(bench, "of south: R daemon r1 0 10");
    both(bench, "scontrol update NodeName=n1 State=DRAIN");
    both(bench, "scontrol update NodeName=n9 State=DRAIN Reason=test");
    both(bench, "scontrol update NodeName=n1 State=DRAIN Reason=test");
    settle(bench, "node n1 allocated+drain+reserved 1/2");
    both(bench, "scontrol update NodeName=n1 State=RESUME");
    both(bench, "scontrol update NodeName=n1 State=DOWN Reason=test");
    settle(bench, "of south: NF daemon r1 15 11");
    both(bench, "scontrol update NodeName=n1 State=RESUME");
    both(bench, "scancel --user=root");
    both(bench, "scontrol reconfigure");
    settle(bench, "node n1 idle+reserved 0/2");
    both(bench, "scontrol delete ReservationName=r1");
    settle(bench, "run 1 of south: CA daemon  15 11");
}

/* The end of a reservation without FLEX, and of one with it. */
static void ends(struct bench *bench)
{
    both(bench, CREATE "ReservationName=r3 EndTime=now+7200 Nodes=n1 Users=daemon");
    both(bench, CREATE "ReservationName=r4 EndTime=now+7200 Nodes=n2 Users=daemon "
                       "Flags=FLEX");
    both(bench, SUBMIT "--nodelist=n1 --reservation=r3 "
                       "--comment=sublet:north:killed:6:7 --wrap sleep~3600");
    both(bench, SUBMIT "--nodelist=n2 --reservation=r4 "
                       "--comment=sublet:north:kept:7:7 --wrap sleep~3600");
    both(bench, SUBMIT "--cpus-per-task=2 --nodelist=n1 --reservation=r3 "
                       "--comment=sublet:north:waits:8:7 --wrap true");
    settle(bench, "of kept: R daemon r4 0 10");
    both(bench, UPDATE "ReservationName=r3 EndTime=now+10");
    both(bench, UPDATE "ReservationName=r4 EndTime=now+10");
    settle(bench, "of killed: TO daemon  15 11");
    settle(bench, "of waits: RD daemon");
    settle(bench, "of kept: R daemon  0 10");
    both(bench, "scancel --user=daemon");
    settle(bench, "node n2 idle 0/4");
}

/* slurmctld forgets; the real one by the state that is put in the place of its own. */
static void forgets(struct bench *bench)
{
    const char *dir = slurm_cluster_inside();
    both(bench, CREATE "ReservationName=r5 EndTime=now+7200 Nodes=n1,n2 Users=daemon");
    both(bench, SUBMIT "--nodelist=n2 --reservation=r5 "
                       "--comment=sublet:north:runs:9:7 --wrap sleep~3600");
    both(bench, SUBMIT "--nodelist=n2 --reservation=r5 "
                       "--comment=sublet:north:ends:10:7 --wrap sleep~3600");
    both(bench, "scontrol update NodeName=n1 State=DRAIN Reason=forgotten");
    both(bench, SUBMIT "--nodelist=n1 --reservation=r5 "
                       "--comment=sublet:north:begins:11:7 --wrap sleep~3600");
    settle(bench, "of ends: R daemon r5 0 10");
    slurm_cluster_shell(
        arena_printf(&bench->arena,
                     "cd %s/state && sleep 6 && "
                     "until grep -q begins job_state && "
                     "grep -q r5 resv_state && "
                     "grep -q forgotten node_state; do sleep 1; done && "
                     "cp -a . ../old",
                     dir));
    catch_up(bench); /* the simulated one saves within the six seconds, too */
    sim_slurm_set_saving(bench->slurm, false);
    both(bench, "scontrol update NodeName=n1 State=RESUME");
    both(bench, "scancel 13");
    both(bench, SUBMIT "--nodelist=n2 --reservation=r5 "
                       "--comment=sublet:north:unknown:12:7 --wrap sleep~3600");
    settle(bench, "of unknown: R daemon r5 0 10");
    slurm_cluster_shell(arena_printf(&bench->arena,
                                     "kill -9 $(cat %s/slurmctld.pid) && sleep 1 && "
                                     "rm -rf %s/state && mv %s/old %s/state",
                                     dir, dir, dir, dir));
    sim_slurm_kill(bench->slurm, INT32_MAX, true);
    sim_slurm_set_saving(bench->slurm, true);
    both(bench, "scontrol delete ReservationName=r5");
    slurm_cluster_shell("slurmctld-wlm");
    sim_slurm_start(bench->slurm);
    settle(bench, "of begins: PD daemon r5 0 00");
    settle(bench, "of ends: R daemon r5 0 10");
    both(bench, "scontrol update NodeName=n1 State=RESUME");
    settle(bench, "of begins: R daemon r5 0 10");
    both(bench, "scancel 13");
    settle(bench, "of ends: CA daemon r5 0 11");
    assert_null(sim_slurm_overused(bench->slurm));
}

static void test_inside(void **state)
{
    static const struct sim_slurm_node nodes[] = {
        {"n1", 2, 1000, "big,ib", "main,big", false},
        {"n2", 4, 2000, "", "main", false}};
    struct bench bench = {.slurm = NULL};
    (void)state;
    arena_init(&bench.arena);
    bench.slurm = sim_slurm_new(1, "main,big", NULL, (int64_t)time(NULL) * 1000);
    sim_slurm_set_min_job_age(bench.slurm, (int64_t)MIN_JOB_AGE_S * 1000);
    sim_slurm_add_node(bench.slurm, &nodes[0]);
    sim_slurm_add_node(bench.slurm, &nodes[1]);
    settle(&bench, "node n1 idle 0/2 big,ib");
    reservations(&bench);
    runs(&bench);
    sharing(&bench);
    ends(&bench);
    forgets(&bench);
    sim_slurm_free(bench.slurm);
    arena_release(&bench.arena);
}

static void test_cluster(void **state)
{
    char settings[64];
    (void)state;
    (void)snprintf(settings, sizeof(settings), "MinJobAge=%d", MIN_JOB_AGE_S);
    slurm_cluster_run(settings);
}

int main(void)
{
    const struct CMUnitTest in_cluster[] = {cmocka_unit_test(test_inside)};
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cluster)};
    return slurm_cluster_inside() != NULL
               ? cmocka_run_group_tests(in_cluster, NULL, NULL)
               : cmocka_run_group_tests(tests, NULL, NULL);
}
