/* SPDX-License-Identifier: Apache-2.0 */
/* usage_gather.c: see usage_gather.h. */
#include "broker/io/usage_gather.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include <utlist.h>

#include "base/value.h"
#include "model/page.h"
#include "model/usage_ask.h"
#include "sys/daemon.h"
#include "sys/wake.h"

enum { FORGET_MS = 30000 };

/* A request over HTTP. */
struct asking {
    uint64_t ticket;
    struct arena arena; /* of the query */
    struct msg_query query;
    int64_t begun_ms;
    char site[NAME_SIZE]; /* asked now, or the last one that is done */
    char after[24];       /* the number of its last row; "": none */
    uint64_t request;     /* to that site; 0: none is under way */
    int64_t asked_ms;
    int n_rows_max;
    json_t *root, *rows, *missing;
    bool is_done;
    struct asking *next;
};

struct usage_gather {
    struct broker *broker;
    struct wire_server *server;
    struct http *http;
    struct wake wake;
    struct asking *askings;
    uint64_t last_ticket, last_request;
};

/* ---------------------------------------------------------------- the answer */

static void add_missing(struct asking *asking, const char *reason)
{
    json_array_append_new(asking->missing, json_pack("{s:s,s:s}", "site", asking->site,
                                                     "reason", reason));
}

static void end(struct asking *asking, bool has_more)
{
    char next[sizeof(asking->site) + sizeof(asking->after)];
    snprintf(next, sizeof(next), "%s:%s", asking->site, asking->after);
    json_object_set_new(asking->root, "next",
                        has_more ? json_string(next) : json_null());
    asking->request = 0;
    asking->is_done = true;
}

/* ---------------------------------------------------------------- asking */

static bool is_wanted(const struct msg_query *query, const char *site)
{
    size_t n_site = strlen(site), n_consumer;
    const char *consumer = msg_lease_consumer(query->name, &n_consumer);
    bool is_side = (strcspn(query->name, "/") == n_site &&
                    strncmp(query->name, site, n_site) == 0) ||
                   (n_consumer == n_site && strncmp(consumer, site, n_site) == 0);
    return page_is_named(site, query->provider) && (query->name[0] == '\0' || is_side);
}

/* False: the site cannot be asked. */
static bool ask_site(struct usage_gather *gather, struct asking *asking,
                     const struct peer *site, uint64_t session)
{
    struct msg msg = {.kind = MSG_QUERY, .session = session, .site = ""};
    struct err err;
    msg.query = asking->query;
    msg.query.request = asking->request = ++gather->last_request;
    msg.query.provider = "";
    msg.query.after = asking->after;
    msg.query.limit = asking->n_rows_max - (int)json_array_size(asking->rows);
    asking->asked_ms = daemon_now_ms();
    return session != 0 && wire_server_send(gather->server, site, &msg, &err) == 0;
}

static bool is_full(const struct asking *asking)
{
    return (int)json_array_size(asking->rows) >= asking->n_rows_max ||
           daemon_now_ms() - asking->begun_ms > USAGE_GATHER_MS;
}

/* Goes on with the site of the last rows if it has more of them, and then with those
 * behind it, until one is asked; or ends. */
static void go_on(struct usage_gather *gather, struct asking *asking)
{
    bool has_more = asking->after[0] != '\0';
    struct peer site;
    uint64_t session;
    while (broker_site_after(gather->broker, asking->site, has_more, &site, &session)) {
        bool is_wanted_site = is_wanted(&asking->query, site.name);
        if (is_wanted_site && is_full(asking)) {
            end(asking, true);
            return;
        }
        if (strcmp(asking->site, site.name) != 0) {
            snprintf(asking->site, sizeof(asking->site), "%s", site.name);
            asking->after[0] = '\0';
        }
        if (is_wanted_site && ask_site(gather, asking, &site, session)) {
            return;
        }
        if (is_wanted_site) {
            add_missing(asking, "away");
        }
        asking->after[0] = '\0';
        has_more = false;
    }
    end(asking, false);
}

static bool is_late(const struct asking *asking, int64_t now_ms)
{
    return asking->request != 0 && now_ms - asking->asked_ms >= USAGE_GATHER_SITE_MS;
}

