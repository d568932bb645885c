/* SPDX-License-Identifier: Apache-2.0 */
/* stdio_relay.c: see host_stdio.h.
 *
 * Offsets count from the run's beginning. A buffer holds the bytes [start, end) of its
 * stream. Output in [start, sent) was sent and is not acknowledged yet; when the user's
 * side reports that nothing arrived, everything from start is sent again. Input from
 * start on was not read by the job yet. */
#include "host/stdio/host_stdio.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/token_bucket.h"
#include "host/run_dir/run_dir.h"
#include "model/msg.h"

enum { N_OUTPUTS = 2, BACKLOG = 4 };

struct buffer {
    int64_t start, sent, end;
    uint8_t bytes[STREAM_WINDOW]; /* offset o is at o % STREAM_WINDOW */
};

struct stdio_relay {
    int listener, peer; /* -1: none */
    struct job_stdio stdio;
    bool has_begun;
    bool is_user_there;   /* the user's side has sent a packet */
    bool has_job_ended;   /* the job's processes have ended */
    bool owes_ack;        /* a packet is due even without output */
    bool has_input_ended; /* no input follows what is buffered ... */
    bool owes_input_end;  /* ... and the job gets its end after reading that */
    bool is_blocked;      /* the socket to the agent is full */
    uint8_t last;         /* last byte that was written to the job */
    int64_t begun_ms, received_ms, drain_ms;
    struct winsize size; /* of the user's terminal, as last reported */
    bool is_relayed;
    struct token_bucket bucket; /* rate limit of both directions, if is_relayed */
    bool is_rate_limited;       /* bytes are waiting for the rate limit */
    struct buffer in, outs[N_OUTPUTS];
};

int stdio_relay_new(struct stdio_relay **relay, bool is_relayed, struct err *err)
{
    struct stdio_relay *made = mem_alloc(1, sizeof(*made));
    made->is_relayed = is_relayed;
    token_bucket_init(&made->bucket, STREAM_RELAYED_PER_S, STREAM_WINDOW);
    made->listener = made->peer = -1;
    job_stdio_init(&made->stdio);
    int code = run_socket_listen(RUN_DIR_STREAM, BACKLOG, &made->listener, err);
    if (code != 0) {
        stdio_relay_free(made);
        return code;
    }
    *relay = made;
    return 0;
}

void stdio_relay_free(struct stdio_relay *relay)
{
    if (relay == NULL) {
        return;
    }
    job_stdio_close(&relay->stdio);
    if (relay->listener >= 0) {
        close(relay->listener);
    }
    if (relay->peer >= 0) {
        close(relay->peer);
    }
    free(relay);
}

/* ---- buffers */

static int buffer_count(const struct buffer *buffer)
{
    return (int)(buffer->end - buffer->start);
}

static int buffer_room(const struct buffer *buffer)
{
    return STREAM_WINDOW - buffer_count(buffer);
}

/* The longest chunk from `offset` on that does not wrap around the end of the ring. */
static uint8_t *chunk_at(struct buffer *buffer, int64_t offset, int64_t end,
                         size_t *length)
{
    size_t at = (size_t)(offset % STREAM_WINDOW);
    size_t left = STREAM_WINDOW - at;
    *length = (size_t)(end - offset) < left ? (size_t)(end - offset) : left;
    return buffer->bytes + at;
}

static void buffer_put(struct buffer *buffer, const uint8_t *bytes, size_t n_bytes)
{
    while (n_bytes > 0) {
        size_t length;
        uint8_t *to =
            chunk_at(buffer, buffer->end, buffer->end + (int64_t)n_bytes, &length);
        memcpy(to, bytes, length);
        buffer->end += (int64_t)length;
        bytes += length;
        n_bytes -= length;
    }
}

/* ---- the rate limit of a relayed stream */

static bool may_send(struct stdio_relay *relay, int64_t now_ms)
{
    bool may = !relay->is_relayed || token_bucket_refill(&relay->bucket, now_ms) > 0;
    relay->is_rate_limited = relay->is_rate_limited || !may;
    return may;
}

