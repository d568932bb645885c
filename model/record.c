/* SPDX-License-Identifier: Apache-2.0 */
/* record.c: see record.h. The same walk measures a copy, which is then made in one
 * block, or makes it in an arena. */
#include "model/record.h"

#include <stdalign.h>
#include <string.h>

#include "model/field.h"

enum { OWNED_MAX = 8, OWNED_FROM = 4 /* members of a list */ };

/* The memory for a copy: an arena, a block, or none while its size is measured. */
struct space_left {
    struct arena *arena;
    char *block;
    size_t used;
};

/* The copy of `size` bytes; NULL while the size is measured. */
static void *put(struct space_left *space, const void *data, size_t size,
                 size_t alignment)
{
    if (space->arena != NULL) {
        return arena_copy(space->arena, data, size);
    }
    size_t at = (space->used + alignment - 1) / alignment * alignment;
    space->used = at + size;
    return space->block != NULL ? memcpy(space->block + at, data, size) : NULL;
}

static const char *own_text(struct space_left *space, const char *text)
{
    if (text == NULL && space->arena != NULL) {
        return NULL;
    }
    if (text == NULL || text[0] == '\0') {
        return "";
    }
    return put(space, text, strlen(text) + 1, 1);
}

static const void *own_texts(struct space_left *space, const char *const *texts,
                             int count)
{
    const char **copies =
        put(space, texts, (size_t)count * sizeof(*copies), alignof(char *));
    for (int i = 0; i < count; i++) {
        const char *copy = own_text(space, texts[i]);
        if (copies != NULL) {
            copies[i] = copy;
        }
    }
    return copies;
}

static bool points_somewhere(const struct field *field)
{
    return field->kind >= FIELD_TEXT && field->kind != FIELD_JOB_KEY;
}

/* The fields that have to be copied, of which most schemas have few: a list has them
 * found once for all its members. */
struct owned {
    int count;
    const struct field *fields[OWNED_MAX]; /* the first of them */
};

static void find_owned(const struct schema *schema, struct owned *owned)
{
    owned->count = 0;
    for (int i = 0; i < schema->n_fields; i++) {
        if (points_somewhere(&schema->fields[i]) && owned->count++ < OWNED_MAX) {
            owned->fields[owned->count - 1] = &schema->fields[i];
        }
    }
}

static void own(struct space_left *space, const struct schema *schema, const char *from,
                char *to);
static void own_field(struct space_left *space, const struct field *field,
                      const char *from, char *to);

static const void *own_list(struct space_left *space, const struct schema *schema,
                            const char *list, int count)
{
    size_t size = (size_t)count * schema->size;
    char *copy = put(space, list, size, alignof(max_align_t));
    struct owned owned;
    owned.count = OWNED_MAX + 1; /* look at all fields */
    if (count >= OWNED_FROM) {
        find_owned(schema, &owned);
    }
    for (int i = 0; i < count; i++) {
        size_t at = (size_t)i * schema->size;
        char *to = copy != NULL ? copy + at : NULL;
        if (owned.count > OWNED_MAX) {
            own(space, schema, list + at, to);
            continue;
        }
        for (int k = 0; k < owned.count; k++) {
            own_field(space, owned.fields[k], list + at, to);
        }
    }
    return copy;
}

/* The copy of a list with `count` members, or of `count` bytes. */
static const void *own_counted(struct space_left *space, const struct field *field,
                               const void *list, int count)
{
    if (count == 0) {
        return NULL;
    }
    return field->kind == FIELD_TEXTS   ? own_texts(space, list, count)
           : field->kind == FIELD_BYTES ? put(space, list, (size_t)count, 1)
                                        : own_list(space, field->part, list, count);
}

/* The copy of what a field points to. */
static const void *own_pointer(struct space_left *space, const struct field *field,
                               const char *from)
{
    const void *pointer = field_pointer(field, from);
    if (field->kind == FIELD_TEXT) {
        return own_text(space, pointer);
    }
    return own_counted(space, field, pointer,
                       field->kind == FIELD_OPTION ? pointer != NULL
                                                   : field_count(field, from));
}

static void own_field(struct space_left *space, const struct field *field,
                      const char *from, char *to)
{
    if (field->kind == FIELD_PART) {
        own(space, field->part, from + field->offset,
            to != NULL ? to + field->offset : NULL);
        return;
    }
    const void *copy = own_pointer(space, field, from);
    if (to != NULL) {
        field_set_pointer(field, to, copy);
    }
}

/* `to` is a shallow copy of `from`, or NULL while the size is measured. Each start of a
 * job copies some records: what points to nothing is passed over first. */
static void own(struct space_left *space, const struct schema *schema, const char *from,
                char *to)
{
    const struct field *end = schema->fields + schema->n_fields;
    for (const struct field *field = schema->fields; field < end; field++) {
        if (points_somewhere(field)) {
            own_field(space, field, from, to);
        }
    }
}

