/* SPDX-License-Identifier: Apache-2.0 */
/* overviews.c: see overviews.h. */
#include "broker/io/overviews.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "sys/daemon.h"
#include "sys/wake.h"

/* Requests of usage_gather.h count from 1 in the same sessions. */
static const uint64_t first_request = UINT64_C(1) << 48;

/* One site: asked, or answered. */
struct overview {
    char site[NAME_SIZE]; /* "": unused */
    uint64_t request;     /* under way; 0: answered */
    int64_t at_ms;        /* of the question, then of the answer */
    char *json;           /* NULL: the answer is `err` */
    struct err err;
};

struct overviews {
    struct broker *broker;
    struct wire_server *server;
    struct http *http;
    struct wake wake;
    struct overview sites[OVERVIEWS_MAX];
    uint64_t last_request;
};

/* ---------------------------------------------------------------- the table */

static int64_t end_ms(const struct overview *overview)
{
    return overview->site[0] == '\0' ? INT64_MAX
           : overview->request != 0  ? overview->at_ms + OVERVIEWS_WAIT_MS
                                     : overview->at_ms + OVERVIEWS_KEEP_MS;
}

static int64_t next_ms(const struct overviews *overviews)
{
    int64_t at_ms = INT64_MAX;
    for (int i = 0; i < OVERVIEWS_MAX; i++) {
        int64_t end = end_ms(&overviews->sites[i]);
        at_ms = end < at_ms ? end : at_ms;
    }
    return at_ms;
}

static void clear(struct overview *overview)
{
    free(overview->json);
    *overview = (struct overview){.site = ""};
}

static struct overview *find(struct overviews *overviews, const char *site)
{
    for (int i = 0; i < OVERVIEWS_MAX; i++) {
        if (strcmp(overviews->sites[i].site, site) == 0) {
            return &overviews->sites[i];
        }
    }
    return NULL;
}

static void end(struct overview *overview, char *json, const struct err *err)
{
    overview->request = 0;
    overview->at_ms = daemon_now_ms();
    overview->json = json;
    overview->err = *err;
}

/* ---------------------------------------------------------------- asking */

static void ask(struct overviews *overviews, struct overview *overview,
                const struct peer *site, uint64_t session)
{
    static const struct msg_query query = {.kind = QUERY_OVERVIEW,
                                           .name = "",
                                           .user = "",
                                           .queue = "",
                                           .host = "",
                                           .project = "",
                                           .provider = "",
                                           .consumer = "",
                                           .res_req = "",
                                           .after = "",
                                           .fields = "",
                                           .by = ""};
    struct msg msg = {.kind = MSG_QUERY, .session = session, .site = ""};
    struct err err = {.text = ""};
    snprintf(overview->site, sizeof(overview->site), "%s", site->name);
    overview->at_ms = daemon_now_ms();
    msg.query = query;
    msg.query.request = overview->request = ++overviews->last_request;
    if (session == 0 || wire_server_send(overviews->server, site, &msg, &err) < 0) {
        err_set(&err, ERR_AWAY, "site \"%s\": not connected", site->name);
        end(overview, NULL, &err);
    }
}

/* What has been kept for long enough, and what is late. True: something was late. */
static bool expire(struct overviews *overviews)
{
    int64_t now_ms = daemon_now_ms();
    bool is_late = false;
    for (int i = 0; i < OVERVIEWS_MAX; i++) {
        struct overview *overview = &overviews->sites[i];
        struct err err = {.text = ""};
        if (end_ms(overview) > now_ms) {
            continue;
        }
        if (overview->request != 0) {
            err_set(&err, ERR_AWAY, "site \"%s\": it does not answer", overview->site);
            end(overview, NULL, &err);
            is_late = true;
        } else {
            clear(overview);
        }
    }
    return is_late;
}

static void look(void *arg)
{
    struct overviews *overviews = arg;
    expire(overviews);
    if (overviews->http != NULL) {
        http_resume(overviews->http);
    }
    wake_set(&overviews->wake, next_ms(overviews));
}

int overviews_get(struct overviews *overviews, const char *site, char **json,
                  struct err *err)
{
    struct peer peer;
    uint64_t session;
    expire(overviews);
    struct overview *overview = find(overviews, site);
    if (overview == NULL) {
        if (!broker_site_after(overviews->broker, site, true, &peer, &session) ||
            strcmp(peer.name, site) != 0) {
            return err_set(err, ERR_NOT_FOUND, "site \"%s\": no such site", site);
        }
        overview = find(overviews, "");
        if (overview == NULL) {
            return err_set(err, ERR_FULL,
                           "too many sites are being asked, expected fewer; try later");
        }
        ask(overviews, overview, &peer, session);
    }
    wake_set(&overviews->wake, next_ms(overviews));
    *json = overview->json != NULL ? strdup(overview->json) : NULL;
    if (overview->request != 0 || overview->json != NULL) {
        return 0;
    }
    *err = overview->err;
    return err->code;
}

/* ---------------------------------------------------------------- answers */

/* The site's object under the site's own name, whatever the site calls itself; NULL: it
 * is no object. */
static char *read_answer(const char *json, const char *site)
{
    json_t *root = json != NULL ? json_loads(json, JSON_REJECT_DUPLICATES, NULL) : NULL;
    char *text = NULL;
    if (json_is_object(root)) {
        json_object_set_new(root, "site", json_string(site));
        text = json_dumps(root, JSON_COMPACT);
    }
    json_decref(root);
    return text;
}

bool overviews_hear(struct overviews *overviews, const struct peer *from,
                    const struct msg *msg)
{
    const struct msg_reply *reply = &msg->reply;
    if (msg->kind != MSG_REPLY || from->kind != PEER_SITE || from->name == NULL ||
        reply->request <= first_request || reply->request > overviews->last_request) {
        return false;
    }
    struct overview *overview = find(overviews, from->name);
    if (overview == NULL || overview->request != reply->request) {
        return true; /* late */
    }
    struct err err = {.text = ""};
    char *json = reply->code < 0 ? NULL : read_answer(reply->json, from->name);
    if (reply->code < 0) {
        err_set(&err, reply->code, "site \"%s\": %s", from->name, reply->text);
    } else if (json == NULL) {
        err_set(&err, ERR_AWAY, "site \"%s\": it does not answer", from->name);
    }
    end(overview, json, &err);
    wake_set(&overviews->wake, daemon_now_ms());
    return true;
}

/* ---------------------------------------------------------------- life */

struct overviews *overviews_new(zloop_t *loop, struct broker *broker,
                                struct wire_server *server)
{
    struct overviews *overviews = mem_alloc(1, sizeof(*overviews));
    overviews->broker = broker;
    overviews->server = server;
    overviews->last_request = first_request;
    wake_init(&overviews->wake, loop, look, overviews);
    return overviews;
}

void overviews_free(struct overviews *overviews)
{
    if (overviews != NULL) {
        for (int i = 0; i < OVERVIEWS_MAX; i++) {
            clear(&overviews->sites[i]);
        }
        wake_release(&overviews->wake);
        free(overviews);
    }
}

void overviews_serve(struct overviews *overviews, struct http *http)
{
    overviews->http = http;
}