static void count_sent(struct stdio_relay *relay, size_t n_bytes)
{
    if (relay->is_relayed) {
        token_bucket_take(&relay->bucket, (int64_t)n_bytes);
    }
}

int64_t stdio_relay_retry_ms(const struct stdio_relay *relay)
{
    return relay->is_rate_limited ? token_bucket_ready_ms(&relay->bucket) : INT64_MAX;
}

/* ---- the job's side */

static int *output_fd(struct stdio_relay *relay, int output)
{
    return output == OUTPUT_OUT ? &relay->stdio.out : &relay->stdio.err;
}

static void close_fd(int *fd)
{
    if (*fd >= 0) {
        close(*fd);
    }
    *fd = -1;
}

/* Reads what the job has written, as much as the buffer holds. */
static void read_output(struct stdio_relay *relay, int output)
{
    struct buffer *buffer = &relay->outs[output];
    int *fd = output_fd(relay, output);
    size_t length;
    if (*fd < 0 || buffer_room(buffer) == 0) {
        return;
    }
    uint8_t *to = chunk_at(buffer, buffer->end, buffer->start + STREAM_WINDOW, &length);
    ssize_t got = read(*fd, to, length);
    if (got > 0) {
        buffer->end += got;
    } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
        close_fd(fd); /* EIO: no process has the terminal open any more */
    }
}

/* A terminal in canonical mode gets the end of input as VEOF: twice if a line is
 * unfinished, because the first one only submits that line. */
static void end_terminal_input(struct stdio_relay *relay)
{
    struct termios mode;
    if (tcgetattr(relay->stdio.in, &mode) == 0 && (mode.c_lflag & ICANON) != 0) {
        uint8_t eofs[2] = {mode.c_cc[VEOF], mode.c_cc[VEOF]};
        bool is_line_begun = relay->in.start > 0 && relay->last != '\n';
        ssize_t put = write(relay->stdio.in, eofs, is_line_begun ? 2 : 1);
        (void)put; /* a job that does not read needs no end of input */
    }
}

static void write_input(struct stdio_relay *relay, int64_t now_ms)
{
    struct buffer *buffer = &relay->in;
    while (relay->stdio.in >= 0 && buffer_count(buffer) > 0) {
        if (!may_send(relay, now_ms)) {
            return;
        }
        size_t length;
        const uint8_t *from = chunk_at(buffer, buffer->start, buffer->end, &length);
        ssize_t put = write(relay->stdio.in, from, length);
        if (put < 0 && (errno == EAGAIN || errno == EINTR)) {
            return;
        }
        if (put < 0) { /* no process reads it any more: discard it */
            put = (ssize_t)length;
        }
        count_sent(relay, (size_t)put);
        relay->last = put > 0 ? from[put - 1] : relay->last;
        buffer->start += put;
        relay->owes_ack = true;
    }
    if (!relay->has_begun) {
        return; /* a pre-exec command runs */
    }
    if (relay->stdio.in < 0) {
        buffer->start = buffer->end;
    } else if (relay->owes_input_end && relay->stdio.is_terminal) {
        end_terminal_input(relay);
        relay->owes_input_end = false;
    } else if (relay->owes_input_end) {
        close_fd(&relay->stdio.in);
        relay->owes_input_end = false;
    }
}

/* If the size has changed, the kernel sends SIGWINCH to the job. */
static void set_size(struct stdio_relay *relay)
{
    struct winsize now = {0};
    if (!relay->stdio.is_terminal || relay->stdio.in < 0 || relay->size.ws_row == 0 ||
        relay->size.ws_col == 0 || ioctl(relay->stdio.in, TIOCGWINSZ, &now) != 0) {
        return;
    }
    if (now.ws_row != relay->size.ws_row || now.ws_col != relay->size.ws_col) {
        ioctl(relay->stdio.in, TIOCSWINSZ, &relay->size);
    }
}

/* ---- the user's side */

static void drop_peer(struct stdio_relay *relay)
{
    close_fd(&relay->peer);
    relay->is_blocked = false;
}

