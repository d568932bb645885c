/* SPDX-License-Identifier: Apache-2.0 */
/* export_select.c: see site_resource.h. */
#include "site/resource/site_resource.h"

#include <stdlib.h>
#include <string.h>

#include "model/dup.h"
#include "provider/export/export.h"
#include "site/config/site_config.h"

/* A recorded choice. */
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
    int64_t wait_ms; /* wait until then for all hosts; INT64_MAX: no longer */
    bool has_news;   /* a host has reported since the last try */
};

struct export_select *export_select_new(const struct export_select_parts *parts)
{
    struct export_select *selection = mem_alloc(1, sizeof(*selection));
    selection->parts = *parts;
    arena_init(&selection->arena);
    selection->wait_ms = INT64_MAX;
    return selection;
}

void export_select_reload(struct export_select *selection,
                          const struct site_config *config,
                          struct host_resources *host_resources)
{
    selection->parts.config = config;
    selection->parts.host_resources = host_resources;
}

static void release_pick(struct pick *pick)
{
    dup_free(pick->policy);
    dup_free(pick->content);
    dup_free(pick->hosts);
}

void export_select_free(struct export_select *selection)
{
    if (selection == NULL) {
        return;
    }
    for (int i = 0; i < selection->count; i++) {
        release_pick(&selection->items[i]);
    }
    free(selection->items);
    arena_release(&selection->arena);
    free(selection);
}

void export_select_load(struct export_select *selection, const struct row_pick *row)
{
    if (selection->count == selection->capacity) {
        selection->capacity = selection->capacity * 2 + 8;
        selection->items = mem_grow(selection->items, (size_t)selection->capacity,
                                    sizeof(*selection->items));
    }
    selection->items[selection->count++] = (struct pick){
        dup_text(row->policy), dup_text(row->content), dup_text(row->hosts)};
}

/* ---------------------------------------------------------------- on record */

static bool is_of(const struct pick *pick, const struct export_deferred *late)
{
    return strcmp(pick->policy, late->name) == 0 &&
           strcmp(pick->content, late->content) == 0;
}

static const struct pick *find_pick(const struct export_select *selection,
                                    const struct export_deferred *late)
{
    for (int i = 0; i < selection->count; i++) {
        if (is_of(&selection->items[i], late)) {
            return &selection->items[i];
        }
    }
    return NULL;
}

static bool is_configured(const struct export_plan *plan, const struct pick *pick)
{
    for (int i = 0; i < plan->n_deferred; i++) {
        if (is_of(pick, &plan->deferred[i])) {
            return true;
        }
    }
    return false;
}

static void store_pick(const struct pick *pick, bool is_gone, struct effects *effects)
{
    struct row row = {.kind = ROW_PICK,
                      .pick = {.policy = pick->policy,
                               .content = pick->content,
                               .hosts = pick->hosts,
                               .is_gone = is_gone}};
    effects_store(effects, &row);
}

/* Records of policies that were removed or changed are deleted. */
static void drop_old(struct export_select *selection, const struct export_plan *plan,
                     struct effects *effects)
{
    int n_kept = 0;
    for (int i = 0; i < selection->count; i++) {
        if (is_configured(plan, &selection->items[i])) {
            selection->items[n_kept++] = selection->items[i];
        } else {
            store_pick(&selection->items[i], true, effects);
            release_pick(&selection->items[i]);
        }
    }
    selection->count = n_kept;
}

/* ---------------------------------------------------------------- the plan */

/* By host: it has slots, and no other policy exports it. */
static uint8_t *list_free(const struct export_select *selection, struct arena *arena)
{
    const struct export_plan *plan = &selection->plan;
    int n_hosts = selection->parts.config->n_hosts;
    uint8_t *are_free = arena_alloc(arena, (size_t)n_hosts + 1, sizeof(*are_free));
    for (int i = 0; i < n_hosts; i++) {
        are_free[i] = host_table_max(selection->parts.hosts, i) > 0;
    }
    for (int i = 0; i < plan->n_leases; i++) {
        for (int k = 0; k < plan->leases[i].n_hosts; k++) {
            int host =
                host_table_find(selection->parts.hosts, plan->leases[i].hosts[k].host);
            if (host >= 0) {
                are_free[host] = 0;
            }
        }
    }
    return are_free;
}

/* The policy gets the hosts that are on record for it, in file order. */
static void give(struct export_select *selection, const struct export_deferred *late,
                 const struct pick *pick)
{
    struct arena *arena = &selection->arena;
    const struct site_config *config = selection->parts.config;
    size_t n_max = (size_t)config->n_hosts + 1;
    struct conf_words words = conf_words(arena, pick->hosts);
    const uint8_t *are_free = list_free(selection, arena);
    uint8_t *are_picked = arena_alloc(arena, n_max, sizeof(*are_picked));
    struct export_host *hosts = arena_alloc(arena, n_max, sizeof(*hosts));
    int n_hosts = 0;
    for (int i = 0; i < words.count; i++) {
        int host = host_table_find(selection->parts.hosts, words.words[i]);
        if (host >= 0) {
            are_picked[host] = are_free[host];
        }
    }
    for (int i = 0; i < config->n_hosts; i++) {
        if (are_picked[i]) {
            hosts[n_hosts++] = (struct export_host){
                config->hosts[i].name, host_table_max(selection->parts.hosts, i),
                config->hosts[i].type, i};
        }
    }
    export_assign_hosts(arena, &selection->plan, late, hosts, n_hosts);
}

