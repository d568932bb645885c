/* SPDX-License-Identifier: Apache-2.0 */
/* test_db_wal.c: a write-ahead log that was damaged, cut, removed or exchanged is
 * refused, or nothing that was committed is missing. test_store_damage.c tries random
 * damage of each store. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/rng.h"
#include "sys/db/db.h"
#include "sys/db/db_wal.h"

enum { ID = 0x5375626c, COMMITS = 40, FILES = 3 };

static const char *const tails[FILES] = {"", "-wal", "-commit"};
static char directory[64], path[128];

struct content {
    bool is_there;
    uint8_t *bytes;
    size_t size;
};

static const struct db_migration migrations[] = {
    {1, "001", "CREATE TABLE thing (id INTEGER PRIMARY KEY, name TEXT) STRICT;"},
    {0, NULL, NULL},
};

static int make_directory(void **state)
{
    snprintf(directory, sizeof(directory), "/tmp/test_db_wal.XXXXXX");
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

/* ---------------------------------------------------------------- files */

static const char *name_with(const char *tail)
{
    static char names[2][160];
    static int which;
    which = !which;
    snprintf(names[which], sizeof(names[which]), "%s%s", path, tail);
    return names[which];
}

static const char *name_of(int file)
{
    return name_with(tails[file]);
}

static void read_files(struct content files[FILES])
{
    for (int i = 0; i < FILES; i++) {
        struct stat status;
        files[i] = (struct content){.is_there = stat(name_of(i), &status) == 0};
        if (files[i].is_there) {
            FILE *file = fopen(name_of(i), "rb");
            files[i].size = (size_t)status.st_size;
            files[i].bytes = mem_alloc(files[i].size + 1, 1);
            assert_int_equal(fread(files[i].bytes, 1, files[i].size, file),
                             files[i].size);
            fclose(file);
        }
    }
}

static void write_files(const struct content files[FILES])
{
    for (int i = 0; i < FILES; i++) {
        unlink(name_of(i));
        if (files[i].is_there) {
            FILE *file = fopen(name_of(i), "wb");
            assert_int_equal(fwrite(files[i].bytes, 1, files[i].size, file),
                             files[i].size);
            fclose(file);
        }
    }
}

static void release_files(struct content files[FILES])
{
    for (int i = 0; i < FILES; i++) {
        free(files[i].bytes);
    }
}

/* ---------------------------------------------------------------- a store */

static int try_open(bool accepts_loss, struct db **db, struct err *err)
{
    return db_open(path, ID, migrations, accepts_loss, db, err);
}

static int position_after; /* the row after which a copy of the position is kept */

static bool keep_position(void)
{
    char command[400];
    snprintf(command, sizeof(command), "cp '%s' '%s'", name_of(2), name_with("-old"));
    return system(command) == 0;
}

