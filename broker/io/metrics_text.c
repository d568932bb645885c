/* SPDX-License-Identifier: Apache-2.0 */
/* metrics_text.c: see metrics_text.h. */
#include "broker/io/metrics_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/value.h"
#include "broker/lease/lease_split.h"
#include "sys/promtext.h"

/* The sources of the metrics, and their destination. */
struct source {
    FILE *to;
    const struct metrics *metrics;
    const struct broker *broker;
    const struct value *sites; /* rows of the listing */
    const struct value *pools; /* likewise */
};

/* ---------------------------------------------------------------- leases */

typedef void (*lease_fn)(FILE *to, const struct row_lease *lease);

static void for_leases(const struct source *source, lease_fn fn)
{
    struct row_lease lease;
    for (int i = 0; i < broker_count_leases(source->broker); i++) {
        const char *id = broker_lease_id(source->broker, i);
        if (broker_find_lease(source->broker, id, &lease)) {
            fn(source->to, &lease);
        }
    }
}

static void print_slots(FILE *to, const char *lease, const char *side, const char *use,
                        int n_slots)
{
    fputs("sublet_lease_slots{", to);
    promtext_label(to, "lease", lease);
    fprintf(to, ",side=\"%s\",use=\"%s\"} %d\n", side, use, n_slots);
}

static void print_lease_slots(FILE *to, const struct row_lease *lease)
{
    if (lease->state == LEASE_ENDED) {
        return;
    }
    struct lease_split split = lease_split_sum(lease->hosts, lease->n_hosts);
    print_slots(to, lease->id, "provider", "used", split.provider.used);
    print_slots(to, lease->id, "provider", "idle", split.provider.idle);
    print_slots(to, lease->id, "consumer", "used", split.consumer.used);
    print_slots(to, lease->id, "consumer", "idle", split.consumer.idle);
}

static void print_lease_state(FILE *to, const struct row_lease *lease)
{
    for (int state = LEASE_PENDING; state <= LEASE_ENDED; state++) {
        fputs("sublet_lease_state{", to);
        promtext_label(to, "lease", lease->id);
        fprintf(to, ",state=\"%s\"} %d\n",
                msg_lease_state_name((enum lease_state)state),
                (int)lease->state == state);
    }
}

static void print_lease_epoch(FILE *to, const struct row_lease *lease)
{
    if (lease->state != LEASE_ENDED) {
        fputs("sublet_lease_epoch{", to);
        promtext_label(to, "lease", lease->id);
        fprintf(to, "} %" PRIu64 "\n", lease->epoch);
    }
}

static void print_lease_changed(FILE *to, const struct row_lease *lease)
{
    if (lease->state != LEASE_ENDED) {
        fputs("sublet_lease_changed_timestamp_seconds{", to);
        promtext_label(to, "lease", lease->id);
        fprintf(to, "} %.3f\n", (double)lease->changed_ms / 1000);
    }
}

static void lease_behind(const struct source *source, const char *name)
{
    struct row_lease lease;
    for (int i = 0; i < broker_count_leases(source->broker); i++) {
        const char *id = broker_lease_id(source->broker, i);
        if (broker_find_lease(source->broker, id, &lease) &&
            lease.state != LEASE_ENDED) {
            fprintf(source->to, "%s{", name);
            promtext_label(source->to, "lease", id);
            fprintf(source->to, "} %" PRIu64 "\n",
                    broker_lease_behind(source->broker, id));
        }
    }
}

static void lease_changed(const struct source *source, const char *name)
{
    (void)name;
    for_leases(source, print_lease_changed);
}

static void lease_slots(const struct source *source, const char *name)
{
    (void)name;
    for_leases(source, print_lease_slots);
}

static void lease_state(const struct source *source, const char *name)
{
    (void)name;
    for_leases(source, print_lease_state);
}

static void lease_epoch(const struct source *source, const char *name)
{
    (void)name;
    for_leases(source, print_lease_epoch);
}

/* ---------------------------------------------------------------- sites */

static void peer_up(const struct source *source, const char *name)
{
    for (const struct value *site = source->sites->first; site != NULL;
         site = site->next) {
        fprintf(source->to, "%s{", name);
        promtext_label(source->to, "site", value_find(site, "site")->text);
        fprintf(source->to, "} %d\n",
                strcmp(value_find(site, "status")->text, "ok") == 0);
    }
}

/* Numbers that a site has not sent since it connected are not shown. */
static void print_of_site(FILE *to, const char *name, const char *site,
                          const char *label, const char *key, const struct value *count)
{
    if (count != NULL && count->kind == VALUE_INT) {
        fprintf(to, "%s{", name);
        promtext_label(to, "site", site);
        fprintf(to, ",%s=\"%s\"} %" PRId64 "\n", label, key, count->number);
    }
}

