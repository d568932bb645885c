/* SPDX-License-Identifier: Apache-2.0 */
/* host_table.c: see host_table.h. */
#include "site/run/host_table.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define uthash_fatal(message) abort() /* out of memory, as everywhere */
#include <uthash.h>

#include "model/dup.h"
#include "site/config/site_config.h"

/* A host sends ALIVE every 2 s, so that some of them may be lost or late. */
enum { HOSTS_SILENT_MS = 15000 };

/* A list of runs takes a moment, and longer while a host cleans up after a dead guard.
 */
enum { HOSTS_STUCK_MS = 60000 };

struct host_state {
    uint64_t session; /* 0: none since the start */
    uint64_t link;
    char *boot;
    int n_cpus[NCPUS_UNITS]; /* 0: not known */
    bool is_synced;
    bool has_synced; /* since the start */
    bool is_away;
    bool knows_nonces;
    int n_foreign; /* slots of jobs that are not the site's */
    bool is_out;   /* its scheduler takes no job there */
    int64_t hello_ms, heard_ms;
    char *topology_text;
    struct arena arena; /* of the topology */
    struct cpu_topology topology;
    bool has_topology;
};

/* A host that is refused tries again every few seconds; the log has each name once a
 * minute, and no more names than this in a minute. */
enum { REFUSALS_MAX = 16, REFUSAL_LOG_MS = 60000 };

struct refusal {
    char name[NAME_SIZE];
    int64_t logged_ms;
    bool is_logged;
};

/* Hosts that are not configured, and may have runs of a journal that is behind. */
enum { UNKNOWN_MAX = 64 };

struct named_host {
    UT_hash_handle hh; /* the configuration's name */
};

struct host_table {
    const struct site_host *config;
    int n_hosts;
    struct host_state *states;
    struct named_host *named, *by_name; /* by index; a hash table of them */
    int64_t silent_ms;
    struct journal_mark mark; /* for WELCOME */
    uint64_t list_from, list_to;
    bool is_behind;   /* the journal is */
    bool is_awaiting; /* see host_table_is_awaiting */
    bool
        has_settled; /* each host that runs has connected or tried to since the start */
    int64_t settle_ms;
    char unknown[UNKNOWN_MAX][NAME_SIZE];
    int n_unknown;
    struct refusal refusals[REFUSALS_MAX];
};

static void fill(struct host_table *hosts, const struct site_host *config, int n_hosts)
{
    hosts->config = config;
    hosts->n_hosts = n_hosts;
    hosts->silent_ms = HOSTS_SILENT_MS;
    hosts->states = mem_alloc((size_t)n_hosts, sizeof(*hosts->states));
    hosts->named = mem_alloc((size_t)n_hosts, sizeof(*hosts->named));
    hosts->by_name = NULL;
    for (int i = 0; i < n_hosts; i++) {
        const char *name = config[i].name;
        struct named_host *named;
        hosts->states[i].boot = dup_text("");
        hosts->states[i].topology_text = dup_text("");
        arena_init_small(&hosts->states[i].arena);
        HASH_FIND_STR(hosts->by_name, name, named);
        if (named == NULL) { /* of two hosts with one name the first counts */
            HASH_ADD_KEYPTR(hh, hosts->by_name, name, strlen(name), &hosts->named[i]);
        }
    }
}

static void empty(struct host_table *hosts)
{
    for (int i = 0; i < hosts->n_hosts; i++) {
        dup_free(hosts->states[i].boot);
        dup_free(hosts->states[i].topology_text);
        arena_release(&hosts->states[i].arena);
    }
    free(hosts->states);
    HASH_CLEAR(hh, hosts->by_name);
    free(hosts->named);
}

struct host_table *host_table_new(const struct site_host *config, int n_hosts)
{
    struct host_table *hosts = mem_alloc(1, sizeof(*hosts));
    fill(hosts, config, n_hosts);
    return hosts;
}

void host_table_free(struct host_table *hosts)
{
    if (hosts != NULL) {
        empty(hosts);
        free(hosts);
    }
}

static void update_awaiting(struct host_table *hosts)
{
    hosts->n_unknown = hosts->is_behind ? hosts->n_unknown : 0;
    hosts->is_awaiting =
        hosts->is_behind && (!hosts->has_settled || hosts->n_unknown > 0);
    for (int i = 0; hosts->is_behind && i < hosts->n_hosts; i++) {
        hosts->is_awaiting |=
            !hosts->states[i].has_synced && !hosts->config[i].is_leaving;
    }
}

