/* SPDX-License-Identifier: Apache-2.0 */
/* tokens.c: see tokens.h. */
#include "broker/io/tokens.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "broker/io/owned_file.h"

struct tokens {
    unsigned char rows[TOKENS_MAX][TOKENS_LENGTH_MAX + 1]; /* filled up with 0 */
    char names[TOKENS_MAX][TOKENS_NAME_SIZE];
    bool are_of_proxies[TOKENS_MAX];
    int count;
};

/* ---------------------------------------------------------------- the file */

static bool is_visible(const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text <= ' ' || *text > '~') {
            return false;
        }
    }
    return true;
}

/* Cuts the next word off. */
static char *take_word(char **text)
{
    char *word = *text + strspn(*text, " \t");
    char *end = word + strcspn(word, " \t");
    *text = *end != '\0' ? end + 1 : end;
    *end = '\0';
    return word;
}

static int take_line(struct tokens *tokens, const char *path, int line, char *text,
                     struct err *err)
{
    text[strcspn(text, "\r\n")] = '\0';
    if (text[0] == '\0' || text[0] == '#') {
        return 0;
    }
    const char *first = take_word(&text);
    const char *second = take_word(&text);
    bool is_named = *second != '\0';
    const char *token = is_named ? second : first;
    const char *third = take_word(&text);
    bool is_proxy = strcmp(third, "proxy") == 0;
    size_t length = strlen(token);
    if (is_named && strlen(first) >= TOKENS_NAME_SIZE) {
        return err_set(err, ERR_PARSE,
                       "tokens \"%s\": line %d, expected a name of at most %d "
                       "characters before the token",
                       path, line, TOKENS_NAME_SIZE - 1);
    }
    if (length < TOKENS_LENGTH_MIN || length > TOKENS_LENGTH_MAX ||
        !is_visible(token) || (*third != '\0' && !is_proxy) || *text != '\0') {
        return err_set(err, ERR_PARSE,
                       "tokens \"%s\": line %d, expected TOKEN, NAME TOKEN or NAME "
                       "TOKEN proxy, with a token of %d to %d visible characters; make "
                       "one with: openssl "
                       "rand -hex 32",
                       path, line, TOKENS_LENGTH_MIN, TOKENS_LENGTH_MAX);
    }
    if (tokens->count == TOKENS_MAX) {
        return err_set(err, ERR_BOUNDS, "tokens \"%s\": more than %d tokens", path,
                       TOKENS_MAX);
    }
    char *name = tokens->names[tokens->count];
    if (is_named) {
        snprintf(name, TOKENS_NAME_SIZE, "%s", first);
    } else {
        snprintf(name, TOKENS_NAME_SIZE, "line %d", line);
    }
    tokens->are_of_proxies[tokens->count] = is_proxy;
    memcpy(tokens->rows[tokens->count++], token, length);
    return 0;
}

static int read_lines(struct tokens *tokens, FILE *file, const char *path,
                      struct err *err)
{
    /* A longer line is too long already. */
    char text[TOKENS_NAME_SIZE + TOKENS_LENGTH_MAX + sizeof(" proxy\r\n")];
    int rc = 0;
    for (int line = 1; rc == 0 && fgets(text, sizeof(text), file) != NULL; line++) {
        rc = take_line(tokens, path, line, text, err);
    }
    explicit_bzero(text, sizeof(text));
    if (rc == 0 && ferror(file)) {
        rc = err_set(err, ERR_IO, "tokens \"%s\": %s", path, strerror(errno));
    }
    if (rc == 0 && tokens->count == 0) {
        rc = err_set(err, ERR_BOUNDS, "tokens \"%s\": no token in it", path);
    }
    return rc;
}

int tokens_load(const char *path, struct tokens **tokens, struct err *err)
{
    FILE *file;
    int rc = owned_file_open(path, "tokens", OWNED_FILE_SECRET, &file, err);
    if (rc < 0) {
        return rc;
    }
    struct tokens *loaded = mem_alloc(1, sizeof(*loaded));
    rc = read_lines(loaded, file, path, err);
    if (rc == 0) {
        *tokens = loaded;
    } else {
        tokens_free(loaded);
    }
    fclose(file);
    return rc;
}

void tokens_free(struct tokens *tokens)
{
    if (tokens != NULL) {
        explicit_bzero(tokens, sizeof(*tokens));
        free(tokens);
    }
}

/* ---------------------------------------------------------------- comparing */

/* Compares all bytes of all rows, even after a match. */
const char *tokens_find(const struct tokens *tokens, const char *token, bool *is_proxy)
{
    *is_proxy = false;
    unsigned char asked[TOKENS_LENGTH_MAX + 1] = {0};
    size_t length = token != NULL ? strlen(token) : 0;
    if (tokens == NULL || length < TOKENS_LENGTH_MIN || length > TOKENS_LENGTH_MAX) {
        return NULL;
    }
    memcpy(asked, token, length);
    int found = 0; /* its row + 1 */
    for (int i = 0; i < tokens->count; i++) {
        volatile unsigned char differs = 0;
        for (size_t at = 0; at < sizeof(asked); at++) {
            differs |= (unsigned char)(asked[at] ^ tokens->rows[i][at]);
        }
        found += (differs == 0) * (found == 0) * (i + 1);
    }
    explicit_bzero(asked, sizeof(asked));
    if (found == 0) {
        return NULL;
    }
    *is_proxy = tokens->are_of_proxies[found - 1];
    return tokens->names[found - 1];
}

bool tokens_have_proxy(const struct tokens *tokens)
{
    bool have = false;
    for (int i = 0; tokens != NULL && i < tokens->count; i++) {
        have = have || tokens->are_of_proxies[i];
    }
    return have;
}
