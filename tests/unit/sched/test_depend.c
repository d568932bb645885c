/* SPDX-License-Identifier: Apache-2.0 */
/* Conditions about other jobs: parsing, and their verdict in this world:
 * 1 "a" DONE, 2 "b" EXIT 3, 3 "run" RUN, 4 "wait" PEND, 5 "arr" an array of DONE,
 * EXIT 1 and PEND, 6 "a" killed before it began, 7 "a-2" DONE; 8 and 9 are DONE and
 * EXIT, and what came after them has failed; "clean" is an array of POST_DONE and
 * POST_ERR. What came after 1, 2 and 5[2] has succeeded; 5[1] and 7 do not say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "sched/pending/pending.h"

enum { PEND, RUN, DONE, EXIT, UNBEGUN };

static const struct element {
    uint64_t id;
    int index;
    const char *name;
    int state, code;
    enum { SILENT, GOOD, BAD } post;
} world[] = {
    {1, 0, "a", DONE, 0, GOOD},      {2, 0, "b", EXIT, 3, GOOD},
    {3, 0, "run", RUN, 0, SILENT},   {4, 0, "wait", PEND, 0, SILENT},
    {5, 1, "arr", DONE, 0, SILENT},  {5, 2, "arr", EXIT, 1, GOOD},
    {5, 3, "arr", PEND, 0, SILENT},  {6, 0, "a", UNBEGUN, 0, SILENT},
    {7, 0, "a-2", DONE, 0, SILENT},  {8, 0, "out", DONE, 0, BAD},
    {9, 0, "out2", EXIT, 1, BAD},    {10, 1, "clean", DONE, 0, GOOD},
    {10, 2, "clean", DONE, 0, BAD},  {11, 1, "half", DONE, 0, GOOD},
    {11, 2, "half", RUN, 0, SILENT},
};
enum { N_WORLD = sizeof(world) / sizeof(world[0]) };

static void look(void *arg, uint64_t id, int index, struct depend_counts *facts)
{
    (void)arg;
    memset(facts, 0, sizeof(*facts));
    for (int i = 0; i < N_WORLD; i++) {
        const struct element *at = &world[i];
        if (at->id != id || (index != DEPEND_ARRAY && at->index != index)) {
            continue;
        }
        facts->n_jobs++;
        facts->n_pend += at->state == PEND;
        facts->n_run += at->state == RUN;
        facts->n_done += at->state == DONE;
        facts->n_never_started += at->state == UNBEGUN;
        facts->n_post_done += at->post == GOOD;
        facts->n_post_err += at->post == BAD;
        if (at->state == EXIT || at->state == UNBEGUN) {
            facts->n_exit++;
            facts->min_code = facts->max_code = at->code;
        }
    }
}

static int find(void *arg, const char *name, const uint64_t **ids)
{
    static uint64_t found[N_WORLD];
    size_t length = strlen(name);
    bool is_prefix = length > 0 && name[length - 1] == '*';
    int count = 0;
    (void)arg;
    for (int i = 0; i < N_WORLD; i++) {
        char id[16];
        snprintf(id, sizeof(id), "%d", (int)world[i].id);
        bool fits = is_prefix
                        ? strncmp(world[i].name, name, length - 1) == 0
                        : strcmp(world[i].name, name) == 0 || strcmp(id, name) == 0;
        if (fits && (count == 0 || found[count - 1] != world[i].id)) {
            found[count++] = world[i].id;
        }
    }
    *ids = found;
    return count;
}

static void test_verdicts(void **state)
{
    static const struct {
        const char *text, *resolved;
        enum depend_verdict verdict;
    } rows[] = {
        {"done(1)", "done(1)", DEPEND_MET},
        {"1", "done(1)", DEPEND_MET},
        {"a-2", "done(7)", DEPEND_MET},
        {"done(2)", "done(2)", DEPEND_NEVER},
        {"done(3)", "done(3)", DEPEND_PENDING},
        {"ended(2)", "ended(2)", DEPEND_MET},
        {"ended(\"wait\")", "ended(4)", DEPEND_PENDING},
        {"started(3)", "started(3)", DEPEND_MET},
        {"started(4)", "started(4)", DEPEND_PENDING},
        {"started(1)", "started(1)", DEPEND_MET},
        {"started(6)", "started(6)", DEPEND_NEVER},
        {"exit(2)", "exit(2)", DEPEND_MET},
        {"exit(1)", "exit(1)", DEPEND_NEVER},
        {"exit(2,3)", "exit(2,3)", DEPEND_MET},
        {"exit(b,4)", "exit(2,4)", DEPEND_NEVER},
        {"exit(2, >= 3)", "exit(2, >= 3)", DEPEND_MET},
        {"exit(2,!=3)", "exit(2,!=3)", DEPEND_NEVER},
        {"exit(3,1)", "exit(3,1)", DEPEND_PENDING},
        {"done(\"a\")", "(done(1) && done(6))", DEPEND_NEVER},
        {"ended(a*)", "(ended(1) && ended(5) && ended(6) && ended(7))", DEPEND_PENDING},
        {"done(1) && done(3)", "done(1) && done(3)", DEPEND_PENDING},
        {"done(2) && done(3)", "done(2) && done(3)", DEPEND_NEVER},
        {"done(2) || done(3)", "done(2) || done(3)", DEPEND_PENDING},
        {"done(1)||done(3)", "done(1) || done(3)", DEPEND_MET},
        {"!done(3)", "!done(3)", DEPEND_MET},
        {"!done(1)", "!done(1)", DEPEND_NEVER},
        {"!started(3) || done(1)", "!started(3) || done(1)", DEPEND_MET},
        {"done(3) || done(1) && done(2)", "done(3) || done(1) && done(2)",
         DEPEND_PENDING},
        {"(done(3) || done(1)) && done(2)", "(done(3) || done(1)) && done(2)",
         DEPEND_NEVER},
        {"done(5)", "done(5)", DEPEND_NEVER},
        {"ended(5)", "ended(5)", DEPEND_PENDING},
        {"done(5[1])", "done(5[1])", DEPEND_MET},
        {"ended(5[1-2])", "ended(5[1-2])", DEPEND_MET},
        {"ended(\"arr[3]\")", "ended(5[3])", DEPEND_PENDING},
        {"done(5[9])", "done(5[9])", DEPEND_NEVER},
        {"done(arr[*])", "done(5[*])", DEPEND_MET}, /* it is element 1 itself */
        {"numdone(5,>=1)", "numdone(5,>=1)", DEPEND_MET},
        {"numended(5,*)", "numended(5,*)", DEPEND_PENDING},
        {"numexit(5,==1)", "numexit(5,==1)", DEPEND_MET},
        {"numpend(5,<1)", "numpend(5,<1)", DEPEND_PENDING},
        {"numstart(5,2)", "numstart(5,2)", DEPEND_MET},
        {"post_done(1)", "post_done(1)", DEPEND_MET},
        {"post_err(1)", "post_err(1)", DEPEND_NEVER},
        {"post_done(2)", "post_done(2)", DEPEND_MET}, /* it need not be DONE itself */
        {"post_done(3)", "post_done(3)", DEPEND_PENDING},
        {"post_err(3)", "post_err(3)", DEPEND_PENDING},
        {"POST_DONE(\"wait\")", "post_done(4)", DEPEND_PENDING},
        {"post_done(8)", "post_done(8)", DEPEND_NEVER},
        {"post_err(8)", "post_err(8)", DEPEND_MET},
        {"post_err(out*)", "(post_err(8) && post_err(9))", DEPEND_MET},
        {"post_done(6)", "post_done(6)", DEPEND_NEVER},
        {"post_err(6)", "post_err(6)", DEPEND_NEVER},
        {"post_done(7) || post_err(7)", "post_done(7) || post_err(7)", DEPEND_NEVER},
        {"done(8) && post_err(8)", "done(8) && post_err(8)", DEPEND_MET},
        {"!post_err(1)", "!post_err(1)", DEPEND_MET},
        {"post_done(10)", "post_done(10)", DEPEND_NEVER},
        {"post_err(10)", "post_err(10)", DEPEND_NEVER},
        {"post_err(10[2])", "post_err(10[2])", DEPEND_MET},
        {"post_done(10[1-2])", "post_done(10[1-2])", DEPEND_NEVER},
        {"post_done(half)", "post_done(11)", DEPEND_PENDING},
        {"post_err(half)", "post_err(11)", DEPEND_NEVER}, /* one cannot any more */
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct arena arena;
        struct err err = {.text = ""};
        const char *resolved = "";
        arena_init(&arena);
        if (depend_resolve(&arena, rows[i].text, find, NULL, &resolved, &err) != 0 ||
            strcmp(resolved, rows[i].resolved) != 0) {
            fail_msg("%s: \"%s\" %s", rows[i].text, resolved, err.text);
        }
        if (depend_evaluate(resolved, 1, look, NULL) != rows[i].verdict) {
            fail_msg("%s: expected %d", rows[i].text, (int)rows[i].verdict);
        }
        arena_release(&arena);
    }
}

