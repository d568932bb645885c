/* SPDX-License-Identifier: Apache-2.0 */
/* db_copy.c: see db.h. */
#include "sys/db/db.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"

struct db_copy {
    struct arena arena;
    const char *path, *part;
    sqlite3 *to;
    sqlite3_backup *backup;
    bool has_part;
};

static int fail(sqlite3 *handle, const char *what, struct err *err)
{
    return err_set(err, ERR_IO, "\"%s\": %s", what, sqlite3_errmsg(handle));
}

/* ---------------------------------------------------------------- making */

static int create_part(struct db_copy *copy, struct err *err)
{
    unlink(copy->part); /* of a process that was killed */
    int fd = open(copy->part, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) {
        return err_set(err, ERR_IO, "\"%s\": %s", copy->part, strerror(errno));
    }
    close(fd);
    copy->has_part = true;
    return 0;
}

int db_copy_begin(sqlite3 *from, const char *path, struct db_copy **copy,
                  struct err *err)
{
    struct db_copy *made = mem_alloc(1, sizeof(*made));
    arena_init(&made->arena);
    made->path = arena_str(&made->arena, path);
    made->part = arena_printf(&made->arena, "%s.part", path);
    int rc = create_part(made, err);
    if (rc == 0 && sqlite3_open_v2(made->part, &made->to, SQLITE_OPEN_READWRITE,
                                   NULL) != SQLITE_OK) {
        rc = fail(made->to, made->part, err);
    }
    /* Not synced here: an incomplete copy is worthless. */
    if (rc == 0) {
        sqlite3_exec(made->to, "PRAGMA synchronous=OFF", NULL, NULL, NULL);
        made->backup = sqlite3_backup_init(made->to, "main", from, "main");
        bool is_begun =
            made->backup != NULL && sqlite3_backup_step(made->backup, 0) == SQLITE_OK;
        rc = is_begun ? 0 : fail(made->to, made->part, err);
    }
    if (rc < 0) {
        db_copy_free(made);
        return rc;
    }
    *copy = made;
    return 0;
}

int db_copy_step(struct db_copy *copy, int n_pages, struct err *err)
{
    int status = sqlite3_backup_step(copy->backup, n_pages);
    if (status == SQLITE_OK) {
        return 1;
    }
    return status == SQLITE_DONE
               ? 0
               : err_set(err, ERR_IO, "\"%s\": %s", copy->part, sqlite3_errstr(status));
}

int db_copy_left(const struct db_copy *copy)
{
    return sqlite3_backup_remaining(copy->backup);
}

/* ---------------------------------------------------------------- judging */

static int check_whole(sqlite3 *handle, const char *path, struct err *err)
{
    sqlite3_stmt *check = NULL;
    int rc = 0;
    if (sqlite3_prepare_v2(handle, "PRAGMA integrity_check(1)", -1, &check, NULL) !=
            SQLITE_OK ||
        sqlite3_step(check) != SQLITE_ROW) {
        rc = fail(handle, path, err);
    } else if (strcmp((const char *)sqlite3_column_text(check, 0), "ok") != 0) {
        rc = err_set(err, ERR_IO, "copy \"%s\" is damaged", path);
    }
    sqlite3_finalize(check);
    return rc;
}

int db_copy_check(const char *path, struct err *err)
{
    sqlite3 *handle = NULL;
    int rc = sqlite3_open_v2(path, &handle, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK
                 ? check_whole(handle, path, err)
                 : fail(handle, path, err);
    sqlite3_close(handle);
    return rc;
}

/* ---------------------------------------------------------------- into place */

static int sync_path(const char *path, int flags, struct err *err)
{
    int fd = open(path, flags | O_CLOEXEC);
    int rc = 0;
    if (fd < 0 || fsync(fd) != 0) {
        rc = err_set(err, ERR_IO, "\"%s\": %s", path, strerror(errno));
    }
    if (fd >= 0) {
        close(fd);
    }
    return rc;
}

static int sync_directory_of(const char *path, struct err *err)
{
    struct arena arena;
    arena_init(&arena);
    int rc = sync_path(dirname(arena_str(&arena, path)), O_RDONLY | O_DIRECTORY, err);
    arena_release(&arena);
    return rc;
}

static int rename_to(const char *part, const char *path, struct err *err)
{
    return rename(part, path) == 0
               ? 0
               : err_set(err, ERR_IO, "\"%s\": %s", path, strerror(errno));
}

int db_copy_rename(const char *part, const char *path, struct err *err)
{
    int rc = sync_path(part, O_RDWR, err);
    if (rc == 0) {
        rc = rename_to(part, path, err);
    }
    return rc == 0 ? sync_directory_of(path, err) : rc;
}

/* The copy of a file in WAL mode is also in WAL mode; this makes it a single file. */
static int make_single(struct db_copy *copy, struct err *err)
{
    sqlite3_backup *backup = copy->backup;
    copy->backup = NULL;
    if (sqlite3_backup_finish(backup) != SQLITE_OK ||
        sqlite3_exec(copy->to, "PRAGMA journal_mode=DELETE", NULL, NULL, NULL) !=
            SQLITE_OK) {
        return fail(copy->to, copy->part, err);
    }
    return 0;
}

int db_copy_finish(struct db_copy *copy, int how, struct err *err)
{
    int rc = make_single(copy, err);
    if (rc == 0 && (how & DB_COPY_CHECK) != 0) {
        rc = check_whole(copy->to, copy->part, err);
    }
    sqlite3_close(copy->to);
    copy->to = NULL;
    if (rc == 0) {
        rc = (how & DB_COPY_SYNC) != 0 ? db_copy_rename(copy->part, copy->path, err)
                                       : rename_to(copy->part, copy->path, err);
    }
    copy->has_part = rc != 0;
    return rc;
}

void db_copy_free(struct db_copy *copy)
{
    if (copy == NULL) {
        return;
    }
    if (copy->backup != NULL) {
        sqlite3_backup_finish(copy->backup);
    }
    sqlite3_close(copy->to);
    if (copy->has_part) {
        unlink(copy->part);
    }
    arena_release(&copy->arena);
    free(copy);
}
