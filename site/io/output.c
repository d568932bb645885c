/* SPDX-License-Identifier: Apache-2.0 */
/* output.c: see output.h.
 *
 * setfsuid, setfsgid and the bare setgroups call change the calling thread alone;
 * setgroups of the C library would change ZeroMQ's threads too. */
#include "site/io/output.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    GROUPS_MAX = 1024, /* of one user; those beyond are left out */
    PASSWD_BYTES_MAX = 16384,
};

static int set_groups(const gid_t *groups, int n_groups)
{
    return syscall(SYS_setgroups, n_groups, groups) < 0 ? errno : 0;
}

/* The groups of the user by name; only the job's group if the user has no name. */
static int user_groups(uid_t uid, gid_t gid, gid_t *groups)
{
    char bytes[PASSWD_BYTES_MAX];
    struct passwd passwd, *found = NULL;
    int n_groups = GROUPS_MAX;
    if (getpwuid_r(uid, &passwd, bytes, sizeof(bytes), &found) != 0 || found == NULL) {
        groups[0] = gid;
        return 1;
    }
    if (getgrouplist(passwd.pw_name, gid, groups, &n_groups) < 0) {
        n_groups = GROUPS_MAX;
    }
    return n_groups;
}

static int become_user(uid_t uid, gid_t gid)
{
    gid_t groups[GROUPS_MAX];
    int error = set_groups(groups, user_groups(uid, gid, groups));
    if (error != 0) {
        return error;
    }
    setfsgid(gid);
    setfsuid(uid);
    /* They do not say whether they worked: an id that is none asks. */
    bool is_user =
        (uid_t)setfsuid((uid_t)-1) == uid && (gid_t)setfsgid((gid_t)-1) == gid;
    return is_user ? 0 : EPERM;
}

/* Going on with a user's rights, or without one's own, would be worse than ending. */
static void become_daemon(const gid_t *groups, int n_groups)
{
    setfsuid(geteuid());
    setfsgid(getegid());
    if (set_groups(groups, n_groups) != 0) {
        abort();
    }
}

/* At an offset where the file has places, else behind what went before (a terminal, a
 * pipe). */
static int write_all(int fd, const uint8_t *bytes, size_t n_bytes, off_t offset)
{
    bool is_stream = lseek(fd, 0, SEEK_CUR) < 0;
    while (n_bytes > 0) {
        ssize_t n_written =
            is_stream ? write(fd, bytes, n_bytes) : pwrite(fd, bytes, n_bytes, offset);
        if (n_written < 0 && errno == EINTR) {
            continue;
        }
        if (n_written <= 0) {
            return n_written < 0 ? errno : EIO;
        }
        bytes += n_written;
        n_bytes -= (size_t)n_written;
        offset += n_written;
    }
    return 0;
}

/* The directories of the path that are missing. What cannot be made is told by the
 * opening of the file. */
static void make_directories(const char *path)
{
    char part[PATH_MAX];
    for (const char *at = strchr(path + 1, '/'); at != NULL; at = strchr(at + 1, '/')) {
        size_t length = (size_t)(at - path);
        if (length >= sizeof(part)) {
            return;
        }
        memcpy(part, path, length);
        part[length] = '\0';
        mkdir(part, 0777);
    }
}

static int write_piece(const struct effect *effect)
{
    int flags = O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
    if (!effect->write.replaces) {
        flags |= O_APPEND;
    }
    if (effect->write.offset == 0) {
        flags |= effect->write.replaces ? O_CREAT | O_TRUNC : O_CREAT;
    }
    if (effect->write.makes_directory && effect->write.offset == 0) {
        make_directories(effect->write.path);
    }
    int fd = open(effect->write.path, flags, 0666);
    if (fd < 0) {
        return errno;
    }
    int error = write_all(fd, effect->write.bytes, (size_t)effect->write.n_bytes,
                          (off_t)effect->write.offset);
    /* A file system on another machine may say only now that there is no room. */
    if (close(fd) < 0 && error == 0 && errno != EINTR) {
        error = errno;
    }
    return error;
}

static int write_as_user(const struct effect *effect)
{
    gid_t own_groups[GROUPS_MAX];
    int n_own_groups = getgroups(GROUPS_MAX, own_groups);
    if (n_own_groups < 0) {
        return errno;
    }
    int error = become_user((uid_t)effect->write.uid, (gid_t)effect->write.gid);
    if (error == 0) {
        error = write_piece(effect);
    }
    become_daemon(own_groups, n_own_groups);
    return error;
}

int output_write(const struct effect *effect)
{
    bool is_own = (uid_t)effect->write.uid == geteuid();
    if (!is_own && geteuid() != 0) {
        return EPERM;
    }
    mode_t own_umask = umask((mode_t)effect->write.umask & 0777);
    int error = is_own ? write_piece(effect) : write_as_user(effect);
    umask(own_umask);
    return error;
}
