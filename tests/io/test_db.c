/* SPDX-License-Identifier: Apache-2.0 */
/* test_db.c: one file, one connection: what is committed is there after a crash, what
 * is not ours, newer or damaged is refused, and an upgrade keeps a copy. */
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "sys/db/db.h"

enum { ID = 0x5375626c, OTHER_ID = 0x12345678 };

static char directory[] = "/tmp/test_db.XXXXXX";
static char path[128];

static const struct db_migration first[] = {
    {1, "001_first", "CREATE TABLE thing (id INTEGER PRIMARY KEY, name TEXT) STRICT;"},
    {0, NULL, NULL},
};
static const struct db_migration second[] = {
    {1, "001_first", "CREATE TABLE thing (id INTEGER PRIMARY KEY, name TEXT) STRICT;"},
    {2, "002_size",
     "ALTER TABLE thing ADD COLUMN size INTEGER; UPDATE thing SET size=1;"},
    {0, NULL, NULL},
};
static const struct db_migration broken[] = {
    {1, "001_first", "CREATE TABLE thing (id INTEGER PRIMARY KEY, name TEXT) STRICT;"},
    {2, "002_broken", "ALTER TABLE thing ADD COLUMN size INTEGER; SELECT nonsense;"},
    {0, NULL, NULL},
};

static int open_directory(void **state)
{
    snprintf(directory, sizeof(directory), "/tmp/test_db.XXXXXX");
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof(path), "%s/test.db", directory);
    return 0;
}

static int remove_directory(void **state)
{
    char command[160];
    snprintf(command, sizeof(command), "rm -rf '%s'", directory);
    return system(command);
}

static struct db *open_db(const struct db_migration *migrations)
{
    struct db *db;
    struct err err = {0};
    if (db_open(path, ID, migrations, false, &db, &err) != ERR_NONE) {
        fail_msg("%s", err.text);
    }
    return db;
}

static void assert_refused(const struct db_migration *migrations, int code,
                           const char *word)
{
    struct db *db;
    struct err err = {0};
    assert_int_equal(db_open(path, ID, migrations, false, &db, &err), code);
    assert_null(db);
    if (strstr(err.text, word) == NULL) {
        fail_msg("\"%s\" does not say \"%s\"", err.text, word);
    }
}

static void add_thing(struct db *db, int id, const char *name)
{
    static const char sql[] = "INSERT INTO thing (id, name) VALUES (?1, ?2)";
    sqlite3_stmt *slot = NULL;
    struct err err;
    sqlite3_stmt *statement = db_statement(db, &slot, sql);
    sqlite3_bind_int(statement, 1, id);
    sqlite3_bind_text(statement, 2, name, -1, SQLITE_STATIC);
    assert_int_equal(db_run(db, statement, &err), ERR_NONE);
}

static int64_t number(struct db *db, const char *sql)
{
    sqlite3_stmt *slot = NULL;
    sqlite3_stmt *statement = db_statement(db, &slot, sql);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    int64_t value = sqlite3_column_int64(statement, 0);
    sqlite3_reset(statement);
    return value;
}

static void assert_pragma(struct db *db, const char *sql, const char *expected)
{
    sqlite3_stmt *slot = NULL;
    sqlite3_stmt *statement = db_statement(db, &slot, sql);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    assert_string_equal((const char *)sqlite3_column_text(statement, 0), expected);
    sqlite3_reset(statement);
}

static void test_opened_with_care(void **state)
{
    struct db *db = open_db(first);
    assert_pragma(db, "PRAGMA locking_mode", "exclusive");
    assert_pragma(db, "PRAGMA journal_mode", "wal");
    assert_pragma(db, "PRAGMA synchronous", "2");
    assert_pragma(db, "PRAGMA foreign_keys", "1");
    assert_pragma(db, "PRAGMA trusted_schema", "0");
    assert_pragma(db, "PRAGMA cell_size_check", "1");
    assert_int_equal(number(db, "PRAGMA user_version"), 1);
    assert_int_equal(number(db, "PRAGMA application_id"), ID);
    db_close(db);
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
}

