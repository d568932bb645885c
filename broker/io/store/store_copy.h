/* SPDX-License-Identifier: Apache-2.0 */
/* store_copy.h: a copy of the store for readers, made in steps while the broker uses
 * it: a single SQLite file, whatever the store is.
 *
 * The rows of a file are those of the last step, the rows of a server those of the
 * beginning; what the caller writes at the end is in the copy in either case.
 *
 * Order: steps until one returns 0, then rows into `to` in one transaction, then
 * finish. Ownership: store_copy_free in any case; it deletes an unfinished copy. Layer:
 * broker/io. */
#ifndef SUBLET_BROKER_IO_STORE_STORE_COPY_H
#define SUBLET_BROKER_IO_STORE_STORE_COPY_H

#include "broker/io/store/store.h"

struct store_copy;
/* `state` as for store_open. */
int store_copy_begin(struct store *store, const char *state, const char *path,
                     struct store_copy **copy, struct err *err) MUST_CHECK;
/* Copies for about a millisecond. Returns 1 if there is more; 0: the rest is for
 * store_copy_finish, and `to` is what the last rows are written to. */
int store_copy_step(struct store_copy *copy, struct store **to,
                    struct err *err) MUST_CHECK;
/* Puts the copy into its place; with `syncs` it is on disk. */
int store_copy_finish(struct store_copy *copy, bool syncs, struct err *err) MUST_CHECK;
void store_copy_free(struct store_copy *copy); /* NULL is fine */

#endif
