/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_snapshot.c: `sublet snapshot FILE`: fetches a consistent copy of the broker's
 * store in pieces, checks it, and renames it into place when it is complete. Source:
 * docs/design/interfaces.md "Command line", "HTTP". */
#include <czmq.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/connect.h"
#include "model/msg.h"
#include "sys/db/db.h"

enum { NOT_READY_MS = 20 };

static int write_piece(int fd, const struct msg_reply *reply, const char *path,
                       struct err *err)
{
    int n_written = 0;
    while (n_written < reply->n_bytes) {
        ssize_t n =
            write(fd, reply->bytes + n_written, (size_t)(reply->n_bytes - n_written));
        if (n < 0 && errno != EINTR) {
            return err_set(err, ERR_IO, "\"%s\": %s", path, strerror(errno));
        }
        n_written += n > 0 ? (int)n : 0;
    }
    return 0;
}

/* Fetches the piece at `offset`. */
static int ask(struct connect *connect, uint64_t ticket, int64_t offset,
               struct arena *arena, struct msg_reply *reply, struct err *err)
{
    struct msg msg = {.kind = MSG_SNAPSHOT,
                      .snapshot = {.ticket = ticket, .offset = offset}};
    return connect_ask(connect, &msg, &msg.snapshot.request, CONNECT_PATIENCE_MS, arena,
                       reply, err);
}

static int fetch(struct connect *connect, int fd, const char *path, struct err *err)
{
    uint64_t ticket;
    int64_t offset = 0;
    bool is_end = false;
    int rc = 0;
    if (getrandom(&ticket, sizeof(ticket), 0) != sizeof(ticket)) {
        return err_set(err, ERR_IO, "no random numbers: %s", strerror(errno));
    }
    ticket >>= 1; /* numbers on the wire have 63 bits */
    while (rc == 0 && !is_end) {
        struct arena arena;
        struct msg_reply reply;
        arena_init(&arena);
        rc = ask(connect, ticket, offset, &arena, &reply, err);
        if (rc == 0) {
            rc = write_piece(fd, &reply, path, err);
            offset += reply.n_bytes;
            is_end = reply.is_end;
            if (reply.n_bytes == 0 && !is_end) {
                zclock_sleep(NOT_READY_MS);
            }
        }
        arena_release(&arena);
    }
    if (rc == 0) { /* a request behind the end lets the broker delete the copy */
        struct arena arena;
        struct msg_reply reply;
        struct err ignored;
        arena_init(&arena);
        (void)!ask(connect, ticket, offset + 1, &arena, &reply, &ignored);
        arena_release(&arena);
    }
    return rc;
}

static int fetch_to(struct connect *connect, const char *part, const char *path,
                    struct err *err)
{
    int fd = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0) {
        return err_set(err, ERR_IO, "\"%s\": %s", part, strerror(errno));
    }
    int rc = fetch(connect, fd, part, err);
    close(fd);
    if (rc == 0) {
        rc = db_copy_check(part, err);
    }
    if (rc == 0) {
        rc = db_copy_rename(part, path, err);
    }
    if (rc != 0) {
        unlink(part);
    }
    return rc;
}

int cmd_snapshot_run(struct call *call)
{
    struct connect *connect;
    struct err err;
    if (call->n_operands != 1) {
        return call_misuse(call, "expected the file to be written");
    }
    if (connect_new(call, &connect, &err) != 0) {
        return call_fail_err(&err);
    }
    int rc;
    if (!connect_is_broker(connect)) {
        rc = err_set(&err, ERR_DENIED,
                     "a snapshot is fetched from the broker itself: give --broker URL, "
                     "--key and --broker-key of an administrator");
    } else {
        const char *path = call->operands[0];
        rc = fetch_to(connect, arena_printf(&call->arena, "%s.tmp", path), path, &err);
    }
    connect_free(connect);
    return rc != 0 ? call_fail_err(&err) : CALL_OK;
}
