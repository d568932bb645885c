/* SPDX-License-Identifier: Apache-2.0 */
/* job_rules.c: see job_rules.h: merges the rules of all levels, checks a job against
 * them, and applies them to what is executed. job_rules_read.c reads them. */
#include "sched/queue/job_rules.h"

#include <string.h>

#include "base/bounds.h"

enum { PRE_TRIES_DEFAULT = 5 }; /* LSF's MAX_PREEXEC_RETRY */

#define MINUTE_MS INT64_C(60000)
#define NO_HOST "%s: %s is no host model, and no host with a configured model"

void job_rules_init(struct job_rules *rules)
{
    *rules = (struct job_rules){
        .soft = job_rlimits_none(),
        .hard = job_rlimits_none(),
        .run_limit.host = "",
        .default_run_limit.host = "",
        .is_run_limit_absolute = JOB_RULES_UNSET,
        .host_spec = "",
        .rerunnable = JOB_RULES_UNSET,
        .job_starter = "",
        .pre_exec = "",
        .post_exec = "",
        .max_requeues = JOB_RULES_UNSET,
        .max_pre_tries = JOB_RULES_UNSET,
    };
}

int64_t job_rules_unit_kib(const struct conf *conf)
{
    struct conf_place at = {0};
    int64_t unit_kib = 1;
    while (conf_next_row(conf, "", &at)) {
        int64_t kib = job_rlimit_unit_kib(conf_text(at.row, "LSF_UNIT_FOR_LIMITS", ""));
        unit_kib = kib > 0 ? kib : unit_kib;
    }
    return unit_kib;
}

/* ---------------------------------------------------------------- together */

/* Both bounds apply. */
static void add_slots(struct job_rules *to, const struct job_rules *from)
{
    if (from->max_slots > 0) {
        bool is_first = to->max_slots == 0;
        to->max_slots = is_first || from->max_slots < to->max_slots ? from->max_slots
                                                                    : to->max_slots;
        to->min_slots =
            from->min_slots > to->min_slots ? from->min_slots : to->min_slots;
        to->default_slots = from->default_slots;
    }
}

/* The CPU factor of the host of a limit; 0: it has none, or an unknown one. */
static double factor_of(const struct job_rules_stack *stack, const char *host_spec,
                        const char *host)
{
    host = host[0] != '\0' ? host : host_spec;
    return host[0] != '\0' && stack->cpu_factor != NULL
               ? stack->cpu_factor(stack->cpu_factor_arg, host)
               : 0;
}

/* A time on a host with the factor `own` is so long on one with `factor`; own 0: the
 * same. */
static int64_t scale(int64_t ms, double own, double factor)
{
    double scaled = own > 0 ? (double)ms * own / factor : (double)ms;
    return own <= 0                               ? ms
           : scaled < 1                           ? 1
           : scaled < (double)JOB_RLIMIT_TIME_MAX ? (int64_t)scaled
                                                  : JOB_RLIMIT_TIME_MAX;
}

/* What the limit is on a host with that factor: only a CPU limit depends on it. */
static int64_t limit_on(const struct job_rules_stack *stack, const char *host_spec,
                        const struct job_rlimits *limits, enum job_rlimit limit,
                        double factor)
{
    int64_t value = limits->values[limit];
    double own = limit == JOB_RLIMIT_CPU && value != JOB_RLIMIT_NONE
                     ? factor_of(stack, host_spec, limits->cpu_host)
                     : 0;
    return scale(value, own, factor);
}

/* The same of a run limit. */
static int64_t run_limit_on(const struct job_rules_stack *stack,
                            const struct job_rules *rules,
                            const struct run_limit *limit, double factor)
{
    bool is_scaled = limit->ms > 0 && rules->is_run_limit_absolute != 1;
    return scale(limit->ms,
                 is_scaled ? factor_of(stack, rules->host_spec, limit->host) : 0,
                 factor);
}

