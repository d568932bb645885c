/* SPDX-License-Identifier: Apache-2.0 */
/* daemon_conf.c: reads configuration files into base/conf/conf.h; part of daemon.h. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <glob.h>
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

/* Reads up to `size` bytes; -1 with errno. */
static int read_all(int fd, char *text, size_t size, size_t *length)
{
    for (*length = 0; *length < size;) {
        ssize_t got = read(fd, text + *length, size - *length);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            return -1;
        }
        if (got == 0) {
            break; /* the file has shrunk */
        }
        *length += (size_t)got;
    }
    return 0;
}

/* The text of an open file in conf's arena, or NULL. */
static const char *text_of(struct conf *conf, int fd, size_t *length, struct err *err)
{
    struct stat status;
    if (fstat(fd, &status) != 0) {
        err_set(err, ERR_STATE, "%s", strerror(errno));
        return NULL;
    }
    if (!S_ISREG(status.st_mode)) {
        err_set(err, ERR_STATE, "not a file, expected a file or directory");
        return NULL;
    }
    if (status.st_size > FILE_BYTES_MAX) {
        err_set(err, ERR_BOUNDS, "too large, expected at most 16 MiB");
        return NULL;
    }
    char *text = arena_alloc(conf->arena, (size_t)status.st_size + 1, 1);
    if (read_all(fd, text, (size_t)status.st_size, length) < 0) {
        err_set(err, ERR_STATE, "%s", strerror(errno));
        return NULL;
    }
    return text;
}

/* Used by #INCLUDE, too. */
static const char *load_file(struct conf *conf, const char *path, size_t *length,
                             struct err *err)
{
    /* NONBLOCK, because a FIFO must not block the daemon. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        err_set(err, ERR_STATE, "%s", strerror(errno));
        return NULL;
    }
    const char *text = text_of(conf, fd, length, err);
    close(fd);
    return text;
}

static void read_file(struct conf *conf, const char *path)
{
    size_t length;
    struct err err;
    const char *text = load_file(conf, path, &length, &err);
    if (text == NULL) {
        complain(conf, path, err.text);
    } else {
        conf_read(conf, path, text, length);
    }
}

static bool is_one_of(const char *name, const char *const *patterns)
{
    while (*patterns != NULL && fnmatch(*patterns, name, 0) != 0) {
        patterns++;
    }
    return *patterns != NULL;
}

static int is_conf_name(const struct dirent *entry)
{
    static const char *const read[] = {"*.conf", "lsb.*", "lsf.*", NULL};
    /* Hidden files, backups of editors and package tools, and files of other products
     * in LSF's directory, which LSF's scheduler does not read either. */
    static const char *const skipped[] = {".*",          "*~",
                                          "*.bak",       "*.old",
                                          "*.orig",      "*.rpm*",
                                          "*.dpkg-*",    "lsf.licensescheduler",
                                          "lsf.sudoers", "lsf.datamanager*",
                                          "ego.conf",    "install.config",
                                          NULL};
    return !is_one_of(entry->d_name, skipped) && is_one_of(entry->d_name, read);
}

static int compare_names(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name); /* independent of the locale */
}

/* Reads the files of a directory; the number of them. */
static int read_files(struct conf *conf, const char *path)
{
    struct dirent **entries = NULL;
    int count = scandir(path, &entries, is_conf_name, compare_names);
    if (count < 0) {
        complain(conf, path, strerror(errno));
        return 0;
    }
    int n_files = 0;
    for (int i = 0; i < count; i++) {
        const char *slash = path[strlen(path) - 1] == '/' ? "" : "/";
        char *file =
            arena_printf(conf->arena, "%s%s%s", path, slash, entries[i]->d_name);
        struct stat status;
        if (stat(file, &status) != 0 || !S_ISDIR(status.st_mode)) {
            read_file(conf, file);
            n_files++;
        }
        free(entries[i]);
    }
    free(entries);
    return n_files;
}

/* The directories that match, in the order of their names. */
static void read_matching(struct conf *conf, const char *path, const char *pattern,
                          int *n_files, int *n_directories)
{
    glob_t found;
    const char *whole = arena_printf(conf->arena, "%s/%s", path, pattern);
    if (glob(whole, GLOB_ONLYDIR, NULL, &found) != 0) {
        return;
    }
    for (size_t i = 0; i < found.gl_pathc; i++) {
        *n_files += read_files(conf, found.gl_pathv[i]);
        ++*n_directories;
    }
    globfree(&found);
}

/* LSF keeps lsf.* in its conf directory (below LSF_TOP), and lsb.* of each cluster in
 * conf/lsbatch/CLUSTER/configdir. */
static void read_directory(struct conf *conf, const char *path)
{
    int n_files = read_files(conf, path);
    int n_clusters = 0, n_conf = 0;
    if (n_files == 0) {
        read_matching(conf, path, "conf", &n_files, &n_conf);
        read_matching(conf, path, "conf/lsbatch/*/configdir", &n_files, &n_clusters);
    }
    read_matching(conf, path, "lsbatch/*/configdir", &n_files, &n_clusters);
    if (n_clusters > 1) {
        complain(conf, path,
                 "lsbatch has several clusters, expected one; name the files and the "
                 "configdir of one cluster instead");
    }
    if (n_files == 0) {
        complain(conf, path, "empty, expected *.conf, lsb.* or lsf.* files");
    }
}

struct conf_clock daemon_conf_clock(void)
{
    int64_t offset_ms = daemon_utc_offset_ms();
    return (struct conf_clock){daemon_now_ms() + offset_ms, offset_ms};
}

void daemon_conf_read(struct conf *conf, char *const *paths, int n_paths)
{
    conf->clock = daemon_conf_clock();
    conf->include = load_file;
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
