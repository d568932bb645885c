/* SPDX-License-Identifier: Apache-2.0 */
/* test_site_journal.c: what a site writes it finds again, in the order in which it
 * wants to load it; files that are not its own, not whole or in use are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/job_id.h"
#include "site/io/journal.h"

/* ---------------------------------------------------------------- fixture */

struct fixture {
    char directory[64], path[96];
    struct journal *journal;
    struct arena arena; /* of what is read */
};

static void reopen(struct fixture *fixture)
{
    struct err err = {0};
    journal_close(fixture->journal);
    fixture->journal = NULL;
    if (journal_open(fixture->path, &fixture->journal, &err) < 0) {
        fail_msg("%s", err.text);
    }
}

static int setup(void **state)
{
    struct fixture *fixture = mem_alloc(1, sizeof(*fixture));
    snprintf(fixture->directory, sizeof(fixture->directory),
             "/tmp/sublet-journal-XXXXXX");
    assert_non_null(mkdtemp(fixture->directory));
    snprintf(fixture->path, sizeof(fixture->path), "%s/journal.db", fixture->directory);
    arena_init(&fixture->arena);
    reopen(fixture);
    *state = fixture;
    return 0;
}

static int teardown(void **state)
{
    static const char *const suffixes[] = {"", "-wal", "-journal", "-shm"};
    struct fixture *fixture = *state;
    journal_close(fixture->journal);
    arena_release(&fixture->arena);
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
        char path[128];
        snprintf(path, sizeof(path), "%s%s", fixture->path, suffixes[i]);
        unlink(path);
    }
    rmdir(fixture->directory);
    free(fixture);
    return 0;
}

static void write_rows(struct fixture *fixture, const struct row *rows, size_t n_rows)
{
    struct err err = {0};
    int rc = journal_begin(fixture->journal, &err);
    for (size_t i = 0; i < n_rows && rc == 0; i++) {
        rc = journal_write(fixture->journal, &rows[i], &err);
    }
    if (rc < 0 || journal_commit(fixture->journal, &err) < 0) {
        fail_msg("%s", err.text);
    }
}

/* ---------------------------------------------------------------- rows as text */

struct transcript {
    char text[65536];
    size_t length;
};

