/* SPDX-License-Identifier: Apache-2.0 */
/* usage_jobs.c: who a job is, and which jobs run on leases. */
#include <stdlib.h>
#include <string.h>

#define uthash_fatal(text) abort() /* out of memory, as everywhere */
#include <uthash.h>

#include "model/job_id.h"
#include "usage/usage.h"

struct name {
    uint64_t site, key; /* of a submission: its id; of a run: job_id_key */
};

/* As submitted; the texts are in one piece of memory, at owner.user. Many jobs share
 * it.
 */
struct facts {
    char *text; /* lines */
    struct usage_owner owner;
    int n_jobs;
    UT_hash_handle hh;
};

struct submitted {
    struct name name;
    struct facts *facts;
    UT_hash_handle hh;
};

/* A run on a lease: of a job of the consumer, or a consumer's here. */
struct followed {
    char *lease, *job;
    enum usage_side side;
    struct facts *facts; /* of the consumer, with the queue that the job is in now */
    uint64_t attempt;
    int64_t start_ms;       /* 0: it has used nothing yet */
    int64_t used_ms, at_ms; /* booked until then, and n_slots since */
    int n_slots, n_most;    /* most: that it ever had, or is to have */
    int64_t last_ms;        /* of the latest change */
};

struct running {
    struct name name;
    struct followed run;
    UT_hash_handle hh;
};

/* A consumer's run here. */
struct lent {
    char *name; /* "SITE ATTEMPT" of its consumer */
    struct followed run;
    UT_hash_handle hh;
};

/* A run as it is now, with copies of its texts. */
struct noted {
    struct usage_run run;
    struct noted *next;
};

struct usage_jobs {
    struct usage *usage;
    struct lent *lent;
    struct facts *facts;
    struct submitted *jobs;
    struct running *runs;
    struct noted *noted; /* in `noted_memory`; the latest is the first */
    struct arena noted_memory;
    struct arena scratch; /* of one call */
};

struct usage_jobs *usage_jobs_new(struct usage *usage)
{
    struct usage_jobs *jobs = mem_alloc(1, sizeof *jobs);

    jobs->usage = usage;
    arena_init(&jobs->scratch);
    arena_init(&jobs->noted_memory);
    return jobs;
}

/* ---- facts */

static char *cut_line(char **at)
{
    char *line = *at;

    *at += strcspn(*at, "\n");
    if (**at) {
        *(*at)++ = '\0';
    }
    return line;
}

static struct facts *take_facts(struct usage_jobs *jobs,
                                const struct usage_owner *owner)
{
    const char *text = arena_printf(&jobs->scratch, "%s\n%s\n%s\n%s", owner->user,
                                    owner->queue, owner->project, owner->account);
    size_t size = strlen(text) + 1;
    struct facts *facts;

    HASH_FIND_STR(jobs->facts, text, facts);
    if (!facts) {
        facts = mem_alloc(1, sizeof *facts);
        facts->text = memcpy(mem_alloc(size, 1), text, size);
        char *at = memcpy(mem_alloc(size, 1), text, size);
        facts->owner.user = cut_line(&at);
        facts->owner.queue = cut_line(&at);
        facts->owner.project = cut_line(&at);
        facts->owner.account = cut_line(&at);
        HASH_ADD_KEYPTR(hh, jobs->facts, facts->text, size - 1, facts);
    }
    facts->n_jobs++;
    return facts;
}

static void leave_facts(struct usage_jobs *jobs, struct facts *facts)
{
    if (--facts->n_jobs == 0) {
        HASH_DEL(jobs->facts, facts);
        free((char *)facts->owner.user);
        free(facts->text);
        free(facts);
    }
}

/* ---- submissions */

static struct submitted *find_job(struct usage_jobs *jobs, int site, uint64_t id)
{
    struct name name = {(uint64_t)site, id};
    struct submitted *job;

    HASH_FIND(hh, jobs->jobs, &name, sizeof name, job);
    return job;
}

static void drop_job(struct usage_jobs *jobs, struct submitted *job)
{
    HASH_DEL(jobs->jobs, job);
    leave_facts(jobs, job->facts);
    free(job);
}

static const char *text_or(const char *text, const char *otherwise)
{
    return text && text[0] ? text : otherwise;
}