static int64_t next_ms(const struct usage_gather *gather)
{
    const struct asking *asking;
    int64_t at_ms = INT64_MAX;
    LL_FOREACH (gather->askings, asking) {
        int64_t until_ms = asking->is_done ? asking->begun_ms + FORGET_MS
                                           : asking->asked_ms + USAGE_GATHER_SITE_MS;
        at_ms = until_ms < at_ms ? until_ms : at_ms;
    }
    return at_ms;
}

/* ---------------------------------------------------------------- askings */

static void forget(struct usage_gather *gather, struct asking *asking)
{
    LL_DELETE(gather->askings, asking);
    json_decref(asking->root);
    arena_release(&asking->arena);
    free(asking);
}

/* Answers that are there are taken, and what is late is given up. */
static void look(void *arg)
{
    struct usage_gather *gather = arg;
    int64_t now_ms = daemon_now_ms();
    struct asking *asking, *next;
    LL_FOREACH_SAFE(gather->askings, asking, next)
    {
        if (is_late(asking, now_ms)) {
            add_missing(asking, "no answer");
            asking->after[0] = '\0';
            go_on(gather, asking);
        } else if (asking->is_done && now_ms - asking->begun_ms >= FORGET_MS) {
            forget(gather, asking);
        }
    }
    if (gather->http != NULL) {
        http_resume(gather->http);
    }
    wake_set(&gather->wake, next_ms(gather));
}

static struct asking *make(struct usage_gather *gather, const struct msg_query *query)
{
    struct asking *asking = mem_alloc(1, sizeof(*asking));
    struct arena *arena = &asking->arena;
    arena_init(arena);
    asking->query = (struct msg_query){.kind = QUERY_USAGE,
                                       .name = arena_str(arena, query->name),
                                       .user = arena_str(arena, query->user),
                                       .queue = arena_str(arena, query->queue),
                                       .host = "",
                                       .project = arena_str(arena, query->project),
                                       .provider = arena_str(arena, query->provider),
                                       .consumer = "",
                                       .res_req = "",
                                       .after = "",
                                       .fields = "",
                                       .by = arena_str(arena, query->by)};
    asking->begun_ms = daemon_now_ms();
    usage_ask_period(query, asking->begun_ms, &asking->query.from_ms,
                     &asking->query.to_ms);
    asking->n_rows_max = query->limit > 0 ? query->limit : PAGE_ROWS_MAX;
    asking->rows = json_array();
    asking->missing = json_array();
    asking->root = json_object();
    LL_PREPEND(gather->askings, asking);
    return asking;
}

static void set_instant(json_t *object, const char *key, int64_t at_ms)
{
    char text[32];
    value_format_instant(at_ms, text);
    json_object_set_new(object, key, json_string(text));
}

static void begin_answer(struct asking *asking)
{
    json_object_set_new(asking->root, "schema_version", json_integer(PAGE_SCHEMA));
    json_object_set_new(asking->root, "usage", asking->rows);
    set_instant(asking->root, "from", asking->query.from_ms);
    set_instant(asking->root, "to", asking->query.to_ms);
    json_object_set_new(asking->root, "missing", asking->missing);
}

/* "SITE:ROW" */
static int read_after(const char *after, struct asking *asking, struct err *err)
{
    const char *colon = strchr(after, ':');
    size_t n_site = strcspn(after, ":");
    if (after[0] == '\0') {
        return 0;
    }
    if (colon == NULL || n_site == 0 || n_site >= sizeof(asking->site) ||
        strlen(colon) > sizeof(asking->after) ||
        strspn(colon + 1, "0123456789") != strlen(colon + 1)) {
        return err_set(err, ERR_PARSE,
                       "parameter after: \"%.80s\", expected `next` of the page before",
                       after);
    }
    memcpy(asking->site, after, n_site);
    snprintf(asking->after, sizeof(asking->after), "%s", colon + 1);
    return 0;
}

static int check_site(const struct usage_gather *gather, const char *name,
                      struct err *err)
{
    struct peer site;
    uint64_t session;
    bool is_known = name[0] == '\0' ||
                    (broker_site_after(gather->broker, name, true, &site, &session) &&
                     strcmp(site.name, name) == 0);
    return is_known ? 0
                    : err_set(err, ERR_NOT_FOUND, "site \"%s\": no such site", name);
}

