/* SPDX-License-Identifier: Apache-2.0 */
/* scenario_statement.c: one statement from the words of its line: a table of verbs, and
 * of the options of those that have any. */
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "broker/lease.h"
#include "sim/scenario_parts.h"

enum { AT = 0, TIME = 1, VERB = 2, FIRST = 3 }; /* words of a line */
enum { SECOND_MS = 1000, MINUTE_MS = 60000, RUN_MS_MAX = 315360000 };

struct reading {
    struct scenario *scenario;
    const struct scenario_line *line;
    struct statement *to;
    const char *verb;
};

__attribute__((format(printf, 2, 3))) static bool
complain(const struct reading *reading, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    const char *text = arena_vprintf(&reading->scenario->arena, format, args);
    va_end(args);
    scenario_complain(reading->scenario, reading->line->number, "%s: %s", reading->verb,
                      text);
    return false;
}

static const char *word(const struct reading *reading, int index)
{
    return index < reading->line->n_words ? reading->line->words[index].text : "";
}

/* ---- options
 * ------------------------------------------------------------------------ */

enum option_kind {
    OPTION_TEXT,
    OPTION_NAME,
    OPTION_COUNT,
    OPTION_TIME,
    OPTION_YESNO,
    OPTION_LIST,
    OPTION_SCALE,
    OPTION_LATER, /* of a feature that is not built */
};

struct option {
    const char *key;
    enum option_kind kind;
    size_t offset; /* in struct statement */
    int64_t min, max;
    int64_t unit_ms;
};

#define SUBMIT(field) offsetof(struct statement, submit.field)
#define WORKLOAD(field) offsetof(struct statement, workload.field)

static const struct option submit_options[] = {
    {"queue", OPTION_NAME, SUBMIT(queue), 0, 0, 0},
    {"user", OPTION_NAME, SUBMIT(user), 0, 0, 0},
    {"slots", OPTION_COUNT, SUBMIT(n_slots), 1, SLOTS_MAX, 0},
    {"run", OPTION_TIME, SUBMIT(run_ms), 0, 0, SECOND_MS},
    {"name", OPTION_NAME, SUBMIT(name), 0, 0, 0},
    {"count", OPTION_COUNT, SUBMIT(count), 1, JOB_INDEX_MAX, 0},
    {"limit", OPTION_TIME, SUBMIT(limit_ms), 1, 0, SECOND_MS},
    {"hosts", OPTION_LIST, SUBMIT(hosts), 0, 0, 0},
    {"rerun", OPTION_YESNO, SUBMIT(is_rerunnable), 0, 0, 0},
    {"exit", OPTION_COUNT, SUBMIT(exit_code), 0, 255, 0},
    {"res", OPTION_LATER, 0, 0, 0, 0},
    {"app", OPTION_LATER, 0, 0, 0, 0},
    {"max", OPTION_LATER, 0, 0, 0, 0},
    {"after", OPTION_LATER, 0, 0, 0, 0},
    {"exclusive", OPTION_LATER, 0, 0, 0, 0},
    {"project", OPTION_LATER, 0, 0, 0, 0},
    {"priority", OPTION_LATER, 0, 0, 0, 0},
    {"notify", OPTION_LATER, 0, 0, 0, 0},
    {NULL, OPTION_LATER, 0, 0, 0, 0},
};

static const struct option workload_options[] = {
    {"queue", OPTION_NAME, WORKLOAD(queue), 0, 0, 0},
    {"user", OPTION_NAME, WORKLOAD(user), 0, 0, 0},
    {"limit_jobs", OPTION_COUNT, WORKLOAD(options.limit_jobs), 1, SWF_JOBS_MAX, 0},
    {"scale", OPTION_SCALE, WORKLOAD(options.scale_millionths), 0, 0, 0},
    {NULL, OPTION_LATER, 0, 0, 0, 0},
};

static bool take_count(const struct reading *reading, const struct option *option,
                       const char *value, int *to)
{
    struct err err;
    int64_t number;

    if (conf_parse_int(value, option->min, option->max, &number, &err)) {
        return complain(reading, "%s: %s", option->key, err.text);
    }
    *to = (int)number;
    return true;
}

static bool take_time(const struct reading *reading, const struct option *option,
                      const char *value, int64_t *to)
{
    struct err err;

    if (scenario_line_duration(value, option->unit_ms, to, &err)) {
        return complain(reading, "%s: %s", option->key, err.text);
    }
    if (*to < option->min || *to / SECOND_MS > RUN_MS_MAX) {
        return complain(reading, "%s: %s is out of bounds, expected %s", option->key,
                        value, option->min > 0 ? "more than 0" : "at most 10 years");
    }
    return true;
}

