/* SPDX-License-Identifier: Apache-2.0 */
/* metrics.c: see metrics.h. First what is counted, then what is shown: one table. */
#include "broker/io/metrics.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define uthash_fatal(text) abort() /* out of memory, as everywhere */
#include <uthash.h>

#include "base/value.h"
#include "broker/io/store/store_lead.h"
#include "broker/lease/lease.h"
#include "sys/promtext.h"
#include "sys/wire/wire.h"

/* A lease that is inactive, since when and from what epoch. */
struct metrics_start {
    char lease[LEASE_ID_SIZE];
    int64_t begin_ns;
    uint64_t epoch;
    UT_hash_handle hh;
};

static const double handover_bounds[] = {0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.1,
                                         0.5,    1,     5,     15,    60,   300,   0};

void metrics_init(struct metrics *metrics)
{
    memset(metrics, 0, sizeof(*metrics));
    metrics->handover.bounds = handover_bounds;
}

static void end_start(struct metrics *metrics, struct metrics_start *start)
{
    HASH_DEL(metrics->starts, start);
    free(start);
}

void metrics_release(struct metrics *metrics)
{
    struct metrics_start *start, *next;
    HASH_ITER (hh, metrics->starts, start, next) {
        end_start(metrics, start);
    }
}

void metrics_count_refused(struct metrics *metrics, int code)
{
    int reason = -code;
    metrics->refused[reason > 0 && reason < METRICS_REASONS ? reason : 0]++;
}

static struct metrics_start *find_start(const struct metrics *metrics,
                                        const char *lease)
{
    struct metrics_start *found;
    HASH_FIND_STR(metrics->starts, lease, found);
    return found;
}

static void begin_handover(struct metrics *metrics, const struct row_history *row,
                           int64_t begin_ns)
{
    struct metrics_start *start = find_start(metrics, row->lease);
    if (start == NULL) {
        start = mem_alloc(1, sizeof(*start));
        snprintf(start->lease, sizeof(start->lease), "%s", row->lease);
        HASH_ADD_STR(metrics->starts, lease, start);
    }
    start->begin_ns = begin_ns;
    start->epoch = row->epoch;
}

static void end_handover(struct metrics *metrics, const struct row_history *row,
                         int64_t end_ns)
{
    struct metrics_start *start = find_start(metrics, row->lease);
    if (start == NULL) {
        return;
    }
    if (row->event == HISTORY_ACTIVE) {
        bool is_moved = row->epoch > start->epoch;
        metrics->rebalances[is_moved ? METRICS_MOVED : METRICS_UNCHANGED]++;
        histogram_observe(&metrics->handover, end_ns - start->begin_ns);
    } else {
        metrics->rebalances[METRICS_ABANDONED]++;
    }
    end_start(metrics, start);
}

/* A recall's history ends no hand-over. */
static void count_event(struct metrics *metrics, const struct row_history *row,
                        int64_t begin_ns, int64_t end_ns)
{
    switch ((int)row->event) {
    case HISTORY_INACTIVE:
        begin_handover(metrics, row, begin_ns);
        break;
    case HISTORY_RECALL:
        metrics->recalls_begun++;
        break;
    case HISTORY_RECALL_DONE:
        metrics->recalls_done++;
        break;
    case HISTORY_QUOTA:
    case HISTORY_REBALANCE:
    case HISTORY_HOURS:
        break;
    default:
        end_handover(metrics, row, end_ns);
        break;
    }
}

void metrics_count_batch(struct metrics *metrics, const struct effects *effects,
                         int64_t begin_ns, int64_t end_ns)
{
    for (int i = 0; i < effects->count; i++) {
        const struct effect *effect = &effects->items[i];
        if (effect->kind == EFFECT_SEND && effect->send.msg.kind == MSG_ERROR) {
            metrics_count_refused(metrics, effect->send.msg.error.code);
        } else if (effect->kind == EFFECT_STORE && effect->row.kind == ROW_HISTORY) {
            count_event(metrics, &effect->row.history, begin_ns, end_ns);
        }
    }
}

struct shown_lease;

/* The sources of the metrics, and their destination. */
struct source {
    FILE *to;
    const struct metrics *metrics;
    const struct broker *broker;
    const struct value *sites; /* rows of the listing */
    const struct value *pools; /* likewise */
    const struct shown_lease *leases;
    int n_leases;
    struct promtext_block *block; /* for their lines */
    struct arena *arena;
    int64_t now_ms;
    const char *state_labels[LEASE_ENDED + 1];
};

/* ---------------------------------------------------------------- the lead */

