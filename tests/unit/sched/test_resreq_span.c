/* SPDX-License-Identifier: Apache-2.0 */
/* test_resreq_span.c: span and same of queue, application and job, merged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sched/resreq/resreq.h"

static struct arena arena;
static struct resources *resources;

static int set_up(void **state)
{
    static const struct resource os = {.name = "os", .type = RESOURCE_STRING};
    struct err err;
    int id;
    (void)state;
    arena_init(&arena);
    resources = resources_new();
    return resources_add(resources, &os, &id, &err);
}

static int tear_down(void **state)
{
    (void)state;
    resources_free(resources);
    arena_release(&arena);
    return 0;
}

static const char *span_text(const struct resreq_span *shape)
{
    const char *text = "ptile=!";
    switch (shape->kind) {
    case RESREQ_SPAN_NONE:
        return "";
    case RESREQ_SPAN_ANY:
        return "any";
    case RESREQ_SPAN_HOST:
        return "one";
    case RESREQ_SPAN_STRIPE:
        return "stripe";
    case RESREQ_SPAN_PTILE:
        return arena_printf(&arena, "ptile=%d", shape->n_slots);
    case RESREQ_SPAN_BLOCK:
        return arena_printf(&arena, "block=%d", shape->n_slots);
    case RESREQ_SPAN_PTILE_ALL:
        break;
    }
    for (int i = 0; i < shape->n_ptiles; i++) {
        text = arena_printf(&arena, "%s,%s:%d", text, shape->ptiles[i].name,
                            shape->ptiles[i].n_slots);
    }
    return text;
}

static const char *const unit_types[] = {"enclosure", "rack"};

static const char *one_text(const struct resreq *resreq)
{
    const char *text = span_text(&resreq->span);
    for (int i = 0; i < resreq->span.n_same; i++) {
        text = arena_printf(&arena, "%s%s%s", text, i == 0 ? " same " : " ",
                            resources_at(resources, resreq->span.same[i])->name);
    }
    if (resreq->span.cu.is_given) {
        text =
            arena_printf(&arena, "%s cu %s max %d", text,
                         unit_types[resreq->span.cu.type], resreq->span.cu.max_units);
    }
    if (resreq->is_compound) {
        text = arena_printf(&arena, "%d*(%s)", resreq->n_slots, text);
    }
    return resreq->delay_ms == 0
               ? text
               : arena_printf(&arena, "%s @%d", text, (int)(resreq->delay_ms / 60000));
}

/* "ptile=4 same type os cu rack max 2 || any @5", or the fault's hint. */
static const char *merge(const char *queue, const char *app, const char *job)
{
    const struct resreq_rules rules = {.language = {.resources = resources,
                                                    .unit_types = {unit_types, 2, 1},
                                                    .has_local = true},
                                       .reading = RESREQ_READ_ALL};
    const struct resreq_strings from = {
        .queue = queue, .application = app, .strings = &job, .n_strings = job != NULL};
    struct resreq_notes notes = {.arena = &arena};
    struct resreq_error fault;
    struct resreq resreq;
    if (resreq_compile(&arena, &rules, &from, &resreq, &notes, &fault) != 0) {
        return arena_str(&arena, fault.hint);
    }
    const char *text = one_text(&resreq);
    for (const struct resreq *next = resreq.next; next != NULL; next = next->next) {
        text = arena_printf(&arena, "%s || %s", text, one_text(next));
    }
    return text;
}