static bool take_yesno(const struct reading *reading, const struct option *option,
                       const char *value, bool *to)
{
    *to = !strcmp(value, "yes") || !strcmp(value, "y") || !strcmp(value, "Y");
    return *to || !strcmp(value, "no") || !strcmp(value, "n") || !strcmp(value, "N") ||
           complain(reading, "%s: \"%.40s\", expected yes or no", option->key, value);
}

static bool take_scale(const struct reading *reading, const struct option *option,
                       const char *value, int64_t *to)
{
    struct err err;

    if (scenario_line_decimal(value, SWF_SCALE_ONE, to, &err)) {
        return complain(reading, "%s: %s", option->key, err.text);
    }
    return (*to > 0 && *to <= 1000 * SWF_SCALE_ONE) ||
           complain(reading,
                    "%s: %s is out of bounds, expected more than 0, up to 1000",
                    option->key, value);
}

static bool take_value(const struct reading *reading, const struct option *option,
                       const char *value)
{
    char *to = (char *)reading->to + option->offset;
    struct err err;

    switch (option->kind) {
    case OPTION_NAME:
        if (conf_parse_name(value, &err)) {
            return complain(reading, "%s: %s", option->key, err.text);
        }
        *(const char **)(void *)to = value;
        return true;
    case OPTION_TEXT:
        *(const char **)(void *)to = value;
        return true;
    case OPTION_COUNT:
        return take_count(reading, option, value, (int *)(void *)to);
    case OPTION_TIME:
        return take_time(reading, option, value, (int64_t *)(void *)to);
    case OPTION_YESNO:
        return take_yesno(reading, option, value, (bool *)(void *)to);
    case OPTION_LIST:
        *(struct conf_words *)(void *)to = conf_words(&reading->scenario->arena, value);
        return true;
    case OPTION_SCALE:
        return take_scale(reading, option, value, (int64_t *)(void *)to);
    case OPTION_LATER:
        break;
    }
    return complain(reading, "%s= is not supported yet", option->key);
}

/* What may stand there: "queue= user= ...". */
static const char *list_options(const struct reading *reading,
                                const struct option *options)
{
    const char *text = "";

    for (; options->key; options++) {
        if (options->kind != OPTION_LATER) {
            text =
                arena_printf(&reading->scenario->arena, "%s %s=", text, options->key);
        }
    }
    return text;
}

static bool take_option(const struct reading *reading, const struct option *options,
                        const char *text, unsigned *taken)
{
    size_t length = strcspn(text, "=");

    for (int i = 0; options[i].key; i++) {
        if (strlen(options[i].key) != length ||
            strncmp(options[i].key, text, length) != 0 || text[length] != '=') {
            continue;
        }
        if (*taken & 1u << i) {
            return complain(reading, "%s= twice, expected it once", options[i].key);
        }
        *taken |= 1u << i;
        return take_value(reading, &options[i], text + length + 1);
    }
    return complain(reading, "\"%.40s\", expected one of%s", text,
                    list_options(reading, options));
}

static bool take_options(const struct reading *reading, const struct option *options,
                         int first)
{
    unsigned taken = 0;
    bool is_good = true;

    for (int i = first; i < reading->line->n_words; i++) {
        is_good &= take_option(reading, options, word(reading, i), &taken);
    }
    return is_good;
}

/* ---- verbs
 * -------------------------------------------------------------------------- */

/* The word behind the verb; `broker` is one only where `with_broker`. */
static bool take_site(const struct reading *reading, bool with_broker)
{
    const char *name = word(reading, FIRST);

    reading->to->site = scenario_find_site(reading->scenario, name);
    if (reading->to->site >= 0 || (with_broker && !strcmp(name, "broker"))) {
        return true;
    }
    return complain(reading, "unknown site \"%.40s\", expected one of the scenario's%s",
                    name, with_broker ? ", or broker" : "");
}

static bool read_submit(const struct reading *reading)
{
    struct statement_submit *submit = &reading->to->submit;

    *submit = (struct statement_submit){
        .name = "", .queue = "", .user = "user", .n_slots = 1, .run_ms = -1};
    if (!take_site(reading, false) ||
        !take_options(reading, submit_options, FIRST + 1)) {
        return false;
    }
    if (submit->run_ms < 0) {
        return complain(reading, "no run=, expected how long the job works");
    }
    if (!submit->name[0]) {
        submit->name = arena_printf(&reading->scenario->arena, "j%d",
                                    reading->scenario->n_statements);
    }
    return true;
}

