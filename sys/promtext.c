/* SPDX-License-Identifier: Apache-2.0 */
/* promtext.c: see promtext.h. */
#include "sys/promtext.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

#include "base/digits.h"

enum { NUMBER_SIZE = DIGITS_SIZE + 8 };

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

/* name="value". The value is escaped, since names of other systems may need it. */
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

const char *promtext_label(struct arena *arena, const char *label, const char *value)
{
    size_t size = strlen(label) + 2 * strlen(value) + sizeof("{=\"\"");
    char *text = arena_alloc(arena, size, 1);
    char *to = text + snprintf(text, size, "{%s=\"", label);
    for (const char *at = value; *at != '\0'; at++) {
        if (*at == '\n' || *at == '"' || *at == '\\') {
            *to++ = '\\';
        }
        *to++ = *at == '\n' ? 'n' : *at;
    }
    *to = '"';
    return text;
}

void promtext_flush(struct promtext_block *block)
{
    fwrite(block->text, 1, block->length, block->to);
    block->length = 0;
}

/* The line up to the number, for which there is room behind it. A file and printf would
 * take ten times as long, while the daemon does nothing else. */
static char *begin_line(struct promtext_block *block, const char *name,
                        const char *label, const char *more)
{
    const char *parts[] = {name, label, more, "} "};
    size_t lengths[4], length = 0;
    for (int i = 0; i < 4; i++) {
        lengths[i] = strlen(parts[i]);
        length += lengths[i];
    }
    if (length + NUMBER_SIZE > sizeof(block->text) - block->length) {
        promtext_flush(block);
    }
    if (length + NUMBER_SIZE > sizeof(block->text)) {
        abort(); /* labels are short */
    }
    char *at = block->text + block->length;
    for (int i = 0; i < 4; i++) {
        memcpy(at, parts[i], lengths[i]);
        at += lengths[i];
    }
    return at;
}

static void end_line(struct promtext_block *block, char *at)
{
    *at++ = '\n';
    block->length = (size_t)(at - block->text);
}

void promtext_number(struct promtext_block *block, const char *name, const char *label,
                     const char *more, int64_t number)
{
    char *at = begin_line(block, name, label, more);
    end_line(block, at + digits_write(at, number));
}

void promtext_instant(struct promtext_block *block, const char *name, const char *label,
                      int64_t at_ms)
{
    char *at = begin_line(block, name, label, "");
    int thousandths = (int)(at_ms % 1000);
    at += digits_write(at, at_ms / 1000);
    *at++ = '.';
    for (int unit = 100; unit > 0; unit /= 10) {
        *at++ = (char)('0' + thousandths / unit % 10);
    }
    end_line(block, at);
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
