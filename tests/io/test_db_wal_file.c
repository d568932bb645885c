/* SPDX-License-Identifier: Apache-2.0 */
/* test_db_wal_file.c: a write-ahead log that is written through our VFS has the same
 * bytes as one that SQLite's own VFS would write, whatever the order of its writes, and
 * all of them are in the file once it is synced. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "base/rng.h"
#include "sys/db/db_wal_file.h"

enum { FILE_MAX = 600000, WRITE_MAX = 130000, STEPS = 4000 };

struct log {
    char path[64];
    sqlite3_vfs *vfs;
    sqlite3_file *file;
    uint8_t model[FILE_MAX]; /* what the file has to have */
    int n_model;
};

static struct rng rng;

static struct log *log_open(void)
{
    struct log *log = calloc(1, sizeof(*log));
    snprintf(log->path, sizeof(log->path), "/tmp/test_db_wal_file.XXXXXX");
    close(mkstemp(log->path));
    log->vfs = sqlite3_vfs_find(db_wal_file_vfs());
    log->file = calloc(1, (size_t)log->vfs->szOsFile);
    assert_int_equal(log->vfs->xOpen(log->vfs, log->path, log->file,
                                     SQLITE_OPEN_WAL | SQLITE_OPEN_READWRITE, NULL),
                     SQLITE_OK);
    return log;
}

/* The file, as another process sees it. */
static void expect_file(const struct log *log)
{
    static uint8_t bytes[FILE_MAX + 1];
    FILE *file = fopen(log->path, "re");
    size_t n_bytes = fread(bytes, 1, sizeof(bytes), file);
    fclose(file);
    assert_int_equal(n_bytes, log->n_model);
    assert_memory_equal(bytes, log->model, n_bytes);
}

static void log_close(struct log *log)
{
    assert_int_equal(log->file->pMethods->xClose(log->file), SQLITE_OK);
    expect_file(log);
    unlink(log->path);
    free(log->file);
    free(log);
}

static void log_write(struct log *log, int at, int size)
{
    for (int i = 0; i < size; i++) {
        log->model[at + i] = (uint8_t)rng_next(&rng);
    }
    log->n_model = at + size > log->n_model ? at + size : log->n_model;
    assert_int_equal(log->file->pMethods->xWrite(log->file, &log->model[at], size, at),
                     SQLITE_OK);
}

static void log_truncate(struct log *log, int size)
{
    memset(&log->model[size], 0, FILE_MAX - (size_t)size);
    log->n_model = size;
    assert_int_equal(log->file->pMethods->xTruncate(log->file, size), SQLITE_OK);
}

static void log_read(struct log *log, int at, int size)
{
    static uint8_t bytes[FILE_MAX];
    int rc = log->file->pMethods->xRead(log->file, bytes, size, at);
    assert_int_equal(rc,
                     at + size > log->n_model ? SQLITE_IOERR_SHORT_READ : SQLITE_OK);
    assert_memory_equal(bytes, &log->model[at], (size_t)size);
}

static void log_sync(struct log *log)
{
    assert_int_equal(log->file->pMethods->xSync(log->file, SQLITE_SYNC_NORMAL),
                     SQLITE_OK);
    expect_file(log);
}

static int less_than(int bound)
{
    return bound > 0 ? (int)rng_below(&rng, bound) : 0;
}

static void test_any_order(void **state)
{
    (void)state;
    struct log *log = log_open();
    int next = 0;
    rng_init(&rng, 20);
    for (int i = 0; i < STEPS; i++) {
        int kind = less_than(20), size = less_than(kind == 0 ? WRITE_MAX : 5000) + 1;
        if (kind < 14) { /* mostly behind the write before */
            next = kind == 13 ? less_than(log->n_model) : next;
            next = next + size > FILE_MAX ? 0 : next;
            log_write(log, next, size);
            next += size;
        } else if (kind < 16) {
            log_read(log, less_than(FILE_MAX - size), size);
        } else if (kind == 16) {
            sqlite3_int64 n_bytes;
            log->file->pMethods->xFileSize(log->file, &n_bytes);
            assert_int_equal(n_bytes, log->n_model);
        } else if (kind == 17 && less_than(10) == 0) {
            log_truncate(log, less_than(log->n_model));
        } else {
            log_sync(log);
        }
    }
    log_close(log);
}

/* A commit of a few pages is one write: nothing is in the file before it is synced. */
static void test_together(void **state)
{
    enum { FRAME_HEADER = 24, PAGE = 4096, FRAMES = 20 };
    (void)state;
    struct log *log = log_open();
    int at = 0;
    for (int i = 0; i < FRAMES; i++) {
        log_write(log, at, FRAME_HEADER);
        log_write(log, at + FRAME_HEADER, PAGE);
        at += FRAME_HEADER + PAGE;
    }
    assert_int_equal(truncate(log->path, 0), 0); /* what is in it now is lost */
    log_sync(log);
    log_close(log);
}

/* Closing passes on what was not synced, as the own VFS would have written it. */
static void test_closed(void **state)
{
    (void)state;
    struct log *log = log_open();
    log_write(log, 0, 100);
    log_close(log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_order),
        cmocka_unit_test(test_together),
        cmocka_unit_test(test_closed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