/* A submission may be stored again, after a change. */
static void take_submission(struct usage_jobs *jobs, int site,
                            const struct row_job *row)
{
    struct submitted *job = find_job(jobs, site, row->id);
    struct usage_owner owner = {.user = text_or(row->spec.user, ""),
                                .queue = text_or(row->spec.queue, ""),
                                .project = text_or(row->terms.project, "default"),
                                .account = text_or(row->terms.user_group, "")};
    struct facts *facts = take_facts(jobs, &owner);

    if (job) {
        leave_facts(jobs, job->facts);
    } else {
        job = mem_alloc(1, sizeof *job);
        job->name = (struct name){(uint64_t)site, row->id};
        HASH_ADD(hh, jobs->jobs, name, sizeof job->name, job);
    }
    job->facts = facts;
}

/* ---- runs */

static void note_run(struct usage_jobs *jobs, const struct followed *run, bool is_ended)
{
    struct arena *arena = &jobs->noted_memory;
    struct noted *noted = arena_alloc(arena, 1, sizeof *noted);

    noted->run = (struct usage_run){.lease = arena_str(arena, run->lease),
                                    .side = run->side,
                                    .attempt = run->attempt,
                                    .job = arena_str(arena, run->job),
                                    .start_ms = run->start_ms,
                                    .end_ms = is_ended ? run->last_ms : USAGE_OPEN,
                                    .used_ms = run->used_ms,
                                    .at_ms = run->at_ms,
                                    .n_slots = run->n_slots};
    noted->next = jobs->noted;
    jobs->noted = noted;
}

void usage_jobs_each_run(struct usage_jobs *jobs, usage_run_fn fn, void *arg)
{
    const struct noted **runs;
    int count = 0, at = 0;

    for (const struct noted *noted = jobs->noted; noted; noted = noted->next) {
        count++;
    }
    runs = arena_alloc(&jobs->scratch, (size_t)count + 1, sizeof *runs);
    for (const struct noted *noted = jobs->noted; noted; noted = noted->next) {
        runs[count - ++at] = noted;
    }
    for (int i = 0; i < count; i++) {
        fn(arg, &runs[i]->run);
    }
    arena_clear(&jobs->scratch);
}

void usage_jobs_clear(struct usage_jobs *jobs)
{
    jobs->noted = NULL;
    arena_clear(&jobs->noted_memory);
}

static const struct usage_owner *owner_of(const struct followed *run)
{
    static const struct usage_owner nobody = {"", "", "", ""};

    return run->facts ? &run->facts->owner : &nobody;
}

/* Slot time before an instant that was not known: at its end, as the run had its slots
 * until then. */
static void correct_sum(struct usage_jobs *jobs, const struct followed *run,
                        int64_t slot_ms, int64_t before_ms)
{
    int sign = slot_ms < 0 ? -1 : 1, n_most = run->n_most > 0 ? run->n_most : 1;
    int64_t length_ms = slot_ms * sign / n_most, rest_ms = slot_ms * sign % n_most;
    int64_t from_ms = before_ms - length_ms;
    struct usage *usage = jobs->usage;

    usage_correct(usage, run->lease, run->side, owner_of(run), sign * n_most, from_ms,
                  before_ms);
    usage_correct(usage, run->lease, run->side, owner_of(run), sign, from_ms - rest_ms,
                  from_ms);
}

/* So many slots from now on. */
static void set_slots(struct usage_jobs *jobs, struct followed *run, int n_slots,
                      int64_t now_ms)
{
    int64_t at_ms = usage_clock(jobs->usage, now_ms);

    if (at_ms > run->at_ms) {
        run->used_ms += run->n_slots * (at_ms - run->at_ms);
    }
    run->at_ms = at_ms;
    if (n_slots != run->n_slots) {
        usage_change(jobs->usage, run->lease, run->side, owner_of(run),
                     n_slots - run->n_slots, now_ms);
        run->n_slots = n_slots;
        run->n_most = n_slots > run->n_most ? n_slots : run->n_most;
        run->start_ms = run->start_ms ? run->start_ms : at_ms;
        run->last_ms = at_ms;
    }
}

/* As the provider has it: what is booked is corrected. */
static void take_use(struct usage_jobs *jobs, struct followed *run,
                     const struct run_use *use, int64_t now_ms)
{
    int n_before = run->n_slots;

    set_slots(jobs, run, use->n_slots, now_ms);
    int64_t since_ms = run->at_ms - use->at_ms;
    int64_t used_ms = use->used_ms + use->n_slots * since_ms;
    int64_t rest_ms = use->used_ms + n_before * since_ms - run->used_ms;
    usage_correct(jobs->usage, run->lease, run->side, owner_of(run),
                  use->n_slots - n_before, use->at_ms, run->at_ms);
    if (rest_ms != 0) {
        correct_sum(jobs, run, rest_ms, use->at_ms);
    }
    run->used_ms = used_ms;
    run->start_ms = use->start_ms;
    run->last_ms = use->at_ms;
}