void record_copy(struct arena *arena, const struct schema *schema, const void *from,
                 void *to)
{
    struct space_left space = {.arena = arena};
    memmove(to, from, schema->size);
    own(&space, schema, to, to);
}

void *record_copy_list(struct arena *arena, const struct schema *schema,
                       const void *list, int count)
{
    struct space_left space = {.arena = arena};
    return count > 0 ? (void *)(uintptr_t)own_list(&space, schema, list, count) : NULL;
}

size_t record_size(const struct schema *schema, const void *record)
{
    struct space_left space = {0};
    own_list(&space, schema, record, 1);
    return space.used;
}

void *record_dup_list(const struct schema *schema, const void *list, int count)
{
    struct space_left space = {0};
    own_list(&space, schema, list, count);
    if (space.used == 0) {
        return NULL;
    }
    space.block = mem_alloc(1, space.used);
    space.used = 0;
    return (void *)(uintptr_t)own_list(&space, schema, list, count);
}

void *record_dup(const struct schema *schema, const void *record)
{
    return record_dup_list(schema, record, 1);
}

/* ---------------------------------------------------------------- comparison */

static bool is_same_text(const char *a, const char *b)
{
    return a == b || strcmp(a != NULL ? a : "", b != NULL ? b : "") == 0;
}

static bool is_same_texts(const char *const *a, const char *const *b, int count)
{
    for (int i = 0; a != b && i < count; i++) {
        if (!is_same_text(a[i], b[i])) {
            return false;
        }
    }
    return true;
}

static bool is_same_option(const struct schema *schema, const void *a, const void *b)
{
    return a == b || (a != NULL && b != NULL && record_is_same(schema, a, b));
}

static bool is_same_field(const struct field *field, const char *a, const char *b)
{
    switch (field->kind) {
    case FIELD_INT:
    case FIELD_INT64:
    case FIELD_UINT64:
    case FIELD_BOOL:
    case FIELD_REAL: /* its bits */
        return field_number(field, a) == field_number(field, b);
    case FIELD_JOB_KEY:
        return field_number(field, a) == field_number(field, b) &&
               field_count(field, a) == field_count(field, b);
    case FIELD_TEXT:
        return is_same_text(field_pointer(field, a), field_pointer(field, b));
    case FIELD_TEXTS:
        return field_count(field, a) == field_count(field, b) &&
               is_same_texts(field_pointer(field, a), field_pointer(field, b),
                             field_count(field, a));
    case FIELD_BYTES:
        return field_count(field, a) == field_count(field, b) &&
               (field_count(field, a) == 0 ||
                memcmp(field_pointer(field, a), field_pointer(field, b),
                       (size_t)field_count(field, a)) == 0);
    case FIELD_PART:
        return record_is_same(field->part, a + field->offset, b + field->offset);
    case FIELD_PARTS:
        return record_is_same_list(field->part, field_pointer(field, a),
                                   field_count(field, a), field_pointer(field, b),
                                   field_count(field, b));
    case FIELD_OPTION:
        return is_same_option(field->part, field_pointer(field, a),
                              field_pointer(field, b));
    }
    return false;
}

/* Most records that are compared have equal bytes, and are then equal. Others may be,
 * since the bytes between their fields may differ. */
bool record_is_same(const struct schema *schema, const void *a, const void *b)
{
    if (memcmp(a, b, schema->size) == 0) {
        return true;
    }
    for (int i = 0; i < schema->n_fields; i++) {
        if (!is_same_field(&schema->fields[i], a, b)) {
            return false;
        }
    }
    return true;
}

bool record_is_same_list(const struct schema *schema, const void *a, int n_a,
                         const void *b, int n_b)
{
    bool is_same = n_a == n_b;
    for (int i = 0; i < n_a && is_same; i++) {
        size_t at = (size_t)i * schema->size;
        is_same = record_is_same(schema, (const char *)a + at, (const char *)b + at);
    }
    return is_same;
}

/* ---- columns of a store */

bool record_find_column(const struct schema *schema, size_t offset, const char *name,
                        struct record_column *column)
{
    for (int i = 0; i < schema->n_fields; i++) {
        const struct field *field = &schema->fields[i];
        size_t prefix = field->kind == FIELD_PART ? strlen(field->name) : 0;
        if (field->kind == FIELD_PART && strncmp(name, field->name, prefix) == 0 &&
            record_find_column(field->part, offset + field->offset, name + prefix,
                               column)) {
            column->whole = field->is_whole ? &field->part->fields[0] : NULL;
            return true;
        }
        if (field->kind != FIELD_PART && strcmp(field->name, name) == 0) {
            column->field = field;
            column->offset = offset;
            return true;
        }
    }
    return false;
}

void record_init_texts(const struct schema *schema, char *record)
{
    for (int i = 0; i < schema->n_fields; i++) {
        const struct field *field = &schema->fields[i];
        if (field->kind == FIELD_TEXT) {
            field_set_pointer(field, record, "");
        } else if (field->kind == FIELD_PART) {
            record_init_texts(field->part, record + field->offset);
        }
    }
}
