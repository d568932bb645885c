/* SPDX-License-Identifier: Apache-2.0 */
/* depend_parse.c: see depend_parse.h.
 *
 *     either := both { "||" both }        both := not { "&&" not }
 *     not    := "!" not | "(" either ")" | leaf
 *     leaf   := [ kind "(" ] job [ "," [ compare ] number ")" ] */
#include "sched/pending/depend_parse.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "sched/pending/pending.h"

/* Elements in one range: each is looked up whenever one of them changes. */
enum { ELEMENTS_MAX = 1000 };

struct reader {
    const char *text, *at;
    int depth;
    const struct depend_walker *walker;
    struct err *err;
    int code;
};

static const char *const kind_names[DEPEND_KINDS] = {
    "done",    "ended",    "started", "exit",   "post_done", "post_err",
    "numdone", "numended", "numexit", "numrun", "numpend",   "numstart",
};

const char *depend_parse_kind_name(enum depend_kind kind)
{
    return kind_names[kind];
}

/* Longer operators come first. */
static const struct {
    const char *text;
    enum depend_compare compare;
} compares[] = {
    {"==", DEPEND_EQ}, {"!=", DEPEND_NE}, {"<=", DEPEND_LE},
    {">=", DEPEND_GE}, {"<", DEPEND_LT},  {">", DEPEND_GT},
};

/* ---------------------------------------------------------------- words */

static void fail(struct reader *reader, const char *what)
{
    if (reader->code == 0) {
        reader->code =
            err_set(reader->err, ERR_PARSE,
                    "Bad dependency condition: %s at character %d of \"%s\"", what,
                    (int)(reader->at - reader->text) + 1, reader->text);
    }
}

static void skip_blanks(struct reader *reader)
{
    while (isspace((unsigned char)*reader->at)) {
        reader->at++;
    }
}

static bool accept(struct reader *reader, const char *token)
{
    skip_blanks(reader);
    size_t length = strlen(token);
    if (strncmp(reader->at, token, length) != 0) {
        return false;
    }
    reader->at += length;
    return true;
}

static void report_sign(struct reader *reader, const char *sign)
{
    if (reader->walker->on_sign != NULL) {
        reader->walker->on_sign(reader->walker->arg, sign);
    }
}

static bool is_word(char c)
{
    return c != '\0' && (isalnum((unsigned char)c) || strchr("_.-/", c) != NULL);
}

static bool read_number(struct reader *reader, int *number)
{
    int64_t sum = 0;
    skip_blanks(reader);
    if (!isdigit((unsigned char)*reader->at)) {
        return false;
    }
    for (; isdigit((unsigned char)*reader->at); reader->at++) {
        sum = sum > INT_MAX / 10 ? INT_MAX : sum * 10 + (*reader->at - '0');
    }
    *number = sum > INT_MAX ? INT_MAX : (int)sum;
    return true;
}

/* "[3]", "[1-5]", "[*]" behind a job. */
static void read_index(struct reader *reader, struct depend_leaf *leaf)
{
    if (*reader->at != '[') {
        return;
    }
    reader->at++;
    leaf->has_index = true;
    if (accept(reader, "*")) {
        leaf->is_same_index = true;
    } else if (!read_number(reader, &leaf->first) || leaf->first < 1) {
        fail(reader, "expected an index");
    } else {
        leaf->last = leaf->first;
        if (accept(reader, "-") &&
            (!read_number(reader, &leaf->last) || leaf->last < leaf->first)) {
            fail(reader, "expected the last index");
        } else if (leaf->last - leaf->first >= ELEMENTS_MAX) {
            fail(reader, "too many elements, expected the whole array");
        }
    }
    if (!accept(reader, "]")) {
        fail(reader, "expected ]");
    }
}

/* "prep[1-5]": the quotes are around both. */
static void read_quoted(struct reader *reader, struct depend_leaf *leaf)
{
    const char *end = strchr(reader->at + 1, *reader->at);
    if (end == NULL) {
        fail(reader, "a quote that does not end");
        return;
    }
    leaf->name = reader->at + 1;
    const char *bracket = memchr(leaf->name, '[', (size_t)(end - leaf->name));
    leaf->name_length = (int)((bracket != NULL ? bracket : end) - leaf->name);
    reader->at = bracket != NULL ? bracket : end;
    if (bracket != NULL) {
        read_index(reader, leaf);
    }
    if (reader->code == 0 && reader->at != end) {
        fail(reader, "expected the name's end");
    }
    reader->at = end + 1;
}

static void read_plain(struct reader *reader, struct depend_leaf *leaf)
{
    char *end;
    leaf->name = reader->at;
    while (is_word(*reader->at)) {
        reader->at++;
    }
    reader->at += *reader->at == '*';
    leaf->name_length = (int)(reader->at - leaf->name);
    read_index(reader, leaf);
    leaf->id = strtoull(leaf->name, &end, 10);
    leaf->id = end == leaf->name + leaf->name_length ? leaf->id : 0;
}

/* A job's id or name, with its index. */
static void read_job(struct reader *reader, struct depend_leaf *leaf)
{
    skip_blanks(reader);
    if (*reader->at == '"' || *reader->at == '\'') {
        read_quoted(reader, leaf);
    } else {
        read_plain(reader, leaf);
    }
    if (leaf->name_length == 0) {
        fail(reader, "expected a job");
    }
}

