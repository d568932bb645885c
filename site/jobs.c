/* SPDX-License-Identifier: Apache-2.0 */
/* jobs.c: see jobs.h. The table is an array sorted by id; beside it stand three
 * indexes, each sorted: the waiting jobs, the open attempts, the ended jobs. */
#include "site/jobs.h"

#include <stdlib.h>
#include <string.h>

#include "site/keep.h"

struct job_list {
    struct job **items;
    int count, capacity;
};

struct jobs {
    const struct queue_config *queues;
    int n_queues;
    int *ranks; /* by queue */
    struct job_list all;
    struct job_list waiting; /* by rank, id */
    struct job_list open;    /* by attempt */
    struct job_list ended;   /* in the order of their ends */
};

/* ---------------------------------------------------------------- states */

enum { STATES = JOB_UNKWN + 1 };

/* From (row) to (column); a state that it has is always allowed. An open attempt's
 * first news may be its end, so PEND leads everywhere. */
/* clang-format off */
static const bool moves[STATES][STATES] = {
    /*             PEND PSUSP RUN USUSP SSUSP DONE EXIT UNKWN */
    [JOB_PEND]  = {1,   1,    1,  1,    0,    1,   1,   1},
    [JOB_PSUSP] = {1,   1,    0,  0,    0,    0,   1,   0},
    [JOB_RUN]   = {1,   1,    1,  1,    1,    1,   1,   1},
    [JOB_USUSP] = {1,   1,    1,  1,    0,    1,   1,   1},
    [JOB_SSUSP] = {1,   1,    1,  1,    1,    1,   1,   1},
    [JOB_DONE]  = {0,   0,    0,  0,    0,    1,   0,   0},
    [JOB_EXIT]  = {0,   0,    0,  0,    0,    0,   1,   0},
    [JOB_UNKWN] = {1,   1,    1,  1,    1,    1,   1,   1},
};
/* clang-format on */

const char *jobs_state_name(enum job_state state)
{
    static const char *const names[STATES] = {
        [JOB_PEND] = "PEND",   [JOB_PSUSP] = "PSUSP", [JOB_RUN] = "RUN",
        [JOB_USUSP] = "USUSP", [JOB_SSUSP] = "SSUSP", [JOB_DONE] = "DONE",
        [JOB_EXIT] = "EXIT",   [JOB_UNKWN] = "UNKWN",
    };
    return (unsigned)state < STATES ? names[state] : "?";
}

bool jobs_exit_code(const struct job *job, int *code)
{
    switch (job->exit.end) {
    case RUN_END_EXITED:
        *code = job->exit.code;
        return true;
    case RUN_END_SIGNALLED:
    case RUN_END_LIMIT:
        *code = 128 + job->exit.code;
        return true;
    case RUN_END_NONE:
    case RUN_END_FAILED:
    case RUN_END_LOST:
        break;
    }
    return false;
}

bool jobs_is_ended(const struct job *job)
{
    return job->state == JOB_DONE || job->state == JOB_EXIT;
}

/* ---------------------------------------------------------------- lists */

typedef int (*compare_fn)(const struct job *a, const struct job *b);

