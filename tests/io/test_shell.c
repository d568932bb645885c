/* SPDX-License-Identifier: Apache-2.0 */
/* test_shell.c: the order of a batch: collected, stepped, committed, and only then
 * sent; what that causes is the next batch. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "sys/db/db.h"
#include "sys/shell.h"

static const struct db_migration migrations[] = {
    {1, "rows", "CREATE TABLE rows (id INTEGER PRIMARY KEY)"},
    {0, NULL, NULL},
};

static const struct peer user = {.kind = PEER_CLIENT, .name = "ann"};

/* A machine and its parts, which write down what happens to them. */
static struct fixture {
    char directory[64], happened[256];
    zloop_t *loop;
    struct db *db;
    struct db_batch batch;
    struct shell *shell;
    zsock_t *ours, *theirs;
    int write_code, send_code;
    bool has_mail;
} fixture;

static void note(const char *what)
{
    size_t length = strlen(fixture.happened);
    snprintf(fixture.happened + length, sizeof(fixture.happened) - length, "%s%s",
             length > 0 ? " " : "", what);
}

static void put_row(struct effects *effects)
{
    struct row row = {.kind = ROW_COUNTER, .counter = {.name = "n"}};
    effects_store(effects, &row);
}

/* A message is answered, and the promise is on record. */
static void step(void *machine, const struct event *event, struct effects *effects)
{
    (void)machine;
    if (event->kind == EVENT_TICK) {
        note("tick");
    } else if (event->kind == EVENT_MESSAGE) {
        note("message");
        effects_reply(effects, &event->from, 7, "done", NULL, "");
        put_row(effects);
    } else {
        note("gone");
    }
}

static int64_t wake_ms(const void *machine)
{
    (void)machine;
    return INT64_MAX;
}

static int write_row(void *db, const struct row *row, struct err *err)
{
    (void)row;
    note("write");
    if (fixture.write_code < 0) {
        return err_set(err, fixture.write_code, "the disk is full");
    }
    return sqlite3_exec(db_handle(db), "INSERT INTO rows VALUES (NULL)", NULL, NULL,
                        NULL) == SQLITE_OK
               ? 0
               : ERR_IO;
}

static int send_to_user(void *db, const struct peer *to, const struct msg *msg,
                        struct err *err)
{
    assert_int_equal(to->kind, PEER_CLIENT);
    assert_true(sqlite3_get_autocommit(db_handle(db))); /* no transaction is open */
    note(msg->kind == MSG_ERROR          ? "error"
         : msg->reply.code == ERR_BOUNDS ? "too-long"
                                         : "send");
    int code = fixture.send_code;
    fixture.send_code = 0;
    return code < 0 ? err_set(err, code, "not sent") : 0;
}

static int64_t collect(void *part)
{
    (void)part;
    note("collect");
    if (fixture.has_mail) {
        fixture.has_mail = false;
        struct msg msg = {.kind = MSG_QUERY, .site = ""};
        shell_take_message(fixture.shell, &user, &msg);
    }
    return INT64_MAX;
}

static int setup(void **state)
{
    (void)state;
    struct err err;
    fixture = (struct fixture){.loop = zloop_new()};
    snprintf(fixture.directory, sizeof(fixture.directory), "/tmp/test_shell.XXXXXX");
    assert_non_null(mkdtemp(fixture.directory));
    char path[96];
    snprintf(path, sizeof(path), "%s/rows.db", fixture.directory);
    if (db_open(path, 1, migrations, false, &fixture.db, &err) < 0) {
        fail_msg("%s", err.text);
    }
    fixture.batch =
        (struct db_batch){.db = fixture.db, .store = fixture.db, .write = write_row};
    const struct shell_machine machine = {.step = step,
                                          .wake_ms = wake_ms,
                                          .commit = db_batch_commit,
                                          .maintain = db_batch_maintain,
                                          .store = &fixture.batch};
    fixture.shell = shell_new(fixture.loop, &machine);
    /* A thread of libzmq frees the name of a closed socket late. */
    static int n_pairs;
    snprintf(path, sizeof(path), "inproc://test_shell-%d", n_pairs++);
    fixture.ours = zsock_new(ZMQ_PAIR);
    fixture.theirs = zsock_new(ZMQ_PAIR);
    assert_int_equal(zsock_bind(fixture.ours, "%s", path), 0);
    assert_int_equal(zsock_connect(fixture.theirs, "%s", path), 0);
    shell_add_source(fixture.shell, fixture.ours, collect, NULL);
    shell_route(fixture.shell, PEER_CLIENT, send_to_user, fixture.db);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    shell_remove_source(fixture.shell, fixture.ours);
    shell_free(fixture.shell);
    zsock_destroy(&fixture.ours);
    zsock_destroy(&fixture.theirs);
    db_close(fixture.db);
    zloop_destroy(&fixture.loop);
    char command[96];
    snprintf(command, sizeof(command), "rm -rf '%s'", fixture.directory);
    return system(command);
}

/* ---------------------------------------------------------------- the order */

/* The machine puts its answer out before the row. */
static void test_nothing_is_sent_before_the_commit(void **state)
{
    (void)state;
    fixture.has_mail = true;
    shell_run_batch(fixture.shell);
    assert_string_equal(fixture.happened, "collect message tick write send");
    assert_int_equal(shell_commits(fixture.shell)->count, 1);
}

