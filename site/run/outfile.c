/* SPDX-License-Identifier: Apache-2.0 */
/* outfile.c: see outfile.h. */
#include "site/run/outfile.h"

#include <stdio.h>
#include <string.h>

enum { NUMBER_SIZE = 24 };

static char *put_number(char *at, unsigned long long number)
{
    return at + snprintf(at, NUMBER_SIZE, "%llu", number);
}

static const char *expand(struct arena *arena, const char *file, const struct job *job)
{
    char *text = arena_alloc(arena, strlen(file) + 1, NUMBER_SIZE);
    char *at = text;
    for (; *file != '\0'; file++) {
        if (file[0] == '%' && file[1] == 'J') {
            at = put_number(at, job->id);
            file++;
        } else if (file[0] == '%' && file[1] == 'I') {
            at = put_number(at, (unsigned long long)job->index);
            file++;
        } else {
            *at++ = *file;
            file += file[0] == '%' && file[1] == '%';
        }
    }
    *at = '\0';
    return text;
}

const char *outfile_path(struct arena *arena, const struct job *job,
                         enum output_stream stream)
{
    const struct job_spec *spec = job->spec;
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
