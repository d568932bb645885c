/* SPDX-License-Identifier: Apache-2.0 */
/* slurm_sections.c: see slurm_sections.h. */
#include "slurm/slurm_sections.h"

#include <stdlib.h>
#include <string.h>

#include "base/bounds.h"
#include "base/conf/conf.h"

/* A feature or GRES of a node. */
struct trait {
    const char *name;
    int node;
    int64_t count; /* 0: a feature */
};

struct traits {
    struct arena *arena;
    struct trait *items;
    int count, capacity;
};

/* Words that requirement strings have a meaning for. */
static bool is_reserved(const char *name)
{
    static const char *const names[] = {
        "r15s",   "r1m",     "r15m",   "ut",     "pg",     "io",     "ls",
        "it",     "tmp",     "swp",    "mem",    "status", "type",   "model",
        "hname",  "cpuf",    "ncpus",  "ndisks", "nprocs", "ncores", "nthreads",
        "maxmem", "maxswp",  "maxtmp", "slots",  "server", "cs",     "maxslots",
        "rexpri", "hasload", "define", "local",  "defined"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(names[i], name) == 0) {
            return true;
        }
    }
    return false;
}

static void add_trait(struct traits *traits, int node, const char *name, size_t length,
                      int64_t count)
{
    const char *copy = arena_strn(traits->arena, name, length);
    if (conf_parse_resource(copy, NULL) != 0 || is_reserved(copy)) {
        return;
    }
    for (int i = 0; i < traits->count; i++) {
        struct trait *trait = &traits->items[i];
        if (trait->node == node && strcmp(trait->name, copy) == 0) {
            trait->count += count;
            return;
        }
    }
    if (traits->count == traits->capacity) {
        int capacity = traits->capacity == 0 ? 64 : 2 * traits->capacity;
        struct trait *items =
            arena_alloc(traits->arena, (size_t)capacity, sizeof(*items));
        if (traits->count > 0) {
            memcpy(items, traits->items, (size_t)traits->count * sizeof(*items));
        }
        traits->items = items;
        traits->capacity = capacity;
    }
    traits->items[traits->count++] = (struct trait){copy, node, count};
}

/* "gpu:a100:2(S:0-1)": 2 of "gpu". Without a number it is one. */
static void add_gres(struct traits *traits, int node, const char *word, size_t length)
{
    size_t n_all = 0;
    while (n_all < length && word[n_all] != '(') {
        n_all++;
    }
    size_t n_name = 0;
    while (n_name < n_all && word[n_name] != ':') {
        n_name++;
    }
    size_t at = n_all;
    while (at > n_name && word[at - 1] != ':') {
        at--;
    }
    int64_t count = 1;
    if (at > n_name && conf_parse_int(arena_strn(traits->arena, word + at, n_all - at),
                                      0, INSTANCES_MAX, &count, NULL) != 0) {
        count = 1;
    }
    if (count > 0) {
        add_trait(traits, node, word, n_name, count);
    }
}

/* Words between commas that are in no parentheses. */
static void add_list(struct traits *traits, int node, const char *list, bool is_gres)
{
    for (const char *at = list; *at != '\0';) {
        size_t length = 0;
        for (int depth = 0; at[length] != '\0' && (depth > 0 || at[length] != ',');
             length++) {
            depth += (at[length] == '(') - (at[length] == ')');
        }
        if (is_gres) {
            add_gres(traits, node, at, length);
        } else {
            add_trait(traits, node, at, length, 0);
        }
        at += length + (at[length] == ',');
    }
}

/* GRES first; then by name and node. */
static int compare(const void *left, const void *right)
{
    const struct trait *a = left, *b = right;
    int order = (a->count == 0) - (b->count == 0);
    order = order != 0 ? order : strcmp(a->name, b->name);
    return order != 0 ? order : a->node - b->node;
}

