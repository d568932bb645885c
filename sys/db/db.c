/* SPDX-License-Identifier: Apache-2.0 */
/* db.c: see db.h: opening, statements, transactions, checkpoints. */
#include "sys/db/db.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "sys/daemon.h"
#include "sys/db/db_migrate.h"
#include "sys/db/db_wal.h"
#include "sys/db/db_wal_file.h"
#include "sys/log.h"

enum {
    BUSY_TIMEOUT_MS = 5000,
    QUICK_CHECK_MS = 20000, /* a longer check would delay the daemon */
    CHECK_EVERY_OPS = 10000,
    PAGE_BYTES = 4096,
    CHECKPOINT_PAGES = 16 * 1024 * 1024 / PAGE_BYTES,
    REST_PAGES = 1024 * 1024 / PAGE_BYTES, /* if nothing is committed for ... */
    REST_MS = 1000,
    ALARM_PAGES = 64 * 1024 * 1024 / PAGE_BYTES,
};

struct db {
    sqlite3 *handle;
    char *path;
    sqlite3_stmt *begin, *commit;
    struct db_wal wal;
    struct db_sums sums;
    int wal_pages;      /* after the last commit ... */
    int maintained;     /* ... and at the last db_maintain ... */
    int64_t changed_ms; /* ... when they last differed */
    bool is_alarmed;    /* about the WAL's size */
    bool is_dead;       /* an error after which only a restart is safe */
    struct log_limit full;
};

/* ---------------------------------------------------------------- opening */

/* Only its owner may read the contracts and the jobs' environments. An existing file is
 * not opened, since closing it would drop this process's locks on it. */
static int create_file(const char *path, struct err *err)
{
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) {
        return errno == EEXIST
                   ? ERR_NONE
                   : err_set(err, ERR_IO, "\"%s\": %s", path, strerror(errno));
    }
    close(fd);
    return ERR_NONE;
}

static int refuse(const struct db *db, struct err *err)
{
    int why = sqlite3_errcode(db->handle) & 0xff;
    if (why == SQLITE_BUSY || why == SQLITE_LOCKED) {
        return err_set(err, ERR_EXISTS, "\"%s\" is open in another process", db->path);
    }
    return err_set(err, ERR_IO, "\"%s\": %s", db->path, sqlite3_errmsg(db->handle));
}

