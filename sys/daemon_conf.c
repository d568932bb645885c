/* SPDX-License-Identifier: Apache-2.0 */
/* daemon_conf.c: reads configuration files into base/conf; part of daemon.h. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sys/daemon.h"

enum { FILE_BYTES_MAX = 16 << 20 };

/* Adds a diagnostic about a whole file. */
static void complain(struct conf *conf, const char *path, const char *what)
{
    struct conf_section about = {.name = "", .file = arena_str(conf->arena, path)};
    conf_complain(conf, CONF_ERROR, &about, NULL, NULL, "%s", what);
}

/* All of a descriptor's text on the heap, or NULL with errno. */
static char *read_all(int fd, size_t size, size_t *length)
{
    char *text = mem_alloc(size, 1);
    size_t used = 0;
    while (used < size) {
        ssize_t got = read(fd, text + used, size - used);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            free(text);
            return NULL;
        }
        if (got == 0) {
            break; /* the file has shrunk */
        }
        used += (size_t)got;
    }
    *length = used;
    return text;
}

static void read_open_file(struct conf *conf, const char *path, int fd)
{
    struct stat status;
    if (fstat(fd, &status) != 0) {
        complain(conf, path, strerror(errno));
        return;
    }
    if (!S_ISREG(status.st_mode)) {
        complain(conf, path, "not a file, expected a file or directory");
        return;
    }
    if (status.st_size > FILE_BYTES_MAX) {
        complain(conf, path, "too large, expected at most 16 MiB");
        return;
    }
    size_t length;
    char *text = read_all(fd, (size_t)status.st_size, &length);
    if (text == NULL) {
        complain(conf, path, strerror(errno));
        return;
    }
    conf_read(conf, path, text, length);
    free(text);
}

static void read_file(struct conf *conf, const char *path)
{
    /* NONBLOCK, because a FIFO must not block the daemon. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        complain(conf, path, strerror(errno));
        return;
    }
    read_open_file(conf, path, fd);
    close(fd);
}

static int is_conf_name(const struct dirent *entry)
{
    static const char *const patterns[] = {"*.conf", "lsb.*", "lsf.*"};
    size_t length = strlen(entry->d_name);
    if (entry->d_name[0] == '.' || entry->d_name[length - 1] == '~') {
        return 0; /* hidden, or a backup of an editor */
    }
    for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
        if (fnmatch(patterns[i], entry->d_name, 0) == 0) {
            return 1;
        }
    }
    return 0;
}

static int compare_names(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name); /* independent of the locale */
}

static void read_directory(struct conf *conf, const char *path)
{
    struct dirent **entries = NULL;
    int count = scandir(path, &entries, is_conf_name, compare_names);
    if (count < 0) {
        complain(conf, path, strerror(errno));
        return;
    }
    if (count == 0) {
        complain(conf, path, "empty, expected *.conf, lsb.* or lsf.* files");
    }
    for (int i = 0; i < count; i++) {
        const char *slash = path[strlen(path) - 1] == '/' ? "" : "/";
        char *file =
            arena_printf(conf->arena, "%s%s%s", path, slash, entries[i]->d_name);
        struct stat status;
        if (stat(file, &status) != 0 || !S_ISDIR(status.st_mode)) {
            read_file(conf, file);
        }
        free(entries[i]);
    }
    free(entries);
}

void daemon_conf_read(struct conf *conf, char *const *paths, int n_paths)
{
    for (int i = 0; i < n_paths; i++) {
        struct stat status;
        if (paths[i][0] != '\0' && stat(paths[i], &status) == 0 &&
            S_ISDIR(status.st_mode)) {
            read_directory(conf, paths[i]);
        } else {
            read_file(conf, paths[i]);
        }
    }
}

/* Order: by file, line, text. */
static int by_place(const void *a, const void *b)
{
    const struct conf_diag *one = *(const struct conf_diag *const *)a;
    const struct conf_diag *other = *(const struct conf_diag *const *)b;
    int order = strcmp(one->file, other->file);
    if (order == 0) {
        order = (one->line > other->line) - (one->line < other->line);
    }
    return order != 0 ? order : strcmp(one->text, other->text);
}

static void print_diag(const struct conf_diag *diag, FILE *to)
{
    fprintf(to, "%s:%d: %s: %s%s%s\n", diag->file, diag->line,
            diag->severity == CONF_ERROR ? "error" : "warning",
            diag->key != NULL ? diag->key : "", diag->key != NULL ? ": " : "",
            diag->text);
}

void daemon_conf_print_diags(const struct conf *conf, FILE *to)
{
    size_t count = 0;
    for (const struct conf_diag *diag = conf->diags; diag != NULL; diag = diag->next) {
        count++;
    }
    const struct conf_diag **sorted = mem_alloc(count + 1, sizeof(sorted[0]));
    count = 0;
    for (const struct conf_diag *diag = conf->diags; diag != NULL; diag = diag->next) {
        sorted[count++] = diag;
    }
    qsort(sorted, count, sizeof(sorted[0]), by_place);
    for (size_t i = 0; i < count; i++) {
        print_diag(sorted[i], to);
    }
    free(sorted);
}

static bool is_same(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

int daemon_conf_check_fixed(const char *section, const struct daemon_conf_fixed *keys,
                            size_t n_keys, struct err *err)
{
    for (size_t i = 0; i < n_keys; i++) {
        if (!is_same(keys[i].now, keys[i].wanted)) {
            return err_set(err, ERR_STATE,
                           "%s of section %s is read at the start only: restart the "
                           "daemon to change it",
                           keys[i].key, section);
        }
    }
    return 0;
}

int daemon_conf_first_error(const struct conf *conf, struct err *err)
{
    const struct conf_diag *first = NULL;
    for (const struct conf_diag *diag = conf->diags; diag != NULL; diag = diag->next) {
        bool is_before = first == NULL || by_place(&diag, &first) < 0;
        first = diag->severity == CONF_ERROR && is_before ? diag : first;
    }
    if (first == NULL) {
        return 0;
    }
    return err_set(
        err, ERR_PARSE, "the configuration has errors (%d), the first: %s:%d: %s%s%s",
        conf->n_errors, first->file, first->line, first->key != NULL ? first->key : "",
        first->key != NULL ? ": " : "", first->text);
}
