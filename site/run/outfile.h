/* SPDX-License-Identifier: Apache-2.0 */
/* outfile.h: the file that a job's output is written to. Layer: site. */
#ifndef SUBLET_SITE_RUN_OUTFILE_H
#define SUBLET_SITE_RUN_OUTFILE_H

#include "base/arena.h"
#include "model/msg.h"
#include "site/job/job.h"

/* The absolute path for that stream, with %J replaced by the job's id, %I by its index
 * in its array and %% by %; relative to the job's working directory. NULL: the job
 * names none, or a relative one and no working directory. */
const char *outfile_path(struct arena *arena, const struct job *job,
                         enum output_stream stream);

#endif
