/* SPDX-License-Identifier: Apache-2.0 */
/* wire.h: messages over ZeroMQ sockets: CURVE, ZAP, bounds, and the senders'
 * identities.
 *
 * A server is a ROUTER, a client a DEALER. On TCP a server answers only to keys on its
 * list: ZAP refuses other keys in the handshake, before any message is parsed. Messages
 * of a key that was removed from the list are dropped. A peer is its key, never its
 * routing id; `peer.link` names the connection an answer goes back by. Over ipc there
 * is no CURVE: the directory's permissions guard it.
 *
 * Bounds: MAXMSGSIZE FRAME_MAX, frames beyond FRAMES_MAX read and dropped, high water
 * marks, heartbeats, linger 0, IMMEDIATE, ROUTER_MANDATORY, no send blocks; of a
 * server's connections, and what waits on each, those of wire_watch.h; of what peers
 * send, rate limits (wire_queue.h). A send to a peer
 * that is gone or full is dropped and counted: every message states a whole fact, and
 * its sender repeats it if needed. Ownership: the caller frees what new returns; `msg`
 * and `from` in a callback live until it returns. Errors: ERR_IO with the endpoint;
 * ERR_PARSE for keys. Source: docs/design/architecture.md "Network". Layer: sys. */
#ifndef SUBLET_SYS_WIRE_WIRE_H
#define SUBLET_SYS_WIRE_WIRE_H

#include <czmq.h>
#include <stdint.h>

#include "base/err.h"
#include "model/effect.h"
#include "model/msg.h"
#include "proto/codec_relay.h"

struct wire_key {
    char public_z85[41];
    char secret_z85[41]; /* "": only the public half is known */
};

/* Writes NAME.key (0644) and NAME.key_secret (0600), fsynced; ERR_EXISTS rather than
 * overwrite. `name` may have a directory before it. */
int wire_key_make(const char *name, struct err *err) MUST_CHECK;
/* Reads either half's file (CZMQ's certificate format). ERR_DENIED where a secret
 * file can be read by group or others. */
int wire_key_load(const char *path, struct wire_key *key, struct err *err) MUST_CHECK;

/* Messages that were refused, by the error's code. */
struct wire_counters {
    uint64_t received, sent, dropped; /* dropped: sends to a peer gone or full */
    uint64_t refused[16];             /* index: -code */
};

typedef void (*wire_message_fn)(void *arg, const struct peer *from,
                                const struct msg *msg);
/* An invalid message arrived: its sender, and the error. */
typedef void (*wire_refused_fn)(void *arg, const struct peer *from,
                                const struct err *err);

struct wire_server;
/* `key` NULL: ipc. `kind` is what its peers are: PEER_SITE at the broker (a member
 * whose only role is admin becomes PEER_CLIENT), PEER_HOST at a site. One server with
 * a key per process: it owns the ZAP endpoint. */
int wire_server_new(const char *endpoint, const struct wire_key *key,
                    enum peer_kind kind, struct wire_server **server,
                    struct err *err) MUST_CHECK;
void wire_server_free(struct wire_server *server);
/* Adds a member's key to the list, or removes it. */
void wire_server_allow(struct wire_server *server, const char *public_z85,
                       const char *name, int roles);
void wire_server_revoke(struct wire_server *server, const char *public_z85);
/* Bodies of such messages are not opened (proto/codec_relay.h). */
void wire_server_set_relays(struct wire_server *server, codec_relay_fn relays);
/* To poll for input, and the ZAP socket likewise (NULL without a key): call
 * wire_server_zap when that one is readable. */
zsock_t *wire_server_socket(struct wire_server *server);
zsock_t *wire_server_zap_socket(struct wire_server *server);
void wire_server_zap(struct wire_server *server);
/* Shuts down connections that exceed a bound which libzmq does not enforce
 * (wire_watch.h). Call it every WIRE_WATCH_MS. */
enum { WIRE_WATCH_MS = 200 };
void wire_server_watch(struct wire_server *server, int64_t now_ms);
uint64_t wire_server_count_shut(const struct wire_server *server);
/* Takes in what has arrived, and delivers at most `max` messages, and no more than a
 * batch should take: of each peer in turn, within its rate limit (wire_queue.h).
 * Returns their number. */
int wire_server_drain(struct wire_server *server, int max, wire_message_fn on_message,
                      wire_refused_fn on_refused, void *arg);
/* When a message that was taken in can be delivered: 0 now, INT64_MAX if none waits. */
int64_t wire_server_ready_ms(struct wire_server *server);
/* From within on_message: the message causes more work in this batch. */
void wire_server_charge(struct wire_server *server, int64_t work_us);
/* The answer to a peer was an error. Whoever goes on sending what is refused is
 * disconnected, for a growing time (base/rate_limit.h). */
