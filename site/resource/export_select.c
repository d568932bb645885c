/* SPDX-License-Identifier: Apache-2.0 */
/* export_select.c: see export_select.h. */
#include "site/resource/export_select.h"

#include <stdlib.h>
#include <string.h>

#include "model/dup.h"
#include "provider/export/export_shared.h"
#include "site/config/resreq_config.h"

/* What is on record. */
struct pick {
    char *policy, *content, *hosts;
};

struct export_select {
    struct export_select_parts parts;
    struct pick *items;
    int count, capacity;
    struct arena arena; /* of the plan */
    struct export_plan plan;
    bool is_open;    /* a policy waits */
    int64_t wait_ms; /* until then for all hosts; INT64_MAX: not any more */
    bool has_news;   /* a host has told since it was last looked at */
};

struct export_select *export_select_new(const struct export_select_parts *parts)
{
    struct export_select *picks = mem_alloc(1, sizeof(*picks));
    picks->parts = *parts;
    arena_init(&picks->arena);
    picks->wait_ms = INT64_MAX;
    return picks;
}

void export_select_reload(struct export_select *picks, const struct site_config *config,
                          struct host_resources *facts)
{
    picks->parts.config = config;
    picks->parts.facts = facts;
}

static void release_pick(struct pick *pick)
{
    dup_free(pick->policy);
    dup_free(pick->content);
    dup_free(pick->hosts);
}

void export_select_free(struct export_select *picks)
{
    if (picks == NULL) {
        return;
    }
    for (int i = 0; i < picks->count; i++) {
        release_pick(&picks->items[i]);
    }
    free(picks->items);
    arena_release(&picks->arena);
    free(picks);
}

void export_select_load(struct export_select *picks, const struct row_pick *row)
{
    if (picks->count == picks->capacity) {
        picks->capacity = picks->capacity * 2 + 8;
        picks->items =
            mem_grow(picks->items, (size_t)picks->capacity, sizeof(*picks->items));
    }
    picks->items[picks->count++] = (struct pick){
        dup_text(row->policy), dup_text(row->content), dup_text(row->hosts)};
}

/* ---------------------------------------------------------------- on record */

static bool is_of(const struct pick *pick, const struct export_late *late)
{
    return strcmp(pick->policy, late->name) == 0 &&
           strcmp(pick->content, late->content) == 0;
}

static const struct pick *find_pick(const struct export_select *picks,
                                    const struct export_late *late)
{
    for (int i = 0; i < picks->count; i++) {
        if (is_of(&picks->items[i], late)) {
            return &picks->items[i];
        }
    }
    return NULL;
}

static bool is_configured(const struct export_plan *plan, const struct pick *pick)
{
    for (int i = 0; i < plan->n_late; i++) {
        if (is_of(pick, &plan->late[i])) {
            return true;
        }
    }
    return false;
}

static void store_pick(const struct pick *pick, bool is_gone, struct effects *effects)
{
    struct row row = {.kind = ROW_PICK,
                      .pick = {.policy = arena_str(&effects->arena, pick->policy),
                               .content = arena_str(&effects->arena, pick->content),
                               .hosts = arena_str(&effects->arena, pick->hosts),
                               .is_gone = is_gone}};
    effects_store(effects, &row);
}

/* Policies that have gone, or are others now, begin anew if they come back. */
static void drop_old(struct export_select *picks, const struct export_plan *plan,
                     struct effects *effects)
{
    int n_kept = 0;
    for (int i = 0; i < picks->count; i++) {
        if (is_configured(plan, &picks->items[i])) {
            picks->items[n_kept++] = picks->items[i];
        } else {
            store_pick(&picks->items[i], true, effects);
            release_pick(&picks->items[i]);
        }
    }
    picks->count = n_kept;
}

/* ---------------------------------------------------------------- the plan */

/* By host: what this policy could have: slots, and nobody else exports it. */
static uint8_t *list_free(const struct export_select *picks, struct arena *arena)
{
    const struct export_plan *plan = &picks->plan;
    int n_hosts = picks->parts.config->n_hosts;
    uint8_t *are_free = arena_alloc(arena, (size_t)n_hosts + 1, sizeof(*are_free));
    for (int i = 0; i < n_hosts; i++) {
        are_free[i] = picks->parts.config->hosts[i].max > 0;
    }
    for (int i = 0; i < plan->n_leases; i++) {
        for (int k = 0; k < plan->leases[i].n_hosts; k++) {
            int host =
                host_table_find(picks->parts.hosts, plan->leases[i].hosts[k].host);
            if (host >= 0) {
                are_free[host] = 0;
            }
        }
    }
    return are_free;
}

