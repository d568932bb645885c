/* SPDX-License-Identifier: Apache-2.0 */
/* db_wal_file.h: SQLite's write-ahead log is written in pieces of up to 120 KiB, most
 * commits in one, and not with two system calls for each page; part of db.h.
 *
 * SQLite writes the header of a frame, then its page, then the next header. A VFS of
 * ours collects writes that follow each other and passes them on together: before the
 * log is synced, which is before the commit is reported, and before anything else is
 * done with the file. All other files are opened by SQLite's own VFS. The store has the
 * file alone (locking_mode=EXCLUSIVE, synchronous=FULL): nobody reads the log before it
 * is synced.
 *
 * Errors: those of SQLite's own VFS, which may come from a later write or from the
 * sync. Units: bytes. Source: "The OS Backend (VFS) To SQLite"; docs/adr/0041. Layer:
 * sys. */
#ifndef SUBLET_SYS_DB_DB_WAL_FILE_H
#define SUBLET_SYS_DB_DB_WAL_FILE_H

/* The name of the VFS, for sqlite3_open_v2. It is registered at the first call. */
const char *db_wal_file_vfs(void);

#endif
