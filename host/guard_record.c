/* SPDX-License-Identifier: Apache-2.0 */
/* guard_record.c: see guard_record.h. One table says what a record has, in its order.
 */
#include "host/guard_record.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/run_dir.h"

#define GUARD_RECORD_NEW RUN_DIR_STATE ".new"
#define SUM_FORMAT "sum=%016" PRIx64 "\n"
enum { SUM_LENGTH = 4 + 16 + 1 };

struct field {
    const char *name;
    size_t offset;
    size_t size; /* of a text; 0: a number */
};

#define NUMBER(name)                                                                   \
    {                                                                                  \
#name, offsetof(struct guard_record, name), 0                                  \
    }
#define TEXT(name)                                                                     \
    {                                                                                  \
#name, offsetof(struct guard_record, name),                                    \
            sizeof(((struct guard_record *)NULL)->name)                                \
    }

static const struct field fields[] = {
    TEXT(boot_id),       NUMBER(guard_pid), NUMBER(token),        NUMBER(mark),
    NUMBER(job_pid),     NUMBER(job_start), TEXT(cgroup),         TEXT(memory),
    NUMBER(start_ms),    NUMBER(end_ms),    NUMBER(control_done), NUMBER(cause),
    NUMBER(code),        NUMBER(cpu_ms),    NUMBER(mem_kib),      NUMBER(out_bytes),
    NUMBER(err_bytes),   NUMBER(seq),       NUMBER(can_resize),   NUMBER(resize_done),
    NUMBER(resize_code), TEXT(text),
};
enum { FIELDS = sizeof(fields) / sizeof(fields[0]) };

static const char *const phase_names[] = {
    [RUN_UNKNOWN] = "unknown",     [RUN_WAITING] = "waiting", [RUN_RUNNING] = "running",
    [RUN_SUSPENDED] = "suspended", [RUN_ENDED] = "ended",
};
static const char *const end_names[] = {
    [RUN_END_NONE] = "none",           [RUN_END_EXITED] = "exited",
    [RUN_END_SIGNALLED] = "signalled", [RUN_END_FAILED] = "failed",
    [RUN_END_LOST] = "lost",           [RUN_END_LIMIT] = "limit",
};

static uint64_t number_at(const struct guard_record *record, const struct field *field)
{
    uint64_t number;
    memcpy(&number, (const char *)record + field->offset, sizeof(number));
    return number;
}

size_t guard_record_format(const struct guard_record *record, char *text)
{
    int used = snprintf(text, GUARD_RECORD_MAX, "sublet-run=1\nphase=%s\nend=%s\n",
                        phase_names[record->phase], end_names[record->end]);
    for (size_t i = 0; i < FIELDS; i++) {
        const struct field *field = &fields[i];
        char *to = text + used;
        size_t room = GUARD_RECORD_MAX - (size_t)used;
        if (field->size > 0) {
            used += snprintf(to, room, "%s=%s\n", field->name,
                             (const char *)record + field->offset);
        } else {
            used += snprintf(to, room, "%s=%" PRIu64 "\n", field->name,
                             number_at(record, field));
        }
    }
    return (
        size_t)used; /* the texts' sizes and the names stay below GUARD_RECORD_MAX */
}

static int word_number(const char *const *names, size_t count, const char *word)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(names[i], word) == 0) {
            return (int)i;
        }
    }
    return -1;
}

static bool take_number(const char *value, uint64_t *number)
{
    char *end = NULL;
    errno = 0;
    *number = strtoull(value, &end, 10);
    return errno == 0 && value[0] >= '0' && value[0] <= '9' && *end == '\0';
}

static bool take_field(struct guard_record *record, const char *name, const char *value)
{
    if (strcmp(name, "phase") == 0) {
        int phase =
            word_number(phase_names, sizeof(phase_names) / sizeof(*phase_names), value);
        record->phase = phase < 0 ? RUN_UNKNOWN : (enum run_phase)phase;
        return phase >= 0;
    }
    if (strcmp(name, "end") == 0) {
        int end = word_number(end_names, sizeof(end_names) / sizeof(*end_names), value);
        record->end = end < 0 ? RUN_END_NONE : (enum run_end)end;
        return end >= 0;
    }
    for (size_t i = 0; i < FIELDS; i++) {
        const struct field *field = &fields[i];
        char *to = (char *)record + field->offset;
        if (strcmp(field->name, name) != 0) {
            continue;
        }
        if (field->size > 0) {
            return snprintf(to, field->size, "%s", value) < (int)field->size;
        }
        uint64_t number = 0;
        bool is_good = take_number(value, &number);
        memcpy(to, &number, sizeof(number));
        return is_good;
    }
    return true; /* of another version */
}

