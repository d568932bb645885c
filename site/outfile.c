/* SPDX-License-Identifier: Apache-2.0 */
/* outfile.c: see outfile.h. */
#include "site/outfile.h"

#include <stdio.h>
#include <string.h>

static const char *expand(struct arena *arena, const char *file, uint64_t job)
{
    char id[24];
    int id_length = snprintf(id, sizeof(id), "%llu", (unsigned long long)job);
    char *text = arena_alloc(arena, strlen(file) * sizeof(id) + 1, 1);
    char *at = text;
    for (; *file != '\0'; file++) {
        if (file[0] == '%' && file[1] == 'J') {
            memcpy(at, id, (size_t)id_length);
            at += id_length;
            file++;
        } else {
            *at++ = *file;
            file += file[0] == '%' && file[1] == '%';
        }
    }
    return text;
}

const char *outfile_path(struct arena *arena, const struct job_spec *spec, uint64_t job,
                         enum output_stream stream)
{
    const char *file = stream == OUTPUT_OUT ? spec->out_file : spec->err_file;
    if (file[0] == '\0') {
        return NULL;
    }
    file = expand(arena, file, job);
    if (file[0] == '/') {
        return file;
    }
    return spec->cwd[0] == '/' ? arena_printf(arena, "%s/%s", spec->cwd, file) : NULL;
}
