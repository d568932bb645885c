/* SPDX-License-Identifier: Apache-2.0 */
/* http_reply.h: sends an answer by libmicrohttpd: with headers, compressed if the
 * client accepts that, without the text if the client has it already. Layer: sys. */
#ifndef SUBLET_SYS_HTTP_HTTP_REPLY_H
#define SUBLET_SYS_HTTP_HTTP_REPLY_H

#include <microhttpd.h>

#include "sys/http/http.h"

/* The client of the request accepts a compressed answer. */
bool http_reply_takes_gzip(struct MHD_Connection *connection);

/* Frees the answer's text. `stream` is sent instead of it and is freed; NULL: none. */
enum MHD_Result http_reply_send(struct MHD_Connection *connection,
                                struct http_answer *answer,
                                struct MHD_Response *stream);

#endif
