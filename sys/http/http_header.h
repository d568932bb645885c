/* SPDX-License-Identifier: Apache-2.0 */
/* http_header.h: parses headers of a request: compression, ETags, tokens. Layer: sys,
 * without any input or output. */
#ifndef SUBLET_SYS_HTTP_HTTP_HEADER_H
#define SUBLET_SYS_HTTP_HTTP_HEADER_H

#include <stdbool.h>
#include <stddef.h>

enum { HTTP_HEADER_ETAG_SIZE = 40 };

/* Accept-Encoding: gzip, or anything, and not with a weight of 0. NULL is none. */
bool http_header_takes_gzip(const char *accept);
/* If-None-Match: true if it has `etag` or "*". Weak tags count as equal. */
bool http_header_has_etag(const char *if_none_match, const char *etag);
/* The ETag of a text. */
void http_header_make_etag(const char *text, size_t length,
                           char etag[HTTP_HEADER_ETAG_SIZE]);
/* Host: true for an address, a name without a dot (which no public name server has), a
 * name of the list, and no header at all. A page of another site that reaches this port
 * by a public name of its own is refused. The port does not matter. */
bool http_header_is_host_known(const char *host, const char *const *names, int n_names);
/* Authorization: the text after "Bearer "; NULL: none. */
const char *http_header_token(const char *authorization);

#endif