static bool is_run_limit_above(const struct job_rules_stack *stack,
                               const struct job_rules *rules,
                               const struct run_limit *limit,
                               const struct run_limit *most)
{
    return most->ms > 0 &&
           run_limit_on(stack, rules, limit, 1) > run_limit_on(stack, rules, most, 1);
}

static void set_limit(struct job_rlimits *to, const struct job_rlimits *from,
                      enum job_rlimit limit)
{
    to->values[limit] = from->values[limit];
    if (limit == JOB_RLIMIT_CPU) {
        to->cpu_host = from->cpu_host;
    }
}

/* More than another limit, both on a host with the factor 1. */
static bool is_above(const struct job_rules_stack *stack, const char *host_spec,
                     const struct job_rlimits *limits, const struct job_rlimits *most,
                     enum job_rlimit limit)
{
    return limit_on(stack, host_spec, limits, limit, 1) >
           limit_on(stack, host_spec, most, limit, 1);
}

static void bound_limit(const struct job_rules_stack *stack, const char *host_spec,
                        struct job_rlimits *to, const struct job_rlimits *most,
                        enum job_rlimit limit)
{
    if (is_above(stack, host_spec, to, most, limit)) {
        set_limit(to, most, limit);
    }
}

/* The default of the nearer level applies, and both maxima. */
static void add_limits(const struct job_rules_stack *stack, struct job_rules *to,
                       const struct job_rules *from)
{
    if (from->default_run_limit.ms > 0) {
        to->default_run_limit = from->default_run_limit;
    }
    if (to->run_limit.ms == 0 ||
        is_run_limit_above(stack, to, &to->run_limit, &from->run_limit)) {
        to->run_limit = from->run_limit;
    }
    if (is_run_limit_above(stack, to, &to->default_run_limit, &to->run_limit)) {
        to->default_run_limit = to->run_limit;
    }
    for (int i = 0; i < JOB_RLIMITS; i++) {
        enum job_rlimit limit = (enum job_rlimit)i;
        bound_limit(stack, to->host_spec, &to->hard, &from->hard, limit);
        if (from->soft.values[limit] != JOB_RLIMIT_NONE) {
            set_limit(&to->soft, &from->soft, limit);
        }
        bound_limit(stack, to->host_spec, &to->soft, &to->hard, limit);
    }
}

static void add_rules(const struct job_rules_stack *stack, struct job_rules *to,
                      const struct job_rules *from)
{
    if (from == NULL) {
        return;
    }
    add_slots(to, from);
    add_limits(stack, to, from);
    if (from->rerunnable != JOB_RULES_UNSET) {
        to->rerunnable = from->rerunnable;
    }
    if (from->requeue_codes != NULL) {
        to->requeue_codes = from->requeue_codes;
        to->n_requeue_codes = from->n_requeue_codes;
        to->exclude_codes = from->exclude_codes;
        to->n_exclude_codes = from->n_exclude_codes;
    }
    if (from->success_codes != NULL) {
        to->success_codes = from->success_codes;
        to->n_success_codes = from->n_success_codes;
    }
    if (from->job_starter[0] != '\0') {
        to->job_starter = from->job_starter;
    }
    for (int i = 0; i < JOB_CONTROL_KINDS; i++) {
        if (from->controls.actions[i] != NULL) {
            to->controls.actions[i] = from->controls.actions[i];
        }
    }
    if (from->max_requeues != JOB_RULES_UNSET) {
        to->max_requeues = from->max_requeues;
    }
    if (from->max_pre_tries != JOB_RULES_UNSET) {
        to->max_pre_tries = from->max_pre_tries;
    }
}

