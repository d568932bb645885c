/* SPDX-License-Identifier: Apache-2.0 */
/* job_control.h: what is done to a job instead of stopping, continuing and ending its
 * processes by the usual signals: "suspend=TSTP", "resume=/opt/app/wake $LSB_JOBPIDS".
 *
 * Behind the "=" stands a signal's name, with or without SIG, or a command for /bin/sh.
 *
 * Source: LSF's JOB_CONTROLS. Layer: model. */
#ifndef SUBLET_MODEL_JOB_CONTROL_H
#define SUBLET_MODEL_JOB_CONTROL_H

#include <stdbool.h>

enum job_control {
    JOB_CONTROL_SUSPEND,
    JOB_CONTROL_RESUME,
    JOB_CONTROL_TERMINATE,
    JOB_CONTROL_KINDS
};

/* "suspend" and so on. */
const char *job_control_name(enum job_control action);
/* What stands behind the "="; NULL: it is no such text. */
const char *job_control_parse(const char *text, enum job_control *action);
/* A signal that jobs may be sent; 0: it is the name of none. */
int job_control_signal(const char *text);

#endif
