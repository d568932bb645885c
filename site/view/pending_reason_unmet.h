/* SPDX-License-Identifier: Apache-2.0 */
/* pending_reason_unmet.h: which part of a waiting job's requirement how many hosts do
 * not meet, for `jobs -l JOB`.
 *
 * Parts are what stands between the outermost && of each selection (the job's -R, its
 * application's, its queue's RES_REQ), each judged by itself at the moment of asking,
 * over the hosts that the queue and -m allow; and the type of the local host where no
 * part names one.
 * Source: issue "The local scheduler", 4. Layer: site. */
#ifndef SUBLET_SITE_VIEW_PENDING_REASON_UNMET_H
#define SUBLET_SITE_VIEW_PENDING_REASON_UNMET_H

#include "base/value.h"
#include "site/job/job.h"

struct site_view;
/* An array of {"part","hosts","of"}, of parts that some host does not meet; NULL where
 * no host is out for that. */
struct value *pending_reason_unmet_list(const struct site_view *view,
                                        struct arena *arena, const struct job *job);

#endif
