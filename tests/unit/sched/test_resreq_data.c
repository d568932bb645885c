/* SPDX-License-Identifier: Apache-2.0 */
/* test_resreq_data.c: runs the rows of tests/data/resreq_check.tsv and
 * resreq_match.tsv. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sched/resreq/resreq.h"
#include "tests/unit/sched/resreq_rows.h"

static bool has_word(const char *mode, const char *word)
{
    const char *at = strstr(mode, word);
    size_t length = strlen(word);
    return at != NULL && (at == mode || at[-1] == ' ') &&
           (at[length] == '\0' || at[length] == ' ' || at[length] == '=' ||
            word[length - 1] == '=');
}

/* Says what is wrong; false. */
static bool wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));
static bool wrong(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vprintf(format, args);
    putchar('\n');
    va_end(args);
    return false;
}

/* ---------------------------------------------------------------- check */

/* "ok", "ok?", or a part of the sentence or the hint, then @ and the column. */
static bool judged_as(const char *expected, int code, const struct resreq_error *fault,
                      const struct resreq_notes *notes, const char *at, const char *why)
{
    if (expected[0] == 'o' && expected[1] == 'k') {
        bool wants_note = expected[2] == '?';
        if (code != 0) {
            return wrong("%s: %s %s, expected it to be valid: %s", at, fault->text,
                         fault->hint, why);
        }
        if (wants_note != (notes->count > 0)) {
            return wrong("%s: %d notes, expected %s: %s", at, notes->count,
                         wants_note ? "some" : "none", why);
        }
        return true;
    }
    char text[256];
    snprintf(text, sizeof(text), "%s", expected);
    char *column = strrchr(text, '@');
    assert_non_null(column);
    *column++ = '\0';
    if (code == 0) {
        return wrong("%s: valid, expected \"%s\": %s", at, text, why);
    }
    if (strstr(fault->text, text) == NULL && strstr(fault->hint, text) == NULL) {
        return wrong("%s: \"%s\", expected \"%s\": %s", at, fault->text, text, why);
    }
    if (fault->at != (int)strtol(column, NULL, 10)) {
        return wrong("%s: column %d, expected %s: %s", at, fault->at, column, why);
    }
    return true;
}

static const char *const unit_types[] = {"enclosure", "rack"};

static bool run_check(char *const *columns, const char *at, void *context)
{
    const struct resreq_rows_hosts *hosts = context;
    const char *mode = columns[0];
    const char *strings[RESREQ_ROWS_STRINGS_MAX];
    struct resources *none = resources_new();
    struct arena arena;
    arena_init(&arena);
    struct resreq_rules rules = {
        .language = {.resources = has_word(mode, "open") ? none : hosts->resources,
                     .unit_types = {unit_types, has_word(mode, "open") ? -1 : 2, 1},
                     .is_open = has_word(mode, "open"),
                     .is_lenient = strstr(mode, "lenient") != NULL,
                     .has_local = true},
        .reading = strstr(mode, "all") != NULL ? RESREQ_READ_ALL : RESREQ_READ_SELECT,
    };
    struct resreq_strings from = {.strings = strings};
    from.n_strings = resreq_rows_strings(columns[2], strings);
    struct resreq_notes notes = {.arena = &arena};
    struct resreq_error fault;
    struct resreq resreq;
    int code = resreq_compile(&arena, &rules, &from, &resreq, &notes, &fault);
    bool is_right = judged_as(columns[1], code, &fault, &notes, at, columns[3]);
    arena_release(&arena);
    resources_free(none);
    return is_right;
}

static void strings_are_judged(void **state)
{
    struct resreq_rows_hosts hosts;
    resreq_rows_load(&hosts);
    int n_rows = resreq_rows_each("tests/data/resreq_check.tsv", 4, run_check, &hosts);
    assert_true(n_rows > 200);
    resreq_rows_release(&hosts);
}

/* ---------------------------------------------------------------- match */

static void name_rows(const struct resreq_rows_hosts *hosts, const int *rows,
                      int n_rows, char *names, size_t size)
{
    size_t length = 0;
    snprintf(names, size, "-");
    for (int i = 0; i < n_rows; i++) {
        length += (size_t)snprintf(names + length, size - length, "%s%s",
                                   i > 0 ? " " : "", hosts->names[rows[i]]);
    }
}

/* The strings of all levels as one select the same hosts in the same order. */
static bool combined_matches(const struct resreq_rows_hosts *hosts, struct arena *arena,
                             const struct resreq_rules *rules,
                             const struct resreq_strings *from,
                             const struct resreq_local *local, const char *names,
                             const char *at)
{
    const char *combined = resreq_combined(arena, rules, from);
    const struct resreq_strings one = {.strings = &combined, .n_strings = 1};
    struct resreq_notes notes = {.arena = arena};
    struct resreq_error fault;
    struct resreq resreq;
    int rows[16];
    char found[512];
    if (combined == NULL ||
        resreq_compile(arena, rules, &one, &resreq, &notes, &fault) != 0) {
        return wrong("%s: combined \"%s\": %s %s", at, combined, fault.text,
                     fault.hint);
    }
    int n_rows = resreq_list_hosts(&resreq, hosts->table, local, rows);
    name_rows(hosts, rows, n_rows, found, sizeof(found));
    return strcmp(found, names) == 0 ||
           wrong("%s: combined \"%s\": %s, expected %s", at, combined, found, names);
}

