/* SPDX-License-Identifier: Apache-2.0 */
/* record_file.c: see run_dir.h. The file has two places of GUARD_RECORD_MAX bytes.
 * Each holds "sum=", a checksum of the record, and the record as text. */
#include "host/run_dir/run_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fnv1a.h"

#define NEW_FILE RUN_DIR_STATE RUN_DIR_NEW
#define SUM_FORMAT "sum=%016" PRIx64 "\n"
enum { SUM_LENGTH = 4 + 16 + 1 };

static uint64_t sum_of(const char *text)
{
    return fnv1a(FNV1A_START, text, strlen(text));
}

/* Returns false if the place is empty or was not written completely. `bytes` ends with
 * a NUL. */
static bool parse_place(const char *bytes, struct guard_record *record)
{
    char head[SUM_LENGTH + 1];
    if (strncmp(bytes, "sum=", 4) != 0 || strlen(bytes) <= SUM_LENGTH) {
        return false;
    }
    const char *text = bytes + SUM_LENGTH;
    snprintf(head, sizeof(head), SUM_FORMAT, sum_of(text));
    return memcmp(bytes, head, SUM_LENGTH) == 0 &&
           guard_record_parse(text, strlen(text), record, NULL) == 0;
}

/* The later one of the two. */
static bool parse_file(const char *bytes, struct guard_record *record)
{
    struct guard_record second;
    bool is_first = parse_place(bytes, record);
    bool is_second = parse_place(bytes + GUARD_RECORD_MAX, &second);
    if (is_second && (!is_first || second.seq > record->seq)) {
        *record = second;
    }
    return is_first || is_second;
}

int record_file_read(int dir, struct guard_record *record, struct err *err)
{
    char bytes[2 * GUARD_RECORD_MAX + 1] = "";
    memset(record, 0, sizeof(*record));
    int file = openat(dir, RUN_DIR_STATE, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (file < 0) {
        return err_set(err, errno == ENOENT ? ERR_NOT_FOUND : ERR_IO,
                       "cannot open a run's record: %s", strerror(errno));
    }
    ssize_t length = read(file, bytes, sizeof(bytes) - 1);
    int error = errno;
    close(file);
    if (length < 0) {
        return err_set(err, ERR_IO, "cannot read a run's record: %s", strerror(error));
    }
    if (!parse_file(bytes, record)) {
        memset(record, 0, sizeof(*record));
        return err_set(err, ERR_PARSE, "a run's record is damaged");
    }
    return 0;
}

/* Returns 0 or errno. The NUL is written too: the text before may have been longer. The
 * first record empties the other place: the file may be that of another run. */
static int write_place(int file, struct guard_record *record, bool is_first)
{
    char room[GUARD_RECORD_MAX + SUM_LENGTH + GUARD_RECORD_MAX];
    char *bytes = room + GUARD_RECORD_MAX, *text = bytes + SUM_LENGTH;
    size_t length = SUM_LENGTH + guard_record_format(record, text) + 1;
    char first = text[0];
    snprintf(bytes, SUM_LENGTH + 1, SUM_FORMAT, sum_of(text));
    text[0] = first;
    if (length > GUARD_RECORD_MAX) {
        return EFBIG;
    }
    off_t at = record->seq % 2 == 0 ? 0 : GUARD_RECORD_MAX;
    if (is_first) { /* its place is the second */
        memset(room, 0, GUARD_RECORD_MAX);
        bytes = room;
        length += GUARD_RECORD_MAX;
        at = 0;
    }
    ssize_t written = pwrite(file, bytes, length, at);
    return written < 0 ? errno : written < (ssize_t)length ? ENOSPC : 0;
}

int record_file_write(int dir, struct guard_record *record, struct err *err)
{
    bool is_first = record->seq == 0;
    int file =
        openat(dir, is_first ? NEW_FILE : RUN_DIR_STATE,
               (is_first ? O_CREAT : 0) | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0) {
        return err_set(err, ERR_IO, "cannot create a run's record: %s",
                       strerror(errno));
    }
    record->seq++;
    int error = write_place(file, record, is_first);
    close(file);
    if (error == 0 && is_first && renameat(dir, NEW_FILE, dir, RUN_DIR_STATE) != 0) {
        error = errno;
    }
    if (error != 0) {
        record->seq--; /* the next attempt uses this place again */
        return err_set(err, ERR_IO, "cannot write a run's record: %s", strerror(error));
    }
    return 0;
}