void job_rules_merge(const struct job_rules_stack *stack, struct job_rules *merged)
{
    const struct job_rules *const levels[] = {stack->site, stack->queue, stack->app,
                                              stack->job};
    job_rules_init(merged);
    for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
        if (levels[i] != NULL && levels[i]->host_spec[0] != '\0') {
            merged->host_spec = levels[i]->host_spec;
        }
        if (levels[i] != NULL && levels[i]->is_run_limit_absolute != JOB_RULES_UNSET) {
            merged->is_run_limit_absolute = levels[i]->is_run_limit_absolute;
        }
    }
    for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
        add_rules(stack, merged, levels[i]);
    }
    if (stack->app != NULL) {
        merged->pre_exec = stack->app->pre_exec;
        merged->post_exec = stack->app->post_exec;
    }
}

/* ---------------------------------------------------------------- jobs */

/* The ends of the range become those of the rules if the rules allow less. */
static int check_slots(const struct job_rules *rules, struct job_spec *spec,
                       int *max_slots, struct err *err)
{
    if (spec->n_slots == 0) {
        spec->n_slots = rules->default_slots > 0 ? rules->default_slots : 1;
    }
    int most = *max_slots > spec->n_slots ? *max_slots : spec->n_slots;
    if (rules->max_slots > 0 && spec->n_slots > rules->max_slots) {
        return err_set(err, ERR_BOUNDS,
                       "Too many processors requested: %d, the queue takes at most %d",
                       spec->n_slots, rules->max_slots);
    }
    if (most < rules->min_slots) {
        return err_set(err, ERR_BOUNDS,
                       "Too few processors requested: %d, the queue takes at least %d",
                       most, rules->min_slots);
    }
    if (spec->n_slots < rules->min_slots) {
        spec->n_slots = rules->min_slots;
    }
    if (rules->max_slots > 0 && *max_slots > rules->max_slots) {
        *max_slots = rules->max_slots;
    }
    return 0;
}

static int check_run_limit(const struct job_rules_stack *stack,
                           const struct job_rules *rules, struct job_spec *spec,
                           struct job_terms *terms, struct err *err)
{
    struct run_limit limit = {spec->run_limit_ms, terms->run_limit_host};
    if (limit.host == NULL || limit.ms == 0) {
        limit.host = "";
    }
    if (limit.ms == 0) {
        limit = rules->default_run_limit;
    }
    spec->run_limit_ms = limit.ms;
    terms->run_limit_host = limit.host;
    if (limit.host[0] != '\0' && factor_of(stack, "", limit.host) <= 0) {
        return err_set(err, ERR_NOT_FOUND, NO_HOST, "-W", limit.host);
    }
    if (is_run_limit_above(stack, rules, &limit, &rules->run_limit)) {
        const char *host = rules->run_limit.host;
        int64_t most_ms = rules->run_limit.ms;
        bool is_minutes = most_ms % MINUTE_MS == 0;
        return err_set(err, ERR_BOUNDS,
                       "RUNLIMIT: Cannot exceed queue's hard limit(s), which is %lld "
                       "%s%s%s",
                       (long long)(is_minutes ? most_ms / MINUTE_MS : most_ms / 1000),
                       is_minutes ? "minutes" : "seconds",
                       host[0] != '\0' ? " of " : "", host);
    }
    return 0;
}

/* The command together with the starter still has to fit in a message. */
static int check_command(const struct job_rules *rules, const struct job_spec *spec,
                         struct err *err)
{
    if (strlen(rules->job_starter) + strlen(spec->command) >= COMMAND_MAX) {
        return err_set(err, ERR_BOUNDS,
                       "the command and its JOB_STARTER are larger than %d bytes; put "
                       "the command into a file",
                       COMMAND_MAX);
    }
    return 0;
}

/* A job may ask for a signal that warns it, and for no other control. */
static int check_controls(const struct job_spec *spec, struct err *err)
{
    for (int i = 0; i < spec->n_controls; i++) {
        enum job_control kind = JOB_CONTROL_KINDS;
        const char *what = job_control_parse(spec->controls[i], &kind);
        if (what == NULL || kind != JOB_CONTROL_WARN || job_control_signal(what) == 0) {
            return err_set(err, ERR_PARSE,
                           "-wa %.40s: no signal, expected a name such as URG or USR2",
                           what != NULL ? what : spec->controls[i]);
        }
    }
    return 0;
}

