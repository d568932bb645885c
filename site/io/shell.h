/* SPDX-License-Identifier: Apache-2.0 */
/* shell.h: a site's reactor: what its peers say goes into site_step, what comes out is
 * committed and then carried out.
 *
 * The parts that hold a connection (uplink, hosts, the socket of the command line) hand
 * over what has arrived, up to a bound, and end the batch; the shell then
 * commits all store effects in one transaction, and only then sends. A commit that
 * fails ends the process at once, with exit status 1 and nothing of the batch sent: it
 * starts again from what is on disk.
 *
 * Ownership: loop, site and journal are borrowed and outlive the shell; parts outlive
 * the last batch.
 * Source: docs/design/architecture.md "The shell". Layer: site/io. */
#ifndef SUBLET_SITE_IO_SHELL_H
#define SUBLET_SITE_IO_SHELL_H

#include <czmq.h>

#include "site/io/journal.h"
#include "site/site.h"
#include "sys/histogram.h"

enum {
    /* So many messages of one connection share one commit at most; more would make the
     * first of them wait. */
    SHELL_MESSAGES_PER_BATCH = 256,
};

struct shell;
struct shell *shell_new(zloop_t *loop, struct site *site, struct journal *journal);
void shell_free(struct shell *shell); /* NULL is fine */

/* Which part sends to peers of that kind, and which one reopens the uplink. */
typedef int (*shell_send_fn)(void *part, const struct peer *to, const struct msg *msg,
                             struct err *err);
typedef void (*shell_reconnect_fn)(void *part);
void shell_route(struct shell *shell, enum peer_kind kind, shell_send_fn send,
                 void *part);
void shell_route_reconnect(struct shell *shell, shell_reconnect_fn reconnect,
                           void *part);

/* How long commits took; lives as long as the shell. */
const struct histogram *shell_commits(const struct shell *shell);
/* Who reads the configuration anew: on success it has handed it in by shell_reload, and
 * `text` (in the arena) says so. Called between batches. */
typedef int (*shell_reload_fn)(void *part, struct arena *arena, const char **text,
                               struct err *err);
void shell_route_reload(struct shell *shell, shell_reload_fn reload, void *part);
void shell_reload(struct shell *shell, const struct site_config *config);
bool shell_has_host(const struct shell *shell, const char *host);
bool shell_has_leaving(const struct shell *shell, const char *host);

/* Starts the loaded site: its first batch. */
void shell_start(struct shell *shell);

/* What has arrived, stepped at once. `shell` is a struct shell: these are callbacks. */
void shell_take_message(void *shell, const struct peer *from, const struct msg *msg);
void shell_take_gone(void *shell, const struct peer *from);
void shell_refuse_message(void *shell, const struct peer *from, const struct err *err);
/* That was all that had arrived. */
void shell_end_batch(struct shell *shell);

#endif
