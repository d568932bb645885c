/* SPDX-License-Identifier: Apache-2.0 */
/* value_watch.c: see value_watch.h. */
#include "site/pass/value_watch.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

/* What is watched of a resource. */
enum part { PART_VALUES, PART_LEFT, PART_EXCLUSIVE, N_PARTS };

/* Arrays by row; NULL: all are zero. */
struct source {
    const void *values;
    size_t size; /* of one value */
    const uint8_t *has;
};

/* What the last pass that looked saw. */
struct slot {
    uint64_t looked; /* generation; 0: never */
    uint64_t changed;
    uint64_t *blocks;
    uint8_t *values;
    uint8_t *has;
};

struct value_watch {
    const struct resource_table *table;
    uint64_t generation;
    uint64_t exclusive; /* of the last change of PART_EXCLUSIVE */
    int n_rows, n_blocks;
    struct slot *slots; /* by id and part, then that of the undefined ones */
    int n_slots;
};

struct value_watch *value_watch_new(void)
{
    return mem_alloc(1, sizeof(struct value_watch));
}

static void drop_slots(struct value_watch *watch)
{
    for (int i = 0; i < watch->n_slots; i++) {
        free(watch->slots[i].blocks);
        free(watch->slots[i].values);
        free(watch->slots[i].has);
    }
    free(watch->slots);
    watch->slots = NULL;
    watch->n_slots = 0;
}

void value_watch_free(struct value_watch *watch)
{
    if (watch == NULL) {
        return;
    }
    drop_slots(watch);
    free(watch);
}

/* ---------------------------------------------------------------- comparing */

/* Takes over `size` bytes, NULL: zeros. True if they differ from those before. */
static bool update(uint8_t *seen, const uint8_t *from, size_t size)
{
    static const uint8_t zeros[RESOURCE_BLOCK * sizeof(double)];
    from = from != NULL ? from : zeros;
    if (memcmp(seen, from, size) == 0) {
        return false;
    }
    memcpy(seen, from, size);
    return true;
}

static bool update_block(const struct value_watch *watch, struct slot *slot,
                         const struct source *source, int block)
{
    size_t first = (size_t)block * RESOURCE_BLOCK;
    size_t rest = (size_t)watch->n_rows - first;
    size_t n_rows = rest < RESOURCE_BLOCK ? rest : RESOURCE_BLOCK;
    const uint8_t *values = source->values;
    bool has_values = update(slot->values + first * source->size,
                             values != NULL ? values + first * source->size : NULL,
                             n_rows * source->size);
    bool has_others = update(slot->has + first,
                             source->has != NULL ? source->has + first : NULL, n_rows);
    return has_values || has_others;
}

static void look(const struct value_watch *watch, struct slot *slot,
                 const struct source *source)
{
    bool is_first = slot->looked == 0;
    if (slot->looked == watch->generation) {
        return;
    }
    if (is_first) {
        size_t n_rows = (size_t)watch->n_rows + 1;
        slot->values = mem_alloc(n_rows, source->size);
        slot->has = mem_alloc(n_rows, sizeof(*slot->has));
        slot->blocks = mem_alloc((size_t)watch->n_blocks + 1, sizeof(*slot->blocks));
    }
    slot->looked = watch->generation;
    for (int i = 0; i < watch->n_blocks; i++) {
        if (update_block(watch, slot, source, i) || is_first) {
            slot->blocks[i] = slot->changed = watch->generation;
        }
    }
}

static struct watched_column look_at(struct value_watch *watch, int id, enum part part,
                                     const struct source *source)
{
    struct slot *slot = &watch->slots[id * N_PARTS + (int)part];
    look(watch, slot, source);
    return (struct watched_column){slot->changed, slot->blocks};
}

/* ---------------------------------------------------------------- a pass */

static void look_at_exclusive(struct value_watch *watch)
{
    int n_resources = resources_count(resource_table_resources(watch->table));
    for (int id = 0; id <= n_resources; id++) {
        struct source source = {.size = 1};
        if (id < n_resources) {
            source.values = resource_table_column(watch->table, id).exclusive;
        } else {
            source.values = resource_table_undefined_column(watch->table);
            source.size = sizeof(int32_t);
        }
        bool was_read = watch->slots[id * N_PARTS + PART_EXCLUSIVE].looked != 0;
        if (source.values != NULL || was_read) {
            struct watched_column column = look_at(watch, id, PART_EXCLUSIVE, &source);
            watch->exclusive =
                column.changed > watch->exclusive ? column.changed : watch->exclusive;
        }
    }
}

void value_watch_begin(struct value_watch *watch, const struct resource_table *table)
{
    int n_resources = resources_count(resource_table_resources(table));
    int n_slots = (n_resources + 1) * N_PARTS, n_rows = resource_table_rows(table);
    watch->generation++;
    watch->table = table;
    if (n_slots != watch->n_slots || n_rows != watch->n_rows) {
        drop_slots(watch);
        watch->slots = mem_alloc((size_t)n_slots, sizeof(*watch->slots));
        watch->n_slots = n_slots;
        watch->n_rows = n_rows;
        watch->n_blocks = (n_rows + RESOURCE_BLOCK - 1) / RESOURCE_BLOCK;
        watch->exclusive = watch->generation;
    }
    look_at_exclusive(watch);
}

uint64_t value_watch_generation(const struct value_watch *watch)
{
    return watch->generation;
}

uint64_t value_watch_exclusive(const struct value_watch *watch)
{
    return watch->exclusive;
}

static struct source source_of(const struct value_watch *watch, int id)
{
    const struct resource *resource =
        resources_at(resource_table_resources(watch->table), id);
    struct resource_column column = resource_table_column(watch->table, id);
    switch (resource->type) {
    case RESOURCE_NUMERIC:
        return (struct source){column.numbers, sizeof(*column.numbers), column.has};
    case RESOURCE_BOOLEAN:
        return (struct source){column.flags, sizeof(*column.flags), column.has};
    case RESOURCE_STRING:
        break;
    }
    return (struct source){column.texts, sizeof(*column.texts), column.has};
}

struct watched_column value_watch_column(struct value_watch *watch, int id)
{
    struct source source = source_of(watch, id);
    return look_at(watch, id, PART_VALUES, &source);
}

struct watched_column value_watch_left(struct value_watch *watch, int id,
                                       const double *numbers)
{
    struct source source = source_of(watch, id);
    source.values = numbers != NULL ? numbers : source.values;
    return look_at(watch, id, PART_LEFT, &source);
}
