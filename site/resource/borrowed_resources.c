/* SPDX-License-Identifier: Apache-2.0 */
/* borrowed_resources.c: see borrowed_resources.h. Reported values
 * are in a table of their own, so that they are known again when a grant ends. */
#include "site/resource/borrowed_resources.h"

#include <stdlib.h>
#include <string.h>

#define uthash_fatal(message) abort()
#include <uthash.h>

#include "base/arena.h"
#include "site/config/resource_config.h"

struct entry {
    int place; /* row of `reported`; n_own + place in the table */
    bool is_reported;
    struct contract_resource *grants;
    int n_grants;
    struct load_threshold *thresholds;
    int n_thresholds;
    UT_hash_handle hh;
    char name[];
};

struct borrowed_resources {
    struct resource_table *table, *reported;
    int n_own;
    struct entry *by_name;
    int n_with_thresholds; /* hosts */
    int *free_places;
    int n_free, free_capacity;
};

struct borrowed_resources *borrowed_resources_new(struct resource_table *table,
                                                  int n_own)
{
    struct borrowed_resources *borrowed = mem_alloc(1, sizeof(*borrowed));
    borrowed->table = table;
    borrowed->reported = resource_table_new(resource_table_resources(table));
    borrowed->n_own = n_own;
    return borrowed;
}

static void free_entry(struct borrowed_resources *borrowed, struct entry *entry)
{
    HASH_DEL(borrowed->by_name, entry);
    borrowed->n_with_thresholds -= entry->n_thresholds > 0;
    free(entry->thresholds);
    free(entry->grants);
    free(entry);
}

void borrowed_resources_free(struct borrowed_resources *borrowed)
{
    if (borrowed == NULL) {
        return;
    }
    struct entry *entry, *next;
    HASH_ITER (hh, borrowed->by_name, entry, next) {
        free_entry(borrowed, entry);
    }
    resource_table_free(borrowed->reported);
    free(borrowed->free_places);
    free(borrowed);
}

/* ---------------------------------------------------------------- entries */

static struct entry *find(const struct borrowed_resources *borrowed, const char *name)
{
    struct entry *entry;
    HASH_FIND_STR(borrowed->by_name, name, entry);
    return entry;
}

static struct entry *find_or_add(struct borrowed_resources *borrowed, const char *name)
{
    struct entry *entry = find(borrowed, name);
    size_t length = strlen(name);
    if (entry != NULL) {
        return entry;
    }
    entry = mem_alloc(1, sizeof(*entry) + length + 1);
    memcpy(entry->name, name, length + 1);
    if (borrowed->n_free > 0) {
        entry->place = borrowed->free_places[--borrowed->n_free];
    } else {
        entry->place = resource_table_rows(borrowed->reported);
        resource_table_resize(borrowed->reported, entry->place + 1);
        resource_table_resize(borrowed->table, borrowed->n_own + entry->place + 1);
    }
    HASH_ADD_STR(borrowed->by_name, name, entry);
    return entry;
}

static void drop(struct borrowed_resources *borrowed, struct entry *entry)
{
    resource_table_clear_row(borrowed->reported, entry->place);
    resource_table_clear_row(borrowed->table, borrowed->n_own + entry->place);
    if (borrowed->n_free == borrowed->free_capacity) {
        borrowed->free_capacity = borrowed->free_capacity * 2 + 16;
        borrowed->free_places =
            mem_grow(borrowed->free_places, (size_t)borrowed->free_capacity,
                     sizeof(*borrowed->free_places));
    }
    borrowed->free_places[borrowed->n_free++] = entry->place;
    free_entry(borrowed, entry);
}

int borrowed_resources_find(const struct borrowed_resources *borrowed, const char *name)
{
    const struct entry *entry = find(borrowed, name);
    return entry != NULL ? borrowed->n_own + entry->place : -1;
}

bool borrowed_resources_is_reported(const struct borrowed_resources *borrowed,
                                    const char *name)
{
    const struct entry *entry = find(borrowed, name);
    return entry != NULL && entry->is_reported;
}

void borrowed_resources_prune(struct borrowed_resources *borrowed,
                              const bool *is_needed)
{
    struct entry *entry, *next;
    HASH_ITER (hh, borrowed->by_name, entry, next) {
        if (!is_needed[borrowed->n_own + entry->place]) {
            drop(borrowed, entry);
        }
    }
}

/* ---------------------------------------------------------------- values */

/* Fills the visible row: reported values, replaced by granted amounts. */
static void show(struct borrowed_resources *borrowed, const struct entry *entry)
{
    int row = borrowed->n_own + entry->place;
    resource_table_copy_row(borrowed->table, row, borrowed->reported, entry->place);
    resource_table_set_text(borrowed->table, row, RESOURCE_HNAME, entry->name);
    for (int i = 0; i < entry->n_grants; i++) {
        const struct contract_resource *grant = &entry->grants[i];
        if (grant->is_absent) {
            resource_table_unset(borrowed->table, row, grant->id);
            continue;
        }
        double more = grant->is_on_top ? resource_table_number(borrowed->reported,
                                                               entry->place, grant->id)
                                       : 0;
        resource_table_set_number(borrowed->table, row, grant->id,
                                  grant->number + more);
    }
}

