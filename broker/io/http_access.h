/* SPDX-License-Identifier: Apache-2.0 */
/* http_access.h: who has sent an HTTP request, and whether they may make changes.
 *
 * Everybody who reaches the port may read. A change needs a token of TOKENS, and the
 * user is the name of the token. With a token that is marked `proxy`, the user is the
 * one whom a reverse proxy has authenticated and names in the header X-Remote-User,
 * with groups in X-Remote-Groups; HTTP_ROLES says what that user may do. Without such a
 * token these headers count for nothing, because everybody can send them.
 *
 * Errors: those of tokens.h and http_roles.h; ERR_STATE a proxy's token without
 * HTTP_ROLES, or HTTP_ROLES without a proxy's token.
 * Source: docs/adr/0028-a-proxys-token-vouches-for-its-users.md. Layer: broker/io. */
#ifndef SUBLET_BROKER_IO_HTTP_ACCESS_H
#define SUBLET_BROKER_IO_HTTP_ACCESS_H

#include "base/arena.h"
#include "broker/broker_config.h"
#include "sys/http/http.h"

struct http_access;
/* Reads the files that the setup names: TOKENS, HTTP_ROLES. */
int http_access_load(const struct broker_setup *setup, struct http_access **access,
                     struct err *err) MUST_CHECK;
void http_access_free(struct http_access *access); /* NULL is fine */
/* False: no request can make changes, since there are no TOKENS. */
bool http_access_has_tokens(const struct http_access *access);

struct http_caller {
    const char *token; /* its name; NULL: none, or not one of TOKENS */
    const char *user; /* NULL: not known; lives as long as the request and the access */
    int refusal;      /* 0: may make changes. 401: a token would help. 403 */
    const char *reason; /* of the refusal */
};
/* `reason` may be in the arena. */
struct http_caller http_access_judge(const struct http_access *access,
                                     const struct http_request *request,
                                     struct arena *arena);

#endif
