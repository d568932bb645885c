/* SPDX-License-Identifier: Apache-2.0 */
/* test_job_list.c: a place by id is the place that looking from one end finds, however
 * the ids are spread. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/rng.h"
#include "site/job/job_list.h"

enum { LIST_MAX = 200, LISTS = 400 };

static int place_from_start(const struct job_list *list, uint64_t id, int index)
{
    int place = 0;
    while (place < list->count &&
           (list->items[place]->id < id ||
            (list->items[place]->id == id && list->items[place]->index < index))) {
        place++;
    }
    return place;
}

/* One job a number; gaps where jobs were cleaned, some of them wide; arrays. */
static void fill(struct rng *rng, struct job *jobs, struct job_list *list)
{
    int n_jobs = (int)rng_below(rng, LIST_MAX + 1), gap = (int)rng_below(rng, 4);
    uint64_t id = 1 + (uint64_t)rng_below(rng, 1000);
    for (int i = 0; i < n_jobs; i++) {
        bool is_next = i > 0 && jobs[i - 1].index > 0 && rng_percent(rng, 90);
        int index = is_next ? jobs[i - 1].index + 1 + (int)rng_below(rng, 2)
                            : (int)rng_percent(rng, 10);
        id += is_next || i == 0 ? 0 : 1 + (uint64_t)rng_below(rng, gap + 1);
        id += gap == 3 && !is_next && rng_percent(rng, 2) ? UINT64_C(1) << 40 : 0;
        jobs[i] = (struct job){.id = id, .index = index};
        job_list_insert(list, &jobs[i], i);
    }
}

static void test_places(void **state)
{
    struct rng rng;
    (void)state;
    rng_init(&rng, 1);
    for (int i = 0; i < LISTS; i++) {
        struct job_list list = {0};
        struct job *jobs = mem_alloc(LIST_MAX, sizeof(*jobs));
        fill(&rng, jobs, &list);
        uint64_t last_id = list.count > 0 ? list.items[list.count - 1]->id : 0;
        for (int k = -1; k <= list.count; k++) {
            uint64_t id = k < 0 ? 0 : k < list.count ? jobs[k].id : last_id + 1;
            int index = k >= 0 && k < list.count ? jobs[k].index : 0;
            for (int more = 0; more < 3; more++) {
                assert_int_equal(job_list_place_by_id(&list, id, index + more),
                                 place_from_start(&list, id, index + more));
                assert_int_equal(job_list_place_by_id(&list, id + (uint64_t)more, 0),
                                 place_from_start(&list, id + (uint64_t)more, 0));
            }
        }
        free(list.items);
        free(jobs);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_places)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
