/* SPDX-License-Identifier: Apache-2.0 */
/* Random selections, level by level of the grammar, beside their values by the rules of
 * the seed: what is written with as few parentheses as may be is judged as it was
 * meant, on each of many hosts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>

#include "base/rng.h"
#include "sched/resreq/resreq.h"

enum { ROUNDS = 3000, HOSTS = RESOURCE_BLOCK + 7, TEXT_SIZE = 4000 };

struct made {
    struct rng rng;
    char text[TEXT_SIZE];
    size_t length;
    double swp[HOSTS], mem[HOSTS];
    bool fs[HOSTS];
};

/* A part of the text and its value on each host; numbers that are not finite are NaN.
 */
struct part {
    double values[HOSTS];
};

static void make_or(struct made *made, int depth, struct part *part);

static void write(struct made *made, const char *text)
{
    size_t length = strlen(text);
    if (made->length + length < TEXT_SIZE) {
        memcpy(made->text + made->length, text, length + 1);
    }
    made->length += length;
}

static int pick(struct made *made, int n)
{
    return (int)rng_below(&made->rng, n);
}

static bool is_true(double value)
{
    return value < 0 || value > 0;
}

static void make_leaf(struct made *made, struct part *part)
{
    int constant = pick(made, 4), which = pick(made, 3);
    char number[16];
    snprintf(number, sizeof(number), "%d", constant);
    write(made, which == 0 ? "swp" : which == 1 ? "mem" : number);
    for (int i = 0; i < HOSTS; i++) {
        part->values[i] = which == 0   ? made->swp[i]
                          : which == 1 ? made->mem[i]
                                       : constant;
    }
}

static void make_unary(struct made *made, int depth, struct part *part)
{
    int which = pick(made, 8);
    if (which == 0 && depth > 0) {
        write(made, "-");
        make_unary(made, depth - 1, part);
    } else if (which == 1) {
        write(made, "!fs");
        for (int i = 0; i < HOSTS; i++) {
            part->values[i] = !made->fs[i];
        }
        return;
    } else if (which < 4 && depth > 0) {
        write(made, which == 2 ? "(" : "!(");
        make_or(made, depth - 1, part);
        write(made, ")");
    } else {
        make_leaf(made, part);
    }
    for (int i = 0; i < HOSTS && depth > 0; i++) {
        double value = part->values[i];
        part->values[i] = which == 0   ? -value
                          : which == 3 ? (double)(fpclassify(value) == FP_ZERO)
                                       : value;
    }
}

static double combine(const char *op, double a, double b)
{
    double result = op[0] == '*'   ? a * b
                    : op[0] == '/' ? a / b
                    : op[0] == '+' ? a + b
                                   : a - b;
    return isfinite(result) ? result : (double)NAN;
}

static double compare(const char *op, double a, double b)
{
    bool is_less = a<b, is_more = a> b, is_equal = a >= b && a <= b;
    return op[0] == '='   ? is_equal
           : op[0] == '!' ? is_less || is_more
           : op[0] == '>' ? is_more || (op[1] == '=' && is_equal)
                          : is_less || (op[1] == '=' && is_equal);
}

static double join(const char *op, double a, double b)
{
    return op[0] == '&' ? is_true(a) && is_true(b) : is_true(a) || is_true(b);
}

/* One level of the grammar: operators of one rank, left to right. */
struct level {
    const char *ops[4];
    int n_ops;
    double (*apply)(const char *op, double a, double b);
};

static const struct level levels[] = {
    {{"||"}, 1, join},          {{"&&"}, 1, join},
    {{"==", "!="}, 2, compare}, {{">", "<", ">=", "<="}, 4, compare},
    {{"+", "-"}, 2, combine},   {{"*", "/"}, 2, combine},
};
enum { N_LEVELS = 6 };

static void make_level(struct made *made, int level, int depth, struct part *part)
{
    if (level == N_LEVELS) {
        make_unary(made, depth, part);
        return;
    }
    make_level(made, level + 1, depth, part);
    for (int n = pick(made, 4) == 0 ? 1 + pick(made, 2) : 0; n > 0; n--) {
        const char *op = levels[level].ops[pick(made, levels[level].n_ops)];
        struct part right;
        write(made, " ");
        write(made, op);
        write(made, " ");
        make_level(made, level + 1, depth, &right);
        for (int i = 0; i < HOSTS; i++) {
            part->values[i] = levels[level].apply(op, part->values[i], right.values[i]);
        }
    }
}

static void make_or(struct made *made, int depth, struct part *part)
{
    make_level(made, 0, depth, part);
}

static struct resource_table *give_hosts(struct made *made, struct resources *resources)
{
    struct resource fs = {.name = "fs", .type = RESOURCE_BOOLEAN};
    struct err err;
    int id;
    assert_int_equal(resources_add(resources, &fs, &id, &err), 0);
    struct resource_table *table = resource_table_new(resources);
    resource_table_resize(table, HOSTS);
    for (int i = 0; i < HOSTS; i++) {
        made->swp[i] = pick(made, 5) - 1;
        made->mem[i] = pick(made, 3) == 0 ? 0 : pick(made, 9) / 2.0;
        made->fs[i] = pick(made, 2) == 0;
        resource_table_set_number(table, i, RESOURCE_SWP, made->swp[i]);
        if (is_true(made->mem[i])) { /* else absent, which is 0 */
            resource_table_set_number(table, i, RESOURCE_MEM, made->mem[i]);
        }
        resource_table_set_flag(table, i, id, made->fs[i]);
    }
    return table;
}

static void judged_as_meant(struct made *made, struct resources *resources,
                            const struct resource_table *table, uint64_t seed)
{
    static struct part part;
    uint8_t matches[HOSTS];
    struct arena arena;
    const char *string = made->text;
    made->length = 0;
    make_or(made, 3, &part);
    if (made->length >= TEXT_SIZE) {
        return;
    }
    arena_init(&arena);
    struct resreq_rules rules = {.language = {.resources = resources},
                                 .defaults_any = true};
    struct resreq_strings from = {.strings = &string, .n_strings = 1};
    struct resreq_notes notes = {.arena = &arena};
    struct resreq_local local = {.type = "", .model = ""};
    struct resreq_error fault;
    struct resreq resreq;
    if (resreq_compile(&arena, &rules, &from, &resreq, &notes, &fault) != 0) {
        fail_msg("seed %llu: %s: %s %s", (unsigned long long)seed, string, fault.text,
                 fault.hint);
    }
    resreq_program_run(&resreq.program, table, NULL, &local, matches);
    for (int i = 0; i < HOSTS; i++) {
        if (matches[i] != is_true(part.values[i])) {
            fail_msg("seed %llu: %s: host with swp %g, mem %g, fs %d: %d",
                     (unsigned long long)seed, string, made->swp[i], made->mem[i],
                     made->fs[i], matches[i]);
        }
    }
    arena_release(&arena);
}

static void selections_mean_what_they_say(void **state)
{
    static struct made made;
    uint64_t seed = 5;
    struct resources *resources = resources_new();
    rng_init(&made.rng, seed);
    struct resource_table *table = give_hosts(&made, resources);
    for (int i = 0; i < ROUNDS; i++) {
        judged_as_meant(&made, resources, table, seed);
    }
    resource_table_free(table);
    resources_free(resources);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(selections_mean_what_they_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