static bool read_workload(const struct reading *reading)
{
    struct statement_workload *workload = &reading->to->workload;

    *workload = (struct statement_workload){
        .path = word(reading, FIRST + 1), .queue = "", .user = ""};
    workload->options.scale_millionths = SWF_SCALE_ONE;
    return take_site(reading, false) &&
           take_options(reading, workload_options, FIRST + 2);
}

static bool read_control(const struct reading *reading)
{
    reading->to->action = !strcmp(reading->verb, "kill")   ? CONTROL_KILL
                          : !strcmp(reading->verb, "stop") ? CONTROL_SUSPEND
                                                           : CONTROL_RESUME;
    reading->to->name = word(reading, FIRST + 1);
    return take_site(reading, false);
}

static bool read_scope(const struct reading *reading)
{
    const char *text = word(reading, FIRST + 2);
    struct lease_id id;

    reading->to->scope = RECLAIM_ALL;
    if (!text[0]) {
        return true;
    }
    reading->to->name = text + strcspn(text, "=") + (strchr(text, '=') != NULL);
    if (!strncmp(text, "provider=", 9)) {
        reading->to->scope = RECLAIM_PROVIDER;
        return scenario_find_site(reading->scenario, reading->to->name) >= 0 ||
               complain(reading,
                        "unknown site \"%.40s\", expected one of the scenario's",
                        reading->to->name);
    }
    reading->to->scope = RECLAIM_LEASE;
    if (strncmp(text, "lease=", 6) != 0 || !lease_parse_id(reading->to->name, &id)) {
        return complain(reading,
                        "\"%.40s\", expected provider=SITE or "
                        "lease=PROVIDER/POLICY/CONSUMER",
                        text);
    }
    return true;
}

static bool read_set(const struct reading *reading)
{
    const char *value = word(reading, FIRST + 1);
    struct err err;

    if (strcmp(word(reading, FIRST), "reclaim_delay") != 0) {
        return complain(reading, "\"%.40s\", expected reclaim_delay",
                        word(reading, FIRST));
    }
    if (!strcmp(value, "default")) {
        reading->to->ms = -1;
    } else if (scenario_line_duration(value, MINUTE_MS, &reading->to->ms, &err)) {
        return complain(reading, "reclaim_delay: %s", err.text);
    } else if (reading->to->ms <= 0) {
        return complain(reading, "reclaim_delay: 0, expected more than 0, or default");
    }
    return read_scope(reading);
}

static bool read_slots(const struct reading *reading)
{
    struct err err;
    int64_t number;

    reading->to->name = word(reading, FIRST + 1);
    if (conf_parse_int(word(reading, FIRST + 2), 0, SLOTS_MAX, &number, &err)) {
        return complain(reading, "%s", err.text);
    }
    reading->to->number = (int)number;
    return take_site(reading, false);
}

/* close SITE HOST, open SITE HOST */
static bool read_host(const struct reading *reading)
{
    reading->to->name = word(reading, FIRST + 1);
    reading->to->is_on = !strcmp(word(reading, FIRST - 1), "close");
    return take_site(reading, false);
}

/* drain LEASE, undrain LEASE */
static bool read_drain(const struct reading *reading)
{
    reading->to->name = word(reading, FIRST);
    reading->to->is_on = !strcmp(word(reading, FIRST - 1), "drain");
    return true;
}

/* partition SITE T, crash SITE|broker T */
static bool read_absence(const struct reading *reading)
{
    static const struct option time = {"time", OPTION_TIME, 0, 0, 0, SECOND_MS};

    return take_site(reading, reading->to->kind == STATEMENT_CRASH) &&
           take_time(reading, &time, word(reading, FIRST + 1), &reading->to->ms);
}

static bool read_chance(const struct reading *reading)
{
    struct err err;

    return !scenario_line_chance(word(reading, FIRST), &reading->to->number, &err) ||
           complain(reading, "%s", err.text);
}

static bool read_lateness(const struct reading *reading)
{
    static const struct option time = {"time", OPTION_TIME, 0, 0, 0, SECOND_MS};

    return take_time(reading, &time, word(reading, FIRST), &reading->to->ms);
}

/* crashes PROBABILITY [TIME] */
static bool read_crashes(const struct reading *reading)
{
    static const struct option time = {"time", OPTION_TIME, 0, 0, 0, SECOND_MS};
    const char *text = word(reading, FIRST + 1);

    return read_chance(reading) &&
           take_time(reading, &time, text[0] ? text : "0", &reading->to->ms);
}

