/* SPDX-License-Identifier: Apache-2.0 */
/* requests.h: submissions and queries of the command line.
 * Layer: site. */
#ifndef SUBLET_SITE_REQUESTS_H
#define SUBLET_SITE_REQUESTS_H

#include "model/effect.h"

struct site;

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
