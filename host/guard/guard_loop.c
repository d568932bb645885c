/* SPDX-License-Identifier: Apache-2.0 */
/* guard_loop.c: see guard.h. */
#include "host/guard/guard.h"
#include "host/run_dir/run_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/guard/guard_run.h"
#include "host/kernel/kernel.h"

/* ---- the loop */

static void serve(struct guard_run *run)
{
    while (!exec_run_is_over(&run->exec)) {
        struct pollfd polls[2 + GUARD_LINK_PEERS + STDIO_RELAY_POLLS] = {
            {.fd = run->signals, .events = POLLIN}};
        int n_polls = guard_link_polls(&run->link, polls + 1);
        struct pollfd *of_stream = polls + 1 + n_polls;
        int n_of_stream =
            run->relay == NULL ? 0 : stdio_relay_polls(run->relay, of_stream);
        if (poll(polls, (nfds_t)(1 + n_polls + n_of_stream),
                 guard_timers_timeout_ms(run)) < 0) {
            continue;
        }
        if (polls[0].revents != 0) {
            guard_step_on_child(run);
        }
        guard_link_serve(&run->link, polls + 1, n_polls, &run->record,
                         guard_step_on_request, run);
        if (n_of_stream > 0) {
            stdio_relay_serve(run->relay, of_stream, n_of_stream,
                              kernel_clock_now_ms());
        }
        guard_timers_step(run);
    }
}

/* ---- initialization */

/* All signals are blocked: a shutdown terminates the job, and the guard records its
 * end. */
static int block_signals(void)
{
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    return signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
}

static int make_work(const struct guard_run *run, struct err *err)
{
    if (run->spec.cwd[0] != '\0') {
        return 0;
    }
    if (run->account.is_other && run->spec.private_view != 0 &&
        !private_view_prepare(run->dir, (int)run->spec.private_view)) {
        return err_set(err, ERR_IO, "cannot make the run's own /tmp: %s",
                       strerror(errno));
    }
    if ((mkdirat(run->dir, RUN_DIR_WORK, 0700) != 0 && errno != EEXIST) ||
        (run->account.is_other &&
         fchownat(run->dir, RUN_DIR_WORK, run->account.uid, run->account.gid,
                  AT_SYMLINK_NOFOLLOW) != 0)) {
        return err_set(err, ERR_IO, "cannot make the run's work directory: %s",
                       strerror(errno));
    }
    return 0;
}

static int draw_numbers(struct guard_run *run, struct err *err)
{
    uint64_t numbers[2];
    if (getrandom(numbers, sizeof(numbers), 0) != (ssize_t)sizeof(numbers)) {
        return err_set(err, ERR_IO, "no random numbers: %s", strerror(errno));
    }
    run->record.token = (numbers[0] >> 1) | 1;
    run->record.mark = (numbers[1] >> 1) | 1;
    return 0;
}

static void set_mark(struct guard_run *run)
{
    guard_record_mark(&run->record, run->spec.run, run->mark);
    run->spec.env[run->spec.n_env] = run->mark;
}

/* An account without a home has the run's work directory as such. */
static void set_account_env(struct guard_run *run)
{
    const struct account *account = &run->account;
    char work[PATH_MAX];
    snprintf(work, sizeof(work), "%s/%s", run->path, RUN_DIR_WORK);
    user_env_apply(&run->user_env, &run->spec, account->name,
                   account->home != NULL ? account->home : work, account->shell);
}

static int read_spec(struct guard_run *run, struct err *err)
{
    int code = run_dir_read_spec(run->dir, &run->spec, err);
    if (code == 0) {
        code = account_find(run->spec.account, run->spec.is_leased, &run->account, err);
    }
    if (code == 0 && run->spec.is_leased) {
        set_account_env(run);
    }
    return code;
}

static int prepare(struct guard_run *run, struct err *err)
{
    int code = read_spec(run, err);
    if (code == 0) {
        code = make_work(run, err);
    }
    if (code == 0) {
        code = draw_numbers(run, err);
    }
    if (code == 0) {
        set_mark(run);
        exec_run_init(&run->exec, &run->spec, kernel_clock_now_ms());
        exec_run_fill_record(&run->exec, &run->record);
        code = record_file_write(run->dir, &run->record, err);
    }
    return code;
}

static void set_up_process(struct guard_run *run)
{
    setsid();
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    run->signals = block_signals();
}

/* The processes that a guard left: they are not our children. */
static void find_orphans(struct guard_run *run)
{
    const struct guard_record *record = &run->record;
    const char *name = strrchr(run->path, '/');
    guard_record_mark(record, name == NULL ? run->path : name + 1, run->mark);
    run->orphans = (struct procs){
        .cgroup = {.dir = -1},
        .memcg = {.dir = -1},
        .session = (pid_t)record->job_pid,
        .session_start = record->job_start,
        .mark = run->mark,
    };
    if (record->cgroup[0] != '\0') {
        cgroup_open(&run->orphans.cgroup, record->cgroup);
    }
}

int guard_loop_reap(const char *path, int dir, int agent,
                    const struct guard_record *record)
{
    struct guard_run run;
    struct err err = {0};
    guard_run_init(&run, path, agent);
    bool is_this_boot = strcmp(run.record.boot_id, record->boot_id) == 0;
    uint64_t guard_pid = run.record.guard_pid;
    run.record = *record;
    run.record.guard_pid = guard_pid;
    run.dir = dir;
    set_up_process(&run);
    if (is_this_boot) {
        find_orphans(&run);
    }
    if (run.signals >= 0 && read_spec(&run, &err) == 0) {
        set_mark(&run);
        resize_command_reload(&run);
    } else {
        run_spec_release(&run.spec); /* no command is left */
    }
    exec_run_load(&run.exec, &run.spec, record, is_this_boot, kernel_clock_now_ms());
    guard_timers_step(&run);
    serve(&run);
    guard_run_release(&run);
    return 0;
}

int guard_loop_main(const char *path, int agent)
{
    struct guard_run run;
    struct err err = {0};
    guard_run_init(&run, path, agent);
    set_up_process(&run);
    run.dir = run_dir_enter(path);
    if (run.dir < 0 || run.signals < 0) {
        guard_run_release(&run);
        return 1;
    }
    if (prepare(&run, &err) == 0) {
        guard_link_push(&run.link, &run.record);
        guard_timers_step(&run);
        serve(&run);
    } else {
        /* The agent gets this even if the disk does not. */
        guard_step(&run, &(struct exec_event){.kind = EXEC_GO, .failure = err.text});
    }
    guard_run_release(&run);
    return 0;
}
