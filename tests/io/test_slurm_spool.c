/* SPDX-License-Identifier: Apache-2.0 */
/* test_slurm_spool.c: directories of leased runs, and their scripts, which /bin/sh runs
 * here as slurmd does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "slurm/io/slurm_spool.h"

struct bench {
    char path[64];
    struct slurm_spool spool;
    struct arena arena;
    struct slurm_run_record record;
    struct msg_run_start start;
    struct host_slots slots;
};

static const struct run_id run_1 = {"south", 1, 77};

static int set_up(void **state)
{
    struct bench *bench = mem_alloc(1, sizeof(*bench));
    struct err err;
    snprintf(bench->path, sizeof(bench->path), "/tmp/sublet-spool-XXXXXX");
    assert_non_null(mkdtemp(bench->path));
    assert_int_equal(slurm_spool_open(&bench->spool, bench->path, &err), 0);
    arena_init(&bench->arena);
    bench->record = (struct slurm_run_record){.run = run_1,
                                              .node = "n1",
                                              .lease = "north/p/south",
                                              .account = "",
                                              .token = 5,
                                              .n_slots = 2,
                                              .run_limit_ms = 60000,
                                              .mem_limit_mib = 77};
    bench->slots = (struct host_slots){"n1", 2};
    bench->start = (struct msg_run_start){.run = run_1,
                                          .job = "12[3]",
                                          .lease = "north/p/south",
                                          .hosts = &bench->slots,
                                          .n_hosts = 1,
                                          .account = "",
                                          .spec = {.name = "it's",
                                                   .user = "ana",
                                                   .queue = "normal",
                                                   .cwd = "",
                                                   .in_file = "",
                                                   .out_file = "",
                                                   .err_file = "",
                                                   .app = "",
                                                   .n_slots = 2,
                                                   .umask = 077}};
    *state = bench;
    return 0;
}

static int tear_down(void **state)
{
    struct bench *bench = *state;
    slurm_spool_remove(&bench->spool, &run_1);
    slurm_spool_close(&bench->spool);
    assert_int_equal(rmdir(bench->path), 0); /* nothing else was left */
    arena_release(&bench->arena);
    free(bench);
    return 0;
}

static void make(struct bench *bench, const char *command)
{
    struct err err = {.text = ""};
    bench->start.spec.command = command;
    if (slurm_spool_make(&bench->spool, &bench->record, &bench->start, &err) != 0) {
        fail_msg("%s", err.text);
    }
}