/* The policy gets the hosts that are on record for it, in file order. */
static void give(struct export_select *picks, const struct export_late *late,
                 const struct pick *pick)
{
    struct arena *arena = &picks->arena;
    const struct site_config *config = picks->parts.config;
    size_t n_max = (size_t)config->n_hosts + 1;
    struct conf_words words = conf_words(arena, pick->hosts);
    const uint8_t *are_free = list_free(picks, arena);
    uint8_t *are_picked = arena_alloc(arena, n_max, sizeof(*are_picked));
    struct export_host *hosts = arena_alloc(arena, n_max, sizeof(*hosts));
    int n_hosts = 0;
    for (int i = 0; i < words.count; i++) {
        int host = host_table_find(picks->parts.hosts, words.words[i]);
        if (host >= 0) {
            are_picked[host] = are_free[host];
        }
    }
    for (int i = 0; i < config->n_hosts; i++) {
        if (are_picked[i]) {
            hosts[n_hosts++] = (struct export_host){
                config->hosts[i].name, config->hosts[i].max, config->hosts[i].type, i};
        }
    }
    export_give(arena, &picks->plan, late, hosts, n_hosts);
}

/* The configuration's plan with what is on record. True where a policy is open. */
static bool make_plan(struct export_select *picks)
{
    const struct export_plan *from = &picks->parts.config->exports;
    size_t size = (size_t)from->n_leases * sizeof(*from->leases);
    bool is_open = false;
    picks->plan = *from;
    picks->plan.leases =
        size > 0 ? arena_copy(&picks->arena, from->leases, size) : NULL;
    for (int i = 0; i < from->n_late; i++) {
        const struct pick *pick = find_pick(picks, &from->late[i]);
        if (pick != NULL) {
            give(picks, &from->late[i], pick);
        }
        is_open = is_open || pick == NULL;
    }
    /* That it was too much for a lease was said when the configuration was read. */
    (void)export_shared_give(&picks->arena, &picks->plan);
    return is_open;
}

/* The provider's plan is another one from here on. True where a policy is open. */
static bool export_all(struct export_select *picks, int64_t now_ms,
                       struct effects *effects)
{
    struct arena before = picks->arena;
    arena_init(&picks->arena);
    bool is_open = make_plan(picks);
    provider_export(picks->parts.provider, &picks->plan, now_ms, effects);
    arena_release(&before);
    return is_open;
}

void export_select_begin(struct export_select *picks, int64_t now_ms,
                         struct effects *effects)
{
    drop_old(picks, &picks->parts.config->exports, effects);
    picks->is_open = export_all(picks, now_ms, effects);
    picks->wait_ms = picks->is_open ? now_ms + EXPORT_SELECT_WAIT_MS : INT64_MAX;
    picks->has_news = false;
    if (picks->is_open) {
        effects_log(effects, LOG_LEVEL_NOTICE,
                    "an export policy waits until hosts have reported what its "
                    "RES_SELECT names");
    }
}

/* ---------------------------------------------------------------- picking */

/* The host has told all of the loads that the selection names. */
static bool has_told(const struct export_select *picks, int host,
                     const struct resreq_program *program)
{
    const struct resource_table *table = host_resources_table(picks->parts.facts);
    const struct resources *resources = host_resources_catalogue(picks->parts.facts);
    bool is_told = host_resources_is_reported(picks->parts.facts, host);
    for (int i = 0; i < program->n_named && is_told; i++) {
        int id = program->named[i];
        is_told = resources_at(resources, id)->interval_ms == 0 ||
                  id == RESOURCE_STATUS || resource_table_has(table, host, id);
    }
    return is_told;
}

/* What only the site knows of its hosts. */
static void set_state(struct export_select *picks, int host)
{
    struct resource_table *table = host_resources_table(picks->parts.facts);
    int own, consumers, max = host_table_max(picks->parts.hosts, host);
    run_table_used_slots(runs_table(picks->parts.runs), host, &own, &consumers);
    int n_free = max > own + consumers ? max - own - consumers : 0;
    resource_table_set_number(table, host, RESOURCE_SLOTS, n_free);
    resource_table_set_number(table, host, RESOURCE_MAXSLOTS, max);
    resource_table_set_text(table, host, RESOURCE_STATUS,
                            host_table_is_ready(picks->parts.hosts, host) ? "ok"
                                                                          : "unavail");
}

/* What the selection means, by host; false: some of those that could be picked have to
 * tell first. */
