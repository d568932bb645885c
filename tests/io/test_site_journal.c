/* SPDX-License-Identifier: Apache-2.0 */
/* test_site_journal.c: what a site writes it finds again, in the order in which it
 * wants to load it; what an earlier version wrote, too. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "model/job_id.h"
#include "tests/io/journal_fixture.h"

static void test_an_empty_journal_loads_nothing(void **state)
{
    journal_fixture_assert_loads(*state, NULL, 0);
}

static void test_every_kind_comes_back_in_the_order_of_kinds(void **state)
{
    struct host_split split[] = {
        {.host = "n2",
         .n_slots = 4,
         .provider = 3,
         .consumer = 1,
         .spaces = {{true, 25}, {true, 0}}},
        {.host = "n1", .n_slots = 8, .provider = 8, .spaces = {{false, 0}, {true, 9}}},
    };
    struct lease_resource resources[] = {{"lic", 1, 3, TRAIT_CONSUMABLE, ""},
                                         {"lic", 2, 1, TRAIT_CONSUMABLE, "n1"}};
    struct host_slots slots[] = {{"n1@north", 2}, {"s1", 1}};
    struct job_spec spec = journal_rows_full();
    struct row book = {.kind = ROW_BOOK};
    book.book = (struct row_book){
        .lease = "north/spare/south",
        .policy = "spare",
        .consumer = "south",
        .content = "PER_HOST=n1 n2;SLOTS=4",
        .type = LEASE_SHARED,
        .epoch = 7,
        .is_made = true,
        .is_drained = true,
        .drain = 3,
        .hosts = split,
        .n_hosts = 2,
        .resources = resources,
        .n_resources = 2,
    };
    struct row_recall recalls[] = {{5, 1700000000000}, {2, 1700000030000}};
    struct row leaf = book;
    leaf.book.lease = "north/spare/south:/eng/sim";
    leaf.book.type = LEASE_POOL;
    leaf.book.recall = 4;
    leaf.book.is_whole = true;
    leaf.book.recalls = recalls;
    leaf.book.n_recalls = 2;
    struct row waiting = journal_rows_job(2, journal_rows_full());
    waiting.job.terms = (struct job_terms){.depend = "done(\"prep\")",
                                           .depend_on = "done(1)",
                                           .begin_ms = 1700000000001,
                                           .project = "gene",
                                           .priority = 50,
                                           .max_slots = 12,
                                           .user_group = "lab",
                                           .job_group = "/risk/daily",
                                           .terminate_ms = 1700000000002,
                                           .ends_orphan = true,
                                           .requeue_codes = "9 EXCLUDE(7)",
                                           .run_limit_host = "EPYC7",
                                           .resizable = RESIZABLE_AUTO,
                                           .resize_notify = "tell 'it'"};
    struct row running = journal_rows_state(2, JOB_RUN);
    running.job_state.attempt = 5;
    running.job_state.lease = "north/spare/south";
    running.job_state.epoch = 7;
    running.job_state.is_decided = running.job_state.is_killed = true;
    running.job_state.is_taken = true;
    running.job_state.hosts = slots;
    running.job_state.n_hosts = 2;
    running.job_state.start_ms = 1;
    running.job_state.end_ms = 2;
    running.job_state.control =
        (struct run_control){.number = 3, .action = CONTROL_SIGNAL, .signal = 10};
    running.job_state.exit = journal_rows_exit();
    running.job_state.reason = "on \"n1\"";
    running.job_state.queue = "night";
    running.job_state.place = -3;
    running.job_state.overload = "r1m 2.6 > 2 on n1";
    running.job_state.reserved = "mem=4096/host";
    running.job_state.avoided = "n1 n2@north";
    running.job_state.backfill_of = job_id_key(8, 2);
    running.job_state.backfill_until_ms = 77;
    running.job_state.run_limit_ms = 78;
    running.job_state.resize = (struct job_resize){.number = 3,
                                                   .event = RESIZE_SHRINK,
                                                   .hosts = &slots[1],
                                                   .n_hosts = 1,
                                                   .max_slots = 9};
    running.job_state.is_released = true;
    running.job_state.requeue_cause = REQUEUE_LOAD;
    running.job_state.suspension =
        (struct job_suspension){.causes = SUSPEND_USER | SUSPEND_PREEMPT,
                                .yields = true,
                                .by = job_id_key(7, 3),
                                .n_preempted = 4,
                                .since_ms = 5,
                                .resumed_ms = 6,
                                .total_ms = 7};
    struct row lent = journal_rows_run("south", 5, RUN_RECORD_GUARDED);
    lent.run.lease = "north/spare/south";
    lent.run.hosts = slots;
    lent.run.n_hosts = 2;
    lent.run.spec = &spec;
    lent.run.token = UINT64_MAX - 1;
    lent.run.end_by_ms = 1700000009000;
    lent.run.control = (struct run_control){.number = 4, .action = CONTROL_SUSPEND};
    lent.run.exit = journal_rows_exit();
    const struct row rows[] = {
        {.kind = ROW_COUNTER, .counter = {"attempt", 12}},
        {.kind = ROW_COUNTER, .counter = {"job", INT64_MAX}},
        book,
        leaf,
        {.kind = ROW_HIGH, .high = {"east", 1}},
        {.kind = ROW_HIGH, .high = {"south", 44}},
        {.kind = ROW_QUEUE, .queue = {"night", true, false}},
        journal_rows_job(1, journal_rows_empty()),
        waiting,
        journal_rows_state(1, JOB_PEND),
        running,
        journal_rows_run("north", 9, RUN_RECORD_TAKEN),
        lent,
        {.kind = ROW_JOB_GROUP, .job_group = {"/risk", "ana", 3, false}},
    };
    size_t n_rows = sizeof(rows) / sizeof(rows[0]);
    journal_fixture_write(*state, rows, n_rows);
    journal_fixture_assert_loads(*state, rows, n_rows);
}

static void test_every_state_record_and_end_comes_back(void **state)
{
    for (int i = 0; i <= JOB_UNKWN; i++) {
        struct row rows[] = {
            journal_rows_job(1, journal_rows_empty()),
            journal_rows_state(1, (enum job_state)i),
            journal_rows_run("north", 1, (enum run_record)(i % (RUN_RECORD_ENDED + 1))),
        };
        rows[1].job_state.exit.end = (enum run_end)(i % (RUN_END_LIMIT + 1));
        rows[2].run.control.action = (enum control_action)(i % (CONTROL_KILL + 1));
        journal_fixture_write(*state, rows, 3);
        journal_fixture_assert_loads(*state, rows, 3);
    }
}

static void test_elements_of_an_array_have_states_of_their_own(void **state)
{
    struct row rows[] = {
        journal_rows_job(1, journal_rows_full()),
        journal_rows_job(2, journal_rows_full()),
        journal_rows_state(1, JOB_PEND),
        journal_rows_state(2, JOB_RUN),
        journal_rows_state(2, JOB_DONE),
    };
    rows[1].job.is_array = true;
    rows[3].job_state.index = 7;
    rows[4].job_state.index = 999999;
    rows[4].job_state.is_dropped = true;
    journal_fixture_write(*state, rows, 5);
    journal_fixture_assert_loads(*state, rows, 5);
    /* It goes with all of them. */
    struct row gone = journal_rows_state(2, JOB_DONE);
    gone.job_state.index = 7;
    gone.job_state.is_gone = true;
    journal_fixture_write(*state, &gone, 1);
    rows[1] = rows[2];
    journal_fixture_assert_loads(*state, rows, 2);
}

