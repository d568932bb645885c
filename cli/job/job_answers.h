/* SPDX-License-Identifier: Apache-2.0 */
/* job_answers.h: the answer to an order about several jobs, of which some may not have
 * taken it. Layer: cli. */
#ifndef SUBLET_CLI_JOB_JOB_ANSWERS_H
#define SUBLET_CLI_JOB_JOB_ANSWERS_H

#include "base/err.h"
#include "model/msg.h"

/* Prints a line for each job: on standard output for those that have taken it, on
 * standard error for the others. `code` is that of the answer, `err` its sentence if it
 * is not 0. Returns the exit status. */
int job_answers_print(const struct msg_reply *reply, int code, const struct err *err);

#endif
