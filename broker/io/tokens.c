/* SPDX-License-Identifier: Apache-2.0 */
/* tokens.c: see tokens.h. */
#include "broker/io/tokens.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"

struct tokens {
    unsigned char rows[TOKENS_MAX][TOKENS_LENGTH_MAX + 1]; /* filled up with 0 */
    char names[TOKENS_MAX][TOKENS_NAME_SIZE];
    int count;
};

/* ---------------------------------------------------------------- the file */

static int check_file(int fd, const char *path, struct err *err)
{
    struct stat info;
    if (fstat(fd, &info) != 0) {
        return err_set(err, ERR_IO, "tokens \"%s\": %s", path, strerror(errno));
    }
    if (!S_ISREG(info.st_mode)) {
        return err_set(err, ERR_IO, "tokens \"%s\": not a regular file", path);
    }
    if (info.st_uid != geteuid() && info.st_uid != 0) {
        return err_set(err, ERR_DENIED,
                       "tokens \"%s\": belongs to user %lu, expected the broker's own; "
                       "run: chown %lu %s",
                       path, (unsigned long)info.st_uid, (unsigned long)geteuid(),
                       path);
    }
    if ((info.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
        return err_set(err, ERR_DENIED,
                       "tokens \"%s\": mode %03o, others than its owner may use it; "
                       "run: chmod 600 %s, and replace the tokens if they were read",
                       path, (unsigned)(info.st_mode & 0777), path);
    }
    return 0;
}

static bool is_visible(const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text <= ' ' || *text > '~') {
            return false;
        }
    }
    return true;
}

static int take_line(struct tokens *tokens, const char *path, int line, char *text,
                     struct err *err)
{
    text[strcspn(text, "\r\n")] = '\0';
    if (text[0] == '\0' || text[0] == '#') {
        return 0;
    }
    size_t n_name = strcspn(text, " \t");
    char *token = text + n_name + strspn(text + n_name, " \t");
    bool is_named = *token != '\0';
    token = is_named ? token : text;
    size_t length = strlen(token);
    if (is_named && n_name >= TOKENS_NAME_SIZE) {
        return err_set(err, ERR_PARSE,
                       "tokens \"%s\": line %d, expected a name of at most %d "
                       "characters before the token",
                       path, line, TOKENS_NAME_SIZE - 1);
    }
    if (length < TOKENS_LENGTH_MIN || length > TOKENS_LENGTH_MAX ||
        !is_visible(token)) {
        return err_set(err, ERR_PARSE,
                       "tokens \"%s\": line %d, expected TOKEN or NAME TOKEN, with "
                       "a token of %d to %d visible characters; make one with: openssl "
                       "rand -hex 32",
                       path, line, TOKENS_LENGTH_MIN, TOKENS_LENGTH_MAX);
    }
    if (tokens->count == TOKENS_MAX) {
        return err_set(err, ERR_BOUNDS, "tokens \"%s\": more than %d tokens", path,
                       TOKENS_MAX);
    }
    char *name = tokens->names[tokens->count];
    snprintf(name, TOKENS_NAME_SIZE, "line %d", line);
    if (is_named) {
        memcpy(name, text, n_name);
        name[n_name] = '\0';
    }
    memcpy(tokens->rows[tokens->count++], token, length);
    return 0;
}

static int read_lines(struct tokens *tokens, FILE *file, const char *path,
                      struct err *err)
{
    /* A longer line is too long already. */
    char text[TOKENS_NAME_SIZE + TOKENS_LENGTH_MAX + 3];
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
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        return err_set(err, ERR_IO, "tokens \"%s\": %s", path, strerror(errno));
    }
    FILE *file = NULL;
    struct tokens *loaded = mem_alloc(1, sizeof(*loaded));
    int rc = check_file(fd, path, err);
    if (rc == 0) {
        file = fdopen(fd, "r");
        if (file == NULL) {
            abort(); /* out of memory */
        }
        setvbuf(file, NULL, _IONBF, 0); /* no copy is left in a buffer */
        rc = read_lines(loaded, file, path, err);
    }
    if (rc == 0) {
        *tokens = loaded;
    } else {
        tokens_free(loaded);
    }
    if (file != NULL) {
        fclose(file);
    } else {
        close(fd);
    }
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
const char *tokens_find(const struct tokens *tokens, const char *token)
{
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
    return found != 0 ? tokens->names[found - 1] : NULL;
}
