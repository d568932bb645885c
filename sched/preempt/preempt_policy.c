/* SPDX-License-Identifier: Apache-2.0 */
/* preempt_policy.c: see preempt.h. */
#include "sched/preempt/preempt.h"

#include <string.h>
#include <strings.h>

#define SECOND_MS INT64_C(1000)
#define MINUTE_MS INT64_C(60000)

enum { WAIT_S = 300, RESUME_RESERVE_S = 1800, LEVEL_MAX = 1000000, PERCENT_MAX = 99 };

struct reader {
    struct conf *conf;
    struct conf_place at;
    const struct queue_config *queues;
    int n_queues;
};

#define COMPLAIN(reader, key, ...)                                                     \
    CONF_COMPLAIN((reader)->conf, CONF_ERROR, &(reader)->at, key, __VA_ARGS__)
#define WARN(reader, key, ...)                                                         \
    CONF_COMPLAIN((reader)->conf, CONF_WARNING, &(reader)->at, key, __VA_ARGS__)

static const char key_name[] = "PREEMPTION";

static int find_queue(const struct reader *reader, const char *name)
{
    for (int i = 0; i < reader->n_queues; i++) {
        if (strcmp(reader->queues[i].name, name) == 0) {
            return i;
        }
    }
    return -1;
}

/* ---------------------------------------------------------------- PREEMPTION */

/* "low+1": a queue and, if that is allowed, its level of preference. */
static bool read_target(const struct reader *reader, char *word, bool may_prefer,
                        struct preempt_target *target)
{
    char *plus = strchr(word, '+');
    struct err err;
    int64_t level = 0;
    if (plus != NULL && !may_prefer) {
        COMPLAIN(reader, key_name,
                 "\"%s\": PREEMPTABLE has no preferences, expected a queue's name",
                 word);
        return false;
    }
    if (plus != NULL && conf_parse_int(plus + 1, 1, LEVEL_MAX, &level, &err) != 0) {
        COMPLAIN(reader, key_name, "\"%s\": bad preference, expected QUEUE+N: %s", word,
                 err.text);
        return false;
    }
    if (plus != NULL) {
        *plus = '\0';
    }
    *target =
        (struct preempt_target){.queue = find_queue(reader, word), .level = (int)level};
    if (target->queue < 0) {
        COMPLAIN(reader, key_name,
                 "unknown queue \"%s\", expected one of section Queue", word);
    }
    return target->queue >= 0;
}

/* The text up to the closing bracket; NULL if there is none. */
static char *take_list(const char **text, struct arena *arena)
{
    const char *end = strchr(*text, ']');
    if (end == NULL) {
        return NULL;
    }
    char *list = arena_strn(arena, *text, (size_t)(end - *text));
    *text = end + 1;
    return list;
}

static bool read_list(const struct reader *reader, const char **text, bool may_prefer,
                      struct preempt_target **targets, int *n_targets)
{
    struct arena *arena = reader->conf->arena;
    const char *list = take_list(text, arena);
    if (list == NULL) {
        COMPLAIN(reader, key_name, "a bracket is not closed, expected [QUEUE ...]");
        return false;
    }
    struct conf_words words = conf_words(arena, list);
    *targets = arena_alloc(arena, (size_t)words.count + 1, sizeof(**targets));
    *n_targets = 0;
    for (int i = 0; i < words.count; i++) {
        if (read_target(reader, arena_str(arena, words.words[i]), may_prefer,
                        &(*targets)[*n_targets])) {
            (*n_targets)++;
        }
    }
    if (words.count == 0) {
        COMPLAIN(reader, key_name,
                 "an empty list, expected queues in it, or no brackets for all");
    }
    return words.count > 0;
}

static void set_by(const struct reader *reader, struct preempt_queue *queue,
                   const struct preempt_target *targets, int n_targets)
{
    int *by = arena_alloc(reader->conf->arena, (size_t)n_targets + 1, sizeof(*by));
    for (int i = 0; i < n_targets; i++) {
        by[i] = targets[i].queue;
    }
    queue->preemptable_by = by;
    queue->n_preemptable_by = n_targets;
}

