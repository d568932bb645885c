/* SPDX-License-Identifier: Apache-2.0 */
/* connect.h: asks a site, over its socket, or the broker, over CURVE, and waits for
 * the answer.
 *
 * Which of the two is the caller's choice: --broker URL (SUBLET_BROKER) with --key and
 * --broker-key, else --socket PATH (SUBLET_SOCKET), else the default socket. The
 * command line wins over the environment.
 *
 * Ownership: a reply lives in the arena given. The connection lives until
 * connect_free.
 * Errors: ERR_AWAY where nobody answers; else what the other side answered. The
 * sentence says what, why and what to do.
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

/* It is the broker that is asked, not a site. */
bool connect_is_broker(const struct connect *connect);

/* Sends `msg` and waits for its REPLY. `request` points into `msg`: it is numbered
 * here. `timeout_ms` -1 waits for ever (WAIT). A refusal is an error with the sentence
 * of the other side. Over TCP a question is sent again until answered: ask so only
 * what may be repeated. */
int connect_ask(struct connect *connect, struct msg *msg, uint64_t *request,
                int timeout_ms, struct arena *arena, struct msg_reply *reply,
                struct err *err) MUST_CHECK;

/* Of a site's connection, for who has more to look at: a descriptor to poll, a question
 * without waiting for its answer, and what has come so far (`has_one` false: nothing
 * whole). */
int connect_fd(const struct connect *connect);
int connect_send(struct connect *connect, struct msg *msg, uint64_t *request,
                 struct err *err) MUST_CHECK;
int connect_take(struct connect *connect, struct arena *arena, struct msg *msg,
                 bool *has_one, struct err *err) MUST_CHECK;

enum { CONNECT_PATIENCE_MS = 10000 }; /* for an answer that takes no waiting */

#endif
