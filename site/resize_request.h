/* SPDX-License-Identifier: Apache-2.0 */
/* resize_request.h: what users want of the slots of their running jobs: other ones
 * (`resize`), fewer (`resize release`), no more (`resize cancel`).
 *
 * A user keeps within the -n min,max of a job that is resizable (sub -ar,
 * RESIZABLE_JOBS); an administrator may resize any running job. A slot of the first
 * host stays, as the command runs there. Jobs on borrowed hosts keep what they have.
 * Order: elements of an array by index. Source: lsf.md 6.1, 1.6. Layer: site. */
#ifndef SUBLET_SITE_RESIZE_REQUEST_H
#define SUBLET_SITE_RESIZE_REQUEST_H

#include "model/effect.h"

struct site;

void resize_request(struct site *site, const struct peer *from,
                    const struct msg_job_resize *order, int64_t now_ms,
                    struct effects *effects);

#endif
