/* SPDX-License-Identifier: Apache-2.0 */
/* shell.h: the loop of a daemon that stores what it promises before it says it.
 *
 * Everything that a daemon does is a batch:
 *   collect  each source hands over what has arrived, up to its bounds (number, bytes
 *            and time); the machine steps at once, and takes a tick at the end
 *   commit   all STOREs in one transaction; if that fails the process ends with exit
 *            status 1, nothing of the batch is sent, and the next start continues from
 *            what is on disk
 *   send     all other effects, in order; what that causes is a batch of its own, next
 * Then the timer is set to the next instant of the machine, or of a source that has
 * more.
 *
 * Ownership: loop, machine, store and parts are borrowed and outlive the shell.
 * Source: docs/design/architecture.md "The shell". Layer: sys. */
#ifndef SUBLET_SYS_SHELL_H
#define SUBLET_SYS_SHELL_H

#include <czmq.h>

#include "base/err.h"
#include "model/effect.h"
#include "sys/histogram.h"

/* The step machine of the daemon, and where its rows are stored. */
struct shell_machine {
    void *machine;
    void (*step)(void *machine, const struct event *event, struct effects *effects);
    int64_t (*wake_ms)(const void *machine);
    /* Commits all STOREs of a batch in one transaction (sys/db/db.h); NULL: there
     * are none. `maintain` is called between batches. */
    int (*commit)(void *store, const struct effects *batch, struct err *err);
    void (*maintain)(void *store);
    void *store;
};

struct shell;
struct shell *shell_new(zloop_t *loop, const struct shell_machine *machine);
void shell_free(struct shell *shell); /* NULL is fine */

/* Runs a batch, of what has arrived since the last one. During a batch it does nothing:
 * what came meanwhile is part of the next. */
void shell_run_batch(struct shell *shell);
/* For steps that are no event (start, reload): their effects are part of the next
 * batch. */
struct effects *shell_effects(struct shell *shell);
/* How long commits took; lives as long as the shell. */
const struct histogram *shell_commits(const struct shell *shell);

/* ---------------------------------------------------------------- collect */

/* A batch begins when `socket` is readable; each batch calls all sources. A source
 * returns when it has more without new input: 0 (at once, in a batch of its own),
 * later, or INT64_MAX. */
typedef int64_t (*shell_collect_fn)(void *part);
void shell_add_source(struct shell *shell, zsock_t *socket, shell_collect_fn collect,
                      void *part);
void shell_remove_source(struct shell *shell, zsock_t *socket);

/* What has arrived. `shell` is a struct shell: these are callbacks. A refused message
 * never reaches the machine; its sender gets an ERROR. */
void shell_take_message(void *shell, const struct peer *from, const struct msg *msg);
void shell_take_gone(void *shell, const struct peer *from);
void shell_refuse_message(void *shell, const struct peer *from, const struct err *err);

/* ---------------------------------------------------------------- send */

/* Who sends to peers of that kind. A message that cannot be sent is dropped: the part
 * that needs it sends it again. `unsent` is told of those that no connection took. For
 * an answer that does not fit a message, an error is sent. */
typedef int (*shell_send_fn)(void *part, const struct peer *to, const struct msg *msg,
                             struct err *err);
void shell_route(struct shell *shell, enum peer_kind kind, shell_send_fn send,
                 void *part);

typedef void (*shell_unsent_fn)(void *part, const struct msg *msg);
void shell_set_unsent(struct shell *shell, shell_unsent_fn fn, void *part);

/* Who carries out effects of that kind; without anyone they have no effect. SEND, LOG
 * and RELOAD have a function from the start. */
typedef void (*shell_effect_fn)(void *part, struct effect *effect,
                                struct effects *more);
void shell_handle(struct shell *shell, enum effect_kind kind, shell_effect_fn fn,
                  void *part);

/* Called at the end of each batch, which began and ended at these times
 * (histogram_now_ns). */
typedef void (*shell_count_fn)(void *part, const struct effects *effects,
                               int64_t begin_ns, int64_t end_ns);
void shell_set_counter(struct shell *shell, shell_count_fn fn, void *part);

/* Reads the configuration again, as `who` ordered: a user, a member, "a signal". On
 * success the machine has it, and `text` (in the arena) says so. */
typedef int (*shell_reload_fn)(void *part, const char *who, struct arena *arena,
                               const char **text, struct err *err);
void shell_set_reload(struct shell *shell, shell_reload_fn fn, void *part);
/* Calls it, for a request that is no message, and runs a batch. */
int shell_reload(struct shell *shell, const char *who, struct arena *arena,
                 const char **text, struct err *err) MUST_CHECK;

#endif
