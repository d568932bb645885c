/* SPDX-License-Identifier: Apache-2.0 */
/* job_class.c: see pending.h. The entries of a class are a sorted array with free
 * space at its front, because jobs leave from the front and the rest must not move
 * then. What a pass reads and writes of every class is in arrays of the set, because
 * the classes themselves are scattered in memory. */
#include "sched/pending/pending.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

#define uthash_fatal(text) abort() /* out of memory, as everywhere */
#include <uthash.h>

struct job_class {
    struct job_class_entry **entries; /* those from `first` on */
    int first, count, capacity;
    const struct job_class_set *set;
    int index; /* in the set's arrays */
    UT_hash_handle hh;
    char name[];
};

struct job_class_set {
    struct job_class *table; /* by name */
    struct job_class **items;
    struct job_class_view *views; /* by index, like ... */
    struct pending_verdict *verdicts;
    int count, capacity;
    uint64_t last_generation;
};

int64_t job_class_priority(const struct job_raise *raise, int64_t priority,
                           int64_t submit_ms)
{
    return raise->interval_ms > 0
               ? priority - raise->increment * (submit_ms / raise->interval_ms)
               : priority;
}

int job_class_compare(const struct job_class_entry *a, const struct job_class_entry *b)
{
    if (a->priority != b->priority) {
        return a->priority > b->priority ? -1 : 1;
    }
    if (a->position != b->position) {
        return a->position < b->position ? -1 : 1;
    }
    return a->key < b->key ? -1 : a->key > b->key;
}

/* ---------------------------------------------------------------- the set */

struct job_class_set *job_class_set_new(void)
{
    return mem_alloc(1, sizeof(struct job_class_set));
}

static void class_free(struct job_class *class)
{
    free(class->entries);
    free(class);
}

void job_class_set_free(struct job_class_set *classes)
{
    if (classes == NULL) {
        return;
    }
    HASH_CLEAR(hh, classes->table);
    for (int i = 0; i < classes->count; i++) {
        class_free(classes->items[i]);
    }
    free(classes->items);
    free(classes->views);
    free(classes->verdicts);
    free(classes);
}

int job_class_set_count(const struct job_class_set *classes)
{
    return classes->count;
}

struct job_class *job_class_set_at(const struct job_class_set *classes, int index)
{
    return classes->items[index];
}

static void grow(struct job_class_set *classes)
{
    if (classes->count < classes->capacity) {
        return;
    }
    classes->capacity = classes->capacity == 0 ? 8 : classes->capacity * 2;
    size_t capacity = (size_t)classes->capacity;
    classes->items = mem_grow(classes->items, capacity, sizeof(struct job_class *));
    classes->views = mem_grow(classes->views, capacity, sizeof(*classes->views));
    classes->verdicts =
        mem_grow(classes->verdicts, capacity, sizeof(*classes->verdicts));
}

static struct job_class *add_class(struct job_class_set *classes, const char *name)
{
    size_t length = strlen(name);
    struct job_class *class = mem_alloc(1, sizeof(*class) + length + 1);
    memcpy(class->name, name, length + 1);
    grow(classes);
    class->set = classes;
    class->index = classes->count;
    classes->views[class->index] = (struct job_class_view){.n_entries = 0};
    classes->verdicts[class->index] = (struct pending_verdict){.reason = REASON_NEW};
    classes->items[classes->count++] = class;
    HASH_ADD_KEYPTR(hh, classes->table, class->name, length, class);
    return class;
}

static void remove_class(struct job_class_set *classes, struct job_class *class)
{
    int end = --classes->count, index = class->index;
    HASH_DEL(classes->table, class);
    classes->items[index] = classes->items[end];
    classes->views[index] = classes->views[end];
    classes->verdicts[index] = classes->verdicts[end];
    classes->items[index]->index = index;
    class_free(class);
}

/* ---------------------------------------------------------------- one class */

/* Index of the first entry that does not come before this one. */
static int find_position(const struct job_class *class,
                         const struct job_class_entry *entry)
{
    int low = class->first, high = class->first + class->count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (job_class_compare(class->entries[middle], entry) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Makes room for one more entry at the end: by moving the entries to the front if the
 * free space there is larger than the entries are, else in a larger array. */
static void make_room(struct job_class *class)
{
    if (class->first + class->count < class->capacity) {
        return;
    }
    if (class->first > class->count) {
        memmove(class->entries, class->entries + class->first,
                (size_t) class->count * sizeof(struct job_class_entry *));
        class->first = 0;
        return;
    }
    class->capacity = class->capacity == 0 ? 4 : class->capacity * 2;
    class->entries = mem_grow(class->entries, (size_t) class->capacity,
                              sizeof(struct job_class_entry *));
}

/* The entries of a class have changed, and perhaps which one is the first. */
static void update_view(struct job_class_set *classes, const struct job_class *class,
                        bool is_new_first)
{
    struct job_class_view *view = &classes->views[class->index];
    view->entries = class->entries + class->first;
    view->n_entries = class->count;
    if (is_new_first) {
        view->generation = ++classes->last_generation;
    }
}

struct job_class *job_class_add(struct job_class_set *classes, const char *name,
                                struct job_class_entry *entry)
{
    struct job_class *class;
    HASH_FIND(hh, classes->table, name, strlen(name), class);
    if (class == NULL) {
        class = add_class(classes, name);
    }
    make_room(class);
    int position = find_position(class, entry);
    if (position == class->first && class->first > 0) {
        class->entries[--class->first] = entry; /* a job is pending again */
    } else {
        memmove(&class->entries[position + 1], &class->entries[position],
                (size_t)(class->first + class->count - position) *
                    sizeof(struct job_class_entry *));
        class->entries[position] = entry;
    }
    class->count++;
    update_view(classes, class, class->entries[class->first] == entry);
    return class;
}

void job_class_remove(struct job_class_set *classes, struct job_class *class,
                      struct job_class_entry *entry)
{
    int position = find_position(class, entry);
    assert(position < class->first + class->count && class->entries[position] == entry);
    bool was_first = position == class->first;
    class->count--;
    if (was_first) {
        class->first++;
    } else {
        memmove(&class->entries[position], &class->entries[position + 1],
                (size_t)(class->first + class->count - position) *
                    sizeof(struct job_class_entry *));
    }
    if (class->count == 0) {
        remove_class(classes, class);
    } else {
        update_view(classes, class, was_first);
    }
}

struct job_class_entry *const *job_class_entries(const struct job_class *class,
                                                 int *n_entries)
{
    *n_entries = class->count;
    return class->entries + class->first;
}

int job_class_index(const struct job_class *class)
{
    return class->index;
}

const struct job_class_view *job_class_set_views(const struct job_class_set *classes)
{
    return classes->views;
}

void job_class_set_verdicts(struct job_class_set *classes,
                            const struct pending_verdict *verdicts)
{
    if (classes->count > 0) {
        memcpy(classes->verdicts, verdicts,
               (size_t)classes->count * sizeof(*classes->verdicts));
    }
}

const struct pending_verdict *job_class_verdict(const struct job_class *class)
{
    return &class->set->verdicts[class->index];
}
