/* SPDX-License-Identifier: Apache-2.0 */
/* run_dir.c: see run_dir.h. */
#include "host/run_dir/run_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"

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

/* The state goes first: without it the other files have no meaning. */
void run_dir_empty(int dir)
{
    static const char *const files[] = {RUN_DIR_STATE,  RUN_DIR_STATE RUN_DIR_NEW,
                                        RUN_DIR_SPEC,   RUN_DIR_SOCKET,
                                        RUN_DIR_STREAM, RUN_DIR_HOSTS,
                                        RUN_DIR_STDOUT, RUN_DIR_STDERR,
                                        RUN_DIR_RESIZE, RUN_DIR_RESIZE RUN_DIR_NEW,
                                        RUN_DIR_START,  RUN_DIR_START RUN_DIR_NEW};
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        unlinkat(dir, files[i], 0);
    }
    static const char *const directories[] = {RUN_DIR_WORK, RUN_DIR_TMP,
                                              RUN_DIR_VAR_TMP};
    for (size_t i = 0; i < sizeof(directories) / sizeof(directories[0]); i++) {
        unlinkat(dir, directories[i], AT_REMOVEDIR);
    }
}

/* ---- its files */

int run_dir_read_file(int dir, const char *name, char **bytes, size_t *length,
                      struct err *err)
{
    int file = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    struct stat status;
    *bytes = NULL;
    if (file < 0 || fstat(file, &status) != 0) {
        int error = errno;
        if (file >= 0) {
            close(file);
        }
        return err_set(err, error == ENOENT ? ERR_NOT_FOUND : ERR_IO,
                       "cannot open the run's %s: %s", name, strerror(error));
    }
    if (status.st_size > RUN_SPEC_MAX) {
        close(file);
        return err_set(err, ERR_BOUNDS, "the run's %s is too large", name);
    }
    *length = (size_t)status.st_size;
    *bytes = mem_alloc(*length + 1, 1);
    ssize_t got = read(file, *bytes, *length);
    close(file);
    if (got != (ssize_t)*length) {
        free(*bytes);
        *bytes = NULL;
        return err_set(err, ERR_IO, "cannot read the run's %s", name);
    }
    return 0;
}

int run_dir_read_spec(int dir, struct run_spec *spec, struct err *err)
{
    char *bytes;
    size_t length;
    memset(spec, 0, sizeof(*spec));
    int code = run_dir_read_file(dir, RUN_DIR_SPEC, &bytes, &length, err);
    return code != 0 ? code : run_spec_parse(bytes, length, spec, err);
}

bool run_dir_read_resize(int dir, uint64_t number, struct resize_request *request)
{
    size_t length;
    *request = (struct resize_request){.bytes = NULL};
    if (run_dir_read_file(dir, RUN_DIR_RESIZE, &request->bytes, &length, NULL) == 0 &&
        run_spec_parse_resize(request, length) && (uint64_t)request->number == number) {
        return true;
    }
    free(request->bytes);
    request->bytes = NULL;
    return false;
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
