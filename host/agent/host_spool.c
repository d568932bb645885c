/* SPDX-License-Identifier: Apache-2.0 */
/* host_spool.c: see host_spool.h. */
#include "host/agent/host_spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "host/run_dir/run_dir.h"
#include "sys/daemon.h"

enum {
    ENTRY_SIZE = 256,
    SPARE_MAX = 128,
    LIST_SIZE = 1024, /* of getdents64: a run with more entries is not taken over */
    SPARE_SPEC_MAX = 65536,
    OPEN_DIRECTORY = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
};

static int take_lock(struct host_spool *spool, int top, struct err *err)
{
    spool->lock = openat(top, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (spool->lock < 0) {
        return err_set(err, ERR_IO, "cannot open \"%s/lock\": %s", spool->path,
                       strerror(errno));
    }
    if (flock(spool->lock, LOCK_EX | LOCK_NB) != 0) {
        return err_set(err, ERR_EXISTS, "another sublet-host serves \"%s\"",
                       spool->path);
    }
    return 0;
}

static int open_part(int top, const char *path, const char *name, struct err *err)
{
    if (mkdirat(top, name, 0711) != 0 && errno != EEXIST) {
        return err_set(err, ERR_IO, "cannot make \"%s/%s\": %s", path, name,
                       strerror(errno));
    }
    int part = openat(top, name, OPEN_DIRECTORY);
    return part >= 0 ? part
                     : err_set(err, ERR_IO, "cannot open \"%s/%s\": %s", path, name,
                               strerror(errno));
}

static void list(int dir, host_spool_entry_fn fn, void *arg);

static void remove_spare(void *arg, const char *name)
{
    struct host_spool *spool = arg;
    int dir = openat(spool->spare, name, OPEN_DIRECTORY);
    if (dir >= 0) {
        run_dir_empty(dir);
        close(dir);
    }
    spool->n_spare += unlinkat(spool->spare, name, AT_REMOVEDIR) != 0;
}

/* The runs do without if something is there that cannot be deleted. */
static void open_spare(struct host_spool *spool, int top)
{
    spool->spare = open_part(top, spool->path, "spare", NULL);
    if (spool->spare >= 0) {
        list(spool->spare, remove_spare, spool);
    }
    if (spool->spare >= 0 && spool->n_spare > 0) {
        close(spool->spare);
        spool->spare = -1;
    }
    spool->n_spare = 0;
}

static int open_parts(struct host_spool *spool, int top, struct err *err)
{
    int code = take_lock(spool, top, err);
    if (code == 0) {
        spool->runs = open_part(top, spool->path, "runs", err);
        code = spool->runs < 0 ? spool->runs : 0;
    }
    if (code == 0) {
        spool->trash = open_part(top, spool->path, "trash", err);
        code = spool->trash < 0 ? spool->trash : 0;
    }
    if (code == 0) {
        open_spare(spool, top);
    }
    return code;
}

int host_spool_open(struct host_spool *spool, const char *path, struct err *err)
{
    *spool = (struct host_spool){.lock = -1, .runs = -1, .trash = -1, .spare = -1};
    int code = daemon_make_directory(path, 0711, err);
    if (code != 0) {
        return code;
    }
    char *absolute = realpath(path, NULL);
    int top = absolute == NULL ? -1 : open(absolute, OPEN_DIRECTORY);
    if (top < 0 || snprintf(spool->path, sizeof(spool->path), "%s", absolute) >=
                       (int)sizeof(spool->path) - 2 * ENTRY_SIZE) {
        code = err_set(err, ERR_IO, "cannot open spool \"%s\": %s", path,
                       top < 0 ? strerror(errno) : "its path is too long");
    } else {
        code = open_parts(spool, top, err);
    }
    if (top >= 0) {
        close(top);
    }
    free(absolute);
    return code;
}

void host_spool_close(struct host_spool *spool)
{
    int files[] = {spool->lock, spool->runs, spool->trash, spool->spare};
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        if (files[i] >= 0) {
            close(files[i]);
        }
    }
    spool->lock = spool->runs = spool->trash = spool->spare = -1;
}

int host_spool_open_run(const struct host_spool *spool, const char *name)
{
    return openat(spool->runs, name, OPEN_DIRECTORY);
}

