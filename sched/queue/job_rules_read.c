/* SPDX-License-Identifier: Apache-2.0 */
/* job_rules_read.c: reads the rules of one row of a section, see job_rules.h. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/bounds.h"
#include "base/conf/conf_keys.h"
#include "base/conf/conf_value.h"
#include "sched/queue/job_rules.h"

enum { EXIT_CODE_MAX = 255, SLOTS_OF_A_JOB = 3 };

#define MINUTE_MS INT64_C(60000)

struct reader {
    struct conf *conf;
    struct conf_place at;
    struct job_rules *rules;
};

#define COMPLAIN(reader, cell, ...)                                                    \
    conf_complain((reader)->conf, CONF_ERROR, (reader)->at.section, (reader)->at.row,  \
                  cell, __VA_ARGS__)

static const struct conf_cell *cell_of(const struct reader *reader, const char *key)
{
    const struct conf_cell *cell = conf_cell(reader->at.row, key);
    bool is_known = conf_keys_find(reader->at.section->name, key) != NULL;
    return is_known && cell != NULL && cell->value != NULL ? cell : NULL;
}

/* ---------------------------------------------------------------- values */

static int read_bool(const struct reader *reader, const char *key)
{
    const struct conf_cell *cell = cell_of(reader, key);
    bool is_set;
    return cell != NULL && conf_parse_bool(cell->value, &is_set, NULL) == 0
               ? is_set
               : JOB_RULES_UNSET;
}

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

/* If a queue gives only one value, it is the maximum as well. An application's is a
 * default that its jobs may exceed. */
static bool has_maximum(const struct reader *reader, int n_values)
{
    return n_values == 2 || strcasecmp(reader->at.section->name, "Application") != 0;
}

/* The default is not above the maximum, if both are of one host. */
static bool is_in_order(struct reader *reader, const struct conf_cell *cell,
                        struct conf_words words, const int64_t values[2])
{
    if (words.count < 2 || values[0] <= values[1] ||
        strcmp(job_rlimit_host(words.words[0]), job_rlimit_host(words.words[1])) != 0) {
        return true;
    }
    COMPLAIN(reader, cell, "the default is above the maximum");
    return false;
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
        if (job_rlimit_parse_host_time(words.words[i], &values[i], &err) != 0) {
            COMPLAIN(reader, cell, "%s", err.text);
            return;
        }
        if (values[i] <= 0) {
            COMPLAIN(reader, cell, "a run limit of 0, expected more");
            return;
        }
    }
    if (!is_in_order(reader, cell, words, values)) {
        return;
    }
    reader->rules->default_run_limit =
        (struct run_limit){values[0], job_rlimit_host(words.words[0])};
    if (has_maximum(reader, words.count)) {
        const char *word = words.words[words.count - 1];
        reader->rules->run_limit =
            (struct run_limit){values[words.count - 1], job_rlimit_host(word)};
    }
}

/* "max", "default max". A nice value and the run times of commands have no maximum,
 * because jobs cannot ask for them. */
static void read_limit(struct reader *reader, enum job_rlimit limit, int64_t unit_kib)
{
    const struct job_rlimit_kind *kind = &job_rlimit_kinds[limit];
    const struct conf_cell *cell = cell_of(reader, kind->key);
    int64_t values[2] = {0, 0};
    struct err err;
    if (cell == NULL) {
        return;
    }
    struct conf_words words = conf_words(reader->conf->arena, cell->value);
    bool is_bound = kind->option != NULL && limit != JOB_RLIMIT_WARNING;
    int count_max = is_bound ? 2 : 1;
    if (words.count < 1 || words.count > count_max) {
        COMPLAIN(reader, cell, "%d values, expected %s", words.count,
                 count_max == 2 ? "[DEFAULT] MAX" : "one");
        return;
    }
    for (int i = 0; i < words.count; i++) {
        bool is_bare;
        if (job_rlimit_parse(limit, words.words[i], unit_kib, &values[i], &is_bare,
                             &err) != 0) {
            COMPLAIN(reader, cell, "%s", err.text);
            return;
        }
    }
    if (!is_in_order(reader, cell, words, values)) {
        return;
    }
    struct job_rules *rules = reader->rules;
    rules->soft.values[limit] = values[0];
    if (is_bound && has_maximum(reader, words.count)) {
        rules->hard.values[limit] = values[words.count - 1];
    }
    if (limit == JOB_RLIMIT_CPU) {
        rules->soft.cpu_host = job_rlimit_host(words.words[0]);
        rules->hard.cpu_host = job_rlimit_host(words.words[words.count - 1]);
    }
}

/* "99 100-120 all ~5". */
static int read_code_words(struct conf_words words, bool is_in[EXIT_CODE_MAX + 1],
                           struct err *err)
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
            return err_set(
                err, ERR_PARSE,
                "\"%.40s\" is not an exit code, expected 0 to 255, a range as "
                "100-120, all, or ~CODE",
                word);
        }
        for (long code = first; code <= last; code++) {
            is_in[code] = !is_out;
        }
    }
    return 0;
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
    struct err err;
    if (cell == NULL) {
        return;
    }
    if (read_code_words(conf_words(arena, cell->value), is_in, &err) != 0) {
        COMPLAIN(reader, cell, "%s", err.text);
        return;
    }
    list_codes(arena, is_in, &rules->success_codes, &rules->n_success_codes);
}