static void test_what_is_committed_survives_a_kill(void **state)
{
    pid_t child = fork();
    if (child == 0) {
        struct db *db = open_db(first);
        struct err err;
        if (db_begin(db, &err) != 0) {
            _exit(1);
        }
        add_thing(db, 1, "committed");
        if (db_commit(db, &err) != 0 || db_begin(db, &err) != 0) {
            _exit(1);
        }
        add_thing(db, 2, "not committed");
        kill(getpid(), SIGKILL);
    }
    int status;
    waitpid(child, &status, 0);
    assert_true(WIFSIGNALED(status));
    struct db *db = open_db(first);
    assert_int_equal(number(db, "SELECT count(*) FROM thing"), 1);
    assert_int_equal(number(db, "SELECT id FROM thing"), 1);
    db_close(db);
}

static void test_a_second_process_is_refused(void **state)
{
    /* The other process holds the file, this one is told so: locks do not tell
     * connections of one process apart in the same way. */
    int up[2], down[2];
    assert_int_equal(pipe(up), 0);
    assert_int_equal(pipe(down), 0);
    pid_t child = fork();
    if (child == 0) {
        struct db *db = open_db(first);
        char byte = 'x';
        ssize_t done = write(up[1], &byte, 1);
        close(down[1]);
        done += read(down[0], &byte, 1);
        add_thing(db, 1, "still mine");
        db_close(db);
        _exit(done == 1 ? 0 : 1);
    }
    char byte;
    assert_int_equal(read(up[0], &byte, 1), 1);
    assert_refused(first, ERR_EXISTS, "open in another process");
    close(down[1]);
    int status;
    waitpid(child, &status, 0);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    for (int i = 0; i < 2; i++) {
        close(up[i]);
    }
    close(down[0]);
}

static void test_upgrade_keeps_a_copy(void **state)
{
    struct db *db = open_db(first);
    add_thing(db, 1, "old");
    db_close(db);
    db = open_db(second);
    assert_int_equal(number(db, "PRAGMA user_version"), 2);
    assert_int_equal(number(db, "SELECT size FROM thing WHERE id = 1"), 1);
    db_close(db);

    strncat(path, ".v1.backup", sizeof(path) - strlen(path) - 1);
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    db = open_db(first);
    assert_int_equal(number(db, "SELECT count(*) FROM thing"), 1);
    db_close(db);
}

static void test_failed_step_leaves_the_file(void **state)
{
    struct db *db = open_db(first);
    add_thing(db, 1, "old");
    db_close(db);
    assert_refused(broken, ERR_IO, "migration 2 (002_broken)");
    db = open_db(first);
    assert_int_equal(number(db, "PRAGMA user_version"), 1);
    assert_int_equal(number(db, "SELECT count(*) FROM pragma_table_info('thing')"), 2);
    db_close(db);
}

static void test_newer_is_refused(void **state)
{
    db_close(open_db(second));
    assert_refused(first, ERR_VERSION, "schema 2, this program knows 1");
}

static void test_another_programs_file_is_refused(void **state)
{
    struct db *db;
    struct err err;
    assert_int_equal(db_open(path, OTHER_ID, first, false, &db, &err), ERR_NONE);
    db_close(db);
    assert_refused(first, ERR_IO, "\" belongs to another program");
}

