/* SPDX-License-Identifier: Apache-2.0 */
/* resreq_affinity.h: parses the section affinity: which processors each task of a job
 * gets and is bound to.
 *
 *     UNIT[(N[,same=LEVEL][,exclusive=(LEVEL[,SCOPE[|SCOPE]...])])][*COUNT]
 *         [:cpubind=LEVEL][:membind=localonly|localprefer]
 *         [:distribute=pack|pack(LEVEL=1)|balance|any]
 *
 * UNIT and LEVEL are numa, socket, core or thread; mcm is numa and cpu is thread. N and
 * COUNT are 1 if they are absent. same is a level above UNIT; exclusive is numa, socket
 * or core, and not below UNIT, as the level of pack; SCOPE is intask, injob (the
 * default) or alljobs.
 *
 * The section of a job counts before that of its application, and this before the
 * queue's, as a whole.
 *
 * Errors: ERR_PARSE. Source: LSF, "Affinity string". Layer: sched. */
#ifndef SUBLET_SCHED_RESREQ_RESREQ_AFFINITY_H
#define SUBLET_SCHED_RESREQ_RESREQ_AFFINITY_H

#include "sched/affinity/affinity.h"
#include "sched/resreq/resreq_words.h"

int resreq_affinity_parse(const struct resreq_language *language,
                          const struct resreq_part *part,
                          struct affinity_request *request, struct resreq_notes *notes,
                          struct resreq_error *error) MUST_CHECK;

#endif
