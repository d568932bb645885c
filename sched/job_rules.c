/* SPDX-License-Identifier: Apache-2.0 */
/* job_rules.c: see job_rules.h. */
#include "sched/job_rules.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/conf_keys.h"
#include "base/conf_value.h"
#include "base/limits.h"

enum {
    EXIT_CODE_MAX = 255,
    SLOTS_OF_A_JOB = 3,
    PRE_TRIES_DEFAULT = 5, /* LSF's MAX_PREEXEC_RETRY */
};

#define MINUTE_MS INT64_C(60000)

struct reader {
    struct conf *conf;
    const struct conf_section *section;
    const struct conf_row *row;
    struct job_rules *rules;
};

#define COMPLAIN(reader, cell, ...)                                                    \
    conf_complain((reader)->conf, CONF_ERROR, (reader)->section, (reader)->row, cell,  \
                  __VA_ARGS__)

static const struct conf_cell *cell_of(const struct reader *reader, const char *key)
{
    const struct conf_cell *cell = conf_cell(reader->row, key);
    bool is_known = conf_keys_find(reader->section->name, key) != NULL;
    return is_known && cell != NULL && cell->value != NULL ? cell : NULL;
}

/* ---------------------------------------------------------------- values */

/* "max", "min max", "min default max". */
static void read_slots(struct reader *reader, const char *key)
{
    struct job_rules *rules = reader->rules;
    const struct conf_cell *cell = cell_of(reader, key);
    int64_t values[SLOTS_OF_A_JOB];
    struct err err;
    if (cell == NULL) {
        return;
    }
    struct conf_words words = conf_words(reader->conf->arena, cell->value);
    if (words.count < 1 || words.count > SLOTS_OF_A_JOB) {
        COMPLAIN(reader, cell, "%d numbers, expected [MIN [DEFAULT]] MAX", words.count);
        return;
    }
    for (int i = 0; i < words.count; i++) {
        if (conf_parse_int(words.words[i], 1, SLOTS_MAX, &values[i], &err) != 0) {
            COMPLAIN(reader, cell, "%s", err.text);
            return;
        }
        if (i > 0 && values[i] < values[i - 1]) {
            COMPLAIN(reader, cell,
                     "%s is below %s, expected [MIN [DEFAULT]] MAX in growing order",
                     words.words[i], words.words[i - 1]);
            return;
        }
    }
    rules->max_slots = (int)values[words.count - 1];
    rules->min_slots = words.count > 1 ? (int)values[0] : 1;
    rules->default_slots =
        words.count == SLOTS_OF_A_JOB ? (int)values[1] : rules->min_slots;
}

/* One value of a queue is its maximum too; one of an application is a default that its
 * jobs may exceed. */
static bool has_maximum(const struct reader *reader, int n_values)
{
    return n_values == 2 || strcasecmp(reader->section->name, "Application") != 0;
}

/* "max", "default max". */
static void read_run_limit(struct reader *reader)
{
    const struct conf_cell *cell = cell_of(reader, "RUNLIMIT");
    int64_t values[2] = {0, 0};
    struct err err;
    if (cell == NULL) {
        return;
    }
    struct conf_words words = conf_words(reader->conf->arena, cell->value);
    if (words.count < 1 || words.count > 2) {
        COMPLAIN(reader, cell, "%d times, expected [DEFAULT] MAX", words.count);
        return;
    }
    for (int i = 0; i < words.count; i++) {
        if (job_limit_parse_time(words.words[i], &values[i], &err) != 0) {
            COMPLAIN(reader, cell, "%s", err.text);
            return;
        }
        if (values[i] <= 0) {
            COMPLAIN(reader, cell, "a run limit of 0, expected more");
            return;
        }
    }
    if (words.count == 2 && values[0] > values[1]) {
        COMPLAIN(reader, cell, "the default is above the maximum");
        return;
    }
    reader->rules->default_run_limit_ms = values[0];
    if (has_maximum(reader, words.count)) {
        reader->rules->run_limit_ms = values[words.count - 1];
    }
}

