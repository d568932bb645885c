/* SPDX-License-Identifier: Apache-2.0 */
/* http_page.c: see http_page.h. */
#include "broker/io/http_page.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "broker/io/http_admin.h"
#include "broker/io/metrics_text.h"
#include "broker/view/broker_view.h"
#include "sys/daemon.h"
#include "sys/json.h"
#include "sys/log.h"
#include "sys/promtext.h"

static const char type_json[] = "application/json";
static const char type_stream[] = "text/event-stream";

/* Nothing from other servers, nothing inline, and no frame around the page. */
static const char policy[] =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

static const struct {
    int status;
    const char *code;
} statuses[] = {
    {400, "bad_request"}, {401, "unauthorized"},       {403, "forbidden"},
    {404, "not_found"},   {405, "method_not_allowed"}, {409, "conflict"},
    {413, "too_large"},   {421, "misdirected"},        {500, "internal"},
    {503, "unavailable"},
};

/* A request being answered. */
struct work {
    const struct http_page_source *source;
    const struct http_request *request;
    struct http_answer *answer;
    struct arena arena;
    struct http_target target;
    struct http_caller caller; /* of a change */
    struct err err;
};

/* ---------------------------------------------------------------- answers */

static void put_value(int status, const struct value *value, struct http_answer *answer)
{
    answer->status = status;
    answer->type = type_json;
    answer->text = json_render(value);
    answer->length = strlen(answer->text);
}

/* For pages that are requested often and rarely change. */
static void put_tagged(const struct value *value, struct http_answer *answer)
{
    put_value(200, value, answer);
    http_header_make_etag(answer->text, answer->length, answer->etag);
}

void http_page_complain(void *arg, int status, const char *message,
                        struct http_answer *answer)
{
    (void)arg;
    const char *code = "";
    for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
        code = statuses[i].status == status ? statuses[i].code : code;
    }
    struct arena arena;
    arena_init(&arena);
    struct value *root = value_object(&arena);
    struct value *error = value_add(&arena, root, "error", value_object(&arena));
    value_add_text(&arena, error, "code", code);
    value_add_text(&arena, error, "message", message);
    put_value(status, root, answer);
    arena_release(&arena);
}

static int status_of(int code)
{
    switch (code) {
    case ERR_PARSE:
    case ERR_BOUNDS:
        return 400;
    case ERR_DENIED:
        return 403;
    case ERR_NOT_FOUND:
        return 404;
    case ERR_STATE:
        return 409;
    case ERR_FULL:
        return 503;
    case ERR_AWAY:
        return 503;
    default:
        return 500;
    }
}

/* ---------------------------------------------------------------- standbys */

static bool is_standby(const struct http_page_source *source)
{
    return source->hub == NULL;
}

static int refuse_as_standby(struct work *work)
{
    const char *leader = work->source->leader;
    return leader[0] == '\0'
               ? err_set(&work->err, ERR_AWAY,
                         "this broker is a standby, and no broker leads; try again "
                         "later")
               : err_set(&work->err, ERR_AWAY,
                         "this broker is a standby; ask the broker that leads, %s",
                         leader);
}

/* Nothing is said of the role of a broker that keeps its contracts in a file. */
static void add_role(const struct http_page_source *source, struct arena *arena,
                     struct value *value)
{
    if (store_db(source->store) != NULL) {
        return;
    }
    value_add_text(arena, value, "role", is_standby(source) ? "standby" : "leader");
    if (is_standby(source)) {
        value_add_text(arena, value, "leader",
                       source->leader[0] != '\0' ? source->leader : NULL);
    }
}

/* ---------------------------------------------------------------- listings */

/* A lease that ended before the last start is only in the history. */
static bool is_known(const struct http_page_source *source, const char *lease)
{
    struct row_lease row;
    return broker_find_lease(source->broker, lease, &row);
}

static int no_lease(const char *lease, struct err *err)
{
    return err_set(err, ERR_NOT_FOUND, "lease \"%s\": no such lease", lease);
}

