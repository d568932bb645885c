/* SPDX-License-Identifier: Apache-2.0 */
/* web.c: see web.h. */
#include "broker/io/web.h"

#include <stdlib.h>

#include "base/arena.h"
#include "broker/io/http_page.h"
#include "broker/io/usage_gather.h"
#include "sys/daemon.h"

struct web {
    struct http_page_source source;
    struct http_access *access;
    struct http_feed *feed;
    struct metrics_thread *metrics;
    struct http *http;
};

static int open_port(zloop_t *loop, const struct broker_setup *setup, struct web *web,
                     struct err *err)
{
    const struct http_handler handler = {
        .arg = &web->source,
        .hosts = setup->http_hosts,
        .n_hosts = setup->n_http_hosts,
        .refuse = http_page_refuse,
        .answer = http_page_answer,
        .complain = http_page_complain,
        .stream = http_page_stream,
    };
    int rc =
        http_new(loop, setup->http_host, setup->http_port, &handler, &web->http, err);
    if (rc == 0 && web->source.hub != NULL) {
        http_feed_serve(web->feed, web->http);
        metrics_thread_serve(web->metrics, web->http);
        usage_gather_serve(hub_usage(web->source.hub), web->http);
        overviews_serve(hub_overviews(web->source.hub), web->http);
    }
    return rc;
}

int web_new(zloop_t *loop, const struct broker_setup *setup, struct broker *broker,
            struct store *store, struct hub *hub, struct web **web, struct err *err)
{
    struct web *made = mem_alloc(1, sizeof(*made));
    *web = made;
    int rc = http_access_load(setup, &made->access, err);
    if (rc < 0 || setup->http_host == NULL) {
        return rc;
    }
    made->feed = hub != NULL ? http_feed_new(loop, broker, store) : NULL;
    made->metrics = hub != NULL ? metrics_thread_new(loop) : NULL;
    made->source = (struct http_page_source){
        .broker = broker,
        .store = store,
        .hub = hub,
        .state = setup->state,
        .feed = made->feed,
        .metrics = made->metrics,
        .access = &made->access,
        .leader = "",
        .started_ms = daemon_now_ms(),
        .sample_interval_ms = setup->sample_interval_ms,
    };
    return open_port(loop, setup, made, err);
}

void web_free(struct web *web)
{
    if (web == NULL) {
        return;
    }
    http_free(web->http);
    http_feed_free(web->feed);
    metrics_thread_free(web->metrics);
    http_access_free(web->access);
    free(web);
}

struct http_access **web_access(struct web *web)
{
    return &web->access;
}

void web_follow(struct web *web, struct broker *copy, const char *leader)
{
    web->source.broker = copy;
    web->source.leader = leader;
}
