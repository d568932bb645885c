/* SPDX-License-Identifier: Apache-2.0 */
/* pass_request.h: requests a scheduling pass, because jobs, hosts, slots or contracts
 * have changed. The next tick runs the pass and clears the flag. Layer: site. */
#ifndef SUBLET_SITE_PASS_PASS_REQUEST_H
#define SUBLET_SITE_PASS_PASS_REQUEST_H

#include <stdbool.h>

struct pass_request {
    bool is_set;
};

static inline void pass_request_set(struct pass_request *request)
{
    request->is_set = true;
}

#endif
