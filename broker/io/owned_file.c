/* SPDX-License-Identifier: Apache-2.0 */
/* owned_file.c: see owned_file.h. */
#include "broker/io/owned_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int check(int fd, const char *path, const char *what, enum owned_file_kind kind,
                 struct err *err)
{
    struct stat info;
    if (fstat(fd, &info) != 0) {
        return err_set(err, ERR_IO, "%s \"%s\": %s", what, path, strerror(errno));
    }
    if (!S_ISREG(info.st_mode)) {
        return err_set(err, ERR_IO, "%s \"%s\": not a regular file", what, path);
    }
    if (info.st_uid != geteuid() && info.st_uid != 0) {
        return err_set(
            err, ERR_DENIED,
            "%s \"%s\": belongs to user %lu, expected the broker's own; run: "
            "chown %lu %s",
            what, path, (unsigned long)info.st_uid, (unsigned long)geteuid(), path);
    }
    unsigned mode = info.st_mode & 0777;
    if (kind == OWNED_FILE_SECRET && (mode & 077) != 0) {
        return err_set(err, ERR_DENIED,
                       "%s \"%s\": mode %03o, others than its owner may use it; run: "
                       "chmod 600 %s, and replace the %s if they were read",
                       what, path, mode, path, what);
    }
    if ((mode & 022) != 0) {
        return err_set(err, ERR_DENIED,
                       "%s \"%s\": mode %03o, others than its owner may write it; run: "
                       "chmod 644 %s",
                       what, path, mode, path);
    }
    return 0;
}

int owned_file_open(const char *path, const char *what, enum owned_file_kind kind,
                    FILE **file, struct err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        return err_set(err, ERR_IO, "%s \"%s\": %s", what, path, strerror(errno));
    }
    int rc = check(fd, path, what, kind, err);
    if (rc < 0) {
        close(fd);
        return rc;
    }
    *file = fdopen(fd, "r");
    if (*file == NULL) {
        abort(); /* out of memory */
    }
    setvbuf(*file, NULL, _IONBF, 0);
    return 0;
}
