/* SPDX-License-Identifier: Apache-2.0 */
/* moves.h: requests that give jobs another place: requeue, switch, btop, bbot; and
 * those that open, close, activate and inactivate a queue.
 *
 * Errors: what is refused is answered with LSF's sentences, and leaves everything as it
 * was. Layer: site. */
#ifndef SUBLET_SITE_MOVES_H
#define SUBLET_SITE_MOVES_H

#include "model/effect.h"

struct site;

void moves_request(struct site *site, const struct peer *from,
                   const struct msg_job_move *move, int64_t now_ms,
                   struct effects *effects);
void moves_queue_request(struct site *site, const struct peer *from,
                         const struct msg_queue_control *order,
                         struct effects *effects);

#endif
