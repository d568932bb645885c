/* SPDX-License-Identifier: Apache-2.0 */
/* test_slurm_agent.c: the nodes of a cluster as hosts of a site: runs, reservations and
 * faults. Source: docs/adr/0024-leases-of-slurm-nodes.md. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <signal.h>
#include <string.h>

#include "tests/unit/slurm/slurm_fake.h"

#define RESERVATION "sublet_north_p_south_e1"

enum { N1, N2 };

static const char *const n1_only[] = {"n1"};
static const char *const n2_only[] = {"n2"};

static const struct slurm_contract lent_n1 = {.policy = "p",
                                              .consumer = "south",
                                              .epoch = 1,
                                              .users = "guest",
                                              .keeps_jobs = true,
                                              .nodes = n1_only,
                                              .n_nodes = 1};

static int set_up(void **state)
{
    struct slurm_fake *fake = slurm_fake_new(NULL);
    slurm_agent_set_contracts(fake->agent, &lent_n1, 1, fake->now_ms);
    slurm_fake_pass(fake, 0);
    *state = fake;
    return 0;
}

static int tear_down(void **state)
{
    slurm_fake_free(*state);
    return 0;
}

#define ASSERT_SAID(expected) assert_string_equal(slurm_fake_said(fake), expected)

/* n1 is reserved, as it was ordered. */
static void reserve(struct slurm_fake *fake)
{
    slurm_fake_reserve(fake, RESERVATION, "n1", "guest");
    fake->state[N1] = "idle+reserved";
    slurm_fake_pass(fake, 20000);
}

/* The script of the run has begun, as that job of Slurm. */
static void begin(struct slurm_fake *fake, uint64_t attempt)
{
    slurm_fake_run(fake, attempt)->files.is_claimed = true;
    slurm_fake_run(fake, attempt)->files.begun_ms = fake->now_ms;
    slurm_fake_run(fake, attempt)->files.job_id = 102;
    slurm_fake_list(fake, 102, "R", 0, attempt, 0);
    slurm_fake_pass(fake, 2000);
}

static void run_one(struct slurm_fake *fake)
{
    reserve(fake);
    slurm_fake_start(fake, N1, 1);
    slurm_fake_go(fake, N1, 1);
    begin(fake, 1);
    ASSERT_SAID("south.1 RUNNING 0");
}

/* ---------------------------------------------------------------- runs */

static void test_a_run_waits_for_its_reservation(void **state)
{
    struct slurm_fake *fake = *state;
    assert_int_equal(slurm_fake_count(fake, "create reservation"), SLURM_AGENT_ROUNDS);
    slurm_fake_start(fake, N1, 1);
    ASSERT_SAID("south.1 WAITING 0");
    slurm_fake_pass(fake, 20000);
    assert_int_equal(slurm_fake_count(fake, "sbatch"), 0); /* no RUN_GO yet */
    slurm_fake_go(fake, N1, 1);
    slurm_fake_pass(fake, 20000);
    assert_int_equal(slurm_fake_count(fake, "sbatch"), 0);
    reserve(fake);
    assert_true(slurm_fake_count(fake, "sbatch") >= 1); /* again, as no list has it */
    assert_true(slurm_fake_count(fake, "--uid=guest --gid=60 --mem=500M") >= 1);
    assert_true(slurm_fake_count(fake, "--reservation=" RESERVATION) >= 1);
    assert_true(slurm_fake_count(fake, "--comment=sublet:north:south:1:77") >= 1);
    assert_true(slurm_fake_count(fake, "--time=2 ") >= 1); /* a minute more */
}

/* n1 has 1000 MiB and 2 CPUs: a job of one slot asks for half of it, or for its own
 * limit (KiB) if that is less. */