static void site_slots(const struct source *source, const char *name)
{
    for (const struct value *site = source->sites->first; site != NULL;
         site = site->next) {
        const char *of = value_find(site, "site")->text;
        for (const struct value *at = value_find(site, "slots")->first; at != NULL;
             at = at->next) {
            print_of_site(source->to, name, of, "use", at->key, at);
        }
        print_of_site(source->to, name, of, "use", "pending",
                      value_find(site, "pending"));
    }
}

static void jobs(const struct source *source, const char *name)
{
    for (const struct value *site = source->sites->first; site != NULL;
         site = site->next) {
        for (const struct value *at = value_find(site, "jobs")->first; at != NULL;
             at = at->next) {
            print_of_site(source->to, name, value_find(site, "site")->text, "state",
                          at->key, at);
        }
    }
}

/* By the site's count: how many passes took at most so long. */
static void print_pass_times(FILE *to, const char *name, const struct value *site)
{
    const char *of = value_find(site, "site")->text;
    const struct value *passes = value_find(site, "schedule_passes");
    for (const struct value *at = value_find(site, "schedule_within")->first;
         at != NULL; at = at->next) {
        fprintf(to, "%s_bucket{", name);
        promtext_label(to, "site", of);
        fprintf(to, ",le=\"%s\"} %" PRId64 "\n", at->key, at->number);
    }
    static const char *const ends[] = {"_bucket", "_sum", "_count"};
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        fprintf(to, "%s%s{", name, ends[i]);
        promtext_label(to, "site", of);
        if (i == 1) {
            fprintf(to, "} %.9g\n", value_find(site, "schedule_s")->real);
        } else {
            fprintf(to, "%s} %" PRId64 "\n", i == 0 ? ",le=\"+Inf\"" : "",
                    passes->number);
        }
    }
}

static void schedule_seconds(const struct source *source, const char *name)
{
    for (const struct value *site = source->sites->first; site != NULL;
         site = site->next) {
        if (value_find(site, "schedule_passes")->kind == VALUE_INT) {
            print_pass_times(source->to, name, site);
        }
    }
}

static void heard(const struct source *source, const char *name)
{
    for (const struct value *site = source->sites->first; site != NULL;
         site = site->next) {
        const char *of = value_find(site, "site")->text;
        int64_t heard_ms = broker_site_heard_ms(source->broker, of);
        if (heard_ms > 0) {
            fprintf(source->to, "%s{", name);
            promtext_label(source->to, "site", of);
            fprintf(source->to, "} %.3f\n", (double)heard_ms / 1000);
        }
    }
}

static void print_streams(const struct source *source, const char *name,
                          bool is_dropped)
{
    for (const struct value *site = source->sites->first; site != NULL;
         site = site->next) {
        const char *of = value_find(site, "site")->text;
        uint64_t n_bytes, n_dropped;
        broker_site_streams(source->broker, of, &n_bytes, &n_dropped);
        fprintf(source->to, "%s{", name);
        promtext_label(source->to, "site", of);
        fprintf(source->to, "} %" PRIu64 "\n", is_dropped ? n_dropped : n_bytes);
    }
}

static void stream_bytes(const struct source *source, const char *name)
{
    print_streams(source, name, false);
}

static void streams_dropped(const struct source *source, const char *name)
{
    print_streams(source, name, true);
}

/* ---------------------------------------------------------------- counted */

static void rebalances(const struct source *source, const char *name)
{
    static const char *const results[METRICS_RESULTS] = {
        [METRICS_MOVED] = "moved",
        [METRICS_UNCHANGED] = "unchanged",
        [METRICS_ABANDONED] = "abandoned",
    };
    for (int i = 0; i < METRICS_RESULTS; i++) {
        fprintf(source->to, "%s{result=\"%s\"} %" PRIu64 "\n", name, results[i],
                source->metrics->rebalances[i]);
    }
}

static void refused(const struct source *source, const char *name)
{
    for (int i = 1; i < METRICS_REASONS; i++) {
        fprintf(source->to, "%s{reason=\"%s\"} %" PRIu64 "\n", name, err_name(-i),
                source->metrics->refused[i]);
    }
}

static void handover_seconds(const struct source *source, const char *name)
{
    promtext_histogram(source->to, name, &source->metrics->handover);
}

static void commit_seconds(const struct source *source, const char *name)
{
    promtext_histogram(source->to, name, &source->metrics->commit);
}

static void build_info(const struct source *source, const char *name)
{
    fprintf(source->to, "%s{version=\"%s\"} 1\n", name, BROKER_VERSION);
}

/* ---------------------------------------------------------------- pools */

