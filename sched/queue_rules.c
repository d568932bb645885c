/* SPDX-License-Identifier: Apache-2.0 */
/* queue_rules.c: see queue_rules.h. */
#include "sched/queue_rules.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/limits.h"

enum { EXIT_CODE_MAX = 255, SLOTS_OF_A_JOB = 3 };

#define HOUR_MS INT64_C(3600000)
#define MINUTE_MS INT64_C(60000)

struct reader {
    struct conf *conf;
    const struct group_place *place; /* its cell is not used */
    struct queue_rules *rules;
};

static const struct conf_cell *cell_of(const struct reader *reader, const char *key)
{
    const struct conf_cell *cell = conf_cell(reader->place->row, key);
    return cell != NULL && cell->value != NULL ? cell : NULL;
}

#define COMPLAIN(reader, cell, ...)                                                    \
    conf_complain((reader)->conf, CONF_ERROR, (reader)->place->section,                \
                  (reader)->place->row, cell, __VA_ARGS__)

/* ---------------------------------------------------------------- values */

static void read_users(struct reader *reader, const struct groups *groups)
{
    const struct conf_cell *cell = cell_of(reader, "USERS");
    reader->rules->users = (struct name_set){.is_all = true};
    if (cell != NULL) {
        struct group_place place = *reader->place;
        place.cell = cell;
        reader->rules->users = groups_read_users(reader->conf, groups, &place);
    }
}

static void read_windows(struct reader *reader, const char *key,
                         struct window_list *list)
{
    const struct conf_cell *cell = cell_of(reader, key);
    struct err err;
    if (cell != NULL &&
        window_read(reader->conf->arena, cell->value, list, &err) != 0) {
        COMPLAIN(reader, cell, "%s", err.text);
    }
}

/* "max", "min max", "min default max". */
static void read_slots(struct reader *reader, const char *key)
{
    struct queue_rules *rules = reader->rules;
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

/* "90", "1:30"; a host or model behind a slash is what LSF normalises by. */
static bool read_time(struct reader *reader, const struct conf_cell *cell, char *word,
                      int64_t *ms)
{
    struct err err;
    char *slash = strchr(word, '/'), *colon = strchr(word, ':');
    int64_t hours = 0;
    if (slash != NULL) {
        COMPLAIN(reader, cell,
                 "%s: limits normalised by a host are not supported, expected "
                 "[HOURS:]MINUTES",
                 word);
        return false;
    }
    if (colon != NULL) {
        *colon = '\0';
        if (conf_parse_int(word, 0, 1000000, &hours, &err) != 0) {
            COMPLAIN(reader, cell, "%s", err.text);
            return false;
        }
        word = colon + 1;
    }
    if (conf_parse_duration(word, MINUTE_MS, ms, &err) != 0) {
        COMPLAIN(reader, cell, "%s", err.text);
        return false;
    }
    *ms += hours * HOUR_MS;
    return true;
}

/* "max", "default max". */
static void read_run_limit(struct reader *reader)
{
    const struct conf_cell *cell = cell_of(reader, "RUNLIMIT");
    int64_t values[2] = {0, 0};
    if (cell == NULL) {
        return;
    }
    struct conf_words words = conf_words(reader->conf->arena, cell->value);
    if (words.count < 1 || words.count > 2) {
        COMPLAIN(reader, cell, "%d times, expected [DEFAULT] MAX", words.count);
        return;
    }
    for (int i = 0; i < words.count; i++) {
        if (!read_time(reader, cell, arena_str(reader->conf->arena, words.words[i]),
                       &values[i])) {
            return;
        }
        if (values[i] <= 0) {
            COMPLAIN(reader, cell, "a run limit of 0, expected more");
            return;
        }
    }
    reader->rules->default_run_limit_ms = values[0];
    reader->rules->run_limit_ms = values[words.count - 1];
    if (reader->rules->default_run_limit_ms > reader->rules->run_limit_ms) {
        COMPLAIN(reader, cell, "the default is above the maximum");
    }
}

/* "99 100-120 all ~5". */
static void read_codes(struct reader *reader, const char *key, const int **codes,
                       int *n_codes)
{
    const struct conf_cell *cell = cell_of(reader, key);
    bool is_in[EXIT_CODE_MAX + 1] = {false};
    if (cell == NULL) {
        return;
    }
    struct conf_words words = conf_words(reader->conf->arena, cell->value);
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
            return;
        }
        for (long code = first; code <= last; code++) {
            is_in[code] = !is_out;
        }
    }
    int *all = arena_alloc(reader->conf->arena, EXIT_CODE_MAX + 1, sizeof(*all));
    for (int code = 0; code <= EXIT_CODE_MAX; code++) {
        if (is_in[code]) {
            all[(*n_codes)++] = code;
        }
    }
    *codes = all;
}