static void test_memory(void **state)
{
    struct slurm_fake *fake = *state;
    static const struct {
        const char *limit, *word;
    } rows[] = {{"mem=204800", "--mem=200M"},
                {"mem=204801", "--mem=201M"},
                {"mem=1", "--mem=1M"},
                {"mem=2048000", "--mem=500M"},
                {NULL, "--mem=500M"}};
    reserve(fake);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        fake->limit = rows[i].limit;
        slurm_fake_start(fake, N1, i + 1);
        slurm_fake_go(fake, N1, i + 1);
        assert_non_null(strstr(fake->done[fake->n_done - 1], "sbatch"));
        assert_non_null(strstr(fake->done[fake->n_done - 1], rows[i].word));
    }
}

static void test_a_held_reservation_is_nobodys(void **state)
{
    struct slurm_fake *fake = *state;
    slurm_fake_reserve(fake, RESERVATION, "n1", "root");
    fake->state[N1] = "idle+reserved";
    slurm_fake_start(fake, N1, 1);
    slurm_fake_go(fake, N1, 1);
    slurm_fake_pass(fake, 20000);
    assert_int_equal(slurm_fake_count(fake, "sbatch"), 0);
    assert_true(slurm_fake_count(fake, "Users=guest") >= 1);
}

static void test_another_token_starts_nothing(void **state)
{
    struct slurm_fake *fake = *state;
    reserve(fake);
    slurm_fake_start(fake, N1, 1);
    slurm_fake_run(fake, 1)->record.token++;
    slurm_fake_go(fake, N1, 1);
    slurm_fake_pass(fake, 20000);
    assert_int_equal(slurm_fake_count(fake, "sbatch"), 0);
}

static void test_what_the_script_writes_is_the_end(void **state)
{
    struct slurm_fake *fake = *state;
    run_one(fake);
    slurm_fake_run(fake, 1)->files.has_ended = true;
    slurm_fake_run(fake, 1)->files.end =
        (struct slurm_script_end){.status = 7, .ended_ms = fake->now_ms};
    fake->list = "";
    slurm_fake_list(fake, 102, "CD", 0, 1, 2); /* a second start of it did nothing */
    slurm_fake_pass(fake, 20000);
    ASSERT_SAID("south.1 EXITED 7");
    slurm_fake_forget(fake, N1, 1);
    assert_false(slurm_fake_run(fake, 1)->is_there);
}

static void test_a_signal_ends_it(void **state)
{
    struct slurm_fake *fake = *state;
    run_one(fake);
    slurm_fake_run(fake, 1)->files.has_ended = true;
    slurm_fake_run(fake, 1)->files.end =
        (struct slurm_script_end){.status = 128 + SIGSEGV, .ended_ms = fake->now_ms};
    slurm_fake_pass(fake, 2000);
    ASSERT_SAID("south.1 SIGNALLED 11");
}