/* As slurmd runs it; the exit status. */
static int run_script(struct bench *bench)
{
    const char *path = slurm_spool_script(&bench->spool, &run_1, &bench->arena);
    pid_t pid = fork();
    int status;
    if (pid == 0) {
        setenv("SLURM_JOB_ID", "42", 1);
        execl("/bin/sh", "sh", path, (char *)NULL);
        _exit(127);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WEXITSTATUS(status);
}

static const char *output(struct bench *bench, enum output_stream stream)
{
    struct msg_output piece = {.bytes = (const uint8_t *)""};
    const struct msg_output_ask ask = {.run = run_1, .stream = stream, .n_bytes = 4000};
    slurm_spool_read_output(&bench->spool, &ask, &piece, &bench->arena);
    assert_false(piece.is_gone);
    assert_true(piece.is_end);
    return arena_strn(&bench->arena, (const char *)piece.bytes, (size_t)piece.n_bytes);
}

static struct slurm_run_files look(struct bench *bench)
{
    struct slurm_run_files files;
    assert_true(slurm_spool_look(&bench->spool, &run_1, &files));
    return files;
}

/* ---------------------------------------------------------------- scripts */

static void test_a_script_runs_once(void **state)
{
    struct bench *bench = *state;
    make(bench, "echo hello; echo oops >&2; exit 7");
    struct slurm_run_files files = look(bench);
    assert_false(files.is_claimed);
    assert_false(files.has_ended);
    assert_int_equal(run_script(bench), 7);
    files = look(bench);
    assert_true(files.is_claimed);
    assert_true(files.begun_ms > 0);
    assert_true(files.has_ended);
    assert_int_equal(files.end.status, 7);
    assert_true(files.end.ended_ms >= files.begun_ms);
    assert_int_equal(files.out_bytes, 6);
    assert_string_equal(output(bench, OUTPUT_OUT), "hello\n");
    assert_string_equal(output(bench, OUTPUT_ERR), "oops\n");
    /* slurmctld was killed, and starts it again. */
    assert_int_equal(run_script(bench), 0);
    assert_string_equal(output(bench, OUTPUT_OUT), "hello\n");
    assert_int_equal(look(bench).end.status, 7);
}

static void test_a_claimed_script_never_begins(void **state)
{
    struct bench *bench = *state;
    make(bench, "echo hello");
    assert_true(slurm_spool_claim(&bench->spool, &run_1));
    assert_false(slurm_spool_claim(&bench->spool, &run_1));
    assert_int_equal(run_script(bench), 0);
    struct slurm_run_files files = look(bench);
    assert_true(files.is_claimed);
    assert_int_equal(files.begun_ms, 0);
    assert_false(files.has_ended);
}

static void test_variables(void **state)
{
    static const char *const env[] = {"MINE=it's \"quoted\" $HOME `id`\nline",
                                      "SLURM_CONF=/else", "PATH=/else",
                                      "BASH_FUNC_f%%=() { :; }", "EMPTY="};
    struct bench *bench = *state;
    bench->start.spec.env = env;
    bench->start.spec.n_env = sizeof(env) / sizeof(env[0]);
    make(bench,
         "echo \"$MINE\"; echo \"${EMPTY-unset}\"; echo \"${SLURM_CONF-unset}\"; "
         "echo \"$PATH\"; echo \"$LSB_JOBID $LSB_JOBINDEX $LSB_JOBNAME $LSB_HOSTS "
         "$LSB_MCPU_HOSTS $SUBLET_LEASE\"; umask");
    assert_int_equal(run_script(bench), 0);
    assert_string_equal(output(bench, OUTPUT_OUT),
                        "it's \"quoted\" $HOME `id`\nline\n\nunset\n"
                        "/usr/local/bin:/usr/bin:/bin\n"
                        "12 3 it's n1 n1 n1 2 north/p/south\n0077\n");
}

static void test_commands_around(void **state)
{
    static const char *const pre_execs[] = {"true", "exit 3", "echo never"};
    static const char *const post_execs[] = {"echo $LSB_JOBEXIT_STAT >post"};
    struct bench *bench = *state;
    bench->start.spec.pre_execs = pre_execs;
    bench->start.spec.n_pre_execs = 3;
    bench->start.spec.post_execs = post_execs;
    bench->start.spec.n_post_execs = 1;
    make(bench, "echo never");
    run_script(bench);
    struct slurm_run_files files = look(bench);
    assert_true(files.has_ended);
    assert_true(files.end.is_pre_exec);
    assert_int_equal(files.end.status, 3);
    assert_string_equal(output(bench, OUTPUT_OUT), "");
    const char *path =
        arena_printf(&bench->arena, "%s/south.1.77/work/post", bench->path);
    assert_int_equal(access(path, F_OK), 0);
}

/* All of them run; what they leave is their result, not the job's. */
static void test_a_command_after_fails(void **state)
{
    static const char *const post_execs[] = {"exit 3", "echo $LSB_JOBEXIT_STAT >post"};
    struct bench *bench = *state;
    bench->start.spec.post_execs = post_execs;
    bench->start.spec.n_post_execs = 2;
    make(bench, "exit 4");
    run_script(bench);
    struct slurm_run_files files = look(bench);
    assert_true(files.has_ended);
    assert_true(files.end.has_post_failed);
    assert_int_equal(files.end.status, 4);
    const char *path =
        arena_printf(&bench->arena, "%s/south.1.77/work/post", bench->path);
    assert_int_equal(access(path, F_OK), 0);
}

static void test_commands_after_succeed(void **state)
{
    static const char *const post_execs[] = {"true", "exit 0"};
    struct bench *bench = *state;
    bench->start.spec.post_execs = post_execs;
    bench->start.spec.n_post_execs = 2;
    make(bench, "exit 4");
    run_script(bench);
    struct slurm_run_files files = look(bench);
    assert_true(files.has_ended);
    assert_false(files.end.has_post_failed);
}

static void test_no_directory(void **state)
{
    struct bench *bench = *state;
    make(bench, "true");
    const char *path = slurm_spool_script(&bench->spool, &run_1, &bench->arena);
    const char *moved = arena_printf(&bench->arena, "%s.moved", bench->path);
    char command[512];
    snprintf(command, sizeof(command),
             "cp %s %s && mv %s %s.away && sh %s 2>/dev/null; "
             "code=$?; mv %s.away %s; rm %s; exit $code",
             path, moved, bench->path, bench->path, moved, bench->path, bench->path,
             moved);
    assert_int_equal(WEXITSTATUS(system(command)),
                     125); /* a node without SLURM_SPOOL */
}

/* ---------------------------------------------------------------- directories */

static void keep_record(void *arg, const struct slurm_run_record *record)
{
    struct bench *bench = arg;
    assert_string_equal(record->run.site, "south");
    assert_int_equal(record->run.attempt, 1);
    assert_int_equal(record->run.nonce, 77);
    assert_string_equal(record->node, "n1");
    assert_string_equal(record->lease, "north/p/south");
    assert_string_equal(record->account, "");
    assert_int_equal(record->token, 5);
    assert_int_equal(record->control_done, 9);
    assert_int_equal(record->n_slots, 2);
    assert_int_equal(record->run_limit_ms, 60000);
    assert_int_equal(record->mem_limit_mib, 77);
    bench->record.n_slots++;
}

static void test_found_again(void **state)
{
    struct bench *bench = *state;
    struct msg_run_start start;
    make(bench, "true");
    slurm_spool_keep_control(&bench->spool, &run_1, 9);
    slurm_spool_list(&bench->spool, keep_record, bench);
    assert_int_equal(bench->record.n_slots, 3); /* once */
    assert_true(slurm_spool_read_start(&bench->spool, &run_1, &start, &bench->arena));
    assert_string_equal(start.job, "12[3]");
}

static void test_made_twice(void **state)
{
    struct bench *bench = *state;
    struct err err;
    make(bench, "true");
    assert_int_equal(
        slurm_spool_make(&bench->spool, &bench->record, &bench->start, &err),
        ERR_EXISTS);
    char path[128]; /* a try that died before it wrote its record */
    snprintf(path, sizeof(path), "%s/south.1.77/record", bench->path);
    assert_int_equal(unlink(path), 0);
    make(bench, "true");
}

static void test_what_a_user_puts_there(void **state)
{
    struct bench *bench = *state;
    char path[128];
    make(bench, "ln -sf /etc/passwd stdout; ln -sf /etc/passwd end; mkdir deep; "
                "ln -s /etc deep/link");
    run_script(bench);
    snprintf(path, sizeof(path), "%s/south.1.77/work", bench->path);
    struct slurm_run_files files = look(bench);
    assert_int_equal(files.out_bytes, 0);
    struct msg_output piece = {.bytes = (const uint8_t *)""};
    const struct msg_output_ask ask = {
        .run = run_1, .stream = OUTPUT_OUT, .n_bytes = 4000};
    slurm_spool_read_output(&bench->spool, &ask, &piece, &bench->arena);
    assert_true(piece.is_gone);
    slurm_spool_remove(&bench->spool, &run_1);
    assert_int_not_equal(access(path, F_OK), 0);
    assert_int_equal(access("/etc/passwd", F_OK), 0);
    assert_false(slurm_spool_look(&bench->spool, &run_1, &files));
}

static void test_accounts(void **state)
{
    struct bench *bench = *state;
    struct err err;
    bench->start.spec.command = "true";
    bench->record.account = "no such account";
    assert_int_equal(
        slurm_spool_make(&bench->spool, &bench->record, &bench->start, &err),
        ERR_NOT_FOUND);
    bench->record.account = "root";
    assert_int_equal(
        slurm_spool_make(&bench->spool, &bench->record, &bench->start, &err),
        ERR_DENIED);
}

int main(void)
{
#define STORY(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        STORY(test_a_script_runs_once),
        STORY(test_a_claimed_script_never_begins),
        STORY(test_variables),
        STORY(test_commands_around),
        STORY(test_a_command_after_fails),
        STORY(test_commands_after_succeed),
        STORY(test_no_directory),
        STORY(test_found_again),
        STORY(test_made_twice),
        STORY(test_what_a_user_puts_there),
        STORY(test_accounts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
