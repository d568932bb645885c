/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_depend.c: conditions about other jobs (-w), up to the first zero. What is
 * refused has a sentence. What is taken is written with ids, and written again it is
 * the same; it speaks of jobs that there are; what can never come has not come when
 * all jobs have ended, and by then nothing waits any more. */
#include <string.h>

#include "sched/pending/pending.h"
#include "tests/fuzz/input.h"

enum { JOBS = 8, ARRAY = 9, ELEMENTS = 4, OWN_INDEX = 2, IDS = 9 };

enum progress { PEND, RUN, DONE, EXIT, STATES };

struct world {
    bool is_over; /* all have ended */
};

/* Jobs 1 to 8 are so far in turn; of the array each element. */
static void add_job(const struct world *world, uint64_t number,
                    struct depend_counts *facts)
{
    enum progress state = (enum progress)(number % STATES);
    int code = (int)number;
    if (world->is_over && state < DONE) {
        state = state == PEND ? DONE : EXIT;
    }
    facts->n_jobs++;
    facts->n_pend += state == PEND;
    facts->n_run += state == RUN;
    facts->n_done += state == DONE;
    if (state == EXIT) {
        bool is_first = facts->n_exit++ == 0;
        facts->min_code = is_first || code < facts->min_code ? code : facts->min_code;
        facts->max_code = is_first || code > facts->max_code ? code : facts->max_code;
    }
}

static void look(void *arg, uint64_t id, int index, struct depend_counts *facts)
{
    const struct world *world = arg;
    memset(facts, 0, sizeof(*facts));
    if (id >= 1 && id <= JOBS && index == DEPEND_ARRAY) {
        add_job(world, id, facts);
    }
    for (int i = 1; id == ARRAY && i <= ELEMENTS; i++) {
        if (index == DEPEND_ARRAY || index == i) {
            add_job(world, (uint64_t)i, facts);
        }
    }
}

/* "a" to "i", or an id; "*" means all of them. */
static int find(void *arg, const char *name, const uint64_t **ids)
{
    static const uint64_t all[IDS] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    (void)arg;
    *ids = all;
    if (strcmp(name, "*") == 0) {
        return IDS;
    }
    for (int i = 0; i < IDS; i++) {
        const char by_name[] = {(char)('a' + i), '\0'},
                   by_id[] = {(char)('1' + i), '\0'};
        if (strcmp(name, by_name) == 0 || strcmp(name, by_id) == 0) {
            *ids = &all[i];
            return 1;
        }
    }
    return 0;
}

static void check_known(void *arg, uint64_t id, int index)
{
    (void)arg;
    if (id < 1 || id > IDS || index < DEPEND_ARRAY) {
        input_fail("it speaks of %d[%d]", (int)id, index);
    }
}

static void check_again(struct arena *arena, const char *resolved)
{
    const char *again = NULL;
    struct err err;
    if (depend_resolve(arena, resolved, find, NULL, &again, &err) != 0) {
        input_fail("\"%s\" is refused: %s", resolved, err.text);
    }
    if (strcmp(again, resolved) != 0) {
        input_fail("\"%s\" becomes \"%s\"", resolved, again);
    }
}

static void check_verdicts(const char *resolved)
{
    struct world now = {.is_over = false}, end = {.is_over = true};
    enum depend_verdict first = depend_evaluate(resolved, OWN_INDEX, look, &now);
    enum depend_verdict last = depend_evaluate(resolved, OWN_INDEX, look, &end);
    if (first == DEPEND_NEVER && last != DEPEND_NEVER) {
        input_fail("\"%s\" came although it never could", resolved);
    }
    if (last == DEPEND_PENDING) {
        input_fail("\"%s\" waits for nobody", resolved);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena;
    struct err err = {.text = ""};
    const char *resolved = NULL;
    if (size > 2 * DEPEND_TEXT_MAX) {
        return 0;
    }
    arena_init(&arena);
    const char *text = arena_strn(&arena, (const char *)data, size);
    if (depend_resolve(&arena, text, find, NULL, &resolved, &err) != 0) {
        if (err.text[0] == '\0') {
            input_fail("it is refused without a word");
        }
    } else {
        check_again(&arena, resolved);
        depend_visit(resolved, OWN_INDEX, check_known, NULL);
        check_verdicts(resolved);
    }
    arena_release(&arena);
    return 0;
}
