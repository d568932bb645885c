/* SPDX-License-Identifier: Apache-2.0 */
/* terminal.c: see terminal.h.
 *
 * Offsets count from the start of the run. After a requeue they begin at 0 again, and
 * the new run gets the input that the old run had not accepted. Output is acknowledged
 * when it is written, so that a slow reader slows down the job; after the job's end,
 * all of it is acknowledged. */
#include "cli/terminal/terminal.h"

#include <errno.h>
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "cli/job_outcome.h"
#include "cli/terminal/tty.h"
#include "sys/daemon.h"

enum {
    N_OUTPUTS = 2,
    INPUT_SIZE = 2 * STREAM_CHUNK_MAX, /* of input that is not acknowledged */
    WRITE_MAX =
        4096,        /* PIPE_BUF: poll reports a pipe as writable only with this room */
    AGAIN_MS = 2000, /* without progress: bytes are requested or sent again */
    SIGNALLED = 128,
};

/* [written, got) of the output, offset o at o % STREAM_WINDOW. */
struct output {
    int fd;
    int64_t written, got;
    int64_t acknowledged; /* the part of `written` that the site knows */
    uint8_t bytes[STREAM_WINDOW];
};

struct terminal {
    const struct call *call;
    struct connect **connect;
    const char *job;
    enum interaction interaction;
    struct tty tty;
    int signals;
    sigset_t watched;
    struct arena arena; /* of the present message */

    uint64_t attempt;  /* that runs; 0: the job is pending */
    uint64_t ended_by; /* number of our WAIT */
    uint8_t input[INPUT_SIZE];
    int n_input, n_sent; /* bytes in `input`, and those of them that were sent */
    int64_t input_at;    /* offset of the first byte in `input` */
    bool is_input_over;  /* end of file */
    struct output outputs[N_OUTPUTS];
    bool is_over;           /* the job's processes are gone */
    char note[REASON_SIZE]; /* the last note of the site */
    bool has_news;          /* an acknowledgement is to be sent */
    int64_t heard_ms, asked_ms;
    bool is_done; /* `status` is valid */
    int status;
};

/* Prints a line between the job's output, in either terminal mode. */
static void print_note(const struct terminal *terminal, const char *text)
{
    fprintf(stderr, "%s%s", text, terminal->tty.is_raw ? "\r\n" : "\n");
}

/* ---- to the site */

static int send_piece(struct terminal *terminal, int n_bytes, bool is_again,
                      struct err *err)
{
    struct msg msg = {.kind = MSG_STREAM_DOWN};
    struct msg_stream_down *down = &msg.stream_down;
    const struct output *out = &terminal->outputs[OUTPUT_OUT];
    const struct output *error = &terminal->outputs[OUTPUT_ERR];
    *down = (struct msg_stream_down){
        .run = {.site = "", .attempt = terminal->attempt},
        .job = terminal->job,
        .got_out = terminal->is_over ? out->got : out->written,
        .got_err = terminal->is_over ? error->got : error->written,
        .offset = terminal->input_at + terminal->n_sent,
        .bytes = terminal->input + terminal->n_sent,
        .n_bytes = n_bytes,
        .is_end =
            terminal->is_input_over && terminal->n_sent + n_bytes == terminal->n_input,
        .is_again = is_again,
    };
    tty_size(&down->n_rows, &down->n_columns);
    int code = connect_send(*terminal->connect, &msg, NULL, err);
    terminal->n_sent += code == 0 ? n_bytes : 0;
    return code;
}

/* Sends acknowledgements and the input that is not sent yet. */
static int send_news(struct terminal *terminal, bool is_again, struct err *err)
{
    int code = 0;
    terminal->has_news = false;
    for (int i = 0; i < N_OUTPUTS; i++) {
        terminal->outputs[i].acknowledged = terminal->outputs[i].written;
    }
    terminal->asked_ms = daemon_now_ms();
    if (is_again) {
        terminal->n_sent = 0;
    }
    do {
        int left = terminal->n_input - terminal->n_sent;
        code = send_piece(terminal, left < STREAM_CHUNK_MAX ? left : STREAM_CHUNK_MAX,
                          is_again, err);
        is_again = false;
    } while (code == 0 && terminal->n_sent < terminal->n_input);
    return code;
}

