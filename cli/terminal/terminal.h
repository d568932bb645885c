/* SPDX-License-Identifier: Apache-2.0 */
/* terminal.h: the user's side of an interactive job (`sublet sub -I -Ip -Is`).
 *
 * What is typed or piped in goes to the job, what it writes comes to standard output
 * and standard error, and the site's news ("<<Starting on n1>>") to standard error.
 * Interrupt and suspend keys reach the job as signals: with -Is as the keys that they
 * are, for its terminal to judge. While the job waits, an interrupt withdraws it.
 * Whoever ends this process ends the job: the site notices that the connection is gone.
 *
 * A site that restarts is waited for, and nothing is lost: both sides say how far they
 * have come (STREAM_DOWN, STREAM_UP).
 * Layer: cli. */
#ifndef SUBLET_CLI_TERMINAL_TERMINAL_H
#define SUBLET_CLI_TERMINAL_TERMINAL_H

#include "cli/call.h"
#include "cli/connect.h"
#include "model/msg.h"

/* Until the job has ended: its exit code, or CALL_FAILED with a sentence. `*connect`
 * may be replaced, or be NULL at the end. */
int terminal_run(const struct call *call, struct connect **connect, const char *job,
                 enum interaction interaction);

#endif
