/* SPDX-License-Identifier: Apache-2.0 */
/* depend.c: see pending.h. Three uses of the same parser (depend_parse.h): one writes a
 * condition with ids, one evaluates it, one visits its jobs. */
#include "sched/pending/pending.h"

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

/* ---------------------------------------------------------------- evaluating */

struct evaluation {
    int own_index;
    depend_look_fn look;
    void *arg;
};

static void add_counts(struct depend_counts *sum, const struct depend_counts *more)
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
    sum->n_never_started += more->n_never_started;
    sum->n_post_done += more->n_post_done;
    sum->n_post_err += more->n_post_err;
}

/* False if one of the jobs does not exist. */
static bool collect_counts(const struct evaluation *evaluation,
                           const struct depend_leaf *leaf, struct depend_counts *counts)
{
    memset(counts, 0, sizeof(*counts));
    if (!leaf->has_index) {
        evaluation->look(evaluation->arg, leaf->id, DEPEND_ARRAY, counts);
        return counts->n_jobs > 0;
    }
    int first = leaf->is_same_index ? evaluation->own_index : leaf->first;
    int last = leaf->is_same_index ? evaluation->own_index : leaf->last;
    for (int index = first; index <= last; index++) {
        struct depend_counts one = {0};
        evaluation->look(evaluation->arg, leaf->id, index, &one);
        if (one.n_jobs == 0) {
            return false;
        }
        add_counts(counts, &one);
    }
    return true;
}

static bool holds(enum depend_compare compare, int a, int b)
{
    const bool results[] = {
        [DEPEND_ANY] = true,
        [DEPEND_EQ] = a == b,
        [DEPEND_NE] = a != b,
        [DEPEND_LT] = a<b, [DEPEND_LE] = a <= b, [DEPEND_GT] = a> b,
        [DEPEND_GE] = a >= b,
        [DEPEND_ALL] = true,
    };
    return results[compare];
}

/* True if all exit codes fit. Only the least and the greatest code are known, so "!="
 * is met if both differ from the number. */
static bool codes_hold(const struct depend_leaf *leaf,
                       const struct depend_counts *counts)
{
    return leaf->compare == DEPEND_ANY ||
           (holds(leaf->compare, counts->min_code, leaf->number) &&
            holds(leaf->compare, counts->max_code, leaf->number));
}

static struct depend_value evaluate_counts(const struct depend_leaf *leaf,
                                           const struct depend_counts *counts)
{
    int n_jobs = counts->n_jobs, n_ended = counts->n_done + counts->n_exit;
    int n_started = counts->n_run + n_ended - counts->n_never_started;
    bool is_over = n_ended == n_jobs, is_all = leaf->compare == DEPEND_ALL;
    bool codes_fit = codes_hold(leaf, counts);
    const struct depend_value values[] = {
        [DEPEND_DONE] = {counts->n_done == n_jobs, is_over || counts->n_exit > 0},
        [DEPEND_ENDED] = {is_over, is_over},
        [DEPEND_STARTED] = {n_started == n_jobs,
                            is_over || counts->n_never_started > 0},
        [DEPEND_EXIT] = {counts->n_exit == n_jobs && codes_fit,
                         is_over || counts->n_done > 0 ||
                             (counts->n_exit > 0 && !codes_fit)},
        [DEPEND_POST_DONE] = {counts->n_post_done == n_jobs,
                              is_over || n_ended > counts->n_post_done},
        [DEPEND_POST_ERR] = {counts->n_post_err == n_jobs,
                             is_over || n_ended > counts->n_post_err},
    };
    const int numbers[DEPEND_KINDS] = {
        [DEPEND_NUMDONE] = counts->n_done, [DEPEND_NUMENDED] = n_ended,
        [DEPEND_NUMEXIT] = counts->n_exit, [DEPEND_NUMRUN] = counts->n_run,
        [DEPEND_NUMPEND] = counts->n_pend, [DEPEND_NUMSTART] = n_started,
    };
    if (leaf->kind < DEPEND_NUMDONE) {
        return values[leaf->kind];
    }
    return (struct depend_value){holds(is_all ? DEPEND_EQ : leaf->compare,
                                       numbers[leaf->kind],
                                       is_all ? n_jobs : leaf->number),
                                 is_over};
}

static int evaluate_leaf(void *arg, const struct depend_leaf *leaf,
                         struct depend_value *value, struct err *err)
{
    const struct evaluation *evaluation = arg;
    struct depend_counts counts;
    (void)err;
    *value = collect_counts(evaluation, leaf, &counts)
                 ? evaluate_counts(leaf, &counts)
                 : (struct depend_value){false, true};
    return 0;
}

enum depend_verdict depend_evaluate(const char *resolved, int own_index,
                                    depend_look_fn look, void *arg)
{
    struct evaluation evaluation = {.own_index = own_index, .look = look, .arg = arg};
    struct depend_walker walker = {.on_leaf = evaluate_leaf, .arg = &evaluation};
    struct depend_value value;
    if (depend_parse(resolved, &walker, &value, NULL) != 0) {
        return DEPEND_NEVER;
    }
    return value.is_true ? DEPEND_MET : value.is_final ? DEPEND_NEVER : DEPEND_PENDING;
}

/* ---------------------------------------------------------------- visiting */

struct visitor {
    int own_index;
    depend_visit_fn visit;
    void *arg;
};

static int visit_leaf(void *arg, const struct depend_leaf *leaf,
                      struct depend_value *value, struct err *err)
{
    const struct visitor *visitor = arg;
    bool is_one = leaf->has_index && (leaf->is_same_index || leaf->first == leaf->last);
    int index = leaf->is_same_index ? visitor->own_index : leaf->first;
    (void)err;
    visitor->visit(visitor->arg, leaf->id, is_one ? index : DEPEND_ARRAY);
    *value = (struct depend_value){false, false};
    return 0;
}

void depend_visit(const char *resolved, int own_index, depend_visit_fn visit, void *arg)
{
    struct visitor visitor = {.own_index = own_index, .visit = visit, .arg = arg};
    struct depend_walker walker = {.on_leaf = visit_leaf, .arg = &visitor};
    struct depend_value value;
    int code = depend_parse(resolved, &walker, &value, NULL);
    (void)code; /* it was written by depend_resolve; otherwise the jobs before the error
                   were visited */
}
