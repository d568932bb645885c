/* SPDX-License-Identifier: Apache-2.0 */
/* plan_config.c: see plan.h. conf_check has checked each value by its kind; a
 * malformed value counts as unset here. Pools are read first, then their windows, then
 * the rows of nodes. The rows of each window become a plan. */
#include "broker/plan/plan.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/bounds.h"
#include "base/conf/conf_value.h"
#include "broker/plan/plan_check.h"

/* A PlanNode row. */
struct entry {
    struct conf_place place;
    struct plan_node node;
    int pool, window; /* indices; window PLAN_NO_NODE: of all */
};

struct reader {
    struct conf *conf;
    struct plan_pools *pools;
    struct plan_settings *settings;                 /* of each pool */
    struct conf_place *pool_places, *window_places; /* likewise; of its first window */
    const char **members; /* sorted; NULL: the files name none */
    int n_members;
    struct entry *entries;
    int n_entries;
    /* Of the plan that is being made: */
    int pool;
    const struct entry **chosen;
    int n_chosen;
};

/* ---------------------------------------------------------------- complaints */

/* A complaint about several windows is made once. */
static bool is_said(const struct conf *conf, const struct conf_place *at, int line,
                    const char *key, const char *text)
{
    for (const struct conf_diag *diag = conf->diags; diag != NULL; diag = diag->next) {
        if (diag->line == line && diag->key != NULL && strcmp(diag->key, key) == 0 &&
            strcmp(diag->file, at->section->file) == 0 &&
            strcmp(diag->text, text) == 0) {
            return true;
        }
    }
    return false;
}

/* Also of a key that is not there: the row's line then. */
static void say(struct conf *conf, enum conf_severity severity,
                const struct conf_place *at, const char *key, const char *text)
{
    const struct conf_cell *cell = conf_cell(at->row, key);
    struct conf_cell missing = {.key = key, .line = at->row->line};
    cell = cell != NULL ? cell : &missing;
    if (!is_said(conf, at, cell->line, key, text)) {
        conf_complain(conf, severity, at->section, at->row, cell, "%s", text);
    }
}

