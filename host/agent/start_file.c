/* SPDX-License-Identifier: Apache-2.0 */
/* start_file.c: see start_file.h. */
#include "host/agent/start_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fnv1a.h"
#include "host/run_dir/run_dir.h"
#include "proto/codec.h"
#include "sys/msg_encode.h"

#define NEW_FILE RUN_DIR_START RUN_DIR_NEW

int start_file_encode(const struct msg_run_start *start, uint8_t **bytes,
                      size_t *length, struct err *err)
{
    struct msg msg = {.kind = MSG_RUN_START, .site = "", .run_start = *start};
    int code = msg_encode(&msg, bytes, length, err);
    if (code == 0) {
        uint64_t sum = fnv1a(FNV1A_START, *bytes, *length);
        *bytes = mem_grow(*bytes, *length + sizeof(sum), 1);
        memcpy(*bytes + *length, &sum, sizeof(sum));
        *length += sizeof(sum);
    }
    return code;
}

static int write_all(int dir, const uint8_t *bytes, size_t length, struct err *err)
{
    int file = openat(dir, NEW_FILE,
                      O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    ssize_t written = file < 0 ? -1 : write(file, bytes, length);
    int error = written < 0 ? errno : written < (ssize_t)length ? ENOSPC : 0;
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
    uint8_t *bytes;
    size_t length;
    int code = start_file_encode(start, &bytes, &length, err);
    if (code == 0) {
        code = write_all(dir, bytes, length, err);
        free(bytes);
    }
    return code;
}

/* What start_file_encode made. The message is in the arena. */
static int decode(struct arena *arena, const char *from, size_t length,
                  struct msg_run_start *start, struct err *err)
{
    uint64_t sum;
    struct msg msg;
    if (length < sizeof(sum)) {
        return err_set(err, ERR_PARSE, "the run's start is damaged");
    }
    length -= sizeof(sum);
    memcpy(&sum, from + length, sizeof(sum));
    uint8_t *bytes = arena_alloc(arena, length + 1, 1);
    memcpy(bytes, from, length);
    if (sum != fnv1a(FNV1A_START, bytes, length)) {
        return err_set(err, ERR_PARSE, "the run's start is damaged");
    }
    int code = codec_decode(arena, bytes, length, &msg, err);
    if (code == 0 && msg.kind != MSG_RUN_START) {
        code =
            err_set(err, ERR_PARSE, "the run's start is a %s", msg_kind_name(msg.kind));
    }
    if (code == 0) {
        *start = msg.run_start;
    }
    return code;
}

/* A spec with nothing behind it was written by an earlier version. */
static int decode_behind_spec(struct arena *arena, const char *bytes, size_t length,
                              struct msg_run_start *start, struct err *err)
{
    size_t at = run_spec_length(bytes, length);
    return at == length ? err_set(err, ERR_NOT_FOUND, "the run's spec has no start")
                        : decode(arena, bytes + at, length - at, start, err);
}

int start_file_read(int dir, struct arena *arena, struct msg_run_start *start,
                    struct err *err)
{
    char *bytes;
    size_t length;
    int code = run_dir_read_file(dir, RUN_DIR_START, &bytes, &length, err);
    if (code == 0) {
        code = decode(arena, bytes, length, start, err);
        free(bytes);
    } else if (code == ERR_NOT_FOUND &&
               (code = run_dir_read_file(dir, RUN_DIR_SPEC, &bytes, &length, err)) ==
                   0) {
        code = decode_behind_spec(arena, bytes, length, start, err);
        free(bytes);
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