static void test_hosts_are_closed_and_opened(void **state)
{
    struct row rows[] = {
        {.kind = ROW_CLOSED, .closed = {"n1@north", true}},
        {.kind = ROW_CLOSED, .closed = {"s1", true}},
        {.kind = ROW_CLOSED, .closed = {"s1", true}},
        {.kind = ROW_CLOSED, .closed = {"n1@north", false}},
        {.kind = ROW_CLOSED, .closed = {"never", false}},
    };
    journal_fixture_write(*state, rows, 5);
    journal_fixture_assert_loads(*state, &rows[1], 1);
}

/* A number goes from one user to another in one batch. */
static void test_accounts_of_other_sites_users(void **state)
{
    struct row rows[] = {
        {.kind = ROW_LEASE_ACCOUNT, .lease_account = {"east", "ana", 2000, false}},
        {.kind = ROW_LEASE_ACCOUNT, .lease_account = {"east", "bob", 2001, false}},
        {.kind = ROW_LEASE_ACCOUNT, .lease_account = {"east", "ana", 2000, true}},
        {.kind = ROW_LEASE_ACCOUNT, .lease_account = {"south", "ana", 2000, false}},
        {.kind = ROW_LEASE_ACCOUNT, .lease_account = {"east", "bob", 3001, false}},
    };
    struct row left[] = {rows[4], rows[3]};
    journal_fixture_write(*state, rows, 5);
    journal_fixture_assert_loads(*state, left, 2);
}

