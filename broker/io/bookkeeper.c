/* SPDX-License-Identifier: Apache-2.0 */
/* bookkeeper.c: see bookkeeper.h. */
#include "broker/io/bookkeeper.h"

#include <stdlib.h>
#include <unistd.h>

#include "sys/daemon.h"
#include "sys/log.h"

enum { TURN_MS = 1000 };

struct bookkeeper {
    zloop_t *loop;
    struct books *books;
    int timer_id;
};

static int enter_leases(struct books *books, const struct broker *broker,
                        struct store *store, struct err *err)
{
    int rc = store_begin(store, err);
    books_begin(books);
    for (int i = 0; i < broker_count_leases(broker) && rc == 0; i++) {
        struct row_lease lease;
        if (broker_find_lease(broker, broker_lease_id(broker, i), &lease)) {
            rc = books_write(books, &lease, daemon_now_ms(), err);
        }
    }
    rc = rc == 0 ? books_end(books, err) : rc;
    rc = rc == 0 ? store_commit(store, err) : rc;
    if (rc == 0) {
        books_committed(books);
    }
    return rc;
}

static int on_turn(zloop_t *loop, int timer_id, void *arg)
{
    struct bookkeeper *keeper = arg;
    struct err err;
    (void)loop;
    (void)timer_id;
    int rc = books_trim(keeper->books, daemon_now_ms(), &err);
    if (rc == ERR_AWAY) { /* the connection was lost, and is there again */
        log_line(LOG_LEVEL_WARNING, "books: %s; they are summed later", err.text);
    } else if (rc < 0) {
        log_line(LOG_LEVEL_ERROR,
                 "commit failed: %s; the next start continues from what is on disk",
                 err.text);
        _exit(EXIT_FAILURE);
    }
    return 0;
}

int bookkeeper_new(zloop_t *loop, const struct broker *broker, struct store *store,
                   int64_t n_bytes_max, struct bookkeeper **keeper, struct err *err)
{
    struct books *books = NULL;
    int rc = books_new(store, n_bytes_max, &books, err);
    rc = rc == 0 ? enter_leases(books, broker, store, err) : rc;
    if (rc < 0) {
        books_free(books);
        return rc;
    }
    *keeper = mem_alloc(1, sizeof(**keeper));
    **keeper = (struct bookkeeper){.loop = loop, .books = books};
    (*keeper)->timer_id = zloop_timer(loop, TURN_MS, 0, on_turn, *keeper);
    return 0;
}

void bookkeeper_free(struct bookkeeper *keeper)
{
    if (keeper != NULL) {
        zloop_timer_end(keeper->loop, keeper->timer_id);
        books_free(keeper->books);
        free(keeper);
    }
}