static void test_what_slurm_ends(void **state)
{
    (void)state;
    static const struct {
        const char *why, *code;
        int status, ran_s;
        bool is_claimed;
        const char *said;
    } rows[] = {
        {"its reservation has ended", "TO", 0, 30, true, "south.1 LOST 0"},
        {"its own limit", "TO", 0, 60, true, "south.1 LIMIT 143"},
        {"cancelled", "CA", 15, 5, true, "south.1 SIGNALLED 15"},
        {"cancelled before it began", "CA", 0, 0, false,
         "south.1 LOST 9 before it began"},
        {"its node failed", "NF", 0, 5, true, "south.1 LOST 0"},
        {"too much memory", "OOM", 0, 5, true, "south.1 LIMIT 137"},
        {"its script could not begin", "F", 125 << 8, 0, false, "south.1 FAILED 0"},
        {"there is no script", "F", 127 << 8, 0, false, "south.1 FAILED 0"},
        {"slurmd could not start it", "F", 53, 0, false,
         "south.1 LOST 9 before it began"},
        {"its node failed before it began", "NF", 0, 0, false,
         "south.1 LOST 9 before it began"},
        {"done, it says, but nothing was written", "CD", 0, 5, true, "south.1 LOST 0"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        void *made;
        set_up(&made);
        struct slurm_fake *fake = made;
        reserve(fake);
        slurm_fake_start(fake, N1, 1);
        slurm_fake_go(fake, N1, 1);
        if (rows[i].is_claimed) {
            begin(fake, 1);
        }
        fake->list = "";
        slurm_fake_list(fake, 102, rows[i].code, rows[i].status, 1, rows[i].ran_s);
        slurm_fake_pass(fake, 2000);
        if (rows[i].is_claimed) { /* the end may be written yet */
            ASSERT_SAID("south.1 RUNNING 0");
        }
        slurm_fake_pass(fake, 30000);
        if (strcmp(slurm_fake_said(fake), rows[i].said) != 0) {
            fail_msg("%s: \"%s\", expected \"%s\"", rows[i].why, slurm_fake_said(fake),
                     rows[i].said);
        }
        tear_down(&made);
    }
}

/* sbatch was refused as its node is not in the reservation any more. slurmctld keeps a
 * record of a job that never was. The consumer may start it elsewhere. */
static void test_a_refused_sbatch_is_lost_before_it_began(void **state)
{
    struct slurm_fake *fake = *state;
    reserve(fake);
    fake->fails_sbatch = true;
    slurm_fake_start(fake, N1, 1);
    slurm_fake_go(fake, N1, 1);
    slurm_fake_job(fake, &(struct fake_job){.id = 55,
                                            .state = "F",
                                            .user = "guest",
                                            .reservation = RESERVATION,
                                            .status = 256,
                                            .start_s = fake->now_ms / 1000,
                                            .end_s = fake->now_ms / 1000,
                                            .reason = "BadConstraints",
                                            .comment = "sublet:north:south:1:77"});
    slurm_fake_pass(fake, 20000);
    ASSERT_SAID("south.1 LOST 9 before it began");
    assert_true(slurm_fake_run(fake, 1)->files.is_claimed); /* no job of it begins */
    assert_int_equal(slurm_fake_run(fake, 1)->files.begun_ms, 0);
    assert_int_equal(slurm_fake_count(fake, "scancel"), 0); /* there is no job */
}

/* A job that waits when its reservation ends is held for ever, unless it is cancelled.
 */
static void test_a_held_job_is_not_left_behind(void **state)
{
    struct slurm_fake *fake = *state;
    reserve(fake);
    slurm_fake_start(fake, N1, 1);
    slurm_fake_go(fake, N1, 1);
    struct fake_job job = {.id = 102,
                           .state = "RD",
                           .user = "guest",
                           .reservation = "(null)",
                           .comment = "sublet:north:south:1:77"};
    slurm_fake_job(fake, &job);
    slurm_fake_pass(fake, 25000);
    ASSERT_SAID("south.1 LOST 9 before it began");
    slurm_fake_pass(fake, 20000);
    assert_true(slurm_fake_count(fake, "scancel 102") >= 1);
}

/* Killed before it began, so that its job would only find the claim. It is cancelled
 * also while the site has not forgotten the run, and in nobody else's place. */
static void test_a_job_that_waits_for_nothing_is_cancelled(void **state)
{
    struct slurm_fake *fake = *state;
    struct fake_job job = {.id = 102,
                           .state = "PD",
                           .user = "guest",
                           .reservation = RESERVATION,
                           .comment = "sublet:north:south:1:77"};
    reserve(fake);
    slurm_fake_start(fake, N1, 1);
    slurm_fake_go(fake, N1, 1);
    slurm_fake_job(fake, &job);
    job.id = 103;
    job.reservation = "(null)";
    job.comment = "sublet:west:south:1:77"; /* of another site */
    slurm_fake_job(fake, &job);
    slurm_fake_pass(fake, 20000);
    assert_int_equal(slurm_fake_count(fake, "scancel"), 0);
    slurm_fake_control(fake, N1, 1, 1, CONTROL_KILL, 0);
    ASSERT_SAID("south.1 SIGNALLED 9");
    slurm_fake_pass(fake, 20000);
    assert_true(slurm_fake_count(fake, "scancel 102") >= 1);
    assert_int_equal(slurm_fake_count(fake, "scancel 103"), 0);
}

static void test_slurmctld_forgets_a_run(void **state)
{
    struct slurm_fake *fake = *state;
    reserve(fake);
    slurm_fake_start(fake, N1, 1);
    slurm_fake_go(fake, N1, 1);
    slurm_fake_pass(fake, 40000); /* the list never has it */
    assert_true(slurm_fake_count(fake, "sbatch") >= 2);
    int n_submitted = slurm_fake_count(fake, "sbatch");
    begin(fake, 1);
    fake->list = "";
    slurm_fake_pass(fake, 40000);
    ASSERT_SAID("south.1 LOST 0"); /* it may have done its work */
    assert_int_equal(slurm_fake_count(fake, "sbatch"), n_submitted);
}

/* squeue prints another user if the account is not known for a moment: the job runs on.
 * A job of somebody who has copied the comment is not it. */
static void test_a_name_service_that_is_away(void **state)
{
    struct slurm_fake *fake = *state;
    static const char *const unknown[] = {"nobody", "60"};
    struct fake_job job = {.id = 102,
                           .state = "R",
                           .reservation = RESERVATION,
                           .node = "n1",
                           .comment = "sublet:north:south:1:77"};
    run_one(fake);
    for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
        fake->list = fake->jobs = "";
        job.user = unknown[i];
        slurm_fake_job(fake, &job);
        slurm_fake_pass(fake, 24000);
        ASSERT_SAID("south.1 RUNNING 0");
    }
    assert_int_equal(slurm_fake_count(fake, "scancel"), 0);
    fake->jobs = "";
    job.user = "mallory";
    job.id = 103;
    slurm_fake_job(fake, &job);
    slurm_fake_pass(fake, 40000);
    ASSERT_SAID("south.1 LOST 0");
}

