/* SPDX-License-Identifier: Apache-2.0 */
/* lsf_report.c: see lsf_report.h. */
#include "cli/admin/lsf_report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/conf/lsf_keys.h"
#include "sys/daemon.h"

/* A key of a section that is set in a file. */
struct found {
    const char *file, *section;
    const char *key; /* NULL: the section as a whole */
    int line;        /* the first one */
    int n_lines;
    enum lsf_class class;
    const char *what;
};

struct report {
    struct arena *arena; /* conf's */
    const char *directory;
    struct found *found; /* on the heap */
    int n_found, room;
};

/* ---------------------------------------------------------------- collecting */

static struct found *find(const struct report *report, const char *file,
                          const char *section, const char *key)
{
    for (int i = report->n_found - 1; i >= 0; i--) {
        struct found *found = &report->found[i];
        if (strcmp(found->file, file) == 0 && strcmp(found->section, section) == 0 &&
            (key == NULL || found->key == NULL ? key == found->key
                                               : strcmp(found->key, key) == 0)) {
            return found;
        }
    }
    return NULL;
}

static void add(struct report *report, const struct conf_section *section,
                const char *key, int line)
{
    struct found *found = find(report, section->file, section->name, key);
    if (found != NULL) {
        found->n_lines++;
        return;
    }
    report->found =
        mem_room(report->found, report->n_found, &report->room, sizeof(*found));
    found = &report->found[report->n_found++];
    *found = (struct found){.file = section->file,
                            .section = section->name,
                            .key = key,
                            .line = line,
                            .n_lines = 1};
    found->class = lsf_keys_class(section->name, key, &found->what);
    if (found->class == LSF_UNKNOWN) {
        const char *nearest = key != NULL ? lsf_keys_nearest(section->name, key) : NULL;
        found->what = nearest != NULL
                          ? arena_printf(report->arena, "did you mean %s?", nearest)
                          : "expected a section or parameter of LSF or of ours";
    }
}

/* A column counts if it has a value in any row. */
static void add_table(struct report *report, const struct conf_section *section)
{
    for (int column = 0; column < section->n_columns; column++) {
        bool is_set = false;
        for (int i = 0; i < section->n_rows && !is_set; i++) {
            const struct conf_row *row = &section->rows[i];
            is_set = column < row->n_cells && row->cells[column].value != NULL;
        }
        if (is_set) {
            add(report, section, section->columns[column], section->line + 1);
        }
    }
}

static void add_section(struct report *report, const struct conf_section *section)
{
    const char *what;
    if (section->name[0] != '\0' &&
        lsf_keys_class(section->name, NULL, &what) != LSF_WORKS) {
        add(report, section, NULL, section->line);
    } else if (section->is_table) {
        add_table(report, section);
    } else {
        for (int i = 0; i < section->rows[0].n_cells; i++) {
            const struct conf_cell *cell = &section->rows[0].cells[i];
            add(report, section, cell->key, cell->line);
        }
    }
}

/* ---------------------------------------------------------------- printing */

static const struct {
    enum lsf_class class;
    const char *heading;
} groups[] = {
    {LSF_DIFFERS, "Works differently"},
    {LSF_IGNORED, "Ignored, without consequence"},
    {LSF_UNSUPPORTED, "Not supported: jobs run as if the line were not there"},
    {LSF_REFUSED, "Not supported, to the harm of jobs: remove these to start"},
    {LSF_UNKNOWN, "Unknown to LSF and to Sublet"},
};

static int count_class(const struct report *report, enum lsf_class class)
{
    int count = 0;
    for (int i = 0; i < report->n_found; i++) {
        count += report->found[i].class == class;
    }
    return count;
}

/* The file's name below the directory. */
static const char *short_name(const struct report *report, const char *file)
{
    size_t length = strlen(report->directory);
    if (length == 0 || strncmp(file, report->directory, length) != 0) {
        return file;
    }
    file += length;
    return file[strspn(file, "/")] != '\0' ? file + strspn(file, "/")
                                           : report->directory;
}

static void print_key(const struct report *report, const struct found *found)
{
    printf("    %s:%d ", short_name(report, found->file), found->line);
    if (found->section[0] != '\0') {
        printf("%s%s", found->section, found->key != NULL ? "." : "");
    }
    printf("%s", found->key != NULL ? found->key : "");
    if (found->n_lines > 1) {
        printf(" (%d times)", found->n_lines);
    }
    puts("");
}

/* True if no key before this one has its class and sentence. */
static bool is_first(const struct report *report, int at)
{
    const struct found *found = &report->found[at];
    for (int i = 0; i < at; i++) {
        if (report->found[i].class == found->class &&
            strcmp(report->found[i].what, found->what) == 0) {
            return false;
        }
    }
    return true;
}

/* Each sentence once, with the keys that it is about. */
static void print_class(const struct report *report, enum lsf_class class,
                        const char *heading)
{
    int count = count_class(report, class);
    if (count == 0) {
        return;
    }
    printf("\n%s (%d)\n", heading, count);
    for (int i = 0; i < report->n_found; i++) {
        if (report->found[i].class != class || !is_first(report, i)) {
            continue;
        }
        printf("  %s\n", report->found[i].what);
        for (int k = i; k < report->n_found; k++) {
            if (report->found[k].class == class &&
                strcmp(report->found[k].what, report->found[i].what) == 0) {
                print_key(report, &report->found[k]);
            }
        }
    }
}

/* The names of the keys that work, a paragraph for each section. */
static void print_works(const struct report *report)
{
    enum { WIDTH = 78 };
    size_t column = 0;
    const char *section = NULL;
    printf("\nWorks as in LSF (%d)\n", count_class(report, LSF_WORKS));
    for (int i = 0; i < report->n_found; i++) {
        const struct found *found = &report->found[i];
        if (found->class != LSF_WORKS) {
            continue;
        }
        if (section == NULL || strcmp(section, found->section) != 0) {
            section = found->section;
            column = (size_t)printf("%s  %s:", column > 0 ? "\n" : "",
                                    section[0] != '\0' ? section : "lsf.conf");
        }
        size_t length = strlen(found->key) + 1;
        if (column + length > WIDTH) {
            column = (size_t)printf("\n   ") - 1;
        }
        column += (size_t)printf(" %s", found->key);
    }
    puts("");
}

static int by_section(const void *a, const void *b)
{
    const struct found *one = a, *other = b;
    int order = strcmp(one->section, other->section);
    if (order == 0) {
        order = strcmp(one->file, other->file);
    }
    return order != 0 ? order : (one->line > other->line) - (one->line < other->line);
}

int lsf_report_print(const struct conf *conf, const char *directory)
{
    struct report report = {.arena = conf->arena, .directory = directory};
    for (const struct conf_section *section = conf->first; section != NULL;
         section = section->next) {
        add_section(&report, section);
    }
    if (report.n_found > 0) {
        qsort(report.found, (size_t)report.n_found, sizeof(*report.found), by_section);
    }
    printf("LSF configuration in %s: %d parameters\n", directory, report.n_found);
    print_works(&report);
    for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
        print_class(&report, groups[i].class, groups[i].heading);
    }
    int n_refused = count_class(&report, LSF_REFUSED);
    free(report.found);
    return n_refused;
}
