/* SPDX-License-Identifier: Apache-2.0 */
/* job_action.h: what is done to a job instead of stopping, continuing and ending its
 * processes by the usual signals: "suspend=TSTP", "resume=/opt/app/wake $LSB_JOBPIDS".
 *
 * Behind the "=" stands a signal's name, with or without SIG, or a command for /bin/sh.
 *
 * Source: LSF's JOB_CONTROLS. Layer: base. */
#ifndef SUBLET_BASE_JOB_ACTION_H
#define SUBLET_BASE_JOB_ACTION_H

#include <stdbool.h>

enum job_action {
    JOB_ACTION_SUSPEND,
    JOB_ACTION_RESUME,
    JOB_ACTION_TERMINATE,
    JOB_ACTIONS
};

/* "suspend" and so on. */
const char *job_action_name(enum job_action action);
/* What stands behind the "="; NULL: it is no such text. */
const char *job_action_read(const char *text, enum job_action *action);
/* A signal that jobs may be sent; 0: it is the name of none. */
int job_action_signal(const char *text);

#endif