/* ---- directories that are taken over */

static int move_spare(const struct host_spool *spool, int from, const char *name,
                      int to, const char *new_name)
{
    return spool->spare < 0 ? -1
                            : renameat2(from, name, to, new_name, RENAME_NOREPLACE);
}

/* Returns false if there is none, or `name` is taken. */
static bool take_spare(struct host_spool *spool, const char *name)
{
    char spare[16];
    if (spool->n_spare == 0) {
        return false;
    }
    snprintf(spare, sizeof(spare), "%d", spool->n_spare - 1);
    bool is_taken = move_spare(spool, spool->spare, spare, spool->runs, name) == 0;
    spool->n_spare -= is_taken;
    return is_taken;
}

/* The directory has a record, a spec, perhaps output and a list of hosts, and nothing
 * else. */
static bool is_plain(int dir)
{
    static const char *const names[] = {".",          "..",           RUN_DIR_STATE,
                                        RUN_DIR_SPEC, RUN_DIR_STDOUT, RUN_DIR_HOSTS};
    const size_t n_names = sizeof(names) / sizeof(names[0]);
    _Alignas(struct dirent64) char bytes[LIST_SIZE];
    ssize_t length = getdents64(dir, bytes, sizeof(bytes));
    for (ssize_t at = 0; at < length;) {
        const struct dirent64 *entry = (const struct dirent64 *)(bytes + at);
        size_t i = 0;
        while (i < n_names && strcmp(entry->d_name, names[i]) != 0) {
            i++;
        }
        if (i == n_names) {
            return false;
        }
        at += entry->d_reclen;
    }
    return length > 0 && getdents64(dir, bytes, sizeof(bytes)) == 0;
}

/* The spec has the job's environment, which may have passwords. It is overwritten and
 * not cut: a cut file loses its blocks, which keep their bytes on the disk. */
