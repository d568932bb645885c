/* SPDX-License-Identifier: Apache-2.0 */
/* rules_view.c: the limits, commands and exit codes of jobs and queues. */
#include "site/view/view_rows.h"

#include <string.h>

#include "model/page.h"
#include "site/config/site_config.h"

/* ---------------------------------------------------------------- limits */

static const char *limit_name(struct arena *arena, enum job_rlimit limit)
{
    const struct job_rlimit_kind *kind = &job_rlimit_kinds[limit];
    switch (kind->unit) {
    case JOB_RLIMIT_TIME:
        return arena_printf(arena, "%s_s", kind->name);
    case JOB_RLIMIT_SIZE_KIB:
        return arena_printf(arena, "%s_kib", kind->name);
    case JOB_RLIMIT_COUNT:
    case JOB_RLIMIT_NICENESS:
        break;
    }
    return kind->name;
}

/* Adds nothing if there is no limit. */
static void add_limit(struct arena *arena, struct value *object, enum job_rlimit limit,
                      int64_t value)
{
    const char *name = limit_name(arena, limit);
    if (value == JOB_RLIMIT_NONE) {
        return;
    }
    if (job_rlimit_kinds[limit].unit == JOB_RLIMIT_TIME) {
        value_add_duration(arena, object, name, value);
    } else {
        value_add_int(arena, object, name, value);
    }
}

/* An empty object is shown as null. */
static struct value *add_object(struct arena *arena, struct value *row, const char *key,
                                struct value *object)
{
    return object->count > 0 ? value_add(arena, row, key, object)
                             : value_add_null(arena, row, key);
}

static struct value *limits_value(struct arena *arena, const struct job_rlimits *limits,
                                  int64_t run_limit_ms)
{
    struct value *object = value_object(arena);
    if (run_limit_ms > 0) {
        value_add_duration(arena, object, "run_s", run_limit_ms);
    }
    for (int i = 0; i < JOB_RLIMITS; i++) {
        add_limit(arena, object, (enum job_rlimit)i, limits->values[i]);
    }
    return object;
}

/* ---------------------------------------------------------------- others */

static void add_commands(struct arena *arena, struct value *row, const char *key,
                         const char *const *commands, int n_commands)
{
    if (n_commands == 0) {
        value_add_null(arena, row, key);
        return;
    }
    struct value *list = value_add(arena, row, key, value_array(arena));
    for (int i = 0; i < n_commands; i++) {
        value_add_text(arena, list, NULL, commands[i]);
    }
}

/* "99 100-102", as in the configuration. */
static const char *codes_text(struct arena *arena, const int *codes, int n_codes)
{
    const char *text = "";
    for (int i = 0; i < n_codes; i++) {
        int first = codes[i];
        while (i + 1 < n_codes && codes[i + 1] == codes[i] + 1) {
            i++;
        }
        text =
            first == codes[i]
                ? arena_printf(arena, "%s%s%d", text, text[0] != '\0' ? " " : "", first)
                : arena_printf(arena, "%s%s%d-%d", text, text[0] != '\0' ? " " : "",
                               first, codes[i]);
    }
    return text[0] != '\0' ? text : NULL;
}

/* "99 EXCLUDE(20 30)". */
static const char *requeue_text(struct arena *arena, const struct job_rules *rules)
{
    int *plain = arena_alloc(arena, (size_t)rules->n_requeue_codes, sizeof(*plain)),
        n_plain = 0;
    for (int i = 0; i < rules->n_requeue_codes; i++) {
        if (!job_rules_exclude(rules, rules->requeue_codes[i])) {
            plain[n_plain++] = rules->requeue_codes[i];
        }
    }
    const char *text = codes_text(arena, plain, n_plain);
    const char *excluded =
        codes_text(arena, rules->exclude_codes, rules->n_exclude_codes);
    return excluded == NULL
               ? text
               : arena_printf(arena, "%s%sEXCLUDE(%s)", text != NULL ? text : "",
                              text != NULL ? " " : "", excluded);
}

static void add_text(struct arena *arena, struct value *row, const char *key,
                     const char *text)
{
    value_add_text(arena, row, key,
                   text[0] != '\0' ? value_cut_text(arena, text, TEXT_MAX) : NULL);
}

static void add_controls(struct arena *arena, struct value *row,
                         const struct job_controls *controls)
{
    struct value *object = value_object(arena);
    for (int i = 0; i < JOB_CONTROL_KINDS; i++) {
        if (controls->actions[i] != NULL) {
            value_add_text(arena, object, job_control_name((enum job_control)i),
                           value_cut_text(arena, controls->actions[i], TEXT_MAX));
        }
    }
    add_object(arena, row, "job_controls", object);
}

