/* SPDX-License-Identifier: Apache-2.0 */
/* Reservations that are kept. On a real Slurm cluster (tests/slurm/cluster): a lease, a
 * freeze, runs and a job of the consumer, jobs of the site, a recall; slurmctld that is
 * killed, a reconfiguration, an administrator, and an agent that is gone for longer
 * than its term. This program starts the cluster in namespaces, and itself again in it.
 * And without Slurm: how long it waits after failures, and a command that hangs. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "slurm/io/slurm_keeper.h"
#include "slurm/slurm_run.h"
#include "sys/daemon.h"

enum { PATIENCE_MS = 120000, LONG_TERM_S = 900, SHORT_TERM_S = 60 };

static const char inside[] = "SUBLET_SLURM_INSIDE"; /* the cluster's directory */
static const char *const both[] = {"n1", "n2"};

struct bench {
    struct arena arena;
    struct slurm_keeper *keeper;
    char dir[64]; /* of the scripts; "": real Slurm */
};

static struct slurm_keeper *new_keeper(const struct bench *bench, int64_t term_s)
{
    const struct slurm_keeper_config config = {
        .place = {.bin = bench->dir, .conf = "", .within_ms = 30000},
        .partition = "main",
        .site = "north",
        .agent = "root",
        .term_s = term_s,
        .cycle_ms = 500,
        .seed = 1};
    return slurm_keeper_new(&config);
}

static const char *slurm(struct bench *bench, const char *const *words, bool may_fail)
{
    const struct slurm_child_place place = {.bin = "", .conf = "", .within_ms = 60000};
    const char *text;
    struct err err;
    if (slurm_child_run(&place, words, &bench->arena, &text, &err) < 0) {
        if (!may_fail) {
            fail_msg("%s", err.text);
        }
        return NULL;
    }
    return text;
}
#define SLURM(bench, ...) slurm(bench, (const char *const[]){__VA_ARGS__, NULL}, false)

/* ---------------------------------------------------------------- what is read */

static int count_reservations(const struct slurm_answers *answers, const char *node)
{
    int count = 0;
    for (int i = 0; i < answers->reservations.count; i++) {
        const struct slurm_reservation *item = &answers->reservations.items[i];
        for (int k = 0; k < item->n_nodes; k++) {
            count += strcmp(item->nodes[k], node) == 0;
        }
    }
    return count;
}

static const struct slurm_reservation *find(const struct slurm_answers *answers,
                                            const char *name)
{
    for (int i = 0; i < answers->reservations.count; i++) {
        if (strcmp(answers->reservations.items[i].name, name) == 0) {
            return &answers->reservations.items[i];
        }
    }
    return NULL;
}

/* The keeper's next report; at every instant a node is in one reservation at most. */
static struct slurm_report next_report(struct bench *bench)
{
    int64_t deadline_ms = daemon_now_ms() + PATIENCE_MS;
    while (!slurm_keeper_step(bench->keeper, daemon_now_ms())) {
        struct pollfd fds[SLURM_CHILD_FDS];
        int64_t now_ms = daemon_now_ms();
        int64_t wait_ms = slurm_keeper_wake_ms(bench->keeper) - now_ms;
        assert_true(now_ms < deadline_ms);
        slurm_keeper_fds(bench->keeper, fds);
        poll(fds, SLURM_CHILD_FDS,
             wait_ms < 0      ? 0
             : wait_ms > 1000 ? 1000
                              : (int)wait_ms);
    }
    struct slurm_report report = slurm_keeper_report(bench->keeper);
    for (int i = 0; i < 2 && report.answers != NULL; i++) {
        assert_true(count_reservations(report.answers, both[i]) <= 1);
    }
    return report;
}

/* In a report that was read from now on. */
typedef bool (*seen_fn)(const struct slurm_report *report);
static void wait_for(struct bench *bench, uint64_t version, seen_fn is_seen,
                     const char *what)
{
    int64_t begin_ms = daemon_now_ms(), deadline_ms = begin_ms + PATIENCE_MS;
    for (;;) {
        struct slurm_report report = next_report(bench);
        if (report.read_ms >= begin_ms && report.version == version &&
            report.failure[0] == '\0' && is_seen(&report)) {
            return;
        }
        if (daemon_now_ms() > deadline_ms) {
            fail_msg("%s: not within %d s; the last failure: \"%s\"\n%s%s", what,
                     PATIENCE_MS / 1000, report.failure,
                     SLURM(bench, "scontrol", "--oneliner", "show", "reservation"),
                     SLURM(bench, "sinfo", "--Node", "--long"));
        }
    }
}