static void test_quotas(void **state)
{
    struct row rows[] = {
        {.kind = ROW_QUOTA, .quota = {"north/p/east", 5, 100, 7, 200, 3, 9, 2, false}},
        {.kind = ROW_QUOTA, .quota = {"north/p/south", 5, 100, 7, 200, 3, 9, 2, false}},
        {.kind = ROW_QUOTA, .quota = {"north/p/east", 0, 100, 37, 210, 0, 9, 1, false}},
        {.kind = ROW_QUOTA, .quota = {"north/p/south", 0, 0, 0, 0, 0, 0, 0, true}},
    };
    journal_fixture_write(*state, rows, 4);
    journal_fixture_assert_loads(*state, &rows[2], 1);
}

static void test_picks_are_kept_and_dropped(void **state)
{
    struct row rows[] = {
        {.kind = ROW_PICK,
         .pick = {"#1", "RES_SELECT=mem > 5 NHOSTS=2", "n1 n2", false}},
        {.kind = ROW_PICK, .pick = {"#2", "RES_SELECT=mem > 5 NHOSTS=2", "n3", false}},
        {.kind = ROW_PICK,
         .pick = {"#1", "RES_SELECT=mem > 5 NHOSTS=2", "n1 n4", false}},
        {.kind = ROW_PICK, .pick = {"spare", "RES_SELECT=ncpus > 5", "n9", false}},
        {.kind = ROW_PICK, .pick = {"spare", "RES_SELECT=ncpus > 5", "", true}},
        {.kind = ROW_PICK, .pick = {"never", "RES_SELECT=ncpus > 5", "", true}},
    };
    struct row left[] = {rows[2], rows[1]};
    journal_fixture_write(*state, rows, 6);
    journal_fixture_assert_loads(*state, left, 2);
}

static void test_cpus_are_those_of_the_latest_report(void **state)
{
    struct row rows[] = {
        {.kind = ROW_CPUS, .cpus = {"s1", 2, 8, 16, false}},
        {.kind = ROW_CPUS, .cpus = {"s1", 2, 8, 8, false}}, /* it has other threads */
        {.kind = ROW_CPUS, .cpus = {"s2", 1, 1, 1, false}},
        {.kind = ROW_CPUS, .cpus = {"s2", 0, 0, 0, true}},
    };
    journal_fixture_write(*state, rows, 4);
    journal_fixture_assert_loads(*state, &rows[1], 1);
}

/* To the last bit: a restart must not change an order. */
static void test_use_fades_from_where_it_was(void **state)
{
    struct row rows[] = {
        {.kind = ROW_SHARE,
         .share = {"pool/A", "normal", 0, 1.0 / 3, -2.0 / 7, true, 1700000000000,
                   false}},
        {.kind = ROW_SHARE,
         .share = {"queue/normal", "ana", 0.1 + 0.2, 7e9, 0, false, 1700000000001,
                   false}},
        {.kind = ROW_SHARE, .share = {"queue/normal", "bo", 1, 2, 0, false, 3, false}},
    };
    struct row later[] = {
        {.kind = ROW_SHARE,
         .share = {"queue/normal", "ana", 5, 6, 0, false, 1700000000002, false}},
        {.kind = ROW_SHARE, .share = {"queue/normal", "bo", 0, 0, 0, false, 0, true}},
        {.kind = ROW_SHARE, .share = {"queue/never", "bo", 0, 0, 0, false, 0, true}},
    };
    journal_fixture_write(*state, rows, 3);
    journal_fixture_assert_loads(*state, rows, 3);
    journal_fixture_write(*state, later, 3);
    rows[1] = later[0];
    journal_fixture_assert_loads(*state, rows, 2);
}

