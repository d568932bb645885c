/* SPDX-License-Identifier: Apache-2.0 */
/* job_rules_apply.c: see job_rules.h; what is executed of a job under its rules. */
#include <string.h>

#include "base/bounds.h"
#include "sched/queue/job_rules.h"

/* The starter with the command where it has %USRCMD, or behind it. */
static const char *start_with(struct arena *arena, const char *starter,
                              const char *command)
{
    static const char mark[] = "%USRCMD";
    if (starter[0] == '\0') {
        return command;
    }
    const char *at = strstr(starter, mark);
    if (at == NULL) {
        return arena_printf(arena, "%s %s", starter, command);
    }
    return arena_printf(arena, "%.*s%s%s", (int)(at - starter), starter, command,
                        at + sizeof(mark) - 1);
}

/* The job's value, else the default; never above the maximum, which may have changed
 * since the submission. */
static void apply_limits(struct arena *arena, const struct job_rules *rules,
                         struct job_spec *spec)
{
    struct job_rlimits limits;
    if (job_rlimits_read(spec->limits, spec->n_limits, &limits, NULL) != 0) {
        return; /* of a version to come: as it is */
    }
    for (int i = 0; i < JOB_RLIMITS; i++) {
        int64_t *value = &limits.values[i], most = rules->hard.values[i];
        if (*value == JOB_RLIMIT_NONE) {
            *value = rules->soft.values[i];
        }
        *value = *value < most ? *value : most;
    }
    spec->n_limits = job_rlimits_write(arena, &limits, &spec->limits);
}

/* The nearer command (the job's, or else its application's) and the queue's. */
static void apply_commands(struct arena *arena, const char *const *own, int n_own,
                           const char *app, const char *queue, bool is_queue_first,
                           const char *const **list, int *n_list)
{
    const char **commands = arena_alloc(arena, (size_t)n_own + 2, sizeof(*commands));
    int count = 0;
    if (is_queue_first && queue[0] != '\0') {
        commands[count++] = queue;
    }
    for (int i = 0; i < n_own; i++) {
        commands[count++] = own[i];
    }
    if (n_own == 0 && app[0] != '\0') {
        commands[count++] = app;
    }
    if (!is_queue_first && queue[0] != '\0') {
        commands[count++] = queue;
    }
    *list = commands;
    *n_list = count;
}

/* A suspension that requeues is the site's to carry out. */
static void apply_controls(struct arena *arena, const struct job_controls *controls,
                           struct job_spec *spec)
{
    const char **texts = arena_alloc(arena, JOB_CONTROL_KINDS, sizeof(*texts));
    spec->n_controls = 0;
    for (int i = 0; i < JOB_CONTROL_KINDS; i++) {
        bool is_site = i == JOB_CONTROL_SUSPEND && job_controls_requeue(controls);
        if (controls->actions[i] != NULL && !is_site) {
            texts[spec->n_controls++] =
                arena_printf(arena, "%s=%s", job_control_name((enum job_control)i),
                             controls->actions[i]);
        }
    }
    spec->controls = texts;
}

/* LSB_EXIT_REQUEUE, for what is executed: the codes for which the job waits again. Left
 * out where the environment has no room for it. */
static void apply_codes(struct arena *arena, const struct job_rules *rules,
                        struct job_spec *spec)
{
    static const char name[] = "LSB_EXIT_REQUEUE=";
    const char *text = name;
    if (rules->n_requeue_codes == 0) {
        return;
    }
    for (int i = 0; i < rules->n_requeue_codes; i++) {
        text = arena_printf(arena, "%s%s%d", text, i > 0 ? " " : "",
                            rules->requeue_codes[i]);
    }
    const char **env = arena_alloc(arena, (size_t)spec->n_env + 1, sizeof(*env));
    size_t n_bytes = strlen(text) + 1;
    int n_env = 0;
    for (int i = 0; i < spec->n_env; i++) {
        if (strncmp(spec->env[i], name, sizeof(name) - 1) != 0) {
            env[n_env++] = spec->env[i];
            n_bytes += strlen(spec->env[i]) + 1;
        }
    }
    if (n_env < ENV_MAX && n_bytes <= ENV_BYTES_MAX) {
        env[n_env++] = text;
        spec->env = env;
        spec->n_env = n_env;
    }
}

void job_rules_apply(struct arena *arena, const struct job_rules_stack *stack,
                     struct job_spec *spec)
{
    struct job_rules rules;
    job_rules_merge(stack, &rules);
    const char *pre = stack->queue != NULL ? stack->queue->pre_exec : "";
    const char *post = stack->queue != NULL ? stack->queue->post_exec : "";
    spec->command = start_with(arena, rules.job_starter, spec->command);
    apply_limits(arena, &rules, spec);
    apply_codes(arena, &rules, spec);
    apply_commands(arena, spec->pre_execs, spec->n_pre_execs, rules.pre_exec, pre, true,
                   &spec->pre_execs, &spec->n_pre_execs);
    apply_commands(arena, spec->post_execs, spec->n_post_execs, rules.post_exec, post,
                   false, &spec->post_execs, &spec->n_post_execs);
    apply_controls(arena, &rules.controls, spec);
}