static int read_history(struct work *work, enum query_kind kind, struct value **value,
                        const char **next)
{
    struct msg_query *query = &work->target.query;
    query->kind = kind;
    int rc = store_history_read(work->source->store, query, &work->arena, value, next,
                                &work->err);
    bool is_empty = rc == 0 && kind == QUERY_LEASE_HISTORY && query->after[0] == '\0' &&
                    value_find(*value, "history")->count == 0;
    return is_empty && !is_known(work->source, query->name)
               ? no_lease(query->name, &work->err)
               : rc;
}

/* A full page of history never changes; another changes when it grows. */
static int put_history(struct work *work, enum query_kind kind)
{
    struct value *value = NULL;
    const char *next = "";
    int rc = read_history(work, kind, &value, &next);
    if (rc == 0) {
        value_add_text(&work->arena, value, "next", next[0] != '\0' ? next : NULL);
        put_tagged(value, work->answer);
    }
    return rc;
}

/* Boot and revision show whether a listing has changed, without making the listing. */
static void tag_listing(struct work *work)
{
    uint64_t revision = broker_look(work->source->broker);
    char text[64];
    size_t n_uri = strlen(work->request->uri);
    char etag_of_uri[HTTP_HEADER_ETAG_SIZE];
    http_header_make_etag(work->request->uri, n_uri, etag_of_uri);
    int n = snprintf(text, sizeof(text), "%" PRIu64 ".%" PRIu64 ".%s",
                     broker_boot(work->source->broker), revision, etag_of_uri);
    http_header_make_etag(text, (size_t)n, work->answer->etag);
}

static int put_listing(struct work *work, enum query_kind kind)
{
    const char *next = "";
    struct msg_query *query = &work->target.query;
    query->kind = kind;
    tag_listing(work);
    if (http_header_has_etag(work->request->if_none_match, work->answer->etag)) {
        work->answer->status = 200; /* http.c makes it 304 */
        work->answer->type = type_json;
        return 0;
    }
    struct value *value =
        broker_view(work->source->broker, &work->arena, query, daemon_now_ms(), &next);
    value_add_text(&work->arena, value, "next", next[0] != '\0' ? next : NULL);
    put_value(200, value, work->answer);
    return 0;
}

static int put_lease(struct work *work)
{
    struct msg_query *query = &work->target.query;
    if (!is_known(work->source, query->name)) {
        return no_lease(query->name, &work->err);
    }
    query->with_ended = true;
    return put_listing(work, QUERY_LEASES);
}

/* For pages that change without a revision, and are made each time. */
static int put_fresh(struct work *work, enum query_kind kind)
{
    const char *next = "";
    struct msg_query *query = &work->target.query;
    query->kind = kind;
    struct value *value =
        broker_view(work->source->broker, &work->arena, query, daemon_now_ms(), &next);
    value_add_text(&work->arena, value, "next", next[0] != '\0' ? next : NULL);
    put_tagged(value, work->answer);
    return 0;
}

static int put_plan(struct work *work)
{
    const char *pool = work->target.query.name;
    return broker_has_pool(work->source->broker, pool)
               ? put_fresh(work, QUERY_PLAN)
               : err_set(&work->err, ERR_NOT_FOUND, "pool \"%s\": no such pool", pool);
}

static int put_series(struct work *work, enum store_series_kind kind)
{
    int64_t now_ms = daemon_now_ms();
    int64_t span_ms = work->target.span_s * 1000;
    if (span_ms == 0) {
        span_ms = STORE_SERIES_FINE_MS;
    } else if (span_ms > STORE_SERIES_KEEP_MS) {
        span_ms = STORE_SERIES_KEEP_MS;
    }
    const struct store_series_ask ask = {.kind = kind,
                                         .name = work->target.query.name,
                                         .from_ms = now_ms - span_ms,
                                         .to_ms = now_ms};
    struct value *value = NULL;
    int rc =
        store_series_read(work->source->store, &ask, &work->arena, &value, &work->err);
    if (rc == 0) {
        put_tagged(value, work->answer);
    }
    return rc;
}

