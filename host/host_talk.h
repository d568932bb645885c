/* SPDX-License-Identifier: Apache-2.0 */
/* host_talk.h: the agent's side of the talk with a guard (run_dir.h).
 * No call blocks. Layer: host. */
#ifndef SUBLET_HOST_HOST_TALK_H
#define SUBLET_HOST_HOST_TALK_H

#include <stdbool.h>

#include "host/guard_record.h"
#include "host/run_dir.h"

/* To the guard of the run whose directory `dir` is, at one of its sockets there
 * (RUN_DIR_SOCKET, RUN_DIR_STREAM); -1 where nobody answers. */
int host_talk_connect(int dir, const char *name);

/* False where it was not taken: who needs it sends again. */
bool host_talk_send(int link, const struct guard_order *order);

enum host_talk_event { HOST_TALK_NOTHING, HOST_TALK_RECORD, HOST_TALK_GONE };
enum host_talk_event host_talk_receive(int link, struct guard_record *record);

#endif