static bool clear_spec(int dir)
{
    static const char zeros[SPARE_SPEC_MAX];
    struct stat status;
    int file = openat(dir, RUN_DIR_SPEC, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
    if (file < 0) {
        return errno == ENOENT;
    }
    bool is_cleared =
        fstat(file, &status) == 0 && status.st_size <= SPARE_SPEC_MAX &&
        pwrite(file, zeros, (size_t)status.st_size, 0) == (ssize_t)status.st_size;
    close(file);
    return is_cleared;
}

static bool remove_file(int dir, const char *name)
{
    return unlinkat(dir, name, 0) == 0 || errno == ENOENT;
}

/* The daemon's alone, and empty. Nobody else may open it from then on, and the kernel
 * grants a lease for writing only on a file that nobody else has open. */
static bool clear_output(int file)
{
    struct stat status;
    return fstat(file, &status) == 0 && S_ISREG(status.st_mode) &&
           status.st_nlink == 1 &&
           (status.st_uid == geteuid() || fchown(file, geteuid(), getegid()) == 0) &&
           ((status.st_mode & 07777) == 0600 || fchmod(file, 0600) == 0) &&
           flistxattr(file, NULL, 0) <= 0 && fcntl(file, F_SETLEASE, F_WRLCK) == 0 &&
           fcntl(file, F_SETLEASE, F_UNLCK) == 0 &&
           (status.st_size == 0 || ftruncate(file, 0) == 0);
}

/* An output file that is empty need not be made again, which takes ext4 longer than all
 * else that a start does with files. */
static bool keep_output(int dir)
{
    int file =
        openat(dir, RUN_DIR_STDOUT, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    bool is_kept = file >= 0 && clear_output(file);
    if (file >= 0) {
        close(file);
    }
    return is_kept || remove_file(dir, RUN_DIR_STDOUT);
}

/* The record goes first: without it the other files have no meaning. */
static bool keep_spare(struct host_spool *spool, int dir, const char *name)
{
    char spare[16];
    if (spool->spare < 0 || spool->n_spare == SPARE_MAX || !is_plain(dir) ||
        !host_spool_lock_run(dir) ||
        renameat(dir, RUN_DIR_STATE, dir, RUN_DIR_STATE RUN_DIR_NEW) != 0 ||
        !keep_output(dir) || !remove_file(dir, RUN_DIR_HOSTS) || !clear_spec(dir)) {
        return false;
    }
    snprintf(spare, sizeof(spare), "%d", spool->n_spare);
    bool is_kept = move_spare(spool, spool->runs, name, spool->spare, spare) == 0;
    spool->n_spare += is_kept;
    return is_kept;
}

int host_spool_make_run(struct host_spool *spool, const char *name, struct err *err)
{
    if (!take_spare(spool, name) && mkdirat(spool->runs, name, 0711) != 0) {
        return err_set(err, errno == EEXIST ? ERR_EXISTS : ERR_IO,
                       "cannot make the run's directory: %s", strerror(errno));
    }
    int dir = host_spool_open_run(spool, name);
    return dir >= 0 ? dir
                    : err_set(err, ERR_IO, "cannot open the run's directory: %s",
                              strerror(errno));
}

bool host_spool_lock_run(int dir)
{
    return flock(dir, LOCK_EX | LOCK_NB) == 0;
}

static bool remove_run(struct host_spool *spool, const char *name)
{
    int dir = host_spool_open_run(spool, name);
    bool is_kept = dir >= 0 && keep_spare(spool, dir, name);
    if (dir >= 0 && !is_kept) {
        run_dir_empty(dir);
    }
    if (dir >= 0) {
        close(dir);
    }
    return is_kept || unlinkat(spool->runs, name, AT_REMOVEDIR) == 0 || errno == ENOENT;
}

bool host_spool_remove_run(struct host_spool *spool, const char *name, char *left)
{
    if (remove_run(spool, name)) {
        return true;
    }
    char fresh[2 * ENTRY_SIZE];
    int moved;
    do {
        snprintf(fresh, sizeof(fresh), "%s.%lu", name, spool->n_trashed++);
        moved = renameat(spool->runs, name, spool->trash, fresh);
    } while (moved != 0 && (errno == EEXIST || errno == ENOTEMPTY));
    int length = snprintf(left, HOST_SPOOL_PATH_SIZE, "%s/%s/%s", spool->path,
                          moved == 0 ? "trash" : "runs", moved == 0 ? fresh : name);
    return length >= HOST_SPOOL_PATH_SIZE;
}

/* The names are read first: a call may delete what is being read. */
static void list(int dir, host_spool_entry_fn fn, void *arg)
{
    int copy = openat(dir, ".", OPEN_DIRECTORY);
    struct dirent **entries = NULL;
    int count = copy < 0 ? -1 : scandirat(copy, ".", &entries, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        if (entries[i]->d_name[0] != '.') {
            fn(arg, entries[i]->d_name);
        }
        free(entries[i]);
    }
    free(entries);
    if (copy >= 0) {
        close(copy);
    }
}

void host_spool_list_runs(const struct host_spool *spool, host_spool_entry_fn fn,
                          void *arg)
{
    list(spool->runs, fn, arg);
}

void host_spool_list_trash(const struct host_spool *spool, host_spool_entry_fn fn,
                           void *arg)
{
    list(spool->trash, fn, arg);
}

void host_spool_read_output(const struct host_spool *spool, const char *name,
                            bool has_begun, const struct msg_output_ask *ask,
                            uint8_t *bytes, struct msg_output *output)
{
    char path[512];
    *output = (struct msg_output){.run = ask->run,
                                  .request = ask->request,
                                  .stream = ask->stream,
                                  .offset = ask->offset,
                                  .bytes = bytes,
                                  .is_end = true};
    if (!has_begun) {
        return;
    }
    snprintf(path, sizeof(path), "%s/%s", name,
             ask->stream == OUTPUT_OUT ? RUN_DIR_STDOUT : RUN_DIR_STDERR);
    int file = openat(spool->runs, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    struct stat status;
    if (file < 0 || fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) {
        output->is_gone = true;
    } else {
        size_t wanted = ask->n_bytes < OUTPUT_CHUNK_MAX ? (size_t)ask->n_bytes
                                                        : (size_t)OUTPUT_CHUNK_MAX;
        ssize_t got = pread(file, bytes, wanted, (off_t)ask->offset);
        output->n_bytes = got > 0 ? (int)got : 0;
        output->is_end = ask->offset + output->n_bytes >= status.st_size;
    }
    if (file >= 0) {
        close(file);
    }
}