static bool is_set_here(int id)
{
    return id == RESOURCE_HNAME || id == RESOURCE_STATUS || id == RESOURCE_SLOTS ||
           id == RESOURCE_MAXSLOTS;
}

static void set_value(struct borrowed_resources *borrowed, const struct entry *entry,
                      const struct load_value *value)
{
    struct resource_table *table = borrowed->reported;
    const struct resources *resources = resource_table_resources(table);
    int id = resources_find(resources, value->name, strlen(value->name));
    bool is_set = id >= 0 && !is_set_here(id) &&
                  resource_value_set(table, entry->place, id, value->value);
    if (!value->is_exclusive) {
        return;
    }
    if (is_set && resources_at(resources, id)->type == RESOURCE_BOOLEAN) {
        resource_table_set_exclusive(table, entry->place, id, true);
    } else {
        resource_table_add_undefined(table, entry->place, value->name);
    }
}

void borrowed_resources_report(struct borrowed_resources *borrowed, const char *name,
                               const struct load_value *values, int n_values)
{
    struct entry *entry = find_or_add(borrowed, name);
    entry->is_reported = true;
    resource_table_clear_row(borrowed->reported, entry->place);
    for (int i = 0; i < n_values; i++) {
        set_value(borrowed, entry, &values[i]);
    }
    show(borrowed, entry);
}

static int compare_thresholds(const void *left, const void *right)
{
    const struct load_threshold *a = left, *b = right;
    return a->id < b->id ? -1 : a->id > b->id;
}

/* If a peer sends a threshold twice, the first counts. */
static bool has_threshold(const struct entry *entry, int id)
{
    for (int i = 0; i < entry->n_thresholds; i++) {
        if (entry->thresholds[i].id == id) {
            return true;
        }
    }
    return false;
}

void borrowed_resources_set_thresholds(struct borrowed_resources *borrowed,
                                       const char *name, const struct load_value *texts,
                                       int n_texts)
{
    struct entry *entry = find_or_add(borrowed, name);
    const struct resources *resources = resource_table_resources(borrowed->reported);
    borrowed->n_with_thresholds -= entry->n_thresholds > 0;
    free(entry->thresholds);
    entry->thresholds =
        n_texts > 0 ? mem_alloc((size_t)n_texts, sizeof(*entry->thresholds)) : NULL;
    entry->n_thresholds = 0;
    for (int i = 0; i < n_texts; i++) {
        int id = resources_find(resources, texts[i].name, strlen(texts[i].name));
        struct load_threshold read;
        struct err err;
        if (id >= 0 && !has_threshold(entry, id) &&
            load_threshold_parse(resources, id, texts[i].value, &read, &err) ==
                ERR_NONE) {
            entry->thresholds[entry->n_thresholds++] = read;
        }
    }
    if (entry->n_thresholds > 1) {
        qsort(entry->thresholds, (size_t)entry->n_thresholds,
              sizeof(struct load_threshold), compare_thresholds);
    }
    borrowed->n_with_thresholds += entry->n_thresholds > 0;
}

struct load_thresholds
borrowed_resources_thresholds(const struct borrowed_resources *borrowed,
                              const char *name)
{
    const struct entry *entry = find(borrowed, name);
    return entry != NULL
               ? (struct load_thresholds){entry->thresholds, entry->n_thresholds}
               : (struct load_thresholds){.n_items = 0};
}

const struct resource_table *
borrowed_resources_reported(const struct borrowed_resources *borrowed, const char *name,
                            int *row)
{
    const struct entry *entry = find(borrowed, name);
    *row = entry != NULL ? entry->place : -1;
    return entry != NULL ? borrowed->reported : NULL;
}

bool borrowed_resources_has_thresholds(const struct borrowed_resources *borrowed)
{
    return borrowed->n_with_thresholds > 0;
}

static bool has_grants(const struct entry *entry,
                       const struct contract_resource *grants, int n_grants)
{
    bool is_same = entry->n_grants == n_grants;
    for (int i = 0; is_same && i < n_grants; i++) {
        is_same = entry->grants[i].id == grants[i].id &&
                  entry->grants[i].number == grants[i].number &&
                  entry->grants[i].is_on_top == grants[i].is_on_top &&
                  entry->grants[i].is_absent == grants[i].is_absent;
    }
    return is_same;
}

void borrowed_resources_set_granted(struct borrowed_resources *borrowed,
                                    const char *name,
                                    const struct contract_resource *grants,
                                    int n_grants)
{
    struct entry *entry =
        n_grants > 0 ? find_or_add(borrowed, name) : find(borrowed, name);
    if (entry == NULL || has_grants(entry, grants, n_grants)) {
        return;
    }
    size_t size = (size_t)n_grants * sizeof(*grants);
    free(entry->grants);
    entry->grants = n_grants > 0 ? memcpy(mem_alloc(1, size), grants, size) : NULL;
    entry->n_grants = n_grants;
    show(borrowed, entry);
}
