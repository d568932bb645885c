/* SPDX-License-Identifier: Apache-2.0 */
/* wire_frames.c: see wire_frames.h. */
#include "sys/wire/wire_frames.h"

#include <stdlib.h>
#include <string.h>

#include "sys/msg_encode.h"
#include "sys/unix_path.h"

enum {
    HEARTBEAT_MS = 30000,
    SILENCE_MS = 6000, /* then libzmq closes the connection */
    MESSAGES_QUEUED_MAX = 1000,
    ENDPOINT_SIZE = 256,
    SEALED = 64, /* bytes that CURVE adds to a frame, which libzmq's bound includes */
};

void wire_frames_prepare(zsock_t *socket)
{
    zsock_set_linger(socket, 0);
    zsock_set_maxmsgsize(socket, FRAME_MAX + SEALED);
    zsock_set_sndhwm(socket, MESSAGES_QUEUED_MAX);
    zsock_set_rcvhwm(socket, MESSAGES_QUEUED_MAX);
    zsock_set_sndtimeo(socket, 0);
    zsock_set_heartbeat_ivl(socket, HEARTBEAT_MS);
    zsock_set_heartbeat_timeout(socket, SILENCE_MS);
}

void wire_frames_set_family(zsock_t *socket, const char *endpoint)
{
    zsock_set_ipv6(socket, strchr(endpoint, '[') != NULL);
}

/* Receives one frame without waiting; false if there is none. */
static bool receive_frame(void *raw, zmq_msg_t *frame)
{
    int status;
    do {
        zmq_msg_init(frame);
        status = zmq_msg_recv(frame, raw, ZMQ_DONTWAIT);
        if (status < 0) {
            zmq_msg_close(frame);
        }
    } while (status < 0 && zmq_errno() == EINTR);
    return status >= 0;
}

int wire_frames_receive(zsock_t *socket, zmq_msg_t *frames, int wanted)
{
    void *raw = zsock_resolve(socket);
    int count = 0;
    bool has_more = true;
    while (has_more) {
        zmq_msg_t spare;
        zmq_msg_t *frame = count < wanted ? &frames[count] : &spare;
        if (!receive_frame(raw, frame)) {
            break;
        }
        has_more = zmq_msg_more(frame) != 0;
        if (count >= wanted) {
            zmq_msg_close(frame);
        }
        count = count < INT32_MAX ? count + 1 : count;
    }
    for (int i = count; i < wanted; i++) {
        zmq_msg_init(&frames[i]);
    }
    return count;
}

void wire_frames_refuse(struct wire_counters *counters, const struct peer *from,
                        const struct err *err, wire_refused_fn on_refused, void *arg)
{
    const int n_codes = (int)(sizeof(counters->refused) / sizeof(counters->refused[0]));
    int index = -err->code;
    counters->refused[index >= 0 && index < n_codes ? index : 0]++;
    if (on_refused != NULL) {
        on_refused(arg, from, err);
    }
}

void wire_frames_deliver(struct arena *arena, struct wire_counters *counters,
                         codec_relay_fn relays, const struct peer *from,
                         const void *body, size_t n_bytes, wire_message_fn on_message,
                         wire_refused_fn on_refused, void *arg)
{
    struct msg msg;
    struct err err;
    if (codec_relay_decode(arena, body, n_bytes, relays, &msg, &err) == ERR_NONE) {
        counters->received++;
        on_message(arg, from, &msg);
    } else {
        wire_frames_refuse(counters, from, &err, on_refused, arg);
    }
    arena_clear(arena);
}

static void free_bytes(void *bytes, void *hint)
{
    (void)hint;
    free(bytes);
}

int wire_frames_encode(const struct msg *msg, zmq_msg_t *body, struct err *err)
{
    uint8_t *bytes;
    size_t length;
    int status = msg_encode(msg, &bytes, &length, err);
    if (status == ERR_NONE &&
        zmq_msg_init_data(body, bytes, length, free_bytes, NULL) != 0) {
        abort(); /* out of memory */
    }
    return status;
}

/* ---------------------------------------------------------------- endpoints */

struct wire_endpoint {
    char text[ENDPOINT_SIZE];
    struct unix_path path;
};

int wire_frames_endpoint_new(const char *endpoint, bool has_key,
                             struct wire_endpoint **made, struct err *err)
{
    static const char ipc[] = "ipc://";
    *made = NULL;
    struct wire_endpoint *built = mem_alloc(1, sizeof(*built));
    built->path.directory_fd = -1;
    int status = ERR_NONE;
    if (strncmp(endpoint, ipc, sizeof(ipc) - 1) == 0) {
        status = unix_path_open(endpoint + sizeof(ipc) - 1, &built->path, err);
        snprintf(built->text, sizeof(built->text), "%s%s", ipc, built->path.text);
    } else if (strncmp(endpoint, "tcp://", 6) != 0 ||
               strlen(endpoint) >= sizeof(built->text)) {
        status = err_set(err, ERR_PARSE, "endpoint \"%s\", expected tcp://HOST:PORT",
                         endpoint);
    } else if (!has_key) {
        status = err_set(
            err, ERR_DENIED,
            "endpoint \"%s\" needs a key: connections over TCP are always encrypted",
            endpoint);
    } else {
        snprintf(built->text, sizeof(built->text), "%s", endpoint);
    }
    if (status != ERR_NONE) {
        wire_frames_endpoint_free(built);
        return status;
    }
    *made = built;
    return ERR_NONE;
}

void wire_frames_endpoint_free(struct wire_endpoint *endpoint)
{
    if (endpoint != NULL) {
        unix_path_close(&endpoint->path);
        free(endpoint);
    }
}

const char *wire_frames_endpoint_text(const struct wire_endpoint *endpoint)
{
    return endpoint->text;
}
