/* SPDX-License-Identifier: Apache-2.0 */
/* run_dir.c: see run_dir_lock.h. */
#include "host/run_dir/run_dir_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "host/exec/run_spec.h"
#include "host/kernel/boot_id.h"
#include "host/run_dir/run_dir.h"

int run_dir_enter(const char *path)
{
    int dir = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (dir >= 0 && (flock(dir, LOCK_EX | LOCK_NB) != 0 || fchdir(dir) != 0)) {
        int saved = errno;
        close(dir);
        errno = saved;
        return -1;
    }
    return dir;
}

void run_dir_remove(int dir, const char *path)
{
    static const char *const files[] = {RUN_DIR_SPEC,   RUN_DIR_STATE,  RUN_DIR_SOCKET,
                                        RUN_DIR_STREAM, RUN_DIR_STDOUT, RUN_DIR_STDERR,
                                        RUN_DIR_RESIZE};
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        unlinkat(dir, files[i], 0);
    }
    unlinkat(dir, RUN_DIR_WORK, AT_REMOVEDIR);
    rmdir(path);
}

int run_dir_read_spec(int dir, struct run_spec *spec, struct err *err)
{
    memset(spec, 0, sizeof(*spec));
    int file = openat(dir, RUN_DIR_SPEC, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    struct stat status;
    if (file < 0 || fstat(file, &status) != 0) {
        int error = errno;
        if (file >= 0) {
            close(file);
        }
        return err_set(err, ERR_IO, "cannot open the run's spec: %s", strerror(error));
    }
    if (status.st_size > RUN_SPEC_MAX) {
        close(file);
        return err_set(err, ERR_BOUNDS, "the run's spec is too large");
    }
    size_t length = (size_t)status.st_size;
    char *bytes = mem_alloc(length + 1, 1);
    ssize_t got = read(file, bytes, length);
    close(file);
    if (got != (ssize_t)length) {
        free(bytes);
        return err_set(err, ERR_IO, "cannot read the run's spec");
    }
    return run_spec_parse(bytes, length, spec, err);
}

static uint64_t size_of(int dir, const char *name)
{
    struct stat status;
    return fstatat(dir, name, &status, AT_SYMLINK_NOFOLLOW) == 0
               ? (uint64_t)status.st_size
               : 0;
}

void run_dir_measure_output(int dir, struct guard_record *record)
{
    record->out_bytes = size_of(dir, RUN_DIR_STDOUT);
    record->err_bytes = size_of(dir, RUN_DIR_STDERR);
}

void run_dir_read_boot_id(char *boot_id, size_t size)
{
    int file = open(boot_id_path(), O_RDONLY | O_CLOEXEC);
    ssize_t length = file < 0 ? 0 : read(file, boot_id, size - 1);
    boot_id[length > 0 ? length : 0] = '\0';
    boot_id[strcspn(boot_id, "\n")] = '\0';
    if (file >= 0) {
        close(file);
    }
}