/* Columns of job_state as they were: nothing was NULL. */
#define NO_TEXT(column) "coalesce(" #column ", '') AS " #column ", "
#define ZERO(column) "coalesce(" #column ", 0) AS " #column ", "
#define NONE(column, word) "coalesce(" #column ", '" word "') AS " #column ", "
#define STATE_OF_1                                                                     \
    ZERO(attempt)                                                                      \
    NO_TEXT(lease)                                                                     \
    ZERO(epoch)                                                                        \
    ZERO(is_decided)                                                                   \
    ZERO(is_killed)                                                                    \
    NO_TEXT(hosts)                                                                     \
    ZERO(start_ms)                                                                     \
    ZERO(end_ms)                                                                       \
    NO_TEXT(reason)                                                                    \
    ZERO(control_number)                                                               \
    NONE(control_action, "signal")                                                     \
    ZERO(control_signal)                                                               \
    NONE(exit_end, "none")                                                             \
    ZERO(exit_code)                                                                    \
    ZERO(exit_start_ms)                                                                \
    ZERO(exit_end_ms)                                                                  \
    ZERO(exit_cpu_ms)                                                                  \
    ZERO(exit_mem_kib)                                                                 \
    ZERO(exit_out_bytes)                                                               \
    ZERO(exit_err_bytes)                                                               \
    NO_TEXT(exit_text)                                                                 \
    "state"
#define STATE_OF_21                                                                    \
    ZERO(is_dropped)                                                                   \
    NO_TEXT(switched_queue)                                                            \
    ZERO(place)                                                                        \
    ZERO(is_released)                                                                  \
    ZERO(requeue_cause)                                                                \
    ZERO(n_requeues)                                                                   \
    ZERO(n_pre_fails)                                                                  \
    ZERO(halt_causes)                                                                  \
    ZERO(halt_yields)                                                                  \
    ZERO(halt_by)                                                                      \
    ZERO(halt_count)                                                                   \
    ZERO(halt_since_ms)                                                                \
    ZERO(halt_resumed_ms)                                                              \
    ZERO(halt_total_ms)                                                                \
    NO_TEXT(overload)                                                                  \
    NO_TEXT(reserved)                                                                  \
    NO_TEXT(avoided)                                                                   \
    ZERO(backfill_of)                                                                  \
    ZERO(backfill_until_ms)                                                            \
    NONE(exit_cause, "none")                                                           \
    STATE_OF_1

static struct row full_state(uint64_t id, int index)
{
    static const struct host_slots slots[] = {{"n1@north", 2}, {"s1", 1}};
    struct row row = journal_rows_state(id, JOB_SSUSP);
    row.job_state.index = index;
    row.job_state.attempt = 5;
    row.job_state.lease = "north/spare/south";
    row.job_state.epoch = 7;
    row.job_state.is_decided = row.job_state.is_killed = true;
    row.job_state.hosts = slots;
    row.job_state.n_hosts = 2;
    row.job_state.start_ms = 1;
    row.job_state.end_ms = 2;
    row.job_state.control =
        (struct run_control){.number = 3, .action = CONTROL_SUSPEND, .signal = 10};
    row.job_state.exit = journal_rows_exit();
    row.job_state.reason = "why";
    row.job_state.queue = "other";
    row.job_state.place = -4;
    row.job_state.is_released = row.job_state.is_dropped = true;
    row.job_state.requeue_cause = REQUEUE_LOAD;
    row.job_state.suspension = (struct job_suspension){5, true, 1 << 20, 2, 3, 4, 6};
    row.job_state.overload = "r1m=9";
    row.job_state.reserved = "mem=5";
    row.job_state.avoided = "n9";
    row.job_state.backfill_of = 2 << 20;
    row.job_state.backfill_until_ms = 99;
    row.job_state.n_requeues = 1;
    row.job_state.n_pre_fails = 8;
    return row;
}

