/* SPDX-License-Identifier: Apache-2.0 */
/* db_column.c: see db.h. */
#include "sys/db/db.h"

#include <stdlib.h>
#include <string.h>

void db_column_bind_text(sqlite3_stmt *statement, int at, const char *text)
{
    sqlite3_bind_text(statement, at, text != NULL ? text : "", -1, SQLITE_STATIC);
}

void db_column_bind_int(sqlite3_stmt *statement, int at, int64_t number)
{
    sqlite3_bind_int64(statement, at, number);
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

/* A blank and a colon are in no host's name. */
void db_column_bind_hosts(sqlite3_stmt *statement, int at,
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

void db_column_bind_texts(sqlite3_stmt *statement, int at, const char *const *texts,
                          int n_texts)
{
    size_t size = 0;
    for (int i = 0; i < n_texts; i++) {
        size += strlen(texts[i]) + 1;
    }
    char *bytes = mem_alloc(size + 1, 1), *to = bytes;
    for (int i = 0; i < n_texts; i++) {
        size_t length = strlen(texts[i]) + 1;
        memcpy(to, texts[i], length);
        to += length;
    }
    sqlite3_bind_blob64(statement, at, bytes, size, free);
}

const char *db_column_text(sqlite3_stmt *statement, int column)
{
    const unsigned char *text = sqlite3_column_text(statement, column);
    return text != NULL ? (const char *)text : "";
}

int db_column_fail(sqlite3_stmt *statement, const char *what, struct err *err)
{
    return err_set(err, ERR_IO, "%s: %s", what,
                   sqlite3_errmsg(sqlite3_db_handle(statement)));
}

static int fail_column(sqlite3_stmt *statement, int column, struct err *err)
{
    return err_set(err, ERR_IO, "%s: \"%.64s\" is unknown",
                   sqlite3_column_name(statement, column),
                   db_column_text(statement, column));
}

int db_column_read_word(sqlite3_stmt *statement, int column, const char *const *words,
                        int n_words, int *index, struct err *err)
{
    const char *word = db_column_text(statement, column);
    *index = 0;
    if (sqlite3_column_type(statement, column) == SQLITE_NULL) {
        return 0;
    }
    while (*index < n_words && strcmp(words[*index], word) != 0) {
        ++*index;
    }
    return *index < n_words ? 0 : fail_column(statement, column, err);
}

static int count_words(const char *text)
{
    int n_words = text[0] != '\0';
    for (; *text != '\0'; text++) {
        n_words += *text == ' ';
    }
    return n_words;
}

int db_column_read_hosts(sqlite3_stmt *statement, int column, struct arena *arena,
                         const struct host_slots **hosts, int *n_hosts, struct err *err)
{
    char *text = arena_str(arena, db_column_text(statement, column));
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

const char *const *db_column_read_texts(sqlite3_stmt *statement, int column,
                                        struct arena *arena, int *n_texts)
{
    const void *blob = sqlite3_column_blob(statement, column);
    size_t size = (size_t)sqlite3_column_bytes(statement, column);
    *n_texts = 0;
    if (size == 0) {
        return NULL;
    }
    /* One NUL more than there is, so that no text runs out of the copy. */
    char *bytes = arena_alloc(arena, size + 1, 1);
    memcpy(bytes, blob, size);
    for (size_t i = 0; i < size; i++) {
        *n_texts += bytes[i] == '\0';
    }
    const char **texts = arena_alloc(arena, (size_t)*n_texts + 1, sizeof(*texts));
    for (int i = 0; i < *n_texts; i++) {
        texts[i] = bytes;
        bytes += strlen(bytes) + 1;
    }
    return texts;
}