static const char *text_or_none(const char *text)
{
    return text != NULL ? text : "";
}

/* ---------------------------------------------------------------- rows */

void rules_view_add_job(struct arena *arena, struct value *row,
                        const struct site_config *config, const struct job *job,
                        bool is_asked)
{
    struct job_spec spec = *job->spec;
    struct job_rlimits limits;
    struct job_rules_stack stack =
        site_config_rules_stack(config, job->queue, spec.app);
    job_rules_apply(arena, &stack, &spec);
    value_add_nonempty(arena, row, "app", spec.app);
    if (job_rlimits_read(spec.limits, spec.n_limits, &limits, NULL) != 0) {
        limits = job_rlimits_none();
    }
    add_object(arena, row, "limits", limits_value(arena, &limits, spec.run_limit_ms));
    if (is_asked) {
        add_commands(arena, row, "pre_exec", spec.pre_execs, spec.n_pre_execs);
        add_commands(arena, row, "post_exec", spec.post_execs, spec.n_post_execs);
    }
}

void rules_view_add_queue(struct arena *arena, struct value *row,
                          const struct queue_rules *rules)
{
    const struct job_rules *job = &rules->job;
    add_text(arena, row, "run_window", text_or_none(rules->run_windows.text));
    add_text(arena, row, "dispatch_window", text_or_none(rules->dispatch_windows.text));
    add_object(arena, row, "default_limits",
               limits_value(arena, &job->soft, job->default_run_limit_ms));
    add_object(arena, row, "limits",
               limits_value(arena, &job->hard, job->run_limit_ms));
    add_text(arena, row, "pre_exec", job->pre_exec);
    add_text(arena, row, "post_exec", job->post_exec);
    add_text(arena, row, "job_starter", job->job_starter);
    add_controls(arena, row, &job->controls);
    value_add_text(arena, row, "requeue_exit_values", requeue_text(arena, job));
    value_add_text(arena, row, "success_exit_values",
                   codes_text(arena, job->success_codes, job->n_success_codes));
    value_add_bool(arena, row, "rerunnable", job->rerunnable == 1);
    value_add_known(arena, row, "max_job_requeue", job->max_requeues != JOB_RULES_UNSET,
                    job->max_requeues);
    value_add_known(arena, row, "max_preexec_retry",
                    job->max_pre_tries != JOB_RULES_UNSET, job->max_pre_tries);
}

/* ---------------------------------------------------------------- how many */

enum { MILLI = 1000 };

static void add_slots(struct arena *arena, struct value *row, const char *name,
                      const struct limit *limit)
{
    if (limit == NULL) {
        value_add_null(arena, row, name);
    } else if (limit->per_processor_milli >= 0) {
        value_add_real(arena, row, name, (double)limit->per_processor_milli / MILLI);
    } else {
        value_add_int(arena, row, name, limit->slots);
    }
}

/* "all", "ana bo", "all ~bo"; groups are shown as their members. */
static const char *users_text(struct arena *arena, const struct name_set *users)
{
    const char *text = users->is_all ? "all" : "";
    for (int i = 0; i < users->n_names && strlen(text) < TEXT_MAX; i++) {
        text = arena_printf(arena, "%s%s%s%s", text, text[0] != '\0' ? " " : "",
                            users->is_all ? "~" : "", users->names[i]);
    }
    return value_cut_text(arena, text, TEXT_MAX);
}

void rules_view_add_queue_limits(struct arena *arena, struct value *row,
                                 const struct site_config *config,
                                 const struct queue_config *queue)
{
    static const struct {
        const char *name, *key;
    } limits[] = {{"max", "QJOB_LIMIT"},
                  {"jl_u", "UJOB_LIMIT"},
                  {"jl_p", "PJOB_LIMIT"},
                  {"jl_h", "HJOB_LIMIT"}};
    const struct job_rules *job = &queue->rules.job;
    struct value *slots = value_object(arena);
    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
        add_slots(arena, row, limits[i].name,
                  limits_find(config->limits, config->n_limits, limits[i].key,
                              LIMIT_QUEUES, queue->name));
    }
    if (job->max_slots > 0) {
        value_add_int(arena, slots, "min", job->min_slots);
        value_add_int(arena, slots, "default", job->default_slots);
        value_add_int(arena, slots, "max", job->max_slots);
    }
    add_object(arena, row, "slots_per_job", slots);
    value_add_text(arena, row, "users", users_text(arena, &queue->rules.users));
}

void rules_view_add_host_limit(struct arena *arena, struct value *row,
                               const struct site_config *config, const char *host)
{
    add_slots(arena, row, "jl_u",
              limits_find(config->limits, config->n_limits, "JL/U", LIMIT_HOSTS, host));
}
