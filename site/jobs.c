/* SPDX-License-Identifier: Apache-2.0 */
/* jobs.c: see jobs.h. The table is an array sorted by id; beside it stand the lines of
 * waiting jobs, and three sorted indexes: waiting jobs that are held until an instant,
 * the open attempts, the ended jobs. */
#include "site/jobs.h"

#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/job_id.h"
#include "sched/depend.h"
#include "site/depends.h"
#include "site/job_list.h"
#include "site/keep.h"

struct submission {
    struct job_spec *spec;
    struct job_terms terms; /* texts are its own */
    int n_jobs;             /* of it in the table */
    int n_unfinished;       /* of those */
    int n_open;             /* with an attempt */
    int max_open;           /* "%limit" of an array's name; 0: any number */
};

struct jobs {
    const struct queue_config *queues;
    int n_queues;
    struct limits *limits;
    int64_t now_ms;
    struct arena scratch;
    struct depends *depends;
    int64_t first_place, last_place; /* that btop and bbot have given */
    struct job_list all;
    struct lines *lines;        /* waiting ones that may start */
    struct job_list held;       /* waiting ones until an instant, by it */
    int64_t n_waiting_slots;    /* of all waiting ones */
    struct job_list open;       /* by attempt */
    struct job_list ended;      /* in the order of their ends */
    int n_by_state[JOB_STATES]; /* of all that stand in the indexes */
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
    return row_exit_code(&job->exit, code);
}

bool jobs_is_ended(const struct job *job)
{
    return job->state == JOB_DONE || job->state == JOB_EXIT;
}

bool jobs_is_array_ended(const struct job *job)
{
    return job->index != 0 && job->submission->n_unfinished == 0;
}

/* ---------------------------------------------------------------- indexes */

static bool should_wait(const struct job *job)
{
    return job->state == JOB_PEND && job->attempt == 0;
}

static bool should_be_open(const struct job *job)
{
    return job->attempt != 0 && !jobs_is_ended(job);
}

/* All that makes jobs alike, as a line's name. */
static const char *line_name(struct jobs *jobs, const struct job *job)
{
    const struct job_spec *spec = job->spec;
    bool is_limited = job->submission->max_open > 0;
    arena_clear(&jobs->scratch);
    const char *name = arena_printf(
        &jobs->scratch, "%d|%s|%d|%llu|%s", job->queue, spec->user, spec->n_slots,
        (unsigned long long)(is_limited ? job->id : 0), job->terms->project);
    for (int i = 0; i < spec->n_hosts_asked; i++) {
        name = arena_printf(&jobs->scratch, "%s|%s", name, spec->hosts_asked[i]);
    }
    for (int i = 0; i < spec->n_res_reqs; i++) {
        name = arena_printf(&jobs->scratch, "%s|-R%s", name, spec->res_reqs[i]);
    }
    return name;
}

/* What the job waits for before it may stand in line. */
static enum reason hold_of(const struct jobs *jobs, const struct job *job,
                           int64_t *until_ms)
{
    *until_ms = INT64_MAX;
    if (job->queue < 0) {
        return REASON_QUEUE_GONE;
    }
    if (!job->is_released) {
        return job->is_never ? REASON_DEPENDENCY_NEVER : REASON_DEPENDENCY;
    }
    if (job->terms->begin_ms > jobs->now_ms) {
        *until_ms = job->terms->begin_ms;
        return REASON_BEGIN_TIME;
    }
    if (job->retry_ms > jobs->now_ms) {
        *until_ms = job->retry_ms;
        return REASON_RETRY;
    }
    return REASON_NEW;
}

static void look(void *arg, uint64_t id, int index, struct depend_facts *facts);

static void judge(struct jobs *jobs, struct job *job)
{
    enum depend_verdict verdict =
        depend_judge(job->terms->depend_on, job->index, look, jobs);
    job->is_released = verdict == DEPEND_MET;
    job->is_never = verdict == DEPEND_NEVER;
}

