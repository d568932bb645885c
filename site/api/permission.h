/* SPDX-License-Identifier: Apache-2.0 */
/* permission.h: which users may do what: administer the site, manage a job.
 * Layer: site. */
#ifndef SUBLET_SITE_API_PERMISSION_H
#define SUBLET_SITE_API_PERMISSION_H

#include <stdbool.h>

#include "model/effect.h"
#include "site/config/site_config.h"
#include "site/job/job.h"

/* Administrators are root, the user that the daemon runs as, the users and groups of
 * ADMINS, and connections that the daemon itself marks as such (ROLE_ADMIN). */
bool permission_is_admin(const struct site_config *config, const struct peer *from);
/* A user manages their own jobs, an administrator all jobs. Administrators of a queue
 * (ADMINISTRATORS) manage its jobs, those of a user group (GROUP_ADMIN) the jobs of its
 * members; with STRICT_UG_CONTROL only jobs that were submitted for it (-G). */
bool permission_may_manage(const struct site_config *config, const struct peer *from,
                           const struct job *job);
/* By index; -1: one that does not exist. */
bool permission_is_queue_admin(const struct site_config *config,
                               const struct peer *from, int queue);
/* Also the administrators of a host group that the host is in. */
bool permission_is_host_admin(const struct site_config *config, const struct peer *from,
                              const char *host);

#endif
