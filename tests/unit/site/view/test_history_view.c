/* SPDX-License-Identifier: Apache-2.0 */
/* test_history_view.c: how long a job was in which state, by what happened to it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "site/view/site_view.h"

/* Rows leave out what is nothing. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

enum { EVENTS_MAX = 12, NOW_S = 1000 };

struct event_text {
    int at_s;
    enum job_event event;
    enum job_state state;
    int index;
    const char *reason;
};

static const struct job_facts facts = {.is_given = true,
                                       .user = "ana",
                                       .name = "story[1-9]",
                                       .queue = "normal",
                                       .project = "p",
                                       .command = "true",
                                       .n_slots = 1};

static struct value *view(struct arena *arena, const struct event_text *texts,
                          int shown_max)
{
    static const struct msg_query query = {.after = ""};
    struct page page;
    struct row_job_event events[EVENTS_MAX];
    int n_events = 0;
    for (; n_events < EVENTS_MAX && texts[n_events].at_s != 0; n_events++) {
        const struct event_text *text = &texts[n_events];
        events[n_events] = (struct row_job_event){
            .site = "",
            .id = 12,
            .index = text->index,
            .at_ms = INT64_C(1000) * text->at_s,
            .event = text->event,
            .state = text->state,
            .lease = "",
            .reason = text->reason != NULL ? text->reason : "",
        };
        if (text->event == JOB_EVENT_SUBMIT) {
            events[n_events].facts = facts;
        } else if (text->event == JOB_EVENT_END) {
            events[n_events].end =
                (struct job_event_end){.is_given = true, .has_code = true, .code = 3};
        }
    }
    page_init(&page, arena, "hist", &query);
    struct history_view view = {
        .page = &page, .now_ms = INT64_C(1000) * NOW_S, .shown_max = shown_max};
    history_view_add(&view, events, n_events);
    return page.rows;
}

static void times_are_of_states(void **state)
{
    static const struct {
        const char *why;
        struct event_text events[EVENTS_MAX];
        const char *state;
        int pend, psusp, run, ususp, ssusp, unkwn; /* seconds */
    } rows[] = {
        {"it waits until now", {{900, JOB_EVENT_SUBMIT, JOB_PEND}}, "PEND", 100},
        {"from hosts given to the start it waits too",
         {{100, JOB_EVENT_SUBMIT, JOB_PEND},
          {110, JOB_EVENT_DISPATCH, JOB_PEND},
          {115, JOB_EVENT_START, JOB_RUN},
          {175, JOB_EVENT_END, JOB_EXIT}},
         "EXIT",
         15,
         0,
         60},
        {"after its end nothing counts",
         {{100, JOB_EVENT_SUBMIT, JOB_PEND}, {130, JOB_EVENT_END, JOB_EXIT}},
         "EXIT",
         30},
        {"stopped while it waits, and resumed",
         {{100, JOB_EVENT_SUBMIT, JOB_PEND},
          {110, JOB_EVENT_SUSPEND, JOB_PSUSP},
          {140, JOB_EVENT_RESUME, JOB_PEND},
          {145, JOB_EVENT_DISPATCH, JOB_PEND},
          {145, JOB_EVENT_START, JOB_RUN}},
         "RUN",
         15,
         30,
         855},
        {"a user's stop, then the system's",
         {{100, JOB_EVENT_SUBMIT, JOB_PEND},
          {100, JOB_EVENT_START, JOB_RUN},
          {110, JOB_EVENT_SUSPEND, JOB_USUSP},
          {115, JOB_EVENT_SUSPEND, JOB_SSUSP},
          {135, JOB_EVENT_RESUME, JOB_RUN},
          {140, JOB_EVENT_END, JOB_DONE}},
         "DONE",
         0,
         0,
         15,
         5,
         20},
        {"requeued: it waits again, and runs again",
         {{100, JOB_EVENT_SUBMIT, JOB_PEND},
          {101, JOB_EVENT_START, JOB_RUN},
          {121, JOB_EVENT_REQUEUE, JOB_PEND},
          {125, JOB_EVENT_START, JOB_RUN},
          {135, JOB_EVENT_END, JOB_DONE}},
         "DONE",
         5,
         0,
         30},
        {"its run's end is known before it is requeued",
         {{100, JOB_EVENT_SUBMIT, JOB_PEND},
          {101, JOB_EVENT_START, JOB_RUN},
          {111, JOB_EVENT_RUN_END, JOB_PEND},
          {121, JOB_EVENT_REQUEUE, JOB_PEND},
          {125, JOB_EVENT_START, JOB_RUN},
          {135, JOB_EVENT_END, JOB_DONE}},
         "DONE",
         15,
         0,
         20},
        {"nobody knows how it is for a while: that is not its run",
         {{100, JOB_EVENT_SUBMIT, JOB_PEND},
          {100, JOB_EVENT_START, JOB_RUN},
          {110, JOB_EVENT_UNKNOWN, JOB_UNKWN},
          {150, JOB_EVENT_KNOWN, JOB_RUN},
          {155, JOB_EVENT_END, JOB_DONE}},
         "DONE",
         0,
         0,
         15,
         0,
         0,
         40},
        {"a host whose clock is behind adds nothing",
         {{100, JOB_EVENT_SUBMIT, JOB_PEND},
          {105, JOB_EVENT_DISPATCH, JOB_PEND},
          {103, JOB_EVENT_START, JOB_RUN},
          {113, JOB_EVENT_END, JOB_DONE}},
         "DONE",
         5,
         0,
         10},
        {"what was before the history counts for nothing",
         {{100, JOB_EVENT_SUSPEND, JOB_USUSP}, {120, JOB_EVENT_END, JOB_EXIT}},
         "EXIT",
         0,
         0,
         0,
         20},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct arena arena;
        arena_init(&arena);
        const struct value *row = view(&arena, rows[i].events, 100)->first;
        const struct {
            const char *key;
            int seconds;
        } times[] = {{"pend_s", rows[i].pend},
                     {"psusp_s", rows[i].psusp},
                     {"run_s", rows[i].run},
                     {"ususp_s", rows[i].ususp},
                     {"ssusp_s", rows[i].ssusp},
                     {"unkwn_s", rows[i].unkwn},
                     {"total_s", rows[i].pend + rows[i].psusp + rows[i].run +
                                     rows[i].ususp + rows[i].ssusp + rows[i].unkwn}};
        assert_string_equal(value_find(row, "state")->text, rows[i].state);
        for (size_t k = 0; k < sizeof(times) / sizeof(times[0]); k++) {
            const struct value *time = value_find(row, times[k].key);
            if (time->number != times[k].seconds) {
                fail_msg("%s: %s is %lld, expected %d", rows[i].why, times[k].key,
                         (long long)time->number, times[k].seconds);
            }
        }
        arena_release(&arena);
    }
}

