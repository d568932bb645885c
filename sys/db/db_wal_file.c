/* SPDX-License-Identifier: Apache-2.0 */
/* db_wal_file.c: see db_wal_file.h. */
#include "sys/db/db_wal_file.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

/* 29 frames. SQLite's VFS takes the lowest 17 bits of the size of a write: with more
 * than these a write could be one of nothing, which it reports as a full disk. */
enum { COLLECTED_MAX = 120 << 10 };

/* The file of SQLite's own VFS follows in the same block of memory. */
struct log_file {
    sqlite3_file base;
    uint8_t *bytes; /* collected, not passed on yet */
    int n_bytes;
    sqlite3_int64 at; /* where they begin in the file */
};

static sqlite3_vfs vfs;

static sqlite3_file *inner(sqlite3_file *file)
{
    return (sqlite3_file *)((struct log_file *)file + 1);
}

/* After a failure the bytes are forgotten: SQLite ends the transaction. */
static int pass_on(sqlite3_file *file)
{
    struct log_file *log = (struct log_file *)file;
    int n_bytes = log->n_bytes;
    log->n_bytes = 0;
    return n_bytes > 0 ? inner(file)->pMethods->xWrite(inner(file), log->bytes, n_bytes,
                                                       log->at)
                       : SQLITE_OK;
}

static int log_close(sqlite3_file *file)
{
    int rc = pass_on(file);
    int closed = inner(file)->pMethods->xClose(inner(file));
    free(((struct log_file *)file)->bytes);
    return rc != SQLITE_OK ? rc : closed;
}

static int log_read(sqlite3_file *file, void *bytes, int size, sqlite3_int64 at)
{
    int rc = pass_on(file);
    return rc != SQLITE_OK ? rc
                           : inner(file)->pMethods->xRead(inner(file), bytes, size, at);
}

static int log_write(sqlite3_file *file, const void *bytes, int size, sqlite3_int64 at)
{
    struct log_file *log = (struct log_file *)file;
    bool follows = log->n_bytes > 0 && at == log->at + log->n_bytes;
    int rc = SQLITE_OK;
    if (!follows || size > COLLECTED_MAX - log->n_bytes) {
        rc = pass_on(file);
        log->at = at;
    }
    if (rc == SQLITE_OK && size > COLLECTED_MAX) {
        return inner(file)->pMethods->xWrite(inner(file), bytes, size, at);
    }
    if (rc == SQLITE_OK) {
        memcpy(log->bytes + log->n_bytes, bytes, (size_t)size);
        log->n_bytes += size;
    }
    return rc;
}

static int log_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    int rc = pass_on(file);
    return rc != SQLITE_OK ? rc : inner(file)->pMethods->xTruncate(inner(file), size);
}

static int log_sync(sqlite3_file *file, int flags)
{
    int rc = pass_on(file);
    return rc != SQLITE_OK ? rc : inner(file)->pMethods->xSync(inner(file), flags);
}

static int log_size(sqlite3_file *file, sqlite3_int64 *size)
{
    int rc = pass_on(file);
    return rc != SQLITE_OK ? rc : inner(file)->pMethods->xFileSize(inner(file), size);
}

static int log_lock(sqlite3_file *file, int level)
{
    return inner(file)->pMethods->xLock(inner(file), level);
}

static int log_unlock(sqlite3_file *file, int level)
{
    return inner(file)->pMethods->xUnlock(inner(file), level);
}

static int log_check_lock(sqlite3_file *file, int *is_reserved)
{
    return inner(file)->pMethods->xCheckReservedLock(inner(file), is_reserved);
}

static int log_control(sqlite3_file *file, int operation, void *arg)
{
    int rc = pass_on(file);
    return rc != SQLITE_OK
               ? rc
               : inner(file)->pMethods->xFileControl(inner(file), operation, arg);
}

static int log_sector_size(sqlite3_file *file)
{
    return inner(file)->pMethods->xSectorSize(inner(file));
}

static int log_characteristics(sqlite3_file *file)
{
    return inner(file)->pMethods->xDeviceCharacteristics(inner(file));
}

static int open_file(sqlite3_vfs *self, const char *name, sqlite3_file *file, int flags,
                     int *flags_out)
{
    static const sqlite3_io_methods methods = {
        .iVersion = 1,
        .xClose = log_close,
        .xRead = log_read,
        .xWrite = log_write,
        .xTruncate = log_truncate,
        .xSync = log_sync,
        .xFileSize = log_size,
        .xLock = log_lock,
        .xUnlock = log_unlock,
        .xCheckReservedLock = log_check_lock,
        .xFileControl = log_control,
        .xSectorSize = log_sector_size,
        .xDeviceCharacteristics = log_characteristics,
    };
    sqlite3_vfs *own = self->pAppData;
    if ((flags & SQLITE_OPEN_WAL) == 0) {
        return own->xOpen(own, name, file, flags, flags_out);
    }
    struct log_file *log = (struct log_file *)file;
    memset(log, 0, sizeof(*log));
    int rc = own->xOpen(own, name, inner(file), flags, flags_out);
    if (rc == SQLITE_OK) {
        log->bytes = mem_alloc(COLLECTED_MAX, 1);
        log->base.pMethods = &methods;
    }
    return rc;
}

const char *db_wal_file_vfs(void)
{
    if (vfs.zName == NULL) {
        sqlite3_vfs *own = sqlite3_vfs_find(NULL);
        vfs = *own;
        vfs.pNext = NULL;
        vfs.zName = "sublet";
        vfs.szOsFile = own->szOsFile + (int)sizeof(struct log_file);
        vfs.pAppData = own;
        vfs.xOpen = open_file;
        sqlite3_vfs_register(&vfs, 0);
    }
    return vfs.zName;
}