static int send_order(struct terminal *terminal, enum control_action action, int signal,
                      struct err *err)
{
    struct msg msg = {.kind = MSG_JOB_CONTROL};
    msg.job_control = (struct msg_job_control){
        .action = action, .signal = signal, .jobs = &terminal->job, .n_jobs = 1};
    return connect_send(*terminal->connect, &msg, &msg.job_control.request, err);
}

/* Sends a WAIT, which the site answers at the end of the job. */
static int send_wait(struct terminal *terminal, struct err *err)
{
    struct msg msg = {.kind = MSG_WAIT, .wait = {.job = terminal->job}};
    int code = connect_send(*terminal->connect, &msg, &msg.wait.request, err);
    terminal->ended_by = msg.wait.request;
    terminal->heard_ms = daemon_now_ms();
    return code != 0 ? code : send_news(terminal, true, err);
}

/* ---- from the site */

static void begin_attempt(struct terminal *terminal, uint64_t attempt)
{
    terminal->attempt = attempt;
    terminal->is_over = false;
    terminal->input_at = 0;
    terminal->n_sent = 0;
    for (int i = 0; i < N_OUTPUTS; i++) {
        struct output *output = &terminal->outputs[i];
        output->written = output->got = output->acknowledged = 0;
    }
    if (attempt != 0 && terminal->interaction != INTERACTION_PIPES) {
        tty_enter(&terminal->tty, terminal->interaction == INTERACTION_PTY);
    } else {
        tty_leave(&terminal->tty);
    }
}

static void take_bytes(struct output *output, const struct msg_stream_up *up)
{
    int64_t skipped = output->got - up->offset;
    int64_t room = STREAM_WINDOW - (output->got - output->written);
    if (skipped < 0 || skipped > up->n_bytes || up->n_bytes - skipped > room) {
        return; /* a gap, or no new bytes: the site sends missing bytes again */
    }
    for (int64_t i = skipped; i < up->n_bytes; i++) {
        output->bytes[output->got++ % STREAM_WINDOW] = up->bytes[i];
    }
}

static void take_progress(struct terminal *terminal, int64_t got_in)
{
    int64_t n_taken = got_in - terminal->input_at;
    if (n_taken > 0 && n_taken <= terminal->n_input) {
        memmove(terminal->input, terminal->input + n_taken,
                (size_t)(terminal->n_input - n_taken));
        terminal->n_input -= (int)n_taken;
        terminal->n_sent -=
            (int)n_taken < terminal->n_sent ? (int)n_taken : terminal->n_sent;
        terminal->input_at = got_in;
    }
}

static void take_up(struct terminal *terminal, const struct msg_stream_up *up)
{
    bool is_new = up->run.attempt != terminal->attempt;
    terminal->heard_ms = daemon_now_ms();
    if (up->note[0] != '\0') {
        if (is_new) {
            begin_attempt(terminal, up->run.attempt);
        }
        if (is_new || strcmp(terminal->note, up->note) != 0) { /* not a repeated note */
            snprintf(terminal->note, sizeof(terminal->note), "%s", up->note);
            print_note(terminal, up->note);
        }
        terminal->has_news = true;
        return;
    }
    if (is_new || up->run.attempt == 0) {
        return;
    }
    take_bytes(&terminal->outputs[up->stream], up);
    take_progress(terminal, up->got_in);
    terminal->is_over = terminal->is_over || up->is_over;
    terminal->has_news = terminal->has_news || terminal->is_over;
}

/* Takes the job's exit code. Without one, or after a signal, prints the reason. */
static void take_end(struct terminal *terminal, const struct msg_reply *reply)
{
    json_t *answer = json_loads(reply->json != NULL ? reply->json : "", 0, NULL);
    const json_t *code = json_object_get(answer, "exit_code");
    terminal->is_done = true;
    terminal->status =
        json_is_integer(code) ? (int)json_integer_value(code) & 0xff : CALL_FAILED;
    tty_leave(&terminal->tty);
    if (!json_is_integer(code) || terminal->status > SIGNALLED) {
        print_note(terminal, reply->text);
    }
    json_decref(answer);
}

