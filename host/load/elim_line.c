/* SPDX-License-Identifier: Apache-2.0 */
/* elim_line.c: see elim_line.h. */
#include "host/load/elim_line.h"

#include <inttypes.h>
#include <string.h>

#include "base/bounds.h"
#include "base/conf/conf.h"

enum { SHOWN = 40 }; /* of a wrong word, in an error text */

static const char blanks[] = " \t\r";

/* Returns the next word, terminated by a NUL; NULL: none. */
static char *take_word(char **rest)
{
    char *word = *rest + strspn(*rest, blanks);
    if (*word == '\0') {
        return NULL;
    }
    char *end = word + strcspn(word, blanks);
    *rest = *end != '\0' ? end + 1 : end;
    *end = '\0';
    return word;
}

static int check_value(const char *name, const char *value, struct err *err)
{
    size_t length = strlen(value);
    if (length >= LOAD_VALUE_SIZE) {
        return err_set(err, ERR_BOUNDS,
                       "the value of \"%s\" has %zu bytes, expected at most %d", name,
                       length, LOAD_VALUE_SIZE - 1);
    }
    for (size_t i = 0; i < length; i++) {
        if (value[i] <= ' ' || value[i] >= 0x7f) {
            return err_set(err, ERR_PARSE, "the value of \"%s\" is not printable ASCII",
                           name);
        }
    }
    return ERR_NONE;
}

static int take_pair(char **rest, const struct elim_pair *before, int n_before,
                     struct elim_pair *pair, struct err *err)
{
    pair->name = take_word(rest);
    pair->value = take_word(rest);
    if (pair->name == NULL || pair->value == NULL) {
        return err_set(err, ERR_PARSE, "only %d %s, expected as many as it says",
                       n_before, n_before == 1 ? "pair" : "pairs");
    }
    int code = conf_parse_resource(pair->name, err);
    if (code == ERR_NONE) {
        code = check_value(pair->name, pair->value, err);
    }
    for (int i = 0; code == ERR_NONE && i < n_before; i++) {
        if (strcmp(before[i].name, pair->name) == 0) {
            code =
                err_set(err, ERR_PARSE, "\"%s\" twice, expected each once", pair->name);
        }
    }
    if (code == ERR_NONE && strcmp(pair->value, "-") == 0) {
        pair->value = NULL;
    }
    return code;
}

int elim_line_parse(char *line, size_t length, struct elim_pair *pairs, int *n_pairs,
                    struct err *err)
{
    char *rest = line;
    int64_t count;
    if (memchr(line, '\0', length) != NULL) {
        return err_set(err, ERR_PARSE, "a NUL in the line");
    }
    char *word = take_word(&rest);
    if (word == NULL || conf_parse_int(word, 0, ELIM_PAIRS_MAX, &count, NULL) != 0) {
        return err_set(err, ERR_PARSE, "\"%.*s\" first, expected the number of pairs",
                       SHOWN, word != NULL ? word : "");
    }
    for (int i = 0; i < count; i++) {
        int code = take_pair(&rest, pairs, i, &pairs[i], err);
        if (code != ERR_NONE) {
            return code;
        }
    }
    word = take_word(&rest);
    if (word != NULL) {
        return err_set(err, ERR_PARSE, "\"%.*s\" behind the last of %" PRId64 " pairs",
                       SHOWN, word, count);
    }
    *n_pairs = (int)count;
    return ERR_NONE;
}
