/* SPDX-License-Identifier: Apache-2.0 */
/* wait.c: see site_client.h. */
#include "site/client/site_client.h"

#include "base/err.h"
#include "base/value.h"
#include "model/job_id.h"
#include "site/job/job.h"

static void answer_array(const struct job *job, uint64_t link, uint64_t request,
                         struct effects *effects)
{
    struct arena *arena = &effects->arena;
    struct peer to = {.kind = PEER_CLIENT, .name = "", .link = link};
    struct value *value = value_object(arena);
    value_add_text(arena, value, "job", job_id_text(arena, job->id, 0));
    effects_reply(effects, &to, request,
                  arena_printf(arena, "All of job <%llu> has ended.",
                               (unsigned long long)job->id),
                  value, "");
}

static void answer(const struct job *job, uint64_t link, uint64_t request,
                   struct effects *effects)
{
    struct arena *arena = &effects->arena;
    struct peer to = {.kind = PEER_CLIENT, .name = "", .link = link};
    struct value *value = value_object(arena);
    int code = 0;
    bool has_code = job_exit_code(job, &code);
    value_add_text(arena, value, "job", job_id_text(arena, job->id, job->index));
    value_add_text(arena, value, "state", job_state_name(job->state));
    value_add_known(arena, value, "exit_code", has_code, code);
    const char *text = arena_printf(arena, "Job <%s> is %s%s%s.",
                                    job_id_text(arena, job->id, job->index),
                                    job->state == JOB_DONE ? "done" : "ended",
                                    job->reason[0] != '\0' ? ": " : "", job->reason);
    effects_reply(effects, &to, request, text, value, "");
}

/* The key of clients that wait for a whole array; no element has this key. */
static uint64_t array_key(const struct job *job)
{
    return job_id_key(job->id, 0);
}

void wait_request(struct waiters *waiters, const struct job_table *jobs,
                  const struct peer *from, const struct msg_wait *wait,
                  struct effects *effects)
{
    const struct job *job = job_table_lookup_const(jobs, wait->job);
    const struct job *element =
        job == NULL ? job_table_lookup_array_const(jobs, wait->job) : NULL;
    if (job == NULL && element == NULL) {
        effects_reply_error(effects, from, wait->request, ERR_NOT_FOUND,
                            "Job <%s> is not found; see `sublet jobs -a -u all`",
                            wait->job);
        return;
    }
    if (job != NULL && job_is_ended(job)) {
        answer(job, from->link, wait->request, effects);
        return;
    }
    if (element != NULL && job_is_array_ended(element)) {
        answer_array(element, from->link, wait->request, effects);
        return;
    }
    struct waiter waiter = {.kind = WAITER_JOB,
                            .key = job != NULL ? job_key(job) : array_key(element),
                            .link = from->link,
                            .request = wait->request,
                            .deadline_ms = INT64_MAX};
    if (!waiters_add(waiters, &waiter)) {
        effects_reply_error(effects, from, wait->request, ERR_FULL,
                            "Job <%s>: too many clients wait, try again later",
                            wait->job);
    }
}

void wait_job_ended(struct waiters *waiters, const struct job *job,
                    struct effects *effects)
{
    struct waiter waiter;
    while (waiters_take(waiters, WAITER_JOB, job_key(job), &waiter)) {
        answer(job, waiter.link, waiter.request, effects);
    }
    while (job_is_array_ended(job) &&
           waiters_take(waiters, WAITER_JOB, array_key(job), &waiter)) {
        answer_array(job, waiter.link, waiter.request, effects);
    }
}
