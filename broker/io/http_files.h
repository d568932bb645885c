/* SPDX-License-Identifier: Apache-2.0 */
/* http_files.h: the page and what belongs to it: files of broker/io/page and Chart.js,
 * put into the program by tools/embed-files, plain and compressed.
 * Layer: broker/io. */
#ifndef SUBLET_BROKER_IO_HTTP_FILES_H
#define SUBLET_BROKER_IO_HTTP_FILES_H

#include <stddef.h>

struct http_file {
    const char *name; /* NULL ends the table */
    const char *type;
    const char *etag;
    const unsigned char *bytes, *gzip;
    size_t n_bytes, n_gzip;
};

/* The file, or NULL. "" is the page itself. */
const struct http_file *http_files_find(const char *name);

#endif
