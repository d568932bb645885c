/* SPDX-License-Identifier: Apache-2.0 */
/* depend.c: see depend.h. Three readers of the same walk (depend_parse.h): one writes a
 * condition with ids, one judges it, one collects its jobs. */
#include "sched/pending/depend.h"

#include <string.h>

#include "sched/pending/depend_parse.h"

/* ---------------------------------------------------------------- resolving */

struct writer {
    struct arena *arena;
    depend_find_fn find;
    void *arg;
    const char *out;
};

static void write_sign(void *arg, const char *sign)
{
    struct writer *writer = arg;
    writer->out = arena_printf(writer->arena, "%s%s", writer->out, sign);
}

/* "[3]", "[1-5]", "[*]", or nothing. */
static const char *index_text(struct arena *arena, const struct depend_leaf *leaf)
{
    if (leaf->is_same_index) {
        return "[*]";
    }
    if (!leaf->has_index) {
        return "";
    }
    return leaf->first == leaf->last
               ? arena_printf(arena, "[%d]", leaf->first)
               : arena_printf(arena, "[%d-%d]", leaf->first, leaf->last);
}

static int write_leaf(void *arg, const struct depend_leaf *leaf,
                      struct depend_value *value, struct err *err)
{
    struct writer *writer = arg;
    struct arena *arena = writer->arena;
    const char *name = arena_strn(arena, leaf->name, (size_t)leaf->name_length);
    const char *index = index_text(arena, leaf), *out = "";
    const uint64_t *ids;
    int n_ids = writer->find(writer->arg, name, &ids);
    *value = (struct depend_value){false, false};
    if (n_ids == 0) {
        return err_set(err, ERR_NOT_FOUND,
                       "Bad dependency condition: %s: No matching job found", name);
    }
    for (int i = 0; i < n_ids; i++) {
        out = arena_printf(arena, "%s%s%s(%llu%s%.*s)", out, i > 0 ? " && " : "",
                           depend_parse_kind_name(leaf->kind),
                           (unsigned long long)ids[i], index, leaf->args_length,
                           leaf->args != NULL ? leaf->args : "");
        if (strlen(out) > DEPEND_TEXT_MAX) {
            return err_set(err, ERR_BOUNDS,
                           "Bad dependency condition: %s names too many jobs, name "
                           "them by an array",
                           name);
        }
    }
    write_sign(writer, n_ids > 1 ? arena_printf(arena, "(%s)", out) : out);
    return 0;
}

int depend_resolve(struct arena *arena, const char *text, depend_find_fn find,
                   void *arg, const char **resolved, struct err *err)
{
    struct writer writer = {.arena = arena, .find = find, .arg = arg, .out = ""};
    struct depend_walker walker = {write_leaf, write_sign, &writer};
    struct depend_value value;
    if (strlen(text) > DEPEND_TEXT_MAX) {
        return err_set(err, ERR_BOUNDS,
                       "Bad dependency condition: %zu characters, at most %d",
                       strlen(text), DEPEND_TEXT_MAX);
    }
    int code = depend_parse(text, &walker, &value, err);
    if (code == 0 && strlen(writer.out) > DEPEND_TEXT_MAX) {
        return err_set(err, ERR_BOUNDS,
                       "Bad dependency condition: it names too many jobs");
    }
    *resolved = writer.out;
    return code;
}

/* ---------------------------------------------------------------- judging */

struct judge {
    int own_index;
    depend_look_fn look;
    void *arg;
};

static void add_facts(struct depend_counts *sum, const struct depend_counts *more)
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
static bool look_at(const struct judge *judge, const struct depend_leaf *leaf,
                    struct depend_counts *facts)
{
    memset(facts, 0, sizeof(*facts));
    if (!leaf->has_index) {
        judge->look(judge->arg, leaf->id, DEPEND_ARRAY, facts);
        return facts->n_jobs > 0;
    }
    int first = leaf->is_same_index ? judge->own_index : leaf->first;
    int last = leaf->is_same_index ? judge->own_index : leaf->last;
    for (int index = first; index <= last; index++) {
        struct depend_counts one = {0};
        judge->look(judge->arg, leaf->id, index, &one);
        if (one.n_jobs == 0) {
            return false;
        }
        add_facts(facts, &one);
    }
    return true;
}

static bool holds(enum depend_compare compare, int a, int b)
{
    switch (compare) {
    case DEPEND_EQ:
        return a == b;
    case DEPEND_NE:
        return a != b;
    case DEPEND_LT:
        return a < b;
    case DEPEND_LE:
        return a <= b;
    case DEPEND_GT:
        return a > b;
    case DEPEND_GE:
        return a >= b;
    case DEPEND_ANY:
    case DEPEND_ALL:
        break;
    }
    return true;
}