/* Nothing of a store that is a file, which has no standbys, or cannot be asked now. */
static void print_lead(FILE *to, struct store *store, bool leads)
{
    static const char role[] = "sublet_broker_leader", term[] = "sublet_broker_term",
                      standbys[] = "sublet_broker_standbys";
    struct store_lead_state state;
    struct err err;
    if (store_db(store) != NULL) {
        return;
    }
    promtext_head(to, role, "gauge", "1 for the broker that leads, 0 for a standby.");
    fprintf(to, "%s %d\n", role, leads);
    if (store_lead_read(store, &state, &err) < 0) {
        return;
    }
    promtext_head(
        to, term, "gauge",
        "Number of the leader's term, which grows when another broker leads.");
    fprintf(to, "%s %" PRId64 "\n", term, state.term);
    promtext_head(to, standbys, "gauge",
                  "Standbys that can lead: seen in the database within 3 seconds.");
    fprintf(to, "%s %d\n", standbys, state.n_standbys);
}

/* ---------------------------------------------------------------- leases */

/* A lease, and its label in each line. */
struct shown_lease {
    struct row_lease row;
    const char *label;
};

static void lease_slots(const struct source *source, const char *name,
                        const struct shown_lease *lease)
{
    struct lease_split split = lease_split_sum(lease->row.hosts, lease->row.n_hosts);
    const struct {
        const char *labels;
        int n_slots;
    } lines[] = {{",side=\"provider\",use=\"used\"", split.provider.used},
                 {",side=\"provider\",use=\"idle\"", split.provider.idle},
                 {",side=\"consumer\",use=\"used\"", split.consumer.used},
                 {",side=\"consumer\",use=\"idle\"", split.consumer.idle}};
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        promtext_number(source->block, name, lease->label, lines[i].labels,
                        lines[i].n_slots);
    }
}

static void lease_state(const struct source *source, const char *name,
                        const struct shown_lease *lease)
{
    for (int state = LEASE_PENDING; state <= LEASE_ENDED; state++) {
        promtext_number(source->block, name, lease->label, source->state_labels[state],
                        (int)lease->row.state == state);
    }
}

static void lease_epoch(const struct source *source, const char *name,
                        const struct shown_lease *lease)
{
    promtext_number(source->block, name, lease->label, "", (int64_t)lease->row.epoch);
}

static void lease_changed(const struct source *source, const char *name,
                          const struct shown_lease *lease)
{
    promtext_instant(source->block, name, lease->label, lease->row.changed_ms);
}

static void lease_behind(const struct source *source, const char *name,
                         const struct shown_lease *lease)
{
    promtext_number(source->block, name, lease->label, "",
                    (int64_t)broker_lease_behind(source->broker, lease->row.id));
}

static void lease_hours(const struct source *source, const char *name,
                        const struct shown_lease *lease)
{
    double ratio = broker_lease_hours_ratio(source->broker, lease->row.id);
    if (ratio >= 0) {
        promtext_flush(source->block);
        fprintf(source->to, "%s%s} %.6f\n", name, lease->label, ratio);
    }
}

/* ---------------------------------------------------------------- sites */

static const char *name_of(const struct value *site)
{
    return value_find(site, "site")->text;
}

static void peer_up(const struct source *source, const char *name,
                    const struct value *site)
{
    promtext_begin(source->to, name, "site", name_of(site));
    fprintf(source->to, "} %d\n", strcmp(value_find(site, "status")->text, "ok") == 0);
}

/* Numbers that a site has not sent since it connected are not shown. */
static void print_count(FILE *to, const char *name, const struct value *site,
                        const char *label, const struct value *count)
{
    if (count->kind == VALUE_INT) {
        promtext_begin(to, name, "site", name_of(site));
        fprintf(to, ",%s=\"%s\"} %" PRId64 "\n", label, count->key, count->number);
    }
}

static void site_slots(const struct source *source, const char *name,
                       const struct value *site)
{
    const struct value *at = value_find(site, "slots")->first;
    for (; at != NULL; at = at->next) {
        print_count(source->to, name, site, "use", at);
    }
    print_count(source->to, name, site, "use", value_find(site, "pending"));
}

static void journal_lost(const struct source *source, const char *name,
                         const struct value *site)
{
    const struct value *at = value_find(site, "journal_lost")->first;
    for (; at != NULL; at = at->next) {
        print_count(source->to, name, site, "what", at);
    }
}

static void jobs(const struct source *source, const char *name,
                 const struct value *site)
{
    const struct value *at = value_find(site, "jobs")->first;
    for (; at != NULL; at = at->next) {
        print_count(source->to, name, site, "state", at);
    }
}