/* What it waits for must not be forgotten while it waits, and says when it changes. */
static void watch(struct jobs *jobs, struct job *job, bool is_watching)
{
    if (job->is_watching == is_watching || job->terms->depend_on[0] == '\0') {
        return;
    }
    job->is_watching = is_watching;
    if (is_watching) {
        depends_add(jobs->depends, jobs_key(job), job->terms->depend_on);
    } else {
        depends_remove(jobs->depends, jobs_key(job), job->terms->depend_on);
    }
}

static void wait_in_line(struct jobs *jobs, struct job *job)
{
    jobs->n_waiting_slots += job->spec->n_slots;
    if (!job->is_released) {
        judge(jobs, job);
    }
    job->hold = hold_of(jobs, job, &job->hold_ms);
    if (job->hold == REASON_NEW) {
        job->turn.key = jobs_key(job);
        job->turn.priority = job->terms->priority;
        job->line = line_add(jobs->lines, line_name(jobs, job), &job->turn);
    } else if (job->hold_ms != INT64_MAX) {
        job_list_insert(&jobs->held, job,
                        job_list_place(&jobs->held, job, job_list_by_hold));
    }
}

static void leave_line(struct jobs *jobs, struct job *job)
{
    jobs->n_waiting_slots -= job->spec->n_slots;
    if (job->line != NULL) {
        line_remove(jobs->lines, job->line, &job->turn);
        job->line = NULL;
    } else if (job->hold_ms != INT64_MAX) {
        job_list_remove(&jobs->held, job, job_list_by_hold);
    }
}

static void count_open(struct jobs *jobs, struct job *job, int sign)
{
    job->submission->n_open += sign;
    limits_count(jobs->limits, job->class, job->hosts, job->n_hosts, sign);
}

/* Takes the job out of the indexes before its key or state changes ... */
static void unindex(struct jobs *jobs, struct job *job)
{
    if (should_wait(job)) {
        leave_line(jobs, job);
    }
    if (job->is_open) {
        count_open(jobs, job, -1);
        job_list_remove(&jobs->open, job, job_list_by_attempt);
    }
    job->is_open = false;
    jobs->n_by_state[job->state]--;
}

/* It may stand in line again, or will when it is resumed. */
static bool may_wait(const struct job *job)
{
    return job->attempt == 0 && !jobs_is_ended(job);
}

/* ... and puts it back where it belongs. */
static void reindex(struct jobs *jobs, struct job *job)
{
    jobs->n_by_state[job->state]++;
    job->is_open = should_be_open(job);
    watch(jobs, job, may_wait(job));
    depends_note(jobs->depends, jobs_key(job));
    if (should_wait(job)) {
        wait_in_line(jobs, job);
    }
    if (job->is_open) {
        count_open(jobs, job, 1);
        job_list_insert(&jobs->open, job,
                        job_list_place(&jobs->open, job, job_list_by_attempt));
    }
}

/* ---------------------------------------------------------------- life of the table */

struct jobs *jobs_new(const struct queue_config *queues, int n_queues,
                      struct limits *limits)
{
    struct jobs *jobs = mem_alloc(1, sizeof(*jobs));
    jobs->queues = queues;
    jobs->n_queues = n_queues;
    jobs->limits = limits;
    jobs->lines = lines_new();
    jobs->depends = depends_new();
    arena_init(&jobs->scratch);
    return jobs;
}

/* Most jobs have none of them: those share one empty text. */
static const char *keep_term(const char *text)
{
    return text == NULL || text[0] == '\0' ? "" : keep_text(text);
}

static void free_term(const char *text)
{
    if (text[0] != '\0') {
        free((char *)(uintptr_t)text);
    }
}

static struct submission *submission_new(const struct row_job *row)
{
    struct submission *submission = mem_alloc(1, sizeof(*submission));
    submission->spec = keep_spec(&row->spec);
    submission->terms = row->terms;
    submission->terms.depend = keep_term(row->terms.depend);
    submission->terms.depend_on = keep_term(row->terms.depend_on);
    submission->terms.project = keep_term(row->terms.project);
    submission->max_open = job_id_name_limit(row->spec.name);
    return submission;
}

/* The last one takes the submission with it. */
static void leave_submission(struct job *job)
{
    struct submission *submission = job->submission;
    job->submission = NULL;
    job->spec = NULL;
    if (submission != NULL && --submission->n_jobs == 0) {
        free_term(submission->terms.depend);
        free_term(submission->terms.depend_on);
        free_term(submission->terms.project);
        free(submission->spec);
        free(submission);
    }
}

