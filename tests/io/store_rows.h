/* SPDX-License-Identifier: Apache-2.0 */
/* store_rows.h: the same random rows in two stores of a broker, and all that can be
 * asked of a store asked of both.
 *
 * Errors: a failed check ends the test. Ownership: the arena of `struct store_rows` is
 * the caller's. */
#ifndef SUBLET_TESTS_IO_STORE_ROWS_H
#define SUBLET_TESTS_IO_STORE_ROWS_H

#include <stdint.h>

#include "base/arena.h"
#include "broker/io/store/store.h"
#include "model/row.h"

enum { STORE_ROWS_MAX = 256, STORE_ROWS_BATCHES = 60 };

/* Commits so many batches of random rows, events and samples of a seed to both. */
void store_rows_play(struct store *a, struct store *b, uint64_t seed);

struct store_rows {
    struct arena arena;
    struct row rows[STORE_ROWS_MAX];
    int count;
};
/* All rows of a store. */
void store_rows_load(struct store *store, struct store_rows *rows);

/* Both have the same rows, history and samples. */
void store_rows_check_same(struct store *a, struct store *b);

#endif
