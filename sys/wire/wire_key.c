/* SPDX-License-Identifier: Apache-2.0 */
/* wire_key.c: key pairs on disk, in the format of CZMQ's certificates; see wire.h. */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "sys/wire/wire.h"

enum { KEY_FILE_MAX = 65536 };

/* ---------------------------------------------------------------- making */

static int write_all(int fd, const char *text, size_t length)
{
    while (length > 0) {
        ssize_t put = write(fd, text, length);
        if (put < 0 && errno == EINTR) {
            continue;
        }
        if (put <= 0) {
            return -1;
        }
        text += put;
        length -= (size_t)put;
    }
    return fsync(fd);
}

/* Creates a file; the umask does not change `mode`. */
static int create_file(const char *path, mode_t mode, const char *text, struct err *err)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) {
        return errno == EEXIST
                   ? err_set(err, ERR_EXISTS, "key \"%s\" exists already", path)
                   : err_set(err, ERR_IO, "key \"%s\": %s", path, strerror(errno));
    }
    int status = ERR_NONE;
    if (fchmod(fd, mode) != 0 || write_all(fd, text, strlen(text)) != 0) {
        status = err_set(err, ERR_IO, "key \"%s\": %s", path, strerror(errno));
        unlink(path);
    }
    close(fd);
    return status;
}

static int sync_directory_of(struct arena *arena, const char *path, struct err *err)
{
    const char *directory = dirname(arena_str(arena, path));
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int status = ERR_NONE;
    if (fd < 0 || fsync(fd) != 0) {
        status =
            err_set(err, ERR_IO, "directory \"%s\": %s", directory, strerror(errno));
    }
    if (fd >= 0) {
        close(fd);
    }
    return status;
}

int wire_key_make(const char *name, struct err *err)
{
    struct wire_key key;
    if (zmq_curve_keypair(key.public_z85, key.secret_z85) != 0) {
        return err_set(err, ERR_IO, "no key pair: %s", zmq_strerror(zmq_errno()));
    }
    struct arena arena;
    arena_init(&arena);
    const char *public_path = arena_printf(&arena, "%s.key", name);
    const char *secret_path = arena_printf(&arena, "%s.key_secret", name);
    const char *public_text = arena_printf(&arena,
                                           "#   ZeroMQ CURVE Public Certificate\n"
                                           "#   Give this file to whom you talk to.\n"
                                           "\n"
                                           "metadata\n"
                                           "curve\n"
                                           "    public-key = \"%s\"\n",
                                           key.public_z85);
    const char *secret_text = arena_printf(
        &arena,
        "#   ZeroMQ CURVE **Secret** Certificate\n"
        "#   Do not give this file to anyone, nor change its permissions.\n"
        "\n"
        "metadata\n"
        "curve\n"
        "    public-key = \"%s\"\n"
        "    secret-key = \"%s\"\n",
        key.public_z85, key.secret_z85);
    int status = create_file(secret_path, 0600, secret_text, err);
    if (status == ERR_NONE) {
        status = create_file(public_path, 0644, public_text, err);
        if (status != ERR_NONE) {
            unlink(secret_path); /* half a pair is useless */
        }
    }
    if (status == ERR_NONE) {
        status = sync_directory_of(&arena, public_path, err);
    }
    arena_release(&arena);
    explicit_bzero(&key, sizeof(key));
    return status;
}

/* ---------------------------------------------------------------- loading */

static int read_file(const char *path, char *text, size_t size, mode_t *mode,
                     struct err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        return err_set(err, errno == ENOENT ? ERR_NOT_FOUND : ERR_IO, "key \"%s\": %s",
                       path, strerror(errno));
    }
    struct stat about;
    size_t used = 0;
    ssize_t got = -1;
    if (fstat(fd, &about) == 0) {
        *mode = about.st_mode;
        while (used < size - 1 && (got = read(fd, text + used, size - 1 - used)) > 0) {
            used += (size_t)got;
        }
    }
    text[used] = '\0';
    int status = ERR_NONE;
    if (got < 0) {
        status = err_set(err, ERR_IO, "key \"%s\": %s", path, strerror(errno));
    }
    close(fd);
    return status;
}

/* Copies a key of 40 characters, if it is one. */
static bool take_key(const char *z85, char *key)
{
    uint8_t raw[32];
    if (z85 == NULL || strlen(z85) != 40 || zmq_z85_decode(raw, z85) == NULL) {
        return false;
    }
    memcpy(key, z85, 41);
    explicit_bzero(raw, sizeof(raw));
    return true;
}

static int take_pair(const char *path, zconfig_t *root, mode_t mode,
                     struct wire_key *key, struct err *err)
{
    memset(key, 0, sizeof(*key));
    if (!take_key(zconfig_get(root, "/curve/public-key", NULL), key->public_z85)) {
        return err_set(err, ERR_PARSE, "key \"%s\" has no public key", path);
    }
    const char *secret = zconfig_get(root, "/curve/secret-key", NULL);
    if (secret == NULL) {
        return ERR_NONE;
    }
    if ((mode & 077) != 0) {
        return err_set(err, ERR_DENIED,
                       "secret key \"%s\" has mode %04o, expected 0600: others can use "
                       "it; chmod 600, or make a new one",
                       path, (unsigned)(mode & 07777));
    }
    char derived[41];
    if (!take_key(secret, key->secret_z85) ||
        zmq_curve_public(derived, key->secret_z85) != 0 ||
        strcmp(derived, key->public_z85) != 0) {
        return err_set(err, ERR_PARSE, "key \"%s\": its halves do not fit", path);
    }
    return ERR_NONE;
}

int wire_key_load(const char *path, struct wire_key *key, struct err *err)
{
    char *text = mem_alloc(KEY_FILE_MAX, 1);
    mode_t mode = 0;
    int status = read_file(path, text, KEY_FILE_MAX, &mode, err);
    zconfig_t *root = status == ERR_NONE ? zconfig_str_load(text) : NULL;
    if (status == ERR_NONE) {
        status = root != NULL ? take_pair(path, root, mode, key, err)
                              : err_set(err, ERR_PARSE, "\"%s\" is not a key", path);
    }
    zconfig_destroy(&root);
    explicit_bzero(text, KEY_FILE_MAX);
    free(text);
    if (status != ERR_NONE) {
        explicit_bzero(key, sizeof(*key));
    }
    return status;
}
