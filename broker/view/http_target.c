/* SPDX-License-Identifier: Apache-2.0 */
/* http_target.c: see broker_view.h. */
#include "broker/view/broker_view.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "broker/plan/plan.h"
#include "model/usage_ask.h"

enum {
    PARTS_MAX = 32, /* of a path; more have no page */
    SPAN_MAX_S = 31536000,
    PROVIDER = 1,
    CONSUMER = 2,
    STATE = 4,
    LIMIT = 8,
    AFTER = 16,        /* a lease's id, a site's name, or both with a host */
    AFTER_NUMBER = 32, /* an event's id */
    LAST = 128,
    SITE = 256,
    SPAN = 512,
    NODE = 1024,     /* a node's path */
    ANYTHING = 2048, /* the page's own: its script reads them */
    FROM = 4096,
    TO = 8192,
    BY = 16384,
    LEASE = 32768,
    OWNER_USER = 65536, /* of the jobs */
    OWNER_QUEUE = 131072,
    OWNER_PROJECT = 262144,
};

static const char read_only[] = "GET, HEAD";
static const char read_and_put[] = "GET, HEAD, PUT";
static const char post_only[] = "POST";

/* "*" is any part. */
static const struct {
    const char *path;
    enum http_target_page page;
    const char *allow;
    int parameters;
} pages[] = {
    {"api/v1/leases", HTTP_TARGET_LEASES, read_only,
     PROVIDER | CONSUMER | STATE | LIMIT | AFTER},
    {"api/v1/leases/*/*/*", HTTP_TARGET_LEASE, read_only, 0},
    {"api/v1/leases/*/*/*/history", HTTP_TARGET_HISTORY, read_only,
     LIMIT | AFTER_NUMBER | LAST},
    {"api/v1/leases/*/*/*/drain", HTTP_TARGET_DRAIN, post_only, 0},
    {"api/v1/leases/*/*/*/resume", HTTP_TARGET_RESUME, post_only, 0},
    {"api/v1/leases/*/*/*/rebalance", HTTP_TARGET_REBALANCE, post_only, 0},
    {"api/v1/sites", HTTP_TARGET_SITES, read_only, LIMIT | AFTER},
    {"api/v1/sites/*/overview", HTTP_TARGET_OVERVIEW, read_only, 0},
    {"api/v1/hosts", HTTP_TARGET_HOSTS, read_only, SITE | LIMIT | AFTER},
    {"api/v1/events", HTTP_TARGET_EVENTS, read_only, LIMIT | AFTER_NUMBER | LAST},
    {"api/v1/stream", HTTP_TARGET_STREAM, read_only, AFTER_NUMBER},
    {"api/v1/reclaim-delay", HTTP_TARGET_RECLAIM, read_and_put, LIMIT | AFTER},
    {"api/v1/pools", HTTP_TARGET_POOLS, read_only, LIMIT | AFTER},
    {"api/v1/plans/reload", HTTP_TARGET_RELOAD, post_only, 0},
    {"api/v1/plans/*", HTTP_TARGET_PLAN, read_only, LIMIT | AFTER},
    {"api/v1/series", HTTP_TARGET_SERIES, read_only, SPAN},
    {"api/v1/series/sites/*", HTTP_TARGET_SITE_SERIES, read_only, SPAN},
    {"api/v1/series/leases/*/*/*", HTTP_TARGET_LEASE_SERIES, read_only, SPAN},
    {"api/v1/series/pools/*", HTTP_TARGET_POOL_SERIES, read_only, SPAN},
    {"api/v1/series/plans/*", HTTP_TARGET_NODE_SERIES, read_only, SPAN | NODE},
    {"api/v1/about", HTTP_TARGET_ABOUT, read_only, 0},
    {"api/v1/openapi.json", HTTP_TARGET_FILE, read_only, 0},
    {"healthz", HTTP_TARGET_HEALTH, read_only, 0},
    {"metrics", HTTP_TARGET_METRICS, read_only, 0},
    {"", HTTP_TARGET_FILE, read_only, ANYTHING},
    {"page/*", HTTP_TARGET_FILE, read_only, 0},
    {"api/v1/usage", HTTP_TARGET_USAGE, read_only,
     FROM | TO | BY | LEASE | SITE | OWNER_USER | OWNER_QUEUE | OWNER_PROJECT | LIMIT |
         AFTER},
};
enum { N_PAGES = sizeof(pages) / sizeof(pages[0]) };

