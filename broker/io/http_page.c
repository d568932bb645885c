/* SPDX-License-Identifier: Apache-2.0 */
/* http_page.c: see http_page.h. */
#include "broker/io/http_page.h"

#include <stdlib.h>
#include <string.h>

#include "broker/io/http_target.h"
#include "broker/io/metrics_text.h"
#include "sys/json.h"

static const char type_json[] = "application/json";
static const char type_metrics[] = "text/plain; version=0.0.4; charset=utf-8";

static const struct {
    int status;
    const char *code;
} statuses[] = {
    {400, "bad_request"}, {404, "not_found"},         {405, "method_not_allowed"},
    {500, "internal"},    {501, "not_supported_yet"},
};

static void put_value(int status, const struct value *value, struct http_page *page)
{
    page->status = status;
    page->type = type_json;
    page->text = json_render(value);
    page->length = strlen(page->text);
}

void http_page_refuse(int status, const char *message, struct http_page *page)
{
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
    put_value(status, root, page);
    arena_release(&arena);
}

static int status_of(int code)
{
    switch (code) {
    case ERR_PARSE:
    case ERR_BOUNDS:
        return 400;
    case ERR_NOT_FOUND:
        return 404;
    case ERR_UNBUILT:
        return 501;
    default:
        return 500;
    }
}

/* ---------------------------------------------------------------- listings */

/* A lease that has ended before the last start is in its history only. */
static bool is_known(const struct http_page_source *source, const char *lease)
{
    struct row_lease row;
    return broker_find_lease(source->broker, lease, &row);
}

static int no_lease(const char *lease, struct err *err)
{
    return err_set(err, ERR_NOT_FOUND, "lease \"%s\": no such lease", lease);
}

static int read_history(const struct http_page_source *source, struct msg_query *query,
                        struct arena *arena, struct value **value, const char **next,
                        struct err *err)
{
    int rc = store_read_history(source->store, query, arena, value, next, err);
    bool is_empty = rc == 0 && query->kind == QUERY_LEASE_HISTORY &&
                    query->after[0] == '\0' &&
                    value_find(*value, "history")->count == 0;
    return is_empty && !is_known(source, query->name) ? no_lease(query->name, err) : rc;
}

static int read_listing(const struct http_page_source *source,
                        struct http_target *target, int64_t now_ms, struct arena *arena,
                        struct value **value, const char **next, struct err *err)
{
    struct msg_query *query = &target->query;
    switch (target->page) {
    case HTTP_TARGET_HISTORY:
        query->kind = QUERY_LEASE_HISTORY;
        return read_history(source, query, arena, value, next, err);
    case HTTP_TARGET_EVENTS:
        query->kind = QUERY_EVENTS;
        return read_history(source, query, arena, value, next, err);
    case HTTP_TARGET_LEASE:
        if (!is_known(source, query->name)) {
            return no_lease(query->name, err);
        }
        query->with_ended = true;
        query->kind = QUERY_LEASES;
        break;
    case HTTP_TARGET_SITES:
        query->kind = QUERY_SITES;
        break;
    case HTTP_TARGET_LEASES:
    case HTTP_TARGET_HEALTH:
    case HTTP_TARGET_METRICS:
    default:
        query->kind = QUERY_LEASES;
        break;
    }
    *value = broker_view(source->broker, arena, query, now_ms, next);
    return 0;
}

static int put_listing(const struct http_page_source *source,
                       struct http_target *target, int64_t now_ms, struct arena *arena,
                       struct http_page *page, struct err *err)
{
    struct value *value = NULL;
    const char *next = "";
    int rc = read_listing(source, target, now_ms, arena, &value, &next, err);
    if (rc == 0) {
        value_add_text(arena, value, "next", next[0] != '\0' ? next : NULL);
        put_value(200, value, page);
    }
    return rc;
}

/* ---------------------------------------------------------------- pages */

/* Who can answer is well: a broker that cannot commit has ended. */
static void put_health(struct arena *arena, struct http_page *page)
{
    struct value *root = value_object(arena);
    value_add_text(arena, root, "status", "ok");
    put_value(200, root, page);
}

static void put_metrics(const struct http_page_source *source, int64_t now_ms,
                        struct http_page *page)
{
    page->status = 200;
    page->type = type_metrics;
    page->text =
        metrics_text_render(source->metrics, source->broker, now_ms, &page->length);
}

void http_page_read(const struct http_page_source *source, const char *uri,
                    int64_t now_ms, struct http_page *page)
{
    struct http_target target;
    struct arena arena;
    struct err err = {0};
    arena_init(&arena);
    int rc = http_target_parse(uri, &arena, &target, &err);
    if (rc == 0 && target.page == HTTP_TARGET_HEALTH) {
        put_health(&arena, page);
    } else if (rc == 0 && target.page == HTTP_TARGET_METRICS) {
        put_metrics(source, now_ms, page);
    } else if (rc == 0) {
        rc = put_listing(source, &target, now_ms, &arena, page, &err);
    }
    if (rc < 0) {
        http_page_refuse(status_of(rc), err.text, page);
    }
    arena_release(&arena);
}