/* True if the words continue with "EXCLUDE(20 30)"; gives its codes, or none if they
 * are not in parentheses. */
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

int job_rules_read_requeue(struct arena *arena, const char *text,
                           struct job_rules *rules, struct err *err)
{
    bool is_in[EXIT_CODE_MAX + 1] = {false}, is_excluded[EXIT_CODE_MAX + 1] = {false};
    struct conf_words words = conf_words(arena, text);
    struct conf_words plain = {
        arena_alloc(arena, (size_t)words.count + 1, sizeof(*plain.words)), 0};
    int status = 0;
    for (int i = 0; status == 0 && i < words.count; i++) {
        struct conf_words excluded;
        if (!take_exclude(arena, words, &i, &excluded)) {
            plain.words[plain.count++] = words.words[i];
        } else if (excluded.count == 0) {
            status = err_set(err, ERR_PARSE,
                             "no codes to exclude, expected EXCLUDE(CODE ...)");
        } else {
            status = read_code_words(excluded, is_excluded, err);
        }
    }
    if (status == 0) {
        status = read_code_words(plain, is_in, err);
    }
    if (status != 0) {
        return status;
    }
    for (int code = 0; code <= EXIT_CODE_MAX; code++) {
        is_in[code] = is_in[code] || is_excluded[code];
    }
    rules->n_requeue_codes = rules->n_exclude_codes = 0;
    list_codes(arena, is_in, &rules->requeue_codes, &rules->n_requeue_codes);
    list_codes(arena, is_excluded, &rules->exclude_codes, &rules->n_exclude_codes);
    return 0;
}

static void read_requeue_codes(struct reader *reader)
{
    const struct conf_cell *cell = cell_of(reader, "REQUEUE_EXIT_VALUES");
    struct err err;
    if (cell != NULL && job_rules_read_requeue(reader->conf->arena, cell->value,
                                               reader->rules, &err) != 0) {
        COMPLAIN(reader, cell, "%s", err.text);
    }
}

/* conf_check has reported malformed numbers. */
static int read_number(const struct reader *reader, const char *key)
{
    return cell_of(reader, key) == NULL
               ? JOB_RULES_UNSET
               : (int)conf_value_int(reader->conf, &reader->at, key, JOB_RULES_UNSET);
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

/* A queue has one key for all controls but the warning, an application one key for
 * each. */
static void read_controls(struct reader *reader)
{
    static const char *const keys[JOB_CONTROL_KINDS] = {
        [JOB_CONTROL_SUSPEND] = "SUSPEND_CONTROL",
        [JOB_CONTROL_RESUME] = "RESUME_CONTROL",
        [JOB_CONTROL_TERMINATE] = "TERMINATE_CONTROL",
        [JOB_CONTROL_WARN] = "JOB_WARNING_ACTION",
    };
    struct arena *arena = reader->conf->arena;
    struct job_controls *controls = &reader->rules->controls;
    struct err err;
    const struct conf_cell *cell = cell_of(reader, "JOB_CONTROLS");
    if (cell != NULL && job_controls_read(arena, cell->value, controls, &err) != 0) {
        COMPLAIN(reader, cell, "%s", err.text);
    }
    for (int i = 0; i < JOB_CONTROL_KINDS; i++) {
        cell = cell_of(reader, keys[i]);
        if (cell != NULL && job_controls_read_one(arena, (enum job_control)i,
                                                  cell->value, controls, &err) != 0) {
            COMPLAIN(reader, cell, "%s", err.text);
        }
    }
}

void job_rules_read(struct conf *conf, const struct conf_place *at,
                    struct job_rules *rules)
{
    struct reader reader = {conf, *at, rules};
    int64_t unit_kib = job_rules_unit_kib(conf);
    job_rules_init(rules);
    rules->rerunnable = read_bool(&reader, "RERUNNABLE");
    rules->is_run_limit_absolute = read_bool(&reader, "ABS_RUNLIMIT");
    read_slots(&reader, "PROCLIMIT");
    read_slots(&reader, "TASKLIMIT"); /* its name in later versions of LSF */
    read_run_limit(&reader);
    for (int i = 0; i < JOB_RLIMITS; i++) {
        read_limit(&reader, (enum job_rlimit)i, unit_kib);
    }
    const struct conf_cell *cell = cell_of(&reader, "DEFAULT_HOST_SPEC");
    rules->host_spec = cell != NULL ? cell->value : "";
    read_requeue_codes(&reader);
    read_success_codes(&reader);
    rules->job_starter = read_command(&reader, "JOB_STARTER");
    rules->pre_exec = read_command(&reader, "PRE_EXEC");
    rules->post_exec = read_command(&reader, "POST_EXEC");
    read_controls(&reader);
    rules->max_requeues = read_number(&reader, "MAX_JOB_REQUEUE");
    rules->max_pre_tries = read_number(&reader, "MAX_PREEXEC_RETRY");
}
