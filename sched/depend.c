/* SPDX-License-Identifier: Apache-2.0 */
/* depend.c: see depend.h. One reader walks a condition; what it does with each leaf is
 * its caller's: writing it with ids, judging it, collecting its jobs. A value has two
 * parts: what it is now, and whether that can change. "a && b" is false for good where
 * either is; it is met where both are true now. */
#include "sched/depend.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Elements that a range names: each is looked up whenever one of them changes. */
enum { ELEMENTS_MAX = 1000 };

enum leaf_kind {
    LEAF_DONE,
    LEAF_ENDED,
    LEAF_STARTED,
    LEAF_EXIT,
    LEAF_NUMDONE,
    LEAF_NUMENDED,
    LEAF_NUMEXIT,
    LEAF_NUMRUN,
    LEAF_NUMPEND,
    LEAF_NUMSTART,
    LEAVES
};

static const char *const leaf_names[LEAVES] = {
    "done",     "ended",   "started", "exit",    "numdone",
    "numended", "numexit", "numrun",  "numpend", "numstart",
};

enum compare {
    COMPARE_NONE,
    COMPARE_EQ,
    COMPARE_NE,
    COMPARE_LT,
    COMPARE_LE,
    COMPARE_GT,
    COMPARE_GE,
    COMPARE_ALL
};

/* Two letters before one. */
static const struct {
    const char *text;
    enum compare compare;
} compares[] = {
    {"==", COMPARE_EQ}, {"!=", COMPARE_NE}, {"<=", COMPARE_LE},
    {">=", COMPARE_GE}, {"<", COMPARE_LT},  {">", COMPARE_GT},
};

struct leaf {
    enum leaf_kind kind;
    const char *name; /* as written; its length */
    int name_length;
    uint64_t id; /* 0: the name is no id */
    bool has_index, is_same_index;
    int first, last; /* where it has an index */
    enum compare compare;
    int number;
    const char *args; /* for writing it again: from the "," on */
    int args_length;
};

struct value {
    bool is_true, is_final;
};

struct reader;
/* The value of a leaf; an error goes into the reader. */
typedef struct value (*leaf_fn)(struct reader *reader, const struct leaf *leaf);

struct reader {
    const char *text, *at;
    int depth;
    leaf_fn on_leaf;
    void *arg;
    struct err *err;
    int code;
    /* depend_resolve */
    struct arena *arena;
    depend_find_fn find;
    const char *out;
    /* depend_judge, depend_each */
    int own_index;
    depend_look_fn look;
    depend_each_fn each;
};

/* ---------------------------------------------------------------- reading */

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

static bool take(struct reader *reader, const char *token)
{
    skip_blanks(reader);
    size_t length = strlen(token);
    if (strncmp(reader->at, token, length) != 0) {
        return false;
    }
    reader->at += length;
    return true;
}

