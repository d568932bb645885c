/* SPDX-License-Identifier: Apache-2.0 */
/* http_feed.c: see http_feed.h. In a round a reader gets events, then the leases and
 * the sites that have changed since the last round, a page at a time. */
#include "broker/io/http_feed.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sys/json.h"
#include "sys/log.h"

enum { ROWS_PER_PIECE = 50 };

enum phase { PHASE_HELLO, PHASE_EVENTS, PHASE_LEASES, PHASE_SITES };

struct http_feed {
    zloop_t *loop;
    struct broker *broker;
    struct store *store;
    struct http *http;
    int timer_id; /* -1: none */
    uint64_t revision;
};

/* ---------------------------------------------------------------- life */

static int on_look(zloop_t *loop, int timer_id, void *arg)
{
    (void)loop;
    (void)timer_id;
    struct http_feed *feed = arg;
    if (http_count_streams(feed->http) > 0) {
        feed->revision = broker_look(feed->broker);
        http_wake(feed->http);
    }
    return 0;
}

struct http_feed *http_feed_new(zloop_t *loop, struct broker *broker,
                                struct store *store)
{
    struct http_feed *feed = mem_alloc(1, sizeof(*feed));
    feed->loop = loop;
    feed->broker = broker;
    feed->store = store;
    feed->timer_id = -1;
    return feed;
}

void http_feed_serve(struct http_feed *feed, struct http *http)
{
    feed->http = http;
    feed->timer_id = zloop_timer(feed->loop, HTTP_FEED_MS, 0, on_look, feed);
}

void http_feed_free(struct http_feed *feed)
{
    if (feed != NULL && feed->timer_id != -1) {
        zloop_timer_end(feed->loop, feed->timer_id);
    }
    free(feed);
}

/* ---------------------------------------------------------------- pieces */

static void print_message(FILE *to, const char *event, int64_t id, const char *json)
{
    if (id >= 0) {
        fprintf(to, "id: %" PRId64 "\n", id);
    }
    fprintf(to, "event: %s\ndata: %s\n\n", event, json);
}

static void print_rows(FILE *to, const char *event, const struct value *rows,
                       struct http_stream *stream)
{
    for (const struct value *row = rows->first; row != NULL; row = row->next) {
        const struct value *id =
            strcmp(event, "event") == 0 ? value_find(row, "id") : NULL;
        char *json = json_render(row);
        print_message(to, event, id != NULL ? id->number : -1, json);
        free(json);
        if (id != NULL) {
            stream->last_event = id->number;
        }
    }
}

/* True if that was all. */
static bool print_events(struct http_feed *feed, struct http_stream *stream, FILE *to)
{
    struct arena arena;
    struct value *value;
    struct err err;
    const char *next = "";
    arena_init(&arena);
    struct msg_query query = {.kind = QUERY_EVENTS,
                              .name = "",
                              .after =
                                  arena_printf(&arena, "%" PRId64, stream->last_event),
                              .limit = ROWS_PER_PIECE};
    if (store_history_read(feed->store, &query, &arena, &value, &next, &err) < 0) {
        log_line(LOG_LEVEL_ERROR, "events for a stream: %s", err.text);
    } else {
        print_rows(to, "event", value_find(value, "events"), stream);
    }
    bool is_all = next[0] == '\0';
    arena_release(&arena);
    return is_all;
}

static bool print_changed(struct http_feed *feed, struct http_stream *stream, FILE *to)
{
    bool is_leases = stream->phase == PHASE_LEASES;
    struct arena arena;
    const char *next = "";
    arena_init(&arena);
    struct msg_query query = {.kind = is_leases ? QUERY_LEASES : QUERY_SITES,
                              .name = "",
                              .after = arena_str(&arena, stream->after),
                              .limit = ROWS_PER_PIECE,
                              .with_ended = true,
                              .since = stream->seen + 1};
    struct value *page = broker_view(feed->broker, &arena, &query, 0, &next);
    print_rows(to, is_leases ? "lease" : "site",
               value_find(page, is_leases ? "leases" : "sites"), stream);
    snprintf(stream->after, sizeof(stream->after), "%s", next);
    bool is_all = next[0] == '\0';
    arena_release(&arena);
    return is_all;
}

/* One page, or the step to the next phase; false if the round is over. */
static bool go_round(struct http_feed *feed, struct http_stream *stream, FILE *to)
{
    switch (stream->phase) {
    case PHASE_EVENTS:
        if (print_events(feed, stream, to)) {
            if (stream->seen == feed->revision) {
                return false;
            }
            stream->upto = feed->revision;
            stream->after[0] = '\0';
            stream->phase = PHASE_LEASES;
        }
        return true;
    case PHASE_LEASES:
        stream->phase = print_changed(feed, stream, to) ? PHASE_SITES : PHASE_LEASES;
        return true;
    case PHASE_SITES:
    default:
        if (print_changed(feed, stream, to)) {
            stream->seen = stream->upto;
            stream->phase = PHASE_EVENTS;
            return false;
        }
        return true;
    }
}

int http_feed_begin(struct http_feed *feed, int64_t after, struct http_stream *stream,
                    struct err *err)
{
    int64_t latest = 0;
    int rc = store_history_last(feed->store, &latest, err);
    feed->revision = broker_look(feed->broker);
    *stream = (struct http_stream){.phase = PHASE_HELLO, .seen = feed->revision};
    stream->last_event = after >= 0 && after < latest ? after : latest;
    return rc;
}

bool http_feed_is_new(const struct http_stream *stream)
{
    return stream->phase == PHASE_HELLO;
}

char *http_feed_next(struct http_feed *feed, struct http_stream *stream,
                     const char *hello, size_t *length)
{
    char *text = NULL;
    FILE *to = open_memstream(&text, length);
    if (to == NULL) {
        abort(); /* out of memory */
    }
    if (stream->phase == PHASE_HELLO) {
        print_message(to, "hello", stream->last_event, hello);
        stream->phase = PHASE_EVENTS;
    } else {
        while (ftell(to) == 0 && go_round(feed, stream, to)) {
        }
    }
    if (fclose(to) != 0) {
        abort();
    }
    if (*length == 0) {
        free(text);
        return NULL;
    }
    return text;
}
