/* SPDX-License-Identifier: Apache-2.0 */
/* host_output.h: pieces of the output that is kept with a run. Layer: host. */
#ifndef SUBLET_HOST_AGENT_HOST_OUTPUT_H
#define SUBLET_HOST_AGENT_HOST_OUTPUT_H

#include "host/agent/host_spool.h"
#include "model/msg.h"

/* Answers `ask` about the run in directory `name`. `bytes` has room for
 * OUTPUT_CHUNK_MAX and must live as long as the answer. A run that has not begun has no
 * output yet, which is not the same as none here. */
void host_output_read(const struct host_spool *spool, const char *name, bool has_begun,
                      const struct msg_output_ask *ask, uint8_t *bytes,
                      struct msg_output *output);

#endif