static void test_gone(void **state)
{
    (void)state;
    assert_int_equal(depend_evaluate("done(99)", 0, look, NULL), DEPEND_NEVER);
    assert_int_equal(depend_evaluate("done(99) || done(1)", 0, look, NULL), DEPEND_MET);
}

static void note(void *arg, uint64_t id, int index)
{
    char *text = arg;
    size_t at = strlen(text);
    snprintf(text + at, 128 - at, "%d:%d ", (int)id, index);
}

static void test_each(void **state)
{
    char text[128] = "";
    (void)state;
    depend_visit("done(5[*]) && (exit(2,3) || !ended(5[1-2]) || started(5[3]))", 7,
                 note, text);
    assert_string_equal(text, "5:7 2:-1 5:-1 5:3 ");
}

static void test_bad(void **state)
{
    static const struct {
        const char *text, *says;
        int code;
    } rows[] = {
        {"", "expected a job", ERR_PARSE},
        {"done(1", "expected )", ERR_PARSE},
        {"done(1))", "expected &&", ERR_PARSE},
        {"done(1) &&", "expected a job", ERR_PARSE},
        {"done(1) & done(2)", "expected &&", ERR_PARSE},
        {"done()", "expected a job", ERR_PARSE},
        {"done(1,3)", "only exit and num", ERR_PARSE},
        {"exit(2,x)", "expected a number", ERR_PARSE},
        {"numdone(5)", "expected , and a number", ERR_PARSE},
        {"over(1)", "expected done, exit", ERR_PARSE},
        {"external(1)", "not supported yet", ERR_PARSE},
        {"post_done(1,3)", "only exit and num", ERR_PARSE},
        {"done(\"a)", "a quote that does not end", ERR_PARSE},
        {"done(5[0])", "expected an index", ERR_PARSE},
        {"done(5[3-1])", "expected the last index", ERR_PARSE},
        {"done(5[1-100000])", "too many elements", ERR_PARSE},
        {"done(5[1)", "expected ]", ERR_PARSE},
        {"done(42)", "42: No matching job found", ERR_NOT_FOUND},
        {"done(\"nobody\")", "nobody: No matching job found", ERR_NOT_FOUND},
    };
    char deep[400];
    struct arena arena;
    struct err err;
    const char *resolved;
    (void)state;
    arena_init(&arena);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (depend_resolve(&arena, rows[i].text, find, NULL, &resolved, &err) !=
                rows[i].code ||
            strstr(err.text, rows[i].says) == NULL) {
            fail_msg("\"%s\": %s", rows[i].text, err.text);
        }
    }
    memset(deep, '(', sizeof(deep) - 1);
    deep[sizeof(deep) - 1] = '\0';
    assert_int_equal(depend_resolve(&arena, deep, find, NULL, &resolved, &err),
                     ERR_PARSE);
    memset(deep, '!', sizeof(deep) - 1);
    assert_int_equal(depend_resolve(&arena, deep, find, NULL, &resolved, &err),
                     ERR_PARSE);
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_verdicts),
        cmocka_unit_test(test_gone),
        cmocka_unit_test(test_each),
        cmocka_unit_test(test_bad),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
