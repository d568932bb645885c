/* SPDX-License-Identifier: Apache-2.0 */
/* http.c: see http.h.
 *
 * libmicrohttpd has no thread of its own here: the loop polls its epoll descriptor, and
 * its deadlines are a timer of the loop. A connection that has to wait (for the next
 * iteration, or for stream data) is suspended, and the library ignores it until it is
 * resumed. */
#include "sys/http/http.h"

#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sys/daemon.h"
#include "sys/http/http_links.h"
#include "sys/http/http_reply.h"
#include "sys/http/http_socket.h"
#include "sys/log.h"

enum {
    MEMORY_OF_CONNECTION = 32 * 1024,
    /* Consecutive iterations while requests wait; then other sockets are served. */
    TURNS_MAX = 32,
    LOG_BURST = 10,
    STREAM_BLOCK = 4096,
    LATE_MS = 1000,
};

static const char heartbeat[] = ": nothing new\nevent: beat\ndata: {}\n\n";

/* A request and its state. The answer of a stream does not outlive its connection. */
struct request {
    struct http *http;
    struct MHD_Connection *connection;
    char *uri;
    char *body;
    size_t n_body;
    bool is_begun;
    uint64_t ticket;      /* the handler's */
    struct request *next; /* the next waiting request; both are suspended */
};

/* Requests that wait; all are suspended. */
struct waiting {
    struct request *first, **last;
};

/* A reader of a stream. */
struct reader {
    struct http *http;
    struct MHD_Connection *connection;
    struct http_stream stream;
    char *piece; /* what is being sent */
    size_t n_piece, n_sent;
    bool is_suspended;
    int64_t spoke_ms;
    struct reader *before, *behind;
};

struct http {
    zloop_t *loop;
    struct http_handler handler;
    struct MHD_Daemon *daemon;
    zmq_pollitem_t poll;
    bool is_polled;
    int timer_id;
    bool is_armed;
    int beat_id; /* timer of the heartbeats; -1: none */
    int late_id; /* timer of the connections' bounds */
    struct http_links *links;
    int64_t turn_end_ms;  /* after that, further requests wait */
    struct waiting turn;  /* for the next iteration */
    struct waiting later; /* for http_resume */
    struct reader *readers;
    int n_readers;
    struct log_limit complaints;
    char machine[256]; /* its name */
};

/* ---------------------------------------------------------------- requests */

static void *begin_request(void *arg, const char *uri,
                           struct MHD_Connection *connection)
{
    struct request *request = mem_alloc(1, sizeof(*request));
    request->http = arg;
    request->connection = connection;
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
    (void)why;
    struct request *request = *con_cls;
    http_links_begin(connection, HTTP_LINKS_REQUEST, daemon_now_ms());
    if (request != NULL) {
        free(request->uri);
        free(request->body);
        free(request);
    }
    *con_cls = NULL;
}

