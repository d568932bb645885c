/* SPDX-License-Identifier: Apache-2.0 */
/* http_reply.c: see http_reply.h. */
#include "sys/http/http_reply.h"

#include <stdlib.h>

#include "sys/http/gzip.h"
#include "sys/http/http_header.h"

enum { GZIP_MIN = 1024 }; /* smaller texts fit one packet anyway */

static const char *header_of(struct MHD_Connection *connection, const char *name)
{
    return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

bool http_reply_takes_gzip(struct MHD_Connection *connection)
{
    return http_header_takes_gzip(
        header_of(connection, MHD_HTTP_HEADER_ACCEPT_ENCODING));
}

/* Compresses the text if that helps and the client accepts it. True: it is compressed.
 */
static bool pack(struct MHD_Connection *connection, struct http_answer *answer)
{
    if (answer->is_gzip) {
        return true;
    }
    if (!http_reply_takes_gzip(connection)) {
        return false;
    }
    if (answer->gzip != NULL) {
        answer->constant = answer->gzip;
        answer->length = answer->n_gzip;
        return true;
    }
    return answer->text != NULL && answer->length >= GZIP_MIN &&
           gzip_replace(&answer->text, &answer->length);
}

static bool is_had(struct MHD_Connection *connection, const struct http_answer *answer)
{
    return answer->status == MHD_HTTP_OK && answer->etag[0] != '\0' &&
           http_header_has_etag(header_of(connection, MHD_HTTP_HEADER_IF_NONE_MATCH),
                                answer->etag);
}

static struct MHD_Response *make_text(struct http_answer *answer)
{
    if (answer->text != NULL) {
        return MHD_create_response_from_buffer(answer->length, answer->text,
                                               MHD_RESPMEM_MUST_FREE);
    }
    /* The library does not write to a text in MHD_RESPMEM_PERSISTENT mode. */
    const char *text = answer->constant != NULL ? answer->constant : "";
    return MHD_create_response_from_buffer(answer->length, (void *)(uintptr_t)text,
                                           MHD_RESPMEM_PERSISTENT);
}

static void add_headers(struct MHD_Response *response, const struct http_answer *answer,
                        bool is_packed)
{
    const struct {
        const char *name, *value;
    } headers[] = {
        {MHD_HTTP_HEADER_CONTENT_TYPE, answer->type},
        {MHD_HTTP_HEADER_CONTENT_ENCODING, is_packed ? "gzip" : NULL},
        {MHD_HTTP_HEADER_VARY, answer->is_stream ? NULL : "Accept-Encoding"},
        {MHD_HTTP_HEADER_ETAG, answer->etag[0] != '\0' ? answer->etag : NULL},
        {MHD_HTTP_HEADER_CACHE_CONTROL,
         answer->etag[0] != '\0' ? "no-cache" : "no-store"},
        {"X-Content-Type-Options", "nosniff"},
        {"Referrer-Policy", "no-referrer"},
        {"Content-Security-Policy", answer->policy},
        {MHD_HTTP_HEADER_ALLOW, answer->allow},
        {MHD_HTTP_HEADER_WWW_AUTHENTICATE,
         answer->status == MHD_HTTP_UNAUTHORIZED ? "Bearer" : NULL},
    };
    for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
        if (headers[i].value != NULL) {
            MHD_add_response_header(response, headers[i].name, headers[i].value);
        }
    }
}

/* Frees the text unless it is a constant. */
static void drop_text(struct http_answer *answer)
{
    free(answer->text);
    answer->text = NULL;
    answer->constant = NULL;
    answer->length = 0;
}

enum MHD_Result http_reply_send(struct MHD_Connection *connection,
                                struct http_answer *answer, struct MHD_Response *stream)
{
    bool is_packed = false;
    if (stream == NULL && is_had(connection, answer)) {
        drop_text(answer);
        answer->status = MHD_HTTP_NOT_MODIFIED;
    } else if (stream == NULL) {
        is_packed = pack(connection, answer);
    }
    struct MHD_Response *response = stream != NULL ? stream : make_text(answer);
    if (response == NULL) {
        abort(); /* out of memory */
    }
    add_headers(response, answer, is_packed);
    enum MHD_Result result =
        MHD_queue_response(connection, (unsigned)answer->status, response);
    MHD_destroy_response(response);
    return result;
}
