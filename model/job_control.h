/* SPDX-License-Identifier: Apache-2.0 */
/* job_control.h: actions that replace the usual signals for suspending, resuming and
 * terminating a job: "suspend=TSTP", "resume=/opt/app/wake $LSB_JOBPIDS"; and the one
 * that warns it before its end: "warn=URG".
 *
 * After the "=" comes a signal's name, with or without SIG, or a command for /bin/sh.
 *
 * Source: LSF's JOB_CONTROLS, JOB_WARNING_ACTION. Layer: model. */
#ifndef SUBLET_MODEL_JOB_CONTROL_H
#define SUBLET_MODEL_JOB_CONTROL_H

enum job_control {
    JOB_CONTROL_SUSPEND,
    JOB_CONTROL_RESUME,
    JOB_CONTROL_TERMINATE,
    JOB_CONTROL_WARN, /* JOB_RLIMIT_WARNING before its run limit ends it */
    JOB_CONTROL_KINDS
};

/* "suspend" and so on. */
const char *job_control_name(enum job_control action);
/* The text after the "="; NULL if the text is not a job control. */
const char *job_control_parse(const char *text, enum job_control *action);
/* The text after the "=" of the first one of this kind; NULL: there is none. */
const char *job_control_find(const char *const *texts, int n_texts,
                             enum job_control action);
/* The number of a signal that jobs may be sent; 0 for any other name. */
int job_control_signal(const char *text);

#endif
