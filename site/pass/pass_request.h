/* SPDX-License-Identifier: Apache-2.0 */
/* pass_request.h: a scheduling pass is asked for, since jobs, hosts, slots or contracts
 * have changed since the last one. Whatever changes something sets the flag, the next
 * tick runs the pass and clears it. Layer: site. */
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
