/* SPDX-License-Identifier: Apache-2.0 */
/* cgroup_root.c: see kernel.h. */
#include "host/kernel/kernel.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define AGENT "/agent"

enum { SWEEP_AGE_S = 60, PATH_SIZE = CGROUP_ROOT_PATH_SIZE };

/* ---- mounts and our own cgroup */

/* `between` are the separators of the list. */
static bool has_word(const char *list, const char *word, const char *between)
{
    size_t length = strlen(word);
    for (list += strspn(list, between); *list != '\0'; list += strspn(list, between)) {
        size_t next = strcspn(list, between);
        if (next == length && strncmp(list, word, length) == 0) {
            return true;
        }
        list += next;
    }
    return false;
}

/* A line of mountinfo: id parent major:minor root POINT options ... - TYPE source
 * OPTIONS. */
static bool take_mount(char *line, const char *type, const char *option, char *point)
{
    char *tail = strstr(line, " - ");
    char *rest = line;
    char *field = NULL;
    char has_type[32], options[512];
    if (tail == NULL || sscanf(tail, " - %31s %*s %511s", has_type, options) != 2 ||
        strcmp(has_type, type) != 0 ||
        (option != NULL && !has_word(options, option, ","))) {
        return false;
    }
    for (int i = 0; i < 5; i++) {
        field = strsep(&rest, " ");
    }
    return field != NULL && snprintf(point, PATH_SIZE, "%s", field) < PATH_SIZE;
}

static bool take_mount_2(char *line, char *point)
{
    return take_mount(line, "cgroup2", NULL, point);
}

static bool take_mount_of_memory(char *line, char *point)
{
    return take_mount(line, "cgroup", "memory", point);
}

/* "0::/path". A path outside our cgroup namespace ("/..") cannot be used. */
static bool take_own(char *line, char *path)
{
    return strncmp(line, "0::/", 4) == 0 && strncmp(line, "0::/..", 6) != 0 &&
           snprintf(path, PATH_SIZE, "%s", line + 3) < PATH_SIZE;
}

static bool find_line(const char *process, const char *name,
                      bool (*take)(char *line, char *to), char *to)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof(path), "%s/%s", process, name);
    FILE *file = fopen(path, "re");
    char *line = NULL;
    size_t room = 0;
    bool is_found = false;
    while (file != NULL && !is_found && getline(&line, &room, file) > 0) {
        line[strcspn(line, "\n")] = '\0';
        is_found = take(line, to);
    }
    free(line);
    if (file != NULL) {
        fclose(file);
    }
    return is_found;
}

/* ---- candidates */

/* BASE/NAME; false if that is too long. */
static bool join(const char *base, const char *name, char path[PATH_SIZE])
{
    return snprintf(path, PATH_SIZE, "%s/%s", base, name) < PATH_SIZE;
}

/* Makes BASE/sublet. True if cgroups of runs can be made in it, and processes moved to
 * them. */
static bool make_candidate(const char *base, char place[PATH_SIZE])
{
    char procs[PATH_SIZE];
    return join(base, "sublet", place) && join(base, "cgroup.procs", procs) &&
           (mkdir(place, 0755) == 0 || errno == EEXIST) && access(place, W_OK) == 0 &&
           access(procs, W_OK) == 0;
}

/* Enables the memory controller for the cgroups in `path`. */
static bool enable_memory(const char *path)
{
    char control[PATH_SIZE], text[512];
    if (!join(path, "cgroup.subtree_control", control)) {
        return false;
    }
    int file = open(control, O_RDWR | O_CLOEXEC);
    if (file < 0) {
        return false;
    }
    ssize_t put = write(file, "+memory", strlen("+memory"));
    ssize_t got = pread(file, text, sizeof(text) - 1, 0);
    close(file);
    text[got > 0 ? got : 0] = '\0';
    return put > 0 || has_word(text, "memory", " \n");
}

/* Chooses BASE if it is the first candidate, or the first with memory controller. */
static void try_candidate(const char *base, struct cgroup_root *found)
{
    char place[PATH_SIZE];
    if (found->has_memory || !make_candidate(base, place)) {
        return;
    }
    bool has_memory = enable_memory(base) && enable_memory(place);
    if (has_memory || found->path[0] == '\0') {
        snprintf(found->path, sizeof(found->path), "%s", place);
        found->has_memory = has_memory;
    }
}

static void find_version_2(const char *process, const char *mount,
                           struct cgroup_root *found)
{
    char own[PATH_SIZE], base[2 * PATH_SIZE];
    if (!find_line(process, "cgroup", take_own, own)) {
        return;
    }
    snprintf(base, sizeof(base), "%s%s", mount, strcmp(own, "/") == 0 ? "" : own);
    size_t length = strlen(base), tail = strlen(AGENT);
    if (length > tail && strcmp(base + length - tail, AGENT) == 0) {
        base[length - tail] = '\0';
        try_candidate(base, found);
        base[length - tail] = '/';
    }
    try_candidate(base, found);
    try_candidate(mount, found);
}

void cgroup_root_find(const char *process, struct cgroup_root *found)
{
    char mount[PATH_SIZE];
    *found = (struct cgroup_root){.path = ""};
    if (find_line(process, "mountinfo", take_mount_2, mount)) {
        find_version_2(process, mount, found);
    }
    if (!found->has_memory &&
        find_line(process, "mountinfo", take_mount_of_memory, mount) &&
        !make_candidate(mount, found->memory)) {
        found->memory[0] = '\0';
    }
}

/* ---- cgroups that were left behind */

/* The kernel refuses to remove a cgroup that contains a process. */
static void sweep(const char *path)
{
    DIR *all = path[0] == '\0' ? NULL : opendir(path);
    struct dirent *entry;
    while (all != NULL && (entry = readdir(all)) != NULL) {
        struct stat status;
        if (entry->d_type == DT_DIR && entry->d_name[0] != '.' &&
            fstatat(dirfd(all), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
            time(NULL) - status.st_mtime > SWEEP_AGE_S) {
            unlinkat(dirfd(all), entry->d_name, AT_REMOVEDIR);
        }
    }
    if (all != NULL) {
        closedir(all);
    }
}

void cgroup_root_sweep(const struct cgroup_root *found)
{
    sweep(found->path);
    sweep(found->memory);
}