/* All the codes between the two. Of "!=" both ends speak for all only where they are
 * one; several codes around it do not matter to anyone who asks for it. */
static bool codes_hold(const struct depend_leaf *leaf,
                       const struct depend_counts *facts)
{
    return leaf->compare == DEPEND_ANY ||
           (holds(leaf->compare, facts->min_code, leaf->number) &&
            holds(leaf->compare, facts->max_code, leaf->number));
}

static int count_of(enum depend_kind kind, const struct depend_counts *facts)
{
    switch (kind) {
    case DEPEND_NUMDONE:
        return facts->n_done;
    case DEPEND_NUMENDED:
        return facts->n_done + facts->n_exit;
    case DEPEND_NUMEXIT:
        return facts->n_exit;
    case DEPEND_NUMRUN:
        return facts->n_run;
    case DEPEND_NUMPEND:
        return facts->n_pend;
    case DEPEND_NUMSTART:
        return facts->n_run + facts->n_done + facts->n_exit - facts->n_unbegun;
    case DEPEND_DONE:
    case DEPEND_ENDED:
    case DEPEND_STARTED:
    case DEPEND_EXIT:
    case DEPEND_KINDS:
        break;
    }
    return 0;
}

static struct depend_value value_of(const struct depend_leaf *leaf,
                                    const struct depend_counts *facts)
{
    int n_ended = facts->n_done + facts->n_exit;
    bool is_over = n_ended == facts->n_jobs;
    bool codes_fit = codes_hold(leaf, facts);
    switch (leaf->kind) {
    case DEPEND_DONE:
        return (struct depend_value){facts->n_done == facts->n_jobs,
                                     is_over || facts->n_exit > 0};
    case DEPEND_ENDED:
        return (struct depend_value){is_over, is_over};
    case DEPEND_STARTED:
        return (struct depend_value){
            facts->n_run + n_ended - facts->n_unbegun == facts->n_jobs,
            is_over || facts->n_unbegun > 0,
        };
    case DEPEND_EXIT:
        return (struct depend_value){
            facts->n_exit == facts->n_jobs && codes_fit,
            is_over || facts->n_done > 0 || (facts->n_exit > 0 && !codes_fit),
        };
    case DEPEND_NUMDONE:
    case DEPEND_NUMENDED:
    case DEPEND_NUMEXIT:
    case DEPEND_NUMRUN:
    case DEPEND_NUMPEND:
    case DEPEND_NUMSTART:
    case DEPEND_KINDS:
        break;
    }
    bool is_all = leaf->compare == DEPEND_ALL;
    return (struct depend_value){holds(is_all ? DEPEND_EQ : leaf->compare,
                                       count_of(leaf->kind, facts),
                                       is_all ? facts->n_jobs : leaf->number),
                                 is_over};
}

static int judge_leaf(void *arg, const struct depend_leaf *leaf,
                      struct depend_value *value, struct err *err)
{
    const struct judge *judge = arg;
    struct depend_counts facts;
    (void)err;
    *value = look_at(judge, leaf, &facts) ? value_of(leaf, &facts)
                                          : (struct depend_value){false, true};
    return 0;
}

enum depend_verdict depend_evaluate(const char *resolved, int own_index,
                                    depend_look_fn look, void *arg)
{
    struct judge judge = {.own_index = own_index, .look = look, .arg = arg};
    struct depend_walker walker = {.on_leaf = judge_leaf, .arg = &judge};
    struct depend_value value;
    if (depend_parse(resolved, &walker, &value, NULL) != 0) {
        return DEPEND_NEVER;
    }
    return value.is_true ? DEPEND_MET : value.is_final ? DEPEND_NEVER : DEPEND_PENDING;
}

/* ---------------------------------------------------------------- collecting */

struct teller {
    int own_index;
    depend_visit_fn each;
    void *arg;
};

static int tell_leaf(void *arg, const struct depend_leaf *leaf,
                     struct depend_value *value, struct err *err)
{
    const struct teller *teller = arg;
    bool is_one = leaf->has_index && (leaf->is_same_index || leaf->first == leaf->last);
    int index = leaf->is_same_index ? teller->own_index : leaf->first;
    (void)err;
    teller->each(teller->arg, leaf->id, is_one ? index : DEPEND_ARRAY);
    *value = (struct depend_value){false, false};
    return 0;
}

void depend_visit(const char *resolved, int own_index, depend_visit_fn each, void *arg)
{
    struct teller teller = {.own_index = own_index, .each = each, .arg = arg};
    struct depend_walker walker = {.on_leaf = tell_leaf, .arg = &teller};
    struct depend_value value;
    int code = depend_parse(resolved, &walker, &value, NULL);
    (void)code; /* it was written by depend_resolve; else what could be read was told */
}