void wire_server_refuse(struct wire_server *server, const struct peer *to);
/* What a member has used since the server's start. */
struct wire_use {
    uint64_t work_us, n_refused, n_dropped, n_out;
};
struct wire_use wire_server_use(const struct wire_server *server, const char *member);
/* Sends to peer.link. Returns 0, ERR_AWAY, or an error of codec_encode. */
int wire_server_send(struct wire_server *server, const struct peer *to,
                     const struct msg *msg, struct err *err);
/* Refused handshakes since the start: with a key that is not on the list, and sealed
 * for the key of another server. Each is in the log, with address and key, once a
 * minute. */
uint64_t wire_server_count_keys_refused(const struct wire_server *server);
uint64_t wire_server_count_unsealed(const struct wire_server *server);
const struct wire_counters *wire_server_counters(const struct wire_server *server);

struct wire_client;
/* `key` and `server_public` NULL: ipc. Connects in the background. */
int wire_client_new(const char *endpoint, const struct wire_key *key,
                    const char *server_public, struct wire_client **client,
                    struct err *err) MUST_CHECK;
void wire_client_free(struct wire_client *client);
/* Closes and reopens the socket: what was queued is gone. The zsock changes, so take
 * the old one out of the reactor first. */
int wire_client_reopen(struct wire_client *client, struct err *err) MUST_CHECK;
/* A further server, of which the client uses one at a time. Before wire_client_explain.
 */
int wire_client_add(struct wire_client *client, const char *endpoint,
                    const char *server_public, struct err *err) MUST_CHECK;
/* Servers and the addresses of their names, as far as they are known. */
int wire_client_count_choices(const struct wire_client *client);
/* Like wire_client_reopen: to the server of that endpoint if the list has it and the
 * client is not there; else to the next address of the present server's name, and after
 * the last one to the next server. */
int wire_client_move(struct wire_client *client, const char *endpoint,
                     struct err *err) MUST_CHECK;
const char *wire_client_endpoint(const struct wire_client *client);
/* The connection was refused or closed since it was opened; only of a client that
 * explains itself. */
bool wire_client_has_failed(struct wire_client *client, int64_t now_ms);
zsock_t *wire_client_socket(struct wire_client *client);
/* Messages of other sites that the server relays wait for their turn, and have rate
 * limits, each site its own. The server itself is trusted. */
void wire_client_use_rate_limits(struct wire_client *client);
int64_t wire_client_ready_ms(struct wire_client *client); /* likewise */
/* How the other side and the settings are called in sentences about a connection that
 * is not made. */
struct wire_words {
    const char *peer;     /* "the broker" */
    const char *endpoint; /* where its address is set: "BROKER" */
    const char *peer_key; /* where its public key is set: "BROKER_KEY" */
    const char *list;     /* where it lists the keys that it knows */
};
/* From now on the client can say why it is not connected; connects anew. `words` are
 * borrowed. Only with a key. */
int wire_client_explain(struct wire_client *client, const struct wire_words *words,
                        struct err *err) MUST_CHECK;
/* True, with the cause, if the client is not connected and the cause is known: a name
 * that cannot be resolved (ERR_NOT_FOUND), a port that refuses or does not answer
 * (ERR_AWAY), a handshake that fails (ERR_DENIED). Does not wait; call it every second
 * or more often. */
bool wire_client_look(struct wire_client *client, int64_t now_ms, struct err *why);
/* Whether the handshake has gone well; only of a client that explains itself. */
bool wire_client_is_connected(const struct wire_client *client);
/* As wire_client_look, and a line in the log when the cause is another one. The cause
 * lives until the next call; NULL: none is known. */
const char *wire_client_report(struct wire_client *client, int64_t now_ms);
int wire_client_drain(struct wire_client *client, int max, const struct peer *from,
                      wire_message_fn on_message, wire_refused_fn on_refused,
                      void *arg);
int wire_client_send(struct wire_client *client, const struct msg *msg,
                     struct err *err);
const struct wire_counters *wire_client_counters(const struct wire_client *client);

/* How far the clock of this machine is from that of a server, which answers by itself.
 * The server's time is compared with the middle of the question's and the answer's, so
 * that the result is wrong by half of the time between these at most. Milliseconds. */
struct wire_clock {
    int64_t ahead_ms; /* of this machine; negative: it is behind */
    int64_t error_ms; /* at most */
};

/* A larger difference is wrong: NTP holds clocks closer over any network. */
enum { WIRE_CLOCK_MAX_MS = 1000 };

/* Asks over a client that is connected, and waits. ERR_AWAY without an answer;
 * ERR_STATE if the server is of an older version and does not know the question. */
int wire_clock_ask(struct wire_client *client, int timeout_ms,
                   struct wire_clock *difference, struct err *err) MUST_CHECK;

/* ERR_STATE, with what to do, if the difference is too large even if it is wrong by
 * error_ms. `peer` is "the broker". */
int wire_clock_check(const struct wire_clock *difference, const char *peer,
                     struct err *err) MUST_CHECK;

#endif