/* ---------------------------------------------------------------- decoding */

static int digit_of(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* NULL if an escape is malformed, or is a control character, which no name has. */
static const char *decode(struct arena *arena, const char *text, size_t length)
{
    char *out = arena_alloc(arena, length + 1, 1);
    size_t n = 0;
    for (size_t i = 0; i < length; i++) {
        int c = (unsigned char)text[i];
        if (c == '%') {
            bool is_whole = length - i > 2;
            int high = is_whole ? digit_of(text[i + 1]) : -1;
            int low = is_whole ? digit_of(text[i + 2]) : -1;
            if (high < 0 || low < 0) {
                return NULL;
            }
            c = high * 16 + low;
            i += 2;
        }
        if (c < 0x20 || c == 0x7f) {
            return NULL;
        }
        out[n++] = (char)c;
    }
    return out;
}

/* ---------------------------------------------------------------- the path */

struct path {
    const char *parts[PARTS_MAX];
    int n_parts;
};

static int split_path(const char *path, size_t length, struct arena *arena,
                      struct path *split, struct err *err)
{
    split->n_parts = 0;
    if (length == 0 || path[0] != '/') {
        return err_set(err, ERR_PARSE, "the target is no path, expected /...");
    }
    const char *end = path + length;
    for (const char *at = path + 1; at <= end;) {
        const char *slash = memchr(at, '/', (size_t)(end - at));
        const char *stop = slash != NULL ? slash : end;
        if (split->n_parts == PARTS_MAX) {
            return err_set(err, ERR_NOT_FOUND, "no such page");
        }
        const char *part = decode(arena, at, (size_t)(stop - at));
        if (part == NULL) {
            return err_set(err, ERR_PARSE,
                           "the path has a %% that is not followed by two hexadecimal "
                           "digits of a character");
        }
        split->parts[split->n_parts++] = part;
        at = stop + 1;
    }
    return 0;
}

/* The last part of a leaf's lease has slashes, plain or as %2F:
 * "north/spare/south:/eng/sim". A node called history, drain, resume
 * or rebalance needs %2F. */
static void join_leaf(struct arena *arena, struct path *path)
{
    int at = 3; /* after leases, provider, policy */
    while (at < path->n_parts &&
           (strcmp(path->parts[at - 3], "leases") != 0 ||
            path->parts[at][strcspn(path->parts[at], ":")] == '\0')) {
        at++;
    }
    if (at >= path->n_parts || strchr(path->parts[at], ':')[1] != '\0') {
        return;
    }
    const char *last = path->parts[path->n_parts - 1];
    bool has_page = strcmp(last, "history") == 0 || strcmp(last, "drain") == 0 ||
                    strcmp(last, "resume") == 0 || strcmp(last, "rebalance") == 0;
    int end = path->n_parts - has_page;
    for (int i = at + 1; i < end; i++) {
        path->parts[at] = arena_printf(arena, "%s/%s", path->parts[at], path->parts[i]);
    }
    if (end > at + 1) {
        path->parts[at + 1] = last;
        path->n_parts = at + 1 + has_page;
    }
}

static bool fits(const char *pattern, const struct path *path)
{
    for (int i = 0; i < path->n_parts; i++) {
        size_t length = strcspn(pattern, "/");
        bool is_any = length == 1 && pattern[0] == '*' && path->parts[i][0] != '\0';
        bool is_same = strlen(path->parts[i]) == length &&
                       memcmp(pattern, path->parts[i], length) == 0;
        bool is_last = i + 1 == path->n_parts;
        if ((!is_any && !is_same) || is_last != (pattern[length] == '\0')) {
            return false;
        }
        pattern += length + 1;
    }
    return true;
}

/* One word of "GET, HEAD". */
static bool is_allowed(const char *allow, const char *method)
{
    size_t length = strlen(method);
    const char *at = strstr(allow, method);
    return length > 0 && at != NULL && (at[length] == ',' || at[length] == '\0') &&
           (at == allow || at[-1] == ' ');
}

/* The row of `pages`, or a negative error. */
static int find_page(const char *method, const struct path *path, const char **allow,
                     struct err *err)
{
    for (int i = 0; i < N_PAGES; i++) {
        if (!fits(pages[i].path, path)) {
            continue;
        }
        *allow = pages[i].allow;
        if (!is_allowed(*allow, method)) {
            return err_set(err, ERR_STATE, "%.20s is not for this page, expected %s",
                           method, *allow);
        }
        return i;
    }
    return err_set(err, ERR_NOT_FOUND, "no such page");
}

/* ---------------------------------------------------------------- parameters */

static int read_number(const char *name, const char *value, int64_t min, int64_t max,
                       const char *expected, int64_t *number, struct err *err)
{
    size_t length = strlen(value);
    bool is_number =
        length > 0 && length <= 18 && strspn(value, "0123456789") == length;
    *number = is_number ? strtoll(value, NULL, 10) : -1;
    if (!is_number || *number < min || *number > max) {
        return err_set(err, is_number ? ERR_BOUNDS : ERR_PARSE,
                       "parameter %s: \"%.80s\", expected %s", name, value, expected);
    }
    return 0;
}

static int take_rows(const char *name, const char *value, int *n_rows, struct err *err)
{
    int64_t number = 0;
    int rc = read_number(name, value, 1, PAGE_ROWS_MAX, "a number from 1 to 500",
                         &number, err);
    *n_rows = (int)number;
    return rc;
}

static int take_limit(const char *value, struct http_target *target, struct err *err)
{
    return take_rows("limit", value, &target->query.limit, err);
}

static int take_last(const char *value, struct http_target *target, struct err *err)
{
    return take_rows("last", value, &target->query.last, err);
}

static int take_after_number(const char *value, struct http_target *target,
                             struct err *err)
{
    int64_t number;
    target->query.after = value;
    return read_number("after", value, 0, INT64_MAX, "the id of an event", &number,
                       err);
}

static int take_span(const char *value, struct http_target *target, struct err *err)
{
    return read_number("span_s", value, 1, SPAN_MAX_S,
                       "seconds, from 1 to 31536000 (365 days)", &target->span_s, err);
}

static int take_state(const char *value, struct http_target *target, struct err *err)
{
    for (int state = LEASE_PENDING; state <= LEASE_ENDED; state++) {
        if (strcmp(value, msg_lease_state_name((enum lease_state)state)) == 0) {
            target->query.states = 1 << state;
            return 0;
        }
    }
    return err_set(err, ERR_PARSE,
                   "parameter state: \"%.80s\", expected pending, active, inactive, "
                   "draining or ended",
                   value);
}

static int take_date(const char *name, const char *value, int64_t *at_ms,
                     struct err *err)
{
    return usage_ask_date(value, at_ms, err) < 0 ? err_prefix(err, "parameter %s", name)
                                                 : 0;
}

static int take_from(const char *value, struct http_target *target, struct err *err)
{
    return take_date("from", value, &target->query.from_ms, err);
}

static int take_to(const char *value, struct http_target *target, struct err *err)
{
    return take_date("to", value, &target->query.to_ms, err);
}

static int take_by(const char *value, struct http_target *target, struct err *err)
{
    int words;
    target->query.by = value;
    return usage_ask_by(value, &words, err) < 0 ? err_prefix(err, "parameter by") : 0;
}

static const struct parameter {
    const char *name;
    int bit;
    /* What reads the value; NULL: it is a text of the query, of less than `size`. */
    int (*take)(const char *value, struct http_target *target, struct err *err);
    size_t text, size;
    const char *expected;
} parameters[] = {
#define TEXT(field, size, expected)                                                    \
    NULL, offsetof(struct msg_query, field), size, expected
    {"provider", PROVIDER, TEXT(provider, NAME_SIZE, "the name of a site")},
    {"consumer", CONSUMER, TEXT(consumer, NAME_SIZE, "the name of a site")},
    {"site", SITE, TEXT(provider, NAME_SIZE, "the name of a site")},
    {"node", NODE, TEXT(host, PLAN_PATH_SIZE, "the path of a node of the plan")},
    {"after", AFTER, TEXT(after, LEASE_ID_SIZE, "`next` of the page before")},
    {"lease", LEASE, TEXT(name, LEASE_ID_SIZE, "the id of a lease")},
    {"user", OWNER_USER, TEXT(user, NAME_SIZE, "the name of a user")},
    {"queue", OWNER_QUEUE, TEXT(queue, NAME_SIZE, "the name of a queue")},
    {"project", OWNER_PROJECT, TEXT(project, NAME_SIZE, "the name of a project")},
#undef TEXT
    {"after", AFTER_NUMBER, take_after_number, 0, 0, ""},
    {"from", FROM, take_from, 0, 0, ""},
    {"to", TO, take_to, 0, 0, ""},
    {"by", BY, take_by, 0, 0, ""},
    {"state", STATE, take_state, 0, 0, ""},
    {"limit", LIMIT, take_limit, 0, 0, ""},
    {"last", LAST, take_last, 0, 0, ""},
    {"span_s", SPAN, take_span, 0, 0, ""},
};
enum { N_PARAMETERS = sizeof(parameters) / sizeof(parameters[0]) };

static int take_value(const struct parameter *parameter, const char *value,
                      struct http_target *target, struct err *err)
{
    if (value[0] == '\0') {
        return 0;
    }
    if (parameter->take != NULL) {
        return parameter->take(value, target, err);
    }
    *(const char **)((char *)&target->query + parameter->text) = value;
    return strlen(value) < parameter->size
               ? 0
               : err_set(err, ERR_BOUNDS,
                         "parameter %s: \"%.80s...\" is too long, expected %s",
                         parameter->name, value, parameter->expected);
}

static int take_parameter(const char *name, const char *value, int allowed, int *seen,
                          struct http_target *target, struct err *err)
{
    for (int i = 0; i < N_PARAMETERS; i++) {
        if ((parameters[i].bit & allowed) == 0 ||
            strcmp(parameters[i].name, name) != 0) {
            continue;
        }
        if ((*seen & parameters[i].bit) != 0) {
            return err_set(err, ERR_PARSE, "parameter %s: twice, expected once", name);
        }
        *seen |= parameters[i].bit;
        return take_value(&parameters[i], value, target, err);
    }
    return err_set(err, ERR_PARSE,
                   "parameter %.80s: this page has no parameter of that name", name);
}

static int take_parameters(const char *text, int allowed, struct arena *arena,
                           struct http_target *target, struct err *err)
{
    int seen = 0, rc = 0;
    if (allowed == ANYTHING) {
        return 0;
    }
    while (*text != '\0' && rc == 0) {
        size_t length = strcspn(text, "&");
        const char *equals = memchr(text, '=', length);
        size_t n_name = equals != NULL ? (size_t)(equals - text) : length;
        const char *name = decode(arena, text, n_name);
        const char *value =
            equals != NULL ? decode(arena, equals + 1, length - n_name - 1) : "";
        if (name == NULL || value == NULL) {
            return err_set(err, ERR_PARSE,
                           "parameters: a %% that is not followed by two hexadecimal "
                           "digits of a character");
        }
        if (length > 0) {
            rc = take_parameter(name, value, allowed, &seen, target, err);
        }
        text += length + (text[length] == '&');
    }
    return rc;
}

static void take_names(const struct path *path, struct arena *arena,
                       struct http_target *target)
{
    const char *const *parts = path->parts;
    switch (target->page) {
    case HTTP_TARGET_LEASE:
    case HTTP_TARGET_HISTORY:
    case HTTP_TARGET_DRAIN:
    case HTTP_TARGET_RESUME:
    case HTTP_TARGET_REBALANCE:
        target->query.name =
            arena_printf(arena, "%s/%s/%s", parts[3], parts[4], parts[5]);
        break;
    case HTTP_TARGET_LEASE_SERIES:
        target->query.name =
            arena_printf(arena, "%s/%s/%s", parts[4], parts[5], parts[6]);
        break;
    case HTTP_TARGET_SITE_SERIES:
    case HTTP_TARGET_POOL_SERIES:
    case HTTP_TARGET_NODE_SERIES:
        target->query.name = parts[4];
        break;
    case HTTP_TARGET_PLAN:
    case HTTP_TARGET_OVERVIEW:
        target->query.name = parts[3];
        break;
    case HTTP_TARGET_FILE:
        target->file = parts[path->n_parts - 1];
        break;
    case HTTP_TARGET_LEASES:
    case HTTP_TARGET_SITES:
    case HTTP_TARGET_HOSTS:
    case HTTP_TARGET_EVENTS:
    case HTTP_TARGET_STREAM:
    case HTTP_TARGET_RECLAIM:
    case HTTP_TARGET_POOLS:
    case HTTP_TARGET_RELOAD:
    case HTTP_TARGET_SERIES:
    case HTTP_TARGET_USAGE:
    case HTTP_TARGET_ABOUT:
    case HTTP_TARGET_HEALTH:
    case HTTP_TARGET_METRICS:
        break;
    }
}

static int check_period(const struct msg_query *query, struct err *err)
{
    return query->to_ms > 0 && query->to_ms <= query->from_ms
               ? err_set(err, ERR_PARSE,
                         "parameter to: it is not later than parameter from")
               : 0;
}

/* The name of its samples: the pool, then the path of the node. */
static int name_node(struct arena *arena, struct http_target *target, struct err *err)
{
    struct msg_query *query = &target->query;
    if (query->host[0] != '/') {
        return err_set(err, ERR_PARSE,
                       "parameter node: \"%s\", expected the path of a node of the "
                       "plan, as /eng/sim",
                       query->host);
    }
    query->name = arena_printf(arena, "%s%s", query->name, query->host);
    return 0;
}

int http_target_parse(const char *method, const char *uri, struct arena *arena,
                      struct http_target *target, const char **allow, struct err *err)
{
    size_t n_path = strcspn(uri, "?");
    struct path path;
    *allow = NULL;
    int rc = split_path(uri, n_path, arena, &path, err);
    if (rc == 0) {
        join_leaf(arena, &path);
        rc = find_page(method, &path, allow, err);
    }
    if (rc < 0) {
        return rc;
    }
    *target = (struct http_target){.page = pages[rc].page, .file = ""};
    target->query = (struct msg_query){.name = "",
                                       .user = "",
                                       .queue = "",
                                       .host = "",
                                       .project = "",
                                       .res_req = "",
                                       .fields = "",
                                       .by = "",
                                       .provider = "",
                                       .consumer = "",
                                       .after = ""};
    take_names(&path, arena, target);
    const char *rest = uri[n_path] == '?' ? uri + n_path + 1 : "";
    rc = take_parameters(rest, pages[rc].parameters, arena, target, err);
    if (rc < 0) {
        return rc;
    }
    return target->page == HTTP_TARGET_NODE_SERIES ? name_node(arena, target, err)
                                                   : check_period(&target->query, err);
}
