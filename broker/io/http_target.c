/* SPDX-License-Identifier: Apache-2.0 */
/* http_target.c: see http_target.h. */
#include "broker/io/http_target.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum {
    PARTS_MAX = 8, /* of a path; more have no page */
    PROVIDER = 1,
    CONSUMER = 2,
    STATE = 4,
    LIMIT = 8,
    AFTER = 16,        /* a lease's id, a site's name */
    AFTER_NUMBER = 32, /* an event's id */
};

/* "*" stands for any part. */
static const struct {
    const char *path;
    enum http_target_page page;
    int parameters;
    bool is_unbuilt;
} pages[] = {
    {"api/v1/leases", HTTP_TARGET_LEASES, PROVIDER | CONSUMER | STATE | LIMIT | AFTER,
     false},
    {"api/v1/leases/*/*/*", HTTP_TARGET_LEASE, 0, false},
    {"api/v1/leases/*/*/*/history", HTTP_TARGET_HISTORY, LIMIT | AFTER_NUMBER, false},
    {"api/v1/sites", HTTP_TARGET_SITES, LIMIT | AFTER, false},
    {"api/v1/events", HTTP_TARGET_EVENTS, LIMIT | AFTER_NUMBER, false},
    {"healthz", HTTP_TARGET_HEALTH, 0, false},
    {"metrics", HTTP_TARGET_METRICS, 0, false},
    {"", HTTP_TARGET_HEALTH, 0, true},
    {"api/v1/hosts", HTTP_TARGET_HEALTH, 0, true},
    {"api/v1/pools", HTTP_TARGET_HEALTH, 0, true},
    {"api/v1/plans/*", HTTP_TARGET_HEALTH, 0, true},
    {"api/v1/usage", HTTP_TARGET_HEALTH, 0, true},
    {"api/v1/stream", HTTP_TARGET_HEALTH, 0, true},
    {"api/v1/openapi.json", HTTP_TARGET_HEALTH, 0, true},
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

/* NULL where an escape is none, or hides a control character: no name has one. */
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

/* The row of `pages`, or a negative error. */
static int find_page(const struct path *path, struct err *err)
{
    for (int i = 0; i < N_PAGES; i++) {
        if (fits(pages[i].path, path)) {
            return pages[i].is_unbuilt
                       ? err_set(err, ERR_UNBUILT, "this page is not supported yet")
                       : i;
        }
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

static int take_limit(const char *value, struct msg_query *query, struct err *err)
{
    int64_t limit = 0;
    int rc = read_number("limit", value, 1, PAGE_ROWS_MAX, "a number from 1 to 500",
                         &limit, err);
    query->limit = (int)limit;
    return rc;
}

static int take_after_number(const char *value, struct msg_query *query,
                             struct err *err)
{
    int64_t number;
    query->after = value;
    return read_number("after", value, 0, INT64_MAX, "the id of an event", &number,
                       err);
}

static int take_text(const char *name, const char *value, size_t size,
                     const char *expected, const char **text, struct err *err)
{
    *text = value;
    return strlen(value) < size
               ? 0
               : err_set(err, ERR_BOUNDS,
                         "parameter %s: \"%.80s...\" is too long, expected %s", name,
                         value, expected);
}

static int take_after(const char *value, struct msg_query *query, struct err *err)
{
    return take_text("after", value, LEASE_ID_SIZE, "`next` of the page before",
                     &query->after, err);
}

static int take_provider(const char *value, struct msg_query *query, struct err *err)
{
    return take_text("provider", value, NAME_SIZE, "the name of a site",
                     &query->provider, err);
}

static int take_consumer(const char *value, struct msg_query *query, struct err *err)
{
    return take_text("consumer", value, NAME_SIZE, "the name of a site",
                     &query->consumer, err);
}

static int take_state(const char *value, struct msg_query *query, struct err *err)
{
    for (int state = LEASE_PENDING; state <= LEASE_ENDED; state++) {
        if (strcmp(value, msg_lease_state_name((enum lease_state)state)) == 0) {
            query->states = 1 << state;
            return 0;
        }
    }
    return err_set(err, ERR_PARSE,
                   "parameter state: \"%.80s\", expected pending, active, inactive, "
                   "draining or ended",
                   value);
}

static const struct {
    const char *name;
    int bit;
    int (*take)(const char *value, struct msg_query *query, struct err *err);
} parameters[] = {
    {"provider", PROVIDER, take_provider}, {"consumer", CONSUMER, take_consumer},
    {"state", STATE, take_state},          {"limit", LIMIT, take_limit},
    {"after", AFTER, take_after},          {"after", AFTER_NUMBER, take_after_number},
};
enum { N_PARAMETERS = sizeof(parameters) / sizeof(parameters[0]) };

static int take_parameter(const char *name, const char *value, int allowed, int *seen,
                          struct msg_query *query, struct err *err)
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
        return value[0] == '\0' ? 0 : parameters[i].take(value, query, err);
    }
    return err_set(err, ERR_PARSE, "parameter %.80s: this page has none of that name",
                   name);
}

static int take_parameters(const char *text, int allowed, struct arena *arena,
                           struct msg_query *query, struct err *err)
{
    int seen = 0, rc = 0;
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
            rc = take_parameter(name, value, allowed, &seen, query, err);
        }
        text += length + (text[length] == '&');
    }
    return rc;
}

int http_target_parse(const char *uri, struct arena *arena, struct http_target *target,
                      struct err *err)
{
    size_t n_path = strcspn(uri, "?");
    struct path path;
    int rc = split_path(uri, n_path, arena, &path, err);
    if (rc == 0) {
        rc = find_page(&path, err);
    }
    if (rc < 0) {
        return rc;
    }
    target->page = pages[rc].page;
    target->query = (struct msg_query){.name = "",
                                       .user = "",
                                       .queue = "",
                                       .host = "",
                                       .provider = "",
                                       .consumer = "",
                                       .after = ""};
    if (target->page == HTTP_TARGET_LEASE || target->page == HTTP_TARGET_HISTORY) {
        target->query.name = arena_printf(arena, "%s/%s/%s", path.parts[3],
                                          path.parts[4], path.parts[5]);
    }
    const char *rest = uri[n_path] == '?' ? uri + n_path + 1 : "";
    return take_parameters(rest, pages[rc].parameters, arena, &target->query, err);
}