/* ---------------------------------------------------------------- a real cluster */

static void offer(struct bench *bench, uint64_t version, uint64_t epoch, int n_nodes,
                  int n_held)
{
    const struct slurm_contract contract = {.policy = "night",
                                            .consumer = "south",
                                            .epoch = epoch,
                                            .users = "daemon",
                                            .nodes = both,
                                            .n_nodes = n_nodes,
                                            .held = both + n_nodes,
                                            .n_held = n_held};
    slurm_keeper_set_contracts(bench->keeper, &contract, 1, version, daemon_now_ms());
}

/* Its number, as sbatch prints it. */
static const char *submit(struct bench *bench, const char *user, const char *node,
                          const char *reservation)
{
    const char *place =
        reservation != NULL
            ? arena_printf(&bench->arena, "--reservation=%s", reservation)
            : "--comment=local";
    char *id =
        arena_str(&bench->arena,
                  SLURM(bench, "sbatch", "--parsable", "--output=/dev/null",
                        "--chdir=/tmp", arena_printf(&bench->arena, "--uid=%s", user),
                        "-n1", "-w", node, place, "--wrap", "sleep 3600"));
    id[strcspn(id, "\n")] = '\0';
    return id;
}

/* "" if slurmctld does not have it any more. */
static const char *state_of(struct bench *bench, const char *id)
{
    const char *const words[] = {"squeue", "--noheader", "--states=all",   "--jobs",
                                 id,       "--Format",   "StateCompact:8", NULL};
    const char *text = slurm(bench, words, true);
    return text == NULL ? "" : arena_strn(&bench->arena, text, strcspn(text, " \n"));
}

static void wait_state(struct bench *bench, const char *id, const char *wanted)
{
    int64_t deadline_ms = daemon_now_ms() + 2 * PATIENCE_MS;
    for (;;) {
        const char *state = state_of(bench, id);
        if (strcmp(state, wanted) == 0) {
            return;
        }
        if (daemon_now_ms() > deadline_ms) {
            fail_msg("job %s is in state \"%s\", expected %s", id, state, wanted);
        }
        poll(NULL, 0, 200);
    }
}

static bool are_idle(const struct slurm_report *report)
{
    const struct slurm_nodes *nodes = &report->answers->nodes;
    return nodes->count == 2 && strcmp(nodes->items[0].state, "idle") == 0 &&
           strcmp(nodes->items[1].state, "idle") == 0;
}

static bool has_first(const struct slurm_report *report)
{
    return report->standings[0].has_node[0];
}

static bool has_both(const struct slurm_report *report)
{
    return report->standings[0].has_node[0] && report->standings[0].has_node[1];
}

static bool is_held(const struct slurm_report *report)
{
    return report->standings[0].has_node[0] && report->standings[0].is_held[0];
}

static bool has_lost_second(const struct slurm_report *report)
{
    return count_reservations(report->answers, "n2") == 0 &&
           count_reservations(report->answers, "n1") == 1;
}

static bool is_short(const struct slurm_report *report)
{
    const struct slurm_reservation *item =
        find(report->answers, "sublet_north_night_south_e2");
    return item != NULL && item->end_s - item->start_s >= 0 &&
           item->end_s * 1000 <= daemon_now_ms() + SHORT_TERM_S * 1000 + 5000;
}

/* n2 is held once the site's own job there has ended, and lent by the commit. */
static void inside_lend(struct bench *bench)
{
    slurm_keeper_set_contracts(bench->keeper, NULL, 0, 1, daemon_now_ms());
    wait_for(bench, 1, are_idle, "the nodes register");
    offer(bench, 2, 1, 1, 0);
    wait_for(bench, 2, has_first, "the first node is reserved");
    const struct slurm_reservation *item =
        find(slurm_keeper_report(bench->keeper).answers, "sublet_north_night_south_e1");
    assert_non_null(item);
    assert_string_equal(item->users, "daemon");

    const char *refused = submit(bench, "root", "n1", NULL);
    const char *own = submit(bench, "root", "n2", NULL);
    wait_state(bench, own, "R");
    offer(bench, 3, 1, 1, 1);
    for (int i = 0; i < 6; i++) {
        struct slurm_report report = next_report(bench);
        assert_false(report.version == 3 && report.standings[0].is_held[0]);
    }
    assert_string_equal(state_of(bench, own), "R");
    SLURM(bench, "scancel", own);
    wait_for(bench, 3, is_held, "the second node is held");
    assert_string_equal(state_of(bench, refused), "PD");
    SLURM(bench, "scancel", refused);
    offer(bench, 4, 2, 2, 0);
    wait_for(bench, 4, has_both, "the second node is lent");
}

