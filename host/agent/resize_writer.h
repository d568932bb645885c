/* SPDX-License-Identifier: Apache-2.0 */
/* resize_writer.h: writes down what slots a run is to have (resize_command.h), which
 * its guard reads.
 *
 * The file is another one each time and is put in place as a whole: the guard reads it
 * when it is ordered to, and finds the one that is meant, or none.
 * Errors: ERR_IO. Layer: host. */
#ifndef SUBLET_HOST_AGENT_RESIZE_WRITER_H
#define SUBLET_HOST_AGENT_RESIZE_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "model/msg.h"

/* `dir` is the run's open directory. */
int resize_writer_write(int dir, const struct msg_run_resize *resize,
                        struct err *err) MUST_CHECK;
/* One of that number is there, and its guard may have been told of it. */
bool resize_writer_is_written(int dir, uint64_t number);

#endif