/* It may have a run that the journal has lost, with slots on other hosts. */
static void note_unknown(struct host_table *hosts, const char *name)
{
    if (!hosts->is_behind || hosts->n_unknown == UNKNOWN_MAX) {
        return;
    }
    for (int i = 0; i < hosts->n_unknown; i++) {
        if (strcmp(hosts->unknown[i], name) == 0) {
            return;
        }
    }
    snprintf(hosts->unknown[hosts->n_unknown++], NAME_SIZE, "%s", name);
}

static void begin_silence(struct host_table *hosts, int64_t now_ms)
{
    for (int i = 0; i < hosts->n_hosts; i++) {
        hosts->states[i].heard_ms = now_ms;
    }
}

/* One that is configured now is awaited like the others, and one that has told its runs
 * is not. */
static void drop_known(struct host_table *hosts)
{
    int n_unknown = 0;
    for (int i = 0; i < hosts->n_unknown; i++) {
        int index = host_table_find(hosts, hosts->unknown[i]);
        if (index < 0 ||
            (hosts->config[index].is_leaving && !hosts->states[index].has_synced)) {
            memmove(hosts->unknown[n_unknown++], hosts->unknown[i], NAME_SIZE);
        }
    }
    hosts->n_unknown = n_unknown;
}

/* Of the text that the host has sent, what AFFINITY allows. */
static void read_topology(struct host_table *hosts, int index, struct effects *effects)
{
    struct host_state *state = &hosts->states[index];
    const struct site_host *host = &hosts->config[index];
    struct err err;
    arena_release(&state->arena);
    arena_init_small(&state->arena);
    state->has_topology = false;
    if (!host->has_affinity || state->topology_text[0] == '\0') {
        return;
    }
    if (cpu_topology_parse(&state->arena, state->topology_text, &state->topology,
                           &err) != 0) {
        effects_log(effects, LOG_LEVEL_WARNING,
                    "host %s takes no jobs with affinity: %s", host->name, err.text);
        return;
    }
    if (host->affinity_cpus != NULL) {
        cpu_topology_keep(&state->arena, &state->topology, host->affinity_cpus);
    }
    state->has_topology = state->topology.n_units > 0;
}

const struct cpu_topology *host_table_topology(const struct host_table *hosts,
                                               int index)
{
    const struct host_state *state = &hosts->states[index];
    return state->has_topology ? &state->topology : NULL;
}

void host_table_change(struct host_table *hosts, const struct site_host *config,
                       int n_hosts, int *places, int64_t now_ms,
                       struct effects *effects)
{
    struct host_table before = *hosts;
    fill(hosts, config, n_hosts);
    hosts->silent_ms = before.silent_ms;
    begin_silence(hosts, now_ms);
    for (int i = 0; i < before.n_hosts; i++) {
        const struct site_host *host = &before.config[i];
        places[i] = host_table_find(hosts, host->name);
        bool is_removed = places[i] < 0 || hosts->config[places[i]].is_leaving;
        if (is_removed && !host->is_leaving && !before.states[i].has_synced) {
            note_unknown(hosts, host->name);
        }
        if (places[i] >= 0) {
            struct host_state fresh = hosts->states[places[i]];
            hosts->states[places[i]] = before.states[i];
            before.states[i] = fresh;
            read_topology(hosts, places[i], effects);
        } else if (before.states[i].n_cpus[NCPUS_PROCS] > 0) {
            struct row row = {.kind = ROW_CPUS};
            row.cpus.host = arena_str(&effects->arena, host->name);
            row.cpus.is_gone = true;
            effects_store(effects, &row);
        }
    }
    empty(&before);
    drop_known(hosts);
    update_awaiting(hosts);
}

void host_table_set_patience(struct host_table *hosts, int patience)
{
    hosts->silent_ms = (int64_t)HOSTS_SILENT_MS * patience;
}

void host_table_start(struct host_table *hosts, int64_t now_ms)
{
    begin_silence(hosts, now_ms);
    hosts->settle_ms = now_ms + hosts->silent_ms;
}

int host_table_count(const struct host_table *hosts)
{
    return hosts->n_hosts;
}

