/* SPDX-License-Identifier: Apache-2.0 */
/* requests.h: what the command line asks for: who it is, submissions, queries.
 * Layer: site. */
#ifndef SUBLET_SITE_REQUESTS_H
#define SUBLET_SITE_REQUESTS_H

#include <stdbool.h>

#include "model/effect.h"
#include "site/jobs.h"

struct site;

/* root, the daemon's own user, those of ADMINS, and whom the shell vouches for. */
bool requests_is_admin(const struct site *site, const struct peer *from);
/* Users manage their own jobs, admins all. */
bool requests_may_manage(const struct site *site, const struct peer *from,
                         const struct job *job);
/* The one job that an id as people write it names ("12", "12[3]"); NULL where there is
 * none, or more than one. */
struct job *requests_find_job(const struct site *site, const char *id);
/* The first element of the array with that id ("12"); NULL where there is none. */
struct job *requests_find_array(const struct site *site, const char *id);

/* SUBMIT. Checks: a queue that exists (none named: the default), 1 to SLOTS_MAX slots,
 * a user whom the daemon can run as, hosts that are known ("h@site": of a lease that is
 * made). A job larger than its hosts is no error: it waits, and says why. */
void requests_submit(struct site *site, const struct peer *from,
                     const struct msg_submit *submit, int64_t now_ms,
                     struct effects *effects);
/* QUERY: answered here, or by the broker. */
void requests_query(struct site *site, const struct peer *from,
                    const struct msg_query *query, int64_t now_ms,
                    struct effects *effects);

#endif