static int check_limits(const struct job_rules_stack *stack,
                        const struct job_rules *rules, const struct job_spec *spec,
                        struct err *err)
{
    struct job_rlimits requested;
    struct arena arena;
    int code = job_rlimits_read(spec->limits, spec->n_limits, &requested, err);
    for (int i = 0; code == 0 && i < JOB_RLIMITS; i++) {
        const struct job_rlimit_kind *kind = &job_rlimit_kinds[i];
        if (requested.values[i] == JOB_RLIMIT_NONE) {
            continue;
        }
        if (kind->option == NULL) {
            code = err_set(err, ERR_DENIED, "a job cannot request %s", kind->key);
        } else if (is_above(stack, rules->host_spec, &requested, &rules->hard,
                            (enum job_rlimit)i)) {
            arena_init(&arena);
            code = err_set(
                err, ERR_BOUNDS, "%s: Cannot exceed queue's hard limit(s), which is %s",
                kind->key,
                job_rlimit_text(&arena, (enum job_rlimit)i, rules->hard.values[i]));
            arena_release(&arena);
        }
    }
    if (code == 0 && requested.cpu_host[0] != '\0' &&
        factor_of(stack, "", requested.cpu_host) <= 0) {
        code = err_set(err, ERR_NOT_FOUND, NO_HOST, "-c", requested.cpu_host);
    }
    return code;
}

int job_rules_check(const struct job_rules_stack *stack, struct job_spec *spec,
                    struct job_terms *terms, struct err *err)
{
    struct job_rules rules;
    job_rules_merge(stack, &rules);
    int code = check_slots(&rules, spec, &terms->max_slots, err);
    if (code == 0) {
        code = check_run_limit(stack, &rules, spec, terms, err);
    }
    if (code == 0) {
        code = check_command(&rules, spec, err);
    }
    if (code == 0) {
        code = check_controls(spec, err);
    }
    return code == 0 ? check_limits(stack, &rules, spec, err) : code;
}

static bool has_code(const int *codes, int n_codes, int code)
{
    for (int i = 0; i < n_codes; i++) {
        if (codes[i] == code) {
            return true;
        }
    }
    return false;
}

bool job_rules_requeue(const struct job_rules *rules, int exit_code)
{
    return has_code(rules->requeue_codes, rules->n_requeue_codes, exit_code);
}

bool job_rules_exclude(const struct job_rules *rules, int exit_code)
{
    return has_code(rules->exclude_codes, rules->n_exclude_codes, exit_code);
}

bool job_rules_succeed(const struct job_rules *rules, int exit_code)
{
    return exit_code == 0 ||
           has_code(rules->success_codes, rules->n_success_codes, exit_code);
}

int job_rules_pre_tries(const struct job_rules *rules)
{
    return rules->max_pre_tries == JOB_RULES_UNSET ? PRE_TRIES_DEFAULT
                                                   : rules->max_pre_tries;
}

/* ---------------------------------------------------------------- what is executed */

/* Puts the command in place of %USRCMD of the starter, or after it. */
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

int64_t job_rules_run_limit(const struct job_rules_stack *stack,
                            const struct job_spec *spec, const struct job_terms *terms,
                            double factor)
{
    struct job_rules rules;
    struct run_limit limit = {spec->run_limit_ms, terms->run_limit_host};
    job_rules_merge(stack, &rules);
    return run_limit_on(stack, &rules, &limit, factor);
}