int guard_record_parse(const char *text, size_t length, struct guard_record *record,
                       struct err *err)
{
    char copy[GUARD_RECORD_MAX];
    memset(record, 0, sizeof(*record));
    if (length == 0 || length >= sizeof(copy) || text[length - 1] != '\n') {
        return err_set(err, ERR_PARSE, "a run's record is cut or too long");
    }
    memcpy(copy, text, length);
    copy[length] = '\0';
    char *rest = copy;
    char *line;
    while ((line = strsep(&rest, "\n")) != NULL && rest != NULL) {
        char *value = strchr(line, '=');
        if (value == NULL) {
            return err_set(err, ERR_PARSE, "a run's record has no '=' in \"%s\"", line);
        }
        *value++ = '\0';
        if (!take_field(record, line, value)) {
            return err_set(err, ERR_PARSE, "a run's record has a bad %s \"%s\"", line,
                           value);
        }
    }
    if (record->phase == RUN_UNKNOWN) {
        return err_set(err, ERR_PARSE, "a run's record has no phase");
    }
    return 0;
}

/* ---- on disk: two places of GUARD_RECORD_MAX bytes, in each "sum=" and a record */

static uint64_t sum_of(const char *text)
{
    uint64_t sum = 14695981039346656037ULL; /* FNV-1a */
    for (; *text != '\0'; text++) {
        sum = (sum ^ (unsigned char)*text) * 1099511628211ULL;
    }
    return sum;
}

/* False where the place is empty, or was not written to its end. `bytes` has a NUL
 * behind it. */
static bool take_place(const char *bytes, struct guard_record *record)
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
static bool take_file(const char *bytes, struct guard_record *record)
{
    struct guard_record second;
    bool is_first = take_place(bytes, record);
    bool is_second = take_place(bytes + GUARD_RECORD_MAX, &second);
    if (is_second && (!is_first || second.seq > record->seq)) {
        *record = second;
    }
    return is_first || is_second;
}

int guard_record_read(int dir, struct guard_record *record, struct err *err)
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
    if (!take_file(bytes, record)) {
        memset(record, 0, sizeof(*record));
        return err_set(err, ERR_PARSE, "a run's record is damaged");
    }
    return 0;
}

/* 0 or errno. The NUL goes with it: what stood there may have been longer. */
static int write_place(int file, struct guard_record *record)
{
    char bytes[SUM_LENGTH + GUARD_RECORD_MAX];
    char *text = bytes + SUM_LENGTH;
    size_t length = SUM_LENGTH + guard_record_format(record, text) + 1;
    char first = text[0];
    snprintf(bytes, SUM_LENGTH + 1, SUM_FORMAT, sum_of(text));
    text[0] = first;
    if (length > GUARD_RECORD_MAX) {
        return EFBIG;
    }
    ssize_t written =
        pwrite(file, bytes, length, record->seq % 2 == 0 ? 0 : GUARD_RECORD_MAX);
    return written < 0 ? errno : written < (ssize_t)length ? ENOSPC : 0;
}

int guard_record_write(int dir, struct guard_record *record, struct err *err)
{
    bool is_first = record->seq == 0;
    int file = openat(
        dir, is_first ? GUARD_RECORD_NEW : RUN_DIR_STATE,
        (is_first ? O_CREAT | O_TRUNC : 0) | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0) {
        return err_set(err, ERR_IO, "cannot create a run's record: %s",
                       strerror(errno));
    }
    record->seq++;
    int error = write_place(file, record);
    close(file);
    if (error == 0 && is_first &&
        renameat(dir, GUARD_RECORD_NEW, dir, RUN_DIR_STATE) != 0) {
        error = errno;
    }
    if (error != 0) {
        record->seq--; /* the place is written again, the other one stays */
        return err_set(err, ERR_IO, "cannot write a run's record: %s", strerror(error));
    }
    return 0;
}

void guard_record_mark(const struct guard_record *record, const char *run,
                       char text[GUARD_RECORD_MARK_SIZE])
{
    snprintf(text, GUARD_RECORD_MARK_SIZE, "SUBLET_RUN=%s.%016" PRIx64, run,
             record->mark);
}

void guard_record_set_text(struct guard_record *record, const char *text)
{
    snprintf(record->text, sizeof(record->text), "%s", text);
    for (char *at = record->text; *at != '\0'; at++) {
        /* A line, and no half characters of a path that was cut. */
        if (*at < ' ' || *at > '~') {
            *at = '?';
        }
    }
}
