/* SPDX-License-Identifier: Apache-2.0 */
/* metrics_text.c: see metrics_text.h. All metrics are in one table. */
#include "broker/io/metrics_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sys/promtext.h"

/* The text that is made of a snapshot. */
struct print {
    const struct metrics_snapshot *of;
    FILE *to;
    struct arena arena;
    struct promtext_block *block; /* for lines of leases */
    const char **lease_labels;    /* of each lease */
    const char *state_labels[LEASE_ENDED + 1];
};

/* ---------------------------------------------------------------- the lead */

static void print_lead(const struct print *print)
{
    static const char role[] = "sublet_broker_leader", term[] = "sublet_broker_term",
                      standbys[] = "sublet_broker_standbys";
    FILE *to = print->to;
    if (!print->of->has_lead) {
        return;
    }
    promtext_head(to, role, "gauge", "1 for the broker that leads, 0 for a standby.");
    fprintf(to, "%s %d\n", role, print->of->leads);
    if (!print->of->has_lead_state) {
        return;
    }
    promtext_head(
        to, term, "gauge",
        "Number of the leader's term, which grows when another broker leads.");
    fprintf(to, "%s %" PRId64 "\n", term, print->of->lead.term);
    promtext_head(to, standbys, "gauge",
                  "Standbys that can lead: seen in the database within 3 seconds.");
    fprintf(to, "%s %d\n", standbys, print->of->lead.n_standbys);
}

/* ---------------------------------------------------------------- leases */

static void lease_slots(const struct print *print, const char *name, int i)
{
    const struct lease_split *split = &print->of->leases[i].split;
    const struct {
        const char *labels;
        int n_slots;
    } lines[] = {{",side=\"provider\",use=\"used\"", split->provider.used},
                 {",side=\"provider\",use=\"idle\"", split->provider.idle},
                 {",side=\"consumer\",use=\"used\"", split->consumer.used},
                 {",side=\"consumer\",use=\"idle\"", split->consumer.idle}};
    for (size_t line = 0; line < sizeof(lines) / sizeof(lines[0]); line++) {
        promtext_number(print->block, name, print->lease_labels[i], lines[line].labels,
                        lines[line].n_slots);
    }
}

static void lease_state(const struct print *print, const char *name, int i)
{
    for (int state = LEASE_PENDING; state <= LEASE_ENDED; state++) {
        promtext_number(print->block, name, print->lease_labels[i],
                        print->state_labels[state],
                        (int)print->of->leases[i].state == state);
    }
}

static void lease_epoch(const struct print *print, const char *name, int i)
{
    promtext_number(print->block, name, print->lease_labels[i], "",
                    (int64_t)print->of->leases[i].epoch);
}

static void lease_changed(const struct print *print, const char *name, int i)
{
    promtext_instant(print->block, name, print->lease_labels[i],
                     print->of->leases[i].changed_ms);
}

static void lease_behind(const struct print *print, const char *name, int i)
{
    promtext_number(print->block, name, print->lease_labels[i], "",
                    (int64_t)print->of->leases[i].behind);
}

static void lease_hours(const struct print *print, const char *name, int i)
{
    double ratio = print->of->leases[i].hours_ratio;
    if (ratio >= 0) {
        promtext_flush(print->block);
        fprintf(print->to, "%s%s} %.6f\n", name, print->lease_labels[i], ratio);
    }
}

/* ---------------------------------------------------------------- sites */

static void peer_up(const struct print *print, const char *name,
                    const struct metrics_site *site)
{
    promtext_begin(print->to, name, "site", site->name);
    fprintf(print->to, "} %d\n",
            strcmp(value_find(site->row, "status")->text, "ok") == 0);
}

/* Numbers that a site has not sent since it connected are not shown. */
static void print_row_count(FILE *to, const char *name, const struct metrics_site *site,
                            const char *label, const struct value *count)
{
    if (count->kind == VALUE_INT) {
        promtext_begin(to, name, "site", site->name);
        fprintf(to, ",%s=\"%s\"} %" PRId64 "\n", label, count->key, count->number);
    }
}

static void site_slots(const struct print *print, const char *name,
                       const struct metrics_site *site)
{
    const struct value *at = value_find(site->row, "slots")->first;
    for (; at != NULL; at = at->next) {
        print_row_count(print->to, name, site, "use", at);
    }
    print_row_count(print->to, name, site, "use", value_find(site->row, "pending"));
}