int64_t job_rules_unit_kib(const struct conf *conf)
{
    const struct conf_section *section = NULL;
    int64_t unit_kib = 1;
    while ((section = conf_next(conf, "", section)) != NULL) {
        for (int i = 0; i < section->n_rows; i++) {
            const char *word = conf_text(&section->rows[i], "LSF_UNIT_FOR_LIMITS", "");
            int64_t kib = job_limit_unit_kib(word);
            unit_kib = kib > 0 ? kib : unit_kib;
        }
    }
    return unit_kib;
}

/* "max", "default max". A nice value and the times of commands are no bounds of what a
 * job may ask for: it cannot. */
static void read_limit(struct reader *reader, enum job_limit limit, int64_t unit_kib)
{
    const struct job_limit_kind *kind = &job_limit_kinds[limit];
    const struct conf_cell *cell = cell_of(reader, kind->key);
    int64_t values[2] = {0, 0};
    struct err err;
    if (cell == NULL) {
        return;
    }
    struct conf_words words = conf_words(reader->conf->arena, cell->value);
    int count_max = kind->option != NULL ? 2 : 1;
    if (words.count < 1 || words.count > count_max) {
        COMPLAIN(reader, cell, "%d values, expected %s", words.count,
                 count_max == 2 ? "[DEFAULT] MAX" : "one");
        return;
    }
    for (int i = 0; i < words.count; i++) {
        bool is_bare;
        if (job_limit_parse(limit, words.words[i], unit_kib, &values[i], &is_bare,
                            &err) != 0) {
            COMPLAIN(reader, cell, "%s", err.text);
            return;
        }
    }
    if (words.count == 2 && values[0] > values[1]) {
        COMPLAIN(reader, cell, "the default is above the maximum");
        return;
    }
    reader->rules->soft.values[limit] = values[0];
    if (kind->option != NULL && has_maximum(reader, words.count)) {
        reader->rules->hard.values[limit] = values[words.count - 1];
    }
}

/* "99 100-120 all ~5". */
static bool read_code_words(struct reader *reader, const struct conf_cell *cell,
                            struct conf_words words, bool is_in[EXIT_CODE_MAX + 1])
{
    for (int i = 0; i < words.count; i++) {
        const char *word = words.words[i];
        bool is_out = word[0] == '~';
        char *end;
        long first = strtol(word + is_out, &end, 10), last = first;
        if (strcasecmp(word, "all") == 0) {
            first = 1;
            last = EXIT_CODE_MAX;
        } else if (*end == '-') {
            last = strtol(end + 1, &end, 10);
        }
        if ((*end != '\0' && strcasecmp(word, "all") != 0) || first < 0 ||
            last > EXIT_CODE_MAX || first > last || word[is_out] == '\0') {
            COMPLAIN(reader, cell,
                     "\"%s\" is no exit code, expected 0 to 255, a range as 100-120, "
                     "all, or ~CODE",
                     word);
            return false;
        }
        for (long code = first; code <= last; code++) {
            is_in[code] = !is_out;
        }
    }
    return true;
}

static void list_codes(struct arena *arena, const bool is_in[EXIT_CODE_MAX + 1],
                       const int **codes, int *n_codes)
{
    int *all = arena_alloc(arena, EXIT_CODE_MAX + 1, sizeof(*all));
    for (int code = 0; code <= EXIT_CODE_MAX; code++) {
        if (is_in[code]) {
            all[(*n_codes)++] = code;
        }
    }
    *codes = all;
}

static void read_success_codes(struct reader *reader)
{
    struct job_rules *rules = reader->rules;
    struct arena *arena = reader->conf->arena;
    const struct conf_cell *cell = cell_of(reader, "SUCCESS_EXIT_VALUES");
    bool is_in[EXIT_CODE_MAX + 1] = {false};
    if (cell != NULL &&
        read_code_words(reader, cell, conf_words(arena, cell->value), is_in)) {
        list_codes(arena, is_in, &rules->success_codes, &rules->n_success_codes);
    }
}