static void pool_slots(const struct source *source, const char *name)
{
    static const char *const uses[] = {"alloc", "recalled", "idle", "demand"};
    for (const struct value *row = source->pools->first; row != NULL; row = row->next) {
        for (size_t i = 0; i < sizeof(uses) / sizeof(uses[0]); i++) {
            fprintf(source->to, "%s{", name);
            promtext_label(source->to, "pool", value_find(row, "pool")->text);
            fprintf(source->to, ",use=\"%s\"} %" PRId64 "\n", uses[i],
                    value_find(row, uses[i])->number);
        }
    }
}

static void recalls(const struct source *source, const char *name)
{
    fprintf(source->to, "%s{result=\"begun\"} %" PRIu64 "\n", name,
            source->metrics->recalls_begun);
    fprintf(source->to, "%s{result=\"done\"} %" PRIu64 "\n", name,
            source->metrics->recalls_done);
}

/* ---------------------------------------------------------------- the table */

static const struct {
    const char *name, *type, *help;
    void (*print)(const struct source *source, const char *name);
} table[] = {
    {"sublet_lease_slots", "gauge",
     "Slots of a lease on hosts that are up, by the side that holds them.",
     lease_slots},
    {"sublet_lease_state", "gauge", "1 for the state that a lease is in.", lease_state},
    {"sublet_lease_epoch", "gauge", "Number of a lease's contract.", lease_epoch},
    {"sublet_lease_behind_epoch", "gauge",
     "Epoch that a lease's provider states, which has lost its journal; 0: it has not.",
     lease_behind},
    {"sublet_lease_changed_timestamp_seconds", "gauge",
     "When a lease's contract or state last changed.", lease_changed},
    {"sublet_rebalances_total", "counter", "Hand-overs that ended, by result.",
     rebalances},
    {"sublet_handover_seconds", "histogram",
     "From the decision of a hand-over until both sides have the contract.",
     handover_seconds},
    {"sublet_commit_seconds", "histogram", "Time of a commit to the broker's store.",
     commit_seconds},
    {"sublet_site_slots", "gauge",
     "Slots as a site reported them; pending: of its waiting jobs.", site_slots},
    {"sublet_pool_slots", "gauge",
     "Slots of a pool: held by nodes, of these being recalled, idle; and demand of "
     "nodes.",
     pool_slots},
    {"sublet_recalls_total", "counter",
     "Recalls of a pool's slots: started, and completed.", recalls},
    {"sublet_jobs", "gauge", "Jobs of a site by state, as it reported them.", jobs},
    {"sublet_schedule_seconds", "histogram",
     "Time of a site's scheduling passes, with the rest of the batch they were in.",
     schedule_seconds},
    {"sublet_peer_up", "gauge", "1 for a site that is connected.", peer_up},
    {"sublet_site_heard_timestamp_seconds", "gauge",
     "When a site last sent a message, since the broker started.", heard},
    {"sublet_stream_bytes_total", "counter",
     "Bytes of interactive jobs' terminals that a site sent through the broker.",
     stream_bytes},
    {"sublet_stream_dropped_total", "counter",
     "Pieces of these that were above the bound, and are sent again.", streams_dropped},
    {"sublet_messages_refused_total", "counter", "Messages refused, by reason.",
     refused},
    {"sublet_build_info", "gauge", "1, with the broker's version.", build_info},
};

/* All pages of the listing, their rows in one array. */
static const struct value *read_all(const struct broker *broker, struct arena *arena,
                                    enum query_kind kind, const char *name,
                                    int64_t now_ms)
{
    struct value *all = value_array(arena);
    struct msg_query query = {.kind = kind, .name = "", .after = ""};
    const char *next;
    do {
        struct value *page = broker_view(broker, arena, &query, now_ms, &next);
        const struct value *rows = value_find(page, name);
        for (struct value *row = rows->first, *behind; row != NULL; row = behind) {
            behind = row->next;
            row->next = NULL;
            value_add(arena, all, NULL, row);
        }
        query.after = next;
    } while (next[0] != '\0');
    return all;
}

char *metrics_text_render(const struct metrics *metrics, const struct broker *broker,
                          const char *store, int64_t now_ms, size_t *length)
{
    char *text = NULL;
    struct arena arena;
    arena_init(&arena);
    struct source source = {
        .to = open_memstream(&text, length),
        .metrics = metrics,
        .broker = broker,
        .sites = read_all(broker, &arena, QUERY_SITES, "sites", now_ms),
        .pools = read_all(broker, &arena, QUERY_POOLS, "pools", now_ms)};
    if (source.to == NULL) {
        abort();
    }
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        promtext_head(source.to, table[i].name, table[i].type, table[i].help);
        table[i].print(&source, table[i].name);
    }
    promtext_disk(source.to, "sublet_store", store);
    if (fclose(source.to) != 0) {
        abort(); /* out of memory */
    }
    arena_release(&arena);
    return text;
}