static void test_of_several_jobs_the_one_with_the_claim(void **state)
{
    struct slurm_fake *fake = *state;
    run_one(fake);
    slurm_fake_list(fake, 7, "CA", 15, 1, 0); /* forgotten, known again, cancelled */
    slurm_fake_list(fake, 200, "PD", 0, 1, 0);
    slurm_fake_pass(fake, 16000);
    ASSERT_SAID("south.1 RUNNING 0");
    fake->list = "";
    slurm_fake_list(fake, 7, "CA", 15, 1, 0);
    slurm_fake_list(fake, 102, "TO", 0, 1, 30);
    slurm_fake_pass(fake, 25000);
    ASSERT_SAID("south.1 LOST 0");
}

static void test_sbatch_fails_and_was_heard(void **state)
{
    struct slurm_fake *fake = *state;
    reserve(fake);
    fake->fails_sbatch = true;
    slurm_fake_start(fake, N1, 1);
    slurm_fake_go(fake, N1, 1);
    slurm_fake_list(fake, 55, "R", 0, 1, 1); /* slurmctld took it all the same */
    fake->fails_sbatch = false;
    slurm_fake_pass(fake, 30000);
    assert_int_equal(slurm_fake_count(fake, "sbatch"), 0);
    slurm_fake_run(fake, 1)->files.is_claimed = true;
    slurm_fake_run(fake, 1)->files.begun_ms = fake->now_ms;
    slurm_fake_pass(fake, 2000);
    slurm_fake_control(fake, N1, 1, 1, CONTROL_KILL, 0);
    assert_int_equal(slurm_fake_count(fake, "scancel 55"), 1);
}

/* ---------------------------------------------------------------- orders */

static void test_a_kill_before_the_start_takes_the_claim(void **state)
{
    struct slurm_fake *fake = *state;
    slurm_fake_start(fake, N1, 1);
    slurm_fake_go(fake, N1, 1);
    slurm_fake_control(fake, N1, 1, 1, CONTROL_KILL, 0);
    ASSERT_SAID("south.1 SIGNALLED 9");
    assert_true(slurm_fake_run(fake, 1)->files.is_claimed);
    reserve(fake);
    assert_int_equal(slurm_fake_count(fake, "sbatch"), 0);
}