/* True where the words go on with "EXCLUDE(20 30)"; then its codes, none where they are
 * not in parentheses. */
static bool take_exclude(struct arena *arena, struct conf_words words, int *at,
                         struct conf_words *codes)
{
    static const char name[] = "EXCLUDE";
    const char *word = words.words[*at];
    if (strncasecmp(word, name, sizeof(name) - 1) != 0) {
        return false;
    }
    word += sizeof(name) - 1;
    if (word[0] == '\0' && *at + 1 < words.count) {
        word = words.words[++*at];
    }
    *codes = word[0] == '(' ? conf_words(arena, word) : (struct conf_words){NULL, 0};
    return true;
}

/* "30 EXCLUDE(20)": a code that stands in both excludes. */
static void read_requeue_codes(struct reader *reader)
{
    struct job_rules *rules = reader->rules;
    struct arena *arena = reader->conf->arena;
    const struct conf_cell *cell = cell_of(reader, "REQUEUE_EXIT_VALUES");
    bool is_in[EXIT_CODE_MAX + 1] = {false}, is_excluded[EXIT_CODE_MAX + 1] = {false};
    if (cell == NULL) {
        return;
    }
    struct conf_words words = conf_words(arena, cell->value);
    struct conf_words plain = {
        arena_alloc(arena, (size_t)words.count, sizeof(*plain.words)), 0};
    for (int i = 0; i < words.count; i++) {
        struct conf_words excluded;
        if (!take_exclude(arena, words, &i, &excluded)) {
            plain.words[plain.count++] = words.words[i];
        } else if (excluded.count == 0) {
            COMPLAIN(reader, cell, "no codes to exclude, expected EXCLUDE(CODE ...)");
            return;
        } else if (!read_code_words(reader, cell, excluded, is_excluded)) {
            return;
        }
    }
    if (!read_code_words(reader, cell, plain, is_in)) {
        return;
    }
    for (int code = 0; code <= EXIT_CODE_MAX; code++) {
        is_in[code] = is_in[code] || is_excluded[code];
    }
    list_codes(arena, is_in, &rules->requeue_codes, &rules->n_requeue_codes);
    list_codes(arena, is_excluded, &rules->exclude_codes, &rules->n_exclude_codes);
}

/* A malformed number was complained about by conf_check. */
static int read_number(const struct reader *reader, const char *key)
{
    struct conf_place place = {reader->section, reader->row};
    return cell_of(reader, key) == NULL
               ? JOB_RULES_UNSAID
               : (int)conf_value_int(reader->conf, &place, key, JOB_RULES_UNSAID);
}

static const char *read_command(struct reader *reader, const char *key)
{
    const struct conf_cell *cell = cell_of(reader, key);
    if (cell != NULL && strlen(cell->value) >= EXEC_BYTES_MAX / 2) {
        COMPLAIN(reader, cell, "the command is too long, expected at most %d bytes",
                 EXEC_BYTES_MAX / 2 - 1);
        return "";
    }
    return cell != NULL ? cell->value : "";
}

/* A queue has all in one key, an application a key for each. */
static void read_controls(struct reader *reader)
{
    static const char *const keys[JOB_ACTIONS] = {
        [JOB_ACTION_SUSPEND] = "SUSPEND_CONTROL",
        [JOB_ACTION_RESUME] = "RESUME_CONTROL",
        [JOB_ACTION_TERMINATE] = "TERMINATE_CONTROL",
    };
    struct arena *arena = reader->conf->arena;
    struct job_controls *controls = &reader->rules->controls;
    struct err err;
    const struct conf_cell *cell = cell_of(reader, "JOB_CONTROLS");
    if (cell != NULL && job_controls_read(arena, cell->value, controls, &err) != 0) {
        COMPLAIN(reader, cell, "%s", err.text);
    }
    for (int i = 0; i < JOB_ACTIONS; i++) {
        cell = cell_of(reader, keys[i]);
        if (cell != NULL && job_controls_read_one(arena, (enum job_action)i,
                                                  cell->value, controls, &err) != 0) {
            COMPLAIN(reader, cell, "%s", err.text);
        }
    }
}