/* backup broker, restore broker TIME */
static bool read_broker_only(const struct reading *reading)
{
    static const struct option time = {"time", OPTION_TIME, 0, 0, 0, SECOND_MS};

    if (strcmp(word(reading, FIRST), "broker") != 0) {
        return complain(reading, "\"%.40s\", expected broker", word(reading, FIRST));
    }
    return reading->to->kind == STATEMENT_BACKUP ||
           take_time(reading, &time, word(reading, FIRST + 1), &reading->to->ms);
}

static bool read_batch(const struct reading *reading)
{
    struct err err;
    int64_t number;

    if (conf_parse_int(word(reading, FIRST), 0, 1000000, &number, &err)) {
        return complain(reading, "%s", err.text);
    }
    reading->to->number = (int)number;
    return true;
}

struct verb {
    const char *name;
    enum statement_kind kind;
    const char *usage;
    int n_min, n_max;                            /* words behind the verb */
    bool (*read)(const struct reading *reading); /* NULL: not built */
};

static const struct verb verbs[] = {
    {"submit", STATEMENT_SUBMIT, "SITE run=TIME [queue= user= slots= name= count= ...]",
     2, 99, read_submit},
    {"workload", STATEMENT_WORKLOAD, "SITE FILE [queue= user= limit_jobs= scale=]", 2,
     99, read_workload},
    {"kill", STATEMENT_CONTROL, "SITE JOB", 2, 2, read_control},
    {"stop", STATEMENT_CONTROL, "SITE JOB", 2, 2, read_control},
    {"resume", STATEMENT_CONTROL, "SITE JOB", 2, 2, read_control},
    {"set", STATEMENT_RECLAIM, "reclaim_delay VALUE [provider=SITE or lease=ID]", 2, 3,
     read_set},
    {"slots", STATEMENT_SLOTS, "SITE HOST N", 3, 3, read_slots},
    {"close", STATEMENT_HOST, "SITE HOST", 2, 2, read_host},
    {"open", STATEMENT_HOST, "SITE HOST", 2, 2, read_host},
    {"drain", STATEMENT_DRAIN, "LEASE", 1, 1, read_drain},
    {"undrain", STATEMENT_DRAIN, "LEASE", 1, 1, read_drain},
    {"partition", STATEMENT_PARTITION, "SITE TIME", 2, 2, read_absence},
    {"crash", STATEMENT_CRASH, "SITE|broker TIME", 2, 2, read_absence},
    {"loss", STATEMENT_LOSS, "PROBABILITY", 1, 1, read_chance},
    {"repeat", STATEMENT_REPEAT, "PROBABILITY", 1, 1, read_chance},
    {"delay", STATEMENT_DELAY, "TIME", 1, 1, read_lateness},
    {"reorder", STATEMENT_REORDER, "TIME", 1, 1, read_lateness},
    {"crashes", STATEMENT_CRASHES, "PROBABILITY [TIME]", 1, 2, read_crashes},
    {"backup", STATEMENT_BACKUP, "broker", 1, 1, read_broker_only},
    {"restore", STATEMENT_RESTORE, "broker TIME", 2, 2, read_broker_only},
    {"batch", STATEMENT_BATCH, "N", 1, 1, read_batch},
    {"requeue", STATEMENT_CONTROL, "SITE JOB", 0, 99, NULL},
    {"switch", STATEMENT_CONTROL, "SITE JOB QUEUE", 0, 99, NULL},
    {"resize", STATEMENT_CONTROL, "SITE JOB slots=N", 0, 99, NULL},
    {"reload", STATEMENT_RECLAIM, "SITE|broker FILE", 0, 99, NULL},
    {"rsv", STATEMENT_RECLAIM, "...", 0, 99, NULL},
};

static const struct verb *find_verb(const char *name)
{
    for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++) {
        if (!strcmp(verbs[i].name, name)) {
            return &verbs[i];
        }
    }
    return NULL;
}

static const char *list_verbs(struct scenario *scenario)
{
    const char *text = "";

    for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++) {
        if (verbs[i].read) {
            text = arena_printf(&scenario->arena, "%s %s", text, verbs[i].name);
        }
    }
    return text;
}

