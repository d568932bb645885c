/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_plan.c: `sublet plan quota` and `plan explain`: compute one cycle of a pool from
 * a file and given numbers, without a daemon. `plan show`, and `plan explain` without
 * --slots, query the broker (cmd_plan_live.c). Source: docs/design/interfaces.md
 * "Command line". */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "broker/plan/plan.h"
#include "broker/pool/pool.h"
#include "cli/commands.h"
#include "cli/lease/cmd_plan_live.h"
#include "cli/listing/listing.h"
#include "sys/daemon.h"

const struct call_option cmd_plan_options[] = {
    {"--pool", "NAME", "the pool; may be omitted if the file has only one", false},
    {"--slots", "N", "slots that the pool has now", false},
    {"--demand", "NODE=N,...",
     "slots that leaves want; inf: any number; @FILE: from a file, as in --alloc and "
     "--recalled",
     false},
    {"--alloc", "NODE=N,...", "slots that leaves have", false},
    {"--recalled", "NODE=N,...", "of these, recalled in an earlier cycle", false},
    {"--window", "NAME", "the time window whose plan is used", false},
    {"--hosts", "NxM", "N hosts of M slots each, for PLACEMENT=exclusive", false},
    {NULL, NULL, NULL, false},
};

/* The input of the command. */
struct question {
    struct call *call;
    const char *file;
    const struct plan *plan;
    int64_t slots, n_hosts, host_slots; /* 0: no hosts */
    struct plan_use *uses;
};

/* ---------------------------------------------------------------- the plan */

static int read_pools(struct question *question, struct plan_pools *pools)
{
    struct conf conf;
    char *paths[] = {(char *)(uintptr_t)question->file};
    conf_init(&conf, &question->call->arena);
    daemon_conf_read(&conf, paths, 1);
    conf_check(&conf);
    plan_config_read(&conf, pools);
    if (conf.n_errors > 0) {
        daemon_conf_print_diags(&conf, stderr);
        return call_fail("plan: \"%s\" has %d error%s; nothing was computed",
                         question->file, conf.n_errors, conf.n_errors == 1 ? "" : "s");
    }
    return CALL_OK;
}

static const char *window_names(struct arena *arena, const struct plan_pool *pool)
{
    const char *names = "";
    for (int i = 0; i < pool->n_windows; i++) {
        names = arena_printf(arena, "%s%s%s", names, i > 0 ? ", " : "",
                             pool->windows[i].name);
    }
    return names;
}

static int choose_window(struct question *question, const struct plan_pool *pool)
{
    struct call *call = question->call;
    const char *name = call_value(call, "--window");
    question->plan = &pool->plans[0];
    if (name == NULL && pool->n_windows > 1) {
        return call_misuse(call,
                           "pool \"%s\" has several time windows: give --window, "
                           "one of %s",
                           pool->name, window_names(&call->arena, pool));
    }
    if (name == NULL) {
        return CALL_OK;
    }
    for (int i = 0; i < pool->n_windows; i++) {
        if (strcmp(pool->windows[i].name, name) == 0) {
            question->plan = &pool->plans[i];
            return CALL_OK;
        }
    }
    return call_fail("plan: pool \"%s\" has no time window \"%s\"; it has %s",
                     pool->name, name,
                     pool->n_windows > 0 ? window_names(&call->arena, pool) : "none");
}

static int choose_plan(struct question *question)
{
    struct plan_pools pools;
    const char *name = call_value(question->call, "--pool");
    int status = read_pools(question, &pools);
    if (status != CALL_OK) {
        return status;
    }
    if (pools.n_pools == 0) {
        return call_fail("plan: \"%s\" has no section Pool; is that the right file?",
                         question->file);
    }
    if (name == NULL && pools.n_pools > 1) {
        return call_misuse(question->call, "\"%s\" has several pools: give --pool NAME",
                           question->file);
    }
    const struct plan_pool *pool =
        name != NULL ? plan_config_find(&pools, name) : &pools.pools[0];
    if (pool == NULL) {
        return call_fail("plan: no pool \"%s\" in \"%s\"; it has \"%s\"%s", name,
                         question->file, pools.pools[0].name,
                         pools.n_pools > 1 ? " and others" : "");
    }
    return choose_window(question, pool);
}

/* ---------------------------------------------------------------- numbers */

static int read_slots(struct question *question)
{
    const char *text = call_value(question->call, "--slots");
    struct err err;
    if (text == NULL) {
        return call_misuse(question->call, "--slots N is missing: how many slots the "
                                           "pool has");
    }
    if (conf_parse_int(text, 0, PLAN_SLOTS_MAX, &question->slots, &err) < 0) {
        return call_misuse(question->call, "--slots: %s", err.text);
    }
    return CALL_OK;
}

