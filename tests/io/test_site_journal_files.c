/* SPDX-License-Identifier: Apache-2.0 */
/* test_site_journal_files.c: journals that are not the site's own, not whole or in use
 * are refused, and say why. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/io/journal_fixture.h"

static int try_open(struct journal_fixture *fixture, struct err *err)
{
    struct journal *other = NULL;
    int rc = journal_open(fixture->path, false, &other, err);
    journal_close(other);
    return rc;
}

static void test_only_its_owner_may_read_it(void **state)
{
    struct journal_fixture *fixture = *state;
    struct stat status;
    assert_int_equal(stat(fixture->path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
}

static void test_a_newer_file_is_refused(void **state)
{
    struct err err = {0};
    journal_fixture_run_sql(*state, "PRAGMA user_version = 99");
    assert_int_equal(try_open(*state, &err), ERR_VERSION);
}

static void test_a_file_of_another_program_is_refused(void **state)
{
    struct err err = {0};
    journal_fixture_run_sql(*state, "PRAGMA application_id = 1");
    assert_true(try_open(*state, &err) < 0);
}

static void test_a_file_in_use_is_refused(void **state)
{
    struct journal_fixture *fixture = *state;
    struct err err = {0};
    assert_int_equal(try_open(fixture, &err), ERR_EXISTS);
    assert_non_null(strstr(err.text, fixture->path));
}

static void test_a_damaged_file_is_refused(void **state)
{
    struct journal_fixture *fixture = *state;
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
    struct journal_fixture *fixture = *state;
    struct err err = {0};
    struct row row = journal_rows_run("south", 1, RUN_RECORD_TAKEN);
    struct journal_rows_text *loaded = mem_alloc(1, sizeof(*loaded));
    journal_fixture_write(fixture, &row, 1);
    journal_fixture_run_sql(fixture, "UPDATE run SET hosts = 'n1:x'");
    journal_fixture_reopen(fixture);
    assert_int_equal(journal_load(fixture->journal, journal_rows_add, loaded, &err),
                     ERR_IO);
    assert_non_null(strstr(err.text, "hosts"));
    free(loaded);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name)                                                                     \
    cmocka_unit_test_setup_teardown(name, journal_fixture_setup,                       \
                                    journal_fixture_teardown)
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