static const char *header_of(struct MHD_Connection *connection, const char *name)
{
    return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

static struct http_request describe(struct request *request, const char *method)
{
    struct MHD_Connection *connection = request->connection;
    bool is_head = strcmp(method, MHD_HTTP_METHOD_HEAD) == 0;
    return (struct http_request){
        .method = is_head ? MHD_HTTP_METHOD_GET : method,
        .uri = request->uri,
        .token =
            http_header_token(header_of(connection, MHD_HTTP_HEADER_AUTHORIZATION)),
        .remote_user = header_of(connection, "X-Remote-User"),
        .remote_groups = header_of(connection, "X-Remote-Groups"),
        .if_none_match = header_of(connection, MHD_HTTP_HEADER_IF_NONE_MATCH),
        .last_event_id = header_of(connection, "Last-Event-ID"),
        .takes_gzip = http_reply_takes_gzip(connection),
        .body = request->body != NULL ? request->body : "",
        .n_body = request->n_body,
        .ticket = &request->ticket,
    };
}

/* ---------------------------------------------------------------- streams */

static void next_piece(struct reader *reader)
{
    struct http *http = reader->http;
    int64_t now_ms = daemon_now_ms();
    free(reader->piece);
    reader->n_sent = reader->n_piece = 0;
    reader->piece =
        http->handler.stream(http->handler.arg, &reader->stream, &reader->n_piece);
    if (reader->piece == NULL && now_ms - reader->spoke_ms >= HTTP_HEARTBEAT_MS) {
        reader->piece = strdup(heartbeat);
        if (reader->piece == NULL) {
            abort();
        }
        reader->n_piece = sizeof(heartbeat) - 1;
    }
    if (reader->piece != NULL) {
        reader->spoke_ms = now_ms;
    }
}

/* The library calls this only when the socket is writable. A client that does not read
 * is closed by the time-out for idle connections. */
static ssize_t read_stream(void *arg, uint64_t position, char *to, size_t size)
{
    (void)position;
    struct reader *reader = arg;
    if (reader->n_sent == reader->n_piece) {
        next_piece(reader);
    }
    if (reader->piece == NULL) {
        reader->is_suspended = true;
        MHD_suspend_connection(reader->connection);
        return 0;
    }
    size_t n = reader->n_piece - reader->n_sent;
    n = n < size ? n : size;
    memcpy(to, reader->piece + reader->n_sent, n);
    reader->n_sent += n;
    return (ssize_t)n;
}

static void end_stream(void *arg)
{
    struct reader *reader = arg;
    struct http *http = reader->http;
    *(reader->before != NULL ? &reader->before->behind : &http->readers) =
        reader->behind;
    if (reader->behind != NULL) {
        reader->behind->before = reader->before;
    }
    http->n_readers--;
    free(reader->piece);
    free(reader);
}

static struct MHD_Response *make_stream(struct http *http,
                                        struct MHD_Connection *connection,
                                        const struct http_answer *answer)
{
    struct reader *reader = mem_alloc(1, sizeof(*reader));
    reader->http = http;
    reader->connection = connection;
    reader->stream = answer->stream;
    reader->spoke_ms = daemon_now_ms();
    reader->behind = http->readers;
    if (http->readers != NULL) {
        http->readers->before = reader;
    }
    http->readers = reader;
    http->n_readers++;
    return MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, STREAM_BLOCK,
                                             read_stream, reader, end_stream);
}

static void resume_readers(struct http *http)
{
    for (struct reader *reader = http->readers; reader != NULL;
         reader = reader->behind) {
        if (reader->is_suspended) {
            reader->is_suspended = false;
            MHD_resume_connection(reader->connection);
        }
    }
}

/* ---------------------------------------------------------------- answers */

/* If all streams are taken, an address that has more of them than others gives one. */
static bool make_room(struct http *http, struct MHD_Connection *connection)
{
    if (http->n_readers < HTTP_STREAMS_MAX) {
        return true;
    }
    struct MHD_Connection *given = http_links_give_stream(http->links, connection);
    for (struct reader *reader = http->readers; reader != NULL && given != NULL;
         reader = reader->behind) {
        if (reader->connection == given && reader->is_suspended) {
            reader->is_suspended = false;
            MHD_resume_connection(reader->connection);
        }
    }
    return given != NULL;
}

static enum MHD_Result send_answer(struct http *http, struct MHD_Connection *connection,
                                   struct http_answer *answer)
{
    if (answer->is_stream && !make_room(http, connection)) {
        *answer = (struct http_answer){0};
        http->handler.complain(http->handler.arg, MHD_HTTP_SERVICE_UNAVAILABLE,
                               "too many streams are open, expected fewer; try later",
                               answer);
    }
    struct MHD_Response *body =
        answer->is_stream ? make_stream(http, connection, answer) : NULL;
    http_links_begin(connection,
                     answer->is_stream ? HTTP_LINKS_STREAM : HTTP_LINKS_ANSWER,
                     daemon_now_ms());
    return http_reply_send(connection, answer, body);
}

/* ---------------------------------------------------------------- requests received */

static bool is_read(const char *method)
{
    return strcmp(method, MHD_HTTP_METHOD_GET) == 0 ||
           strcmp(method, MHD_HTTP_METHOD_HEAD) == 0;
}

/* A page of another site may have its browser look up the page's own name here. */
static bool is_host_known(const struct http *http, const char *host)
{
    const char *const machine[] = {http->machine};
    return http_header_is_host_known(host, machine, 1) ||
           http_header_is_host_known(host, http->handler.hosts, http->handler.n_hosts);
}