static void job_free(struct jobs *jobs, struct job *job)
{
    leave_submission(job);
    limits_leave(jobs->limits, job->class);
    free(job->switched_queue);
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
        job_free(jobs, jobs->all.items[i]);
    }
    lines_free(jobs->lines);
    depends_free(jobs->depends);
    arena_release(&jobs->scratch);
    free(jobs->all.items);
    free(jobs->held.items);
    free(jobs->open.items);
    free(jobs->ended.items);
    free(jobs);
}

/* To the limits it is another job then. */
static void enter_queue(struct jobs *jobs, struct job *job, const char *name)
{
    const char *project = job->terms->project;
    job->queue = -1;
    for (int i = 0; i < jobs->n_queues; i++) {
        if (strcmp(jobs->queues[i].name, name) == 0) {
            job->queue = i;
        }
    }
    limits_leave(jobs->limits, job->class);
    job->class = limits_join(jobs->limits, job->spec->user, name,
                             project[0] != '\0' ? project : "default");
}

void jobs_reload(struct jobs *jobs, const struct queue_config *queues, int n_queues,
                 struct limits *limits)
{
    for (int i = 0; i < jobs->all.count; i++) {
        struct job *job = jobs->all.items[i];
        unindex(jobs, job);
        limits_leave(jobs->limits, job->class);
        job->class = NULL;
    }
    jobs->queues = queues;
    jobs->n_queues = n_queues;
    jobs->limits = limits;
    for (int i = 0; i < jobs->all.count; i++) {
        struct job *job = jobs->all.items[i];
        enter_queue(jobs, job, jobs_queue_name(job));
        reindex(jobs, job);
    }
}

