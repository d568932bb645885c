/* SPDX-License-Identifier: Apache-2.0 */
/* start_file.c: see start_file.h. */
#include "host/agent/start_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/fnv1a.h"
#include "host/run_dir/run_dir.h"
#include "proto/codec.h"
#include "sys/msg_encode.h"

#define NEW_FILE RUN_DIR_START ".new"

static int write_all(int dir, const uint8_t *bytes, size_t length, struct err *err)
{
    int file = openat(dir, NEW_FILE,
                      O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    uint64_t sum = fnv1a(FNV1A_START, bytes, length); /* behind the message */
    const struct iovec parts[] = {{(void *)(uintptr_t)bytes, length},
                                  {&sum, sizeof(sum)}};
    ssize_t written = file < 0 ? -1 : writev(file, parts, 2);
    int error = written < 0                                 ? errno
                : written < (ssize_t)(length + sizeof(sum)) ? ENOSPC
                                                            : 0;
    if (file >= 0) {
        close(file);
    }
    if (error == 0 && renameat(dir, NEW_FILE, dir, RUN_DIR_START) != 0) {
        error = errno;
    }
    return error == 0 ? 0
                      : err_set(err, ERR_IO, "cannot write the run's start: %s",
                                strerror(error));
}

int start_file_write(int dir, const struct msg_run_start *start, struct err *err)
{
    struct msg msg = {.kind = MSG_RUN_START, .site = "", .run_start = *start};
    uint8_t *bytes;
    size_t length;
    int code = msg_encode(&msg, &bytes, &length, err);
    if (code == 0) {
        code = write_all(dir, bytes, length, err);
        free(bytes);
    }
    return code;
}

int start_file_read(int dir, struct arena *arena, struct msg_run_start *start,
                    struct err *err)
{
    int file = openat(dir, RUN_DIR_START, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (file < 0) {
        return err_set(err, errno == ENOENT ? ERR_NOT_FOUND : ERR_IO,
                       "cannot read the run's start: %s", strerror(errno));
    }
    uint64_t sum = 0;
    uint8_t *bytes = arena_alloc(arena, FRAME_MAX + sizeof(sum), 1);
    ssize_t length = read(file, bytes, FRAME_MAX + sizeof(sum));
    int error = errno;
    struct msg msg;
    close(file);
    if (length < 0) {
        return err_set(err, ERR_IO, "cannot read the run's start: %s", strerror(error));
    }
    length -= (ssize_t)sizeof(sum);
    if (length >= 0) {
        memcpy(&sum, bytes + length, sizeof(sum));
    }
    if (length < 0 || sum != fnv1a(FNV1A_START, bytes, (size_t)length)) {
        return err_set(err, ERR_PARSE, "the run's start is damaged");
    }
    int code = codec_decode(arena, bytes, (size_t)length, &msg, err);
    if (code == 0 && msg.kind != MSG_RUN_START) {
        code =
            err_set(err, ERR_PARSE, "the run's start is a %s", msg_kind_name(msg.kind));
    }
    if (code == 0) {
        *start = msg.run_start;
    }
    return code;
}

int start_file_set_hosts(int dir, const struct host_slots *hosts, int n_hosts,
                         struct err *err)
{
    struct arena arena;
    struct msg_run_start start;
    arena_init(&arena);
    int code = start_file_read(dir, &arena, &start, err);
    if (code == 0) {
        start.hosts = hosts;
        start.n_hosts = n_hosts;
        code = start_file_write(dir, &start, err);
    }
    arena_release(&arena);
    return code;
}