static void emit(struct reader *reader, const char *text, int length)
{
    if (reader->find != NULL) {
        reader->out = arena_printf(reader->arena, "%s%.*s", reader->out, length, text);
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
static void read_index(struct reader *reader, struct leaf *leaf)
{
    if (*reader->at != '[') {
        return;
    }
    reader->at++;
    leaf->has_index = true;
    if (take(reader, "*")) {
        leaf->is_same_index = true;
    } else if (!read_number(reader, &leaf->first) || leaf->first < 1) {
        fail(reader, "expected an index");
    } else {
        leaf->last = leaf->first;
        if (take(reader, "-") &&
            (!read_number(reader, &leaf->last) || leaf->last < leaf->first)) {
            fail(reader, "expected the last index");
        } else if (leaf->last - leaf->first >= ELEMENTS_MAX) {
            fail(reader, "too many elements, expected the whole array");
        }
    }
    if (!take(reader, "]")) {
        fail(reader, "expected ]");
    }
}

/* A job's id or name, with its index. */
static void read_job(struct reader *reader, struct leaf *leaf)
{
    skip_blanks(reader);
    bool is_quoted = *reader->at == '"' || *reader->at == '\'';
    if (is_quoted) {
        const char *end = strchr(reader->at + 1, *reader->at);
        const char *bracket;
        if (end == NULL) {
            fail(reader, "a quote that does not end");
            return;
        }
        leaf->name = reader->at + 1;
        bracket = memchr(leaf->name, '[', (size_t)(end - leaf->name));
        leaf->name_length = (int)((bracket != NULL ? bracket : end) - leaf->name);
        if (bracket != NULL) {
            reader->at = bracket;
            read_index(reader, leaf);
        } else {
            reader->at = end;
        }
        if (reader->code == 0 && reader->at != end) {
            fail(reader, "expected the name's end");
        }
        reader->at = end + 1;
    } else {
        leaf->name = reader->at;
        while (is_word(*reader->at)) {
            reader->at++;
        }
        reader->at += *reader->at == '*';
        leaf->name_length = (int)(reader->at - leaf->name);
        read_index(reader, leaf);
        char *end;
        leaf->id = strtoull(leaf->name, &end, 10);
        leaf->id = end == leaf->name + leaf->name_length ? leaf->id : 0;
    }
    if (leaf->name_length == 0) {
        fail(reader, "expected a job");
    }
}

/* ", >= 5". */
static void read_compare(struct reader *reader, struct leaf *leaf)
{
    bool is_count = leaf->kind >= LEAF_NUMDONE;
    skip_blanks(reader);
    leaf->args = reader->at;
    if (!take(reader, ",")) {
        if (is_count) {
            fail(reader, "expected , and a number");
        }
        return;
    }
    if (leaf->kind != LEAF_EXIT && !is_count) {
        fail(reader, "only exit and num... compare with a number");
        return;
    }
    leaf->compare = COMPARE_EQ;
    if (is_count && take(reader, "*")) {
        leaf->compare = COMPARE_ALL;
    } else {
        for (size_t i = 0; i < sizeof(compares) / sizeof(compares[0]); i++) {
            if (take(reader, compares[i].text)) {
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

/* "done(12)", or a job alone. */
static struct value read_leaf(struct reader *reader)
{
    static const char *const unbuilt[] = {"post_done", "post_err", "external",
                                          "numhold"};
    struct leaf leaf = {.kind = LEAF_DONE};
    struct value value = {false, false};
    const char *start = reader->at;
    size_t length = 0;
    while (isalpha((unsigned char)start[length]) || start[length] == '_') {
        length++;
    }
    const char *behind = start + length + strspn(start + length, " \t");
    if (length > 0 && *behind == '(') {
        int kind = 0;
        for (size_t i = 0; i < sizeof(unbuilt) / sizeof(unbuilt[0]); i++) {
            if (strlen(unbuilt[i]) == length &&
                strncmp(unbuilt[i], start, length) == 0) {
                fail(reader, "this kind of condition is not supported yet");
                return value;
            }
        }
        while (kind < LEAVES && (strlen(leaf_names[kind]) != length ||
                                 strncasecmp(leaf_names[kind], start, length) != 0)) {
            kind++;
        }
        if (kind == LEAVES) {
            fail(reader, "expected done, exit, ended, started or num...");
            return value;
        }
        leaf.kind = (enum leaf_kind)kind;
        reader->at = behind + 1;
        read_job(reader, &leaf);
        if (reader->code == 0) {
            read_compare(reader, &leaf);
        }
        if (reader->code == 0 && !take(reader, ")")) {
            fail(reader, "expected )");
        }
    } else {
        read_job(reader, &leaf);
    }
    return reader->code == 0 ? reader->on_leaf(reader, &leaf) : value;
}

static struct value read_either(struct reader *reader);

static struct value read_not(struct reader *reader)
{
    struct value value = {false, false};
    if (++reader->depth > DEPEND_DEPTH_MAX) {
        fail(reader, "too deep");
    } else if (take(reader, "!")) {
        emit(reader, "!", 1);
        value = read_not(reader);
        value.is_true = !value.is_true;
    } else if (take(reader, "(")) {
        emit(reader, "(", 1);
        value = read_either(reader);
        emit(reader, ")", 1);
        if (reader->code == 0 && !take(reader, ")")) {
            fail(reader, "expected )");
        }
    } else {
        value = read_leaf(reader);
    }
    reader->depth--;
    return value;
}

static struct value read_both(struct reader *reader)
{
    struct value value = read_not(reader);
    while (reader->code == 0 && take(reader, "&&")) {
        emit(reader, " && ", 4);
        struct value other = read_not(reader);
        value = (struct value){
            .is_true = value.is_true && other.is_true,
            .is_final = (value.is_final && other.is_final) ||
                        (value.is_final && !value.is_true) ||
                        (other.is_final && !other.is_true),
        };
    }
    return value;
}

static struct value read_either(struct reader *reader)
{
    struct value value = read_both(reader);
    while (reader->code == 0 && take(reader, "||")) {
        emit(reader, " || ", 4);
        struct value other = read_both(reader);
        value = (struct value){
            .is_true = value.is_true || other.is_true,
            .is_final = (value.is_final && other.is_final) ||
                        (value.is_final && value.is_true) ||
                        (other.is_final && other.is_true),
        };
    }
    return value;
}

static struct value read_all(struct reader *reader)
{
    reader->at = reader->text;
    struct value value = read_either(reader);
    skip_blanks(reader);
    if (reader->code == 0 && *reader->at != '\0') {
        fail(reader, "expected &&, || or the end");
    }
    return value;
}

/* ---------------------------------------------------------------- resolving */

static struct value write_leaf(struct reader *reader, const struct leaf *leaf)
{
    struct arena *arena = reader->arena;
    const char *name = arena_strn(arena, leaf->name, (size_t)leaf->name_length);
    const uint64_t *ids;
    const char *index = "";
    const char *out = "";
    struct value value = {false, false};
    int n_ids = reader->find(reader->arg, name, &ids);
    if (n_ids == 0) {
        reader->code =
            err_set(reader->err, ERR_NOT_FOUND,
                    "Bad dependency condition: %s: No matching job found", name);
        return value;
    }
    if (leaf->is_same_index) {
        index = "[*]";
    } else if (leaf->has_index) {
        index = leaf->first == leaf->last
                    ? arena_printf(arena, "[%d]", leaf->first)
                    : arena_printf(arena, "[%d-%d]", leaf->first, leaf->last);
    }
    for (int i = 0; i < n_ids; i++) {
        out = arena_printf(arena, "%s%s%s(%llu%s%.*s)", out, i > 0 ? " && " : "",
                           leaf_names[leaf->kind], (unsigned long long)ids[i], index,
                           leaf->args_length, leaf->args != NULL ? leaf->args : "");
        if (strlen(out) > DEPEND_TEXT_MAX) {
            reader->code = err_set(reader->err, ERR_BOUNDS,
                                   "Bad dependency condition: %s names too many jobs, "
                                   "name them by an array",
                                   name);
            return value;
        }
    }
    out = n_ids > 1 ? arena_printf(arena, "(%s)", out) : out;
    emit(reader, out, (int)strlen(out));
    return value;
}

int depend_resolve(struct arena *arena, const char *text, depend_find_fn find,
                   void *arg, const char **resolved, struct err *err)
{
    struct reader reader = {.text = text,
                            .on_leaf = write_leaf,
                            .arg = arg,
                            .err = err,
                            .arena = arena,
                            .find = find,
                            .out = ""};
    if (strlen(text) > DEPEND_TEXT_MAX) {
        return err_set(err, ERR_BOUNDS,
                       "Bad dependency condition: %zu characters, at most %d",
                       strlen(text), DEPEND_TEXT_MAX);
    }
    read_all(&reader);
    if (reader.code == 0 && strlen(reader.out) > DEPEND_TEXT_MAX) {
        return err_set(err, ERR_BOUNDS,
                       "Bad dependency condition: it names too many jobs");
    }
    *resolved = reader.out;
    return reader.code;
}

/* ---------------------------------------------------------------- judging */

static void add_facts(struct depend_facts *sum, const struct depend_facts *more)
{
    if (sum->n_exit == 0 || (more->n_exit > 0 && more->min_code < sum->min_code)) {
        sum->min_code = more->min_code;
    }
    if (sum->n_exit == 0 || (more->n_exit > 0 && more->max_code > sum->max_code)) {
        sum->max_code = more->max_code;
    }
    sum->n_jobs += more->n_jobs;
    sum->n_pend += more->n_pend;
    sum->n_run += more->n_run;
    sum->n_done += more->n_done;
    sum->n_exit += more->n_exit;
    sum->n_unbegun += more->n_unbegun;
}

/* False where one of those that it speaks of is not known. */
static bool look_at(struct reader *reader, const struct leaf *leaf,
                    struct depend_facts *facts)
{
    memset(facts, 0, sizeof(*facts));
    if (!leaf->has_index) {
        reader->look(reader->arg, leaf->id, DEPEND_WHOLE, facts);
        return facts->n_jobs > 0;
    }
    int first = leaf->is_same_index ? reader->own_index : leaf->first;
    int last = leaf->is_same_index ? reader->own_index : leaf->last;
    for (int index = first; index <= last; index++) {
        struct depend_facts one = {0};
        reader->look(reader->arg, leaf->id, index, &one);
        if (one.n_jobs == 0) {
            return false;
        }
        add_facts(facts, &one);
    }
    return true;
}

static bool holds(enum compare compare, int a, int b)
{
    switch (compare) {
    case COMPARE_EQ:
        return a == b;
    case COMPARE_NE:
        return a != b;
    case COMPARE_LT:
        return a < b;
    case COMPARE_LE:
        return a <= b;
    case COMPARE_GT:
        return a > b;
    case COMPARE_GE:
        return a >= b;
    case COMPARE_NONE:
    case COMPARE_ALL:
        break;
    }
    return true;
}

/* All the codes between the two. Of "!=" both ends speak for all only where they are
 * one; several codes around it do not matter to anyone who asks for it. */
static bool codes_hold(const struct leaf *leaf, const struct depend_facts *facts)
{
    return leaf->compare == COMPARE_NONE ||
           (holds(leaf->compare, facts->min_code, leaf->number) &&
            holds(leaf->compare, facts->max_code, leaf->number));
}

static int count_of(enum leaf_kind kind, const struct depend_facts *facts)
{
    switch (kind) {
    case LEAF_NUMDONE:
        return facts->n_done;
    case LEAF_NUMENDED:
        return facts->n_done + facts->n_exit;
    case LEAF_NUMEXIT:
        return facts->n_exit;
    case LEAF_NUMRUN:
        return facts->n_run;
    case LEAF_NUMPEND:
        return facts->n_pend;
    case LEAF_NUMSTART:
        return facts->n_run + facts->n_done + facts->n_exit - facts->n_unbegun;
    case LEAF_DONE:
    case LEAF_ENDED:
    case LEAF_STARTED:
    case LEAF_EXIT:
    case LEAVES:
        break;
    }
    return 0;
}

static struct value judge_leaf(struct reader *reader, const struct leaf *leaf)
{
    struct depend_facts facts;
    if (!look_at(reader, leaf, &facts)) {
        return (struct value){false, true};
    }
    int n_ended = facts.n_done + facts.n_exit;
    bool is_over = n_ended == facts.n_jobs;
    bool codes_fit = codes_hold(leaf, &facts);
    switch (leaf->kind) {
    case LEAF_DONE:
        return (struct value){facts.n_done == facts.n_jobs,
                              is_over || facts.n_exit > 0};
    case LEAF_ENDED:
        return (struct value){is_over, is_over};
    case LEAF_STARTED:
        return (struct value){
            facts.n_run + n_ended - facts.n_unbegun == facts.n_jobs,
            is_over || facts.n_unbegun > 0,
        };
    case LEAF_EXIT:
        return (struct value){
            facts.n_exit == facts.n_jobs && codes_fit,
            is_over || facts.n_done > 0 || (facts.n_exit > 0 && !codes_fit),
        };
    case LEAF_NUMDONE:
    case LEAF_NUMENDED:
    case LEAF_NUMEXIT:
    case LEAF_NUMRUN:
    case LEAF_NUMPEND:
    case LEAF_NUMSTART:
    case LEAVES:
        break;
    }
    int number = leaf->compare == COMPARE_ALL ? facts.n_jobs : leaf->number;
    enum compare compare = leaf->compare == COMPARE_ALL ? COMPARE_EQ : leaf->compare;
    return (struct value){holds(compare, count_of(leaf->kind, &facts), number),
                          is_over};
}

enum depend_verdict depend_judge(const char *resolved, int own_index,
                                 depend_look_fn look, void *arg)
{
    struct reader reader = {.text = resolved,
                            .on_leaf = judge_leaf,
                            .arg = arg,
                            .own_index = own_index,
                            .look = look};
    struct value value = read_all(&reader);
    if (reader.code != 0) {
        return DEPEND_NEVER;
    }
    return value.is_true ? DEPEND_MET : value.is_final ? DEPEND_NEVER : DEPEND_WAITS;
}

/* ---------------------------------------------------------------- collecting */

static struct value tell_leaf(struct reader *reader, const struct leaf *leaf)
{
    bool is_one = leaf->has_index && (leaf->is_same_index || leaf->first == leaf->last);
    int index = leaf->is_same_index ? reader->own_index : leaf->first;
    reader->each(reader->arg, leaf->id, is_one ? index : DEPEND_WHOLE);
    return (struct value){false, false};
}

void depend_each(const char *resolved, int own_index, depend_each_fn each, void *arg)
{
    struct reader reader = {.text = resolved,
                            .on_leaf = tell_leaf,
                            .arg = arg,
                            .own_index = own_index,
                            .each = each};
    read_all(&reader);
}
