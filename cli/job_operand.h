/* SPDX-License-Identifier: Apache-2.0 */
/* job_operand.h: a job's id as users write it: 12, or 12[3] and 12[1-5,9] for elements
 * of an array (model/job_id.h). Layer: cli. */
#ifndef SUBLET_CLI_JOB_OPERAND_H
#define SUBLET_CLI_JOB_OPERAND_H

#include <stdbool.h>

bool job_operand_is_valid(const char *text);
/* Names elements by a list or range. */
bool job_operand_is_list(const char *text);

#endif