/* ", >= 5". */
static void read_compare(struct reader *reader, struct depend_leaf *leaf)
{
    bool is_count = leaf->kind >= DEPEND_NUMDONE;
    skip_blanks(reader);
    leaf->args = reader->at;
    if (!accept(reader, ",")) {
        if (is_count) {
            fail(reader, "expected , and a number");
        }
        return;
    }
    if (leaf->kind != DEPEND_EXIT && !is_count) {
        fail(reader, "only exit and num... compare with a number");
        return;
    }
    leaf->compare = DEPEND_EQ;
    if (is_count && accept(reader, "*")) {
        leaf->compare = DEPEND_ALL;
    } else {
        for (size_t i = 0; i < sizeof(compares) / sizeof(compares[0]); i++) {
            if (accept(reader, compares[i].text)) {
                leaf->compare = compares[i].compare;
                break;
            }
        }
        if (!read_number(reader, &leaf->number)) {
            fail(reader, "expected a number");
        }
    }
    leaf->args_length = (int)(reader->at - leaf->args);
}

/* The word as a kind of condition; DEPEND_KINDS: it is none. */
static enum depend_kind find_kind(struct reader *reader, const char *word,
                                  size_t length)
{
    static const char *const unbuilt[] = {"external", "numhold"};
    int kind = 0;
    for (size_t i = 0; i < sizeof(unbuilt) / sizeof(unbuilt[0]); i++) {
        if (strlen(unbuilt[i]) == length && strncmp(unbuilt[i], word, length) == 0) {
            fail(reader, "this kind of condition is not supported yet");
        }
    }
    while (kind < DEPEND_KINDS && (strlen(kind_names[kind]) != length ||
                                   strncasecmp(kind_names[kind], word, length) != 0)) {
        kind++;
    }
    if (kind == DEPEND_KINDS) {
        fail(reader,
             "expected done, exit, ended, started, post_done, post_err or num...");
    }
    return (enum depend_kind)kind;
}

/* Reads what follows "done(". */
static void read_call(struct reader *reader, struct depend_leaf *leaf)
{
    read_job(reader, leaf);
    if (reader->code == 0) {
        read_compare(reader, leaf);
    }
    if (reader->code == 0 && !accept(reader, ")")) {
        fail(reader, "expected )");
    }
}

/* "done(12)", or a job alone. */
static struct depend_value read_leaf(struct reader *reader)
{
    struct depend_leaf leaf = {.kind = DEPEND_DONE};
    struct depend_value value = {false, false};
    const char *start = reader->at;
    size_t length = 0;
    while (isalpha((unsigned char)start[length]) || start[length] == '_') {
        length++;
    }
    const char *behind = start + length + strspn(start + length, " \t");
    if (length > 0 && *behind == '(') {
        leaf.kind = find_kind(reader, start, length);
        reader->at = reader->code == 0 ? behind + 1 : reader->at;
        if (reader->code == 0) {
            read_call(reader, &leaf);
        }
    } else {
        read_job(reader, &leaf);
    }
    if (reader->code == 0) {
        reader->code =
            reader->walker->on_leaf(reader->walker->arg, &leaf, &value, reader->err);
    }
    return value;
}

static struct depend_value read_either(struct reader *reader);

static struct depend_value read_not(struct reader *reader)
{
    struct depend_value value = {false, false};
    if (++reader->depth > DEPEND_DEPTH_MAX) {
        fail(reader, "too deep");
    } else if (accept(reader, "!")) {
        report_sign(reader, "!");
        value = read_not(reader);
        value.is_true = !value.is_true;
    } else if (accept(reader, "(")) {
        report_sign(reader, "(");
        value = read_either(reader);
        report_sign(reader, ")");
        if (reader->code == 0 && !accept(reader, ")")) {
            fail(reader, "expected )");
        }
    } else {
        value = read_leaf(reader);
    }
    reader->depth--;
    return value;
}

/* Joins two values by && or ||. One value decides the result alone if it is final: for
 * && a false one, for || a true one. */
static struct depend_value join(struct depend_value a, struct depend_value b,
                                bool is_and)
{
    return (struct depend_value){
        .is_true = is_and ? a.is_true && b.is_true : a.is_true || b.is_true,
        .is_final = (a.is_final && b.is_final) || (a.is_final && a.is_true != is_and) ||
                    (b.is_final && b.is_true != is_and),
    };
}

static struct depend_value read_both(struct reader *reader)
{
    struct depend_value value = read_not(reader);
    while (reader->code == 0 && accept(reader, "&&")) {
        report_sign(reader, " && ");
        value = join(value, read_not(reader), true);
    }
    return value;
}

static struct depend_value read_either(struct reader *reader)
{
    struct depend_value value = read_both(reader);
    while (reader->code == 0 && accept(reader, "||")) {
        report_sign(reader, " || ");
        value = join(value, read_both(reader), false);
    }
    return value;
}

int depend_parse(const char *text, const struct depend_walker *walker,
                 struct depend_value *value, struct err *err)
{
    struct reader reader = {.text = text, .at = text, .walker = walker, .err = err};
    *value = read_either(&reader);
    skip_blanks(&reader);
    if (reader.code == 0 && *reader.at != '\0') {
        fail(&reader, "expected &&, || or the end");
    }
    return reader.code;
}
