/* SPDX-License-Identifier: Apache-2.0 */
/* journal_fixture.c: see journal_fixture.h. */
#include "tests/io/journal_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void journal_fixture_reopen(struct journal_fixture *fixture)
{
    struct err err = {0};
    journal_close(fixture->journal);
    fixture->journal = NULL;
    if (journal_open(fixture->path, false, &fixture->journal, &err) < 0) {
        fail_msg("%s", err.text);
    }
}

int journal_fixture_setup(void **state)
{
    struct journal_fixture *fixture = mem_alloc(1, sizeof(*fixture));
    snprintf(fixture->directory, sizeof(fixture->directory),
             "/tmp/sublet-journal-XXXXXX");
    assert_non_null(mkdtemp(fixture->directory));
    snprintf(fixture->path, sizeof(fixture->path), "%s/journal.db", fixture->directory);
    arena_init(&fixture->arena);
    journal_fixture_reopen(fixture);
    *state = fixture;
    return 0;
}

int journal_fixture_teardown(void **state)
{
    static const char *const suffixes[] = {"", "-wal", "-journal", "-shm", "-commit"};
    struct journal_fixture *fixture = *state;
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

void journal_fixture_write(struct journal_fixture *fixture, const struct row *rows,
                           size_t n_rows)
{
    struct err err = {0};
    int rc = db_begin(journal_db(fixture->journal), &err);
    for (size_t i = 0; i < n_rows && rc == 0; i++) {
        rc = journal_write(fixture->journal, &rows[i], &err);
    }
    if (rc < 0 || db_commit(journal_db(fixture->journal), &err) < 0) {
        fail_msg("%s", err.text);
    }
}

void journal_fixture_assert_loads(struct journal_fixture *fixture,
                                  const struct row *rows, size_t n_rows)
{
    struct journal_rows_text *expected = mem_alloc(1, sizeof(*expected));
    struct journal_rows_text *loaded = mem_alloc(1, sizeof(*loaded));
    struct err err = {0};
    for (size_t i = 0; i < n_rows; i++) {
        journal_rows_add(expected, &rows[i]);
    }
    journal_fixture_reopen(fixture);
    if (journal_load(fixture->journal, journal_rows_add, loaded, &err) < 0) {
        fail_msg("%s", err.text);
    }
    assert_string_equal(loaded->text, expected->text);
    free(expected);
    free(loaded);
}

void journal_fixture_run_sql(struct journal_fixture *fixture, const char *sql)
{
    sqlite3 *handle;
    journal_close(fixture->journal);
    fixture->journal = NULL;
    assert_int_equal(sqlite3_open(fixture->path, &handle), SQLITE_OK);
    assert_int_equal(sqlite3_exec(handle, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(handle);
    char commit[128]; /* has sums of the pages as they were */
    snprintf(commit, sizeof(commit), "%s-commit", fixture->path);
    unlink(commit);
}