/* A host may have fewer slots than the configuration says (is_counted, and a host that
 * a simulation makes smaller): policies get what is left, in file order. A lease
 * without any host whose CPUs are known waits for them. */
static void fit_to_hosts(struct export_select *selection)
{
    const struct host_table *hosts = selection->parts.hosts;
    int *left = arena_alloc(&selection->arena, (size_t)host_table_count(hosts) + 1,
                            sizeof(*left));
    for (int i = 0; i < host_table_count(hosts); i++) {
        left[i] = host_table_max(hosts, i);
    }
    for (int i = 0; i < selection->plan.n_leases; i++) {
        struct export_lease *lease = &selection->plan.leases[i];
        const struct export_part *parts = lease->hosts;
        int n_parts = lease->n_hosts;
        lease->hosts =
            arena_alloc(&selection->arena, (size_t)n_parts, sizeof(*lease->hosts));
        lease->n_hosts = 0;
        bool has_unknown = false;
        for (int k = 0; k < n_parts; k++) {
            struct export_part part = parts[k];
            int host = part.index;
            part.n_slots = part.n_slots < left[host] ? part.n_slots : left[host];
            if (part.n_slots > 0) {
                lease->hosts[lease->n_hosts++] = part;
                left[host] -= part.n_slots;
            }
            has_unknown |= selection->parts.config->hosts[host].is_counted &&
                           host_table_max(hosts, host) == 0;
        }
        lease->is_open = lease->is_open || (lease->n_hosts == 0 && has_unknown);
    }
}

/* The configuration's plan with the recorded hosts. True if a policy is open. */
static bool make_plan(struct export_select *selection)
{
    const struct export_plan *from = &selection->parts.config->exports;
    size_t size = (size_t)from->n_leases * sizeof(*from->leases);
    bool is_open = false;
    selection->plan = *from;
    selection->plan.leases =
        size > 0 ? arena_copy(&selection->arena, from->leases, size) : NULL;
    for (int i = 0; i < from->n_deferred; i++) {
        const struct pick *pick = find_pick(selection, &from->deferred[i]);
        if (pick != NULL) {
            give(selection, &from->deferred[i], pick);
        }
        is_open = is_open || pick == NULL;
    }
    fit_to_hosts(selection);
    /* An excess was reported when the configuration was read. */
    (void)export_shared_give(&selection->arena, &selection->plan);
    return is_open;
}

/* Gives the provider the new plan. True if a policy is open. */
static bool export_all(struct export_select *selection, int64_t now_ms,
                       struct effects *effects)
{
    struct arena before = selection->arena;
    arena_init(&selection->arena);
    bool is_open = make_plan(selection);
    provider_export(selection->parts.provider, &selection->plan, now_ms, effects);
    arena_release(&before);
    return is_open;
}

void export_select_begin(struct export_select *selection, int64_t now_ms,
                         struct effects *effects)
{
    drop_old(selection, &selection->parts.config->exports, effects);
    selection->is_open = export_all(selection, now_ms, effects);
    selection->wait_ms =
        selection->is_open ? now_ms + EXPORT_SELECT_WAIT_MS : INT64_MAX;
    selection->has_news = false;
    if (selection->is_open) {
        effects_log(effects, LOG_LEVEL_NOTICE,
                    "an export policy waits until hosts have reported what its "
                    "RES_SELECT names");
    }
}

/* ---------------------------------------------------------------- picking */

/* The host has reported all loads that the selection names. */
static bool has_told(const struct export_select *selection, int host,
                     const struct resreq_program *program)
{
    const struct resource_table *table =
        host_resources_table(selection->parts.host_resources);
    const struct resources *resources =
        host_resources_catalogue(selection->parts.host_resources);
    bool is_told = host_resources_is_reported(selection->parts.host_resources, host);
    for (int i = 0; i < program->n_named && is_told; i++) {
        int id = program->named[i];
        is_told = resources_at(resources, id)->interval_ms == 0 ||
                  id == RESOURCE_STATUS || resource_table_has(table, host, id);
    }
    return is_told;
}

