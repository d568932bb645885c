/* SPDX-License-Identifier: Apache-2.0 */
/* site_http.c: see site_http.h. */
#include "site/io/site_http.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "site/io/site_metrics.h"
#include "sys/daemon.h"
#include "sys/http/http.h"
#include "sys/promtext.h"

struct site_http {
    const struct site *site;
    const struct shell *shell;
    char name[NAME_SIZE];
    char *spool;
    struct http *http;
};

/* `message` is one of ours: nothing in it is to be escaped. */
static void complain(void *arg, int status, const char *message,
                     struct http_answer *answer)
{
    (void)arg;
    const char *code = status == 404   ? "not_found"
                       : status == 405 ? "method_not_allowed"
                                       : "bad_request";
    size_t size = strlen(message) + 64;
    answer->status = status;
    answer->type = "application/json";
    answer->text = mem_alloc(size, 1);
    answer->length = (size_t)snprintf(
        answer->text, size, "{\"error\":{\"code\":\"%s\",\"message\":\"%s\"}}", code,
        message);
}

static bool refuse(void *arg, const struct http_request *request,
                   struct http_answer *answer)
{
    (void)request;
    complain(arg, 405, "only GET and HEAD are supported", answer);
    answer->allow = "GET, HEAD";
    return true;
}

static void answer_request(void *arg, const struct http_request *request,
                           struct http_answer *answer)
{
    static const char well[] = "{\"status\":\"ok\"}";
    const struct site_http *http = arg;
    answer->status = 200;
    if (strcmp(request->uri, "/metrics") == 0) {
        answer->type = promtext_type;
        answer->text = site_metrics_render(http->site, http->name, http->spool,
                                           shell_commits(http->shell), daemon_now_ms(),
                                           &answer->length);
    } else if (strcmp(request->uri, "/healthz") == 0) {
        answer->type = "application/json";
        answer->constant = well;
        answer->length = sizeof(well) - 1;
    } else {
        complain(arg, 404, "no such page, expected /metrics or /healthz", answer);
    }
}

int site_http_new(zloop_t *loop, const struct site_setup *setup,
                  const struct site *site, const struct shell *shell,
                  struct site_http **http, struct err *err)
{
    struct site_http *made = mem_alloc(1, sizeof(*made));
    made->site = site;
    made->shell = shell;
    made->spool = strdup(setup->spool);
    snprintf(made->name, sizeof(made->name), "%s", setup->config.name);
    const struct http_handler handler = {
        .arg = made, .refuse = refuse, .answer = answer_request, .complain = complain};
    if (http_new(loop, setup->http_host, setup->http_port, &handler, &made->http, err) <
        0) {
        site_http_free(made);
        return err->code;
    }
    *http = made;
    return 0;
}

void site_http_free(struct site_http *http)
{
    if (http != NULL) {
        http_free(http->http);
        free(http->spool);
        free(http);
    }
}