static bool match(struct export_select *picks, const struct export_late *late,
                  struct arena *arena, bool is_late, uint8_t *matches)
{
    struct resreq_rules rules = resreq_config_select_rules(
        picks->parts.config, host_resources_catalogue(picks->parts.facts));
    struct resreq_strings from = {.queue = late->select};
    struct resreq_notes notes = {.arena = arena};
    struct resreq_error fault;
    struct resreq resreq;
    const uint8_t *are_free = list_free(picks, arena);
    if (resreq_compile(arena, &rules, &from, &resreq, &notes, &fault) != 0) {
        return false; /* the configuration has been judged by the same rules */
    }
    for (int i = 0; i < picks->parts.config->n_hosts; i++) {
        set_state(picks, i);
        if (!is_late && are_free[i] && !has_told(picks, i, &resreq.program)) {
            return false;
        }
    }
    resreq_program_run(&resreq.program, host_resources_table(picks->parts.facts), NULL,
                       &resreq_config_nowhere, matches);
    for (int i = 0; i < picks->parts.config->n_hosts; i++) {
        const char *type = resource_table_text(host_resources_table(picks->parts.facts),
                                               i, RESOURCE_TYPE);
        matches[i] = matches[i] && are_free[i] &&
                     host_resources_is_reported(picks->parts.facts, i) &&
                     !export_lacks_swap(late->spaces, type);
    }
    return true;
}

/* The first NHOSTS that match, as they go on record. */
static const char *first_of(const struct export_select *picks,
                            const struct export_late *late, struct arena *arena,
                            const uint8_t *matches)
{
    size_t size = 1;
    int last = -1, n_hosts = 0;
    for (int i = 0; i < picks->parts.config->n_hosts && n_hosts < late->n_hosts_max;
         i++) {
        if (matches[i]) {
            size += strlen(picks->parts.config->hosts[i].name) + 1;
            last = i;
            n_hosts++;
        }
    }
    char *text = arena_alloc(arena, size, 1), *at = text;
    for (int i = 0; i <= last; i++) {
        if (matches[i]) {
            const char *name = picks->parts.config->hosts[i].name;
            size_t length = strlen(name);
            memcpy(at, name, length);
            at[length] = ' ';
            at += length + 1;
        }
    }
    if (at > text) {
        at[-1] = '\0';
    }
    return text;
}

/* True where hosts were found. */
static bool pick(struct export_select *picks, const struct export_late *late,
                 bool is_late, struct effects *effects)
{
    struct arena *arena = &effects->arena;
    size_t n_rows =
        (size_t)resource_table_rows(host_resources_table(picks->parts.facts));
    uint8_t *matches = arena_alloc(arena, n_rows + 1, sizeof(*matches));
    if (!match(picks, late, arena, is_late, matches)) {
        return false;
    }
    const char *hosts = first_of(picks, late, arena, matches);
    if (hosts[0] == '\0') {
        return false;
    }
    export_select_load(picks, &(struct row_pick){.policy = late->name,
                                                 .content = late->content,
                                                 .hosts = hosts});
    store_pick(&picks->items[picks->count - 1], false, effects);
    effects_log(effects, LOG_LEVEL_NOTICE, "export policy %.200s: picked %.200s",
                late->content, hosts);
    return true;
}

const struct export_lease *export_select_waiting_at(const struct export_select *picks,
                                                    int index)
{
    for (int i = 0; i < picks->plan.n_leases; i++) {
        if (picks->plan.leases[i].is_open && index-- == 0) {
            return &picks->plan.leases[i];
        }
    }
    return NULL;
}

void export_select_mark(struct export_select *picks)
{
    picks->has_news = picks->is_open;
}

void export_select_tick(struct export_select *picks, int64_t now_ms,
                        struct effects *effects)
{
    const struct export_plan *from = &picks->parts.config->exports;
    bool is_due = picks->wait_ms <= now_ms;
    if (!picks->is_open || (!picks->has_news && !is_due)) {
        return;
    }
    bool is_late = is_due || picks->wait_ms == INT64_MAX;
    picks->has_news = false;
    for (int i = 0; i < from->n_late; i++) {
        if (find_pick(picks, &from->late[i]) == NULL &&
            pick(picks, &from->late[i], is_late, effects)) {
            picks->is_open = export_all(picks, now_ms, effects);
            pass_request_set(picks->parts.pass_request);
        }
    }
    if (is_late || !picks->is_open) {
        picks->wait_ms = INT64_MAX;
    }
}

int64_t export_select_wake_ms(const struct export_select *picks)
{
    return picks->wait_ms;
}
