/* SPDX-License-Identifier: Apache-2.0 */
/* journal_fields.c: see journal_fields.h. */
#include "site/io/journal_fields.h"

#include <stdlib.h>
#include <string.h>

static const char *const action_words[] = {
    [CONTROL_SIGNAL] = "signal",
    [CONTROL_SUSPEND] = "suspend",
    [CONTROL_RESUME] = "resume",
    [CONTROL_KILL] = "kill",
};
static const char *const end_words[] = {
    [RUN_END_NONE] = "none",           [RUN_END_EXITED] = "exited",
    [RUN_END_SIGNALLED] = "signalled", [RUN_END_FAILED] = "failed",
    [RUN_END_LOST] = "lost",           [RUN_END_LIMIT] = "limit",
};
static const char *const cause_words[] = {
    [RUN_CAUSE_NONE] = "none",
    [RUN_CAUSE_RUN_LIMIT] = "run_limit",
    [RUN_CAUSE_CPU_LIMIT] = "cpu_limit",
    [RUN_CAUSE_MEM_LIMIT] = "mem_limit",
    [RUN_CAUSE_SWAP_LIMIT] = "swap_limit",
    [RUN_CAUSE_PROCESS_LIMIT] = "process_limit",
    [RUN_CAUSE_THREAD_LIMIT] = "thread_limit",
    [RUN_CAUSE_PRE_EXEC] = "pre_exec",
};
enum {
    N_CAUSE_WORDS = sizeof(cause_words) / sizeof(cause_words[0]),
    N_ACTION_WORDS = sizeof(action_words) / sizeof(action_words[0]),
    N_END_WORDS = sizeof(end_words) / sizeof(end_words[0]),
};

/* ---------------------------------------------------------------- into a statement */

void journal_fields_bind_text(sqlite3_stmt *statement, int at, const char *text)
{
    sqlite3_bind_text(statement, at, text != NULL ? text : "", -1, SQLITE_STATIC);
}

void journal_fields_bind_int(sqlite3_stmt *statement, int at, int64_t number)
{
    sqlite3_bind_int64(statement, at, number);
}

void journal_fields_bind_some_text(sqlite3_stmt *statement, int at, const char *text)
{
    if (text != NULL && text[0] != '\0') {
        journal_fields_bind_text(statement, at, text);
    }
}

void journal_fields_bind_some_int(sqlite3_stmt *statement, int at, int64_t number)
{
    if (number != 0) {
        journal_fields_bind_int(statement, at, number);
    }
}

/* Each start has hosts in two rows: printf would be a tenth of what those cost. */
static char *put_number(char *to, int number)
{
    char digits[12];
    int count = 0;
    unsigned rest = number < 0 ? 0u - (unsigned)number : (unsigned)number;
    do {
        digits[count++] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest > 0);
    if (number < 0) {
        *to++ = '-';
    }
    while (count > 0) {
        *to++ = digits[--count];
    }
    return to;
}

/* "n1:2 n2:1": a blank and a colon are in no host's name. */
void journal_fields_bind_hosts(sqlite3_stmt *statement, int at,
                               const struct host_slots *hosts, int n_hosts)
{
    size_t size = 1;
    for (int i = 0; i < n_hosts; i++) {
        size += strlen(hosts[i].host) + sizeof(" :-2147483648");
    }
    char *text = mem_alloc(size, 1), *to = text;
    for (int i = 0; i < n_hosts; i++) {
        size_t length = strlen(hosts[i].host);
        if (i > 0) {
            *to++ = ' ';
        }
        memcpy(to, hosts[i].host, length);
        to += length;
        *to++ = ':';
        to = put_number(to, hosts[i].n_slots);
    }
    sqlite3_bind_text(statement, at, text, (int)(to - text), free);
}

void journal_fields_bind_some_hosts(sqlite3_stmt *statement, int at,
                                    const struct host_slots *hosts, int n_hosts)
{
    if (n_hosts > 0) {
        journal_fields_bind_hosts(statement, at, hosts, n_hosts);
    }
}

/* Each string with its NUL. */
static void bind_strings(sqlite3_stmt *statement, int at, const char *const *strings,
                         int n_strings)
{
    size_t size = 0;
    for (int i = 0; i < n_strings; i++) {
        size += strlen(strings[i]) + 1;
    }
    char *bytes = mem_alloc(size + 1, 1), *to = bytes;
    for (int i = 0; i < n_strings; i++) {
        size_t length = strlen(strings[i]) + 1;
        memcpy(to, strings[i], length);
        to += length;
    }
    sqlite3_bind_blob64(statement, at, bytes, size, free);
}

