/* SPDX-License-Identifier: Apache-2.0 */
/* job_answer.c: see job_answer.h. */
#include "site/api/job_answer.h"

#include <string.h>

#include "site/api/permission.h"

struct job_answer job_answer_begin(struct arena *arena)
{
    return (struct job_answer){.arena = arena, .text = "", .jobs = value_array(arena)};
}

void job_answer_add(struct job_answer *answer, const char *id, int code,
                    const char *what)
{
    struct arena *arena = answer->arena;
    const char *sentence =
        arena_printf(arena, "Job <%s>%s %s", id, code == 0 ? "" : ":", what);
    if (answer->jobs->count < JOBS_PER_COMMAND_MAX) { /* so that it fits one frame */
        struct value *row = value_add(arena, answer->jobs, NULL, value_object(arena));
        value_add_text(arena, row, "job", id);
        value_add_text(arena, row, "text", sentence);
        value_add_bool(arena, row, "done", code == 0);
    }
    if (code != 0 && answer->code == 0) {
        answer->code = code;
        answer->text = "";
    }
    if (answer->text[0] == '\0') {
        answer->text = sentence;
    } else if (code != 0 || answer->code == 0) {
        bool fits = strlen(answer->text) + strlen(sentence) < TEXT_MAX - 1;
        answer->text =
            fits ? arena_printf(arena, "%s\n%s", answer->text, sentence) : answer->text;
    }
}

void job_answer_send(const struct job_answer *answer, const struct peer *to,
                     uint64_t request, struct effects *effects)
{
    struct value *value = value_object(answer->arena);
    value_add(answer->arena, value, "jobs", answer->jobs);
    if (answer->code != 0) {
        effects_reply_refusal(effects, to, request, answer->code, answer->text, value);
        return;
    }
    effects_reply(effects, to, request, answer->text, value, "");
}

int job_answer_find_end(const struct job_table *jobs, const struct job_id *wanted,
                        int *first)
{
    int end = *first = job_table_index_of(jobs, wanted->number);
    while (end < job_table_count(jobs) &&
           job_table_at_const(jobs, end)->id == wanted->number) {
        end++;
    }
    return end;
}

int job_answer_check(const struct site_api *api, const struct peer *from,
                     const struct job *job, struct err *err)
{
    if (!permission_may_manage(api->config, from, job)) {
        return err_set(err, ERR_DENIED, "user permission denied, it is %s's",
                       job->spec->user);
    }
    return job_is_ended(job) ? err_set(err, ERR_STATE, "job has already finished") : 0;
}
