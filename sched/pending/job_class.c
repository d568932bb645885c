/* SPDX-License-Identifier: Apache-2.0 */
/* job_class.c: see job_class.h. A line is a sorted array with room at its front: jobs
 * leave it there, one after the other, and that must not move the others. What a pass
 * reads and writes of every line stands in arrays of the set: lines are all over the
 * memory. */
#include "sched/pending/job_class.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

#define uthash_fatal(text) abort() /* out of memory, as everywhere */
#include <uthash.h>

struct job_class {
    struct job_class_entry **turns; /* those from `first` on */
    int first, count, capacity;
    const struct job_classes *set;
    int index; /* in the set's arrays */
    UT_hash_handle hh;
    char name[];
};

struct job_classes {
    struct job_class *table; /* by name */
    struct job_class **items;
    struct job_class_view *heads; /* by index, like ... */
    struct pending_verdict *verdicts;
    int count, capacity;
    uint64_t last_number;
};

int job_class_compare(const struct job_class_entry *a, const struct job_class_entry *b)
{
    if (a->priority != b->priority) {
        return a->priority > b->priority ? -1 : 1;
    }
    if (a->place != b->place) {
        return a->place < b->place ? -1 : 1;
    }
    return a->key < b->key ? -1 : a->key > b->key;
}

/* ---------------------------------------------------------------- the set */

struct job_classes *job_classes_new(void)
{
    return mem_alloc(1, sizeof(struct job_classes));
}

static void line_free(struct job_class *line)
{
    free(line->turns);
    free(line);
}

void job_classes_free(struct job_classes *lines)
{
    if (lines == NULL) {
        return;
    }
    HASH_CLEAR(hh, lines->table);
    for (int i = 0; i < lines->count; i++) {
        line_free(lines->items[i]);
    }
    free(lines->items);
    free(lines->heads);
    free(lines->verdicts);
    free(lines);
}

int job_classes_count(const struct job_classes *lines)
{
    return lines->count;
}

struct job_class *job_classes_at(const struct job_classes *lines, int index)
{
    return lines->items[index];
}

static void grow(struct job_classes *lines)
{
    if (lines->count < lines->capacity) {
        return;
    }
    lines->capacity = lines->capacity == 0 ? 8 : lines->capacity * 2;
    size_t capacity = (size_t)lines->capacity;
    lines->items = mem_grow(lines->items, capacity, sizeof(struct job_class *));
    lines->heads = mem_grow(lines->heads, capacity, sizeof(*lines->heads));
    lines->verdicts = mem_grow(lines->verdicts, capacity, sizeof(*lines->verdicts));
}

static struct job_class *add_line(struct job_classes *lines, const char *name)
{
    size_t length = strlen(name);
    struct job_class *line = mem_alloc(1, sizeof(*line) + length + 1);
    memcpy(line->name, name, length + 1);
    grow(lines);
    line->set = lines;
    line->index = lines->count;
    lines->heads[line->index] = (struct job_class_view){.n_turns = 0};
    lines->verdicts[line->index] = (struct pending_verdict){.reason = REASON_NEW};
    lines->items[lines->count++] = line;
    HASH_ADD_KEYPTR(hh, lines->table, line->name, length, line);
    return line;
}

static void remove_line(struct job_classes *lines, struct job_class *line)
{
    int end = --lines->count, index = line->index;
    HASH_DEL(lines->table, line);
    lines->items[index] = lines->items[end];
    lines->heads[index] = lines->heads[end];
    lines->verdicts[index] = lines->verdicts[end];
    lines->items[index]->index = index;
    line_free(line);
}

/* ---------------------------------------------------------------- one line */

/* The first turn that does not come before this one. */
static int place_of(const struct job_class *line, const struct job_class_entry *turn)
{
    int low = line->first, high = line->first + line->count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (job_class_compare(line->turns[middle], turn) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Room for one more at the end: at the front, where that is as much as there are turns,
 * else in a larger array. */
static void make_room(struct job_class *line)
{
    if (line->first + line->count < line->capacity) {
        return;
    }
    if (line->first > line->count) {
        memmove(line->turns, line->turns + line->first,
                (size_t)line->count * sizeof(struct job_class_entry *));
        line->first = 0;
        return;
    }
    line->capacity = line->capacity == 0 ? 4 : line->capacity * 2;
    line->turns =
        mem_grow(line->turns, (size_t)line->capacity, sizeof(struct job_class_entry *));
}

/* A line has changed, and perhaps who is its first. */
static void note_head(struct job_classes *lines, const struct job_class *line,
                      bool is_other)
{
    struct job_class_view *head = &lines->heads[line->index];
    head->turns = line->turns + line->first;
    head->n_turns = line->count;
    if (is_other) {
        head->number = ++lines->last_number;
    }
}

struct job_class *job_class_add(struct job_classes *lines, const char *name,
                                struct job_class_entry *turn)
{
    struct job_class *line;
    HASH_FIND(hh, lines->table, name, strlen(name), line);
    if (line == NULL) {
        line = add_line(lines, name);
    }
    make_room(line);
    int place = place_of(line, turn);
    if (place == line->first && line->first > 0) {
        line->turns[--line->first] = turn; /* a job that comes back */
    } else {
        memmove(&line->turns[place + 1], &line->turns[place],
                (size_t)(line->first + line->count - place) *
                    sizeof(struct job_class_entry *));
        line->turns[place] = turn;
    }
    line->count++;
    note_head(lines, line, line->turns[line->first] == turn);
    return line;
}

void job_class_remove(struct job_classes *lines, struct job_class *line,
                      struct job_class_entry *turn)
{
    int place = place_of(line, turn);
    assert(place < line->first + line->count && line->turns[place] == turn);
    bool was_first = place == line->first;
    line->count--;
    if (was_first) {
        line->first++;
    } else {
        memmove(&line->turns[place], &line->turns[place + 1],
                (size_t)(line->first + line->count - place) *
                    sizeof(struct job_class_entry *));
    }
    if (line->count == 0) {
        remove_line(lines, line);
    } else {
        note_head(lines, line, was_first);
    }
}

struct job_class_entry *const *job_class_entries(const struct job_class *line,
                                                 int *n_turns)
{
    *n_turns = line->count;
    return line->turns + line->first;
}

int job_class_index(const struct job_class *line)
{
    return line->index;
}

const struct job_class_view *job_classes_views(const struct job_classes *lines)
{
    return lines->heads;
}

void job_classes_set_verdicts(struct job_classes *lines,
                              const struct pending_verdict *verdicts)
{
    if (lines->count > 0) {
        memcpy(lines->verdicts, verdicts,
               (size_t)lines->count * sizeof(*lines->verdicts));
    }
}

const struct pending_verdict *job_class_verdict(const struct job_class *line)
{
    return &line->set->verdicts[line->index];
}