/* Reads one of the two words and its list. False after an error. */
static bool read_word(const struct reader *reader, const char **text,
                      struct preempt_queue *queue)
{
    static const char active[] = "PREEMPTIVE", passive[] = "PREEMPTABLE";
    size_t length = strcspn(*text, " \t[");
    bool is_active =
        length == strlen(active) && strncasecmp(*text, active, length) == 0;
    bool is_passive =
        length == strlen(passive) && strncasecmp(*text, passive, length) == 0;
    bool *is_set = is_active ? &queue->is_preemptive : &queue->is_preemptable;
    if (!is_active && !is_passive) {
        COMPLAIN(reader, key_name,
                 "\"%.*s\", expected PREEMPTIVE[QUEUE[+N] ...] PREEMPTABLE[QUEUE ...]",
                 (int)length, *text);
        return false;
    }
    if (*is_set) {
        COMPLAIN(reader, key_name, "%s appears twice", is_active ? active : passive);
        return false;
    }
    *is_set = true;
    *text += length;
    *text += strspn(*text, " \t");
    if (**text != '[') {
        return true;
    }
    struct preempt_target *targets = NULL;
    int n_targets = 0;
    (*text)++;
    if (!read_list(reader, text, is_active, &targets, &n_targets)) {
        return false;
    }
    if (is_active) {
        queue->targets = targets;
        queue->n_targets = n_targets;
    } else {
        set_by(reader, queue, targets, n_targets);
    }
    return true;
}

/* Warns about listed queues that are not of lower priority: the list has no effect on
 * them. */
static void check_priorities(const struct reader *reader, int index,
                             const struct preempt_queue *queue)
{
    const struct queue_config *own = &reader->queues[index];
    for (int i = 0; i < queue->n_targets; i++) {
        const struct queue_config *other = &reader->queues[queue->targets[i].queue];
        if (other->priority >= own->priority) {
            WARN(reader, key_name,
                 "queue %s is not of lower priority than %s (PRIORITY %d, "
                 "%d): it is not preempted",
                 other->name, own->name, other->priority, own->priority);
        }
    }
}

static void read_preemption(const struct reader *reader, int index,
                            struct preempt_queue *queue)
{
    const char *text = conf_text(reader->at.row, key_name, NULL);
    queue->is_in_slot_pool = conf_text(reader->at.row, "SLOT_POOL", NULL) != NULL;
    if (text == NULL) {
        return;
    }
    text += strspn(text, " \t");
    while (*text != '\0') {
        if (!read_word(reader, &text, queue)) {
            return;
        }
        text += strspn(text, " \t");
    }
    if (queue->is_in_slot_pool) {
        COMPLAIN(reader, key_name,
                 "a queue of a slot pool can be neither preemptive nor preemptable");
    }
    check_priorities(reader, index, queue);
}

/* ---------------------------------------------------------------- protection */

/* "90" minutes, "90s", "50%". */
static void read_protected_time(const struct reader *reader, const char *key,
                                struct preempt_duration *time)
{
    const char *text = conf_text(reader->at.row, key, NULL);
    struct err err;
    if (text == NULL) {
        return;
    }
    size_t length = strlen(text);
    int64_t number;
    if (text[length - 1] != '%') {
        if (conf_parse_duration(text, MINUTE_MS, &number, &err) != 0) {
            COMPLAIN(reader, key, "%s, or a percentage", err.text);
        } else {
            *time = (struct preempt_duration){.ms = number};
        }
        return;
    }
    const char *digits = arena_strn(reader->conf->arena, text, length - 1);
    if (conf_parse_int(digits, 1, PERCENT_MAX, &number, &err) != 0) {
        COMPLAIN(reader, key, "\"%s\", expected 1%% to %d%% of the run limit", text,
                 PERCENT_MAX);
    } else {
        *time = (struct preempt_duration){.percent = (int)number};
    }
}

