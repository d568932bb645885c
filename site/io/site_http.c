/* SPDX-License-Identifier: Apache-2.0 */
/* site_http.c: see site_http.h. Labels of metrics are names of the configuration:
 * queues, and words. Zeros are shown. */
#include "site/io/site_http.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/value.h"
#include "sched/pending/pending.h"
#include "sys/daemon.h"
#include "sys/http/http.h"
#include "sys/promtext.h"

/* All rows of a listing, page after page. */
typedef void (*row_fn)(void *arg, const struct value *row);
static void for_rows(struct site *site, enum query_kind kind, const char *name,
                     int64_t now_ms, row_fn fn, void *arg)
{
    struct msg_query query = {.kind = kind,
                              .name = "",
                              .user = "",
                              .queue = "",
                              .host = "",
                              .res_req = "",
                              .provider = "",
                              .consumer = "",
                              .after = ""};
    struct arena arena;
    const char *next;
    arena_init(&arena);
    do {
        struct value *page = site_view(site, &arena, &query, now_ms, &next);
        for (const struct value *row = value_find(page, name)->first; row != NULL;
             row = row->next) {
            fn(arg, row);
        }
        query.after = next;
    } while (next[0] != '\0');
    arena_release(&arena);
}

/* ---------------------------------------------------------------- queues */

static void print_queue(void *arg, const struct value *row)
{
    static const char *const states[] = {"pend", "run", "susp"};
    FILE *to = arg;
    for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
        promtext_begin(to, "sublet_queue_slots", "queue",
                       value_find(row, "queue")->text);
        fprintf(to, ",state=\"%s\"} %" PRId64 "\n", states[i],
                value_find(row, states[i])->number);
    }
}

/* ---------------------------------------------------------------- hosts */

enum { OWN_UP, OWN_AWAY, BORROWED_UP, BORROWED_AWAY, N_COUNTS };

/* A host that is full is up. */
static void count_host(void *arg, const struct value *row)
{
    int *counts = arg;
    const struct value *lease = value_find(row, "lease");
    bool is_borrowed = lease != NULL && lease->kind == VALUE_TEXT;
    bool is_away = strcmp(value_find(row, "status")->text, "unavail") == 0;
    counts[(is_borrowed ? BORROWED_UP : OWN_UP) + is_away]++;
}

static void print_hosts(FILE *to, const int *counts)
{
    static const char *const labels[N_COUNTS] = {
        "kind=\"own\",status=\"ok\"", "kind=\"own\",status=\"unavail\"",
        "kind=\"borrowed\",status=\"ok\"", "kind=\"borrowed\",status=\"unavail\""};
    for (int i = 0; i < N_COUNTS; i++) {
        fprintf(to, "sublet_hosts{%s} %d\n", labels[i], counts[i]);
    }
}

/* ---------------------------------------------------------------- reasons */

static void print_reasons(FILE *to, const struct site *site)
{
    int64_t counts[REASONS];
    site_count_reasons(site, counts);
    for (int i = 0; i < REASONS; i++) {
        if (i != REASON_STARTED) {
            fprintf(to, "sublet_pending_jobs{reason=\"%s\"} %" PRId64 "\n",
                    pending_reason_name((enum pending_reason)i), counts[i]);
        }
    }
}

/* ---------------------------------------------------------------- the ledger */

static void print_slot_seconds(void *arg, const struct usage_row *row)
{
    const struct {
        const char *use;
        int64_t slot_ms;
    } uses[] = {{"held", row->held_ms}, {"used", row->used_ms}, {"idle", row->idle_ms}};
    FILE *to = arg;
    for (size_t i = 0; i < sizeof(uses) / sizeof(uses[0]); i++) {
        promtext_begin(to, "sublet_usage_slot_seconds_total", "lease", row->lease);
        fprintf(to, ",side=\"%s\",use=\"%s\"} %" PRId64 ".%03d\n",
                usage_side_name(row->side), uses[i].use, uses[i].slot_ms / 1000,
                (int)(uses[i].slot_ms % 1000));
    }
}