/* An error ends this process; the site then ends the job. */
static int take_message(struct terminal *terminal, const struct msg *msg,
                        struct err *err)
{
    if (msg->kind == MSG_ERROR) {
        return err_set(err, msg->error.code < 0 ? msg->error.code : ERR_STATE, "%s",
                       msg->error.text);
    }
    if (msg->kind == MSG_STREAM_UP) {
        take_up(terminal, &msg->stream_up);
    } else if (msg->kind == MSG_REPLY && msg->reply.request == terminal->ended_by) {
        if (msg->reply.code != 0) {
            return err_set(err, msg->reply.code, "%s", msg->reply.text);
        }
        take_end(terminal, &msg->reply);
    }
    return 0;
}

static int read_site(struct terminal *terminal, struct err *err)
{
    struct msg msg;
    bool has_one = true;
    int code = 0;
    while (code == 0 && has_one && !terminal->is_done) {
        arena_clear(&terminal->arena);
        code = connect_take(*terminal->connect, &terminal->arena, &msg, &has_one, err);
        if (code == 0 && has_one) {
            code = take_message(terminal, &msg, err);
        }
    }
    return code;
}

/* ---- the user */

static void read_input(struct terminal *terminal)
{
    ssize_t got = read(STDIN_FILENO, terminal->input + terminal->n_input,
                       INPUT_SIZE - (size_t)terminal->n_input);
    if (got > 0) {
        terminal->n_input += (int)got;
    } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
        terminal->is_input_over = true;
    }
    terminal->has_news = true;
}

/* False if the reader has closed the pipe. */
static bool write_output(struct terminal *terminal, struct output *output)
{
    size_t at = (size_t)(output->written % STREAM_WINDOW);
    size_t left = (size_t)(output->got - output->written);
    size_t most = STREAM_WINDOW - at < WRITE_MAX ? STREAM_WINDOW - at : WRITE_MAX;
    ssize_t put = write(output->fd, output->bytes + at, left < most ? left : most);
    if (put > 0) {
        output->written += put;
        terminal->has_news = terminal->has_news || output->written == output->got ||
                             output->written - output->acknowledged >=
                                 STREAM_CHUNK_MAX; /* not each small piece */
    }
    return put >= 0 || errno == EAGAIN || errno == EINTR;
}

/* Suspends the job together with this process. */
static int suspend(struct terminal *terminal, struct err *err)
{
    int code = send_order(terminal, CONTROL_SIGNAL, SIGTSTP, err);
    bool was_raw = terminal->tty.is_raw;
    tty_leave(&terminal->tty);
    raise(SIGSTOP);
    if (was_raw) {
        tty_enter(&terminal->tty, true);
    }
    return code != 0 ? code : send_order(terminal, CONTROL_SIGNAL, SIGCONT, err);
}

static int take_signal(struct terminal *terminal, struct err *err)
{
    struct signalfd_siginfo info;
    if (read(terminal->signals, &info, sizeof(info)) != (ssize_t)sizeof(info)) {
        return 0;
    }
    int signal = (int)info.ssi_signo;
    switch (signal) {
    case SIGWINCH:
        terminal->has_news = true;
        return 0;
    case SIGINT:
        return send_order(terminal,
                          terminal->attempt == 0 ? CONTROL_KILL : CONTROL_SIGNAL,
                          SIGINT, err);
    case SIGTSTP:
        return suspend(terminal, err);
    default: /* ends the connection, and with it the job */
        terminal->is_done = true;
        terminal->status = SIGNALLED + signal;
        return 0;
    }
}

/* ---- the loop */

enum {
    POLL_SITE,
    POLL_SIGNALS,
    POLL_INPUT,
    POLL_OUTPUTS,
    POLLS = POLL_OUTPUTS + N_OUTPUTS
};

static void fill_polls(const struct terminal *terminal, struct pollfd *polls)
{
    bool wants_input = terminal->attempt != 0 && !terminal->is_input_over &&
                       terminal->n_input < INPUT_SIZE;
    polls[POLL_SITE] =
        (struct pollfd){.fd = connect_fd(*terminal->connect), .events = POLLIN};
    polls[POLL_SIGNALS] = (struct pollfd){.fd = terminal->signals, .events = POLLIN};
    polls[POLL_INPUT] =
        (struct pollfd){.fd = wants_input ? STDIN_FILENO : -1, .events = POLLIN};
    for (int i = 0; i < N_OUTPUTS; i++) {
        const struct output *output = &terminal->outputs[i];
        bool has_some = output->got > output->written;
        polls[POLL_OUTPUTS + i] =
            (struct pollfd){.fd = has_some ? output->fd : -1, .events = POLLOUT};
    }
}