/* ---------------------------------------------------------------- pages */

/* A broker that answers is healthy: one that cannot commit has ended, or is a standby.
 */
static int put_health(struct work *work)
{
    struct value *root = value_object(&work->arena);
    value_add_text(&work->arena, root, "status", "ok");
    add_role(work->source, &work->arena, root);
    put_value(200, root, work->answer);
    return 0;
}

/* A standby has few lines. A leader's are printed by the thread: until then, there is
 * no answer. */
static int put_metrics(struct work *work)
{
    const struct http_page_source *source = work->source;
    struct http_answer *answer = work->answer;
    uint64_t *ticket = work->request->ticket;
    answer->status = 200;
    answer->type = promtext_type;
    if (is_standby(source)) {
        struct metrics_snapshot *snapshot = metrics_snapshot_new_standby(source->store);
        answer->text = metrics_text_print(snapshot, &answer->length);
        metrics_snapshot_free(snapshot);
        return 0;
    }
    enum metrics_answer state = metrics_thread_take(source->metrics, *ticket, answer);
    answer->is_later = state != METRICS_DONE;
    if (state == METRICS_NONE) {
        *ticket = metrics_thread_begin(
            source->metrics,
            metrics_snapshot_new(hub_metrics(source->hub), source->broker,
                                 source->store, source->state, daemon_now_ms()),
            work->request->takes_gzip);
    }
    return 0;
}

static int read_about(const struct http_page_source *source, bool may_change,
                      struct arena *arena, struct value **value, struct err *err)
{
    int64_t last_event = 0;
    int rc = store_history_last(source->store, &last_event, err);
    *value = value_object(arena);
    value_add_int(arena, *value, "schema_version", 1);
    value_add_text(arena, *value, "version", BROKER_VERSION);
    value_add_instant(arena, *value, "now_at", daemon_now_ms());
    value_add_instant(arena, *value, "started_at", source->started_ms);
    value_add_int(arena, *value, "last_event", last_event);
    value_add_duration(arena, *value, "sample_interval_s", source->sample_interval_ms);
    add_role(source, arena, *value);
    bool changes =
        may_change && http_access_has_tokens(*source->access) && !is_standby(source);
    struct value *actions = value_add(arena, *value, "actions", value_object(arena));
    value_add_bool(arena, actions, "reclaim_delay", changes);
    value_add_bool(arena, actions, "drain", changes);
    return rc;
}

static int put_about(struct work *work)
{
    struct value *value;
    struct http_caller caller =
        http_access_judge(*work->source->access, work->request, &work->arena);
    bool may_change = caller.user == NULL || caller.refusal == 0;
    int rc = read_about(work->source, may_change, &work->arena, &value, &work->err);
    if (caller.user != NULL) { /* a proxy has sent the token for its user */
        value_add_text(&work->arena, value, "user", caller.user);
    }
    if (rc == 0) {
        put_value(200, value, work->answer);
    }
    return rc;
}

/* "" is the page itself. */
static int put_file(struct work *work)
{
    const char *name = work->target.file[0] != '\0' ? work->target.file : "index.html";
    const struct http_file *file = http_page_files;
    while (file->name != NULL && strcmp(file->name, name) != 0) {
        file++;
    }
    if (file->name == NULL) {
        return err_set(&work->err, ERR_NOT_FOUND, "no such page");
    }
    struct http_answer *answer = work->answer;
    answer->status = 200;
    answer->type = file->type;
    answer->policy = policy;
    answer->constant = (const char *)file->bytes;
    answer->length = file->n_bytes;
    answer->gzip = (const char *)file->gzip;
    answer->n_gzip = file->n_gzip;
    snprintf(answer->etag, sizeof(answer->etag), "%s", file->etag);
    return 0;
}

