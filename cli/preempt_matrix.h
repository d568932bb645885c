/* SPDX-License-Identifier: Apache-2.0 */
/* preempt_matrix.h: which queues preempt which, as a matrix: a row for each queue that
 * preempts another, a column for each that is preempted; "yes", or its preference.
 *
 * Order: queues as they are listed. Layer: cli. */
#ifndef SUBLET_CLI_PREEMPT_MATRIX_H
#define SUBLET_CLI_PREEMPT_MATRIX_H

#include <jansson.h>
#include <stdbool.h>

#include "base/arena.h"

/* Of rows of `queues`; nothing where none of them preempts. */
void preempt_matrix_print(struct arena *arena, const json_t *queues, bool has_heading);

#endif
