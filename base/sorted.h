/* SPDX-License-Identifier: Apache-2.0 */
/* sorted.h: arrays of pointers, in ascending order of a key that each item has once.
 *
 * Ownership: `items` is a heap array of pointers, the caller's; so are the items.
 * Layer: base. */
#ifndef SUBLET_BASE_SORTED_H
#define SUBLET_BASE_SORTED_H

/* Below 0, 0, above 0: the key comes before that of the item, is the same, comes after
 * it. */
typedef int (*sorted_compare_fn)(const void *key, const void *item);

/* The index of the first item whose key is not before `key`. */
int sorted_place(const void *items, int count, const void *key,
                 sorted_compare_fn compare);
/* The item with that key, or NULL. */
void *sorted_find(const void *items, int count, const void *key,
                  sorted_compare_fn compare);
/* Inserts an item at the place of its key. Returns the array, which may have moved. */
void *sorted_add(void *items, int *count, int *capacity, const void *key,
                 sorted_compare_fn compare, const void *item);
/* Removes the item with that key from the array and returns it; NULL: there is none. */
void *sorted_remove(void *items, int *count, const void *key,
                    sorted_compare_fn compare);

#endif
