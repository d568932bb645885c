/* SPDX-License-Identifier: Apache-2.0 */
/* test_site_output.c: a job's output lands in its user's file, with that user's rights,
 * and nothing makes the daemon wait. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "site/io/output.h"

enum { OTHER_UID = 65534, OTHER_GID = 65533 };

struct fixture {
    char directory[64], path[96];
};

static int setup(void **state)
{
    struct fixture *fixture = mem_alloc(1, sizeof(*fixture));
    snprintf(fixture->directory, sizeof(fixture->directory),
             "/tmp/sublet-output-XXXXXX");
    assert_non_null(mkdtemp(fixture->directory));
    snprintf(fixture->path, sizeof(fixture->path), "%s/out", fixture->directory);
    *state = fixture;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;
    unlink(fixture->path);
    rmdir(fixture->directory);
    free(fixture);
    return 0;
}

static int write_piece(struct fixture *fixture, int64_t uid, int64_t gid,
                       int64_t offset, bool replaces, const char *text)
{
    struct effect effect = {.kind = EFFECT_WRITE};
    effect.write.replaces = replaces;
    effect.write.job = 1;
    effect.write.uid = uid;
    effect.write.gid = gid;
    effect.write.path = fixture->path;
    effect.write.umask = 026;
    effect.write.offset = offset;
    effect.write.bytes = (const uint8_t *)text;
    effect.write.n_bytes = (int)strlen(text);
    return output_write(&effect);
}

static int write_as(struct fixture *fixture, int64_t uid, int64_t gid, int64_t offset,
                    const char *text)
{
    return write_piece(fixture, uid, gid, offset, true, text);
}

static int write_own(struct fixture *fixture, int64_t offset, const char *text)
{
    return write_as(fixture, (int64_t)geteuid(), (int64_t)getegid(), offset, text);
}

static void assert_content(struct fixture *fixture, const char *expected)
{
    char content[256] = "";
    int fd = open(fixture->path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_true(read(fd, content, sizeof(content) - 1) >= 0);
    close(fd);
    assert_string_equal(content, expected);
}

static void test_pieces_follow_each_other(void **state)
{
    assert_int_equal(write_own(*state, 0, "one\n"), 0);
    assert_int_equal(write_own(*state, 4, "two\n"), 0);
    assert_content(*state, "one\ntwo\n");
    /* A piece that comes again changes nothing. */
    assert_int_equal(write_own(*state, 4, "two\n"), 0);
    assert_content(*state, "one\ntwo\n");
}

static void test_the_first_piece_empties_the_file(void **state)
{
    assert_int_equal(write_own(*state, 0, "something long"), 0);
    assert_int_equal(write_own(*state, 0, "short"), 0);
    assert_content(*state, "short");
    assert_int_equal(write_own(*state, 0, ""), 0);
    assert_content(*state, "");
}

/* Without -oo: what other jobs wrote stays, also what comes between two pieces. */
static void test_pieces_are_appended(void **state)
{
    struct fixture *fixture = *state;
    int64_t uid = (int64_t)geteuid(), gid = (int64_t)getegid();
    assert_int_equal(write_piece(fixture, uid, gid, 0, false, "one "), 0);
    assert_int_equal(write_piece(fixture, uid, gid, 0, false, "other "), 0);
    assert_int_equal(write_piece(fixture, uid, gid, 4, false, "two"), 0);
    assert_content(fixture, "one other two");
}

static void test_the_jobs_umask_counts_and_ours_stays(void **state)
{
    struct fixture *fixture = *state;
    struct stat status;
    mode_t before = umask(077);
    assert_int_equal(write_own(fixture, 0, "x"), 0);
    assert_int_equal(umask(before), 077);
    assert_int_equal(stat(fixture->path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0640);
}

static void test_what_cannot_be_written_says_why(void **state)
{
    struct fixture *fixture = *state;
    struct fixture nowhere = *fixture;
    snprintf(nowhere.path, sizeof(nowhere.path), "%s/no/out", fixture->directory);
    assert_int_equal(write_own(&nowhere, 0, "x"), ENOENT);
    /* The file went away between two pieces. */
    assert_int_equal(write_own(fixture, 5, "x"), ENOENT);
    snprintf(nowhere.path, sizeof(nowhere.path), "/dev/full");
    assert_int_equal(write_own(&nowhere, 0, "x"), ENOSPC);
}

/* -outdir: made with the user's umask for the first piece; without it the file has no
 * place. */
static void test_the_directory_is_made(void **state)
{
    struct fixture *fixture = *state;
    char first[300], second[300], file[300];
    snprintf(first, sizeof(first), "%s/a", fixture->directory);
    snprintf(second, sizeof(second), "%s/a/b", fixture->directory);
    snprintf(file, sizeof(file), "%s/a/b/out", fixture->directory);
    struct effect effect = {.kind = EFFECT_WRITE,
                            .write = {.job = 1,
                                      .uid = (int64_t)geteuid(),
                                      .gid = (int64_t)getegid(),
                                      .path = file,
                                      .umask = 027,
                                      .bytes = (const uint8_t *)"text",
                                      .n_bytes = 4}};
    struct stat status;
    assert_int_equal(output_write(&effect), ENOENT);
    effect.write.makes_directory = true;
    assert_int_equal(output_write(&effect), 0);
    assert_int_equal(stat(second, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0750);
    assert_int_equal(output_write(&effect), 0); /* it is there */
    unlink(file);
    rmdir(second);
    rmdir(first);
}

static void test_a_pipe_that_nobody_reads_is_not_waited_for(void **state)
{
    struct fixture *fixture = *state;
    assert_int_equal(mkfifo(fixture->path, 0600), 0);
    assert_int_equal(write_own(fixture, 0, "x"), ENXIO);
}

static void test_root_writes_with_the_users_rights(void **state)
{
    struct fixture *fixture = *state;
    struct stat status;
    if (geteuid() != 0) {
        skip();
    }
    /* The directory is root's, and only root may enter it. */
    assert_int_equal(write_as(fixture, OTHER_UID, OTHER_GID, 0, "x"), EACCES);
    assert_int_equal(chmod(fixture->directory, 0777), 0);
    assert_int_equal(write_as(fixture, OTHER_UID, OTHER_GID, 0, "x"), 0);
    assert_int_equal(stat(fixture->path, &status), 0);
    assert_int_equal(status.st_uid, OTHER_UID);
    assert_int_equal(status.st_gid, OTHER_GID);
    /* And is root again. */
    unlink(fixture->path);
    assert_int_equal(write_own(fixture, 0, "x"), 0);
    assert_int_equal(stat(fixture->path, &status), 0);
    assert_int_equal(status.st_uid, 0);
}

static void test_a_user_writes_for_nobody_else(void **state)
{
    if (geteuid() == 0) {
        skip();
    }
    assert_int_equal(write_as(*state, OTHER_UID, OTHER_GID, 0, "x"), EPERM);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        TEST(test_pieces_follow_each_other),
        TEST(test_the_first_piece_empties_the_file),
        TEST(test_pieces_are_appended),
        TEST(test_the_directory_is_made),
        TEST(test_the_jobs_umask_counts_and_ours_stays),
        TEST(test_what_cannot_be_written_says_why),
        TEST(test_a_pipe_that_nobody_reads_is_not_waited_for),
        TEST(test_root_writes_with_the_users_rights),
        TEST(test_a_user_writes_for_nobody_else),
#undef TEST
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