void journal_fields_bind_spec(sqlite3_stmt *statement, int *at,
                              const struct job_spec *spec)
{
    journal_fields_bind_text(statement, ++*at, spec->name);
    journal_fields_bind_text(statement, ++*at, spec->user);
    journal_fields_bind_int(statement, ++*at, spec->uid);
    journal_fields_bind_int(statement, ++*at, spec->gid);
    journal_fields_bind_text(statement, ++*at, spec->queue);
    journal_fields_bind_text(statement, ++*at, spec->command);
    journal_fields_bind_text(statement, ++*at, spec->cwd);
    journal_fields_bind_text(statement, ++*at, spec->in_file);
    journal_fields_bind_text(statement, ++*at, spec->out_file);
    journal_fields_bind_text(statement, ++*at, spec->err_file);
    bind_strings(statement, ++*at, spec->env, spec->n_env);
    journal_fields_bind_int(statement, ++*at, spec->umask);
    journal_fields_bind_int(statement, ++*at, spec->n_slots);
    bind_strings(statement, ++*at, spec->hosts_asked, spec->n_hosts_asked);
    journal_fields_bind_int(statement, ++*at, spec->run_limit_ms);
    journal_fields_bind_int(statement, ++*at, spec->is_rerunnable);
    bind_strings(statement, ++*at, spec->res_reqs, spec->n_res_reqs);
    journal_fields_bind_int(statement, ++*at, spec->is_exclusive);
    journal_fields_bind_text(statement, ++*at, spec->app);
    bind_strings(statement, ++*at, spec->limits, spec->n_limits);
    bind_strings(statement, ++*at, spec->pre_execs, spec->n_pre_execs);
    bind_strings(statement, ++*at, spec->post_execs, spec->n_post_execs);
    journal_fields_bind_int(statement, ++*at, spec->interaction);
    bind_strings(statement, ++*at, spec->controls, spec->n_controls);
}

void journal_fields_bind_control(sqlite3_stmt *statement, int *at,
                                 const struct run_control *control)
{
    journal_fields_bind_int(statement, ++*at, (int64_t)control->number);
    journal_fields_bind_text(statement, ++*at, action_words[control->action]);
    journal_fields_bind_int(statement, ++*at, control->signal);
}

void journal_fields_bind_exit(sqlite3_stmt *statement, int *at,
                              const struct run_exit *exit)
{
    journal_fields_bind_text(statement, ++*at, end_words[exit->end]);
    journal_fields_bind_int(statement, ++*at, exit->code);
    journal_fields_bind_int(statement, ++*at, exit->start_ms);
    journal_fields_bind_int(statement, ++*at, exit->end_ms);
    journal_fields_bind_int(statement, ++*at, exit->cpu_ms);
    journal_fields_bind_int(statement, ++*at, exit->mem_kib);
    journal_fields_bind_int(statement, ++*at, exit->out_bytes);
    journal_fields_bind_int(statement, ++*at, exit->err_bytes);
    journal_fields_bind_text(statement, ++*at, exit->text);
    journal_fields_bind_text(statement, ++*at, cause_words[exit->cause]);
}

/* ---------------------------------------------------------------- out of a result */

const char *journal_fields_text(sqlite3_stmt *statement, int column)
{
    const unsigned char *text = sqlite3_column_text(statement, column);
    return text != NULL ? (const char *)text : "";
}

int journal_fields_fail(sqlite3_stmt *statement, const char *what, struct err *err)
{
    return err_set(err, ERR_IO, "journal: %s: %s", what,
                   sqlite3_errmsg(sqlite3_db_handle(statement)));
}

static int fail_column(sqlite3_stmt *statement, int column, struct err *err)
{
    return err_set(err, ERR_IO, "journal: %s: \"%.64s\" is unknown",
                   sqlite3_column_name(statement, column),
                   journal_fields_text(statement, column));
}

int journal_fields_read_word(sqlite3_stmt *statement, int column,
                             const char *const *words, int n_words, int *index,
                             struct err *err)
{
    const char *word = journal_fields_text(statement, column);
    if (sqlite3_column_type(statement, column) == SQLITE_NULL) {
        *index = 0;
        return 0;
    }
    for (int i = 0; i < n_words; i++) {
        if (strcmp(words[i], word) == 0) {
            *index = i;
            return 0;
        }
    }
    return fail_column(statement, column, err);
}

static int count_words(const char *text)
{
    int n_words = text[0] != '\0';
    for (; *text != '\0'; text++) {
        n_words += *text == ' ';
    }
    return n_words;
}

int journal_fields_read_hosts(sqlite3_stmt *statement, int column, struct arena *arena,
                              const struct host_slots **hosts, int *n_hosts,
                              struct err *err)
{
    char *text = arena_str(arena, journal_fields_text(statement, column));
    int n_words = count_words(text);
    struct host_slots *read = arena_alloc(arena, (size_t)n_words + 1, sizeof(*read));
    for (int i = 0; i < n_words; i++) {
        char *colon = strchr(text, ':'), *end;
        if (colon == NULL) {
            return fail_column(statement, column, err);
        }
        *colon = '\0';
        read[i].host = text;
        read[i].n_slots = (int)strtol(colon + 1, &end, 10);
        if (*end != (i + 1 < n_words ? ' ' : '\0')) {
            return fail_column(statement, column, err);
        }
        text = end + 1;
    }
    *hosts = n_words > 0 ? read : NULL;
    *n_hosts = n_words;
    return 0;
}

