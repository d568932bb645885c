/* SPDX-License-Identifier: Apache-2.0 */
/* http.c: see http.h. libmicrohttpd has no thread of its own here: its epoll descriptor
 * is one more of the loop's, and what it wants to do later is a timer of the loop. */
#include "broker/io/http.h"

#include <errno.h>
#include <microhttpd.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sys/daemon.h"
#include "sys/log.h"

enum {
    MEMORY_OF_CONNECTION = 32 * 1024,
    BACKLOG = 128,
    /* Turns at once, while there is something to do: then the sites' turn. */
    TURNS_MAX = 32,
    LOG_BURST = 10,
};

struct http {
    zloop_t *loop;
    struct http_page_source source;
    struct MHD_Daemon *daemon;
    zmq_pollitem_t poll;
    bool is_polled;
    int timer_id;
    bool is_armed;
    struct log_limit complaints;
};

/* ---------------------------------------------------------------- requests */

/* The target as it came, and whether the headers were seen. */
struct request {
    char *uri;
    bool is_begun;
};

static void *begin_request(void *arg, const char *uri,
                           struct MHD_Connection *connection)
{
    (void)arg;
    (void)connection;
    struct request *request = mem_alloc(1, sizeof(*request));
    request->uri = strdup(uri);
    if (request->uri == NULL) {
        abort();
    }
    return request;
}

static void end_request(void *arg, struct MHD_Connection *connection, void **con_cls,
                        enum MHD_RequestTerminationCode why)
{
    (void)arg;
    (void)connection;
    (void)why;
    struct request *request = *con_cls;
    if (request != NULL) {
        free(request->uri);
        free(request);
    }
    *con_cls = NULL;
}

static enum MHD_Result send_page(struct MHD_Connection *connection,
                                 const struct http_page *page)
{
    struct MHD_Response *response = MHD_create_response_from_buffer(
        page->length, page->text, MHD_RESPMEM_MUST_FREE);
    if (response == NULL) {
        free(page->text);
        return MHD_NO;
    }
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, page->type);
    MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    if (page->status == MHD_HTTP_METHOD_NOT_ALLOWED) {
        MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
    }
    enum MHD_Result result =
        MHD_queue_response(connection, (unsigned)page->status, response);
    MHD_destroy_response(response);
    return result;
}

static bool is_header_set(struct MHD_Connection *connection, const char *name)
{
    const char *value = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
    return value != NULL && strcmp(value, "0") != 0;
}

/* What need not be read to its end: then the connection closes behind the answer. */
static bool refuse_early(struct MHD_Connection *connection, const char *method,
                         struct http_page *page)
{
    if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 &&
        strcmp(method, MHD_HTTP_METHOD_HEAD) != 0) {
        http_page_refuse(MHD_HTTP_METHOD_NOT_ALLOWED, "only GET and HEAD are supported",
                         page);
        return true;
    }
    if (is_header_set(connection, MHD_HTTP_HEADER_CONTENT_LENGTH) ||
        is_header_set(connection, MHD_HTTP_HEADER_TRANSFER_ENCODING)) {
        http_page_refuse(MHD_HTTP_BAD_REQUEST, "a body, expected none with GET", page);
        return true;
    }
    return false;
}

static enum MHD_Result answer(void *arg, struct MHD_Connection *connection,
                              const char *url, const char *method, const char *version,
                              const char *data, size_t *n_data, void **con_cls)
{
    (void)url;
    (void)version;
    (void)data;
    struct http *http = arg;
    struct request *request = *con_cls;
    struct http_page page = {0};
    if (request == NULL) {
        return MHD_NO;
    }
    if (!request->is_begun) {
        request->is_begun = true;
        return refuse_early(connection, method, &page) ? send_page(connection, &page)
                                                       : MHD_YES;
    }
    if (*n_data > 0) {
        return MHD_NO;
    }
    http_page_read(&http->source, request->uri, daemon_now_ms(), &page);
    return send_page(connection, &page);
}

/* ---------------------------------------------------------------- the loop */

static void run(struct http *http);

static int on_readable(zloop_t *loop, zmq_pollitem_t *item, void *arg)
{
    (void)loop;
    (void)item;
    run(arg);
    return 0;
}

static int on_timer(zloop_t *loop, int timer_id, void *arg)
{
    (void)loop;
    (void)timer_id;
    struct http *http = arg;
    http->is_armed = false;
    run(http);
    return 0;
}

