/* SPDX-License-Identifier: Apache-2.0 */
/* test_daemon.c: clock, signals, configuration files, directories, log lines, JSON:
 * what each daemon has from sys besides its sockets and its store. */
#include <fcntl.h>
#include <math.h>
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
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/err.h"
#include "sys/daemon.h"
#include "sys/json.h"
#include "sys/log.h"
#include "sys/wake.h"

static char directory[64];
static struct arena arena;

static int start(void **state)
{
    snprintf(directory, sizeof(directory), "/tmp/test_daemon.XXXXXX");
    assert_non_null(mkdtemp(directory));
    arena_init(&arena);
    return 0;
}

static int stop(void **state)
{
    arena_release(&arena);
    char command[96];
    snprintf(command, sizeof(command), "rm -rf '%s'", directory);
    return system(command);
}

static char *in_directory(const char *name)
{
    return arena_printf(&arena, "%s/%s", directory, name);
}

static void write_file(const char *name, const char *text)
{
    FILE *file = fopen(in_directory(name), "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* ---------------------------------------------------------------- clock, signals */

static void test_clock(void **state)
{
    int64_t before = daemon_now_ms();
    assert_true(llabs(before - (int64_t)time(NULL) * 1000) < 5000);
    int64_t last = before;
    for (int i = 0; i < 1000; i++) {
        int64_t now = daemon_now_ms();
        assert_true(now >= last);
        last = now;
    }
}

/* Instead of libc's: the wall clock may be set. */
static int64_t set_by_s, set_by_ms;

int clock_gettime(clockid_t clock, struct timespec *now)
{
    int rc = (int)syscall(SYS_clock_gettime, clock, now);
    if (clock == CLOCK_REALTIME) {
        now->tv_sec += set_by_s;
        now->tv_nsec += set_by_ms * 1000000;
        now->tv_sec += now->tv_nsec / 1000000000;
        now->tv_nsec %= 1000000000;
    }
    return rc;
}

/* Time windows go by the wall clock, everything else by one that nobody sets. */
static void test_the_wall_clock_is_set(void **state)
{
    int64_t now_ms = daemon_now_ms(), offset_ms = daemon_utc_offset_ms();
    assert_int_equal(offset_ms % 60000, 0); /* the zone's */
    set_by_ms = 400;
    assert_int_equal(daemon_utc_offset_ms(), offset_ms); /* adjusted, not set */
    set_by_s = 3 * 3600;
    assert_true(llabs(daemon_utc_offset_ms() - offset_ms - 3 * 3600 * 1000) < 1000);
    assert_true(daemon_now_ms() - now_ms < 3600 * 1000);
    set_by_s = -3600;
    assert_true(llabs(daemon_utc_offset_ms() - offset_ms + 3600 * 1000) < 1000);
    assert_true(daemon_now_ms() >= now_ms);
    set_by_s = set_by_ms = 0;
    assert_true(llabs(daemon_utc_offset_ms() - offset_ms) < 1000);
}

static int seen[4], n_seen;

static int on_signal(int number, void *arg)
{
    seen[n_seen++] = number;
    assert_string_equal(arg, "arg");
    return number == SIGTERM ? -1 : 0;
}

static void test_signals_come_through_the_loop(void **state)
{
    zloop_t *loop = zloop_new();
    struct err err;
    char arg[] = "arg";
    assert_int_equal(daemon_watch_signals(loop, on_signal, arg, &err), ERR_NONE);
    kill(getpid(), SIGHUP);
    kill(getpid(), SIGTERM);
    kill(getpid(), SIGPIPE); /* ignored */
    zloop_start(loop);
    assert_int_equal(n_seen, 2);
    assert_true(seen[0] == SIGHUP || seen[1] == SIGHUP);
    assert_true(seen[0] == SIGTERM || seen[1] == SIGTERM);
    zloop_destroy(&loop);
}

struct turns {
    struct wake wake;
    int n_wakes;
};

static void count_wake(void *arg)
{
    struct turns *turns = arg;
    turns->n_wakes++;
}

/* Due in one turn with the wake, which comes after it in the loop. */
static int put_wake_off(zloop_t *loop, int timer_id, void *arg)
{
    struct turns *turns = arg;
    wake_set(&turns->wake, daemon_now_ms() + 3600 * 1000);
    return 0;
}

static int end_loop(zloop_t *loop, int timer_id, void *arg)
{
    return -1;
}

/* zloop calls an overdue timer that was ended in the same turn (wake.h). */
static void test_a_wake_put_off_in_the_turn_it_is_due(void **state)
{
    struct turns turns = {.n_wakes = 0};
    zloop_t *loop = zloop_new();
    wake_init(&turns.wake, loop, count_wake, &turns);
    zloop_timer(loop, 1, 1, put_wake_off, &turns);
    wake_set(&turns.wake, daemon_now_ms() + 1);
    zloop_timer(loop, 50, 1, end_loop, NULL);
    zclock_sleep(20);
    zloop_start(loop);
    assert_int_equal(turns.n_wakes, 0);
    wake_release(&turns.wake);
    zloop_destroy(&loop);
}

/* ---------------------------------------------------------------- standard error */

static int kept_stderr;

static void catch_stderr(void)
{
    fflush(stderr);
    kept_stderr = dup(STDERR_FILENO);
    int fd = open(in_directory("stderr"), O_CREAT | O_TRUNC | O_WRONLY, 0600);
    dup2(fd, STDERR_FILENO);
    close(fd);
}

static char *caught_stderr(void)
{
    dup2(kept_stderr, STDERR_FILENO);
    close(kept_stderr);
    char *text = arena_alloc(&arena, 65536, 1);
    FILE *file = fopen(in_directory("stderr"), "r");
    size_t got = fread(text, 1, 65535, file);
    fclose(file);
    text[got] = '\0';
    return text;
}

static void test_log_lines(void **state)
{
    unsetenv("JOURNAL_STREAM");
    unsetenv("SUBLET_LOG");
    log_init("sublet-test");
    catch_stderr();
    log_line(LOG_LEVEL_INFO, "peer says \"%s\"", "a\nb\x1b[2J");
    log_line(LOG_LEVEL_DEBUG, "not shown");
    char *text = caught_stderr();
    assert_non_null(strstr(text, "Z sublet-test: info: peer says \"a b [2J\"\n"));
    assert_null(strstr(text, "not shown"));

    setenv("JOURNAL_STREAM", "8:1", 1);
    setenv("SUBLET_LOG", "debug", 1);
    log_init("sublet-test");
    catch_stderr();
    log_line(LOG_LEVEL_WARNING, "w");
    log_line(LOG_LEVEL_DEBUG, "d");
    log_line(LOG_LEVEL_ERROR, "%05000d", 1);
    text = caught_stderr();
    assert_ptr_equal(strstr(text, "<4>w\n<7>d\n<3>000"), text);
    assert_true(strlen(text) < 2200);
    assert_int_equal(text[strlen(text) - 1], '\n');
    unsetenv("JOURNAL_STREAM");
    unsetenv("SUBLET_LOG");
    log_init("sublet-test");
}

static void test_log_limit(void **state)
{
    struct log_limit limit = {.burst = 3};
    int passed = 0;
    for (int i = 0; i < 100; i++) {
        passed += log_limit_pass(&limit, 50000 + i);
    }
    assert_int_equal(passed, 3);
    catch_stderr();
    assert_true(log_limit_pass(&limit, 60001));
    char *text = caught_stderr();
    assert_non_null(strstr(text, "97 more lines like these were left out"));
}

static void test_ready(void **state)
{
    catch_stderr();
    daemon_ready();
    assert_string_equal(caught_stderr(), "ready\n");
}

/* ---------------------------------------------------------------- files */

static void test_configuration_of_a_directory(void **state)
{
    write_file("lsb.params",
               "Begin Parameters\nMC_RECLAIM_DELAY = 5\nEnd Parameters\n");
    write_file("a.conf", "Begin Site\nNAME = north\nEnd Site\n");
    write_file("lsf.conf", "LSF_STRICT_RESREQ=Y\n");
    write_file("notes.txt", "Begin Rubbish\n");
    write_file("lsb.queues~", "Begin Rubbish\n");
    write_file(".hidden.conf", "Begin Rubbish\n");
    struct conf conf;
    conf_init(&conf, &arena);
    char *paths[] = {directory};
    daemon_conf_read(&conf, paths, 1);
    assert_int_equal(conf.n_errors, 0);
    const char *names[8];
    int count = 0;
    for (const struct conf_section *section = conf.first; section != NULL;
         section = section->next) {
        names[count++] = strrchr(section->file, '/') + 1;
    }
    assert_int_equal(count, 3);
    assert_string_equal(names[0], "a.conf");
    assert_string_equal(names[1], "lsb.params");
    assert_string_equal(names[2], "lsf.conf");
}

static void test_files_that_cannot_be_read(void **state)
{
    assert_int_equal(mkdir(in_directory("empty"), 0700), 0);
    assert_int_equal(mkfifo(in_directory("fifo"), 0600), 0);
    int fd = open(in_directory("huge"), O_CREAT | O_WRONLY, 0600);
    assert_int_equal(ftruncate(fd, (16 << 20) + 1), 0);
    close(fd);
    struct conf conf;
    conf_init(&conf, &arena);
    char *paths[] = {in_directory("none.conf"), in_directory("fifo"),
                     in_directory("huge"), in_directory("empty"), (char[]){""}};
    daemon_conf_read(&conf, paths, 5);
    assert_int_equal(conf.n_errors, 5);
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    daemon_conf_print_diags(&conf, to);
    fclose(to);
    assert_non_null(strstr(text, "/none.conf:0: error: No such file or directory\n"));
    assert_non_null(strstr(text, "/fifo:0: error: not a file"));
    assert_non_null(strstr(text, "/huge:0: error: too large"));
    assert_non_null(strstr(text, "/empty:0: error: empty"));
    free(text);
}

static void test_diagnostics_as_lines(void **state)
{
    write_file("x.conf", "Begin Queue\nQUEUE_NAME = q\nPRIORITY = high\nEnd Queue\n");
    struct conf conf;
    conf_init(&conf, &arena);
    char *paths[] = {in_directory("x.conf")};
    daemon_conf_read(&conf, paths, 1);
    conf_check(&conf);
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    daemon_conf_print_diags(&conf, to);
    fclose(to);
    assert_non_null(strstr(text, "/x.conf:3: error: PRIORITY: "));
    free(text);
}

static void test_directories(void **state)
{
    struct err err;
    struct stat status;
    umask(022);
    assert_int_equal(daemon_make_directory(in_directory("a/b/c"), 0700, &err),
                     ERR_NONE);
    assert_int_equal(stat(in_directory("a/b/c"), &status), 0);
    assert_int_equal(status.st_mode & 0777, 0700);
    assert_int_equal(stat(in_directory("a/b"), &status), 0);
    assert_int_equal(status.st_mode & 0777, 0755); /* others may stand beside it */
    assert_int_equal(daemon_make_directory(in_directory("a/b/c/"), 0700, &err),
                     ERR_NONE);
    assert_int_equal(daemon_make_directory(in_directory("a/d/"), 0711, &err), ERR_NONE);
    assert_int_equal(stat(in_directory("a/d"), &status), 0);
    assert_int_equal(status.st_mode & 0777, 0711);
    assert_int_equal(daemon_make_directory_of(in_directory("a/e/file"), 0711, &err),
                     ERR_NONE);
    assert_int_equal(stat(in_directory("a/e"), &status), 0);
    assert_int_equal(status.st_mode & 0777, 0711);
    assert_int_equal(daemon_make_directory_of("file", 0711, &err), ERR_NONE);
    write_file("file", "");
    assert_int_equal(daemon_make_directory(in_directory("file/x"), 0700, &err),
                     ERR_EXISTS);
    assert_int_equal(daemon_make_directory("", 0700, &err), ERR_IO);
}

/* Users reach what is below a directory if all above it let them through. */
static void test_reach(void **state)
{
    struct err err;
    const char *above = in_directory("r"), *below = in_directory("r/s");
    assert_int_equal(chmod(in_directory("."), 0711), 0);
    assert_int_equal(daemon_make_directory(below, 0711, &err), ERR_NONE);
    assert_int_equal(daemon_check_reach(below, &err), ERR_NONE);
    assert_int_equal(chmod(below, 0700), 0);
    assert_int_equal(daemon_check_reach(below, &err), ERR_DENIED);
    assert_int_equal(chmod(below, 0711), 0);
    assert_int_equal(chmod(above, 0700), 0);
    assert_int_equal(daemon_check_reach(below, &err), ERR_DENIED);
    assert_non_null(strstr(err.text, "mode 0700"));
    assert_non_null(strstr(err.text, "chmod o+x "));
    assert_int_equal(daemon_check_reach(in_directory("none"), &err), ERR_IO);
}

/* ---------------------------------------------------------------- JSON */

static void test_json(void **state)
{
    struct value *root = value_object(&arena);
    value_add_int(&arena, root, "schema_version", 1);
    struct value *jobs = value_add(&arena, root, "jobs", value_array(&arena));
    struct value *job = value_add(&arena, jobs, NULL, value_object(&arena));
    value_add_text(&arena, job, "name", "a\"\n\xc3\xa4");
    value_add_text(&arena, job, "bad", "x\xff\xc3y");
    value_add_null(&arena, job, "end_at");
    value_add_bool(&arena, job, "ok", true);
    value_add_real(&arena, job, "tenth", 0.1);
    value_add_real(&arena, job, "none", (double)INFINITY);
    value_add_int(&arena, job, "big", INT64_C(1) << 53);
    char *text = json_render(root);
    assert_string_equal(
        text, "{\"schema_version\":1,\"jobs\":[{\"name\":\"a\\\"\\n\xc3\xa4\","
              "\"bad\":\"x??y\",\"end_at\":null,\"ok\":true,\"tenth\":0.1,"
              "\"none\":null,\"big\":9007199254740992}]}");
    free(text);
}

int main(void)
{
    daemon_block_signals();
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)
    const struct CMUnitTest tests[] = {
        TEST(test_clock),
        TEST(test_the_wall_clock_is_set),
        TEST(test_signals_come_through_the_loop),
        TEST(test_a_wake_put_off_in_the_turn_it_is_due),
        TEST(test_log_lines),
        TEST(test_log_limit),
        TEST(test_ready),
        TEST(test_configuration_of_a_directory),
        TEST(test_files_that_cannot_be_read),
        TEST(test_diagnostics_as_lines),
        TEST(test_directories),
        TEST(test_reach),
        TEST(test_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