static void test_suspended_once_slurm_shows_it(void **state)
{
    struct slurm_fake *fake = *state;
    run_one(fake);
    slurm_fake_control(fake, N1, 1, 1, CONTROL_SUSPEND, 0);
    assert_int_equal(slurm_fake_count(fake, "scancel --full --signal=STOP 102"), 1);
    slurm_fake_pass(fake, 2000);
    ASSERT_SAID("south.1 RUNNING 0");
    slurm_fake_pass(fake, 6000); /* Slurm has lost the signal */
    assert_int_equal(slurm_fake_count(fake, "--signal=STOP"), 2);
    fake->list = "";
    slurm_fake_list(fake, 102, "ST", 0, 1, 5);
    slurm_fake_pass(fake, 20000);
    ASSERT_SAID("south.1 SUSPENDED 1");
    assert_int_equal(slurm_fake_run(fake, 1)->record.control_done, 1);
    slurm_fake_control(fake, N1, 1, 1, CONTROL_SUSPEND, 0); /* the same again */
    assert_int_equal(slurm_fake_count(fake, "suspend"), 0);
    slurm_fake_control(fake, N1, 1, 2, CONTROL_RESUME, 0);
    fake->list = "";
    slurm_fake_list(fake, 102, "R", 0, 1, 5);
    slurm_fake_pass(fake, 20000);
    ASSERT_SAID("south.1 RUNNING 2");
    assert_int_equal(slurm_fake_count(fake, "--signal=CONT"), 1);
}

static void test_a_signal_is_sent_once(void **state)
{
    struct slurm_fake *fake = *state;
    run_one(fake);
    slurm_fake_control(fake, N1, 1, 1, CONTROL_SIGNAL, SIGUSR1);
    slurm_fake_pass(fake, 20000);
    ASSERT_SAID("south.1 RUNNING 1");
    assert_int_equal(slurm_fake_count(fake, "--signal=10 102"), 1);
}

static void test_its_own_limit(void **state)
{
    struct slurm_fake *fake = *state;
    run_one(fake);
    slurm_fake_pass(fake, 57000);
    assert_int_equal(slurm_fake_count(fake, "scancel 102"), 0);
    slurm_fake_pass(fake, 3000);
    assert_int_equal(slurm_fake_count(fake, "scancel 102"), 1);
    fake->list = "";
    slurm_fake_list(fake, 102, "CA", 15, 1, 60);
    slurm_fake_pass(fake, 20000);
    ASSERT_SAID("south.1 LIMIT 143");
}

/* ---------------------------------------------------------------- a restart */

static struct slurm_fake *find_run(struct slurm_run_files files)
{
    static const struct slurm_run_record record = {.run = {"south", 1, 77},
                                                   .node = "n1",
                                                   .lease = "north/p/south",
                                                   .account = "guest",
                                                   .token = 5,
                                                   .n_slots = 1};
    struct slurm_fake *fake = slurm_fake_new(&record);
    slurm_fake_run(fake, 1)->files = files;
    slurm_agent_set_contracts(fake->agent, &lent_n1, 1, fake->now_ms);
    return fake;
}

static void test_found_again_by_its_comment(void **state)
{
    (void)state;
    struct slurm_fake *fake = find_run(
        (struct slurm_run_files){.is_claimed = true, .begun_ms = FAKE_NOW_MS - 1000});
    fake->is_away = true;
    slurm_fake_pass(fake, 10000);
    assert_int_equal(fake->n_synced, 1); /* n2: of n1 a run is not known yet */
    fake->is_away = false;
    slurm_fake_list(fake, 7, "R", 0, 1, 5);
    slurm_fake_pass(fake, 40000);
    ASSERT_SAID("south.1 RUNNING 0");
    assert_int_equal(fake->n_synced, 2);
    assert_int_equal(slurm_fake_count(fake, "scancel"), 0); /* it is no intruder */
    slurm_fake_control(fake, N1, 1, 1, CONTROL_KILL, 0);
    assert_int_equal(slurm_fake_count(fake, "scancel 7"), 1);
    slurm_fake_free(fake);
}

