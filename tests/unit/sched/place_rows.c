/* SPDX-License-Identifier: Apache-2.0 */
/* place_rows.c: see place_rows.h. */
#include "tests/unit/sched/place_rows.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Rows leave out what is nothing. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

static const struct queue_term terms_both[] = {{.kind = QUEUE_ALL, .name = ""},
                                               {.kind = QUEUE_ALL_REMOTE, .name = ""}};
static const struct queue_term terms_borrowed_first[] = {
    {.kind = QUEUE_ALL, .name = ""},
    {.kind = QUEUE_ALL_REMOTE, .name = "", .preference = 1}};
static const struct queue_term terms_n2[] = {
    {.kind = QUEUE_ALL, .name = ""},
    {.kind = QUEUE_HOST, .name = "n2", .preference = 1}};
static const struct queue_term terms_borrowed[] = {
    {.kind = QUEUE_ALL_REMOTE, .name = ""}};
static const struct queue_term terms_none[] = {{.kind = QUEUE_NOT_HOST, .name = ""}};
const struct queue_config place_rows_queues[PLACE_ROWS_QUEUES] = {
    {"own", 30, NULL, 0, ""},
    {"both", 40, terms_both, 2, ""},
    {"away", 40, terms_borrowed_first, 2, ""},
    {"n2", 50, terms_n2, 2, ""},
    {"lease", 20, terms_borrowed, 1, ""},
    {"none", 10, terms_none, 1, ""},
};

int place_rows_hosts(const struct place_row *row, struct place_host *hosts)
{
    int count = 0;
    for (; count < PLACE_ROWS_MAX && row->hosts[count].name != NULL; count++) {
        const struct place_rows_host *from = &row->hosts[count];
        const char *at = strchr(from->name, '@');
        hosts[count] = (struct place_host){
            .name = from->name,
            .site = at != NULL ? at + 1 : "",
            .lease = from->lease != NULL ? from->lease : "",
            .max = from->max,
            .used = from->used,
            .is_open = !from->is_closed,
        };
    }
    return count;
}

/* "n1+2 others" */
static const struct host_list *read_asked(struct arena *arena, const char *text)
{
    static const struct groups no_groups = {0};
    struct host_list *asked = arena_alloc(arena, 1, sizeof(*asked));
    struct conf_words words = conf_words(arena, text);
    struct err err;
    if (text == NULL) {
        return NULL;
    }
    assert_int_equal(
        host_list_parse(arena, &no_groups, words.words, words.count, asked, &err), 0);
    return asked;
}

int place_rows_jobs(struct arena *arena, const struct place_row *row,
                    struct place_rows_waiting *waiting)
{
    int count = 0;
    for (; count < PLACE_ROWS_MAX && row->jobs[count].id != 0; count++) {
        const struct place_rows_job *from = &row->jobs[count];
        waiting->turns[count] = (struct job_class_entry){.key = from->id};
        waiting->queued[count] = &waiting->turns[count];
        waiting->lines[count] = (struct place_class){
            .queue = from->queue,
            .n_slots = from->n_slots,
            .host_list = read_asked(arena, from->asked),
            .entries = &waiting->queued[count],
            .n_entries = 1,
            .max_starts = INT_MAX,
        };
    }
    return count;
}

static int by_id(const void *left, const void *right)
{
    const struct place_start *a = left, *b = right;
    return a->job < b->job ? -1 : a->job > b->job;
}

void place_rows_starts(const struct place_plan *plan, char *text, size_t size)
{
    text[0] = '\0';
    qsort(plan->starts, (size_t)plan->n_starts, sizeof(*plan->starts), by_id);
    for (int i = 0; i < plan->n_starts; i++) {
        size_t at = strlen(text);
        snprintf(text + at, size - at, "%s%llu:", i > 0 ? " " : "",
                 (unsigned long long)plan->starts[i].job);
        for (int k = 0; k < plan->starts[i].n_hosts; k++) {
            at = strlen(text);
            snprintf(text + at, size - at, "%s%s=%d", k > 0 ? "," : "",
                     plan->starts[i].hosts[k].host, plan->starts[i].hosts[k].n_slots);
        }
    }
}