static struct job *job_new(struct jobs *jobs, const struct row_job *row,
                           struct submission *submission, int index)
{
    struct job *job = mem_alloc(1, sizeof(*job));
    job->id = row->id;
    job->index = index;
    job->submit_ms = row->submit_ms;
    job->submission = submission;
    job->spec = submission->spec;
    submission->n_jobs++;
    submission->n_unfinished++;
    job->terms = &submission->terms;
    job->is_released = job->terms->depend_on[0] == '\0';
    enter_queue(jobs, job, row->spec.queue);
    job->state = JOB_PEND;
    job->lease = keep_text("");
    job->reason = keep_text("");
    job->exit.text = keep_text("");
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

/* Closes the gaps in the table; in no index they stand. */
static void remove_dropped(struct jobs *jobs)
{
    int kept = 0;
    for (int i = 0; i < jobs->all.count; i++) {
        struct job *job = jobs->all.items[i];
        if (!job->is_dropped) {
            jobs->all.items[kept++] = job;
            continue;
        }
        if (job->submission != NULL) {
            job->submission->n_unfinished--; /* just loaded: it had ended */
        }
        job_free(jobs, job);
    }
    jobs->all.count = kept;
}

static void load_one(struct jobs *jobs, const struct row_job *row,
                     struct submission *submission, int index)
{
    struct job *job = job_new(jobs, row, submission, index);
    job_list_insert(&jobs->all, job, job_list_place(&jobs->all, job, job_list_by_id));
}

void jobs_load(struct jobs *jobs, const struct row_job *row)
{
    struct submission *submission = submission_new(row);
    struct arena arena;
    struct job_id list;
    const int *indices = (const int[]){0};
    int n_indices = 1;
    arena_init(&arena);
    if (row->is_array &&
        job_id_read_name(&arena, row->spec.name, JOB_INDEX_MAX, &list, NULL) == 0) {
        n_indices = job_id_expand(&arena, &list, &indices);
    }
    for (int i = 0; i < n_indices; i++) {
        load_one(jobs, row, submission, indices[i]);
    }
    arena_release(&arena);
}

void jobs_load_state(struct jobs *jobs, const struct row_job_state *row)
{
    struct job *job = jobs_find(jobs, job_id_key(row->id, row->index));
    if (job == NULL) {
        return; /* a state without a job says nothing */
    }
    job->is_dropped = row->is_dropped;
    job->state = row->state;
    job->attempt = row->attempt;
    keep_set_text(&job->lease, row->lease);
    job->epoch = row->epoch;
    job->is_decided = row->is_decided;
    job->is_killed = row->is_killed;
    job->is_requeued = row->is_requeued;
    set_hosts(job, row->hosts, row->n_hosts);
    job->start_ms = row->start_ms;
    job->end_ms = row->end_ms;
    job->control = row->control;
    set_exit(job, &row->exit);
    keep_set_text(&job->reason, row->reason);
    job->is_released = job->is_released || row->is_released;
    job->turn.place = row->place;
    jobs->first_place = row->place < jobs->first_place ? row->place : jobs->first_place;
    jobs->last_place = row->place > jobs->last_place ? row->place : jobs->last_place;
    if (row->queue != NULL && row->queue[0] != '\0') {
        keep_set_text(&job->switched_queue, row->queue);
        enter_queue(jobs, job, row->queue);
    }
}

void jobs_start(struct jobs *jobs, int64_t now_ms)
{
    jobs->now_ms = now_ms;
    remove_dropped(jobs);
    for (int i = 0; i < jobs->all.count; i++) {
        struct job *job = jobs->all.items[i];
        jobs->n_by_state[job->state]++;
        job->is_open = should_be_open(job);
        watch(jobs, job, may_wait(job));
        if (should_wait(job)) {
            wait_in_line(jobs, job);
        }
        if (job->is_open) {
            count_open(jobs, job, 1);
            job_list_insert(&jobs->open, job, jobs->open.count);
        }
        if (jobs_is_ended(job)) {
            job->kept_ms = job->end_ms;
            job_list_insert(&jobs->ended, job, jobs->ended.count);
            job->submission->n_unfinished--;
        }
    }
    job_list_sort_by_attempt(&jobs->open);
    job_list_sort_by_end(&jobs->ended);
}

/* Looks again at jobs whose condition speaks of one that has changed. */
static bool judge_again(struct jobs *jobs)
{
    bool has_any = false;
    uint64_t key;
    while (depends_take(jobs->depends, &key)) {
        struct job *job = jobs_find(jobs, key);
        if (job != NULL && !job->is_released && should_wait(job)) {
            leave_line(jobs, job);
            wait_in_line(jobs, job);
            has_any = has_any || job->is_released;
        }
    }
    return has_any;
}

bool jobs_pass(struct jobs *jobs, int64_t now_ms)
{
    jobs->now_ms = now_ms;
    bool has_any = judge_again(jobs);
    while (jobs->held.count > 0 && jobs->held.items[0]->hold_ms <= now_ms) {
        struct job *job = jobs->held.items[0];
        unindex(jobs, job);
        reindex(jobs, job);
        has_any = true;
    }
    return has_any;
}

int64_t jobs_hold_ms(const struct jobs *jobs)
{
    return jobs->held.count > 0 ? jobs->held.items[0]->hold_ms : INT64_MAX;
}

void jobs_retry_all(struct jobs *jobs)
{
    int at = 0;
    while (at < jobs->held.count) {
        struct job *job = jobs->held.items[at];
        if (job->hold == REASON_RETRY) {
            unindex(jobs, job); /* the next one moves up */
            job->retry_ms = 0;
            reindex(jobs, job);
        } else {
            at++;
        }
    }
}

struct job *jobs_add_array(struct jobs *jobs, const struct row_job *row,
                           const int *indices, int n_indices)
{
    struct submission *submission = submission_new(row);
    int first = jobs->all.count;
    for (int i = 0; i < n_indices; i++) {
        struct job *job = job_new(jobs, row, submission, indices[i]);
        job_list_insert(&jobs->all, job, jobs->all.count);
        reindex(jobs, job);
    }
    return jobs->all.items[first];
}

struct job *jobs_add(struct jobs *jobs, const struct row_job *row)
{
    return jobs_add_array(jobs, row, (const int[]){0}, 1);
}

void jobs_store_spec(const struct job *job, struct effects *effects)
{
    struct row row = {.kind = ROW_JOB,
                      .job = {.id = job->id,
                              .submit_ms = job->submit_ms,
                              .is_array = job->index != 0}};
    struct row copy;
    row.job.spec = *job->spec;
    row.job.terms = *job->terms;
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
                .index = job->index,
                .state = job->state,
                .attempt = job->attempt,
                .lease = job->lease,
                .epoch = job->epoch,
                .is_decided = job->is_decided,
                .is_killed = job->is_killed,
                .is_requeued = job->is_requeued,
                .hosts = job->hosts,
                .n_hosts = job->n_hosts,
                .start_ms = job->start_ms,
                .end_ms = job->end_ms,
                .control = job->control,
                .exit = job->exit,
                .reason = job->reason,
                .queue = job->switched_queue != NULL ? job->switched_queue : "",
                .place = job->turn.place,
                .is_released = job->is_released && job->terms->depend_on[0] != '\0',
            },
    };
    struct row copy;
    row_copy(&effects->arena, &row, &copy);
    effects_store(effects, &copy);
}