static void disarm(struct http *http)
{
    if (http->is_armed) {
        zloop_timer_end(http->loop, http->timer_id);
        http->is_armed = false;
    }
}

/* A connection that says nothing makes no descriptor readable: only time ends it. */
static void run(struct http *http)
{
    MHD_UNSIGNED_LONG_LONG wait_ms = 0;
    bool has_timeout = true;
    for (int turn = 0; turn < TURNS_MAX && has_timeout && wait_ms == 0; turn++) {
        MHD_run(http->daemon);
        has_timeout = MHD_get_timeout(http->daemon, &wait_ms) == MHD_YES;
    }
    disarm(http);
    if (has_timeout) {
        http->timer_id = zloop_timer(http->loop, wait_ms > 0 ? (size_t)wait_ms : 1, 1,
                                     on_timer, http);
        http->is_armed = true;
    }
}

/* ---------------------------------------------------------------- life */

static void complain(void *arg, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));
static void complain(void *arg, const char *format, va_list args)
{
    struct http *http = arg;
    char text[256];
    vsnprintf(text, sizeof(text), format, args);
    text[strcspn(text, "\n")] = '\0';
    if (log_limit_pass(&http->complaints, daemon_now_ms())) {
        log_line(LOG_LEVEL_DEBUG, "HTTP: %s", text);
    }
}

static int open_socket(const struct addrinfo *address, struct err *err)
{
    const int on = 1;
    int fd = socket(address->ai_family,
                    address->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) != 0 ||
        bind(fd, address->ai_addr, address->ai_addrlen) != 0 ||
        listen(fd, BACKLOG) != 0) {
        err_set(err, ERR_IO, "%s", strerror(errno));
        if (fd >= 0) {
            close(fd);
        }
        return -1;
    }
    return fd;
}

/* The listening socket, or -1. */
static int listen_at(const char *host, const char *port, struct err *err)
{
    const struct addrinfo hints = {.ai_flags = AI_PASSIVE | AI_NUMERICSERV,
                                   .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    int status =
        getaddrinfo(strcmp(host, "*") == 0 ? NULL : host, port, &hints, &found);
    int fd = -1;
    if (status != 0) {
        err_set(err, ERR_IO, "%s", gai_strerror(status));
    } else {
        fd = open_socket(found, err);
        freeaddrinfo(found);
    }
    if (fd < 0) {
        err_prefix(err, "HTTP port %s of \"%s\"", port, host);
    }
    return fd;
}

static int start_daemon(struct http *http, int fd, struct err *err)
{
    http->daemon = MHD_start_daemon(
        MHD_USE_EPOLL | MHD_USE_ERROR_LOG, 0, NULL, NULL, answer, http,
        MHD_OPTION_EXTERNAL_LOGGER, complain, http, MHD_OPTION_LISTEN_SOCKET, fd,
        MHD_OPTION_URI_LOG_CALLBACK, begin_request, http, MHD_OPTION_NOTIFY_COMPLETED,
        end_request, http, MHD_OPTION_CONNECTION_LIMIT, (unsigned)HTTP_CONNECTIONS_MAX,
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)HTTP_TIMEOUT_S,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)MEMORY_OF_CONNECTION,
        MHD_OPTION_END);
    if (http->daemon == NULL) {
        close(fd);
        return err_set(err, ERR_IO, "the HTTP server does not start");
    }
    const union MHD_DaemonInfo *info =
        MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    http->poll = (zmq_pollitem_t){.fd = info->epoll_fd, .events = ZMQ_POLLIN};
    http->is_polled = zloop_poller(http->loop, &http->poll, on_readable, http) == 0;
    return 0;
}

int http_new(zloop_t *loop, const char *host, const char *port,
             const struct http_page_source *source, struct http **http, struct err *err)
{
    int fd = listen_at(host, port, err);
    if (fd < 0) {
        return err->code;
    }
    struct http *made = mem_alloc(1, sizeof(*made));
    made->loop = loop;
    made->source = *source;
    made->complaints.burst = LOG_BURST;
    if (start_daemon(made, fd, err) < 0) {
        http_free(made);
        return err->code;
    }
    *http = made;
    return 0;
}

void http_free(struct http *http)
{
    if (http == NULL) {
        return;
    }
    if (http->is_polled) {
        zloop_poller_end(http->loop, &http->poll);
    }
    disarm(http);
    if (http->daemon != NULL) {
        MHD_stop_daemon(http->daemon);
    }
    free(http);
}
