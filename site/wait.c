/* SPDX-License-Identifier: Apache-2.0 */
/* wait.c: see wait.h. */
#include "site/wait.h"

#include "base/err.h"
#include "base/value.h"
#include "site/parts.h"
#include "site/requests.h"

static void answer(const struct job *job, uint64_t link, uint64_t request,
                   struct effects *effects)
{
    struct arena *arena = &effects->arena;
    struct peer to = {.kind = PEER_CLIENT, .name = "", .link = link};
    struct value *value = value_object(arena);
    int code;
    value_add_int(arena, value, "job", (int64_t)job->id);
    value_add_text(arena, value, "state", jobs_state_name(job->state));
    if (jobs_exit_code(job, &code)) {
        value_add_int(arena, value, "exit_code", code);
    } else {
        value_add_null(arena, value, "exit_code");
    }
    const char *text =
        arena_printf(arena, "Job <%llu> is %s%s%s.", (unsigned long long)job->id,
                     job->state == JOB_DONE ? "done" : "ended",
                     job->reason[0] != '\0' ? ": " : "", job->reason);
    effects_reply(effects, &to, request, text, value, "");
}

void wait_request(struct site *site, const struct peer *from,
                  const struct msg_wait *wait, struct effects *effects)
{
    const struct job *job = requests_find_job(site, wait->job);
    if (job == NULL) {
        effects_reply_error(effects, from, wait->request, ERR_NOT_FOUND,
                            "Job <%s> is not found", wait->job);
        return;
    }
    if (jobs_is_ended(job)) {
        answer(job, from->link, wait->request, effects);
        return;
    }
    struct waiter waiter = {.kind = WAITER_JOB,
                            .key = job->id,
                            .link = from->link,
                            .request = wait->request,
                            .deadline_ms = INT64_MAX};
    if (!waiters_add(site->waiters, &waiter)) {
        effects_reply_error(effects, from, wait->request, ERR_FULL,
                            "Job <%s>: too many clients wait, try again later",
                            wait->job);
    }
}

void wait_job_ended(struct site *site, const struct job *job, struct effects *effects)
{
    struct waiter waiter;
    while (waiters_take(site->waiters, WAITER_JOB, job->id, &waiter)) {
        answer(job, waiter.link, waiter.request, effects);
    }
}
