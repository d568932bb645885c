/* SPDX-License-Identifier: Apache-2.0 */
/* output.h: writes the output of a job that ran on borrowed hosts into the file that
 * its user named.
 *
 * The file is written with the user's rights. If the daemon is root, this thread has
 * the file system identity and the groups of the user while the file is open; otherwise
 * all jobs are those of the daemon's own user. Writing never waits: a pipe that nobody
 * reads is an error. Layer: site/io. */
#ifndef SUBLET_SITE_IO_OUTPUT_H
#define SUBLET_SITE_IO_OUTPUT_H

#include "model/effect.h"

/* Carries out an EFFECT_WRITE: the whole piece at its offset; offset 0 creates the file
 * or empties it. Returns errno, 0 when all of it is written. */
int output_write(const struct effect *effect);

#endif