/* `use` without an instant: the provider does not tell. Notes what has changed. */
static void follow(struct usage_jobs *jobs, struct followed *run,
                   const struct run_use *use, int n_slots, int64_t now_ms)
{
    int64_t last_ms = run->last_ms, start_ms = run->start_ms;

    if (use->at_ms != 0) {
        take_use(jobs, run, use, now_ms);
    } else {
        set_slots(jobs, run, n_slots, now_ms);
    }
    if (run->last_ms != last_ms || run->start_ms != start_ms) {
        note_run(jobs, run, false);
    }
}

static void begin_followed(struct followed *run, const char *lease, const char *job,
                           uint64_t attempt, enum usage_side side)
{
    size_t size = strlen(lease) + 1, job_size = strlen(job) + 1;

    run->lease = memcpy(mem_alloc(size + job_size, 1), lease, size);
    run->job = memcpy(run->lease + size, job, job_size);
    run->attempt = attempt;
    run->side = side;
}

/* It ends where its provider said so, or now. */
static void end_followed(struct usage_jobs *jobs, struct followed *run, int64_t now_ms)
{
    set_slots(jobs, run, 0, now_ms);
    if (run->start_ms != 0) {
        note_run(jobs, run, true);
    }
}

static void drop_followed(struct usage_jobs *jobs, struct followed *run)
{
    if (run->facts) {
        leave_facts(jobs, run->facts);
    }
    free(run->lease);
}

static void drop_run(struct usage_jobs *jobs, struct running *run)
{
    HASH_DEL(jobs->runs, run);
    drop_followed(jobs, &run->run);
    free(run);
}

static void end_run(struct usage_jobs *jobs, struct running *run, int64_t now_ms)
{
    end_followed(jobs, &run->run, now_ms);
    drop_run(jobs, run);
}

/* The facts of the job, in the queue that it is in now. */
static struct facts *facts_of(struct usage_jobs *jobs, int site,
                              const struct row_job_state *row)
{
    const struct submitted *job = find_job(jobs, site, row->id);
    struct usage_owner owner =
        job ? job->facts->owner : (struct usage_owner){"", "", "", ""};

    owner.queue = text_or(row->queue, owner.queue);
    return take_facts(jobs, &owner);
}

/* Of a journal of before: the time since its start is booked. */
static void begin_untold(struct usage_jobs *jobs, struct followed *run,
                         const struct row_job_state *row, int64_t now_ms)
{
    int64_t at_ms = usage_clock(jobs->usage, now_ms);
    int n_slots = msg_sum_slots(row->hosts, row->n_hosts);

    run->at_ms = at_ms;
    run->used_ms = row->start_ms > 0 && row->start_ms < at_ms
                       ? n_slots * (at_ms - row->start_ms)
                       : 0;
}

static struct running *begin_run(struct usage_jobs *jobs, int site,
                                 const struct row_job_state *row, int64_t now_ms)
{
    struct running *run = mem_alloc(1, sizeof *run);
    const char *job = job_id_text(&jobs->scratch, row->id, row->index);

    run->name = (struct name){(uint64_t)site, job_id_key(row->id, row->index)};
    begin_followed(&run->run, row->lease, job, row->attempt, USAGE_CONSUMER);
    run->run.n_most = msg_sum_slots(row->hosts, row->n_hosts);
    run->run.facts = facts_of(jobs, site, row);
    if (row->use.at_ms == 0 && row->state == JOB_RUN) {
        begin_untold(jobs, &run->run, row, now_ms);
    }
    HASH_ADD(hh, jobs->runs, name, sizeof run->name, run);
    return run;
}

/* A job may be moved to another queue while it runs. */
static void update_facts(struct usage_jobs *jobs, struct followed *run, int site,
                         const struct row_job_state *row, int64_t now_ms)
{
    struct facts *facts = facts_of(jobs, site, row);
    int n_slots = run->n_slots;
    int64_t last_ms = run->last_ms;

    if (facts != run->facts && n_slots != 0) {
        set_slots(jobs, run, 0, now_ms);
        leave_facts(jobs, run->facts);
        run->facts = facts;
        set_slots(jobs, run, n_slots, now_ms);
        run->last_ms = last_ms; /* its use has not changed */
    } else {
        leave_facts(jobs, run->facts);
        run->facts = facts;
    }
}