/* ---------------------------------------------------------------- looking */

uint64_t jobs_key(const struct job *job)
{
    return job_id_key(job->id, job->index);
}

struct job *jobs_find(const struct jobs *jobs, uint64_t key)
{
    struct job wanted = {.id = job_id_key_number(key), .index = job_id_key_index(key)};
    return job_list_find(&jobs->all, &wanted, job_list_by_id);
}

int jobs_place_of(const struct jobs *jobs, uint64_t id)
{
    return job_list_place(&jobs->all, &(struct job){.id = id}, job_list_by_id);
}

struct job *jobs_find_attempt(const struct jobs *jobs, uint64_t attempt)
{
    return job_list_find(&jobs->open, &(struct job){.attempt = attempt},
                         job_list_by_attempt);
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

int64_t jobs_waiting_slots(const struct jobs *jobs)
{
    return jobs->n_waiting_slots;
}

const struct lines *jobs_lines(const struct jobs *jobs)
{
    return jobs->lines;
}

struct job *jobs_of_turn(struct line_turn *turn)
{
    return (struct job *)(void *)((char *)turn - offsetof(struct job, turn));
}

int jobs_array_room(const struct job *job)
{
    int max_open = job->submission->max_open, n_open = job->submission->n_open;
    return max_open == 0 ? INT_MAX : max_open > n_open ? max_open - n_open : 0;
}

int jobs_count_state(const struct jobs *jobs, enum job_state state)
{
    return jobs->n_by_state[state];
}

int jobs_count_open(const struct jobs *jobs)
{
    return jobs->open.count;
}

struct job *jobs_open_at(const struct jobs *jobs, int index)
{
    return jobs->open.items[index];
}

/* What a condition looks at: one job, or all there is of the id. */
static void look(void *arg, uint64_t id, int index, struct depend_facts *facts)
{
    struct jobs *jobs = arg;
    *facts = (struct depend_facts){0};
    for (int i = jobs_place_of(jobs, id); i < jobs->all.count; i++) {
        const struct job *job = jobs->all.items[i];
        int code = 0;
        if (job->id != id) {
            break;
        }
        if (index != DEPEND_WHOLE && job->index != index) {
            continue;
        }
        facts->n_jobs++;
        if (job->state == JOB_EXIT) {
            jobs_exit_code(job, &code);
            bool is_first = facts->n_exit++ == 0;
            facts->n_unbegun += job->start_ms == 0;
            facts->min_code =
                is_first || code < facts->min_code ? code : facts->min_code;
            facts->max_code =
                is_first || code > facts->max_code ? code : facts->max_code;
        } else if (job->state == JOB_DONE) {
            facts->n_done++;
        } else if (job->start_ms != 0) {
            facts->n_run++;
        } else {
            facts->n_pend++;
        }
    }
}

const char *jobs_queue_name(const struct job *job)
{
    return job->switched_queue != NULL ? job->switched_queue : job->spec->queue;
}

/* ---------------------------------------------------------------- turns */

void jobs_switch(struct jobs *jobs, struct job *job, int queue)
{
    unindex(jobs, job);
    keep_set_text(&job->switched_queue, jobs->queues[queue].name);
    enter_queue(jobs, job, jobs->queues[queue].name);
    reindex(jobs, job);
}

void jobs_reorder(struct jobs *jobs, struct job *job, bool to_top)
{
    unindex(jobs, job);
    job->turn.place = to_top ? --jobs->first_place : ++jobs->last_place;
    reindex(jobs, job);
}

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
    job->is_requeued = false;
    job->written_attempt = 0;
    keep_set_text(&job->reason, reason);
    reindex(jobs, job);
}