/* A state with everything, states with nothing, as they were when nothing was NULL. */
static void test_a_journal_of_before_short_states(void **state)
{
    struct journal_fixture *fixture = *state;
    struct row rows[] = {
        journal_rows_job(1, journal_rows_full()),
        journal_rows_job(2, journal_rows_empty()),
        journal_rows_state(1, JOB_PEND),
        full_state(2, 3),
        full_state(2, JOB_INDEX_MAX),
    };
    rows[1].job.is_array = true;
    rows[3].job_state.exit.post = RUN_POST_NONE; /* was not known */
    rows[4].job_state.exit = (struct run_exit){.text = ""};
    rows[4].job_state.control = (struct run_control){0};
    rows[3].job_state.resize = rows[4].job_state.resize = (struct job_resize){0};
    journal_fixture_write(fixture, rows, 5);
    journal_fixture_assert_loads(fixture, rows, 5);
    journal_fixture_run_sql(
        fixture, "CREATE TABLE old AS SELECT key >> 20 AS id,"
                 " key & 1048575 AS element, " STATE_OF_21 " FROM job_state;"
                 "DROP TABLE job_state; DROP TABLE lease_account;"
                 "DROP TABLE usage_run; DROP TABLE usage_split;"
                 "ALTER TABLE run DROP COLUMN use_start_ms;"
                 "ALTER TABLE run DROP COLUMN use_used_ms;"
                 "ALTER TABLE run DROP COLUMN use_at_ms;"
                 "ALTER TABLE run DROP COLUMN use_n_slots;"
                 "ALTER TABLE book DROP COLUMN split_ms;"
                 "DROP TABLE usage; DROP TABLE usage_level; DROP TABLE usage_size; "
                 "DROP TABLE quota;"
                 "ALTER TABLE old RENAME TO job_state;"
                 "DROP TABLE cpus;"
                 "ALTER TABLE job DROP COLUMN user_group;"
                 "DROP TABLE job_group; ALTER TABLE job DROP COLUMN job_group;"
                 "ALTER TABLE run DROP COLUMN binding;"
                 "ALTER TABLE run DROP COLUMN exit_post;"
                 "ALTER TABLE job DROP COLUMN terminate_ms;"
                 "ALTER TABLE job DROP COLUMN ends_orphan;"
                 "ALTER TABLE job DROP COLUMN requeue_codes;"
                 "ALTER TABLE job DROP COLUMN run_limit_host;"
                 "ALTER TABLE job DROP COLUMN replaces_out;"
                 "ALTER TABLE job DROP COLUMN replaces_err;"
                 "ALTER TABLE job DROP COLUMN report_ms;"
                 "ALTER TABLE job DROP COLUMN description;"
                 "ALTER TABLE run_spec DROP COLUMN replaces_out;"
                 "ALTER TABLE run_spec DROP COLUMN replaces_err;"
                 "ALTER TABLE run_spec DROP COLUMN report_ms;"
                 "ALTER TABLE run DROP COLUMN control_run_limit_ms;"
                 "ALTER TABLE run DROP COLUMN control_mem_limit_kib;"
                 "ALTER TABLE job DROP COLUMN nonce;"
                 "ALTER TABLE run DROP COLUMN nonce;"
                 "ALTER TABLE high DROP COLUMN job;"
                 "ALTER TABLE high DROP COLUMN commits;"
                 "ALTER TABLE book DROP COLUMN commits;"
                 "ALTER TABLE book DROP COLUMN lost_from;"
                 "ALTER TABLE book DROP COLUMN lost_to;"
                 "ALTER TABLE job DROP COLUMN resizable;"
                 "ALTER TABLE job DROP COLUMN resize_notify;"
                 "ALTER TABLE run DROP COLUMN end_by_ms;"
                 "PRAGMA user_version = 21");
    journal_fixture_reopen(fixture);
    journal_fixture_assert_loads(fixture, rows, 5);
}

