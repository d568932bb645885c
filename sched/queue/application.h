/* SPDX-License-Identifier: Apache-2.0 */
/* application.h: application profiles: settings of a kind of job, independent of its
 * queue (job_rules.h says which level takes precedence).
 *
 * Ownership: in conf's arena. Errors: diagnostics. Order: as in the file.
 * Source: LSF's lsb.applications. Layer: sched (base only). */
#ifndef SUBLET_SCHED_QUEUE_APPLICATION_H
#define SUBLET_SCHED_QUEUE_APPLICATION_H

#include "base/conf.h"
#include "sched/queue/job_rules.h"

struct application {
    const char *name;
    const char *description;
    const char *res_req; /* RES_REQ; NULL: none */
    bool forbids_resize; /* RESIZABLE_JOBS = N */
    enum resizable resizable;
    const char *resize_notify; /* RESIZE_NOTIFY_CMD; "": none */
    struct job_rules rules;
};

/* Reads all Application sections. */
void application_read(struct conf *conf, struct application **applications,
                      int *n_applications);

/* By name, or NULL. */
const struct application *application_find(const struct application *applications,
                                           int n_applications, const char *name);

#endif