/* ---- runs in the reservation */

static const struct run_id first_run = {"south", 12, 77},
                           second_run = {"south", 13, 78};

static void submit_run(struct bench *bench, const struct run_id *run,
                       const char *script)
{
    const char *path = arena_printf(&bench->arena, "%s/runs/%llu", getenv(inside),
                                    (unsigned long long)run->attempt);
    const struct slurm_run_order order = {
        .site = "north",
        .run = *run,
        .user = "daemon",
        .group = "daemon",
        .reservation = "sublet_north_night_south_e2",
        .node = "n2",
        .n_slots = 2,
        .partition = "main",
        .account = "",
        .output = arena_printf(&bench->arena, "%s.out", path),
        .error = arena_printf(&bench->arena, "%s.err", path),
        .script = path};
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "#!/bin/sh\n%s\n", script);
    assert_int_equal(fclose(file), 0);
    slurm(bench, slurm_run_submit_command(&bench->arena, &order), false);
}

/* `signal`: sent to job `job_id` until the run is in that state; NULL: none. */
static const struct slurm_run *signal_until(struct bench *bench,
                                            const struct run_id *run, int64_t job_id,
                                            const char *signal,
                                            enum slurm_run_state wanted)
{
    int64_t deadline_ms = daemon_now_ms() + PATIENCE_MS;
    for (;;) {
        if (signal != NULL) {
            slurm(bench, slurm_run_signal_command(&bench->arena, job_id, signal),
                  false);
        }
        struct slurm_runs runs;
        struct err err;
        const char *text =
            slurm(bench, slurm_run_list_command(&bench->arena, "daemon"), false);
        if (slurm_run_read(&bench->arena, text, &runs, &err) < 0) {
            fail_msg("%s", err.text);
        }
        const struct slurm_run *found = slurm_run_find(&runs, "north", run, "daemon");
        if (found != NULL && found->state == wanted) {
            return found;
        }
        if (daemon_now_ms() > deadline_ms) {
            fail_msg("run %d is not in state %d: \"%s\"", (int)run->attempt, wanted,
                     text);
        }
        poll(NULL, 0, 200);
    }
}

static const struct slurm_run *await_run(struct bench *bench, const struct run_id *run,
                                         enum slurm_run_state wanted)
{
    return signal_until(bench, run, 0, NULL, wanted);
}