/* A journal as the first version left it. */
static void test_a_journal_of_before_arrays(void **state)
{
    struct journal_fixture *fixture = *state;
    struct row rows[] = {journal_rows_job(1, journal_rows_full()),
                         journal_rows_state(1, JOB_RUN)};
    rows[1].job_state.attempt = 5;
    rows[1].job_state.reason = "why";
    rows[1].job_state.exit = journal_rows_exit();
    rows[0].job.spec.n_res_reqs = 0; /* nor had they requirements */
    rows[0].job.spec.is_exclusive = false;
    rows[0].job.spec.app = "";
    rows[0].job.spec.n_limits = 0;
    rows[0].job.spec.n_pre_execs = rows[0].job.spec.n_post_execs = 0;
    rows[0].job.spec.interaction = INTERACTION_NONE;
    rows[0].job.nonce = 0;
    rows[0].job.spec.n_controls = 0;
    rows[1].job_state.exit.cause = RUN_CAUSE_NONE;
    rows[1].job_state.exit.post = RUN_POST_NONE;
    journal_fixture_write(fixture, rows, 2);
    journal_fixture_run_sql(
        fixture,
        "CREATE TABLE old AS SELECT key >> 20 AS id, " STATE_OF_1 " FROM job_state;"
        "DROP TABLE job_state; DROP TABLE lease_account;"
        "DROP TABLE usage_run; DROP TABLE usage_split;"
        "ALTER TABLE run DROP COLUMN use_start_ms;"
        "ALTER TABLE run DROP COLUMN use_used_ms;"
        "ALTER TABLE run DROP COLUMN use_at_ms;"
        "ALTER TABLE run DROP COLUMN use_n_slots;"
        "ALTER TABLE book DROP COLUMN split_ms;"
        "DROP TABLE usage; DROP TABLE usage_level; DROP TABLE usage_size; "
        "DROP TABLE quota;"
        "ALTER TABLE old RENAME TO job_state;"
        "ALTER TABLE job DROP COLUMN is_array;"
        "ALTER TABLE job DROP COLUMN res_reqs;"
        "ALTER TABLE run_spec DROP COLUMN res_reqs;"
        "ALTER TABLE job DROP COLUMN depend;"
        "ALTER TABLE job DROP COLUMN depend_on;"
        "ALTER TABLE job DROP COLUMN begin_ms;"
        "ALTER TABLE job DROP COLUMN project;"
        "DROP TABLE cpus;"
        "ALTER TABLE job DROP COLUMN user_group;"
        "DROP TABLE job_group; ALTER TABLE job DROP COLUMN job_group;"
        "ALTER TABLE run DROP COLUMN binding;"
        "ALTER TABLE run DROP COLUMN exit_post;"
        "ALTER TABLE job DROP COLUMN terminate_ms;"
        "ALTER TABLE job DROP COLUMN ends_orphan;"
        "ALTER TABLE job DROP COLUMN requeue_codes;"
        "ALTER TABLE job DROP COLUMN run_limit_host;"
        "ALTER TABLE job DROP COLUMN replaces_out;"
        "ALTER TABLE job DROP COLUMN replaces_err;"
        "ALTER TABLE job DROP COLUMN report_ms;"
        "ALTER TABLE job DROP COLUMN description;"
        "ALTER TABLE run_spec DROP COLUMN replaces_out;"
        "ALTER TABLE run_spec DROP COLUMN replaces_err;"
        "ALTER TABLE run_spec DROP COLUMN report_ms;"
        "ALTER TABLE run DROP COLUMN control_run_limit_ms;"
        "ALTER TABLE run DROP COLUMN control_mem_limit_kib;"
        "ALTER TABLE job DROP COLUMN nonce;"
        "ALTER TABLE run DROP COLUMN nonce;"
        "ALTER TABLE high DROP COLUMN job;"
        "ALTER TABLE high DROP COLUMN commits;"
        "ALTER TABLE book DROP COLUMN commits;"
        "ALTER TABLE book DROP COLUMN lost_from;"
        "ALTER TABLE book DROP COLUMN lost_to;"
        "ALTER TABLE job DROP COLUMN priority;"
        "ALTER TABLE job DROP COLUMN is_exclusive;"
        "ALTER TABLE run_spec DROP COLUMN is_exclusive;"
        "ALTER TABLE job DROP COLUMN max_slots;"
        "ALTER TABLE job DROP COLUMN resizable;"
        "ALTER TABLE job DROP COLUMN resize_notify;"
        "DROP TABLE job_event;"
        "ALTER TABLE job DROP COLUMN app;"
        "ALTER TABLE job DROP COLUMN limits;"
        "ALTER TABLE job DROP COLUMN pre_execs;"
        "ALTER TABLE job DROP COLUMN post_execs;"
        "ALTER TABLE run_spec DROP COLUMN app;"
        "ALTER TABLE run_spec DROP COLUMN limits;"
        "ALTER TABLE run_spec DROP COLUMN pre_execs;"
        "ALTER TABLE run_spec DROP COLUMN post_execs;"
        "ALTER TABLE job DROP COLUMN interaction;"
        "ALTER TABLE run_spec DROP COLUMN interaction;"
        "ALTER TABLE job DROP COLUMN controls;"
        "ALTER TABLE run_spec DROP COLUMN controls;"
        "ALTER TABLE run DROP COLUMN exit_cause;"
        "DROP TABLE queue;"
        "DROP TABLE closed;"
        "DROP TABLE pick;"
        "DROP TABLE share;"
        "ALTER TABLE book DROP COLUMN is_drained;"
        "ALTER TABLE book DROP COLUMN drain;"
        "ALTER TABLE book DROP COLUMN is_pool;"
        "ALTER TABLE book DROP COLUMN recall;"
        "ALTER TABLE book DROP COLUMN is_whole;"
        "DROP TABLE book_recall;"
        "ALTER TABLE run DROP COLUMN priority;"
        "ALTER TABLE run DROP COLUMN is_recalled;"
        "ALTER TABLE run DROP COLUMN end_by_ms;"
        "DROP TABLE book_resource;"
        "ALTER TABLE book_host DROP COLUMN mem_mib;"
        "ALTER TABLE book_host DROP COLUMN swp_mib;"
        "PRAGMA user_version = 1");
    journal_fixture_reopen(fixture);
    journal_fixture_assert_loads(fixture, rows, 2);
}