const char *host_table_name(const struct host_table *hosts, int index)
{
    return hosts->config[index].name;
}

int host_table_max(const struct host_table *hosts, int index)
{
    const struct site_host *host = &hosts->config[index];
    int n_cpus = hosts->states[index].n_cpus[host->cpus];
    return host->is_counted && n_cpus < host->max ? n_cpus : host->max;
}

static void set_cpus(struct host_state *state, const struct row_cpus *row)
{
    state->n_cpus[NCPUS_PROCS] = row->n_procs;
    state->n_cpus[NCPUS_CORES] = row->n_cores;
    state->n_cpus[NCPUS_THREADS] = row->n_threads;
}

void host_table_load_cpus(struct host_table *hosts, const struct row_cpus *row)
{
    int index = host_table_find(hosts, row->host);
    if (index >= 0) {
        set_cpus(&hosts->states[index], row);
    }
}

bool host_table_set_cpus(struct host_table *hosts, int index,
                         const struct row_cpus *row, struct effects *effects)
{
    struct host_state *state = &hosts->states[index];
    int before = host_table_max(hosts, index);
    if (row->n_procs == state->n_cpus[NCPUS_PROCS] &&
        row->n_cores == state->n_cpus[NCPUS_CORES] &&
        row->n_threads == state->n_cpus[NCPUS_THREADS]) {
        return false;
    }
    struct row stored = {.kind = ROW_CPUS, .cpus = *row};
    stored.cpus.host = arena_str(&effects->arena, hosts->config[index].name);
    effects_store(effects, &stored);
    set_cpus(state, row);
    return host_table_max(hosts, index) != before;
}

bool host_table_is_window_closed(const struct host_table *hosts, int index,
                                 int64_t local_ms)
{
    const struct site_host *host = &hosts->config[index];
    return !window_is_open(&host->run_windows, local_ms) ||
           !window_is_open(&host->dispatch_windows, local_ms);
}

int host_table_leaving_max(const struct host_table *hosts, int index)
{
    return hosts->config[index].n_stay;
}

bool host_table_is_gone(const struct host_table *hosts, int index)
{
    return hosts->config[index].is_leaving && hosts->states[index].is_away;
}

int host_table_find(const struct host_table *hosts, const char *name)
{
    struct named_host *named;
    HASH_FIND_STR(hosts->by_name, name, named);
    return named != NULL ? (int)(named - hosts->named) : -1;
}

static bool is_session(const struct host_state *state, const struct peer *from,
                       uint64_t session)
{
    return state->session != 0 && state->session == session &&
           state->link == from->link;
}

int host_table_find_session(const struct host_table *hosts, const struct peer *from,
                            uint64_t session)
{
    /* The name of the connection is a short cut, not a proof. */
    int named = host_table_find(hosts, from->name != NULL ? from->name : "");
    if (named >= 0 && is_session(&hosts->states[named], from, session)) {
        return named;
    }
    for (int i = 0; i < hosts->n_hosts; i++) {
        if (is_session(&hosts->states[i], from, session)) {
            return i;
        }
    }
    return -1;
}

bool host_table_is_ready(const struct host_table *hosts, int index)
{
    return hosts->states[index].is_synced && !hosts->states[index].is_away;
}

bool host_table_is_away(const struct host_table *hosts, int index)
{
    return hosts->states[index].is_away;
}

bool host_table_set_foreign(struct host_table *hosts, int index, int n_slots,
                            bool is_out)
{
    struct host_state *state = &hosts->states[index];
    bool has_changed = state->n_foreign != n_slots || state->is_out != is_out;
    state->n_foreign = n_slots;
    state->is_out = is_out;
    return has_changed;
}

int host_table_foreign(const struct host_table *hosts, int index)
{
    return hosts->states[index].n_foreign;
}

bool host_table_is_out(const struct host_table *hosts, int index)
{
    return hosts->states[index].is_out;
}

const char *host_table_boot(const struct host_table *hosts, int index)
{
    return hosts->states[index].boot;
}

uint64_t host_table_session(const struct host_table *hosts, int index)
{
    return hosts->states[index].session;
}

/* ---------------------------------------------------------------- sessions */