static int read_hosts(struct question *question)
{
    struct call *call = question->call;
    const char *text = call_value(call, "--hosts");
    bool is_exclusive = question->plan->settings.placement == PLAN_EXCLUSIVE;
    if (text == NULL) {
        return !is_exclusive ? CALL_OK
                             : call_misuse(call, "the pool has PLACEMENT = exclusive: "
                                                 "give --hosts, as 3x8");
    }
    const char *x = strchr(text, 'x');
    const char *before =
        x != NULL ? arena_strn(&call->arena, text, (size_t)(x - text)) : "";
    if (x == NULL ||
        conf_parse_int(before, 0, PLAN_SLOTS_MAX, &question->n_hosts, NULL) < 0 ||
        conf_parse_int(x + 1, 1, PLAN_SLOTS_MAX, &question->host_slots, NULL) < 0) {
        return call_misuse(call,
                           "--hosts: \"%s\", expected hosts x slots of each, as "
                           "3x8",
                           text);
    }
    if (question->n_hosts * question->host_slots != question->slots) {
        return call_misuse(call, "--hosts %s makes %lld slots, --slots says %lld", text,
                           (long long)(question->n_hosts * question->host_slots),
                           (long long)question->slots);
    }
    /* Only exclusive pools depend on the size of hosts. */
    question->host_slots = is_exclusive ? question->host_slots : 0;
    return CALL_OK;
}

/* The field that an option sets. */
enum field { DEMAND, ALLOC, RECALLED };

static int64_t *field_of(struct plan_use *use, enum field field)
{
    return field == DEMAND  ? &use->demand
           : field == ALLOC ? &use->alloc
                            : &use->recalled;
}

/* Reads "NODE=N"; a node may occur only once. */
static int read_pair(struct question *question, const char *option, enum field field,
                     bool *seen, char *pair)
{
    struct call *call = question->call;
    const char *name = strsep(&pair, "=");
    int64_t number = PLAN_UNLIMITED;
    struct err err;
    if (pair == NULL) {
        return call_misuse(call, "%s: \"%s\", expected NODE=N", option, name);
    }
    bool is_inf = field == DEMAND && strcmp(pair, "inf") == 0;
    if (!is_inf && conf_parse_int(pair, 0, PLAN_SLOTS_MAX, &number, &err) < 0) {
        return call_misuse(call, "%s: %s: %s%s", option, name, err.text,
                           field == DEMAND ? ", or inf" : "");
    }
    int node = plan_find(question->plan, name);
    if (node == PLAN_NO_NODE) {
        return call_fail("plan: %s: no node \"%s\" in the plan", option, name);
    }
    if (!plan_is_leaf(&question->plan->nodes[node])) {
        return call_fail("plan: %s: \"%s\" has children, expected a leaf", option,
                         name);
    }
    if (seen[node]) {
        return call_fail("plan: %s: \"%s\" twice, expected each leaf once", option,
                         name);
    }
    seen[node] = true;
    *field_of(&question->uses[node], field) = number;
    return CALL_OK;
}

/* NODE=N, separated by commas, blanks or line ends; a '#' begins a comment. */
static int read_list(struct question *question, const char *option, enum field field,
                     bool *seen, char *text)
{
    int status = CALL_OK;
    char *line;
    while (status == CALL_OK && (line = strsep(&text, "\n")) != NULL) {
        line[strcspn(line, "#")] = '\0';
        char *pair;
        while (status == CALL_OK && (pair = strsep(&line, ", \t\r")) != NULL) {
            if (pair[0] != '\0') {
                status = read_pair(question, option, field, seen, pair);
            }
        }
    }
    return status;
}

static int read_file(struct question *question, const char *option, enum field field,
                     bool *seen, const char *path)
{
    char *text = NULL;
    size_t room = 0;
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return call_fail("plan: %s: \"%s\": %s", option, path, strerror(errno));
    }
    ssize_t length = getdelim(&text, &room, '\0', file);
    int status = CALL_OK;
    if (ferror(file) != 0 || (length < 0 && !feof(file))) {
        status = call_fail("plan: %s: \"%s\" cannot be read: %s", option, path,
                           strerror(errno));
    } else if (length > 0) {
        status = read_list(question, option, field, seen, text);
    }
    free(text);
    fclose(file);
    return status;
}