static void overwrite(long offset, const char *bytes, size_t size)
{
    FILE *file = fopen(path, "r+");
    assert_non_null(file);
    fseek(file, offset, SEEK_SET);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

static void test_damage_is_refused(void **state)
{
    struct db *db = open_db(first);
    for (int i = 1; i <= 500; i++) {
        add_thing(db, i, "a name that fills the pages of the table");
    }
    db_close(db);
    char rubbish[2048];
    memset(rubbish, 0xa5, sizeof(rubbish));
    overwrite(4096 * 2, rubbish, sizeof(rubbish));
    assert_refused(first, ERR_IO, "test.db");
    overwrite(0, rubbish, sizeof(rubbish));
    assert_refused(first, ERR_IO, "not a database");
}

static void test_no_such_directory(void **state)
{
    snprintf(path, sizeof(path), "%s/none/test.db", directory);
    assert_refused(first, ERR_IO, "No such file");
}

static void test_type_is_checked_and_then_nothing_commits(void **state)
{
    struct db *db = open_db(first);
    struct err err;
    assert_int_equal(db_begin(db, &err), ERR_NONE);
    add_thing(db, 1, "good");
    sqlite3_stmt *slot = NULL;
    sqlite3_stmt *bad =
        db_statement(db, &slot, "INSERT INTO thing (id, name) VALUES (2, x'00')");
    assert_int_equal(db_run(db, bad, &err), ERR_IO);
    assert_int_equal(db_commit(db, &err), ERR_IO); /* not half a batch */
    db_close(db);
    db = open_db(first);
    assert_int_equal(number(db, "SELECT count(*) FROM thing"), 0);
    db_close(db);
}

/* A file size limit is as good as a full disk. */
static void test_full_disk_is_an_error_and_keeps_what_was(void **state)
{
    pid_t child = fork();
    if (child == 0) {
        signal(SIGXFSZ, SIG_IGN);
        struct db *db = open_db(first);
        struct err err;
        add_thing(db, 1, "kept");
        struct rlimit limit = {200000, 200000};
        setrlimit(RLIMIT_FSIZE, &limit);
        int status = ERR_NONE;
        char name[8192];
        memset(name, 'x', sizeof(name));
        name[sizeof(name) - 1] = '\0';
        for (int id = 2; id < 100 && status == ERR_NONE; id++) {
            sqlite3_stmt *slot = NULL;
            sqlite3_stmt *statement =
                db_statement(db, &slot, "INSERT INTO thing (id, name) VALUES (?1, ?2)");
            sqlite3_bind_int(statement, 1, id);
            sqlite3_bind_text(statement, 2, name, -1, SQLITE_STATIC);
            status = db_run(db, statement, &err);
        }
        bool is_dead = status == ERR_IO && db_begin(db, &err) == ERR_IO;
        _exit(is_dead ? 0 : 1);
    }
    int status;
    waitpid(child, &status, 0);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    struct db *db = open_db(first);
    assert_int_equal(number(db, "SELECT count(*) FROM thing WHERE id = 1"), 1);
    db_close(db);
}

/* Commits changes of one row until there is no room; how many there were. */
static int change_until_full(struct db *db)
{
    struct err err;
    sqlite3_stmt *slot = NULL;
    int count = 0, status = ERR_NONE;
    while (status == ERR_NONE && count < 10000) {
        sqlite3_stmt *statement = db_statement(
            db, &slot, "UPDATE thing SET name = hex(randomblob(1000)) WHERE id = 1");
        status = db_run(db, statement, &err);
        count += status == ERR_NONE;
    }
    return count;
}

/* The log has filled the disk: the next start empties it into the file, and goes on. */
static void test_a_disk_that_the_log_has_filled(void **state)
{
    pid_t child = fork();
    if (child == 0) {
        signal(SIGXFSZ, SIG_IGN);
        struct db *db = open_db(first);
        add_thing(db, 1, "kept");
        struct rlimit limit = {200000, 200000};
        setrlimit(RLIMIT_FSIZE, &limit);
        int before = change_until_full(db);
        db_close(db);
        db = open_db(first);
        int after = change_until_full(db);
        db_close(db);
        _exit(before > 10 && after > 10 ? 0 : 1);
    }
    int status;
    waitpid(child, &status, 0);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* ---------------------------------------------------------------- a full disk */

static char filler[128];

/* What is not in the database yet takes its place; nothing is left for anything. */
static void fill_disk(void)
{
    char block[4096] = "";
    snprintf(filler, sizeof(filler), "%s/filler", directory);
    int fd = open(filler, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    for (size_t size = sizeof(block); size > 0; size /= 2) {
        while (write(fd, block, size) > 0) {
        }
    }
    close(fd);
}

/* Row `thing.id` gets new content if it is there, else it is added. */
static int write_thing(void *arg, const struct row *row, struct err *err)
{
    static const char sql[] =
        "INSERT INTO thing (id, name) VALUES (?1, hex(randomblob(1000)))"
        " ON CONFLICT (id) DO UPDATE SET name = hex(randomblob(1000))";
    struct db *db = arg;
    sqlite3_stmt *slot = NULL;
    sqlite3_stmt *statement = db_statement(db, &slot, sql);
    sqlite3_bind_int(statement, 1, (int)row->counter.value);
    int status = db_run(db, statement, err);
    sqlite3_finalize(statement);
    return status;
}

/* Things `first` to `last` in one transaction. */
static int commit_things(struct db *db, int first_id, int last_id, struct err *err)
{
    struct db_batch batch = {.db = db, .store = db, .write = write_thing};
    struct effects effects;
    effects_init(&effects);
    for (int id = first_id; id <= last_id; id++) {
        struct row row = {.kind = ROW_COUNTER, .counter = {"", (uint64_t)id}};
        effects_store(&effects, &row);
    }
    int status = db_batch_commit(&batch, &effects, err);
    effects_release(&effects);
    return status;
}

/* The disk fills up while the log holds commits. Changes of what the file has need no
 * new room but that of the log, and go on. What needs more room is refused, and nothing
 * that was committed is missing. In a process of its own, whose small disk goes with
 * it. */
static int use_full_disk(void)
{
    enum { THINGS = 50, MORE = 1000 };
    struct err err = {0};
    if (unshare(CLONE_NEWNS) != 0 ||
        mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("test", directory, "tmpfs", 0, "size=1m") != 0) {
        return 77;
    }
    struct db *db = open_db(first);
    assert_int_equal(commit_things(db, 1, THINGS, &err), 0);
    db_close(db);
    db = open_db(first);
    assert_int_equal(commit_things(db, 1, THINGS, &err), 0);
    fill_disk();
    for (int i = 0; i < 100; i++) {
        assert_int_equal(commit_things(db, 1 + i % 10, 10 + i % 10, &err), 0);
    }
    assert_int_equal(number(db, "SELECT count(*) FROM thing"), THINGS);
    int64_t sum = number(db, "SELECT sum(unicode(substr(name, id))) FROM thing");
    assert_int_equal(commit_things(db, THINGS + 1, THINGS + MORE, &err), ERR_IO);
    assert_non_null(strstr(err.text, "full"));
    assert_int_equal(commit_things(db, 1, 1, &err), ERR_IO); /* closed to writing */
    db_close(db);
    unlink(filler);
    db = open_db(first);
    assert_int_equal(number(db, "SELECT count(*) FROM thing"), THINGS);
    assert_int_equal(number(db, "SELECT sum(unicode(substr(name, id))) FROM thing"),
                     sum);
    assert_pragma(db, "PRAGMA integrity_check", "ok");
    db_close(db);
    return 0;
}

static void test_a_full_disk_uses_the_room_of_the_log(void **state)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        _exit(use_full_disk());
    }
    waitpid(child, &status, 0);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77) {
        print_message("mounting a small file system is not allowed here\n");
        skip();
    }
    assert_int_equal(WEXITSTATUS(status), 0);
}

