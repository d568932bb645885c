/* SPDX-License-Identifier: Apache-2.0 */
/* http_roles.h: what the users of a reverse proxy may do over HTTP.
 *
 * A file with one `USER ROLE` or `@GROUP ROLE` per line; blank lines and lines that
 * begin with # are skipped. ROLE is `change` or `read`. The line of a user counts
 * before those of the user's groups; of several groups the one with `change` counts. A
 * user without a line may read. The file belongs to the broker's user or to root, and
 * nobody else may write it. It is read when the broker starts, and at each reload.
 *
 * Errors: those of owned_file.h; ERR_PARSE a line is none of these, or names somebody
 * for the second time; ERR_BOUNDS more than HTTP_ROLES_MAX lines with roles.
 * Layer: broker/io. */
#ifndef SUBLET_BROKER_IO_HTTP_ROLES_H
#define SUBLET_BROKER_IO_HTTP_ROLES_H

#include <stdbool.h>

#include "base/err.h"

enum { HTTP_ROLES_MAX = 1000, HTTP_ROLES_NAME_SIZE = 64 };

struct http_roles;
int http_roles_load(const char *path, struct http_roles **roles,
                    struct err *err) MUST_CHECK;
void http_roles_free(struct http_roles *roles); /* NULL is fine */

/* `groups`: names separated by commas; NULL: none. */
bool http_roles_may_change(const struct http_roles *roles, const char *user,
                           const char *groups);

#endif
