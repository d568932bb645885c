/* SPDX-License-Identifier: Apache-2.0 */
/* http_socket.h: the listening socket of an HTTP port. Layer: sys. */
#ifndef SUBLET_SYS_HTTP_HTTP_SOCKET_H
#define SUBLET_SYS_HTTP_HTTP_SOCKET_H

#include "base/err.h"

/* `host` "*": every address. The socket, or -1 and `err` (ERR_IO). */
int http_socket_listen(const char *host, const char *port, struct err *err) MUST_CHECK;

#endif