static bool is_numeric(const struct traits *traits, const char *name)
{
    for (int i = 0; i < traits->count; i++) {
        if (traits->items[i].count > 0 && strcmp(traits->items[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

/* A text that grows; the old one stays in the arena. */
struct text {
    struct arena *arena;
    char *bytes;
    size_t length, size;
};

static void put(struct text *text, const char *more)
{
    size_t length = strlen(more);
    if (text->length + length + 1 > text->size) {
        text->size = 2 * (text->length + length + 1);
        char *bytes = arena_alloc(text->arena, text->size, 1);
        if (text->length > 0) {
            memcpy(bytes, text->bytes, text->length);
        }
        text->bytes = bytes;
    }
    memcpy(text->bytes + text->length, more, length + 1);
    text->length += length;
}

static void put_resources(struct text *to, const struct traits *traits)
{
    const char *last = "";
    put(to, "Begin Resource\nRESOURCENAME TYPE INTERVAL INCREASING DESCRIPTION\n");
    for (int i = 0; i < traits->count; i++) {
        const struct trait *trait = &traits->items[i];
        bool is_feature = trait->count == 0;
        if (strcmp(trait->name, last) == 0 ||
            (is_feature && is_numeric(traits, trait->name))) {
            continue;
        }
        put(to, trait->name);
        put(to, is_feature ? " Boolean () () (feature of nodes in Slurm)\n"
                           : " Numeric () N (GRES of nodes in Slurm)\n");
        last = trait->name;
    }
    put(to, "End Resource\n");
}

static void put_map(struct text *to, const struct traits *traits,
                    const struct slurm_nodes *nodes)
{
    const char *last = NULL;
    put(to, "Begin ResourceMap\nRESOURCENAME LOCATION\n");
    for (int i = 0; i < traits->count && traits->items[i].count > 0; i++) {
        const struct trait *trait = &traits->items[i];
        if (last == NULL || strcmp(trait->name, last) != 0) {
            put(to, last == NULL ? "" : ")\n");
            put(to, trait->name);
            put(to, " (");
            last = trait->name;
        } else {
            put(to, " ");
        }
        put(to, arena_printf(to->arena, "%lld@[%s]", (long long)trait->count,
                             nodes->items[trait->node].name));
    }
    put(to, ")\nEnd ResourceMap\n");
}

static void put_hosts(struct text *to, const struct traits *traits,
                      const struct slurm_nodes *nodes, const int *firsts)
{
    put(to, "Begin Host\nHOST_NAME MXJ RESOURCES\n");
    for (int i = 0; i < nodes->count; i++) {
        const char *blank = "";
        put(to, arena_printf(to->arena, "%s %d (", nodes->items[i].name,
                             nodes->items[i].cpus));
        for (int k = firsts[i]; k < firsts[i + 1]; k++) {
            const struct trait *trait = &traits->items[k];
            if (trait->count == 0 && !is_numeric(traits, trait->name)) {
                put(to, blank);
                put(to, trait->name);
                blank = " ";
            }
        }
        put(to, ")\n");
    }
    put(to, "End Host\n");
}

const char *slurm_sections_format(struct arena *arena, const struct slurm_nodes *nodes)
{
    struct traits traits = {.arena = arena};
    struct text text = {.arena = arena};
    int *firsts = arena_alloc(arena, (size_t)nodes->count + 1, sizeof(*firsts));
    for (int i = 0; i < nodes->count; i++) {
        firsts[i] = traits.count;
        add_list(&traits, i, nodes->items[i].features, false);
        add_list(&traits, i, nodes->items[i].gres, true);
    }
    firsts[nodes->count] = traits.count;
    put_hosts(&text, &traits, nodes, firsts);
    if (traits.count > 0) {
        qsort(traits.items, (size_t)traits.count, sizeof(*traits.items), compare);
        put_resources(&text, &traits);
        if (traits.items[0].count > 0) {
            put_map(&text, &traits, nodes);
        }
    }
    return text.bytes;
}

void slurm_sections_report(struct arena *arena, const struct slurm_node *node,
                           slurm_sections_add_fn add, void *arg)
{
    add(arg, "nprocs", arena_printf(arena, "%d", node->cpus));
    add(arg, "ncores", "1");
    add(arg, "nthreads", "1");
    add(arg, "maxmem", arena_printf(arena, "%lld", (long long)node->mem_mib));
    if (node->free_mem_mib >= 0) {
        add(arg, "mem", arena_printf(arena, "%lld", (long long)node->free_mem_mib));
    }
    if (node->load >= 0) {
        add(arg, "r1m", arena_printf(arena, "%.2f", node->load));
    }
}
