/* SPDX-License-Identifier: Apache-2.0 */
/* store_transfer.h: all rows of a store from a file to a server, or back.
 *
 * The tables are those of the file, but for what is written for readers of snapshots
 * (present_*), in the order in which they refer to each other; a row goes column by
 * column. What is read is as of one instant, what is written is one transaction, into
 * tables that are empty. Statements, not structs: a column that no field has is copied.
 *
 * Errors: as of store.h; ERR_EXISTS if there are rows already; ERR_STATE from the
 * check, with the first row that differs. Layer: broker/io. */
#ifndef SUBLET_BROKER_IO_STORE_STORE_TRANSFER_H
#define SUBLET_BROKER_IO_STORE_STORE_TRANSFER_H

#include <stdbool.h>

#include "broker/io/store/store.h"

struct store_transfer;

/* `file` is borrowed, and no one else uses it until the transfer is freed. The server
 * has its tables (store_open). */
int store_transfer_begin(const char *url, struct db *file, bool is_to_server,
                         struct store_transfer **transfer, struct err *err) MUST_CHECK;
/* Copies at most so many rows. Returns 1 if there are more; 0: all are committed. */
int store_transfer_step(struct store_transfer *transfer, int n_rows,
                        struct err *err) MUST_CHECK;
/* Reads all rows of both, and compares them. After the last step. */
int store_transfer_check(struct store_transfer *transfer, int64_t *n_rows,
                         struct err *err) MUST_CHECK;
void store_transfer_free(struct store_transfer *transfer); /* NULL is fine */

/* For an administrator, while no broker uses either: one is a path, the other a URL. A
 * file must not exist yet. The sentence says how many rows were copied and compared. */
int store_transfer_run(const char *from, const char *to, struct arena *arena,
                       const char **sentence, struct err *err) MUST_CHECK;

#endif