static void complain(struct reader *reader, const struct conf_place *at,
                     const char *key, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static void complain(struct reader *reader, const struct conf_place *at,
                     const char *key, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say(reader->conf, CONF_ERROR, at, key,
        arena_vprintf(reader->conf->arena, format, args));
    va_end(args);
}

/* ---------------------------------------------------------------- names */

/* A name, or NULL and a complaint, if only conf_check's. */
static const char *need_name(struct reader *reader, const struct conf_place *at,
                             const char *key, const char *expected)
{
    const char *name = conf_text(at->row, key, NULL);
    if (name == NULL) {
        complain(reader, at, key, "missing, expected %s", expected);
        return NULL;
    }
    return conf_parse_name(name, NULL) < 0 ? NULL : name;
}

static int find_pool(const struct plan_pools *pools, const char *name)
{
    for (int i = 0; i < pools->n_pools; i++) {
        if (strcmp(pools->pools[i].name, name) == 0) {
            return i;
        }
    }
    return PLAN_NO_NODE;
}

/* The pool that a row names, or PLAN_NO_NODE and a complaint. */
static int need_pool(struct reader *reader, const struct conf_place *at)
{
    const char *name = need_name(reader, at, "POOL", "the name of a pool");
    int pool = name != NULL ? find_pool(reader->pools, name) : PLAN_NO_NODE;
    if (name != NULL && pool == PLAN_NO_NODE) {
        complain(reader, at, "POOL",
                 "\"%s\" is not known, expected a section Pool with that name", name);
    }
    return pool;
}

/* ---------------------------------------------------------------- rows */

typedef void (*row_fn)(struct reader *reader, const struct conf_place *at);

static size_t count_rows(const struct conf *conf, const char *name)
{
    const struct conf_section *section = NULL;
    size_t n_rows = 0;
    while ((section = conf_next(conf, name, section)) != NULL) {
        n_rows += (size_t)section->n_rows;
    }
    return n_rows;
}

static void each_row(struct reader *reader, const char *name, row_fn read)
{
    const struct conf_section *section = NULL;
    while ((section = conf_next(reader->conf, name, section)) != NULL) {
        for (int i = 0; i < section->n_rows; i++) {
            read(reader, &(struct conf_place){section, &section->rows[i]});
        }
    }
}

static void read_pool(struct reader *reader, const struct conf_place *at)
{
    const char *name = need_name(reader, at, "NAME", "the pool's name");
    if (name == NULL) {
        return;
    }
    if (find_pool(reader->pools, name) != PLAN_NO_NODE) {
        complain(reader, at, "NAME", "\"%s\" twice, expected each pool once", name);
        return;
    }
    int pool = reader->pools->n_pools++;
    reader->pools->pools[pool].name = name;
    reader->pool_places[pool] = *at;
    reader->settings[pool] = (struct plan_settings){
        .placement =
            (enum plan_placement)conf_value_word(reader->conf, at, "PLACEMENT"),
        .round = (enum plan_round)conf_value_word(reader->conf, at, "ROUND"),
        .is_even = conf_value_bool(reader->conf, at,
                                   "EGO_HYBRID_EVENLY_DISTRIBUTE_SLOTS", false),
        .keeps_scaled =
            conf_value_bool(reader->conf, at, "EGO_DISABLE_RECLAIM_HYBRID_OWN", false),
        .rebalances = conf_value_bool(reader->conf, at, "REBALANCE", true),
        .may_overcommit = conf_value_bool(reader->conf, at, "ALLOW_OVERCOMMIT", false),
        .slots = conf_value_int(reader->conf, at, "SLOTS", 0),
        .cycle_ms = conf_value_duration(reader->conf, at, "CYCLE", 0),
        .max_recall =
            conf_value_int(reader->conf, at, "MAX_RECALL_PER_CYCLE", PLAN_UNLIMITED),
        .min_hold_ms = conf_value_duration(reader->conf, at, "MIN_HOLD", 0),
        .keeps_idle = !conf_value_bool(reader->conf, at, "SHARING", true),
        .lost_ms =
            conf_value_duration(reader->conf, at, "PROVIDER_LOST_AFTER", 5 * 60 * 1000),
        .max_grace_ms = conf_value_duration(reader->conf, at, "MAX_BORROWER_GRACE", -1),
        .default_rank =
            conf_value_int(reader->conf, at, "EGO_CONSUMER_PRIORITY_DEFAULT", 0),
    };
}

static int find_window(const struct plan_pool *pool, const char *name)
{
    for (int i = 0; i < pool->n_windows; i++) {
        if (strcmp(pool->windows[i].name, name) == 0) {
            return i;
        }
    }
    return PLAN_NO_NODE;
}

static bool read_time(struct reader *reader, const struct conf_place *at,
                      const char *key, int *minute)
{
    const char *text = conf_text(at->row, key, NULL);
    struct err err;
    if (text == NULL) {
        complain(reader, at, key, "missing, expected HH:MM");
        return false;
    }
    if (plan_window_parse(text, minute, &err) < 0) {
        complain(reader, at, key, "%s", err.text);
        return false;
    }
    return true;
}

static void read_window(struct reader *reader, const struct conf_place *at)
{
    struct plan_window window = {
        .name = need_name(reader, at, "NAME", "the window's name")};
    int pool = need_pool(reader, at);
    bool has_from = read_time(reader, at, "FROM", &window.from_min);
    bool has_to = read_time(reader, at, "TO", &window.to_min);
    if (window.name == NULL || pool == PLAN_NO_NODE || !has_from || !has_to) {
        return;
    }
    struct plan_pool *of = &reader->pools->pools[pool];
    if (find_window(of, window.name) != PLAN_NO_NODE) {
        complain(reader, at, "NAME",
                 "\"%s\" twice, expected each window of a pool once", window.name);
    } else if (of->n_windows == PLAN_WINDOWS_MAX) {
        complain(reader, at, "NAME", "one window too many, expected at most %d",
                 PLAN_WINDOWS_MAX);
    } else {
        if (of->windows == NULL) {
            reader->window_places[pool] = *at;
            of->windows = arena_alloc(reader->conf->arena, PLAN_WINDOWS_MAX,
                                      sizeof(*of->windows));
        }
        of->windows[of->n_windows++] = window;
    }
}

static int compare_members(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* The members' names, if the files have any. */
static void read_members(struct reader *reader)
{
    size_t n_rows = count_rows(reader->conf, "Member");
    const struct conf_section *section = NULL;
    if (n_rows == 0) {
        return;
    }
    reader->members =
        arena_alloc(reader->conf->arena, n_rows, sizeof(*reader->members));
    while ((section = conf_next(reader->conf, "Member", section)) != NULL) {
        for (int i = 0; i < section->n_rows; i++) {
            const char *name = conf_text(&section->rows[i], "NAME", NULL);
            if (name != NULL) {
                reader->members[reader->n_members++] = name;
            }
        }
    }
    qsort(reader->members, (size_t)reader->n_members, sizeof(*reader->members),
          compare_members);
}

static const char *read_site(struct reader *reader, const struct conf_place *at)
{
    const char *site = conf_text(at->row, "SITE", NULL);
    if (site != NULL && reader->members != NULL &&
        bsearch(&site, reader->members, (size_t)reader->n_members,
                sizeof(*reader->members), compare_members) == NULL) {
        complain(reader, at, "SITE",
                 "\"%s\" is not a member, expected one of section "
                 "Member",
                 site);
    }
    return site;
}

/* True unless the row names a window that the pool does not have. */
static bool read_window_of(struct reader *reader, const struct conf_place *at, int pool,
                           int *window)
{
    const char *name = conf_text(at->row, "WINDOW", NULL);
    *window =
        name != NULL ? find_window(&reader->pools->pools[pool], name) : PLAN_NO_NODE;
    if (name != NULL && *window == PLAN_NO_NODE) {
        complain(reader, at, "WINDOW",
                 "\"%s\" is not known, expected a TimeWindow of pool \"%s\"", name,
                 reader->pools->pools[pool].name);
        return false;
    }
    return true;
}

static void read_node(struct reader *reader, const struct conf_place *at)
{
    const char *name = conf_text(at->row, "NAME", NULL);
    int pool = need_pool(reader, at);
    int window = PLAN_NO_NODE;
    if (name == NULL) {
        complain(reader, at, "NAME", "missing, expected the node's path, as /eng/sim");
    }
    if (name == NULL || pool == PLAN_NO_NODE ||
        !read_window_of(reader, at, pool, &window)) {
        return;
    }
    const char *policy = conf_text(at->row, "POLICY", NULL);
    struct conf_words queues =
        conf_words(reader->conf->arena, conf_text(at->row, "QUEUES", NULL));
    struct plan_node node = {
        .name = name,
        .own = conf_value_int(reader->conf, at, "OWNED", 0),
        .reserve = conf_value_int(reader->conf, at, "RESERVE", 0),
        .limit = conf_value_int(reader->conf, at, "LIMIT", PLAN_UNLIMITED),
        .rank = conf_value_int(reader->conf, at, "RANK",
                               reader->settings[pool].default_rank),
        .grace_ms = conf_value_duration(reader->conf, at, "GRACE", 0),
        .hours = conf_value_int(reader->conf, at, "HOURS", 0),
        .price = conf_value_int(reader->conf, at, "PRICE", PLAN_INHERITED),
        .policy = policy != NULL
                      ? (enum plan_policy)conf_value_word(reader->conf, at, "POLICY")
                      : PLAN_INHERITS,
        .site = read_site(reader, at),
        .queues = queues.words,
        .n_queues = queues.count,
    };
    reader->entries[reader->n_entries++] = (struct entry){*at, node, pool, window};
}

/* ---------------------------------------------------------------- plans */

static void on_violation(void *arg, enum conf_severity severity, int pos,
                         const char *key, const char *text)
{
    struct reader *reader = arg;
    const struct conf_place *at = pos == PLAN_NO_NODE
                                      ? &reader->pool_places[reader->pool]
                                      : &reader->chosen[pos]->place;
    say(reader->conf, severity, at, key, text);
}

static int compare_entries(const void *left, const void *right)
{
    const struct entry *const *a = left, *const *b = right;
    return strcmp((*a)->node.name, (*b)->node.name);
}

static int compare_nodes(const void *left, const void *right)
{
    const struct entry *const *a = left, *const *b = right;
    int order = (*a)->pool - (*b)->pool;
    order = order != 0 ? order : compare_entries(left, right);
    return order != 0 ? order : (*a > *b) - (*a < *b);
}

/* A month has one quota, and a node the same one in all windows. */
static void check_hours(struct reader *reader)
{
    const struct entry **all =
        arena_alloc(reader->conf->arena, (size_t)reader->n_entries, sizeof(*all));
    for (int i = 0; i < reader->n_entries; i++) {
        all[i] = &reader->entries[i];
    }
    qsort(all, (size_t)reader->n_entries, sizeof(*all), compare_nodes);
    for (int i = 1; i < reader->n_entries; i++) {
        const struct plan_node *before = &all[i - 1]->node, *node = &all[i]->node;
        if (all[i]->pool == all[i - 1]->pool && strcmp(before->name, node->name) == 0 &&
            before->hours != node->hours) {
            complain(reader, &all[i]->place, "HOURS",
                     "another row of \"%s\" has %s, expected the same in all windows, "
                     "as a month has one quota",
                     node->name,
                     before->hours == 0 ? "none"
                                        : arena_printf(reader->conf->arena, "%lld",
                                                       (long long)before->hours));
        }
    }
}

/* Chooses the rows that count in a window, in file order. */
static void choose(struct reader *reader, int pool, int window)
{
    struct arena *arena = reader->conf->arena;
    const struct entry **special =
        arena_alloc(arena, (size_t)reader->n_entries, sizeof(*special));
    size_t n_special = 0;
    for (int i = 0; i < reader->n_entries && window != PLAN_NO_NODE; i++) {
        const struct entry *entry = &reader->entries[i];
        if (entry->pool == pool && entry->window == window) {
            special[n_special++] = entry;
        }
    }
    qsort(special, n_special, sizeof(*special), compare_entries);
    reader->pool = pool;
    reader->n_chosen = 0;
    for (int i = 0; i < reader->n_entries; i++) {
        const struct entry *entry = &reader->entries[i];
        if (entry->pool == pool &&
            (entry->window == PLAN_NO_NODE
                 ? bsearch(&entry, special, n_special, sizeof(*special),
                           compare_entries) == NULL
                 : entry->window == window)) {
            reader->chosen[reader->n_chosen++] = entry;
        }
    }
}

static void make_plan(struct reader *reader, struct plan *plan)
{
    struct arena *arena = reader->conf->arena;
    struct plan_complaints to = {on_violation, reader, arena};
    const struct conf_place *pool_place = &reader->pool_places[reader->pool];
    if (reader->n_chosen > PLAN_NODES_MAX) {
        complain(reader, pool_place, "NAME", "%d nodes, expected at most %d",
                 reader->n_chosen, PLAN_NODES_MAX);
        return;
    }
    struct plan_node *nodes =
        arena_alloc(arena, (size_t)reader->n_chosen, sizeof(*nodes));
    for (int i = 0; i < reader->n_chosen; i++) {
        nodes[i] = reader->chosen[i]->node;
    }
    plan_check_names(nodes, reader->n_chosen, &to);
    plan_build(plan, &reader->settings[reader->pool], nodes, reader->n_chosen, arena);
    if (reader->n_chosen == 0) {
        complain(reader, pool_place, "NAME",
                 "pool \"%s\" has no nodes, expected rows of section PlanNode for it",
                 reader->pools->pools[reader->pool].name);
    } else {
        plan_check(plan, &to);
    }
}

static void make_plans(struct reader *reader, int pool)
{
    struct plan_pool *of = &reader->pools->pools[pool];
    int n_plans = of->n_windows > 0 ? of->n_windows : 1;
    struct err err;
    if (of->n_windows > 0 && plan_window_check(of->windows, of->n_windows, &err) < 0) {
        complain(reader, &reader->window_places[pool], "FROM", "%s", err.text);
    }
    of->plans = arena_alloc(reader->conf->arena, (size_t)n_plans, sizeof(*of->plans));
    for (int i = 0; i < n_plans; i++) {
        choose(reader, pool, of->n_windows > 0 ? i : PLAN_NO_NODE);
        make_plan(reader, &of->plans[i]);
    }
}

bool plan_config_read(struct conf *conf, struct plan_pools *pools)
{
    struct arena *arena = conf->arena;
    size_t n_pools = count_rows(conf, "Pool");
    size_t n_nodes = count_rows(conf, "PlanNode");
    *pools = (struct plan_pools){arena_alloc(arena, n_pools, sizeof(*pools->pools)), 0};
    struct reader reader = {
        .conf = conf,
        .pools = pools,
        .settings = arena_alloc(arena, n_pools, sizeof(struct plan_settings)),
        .pool_places = arena_alloc(arena, n_pools, sizeof(struct conf_place)),
        .window_places = arena_alloc(arena, n_pools, sizeof(struct conf_place)),
        .entries = arena_alloc(arena, n_nodes, sizeof(struct entry)),
        .chosen = arena_alloc(arena, n_nodes, sizeof(struct entry *)),
    };
    read_members(&reader);
    each_row(&reader, "Pool", read_pool);
    each_row(&reader, "TimeWindow", read_window);
    each_row(&reader, "PlanNode", read_node);
    check_hours(&reader);
    for (int i = 0; i < pools->n_pools; i++) {
        make_plans(&reader, i);
    }
    return n_pools > 0 || n_nodes > 0 || count_rows(conf, "TimeWindow") > 0;
}

const struct plan_pool *plan_config_find(const struct plan_pools *pools,
                                         const char *name)
{
    int found = find_pool(pools, name);
    return found != PLAN_NO_NODE ? &pools->pools[found] : NULL;
}