/* Sets slots and status, which the site knows and hosts do not report. */
static void set_state(struct export_select *selection, int host)
{
    struct resource_table *table =
        host_resources_table(selection->parts.host_resources);
    int max = host_table_max(selection->parts.hosts, host);
    const struct run_table_use *use =
        run_table_use(runs_table(selection->parts.runs), host);
    int n_free = max > use->own + use->consumers ? max - use->own - use->consumers : 0;
    resource_table_set_number(table, host, RESOURCE_SLOTS, n_free);
    resource_table_set_number(table, host, RESOURCE_MAXSLOTS, max);
    resource_table_set_text(
        table, host, RESOURCE_STATUS,
        host_table_is_ready(selection->parts.hosts, host) ? "ok" : "unavail");
}

/* What the selection means, by host; false: some of those that could be picked have to
 * tell first. */
static bool match(struct export_select *selection, const struct export_deferred *late,
                  struct arena *arena, bool is_late, uint8_t *matches)
{
    struct resreq_rules rules = resreq_config_select_rules(
        selection->parts.config,
        host_resources_catalogue(selection->parts.host_resources));
    struct resreq_strings from = {.queue = late->select};
    struct resreq_notes notes = {.arena = arena};
    struct resreq_error fault;
    struct resreq resreq;
    const uint8_t *are_free = list_free(selection, arena);
    if (resreq_compile(arena, &rules, &from, &resreq, &notes, &fault) != 0) {
        return false; /* the configuration was checked by the same rules */
    }
    for (int i = 0; i < selection->parts.config->n_hosts; i++) {
        set_state(selection, i);
        if (!is_late && are_free[i] && !has_told(selection, i, &resreq.program)) {
            return false;
        }
    }
    resreq_program_run(&resreq.program,
                       host_resources_table(selection->parts.host_resources), NULL,
                       &resreq_config_nowhere, matches);
    for (int i = 0; i < selection->parts.config->n_hosts; i++) {
        const char *type = resource_table_text(
            host_resources_table(selection->parts.host_resources), i, RESOURCE_TYPE);
        matches[i] = matches[i] && are_free[i] &&
                     host_resources_is_reported(selection->parts.host_resources, i) &&
                     !export_lacks_swap(late->spaces, type);
    }
    return true;
}

/* The first NHOSTS that match, as they go on record. */
static const char *first_of(const struct export_select *selection,
                            const struct export_deferred *late, struct arena *arena,
                            const uint8_t *matches)
{
    size_t size = 1;
    int last = -1, n_hosts = 0;
    for (int i = 0; i < selection->parts.config->n_hosts && n_hosts < late->n_hosts_max;
         i++) {
        if (matches[i]) {
            size += strlen(selection->parts.config->hosts[i].name) + 1;
            last = i;
            n_hosts++;
        }
    }
    char *text = arena_alloc(arena, size, 1), *at = text;
    for (int i = 0; i <= last; i++) {
        if (matches[i]) {
            const char *name = selection->parts.config->hosts[i].name;
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

/* True if hosts were found. */
static bool pick(struct export_select *selection, const struct export_deferred *late,
                 bool is_late, struct effects *effects)
{
    struct arena *arena = &effects->arena;
    size_t n_rows = (size_t)resource_table_rows(
        host_resources_table(selection->parts.host_resources));
    uint8_t *matches = arena_alloc(arena, n_rows + 1, sizeof(*matches));
    if (!match(selection, late, arena, is_late, matches)) {
        return false;
    }
    const char *hosts = first_of(selection, late, arena, matches);
    if (hosts[0] == '\0') {
        return false;
    }
    export_select_load(selection, &(struct row_pick){.policy = late->name,
                                                     .content = late->content,
                                                     .hosts = hosts});
    store_pick(&selection->items[selection->count - 1], false, effects);
    effects_log(effects, LOG_LEVEL_NOTICE, "export policy %.200s: picked %.200s",
                late->content, hosts);
    return true;
}

const struct export_lease *
export_select_waiting_at(const struct export_select *selection, int index)
{
    for (int i = 0; i < selection->plan.n_leases; i++) {
        if (selection->plan.leases[i].is_open && index-- == 0) {
            return &selection->plan.leases[i];
        }
    }
    return NULL;
}

void export_select_mark(struct export_select *selection)
{
    selection->has_news = selection->is_open;
}

void export_select_tick(struct export_select *selection, int64_t now_ms,
                        struct effects *effects)
{
    const struct export_plan *from = &selection->parts.config->exports;
    bool is_due = selection->wait_ms <= now_ms;
    if (!selection->is_open || (!selection->has_news && !is_due)) {
        return;
    }
    bool is_late = is_due || selection->wait_ms == INT64_MAX;
    selection->has_news = false;
    for (int i = 0; i < from->n_deferred; i++) {
        if (find_pick(selection, &from->deferred[i]) == NULL &&
            pick(selection, &from->deferred[i], is_late, effects)) {
            selection->is_open = export_all(selection, now_ms, effects);
            pass_request_set(selection->parts.pass_request);
        }
    }
    if (is_late || !selection->is_open) {
        selection->wait_ms = INT64_MAX;
    }
}

int64_t export_select_wake_ms(const struct export_select *selection)
{
    return selection->wait_ms;
}
