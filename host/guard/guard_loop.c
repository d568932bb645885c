/* SPDX-License-Identifier: Apache-2.0 */
/* guard_loop.c: see guard_loop.h. */
#include "host/guard/guard_loop.h"
#include "host/run_dir/record_file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/guard/guard_control.h"
#include "host/guard/guard_run.h"
#include "host/guard/guard_timers.h"
#include "host/guard/run_step.h"
#include "host/kernel/kernel_clock.h"
#include "host/run_dir/run_dir_lock.h"

/* ---- living */

static void on_order(void *arg, const struct guard_request *order)
{
    struct guard_run *life = arg;
    bool is_waiting = life->record.phase == RUN_WAITING;
    if (order->kind == GUARD_REQUEST_GO && is_waiting &&
        order->token == life->record.token) {
        run_step_begin(life);
    } else if (order->kind == GUARD_REQUEST_CONTROL) {
        guard_control_request(life, order);
    } else if (order->kind == GUARD_REQUEST_RESIZE) {
        resize_command_request(life, order);
    } else if (order->kind == GUARD_REQUEST_END &&
               (is_waiting || life->record.phase == RUN_ENDED)) {
        life->is_over = true;
    } else {
        guard_link_push(&life->link, &life->record);
    }
}

static void live(struct guard_run *life)
{
    while (!life->is_over &&
           !(life->record.phase == RUN_ENDED && life->save_at == GUARD_RUN_NEVER)) {
        struct pollfd polls[2 + GUARD_LINK_PEERS + STDIO_RELAY_POLLS] = {
            {.fd = life->signals, .events = POLLIN}};
        int n_polls = guard_link_polls(&life->link, polls + 1);
        struct pollfd *of_stream = polls + 1 + n_polls;
        int n_of_stream =
            life->stream == NULL ? 0 : stdio_relay_polls(life->stream, of_stream);
        if (poll(polls, (nfds_t)(1 + n_polls + n_of_stream),
                 guard_timers_timeout_ms(life)) < 0) {
            continue;
        }
        if (polls[0].revents != 0) {
            run_step_on_child(life);
        }
        guard_link_serve(&life->link, polls + 1, n_polls, &life->record, on_order,
                         life);
        if (n_of_stream > 0) {
            stdio_relay_serve(life->stream, of_stream, n_of_stream,
                              kernel_clock_now_ms());
        }
        guard_timers_step(life);
    }
}

/* ---- setting up */

/* Every signal is blocked: a shutdown that asks all to end is for the job, whose end
 * the guard then writes down. */
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

static int make_work(const struct guard_run *life, struct err *err)
{
    if (life->spec.cwd[0] != '\0') {
        return 0;
    }
    if ((mkdirat(life->dir, RUN_DIR_WORK, 0700) != 0 && errno != EEXIST) ||
        (life->account.is_other &&
         fchownat(life->dir, RUN_DIR_WORK, life->account.uid, life->account.gid,
                  AT_SYMLINK_NOFOLLOW) != 0)) {
        return err_set(err, ERR_IO, "cannot make the run's work directory: %s",
                       strerror(errno));
    }
    return 0;
}

static int draw_numbers(struct guard_run *life, struct err *err)
{
    uint64_t numbers[2];
    if (getrandom(numbers, sizeof(numbers), 0) != (ssize_t)sizeof(numbers)) {
        return err_set(err, ERR_IO, "no random numbers: %s", strerror(errno));
    }
    life->record.token = (numbers[0] >> 1) | 1;
    life->record.mark = (numbers[1] >> 1) | 1;
    return 0;
}

static void set_mark(struct guard_run *life)
{
    guard_record_mark(&life->record, life->spec.run, life->mark);
    life->spec.env[life->spec.n_env] = life->mark;
}

static int read_spec(struct guard_run *life, struct err *err)
{
    int code = run_dir_read_spec(life->dir, &life->spec, err);
    if (code == 0 && life->spec.end_within_ms > 0) {
        life->end_by = kernel_clock_now_ms() + life->spec.end_within_ms;
    }
    return code != 0 ? code
                     : account_find(life->spec.account, life->spec.is_leased,
                                    &life->account, err);
}

static int prepare(struct guard_run *life, struct err *err)
{
    int code = read_spec(life, err);
    if (code == 0) {
        code = make_work(life, err);
    }
    if (code == 0) {
        code = draw_numbers(life, err);
    }
    if (code == 0) {
        set_mark(life);
        stages_init(&life->course, &life->spec);
        life->record.phase = RUN_WAITING;
        code = record_file_write(life->dir, &life->record, err);
    }
    return code;
}

static void take_process(struct guard_run *life)
{
    setsid();
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    life->signals = block_signals();
}

int guard_loop_post_exec(const char *path, int dir, int agent,
                         const struct guard_record *record)
{
    struct guard_run life;
    struct err err = {0};
    guard_run_init(&life, path, agent);
    uint64_t guard_pid = life.record.guard_pid;
    life.record = *record;
    life.record.guard_pid = guard_pid;
    life.dir = dir;
    take_process(&life);
    if (life.signals >= 0 && read_spec(&life, &err) == 0) {
        set_mark(&life);
        resize_command_reload(&life);
        stages_init_post_exec(&life.course, &life.spec, record);
        run_step_next(&life);
        live(&life);
    } else {
        guard_run_end(&life, record->end, record->code, record->text);
    }
    guard_run_release(&life);
    return 0;
}

int guard_loop_main(const char *path, int agent)
{
    struct guard_run life;
    struct err err = {0};
    guard_run_init(&life, path, agent);
    take_process(&life);
    life.dir = run_dir_enter(path);
    if (life.dir < 0 || life.signals < 0) {
        guard_run_release(&life);
        return 1;
    }
    if (prepare(&life, &err) == 0) {
        guard_link_push(&life.link, &life.record);
        guard_timers_step(&life);
        live(&life);
    } else {
        /* On disk if it can be; the agent is told in any case. */
        guard_run_end(&life, RUN_END_FAILED, 0, err.text);
    }
    guard_run_release(&life);
    return 0;
}