/* A body that is not read to its end: the connection closes after the answer. */
static bool refuse_early(struct http *http, struct request *request, const char *method,
                         struct http_answer *answer)
{
    struct MHD_Connection *connection = request->connection;
    if (!is_host_known(http, header_of(connection, MHD_HTTP_HEADER_HOST))) {
        http->handler.complain(http->handler.arg, MHD_HTTP_MISDIRECTED_REQUEST,
                               "an unknown name in Host, expected the machine's name, "
                               "an address, or one of HTTP_HOSTS",
                               answer);
        return true;
    }
    const char *length = header_of(connection, MHD_HTTP_HEADER_CONTENT_LENGTH);
    bool has_body = (length != NULL && strcmp(length, "0") != 0) ||
                    header_of(connection, MHD_HTTP_HEADER_TRANSFER_ENCODING) != NULL;
    struct http_handler *handler = &http->handler;
    if (is_read(method)) {
        if (has_body) {
            handler->complain(handler->arg, MHD_HTTP_BAD_REQUEST,
                              "a body, expected none with GET", answer);
        }
        return has_body;
    }
    struct http_request described = describe(request, method);
    if (handler->refuse(handler->arg, &described, answer)) {
        return true;
    }
    if (length != NULL && strtoull(length, NULL, 10) > HTTP_BODY_MAX) {
        handler->complain(handler->arg, MHD_HTTP_CONTENT_TOO_LARGE,
                          "a body of more than 16 KiB, expected less", answer);
        return true;
    }
    return false;
}

/* Returns false if it is too large, or has no declared length. */
static bool take_body(struct request *request, const char *data, size_t *n_data)
{
    if (request->n_body + *n_data > HTTP_BODY_MAX) {
        return false;
    }
    request->body = mem_grow(request->body, request->n_body + *n_data + 1, 1);
    memcpy(request->body + request->n_body, data, *n_data);
    request->n_body += *n_data;
    request->body[request->n_body] = '\0';
    *n_data = 0;
    return true;
}

static void begin_waiting(struct waiting *waiting)
{
    waiting->first = NULL;
    waiting->last = &waiting->first;
}

static void wait_in(struct waiting *waiting, struct request *request)
{
    request->next = NULL;
    *waiting->last = request;
    waiting->last = &request->next;
    MHD_suspend_connection(request->connection);
}

static void resume_waiting(struct waiting *waiting)
{
    struct request *next = waiting->first;
    begin_waiting(waiting);
    while (next != NULL) {
        struct request *request = next;
        next = request->next;
        MHD_resume_connection(request->connection);
    }
}

static enum MHD_Result on_request(void *arg, struct MHD_Connection *connection,
                                  const char *url, const char *method,
                                  const char *version, const char *data, size_t *n_data,
                                  void **con_cls)
{
    (void)url;
    (void)version;
    struct http *http = arg;
    struct request *request = *con_cls;
    struct http_answer answer = {0};
    if (request == NULL) {
        return MHD_NO;
    }
    if (!request->is_begun) {
        request->is_begun = true;
        return refuse_early(http, request, method, &answer)
                   ? send_answer(http, connection, &answer)
                   : MHD_YES;
    }
    if (*n_data > 0) {
        return take_body(request, data, n_data) ? MHD_YES : MHD_NO;
    }
    if (daemon_now_ms() > http->turn_end_ms) {
        wait_in(&http->turn, request);
        return MHD_YES;
    }
    struct http_request described = describe(request, method);
    http->handler.answer(http->handler.arg, &described, &answer);
    if (answer.is_later) {
        wait_in(&http->later, request);
        return MHD_YES;
    }
    return send_answer(http, connection, &answer);
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
    struct http *http = arg;
    if (!http->is_armed || timer_id != http->timer_id) {
        return 0; /* already ended in this iteration (sys/wake.h) */
    }
    http->is_armed = false;
    run(http);
    return 0;
}

/* Resumes all streams; one that has no data and was served lately is suspended again.
 */