static void journal_lost(const struct print *print, const char *name,
                         const struct metrics_site *site)
{
    const struct value *at = value_find(site->row, "journal_lost")->first;
    for (; at != NULL; at = at->next) {
        print_row_count(print->to, name, site, "what", at);
    }
}

static void jobs(const struct print *print, const char *name,
                 const struct metrics_site *site)
{
    const struct value *at = value_find(site->row, "jobs")->first;
    for (; at != NULL; at = at->next) {
        print_row_count(print->to, name, site, "state", at);
    }
}

/* By the site's count: how many passes took at most so long. */
static void schedule_seconds(const struct print *print, const char *name,
                             const struct metrics_site *site)
{
    const struct value *passes = value_find(site->row, "schedule_passes");
    const struct value *at = value_find(site->row, "schedule_within")->first;
    FILE *to = print->to;
    char part[64];
    if (passes->kind != VALUE_INT) {
        return;
    }
    snprintf(part, sizeof(part), "%s_bucket", name);
    for (; at != NULL; at = at->next) {
        promtext_begin(to, part, "site", site->name);
        fprintf(to, ",le=\"%s\"} %" PRId64 "\n", at->key, at->number);
    }
    promtext_begin(to, part, "site", site->name);
    fprintf(to, ",le=\"+Inf\"} %" PRId64 "\n", passes->number);
    snprintf(part, sizeof(part), "%s_sum", name);
    promtext_begin(to, part, "site", site->name);
    fprintf(to, "} %.9g\n", value_find(site->row, "schedule_s")->real);
    snprintf(part, sizeof(part), "%s_count", name);
    promtext_begin(to, part, "site", site->name);
    fprintf(to, "} %" PRId64 "\n", passes->number);
}

static void heard(const struct print *print, const char *name,
                  const struct metrics_site *site)
{
    if (site->last_message_ms > 0) {
        promtext_begin(print->to, name, "site", site->name);
        fprintf(print->to, "} %.3f\n", (double)site->last_message_ms / 1000);
    }
}

static void print_count(const struct print *print, const char *name,
                        const struct metrics_site *site, uint64_t count)
{
    promtext_begin(print->to, name, "site", site->name);
    fprintf(print->to, "} %" PRIu64 "\n", count);
}

static void stream_bytes(const struct print *print, const char *name,
                         const struct metrics_site *site)
{
    print_count(print, name, site, site->n_stream_bytes);
}

static void streams_dropped(const struct print *print, const char *name,
                            const struct metrics_site *site)
{
    print_count(print, name, site, site->n_streams_dropped);
}

static void work(const struct print *print, const char *name,
                 const struct metrics_site *site)
{
    promtext_begin(print->to, name, "site", site->name);
    fprintf(print->to, "} %.6f\n", (double)site->use.work_us / 1000000);
}

static void members_refused(const struct print *print, const char *name,
                            const struct metrics_site *site)
{
    print_count(print, name, site, site->use.n_refused);
}

static void members_dropped(const struct print *print, const char *name,
                            const struct metrics_site *site)
{
    print_count(print, name, site, site->use.n_dropped);
}

static void members_out(const struct print *print, const char *name,
                        const struct metrics_site *site)
{
    print_count(print, name, site, site->use.n_out);
}

/* ---------------------------------------------------------------- counted */

static void rebalances(const struct print *print, const char *name)
{
    static const char *const results[METRICS_RESULTS] = {
        [METRICS_MOVED] = "moved",
        [METRICS_UNCHANGED] = "unchanged",
        [METRICS_ABANDONED] = "abandoned",
    };
    for (int i = 0; i < METRICS_RESULTS; i++) {
        fprintf(print->to, "%s{result=\"%s\"} %" PRIu64 "\n", name, results[i],
                print->of->counts.rebalances[i]);
    }
}

static void refused(const struct print *print, const char *name)
{
    for (int i = 1; i < METRICS_REASONS; i++) {
        fprintf(print->to, "%s{reason=\"%s\"} %" PRIu64 "\n", name, err_name(-i),
                print->of->counts.refused[i]);
    }
}

static void handshakes(const struct print *print, const char *name)
{
    fprintf(print->to, "%s{reason=\"key\"} %" PRIu64 "\n", name,
            print->of->n_keys_refused);
    fprintf(print->to, "%s{reason=\"broker_key\"} %" PRIu64 "\n", name,
            print->of->n_unsealed);
}

static void handover_seconds(const struct print *print, const char *name)
{
    promtext_histogram(print->to, name, &print->of->counts.handover);
}

static void commit_seconds(const struct print *print, const char *name)
{
    promtext_histogram(print->to, name, &print->of->commits);
}