static int serve_user(struct terminal *terminal, const struct pollfd *polls,
                      struct err *err)
{
    for (int i = 0; i < N_OUTPUTS; i++) {
        if (polls[POLL_OUTPUTS + i].revents != 0 &&
            !write_output(terminal, &terminal->outputs[i])) {
            terminal->is_done = true; /* as SIGPIPE would */
            terminal->status = SIGNALLED + SIGPIPE;
        }
    }
    if (polls[POLL_INPUT].revents != 0) {
        read_input(terminal);
    }
    return polls[POLL_SIGNALS].revents != 0 ? take_signal(terminal, err) : 0;
}

static int turn(struct terminal *terminal, struct err *err)
{
    struct pollfd polls[POLLS];
    fill_polls(terminal, polls);
    int64_t left_ms = terminal->asked_ms + AGAIN_MS - daemon_now_ms();
    poll(polls, POLLS, left_ms > 0 ? (int)left_ms : 0);
    int code = serve_user(terminal, polls, err);
    if (code == 0 && polls[POLL_SITE].revents != 0) {
        code = read_site(terminal, err);
    }
    int64_t now_ms = daemon_now_ms();
    bool is_late = now_ms - terminal->asked_ms >= AGAIN_MS;
    if (code == 0 && !terminal->is_done && (terminal->has_news || is_late)) {
        code = send_news(terminal, is_late && now_ms - terminal->heard_ms >= AGAIN_MS,
                         err);
    }
    return code;
}

/* Restores the default signal actions meanwhile, since this may take a minute. */
static int come_back(struct terminal *terminal, struct err *err)
{
    bool was_raw = terminal->tty.is_raw;
    tty_leave(&terminal->tty);
    sigprocmask(SIG_UNBLOCK, &terminal->watched, NULL);
    int code = job_outcome_connect_again(terminal->call, terminal->connect, err);
    sigprocmask(SIG_BLOCK, &terminal->watched, NULL);
    if (was_raw) {
        tty_enter(&terminal->tty, terminal->interaction == INTERACTION_PTY);
    }
    return code != 0 ? code : send_wait(terminal, err);
}

/* Writes the rest of the output after the job's end, blocking. */
static void write_rest(struct terminal *terminal)
{
    for (int i = 0; i < N_OUTPUTS; i++) {
        struct output *output = &terminal->outputs[i];
        while (output->got > output->written && write_output(terminal, output)) {
        }
    }
}

static void init(struct terminal *terminal)
{
    terminal->outputs[OUTPUT_OUT].fd = STDOUT_FILENO;
    terminal->outputs[OUTPUT_ERR].fd = STDERR_FILENO;
    arena_init(&terminal->arena);
    tty_init(&terminal->tty);
    const int watched[] = {SIGINT, SIGTERM, SIGHUP, SIGTSTP, SIGWINCH};
    sigemptyset(&terminal->watched);
    for (size_t i = 0; i < sizeof(watched) / sizeof(watched[0]); i++) {
        sigaddset(&terminal->watched, watched[i]);
    }
    signal(SIGPIPE, SIG_IGN);
    sigprocmask(SIG_BLOCK, &terminal->watched, NULL);
    terminal->signals = signalfd(-1, &terminal->watched, SFD_CLOEXEC | SFD_NONBLOCK);
}

int terminal_run(const struct call *call, struct connect **connect, const char *job,
                 enum interaction interaction)
{
    struct terminal *terminal = mem_alloc(1, sizeof(*terminal));
    struct err err;
    *terminal = (struct terminal){
        .call = call, .connect = connect, .job = job, .interaction = interaction};
    init(terminal);
    print_note(terminal, "<<Waiting for dispatch ...>>");
    int code = send_wait(terminal, &err);
    if (code ==
        0) { /* messages that arrived together with the answer to the submission */
        code = read_site(terminal, &err);
    }
    while (!terminal->is_done && (code == 0 || code == ERR_AWAY)) {
        code = code == 0 ? turn(terminal, &err) : come_back(terminal, &err);
    }
    tty_leave(&terminal->tty);
    write_rest(terminal);
    int status = terminal->is_done ? terminal->status : call_fail_err(&err);
    close(terminal->signals);
    arena_release(&terminal->arena);
    free(terminal);
    return status;
}
