/* SPDX-License-Identifier: Apache-2.0 */
/* local_listen.c: see local_listen.h. */
#include "sys/local/local_listen.h"

#include <errno.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum {
    BACKLOG = 128,
    PASSWD_SIZE = 16384,
};

static struct sockaddr_un address_of(const struct unix_path *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    _Static_assert(sizeof(address.sun_path) == sizeof(path->text), "sun_path");
    memcpy(address.sun_path, path->text, sizeof(address.sun_path));
    return address;
}

int local_listen_connect(const struct unix_path *path, int *fd, struct err *err)
{
    struct sockaddr_un address = address_of(path);
    *fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (*fd < 0) {
        return err_set(err, ERR_IO, "no socket: %s", strerror(errno));
    }
    if (connect(*fd, (const struct sockaddr *)&address, sizeof(address)) == 0) {
        return ERR_NONE;
    }
    int why = errno;
    close(*fd);
    *fd = -1;
    bool is_away = why == ENOENT || why == ECONNREFUSED || why == EAGAIN;
    return err_set(err,
                   is_away         ? ERR_AWAY
                   : why == EACCES ? ERR_DENIED
                                   : ERR_IO,
                   "socket \"%s\": %s", path->text, strerror(why));
}

/* Removes the socket that a killed daemon left; whatever else is there stays. */
static int clear_path(const struct unix_path *path, struct err *err)
{
    struct stat status;
    if (lstat(path->text, &status) != 0) {
        return ERR_NONE; /* bind will say what is wrong with the path */
    }
    if (!S_ISSOCK(status.st_mode)) {
        return err_set(err, ERR_EXISTS, "\"%s\" is not a socket", path->text);
    }
    int fd;
    struct err ignored;
    int found = local_listen_connect(path, &fd, &ignored);
    if (found == ERR_NONE) {
        close(fd);
        return err_set(err, ERR_EXISTS, "another process listens at \"%s\"",
                       path->text);
    }
    if (found != ERR_AWAY) {
        return err_set(err, ERR_EXISTS, "socket \"%s\" is not ours", path->text);
    }
    unlink(path->text);
    return ERR_NONE;
}

int local_listen_open(const struct unix_path *path, int mode, int *fd, struct err *err)
{
    *fd = -1;
    int status = clear_path(path, err);
    if (status != ERR_NONE) {
        return status;
    }
    struct sockaddr_un address = address_of(path);
    int made = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (made < 0 ||
        bind(made, (const struct sockaddr *)&address, sizeof(address)) != 0 ||
        chmod(path->text, (mode_t)mode) != 0 || listen(made, BACKLOG) != 0) {
        status = err_set(err, ERR_IO, "socket \"%s\": %s", path->text, strerror(errno));
        if (made >= 0) {
            close(made);
        }
        return status;
    }
    *fd = made;
    return ERR_NONE;
}

int local_listen_identify(int fd, struct peer *peer, char name[NAME_SIZE])
{
    struct ucred who;
    socklen_t size = sizeof(who);
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) != 0) {
        return ERR_IO;
    }
    struct passwd entry, *found = NULL;
    char text[PASSWD_SIZE];
    if (getpwuid_r(who.uid, &entry, text, sizeof(text), &found) == 0 && found != NULL &&
        strlen(found->pw_name) < NAME_SIZE) {
        snprintf(name, NAME_SIZE, "%s", found->pw_name);
    } else {
        snprintf(name, NAME_SIZE, "#%" PRIu32, (uint32_t)who.uid);
    }
    bool is_admin = who.uid == 0 || who.uid == geteuid();
    *peer = (struct peer){
        .kind = PEER_CLIENT,
        .name = name,
        .roles = is_admin ? ROLE_ADMIN : 0,
        .uid = who.uid,
        .gid = who.gid,
    };
    return ERR_NONE;
}
