/* SPDX-License-Identifier: Apache-2.0 */
/* Children that stand for Slurm's commands: what they get, what is read of them, and
 * that they end. Scripts in a directory of their own play SLURM_BIN. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "slurm/io/slurm_child.h"
#include "sys/daemon.h"

enum { LONG_MS = 120000, SHORT_MS = 300, PID_MS = 5000, OTHER_FD = 57 };

struct bench {
    struct arena arena;
    char dir[64];
};

static int set_up(void **state)
{
    struct bench *bench = mem_alloc(1, sizeof(*bench));
    *bench = (struct bench){.dir = "/tmp/sublet-slurm-XXXXXX"};
    arena_init(&bench->arena);
    *state = bench;
    return mkdtemp(bench->dir) != NULL ? 0 : -1;
}

static int tear_down(void **state)
{
    struct bench *bench = *state;
    const char *path = arena_printf(&bench->arena, "%s/sinfo", bench->dir);
    (void)unlink(path);
    (void)rmdir(bench->dir);
    arena_release(&bench->arena);
    free(bench);
    return 0;
}

static int run_within(struct bench *bench, const char *script, int64_t within_ms,
                      const char **text, struct err *err)
{
    const char *path = arena_printf(&bench->arena, "%s/sinfo", bench->dir);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "#!/bin/sh\n%s\n", script);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path, 0755), 0);
    struct slurm_child_place place = {
        .bin = bench->dir, .conf = "/etc/north.conf", .within_ms = within_ms};
    const char *const words[] = {"sinfo", "a b", "$HOME;*", NULL};
    return slurm_child_run(&place, words, &bench->arena, text, err);
}

static int run(struct bench *bench, const char *script, const char **text,
               struct err *err)
{
    return run_within(bench, script, LONG_MS, text, err);
}

/* Words arrive as they are; of the environment only what is said. */
static void test_what_it_gets(void **state)
{
    struct bench *bench = *state;
    const char *text = NULL;
    struct err err;
    setenv("SINFO_FORMAT", "%all", 1);
    setenv("LC_ALL", "de_DE.UTF-8", 1);
    assert_int_equal(dup2(STDERR_FILENO, OTHER_FD), OTHER_FD); /* not close-on-exec */
    int rc = run(bench,
                 "printf '%s|' \"$@\" \"$LC_ALL\" \"$SLURM_TIME_FORMAT\" "
                 "\"$SLURM_CONF\" \"$SINFO_FORMAT\"; cat; "
                 "test -e /proc/$$/fd/57 && echo inherited; true",
                 &text, &err);
    close(OTHER_FD);
    if (rc != 0) {
        fail_msg("%s", err.text);
    }
    assert_string_equal(text, "a b|$HOME;*|C|%s|/etc/north.conf||");
}

static void test_big_output(void **state)
{
    const char *text = NULL;
    struct err err;
    assert_int_equal(run(*state, "head -c 1000000 /dev/zero | tr '\\0' x", &text, &err),
                     0);
    assert_int_equal(strlen(text), 1000000);
    assert_int_equal(strspn(text, "x"), 1000000);
}

static void expect_error(struct bench *bench, const char *script, int64_t within_ms,
                         int code, const char *sentence)
{
    const char *text = NULL;
    struct err err = {.text = ""};
    int rc = run_within(bench, script, within_ms, &text, &err);
    if (rc != code || strstr(err.text, sentence) == NULL) {
        fail_msg("%s: %d \"%s\", expected %d \"%s\"", script, rc, err.text, code,
                 sentence);
    }
    assert_null(text);
}

static void test_errors(void **state)
{
    expect_error(*state, "echo half; echo one >&2; echo 'no controller' >&2; exit 3",
                 LONG_MS, ERR_IO, "ended with status 3: no controller");
    expect_error(*state, "kill -SEGV $$", LONG_MS, ERR_IO, "ended by signal 11");
    expect_error(*state, "printf 'a\\000b'", LONG_MS, ERR_IO, "a byte 0");
    expect_error(*state, "cat /dev/zero", LONG_MS, ERR_FULL, "more than");
    expect_error(*state,
                 "head -c 100000 /dev/zero | tr '\\0' x >&2; echo end >&2; exit 1",
                 LONG_MS, ERR_IO, "status 1");
}

/* A killed process that nobody has waited for is a zombie. */
static bool has_ended(long pid)
{
    char path[64], state = 'Z';
    snprintf(path, sizeof(path), "/proc/%ld/stat", pid);
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        return true;
    }
    bool is_read = fscanf(file, "%*d (sleep) %c", &state) == 1;
    fclose(file);
    return !is_read || state == 'Z' || state == 'X';
}

static void expect_ended(struct bench *bench)
{
    char pid[32] = "";
    const char *path = arena_printf(&bench->arena, "%s/pid", bench->dir);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(pid, sizeof(pid), file));
    fclose(file);
    unlink(path);
    for (int i = 0; i < 3000 && !has_ended(strtol(pid, NULL, 10)); i++) {
        usleep(10000);
    }
    assert_true(has_ended(strtol(pid, NULL, 10)));
}

/* The deadline ends the command and all that it has started; also one that has closed
 * its output. */
static void test_deadline(void **state)
{
    struct bench *bench = *state;
    expect_error(bench, "echo waiting >&2; sleep 600", SHORT_MS, ERR_AWAY,
                 "did not answer within 0.3 s");
    const char *script = arena_printf(
        &bench->arena, "sleep 600 & echo $! >%s/pid; exec >&- 2>&-; wait", bench->dir);
    expect_error(bench, script, PID_MS, ERR_AWAY, "did not answer");
    expect_ended(bench);
}

/* Something that the command has left behind keeps its output open: the command's end
 * counts. */
static void test_left_behind(void **state)
{
    const char *text = NULL;
    struct err err;
    assert_int_equal(run(*state, "sleep 600 & echo $!", &text, &err), 0);
    assert_int_equal(kill((pid_t)strtol(text, NULL, 10), SIGKILL), 0);
}

static void test_no_program(void **state)
{
    struct bench *bench = *state;
    struct slurm_child_place place = {
        .bin = "/nowhere", .conf = "", .within_ms = LONG_MS};
    const char *const words[] = {"sinfo", NULL};
    const char *text = NULL;
    struct err err;
    assert_int_equal(slurm_child_run(&place, words, &bench->arena, &text, &err),
                     ERR_IO);
    assert_non_null(strstr(err.text, "\"/nowhere/sinfo\" cannot be started"));
}

/* A caller that loses interest. */
static void test_freed_early(void **state)
{
    struct slurm_child_place place = {.bin = "", .conf = "", .within_ms = LONG_MS};
    const char *const words[] = {"sleep", "600", NULL};
    struct child *child;
    struct err err;
    (void)state;
    assert_int_equal(slurm_child_new(&place, words, daemon_now_ms(), &child, &err), 0);
    assert_false(child_step(child, daemon_now_ms()));
    child_free(child);
    child_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_what_it_gets, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_big_output, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_errors, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_deadline, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_left_behind, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_no_program, set_up, tear_down),
        cmocka_unit_test(test_freed_early),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