/* conf_check has reported malformed times. */
static void read_time(const struct reader *reader, const char *key, int64_t unit_ms,
                      int64_t *ms)
{
    const char *text = conf_text(reader->at.row, key, NULL);
    int64_t read_ms;
    if (text != NULL && conf_parse_duration(text, unit_ms, &read_ms, NULL) == 0) {
        *ms = read_ms;
    }
}

static void read_protection(const struct reader *reader,
                            struct preempt_protection *protection)
{
    const char *text = conf_text(reader->at.row, "MAX_JOB_PREEMPT", NULL);
    int64_t count;
    if (text != NULL && conf_parse_int(text, 1, INT32_MAX, &count, NULL) == 0) {
        protection->max_count = (int)count;
    }
    read_protected_time(reader, "NO_PREEMPT_RUN_TIME", &protection->ran);
    read_protected_time(reader, "NO_PREEMPT_FINISH_TIME", &protection->finish);
    read_time(reader, "NO_PREEMPT_INTERVAL", MINUTE_MS, &protection->interval_ms);
    read_time(reader, "MAX_TOTAL_TIME_PREEMPT", MINUTE_MS, &protection->max_total_ms);
    read_time(reader, "PREEMPT_DELAY", SECOND_MS, &protection->delay_ms);
}

/* ---------------------------------------------------------------- words */

struct word_value {
    const char *word;
    int value;
};

static const struct word_value for_words[] = {
    {"GROUP_JLP", PREEMPT_FOR_GROUP_JLP},
    {"GROUP_MAX", PREEMPT_FOR_GROUP_MAX},
    {"HOST_JLU", PREEMPT_FOR_HOST_JLU},
    {"USER_JLP", PREEMPT_FOR_USER_JLP},
    {"LEAST_RUN_TIME", PREEMPT_FOR_LEAST_RUN_TIME},
    {"MINI_JOB", PREEMPT_FOR_MINI_JOB},
    {"OPTIMAL_MINI_JOB", PREEMPT_FOR_OPTIMAL_MINI_JOB},
    {NULL, 0},
};

enum { TYPE_EXCLUSIVE = 1, TYPE_BACKFILL = 2 };
static const struct word_value type_words[] = {
    {"EXCLUSIVE", TYPE_EXCLUSIVE},
    {"BACKFILL", TYPE_BACKFILL},
    {NULL, 0},
};

static const struct word_value end_words[] = {
    {"LOAD", SUSPEND_LOAD},
    {"PREEMPT", SUSPEND_PREEMPT},
    {"WINDOW", SUSPEND_WINDOW},
    {NULL, 0},
};

/* The sum of the values of the words in a row's key. */
static int read_words(const struct reader *reader, const char *key,
                      const struct word_value *values)
{
    struct conf_words words =
        conf_words(reader->conf->arena, conf_text(reader->at.row, key, NULL));
    int sum = 0;
    for (int i = 0; i < words.count; i++) {
        const struct word_value *at = values;
        const char *known = "";
        while (at->word != NULL && strcasecmp(words.words[i], at->word) != 0) {
            known = arena_printf(reader->conf->arena, "%s %s", known, at++->word);
        }
        if (at->word == NULL) {
            COMPLAIN(reader, key, "\"%s\", expected some of%s", words.words[i], known);
        }
        sum |= at->value;
    }
    return sum;
}

/* ---------------------------------------------------------------- backfill */

/* The highest PRIORITY of queues that reserve; 0: none does. */
static int find_reserving(const struct queue_config *queues, int n_queues)
{
    int highest = 0;
    for (int i = 0; i < n_queues; i++) {
        if (queues[i].reservation.max_ms > 0 && queues[i].priority > highest) {
            highest = queues[i].priority;
        }
    }
    return highest;
}

static bool protects_backfill(const struct preempt_policy *policy,
                              const struct queue_config *queues, int high, int low)
{
    return queues[low].reservation.is_backfill &&
           (!policy->has_backfill ||
            queues[high].priority <= policy->reserving_priority);
}