static void test_ended_while_nobody_looked(void **state)
{
    (void)state;
    struct slurm_fake *fake = find_run(
        (struct slurm_run_files){.is_claimed = true,
                                 .begun_ms = FAKE_NOW_MS - 9000,
                                 .has_ended = true,
                                 .end = {.status = 3, .ended_ms = FAKE_NOW_MS - 5000}});
    slurm_fake_pass(fake, 0);
    slurm_fake_pass(fake, 5000);
    ASSERT_SAID("south.1 EXITED 3");
    slurm_fake_free(fake);
}

static void test_never_submitted(void **state)
{
    (void)state;
    struct slurm_fake *fake = find_run((struct slurm_run_files){.is_claimed = false});
    reserve(fake);
    ASSERT_SAID("south.1 WAITING 0");
    assert_int_equal(slurm_fake_count(fake, "sbatch"), 0);
    slurm_fake_go(fake, N1, 1); /* the token is that of its directory */
    slurm_fake_pass(fake, 2000);
    assert_int_equal(slurm_fake_count(fake, "sbatch"), 1);
    slurm_fake_free(fake);
}

/* ---------------------------------------------------------------- nodes */

static void test_an_intruder_is_cancelled(void **state)
{
    struct slurm_fake *fake = *state;
    run_one(fake);
    slurm_fake_job(
        fake, &(struct fake_job){
                  .id = 9, .state = "R", .reservation = RESERVATION, .node = "n1"});
    slurm_fake_job(fake,
                   &(struct fake_job){
                       .id = 10, .state = "R", .reservation = "(null)", .node = "n2"});
    slurm_fake_job(
        fake, &(struct fake_job){.id = 11, .state = "PD", .reservation = RESERVATION});
    slurm_fake_job(
        fake, &(struct fake_job){
                  .id = 12, .state = "CG", .reservation = RESERVATION, .node = "n1"});
    slurm_fake_job(
        fake, &(struct fake_job){
                  .id = 13, .state = "CA", .reservation = RESERVATION, .node = "n1"});
    slurm_fake_pass(fake, 20000);
    assert_true(slurm_fake_count(fake, "scancel 9") >= 1);
    assert_true(slurm_fake_count(fake, "scancel 11") >= 1); /* it may start there */
    assert_int_equal(slurm_fake_count(fake, "scancel 10"), 0);
    assert_int_equal(slurm_fake_count(fake, "scancel 12"), 0); /* it ends already */
    assert_int_equal(slurm_fake_count(fake, "scancel 13"), 0);
    assert_int_equal(slurm_fake_count(fake, "scancel 102"), 0);
}

static void test_what_the_site_hears_of_nodes(void **state)
{
    struct slurm_fake *fake = *state;
    reserve(fake);
    assert_int_equal(fake->load[N1].n_foreign, 0);
    assert_false(fake->load[N1].is_out);
    slurm_fake_job(fake,
                   &(struct fake_job){
                       .id = 10, .state = "R", .reservation = "(null)", .node = "n2"});
    fake->used[N2] = 1;
    fake->state[N2] = "mixed";
    fake->state[N1] = "idle+drain+reserved";
    slurm_fake_pass(fake, 20000);
    assert_int_equal(fake->load[N2].n_foreign, 4); /* all of it */
    assert_false(fake->load[N2].is_out);
    assert_true(fake->load[N1].is_out);
    slurm_agent_set_nodes(fake->agent, (const char *const[]){"n1", "n2", "n3"}, 3,
                          fake->now_ms);
    slurm_fake_pass(fake, 20000); /* n3 is not in Slurm: no node, no crash */
}

