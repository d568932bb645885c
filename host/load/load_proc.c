/* SPDX-License-Identifier: Apache-2.0 */
/* load_proc.c: see load_proc.h. */
#include "host/load/load_proc.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- lines and numbers */

static const char *next_line(const char *text)
{
    const char *end = strchr(text, '\n');
    return end != NULL ? end + 1 : text + strlen(text);
}

/* The text behind `name` in the line that begins with it; NULL: none does. */
static const char *find_line(const char *text, const char *name)
{
    size_t length = strlen(name);
    for (; *text != '\0'; text = next_line(text)) {
        if (strncmp(text, name, length) == 0) {
            return text + length;
        }
    }
    return NULL;
}

/* Numbers of one line, as many as there are up to `max`. */
static int read_numbers(const char *text, uint64_t *numbers, int max)
{
    int count = 0;
    while (count < max) {
        text += strspn(text, " \t:");
        if (!isdigit((unsigned char)*text)) {
            break;
        }
        char *end;
        errno = 0;
        numbers[count] = strtoull(text, &end, 10);
        if (errno != 0) {
            break;
        }
        count++;
        text = end;
    }
    return count;
}

static bool read_named(const char *text, const char *name, uint64_t *number)
{
    const char *at = find_line(text, name);
    return at != NULL && read_numbers(at, number, 1) == 1;
}

static bool read_kib(const char *text, const char *name, int64_t *kib)
{
    uint64_t number;
    if (!read_named(text, name, &number) || number > INT64_MAX) {
        return false;
    }
    *kib = (int64_t)number;
    return true;
}

/* ---------------------------------------------------------------- load */

bool load_proc_read_cpu(const char *text, struct load_proc_cpu *cpu)
{
    enum { USER, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ, STEAL, KINDS };
    uint64_t ticks[KINDS] = {0};
    uint64_t n_running, n_blocked, boot_s;
    const char *line = find_line(text, "cpu ");
    if (line == NULL || read_numbers(line, ticks, KINDS) <= IDLE ||
        !read_named(text, "procs_running ", &n_running) ||
        !read_named(text, "procs_blocked ", &n_blocked) ||
        !read_named(text, "btime ", &boot_s) || boot_s > INT64_MAX) {
        return false;
    }
    *cpu = (struct load_proc_cpu){
        .busy_ticks =
            ticks[USER] + ticks[NICE] + ticks[SYSTEM] + ticks[IRQ] + ticks[SOFTIRQ],
        .n_running = n_running,
        .n_blocked = n_blocked,
        .boot_s = (int64_t)boot_s,
    };
    cpu->all_ticks = cpu->busy_ticks + ticks[IDLE] + ticks[IOWAIT] + ticks[STEAL];
    return true;
}

bool load_proc_read_average(const char *text, double *minute, double *quarter)
{
    double averages[3];
    for (int i = 0; i < 3; i++) {
        char *end;
        text += strspn(text, " ");
        if (!isdigit((unsigned char)*text)) {
            return false;
        }
        averages[i] = strtod(text, &end);
        text = end;
    }
    *minute = averages[0];
    *quarter = averages[2];
    return true;
}

bool load_proc_read_memory(const char *text, struct load_proc_memory *memory)
{
    struct load_proc_memory read;
    if (!read_kib(text, "MemTotal:", &read.all_kib) ||
        !read_kib(text, "MemAvailable:", &read.free_kib) ||
        !read_kib(text, "SwapTotal:", &read.all_swap_kib) ||
        !read_kib(text, "SwapFree:", &read.free_swap_kib)) {
        return false;
    }
    *memory = read;
    return true;
}

bool load_proc_read_pages(const char *text, uint64_t *n_pages)
{
    uint64_t n_faults, n_out;
    if (!read_named(text, "pgmajfault ", &n_faults) ||
        !read_named(text, "pswpout ", &n_out)) {
        return false;
    }
    *n_pages = n_faults + n_out;
    return true;
}

bool load_proc_read_disk(const char *text, uint64_t *kib)
{
    enum { READ = 2, WRITTEN = 6, FIELDS = 7, SECTORS_PER_KIB = 2 };
    uint64_t fields[FIELDS];
    if (read_numbers(text, fields, FIELDS) < FIELDS) {
        return false;
    }
    *kib = (fields[READ] + fields[WRITTEN]) / SECTORS_PER_KIB;
    return true;
}

/* ---------------------------------------------------------------- the machine */

/* The value of a line "name <blanks>: value". */
static const char *find_value(const char *text, const char *name)
{
    const char *at = find_line(text, name);
    if (at == NULL) {
        return NULL;
    }
    at += strspn(at, " \t");
    return *at == ':' ? at + 1 + strspn(at + 1, " \t") : NULL;
}

bool load_proc_read_model(const char *text, char *model, size_t size)
{
    const char *name = find_value(text, "model name");
    const char *family = find_value(text, "cpu family");
    const char *speed = find_value(text, "bogomips");
    if (name == NULL || family == NULL || speed == NULL) {
        return false;
    }
    int length = snprintf(model, size, "x%lu_%lu_", strtoul(family, NULL, 10),
                          strtoul(speed, NULL, 10));
    size_t used = (size_t)length;
    for (; *name != '\n' && *name != '\0' && used < size; name++) {
        if (isalnum((unsigned char)*name) && (unsigned char)*name < 0x80) {
            model[used++] = *name;
        }
    }
    if (used >= size) {
        model[0] = '\0';
        return false;
    }
    model[used] = '\0';
    return true;
}

void load_proc_type(const char *machine, char *type, size_t size)
{
    static const struct {
        const char *machine, *type;
    } known[] = {
        {"i386", "LINUX86"},        {"i486", "LINUX86"},
        {"i586", "LINUX86"},        {"i686", "LINUX86"},
        {"aarch64", "LINUX_ARM64"}, {"ppc64le", "LINUXPPC64LE"},
        {"ppc64", "LINUXPPC64"},    {"x86_64", "X86_64"},
    };
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (strcmp(known[i].machine, machine) == 0) {
            snprintf(type, size, "%s", known[i].type);
            return;
        }
    }
    size_t length = 0;
    for (; machine[length] != '\0' && length + 1 < size; length++) {
        type[length] = (char)toupper((unsigned char)machine[length]);
    }
    type[length] = '\0';
}

/* ---------------------------------------------------------------- processors */

static int compare_places(const void *left, const void *right)
{
    const struct load_cpu_place *a = left, *b = right;
    if (a->package != b->package) {
        return a->package < b->package ? -1 : 1;
    }
    return (a->core > b->core) - (a->core < b->core);
}

static int rounded_up(int count, int by)
{
    return by > 0 ? (count + by - 1) / by : 1;
}

void load_proc_count_cpus(struct load_machine *facts, struct load_cpu_place *places,
                          int n_places)
{
    int n_packages = 0, n_cores = 0;
    qsort(places, (size_t)n_places, sizeof(*places), compare_places);
    for (int i = 0; i < n_places; i++) {
        bool is_other_package = i == 0 || places[i].package != places[i - 1].package;
        n_packages += is_other_package;
        n_cores += is_other_package || places[i].core != places[i - 1].core;
    }
    facts->n_procs = n_packages > 0 ? n_packages : 1;
    facts->n_cores = rounded_up(n_cores, n_packages);
    facts->n_threads = rounded_up(n_places, n_cores);
}