static void print_usage(FILE *to, struct usage_store *usage, int64_t now_ms)
{
    promtext_head(to, "sublet_usage_slot_seconds_total", "counter",
                  "Slot time of leases on the side of this site, booked since the "
                  "start.");
    usage_store_each_total(usage, now_ms, print_slot_seconds, to);
}

/* ---------------------------------------------------------------- all metrics */

struct site_http {
    struct site *site;
    const struct shell *shell;
    struct usage_store *usage;
    char name[NAME_SIZE];
    char *spool;
    struct http *http;
};

static char *render(const struct site_http *http, int64_t now_ms, size_t *length)
{
    struct site *site = http->site;
    char *text = NULL;
    int counts[N_COUNTS] = {0};
    FILE *to = open_memstream(&text, length);
    if (to == NULL) {
        abort(); /* out of memory */
    }
    promtext_head(to, "sublet_broker_up", "gauge",
                  "1 while the broker answers this site.");
    fprintf(to, "sublet_broker_up %d\n", site_is_connected(site));
    promtext_head(to, "sublet_queue_slots", "gauge",
                  "Slots of the jobs of a queue, by state.");
    for_rows(site, QUERY_QUEUES, "queues", now_ms, print_queue, to);
    promtext_head(to, "sublet_pending_jobs", "gauge",
                  "Pending jobs by reason; each element of an array counts.");
    print_reasons(to, site);
    promtext_head(to, "sublet_load_suspensions_total", "counter",
                  "Running jobs that were suspended or ended for the load of a host, "
                  "since the start.");
    fprintf(to, "sublet_load_suspensions_total %" PRIu64 "\n",
            site_count_overloads(site));
    promtext_head(to, "sublet_preemptions_total", "counter",
                  "Jobs preempted since the start.");
    fprintf(to, "sublet_preemptions_total %" PRIu64 "\n", site_count_preemptions(site));
    promtext_head(to, "sublet_hosts", "gauge",
                  "Hosts that jobs of this site may run on, own and borrowed.");
    for_rows(site, QUERY_HOSTS, "hosts", now_ms, count_host, counts);
    print_hosts(to, counts);
    promtext_head(to, "sublet_journal_commit_seconds", "histogram",
                  "Time of a commit to the site's journal.");
    promtext_histogram(to, "sublet_journal_commit_seconds", shell_commits(http->shell));
    promtext_disk(to, "sublet_store", http->spool);
    print_usage(to, http->usage, now_ms);
    promtext_head(to, "sublet_site_info", "gauge",
                  "1, with the site's name and version.");
    promtext_begin(to, "sublet_site_info", "site", http->name);
    fprintf(to, ",version=\"%s\"} 1\n", SUBLET_VERSION);
    if (fclose(to) != 0) {
        abort();
    }
    return text;
}

/* ---------------------------------------------------------------- requests */

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
        answer->text = render(http, daemon_now_ms(), &answer->length);
    } else if (strcmp(request->uri, "/healthz") == 0) {
        answer->type = "application/json";
        answer->constant = well;
        answer->length = sizeof(well) - 1;
    } else {
        complain(arg, 404, "no such page, expected /metrics or /healthz", answer);
    }
}

int site_http_new(zloop_t *loop, const struct site_setup *setup, struct site *site,
                  const struct shell *shell, struct usage_store *usage,
                  struct site_http **http, struct err *err)
{
    struct site_http *made = mem_alloc(1, sizeof(*made));
    made->site = site;
    made->shell = shell;
    made->usage = usage;
    made->spool = strdup(setup->spool);
    snprintf(made->name, sizeof(made->name), "%s", setup->config.name);
    const struct http_handler handler = {.arg = made,
                                         .hosts = setup->http_hosts,
                                         .n_hosts = setup->n_http_hosts,
                                         .refuse = refuse,
                                         .answer = answer_request,
                                         .complain = complain};
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