/* The time, word 1 of "at" and word 2 of "expect at". */
static bool read_time(struct scenario *scenario, const struct scenario_line *line,
                      int index, int64_t *at_ms)
{
    struct err err;

    if (line->n_words <= index) {
        scenario_complain(scenario, line->number, "no time, expected: at TIME ...");
        return false;
    }
    if (scenario_line_duration(line->words[index].text, SECOND_MS, at_ms, &err)) {
        scenario_complain(scenario, line->number, "at: %s", err.text);
        return false;
    }
    return true;
}

void scenario_statement_at(struct scenario *scenario, const struct scenario_line *line)
{
    const char *name = line->n_words > VERB ? line->words[VERB].text : "";
    const struct verb *verb = find_verb(name);
    int n_words = line->n_words - FIRST;
    int64_t at_ms;

    if (!read_time(scenario, line, TIME, &at_ms)) {
        return;
    }
    if (!verb) {
        scenario_complain(scenario, line->number,
                          "\"%.40s\" is nothing to do, expected one of%s", name,
                          list_verbs(scenario));
        return;
    }
    if (!verb->read) {
        scenario_complain(scenario, line->number, "%s is not supported yet", name);
        return;
    }
    if (n_words < verb->n_min || n_words > verb->n_max) {
        scenario_complain(scenario, line->number, "%s: %s, expected: at TIME %s %s",
                          name, n_words < verb->n_min ? "too short" : "too long", name,
                          verb->usage);
        return;
    }
    struct reading reading = {scenario, line, scenario_add_statement(scenario, line),
                              name};
    if (!reading.to) {
        return;
    }
    reading.to->at_ms = at_ms;
    reading.to->kind = verb->kind;
    if (!verb->read(&reading)) {
        scenario->n_statements--;
    }
}

/* ---- expect
 * ------------------------------------------------------------------------- */

/* expect at T KIND KEY... FIELD OP VALUE */
static const struct {
    const char *name;
    bool has_site;
} things[] = {
    {"job", true}, {"host", true}, {"queue", true}, {"lease", false}, {"site", false},
};

static bool is_operator(const char *text)
{
    static const char *const operators[] = {"==", "!=", "<", "<=", ">", ">="};

    for (size_t i = 0; i < sizeof operators / sizeof operators[0]; i++) {
        if (!strcmp(operators[i], text)) {
            return true;
        }
    }
    return false;
}

static bool read_thing(struct reading *reading, int *at)
{
    const char *name = word(reading, 3);

    for (size_t i = 0; i < sizeof things / sizeof things[0]; i++) {
        if (strcmp(things[i].name, name) != 0) {
            continue;
        }
        reading->to->expect.thing = things[i].name;
        *at = 4;
        if (things[i].has_site) {
            const char *site = word(reading, (*at)++);

            reading->to->site = scenario_find_site(reading->scenario, site);
            if (reading->to->site < 0) {
                return complain(
                    reading, "unknown site \"%.40s\", expected one of the scenario's",
                    site);
            }
        }
        return true;
    }
    if (!strcmp(name, "node")) {
        return complain(reading, "node is not supported yet");
    }
    return complain(reading, "\"%.40s\", expected job, host, queue, lease or site",
                    name);
}

static bool read_expect(struct reading *reading)
{
    struct statement_expect *expect = &reading->to->expect;
    int at = 0;

    if (!read_thing(reading, &at)) {
        return false;
    }
    if (reading->line->n_words != at + 4 || !is_operator(word(reading, at + 2))) {
        return complain(
            reading,
            "expected: expect at TIME %s %s FIELD OP VALUE, where OP is one "
            "of == != < <= > >=",
            expect->thing, at == 5 ? "SITE NAME" : "NAME");
    }
    expect->name = word(reading, at);
    expect->field = word(reading, at + 1);
    expect->op = word(reading, at + 2);
    expect->value = word(reading, at + 3);
    expect->is_quoted = reading->line->words[at + 3].is_quoted;
    return true;
}

void scenario_statement_expect(struct scenario *scenario,
                               const struct scenario_line *line)
{
    int64_t at_ms;

    if (line->n_words < 2 || strcmp(line->words[1].text, "at") != 0) {
        scenario_complain(scenario, line->number,
                          "expected: expect at TIME KIND KEY FIELD OP VALUE");
        return;
    }
    if (!read_time(scenario, line, 2, &at_ms)) {
        return;
    }
    struct reading reading = {scenario, line, scenario_add_statement(scenario, line),
                              "expect"};
    if (!reading.to) {
        return;
    }
    reading.to->at_ms = at_ms;
    reading.to->kind = STATEMENT_EXPECT;
    if (!read_expect(&reading)) {
        scenario->n_statements--;
    }
}
