/* SPDX-License-Identifier: Apache-2.0 */
/* output.h: writes what a job put out, come home from where it ran, into the file that
 * its user named.
 *
 * With the user's rights: where the daemon is root, this thread's file system identity
 * and groups are the user's while the file is open; elsewhere jobs are the daemon's own
 * user's. It never waits: a pipe that nobody reads is an error.
 * Layer: site/io. */
#ifndef SUBLET_SITE_IO_OUTPUT_H
#define SUBLET_SITE_IO_OUTPUT_H

#include "model/effect.h"

/* Carries out an EFFECT_WRITE: the whole piece at its offset; offset 0 creates the file
 * or empties it. Returns errno, 0 when all of it is written. */
int output_write(const struct effect *effect);

#endif
