/* SPDX-License-Identifier: Apache-2.0 */
/* stdio_relay.c: see stdio_relay.h.
 *
 * Offsets count from the run's beginning. Of output, [start, end) is kept and
 * [start, sent) is on its way; a user's side that has waited in vain says so, and all
 * from start goes again. Of input, [start, end) is kept for the job, and start is what
 * it has read. */
#include "host/stdio/stdio_relay.h"

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
#include "host/run_dir/run_socket.h"
#include "host/run_dir/stream_packet.h"
#include "model/msg.h"

enum { N_OUTPUTS = 2, BACKLOG = 4 };

struct kept {
    int64_t start, sent, end;
    uint8_t bytes[STREAM_WINDOW]; /* offset o is at o % STREAM_WINDOW */
};

struct stdio_relay {
    int listener, peer; /* -1: none */
    struct job_stdio ends;
    bool has_begun;
    bool is_met;     /* its user's side has spoken */
    bool is_over;    /* the job's processes are gone */
    bool owes_news;  /* a packet, though there is no output */
    bool is_in_end;  /* no input behind what is kept ... */
    bool owes_end;   /* ... and the job is to be told, once it has read that */
    bool is_blocked; /* the agent takes no more now */
    uint8_t last;    /* byte that the job was given */
    int64_t begun_ms, heard_ms, patience_ms;
    struct winsize size; /* of the user's terminal, as last heard */
    bool is_relayed;
    struct token_bucket bucket; /* of both ways, where it is */
    bool is_late;               /* something waits for that */
    struct kept in, outs[N_OUTPUTS];
};

int stdio_relay_new(struct stdio_relay **stream, bool is_relayed, struct err *err)
{
    struct stdio_relay *made = mem_alloc(1, sizeof(*made));
    made->is_relayed = is_relayed;
    token_bucket_init(&made->bucket, STREAM_RELAYED_PER_S, STREAM_WINDOW);
    made->listener = made->peer = -1;
    job_stdio_init(&made->ends);
    int code = run_socket_listen(RUN_DIR_STREAM, BACKLOG, &made->listener, err);
    if (code != 0) {
        stdio_relay_free(made);
        return code;
    }
    *stream = made;
    return 0;
}

void stdio_relay_free(struct stdio_relay *stream)
{
    if (stream == NULL) {
        return;
    }
    job_stdio_close(&stream->ends);
    if (stream->listener >= 0) {
        close(stream->listener);
    }
    if (stream->peer >= 0) {
        close(stream->peer);
    }
    free(stream);
}

/* ---- what is kept */

static int kept_count(const struct kept *kept)
{
    return (int)(kept->end - kept->start);
}

static int kept_room(const struct kept *kept)
{
    return STREAM_WINDOW - kept_count(kept);
}

/* The longest piece from `offset` on that does not go around the end of the ring. */
static uint8_t *piece_at(struct kept *kept, int64_t offset, int64_t end, size_t *length)
{
    size_t at = (size_t)(offset % STREAM_WINDOW);
    size_t left = STREAM_WINDOW - at;
    *length = (size_t)(end - offset) < left ? (size_t)(end - offset) : left;
    return kept->bytes + at;
}

static void kept_put(struct kept *kept, const uint8_t *bytes, size_t n_bytes)
{
    while (n_bytes > 0) {
        size_t length;
        uint8_t *to = piece_at(kept, kept->end, kept->end + (int64_t)n_bytes, &length);
        memcpy(to, bytes, length);
        kept->end += (int64_t)length;
        bytes += length;
        n_bytes -= length;
    }
}

/* ---- its share of the way */

/* False: later, what is left of the turn is used up. */
static bool may_pass(struct stdio_relay *stream, int64_t now_ms)
{
    bool may = !stream->is_relayed || token_bucket_refill(&stream->bucket, now_ms) > 0;
    stream->is_late = stream->is_late || !may;
    return may;
}

