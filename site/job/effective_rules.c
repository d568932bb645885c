/* SPDX-License-Identifier: Apache-2.0 */
/* effective_rules.c: see effective_rules.h. */
#include "site/job/effective_rules.h"

#include "sched/queue/queue.h"

struct job_rules_stack effective_rules_stack(const struct site_config *config,
                                             int queue, const char *app)
{
    const struct application *application =
        app[0] == '\0'
            ? NULL
            : application_find(config->applications, config->n_applications, app);
    return (struct job_rules_stack){
        .site = &config->rules,
        .queue = queue >= 0 ? &config->queues[queue].rules.job : NULL,
        .app = application != NULL ? &application->rules : NULL,
    };
}

void effective_rules_of(const struct site_config *config, const struct job *job,
                        struct job_rules *rules)
{
    struct job_rules_stack stack =
        effective_rules_stack(config, job->queue, job->spec->app);
    job_rules_merge(&stack, rules);
}

bool effective_rules_has_post(const struct site_config *config, const struct job *job)
{
    struct job_rules rules;
    struct job_rules_stack stack =
        effective_rules_stack(config, job->queue, job->spec->app);
    job_rules_merge(&stack, &rules);
    return job->spec->n_post_execs > 0 || rules.post_exec[0] != '\0' ||
           (stack.queue != NULL && stack.queue->post_exec[0] != '\0');
}
