/* SPDX-License-Identifier: Apache-2.0 */
/* jobid.h: a job's id as users write it: 12, or 12[3] for an element of an array.
 * Layer: cli. */
#ifndef SUBLET_CLI_JOBID_H
#define SUBLET_CLI_JOBID_H

#include <stdbool.h>

bool jobid_is_valid(const char *text);

#endif
