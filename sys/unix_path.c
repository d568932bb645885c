/* SPDX-License-Identifier: Apache-2.0 */
/* unix_path.c: paths of unix sockets that are longer than the kernel's 108 bytes;
 * see unix_path.h. */
#include "sys/unix_path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int open_directory(const char *path, size_t length, struct err *err)
{
    char *directory = length > 0 ? strndup(path, length) : strdup("/");
    if (directory == NULL) {
        abort();
    }
    int fd = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        err_set(err, ERR_IO, "directory \"%s\": %s", directory, strerror(errno));
    }
    free(directory);
    return fd;
}

int unix_path_open(const char *path, struct unix_path *opened, struct err *err)
{
    opened->directory_fd = -1;
    if (strlen(path) < sizeof(opened->text)) {
        snprintf(opened->text, sizeof(opened->text), "%s", path);
        return ERR_NONE;
    }
    const char *slash = strrchr(path, '/');
    if (slash == NULL) {
        return err_set(err, ERR_BOUNDS, "socket \"%s\": name too long", path);
    }
    int fd = open_directory(path, (size_t)(slash - path), err);
    if (fd < 0) {
        return ERR_IO;
    }
    int length = snprintf(opened->text, sizeof(opened->text), "/proc/self/fd/%d/%s", fd,
                          slash + 1);
    if (length < 0 || (size_t)length >= sizeof(opened->text)) {
        close(fd);
        return err_set(err, ERR_BOUNDS, "socket \"%s\": name too long", path);
    }
    opened->directory_fd = fd;
    return ERR_NONE;
}

void unix_path_close(struct unix_path *opened)
{
    if (opened->directory_fd >= 0) {
        close(opened->directory_fd);
    }
    opened->directory_fd = -1;
}