/* The sites are asked; until they have answered, there is no answer. */
static int put_usage(struct work *work)
{
    if (is_standby(work->source)) {
        return refuse_as_standby(work);
    }
    struct usage_gather *usage = hub_usage(work->source->hub);
    struct http_answer *answer = work->answer;
    uint64_t *ticket = work->request->ticket;
    int rc = *ticket == 0
                 ? usage_gather_begin(usage, &work->target.query, ticket, &work->err)
                 : 0;
    if (rc == 0) {
        answer->text = usage_gather_take(usage, *ticket);
        answer->is_later = answer->text == NULL;
        answer->status = 200;
        answer->type = type_json;
        answer->length = answer->text != NULL ? strlen(answer->text) : 0;
    }
    return rc;
}

/* The site is asked; until it has answered, there is no answer. */
static int put_overview(struct work *work)
{
    struct http_answer *answer = work->answer;
    if (is_standby(work->source)) {
        return refuse_as_standby(work);
    }
    int rc = overviews_get(hub_overviews(work->source->hub), work->target.query.name,
                           &answer->text, &work->err);
    answer->is_later = rc == 0 && answer->text == NULL;
    answer->status = 200;
    answer->type = type_json;
    answer->length = answer->text != NULL ? strlen(answer->text) : 0;
    return rc;
}

/* ---------------------------------------------------------------- the stream */

static int begin_stream(struct work *work)
{
    if (is_standby(work->source)) {
        return refuse_as_standby(work);
    }
    const char *last = work->request->last_event_id;
    const char *after = last != NULL ? last : work->target.query.after;
    size_t length = strlen(after);
    if (length > 18 || strspn(after, "0123456789") != length) {
        return err_set(&work->err, ERR_PARSE,
                       "Last-Event-ID: \"%.80s\", expected the id of an event", after);
    }
    struct http_answer *answer = work->answer;
    int rc =
        http_feed_begin(work->source->feed, length > 0 ? strtoll(after, NULL, 10) : -1,
                        &answer->stream, &work->err);
    answer->status = 200;
    answer->type = type_stream;
    answer->is_stream = rc == 0;
    return rc;
}

char *http_page_stream(void *arg, struct http_stream *stream, size_t *length)
{
    const struct http_page_source *source = arg;
    struct arena arena;
    struct value *about;
    struct err err;
    char *hello = NULL;
    arena_init(&arena);
    if (http_feed_is_new(stream)) {
        if (read_about(source, true, &arena, &about, &err) < 0) {
            log_line(LOG_LEVEL_ERROR, "hello for a stream: %s", err.text);
        }
        hello = json_render(about);
    }
    char *text = http_feed_next(source->feed, stream, hello, length);
    free(hello);
    arena_release(&arena);
    return text;
}

/* ---------------------------------------------------------------- changes */

static bool is_change(const struct http_request *request)
{
    return strcmp(request->method, "GET") != 0;
}

static bool is_allowed(struct work *work)
{
    work->caller =
        http_access_judge(*work->source->access, work->request, &work->arena);
    if (work->caller.refusal != 0) {
        http_page_complain(NULL, work->caller.refusal, work->caller.reason,
                           work->answer);
    }
    return work->caller.refusal == 0;
}

/* Each change, also one that is refused, is one line of the log. */
static int put_change(struct work *work)
{
    const struct http_caller *caller = &work->caller;
    bool is_proxy = caller->user != caller->token;
    const char *answer = "";
    const struct http_admin_order order = {
        .hub = work->source->hub,
        .who = arena_printf(&work->arena, "%s (HTTP)", caller->user),
        .target = &work->target,
        .body = work->request->body,
        .n_body = work->request->n_body,
    };
    int rc = http_admin_change(&order, &work->arena, &answer, &work->err);
    log_line(LOG_LEVEL_INFO, "http: token \"%s\"%s%s%s: %s %.300s: %s%s", caller->token,
             is_proxy ? ", user \"" : "", is_proxy ? caller->user : "",
             is_proxy ? "\"" : "", work->request->method, work->request->uri,
             rc < 0 ? "refused: " : "", rc < 0 ? work->err.text : answer);
    if (rc == 0) {
        struct value *value = value_object(&work->arena);
        value_add_int(&work->arena, value, "schema_version", 1);
        value_add_text(&work->arena, value, "message", answer);
        put_value(200, value, work->answer);
    }
    return rc;
}