static void test_a_candidate_is_held_when_it_is_idle_and_reserved(void **state)
{
    struct slurm_fake *fake = *state;
    struct slurm_contract frozen = lent_n1;
    reserve(fake);
    frozen.held = n2_only;
    frozen.n_held = 1;
    slurm_agent_set_contracts(fake->agent, &frozen, 1, fake->now_ms);
    slurm_fake_pass(fake, 500);
    assert_int_equal(slurm_fake_count(fake, "ReservationName=sublet_north_p_south_e2"),
                     4); /* nothing happens, and it is ordered in each round */
    assert_string_equal(fake->held, "");
    slurm_fake_reserve(fake, "sublet_north_p_south_e2", "n2", "root");
    slurm_fake_pass(fake, 20000);
    assert_string_equal(fake->held, "");       /* its state is "idle" */
    fake->state[N2] = "idle+reserved+planned"; /* for a job of a user that waits */
    slurm_fake_pass(fake, 5000);
    assert_string_equal(fake->held, "p south 1: n2");
}

static void test_a_candidate_that_slurm_has_taken(void **state)
{
    struct slurm_fake *fake = *state;
    struct slurm_contract frozen = lent_n1;
    reserve(fake);
    frozen.held = n2_only;
    frozen.n_held = 1;
    slurm_fake_job(fake,
                   &(struct fake_job){
                       .id = 10, .state = "R", .reservation = "(null)", .node = "n2"});
    fake->used[N2] = 1;
    fake->state[N2] = "mixed";
    slurm_agent_set_contracts(fake->agent, &frozen, 1, fake->now_ms);
    slurm_fake_pass(fake, 500);
    assert_string_equal(fake->held, "p south 1:"); /* at once: none */
    assert_int_equal(slurm_fake_count(fake, "_e2"), 0);
}

static void test_slurmctld_is_away(void **state)
{
    struct slurm_fake *fake = *state;
    run_one(fake);
    fake->is_away = true;
    uint64_t before = slurm_agent_count_commands(fake->agent);
    slurm_fake_pass(fake, 600000);
    ASSERT_SAID("south.1 RUNNING 0"); /* nothing is known, and nothing is concluded */
    /* Questions, and an order to end it at its limit with a look at the effect. */
    assert_true(slurm_agent_count_commands(fake->agent) - before < 80);
    fake->is_away = false;
    slurm_fake_run(fake, 1)->files.has_ended = true;
    slurm_fake_run(fake, 1)->files.end = (struct slurm_script_end){.status = 0};
    slurm_fake_pass(fake, 2000);
    ASSERT_SAID("south.1 EXITED 0");
}

/* After a long time away the next cycle is not further off than four of them, give or
 * take a tenth. */
static void test_slurmctld_is_back(void **state)
{
    struct slurm_fake *fake = *state;
    reserve(fake);
    fake->is_away = true;
    slurm_fake_pass(fake, 600000);
    uint64_t before = slurm_agent_count_commands(fake->agent);
    slurm_fake_pass(fake, 600000);
    assert_in_range(slurm_agent_count_commands(fake->agent) - before, 9, 12);
    slurm_fake_start(fake, N1, 1);
    slurm_fake_go(fake, N1, 1);
    int n_submitted = slurm_fake_count(fake, "sbatch");
    fake->is_away = false;
    slurm_fake_pass(fake, 72000);
    assert_true(slurm_fake_count(fake, "sbatch") > n_submitted);
}

/* One sinfo, one squeue and one scontrol in a cycle of 15 s, however many jobs run: in
 * a minute at most five cycles, as they are a tenth early at most. */
static void test_calls_a_minute(void **state)
{
    struct slurm_fake *fake = *state;
    run_one(fake);
    slurm_fake_start(fake, N1, 2);
    slurm_fake_go(fake, N1, 2);
    slurm_fake_run(fake, 2)->files = slurm_fake_run(fake, 1)->files;
    slurm_fake_list(fake, 103, "R", 0, 2, 0);
    slurm_fake_pass(fake, 20000);
    uint64_t before = slurm_agent_count_commands(fake->agent);
    slurm_fake_pass(fake, 30000);
    uint64_t count = slurm_agent_count_commands(fake->agent) - before;
    assert_in_range(count, 3, 9);
}

