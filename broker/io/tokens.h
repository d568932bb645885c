/* SPDX-License-Identifier: Apache-2.0 */
/* tokens.h: the tokens that allow changes of the federation over HTTP.
 *
 * A file with one `TOKEN`, `NAME TOKEN` or `NAME TOKEN proxy` per line; blank lines and
 * lines that begin with # are skipped. A token is 16 to TOKENS_LENGTH_MAX visible ASCII
 * characters. The name says in the log who made a change; a token without one is called
 * "line N". A token of a proxy is for requests that a reverse proxy sends for users
 * whom it has authenticated (http_access.h). Like a secret key the file belongs to the
 * user that the broker runs as, or root, and nobody else may read it. It is read when
 * the broker starts, and at each reload.
 *
 * Errors: ERR_IO it cannot be read; ERR_DENIED others may read or write it; ERR_PARSE
 * a line is no token (never quoted: it may be half of one); ERR_BOUNDS too many, none.
 * Source: docs/design/interfaces.md "HTTP". Layer: broker/io. */
#ifndef SUBLET_BROKER_IO_TOKENS_H
#define SUBLET_BROKER_IO_TOKENS_H

#include <stdbool.h>

#include "base/err.h"

enum {
    TOKENS_MAX = 100,
    TOKENS_LENGTH_MIN = 16,
    TOKENS_LENGTH_MAX = 255,
    TOKENS_NAME_SIZE = 64
};

struct tokens;
int tokens_load(const char *path, struct tokens **tokens, struct err *err) MUST_CHECK;
void tokens_free(struct tokens *tokens); /* NULL is fine */

/* The name of a token; NULL: it is none of them. Takes a time that does not depend on
 * the tokens. */
const char *tokens_find(const struct tokens *tokens, const char *token, bool *is_proxy);
/* Whether a token of a proxy is among them. */
bool tokens_have_proxy(const struct tokens *tokens);

#endif
