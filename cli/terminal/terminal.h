/* SPDX-License-Identifier: Apache-2.0 */
/* terminal.h: the user's side of an interactive job (`sublet sub -I -Ip -Is`).
 *
 * Standard input goes to the job. The job's output goes to standard output and standard
 * error, and notes of the site ("<<Starting on n1>>") to standard error. Interrupt and
 * suspend keys reach the job as signals, or with -Is as characters for its
 * pseudo-terminal. An interrupt withdraws a pending job. If this process ends, the site
 * notices the closed connection and ends the job.
 *
 * If the site restarts, this process waits for it. Nothing is lost, since both sides
 * acknowledge offsets (STREAM_DOWN, STREAM_UP). Layer: cli. */
#ifndef SUBLET_CLI_TERMINAL_TERMINAL_H
#define SUBLET_CLI_TERMINAL_TERMINAL_H

#include "cli/call.h"
#include "cli/connect.h"
#include "model/msg.h"

/* Returns the job's exit code after its end, or CALL_FAILED after an error message.
 * `*connect` may be replaced, or be NULL at the end. */
int terminal_run(const struct call *call, struct connect **connect, const char *job,
                 enum interaction interaction);

#endif