int usage_gather_begin(struct usage_gather *gather, const struct msg_query *query,
                       uint64_t *ticket, struct err *err)
{
    struct asking *asking;
    int count;
    LL_COUNT(gather->askings, asking, count);
    if (count >= USAGE_GATHERS_MAX) {
        return err_set(
            err, ERR_FULL,
            "too many requests of usage are open, expected fewer; try later");
    }
    asking = make(gather, query);
    begin_answer(asking);
    int rc = check_site(gather, query->provider, err);
    rc = rc == 0 ? read_after(query->after, asking, err) : rc;
    if (rc < 0) {
        forget(gather, asking);
        return rc;
    }
    asking->ticket = *ticket = ++gather->last_ticket;
    go_on(gather, asking);
    wake_set(&gather->wake, next_ms(gather));
    return 0;
}

char *usage_gather_take(struct usage_gather *gather, uint64_t ticket)
{
    struct asking *asking;
    LL_SEARCH_SCALAR(gather->askings, asking, ticket, ticket);
    if (asking == NULL || !asking->is_done) {
        return NULL;
    }
    char *text = json_dumps(asking->root, JSON_COMPACT);
    if (text == NULL) {
        abort(); /* out of memory */
    }
    forget(gather, asking);
    return text;
}

/* ---------------------------------------------------------------- answers of sites */

/* Of several sites the latest instant. */
static void take_merged(struct asking *asking, json_t *merged)
{
    const char *known =
        json_string_value(json_object_get(asking->root, "merged_before"));
    const char *text = json_string_value(merged);
    if (text != NULL && (known == NULL || strcmp(text, known) > 0)) {
        json_object_set(asking->root, "merged_before", merged);
    }
}

/* False: it is no page of a listing. */
static bool take_rows(struct asking *asking, const char *json)
{
    json_t *page = json != NULL ? json_loads(json, 0, NULL) : NULL, *row;
    json_t *rows = json_object_get(page, "usage");
    bool is_page = json_is_array(rows);
    size_t at;
    json_array_foreach(rows, at, row)
    {
        if (json_is_object(row)) {
            json_object_set_new(row, "site", json_string(asking->site));
            json_array_append(asking->rows, row);
        }
    }
    take_merged(asking, json_object_get(page, "merged_before"));
    json_decref(page);
    return is_page;
}

static void take_reply(struct usage_gather *gather, struct asking *asking,
                       const struct msg_reply *reply)
{
    asking->request = 0;
    asking->after[0] = '\0';
    if (reply->code < 0) {
        add_missing(asking, reply->text);
    } else if (!take_rows(asking, reply->json)) {
        add_missing(asking, "no answer");
    } else if (strspn(reply->next, "0123456789") == strlen(reply->next)) {
        snprintf(asking->after, sizeof(asking->after), "%s", reply->next);
    }
    go_on(gather, asking);
}

bool usage_gather_hear(struct usage_gather *gather, const struct peer *from,
                       const struct msg *msg)
{
    struct asking *asking;
    if (msg->kind != MSG_REPLY || from->kind != PEER_SITE || from->name == NULL ||
        msg->reply.request == 0 || msg->reply.request > gather->last_request) {
        return false;
    }
    LL_SEARCH_SCALAR(gather->askings, asking, request, msg->reply.request);
    if (asking != NULL && strcmp(asking->site, from->name) == 0) {
        take_reply(gather, asking, &msg->reply);
        wake_set(&gather->wake, asking->is_done ? daemon_now_ms() : next_ms(gather));
    }
    return true;
}

/* ---------------------------------------------------------------- life */

struct usage_gather *usage_gather_new(zloop_t *loop, struct broker *broker,
                                      struct wire_server *server)
{
    struct usage_gather *gather = mem_alloc(1, sizeof(*gather));
    gather->broker = broker;
    gather->server = server;
    wake_init(&gather->wake, loop, look, gather);
    return gather;
}

void usage_gather_free(struct usage_gather *gather)
{
    if (gather != NULL) {
        while (gather->askings != NULL) {
            forget(gather, gather->askings);
        }
        wake_release(&gather->wake);
        free(gather);
    }
}

void usage_gather_serve(struct usage_gather *gather, struct http *http)
{
    gather->http = http;
}