static const char *const *read_strings(sqlite3_stmt *statement, int column,
                                       struct arena *arena, int *n_strings)
{
    const void *blob = sqlite3_column_blob(statement, column);
    size_t size = (size_t)sqlite3_column_bytes(statement, column);
    int count = 0;
    *n_strings = 0;
    if (size == 0) {
        return NULL;
    }
    /* One NUL more than there is, so that no string runs out of the copy. */
    char *bytes = arena_alloc(arena, size + 1, 1);
    memcpy(bytes, blob, size);
    for (size_t i = 0; i < size; i++) {
        count += bytes[i] == '\0';
    }
    const char **strings = arena_alloc(arena, (size_t)count + 1, sizeof(*strings));
    for (int i = 0; i < count; i++) {
        strings[i] = bytes;
        bytes += strlen(bytes) + 1;
    }
    *n_strings = count;
    return strings;
}

void journal_fields_read_spec(sqlite3_stmt *statement, int column, struct arena *arena,
                              struct job_spec *spec)
{
    int at = column;
    spec->name = arena_str(arena, journal_fields_text(statement, at++));
    spec->user = arena_str(arena, journal_fields_text(statement, at++));
    spec->uid = sqlite3_column_int64(statement, at++);
    spec->gid = sqlite3_column_int64(statement, at++);
    spec->queue = arena_str(arena, journal_fields_text(statement, at++));
    spec->command = arena_str(arena, journal_fields_text(statement, at++));
    spec->cwd = arena_str(arena, journal_fields_text(statement, at++));
    spec->in_file = arena_str(arena, journal_fields_text(statement, at++));
    spec->out_file = arena_str(arena, journal_fields_text(statement, at++));
    spec->err_file = arena_str(arena, journal_fields_text(statement, at++));
    spec->env = read_strings(statement, at++, arena, &spec->n_env);
    spec->umask = sqlite3_column_int64(statement, at++);
    spec->n_slots = sqlite3_column_int(statement, at++);
    spec->hosts_asked = read_strings(statement, at++, arena, &spec->n_hosts_asked);
    spec->run_limit_ms = sqlite3_column_int64(statement, at++);
    spec->is_rerunnable = sqlite3_column_int(statement, at++) != 0;
    spec->res_reqs = read_strings(statement, at++, arena, &spec->n_res_reqs);
    spec->is_exclusive = sqlite3_column_int(statement, at++) != 0;
    spec->app = arena_str(arena, journal_fields_text(statement, at++));
    spec->limits = read_strings(statement, at++, arena, &spec->n_limits);
    spec->pre_execs = read_strings(statement, at++, arena, &spec->n_pre_execs);
    spec->post_execs = read_strings(statement, at++, arena, &spec->n_post_execs);
    spec->interaction = (enum interaction)sqlite3_column_int(statement, at++);
    spec->controls = read_strings(statement, at, arena, &spec->n_controls);
}

int journal_fields_read_control(sqlite3_stmt *statement, int column,
                                struct run_control *control, struct err *err)
{
    int action = 0;
    if (journal_fields_read_word(statement, column + 1, action_words, N_ACTION_WORDS,
                                 &action, err) < 0) {
        return err->code;
    }
    control->number = (uint64_t)sqlite3_column_int64(statement, column);
    control->action = (enum control_action)action;
    control->signal = sqlite3_column_int(statement, column + 2);
    return 0;
}

int journal_fields_read_exit(sqlite3_stmt *statement, int column, struct arena *arena,
                             struct run_exit *exit, struct err *err)
{
    int end = 0, cause = 0;
    if (journal_fields_read_word(statement, column, end_words, N_END_WORDS, &end, err) <
            0 ||
        journal_fields_read_word(statement, column + 9, cause_words, N_CAUSE_WORDS,
                                 &cause, err) < 0) {
        return err->code;
    }
    exit->end = (enum run_end)end;
    exit->cause = (enum run_cause)cause;
    exit->code = sqlite3_column_int(statement, column + 1);
    exit->start_ms = sqlite3_column_int64(statement, column + 2);
    exit->end_ms = sqlite3_column_int64(statement, column + 3);
    exit->cpu_ms = sqlite3_column_int64(statement, column + 4);
    exit->mem_kib = sqlite3_column_int64(statement, column + 5);
    exit->out_bytes = sqlite3_column_int64(statement, column + 6);
    exit->err_bytes = sqlite3_column_int64(statement, column + 7);
    exit->text = arena_str(arena, journal_fields_text(statement, column + 8));
    return 0;
}