static void expect_output(const char *name, const char *wanted)
{
    char path[256], text[256] = "";
    (void)snprintf(path, sizeof(path), "%s/runs/%s", getenv(inside), name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
    (void)fclose(file);
    assert_string_equal(text, wanted);
}

/* Two jobs of the consumer, beside one whose comment looks like lines of squeue: one
 * ends by itself with its status and output, one is stopped, continued and killed. The
 * agent's environment is not theirs. */
static void inside_runs(struct bench *bench)
{
    const char *dir = arena_printf(&bench->arena, "%s/runs", getenv(inside));
    assert_int_equal(mkdir(dir, 0777), 0);
    assert_int_equal(chmod(dir, 0777), 0);
    SLURM(bench, "sbatch", "--uid=daemon", "--chdir=/", "--output=/dev/null", "-n1",
          "--comment=a\n1 |F |daemon |\n", "--wrap", "true");
    assert_int_equal(setenv("SUBLET_SLURM_SECRET", "1", 1), 0);
    submit_run(bench, &first_run,
               "id -un; echo \"$SLURM_JOB_NODELIST $SLURM_CPUS_PER_TASK "
               "[$SUBLET_SLURM_SECRET]\"; echo wrong >&2; exit 7");
    const struct slurm_run *run = await_run(bench, &first_run, SLURM_RUN_ENDED);
    assert_true(WIFEXITED(run->wait_status) && WEXITSTATUS(run->wait_status) == 7);
    assert_true(run->start_s > 0 && run->end_s >= run->start_s);
    assert_string_equal(run->reservation, "sublet_north_night_south_e2");
    expect_output("12.out", "daemon\nn2 2 []\n");
    expect_output("12.err", "wrong\n");

    submit_run(bench, &second_run, "sleep 3600");
    int64_t id = await_run(bench, &second_run, SLURM_RUN_RUNNING)->job_id;
    run = signal_until(bench, &second_run, id, "STOP", SLURM_RUN_STOPPED);
    assert_int_equal(run->job_id, id);
    run = signal_until(bench, &second_run, id, "CONT", SLURM_RUN_RUNNING);
    assert_int_equal(run->job_id, id);
    slurm(bench, slurm_run_kill_command(&bench->arena, id), false);
    run = await_run(bench, &second_run, SLURM_RUN_ENDED);
    assert_true(WIFSIGNALED(run->wait_status) && WTERMSIG(run->wait_status) == SIGTERM);
    assert_string_equal(run->code, "CA");
}

static void inside_faults(struct bench *bench)
{
    const char *pid = arena_printf(&bench->arena, "%s/slurmctld.pid", getenv(inside));
    FILE *file = fopen(pid, "r");
    char text[32] = "";
    assert_non_null(file);
    assert_non_null(fgets(text, sizeof(text), file));
    (void)fclose(file);
    assert_int_equal(kill((pid_t)strtol(text, NULL, 10), SIGKILL), 0);
    while (next_report(bench).failure[0] == '\0') {
    }
    SLURM(bench, "slurmctld-wlm");
    /* What it had not saved is undone, perhaps also the end of a job: that runs again.
     */
    while (next_report(bench).failure[0] != '\0') {
    }
    SLURM(bench, "scancel", "--user=root");
    SLURM(bench, "scancel", "--user=daemon");
    wait_for(bench, 4, has_both, "slurmctld is back");
    SLURM(bench, "scontrol", "reconfigure");
    wait_for(bench, 4, has_both, "slurmctld was reconfigured");
    SLURM(bench, "scontrol", "delete", "ReservationName=sublet_north_night_south_e1");
    wait_for(bench, 4, has_both, "a reservation that was deleted is made again");
    SLURM(bench, "scontrol", "update", "ReservationName=sublet_north_night_south_e2",
          "Users=root");
    wait_for(bench, 4, has_both, "its users are put right");
}

/* The consumer's job stays in the reservation until it ends; then the node goes home.
 */
static void inside_recall(struct bench *bench)
{
    const char *leased = submit(bench, "daemon", "n2", "sublet_north_night_south_e2");
    wait_state(bench, leased, "R");
    const char *own = submit(bench, "root", "n2", NULL);
    offer(bench, 5, 3, 1, 0);
    for (int i = 0; i < 6; i++) {
        assert_int_equal(count_reservations(next_report(bench).answers, "n2"), 1);
    }
    assert_string_equal(state_of(bench, leased), "R");
    assert_string_equal(state_of(bench, own), "PD");
    SLURM(bench, "scancel", leased);
    wait_for(bench, 5, has_lost_second, "the second node goes home");
    wait_state(bench, own, "R");
    SLURM(bench, "scancel", own);
}

/* Another life of the agent, with a short term; then none. */
static void inside_away(struct bench *bench)
{
    slurm_keeper_free(bench->keeper);
    bench->keeper = new_keeper(bench, SHORT_TERM_S);
    offer(bench, 6, 3, 1, 0);
    wait_for(bench, 6, is_short, "the end is a short term away");
    const char *leased = submit(bench, "daemon", "n1", "sublet_north_night_south_e2");
    wait_state(bench, leased, "R");
    slurm_keeper_free(bench->keeper);
    bench->keeper = NULL;
    wait_state(bench, leased, "TO"); /* TIMEOUT, about 30 s after the end */
    const char *own = submit(bench, "root", "n1", NULL);
    wait_state(bench, own, "R");
}

static void test_inside(void **state)
{
    struct bench bench = {.dir = ""};
    (void)state;
    arena_init(&bench.arena);
    bench.keeper = new_keeper(&bench, LONG_TERM_S);
    inside_lend(&bench);
    inside_runs(&bench);
    inside_faults(&bench);
    inside_recall(&bench);
    inside_away(&bench);
    slurm_keeper_free(bench.keeper);
    arena_release(&bench.arena);
}

/* ---------------------------------------------------------------- without Slurm */

/* Twice as long each time, up to a quarter of the term, give or take a tenth. */
static void test_waits(void **state)
{
    struct bench bench = {.dir = "/nonexistent"};
    int64_t now_ms = 1000, wanted_ms = 500;
    (void)state;
    bench.keeper = new_keeper(&bench, LONG_TERM_S);
    assert_false(slurm_keeper_step(bench.keeper, now_ms)); /* no contracts: no cycle */
    slurm_keeper_set_contracts(bench.keeper, NULL, 0, 1, now_ms);
    for (int i = 0; i < 12; i++) {
        assert_true(slurm_keeper_step(bench.keeper, now_ms));
        struct slurm_report report = slurm_keeper_report(bench.keeper);
        int64_t wait_ms = slurm_keeper_wake_ms(bench.keeper) - now_ms;
        assert_null(report.answers);
        assert_non_null(strstr(report.failure, "/nonexistent/sinfo"));
        assert_int_equal(report.n_commands, i + 1);
        assert_in_range(wait_ms, wanted_ms - wanted_ms / 10,
                        wanted_ms + wanted_ms / 10);
        assert_false(slurm_keeper_step(bench.keeper, now_ms + wait_ms - 1));
        now_ms += wait_ms;
        wanted_ms = 2 * wanted_ms < 225000 ? 2 * wanted_ms : 225000;
    }
    assert_true(slurm_keeper_step(bench.keeper, now_ms));
    slurm_keeper_set_contracts(bench.keeper, NULL, 0, 2, now_ms);
    assert_int_equal(slurm_keeper_wake_ms(bench.keeper), now_ms);
    slurm_keeper_free(bench.keeper);
}

/* It is ended at its deadline, by the clock of the caller. */
static void test_hangs(void **state)
{
    struct bench bench = {.dir = "/tmp/sublet-slurm-XXXXXX"};
    (void)state;
    arena_init(&bench.arena);
    assert_non_null(mkdtemp(bench.dir));
    const char *path = arena_printf(&bench.arena, "%s/sinfo", bench.dir);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "#!/bin/sh\nexec sleep 3600\n");
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path, 0755), 0);
    bench.keeper = new_keeper(&bench, LONG_TERM_S);
    slurm_keeper_set_contracts(bench.keeper, NULL, 0, 1, 1000);
    assert_false(slurm_keeper_step(bench.keeper, 1000));
    assert_int_equal(slurm_keeper_wake_ms(bench.keeper), 31000);
    assert_false(slurm_keeper_step(bench.keeper, 30999));
    assert_true(slurm_keeper_step(bench.keeper, 31000));
    struct slurm_report report = slurm_keeper_report(bench.keeper);
    assert_non_null(strstr(report.failure, "did not answer within 30 s"));
    assert_null(report.answers);
    slurm_keeper_free(bench.keeper);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(bench.dir), 0);
    arena_release(&bench.arena);
}

