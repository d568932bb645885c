/* SPDX-License-Identifier: Apache-2.0 */
/* sorted.c: see sorted.h. The array may hold pointers of any type, so its elements are
 * read and written by memcpy. */
#include "base/sorted.h"

#include <string.h>

#include "base/arena.h"

static void *item_at(const void *items, int index)
{
    void *item;
    memcpy(&item, (const char *)items + (size_t)index * sizeof(item), sizeof(item));
    return item;
}

int sorted_place(const void *items, int count, const void *key,
                 sorted_compare_fn compare)
{
    int low = 0, high = count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (compare(key, item_at(items, middle)) > 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

void *sorted_find(const void *items, int count, const void *key,
                  sorted_compare_fn compare)
{
    int at = sorted_place(items, count, key, compare);
    void *item = at < count ? item_at(items, at) : NULL;
    return item != NULL && compare(key, item) == 0 ? item : NULL;
}

void *sorted_add(void *items, int *count, int *capacity, const void *key,
                 sorted_compare_fn compare, const void *item)
{
    size_t at = (size_t)sorted_place(items, *count, key, compare);
    items = mem_room(items, *count, capacity, sizeof(item));
    char *place = (char *)items + at * sizeof(item);
    memmove(place + sizeof(item), place, ((size_t)*count - at) * sizeof(item));
    memcpy(place, &item, sizeof(item));
    ++*count;
    return items;
}

void *sorted_remove(void *items, int *count, const void *key, sorted_compare_fn compare)
{
    int at = sorted_place(items, *count, key, compare);
    void *item = sorted_find(items, *count, key, compare);
    if (item != NULL) {
        char *place = (char *)items + (size_t)at * sizeof(item);
        --*count;
        memmove(place, place + sizeof(item), (size_t)(*count - at) * sizeof(item));
    }
    return item;
}
