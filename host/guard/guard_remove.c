/* SPDX-License-Identifier: Apache-2.0 */
/* guard_remove.c: see guard.h.
 *
 * The tree is flattened: each directory D directly below the top is emptied, and a
 * directory that is found in D is moved up beside D, to be emptied later. An empty D is
 * removed. So only two directories are open, however deep the tree is. */
#include "host/guard/guard.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_dots(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

static DIR *open_below(int dir, const char *name)
{
    int below = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return below < 0 ? NULL : fdopendir(below);
}

/* An owner may have removed its own rights; root needs none. */
static void allow_owner(int dir, const char *name)
{
    if (fchmodat(dir, name, 0700, AT_SYMLINK_NOFOLLOW) != 0) {
        return; /* the next call fails */
    }
}

/* Moving a directory needs the right to write to it, which its owner may lack. */
static bool move_up(int from, const char *name, int top, unsigned long *number)
{
    char fresh[32];
    snprintf(fresh, sizeof(fresh), ".%lu", (*number)++);
    if (renameat(from, name, top, fresh) == 0) {
        return true;
    }
    allow_owner(from, name);
    return renameat(from, name, top, fresh) == 0 || errno == EEXIST ||
           errno == ENOTEMPTY; /* the name is in use: the next number is tried */
}

/* Empties D. *number counts the directories that were moved up. */
static void empty(int top, const char *name, unsigned long *number)
{
    DIR *below = open_below(top, name);
    if (below == NULL) {
        allow_owner(top, name);
        below = open_below(top, name);
    }
    if (below == NULL) {
        return;
    }
    int dir = dirfd(below);
    fchmod(dir, 0700);
    struct dirent *entry;
    while ((entry = readdir(below)) != NULL) {
        if (!is_dots(entry->d_name) && unlinkat(dir, entry->d_name, 0) != 0) {
            move_up(dir, entry->d_name, top, number);
        }
    }
    closedir(below);
}

/* One pass over the top; true if anything was removed or moved. */
static bool sweep(DIR *all, unsigned long *number)
{
    int top = dirfd(all);
    bool is_progress = false;
    unsigned long before = *number;
    struct dirent *entry;
    rewinddir(all);
    while ((entry = readdir(all)) != NULL) {
        const char *name = entry->d_name;
        if (is_dots(name)) {
            continue;
        }
        if (unlinkat(top, name, 0) == 0) {
            is_progress = true;
            continue;
        }
        empty(top, name, number);
        is_progress |= unlinkat(top, name, AT_REMOVEDIR) == 0;
    }
    return is_progress || *number > before;
}

int guard_remove_main(const char *path)
{
    DIR *all = open_below(AT_FDCWD, path);
    unsigned long number = 0;
    if (all == NULL) {
        return 1;
    }
    /* Each pass removes or moves something; the bound is for a job that adds without
     * end. */
    while (rmdir(path) != 0 && number < 10000000 && sweep(all, &number)) {
    }
    closedir(all);
    return access(path, F_OK) == 0;
}