static void test_without_rows_there_is_no_commit(void **state)
{
    (void)state;
    shell_run_batch(fixture.shell);
    assert_string_equal(fixture.happened, "collect tick");
    assert_int_equal(shell_commits(fixture.shell)->count, 0);
}

static void test_a_failed_commit_ends_the_process_and_nothing_is_sent(void **state)
{
    (void)state;
    int pipes[2];
    assert_int_equal(pipe(pipes), 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(pipes[1], STDERR_FILENO);
        fixture.write_code = ERR_IO;
        fixture.has_mail = true;
        shell_run_batch(fixture.shell);
        _exit(0); /* it went on */
    }
    int status;
    char text[512] = "";
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
    assert_true(read(pipes[0], text, sizeof(text) - 1) > 0);
    assert_non_null(strstr(text, "commit failed: the disk is full; nothing of the "
                                 "batch was sent"));
    close(pipes[0]);
    close(pipes[1]);
}

/* Also what the handler's own calls bring: a batch is never begun within another. */
static void write_file(void *part, struct effect *effect, struct effects *more)
{
    (void)part, (void)effect;
    note("file");
    shell_run_batch(fixture.shell);
    shell_take_gone(fixture.shell, &user);
    put_row(more);
    effects_reply(more, &user, 8, "written", NULL, "");
}

static void test_what_carrying_out_causes_is_the_next_batch(void **state)
{
    (void)state;
    shell_handle(fixture.shell, EFFECT_WRITE, write_file, NULL);
    effects_add(shell_effects(fixture.shell), EFFECT_WRITE);
    fixture.has_mail = true;
    shell_run_batch(fixture.shell);
    assert_string_equal(fixture.happened,
                        "collect message tick write file gone send tick write send");
    assert_int_equal(shell_commits(fixture.shell)->count, 2);
}

static int end_loop(zloop_t *loop, int timer, void *arg)
{
    (void)loop, (void)timer, (void)arg;
    return fixture.happened[0] != '\0' ? -1 : 0;
}

static void test_a_readable_source_begins_a_batch(void **state)
{
    (void)state;
    zstr_send(fixture.theirs, "mail");
    zloop_timer(fixture.loop, 1, 0, end_loop, NULL);
    fixture.has_mail = true;
    zloop_start(fixture.loop);
    assert_non_null(strstr(fixture.happened, "collect message tick write send"));
}

/* ---------------------------------------------------------------- sending */

static void test_an_answer_that_is_too_long_becomes_an_error(void **state)
{
    (void)state;
    fixture.send_code = ERR_BOUNDS;
    fixture.has_mail = true;
    shell_run_batch(fixture.shell);
    assert_string_equal(fixture.happened, "collect message tick write send too-long");
}

static void test_a_message_that_cannot_be_sent_now_is_dropped(void **state)
{
    (void)state;
    fixture.send_code = ERR_AWAY;
    fixture.has_mail = true;
    shell_run_batch(fixture.shell);
    effects_reply(shell_effects(fixture.shell), &(struct peer){.kind = PEER_HOST}, 1,
                  "nobody is there", NULL, "");
    shell_run_batch(fixture.shell);
    assert_string_equal(fixture.happened,
                        "collect message tick write send collect tick");
}

static void test_a_refused_message_does_not_reach_the_machine(void **state)
{
    (void)state;
    struct err err;
    err_set(&err, ERR_PARSE, "not a message");
    shell_refuse_message(fixture.shell, &user, &err);
    shell_refuse_message(fixture.shell, &(struct peer){.kind = PEER_NONE}, &err);
    shell_run_batch(fixture.shell);
    assert_string_equal(fixture.happened, "collect tick error");
}

/* ---------------------------------------------------------------- reload */

static int reload(void *part, const char *who, struct arena *arena, const char **text,
                  struct err *err)
{
    (void)arena, (void)who;
    *text = "read";
    note("reload");
    return part == NULL ? 0 : err_set(err, ERR_PARSE, "a mistake");
}

static void test_a_reload_is_answered_after_its_rows(void **state)
{
    (void)state;
    shell_set_reload(fixture.shell, reload, NULL);
    effects_add(shell_effects(fixture.shell), EFFECT_RELOAD)->reload.to = user;
    shell_run_batch(fixture.shell);
    assert_string_equal(fixture.happened, "collect tick reload tick send");
}

static void test_a_failed_reload_runs_no_batch(void **state)
{
    (void)state;
    struct arena arena;
    struct err err;
    const char *text;
    arena_init(&arena);
    assert_int_equal(shell_reload(fixture.shell, "root", &arena, &text, &err),
                     ERR_UNBUILT);
    shell_set_reload(fixture.shell, reload, &fixture);
    assert_int_equal(shell_reload(fixture.shell, "root", &arena, &text, &err),
                     ERR_PARSE);
    assert_string_equal(fixture.happened, "reload");
    arena_release(&arena);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_nothing_is_sent_before_the_commit),
        TEST(test_without_rows_there_is_no_commit),
        TEST(test_a_failed_commit_ends_the_process_and_nothing_is_sent),
        TEST(test_what_carrying_out_causes_is_the_next_batch),
        TEST(test_a_readable_source_begins_a_batch),
        TEST(test_an_answer_that_is_too_long_becomes_an_error),
        TEST(test_a_message_that_cannot_be_sent_now_is_dropped),
        TEST(test_a_refused_message_does_not_reach_the_machine),
        TEST(test_a_reload_is_answered_after_its_rows),
        TEST(test_a_failed_reload_runs_no_batch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