/* ---------------------------------------------------------------- start of it */

static const char *missing_program(void)
{
    static const char *const programs[] = {"/usr/bin/unshare", "/usr/sbin/munged",
                                           "/usr/sbin/slurmctld-wlm",
                                           "/usr/sbin/slurmd-wlm", "/usr/bin/sbatch"};
    for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
        if (access(programs[i], X_OK) != 0) {
            return programs[i];
        }
    }
    return geteuid() == 0 ? NULL : "root";
}

static void test_cluster(void **state)
{
    char dir[] = "/tmp/sublet-slurm-XXXXXX";
    const char *missing = missing_program();
    struct bench bench = {.dir = ""};
    char program[1024] = "";
    int status;
    (void)state;
    if (missing != NULL) {
        print_message("without %s there is no cluster to test with\n", missing);
        skip();
    }
    assert_non_null(mkdtemp(dir));
    assert_int_equal(chmod(dir, 0755), 0);
    assert_true(readlink("/proc/self/exe", program, sizeof(program) - 1) > 0);
    assert_int_equal(setenv(inside, dir, 1), 0);
    pid_t pid = fork();
    if (pid == 0) {
        execlp("unshare", "unshare", "--net", "--mount", "--pid", "--fork",
               "--kill-child", "--mount-proc", "tests/slurm/cluster", dir, program,
               NULL);
        _exit(127);
    }
    assert_int_equal(unsetenv(inside), 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    arena_init(&bench.arena);
    SLURM(&bench, "rm", "-rf", dir);
    arena_release(&bench.arena);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(void)
{
    const struct CMUnitTest in_cluster[] = {cmocka_unit_test(test_inside)};
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_waits),
                                       cmocka_unit_test(test_hangs),
                                       cmocka_unit_test(test_cluster)};
    return getenv(inside) != NULL ? cmocka_run_group_tests(in_cluster, NULL, NULL)
                                  : cmocka_run_group_tests(tests, NULL, NULL);
}