static bool has_ended(const struct row_job_state *row)
{
    return row->is_gone || row->state == JOB_DONE || row->state == JOB_EXIT;
}

static void take_state(struct usage_jobs *jobs, int site,
                       const struct row_job_state *row, int64_t now_ms)
{
    struct name name = {(uint64_t)site, job_id_key(row->id, row->index)};
    bool is_on_lease = row->lease && row->lease[0] && !has_ended(row);
    int n_slots = is_on_lease && row->state == JOB_RUN
                      ? msg_sum_slots(row->hosts, row->n_hosts)
                      : 0;
    struct running *run;

    if (row->state == JOB_UNKWN && !row->is_gone && row->use.at_ms == 0) {
        return; /* it may still run, and is counted until that is known */
    }
    HASH_FIND(hh, jobs->runs, &name, sizeof name, run);
    if (run && is_on_lease &&
        (run->run.attempt != row->attempt || strcmp(run->run.lease, row->lease))) {
        end_run(jobs, run, now_ms);
        run = NULL;
    }
    if (!run && is_on_lease) {
        run = begin_run(jobs, site, row, now_ms);
    }
    if (run) {
        if (is_on_lease) {
            update_facts(jobs, &run->run, site, row, now_ms);
        }
        follow(jobs, &run->run, &row->use, n_slots, now_ms);
    }
    if (run && !is_on_lease) {
        end_run(jobs, run, now_ms);
    }
    struct submitted *job = row->is_gone ? find_job(jobs, site, row->id) : NULL;
    if (job) {
        drop_job(jobs, job);
    }
}

/* ---- runs of consumers */

static void drop_lent(struct usage_jobs *jobs, struct lent *lent)
{
    HASH_DEL(jobs->lent, lent);
    drop_followed(jobs, &lent->run);
    free(lent->name);
    free(lent);
}

static struct lent *begin_lent(struct usage_jobs *jobs, const char *name,
                               const struct row_run *row)
{
    size_t size = strlen(name) + 1;
    struct lent *lent = mem_alloc(1, sizeof *lent);

    lent->name = memcpy(mem_alloc(size, 1), name, size);
    begin_followed(&lent->run, row->lease, text_or(row->job, ""), row->run.attempt,
                   USAGE_LENT);
    HASH_ADD_KEYPTR(hh, jobs->lent, lent->name, size - 1, lent);
    return lent;
}

static void take_run(struct usage_jobs *jobs, const struct row_run *row, int64_t now_ms)
{
    const char *name = arena_printf(&jobs->scratch, "%s %llu", row->run.site,
                                    (unsigned long long)row->run.attempt);
    bool is_over = row->is_gone || row->record == RUN_RECORD_ENDED;
    bool is_used = !is_over && row->control.action != CONTROL_SUSPEND;
    int n_slots = is_used ? msg_sum_slots(row->hosts, row->n_hosts) : 0;
    struct lent *lent;

    HASH_FIND_STR(jobs->lent, name, lent);
    if (!lent && !is_over && row->lease && row->lease[0]) {
        lent = begin_lent(jobs, name, row);
    }
    if (lent) {
        follow(jobs, &lent->run, &row->use, n_slots, now_ms);
    }
    if (lent && is_over) {
        end_followed(jobs, &lent->run, now_ms);
        drop_lent(jobs, lent);
    }
}

void usage_jobs_stored(struct usage_jobs *jobs, int site, const struct row *row,
                       int64_t now_ms)
{
    if (row->kind == ROW_JOB) {
        take_submission(jobs, site, &row->job);
    } else if (row->kind == ROW_JOB_STATE) {
        take_state(jobs, site, &row->job_state, now_ms);
    } else if (row->kind == ROW_RUN) {
        take_run(jobs, &row->run, now_ms);
    }
    arena_clear(&jobs->scratch);
}

void usage_jobs_free(struct usage_jobs *jobs)
{
    struct submitted *job, *next_job;
    struct running *run, *next_run;
    struct lent *lent, *next_lent;

    if (!jobs) {
        return;
    }
    HASH_ITER (hh, jobs->lent, lent, next_lent) {
        drop_lent(jobs, lent);
    }
    HASH_ITER (hh, jobs->jobs, job, next_job) {
        drop_job(jobs, job);
    }
    HASH_ITER (hh, jobs->runs, run, next_run) {
        drop_run(jobs, run);
    }
    arena_release(&jobs->noted_memory);
    arena_release(&jobs->scratch);
    free(jobs);
}
