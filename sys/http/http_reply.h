/* SPDX-License-Identifier: Apache-2.0 */
/* http_reply.h: an answer as libmicrohttpd sends it: with headers, compressed if the
 * client accepts that, without its text if the client has it already. Layer: sys. */
#ifndef SUBLET_SYS_HTTP_HTTP_REPLY_H
#define SUBLET_SYS_HTTP_HTTP_REPLY_H

#include <microhttpd.h>

#include "sys/http/http.h"

/* Frees the answer's text. `stream`: what is sent instead of it, taken over; NULL:
 * none. */
enum MHD_Result http_reply_send(struct MHD_Connection *connection,
                                struct http_answer *answer,
                                struct MHD_Response *stream);

#endif
