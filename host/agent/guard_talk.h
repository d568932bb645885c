/* SPDX-License-Identifier: Apache-2.0 */
/* guard_talk.h: the agent's side of the talk with a guard (run_dir.h).
 * No call blocks. Layer: host. */
#ifndef SUBLET_HOST_AGENT_GUARD_TALK_H
#define SUBLET_HOST_AGENT_GUARD_TALK_H

#include <stdbool.h>

#include "host/exec/guard_record.h"
#include "host/run_dir/run_dir.h"

/* To the guard of the run whose directory `dir` is, at one of its sockets there
 * (RUN_DIR_SOCKET, RUN_DIR_STREAM); -1 where nobody answers. */
int run_socket_connect(int dir, const char *name);

/* False where it was not taken: who needs it sends again. */
bool guard_talk_send(int link, const struct guard_request *order);

enum guard_client_event {
    GUARD_CLIENT_NOTHING,
    GUARD_CLIENT_RECORD,
    GUARD_CLIENT_GONE
};
enum guard_client_event guard_talk_receive(int link, struct guard_record *record);

#endif