static int configure(struct db *db, struct err *err)
{
    /* The locking mode comes first: with it WAL needs no shared memory, and other
     * processes that open the file get SQLITE_BUSY. */
    static const char pragmas[] = "PRAGMA locking_mode=EXCLUSIVE;"
                                  "PRAGMA journal_mode=WAL;"
                                  "PRAGMA synchronous=FULL;"
                                  "PRAGMA foreign_keys=ON;"
                                  "PRAGMA trusted_schema=OFF;"
                                  "PRAGMA cell_size_check=ON;"
                                  "PRAGMA mmap_size=0;"
                                  "PRAGMA wal_autocheckpoint=0;"
                                  "PRAGMA cache_size=-16384;"; /* KiB */
    sqlite3_extended_result_codes(db->handle, 1);
    sqlite3_busy_timeout(db->handle, BUSY_TIMEOUT_MS);
    sqlite3_db_config(db->handle, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(db->handle, SQLITE_DBCONFIG_DQS_DML, 0, NULL);
    sqlite3_db_config(db->handle, SQLITE_DBCONFIG_DQS_DDL, 0, NULL);
    /* Closing leaves the log as it is: after a failure it is what decides. */
    sqlite3_db_config(db->handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    if (sqlite3_exec(db->handle, pragmas, NULL, NULL, NULL) != SQLITE_OK) {
        return refuse(db, err);
    }
    return ERR_NONE;
}

/* The lock is taken by the first write, not by the pragmas. */
static int take_lock(struct db *db, struct err *err)
{
    if (sqlite3_exec(db->handle, "BEGIN IMMEDIATE; COMMIT;", NULL, NULL, NULL) !=
        SQLITE_OK) {
        return refuse(db, err);
    }
    return ERR_NONE;
}

static int is_time_over(void *arg)
{
    const int64_t *deadline_ms = arg;
    return daemon_now_ms() > *deadline_ms;
}

static int quick_check(struct db *db, struct err *err)
{
    int64_t deadline_ms = daemon_now_ms() + QUICK_CHECK_MS;
    sqlite3_progress_handler(db->handle, CHECK_EVERY_OPS, is_time_over, &deadline_ms);
    sqlite3_stmt *statement = NULL;
    int status =
        sqlite3_prepare_v2(db->handle, "PRAGMA quick_check(1)", -1, &statement, NULL);
    if (status == SQLITE_OK) {
        status = sqlite3_step(statement);
    }
    int result = ERR_NONE;
    if (status == SQLITE_INTERRUPT) {
        log_line(LOG_LEVEL_WARNING, "\"%s\": the check was cut short after %d s",
                 db->path, QUICK_CHECK_MS / 1000);
    } else if (status != SQLITE_ROW) {
        result = refuse(db, err);
    } else {
        const char *verdict = (const char *)sqlite3_column_text(statement, 0);
        if (verdict == NULL || strcmp(verdict, "ok") != 0) {
            result = err_set(err, ERR_IO, "\"%s\" is damaged: %s", db->path,
                             verdict != NULL ? verdict : "unreadable");
        }
    }
    sqlite3_finalize(statement);
    sqlite3_progress_handler(db->handle, 0, NULL, NULL);
    return result;
}

static int on_wal(void *arg, sqlite3 *handle, const char *name, int pages)
{
    (void)handle;
    (void)name;
    struct db *db = arg;
    db->wal_pages = pages;
    db_wal_committed(&db->wal, pages);
    return SQLITE_OK;
}

/* A failed transaction must not be committed in part, and after an I/O error SQLite may
 * consider unwritten pages as written. Only a restart, which reads the disk again, is
 * safe (docs/design/architecture.md "Stores"). */
static int fail(struct db *db, const char *what, struct err *err)
{
    db->is_dead = true;
    return err_set(err, ERR_IO, "\"%s\": %s: %s", db->path, what,
                   sqlite3_errmsg(db->handle));
}

/* All of the log goes into the file, so that the next commit begins it anew. With
 * SQLITE_CHECKPOINT_TRUNCATE the log has no room left: on a full disk the next commit
 * fails, before anything is promised that cannot be carried out. */
static int checkpoint(struct db *db, int mode, int *n_left, struct err *err)
{
    int logged = 0, copied = 0;
    struct db_pages pages = {0};
    if (mode == SQLITE_CHECKPOINT_TRUNCATE) {
        db_wal_emptying(&db->wal);
    }
    db_wal_pages(&db->wal, &pages);
    int rc = sqlite3_wal_checkpoint_v2(db->handle, NULL, mode, &logged, &copied);
    *n_left = logged - copied;
    if (rc == SQLITE_OK && *n_left == 0) {
        if (pages.count > 0) {
            db_wal_sum(&db->wal, &db->sums, &pages);
        }
        db->wal_pages = 0;
        db_wal_committed(&db->wal, 0);
    }
    db_sums_release_pages(&pages);
    return rc == SQLITE_OK ? ERR_NONE : fail(db, "checkpoint", err);
}

/* A log that SQLite would cut silently is refused, and left as it is. */
static int check_log(struct db *db, bool accepts_loss, struct err *err)
{
    struct err loss;
    const struct db_sums *sums = db->sums.fd >= 0 ? &db->sums : NULL;
    if (db_wal_check(db->path, sums, &loss) == ERR_NONE) {
        return ERR_NONE;
    }
    if (accepts_loss) {
        log_line(LOG_LEVEL_WARNING, "%s: accepted", loss.text);
        return ERR_NONE;
    }
    return err_set(err, ERR_IO, "%s", loss.text);
}

static int open_handle(struct db *db, bool accepts_loss, struct err *err)
{
    struct stat file;
    bool is_empty = stat(db->path, &file) < 0 || file.st_size == 0;
    int status = is_empty ? check_log(db, accepts_loss, err) : ERR_NONE;
    if (status == ERR_NONE) {
        status = create_file(db->path, err);
    }
    if (status == ERR_NONE) {
        status = db_sums_open(&db->sums, db->path, err);
    }
    if (status == ERR_NONE &&
        sqlite3_open_v2(db->path, &db->handle,
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX,
                        db_wal_file_vfs()) != SQLITE_OK) {
        status = refuse(db, err);
    }
    if (status == ERR_NONE) {
        status = configure(db, err);
    }
    if (status == ERR_NONE) {
        status = take_lock(db, err);
    }
    if (status == ERR_NONE && !is_empty) {
        status = check_log(db, accepts_loss, err);
    }
    return status;
}

int db_open(const char *path, int32_t application_id,
            const struct db_migration *migrations, bool accepts_loss, struct db **db,
            struct err *err)
{
    int n_left;
    *db = NULL;
    /* Memory statistics would lock a mutex at each allocation. The call fails
     * harmlessly if a store is already open. */
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    struct db *opened = mem_alloc(1, sizeof(*opened));
    opened->full.burst = 1;
    opened->sums.fd = opened->wal.fd = -1;
    opened->path = strdup(path);
    if (opened->path == NULL) {
        abort();
    }
    int status = open_handle(opened, accepts_loss, err);
    if (status == ERR_NONE) {
        status = quick_check(opened, err);
    }
    if (status == ERR_NONE) {
        status = db_wal_open(&opened->wal, path, err);
    }
    if (status == ERR_NONE) {
        sqlite3_wal_hook(opened->handle, on_wal, opened);
        status = db_migrate(opened->handle, path, application_id, migrations, err);
    }
    if (status == ERR_NONE) {
        status = checkpoint(opened, SQLITE_CHECKPOINT_TRUNCATE, &n_left, err);
    }
    if (status == ERR_NONE) {
        db_wal_sum(&opened->wal, &opened->sums, NULL);
    }
    if (status != ERR_NONE) {
        opened->is_dead = true;
        db_close(opened);
        return status;
    }
    *db = opened;
    return ERR_NONE;
}

void db_close(struct db *db)
{
    if (db == NULL) {
        return;
    }
    sqlite3_stmt *statement;
    while (db->handle != NULL &&
           (statement = sqlite3_next_stmt(db->handle, NULL)) != NULL) {
        sqlite3_finalize(statement);
    }
    struct err err;
    int n_left;
    if (!db->is_dead && checkpoint(db, SQLITE_CHECKPOINT_TRUNCATE, &n_left, &err) < 0) {
        log_line(LOG_LEVEL_WARNING, "%s", err.text);
    }
    sqlite3_close(db->handle);
    db_sums_close(&db->sums);
    db_wal_close(&db->wal);
    free(db->path);
    free(db);
}

/* ---------------------------------------------------------------- statements */

sqlite3 *db_handle(struct db *db)
{
    return db->handle;
}

sqlite3_stmt *db_statement(struct db *db, sqlite3_stmt **slot, const char *sql)
{
    if (*slot != NULL) {
        sqlite3_reset(*slot);
        sqlite3_clear_bindings(*slot);
        return *slot;
    }
    if (sqlite3_prepare_v3(db->handle, sql, -1, SQLITE_PREPARE_PERSISTENT, slot,
                           NULL) != SQLITE_OK) {
        log_line(LOG_LEVEL_ERROR, "SQL does not compile: %s: %s",
                 sqlite3_errmsg(db->handle), sql);
        abort();
    }
    return *slot;
}

static int refuse_dead(const struct db *db, struct err *err)
{
    return err_set(err, ERR_IO, "\"%s\" failed before and is closed to writing",
                   db->path);
}

/* The disk is full. What the log has goes into the file, where most of it replaces
 * older pages, and the next commit finds the room of the log. True if it does: the
 * transaction is taken back. Nothing was written in part, since the log counts up to
 * the last commit in it. */
static bool make_room(struct db *db)
{
    struct err err;
    int n_left = 0, n_pages = db->wal_pages;
    if (n_pages == 0) {
        return false;
    }
    if (sqlite3_get_autocommit(db->handle) == 0 &&
        sqlite3_exec(db->handle, "ROLLBACK", NULL, NULL, NULL) != SQLITE_OK) {
        return false;
    }
    if (checkpoint(db, SQLITE_CHECKPOINT_PASSIVE, &n_left, &err) < 0 || n_left > 0) {
        return false;
    }
    if (log_limit_pass(&db->full, daemon_now_ms())) {
        log_line(LOG_LEVEL_WARNING,
                 "\"%s\": the disk is full; the write-ahead log (%d pages) is emptied "
                 "into the database, and its room is used again: make space soon",
                 db->path, n_pages);
    }
    db->is_dead = false;
    return true;
}

int db_run(struct db *db, sqlite3_stmt *statement, struct err *err)
{
    if (db->is_dead) {
        return refuse_dead(db, err);
    }
    if (sqlite3_step(statement) == SQLITE_DONE) {
        sqlite3_reset(statement);
        return ERR_NONE;
    }
    bool is_full = (sqlite3_errcode(db->handle) & 0xff) == SQLITE_FULL;
    int status = fail(db, sqlite3_sql(statement), err);
    sqlite3_reset(statement);
    if (is_full && make_room(db)) {
        status = err_set(err, ERR_AWAY, "\"%s\": the disk was full", db->path);
    }
    return status;
}

int db_begin(struct db *db, struct err *err)
{
    return db_run(db, db_statement(db, &db->begin, "BEGIN IMMEDIATE"), err);
}

int db_commit(struct db *db, struct err *err)
{
    return db_run(db, db_statement(db, &db->commit, "COMMIT"), err);
}

/* ---------------------------------------------------------------- checkpoints */

void db_maintain(struct db *db, int64_t now_ms)
{
    if (db->wal_pages != db->maintained) {
        db->maintained = db->wal_pages;
        db->changed_ms = now_ms;
    }
    bool is_at_rest = db->wal_pages >= REST_PAGES && now_ms - db->changed_ms >= REST_MS;
    if (db->is_dead || (db->wal_pages < CHECKPOINT_PAGES && !is_at_rest)) {
        return;
    }
    struct err err;
    int n_left = 0;
    int mode = is_at_rest ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_PASSIVE;
    if (checkpoint(db, mode, &n_left, &err) < 0) {
        log_line(LOG_LEVEL_ERROR, "%s", err.text);
    } else if (n_left == 0) {
        db->is_alarmed = false;
    } else if (n_left > ALARM_PAGES && !db->is_alarmed) {
        db->is_alarmed = true;
        log_line(LOG_LEVEL_WARNING, "\"%s\": the write-ahead log has %d pages",
                 db->path, n_left);
    }
}