bool job_rules_needs_factor(const struct job_rules_stack *stack,
                            const struct job_spec *spec, const struct job_terms *terms)
{
    const struct job_rules *const levels[] = {stack->site, stack->queue, stack->app};
    if (terms->run_limit_host[0] != '\0') {
        return true;
    }
    for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
        if (levels[i] != NULL &&
            (levels[i]->host_spec[0] != '\0' || levels[i]->soft.cpu_host[0] != '\0' ||
             levels[i]->hard.cpu_host[0] != '\0')) {
            return true;
        }
    }
    for (int i = 0; i < spec->n_limits; i++) {
        if (job_rlimit_host(spec->limits[i])[0] != '\0') {
            return true;
        }
    }
    return false;
}

/* Applies the job's value, else the default, up to the maximum, which may have changed
 * since the submission. */
static void apply_limits(struct arena *arena, const struct job_rules_stack *stack,
                         const struct job_rules *rules, double factor,
                         struct job_spec *spec)
{
    struct job_rlimits limits;
    if (job_rlimits_read(spec->limits, spec->n_limits, &limits, NULL) != 0) {
        return; /* written by a later version: left unchanged */
    }
    for (int i = 0; i < JOB_RLIMITS; i++) {
        enum job_rlimit limit = (enum job_rlimit)i;
        if (limits.values[limit] == JOB_RLIMIT_NONE) {
            set_limit(&limits, &rules->soft, limit);
        }
        bound_limit(stack, rules->host_spec, &limits, &rules->hard, limit);
    }
    if (factor > 0) {
        limits.values[JOB_RLIMIT_CPU] =
            limit_on(stack, rules->host_spec, &limits, JOB_RLIMIT_CPU, factor);
        limits.cpu_host = "";
    }
    spec->n_limits = job_rlimits_write(arena, &limits, &spec->limits);
}

/* Adds the command of the job, or else of its application, and that of the queue. */
static void apply_commands(struct arena *arena, const char *const *own, int n_own,
                           const char *app, const char *queue, bool is_queue_first,
                           const char *const **list, int *n_list)
{
    if (app[0] == '\0' && queue[0] == '\0') {
        return;
    }
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

/* Suspension by requeueing is left out: the site does that. The warning that the job
 * asks for (-wa) takes precedence. */
static void apply_controls(struct arena *arena, const struct job_controls *controls,
                           struct job_spec *spec)
{
    const char **texts = NULL;
    const char *warning =
        job_control_find(spec->controls, spec->n_controls, JOB_CONTROL_WARN);
    spec->n_controls = 0;
    for (int i = 0; i < JOB_CONTROL_KINDS; i++) {
        bool is_site = i == JOB_CONTROL_SUSPEND && job_controls_requeue(controls);
        const char *what =
            i == JOB_CONTROL_WARN && warning != NULL ? warning : controls->actions[i];
        if (what == NULL || is_site) {
            continue;
        }
        if (texts == NULL) {
            texts = arena_alloc(arena, JOB_CONTROL_KINDS, sizeof(*texts));
        }
        texts[spec->n_controls++] =
            arena_printf(arena, "%s=%s", job_control_name((enum job_control)i), what);
    }
    spec->controls = texts;
}

/* Adds LSB_EXIT_REQUEUE to the environment: the exit codes for which the job is
 * requeued. It is left out if the environment has no room for it. */
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
                     double factor, struct job_spec *spec)
{
    struct job_rules rules;
    job_rules_merge(stack, &rules);
    const char *pre = stack->queue != NULL ? stack->queue->pre_exec : "";
    const char *post = stack->queue != NULL ? stack->queue->post_exec : "";
    spec->command = start_with(arena, rules.job_starter, spec->command);
    apply_limits(arena, stack, &rules, factor, spec);
    apply_codes(arena, &rules, spec);
    apply_commands(arena, spec->pre_execs, spec->n_pre_execs, rules.pre_exec, pre, true,
                   &spec->pre_execs, &spec->n_pre_execs);
    apply_commands(arena, spec->post_execs, spec->n_post_execs, rules.post_exec, post,
                   false, &spec->post_execs, &spec->n_post_execs);
    apply_controls(arena, &rules.controls, spec);
}
