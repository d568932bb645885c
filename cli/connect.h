/* SPDX-License-Identifier: Apache-2.0 */
/* connect.h: sends requests to a site, over its socket, or to the broker, over CURVE,
 * and waits for answers.
 *
 * It connects to --broker URL (SUBLET_BROKER) with --key and --broker-key, else to
 * --socket PATH (SUBLET_SOCKET), else to the default socket. Options have precedence
 * over the environment.
 *
 * A request with a field that is out of its bounds is refused before it is sent, in the
 * user's words (field_words.h).
 *
 * Ownership: a reply lives in the arena given. The connection lives until
 * connect_free, and its `call` as long.
 * Errors: ERR_AWAY without an answer, or the error of the other side.
 * Layer: cli. */
#ifndef SUBLET_CLI_CONNECT_H
#define SUBLET_CLI_CONNECT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "cli/call.h"
#include "model/msg.h"

struct connect;

int connect_new(const struct call *call, struct connect **connect,
                struct err *err) MUST_CHECK;
void connect_free(struct connect *connect); /* NULL is fine */

/* True if connected to the broker, not to a site. */
bool connect_is_broker(const struct connect *connect);

/* Sends `msg` and waits for its REPLY. `request` points into `msg` and is set here.
 * `timeout_ms` -1 waits without limit (WAIT). A refusal is an error with the sentence
 * of the other side. Over TCP a request is repeated until it is answered, so it must be
 * idempotent. */
int connect_ask(struct connect *connect, struct msg *msg, uint64_t *request,
                int timeout_ms, struct arena *arena, struct msg_reply *reply,
                struct err *err) MUST_CHECK;

/* One request on a connection of its own: sets the text of the reply, which lives as
 * long as the call, and returns the exit status. */
int connect_request(struct call *call, struct msg *msg, uint64_t *request,
                    const char **text);

/* The next REPLY to any of the requests from `first` on that connect_send has numbered;
 * a site only. Errors as connect_ask. */
int connect_receive(struct connect *connect, uint64_t first, struct arena *arena,
                    struct msg_reply *reply, struct err *err) MUST_CHECK;

/* For event loops, with a site only: a descriptor to poll, sending without waiting, and
 * receiving without waiting (`has_one` false: no complete message). */
int connect_fd(const struct connect *connect);
int connect_send(struct connect *connect, struct msg *msg, uint64_t *request,
                 struct err *err) MUST_CHECK;
int connect_take(struct connect *connect, struct arena *arena, struct msg *msg,
                 bool *has_one, struct err *err) MUST_CHECK;

enum { CONNECT_PATIENCE_MS = 10000 }; /* for immediate answers */

#endif