/* Warns about PREEMPTION of a backfill queue that has no effect. */
static void check_backfill(const struct reader *reader,
                           const struct preempt_policy *policy, int index)
{
    const struct preempt_queue *queue = &policy->queues[index];
    if (!queue->is_preemptable || !reader->queues[index].reservation.is_backfill) {
        return;
    }
    if (!policy->has_backfill) {
        WARN(reader, key_name,
             "queue %s has BACKFILL: without PREEMPT_JOBTYPE = BACKFILL its "
             "jobs are not preempted",
             reader->queues[index].name);
        return;
    }
    for (int i = 0; i < queue->n_preemptable_by; i++) {
        const struct queue_config *by = &reader->queues[queue->preemptable_by[i]];
        if (by->priority <= policy->reserving_priority) {
            WARN(reader, key_name,
                 "queue %s (PRIORITY %d) is not of higher priority than all "
                 "queues with SLOT_RESERVE or RESOURCE_RESERVE (PRIORITY %d): "
                 "it does not preempt jobs of the backfill queue %s",
                 by->name, by->priority, policy->reserving_priority,
                 reader->queues[index].name);
        }
    }
}

/* ---------------------------------------------------------------- all */

static void read_reset(const struct reader *reader, struct preempt_policy *policy)
{
    const char *text = conf_text(reader->at.row, "MAX_JOB_PREEMPT_RESET", NULL);
    bool is_reset;
    if (text != NULL && conf_parse_bool(text, &is_reset, NULL) == 0) {
        policy->reset = is_reset ? PREEMPT_RESET_ALWAYS : PREEMPT_RESET_NEVER;
    }
}

static void read_parameters(struct reader *reader, struct preempt_policy *policy,
                            struct preempt_protection *protection)
{
    policy->wait_ms = WAIT_S * SECOND_MS;
    policy->resume_reserve_ms = RESUME_RESERVE_S * SECOND_MS;
    while (conf_next_row(reader->conf, "Parameters", &reader->at)) {
        read_protection(reader, protection);
        read_time(reader, "PREEMPTION_WAIT_TIME", SECOND_MS, &policy->wait_ms);
        read_time(reader, "RESUME_RESERVE_TIME", SECOND_MS, &policy->resume_reserve_ms);
        policy->preempt_for |= read_words(reader, "PREEMPT_FOR", for_words);
        read_reset(reader, policy);
        int types = read_words(reader, "PREEMPT_JOBTYPE", type_words);
        policy->has_exclusive = policy->has_exclusive || (types & TYPE_EXCLUSIVE) != 0;
        policy->has_backfill = policy->has_backfill || (types & TYPE_BACKFILL) != 0;
    }
}

static const struct preempt_protection protection_unset = {
    .ran = {.percent = -1},
    .finish = {.percent = -1},
    .interval_ms = -1,
    .max_total_ms = -1,
    .max_count = -1,
    .delay_ms = -1,
};

static bool has_any(const struct preempt_protection *protection)
{
    return protection->ran.percent >= 0 || protection->finish.percent >= 0 ||
           protection->interval_ms >= 0 || protection->max_total_ms >= 0 ||
           protection->max_count >= 0 || protection->delay_ms >= 0;
}

static void read_apps(struct reader *reader, struct preempt_policy *policy)
{
    int n_rows = conf_count_rows(reader->conf, "Application");
    struct preempt_app *apps =
        arena_alloc(reader->conf->arena, (size_t)n_rows + 1, sizeof(*apps));
    while (conf_next_row(reader->conf, "Application", &reader->at)) {
        struct preempt_app *app = &apps[policy->n_apps];
        app->name = conf_text(reader->at.row, "NAME", "");
        app->protection = protection_unset;
        read_protection(reader, &app->protection);
        policy->n_apps += has_any(&app->protection);
    }
    policy->apps = apps;
}