static void send_welcome(const struct host_table *hosts, const struct peer *from,
                         const struct msg *hello, bool is_accepted,
                         uint64_t min_session, const char *text,
                         struct effects *effects)
{
    struct msg msg = {.kind = MSG_HOST_WELCOME, .session = hello->session, .site = ""};
    msg.welcome.is_accepted = is_accepted;
    msg.welcome.min_session = min_session;
    msg.welcome.text = text;
    msg.welcome.lost_after_ms = HOSTS_SILENT_MS;
    if (hello->host_hello.knows_nonces) {
        msg.welcome.mark = hosts->mark;
        msg.welcome.lists_runs = true;
        msg.welcome.list_from = hosts->list_from;
        msg.welcome.list_to = hosts->list_to;
        msg.welcome.lists_all = hosts->is_behind;
    }
    effects_send(effects, from, &msg);
}

static void log_refusal(struct host_table *hosts, const char *name, const char *why,
                        int64_t now_ms, struct effects *effects)
{
    struct refusal *at = NULL;
    for (int i = 0; i < REFUSALS_MAX; i++) {
        struct refusal *one = &hosts->refusals[i];
        bool is_old = !one->is_logged || now_ms - one->logged_ms >= REFUSAL_LOG_MS;
        if (strcmp(one->name, name) == 0) {
            at = is_old ? one : NULL;
            break;
        }
        at = at == NULL && is_old ? one : at;
    }
    if (at != NULL) {
        snprintf(at->name, sizeof(at->name), "%s", name);
        at->logged_ms = now_ms;
        at->is_logged = true;
        effects_log(effects, LOG_LEVEL_WARNING, "host \"%s\" is refused: %s", name,
                    why);
    }
}

/* Why the sender may not speak for that host; NULL: it may. */
static const char *check_proof(const struct site_host *host, const struct peer *from,
                               struct arena *arena)
{
    if (from->roles == HOST_PROOF_LOCAL) {
        return NULL;
    }
    if (host->is_here) {
        return "this name is in HOSTS_HERE, so only the site's own machine may use it";
    }
    return from->roles == HOST_PROOF_SHARED || strcmp(from->name, host->name) == 0
               ? NULL
               : arena_printf(arena, "this key is that of host %s (HOST_KEYS)",
                              from->name);
}

int host_table_hello(struct host_table *hosts, const struct peer *from,
                     const struct msg *msg, int64_t now_ms, struct effects *effects)
{
    int index = host_table_find(hosts, msg->host_hello.name);
    if (index < 0) {
        /* A key of one host speaks for that host alone. */
        bool is_proven = from->roles != HOST_PROOF_KEY ||
                         strcmp(from->name, msg->host_hello.name) == 0;
        if (is_proven && msg->host_hello.mark.commits > 0) { /* it was a host here */
            note_unknown(hosts, msg->host_hello.name);
            update_awaiting(hosts);
        }
        const char *why = "this host is not in the site's configuration";
        log_refusal(hosts, msg->host_hello.name, why, now_ms, effects);
        send_welcome(hosts, from, msg, false, 0, why, effects);
        return -1;
    }
    const char *against = check_proof(&hosts->config[index], from, &effects->arena);
    if (against != NULL) {
        log_refusal(hosts, msg->host_hello.name, against, now_ms, effects);
        send_welcome(hosts, from, msg, false, 0, against, effects);
        return -1;
    }
    struct host_state *state = &hosts->states[index];
    bool is_repeated = msg->session == state->session && from->link == state->link;
    if (msg->session <= state->session && !is_repeated) {
        send_welcome(hosts, from, msg, false, state->session,
                     "a newer session of this host is there", effects);
        return -1;
    }
    state->knows_nonces = msg->host_hello.knows_nonces;
    send_welcome(hosts, from, msg, true, 0, "", effects);
    if (is_repeated) {
        return -1; /* its list of runs is on the way or was received */
    }
    state->session = msg->session;
    state->link = from->link;
    state->is_synced = false;
    state->is_away = false;
    state->hello_ms = state->heard_ms = now_ms;
    dup_set_text(&state->boot, msg->host_hello.boot_id);
    dup_set_text(&state->topology_text, msg->host_hello.topology);
    read_topology(hosts, index, effects);
    return index;
}

void host_table_synced(struct host_table *hosts, int index)
{
    hosts->states[index].is_synced = hosts->states[index].has_synced = true;
    drop_known(hosts);
    update_awaiting(hosts);
}

