/* SPDX-License-Identifier: Apache-2.0 */
/* http.h: an HTTP port driven from a daemon's one loop: requests in, answers out,
 * streams of server-sent events, compression and conditional answers.
 *
 * Requests are answered between the loop's other work, for at most HTTP_TURN_MS at a
 * time; the others wait for the next iteration. Bounds: HTTP_CONNECTIONS_MAX
 * connections, half of them for one address, more are closed at once; HTTP_TIMEOUT_S
 * for an idle connection, and for a stream's reader to accept data; the times of
 * http_links.h for a whole request and a whole answer; 32 KiB for a request's line and
 * headers, HTTP_BODY_MAX for its body; HTTP_STREAMS_MAX streams, of which an address
 * with most of them gives one to an address with fewer.
 *
 * Ownership: the handler's pointers are borrowed and must outlive the port.
 * Errors: ERR_IO the port cannot be bound.
 * Source: docs/design/interfaces.md "HTTP", docs/design/architecture.md "Parts we do
 * not write". Layer: sys. */
#ifndef SUBLET_SYS_HTTP_HTTP_H
#define SUBLET_SYS_HTTP_HTTP_H

#include <czmq.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/bounds.h"
#include "base/err.h"
#include "sys/http/http_header.h"

enum {
    HTTP_CONNECTIONS_MAX = 256,
    HTTP_CONNECTIONS_PER_ADDRESS_MAX =
        128, /* a reverse proxy has one for each stream */
    HTTP_STREAMS_MAX = 64,
    HTTP_TIMEOUT_S = 10,
    HTTP_BODY_MAX = 16384,
    HTTP_TURN_MS = 5,
    /* A stream without data sends a comment and the event `beat`: otherwise neither
       side would notice that the other has gone. */
    HTTP_HEARTBEAT_MS = 15000,
};

/* Texts live until the handler returns. */
struct http_request {
    const char *method;        /* "GET" also for "HEAD" */
    const char *uri;           /* unparsed, "/path?name=value" */
    const char *token;         /* of Authorization: Bearer; NULL: none */
    const char *remote_user;   /* of X-Remote-User, as a proxy sets it; NULL: none */
    const char *remote_groups; /* of X-Remote-Groups, likewise */
    const char *last_event_id; /* NULL: none */
    const char *if_none_match; /* NULL: none */
    bool takes_gzip;           /* the answer may be compressed */
    const char *body;          /* ended by 0 */
    size_t n_body;
    uint64_t *ticket; /* for use by the handler: 0 at first, kept while `is_later` */
};

/* The progress of one reader of a stream, for use by the handler. */
struct http_stream {
    int64_t last_event;
    uint64_t seen, upto; /* revisions: delivered, being delivered */
    char after[LEASE_ID_SIZE];
    int phase;
};

struct http_answer {
    int status;
    const char *type;     /* a literal */
    char *text;           /* heap memory that the port frees, or ... */
    const char *constant; /* ... a constant, and the same compressed */
    size_t length;
    bool is_gzip; /* the text is compressed, as the client takes it */
    const char *gzip;
    size_t n_gzip;
    const char *allow;                /* 405: the methods */
    const char *policy;               /* Content-Security-Policy; NULL: none */
    char etag[HTTP_HEADER_ETAG_SIZE]; /* "": none. With status 200; 304 if the client
                                         has it */
    bool is_stream;                   /* 200: continues with `stream` */
    struct http_stream stream;
    bool is_later; /* there is no answer yet: the handler is asked again, with the
                      ticket, after each http_resume */
};

struct http_handler {
    void *arg;
    /* Names that requests may use for this port (HTTP_HOSTS), besides the machine's:
     * http_header_is_host_known. */
    const char *const *hosts;
    int n_hosts;
    /* Called for a request other than GET before its body has arrived. Fills the answer
     * and returns true to refuse it. */
    bool (*refuse)(void *arg, const struct http_request *request,
                   struct http_answer *answer);
    void (*answer)(void *arg, const struct http_request *request,
                   struct http_answer *answer);
    /* An error of the request itself (400, 413, 503): answered in the daemon's format.
     */
    void (*complain)(void *arg, int status, const char *message,
                     struct http_answer *answer);
    /* The next chunk for a reader, as heap text; NULL: none now. The function is NULL
     * if the daemon has no streams. */
    char *(*stream)(void *arg, struct http_stream *stream, size_t *length);
};

struct http;
/* `host` "*": every address. */
int http_new(zloop_t *loop, const char *host, const char *port,
             const struct http_handler *handler, struct http **http,
             struct err *err) MUST_CHECK;
void http_free(struct http *http); /* NULL is fine */

/* Call it when there may be new data for streams. */
void http_wake(struct http *http);
/* Asks the handler again about the requests that it has not answered. Not within a
 * batch of the shell. */
void http_resume(struct http *http);
int http_count_streams(const struct http *http);

#endif