static bool is_success(const struct jobs *jobs, const struct job *job, int code)
{
    return code == 0 || (job->queue >= 0 &&
                         queue_rules_succeed(&jobs->queues[job->queue].rules, code));
}

void jobs_end(struct jobs *jobs, struct job *job, const struct run_exit *exit,
              const char *reason, int64_t end_ms)
{
    bool is_done = exit->end == RUN_END_EXITED && is_success(jobs, job, exit->code);
    unindex(jobs, job);
    job->state = is_done ? JOB_DONE : JOB_EXIT;
    set_exit(job, exit);
    if (job->start_ms == 0) {
        job->start_ms = exit->start_ms;
    }
    job->end_ms = end_ms;
    keep_set_text(&job->reason, reason);
    reindex(jobs, job);
    job->submission->n_unfinished--;
    job->kept_ms = end_ms;
    job_list_insert(&jobs->ended, job, jobs->ended.count);
}

/* ---------------------------------------------------------------- cleaning */

int64_t jobs_oldest_end_ms(const struct jobs *jobs)
{
    return jobs->ended.count > 0 ? jobs->ended.items[0]->kept_ms : INT64_MAX;
}

enum { AWAITED_MS = 60000 };

static void remove_cleaned(struct jobs *jobs, int n_cleaned)
{
    remove_dropped(jobs);
    jobs->ended.count -= n_cleaned;
    memmove(jobs->ended.items, jobs->ended.items + n_cleaned,
            (size_t)jobs->ended.count * sizeof(*jobs->ended.items));
}

/* Jobs that others wait for are due again a minute later: they go behind the others. */
static void keep_awaited(struct jobs *jobs, int64_t before_ms, int max)
{
    int kept = 0, n_awaited = 0, i = 0;
    struct job_list *ended = &jobs->ended;
    struct job **awaited = NULL;
    for (; i < max && i < ended->count && ended->items[i]->kept_ms <= before_ms; i++) {
        struct job *job = ended->items[i];
        if (depends_has(jobs->depends, job->id)) {
            awaited = mem_grow(awaited, (size_t)n_awaited + 1, sizeof(*awaited));
            awaited[n_awaited++] = job;
        } else {
            ended->items[kept++] = job;
        }
    }
    if (n_awaited == 0) {
        return;
    }
    memmove(&ended->items[kept], &ended->items[i],
            (size_t)(ended->count - i) * sizeof(*ended->items));
    ended->count -= n_awaited;
    for (i = 0; i < n_awaited; i++) {
        awaited[i]->kept_ms = before_ms + AWAITED_MS;
        job_list_insert(ended, awaited[i],
                        job_list_place(ended, awaited[i], job_list_by_kept));
    }
    free(awaited);
}

int jobs_clean(struct jobs *jobs, int64_t before_ms, int max, jobs_clean_fn on_clean,
               void *arg, struct effects *effects)
{
    int count = 0;
    keep_awaited(jobs, before_ms, max);
    while (count < max && count < jobs->ended.count &&
           jobs->ended.items[count]->kept_ms <= before_ms) {
        struct job *job = jobs->ended.items[count++];
        bool is_last = job->submission->n_jobs == 1;
        on_clean(arg, job);
        effects_store(effects, &(struct row){.kind = ROW_JOB_STATE,
                                             .job_state = {.id = job->id,
                                                           .index = job->index,
                                                           .state = job->state,
                                                           .lease = "",
                                                           .exit = {.text = ""},
                                                           .reason = "",
                                                           .queue = "",
                                                           .is_dropped = !is_last,
                                                           .is_gone = is_last}});
        job->is_dropped = true;
        jobs->n_by_state[job->state]--;
        leave_submission(job);
    }
    if (count > 0) {
        remove_cleaned(jobs, count);
    }
    return count;
}