static void add(struct transcript *to, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void add(struct transcript *to, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n =
        vsnprintf(to->text + to->length, sizeof(to->text) - to->length, format, args);
    va_end(args);
    assert_true(n >= 0 && (size_t)n < sizeof(to->text) - to->length);
    to->length += (size_t)n;
}

static void add_book(struct transcript *to, const struct row_book *book)
{
    add(to, "book %s policy %s of %s content \"%s\" type %d epoch %" PRIu64,
        book->lease, book->policy, book->consumer, book->content, book->type,
        book->epoch);
    add(to, " made %d withdrawn %d ended %d drained %d by %" PRIu64 "\n", book->is_made,
        book->is_withdrawn, book->is_ended, book->is_drained, book->drain);
    for (int i = 0; i < book->n_hosts; i++) {
        add(to, "  %s %d = %d + %d\n", book->hosts[i].host, book->hosts[i].n_slots,
            book->hosts[i].provider, book->hosts[i].consumer);
        for (int k = 0; k < SPACES; k++) {
            add(to, "  space %d given %d: %d\n", k, book->hosts[i].spaces[k].is_given,
                book->hosts[i].spaces[k].mib);
        }
    }
    for (int i = 0; i < book->n_resources; i++) {
        const struct lease_resource *resource = &book->resources[i];
        add(to, "  %d of %s %d traits %d seen from \"%s\"\n", resource->n_instances,
            resource->name, resource->pool, resource->traits, resource->hosts);
    }
    for (int i = 0; i < book->n_recalls; i++) {
        add(to, "  recall %" PRIu64 " whole %d: %d by %" PRId64 "\n", book->recall,
            book->is_whole, book->recalls[i].n_held, book->recalls[i].deadline_ms);
    }
}

static void add_hosts(struct transcript *to, const struct host_slots *hosts,
                      int n_hosts)
{
    for (int i = 0; i < n_hosts; i++) {
        add(to, " on %s %d", hosts[i].host, hosts[i].n_slots);
    }
}

static void add_spec(struct transcript *to, const struct job_spec *spec)
{
    add(to, "  spec %s of %s %" PRId64 ":%" PRId64 " queue %s \"%s\" in %s", spec->name,
        spec->user, spec->uid, spec->gid, spec->queue, spec->command, spec->cwd);
    add(to,
        " files %s %s %s umask %" PRId64 " slots %d limit %" PRId64
        " rerun %d exclusive %d interaction %d\n",
        spec->in_file, spec->out_file, spec->err_file, spec->umask, spec->n_slots,
        spec->run_limit_ms, spec->is_rerunnable, spec->is_exclusive,
        (int)spec->interaction);
    for (int i = 0; i < spec->n_env; i++) {
        add(to, "  env \"%s\"\n", spec->env[i]);
    }
    for (int i = 0; i < spec->n_hosts_asked; i++) {
        add(to, "  asked \"%s\"\n", spec->hosts_asked[i]);
    }
    for (int i = 0; i < spec->n_res_reqs; i++) {
        add(to, "  requires \"%s\"\n", spec->res_reqs[i]);
    }
    add(to, "  app \"%s\"\n", spec->app != NULL ? spec->app : "");
    for (int i = 0; i < spec->n_limits; i++) {
        add(to, "  limit \"%s\"\n", spec->limits[i]);
    }
    for (int i = 0; i < spec->n_pre_execs; i++) {
        add(to, "  before \"%s\"\n", spec->pre_execs[i]);
    }
    for (int i = 0; i < spec->n_post_execs; i++) {
        add(to, "  after \"%s\"\n", spec->post_execs[i]);
    }
    for (int i = 0; i < spec->n_controls; i++) {
        add(to, "  control \"%s\"\n", spec->controls[i]);
    }
}

/* Rows of a test may leave them out: to the journal that is nothing. */
static void add_terms(struct transcript *to, const struct job_terms *terms)
{
    add(to,
        "  depend \"%s\" \"%s\" begin %" PRId64 " project \"%s\" priority %" PRId64
        " at most %d\n",
        terms->depend != NULL ? terms->depend : "",
        terms->depend_on != NULL ? terms->depend_on : "", terms->begin_ms,
        terms->project != NULL ? terms->project : "", terms->priority,
        terms->max_slots);
}

static void add_control(struct transcript *to, const struct run_control *control)
{
    add(to, "  control %" PRIu64 " %d %d\n", control->number, control->action,
        control->signal);
}

static void add_exit(struct transcript *to, const struct run_exit *exit)
{
    add(to, "  exit %d %d %" PRId64 " to %" PRId64 " cpu %" PRId64 " mem %" PRId64,
        exit->end, exit->code, exit->start_ms, exit->end_ms, exit->cpu_ms,
        exit->mem_kib);
    add(to, " put out %" PRId64 " %" PRId64 " \"%s\"\n", exit->out_bytes,
        exit->err_bytes, exit->text);
}

static void add_job_state(struct transcript *to, const struct row_job_state *state)
{
    add(to, "job_state %" PRIu64 "[%d] dropped %d", state->id, state->index,
        state->is_dropped);
    add(to, " %d attempt %" PRIu64 " lease \"%s\" epoch %" PRIu64, state->state,
        state->attempt, state->lease, state->epoch);
    add(to, " decided %d killed %d from %" PRId64 " to %" PRId64 " \"%s\"",
        state->is_decided, state->is_killed, state->start_ms, state->end_ms,
        state->reason);
    add_hosts(to, state->hosts, state->n_hosts);
    add(to, " reserved \"%s\"", state->reserved != NULL ? state->reserved : "");
    add(to, " queue \"%s\" place %" PRId64 " released %d requeued %d\n",
        state->queue != NULL ? state->queue : "", state->place, state->is_released,
        (int)state->requeue_cause);
    add(to, " halt %d yields %d by %" PRIu64 " count %d", state->halt.causes,
        state->halt.yields, state->halt.by, state->halt.n_preempted);
    add(to, " %" PRId64 " %" PRId64 " %" PRId64 "\n", state->halt.since_ms,
        state->halt.resumed_ms, state->halt.total_ms);
    add_control(to, &state->control);
    add_exit(to, &state->exit);
}

static void add_run(struct transcript *to, const struct row_run *run)
{
    add(to, "run %s/%" PRIu64 " job %s lease \"%s\" record %d token %" PRIu64,
        run->run.site, run->run.attempt, run->job, run->lease, run->record, run->token);
    add_hosts(to, run->hosts, run->n_hosts);
    add(to, "\n");
    add_control(to, &run->control);
    add_exit(to, &run->exit);
    if (run->spec != NULL) {
        add_spec(to, run->spec);
    }
}

static void add_row(void *arg, const struct row *row)
{
    struct transcript *to = arg;
    switch (row->kind) {
    case ROW_COUNTER:
        add(to, "counter %s %" PRIu64 "\n", row->counter.name, row->counter.value);
        break;
    case ROW_BOOK:
        add_book(to, &row->book);
        break;
    case ROW_HIGH:
        add(to, "high %s %" PRIu64 "\n", row->high.consumer, row->high.attempt);
        break;
    case ROW_QUEUE:
        add(to, "queue %s closed %d inactive %d\n", row->queue.name,
            row->queue.is_closed, row->queue.is_inactive);
        break;
    case ROW_JOB:
        add(to, "job %" PRIu64 " at %" PRId64 " array %d\n", row->job.id,
            row->job.submit_ms, row->job.is_array);
        add_terms(to, &row->job.terms);
        add_spec(to, &row->job.spec);
        break;
    case ROW_JOB_STATE:
        add_job_state(to, &row->job_state);
        break;
    case ROW_RUN:
        add_run(to, &row->run);
        break;
    case ROW_CLOSED:
        add(to, "closed %s\n", row->closed.host);
        break;
    case ROW_PICK:
        add(to, "pick %s %s %s\n", row->pick.policy, row->pick.content,
            row->pick.hosts);
        break;
    case ROW_SHARE:
        add(to, "share %s of %s cpu %.17g past %.17g ahead %.17g%s at %" PRId64 "\n",
            row->share.account, row->share.scope, row->share.cpu_ms, row->share.past_ms,
            row->share.ahead_ms, row->share.is_waiting ? " waits" : "",
            row->share.at_ms);
        break;
    case ROW_OVERRIDE:
    case ROW_LEASE:
    case ROW_SITE:
    case ROW_HISTORY:
    case ROW_JOB_EVENT:
    case ROW_KINDS:
        fail_msg("a row of kind %d", row->kind);
    }
}

/* After a restart of the journal it hands over just these rows, in this order. */
static void assert_loads(struct fixture *fixture, const struct row *rows, size_t n_rows)
{
    struct transcript *expected = mem_alloc(1, sizeof(*expected));
    struct transcript *loaded = mem_alloc(1, sizeof(*loaded));
    struct err err = {0};
    for (size_t i = 0; i < n_rows; i++) {
        add_row(expected, &rows[i]);
    }
    reopen(fixture);
    if (journal_load(fixture->journal, add_row, loaded, &err) < 0) {
        fail_msg("%s", err.text);
    }
    assert_string_equal(loaded->text, expected->text);
    free(expected);
    free(loaded);
}

/* ---------------------------------------------------------------- rows to write */

static const char *const some_env[] = {"PATH=/bin:/usr/bin", "EMPTY=", "", "TWO=a\nb"};
static const char *const some_asked[] = {"n1", "n2@north", "others"};
static const char *const some_reqs[] = {"swp > 15", "select[type == any]"};

static const char *const some_limits[] = {"cpu=60000", "mem=0"};
static const char *const some_execs[] = {"/bin/true", "echo 'two'\necho lines"};

static const char *const some_controls[] = {"suspend=TSTP", "resume=wake $LSB_JOBPIDS"};

static struct job_spec full_spec(void)
{
    return (struct job_spec){
        .name = "name with blanks",
        .user = "ana",
        .uid = 1000,
        .gid = 4294967294,
        .queue = "normal",
        .command = "echo 'it''s' \"\u00fc\"; exit 3\n",
        .cwd = "/home/ana",
        .in_file = "in",
        .out_file = "out.%J",
        .err_file = "err.%J",
        .env = some_env,
        .n_env = 4,
        .umask = 027,
        .n_slots = 3,
        .hosts_asked = some_asked,
        .n_hosts_asked = 3,
        .res_reqs = some_reqs,
        .n_res_reqs = 2,
        .run_limit_ms = 600000,
        .is_rerunnable = true,
        .is_exclusive = true,
        .app = "catia",
        .limits = some_limits,
        .n_limits = 2,
        .pre_execs = some_execs,
        .n_pre_execs = 2,
        .post_execs = some_execs + 1,
        .n_post_execs = 1,
        .interaction = INTERACTION_SHELL,
        .controls = some_controls,
        .n_controls = 2,
    };
}

static struct job_spec empty_spec(void)
{
    return (struct job_spec){
        .name = "",
        .user = "",
        .queue = "",
        .command = "",
        .cwd = "",
        .in_file = "",
        .out_file = "",
        .err_file = "",
    };
}

static struct run_exit full_exit(void)
{
    return (struct run_exit){
        .end = RUN_END_SIGNALLED,
        .code = 9,
        .start_ms = 1700000000000,
        .end_ms = 1700000001000,
        .cpu_ms = 900,
        .mem_kib = 2048,
        .out_bytes = 10,
        .err_bytes = 20,
        .cause = RUN_CAUSE_CPU_LIMIT,
        .text = "killed",
    };
}

static struct row job(uint64_t id, struct job_spec spec)
{
    struct row row = {.kind = ROW_JOB};
    row.job = (struct row_job){.id = id, .submit_ms = 1700000000000, .spec = spec};
    return row;
}

static struct row job_state(uint64_t id, enum job_state state)
{
    struct row row = {.kind = ROW_JOB_STATE};
    row.job_state = (struct row_job_state){
        .id = id, .state = state, .lease = "", .reason = "", .exit.text = ""};
    return row;
}

static struct row run(const char *site, uint64_t attempt, enum run_record record)
{
    struct row row = {.kind = ROW_RUN};
    row.run = (struct row_run){
        .run = {site, attempt},
        .job = "1",
        .lease = "",
        .record = record,
        .exit.text = "",
    };
    return row;
}

static void run_sql(struct fixture *fixture, const char *sql)
{
    sqlite3 *handle;
    journal_close(fixture->journal);
    fixture->journal = NULL;
    assert_int_equal(sqlite3_open(fixture->path, &handle), SQLITE_OK);
    assert_int_equal(sqlite3_exec(handle, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(handle);
}

/* ---------------------------------------------------------------- tests */

static void test_an_empty_journal_loads_nothing(void **state)
{
    assert_loads(*state, NULL, 0);
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
    struct job_spec spec = full_spec();
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
    struct row waiting = job(2, full_spec());
    waiting.job.terms = (struct job_terms){.depend = "done(\"prep\")",
                                           .depend_on = "done(1)",
                                           .begin_ms = 1700000000001,
                                           .project = "gene",
                                           .priority = 50,
                                           .max_slots = 12};
    struct row running = job_state(2, JOB_RUN);
    running.job_state.attempt = 5;
    running.job_state.lease = "north/spare/south";
    running.job_state.epoch = 7;
    running.job_state.is_decided = running.job_state.is_killed = true;
    running.job_state.hosts = slots;
    running.job_state.n_hosts = 2;
    running.job_state.start_ms = 1;
    running.job_state.end_ms = 2;
    running.job_state.control = (struct run_control){3, CONTROL_SIGNAL, 10, false, 0};
    running.job_state.exit = full_exit();
    running.job_state.reason = "on \"n1\"";
    running.job_state.queue = "night";
    running.job_state.place = -3;
    running.job_state.reserved = "mem=4096/host";
    running.job_state.is_released = true;
    running.job_state.requeue_cause = REQUEUE_LOAD;
    running.job_state.halt = (struct job_halt){.causes = HALT_USER | HALT_PREEMPT,
                                               .yields = true,
                                               .by = job_id_key(7, 3),
                                               .n_preempted = 4,
                                               .since_ms = 5,
                                               .resumed_ms = 6,
                                               .total_ms = 7};
    struct row lent = run("south", 5, RUN_RECORD_GUARDED);
    lent.run.lease = "north/spare/south";
    lent.run.hosts = slots;
    lent.run.n_hosts = 2;
    lent.run.spec = &spec;
    lent.run.token = UINT64_MAX - 1;
    lent.run.control = (struct run_control){4, CONTROL_SUSPEND, 0, false, 0};
    lent.run.exit = full_exit();
    const struct row rows[] = {
        {.kind = ROW_COUNTER, .counter = {"attempt", 12}},
        {.kind = ROW_COUNTER, .counter = {"job", INT64_MAX}},
        book,
        leaf,
        {.kind = ROW_HIGH, .high = {"east", 1}},
        {.kind = ROW_HIGH, .high = {"south", 44}},
        {.kind = ROW_QUEUE, .queue = {"night", true, false}},
        job(1, empty_spec()),
        waiting,
        job_state(1, JOB_PEND),
        running,
        run("north", 9, RUN_RECORD_TAKEN),
        lent,
    };
    size_t n_rows = sizeof(rows) / sizeof(rows[0]);
    write_rows(*state, rows, n_rows);
    assert_loads(*state, rows, n_rows);
}

static void test_every_state_record_and_end_comes_back(void **state)
{
    for (int i = 0; i <= JOB_UNKWN; i++) {
        struct row rows[] = {
            job(1, empty_spec()),
            job_state(1, (enum job_state)i),
            run("north", 1, (enum run_record)(i % (RUN_RECORD_ENDED + 1))),
        };
        rows[1].job_state.exit.end = (enum run_end)(i % (RUN_END_LIMIT + 1));
        rows[2].run.control.action = (enum control_action)(i % (CONTROL_KILL + 1));
        write_rows(*state, rows, 3);
        assert_loads(*state, rows, 3);
    }
}

static void test_elements_of_an_array_have_states_of_their_own(void **state)
{
    struct row rows[] = {
        job(1, full_spec()),   job(2, full_spec()),    job_state(1, JOB_PEND),
        job_state(2, JOB_RUN), job_state(2, JOB_DONE),
    };
    rows[1].job.is_array = true;
    rows[3].job_state.index = 7;
    rows[4].job_state.index = 999999;
    rows[4].job_state.is_dropped = true;
    write_rows(*state, rows, 5);
    assert_loads(*state, rows, 5);
    /* It goes with all of them. */
    struct row gone = job_state(2, JOB_DONE);
    gone.job_state.index = 7;
    gone.job_state.is_gone = true;
    write_rows(*state, &gone, 1);
    rows[1] = rows[2];
    assert_loads(*state, rows, 2);
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
    write_rows(*state, rows, 5);
    assert_loads(*state, &rows[1], 1);
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
    write_rows(*state, rows, 6);
    assert_loads(*state, left, 2);
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
    write_rows(*state, rows, 3);
    assert_loads(*state, rows, 3);
    write_rows(*state, later, 3);
    rows[1] = later[0];
    assert_loads(*state, rows, 2);
}

/* A journal as the first version left it. */
static void test_a_journal_of_before_arrays(void **state)
{
    struct fixture *fixture = *state;
    struct row rows[] = {job(1, full_spec()), job_state(1, JOB_RUN)};
    rows[1].job_state.attempt = 5;
    rows[1].job_state.reason = "why";
    rows[1].job_state.exit = full_exit();
    rows[0].job.spec.n_res_reqs = 0; /* nor had they requirements */
    rows[0].job.spec.is_exclusive = false;
    rows[0].job.spec.app = "";
    rows[0].job.spec.n_limits = 0;
    rows[0].job.spec.n_pre_execs = rows[0].job.spec.n_post_execs = 0;
    rows[0].job.spec.interaction = INTERACTION_NONE;
    rows[0].job.spec.n_controls = 0;
    rows[1].job_state.exit.cause = RUN_CAUSE_NONE;
    write_rows(fixture, rows, 2);
    run_sql(fixture, "ALTER TABLE job_state DROP COLUMN is_dropped;"
                     "CREATE TABLE old AS SELECT * FROM job_state;"
                     "DROP TABLE job_state;"
                     "ALTER TABLE old DROP COLUMN element;"
                     "ALTER TABLE old RENAME TO job_state;"
                     "ALTER TABLE job DROP COLUMN is_array;"
                     "ALTER TABLE job DROP COLUMN res_reqs;"
                     "ALTER TABLE run_spec DROP COLUMN res_reqs;"
                     "ALTER TABLE job DROP COLUMN depend;"
                     "ALTER TABLE job DROP COLUMN depend_on;"
                     "ALTER TABLE job DROP COLUMN begin_ms;"
                     "ALTER TABLE job DROP COLUMN project;"
                     "ALTER TABLE job DROP COLUMN priority;"
                     "ALTER TABLE job_state DROP COLUMN switched_queue;"
                     "ALTER TABLE job_state DROP COLUMN place;"
                     "ALTER TABLE job_state DROP COLUMN is_released;"
                     "ALTER TABLE job_state DROP COLUMN requeue_cause;"
                     "ALTER TABLE job_state DROP COLUMN halt_causes;"
                     "ALTER TABLE job_state DROP COLUMN halt_yields;"
                     "ALTER TABLE job_state DROP COLUMN halt_by;"
                     "ALTER TABLE job_state DROP COLUMN halt_count;"
                     "ALTER TABLE job_state DROP COLUMN halt_since_ms;"
                     "ALTER TABLE job_state DROP COLUMN halt_resumed_ms;"
                     "ALTER TABLE job_state DROP COLUMN halt_total_ms;"
                     "ALTER TABLE job DROP COLUMN is_exclusive;"
                     "ALTER TABLE run_spec DROP COLUMN is_exclusive;"
                     "ALTER TABLE job DROP COLUMN max_slots;"
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
                     "ALTER TABLE job_state DROP COLUMN n_requeues;"
                     "ALTER TABLE job_state DROP COLUMN reserved;"
                     "ALTER TABLE job_state DROP COLUMN n_pre_fails;"
                     "ALTER TABLE job_state DROP COLUMN exit_cause;"
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
                     "DROP TABLE book_resource;"
                     "ALTER TABLE book_host DROP COLUMN mem_mib;"
                     "ALTER TABLE book_host DROP COLUMN swp_mib;"
                     "PRAGMA user_version = 1");
    reopen(fixture);
    assert_loads(fixture, rows, 2);
}

static struct row event(uint64_t id, int index, int64_t at_ms, enum job_event what)
{
    static const struct job_facts facts = {"ana", "many[1-9]", "normal",
                                           "p",   "true",      2};
    static const struct host_slots hosts[] = {{"n1", 2}};
    struct row row = {.kind = ROW_JOB_EVENT};
    row.job_event = (struct row_job_event){.site = "",
                                           .id = id,
                                           .index = index,
                                           .at_ms = at_ms,
                                           .event = what,
                                           .state = JOB_RUN,
                                           .lease = "",
                                           .hosts = hosts,
                                           .n_hosts = 1,
                                           .reason = "why",
                                           .exit = full_exit()};
    row.job_event.facts = what == JOB_EVENT_SUBMIT ? &facts : NULL;
    return row;
}

static int read_events(struct fixture *fixture, const struct journal_asked *asked,
                       struct row_job_event **events, bool *is_cut)
{
    struct err err;
    int n_events;
    assert_int_equal(journal_read_history(fixture->journal, asked, &fixture->arena,
                                          events, &n_events, is_cut, &err),
                     0);
    return n_events;
}

static void test_what_happened_is_read_by_job(void **state)
{
    struct fixture *fixture = *state;
    struct row rows[] = {
        event(7, 0, 100, JOB_EVENT_SUBMIT), event(7, 2, 300, JOB_EVENT_END),
        event(8, 0, 150, JOB_EVENT_SUBMIT), event(7, 1, 200, JOB_EVENT_START),
        event(7, 2, 250, JOB_EVENT_START),  event(7, 3, 400, JOB_EVENT_END),
    };
    struct journal_asked asked = {
        .site = "", .id = 7, .first = 1, .last = 2, .limit = 10};
    struct row_job_event *events;
    bool is_cut;
    write_rows(fixture, rows, 6);
    reopen(fixture);
    assert_int_equal(read_events(fixture, &asked, &events, &is_cut), 4);
    assert_false(is_cut);
    assert_string_equal(events[0].facts->name, "many[1-9]");
    assert_int_equal(events[0].facts->n_slots, 2);
    assert_null(events[1].facts);
    assert_int_equal(events[1].index, 1);
    assert_int_equal(events[1].at_ms, 200);
    assert_string_equal(events[1].hosts[0].host, "n1");
    assert_string_equal(events[1].reason, "why");
    assert_int_equal(events[2].event, JOB_EVENT_END); /* as it was written */
    assert_int_equal(events[2].exit.code, 128 + 9);
    assert_int_equal(events[2].exit.cpu_ms, 900);
    asked.last = 9;
    asked.limit = 2;
    assert_int_equal(read_events(fixture, &asked, &events, &is_cut), 3);
    assert_true(is_cut);
    asked.site = "south";
    assert_int_equal(read_events(fixture, &asked, &events, &is_cut), 0);
}

static void test_jobs_with_a_history_are_listed(void **state)
{
    struct fixture *fixture = *state;
    struct row rows[] = {
        event(7, 0, 100, JOB_EVENT_SUBMIT), event(8, 0, 150, JOB_EVENT_SUBMIT),
        event(9, 0, 160, JOB_EVENT_SUBMIT), event(9, 0, 170, JOB_EVENT_START)};
    static const struct {
        const char *user;
        uint64_t after;
        int limit, n_ids;
        uint64_t first;
    } cases[] = {{"", 0, 10, 3, 7}, {"ana", 0, 10, 3, 7}, {"bo", 0, 10, 0, 0},
                 {"", 7, 10, 2, 8}, {"ana", 0, 2, 2, 7},  {"", 9, 10, 0, 0}};
    write_rows(fixture, rows, 4);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct err err;
        uint64_t *ids;
        int n_ids;
        assert_int_equal(journal_read_history_ids(fixture->journal, cases[i].user,
                                                  cases[i].after, cases[i].limit,
                                                  &fixture->arena, &ids, &n_ids, &err),
                         0);
        assert_int_equal(n_ids, cases[i].n_ids);
        assert_int_equal(n_ids > 0 ? ids[0] : 0, cases[i].first);
    }
}

static void test_what_is_too_old_is_forgotten(void **state)
{
    struct fixture *fixture = *state;
    struct row rows[] = {event(7, 0, 100, JOB_EVENT_SUBMIT),
                         event(7, 0, 200, JOB_EVENT_START),
                         event(7, 0, 300, JOB_EVENT_SUSPEND)};
    struct row trim = {.kind = ROW_JOB_EVENT,
                       .job_event = {.is_trim = true, .at_ms = 250}};
    struct journal_asked asked = {
        .site = "", .id = 7, .first = 1, .last = 9, .limit = 10};
    struct row_job_event *events;
    bool is_cut;
    write_rows(fixture, rows, 3);
    write_rows(fixture, &trim, 1);
    assert_int_equal(read_events(fixture, &asked, &events, &is_cut), 1);
    assert_int_equal(events[0].at_ms, 300);
}

static void test_the_same_key_replaces_a_row(void **state)
{
    struct job_spec spec = full_spec();
    struct row rows[] = {
        {.kind = ROW_COUNTER, .counter = {"boot", 1}},
        {.kind = ROW_HIGH, .high = {"south", 1}},
        job(1, full_spec()),
        job_state(1, JOB_PEND),
        run("north", 1, RUN_RECORD_TAKEN),
    };
    struct row later[] = {
        {.kind = ROW_COUNTER, .counter = {"boot", 2}},
        {.kind = ROW_HIGH, .high = {"south", 2}},
        job(1, full_spec()),
        job_state(1, JOB_DONE),
        run("north", 1, RUN_RECORD_ENDED),
    };
    later[4].run.spec = &spec;
    write_rows(*state, rows, 5);
    write_rows(*state, later, 5);
    assert_loads(*state, later, 5);
}

static void test_a_run_keeps_its_spec_when_a_later_row_has_none(void **state)
{
    struct job_spec spec = full_spec();
    struct row rows[] = {
        run("south", 1, RUN_RECORD_TAKEN),
        run("south", 1, RUN_RECORD_GUARDED),
    };
    rows[0].run.spec = &spec;
    write_rows(*state, rows, 2);
    rows[1].run.spec = &spec;
    assert_loads(*state, rows + 1, 1);
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
    write_rows(*state, &row, 1);
    row.book.hosts = after;
    row.book.n_hosts = 2;
    row.book.n_resources = 0;
    row.book.epoch = 2;
    row.book.is_withdrawn = row.book.is_ended = true;
    write_rows(*state, &row, 1);
    assert_loads(*state, &row, 1);
}

static void test_what_is_gone_takes_its_parts_with_it(void **state)
{
    struct fixture *fixture = *state;
    struct host_split split = {.host = "n1", .n_slots = 4, .provider = 4};
    struct job_spec spec = full_spec();
    struct row rows[] = {
        {.kind = ROW_BOOK},
        job(1, full_spec()),
        job_state(1, JOB_DONE),
        run("south", 1, RUN_RECORD_ENDED),
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
    write_rows(fixture, rows, 4);
    struct row gone[] = {rows[0], rows[2], rows[3]};
    gone[0].book.is_gone = true;
    gone[1].job_state.is_gone = true;
    gone[2].run.is_gone = true;
    write_rows(fixture, gone, 3);
    assert_loads(fixture, NULL, 0);

    /* Nor do they come back with a new row of the same key. */
    rows[0].book.n_hosts = 0;
    rows[3].run.spec = NULL;
    struct row again[] = {rows[0], rows[3]};
    write_rows(fixture, again, 2);
    assert_loads(fixture, again, 2);
    /* What is gone already may go again. */
    write_rows(fixture, gone, 3);
    assert_loads(fixture, NULL, 0);
}

static void test_a_row_of_the_broker_is_refused(void **state)
{
    struct fixture *fixture = *state;
    struct err err = {0};
    struct row row = {.kind = ROW_OVERRIDE, .override = {RECLAIM_ALL, "", 1}};
    assert_int_equal(journal_begin(fixture->journal, &err), 0);
    assert_int_equal(journal_write(fixture->journal, &row, &err), ERR_STATE);
}

static void test_what_the_schema_forbids_is_an_error_that_names_the_row(void **state)
{
    struct fixture *fixture = *state;
    struct err err = {0};
    struct row row = job_state(77, JOB_PEND);
    assert_int_equal(journal_begin(fixture->journal, &err), 0);
    /* A state without its job. */
    int rc = journal_write(fixture->journal, &row, &err);
    if (rc == 0) {
        rc = journal_commit(fixture->journal, &err);
    }
    assert_int_equal(rc, ERR_IO);
    assert_non_null(strstr(err.text, "77"));
}

/* ---------------------------------------------------------------- other files */

static int try_open(struct fixture *fixture, struct err *err)
{
    struct journal *other = NULL;
    int rc = journal_open(fixture->path, &other, err);
    journal_close(other);
    return rc;
}

static void test_only_its_owner_may_read_it(void **state)
{
    struct fixture *fixture = *state;
    struct stat status;
    assert_int_equal(stat(fixture->path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
}

static void test_a_newer_file_is_refused(void **state)
{
    struct err err = {0};
    run_sql(*state, "PRAGMA user_version = 99");
    assert_int_equal(try_open(*state, &err), ERR_VERSION);
}

static void test_a_file_of_another_program_is_refused(void **state)
{
    struct err err = {0};
    run_sql(*state, "PRAGMA application_id = 1");
    assert_true(try_open(*state, &err) < 0);
}

static void test_a_file_in_use_is_refused(void **state)
{
    struct fixture *fixture = *state;
    struct err err = {0};
    assert_int_equal(try_open(fixture, &err), ERR_EXISTS);
    assert_non_null(strstr(err.text, fixture->path));
}

static void test_a_damaged_file_is_refused(void **state)
{
    struct fixture *fixture = *state;
    struct err err = {0};
    char rubbish[4096];
    memset(rubbish, 0xa5, sizeof(rubbish));
    journal_close(fixture->journal);
    fixture->journal = NULL;
    int fd = open(fixture->path, O_WRONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, rubbish, sizeof(rubbish), 4096), sizeof(rubbish));
    close(fd);
    assert_int_equal(try_open(fixture, &err), ERR_IO);
    assert_non_null(strstr(err.text, fixture->path));
}

static void test_a_word_that_nobody_wrote_is_an_error(void **state)
{
    struct fixture *fixture = *state;
    struct err err = {0};
    struct row row = run("south", 1, RUN_RECORD_TAKEN);
    struct transcript *loaded = mem_alloc(1, sizeof(*loaded));
    write_rows(fixture, &row, 1);
    run_sql(fixture, "UPDATE run SET hosts = 'n1:x'");
    reopen(fixture);
    assert_int_equal(journal_load(fixture->journal, add_row, loaded, &err), ERR_IO);
    assert_non_null(strstr(err.text, "hosts"));
    free(loaded);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        TEST(test_an_empty_journal_loads_nothing),
        TEST(test_every_kind_comes_back_in_the_order_of_kinds),
        TEST(test_every_state_record_and_end_comes_back),
        TEST(test_elements_of_an_array_have_states_of_their_own),
        TEST(test_hosts_are_closed_and_opened),
        TEST(test_picks_are_kept_and_dropped),
        TEST(test_use_fades_from_where_it_was),
        TEST(test_a_journal_of_before_arrays),
        TEST(test_what_happened_is_read_by_job),
        TEST(test_jobs_with_a_history_are_listed),
        TEST(test_what_is_too_old_is_forgotten),
        TEST(test_the_same_key_replaces_a_row),
        TEST(test_a_run_keeps_its_spec_when_a_later_row_has_none),
        TEST(test_a_book_is_replaced_with_its_hosts),
        TEST(test_what_is_gone_takes_its_parts_with_it),
        TEST(test_a_row_of_the_broker_is_refused),
        TEST(test_what_the_schema_forbids_is_an_error_that_names_the_row),
        TEST(test_only_its_owner_may_read_it),
        TEST(test_a_newer_file_is_refused),
        TEST(test_a_file_of_another_program_is_refused),
        TEST(test_a_file_in_use_is_refused),
        TEST(test_a_damaged_file_is_refused),
        TEST(test_a_word_that_nobody_wrote_is_an_error),
#undef TEST
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