void job_rules_init(struct job_rules *rules)
{
    *rules = (struct job_rules){
        .soft = job_limits_none(),
        .hard = job_limits_none(),
        .rerunnable = JOB_RULES_UNSAID,
        .job_starter = "",
        .pre_exec = "",
        .post_exec = "",
        .max_requeues = JOB_RULES_UNSAID,
        .max_pre_tries = JOB_RULES_UNSAID,
    };
}

void job_rules_read(struct conf *conf, const struct conf_section *section,
                    const struct conf_row *row, struct job_rules *rules)
{
    struct reader reader = {conf, section, row, rules};
    bool is_rerunnable;
    int64_t unit_kib = job_rules_unit_kib(conf);
    job_rules_init(rules);
    const struct conf_cell *cell = cell_of(&reader, "RERUNNABLE");
    if (cell != NULL && conf_parse_bool(cell->value, &is_rerunnable, NULL) == 0) {
        rules->rerunnable = is_rerunnable;
    }
    read_slots(&reader, "PROCLIMIT");
    read_slots(&reader, "TASKLIMIT"); /* its name in later versions */
    read_run_limit(&reader);
    for (int i = 0; i < JOB_LIMITS; i++) {
        read_limit(&reader, (enum job_limit)i, unit_kib);
    }
    read_requeue_codes(&reader);
    read_success_codes(&reader);
    rules->job_starter = read_command(&reader, "JOB_STARTER");
    rules->pre_exec = read_command(&reader, "PRE_EXEC");
    rules->post_exec = read_command(&reader, "POST_EXEC");
    read_controls(&reader);
    rules->max_requeues = read_number(&reader, "MAX_JOB_REQUEUE");
    rules->max_pre_tries = read_number(&reader, "MAX_PREEXEC_RETRY");
}

/* ---------------------------------------------------------------- together */

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Both bounds count. */
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

/* The nearer one's default counts, and both maxima. */
static void add_limits(struct job_rules *to, const struct job_rules *from)
{
    if (from->default_run_limit_ms > 0) {
        to->default_run_limit_ms = from->default_run_limit_ms;
    }
    if (from->run_limit_ms > 0) {
        to->run_limit_ms = to->run_limit_ms > 0
                               ? least(to->run_limit_ms, from->run_limit_ms)
                               : from->run_limit_ms;
    }
    if (to->run_limit_ms > 0) {
        to->default_run_limit_ms = least(to->default_run_limit_ms, to->run_limit_ms);
    }
    for (int i = 0; i < JOB_LIMITS; i++) {
        to->hard.values[i] = least(to->hard.values[i], from->hard.values[i]);
        if (from->soft.values[i] != JOB_LIMIT_NONE) {
            to->soft.values[i] = from->soft.values[i];
        }
        to->soft.values[i] = least(to->soft.values[i], to->hard.values[i]);
    }
}

