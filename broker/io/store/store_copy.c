/* SPDX-License-Identifier: Apache-2.0 */
/* store_copy.c: see store_copy.h. The pages of a file are copied; the rows of a server
 * go to a file PATH.rows first. */
#include "broker/io/store/store_copy.h"

#include <stdlib.h>
#include <unistd.h>

#include "broker/io/store/store_transfer.h"

enum {
    PAGES_PER_STEP = 256, /* 1 MiB: about a millisecond */
    ROWS_PER_STEP = 200,
};

struct store_copy {
    struct store *from;
    const char *path, *rows_path;
    struct arena arena;
    struct db_copy *pages;
    struct store *rows; /* PATH.rows */
    struct store_transfer *transfer;
};

/* Removes what SQLite and sys/db keep beside a file, too. */
static void remove_rows(struct store_copy *copy)
{
    static const char *const tails[] = {"", "-wal", "-journal", "-commit"};
    for (size_t i = 0; i < sizeof(tails) / sizeof(tails[0]); i++) {
        unlink(arena_printf(&copy->arena, "%s%s", copy->rows_path, tails[i]));
    }
}

static int begin_rows(struct store_copy *copy, const char *url, struct err *err)
{
    remove_rows(copy);
    int rc = store_open(copy->rows_path, false, &copy->rows, err);
    return rc == 0 ? store_transfer_begin(url, store_db(copy->rows), false,
                                          &copy->transfer, err)
                   : rc;
}

int store_copy_begin(struct store *store, const char *state, const char *path,
                     struct store_copy **copy, struct err *err)
{
    struct store_copy *begun = mem_alloc(1, sizeof(*begun));
    struct db *db = store_db(store);
    arena_init(&begun->arena);
    begun->from = store;
    begun->path = arena_str(&begun->arena, path);
    begun->rows_path = arena_printf(&begun->arena, "%s.rows", path);
    int rc = db != NULL ? db_copy_begin(db_handle(db), path, &begun->pages, err)
                        : begin_rows(begun, state, err);
    if (rc < 0) {
        store_copy_free(begun);
        return rc;
    }
    *copy = begun;
    return 0;
}

int store_copy_step(struct store_copy *copy, struct store **to, struct err *err)
{
    *to = copy->rows != NULL ? copy->rows : copy->from;
    if (copy->rows != NULL) {
        return store_transfer_step(copy->transfer, ROWS_PER_STEP, err);
    }
    if (db_copy_left(copy->pages) <= PAGES_PER_STEP) {
        return 0;
    }
    return db_copy_step(copy->pages, PAGES_PER_STEP, err);
}

int store_copy_finish(struct store_copy *copy, bool syncs, struct err *err)
{
    int rc = 0;
    if (copy->rows != NULL) {
        rc = db_copy_begin(db_handle(store_db(copy->rows)), copy->path, &copy->pages,
                           err);
    }
    rc = rc == 0 ? db_copy_step(copy->pages, -1, err) : rc;
    return rc == 0 ? db_copy_finish(copy->pages, syncs ? DB_COPY_SYNC : 0, err) : rc;
}

void store_copy_free(struct store_copy *copy)
{
    if (copy == NULL) {
        return;
    }
    db_copy_free(copy->pages);
    store_transfer_free(copy->transfer);
    store_close(copy->rows);
    if (store_db(copy->from) == NULL) {
        remove_rows(copy);
    }
    arena_release(&copy->arena);
    free(copy);
}
