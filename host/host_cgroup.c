/* SPDX-License-Identifier: Apache-2.0 */
/* host_cgroup.c: see host_cgroup.h. */
#include "host/host_cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { SWEEP_AGE_S = 60 };

/* A line of mountinfo: id parent major:minor root POINT options ... - TYPE source ...
 */
static bool take_mount_point(char *line, char *point, size_t size)
{
    char *type = strstr(line, " - ");
    if (type == NULL || strncmp(type + 3, "cgroup2 ", 8) != 0) {
        return false;
    }
    char *rest = line;
    char *field = NULL;
    for (int i = 0; i < 5; i++) {
        field = strsep(&rest, " ");
    }
    return field != NULL && snprintf(point, size, "%s", field) < (int)size;
}

static bool find_line(const char *path, bool (*take)(char *, char *, size_t), char *to,
                      size_t size)
{
    FILE *file = fopen(path, "re");
    char *line = NULL;
    size_t room = 0;
    bool is_found = false;
    while (file != NULL && !is_found && getline(&line, &room, file) > 0) {
        line[strcspn(line, "\n")] = '\0';
        is_found = take(line, to, size);
    }
    free(line);
    if (file != NULL) {
        fclose(file);
    }
    return is_found;
}

/* "0::/path". One outside our cgroup namespace ("/..") is nothing to us. */
static bool take_own(char *line, char *path, size_t size)
{
    return strncmp(line, "0::/", 4) == 0 && strncmp(line, "0::/..", 6) != 0 &&
           snprintf(path, size, "%s", line + 3) < (int)size;
}

/* A run's cgroup can be made in it, and processes be born into that. */
static bool make_place(const char *mount, const char *own, char *path, size_t size)
{
    char procs[4096];
    const char *base = strcmp(own, "/") == 0 ? "" : own;
    if (snprintf(path, size, "%s%s/sublet", mount, base) >= (int)size ||
        snprintf(procs, sizeof(procs), "%s%s/cgroup.procs", mount, base) >=
            (int)sizeof(procs)) {
        return false;
    }
    if (mkdir(path, 0755) != 0 && errno != EEXIST) {
        return false;
    }
    return access(path, W_OK) == 0 && access(procs, W_OK) == 0;
}

bool host_cgroup_find(char *path, size_t size)
{
    char mount[1024];
    char own[1024];
    if (find_line("/proc/self/mountinfo", take_mount_point, mount, sizeof(mount)) &&
        find_line("/proc/self/cgroup", take_own, own, sizeof(own)) &&
        (make_place(mount, own, path, size) || make_place(mount, "/", path, size))) {
        return true;
    }
    path[0] = '\0';
    return false;
}

/* One with a process in it is not removed: the kernel says no. */
void host_cgroup_sweep(const char *path)
{
    DIR *all = opendir(path);
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