static void take_input(struct stdio_relay *relay, const struct stream_packet *packet)
{
    struct buffer *buffer = &relay->in;
    int64_t skipped = buffer->end - packet->head.offset;
    int64_t n_new = (int64_t)packet->head.n_bytes - skipped;
    if (skipped < 0) {
        return; /* a packet before this one was lost: it is sent again */
    }
    relay->owes_ack = relay->owes_ack || packet->head.n_bytes > 0;
    if (n_new > buffer_room(buffer)) {
        return;
    }
    if (n_new > 0) {
        buffer_put(buffer, packet->bytes + skipped, (size_t)n_new);
    }
    if (n_new >= 0 && (packet->head.flags & STREAM_END) != 0 &&
        !relay->has_input_ended) {
        relay->has_input_ended = relay->owes_input_end = true;
    }
}

static void take_packet(struct stdio_relay *relay, const struct stream_packet *packet,
                        int64_t now_ms)
{
    const struct stream_head *head = &packet->head;
    for (int i = 0; i < N_OUTPUTS; i++) {
        struct buffer *buffer = &relay->outs[i];
        if (head->got[i] > buffer->start && head->got[i] <= buffer->end) {
            buffer->start = head->got[i];
        }
        buffer->sent = buffer->sent > buffer->start ? buffer->sent : buffer->start;
        if ((head->flags & STREAM_AGAIN) != 0) {
            buffer->sent = buffer->start;
        }
    }
    relay->owes_ack = relay->owes_ack || (head->flags & STREAM_AGAIN) != 0;
    relay->received_ms = now_ms;
    relay->is_user_there = true;
    relay->size = (struct winsize){.ws_row = head->n_rows, .ws_col = head->n_columns};
    set_size(relay);
    take_input(relay, packet);
}

/* Returns false if the socket is full or closed. */
static bool send_packet(struct stdio_relay *relay, struct stream_packet *packet)
{
    packet->head.got[0] = relay->in.start;
    packet->head.flags = relay->has_job_ended ? STREAM_OVER : 0;
    size_t size = sizeof(packet->head) + packet->head.n_bytes;
    ssize_t put = send(relay->peer, packet, size, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (put == (ssize_t)size) {
        relay->owes_ack = false;
        return true;
    }
    relay->is_blocked = put < 0 && (errno == EAGAIN || errno == ENOBUFS);
    if (!relay->is_blocked && errno != EINTR) {
        drop_peer(relay);
    }
    return false;
}

static void send_all(struct stdio_relay *relay, int64_t now_ms)
{
    struct stream_packet packet;
    relay->is_blocked = false;
    for (int i = 0; i < N_OUTPUTS; i++) {
        struct buffer *buffer = &relay->outs[i];
        while (relay->peer >= 0 && buffer->sent < buffer->end &&
               may_send(relay, now_ms)) {
            size_t length;
            const uint8_t *from = chunk_at(buffer, buffer->sent, buffer->end, &length);
            length = length < STREAM_CHUNK_MAX ? length : STREAM_CHUNK_MAX;
            packet.head = (struct stream_head){.stream = (uint32_t)i,
                                               .n_bytes = (uint32_t)length,
                                               .offset = buffer->sent};
            memcpy(packet.bytes, from, length);
            if (!send_packet(relay, &packet)) {
                return;
            }
            count_sent(relay, length);
            buffer->sent += (int64_t)length;
        }
    }
    if (relay->peer >= 0 && relay->owes_ack) {
        packet.head = (struct stream_head){.offset = relay->outs[OUTPUT_OUT].sent};
        send_packet(relay, &packet);
    }
}

static void receive(struct stdio_relay *relay, int64_t now_ms)
{
    struct stream_packet packet;
    ssize_t got = recv(relay->peer, &packet, sizeof(packet), MSG_DONTWAIT | MSG_TRUNC);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
        return;
    }
    if (got < (ssize_t)sizeof(packet.head) || got > (ssize_t)sizeof(packet) ||
        got != (ssize_t)(sizeof(packet.head) + packet.head.n_bytes)) {
        drop_peer(relay);
        return;
    }
    take_packet(relay, &packet, now_ms);
}