static void has_passed(struct stdio_relay *stream, size_t n_bytes)
{
    if (stream->is_relayed) {
        token_bucket_take(&stream->bucket, (int64_t)n_bytes);
    }
}

int64_t stdio_relay_retry_ms(const struct stdio_relay *stream)
{
    return stream->is_late ? token_bucket_ready_ms(&stream->bucket) : INT64_MAX;
}

/* ---- the job's side */

static int *output_fd(struct stdio_relay *stream, int output)
{
    return output == OUTPUT_OUT ? &stream->ends.out : &stream->ends.err;
}

static void close_fd(int *fd)
{
    if (*fd >= 0) {
        close(*fd);
    }
    *fd = -1;
}

/* What the job has written, as much as there is room for; its end of it may be gone. */
static void read_output(struct stdio_relay *stream, int output)
{
    struct kept *kept = &stream->outs[output];
    int *fd = output_fd(stream, output);
    size_t length;
    if (*fd < 0 || kept_room(kept) == 0) {
        return;
    }
    uint8_t *to = piece_at(kept, kept->end, kept->start + STREAM_WINDOW, &length);
    ssize_t got = read(*fd, to, length);
    if (got > 0) {
        kept->end += got;
    } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
        close_fd(fd); /* of a terminal: EIO, nobody has it open */
    }
}

/* A terminal that is in line mode hears of the end by a character; twice where a line
 * has begun, as once only sends that off. */
static void end_terminal_input(struct stdio_relay *stream)
{
    struct termios mode;
    if (tcgetattr(stream->ends.in, &mode) == 0 && (mode.c_lflag & ICANON) != 0) {
        uint8_t ends[2] = {mode.c_cc[VEOF], mode.c_cc[VEOF]};
        bool is_line_begun = stream->in.start > 0 && stream->last != '\n';
        ssize_t put = write(stream->ends.in, ends, is_line_begun ? 2 : 1);
        (void)put; /* who does not read it needs no end */
    }
}

static void write_input(struct stdio_relay *stream, int64_t now_ms)
{
    struct kept *kept = &stream->in;
    while (stream->ends.in >= 0 && kept_count(kept) > 0) {
        if (!may_pass(stream, now_ms)) {
            return;
        }
        size_t length;
        const uint8_t *from = piece_at(kept, kept->start, kept->end, &length);
        ssize_t put = write(stream->ends.in, from, length);
        if (put < 0 && (errno == EAGAIN || errno == EINTR)) {
            return;
        }
        if (put < 0) { /* nobody reads it any more: it goes nowhere */
            put = (ssize_t)length;
        }
        has_passed(stream, (size_t)put);
        stream->last = put > 0 ? from[put - 1] : stream->last;
        kept->start += put;
        stream->owes_news = true;
    }
    if (!stream->has_begun) {
        return; /* a command before the job runs */
    }
    if (stream->ends.in < 0) {
        kept->start = kept->end;
    } else if (stream->owes_end && stream->ends.is_terminal) {
        end_terminal_input(stream);
        stream->owes_end = false;
    } else if (stream->owes_end) {
        close_fd(&stream->ends.in);
        stream->owes_end = false;
    }
}

/* Where it has changed the job is told, by SIGWINCH. */
static void set_size(struct stdio_relay *stream)
{
    struct winsize now = {0};
    if (!stream->ends.is_terminal || stream->ends.in < 0 || stream->size.ws_row == 0 ||
        stream->size.ws_col == 0 || ioctl(stream->ends.in, TIOCGWINSZ, &now) != 0) {
        return;
    }
    if (now.ws_row != stream->size.ws_row || now.ws_col != stream->size.ws_col) {
        ioctl(stream->ends.in, TIOCSWINSZ, &stream->size);
    }
}

/* ---- the user's side */

static void drop_peer(struct stdio_relay *stream)
{
    close_fd(&stream->peer);
    stream->is_blocked = false;
}

