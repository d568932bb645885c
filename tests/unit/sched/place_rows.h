/* SPDX-License-Identifier: Apache-2.0 */
/* place_rows.h: rows of the tests of placement: before, the jobs, after. Hosts are
 * written "name max used [lease]", jobs "id queue slots [-m host]", starts
 * "id:host=n,host=n". */
#ifndef SUBLET_TESTS_PLACE_ROWS_H
#define SUBLET_TESTS_PLACE_ROWS_H

#include "sched/place/place.h"

enum { PLACE_ROWS_MAX = 8, PLACE_ROWS_QUEUES = 6 };

/* 0: own hosts. 1: all, borrowed too. 2: borrowed first. 3: own n2 preferred. 4:
 * borrowed only. 5: no host. */
extern const struct queue_config place_rows_queues[PLACE_ROWS_QUEUES];

struct place_rows_host {
    const char *name;
    int max, used;
    const char *lease; /* NULL: own */
    bool is_closed;
};

struct place_rows_job {
    uint64_t id;
    int queue, n_slots;
    const char *asked;
};

struct place_row {
    const char *why;
    struct place_rows_host hosts[PLACE_ROWS_MAX];
    struct place_rows_job jobs[PLACE_ROWS_MAX];
    const char *starts;
    enum pending_reason reasons[PLACE_ROWS_MAX];
    int waiting_own;
};

/* Each job in a line of its own. */
struct place_rows_waiting {
    struct job_class_entry turns[PLACE_ROWS_MAX];
    const struct job_class_entry *queued[PLACE_ROWS_MAX];
    struct place_class lines[PLACE_ROWS_MAX];
};

int place_rows_hosts(const struct place_row *row, struct place_host *hosts);
int place_rows_jobs(struct arena *arena, const struct place_row *row,
                    struct place_rows_waiting *waiting);
void place_rows_starts(const struct place_plan *plan, char *text, size_t size);

#endif
