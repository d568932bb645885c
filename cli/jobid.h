/* SPDX-License-Identifier: Apache-2.0 */
/* jobid.h: a job's id as users write it: 12, or 12[3] and 12[1-5,9] for elements of an
 * array (model/job_id.h).
 * Layer: cli. */
#ifndef SUBLET_CLI_JOBID_H
#define SUBLET_CLI_JOBID_H

#include <stdbool.h>

bool jobid_is_valid(const char *text);
/* Names elements by a list or range. */
bool jobid_is_list(const char *text);

#endif