/* By the site's count: how many passes took at most so long. */
static void schedule_seconds(const struct source *source, const char *name,
                             const struct value *site)
{
    const struct value *passes = value_find(site, "schedule_passes");
    const struct value *at = value_find(site, "schedule_within")->first;
    FILE *to = source->to;
    char part[64];
    if (passes->kind != VALUE_INT) {
        return;
    }
    snprintf(part, sizeof(part), "%s_bucket", name);
    for (; at != NULL; at = at->next) {
        promtext_begin(to, part, "site", name_of(site));
        fprintf(to, ",le=\"%s\"} %" PRId64 "\n", at->key, at->number);
    }
    promtext_begin(to, part, "site", name_of(site));
    fprintf(to, ",le=\"+Inf\"} %" PRId64 "\n", passes->number);
    snprintf(part, sizeof(part), "%s_sum", name);
    promtext_begin(to, part, "site", name_of(site));
    fprintf(to, "} %.9g\n", value_find(site, "schedule_s")->real);
    snprintf(part, sizeof(part), "%s_count", name);
    promtext_begin(to, part, "site", name_of(site));
    fprintf(to, "} %" PRId64 "\n", passes->number);
}

static void heard(const struct source *source, const char *name,
                  const struct value *site)
{
    int64_t last_message_ms =
        broker_site_last_message_ms(source->broker, name_of(site));
    if (last_message_ms > 0) {
        promtext_begin(source->to, name, "site", name_of(site));
        fprintf(source->to, "} %.3f\n", (double)last_message_ms / 1000);
    }
}

static void stream_bytes(const struct source *source, const char *name,
                         const struct value *site)
{
    uint64_t n_bytes, n_dropped;
    broker_site_streams(source->broker, name_of(site), &n_bytes, &n_dropped);
    promtext_begin(source->to, name, "site", name_of(site));
    fprintf(source->to, "} %" PRIu64 "\n", n_bytes);
}

static void streams_dropped(const struct source *source, const char *name,
                            const struct value *site)
{
    uint64_t n_bytes, n_dropped;
    broker_site_streams(source->broker, name_of(site), &n_bytes, &n_dropped);
    promtext_begin(source->to, name, "site", name_of(site));
    fprintf(source->to, "} %" PRIu64 "\n", n_dropped);
}

static struct wire_use use_of(const struct source *source, const struct value *site)
{
    return wire_server_use(source->metrics->server, name_of(site));
}

static void print_use(const struct source *source, const char *name,
                      const struct value *site, uint64_t count)
{
    promtext_begin(source->to, name, "site", name_of(site));
    fprintf(source->to, "} %" PRIu64 "\n", count);
}

static void work(const struct source *source, const char *name,
                 const struct value *site)
{
    promtext_begin(source->to, name, "site", name_of(site));
    fprintf(source->to, "} %.6f\n", (double)use_of(source, site).work_us / 1000000);
}

static void members_refused(const struct source *source, const char *name,
                            const struct value *site)
{
    print_use(source, name, site, use_of(source, site).n_refused);
}

static void members_dropped(const struct source *source, const char *name,
                            const struct value *site)
{
    print_use(source, name, site, use_of(source, site).n_dropped);
}