static int on_beat(zloop_t *loop, int timer_id, void *arg)
{
    (void)loop;
    (void)timer_id;
    http_wake(arg);
    return 0;
}

static int on_late(zloop_t *loop, int timer_id, void *arg)
{
    (void)loop;
    (void)timer_id;
    struct http *http = arg;
    http_links_end_late(http->links, daemon_now_ms());
    return 0;
}

static void disarm(struct http *http)
{
    if (http->is_armed) {
        zloop_timer_end(http->loop, http->timer_id);
        http->is_armed = false;
    }
}

/* A silent connection makes no descriptor readable, so a timer must end it. */
static void run(struct http *http)
{
    MHD_UNSIGNED_LONG_LONG wait_ms = 0;
    bool has_timeout = true;
    http->turn_end_ms = daemon_now_ms() + HTTP_TURN_MS;
    resume_waiting(&http->turn);
    for (int turn = 0; turn < TURNS_MAX && has_timeout && wait_ms == 0; turn++) {
        MHD_run(http->daemon);
        has_timeout = MHD_get_timeout(http->daemon, &wait_ms) == MHD_YES;
        if (daemon_now_ms() > http->turn_end_ms) {
            break;
        }
    }
    disarm(http);
    if (has_timeout || http->turn.first != NULL) {
        bool is_now = wait_ms == 0 || http->turn.first != NULL;
        http->timer_id =
            zloop_timer(http->loop, is_now ? 1 : (size_t)wait_ms, 1, on_timer, http);
        http->is_armed = true;
    }
}

void http_wake(struct http *http)
{
    if (http->n_readers > 0) {
        resume_readers(http);
        run(http);
    }
}

void http_resume(struct http *http)
{
    if (http->later.first != NULL) {
        resume_waiting(&http->later);
        run(http);
    }
}

int http_count_streams(const struct http *http)
{
    return http->n_readers;
}

/* ---------------------------------------------------------------- lifetime */

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

static int start_daemon(struct http *http, int fd, struct err *err)
{
    http->daemon = MHD_start_daemon(
        MHD_USE_EPOLL | MHD_USE_ERROR_LOG | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL,
        on_request, http, MHD_OPTION_EXTERNAL_LOGGER, complain, http,
        MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_URI_LOG_CALLBACK, begin_request, http,
        MHD_OPTION_NOTIFY_COMPLETED, end_request, http, MHD_OPTION_NOTIFY_CONNECTION,
        http_links_note, &http->links, MHD_OPTION_CONNECTION_LIMIT,
        (unsigned)HTTP_CONNECTIONS_MAX, MHD_OPTION_PER_IP_CONNECTION_LIMIT,
        (unsigned)HTTP_CONNECTIONS_PER_ADDRESS_MAX, MHD_OPTION_CONNECTION_TIMEOUT,
        (unsigned)HTTP_TIMEOUT_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)MEMORY_OF_CONNECTION, MHD_OPTION_END);
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
             const struct http_handler *handler, struct http **http, struct err *err)
{
    int fd = http_socket_listen(host, port, err);
    if (fd < 0) {
        return err->code;
    }
    struct http *made = mem_alloc(1, sizeof(*made));
    made->loop = loop;
    made->handler = *handler;
    gethostname(made->machine, sizeof(made->machine) - 1);
    made->complaints.burst = LOG_BURST;
    begin_waiting(&made->turn);
    begin_waiting(&made->later);
    made->beat_id = -1;
    made->late_id = zloop_timer(loop, LATE_MS, 0, on_late, made);
    if (start_daemon(made, fd, err) < 0) {
        http_free(made);
        return err->code;
    }
    if (handler->stream != NULL) {
        made->beat_id = zloop_timer(loop, HTTP_HEARTBEAT_MS / 3, 0, on_beat, made);
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
    zloop_timer_end(http->loop, http->late_id);
    if (http->beat_id != -1) {
        zloop_timer_end(http->loop, http->beat_id);
    }
    if (http->daemon != NULL) {
        /* The library does not end with connections suspended. */
        resume_waiting(&http->turn);
        resume_waiting(&http->later);
        resume_readers(http);
        MHD_stop_daemon(http->daemon);
    }
    free(http);
}