static void store_lost(const struct print *print, const char *name)
{
    fprintf(print->to, "%s %" PRIu64 "\n", name, print->of->n_lost_commits);
}

static void build_info(const struct print *print, const char *name)
{
    fprintf(print->to, "%s{version=\"%s\"} 1\n", name, BROKER_VERSION);
}

/* ---------------------------------------------------------------- pools */

static void pool_slots(const struct print *print, const char *name,
                       const struct value *pool)
{
    static const char *const uses[] = {"alloc", "recalled", "idle", "demand"};
    for (size_t i = 0; i < sizeof(uses) / sizeof(uses[0]); i++) {
        promtext_begin(print->to, name, "pool", value_find(pool, "pool")->text);
        fprintf(print->to, ",use=\"%s\"} %" PRId64 "\n", uses[i],
                value_find(pool, uses[i])->number);
    }
}

static void recalls(const struct print *print, const char *name)
{
    fprintf(print->to, "%s{result=\"begun\"} %" PRIu64 "\n", name,
            print->of->counts.recalls_begun);
    fprintf(print->to, "%s{result=\"done\"} %" PRIu64 "\n", name,
            print->of->counts.recalls_done);
}

/* A path needs no escape. */
static void plan_hours(const struct print *print, const char *name)
{
    const struct metrics_node *node = print->of->nodes;
    for (; node != NULL; node = node->next) {
        promtext_begin(print->to, name, "pool", node->pool);
        fprintf(print->to, ",node=\"%s\"} %.6f\n", node->path, node->hours_ratio);
    }
}

/* ---------------------------------------------------------------- the table */

static const struct {
    const char *name, *type, *help;
    /* One of these prints: everything, one lease, one row of a listing. */
    void (*print)(const struct print *print, const char *name);
    void (*lease)(const struct print *print, const char *name, int lease);
    void (*site)(const struct print *print, const char *name,
                 const struct metrics_site *site);
    void (*pool)(const struct print *print, const char *name, const struct value *pool);
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

/* An ended lease has a state and nothing else. */
static void print_leases(const struct print *print, int metric)
{
    for (int i = 0; i < print->of->n_leases; i++) {
        if (print->of->leases[i].state != LEASE_ENDED ||
            table[metric].lease == lease_state) {
            table[metric].lease(print, table[metric].name, i);
        }
    }
    promtext_flush(print->block);
}

static void print_metric(const struct print *print, int metric)
{
    const struct metrics_snapshot *of = print->of;
    const char *name = table[metric].name;
    promtext_head(print->to, name, table[metric].type, table[metric].help);
    if (table[metric].print != NULL) {
        table[metric].print(print, name);
    } else if (table[metric].lease != NULL) {
        print_leases(print, metric);
    }
    for (int i = 0; table[metric].site != NULL && i < of->n_sites; i++) {
        table[metric].site(print, name, &of->sites[i]);
    }
    for (const struct value *row = table[metric].pool != NULL ? of->pools->first : NULL;
         row != NULL; row = row->next) {
        table[metric].pool(print, name, row);
    }
}

static void make_labels(struct print *print)
{
    const struct metrics_snapshot *of = print->of;
    print->lease_labels =
        arena_alloc(&print->arena, (size_t)of->n_leases, sizeof(*print->lease_labels));
    for (int i = 0; i < of->n_leases; i++) {
        print->lease_labels[i] =
            promtext_label(&print->arena, "lease", of->leases[i].id);
    }
    for (int state = LEASE_PENDING; state <= LEASE_ENDED; state++) {
        print->state_labels[state] =
            arena_printf(&print->arena, ",state=\"%s\"",
                         msg_lease_state_name((enum lease_state)state));
    }
    print->block = arena_alloc(&print->arena, 1, sizeof(*print->block));
    print->block->to = print->to;
}

char *metrics_text_print(const struct metrics_snapshot *snapshot, size_t *length)
{
    char *text = NULL;
    struct print print = {.of = snapshot, .to = open_memstream(&text, length)};
    if (print.to == NULL) {
        abort();
    }
    arena_init(&print.arena);
    make_labels(&print);
    for (int i = 0; i < N_METRICS; i++) {
        if (snapshot->leads || table[i].print == build_info) {
            print_metric(&print, i);
        }
    }
    print_lead(&print);
    if (snapshot->leads) {
        promtext_disk(print.to, "sublet_store", snapshot->state);
    }
    if (fclose(print.to) != 0) {
        abort(); /* out of memory */
    }
    arena_release(&print.arena);
    return text;
}