/* Jobs that are killed one after another: the effect is looked for between two cycles,
 * and not once for each job. */
static void test_many_orders_and_few_questions(void **state)
{
    struct slurm_fake *fake = *state;
    run_one(fake);
    slurm_fake_pass(fake, 20000);
    uint64_t before = slurm_agent_count_commands(fake->agent);
    for (uint64_t number = 1; number <= 30; number++) {
        slurm_fake_control(fake, N1, 1, number, CONTROL_SIGNAL, SIGUSR1);
        slurm_fake_pass(fake, 900);
    }
    uint64_t count = slurm_agent_count_commands(fake->agent) - before;
    assert_int_equal(slurm_fake_count(fake, "--signal=10 102"), 30);
    /* Besides the signals: three cycles at most, and a list in each fifth of one. */
    assert_in_range(count - 30, 1, 3 * 3 + 10);
}

static void test_what_waits(void **state)
{
    struct slurm_fake *fake = *state;
    static const struct {
        const char *reason, *reservation, *state;
    } jobs[] = {
        {"Resources", "(null)", "PD"},
        {"Priority", "(null)", "PD"},
        {"ReqNodeNotAvail, Reserved", "(null)", "PD"}, /* cut at the width */
        {"Dependency", "(null)", "PD"},
        {"JobHeldUser", "(null)", "PD"},
        {"BeginTime", "(null)", "PD"},
        {"Resources", RESERVATION, "PD"}, /* a leased job */
        {"Resources", "somebodys", "PD"},
        {"None", "(null)", "R"},
    };
    for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++) {
        slurm_fake_job(fake, &(struct fake_job){.id = 1 + (int)i,
                                                .state = jobs[i].state,
                                                .reservation = jobs[i].reservation,
                                                .reason = jobs[i].reason,
                                                .n_cpus = 1 << i});
    }
    reserve(fake);
    assert_int_equal(fake->n_waiting, 1 + 2 + 4 + 128);
    fake->jobs = "";
    slurm_fake_pass(fake, 20000);
    assert_int_equal(fake->n_waiting, 0);
}

int main(void)
{
#define STORY(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        STORY(test_a_run_waits_for_its_reservation),
        STORY(test_memory),
        STORY(test_a_held_reservation_is_nobodys),
        STORY(test_another_token_starts_nothing),
        STORY(test_what_the_script_writes_is_the_end),
        STORY(test_a_signal_ends_it),
        cmocka_unit_test(test_what_slurm_ends),
        STORY(test_a_refused_sbatch_is_lost_before_it_began),
        STORY(test_a_held_job_is_not_left_behind),
        STORY(test_a_job_that_waits_for_nothing_is_cancelled),
        STORY(test_slurmctld_forgets_a_run),
        STORY(test_a_name_service_that_is_away),
        STORY(test_of_several_jobs_the_one_with_the_claim),
        STORY(test_sbatch_fails_and_was_heard),
        STORY(test_a_kill_before_the_start_takes_the_claim),
        STORY(test_suspended_once_slurm_shows_it),
        STORY(test_a_signal_is_sent_once),
        STORY(test_its_own_limit),
        cmocka_unit_test(test_found_again_by_its_comment),
        cmocka_unit_test(test_ended_while_nobody_looked),
        cmocka_unit_test(test_never_submitted),
        STORY(test_an_intruder_is_cancelled),
        STORY(test_what_the_site_hears_of_nodes),
        STORY(test_a_candidate_is_held_when_it_is_idle_and_reserved),
        STORY(test_a_candidate_that_slurm_has_taken),
        STORY(test_slurmctld_is_away),
        STORY(test_slurmctld_is_back),
        STORY(test_calls_a_minute),
        STORY(test_many_orders_and_few_questions),
        STORY(test_what_waits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