/* Commits rows FIRST to LAST in a process that is killed. */
static void commit(int first, int last)
{
    pid_t child = fork();
    if (child == 0) {
        struct db *db;
        struct err err;
        sqlite3_stmt *add = NULL;
        bool is_well = try_open(false, &db, &err) == 0;
        for (int id = first; id <= last && is_well; id++) {
            is_well = db_begin(db, &err) == 0;
            db_statement(db, &add, "INSERT INTO thing VALUES (?1, 'a name')");
            sqlite3_bind_int(add, 1, id);
            is_well = is_well && db_run(db, add, &err) == 0 && db_commit(db, &err) == 0;
            is_well = is_well && (id != position_after || keep_position());
        }
        _exit(is_well ? 0 : 1);
    }
    int status;
    waitpid(child, &status, 0);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static int count_things(struct db *db)
{
    sqlite3_stmt *all = NULL;
    db_statement(db, &all, "SELECT count(*) FROM thing");
    assert_int_equal(sqlite3_step(all), SQLITE_ROW);
    int count = sqlite3_column_int(all, 0);
    sqlite3_finalize(all);
    return count;
}

/* The number of rows after opening; -1: it was refused, and the log is as it was. */
static int open_and_count(void)
{
    struct content before[FILES], after[FILES];
    struct db *db;
    struct err err;
    read_files(before);
    if (try_open(false, &db, &err) < 0) {
        read_files(after);
        assert_int_equal(before[1].size, after[1].size);
        if (after[1].size > 0) {
            assert_memory_equal(before[1].bytes, after[1].bytes, after[1].size);
        }
        release_files(before);
        release_files(after);
        return -1;
    }
    int count = count_things(db);
    db_close(db);
    release_files(before);
    return count;
}

/* ---------------------------------------------------------------- tests */

static void test_a_kill_loses_nothing_and_is_not_refused(void **state)
{
    commit(1, COMMITS);
    assert_int_equal(open_and_count(), COMMITS);
    commit(COMMITS + 1, 2 * COMMITS); /* the log was begun anew */
    assert_int_equal(open_and_count(), 2 * COMMITS);
}

static void test_a_cut_at_the_border_of_a_frame_is_refused(void **state)
{
    struct content files[FILES];
    commit(1, COMMITS);
    read_files(files);
    files[1].size -= 24 + 4096;
    write_files(files);
    struct db *db;
    struct err err;
    assert_int_equal(try_open(false, &db, &err), ERR_IO);
    assert_non_null(strstr(err.text, "1 pages of committed changes would be lost"));
    assert_non_null(strstr(err.text, "--accept-loss"));
    assert_int_equal(try_open(true, &db, &err), 0);
    assert_int_equal(count_things(db), COMMITS - 1);
    db_close(db);
    assert_int_equal(open_and_count(), COMMITS - 1); /* accepted once, for good */
    release_files(files);
}

static void test_a_log_that_is_gone_is_refused(void **state)
{
    commit(1, COMMITS);
    unlink(name_of(1));
    assert_int_equal(open_and_count(), -1);
    unlink(name_of(0)); /* and the database with it */
    assert_int_equal(open_and_count(), -1);
    struct stat status;
    assert_int_equal(stat(path, &status), -1); /* nothing was made in its place */
}

/* SQLite would delete the log of a file that is empty. */
static void test_an_empty_file_with_a_log_is_refused(void **state)
{
    struct content files[FILES];
    commit(1, COMMITS);
    read_files(files);
    files[0].size = 0;
    write_files(files);
    assert_int_equal(open_and_count(), -1);
    files[2].is_there = false;
    write_files(files);
    assert_int_equal(open_and_count(), -1);
    release_files(files);
}

/* Of rows that were moved out of the log: a bit that SQLite's check does not see. */
static void test_a_changed_value_is_refused(void **state)
{
    struct content files[FILES];
    commit(1, COMMITS);
    assert_int_equal(open_and_count(), COMMITS);
    read_files(files);
    uint8_t *name = memmem(files[0].bytes, files[0].size, "a name", 6);
    assert_non_null(name);
    name[0] ^= 1;
    write_files(files);
    struct db *db;
    struct err err;
    assert_int_equal(try_open(false, &db, &err), ERR_IO);
    assert_non_null(strstr(err.text, "1 of 2 pages are damaged, page 2 first"));
    files[2].is_there = false; /* as if it had been replaced by a copy */
    write_files(files);
    assert_int_equal(open_and_count(), COMMITS);
    release_files(files);
}

static void test_an_older_log_is_refused(void **state)
{
    struct content old[FILES], new[FILES];
    commit(1, COMMITS);
    read_files(old);
    commit(COMMITS + 1, 2 * COMMITS);
    read_files(new);
    free(old[2].bytes);
    old[2] = new[2];
    write_files(old);
    assert_int_equal(open_and_count(), -1);
    new[2].bytes = NULL;
    release_files(old);
    release_files(new);
}

/* After a power cut the end of the log may be torn, in a commit that nobody was told
 * of. The position is not synced, and may be missing. */
static void test_a_torn_end_without_a_position_is_fine(void **state)
{
    struct content files[FILES];
    commit(1, COMMITS);
    read_files(files);
    memset(files[1].bytes + files[1].size - 4096, 0, 4096);
    files[2].is_there = false;
    write_files(files);
    assert_int_equal(open_and_count(), COMMITS - 1);
    release_files(files);
}

/* Without a position: what is valid behind a bad frame was synced after it. */
static void test_without_a_position_frames_behind_a_bad_one_count(void **state)
{
    struct content files[FILES];
    commit(1, COMMITS);
    read_files(files);
    files[1].bytes[files[1].size / 2] ^= 1;
    files[2].is_there = false;
    write_files(files);
    assert_int_equal(open_and_count(), -1);
    release_files(files);
}

/* Damages the commit that is number `last` from the end (0: none), beside a position of
 * a quarter of the commits. */
static int open_with_old_position(int last)
{
    enum { FRAME = 24 + 4096 };
    struct content files[FILES];
    position_after = COMMITS / 4;
    commit(1, COMMITS);
    position_after = 0;
    assert_int_equal(rename(name_with("-old"), name_of(2)), 0);
    read_files(files);
    if (last > 0) {
        files[1].bytes[files[1].size - (size_t)last * FRAME + FRAME / 2] ^= 1;
    }
    write_files(files);
    int count = open_and_count();
    release_files(files);
    for (int i = 0; i < FILES; i++) {
        unlink(name_of(i));
    }
    return count;
}

/* A power cut has lost the latest position. Each commit was synced before the next one
 * began: a bad frame with two commits behind it has lost what was acknowledged. With
 * one behind it, the two may be the frames of the commit that the cut has torn, and
 * what others know of the store decides. */
static void test_an_old_position_vouches_for_nothing_behind_it(void **state)
{
    assert_int_equal(open_with_old_position(0), COMMITS);
    assert_int_equal(open_with_old_position(COMMITS / 2), -1);
    assert_int_equal(open_with_old_position(3), -1);
    assert_int_equal(open_with_old_position(2), COMMITS - 2);
    assert_int_equal(open_with_old_position(1), COMMITS - 1);
}

/* A position that is damaged says nothing. */
static void test_a_damaged_position_is_not_believed(void **state)
{
    struct content files[FILES];
    commit(1, COMMITS);
    read_files(files);
    for (size_t i = 0; i < files[2].size; i++) {
        files[2].bytes[i] ^= 2;
        write_files(files);
        int count = open_and_count();
        assert_true(count == COMMITS || count < 0);
        files[2].bytes[i] ^= 2;
    }
    release_files(files);
}

/* The process ended after SQLite had emptied the log, before the next position. */
static void test_an_emptied_log_is_not_a_lost_one(void **state)
{
    struct content before[FILES], after[FILES];
    struct db_wal wal = {0};
    struct err err;
    commit(1, COMMITS);
    read_files(before);
    assert_int_equal(open_and_count(), COMMITS); /* ended in order: the log is empty */
    read_files(after);
    assert_int_equal(after[1].size, 0);
    struct content emptied[FILES] = {after[0], after[1], before[2]};
    write_files(emptied);
    assert_int_equal(open_and_count(), -1);
    assert_int_equal(db_wal_open(&wal, path, &err), 0);
    db_wal_emptying(&wal);
    db_wal_close(&wal);
    assert_int_equal(open_and_count(), COMMITS);
    /* A log that is there must still have all of it. */
    write_files(before);
    assert_int_equal(db_wal_open(&wal, path, &err), 0);
    db_wal_emptying(&wal);
    db_wal_close(&wal);
    assert_int_equal(truncate(name_of(1), (off_t)before[1].size - 4096), 0);
    assert_int_equal(open_and_count(), -1);
    release_files(before);
    release_files(after);
}

/* A store that failed when it was opened is closed without touching the log. */
static void test_a_refused_store_keeps_its_log(void **state)
{
    static const struct db_migration wrong[] = {
        {1, "001", "CREATE TABLE thing (id INTEGER PRIMARY KEY, name TEXT) STRICT;"},
        {2, "002", "CREATE TABLE thing (id INTEGER);"},
        {0, NULL, NULL},
    };
    struct db *db;
    struct err err;
    commit(1, COMMITS);
    assert_true(db_open(path, ID, wrong, false, &db, &err) < 0);
    assert_int_equal(open_and_count(), COMMITS);
}

/* Commits a MiB and lets the log be emptied, again and again, until it is killed. Each
 * commit is told through `pipe`. */
static void commit_until_killed(int pipe, int first)
{
    enum { REST_MS = 1000 };
    static char text[1 << 20];
    struct db *db;
    struct err err;
    sqlite3_stmt *add = NULL;
    memset(text, 'a', sizeof(text));
    bool is_well = try_open(false, &db, &err) == 0;
    for (int id = first; is_well; id++) {
        is_well = db_begin(db, &err) == 0;
        db_statement(db, &add, "INSERT INTO thing VALUES (?1, ?2)");
        sqlite3_bind_int(add, 1, id);
        sqlite3_bind_text(add, 2, text, sizeof(text), SQLITE_STATIC);
        is_well = is_well && db_run(db, add, &err) == 0 && db_commit(db, &err) == 0 &&
                  write(pipe, &id, sizeof(id)) == (ssize_t)sizeof(id);
        db_maintain(db, 0);
        db_maintain(db, REST_MS);
    }
    _exit(1);
}

static void test_a_kill_at_any_instant_is_not_refused(void **state)
{
    enum { KILLS = 60, KILL_WITHIN_US = 40000 };
    struct rng rng;
    int n_told = 0;
    rng_init(&rng, 1);
    for (int i = 0; i < KILLS; i++) {
        int ends[2], id;
        assert_int_equal(pipe(ends), 0);
        pid_t child = fork();
        if (child == 0) {
            commit_until_killed(ends[1], n_told + 1000 * i + 1);
        }
        usleep((useconds_t)rng_below(&rng, KILL_WITHIN_US));
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        close(ends[1]);
        while (read(ends[0], &id, sizeof(id)) == (ssize_t)sizeof(id)) {
            n_told++;
        }
        close(ends[0]);
        int count = open_and_count();
        if (count < n_told) {
            fail_msg("kill %d: %d of %d commits are there", i, count, n_told);
        }
        n_told = count;
    }
}

int main(void)
{
#define TEST(name)                                                                     \
    cmocka_unit_test_setup_teardown(name, make_directory, remove_directory)
    const struct CMUnitTest tests[] = {
        TEST(test_a_kill_loses_nothing_and_is_not_refused),
        TEST(test_a_cut_at_the_border_of_a_frame_is_refused),
        TEST(test_a_log_that_is_gone_is_refused),
        TEST(test_an_empty_file_with_a_log_is_refused),
        TEST(test_a_changed_value_is_refused),
        TEST(test_an_older_log_is_refused),
        TEST(test_a_torn_end_without_a_position_is_fine),
        TEST(test_without_a_position_frames_behind_a_bad_one_count),
        TEST(test_an_old_position_vouches_for_nothing_behind_it),
        TEST(test_a_damaged_position_is_not_believed),
        TEST(test_an_emptied_log_is_not_a_lost_one),
        TEST(test_a_refused_store_keeps_its_log),
        TEST(test_a_kill_at_any_instant_is_not_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
