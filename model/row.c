/* SPDX-License-Identifier: Apache-2.0 */
/* row.c: see row.h. */
#include "model/row.h"

#include <string.h>

#include "model/field.h"
#include "model/record.h"

const char *row_requeue_name(enum requeue_cause cause)
{
    static const char *const names[REQUEUE_CAUSES] = {
        [REQUEUE_NONE] = "",         [REQUEUE_LOST] = "lost",
        [REQUEUE_USER] = "user",     [REQUEUE_EXIT] = "exit",
        [REQUEUE_RECALL] = "recall", [REQUEUE_PREEMPT] = "preempt",
        [REQUEUE_WINDOW] = "window", [REQUEUE_LOAD] = "load",
    };
    return (unsigned)cause < REQUEUE_CAUSES ? names[cause] : "?";
}

const char *row_job_event_name(enum job_event event)
{
    return (unsigned)event < JOB_EVENTS ? schema_row_job_event_words[event] : "?";
}

bool row_exit_code(const struct run_exit *exit, int *code)
{
    switch (exit->end) {
    case RUN_END_EXITED:
    case RUN_END_LIMIT:
        *code = exit->code;
        return true;
    case RUN_END_SIGNALLED:
        *code = 128 + exit->code;
        return true;
    case RUN_END_NONE:
    case RUN_END_FAILED:
    case RUN_END_LOST:
        break;
    }
    return false;
}

void *row_record(struct row *row)
{
    return &row->counter; /* all kinds are members of one union */
}

const void *row_record_of(const struct row *row)
{
    return &row->counter;
}

void row_copy(struct arena *arena, const struct row *from, struct row *to)
{
    *to = *from;
    record_copy(arena, schema_row_kinds[from->kind], row_record_of(from),
                row_record(to));
}

struct row row_merge(const struct row *row, const struct row *stored)
{
    struct row merged = *row;
    if (row->kind == ROW_RUN && row->run.spec == NULL) {
        merged.run.spec = stored->run.spec;
    }
    if (row->kind == ROW_LEASE && row->lease.keeps_lists) {
        merged.lease.hosts = stored->lease.hosts;
        merged.lease.n_hosts = stored->lease.n_hosts;
        merged.lease.resources = stored->lease.resources;
        merged.lease.n_resources = stored->lease.n_resources;
        merged.lease.keeps_lists = false;
    }
    return merged;
}

bool row_is_gone(const struct row *row)
{
    return (row->kind == ROW_BOOK && row->book.is_gone) ||
           (row->kind == ROW_JOB_STATE && row->job_state.is_gone) ||
           (row->kind == ROW_RUN && row->run.is_gone) ||
           (row->kind == ROW_CLOSED && !row->closed.is_closed) ||
           (row->kind == ROW_JOB_GROUP && row->job_group.is_gone) ||
           (row->kind == ROW_PICK && row->pick.is_gone) ||
           (row->kind == ROW_CPUS && row->cpus.is_gone) ||
           (row->kind == ROW_LEASE_ACCOUNT && row->lease_account.is_gone) ||
           (row->kind == ROW_SHARE && row->share.is_gone) ||
           (row->kind == ROW_QUOTA && row->quota.is_gone) ||
           (row->kind == ROW_POOL && row->pool.is_gone) ||
           (row->kind == ROW_KEPT && row->kept.is_gone) ||
           (row->kind == ROW_HOURS && row->hours.is_gone) ||
           (row->kind == ROW_OVERRIDE && row->override.delay_ms < 0);
}

void row_restore(struct row *row)
{
    if (row->kind == ROW_CLOSED) {
        row->closed.is_closed = true;
    } else if (row->kind == ROW_JOB) {
        row->job.terms.has_slots = true;
    }
}

/* Appends a blank and the bytes, as far as there is room, and returns the length. */
static size_t put_bytes(char *key, size_t used, const char *bytes, size_t length)
{
    size_t room = ROW_KEY_SIZE - 1 - used;
    if (room == 0) {
        return used;
    }
    length = length < room ? length : room - 1;
    key[used] = ' ';
    memcpy(key + used + 1, bytes, length);
    key[used + 1 + length] = '\0';
    return used + 1 + length;
}

/* With leading zeros: keys are compared as texts. snprintf would take a third of the
 * time of a simulated disk. */
static size_t put_number(char *key, size_t used, uint64_t number, size_t width)
{
    char digits[20];
    size_t at = sizeof(digits);
    for (; number > 0 || sizeof(digits) - at < width; number /= 10) {
        digits[--at] = (char)('0' + number % 10);
    }
    return put_bytes(key, used, digits + at, sizeof(digits) - at);
}

/* Appends a field to the key and returns the key's length. */
static size_t put_key(const struct field *field, const char *record, char *key,
                      size_t used)
{
    if (field->kind == FIELD_TEXT) {
        const char *text = field_pointer(field, record);
        return put_bytes(key, used, text, strlen(text));
    }
    used = put_number(key, used, (uint64_t)field_number(field, record), 20);
    return field->kind == FIELD_JOB_KEY
               ? put_number(key, used, (uint64_t)field_count(field, record), 7)
               : used;
}

void row_key(const struct row *row, char key[ROW_KEY_SIZE])
{
    const struct schema *schema = schema_row_kinds[row->kind];
    const char kind[] = {(char)('0' + row->kind / 10), (char)('0' + row->kind % 10)};
    size_t used = sizeof(kind);
    memcpy(key, kind, sizeof(kind));
    key[used] = '\0';
    for (int i = 0; i < schema->n_fields && schema->fields[i].is_key; i++) {
        used = put_key(&schema->fields[i], row_record_of(row), key, used);
    }
}