static bool run_match(char *const *columns, const char *at, void *context)
{
    struct resreq_rows_hosts *hosts = context;
    const char *mode = columns[1];
    const char *strings[RESREQ_ROWS_STRINGS_MAX];
    const char *local_name = strncmp(mode, "local=", 6) == 0 ? mode + 6 : "lin1";
    int local_row = resreq_rows_find(hosts, local_name);
    bool is_any = has_word(mode, "any") || has_word(mode, "slots");
    struct arena arena;
    arena_init(&arena);
    struct resreq_rules rules = {
        .language = {.resources = hosts->resources,
                     .unit_types = {unit_types, 2, 1},
                     .is_lenient = has_word(mode, "lenient"),
                     .has_local = !is_any,
                     .counts_slots = has_word(mode, "slots")},
        .reading = RESREQ_READ_ALL,
        .defaults_any = is_any,
    };
    struct resreq_strings from = {.strings = strings};
    from.n_strings = resreq_rows_strings(columns[2], strings);
    if (has_word(mode, "queue=")) {
        from.queue = strings[0];
        from.strings++;
        from.n_strings--;
    }
    struct resreq_local local = {
        .type = resource_table_text(hosts->table, local_row, RESOURCE_TYPE),
        .model = resource_table_text(hosts->table, local_row, RESOURCE_MODEL),
    };
    struct resreq_notes notes = {.arena = &arena};
    struct resreq_error fault;
    struct resreq resreq;
    if (resreq_compile(&arena, &rules, &from, &resreq, &notes, &fault) != 0) {
        arena_release(&arena);
        return wrong("%s: %s %s", at, fault.text, fault.hint);
    }
    int rows[16];
    char names[512];
    int n_rows = resreq_list_hosts(&resreq, hosts->table, &local, rows);
    name_rows(hosts, rows, n_rows, names, sizeof(names));
    bool is_same = combined_matches(hosts, &arena, &rules, &from, &local, names, at);
    arena_release(&arena);
    return is_same &&
           (strcmp(names, columns[0]) == 0 ||
            wrong("%s: %s, expected %s: %s", at, names, columns[0], columns[3]));
}

static void hosts_are_selected(void **state)
{
    struct resreq_rows_hosts hosts;
    resreq_rows_load(&hosts);
    int n_rows = resreq_rows_each("tests/data/resreq_match.tsv", 4, run_match, &hosts);
    assert_true(n_rows > 100);
    resreq_rows_release(&hosts);
}

/* ---------------------------------------------------------------- combined */

static void levels_are_combined(void **state)
{
    static const struct {
        const char *queue, *application, *job, *combined;
    } rows[] = {
        {NULL, NULL, NULL, "select[type == local]"},
        {NULL, NULL, "mem > 50", "select[(mem > 50) && (type == local)]"},
        {NULL, NULL, "select[type == any]", "select[type == any]"},
        /* select: all levels; rusage: by resource, the job's first */
        {"select[swp > 1] rusage[mem=20,swp=5]", "select[tmp > 2]",
         "select[type == any] rusage[mem=10]",
         "select[(type == any) && (tmp > 2) && (swp > 1)] rusage[mem=10,swp=5]"},
        /* the order of the queue counts only without another string */
        {"order[mem]", NULL, NULL, "select[type == local] order[mem]"},
        {"order[mem]", NULL, "order[swp] select[type==any]",
         "select[type==any] order[swp]"},
        {"order[mem]", NULL, "select[type==any]", "select[type==any]"},
        /* span and cu as a whole, same together */
        {"span[hosts=1] same[type]", "same[model]", "span[ptile=2]",
         "select[type == local] span[ptile=2] same[model:type]"},
        /* alternatives: each with the other levels */
        {"rusage[swp=5]", NULL, "{select[type==any]} || {rusage[mem=3]}",
         "{select[type==any] rusage[swp=5]} || "
         "{select[type == local] rusage[mem=3,swp=5]}"},
        {NULL, NULL, "2*{select[type==any]} + 1*{select[type==any] span[hosts=1]}",
         "2*{select[type==any]} + 1*{select[type==any] span[hosts=1]}"},
        {NULL, NULL, "select[", NULL},
    };
    struct resreq_rows_hosts hosts;
    resreq_rows_load(&hosts);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct arena arena;
        arena_init(&arena);
        const struct resreq_rules rules = {
            .language = {.resources = hosts.resources, .has_local = true},
            .reading = RESREQ_READ_ALL,
        };
        const struct resreq_strings from = {.queue = rows[i].queue,
                                            .application = rows[i].application,
                                            .strings = &rows[i].job,
                                            .n_strings = rows[i].job != NULL};
        const char *combined = resreq_combined(&arena, &rules, &from);
        if (rows[i].combined == NULL) {
            assert_null(combined);
        } else {
            assert_string_equal(combined, rows[i].combined);
        }
        arena_release(&arena);
    }
    resreq_rows_release(&hosts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strings_are_judged),
        cmocka_unit_test(hosts_are_selected),
        cmocka_unit_test(levels_are_combined),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