static long wal_size(void)
{
    char wal[160];
    struct stat status;
    snprintf(wal, sizeof(wal), "%s-wal", path);
    return stat(wal, &status) == 0 ? (long)status.st_size : 0;
}

static void test_wal_is_bounded_by_maintenance(void **state)
{
    struct db *db = open_db(first);
    static char name[60000];
    memset(name, 'x', sizeof(name) - 1);
    for (int id = 1; id < 600; id++) {
        add_thing(db, id, name);
        db_maintain(db, id);
    }
    assert_true(wal_size() > 0);
    assert_true(wal_size() < 24 * 1024 * 1024);
    db_close(db);
}

/* A batch without rows is no rest: between two changes of a contract there are some. */
static void test_wal_is_emptied_at_rest(void **state)
{
    enum { REST_MS = 1000 };
    struct db *db = open_db(first);
    static char name[2 << 20];
    memset(name, 'x', sizeof(name) - 1);
    add_thing(db, 1, name);
    db_maintain(db, 5000);
    db_maintain(db, 5000);
    db_maintain(db, 5000 + REST_MS - 1);
    assert_true(wal_size() > (long)sizeof(name));
    add_thing(db, 2, "");
    db_maintain(db, 5000 + REST_MS);
    assert_true(wal_size() > (long)sizeof(name));
    db_maintain(db, 5000 + 2 * REST_MS);
    assert_int_equal(wal_size(), 0);
    db_close(db);
}

int main(void)
{
#define TEST(name)                                                                     \
    cmocka_unit_test_setup_teardown(name, open_directory, remove_directory)
    const struct CMUnitTest tests[] = {
        TEST(test_opened_with_care),
        TEST(test_what_is_committed_survives_a_kill),
        TEST(test_a_second_process_is_refused),
        TEST(test_upgrade_keeps_a_copy),
        TEST(test_failed_step_leaves_the_file),
        TEST(test_newer_is_refused),
        TEST(test_another_programs_file_is_refused),
        TEST(test_damage_is_refused),
        TEST(test_no_such_directory),
        TEST(test_type_is_checked_and_then_nothing_commits),
        TEST(test_full_disk_is_an_error_and_keeps_what_was),
        TEST(test_a_disk_that_the_log_has_filled),
        TEST(test_a_full_disk_uses_the_room_of_the_log),
        TEST(test_wal_is_bounded_by_maintenance),
        TEST(test_wal_is_emptied_at_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