static void elements_have_rows_of_their_own(void **state)
{
    static const struct event_text events[EVENTS_MAX] = {
        {100, JOB_EVENT_SUBMIT, JOB_PEND, 0},
        {110, JOB_EVENT_START, JOB_RUN, 2},
        {120, JOB_EVENT_END, JOB_EXIT, 2},
        {130, JOB_EVENT_START, JOB_RUN, 5},
        {135, JOB_EVENT_SWITCH, JOB_RUN, 5, "q"}};
    struct arena arena;
    arena_init(&arena);
    const struct value *rows = view(&arena, events, 100);
    assert_int_equal(rows->count, 2);
    assert_string_equal(value_find(rows->first, "id")->text, "12[2]");
    assert_string_equal(value_find(rows->first, "name")->text, "story[2]");
    assert_int_equal(value_find(rows->first, "pend_s")->number, 10);
    assert_int_equal(value_find(rows->first, "exit_code")->number, 3);
    assert_string_equal(value_find(rows->last, "id")->text, "12[5]");
    assert_string_equal(value_find(rows->last, "queue")->text, "q");
    assert_int_equal(value_find(rows->last, "exit_code")->kind, VALUE_NULL);
    arena_release(&arena);
}

static void a_list_shows_the_last_events(void **state)
{
    static const struct event_text events[EVENTS_MAX] = {
        {100, JOB_EVENT_SUBMIT, JOB_PEND},
        {110, JOB_EVENT_START, JOB_RUN},
        {120, JOB_EVENT_SUSPEND, JOB_USUSP},
        {130, JOB_EVENT_RESUME, JOB_RUN},
        {140, JOB_EVENT_END, JOB_DONE}};
    struct arena arena;
    arena_init(&arena);
    const struct value *row = view(&arena, events, 2)->first;
    const struct value *shown = value_find(row, "events");
    assert_int_equal(shown->count, 3); /* and who it is */
    assert_string_equal(value_find(shown->first, "event")->text, "submit");
    assert_string_equal(value_find(shown->last, "event")->text, "end");
    assert_int_equal(value_find(row, "events_left_out")->number, 3);
    assert_int_equal(value_find(row, "run_s")->number, 20); /* of all of them */
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_are_of_states),
        cmocka_unit_test(elements_have_rows_of_their_own),
        cmocka_unit_test(a_list_shows_the_last_events),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