/* ---------------------------------------------------------------- dispatch */

static int answer_target(struct work *work)
{
    switch (work->target.page) {
    case HTTP_TARGET_LEASES:
        return put_listing(work, QUERY_LEASES);
    case HTTP_TARGET_LEASE:
        return put_lease(work);
    case HTTP_TARGET_HISTORY:
        return put_history(work, QUERY_LEASE_HISTORY);
    case HTTP_TARGET_DRAIN:
    case HTTP_TARGET_RESUME:
    case HTTP_TARGET_REBALANCE:
    case HTTP_TARGET_RELOAD:
        return put_change(work);
    case HTTP_TARGET_SITES:
        return put_listing(work, QUERY_SITES);
    case HTTP_TARGET_OVERVIEW:
        return put_overview(work);
    case HTTP_TARGET_HOSTS:
        return put_listing(work, QUERY_HOSTS);
    case HTTP_TARGET_EVENTS:
        return put_history(work, QUERY_EVENTS);
    case HTTP_TARGET_STREAM:
        return begin_stream(work);
    case HTTP_TARGET_RECLAIM:
        return is_change(work->request) ? put_change(work)
                                        : put_fresh(work, QUERY_RECLAIM);
    case HTTP_TARGET_POOLS:
        return put_fresh(work, QUERY_POOLS);
    case HTTP_TARGET_PLAN:
        return put_plan(work);
    case HTTP_TARGET_SERIES:
        return put_series(work, STORE_SERIES_ALL);
    case HTTP_TARGET_SITE_SERIES:
        return put_series(work, STORE_SERIES_SITE);
    case HTTP_TARGET_LEASE_SERIES:
        return put_series(work, STORE_SERIES_LEASE);
    case HTTP_TARGET_POOL_SERIES:
        return put_series(work, STORE_SERIES_POOL);
    case HTTP_TARGET_NODE_SERIES:
        return put_series(work, STORE_SERIES_NODE);
    case HTTP_TARGET_USAGE:
        return put_usage(work);
    case HTTP_TARGET_ABOUT:
        return put_about(work);
    case HTTP_TARGET_METRICS:
        return put_metrics(work);
    case HTTP_TARGET_FILE:
        return put_file(work);
    case HTTP_TARGET_HEALTH:
    default:
        return put_health(work);
    }
}

/* False, with the refusal as answer, if the target is wrong or the change not allowed.
 */
static bool begin_work(struct work *work, void *arg, const struct http_request *request,
                       struct http_answer *answer)
{
    *work = (struct work){.source = arg, .request = request, .answer = answer};
    arena_init(&work->arena);
    const char *allow = NULL;
    int rc = http_target_parse(request->method, request->uri, &work->arena,
                               &work->target, &allow, &work->err);
    if (rc < 0) {
        http_page_complain(NULL, rc == ERR_STATE ? 405 : status_of(rc), work->err.text,
                           answer);
        answer->allow = rc == ERR_STATE ? allow : NULL;
        return false;
    }
    if (is_change(request) && is_standby(work->source)) {
        http_page_complain(NULL, status_of(refuse_as_standby(work)), work->err.text,
                           answer);
        return false;
    }
    return !is_change(request) || is_allowed(work);
}

bool http_page_refuse(void *arg, const struct http_request *request,
                      struct http_answer *answer)
{
    struct work work;
    bool is_refused = !begin_work(&work, arg, request, answer);
    arena_release(&work.arena);
    return is_refused;
}

void http_page_answer(void *arg, const struct http_request *request,
                      struct http_answer *answer)
{
    struct work work;
    if (begin_work(&work, arg, request, answer)) {
        int rc = answer_target(&work);
        if (rc < 0) {
            http_page_complain(NULL, status_of(rc), work.err.text, answer);
        }
    }
    arena_release(&work.arena);
}