static void test_the_same_key_replaces_a_row(void **state)
{
    struct job_spec spec = journal_rows_full();
    struct row rows[] = {
        {.kind = ROW_COUNTER, .counter = {"boot", 1}},
        {.kind = ROW_HIGH, .high = {"south", 1}},
        journal_rows_job(1, journal_rows_full()),
        journal_rows_state(1, JOB_PEND),
        journal_rows_run("north", 1, RUN_RECORD_TAKEN),
    };
    struct row later[] = {
        {.kind = ROW_COUNTER, .counter = {"boot", 2}},
        {.kind = ROW_HIGH, .high = {"south", 2}},
        journal_rows_job(1, journal_rows_full()),
        journal_rows_state(1, JOB_DONE),
        journal_rows_run("north", 1, RUN_RECORD_ENDED),
    };
    later[4].run.spec = &spec;
    journal_fixture_write(*state, rows, 5);
    journal_fixture_write(*state, later, 5);
    journal_fixture_assert_loads(*state, later, 5);
}

static void test_a_run_keeps_its_spec_when_a_later_row_has_none(void **state)
{
    struct job_spec spec = journal_rows_full();
    struct row rows[] = {
        journal_rows_run("south", 1, RUN_RECORD_TAKEN),
        journal_rows_run("south", 1, RUN_RECORD_GUARDED),
    };
    rows[0].run.spec = &spec;
    journal_fixture_write(*state, rows, 2);
    rows[1].run.spec = &spec;
    journal_fixture_assert_loads(*state, rows + 1, 1);
}

static void test_a_book_is_replaced_with_its_hosts(void **state)
{
    struct host_split before[] = {
        {.host = "n1", .n_slots = 4, .provider = 4},
        {.host = "n2", .n_slots = 4, .provider = 4},
        {.host = "n3", .n_slots = 4, .provider = 4},
    };
    struct lease_resource resource = {"lic", 1, 3, 0, ""};
    struct host_split after[] = {
        {.host = "n1", .n_slots = 4, .consumer = 4, .spaces = {{true, 1}, {false, 0}}},
        {.host = "n3", .n_slots = 4, .provider = 4},
    };
    struct row row = {.kind = ROW_BOOK};
    row.book = (struct row_book){
        .lease = "north/1/south",
        .policy = "1",
        .consumer = "south",
        .content = "",
        .hosts = before,
        .n_hosts = 3,
        .resources = &resource,
        .n_resources = 1,
    };
    journal_fixture_write(*state, &row, 1);
    row.book.hosts = after;
    row.book.n_hosts = 2;
    row.book.n_resources = 0;
    row.book.epoch = 2;
    row.book.is_withdrawn = row.book.is_ended = true;
    journal_fixture_write(*state, &row, 1);
    journal_fixture_assert_loads(*state, &row, 1);
}

