/* SPDX-License-Identifier: Apache-2.0 */
/* store.c: see store.h: which of the two stores it is, and what both have in common. */
#include "broker/io/store/store_parts.h"

#include <stdlib.h>

#include "broker/io/store/books.h"
#include "sys/daemon.h"
#include "sys/pg/pg.h"

int store_open(const char *state, bool accepts_loss, struct store **store,
               struct err *err)
{
    return pg_is_url(state) ? store_postgres_open(state, store, err)
                            : store_sqlite_open(state, accepts_loss, store, err);
}

void store_close(struct store *store)
{
    if (store != NULL) {
        free(store->endpoint);
        store->ops->close(store);
    }
}

int store_load(struct store *store, store_row_fn *fn, void *arg, struct err *err)
{
    return store->ops->load(store, fn, arg, err) < 0 ? err_prefix(err, "store") : 0;
}

int store_begin(struct store *store, struct err *err)
{
    return store->ops->begin(store, err);
}

int store_write(struct store *store, const struct row *row, struct err *err)
{
    return store->ops->write(store, row, err) < 0 ? err_prefix(err, "store") : 0;
}

static int dismiss(struct store *store, int rc, const struct err *err)
{
    if (rc < 0 && rc != ERR_AWAY && store->dismissed != NULL) {
        store->dismissed(store->dismissed_arg, err);
    }
    return rc;
}

int store_commit(struct store *store, struct err *err)
{
    return dismiss(store, store->ops->commit(store, err), err);
}

struct db *store_db(struct store *store)
{
    return store->ops->db(store);
}

void store_maintain(struct store *store)
{
    store->ops->maintain(store);
}

static int write_booked(struct store *store, const struct row *row, struct err *err)
{
    int rc = store_write(store, row, err);
    bool is_split = row->kind == ROW_LEASE && !row->lease.keeps_lists;
    if (rc == 0 && is_split && store->books != NULL) {
        rc = books_write(store->books, &row->lease, daemon_now_ms(), err);
    }
    return rc;
}

/* A batch that was not committed when its connection was lost is sent again. */
static int commit_once(struct store *store, const struct effects *batch,
                       struct err *err)
{
    int rc = store_begin(store, err);
    if (store->books != NULL) {
        books_begin(store->books);
    }
    for (int i = 0; i < batch->count && rc == 0; i++) {
        if (batch->items[i].kind == EFFECT_STORE) {
            rc = write_booked(store, &batch->items[i].row, err);
        }
    }
    if (rc == 0 && store->books != NULL) {
        rc = books_end(store->books, err);
    }
    rc = rc == 0 ? store_commit(store, err) : rc;
    if (rc == 0 && store->books != NULL) {
        books_committed(store->books);
    }
    return rc;
}

int store_commit_batch(void *store, const struct effects *batch, struct err *err)
{
    int rc = ERR_AWAY;
    for (int i = 0; i < STORE_TRIES && rc == ERR_AWAY; i++) {
        rc = commit_once(store, batch, err);
    }
    return rc;
}

void store_maintain_batch(void *store)
{
    store_maintain(store);
}