bool host_table_is_awaiting(const struct host_table *hosts)
{
    return hosts->is_awaiting;
}

const char *host_table_unknown(const struct host_table *hosts)
{
    return hosts->n_unknown > 0 ? hosts->unknown[hosts->n_unknown - 1] : NULL;
}

bool host_table_is_usable(const struct host_table *hosts, int index)
{
    return host_table_is_ready(hosts, index) && !hosts->is_awaiting;
}

bool host_table_heard(struct host_table *hosts, int index, int64_t now_ms)
{
    struct host_state *state = &hosts->states[index];
    bool was_away = state->is_away;
    state->heard_ms = now_ms;
    state->is_away = false;
    return was_away;
}

bool host_table_is_stuck(const struct host_table *hosts, int index, int64_t now_ms)
{
    const struct host_state *state = &hosts->states[index];
    return !state->is_synced && now_ms - state->hello_ms >= HOSTS_STUCK_MS;
}

void host_table_refuse(const struct peer *from, const struct msg *msg,
                       struct effects *effects)
{
    struct msg answer = {.kind = MSG_ERROR, .session = msg->session, .site = ""};
    answer.error.code = ERR_STALE;
    answer.error.text = "no such session here, send HELLO again";
    answer.error.about = (int)msg->kind;
    effects_send(effects, from, &answer);
}

/* A sublet-host of an earlier version refuses fields that it does not know. */
static void remove_nonce(struct msg *msg)
{
    static const size_t runs[MSG_KINDS] = {
        [MSG_RUN_START] = offsetof(struct msg, run_start.run),
        [MSG_RUN_GO] = offsetof(struct msg, run_go.run),
        [MSG_RUN_CONTROL] = offsetof(struct msg, run_control.run),
        [MSG_RUN_RESIZE] = offsetof(struct msg, run_resize.run),
        [MSG_RUN_FORGET] = offsetof(struct msg, run.run),
        [MSG_OUTPUT_ASK] = offsetof(struct msg, output_ask.run),
        [MSG_STREAM_DOWN] = offsetof(struct msg, stream_down.run),
    };
    if (msg->kind == MSG_RUN_GO) {
        msg->run_go.commits = 0;
    }
    if (runs[msg->kind] != 0) {
        ((struct run_id *)((char *)msg + runs[msg->kind]))->nonce = 0;
    }
}

bool host_table_knows_nonces(const struct host_table *hosts, int index)
{
    return hosts->states[index].knows_nonces;
}

void host_table_set_mark(struct host_table *hosts, const struct journal_mark *mark,
                         uint64_t list_from, uint64_t list_to, bool is_behind)
{
    hosts->is_behind = is_behind;
    update_awaiting(hosts);
    hosts->mark = *mark;
    hosts->list_from = list_from;
    hosts->list_to = list_to;
}

void host_table_send(const struct host_table *hosts, int index, const struct msg *msg,
                     struct effects *effects)
{
    const struct host_state *state = &hosts->states[index];
    struct peer to = {
        .kind = PEER_HOST, .name = hosts->config[index].name, .link = state->link};
    struct msg copy = *msg;
    copy.session = state->session;
    copy.site = "";
    if (!state->knows_nonces) {
        remove_nonce(&copy);
    }
    effects_send(effects, &to, &copy);
}

/* ---------------------------------------------------------------- liveness */

int host_table_tick(struct host_table *hosts, int64_t now_ms)
{
    if (!hosts->has_settled && now_ms >= hosts->settle_ms) {
        hosts->has_settled = true;
        update_awaiting(hosts);
    }
    for (int i = 0; i < hosts->n_hosts; i++) {
        struct host_state *state = &hosts->states[i];
        if (!state->is_away && now_ms - state->heard_ms >= hosts->silent_ms) {
            state->is_away = true;
            return i;
        }
    }
    return -1;
}

int64_t host_table_wake_ms(const struct host_table *hosts)
{
    int64_t wake_ms =
        hosts->is_behind && !hosts->has_settled ? hosts->settle_ms : INT64_MAX;
    for (int i = 0; i < hosts->n_hosts; i++) {
        const struct host_state *state = &hosts->states[i];
        if (!state->is_away && state->heard_ms + hosts->silent_ms < wake_ms) {
            wake_ms = state->heard_ms + hosts->silent_ms;
        }
    }
    return wake_ms;
}