static void take_input(struct stdio_relay *stream, const struct stream_packet *packet)
{
    struct kept *kept = &stream->in;
    int64_t skipped = kept->end - packet->head.offset;
    int64_t n_new = (int64_t)packet->head.n_bytes - skipped;
    if (skipped < 0) {
        return; /* something before it is missing: it comes again */
    }
    stream->owes_news = stream->owes_news || packet->head.n_bytes > 0;
    if (n_new > kept_room(kept)) {
        return;
    }
    if (n_new > 0) {
        kept_put(kept, packet->bytes + skipped, (size_t)n_new);
    }
    if (n_new >= 0 && (packet->head.flags & STREAM_END) != 0 && !stream->is_in_end) {
        stream->is_in_end = stream->owes_end = true;
    }
}

static void take_news(struct stdio_relay *stream, const struct stream_packet *packet,
                      int64_t now_ms)
{
    const struct stream_head *head = &packet->head;
    for (int i = 0; i < N_OUTPUTS; i++) {
        struct kept *kept = &stream->outs[i];
        if (head->got[i] > kept->start && head->got[i] <= kept->end) {
            kept->start = head->got[i];
        }
        kept->sent = kept->sent > kept->start ? kept->sent : kept->start;
        if ((head->flags & STREAM_AGAIN) != 0) {
            kept->sent = kept->start;
        }
    }
    stream->owes_news = stream->owes_news || (head->flags & STREAM_AGAIN) != 0;
    stream->heard_ms = now_ms;
    stream->is_met = true;
    stream->size = (struct winsize){.ws_row = head->n_rows, .ws_col = head->n_columns};
    set_size(stream);
    take_input(stream, packet);
}

/* False where it would have to wait, or is gone. */
static bool send_packet(struct stdio_relay *stream, struct stream_packet *packet)
{
    packet->head.got[0] = stream->in.start;
    packet->head.flags = stream->is_over ? STREAM_OVER : 0;
    size_t size = sizeof(packet->head) + packet->head.n_bytes;
    ssize_t put = send(stream->peer, packet, size, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (put == (ssize_t)size) {
        stream->owes_news = false;
        return true;
    }
    stream->is_blocked = put < 0 && (errno == EAGAIN || errno == ENOBUFS);
    if (!stream->is_blocked && errno != EINTR) {
        drop_peer(stream);
    }
    return false;
}

static void send_all(struct stdio_relay *stream, int64_t now_ms)
{
    struct stream_packet packet;
    stream->is_blocked = false;
    for (int i = 0; i < N_OUTPUTS; i++) {
        struct kept *kept = &stream->outs[i];
        while (stream->peer >= 0 && kept->sent < kept->end &&
               may_pass(stream, now_ms)) {
            size_t length;
            const uint8_t *from = piece_at(kept, kept->sent, kept->end, &length);
            length = length < STREAM_CHUNK_MAX ? length : STREAM_CHUNK_MAX;
            packet.head = (struct stream_head){.stream = (uint32_t)i,
                                               .n_bytes = (uint32_t)length,
                                               .offset = kept->sent};
            memcpy(packet.bytes, from, length);
            if (!send_packet(stream, &packet)) {
                return;
            }
            has_passed(stream, length);
            kept->sent += (int64_t)length;
        }
    }
    if (stream->peer >= 0 && stream->owes_news) {
        packet.head = (struct stream_head){.offset = stream->outs[OUTPUT_OUT].sent};
        send_packet(stream, &packet);
    }
}

static void receive(struct stdio_relay *stream, int64_t now_ms)
{
    struct stream_packet packet;
    ssize_t got = recv(stream->peer, &packet, sizeof(packet), MSG_DONTWAIT | MSG_TRUNC);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
        return;
    }
    if (got < (ssize_t)sizeof(packet.head) || got > (ssize_t)sizeof(packet) ||
        got != (ssize_t)(sizeof(packet.head) + packet.head.n_bytes)) {
        drop_peer(stream);
        return;
    }
    take_news(stream, &packet, now_ms);
}

