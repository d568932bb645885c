/* SPDX-License-Identifier: Apache-2.0 */
/* guard_record.c: see exec.h. The fields of a record, in order, are one table. */
#include "host/exec/exec.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct field {
    const char *name;
    size_t offset;
    size_t size; /* of a text; 0: the field is a number */
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
    NUMBER(resize_code), NUMBER(post),      NUMBER(rss_kib),      NUMBER(vsz_kib),
    NUMBER(n_threads),   TEXT(text),
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
    return true; /* a field of another version */
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
        /* A truncated path may end in half a character. */
        if (*at < ' ' || *at > '~') {
            *at = '?';
        }
    }
}