/* Reads all values of the option. */
static int read_pairs(struct question *question, const char *option, enum field field)
{
    struct call *call = question->call;
    bool *seen =
        arena_alloc(&call->arena, (size_t)question->plan->n_nodes, sizeof(*seen));
    int status = CALL_OK;
    for (int i = 0; i < call->n_given && status == CALL_OK; i++) {
        if (strcmp(call->given[i].option->name, option) != 0) {
            continue;
        }
        const char *value = call->given[i].value;
        status = value[0] == '@' ? read_file(question, option, field, seen, value + 1)
                                 : read_list(question, option, field, seen,
                                             arena_str(&call->arena, value));
    }
    return status;
}

static int read_uses(struct question *question)
{
    const struct plan *plan = question->plan;
    question->uses = arena_alloc(&question->call->arena, (size_t)plan->n_nodes,
                                 sizeof(*question->uses));
    int status = read_pairs(question, "--demand", DEMAND);
    if (status == CALL_OK) {
        status = read_pairs(question, "--alloc", ALLOC);
    }
    if (status == CALL_OK) {
        status = read_pairs(question, "--recalled", RECALLED);
    }
    int64_t sum = 0;
    for (int i = 0; i < plan->n_nodes && status == CALL_OK; i++) {
        sum += question->uses[i].alloc;
        if (question->uses[i].recalled > question->uses[i].alloc) {
            status = call_fail("plan: --recalled: \"%s\" has only the %lld of --alloc",
                               plan->nodes[i].name, (long long)question->uses[i].alloc);
        }
    }
    if (status == CALL_OK && sum > PLAN_SLOTS_MAX) {
        status =
            call_fail("plan: --alloc: more than %d slots together", PLAN_SLOTS_MAX);
    }
    return status;
}

/* ---------------------------------------------------------------- the answer */

static json_t *json_of(const struct value *value)
{
    return value->kind == VALUE_INT    ? json_integer(value->number)
           : value->kind == VALUE_TEXT ? json_string(value->text)
                                       : json_null();
}

/* The answer as a listing, whose rows are arrays of the same fields. */
static struct listing make_listing(const struct value *root)
{
    struct listing listing = {
        .object = json_object(), .rows = json_array(), .fields = json_array()};
    for (const struct value *at = root->first; at != NULL; at = at->next) {
        bool is_rows = at->kind == VALUE_ARRAY;
        json_object_set_new(listing.object, at->key,
                            is_rows ? listing.rows : json_of(at));
        for (const struct value *row = at->first; row != NULL; row = row->next) {
            json_t *values = json_array();
            for (const struct value *cell = row->first; cell != NULL;
                 cell = cell->next) {
                json_array_append_new(values, json_of(cell));
                if (row == at->first) {
                    json_array_append_new(listing.fields, json_string(cell->key));
                }
            }
            json_array_append_new(listing.rows, values);
        }
    }
    return listing;
}

static int show(struct question *question, bool with_why)
{
    struct call *call = question->call;
    struct pool_cycle cycle;
    if (question->host_slots > 0) {
        pool_cycle_hosts(question->plan, question->n_hosts, question->host_slots,
                         question->uses, &cycle, &call->arena);
    } else {
        pool_cycle(question->plan, question->slots, question->uses, &cycle,
                   &call->arena);
    }
    struct listing listing =
        make_listing(pool_explain_cycle(&cycle, with_why, &call->arena));
    cmd_plan_live_filter(call, &listing, 2);
    int status =
        listing_show(call, &listing, with_why ? &columns_explain : &columns_quota);
    listing_free(&listing);
    return status;
}

int cmd_plan_run(struct call *call)
{
    const char *verb = call->n_operands > 0 ? call->operands[0] : "";
    bool is_explain = strcmp(verb, "explain") == 0;
    if (strcmp(verb, "show") == 0 || (is_explain && !call_has(call, "--slots"))) {
        return cmd_plan_live_run(call, is_explain);
    }
    if (!is_explain && strcmp(verb, "quota") != 0) {
        return call_misuse(call, "expected show, or quota or explain and a file");
    }
    if (call->n_operands < 2 || (!is_explain && call->n_operands > 2)) {
        return call_misuse(call, "%s: expected a file%s", verb,
                           is_explain ? ", and nodes or none for all" : "");
    }
    struct question question = {.call = call, .file = call->operands[1]};
    int status = choose_plan(&question);
    if (status == CALL_OK) {
        status = read_slots(&question);
    }
    if (status == CALL_OK) {
        status = read_hosts(&question);
    }
    if (status == CALL_OK) {
        status = read_uses(&question);
    }
    for (int i = 2; i < call->n_operands && status == CALL_OK; i++) {
        if (plan_find(question.plan, call->operands[i]) == PLAN_NO_NODE) {
            status = call_fail("plan: no node \"%s\" in the plan", call->operands[i]);
        }
    }
    return status == CALL_OK ? show(&question, is_explain) : status;
}
