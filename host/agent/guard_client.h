/* SPDX-License-Identifier: Apache-2.0 */
/* guard_client.h: the agent's side of guards: starts them, sends them requests,
 * receives their records (run_dir.h).
 *
 * Guards are forked by the fork server (forkserver.h), or started as a program if the
 * fork server is not available at that moment. The daemon itself never forks, because
 * that gets slower as it grows; it uses posix_spawn. No call blocks.
 *
 * Errors: ERR_FULL process or descriptor limit, ERR_IO anything else.
 * Layer: host. */
#ifndef SUBLET_HOST_AGENT_GUARD_CLIENT_H
#define SUBLET_HOST_AGENT_GUARD_CLIENT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "host/run_dir/run_dir.h"

/* Finds sublet-guard: beside this program, or in ../libexec/sublet. */
int guard_client_find_program(char *path, size_t size, struct err *err) MUST_CHECK;

/* Starts `program [option] directory`; *link is our end of its connection, non-blocking
 * (NULL: it gets none). Its input and output are /dev/null: it outlives ours. */
int guard_client_spawn(const char *program, const char *option, const char *directory,
                       int *link, struct err *err) MUST_CHECK;
/* On SIGCHLD: collects guards that ended. Their records say how they ended. */
void guard_client_reap(void);

struct guard_client {
    const char *program; /* borrowed */
    int forkserver;      /* connection; -1: none, it is started when first needed */
};

void guard_client_init(struct guard_client *client, const char *program);
/* Ends the fork server; the guards continue. */
void guard_client_release(struct guard_client *client);
/* Starts a guard for the run in `runs`/`name`; *link as for guard_client_spawn. */
int guard_client_start(struct guard_client *client, const char *runs, const char *name,
                       int *link, struct err *err) MUST_CHECK;

/* Returns false if the guard did not take the request; the sender has to repeat it. */
bool guard_client_send(int link, const struct guard_request *request);

enum guard_client_event {
    GUARD_CLIENT_NOTHING,
    GUARD_CLIENT_RECORD,
    GUARD_CLIENT_GONE,
};
enum guard_client_event guard_client_receive(int link, struct guard_record *record);

#endif