static void levels_are_merged(void **state)
{
    static const struct {
        const char *why, *queue, *app, *job, *merged;
    } rows[] = {
        {"nothing", NULL, NULL, NULL, ""},
        {"a job's own", NULL, NULL, "mem > 1 span[ptile=4] same[type]",
         "ptile=4 same type"},
        {"the queue's, where the job has none", "span[hosts=1]", NULL, "mem > 1",
         "one"},
        {"a job's before its queue's", "span[hosts=1]", NULL, "span[block=2]",
         "block=2"},
        {"hosts=-1 is one, too", "span[hosts=1]", NULL, "span[hosts=-1]", "any"},
        {"the application's before the queue's", "span[hosts=1]", "span[ptile=2]", NULL,
         "ptile=2"},
        {"a job's before its application's", "span[hosts=1]", "span[ptile=2]",
         "span[stripe]", "stripe"},
        {"what has to be the same is joined, and nothing is twice", "same[type:os]",
         "same[os]", "same[model]", " same model os type"},
        {"slots by type with the queue's same", "same[type]", NULL,
         "span[ptile='!',HP:8,LINUX:2]", "ptile=!,HP:8,LINUX:2 same type"},
        {"of another's tiles nothing is left", "span[ptile='!',HP:8] same[type]", NULL,
         "span[ptile='!']", "ptile=! same type"},
        {"both on different levels", "same[type]", NULL, "span[ptile='!'] same[model]",
         "ptile='!' requires same[type] or same[model], not both"},
        {"slots by nothing", "same[os]", NULL, "span[ptile='!',HP:8]",
         "slots by type need same[type], slots by model same[model]"},
        {"the default type of units", NULL, NULL, "cu[maxcus=2]", " cu rack max 2"},
        {"the queue's, where nobody else has one", "cu[type=enclosure:maxcus=3]", NULL,
         "span[ptile=2]", "ptile=2 cu enclosure max 3"},
        {"a job's before its queue's, as a whole", "cu[type=enclosure:maxcus=3]", NULL,
         "cu[balance]", " cu rack max 0"},
        {"tiles of different sizes cannot be balanced", "cu[balance]", NULL,
         "span[ptile='!']", "balance and ptile='!' exclude each other"},
        {"an application's before its queue's", "cu[maxcus=3]", "cu[maxcus=1]", NULL,
         " cu rack max 1"},
        {"alternatives of a job, each with the queue's", "same[type]", NULL,
         "{span[hosts=1]} || {span[ptile=2]}@5 || {}",
         "one same type || ptile=2 same type @5 ||  same type @5"},
        {"of an application, each with the queue's", "same[type]",
         "{span[hosts=1]} || {cu[]}", NULL,
         "one same type ||  same type cu rack max 0"},
        {"of an application, whose job has a string", "same[type]",
         "{span[hosts=1]} || {cu[]}", "mem > 1", " same type"},
        {"of a queue", "{span[hosts=1]} || {span[ptile=2]}@30", NULL, NULL,
         "one || ptile=2 @30"},
        {"of a queue, whose job has a string", "{span[hosts=1]} || {same[os]}", NULL,
         "span[stripe]", "stripe"},
        {"of a queue, whose application has a string", "{span[hosts=1]} || {same[os]}",
         "span[stripe]", NULL, "stripe"},
        {"of a job and its queue", "{span[hosts=1]} || {same[os]}", NULL,
         "{span[stripe]} || {same[type]}", "stripe ||  same type"},
        {"of a queue, which has an error", "{span[hosts=1]} || {span[hosts=2]}", NULL,
         NULL, "expected hosts=1 or hosts=-1"},
        {"parts of a job, each with the queue's", "same[type]", NULL,
         "2*{span[hosts=1]} + {span[ptile=2] same[os]}",
         "2*(one same type) || 0*(ptile=2 same os type)"},
        {"of a queue", "1*{span[hosts=1]} + 3*{}", NULL, NULL, "1*(one) || 3*()"},
        {"of a queue, whose job has a string", "1*{span[hosts=1]} + 3*{}", NULL,
         "span[stripe]", "stripe"},
        {"which would be good without the job", "span[ptile='!',HP:8]", "same[type]",
         NULL, "ptile=!,HP:8 same type"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *merged = merge(rows[i].queue, rows[i].app, rows[i].job);
        if (strcmp(merged, rows[i].merged) != 0) {
            fail_msg("%s: \"%s\"", rows[i].why, merged);
        }
    }
}

/* As many slots as the parts have, or with a part without a number at least one more.
 */
static void slots_are_checked(void **state)
{
    static const struct {
        const char *job;
        int min, max;
        bool is_good;
    } rows[] = {
        {"2*{} + 3*{}", 5, 0, true},  {"2*{} + 3*{}", 4, 0, false},
        {"2*{} + 3*{}", 6, 0, false}, {"2*{} + 3*{}", 5, 5, true},
        {"2*{} + 3*{}", 5, 6, false}, {"2*{} + {}", 3, 8, true},
        {"2*{} + {}", 2, 8, false},   {"{} || {}", 7, 9, true},
        {"mem > 1", 7, 0, true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct resreq_rules rules = {
            .language = {.resources = resources, .has_local = true},
            .reading = RESREQ_READ_ALL};
        const struct resreq_strings from = {.strings = &rows[i].job, .n_strings = 1};
        struct resreq_notes notes = {.arena = &arena};
        struct resreq_error fault;
        struct resreq resreq;
        assert_int_equal(resreq_compile(&arena, &rules, &from, &resreq, &notes, &fault),
                         0);
        if ((resreq_check_slots(&resreq, rows[i].min, rows[i].max, rows[i].job,
                                &fault) == 0) != rows[i].is_good) {
            fail_msg("%s -n %d,%d", rows[i].job, rows[i].min, rows[i].max);
        }
    }
    assert_int_equal(resreq_count_slots(&arena, "2*{} + 30*{mem > 1}"), 32);
    assert_int_equal(resreq_count_slots(&arena, "2*{} + {}"), 0);
    assert_int_equal(resreq_count_slots(&arena, "{} || {}"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(levels_are_merged, set_up, tear_down),
        cmocka_unit_test_setup_teardown(slots_are_checked, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