static int by_number(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int by_id(const struct job *a, const struct job *b)
{
    return by_number(a->id, b->id);
}

static int by_attempt(const struct job *a, const struct job *b)
{
    return by_number(a->attempt, b->attempt);
}

static int by_rank(const struct job *a, const struct job *b)
{
    return a->rank != b->rank ? (a->rank < b->rank ? -1 : 1) : by_id(a, b);
}

/* The first place whose job does not come before `key`. */
static int list_place(const struct job_list *list, const struct job *key,
                      compare_fn compare)
{
    int low = 0, high = list->count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (compare(list->items[middle], key) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static struct job *list_find(const struct job_list *list, const struct job *key,
                             compare_fn compare)
{
    int place = list_place(list, key, compare);
    if (place == list->count || compare(list->items[place], key) != 0) {
        return NULL;
    }
    return list->items[place];
}

static void list_insert(struct job_list *list, struct job *job, int place)
{
    if (list->count == list->capacity) {
        list->capacity = list->capacity == 0 ? 64 : list->capacity * 2;
        list->items =
            mem_grow(list->items, (size_t)list->capacity, sizeof(*list->items));
    }
    memmove(&list->items[place + 1], &list->items[place],
            (size_t)(list->count - place) * sizeof(*list->items));
    list->items[place] = job;
    list->count++;
}

static void list_remove(struct job_list *list, struct job *job, compare_fn compare)
{
    int place = list_place(list, job, compare);
    list->count--;
    memmove(&list->items[place], &list->items[place + 1],
            (size_t)(list->count - place) * sizeof(*list->items));
}

static bool should_wait(const struct job *job)
{
    return job->state == JOB_PEND && job->attempt == 0;
}

static bool should_be_open(const struct job *job)
{
    return job->attempt != 0 && !jobs_is_ended(job);
}

/* Takes the job out of the indexes before its key or state changes ... */
static void unindex(struct jobs *jobs, struct job *job)
{
    if (job->is_waiting) {
        list_remove(&jobs->waiting, job, by_rank);
    }
    if (job->is_open) {
        list_remove(&jobs->open, job, by_attempt);
    }
    job->is_waiting = job->is_open = false;
}

/* ... and puts it back where it belongs. */
static void reindex(struct jobs *jobs, struct job *job)
{
    job->is_waiting = should_wait(job);
    job->is_open = should_be_open(job);
    if (job->is_waiting) {
        list_insert(&jobs->waiting, job, list_place(&jobs->waiting, job, by_rank));
    }
    if (job->is_open) {
        list_insert(&jobs->open, job, list_place(&jobs->open, job, by_attempt));
    }
}

/* ---------------------------------------------------------------- life of the table */

struct rank_item {
    int priority, queue;
};

static int rank_compare(const void *left, const void *right)
{
    const struct rank_item *a = left, *b = right;
    if (a->priority != b->priority) {
        return a->priority > b->priority ? -1 : 1;
    }
    return a->queue < b->queue ? -1 : 1;
}

struct jobs *jobs_new(const struct queue_config *queues, int n_queues)
{
    struct jobs *jobs = mem_alloc(1, sizeof(*jobs));
    jobs->queues = queues;
    jobs->n_queues = n_queues;
    jobs->ranks = mem_alloc((size_t)n_queues, sizeof(*jobs->ranks));
    struct rank_item *items = mem_alloc((size_t)n_queues, sizeof(*items));
    for (int i = 0; i < n_queues; i++) {
        items[i] = (struct rank_item){.priority = queues[i].priority, .queue = i};
    }
    qsort(items, (size_t)n_queues, sizeof(*items), rank_compare);
    for (int i = 0; i < n_queues; i++) {
        jobs->ranks[items[i].queue] = i;
    }
    free(items);
    return jobs;
}

static void job_free(struct job *job)
{
    free(job->spec);
    free(job->lease);
    free(job->hosts);
    free((char *)(uintptr_t)job->exit.text);
    free(job->reason);
    free(job);
}

void jobs_free(struct jobs *jobs)
{
    if (jobs == NULL) {
        return;
    }
    for (int i = 0; i < jobs->all.count; i++) {
        job_free(jobs->all.items[i]);
    }
    free(jobs->all.items);
    free(jobs->waiting.items);
    free(jobs->open.items);
    free(jobs->ended.items);
    free(jobs->ranks);
    free(jobs);
}

static struct job *job_new(const struct jobs *jobs, const struct row_job *row)
{
    struct job *job = mem_alloc(1, sizeof(*job));
    job->id = row->id;
    job->submit_ms = row->submit_ms;
    job->spec = keep_spec(&row->spec);
    job->queue = -1;
    job->rank = jobs->n_queues;
    for (int i = 0; i < jobs->n_queues; i++) {
        if (strcmp(jobs->queues[i].name, row->spec.queue) == 0) {
            job->queue = i;
            job->rank = jobs->ranks[i];
        }
    }
    job->state = JOB_PEND;
    job->lease = keep_text("");
    job->reason = keep_text("");
    job->exit.text = keep_text("");
    job->place_reason = PLACE_BUSY;
    return job;
}

static void set_exit(struct job *job, const struct run_exit *exit)
{
    char *text = keep_text(exit->text);
    free((char *)(uintptr_t)job->exit.text);
    job->exit = *exit;
    job->exit.text = text;
}

static void set_hosts(struct job *job, const struct host_slots *hosts, int n_hosts)
{
    free(job->hosts);
    job->hosts = keep_hosts(hosts, n_hosts);
    job->n_hosts = n_hosts;
}

void jobs_load(struct jobs *jobs, const struct row_job *row)
{
    struct job *job = job_new(jobs, row);
    list_insert(&jobs->all, job, list_place(&jobs->all, job, by_id));
}

void jobs_load_state(struct jobs *jobs, const struct row_job_state *row)
{
    struct job *job = jobs_find(jobs, row->id);
    if (job == NULL) {
        return; /* a state without a job says nothing */
    }
    job->state = row->state;
    job->attempt = row->attempt;
    keep_set_text(&job->lease, row->lease);
    job->epoch = row->epoch;
    job->is_decided = row->is_decided;
    job->is_killed = row->is_killed;
    set_hosts(job, row->hosts, row->n_hosts);
    job->start_ms = row->start_ms;
    job->end_ms = row->end_ms;
    job->control = row->control;
    set_exit(job, &row->exit);
    keep_set_text(&job->reason, row->reason);
}

static int load_by_rank(const void *left, const void *right)
{
    return by_rank(*(struct job *const *)left, *(struct job *const *)right);
}

static int load_by_attempt(const void *left, const void *right)
{
    return by_attempt(*(struct job *const *)left, *(struct job *const *)right);
}

static int load_by_end(const void *left, const void *right)
{
    const struct job *a = *(struct job *const *)left, *b = *(struct job *const *)right;
    return a->end_ms != b->end_ms ? (a->end_ms < b->end_ms ? -1 : 1) : by_id(a, b);
}

static void list_sort(struct job_list *list, int (*compare)(const void *, const void *))
{
    if (list->count > 0) {
        qsort(list->items, (size_t)list->count, sizeof(*list->items), compare);
    }
}

void jobs_start(struct jobs *jobs)
{
    for (int i = 0; i < jobs->all.count; i++) {
        struct job *job = jobs->all.items[i];
        job->is_waiting = should_wait(job);
        job->is_open = should_be_open(job);
        if (job->is_waiting) {
            list_insert(&jobs->waiting, job, jobs->waiting.count);
        }
        if (job->is_open) {
            list_insert(&jobs->open, job, jobs->open.count);
        }
        if (jobs_is_ended(job)) {
            list_insert(&jobs->ended, job, jobs->ended.count);
        }
    }
    list_sort(&jobs->waiting, load_by_rank);
    list_sort(&jobs->open, load_by_attempt);
    list_sort(&jobs->ended, load_by_end);
}

struct job *jobs_add(struct jobs *jobs, const struct row_job *row)
{
    struct job *job = job_new(jobs, row);
    list_insert(&jobs->all, job, jobs->all.count);
    reindex(jobs, job);
    return job;
}

void jobs_store_spec(const struct job *job, struct effects *effects)
{
    struct row row = {.kind = ROW_JOB,
                      .job = {.id = job->id, .submit_ms = job->submit_ms}};
    struct row copy;
    row.job.spec = *job->spec;
    row_copy(&effects->arena, &row, &copy);
    effects_store(effects, &copy);
}

void jobs_store(const struct job *job, struct effects *effects)
{
    struct row row = {
        .kind = ROW_JOB_STATE,
        .job_state =
            {
                .id = job->id,
                .state = job->state,
                .attempt = job->attempt,
                .lease = job->lease,
                .epoch = job->epoch,
                .is_decided = job->is_decided,
                .is_killed = job->is_killed,
                .hosts = job->hosts,
                .n_hosts = job->n_hosts,
                .start_ms = job->start_ms,
                .end_ms = job->end_ms,
                .control = job->control,
                .exit = job->exit,
                .reason = job->reason,
            },
    };
    struct row copy;
    row_copy(&effects->arena, &row, &copy);
    effects_store(effects, &copy);
}

/* ---------------------------------------------------------------- looking */

struct job *jobs_find(const struct jobs *jobs, uint64_t id)
{
    return list_find(&jobs->all, &(struct job){.id = id}, by_id);
}

struct job *jobs_find_attempt(const struct jobs *jobs, uint64_t attempt)
{
    return list_find(&jobs->open, &(struct job){.attempt = attempt}, by_attempt);
}

int jobs_count(const struct jobs *jobs)
{
    return jobs->all.count;
}

struct job *jobs_at(const struct jobs *jobs, int index)
{
    return jobs->all.items[index];
}

int jobs_count_unfinished(const struct jobs *jobs)
{
    return jobs->all.count - jobs->ended.count;
}

int jobs_count_waiting(const struct jobs *jobs)
{
    return jobs->waiting.count;
}

struct job *jobs_waiting_at(const struct jobs *jobs, int index)
{
    return jobs->waiting.items[index];
}

int jobs_waiting_behind(const struct jobs *jobs, int rank, uint64_t id)
{
    return list_place(&jobs->waiting, &(struct job){.rank = rank, .id = id + 1},
                      by_rank);
}

int jobs_count_open(const struct jobs *jobs)
{
    return jobs->open.count;
}

struct job *jobs_open_at(const struct jobs *jobs, int index)
{
    return jobs->open.items[index];
}

/* ---------------------------------------------------------------- turns */

bool jobs_move(struct jobs *jobs, struct job *job, enum job_state state)
{
    if (!moves[job->state][state]) {
        return false;
    }
    unindex(jobs, job);
    job->state = state;
    reindex(jobs, job);
    return true;
}

void jobs_begin(struct jobs *jobs, struct job *job, uint64_t attempt, const char *lease,
                uint64_t epoch, const struct host_slots *hosts, int n_hosts)
{
    unindex(jobs, job);
    job->attempt = attempt;
    keep_set_text(&job->lease, lease);
    job->epoch = epoch;
    job->is_decided = lease[0] == '\0';
    set_hosts(job, hosts, n_hosts);
    job->control = (struct run_control){0};
    keep_set_text(&job->reason, "");
    reindex(jobs, job);
}

void jobs_requeue(struct jobs *jobs, struct job *job, const char *reason)
{
    bool is_stopped = job->control.number > 0 && job->control.action == CONTROL_SUSPEND;
    unindex(jobs, job);
    job->state = is_stopped ? JOB_PSUSP : JOB_PEND;
    job->attempt = 0;
    keep_set_text(&job->lease, "");
    job->epoch = 0;
    job->is_decided = false;
    set_hosts(job, NULL, 0);
    job->start_ms = 0;
    job->control = (struct run_control){0};
    job->written_attempt = 0;
    keep_set_text(&job->reason, reason);
    reindex(jobs, job);
}

void jobs_end(struct jobs *jobs, struct job *job, const struct run_exit *exit,
              const char *reason, int64_t end_ms)
{
    bool is_done = exit->end == RUN_END_EXITED && exit->code == 0;
    unindex(jobs, job);
    job->state = is_done ? JOB_DONE : JOB_EXIT;
    set_exit(job, exit);
    if (job->start_ms == 0) {
        job->start_ms = exit->start_ms;
    }
    job->end_ms = end_ms;
    keep_set_text(&job->reason, reason);
    reindex(jobs, job);
    list_insert(&jobs->ended, job, jobs->ended.count);
}

/* ---------------------------------------------------------------- cleaning */

int64_t jobs_oldest_end_ms(const struct jobs *jobs)
{
    return jobs->ended.count > 0 ? jobs->ended.items[0]->end_ms : INT64_MAX;
}

/* Closes the gaps that cleaned jobs (spec taken away) left. */
static void remove_cleaned(struct jobs *jobs, int n_cleaned)
{
    int kept = 0;
    for (int i = 0; i < jobs->all.count; i++) {
        struct job *job = jobs->all.items[i];
        if (job->spec != NULL) {
            jobs->all.items[kept++] = job;
        } else {
            job_free(job);
        }
    }
    jobs->all.count = kept;
    jobs->ended.count -= n_cleaned;
    memmove(jobs->ended.items, jobs->ended.items + n_cleaned,
            (size_t)jobs->ended.count * sizeof(*jobs->ended.items));
}

int jobs_clean(struct jobs *jobs, int64_t before_ms, int max, jobs_clean_fn on_clean,
               void *arg, struct effects *effects)
{
    int count = 0;
    while (count < max && count < jobs->ended.count &&
           jobs->ended.items[count]->end_ms <= before_ms) {
        struct job *job = jobs->ended.items[count++];
        on_clean(arg, job);
        effects_store(effects, &(struct row){.kind = ROW_JOB_STATE,
                                             .job_state = {.id = job->id,
                                                           .lease = "",
                                                           .exit = {.text = ""},
                                                           .reason = "",
                                                           .is_gone = true}});
        free(job->spec);
        job->spec = NULL;
    }
    if (count > 0) {
        remove_cleaned(jobs, count);
    }
    return count;
}
