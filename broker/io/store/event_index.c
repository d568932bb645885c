/* SPDX-License-Identifier: Apache-2.0 */
/* event_index.c: see event_index.h. */
#include "broker/io/store/event_index.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/word_hash.h"

enum {
    FORGOTTEN_MAX = 1 << 15, /* that take memory */
    GAP_MAX = 1 << 20,       /* of ids: all before it is about to be deleted */
};

void event_index_release(struct event_index *index)
{
    free(index->hashes);
    memset(index, 0, sizeof(*index));
}

static uint32_t hash_of(const char *lease)
{
    uint32_t hash = (uint32_t)word_hash_text(0, lease);
    return hash != 0 ? hash : 1;
}

static void push(struct event_index *index, uint32_t hash)
{
    if (index->count == index->capacity) {
        index->capacity = index->capacity == 0 ? 1024 : index->capacity * 2;
        index->hashes =
            mem_grow(index->hashes, (size_t)index->capacity, sizeof(*index->hashes));
    }
    index->hashes[index->count++] = hash;
}

void event_index_add(struct event_index *index, int64_t id, const char *lease)
{
    int64_t end = index->first_id + index->count;
    bool is_behind = id >= index->first_id && id - end < GAP_MAX;
    if (index->count == 0 || !is_behind) {
        index->begin = index->count = 0;
        index->first_id = id;
    } else if (id < end) {
        index->count = (int)(id - index->first_id);
    }
    while (index->first_id + index->count < id) {
        push(index, 0);
    }
    push(index, lease[0] != '\0' ? hash_of(lease) : 0);
}

void event_index_forget(struct event_index *index, int64_t id)
{
    while (index->begin < index->count && index->first_id + index->begin <= id) {
        index->begin++;
    }
    if (index->begin >= FORGOTTEN_MAX) {
        index->first_id += index->begin;
        index->count -= index->begin;
        memmove(index->hashes, index->hashes + index->begin,
                (size_t)index->count * sizeof(*index->hashes));
        index->begin = 0;
    }
}

int64_t event_index_next(const struct event_index *index, const char *lease, int64_t id)
{
    uint32_t hash = hash_of(lease);
    int64_t at = id - index->first_id + 1;
    for (at = at < index->begin ? index->begin : at; at < index->count; at++) {
        if (index->hashes[at] == hash) {
            return index->first_id + at;
        }
    }
    return 0;
}

int64_t event_index_previous(const struct event_index *index, const char *lease,
                             int64_t id)
{
    uint32_t hash = hash_of(lease);
    int64_t end = index->first_id + index->count;
    int64_t at = (id < end ? id : end) - index->first_id - 1;
    for (; at >= index->begin; at--) {
        if (index->hashes[at] == hash) {
            return index->first_id + at;
        }
    }
    return 0;
}
