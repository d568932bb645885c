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

struct running {
    struct name name;
    char *lease;
    struct facts *facts; /* with the queue that the job is in now */
    int n_slots;
    UT_hash_handle hh;
};

/* A consumer's run here. */
struct lent {
    char *name;  /* "SITE ATTEMPT" of its consumer */
    char *lease; /* in the same piece of memory */
    int n_slots;
    UT_hash_handle hh;
};

struct usage_jobs {
    struct usage *usage;
    struct lent *lent;
    struct facts *facts;
    struct submitted *jobs;
    struct running *runs;
    struct arena scratch; /* of one call */
};

struct usage_jobs *usage_jobs_new(struct usage *usage)
{
    struct usage_jobs *jobs = mem_alloc(1, sizeof *jobs);

    jobs->usage = usage;
    arena_init(&jobs->scratch);
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

static void drop_run(struct usage_jobs *jobs, struct running *run)
{
    HASH_DEL(jobs->runs, run);
    leave_facts(jobs, run->facts);
    free(run->lease);
    free(run);
}

static void end_run(struct usage_jobs *jobs, struct running *run, int64_t now_ms)
{
    usage_change(jobs->usage, run->lease, USAGE_CONSUMER, &run->facts->owner,
                 -run->n_slots, now_ms);
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

static void start_run(struct usage_jobs *jobs, int site,
                      const struct row_job_state *row, int64_t now_ms)
{
    struct running *run = mem_alloc(1, sizeof *run);
    size_t size = strlen(row->lease) + 1;

    run->name = (struct name){(uint64_t)site, job_id_key(row->id, row->index)};
    run->lease = memcpy(mem_alloc(size, 1), row->lease, size);
    run->facts = facts_of(jobs, site, row);
    run->n_slots = msg_sum_slots(row->hosts, row->n_hosts);
    HASH_ADD(hh, jobs->runs, name, sizeof run->name, run);
    usage_change(jobs->usage, run->lease, USAGE_CONSUMER, &run->facts->owner,
                 run->n_slots, now_ms);
}

/* The row differs from what the run is booked as. */
static bool is_other(struct usage_jobs *jobs, const struct running *run, int site,
                     const struct row_job_state *row)
{
    struct facts *facts = facts_of(jobs, site, row);
    bool is_other = strcmp(run->lease, row->lease) != 0 || run->facts != facts ||
                    run->n_slots != msg_sum_slots(row->hosts, row->n_hosts);

    leave_facts(jobs, facts);
    return is_other;
}

static void take_state(struct usage_jobs *jobs, int site,
                       const struct row_job_state *row, int64_t now_ms)
{
    struct name name = {(uint64_t)site, job_id_key(row->id, row->index)};
    bool runs = row->state == JOB_RUN && !row->is_gone && row->lease && row->lease[0];
    struct running *run;

    if (row->state == JOB_UNKWN && !row->is_gone) {
        return; /* it may still run, and is counted until that is known */
    }
    HASH_FIND(hh, jobs->runs, &name, sizeof name, run);
    if (run && (!runs || is_other(jobs, run, site, row))) {
        end_run(jobs, run, now_ms);
        run = NULL;
    }
    if (runs && !run) {
        start_run(jobs, site, row, now_ms);
    }
    struct submitted *job = row->is_gone ? find_job(jobs, site, row->id) : NULL;
    if (job) {
        drop_job(jobs, job);
    }
}

/* ---- runs of consumers */

static void end_lent(struct usage_jobs *jobs, struct lent *lent, int64_t now_ms)
{
    static const struct usage_owner nobody = {"", "", "", ""};

    usage_change(jobs->usage, lent->lease, USAGE_LENT, &nobody, -lent->n_slots, now_ms);
    HASH_DEL(jobs->lent, lent);
    free(lent->name);
    free(lent);
}

static void start_lent(struct usage_jobs *jobs, const char *name,
                       const struct row_run *row, int n_slots, int64_t now_ms)
{
    static const struct usage_owner nobody = {"", "", "", ""};
    size_t size = strlen(name) + 1, lease_size = strlen(row->lease) + 1;
    struct lent *lent = mem_alloc(1, sizeof *lent);

    lent->name = memcpy(mem_alloc(size + lease_size, 1), name, size);
    lent->lease = memcpy(lent->name + size, row->lease, lease_size);
    lent->n_slots = n_slots;
    HASH_ADD_KEYPTR(hh, jobs->lent, lent->name, size - 1, lent);
    usage_change(jobs->usage, lent->lease, USAGE_LENT, &nobody, n_slots, now_ms);
}

static void take_run(struct usage_jobs *jobs, const struct row_run *row, int64_t now_ms)
{
    const char *name = arena_printf(&jobs->scratch, "%s %llu", row->run.site,
                                    (unsigned long long)row->run.attempt);
    bool runs = !row->is_gone && row->record != RUN_RECORD_ENDED &&
                row->control.action != CONTROL_SUSPEND;
    int n_slots = runs ? msg_sum_slots(row->hosts, row->n_hosts) : 0;
    struct lent *lent;

    HASH_FIND_STR(jobs->lent, name, lent);
    if (lent && lent->n_slots != n_slots) {
        end_lent(jobs, lent, now_ms);
        lent = NULL;
    }
    if (!lent && n_slots > 0 && row->lease && row->lease[0]) {
        start_lent(jobs, name, row, n_slots, now_ms);
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
        HASH_DEL(jobs->lent, lent);
        free(lent->name);
        free(lent);
    }
    HASH_ITER (hh, jobs->jobs, job, next_job) {
        drop_job(jobs, job);
    }
    HASH_ITER (hh, jobs->runs, run, next_run) {
        drop_run(jobs, run);
    }
    arena_release(&jobs->scratch);
    free(jobs);
}