void preempt_policy_read(struct conf *conf, const struct queue_config *queues,
                         int n_queues, struct preempt_policy *policy)
{
    struct reader reader = {.conf = conf, .queues = queues, .n_queues = n_queues};
    struct preempt_protection protection = {0};
    struct preempt_queue *all =
        arena_alloc(conf->arena, (size_t)n_queues + 1, sizeof(*all));
    *policy = (struct preempt_policy){.queues = all, .n_queues = n_queues};
    policy->reserving_priority = find_reserving(queues, n_queues);
    read_parameters(&reader, policy, &protection);
    read_apps(&reader, policy);
    while (conf_next_row(conf, "Queue", &reader.at)) {
        int index = find_queue(&reader, conf_text(reader.at.row, "QUEUE_NAME", ""));
        if (index < 0) {
            continue; /* reported already */
        }
        all[index].protection = protection;
        read_preemption(&reader, index, &all[index]);
        read_protection(&reader, &all[index].protection);
        all[index].terminate_when = read_words(&reader, "TERMINATE_WHEN", end_words);
        check_backfill(&reader, policy, index);
        policy->is_enabled =
            policy->is_enabled || all[index].is_preemptive || all[index].is_preemptable;
    }
}

int preempt_policy_read_for(const struct conf *conf)
{
    struct conf unreported = {.arena = conf->arena}; /* preempt_policy_read reports */
    struct reader reader = {.conf = &unreported};
    int reasons = 0;
    bool is_enabled = false;
    while (conf_next_row(conf, "Parameters", &reader.at)) {
        reasons |= read_words(&reader, "PREEMPT_FOR", for_words);
    }
    while (conf_next_row(conf, "Queue", &reader.at)) {
        is_enabled = is_enabled || conf_text(reader.at.row, key_name, NULL) != NULL;
    }
    return is_enabled ? reasons : -1;
}

static int64_t override(int64_t own, int64_t other)
{
    return own >= 0 ? own : other;
}

static const struct preempt_protection *merge(struct arena *arena,
                                              const struct preempt_protection *app,
                                              const struct preempt_protection *queue)
{
    struct preempt_protection *protection = arena_alloc(arena, 1, sizeof(*protection));
    *protection = (struct preempt_protection){
        .ran = app->ran.percent >= 0 ? app->ran : queue->ran,
        .finish = app->finish.percent >= 0 ? app->finish : queue->finish,
        .interval_ms = override(app->interval_ms, queue->interval_ms),
        .max_total_ms = override(app->max_total_ms, queue->max_total_ms),
        .max_count = (int) override(app->max_count, queue->max_count),
        .delay_ms = override(app->delay_ms, queue->delay_ms),
    };
    return protection;
}

const struct preempt_protection *
preempt_policy_protection(const struct preempt_policy *policy, struct arena *arena,
                          int queue, const char *app)
{
    for (int i = 0; app != NULL && i < policy->n_apps; i++) {
        if (strcmp(policy->apps[i].name, app) == 0) {
            return merge(arena, &policy->apps[i].protection,
                         &policy->queues[queue].protection);
        }
    }
    return &policy->queues[queue].protection;
}

bool preempt_policy_terminates(const struct preempt_policy *policy, int queue,
                               enum suspend_cause cause)
{
    return queue >= 0 && (policy->queues[queue].terminate_when & (int)cause) != 0;
}

bool preempt_policy_may(const struct preempt_policy *policy,
                        const struct queue_config *queues, int high, int low,
                        int *level)
{
    const struct preempt_queue *from = &policy->queues[high],
                               *to = &policy->queues[low];
    *level = 0;
    if (queues[high].priority <= queues[low].priority || from->is_in_slot_pool ||
        to->is_in_slot_pool || protects_backfill(policy, queues, high, low)) {
        return false;
    }
    bool may = from->is_preemptive && from->n_targets == 0;
    for (int i = 0; from->is_preemptive && i < from->n_targets; i++) {
        if (from->targets[i].queue == low) {
            may = true;
            *level = from->targets[i].level;
        }
    }
    for (int i = 0; to->is_preemptable && i < to->n_preemptable_by; i++) {
        may = may || to->preemptable_by[i] == high;
    }
    return may || (to->is_preemptable && to->n_preemptable_by == 0);
}