static void add_rules(struct job_rules *to, const struct job_rules *from)
{
    if (from == NULL) {
        return;
    }
    add_slots(to, from);
    add_limits(to, from);
    if (from->rerunnable != JOB_RULES_UNSAID) {
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
    for (int i = 0; i < JOB_ACTIONS; i++) {
        if (from->controls.actions[i] != NULL) {
            to->controls.actions[i] = from->controls.actions[i];
        }
    }
    if (from->max_requeues != JOB_RULES_UNSAID) {
        to->max_requeues = from->max_requeues;
    }
    if (from->max_pre_tries != JOB_RULES_UNSAID) {
        to->max_pre_tries = from->max_pre_tries;
    }
}

void job_rules_merge(const struct job_rules_stack *stack, struct job_rules *merged)
{
    job_rules_init(merged);
    add_rules(merged, stack->site);
    add_rules(merged, stack->queue);
    add_rules(merged, stack->app);
    if (stack->app != NULL) {
        merged->pre_exec = stack->app->pre_exec;
        merged->post_exec = stack->app->post_exec;
    }
}

/* ---------------------------------------------------------------- jobs */

/* The range's ends are the rules' where they allow less. */
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

static int check_run_limit(const struct job_rules *rules, struct job_spec *spec,
                           struct err *err)
{
    if (spec->run_limit_ms == 0) {
        spec->run_limit_ms = rules->default_run_limit_ms;
    }
    if (rules->run_limit_ms > 0 && spec->run_limit_ms > rules->run_limit_ms) {
        return err_set(err, ERR_BOUNDS,
                       "RUNLIMIT: Cannot exceed queue's hard limit(s), which is %lld "
                       "minutes",
                       (long long)(rules->run_limit_ms / MINUTE_MS));
    }
    return 0;
}

/* With the starter it still has to fit a message. */
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

static int check_limits(const struct job_rules *rules, const struct job_spec *spec,
                        struct err *err)
{
    struct job_limits asked;
    struct arena arena;
    int code = job_limits_read(spec->limits, spec->n_limits, &asked, err);
    for (int i = 0; code == 0 && i < JOB_LIMITS; i++) {
        const struct job_limit_kind *kind = &job_limit_kinds[i];
        if (asked.values[i] == JOB_LIMIT_NONE) {
            continue;
        }
        if (kind->option == NULL) {
            code = err_set(err, ERR_DENIED, "%s is not a job's to ask for", kind->key);
        } else if (asked.values[i] > rules->hard.values[i]) {
            arena_init(&arena);
            code = err_set(
                err, ERR_BOUNDS, "%s: Cannot exceed queue's hard limit(s), which is %s",
                kind->key,
                job_limit_text(&arena, (enum job_limit)i, rules->hard.values[i]));
            arena_release(&arena);
        }
    }
    return code;
}

int job_rules_check(const struct job_rules_stack *stack, struct job_spec *spec,
                    int *max_slots, struct err *err)
{
    struct job_rules rules;
    job_rules_merge(stack, &rules);
    int code = check_slots(&rules, spec, max_slots, err);
    if (code == 0) {
        code = check_run_limit(&rules, spec, err);
    }
    if (code == 0) {
        code = check_command(&rules, spec, err);
    }
    return code == 0 ? check_limits(&rules, spec, err) : code;
}

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
    struct job_limits limits;
    if (job_limits_read(spec->limits, spec->n_limits, &limits, NULL) != 0) {
        return; /* of a version to come: as it is */
    }
    for (int i = 0; i < JOB_LIMITS; i++) {
        if (limits.values[i] == JOB_LIMIT_NONE) {
            limits.values[i] = rules->soft.values[i];
        }
        limits.values[i] = least(limits.values[i], rules->hard.values[i]);
    }
    spec->n_limits = job_limits_write(arena, &limits, &spec->limits);
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
    const char **texts = arena_alloc(arena, JOB_ACTIONS, sizeof(*texts));
    spec->n_controls = 0;
    for (int i = 0; i < JOB_ACTIONS; i++) {
        bool is_site = i == JOB_ACTION_SUSPEND && job_controls_requeue(controls);
        if (controls->actions[i] != NULL && !is_site) {
            texts[spec->n_controls++] =
                arena_printf(arena, "%s=%s", job_action_name((enum job_action)i),
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
    return rules->max_pre_tries == JOB_RULES_UNSAID ? PRE_TRIES_DEFAULT
                                                    : rules->max_pre_tries;
}