static void test_what_is_gone_takes_its_parts_with_it(void **state)
{
    struct journal_fixture *fixture = *state;
    struct host_split split = {.host = "n1", .n_slots = 4, .provider = 4};
    struct job_spec spec = journal_rows_full();
    struct row rows[] = {
        {.kind = ROW_BOOK},
        journal_rows_job(1, journal_rows_full()),
        journal_rows_state(1, JOB_DONE),
        journal_rows_run("south", 1, RUN_RECORD_ENDED),
    };
    rows[0].book = (struct row_book){
        .lease = "north/1/south",
        .policy = "1",
        .consumer = "south",
        .content = "",
        .hosts = &split,
        .n_hosts = 1,
    };
    rows[3].run.spec = &spec;
    journal_fixture_write(fixture, rows, 4);
    struct row gone[] = {rows[0], rows[2], rows[3]};
    gone[0].book.is_gone = true;
    gone[1].job_state.is_gone = true;
    gone[2].run.is_gone = true;
    journal_fixture_write(fixture, gone, 3);
    journal_fixture_assert_loads(fixture, NULL, 0);

    /* Nor do they come back with a new row of the same key. */
    rows[0].book.n_hosts = 0;
    rows[3].run.spec = NULL;
    struct row again[] = {rows[0], rows[3]};
    journal_fixture_write(fixture, again, 2);
    journal_fixture_assert_loads(fixture, again, 2);
    /* What is gone already may go again. */
    journal_fixture_write(fixture, gone, 3);
    journal_fixture_assert_loads(fixture, NULL, 0);
}

static void test_a_row_of_the_broker_is_refused(void **state)
{
    struct journal_fixture *fixture = *state;
    struct err err = {0};
    struct row row = {.kind = ROW_OVERRIDE, .override = {RECLAIM_ALL, "", 1}};
    assert_int_equal(db_begin(journal_db(fixture->journal), &err), 0);
    assert_int_equal(journal_write(fixture->journal, &row, &err), ERR_STATE);
}

static void test_what_the_schema_forbids_is_an_error_that_names_the_row(void **state)
{
    struct journal_fixture *fixture = *state;
    struct err err = {0};
    char lease[201];
    struct row row = journal_rows_state(77, JOB_PEND);
    memset(lease, 'a', sizeof(lease) - 1); /* longer than any is */
    lease[sizeof(lease) - 1] = '\0';
    row.job_state.lease = lease;
    assert_int_equal(db_begin(journal_db(fixture->journal), &err), 0);
    int rc = journal_write(fixture->journal, &row, &err);
    if (rc == 0) {
        rc = db_commit(journal_db(fixture->journal), &err);
    }
    assert_int_equal(rc, ERR_IO);
    assert_non_null(strstr(err.text, "77"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name)                                                                     \
    cmocka_unit_test_setup_teardown(name, journal_fixture_setup,                       \
                                    journal_fixture_teardown)
        TEST(test_an_empty_journal_loads_nothing),
        TEST(test_every_kind_comes_back_in_the_order_of_kinds),
        TEST(test_every_state_record_and_end_comes_back),
        TEST(test_elements_of_an_array_have_states_of_their_own),
        TEST(test_hosts_are_closed_and_opened),
        TEST(test_accounts_of_other_sites_users),
        TEST(test_quotas),
        TEST(test_picks_are_kept_and_dropped),
        TEST(test_cpus_are_those_of_the_latest_report),
        TEST(test_use_fades_from_where_it_was),
        TEST(test_a_journal_of_before_short_states),
        TEST(test_a_journal_of_before_arrays),
        TEST(test_the_same_key_replaces_a_row),
        TEST(test_a_run_keeps_its_spec_when_a_later_row_has_none),
        TEST(test_a_book_is_replaced_with_its_hosts),
        TEST(test_what_is_gone_takes_its_parts_with_it),
        TEST(test_a_row_of_the_broker_is_refused),
        TEST(test_what_the_schema_forbids_is_an_error_that_names_the_row),
#undef TEST
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