static void accept_peer(struct stdio_relay *relay)
{
    int peer = run_socket_accept(relay->listener);
    if (peer >= 0) {
        drop_peer(relay);
        relay->peer = peer;
        for (int i = 0; i < N_OUTPUTS;
             i++) { /* sent on the old connection, maybe lost */
            relay->outs[i].sent = relay->outs[i].start;
        }
    }
}

/* ---- the run's side */

void stdio_relay_begin(struct stdio_relay *relay, const struct job_stdio *stdio,
                       int64_t now_ms)
{
    relay->stdio = *stdio;
    relay->has_begun = true;
    relay->begun_ms = now_ms;
    set_size(relay);
}

bool stdio_relay_is_user_there(const struct stdio_relay *relay, int64_t now_ms)
{
    return relay->is_user_there || now_ms >= relay->begun_ms + STDIO_RELAY_USER_WAIT_MS;
}

void stdio_relay_end(struct stdio_relay *relay, int64_t drain_ms, int64_t now_ms)
{
    if (!relay->has_job_ended) {
        relay->drain_ms = drain_ms;
        close_fd(&relay->stdio.in);
        relay->has_job_ended = true;
        relay->owes_ack = true;
        relay->received_ms = now_ms;
    }
}

bool stdio_relay_is_drained(const struct stdio_relay *relay, int64_t now_ms)
{
    bool is_open = relay->stdio.out >= 0 || relay->stdio.err >= 0;
    bool is_owed = buffer_count(&relay->outs[OUTPUT_OUT]) > 0 ||
                   buffer_count(&relay->outs[OUTPUT_ERR]) > 0;
    return (!is_open && !is_owed) || now_ms >= relay->received_ms + relay->drain_ms;
}

int64_t stdio_relay_deadline_ms(const struct stdio_relay *relay)
{
    if (relay->has_job_ended) {
        return relay->received_ms + relay->drain_ms;
    }
    return relay->has_begun && !relay->is_user_there
               ? relay->begun_ms + STDIO_RELAY_USER_WAIT_MS
               : INT64_MAX;
}

int stdio_relay_polls(const struct stdio_relay *relay, struct pollfd *polls)
{
    const struct job_stdio *stdio = &relay->stdio;
    bool has_input = buffer_count(&relay->in) > 0;
    int n_polls = 0;
    polls[n_polls++] = (struct pollfd){.fd = relay->listener, .events = POLLIN};
    if (relay->peer >= 0) {
        short events = relay->is_blocked ? POLLIN | POLLOUT : POLLIN;
        polls[n_polls++] = (struct pollfd){.fd = relay->peer, .events = events};
    }
    if (stdio->in >= 0 && has_input && !relay->is_rate_limited) {
        polls[n_polls++] = (struct pollfd){.fd = stdio->in, .events = POLLOUT};
    }
    if (stdio->out >= 0 && buffer_room(&relay->outs[OUTPUT_OUT]) > 0) {
        polls[n_polls++] = (struct pollfd){.fd = stdio->out, .events = POLLIN};
    }
    if (stdio->err >= 0 && buffer_room(&relay->outs[OUTPUT_ERR]) > 0) {
        polls[n_polls++] = (struct pollfd){.fd = stdio->err, .events = POLLIN};
    }
    return n_polls;
}

void stdio_relay_serve(struct stdio_relay *relay, const struct pollfd *polls,
                       int n_polls, int64_t now_ms)
{
    bool has_connection = false, has_packet = false;
    for (int i = 0; i < n_polls; i++) {
        has_connection =
            has_connection || (polls[i].fd == relay->listener && polls[i].revents != 0);
        has_packet =
            has_packet || (polls[i].fd == relay->peer && polls[i].revents != 0);
    }
    if (has_packet) {
        receive(relay, now_ms);
    }
    if (has_connection) {
        accept_peer(relay);
    }
    relay->is_rate_limited = false;
    read_output(relay, OUTPUT_OUT);
    read_output(relay, OUTPUT_ERR);
    write_input(relay, now_ms);
    if (relay->peer >= 0) {
        send_all(relay, now_ms);
    }
}
