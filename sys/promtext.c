/* SPDX-License-Identifier: Apache-2.0 */
/* promtext.c: see promtext.h. */
#include "sys/promtext.h"

#include <inttypes.h>
#include <string.h>
#include <sys/statvfs.h>

const char promtext_type[] = "text/plain; version=0.0.4; charset=utf-8";

void promtext_head(FILE *to, const char *name, const char *type, const char *help)
{
    fprintf(to, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void print_escaped(FILE *to, const char *value)
{
    for (const char *at = value; *at != '\0'; at++) {
        if (*at == '\n') {
            fputs("\\n", to);
        } else {
            if (*at == '"' || *at == '\\') {
                fputc('\\', to);
            }
            fputc(*at, to);
        }
    }
}

/* Escapes, since names of other systems may need it. */
/* name="value", escaped. */
static void put_label(FILE *to, const char *name, const char *value)
{
    fputs(name, to);
    fputs("=\"", to);
    if (value[strcspn(value, "\n\"\\")] == '\0') {
        fputs(value, to);
    } else {
        print_escaped(to, value);
    }
    fputc('"', to);
}

void promtext_begin(FILE *to, const char *name, const char *label, const char *value)
{
    fprintf(to, "%s{", name);
    put_label(to, label, value);
}

void promtext_histogram(FILE *to, const char *name, const struct histogram *histogram)
{
    uint64_t below = 0;
    for (int i = 0; histogram->bounds[i] > 0; i++) {
        below += histogram->counts[i];
        fprintf(to, "%s_bucket{le=\"%g\"} %" PRIu64 "\n", name, histogram->bounds[i],
                below);
    }
    fprintf(to, "%s_bucket{le=\"+Inf\"} %" PRIu64 "\n", name, histogram->count);
    fprintf(to, "%s_sum %.9g\n", name, histogram->sum);
    fprintf(to, "%s_count %" PRIu64 "\n", name, histogram->count);
}

void promtext_disk(FILE *to, const char *name, const char *path)
{
    struct statvfs disk;
    char metric[128];
    if (statvfs(path, &disk) != 0) {
        return;
    }
    snprintf(metric, sizeof(metric), "%s_free_bytes", name);
    promtext_head(to, metric, "gauge", "Free bytes of the file system of the store.");
    fprintf(to, "%s %" PRIu64 "\n", metric,
            (uint64_t)disk.f_bavail * (uint64_t)disk.f_frsize);
    snprintf(metric, sizeof(metric), "%s_size_bytes", name);
    promtext_head(to, metric, "gauge", "Size of the file system of the store.");
    fprintf(to, "%s %" PRIu64 "\n", metric,
            (uint64_t)disk.f_blocks * (uint64_t)disk.f_frsize);
}