void queue_rules_read(struct conf *conf, const struct groups *groups,
                      const struct group_place *place, struct queue_rules *rules)
{
    struct reader reader = {conf, place, rules};
    *rules = (struct queue_rules){
        .job_starter = conf_text(place->row, "JOB_STARTER", ""),
    };
    bool is_rerunnable;
    const char *text = conf_text(place->row, "RERUNNABLE", NULL);
    if (text != NULL && conf_parse_bool(text, &is_rerunnable, NULL) == 0) {
        rules->is_rerunnable = is_rerunnable;
    }
    read_users(&reader, groups);
    read_windows(&reader, "RUN_WINDOW", &rules->run_windows);
    read_windows(&reader, "DISPATCH_WINDOW", &rules->dispatch_windows);
    read_slots(&reader, "PROCLIMIT");
    read_slots(&reader, "TASKLIMIT"); /* its name in later versions */
    read_run_limit(&reader);
    read_codes(&reader, "REQUEUE_EXIT_VALUES", &rules->requeue_codes,
               &rules->n_requeue_codes);
    read_codes(&reader, "SUCCESS_EXIT_VALUES", &rules->success_codes,
               &rules->n_success_codes);
}

/* ---------------------------------------------------------------- jobs */

/* The range's ends are the queue's where it allows less. */
static int check_slots(const struct queue_rules *rules, int *n_slots, int *max_slots,
                       struct err *err)
{
    int most = *max_slots > *n_slots ? *max_slots : *n_slots;
    if (rules->max_slots > 0 && *n_slots > rules->max_slots) {
        return err_set(err, ERR_BOUNDS,
                       "Too many processors requested: %d, the queue takes at most %d",
                       *n_slots, rules->max_slots);
    }
    if (most < rules->min_slots) {
        return err_set(err, ERR_BOUNDS,
                       "Too few processors requested: %d, the queue takes at least %d",
                       most, rules->min_slots);
    }
    *n_slots = *n_slots < rules->min_slots ? rules->min_slots : *n_slots;
    if (rules->max_slots > 0 && *max_slots > rules->max_slots) {
        *max_slots = rules->max_slots;
    }
    return 0;
}

int queue_rules_check(const struct queue_rules *rules, const char *user, int *n_slots,
                      int *max_slots, int64_t *run_limit_ms, struct err *err)
{
    if (!groups_has(&rules->users, user)) {
        return err_set(err, ERR_DENIED, "User cannot use the queue");
    }
    if (*n_slots == 0) {
        *n_slots = rules->default_slots > 0 ? rules->default_slots : 1;
    }
    int code = check_slots(rules, n_slots, max_slots, err);
    if (code != 0) {
        return code;
    }
    if (*run_limit_ms == 0) {
        *run_limit_ms = rules->default_run_limit_ms;
    }
    if (rules->run_limit_ms > 0 && *run_limit_ms > rules->run_limit_ms) {
        return err_set(err, ERR_BOUNDS,
                       "RUNLIMIT: Cannot exceed queue's hard limit(s), which is %lld "
                       "minutes",
                       (long long)(rules->run_limit_ms / MINUTE_MS));
    }
    return 0;
}

const char *queue_rules_command(struct arena *arena, const struct queue_rules *rules,
                                const char *command)
{
    static const char mark[] = "%USRCMD";
    const char *starter = rules->job_starter;
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

static bool has_code(const int *codes, int n_codes, int code)
{
    for (int i = 0; i < n_codes; i++) {
        if (codes[i] == code) {
            return true;
        }
    }
    return false;
}

bool queue_rules_requeue(const struct queue_rules *rules, int exit_code)
{
    return has_code(rules->requeue_codes, rules->n_requeue_codes, exit_code);
}

bool queue_rules_succeed(const struct queue_rules *rules, int exit_code)
{
    return exit_code == 0 ||
           has_code(rules->success_codes, rules->n_success_codes, exit_code);
}
