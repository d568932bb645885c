/* SPDX-License-Identifier: Apache-2.0 */
/* host_streams.c: see host_streams.h. */
#include "host/agent/host_streams.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uthash.h>

#include "base/arena.h"
#include "host/run_dir/run_dir.h"

/* A bound, so that one busy stream does not block the others. */
enum { PACKETS_PER_TURN = 8 };

struct stream {
    struct host_streams *owner;
    char name[EXEC_SESSION_RUN_NAME_SIZE]; /* of the run */
    char site[NAME_SIZE];
    uint64_t attempt, nonce;
    int link;
    UT_hash_handle hh;
};

struct host_streams {
    zloop_t *loop;
    const struct host_runs *runs;
    host_streams_up_fn on_up;
    void *arg;
    struct stream *streams; /* by name */
};

struct host_streams *host_streams_new(zloop_t *loop, const struct host_runs *runs,
                                      host_streams_up_fn on_up, void *arg)
{
    struct host_streams *streams = mem_alloc(1, sizeof(*streams));
    *streams =
        (struct host_streams){.loop = loop, .runs = runs, .on_up = on_up, .arg = arg};
    return streams;
}

static void drop(struct stream *stream)
{
    struct host_streams *streams = stream->owner;
    zmq_pollitem_t item = {.fd = stream->link};
    zloop_poller_end(streams->loop, &item);
    close(stream->link);
    HASH_DEL(streams->streams, stream);
    free(stream);
}

void host_streams_free(struct host_streams *streams)
{
    struct stream *stream, *next;
    if (streams == NULL) {
        return;
    }
    HASH_ITER (hh, streams->streams, stream, next) {
        drop(stream);
    }
    free(streams);
}

/* ---- from a guard */

static void pass_up(const struct stream *stream, const struct stream_packet *packet)
{
    const struct stream_head *head = &packet->head;
    const struct msg_stream_up up = {
        .run = {stream->site, stream->attempt, stream->nonce},
        .job = "",
        .stream = head->stream == OUTPUT_ERR ? OUTPUT_ERR : OUTPUT_OUT,
        .offset = head->offset,
        .bytes = packet->bytes,
        .n_bytes = (int)head->n_bytes,
        .got_in = head->got[0],
        .is_over = (head->flags & STREAM_OVER) != 0,
        .note = "",
    };
    stream->owner->on_up(stream->owner->arg, &up);
}

static int on_guard(zloop_t *loop, zmq_pollitem_t *item, void *arg)
{
    (void)loop;
    (void)item;
    struct stream *stream = arg;
    struct stream_packet packet;
    for (int i = 0; i < PACKETS_PER_TURN; i++) {
        ssize_t got = recv(stream->link, &packet, sizeof(packet), MSG_DONTWAIT);
        if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
            return 0;
        }
        if (got < (ssize_t)sizeof(packet.head) ||
            got != (ssize_t)(sizeof(packet.head) + packet.head.n_bytes)) {
            drop(stream);
            return 0;
        }
        pass_up(stream, &packet);
    }
    return 0;
}

/* ---- to a guard */

static struct stream *connect_to(struct host_streams *streams,
                                 const struct host_run *run)
{
    int dir = host_runs_open(streams->runs, run);
    int link = dir < 0 ? -1 : run_socket_connect(dir, RUN_DIR_STREAM);
    if (dir >= 0) {
        close(dir);
    }
    if (link < 0) {
        return NULL;
    }
    struct stream *stream = mem_alloc(1, sizeof(*stream));
    stream->owner = streams;
    stream->link = link;
    stream->attempt = run->attempt;
    stream->nonce = run->nonce;
    snprintf(stream->name, sizeof(stream->name), "%s", run->name);
    snprintf(stream->site, sizeof(stream->site), "%s", run->site);
    zmq_pollitem_t item = {.fd = link, .events = ZMQ_POLLIN};
    if (zloop_poller(streams->loop, &item, on_guard, stream) != 0) {
        close(link);
        free(stream);
        return NULL;
    }
    HASH_ADD_STR(streams->streams, name, stream);
    return stream;
}

void host_streams_down(struct host_streams *streams, const struct host_run *run,
                       const struct msg_stream_down *down)
{
    struct stream *stream = NULL;
    struct stream_packet packet;
    if (down->n_bytes > STREAM_CHUNK_MAX) {
        return;
    }
    HASH_FIND_STR(streams->streams, run->name, stream);
    stream = stream != NULL ? stream : connect_to(streams, run);
    if (stream == NULL) {
        return; /* there is no socket yet, or no more */
    }
    packet.head = (struct stream_head){
        .flags =
            (down->is_end ? STREAM_END : 0U) | (down->is_again ? STREAM_AGAIN : 0U),
        .n_bytes = (uint32_t)down->n_bytes,
        .n_rows = (uint16_t)down->n_rows,
        .n_columns = (uint16_t)down->n_columns,
        .offset = down->offset,
        .got = {down->got_out, down->got_err},
    };
    memcpy(packet.bytes, down->bytes, (size_t)down->n_bytes);
    size_t size = sizeof(packet.head) + packet.head.n_bytes;
    ssize_t put = send(stream->link, &packet, size, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (put < 0 && errno != EAGAIN && errno != EINTR && errno != ENOBUFS) {
        /* on_guard drops the stream. It may be running now: what it sends to the site
         * begins a batch, which takes the messages of the site. */
        shutdown(stream->link, SHUT_RDWR);
    }
}
