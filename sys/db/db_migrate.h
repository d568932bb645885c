/* SPDX-License-Identifier: Apache-2.0 */
/* db_migrate.h: brings a file to the program's schema, step by step; part of db.h.
 *
 * user_version is the number of the last step. Each step is one transaction. Before
 * the first step on a file that has data, a copy goes to PATH.vN.backup, checked and
 * synced, and stays there.
 * Errors: ERR_VERSION newer than the program; ERR_IO, also for another program's file.
 * Layer: sys. */
#ifndef SUBLET_SYS_DB_DB_MIGRATE_H
#define SUBLET_SYS_DB_DB_MIGRATE_H

#include <sqlite3.h>
#include <stdint.h>

#include "base/err.h"
#include "sys/db/db.h"

int db_migrate(sqlite3 *handle, const char *path, int32_t application_id,
               const struct db_migration *migrations, struct err *err) MUST_CHECK;

#endif