static void take_in(struct stdio_relay *stream)
{
    int peer = run_socket_accept(stream->listener);
    if (peer >= 0) {
        drop_peer(stream);
        stream->peer = peer;
        for (int i = 0; i < N_OUTPUTS; i++) { /* what was on the way by the old one */
            stream->outs[i].sent = stream->outs[i].start;
        }
    }
}

/* ---- the run's side */

void stdio_relay_begin(struct stdio_relay *stream, const struct job_stdio *ends,
                       int64_t now_ms)
{
    stream->ends = *ends;
    stream->has_begun = true;
    stream->begun_ms = now_ms;
    set_size(stream);
}

bool stdio_relay_is_user_there(const struct stdio_relay *stream, int64_t now_ms)
{
    return stream->is_met || now_ms >= stream->begun_ms + STDIO_RELAY_USER_WAIT_MS;
}

void stdio_relay_end(struct stdio_relay *stream, int64_t patience_ms, int64_t now_ms)
{
    if (!stream->is_over) {
        stream->patience_ms = patience_ms;
        close_fd(&stream->ends.in);
        stream->is_over = true;
        stream->owes_news = true;
        stream->heard_ms = now_ms;
    }
}

bool stdio_relay_is_drained(const struct stdio_relay *stream, int64_t now_ms)
{
    bool is_open = stream->ends.out >= 0 || stream->ends.err >= 0;
    bool is_owed = kept_count(&stream->outs[OUTPUT_OUT]) > 0 ||
                   kept_count(&stream->outs[OUTPUT_ERR]) > 0;
    return (!is_open && !is_owed) || now_ms >= stream->heard_ms + stream->patience_ms;
}

int64_t stdio_relay_deadline_ms(const struct stdio_relay *stream)
{
    if (stream->is_over) {
        return stream->heard_ms + stream->patience_ms;
    }
    return stream->has_begun && !stream->is_met
               ? stream->begun_ms + STDIO_RELAY_USER_WAIT_MS
               : INT64_MAX;
}

int stdio_relay_polls(const struct stdio_relay *stream, struct pollfd *polls)
{
    const struct job_stdio *ends = &stream->ends;
    bool has_input = kept_count(&stream->in) > 0;
    int n_polls = 0;
    polls[n_polls++] = (struct pollfd){.fd = stream->listener, .events = POLLIN};
    if (stream->peer >= 0) {
        short events = stream->is_blocked ? POLLIN | POLLOUT : POLLIN;
        polls[n_polls++] = (struct pollfd){.fd = stream->peer, .events = events};
    }
    if (ends->in >= 0 && has_input && !stream->is_late) {
        polls[n_polls++] = (struct pollfd){.fd = ends->in, .events = POLLOUT};
    }
    if (ends->out >= 0 && kept_room(&stream->outs[OUTPUT_OUT]) > 0) {
        polls[n_polls++] = (struct pollfd){.fd = ends->out, .events = POLLIN};
    }
    if (ends->err >= 0 && kept_room(&stream->outs[OUTPUT_ERR]) > 0) {
        polls[n_polls++] = (struct pollfd){.fd = ends->err, .events = POLLIN};
    }
    return n_polls;
}

void stdio_relay_serve(struct stdio_relay *stream, const struct pollfd *polls,
                       int n_polls, int64_t now_ms)
{
    bool has_guest = false, has_news = false;
    for (int i = 0; i < n_polls; i++) {
        has_guest =
            has_guest || (polls[i].fd == stream->listener && polls[i].revents != 0);
        has_news = has_news || (polls[i].fd == stream->peer && polls[i].revents != 0);
    }
    if (has_news) {
        receive(stream, now_ms);
    }
    if (has_guest) {
        take_in(stream);
    }
    stream->is_late = false;
    read_output(stream, OUTPUT_OUT);
    read_output(stream, OUTPUT_ERR);
    write_input(stream, now_ms);
    if (stream->peer >= 0) {
        send_all(stream, now_ms);
    }
}
