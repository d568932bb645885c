/* SPDX-License-Identifier: Apache-2.0 */
/* row.c: see row.h. */
#include "model/row.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "model/record.h"

const char *row_history_name(enum history_event event)
{
    return (unsigned)event <= HISTORY_RECALL_DONE ? schema_row_event_words[event] : "?";
}

const char *row_event_name(const char *history_name)
{
    static const char *const names[][2] = {
        {"registered", "lease_registered"},
        {"made", "lease_made"},
        {"inactive", "lease_inactive"},
        {"active", "lease_active"},
        {"changed", "lease_changed"},
        {"draining", "lease_drain"},
        {"ended", "lease_end"},
        {"lost", "site_lost"},
        {"back", "site_back"},
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(names[i][0], history_name) == 0) {
            return names[i][1];
        }
    }
    return history_name;
}

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

/* All kinds are members of one union. */
static const size_t content = offsetof(struct row, counter);

void row_copy(struct arena *arena, const struct row *from, struct row *to)
{
    *to = *from;
    record_copy(arena, schema_row_kinds[from->kind], (const char *)from + content,
                (char *)to + content);
}

bool row_is_gone(const struct row *row)
{
    return (row->kind == ROW_BOOK && row->book.is_gone) ||
           (row->kind == ROW_JOB_STATE && row->job_state.is_gone) ||
           (row->kind == ROW_RUN && row->run.is_gone) ||
           (row->kind == ROW_CLOSED && !row->closed.is_closed) ||
           (row->kind == ROW_PICK && row->pick.is_gone) ||
           (row->kind == ROW_SHARE && row->share.is_gone) ||
           (row->kind == ROW_POOL && row->pool.is_gone) ||
           (row->kind == ROW_KEPT && row->kept.is_gone) ||
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

/* Appends a field to the key and returns the key's length. */
static size_t put_key(const struct field *field, const char *record, char *key,
                      size_t used)
{
    const char *at = record + field->offset, *text;
    uint64_t number = 0;
    int index, length;
    if (field->kind == FIELD_PART) {
        for (int i = 0; i < field->part->n_fields; i++) {
            used = put_key(&field->part->fields[i], at, key, used);
        }
        return used;
    }
    if (field->kind == FIELD_TEXT) {
        memcpy(&text, at, sizeof(text));
        length = snprintf(key + used, ROW_KEY_SIZE - used, " %s", text);
    } else {
        memcpy(&number, at, field->kind == FIELD_INT ? sizeof(int) : sizeof(number));
        length = snprintf(key + used, ROW_KEY_SIZE - used, " %020" PRIu64, number);
    }
    if (field->kind == FIELD_JOB_KEY) {
        memcpy(&index, record + field->count_offset, sizeof(index));
        length += snprintf(key + used + length, ROW_KEY_SIZE - used - (size_t)length,
                           " %07d", index);
    }
    used += (size_t)length;
    return used < ROW_KEY_SIZE ? used : ROW_KEY_SIZE - 1;
}

void row_key(const struct row *row, char key[ROW_KEY_SIZE])
{
    const struct schema *schema = schema_row_kinds[row->kind];
    size_t used = (size_t)snprintf(key, ROW_KEY_SIZE, "%02d", (int)row->kind);
    for (int i = 0; i < schema->n_fields && schema->fields[i].is_key; i++) {
        used = put_key(&schema->fields[i], (const char *)row + content, key, used);
    }
}
