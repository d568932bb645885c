/* SPDX-License-Identifier: Apache-2.0 */
/* owned_file.h: opens a file that says who may do what at the broker: a regular file
 * that belongs to the broker's own user or to root, with a mode that keeps others out.
 *
 * Errors: ERR_IO it cannot be opened, or is no regular file; ERR_DENIED it belongs to
 * another user, or its mode lets others in. Layer: broker/io. */
#ifndef SUBLET_BROKER_IO_OWNED_FILE_H
#define SUBLET_BROKER_IO_OWNED_FILE_H

#include <stdio.h>

#include "base/err.h"

enum owned_file_kind {
    OWNED_FILE_SECRET, /* nobody else may read or write it */
    OWNED_FILE_PUBLIC, /* nobody else may write it */
};

/* Unbuffered, so that no copy of a secret is left in memory. `what` begins each
 * message: "tokens". The caller closes the file. */
int owned_file_open(const char *path, const char *what, enum owned_file_kind kind,
                    FILE **file, struct err *err) MUST_CHECK;

#endif