static void members_out(const struct source *source, const char *name,
                        const struct value *site)
{
    print_use(source, name, site, use_of(source, site).n_out);
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

static void handshakes(const struct source *source, const char *name)
{
    const struct wire_server *server = source->metrics->server;
    fprintf(source->to, "%s{reason=\"key\"} %" PRIu64 "\n", name,
            server != NULL ? wire_server_count_keys_refused(server) : 0);
    fprintf(source->to, "%s{reason=\"broker_key\"} %" PRIu64 "\n", name,
            server != NULL ? wire_server_count_unsealed(server) : 0);
}

static void handover_seconds(const struct source *source, const char *name)
{
    promtext_histogram(source->to, name, &source->metrics->handover);
}

static void commit_seconds(const struct source *source, const char *name)
{
    promtext_histogram(source->to, name, source->metrics->commits);
}

static void store_lost(const struct source *source, const char *name)
{
    fprintf(source->to, "%s %" PRIu64 "\n", name, broker_loss_commits(source->broker));
}

static void build_info(const struct source *source, const char *name)
{
    fprintf(source->to, "%s{version=\"%s\"} 1\n", name, BROKER_VERSION);
}

/* ---------------------------------------------------------------- pools */

static void pool_slots(const struct source *source, const char *name,
                       const struct value *pool)
{
    static const char *const uses[] = {"alloc", "recalled", "idle", "demand"};
    for (size_t i = 0; i < sizeof(uses) / sizeof(uses[0]); i++) {
        promtext_begin(source->to, name, "pool", value_find(pool, "pool")->text);
        fprintf(source->to, ",use=\"%s\"} %" PRId64 "\n", uses[i],
                value_find(pool, uses[i])->number);
    }
}

static void recalls(const struct source *source, const char *name)
{
    fprintf(source->to, "%s{result=\"begun\"} %" PRIu64 "\n", name,
            source->metrics->recalls_begun);
    fprintf(source->to, "%s{result=\"done\"} %" PRIu64 "\n", name,
            source->metrics->recalls_done);
}

static void plan_node_hours(void *arg, const char *pool, const char *node, double ratio)
{
    FILE *to = arg;
    promtext_begin(to, "sublet_plan_node_hours_used_ratio", "pool", pool);
    fprintf(to, ",node=\"%s\"} %.6f\n", node, ratio); /* a path needs no escape */
}

static void plan_hours(const struct source *source, const char *name)
{
    (void)name;
    broker_each_hours(source->broker, source->now_ms, source->arena, plan_node_hours,
                      source->to);
}

/* ---------------------------------------------------------------- the table */

static const struct {
    const char *name, *type, *help;
    /* One of these prints: everything, one lease, one row of a listing. */
    void (*print)(const struct source *source, const char *name);
    void (*lease)(const struct source *source, const char *name,
                  const struct shown_lease *lease);
    void (*site)(const struct source *source, const char *name,
                 const struct value *site);
    void (*pool)(const struct source *source, const char *name,
                 const struct value *pool);
} table[] = {
    {"sublet_lease_slots", "gauge",
     "Slots of a lease on hosts that are up, by the side that holds them.",
     .lease = lease_slots},
    {"sublet_lease_state", "gauge", "1 for the state that a lease is in.",
     .lease = lease_state},
    {"sublet_lease_epoch", "gauge", "Number of a lease's contract.",
     .lease = lease_epoch},
    {"sublet_lease_behind_epoch", "gauge",
     "Epoch that a lease's provider states, which has lost its journal; 0: it has not.",
     .lease = lease_behind},
    {"sublet_lease_hours_used_ratio", "gauge",
     "Part of HOURS that a lease's jobs have used in this month, for leases that have "
     "it.",
     .lease = lease_hours},
    {"sublet_lease_changed_timestamp_seconds", "gauge",
     "When a lease's contract or state last changed.", .lease = lease_changed},
    {"sublet_rebalances_total", "counter", "Hand-overs that ended, by result.",
     .print = rebalances},
    {"sublet_handover_seconds", "histogram",
     "From the decision of a hand-over until both sides have the contract.",
     .print = handover_seconds},
    {"sublet_commit_seconds", "histogram", "Time of a commit to the broker's store.",
     .print = commit_seconds},
    {"sublet_store_lost_commits", "gauge",
     "How far the broker's store was behind what sites know, until it is started with "
     "--accept-loss.",
     .print = store_lost},
    {"sublet_site_slots", "gauge",
     "Slots as a site reported them; pending: of its waiting jobs.",
     .site = site_slots},
    {"sublet_pool_slots", "gauge",
     "Slots of a pool: held by nodes, of these being recalled, idle; and demand of "
     "nodes.",
     .pool = pool_slots},
    {"sublet_plan_node_hours_used_ratio", "gauge",
     "Part of HOURS that the jobs below a node of a plan have used in this month, for "
     "nodes that have it.",
     .print = plan_hours},
    {"sublet_recalls_total", "counter",
     "Recalls of a pool's slots: started, and completed.", .print = recalls},
    {"sublet_jobs", "gauge", "Jobs of a site by state, as it reported them.",
     .site = jobs},
    {"sublet_schedule_seconds", "histogram",
     "Time of a site's scheduling passes, with the rest of the batch they were in.",
     .site = schedule_seconds},
    {"sublet_journal_lost", "gauge",
     "How far a site's journal was behind what others know, until an administrator "
     "accepts it.",
     .site = journal_lost},
    {"sublet_peer_up", "gauge", "1 for a site that is connected.", .site = peer_up},
    {"sublet_site_heard_timestamp_seconds", "gauge",
     "When a site last sent a message, since the broker started.", .site = heard},
    {"sublet_stream_bytes_total", "counter",
     "Bytes of interactive jobs' terminals that a site sent through the broker.",
     .site = stream_bytes},
    {"sublet_stream_dropped_total", "counter",
     "Pieces of these that were above the bound, and are sent again.",
     .site = streams_dropped},
    {"sublet_site_work_seconds_total", "counter",
     "Working time of the broker that a site's messages took.", .site = work},
    {"sublet_site_refused_total", "counter",
     "Messages of a site that were refused, and those that did not fit its queue.",
     .site = members_refused},
    {"sublet_site_dropped_total", "counter",
     "Messages of a site that did not fit its queue.", .site = members_dropped},
    {"sublet_site_disconnects_total", "counter",
     "How often a site was disconnected because it went on sending what is refused.",
     .site = members_out},
    {"sublet_messages_refused_total", "counter", "Messages refused, by reason.",
     .print = refused},
    {"sublet_handshakes_refused_total", "counter",
     "Handshakes that were refused: a key that no member has (key), or one that was "
     "made for another broker's key (broker_key).",
     .print = handshakes},
    {"sublet_build_info", "gauge", "1, with the broker's version.",
     .print = build_info},
};

enum { N_METRICS = sizeof(table) / sizeof(table[0]) };

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

static void read_leases(struct source *source, struct arena *arena)
{
    int n_leases = broker_count_leases(source->broker);
    struct shown_lease *leases = arena_alloc(arena, (size_t)n_leases, sizeof(*leases));
    for (int i = 0; i < n_leases; i++) {
        const char *id = broker_lease_id(source->broker, i);
        broker_find_lease(source->broker, id, &leases[i].row);
        leases[i].label = promtext_label(arena, "lease", id);
    }
    source->leases = leases;
    source->n_leases = n_leases;
    source->block = arena_alloc(arena, 1, sizeof(*source->block));
    source->block->to = source->to;
    for (int state = LEASE_PENDING; state <= LEASE_ENDED; state++) {
        source->state_labels[state] = arena_printf(
            arena, ",state=\"%s\"", msg_lease_state_name((enum lease_state)state));
    }
}

/* An ended lease has a state and nothing else. */
static void print_leases(const struct source *source, int metric)
{
    for (int i = 0; i < source->n_leases; i++) {
        const struct shown_lease *lease = &source->leases[i];
        if (lease->row.state != LEASE_ENDED || table[metric].lease == lease_state) {
            table[metric].lease(source, table[metric].name, lease);
        }
    }
    promtext_flush(source->block);
}

static void print_metric(const struct source *source, int metric)
{
    const char *name = table[metric].name;
    promtext_head(source->to, name, table[metric].type, table[metric].help);
    if (table[metric].print != NULL) {
        table[metric].print(source, name);
    } else if (table[metric].lease != NULL) {
        print_leases(source, metric);
    }
    for (const struct value *row = table[metric].site != NULL ? source->sites->first
                                                              : NULL;
         row != NULL; row = row->next) {
        table[metric].site(source, name, row);
    }
    for (const struct value *row = table[metric].pool != NULL ? source->pools->first
                                                              : NULL;
         row != NULL; row = row->next) {
        table[metric].pool(source, name, row);
    }
}

char *metrics_render(const struct metrics *metrics, const struct broker *broker,
                     struct store *store, const char *state, int64_t now_ms,
                     size_t *length)
{
    char *text = NULL;
    struct arena arena;
    arena_init(&arena);
    struct source source = {
        .to = open_memstream(&text, length),
        .metrics = metrics,
        .broker = broker,
        .arena = &arena,
        .now_ms = now_ms,
        .sites = read_all(broker, &arena, QUERY_SITES, "sites", now_ms),
        .pools = read_all(broker, &arena, QUERY_POOLS, "pools", now_ms)};
    if (source.to == NULL) {
        abort();
    }
    read_leases(&source, &arena);
    for (int i = 0; i < N_METRICS; i++) {
        print_metric(&source, i);
    }
    print_lead(source.to, store, true);
    promtext_disk(source.to, "sublet_store", state);
    if (fclose(source.to) != 0) {
        abort(); /* out of memory */
    }
    arena_release(&arena);
    return text;
}

char *metrics_render_standby(struct store *store, size_t *length)
{
    char *text = NULL;
    struct source source = {.to = open_memstream(&text, length)};
    if (source.to == NULL) {
        abort();
    }
    for (int i = 0; i < N_METRICS; i++) {
        if (table[i].print == build_info) {
            print_metric(&source, i);
        }
    }
    print_lead(source.to, store, false);
    if (fclose(source.to) != 0) {
        abort(); /* out of memory */
    }
    return text;
}
