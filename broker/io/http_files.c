/* SPDX-License-Identifier: Apache-2.0 */
/* http_files.c: see http_files.h. */
#include "broker/io/http_files.h"

#include <string.h>

extern const struct http_file http_files_table[]; /* by tools/embed-files */

const struct http_file *http_files_find(const char *name)
{
    const char *wanted = name[0] != '\0' ? name : "index.html";
    for (const struct http_file *file = http_files_table; file->name != NULL; file++) {
        if (strcmp(file->name, wanted) == 0) {
            return file;
        }
    }
    return NULL;
}
