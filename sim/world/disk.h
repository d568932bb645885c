/* SPDX-License-Identifier: Apache-2.0 */
/* disk.h: a daemon's store in a simulated world: committed rows, nothing else.
 *
 * Behaves like the SQLite stores: a row replaces that of the same key, `is_gone`
 * deletes it, and a run's row without a spec retains the stored spec. History is not
 * stored.
 *
 * Ownership: rows are copied. Order: rows are loaded by kind, then by key.
 * Layer: sim (base only). */
#ifndef SUBLET_SIM_WORLD_DISK_H
#define SUBLET_SIM_WORLD_DISK_H

#include "model/row.h"

struct disk;
struct disk *disk_new(void);
void disk_free(struct disk *disk);
void disk_store(struct disk *disk, const struct row *row);
typedef void (*disk_row_fn)(void *arg, const struct row *row);
void disk_load(struct disk *disk, disk_row_fn on_row, void *arg);
/* True if there is a row of the kind and key of `key`. */
bool disk_has(const struct disk *disk, const struct row *key);
/* A copy, for a daemon that is restored from a backup. */
struct disk *disk_copy(struct disk *disk);

#endif
