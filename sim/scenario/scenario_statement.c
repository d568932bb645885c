/* SPDX-License-Identifier: Apache-2.0 */
/* scenario_statement.c: "at TIME VERB ...": a table of verbs and their options. */
#include "sim/scenario/scenario_statement.h"

#include <stddef.h>
#include <string.h>

#include "base/bounds.h"
#include "base/conf/conf_keys.h"
#include "broker/lease/lease.h"
#include "sim/scenario/scenario_options.h"

enum { TIME = 1, VERB = 2, FIRST = 3 }; /* words of a line */
enum { SECOND_MS = 1000, MINUTE_MS = 60000 };

/* ---- options */

#define SUBMIT(field) offsetof(struct statement, submit.field)
#define WORKLOAD(field) offsetof(struct statement, workload.field)

static const struct scenario_option submit_options[] = {
    {"queue", OPTION_NAME, SUBMIT(queue), 0, 0, 0},
    {"user", OPTION_NAME, SUBMIT(user), 0, 0, 0},
    {"slots", OPTION_COUNT, SUBMIT(n_slots), 1, SLOTS_MAX, 0},
    {"run", OPTION_TIME, SUBMIT(run_ms), 0, 0, SECOND_MS},
    {"name", OPTION_NAME, SUBMIT(name), 0, 0, 0},
    {"count", OPTION_COUNT, SUBMIT(count), 1, JOB_INDEX_MAX, 0},
    {"at_once", OPTION_COUNT, SUBMIT(at_once), 1, JOB_INDEX_MAX, 0},
    {"limit", OPTION_TIME, SUBMIT(limit_ms), 1, 0, SECOND_MS},
    {"hosts", OPTION_LIST, SUBMIT(hosts), 0, 0, 0},
    {"rerun", OPTION_YESNO, SUBMIT(is_rerunnable), 0, 0, 0},
    {"orphan", OPTION_YESNO, SUBMIT(ends_orphan), 0, 0, 0},
    {"exit", OPTION_COUNT, SUBMIT(exit_code), 0, 255, 0},
    {"res", OPTION_TEXT, SUBMIT(res), 0, 0, 0},
    {"after", OPTION_TEXT, SUBMIT(after), 0, 0, 0},
    {"begin", OPTION_TIME, SUBMIT(begin_ms), 0, 0, SECOND_MS},
    {"end", OPTION_TIME, SUBMIT(terminate_ms), 0, 0, SECOND_MS},
    {"project", OPTION_NAME, SUBMIT(project), 0, 0, 0},
    {"group", OPTION_NAME, SUBMIT(group), 0, 0, 0},
    {"job_group", OPTION_TEXT, SUBMIT(job_group), 0, 0, 0},
    {"priority", OPTION_COUNT, SUBMIT(priority), 1, INT32_MAX / 2, 0},
    {"app", OPTION_NAME, SUBMIT(app), 0, 0, 0},
    {"max", OPTION_COUNT, SUBMIT(max_slots), 1, SLOTS_MAX, 0},
    {"exclusive", OPTION_YESNO, SUBMIT(is_exclusive), 0, 0, 0},
    {"interactive", OPTION_YESNO, SUBMIT(is_interactive), 0, 0, 0},
    {"resizable", OPTION_YESNO, SUBMIT(is_resizable), 0, 0, 0},
    {"notify", OPTION_TIME, SUBMIT(notify_ms), 0, 0, SECOND_MS},
    {"refuses", OPTION_COUNT, SUBMIT(notify_exit), 1, 255, 0},
    {NULL, OPTION_LATER, 0, 0, 0, 0},
};

static const struct scenario_option workload_options[] = {
    {"queue", OPTION_NAME, WORKLOAD(queue), 0, 0, 0},
    {"user", OPTION_NAME, WORKLOAD(user), 0, 0, 0},
    {"limit_jobs", OPTION_COUNT, WORKLOAD(options.limit_jobs), 1, SWF_JOBS_MAX, 0},
    {"scale", OPTION_SCALE, WORKLOAD(options.scale_millionths), 0, 0, 0},
    {NULL, OPTION_LATER, 0, 0, 0, 0},
};

#define RESIZE(field) offsetof(struct statement, resize.field)

static const struct scenario_option resize_options[] = {
    {"slots", OPTION_COUNT, RESIZE(n_slots), 1, SLOTS_MAX, 0},
    {"release", OPTION_LIST, RESIZE(hosts), 0, 0, 0},
    {"cancel", OPTION_YESNO, RESIZE(is_cancel), 0, 0, 0},
    {NULL, OPTION_LATER, 0, 0, 0, 0},
};

static const struct scenario_option command_options[] = {
    {"exit", OPTION_COUNT, offsetof(struct statement, number), 0, 255, 0},
    {NULL, OPTION_LATER, 0, 0, 0, 0},
};

/* ---- verbs */

/* Reads the time of a statement. */
static bool read_time(struct scenario_reading *reading, int word)
{
    static const struct scenario_option time = {"time", OPTION_TIME, 0,
                                                0,      0,           SECOND_MS};

    return scenario_options_take_time(
        reading, &time, scenario_options_word(reading, word), &reading->to->ms);
}

/* Reads the site after the verb; `broker` is allowed only if `with_broker`. */
static bool read_site_word(struct scenario_reading *reading, bool with_broker)
{
    const char *name = scenario_options_word(reading, FIRST);

    reading->to->site = scenario_find_site(reading->scenario, name);
    if (reading->to->site >= 0 || (with_broker && !strcmp(name, "broker"))) {
        return true;
    }
    return scenario_options_complain(
        reading, "unknown site \"%.40s\", expected one of the scenario's%s", name,
        with_broker ? ", or broker" : "");
}

/* The site after the verb, then the name of what the statement is about. */
static bool read_site_and_name(struct scenario_reading *reading)
{
    reading->to->name = scenario_options_word(reading, FIRST + 1);
    return read_site_word(reading, false);
}

static bool read_submit(struct scenario_reading *reading)
{
    struct statement_submit *submit = &reading->to->submit;

    *submit = (struct statement_submit){.name = "",
                                        .queue = "",
                                        .user = "user",
                                        .project = "",
                                        .group = "",
                                        .job_group = "",
                                        .app = "",
                                        .run_ms = -1,
                                        .notify_ms = -1};
    if (!read_site_word(reading, false) ||
        !scenario_options_take(reading, submit_options, FIRST + 1)) {
        return false;
    }
    if (submit->run_ms < 0) {
        return scenario_options_complain(reading,
                                         "no run=, expected how long the job works");
    }
    if (submit->at_once > 0 && submit->count == 0) {
        return scenario_options_complain(
            reading, "at_once= without count=, expected the size of the array");
    }
    if (submit->max_slots > 0 && submit->max_slots < submit->n_slots) {
        return scenario_options_complain(reading, "max=%d is less than slots=%d",
                                         submit->max_slots, submit->n_slots);
    }
    if (submit->notify_exit > 0 && submit->notify_ms < 0) {
        return scenario_options_complain(
            reading, "refuses= without notify=, expected how long the notification "
                     "command runs");
    }
    if (!submit->name[0]) {
        submit->name = arena_printf(&reading->scenario->arena, "j%d",
                                    reading->scenario->n_statements);
    }
    return true;
}

static bool read_workload(struct scenario_reading *reading)
{
    struct statement_workload *workload = &reading->to->workload;

    *workload = (struct statement_workload){
        .path = scenario_options_word(reading, FIRST + 1), .queue = "", .user = ""};
    workload->options.scale_millionths = SWF_SCALE_ONE;
    return read_site_word(reading, false) &&
           scenario_options_take(reading, workload_options, FIRST + 2);
}

/* resize SITE JOB slots=N, release=HOSTS [cancel=yes], cancel=yes */
static bool read_resize(struct scenario_reading *reading)
{
    struct statement_resize *resize = &reading->to->resize;

    *resize = (struct statement_resize){0};
    if (!read_site_and_name(reading) ||
        !scenario_options_take(reading, resize_options, FIRST + 2)) {
        return false;
    }
    int n_said = (resize->n_slots > 0) + (resize->hosts.count > 0 || resize->is_cancel);
    return n_said == 1 || scenario_options_complain(
                              reading, "expected one of slots=N, release=HOSTS, and "
                                       "cancel=yes");
}

static bool read_control(struct scenario_reading *reading)
{
    reading->to->action = !strcmp(reading->verb, "kill")   ? CONTROL_KILL
                          : !strcmp(reading->verb, "stop") ? CONTROL_SUSPEND
                                                           : CONTROL_RESUME;
    return read_site_and_name(reading);
}

/* requeue SITE JOB, switch SITE JOB QUEUE, btop SITE JOB, bbot SITE JOB */
static bool read_move(struct scenario_reading *reading)
{
    reading->to->move = !strcmp(reading->verb, "requeue")  ? MOVE_REQUEUE
                        : !strcmp(reading->verb, "switch") ? MOVE_SWITCH
                        : !strcmp(reading->verb, "btop")   ? MOVE_TOP
                                                           : MOVE_BOTTOM;
    reading->to->queue = scenario_options_word(reading, FIRST + 2);
    return read_site_and_name(reading);
}

/* queue SITE QUEUE open|close|activate|inactivate */
static bool read_queue(struct scenario_reading *reading)
{
    static const struct {
        const char *word;
        enum queue_order order;
    } orders[] = {{"open", QUEUE_OPEN},
                  {"close", QUEUE_CLOSE},
                  {"activate", QUEUE_ACTIVATE},
                  {"inactivate", QUEUE_INACTIVATE}};
    const char *word = scenario_options_word(reading, FIRST + 2);

    for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++) {
        if (!strcmp(word, orders[i].word)) {
            reading->to->order = orders[i].order;
            return read_site_and_name(reading);
        }
    }
    return scenario_options_complain(
        reading, "\"%.40s\", expected open, close, activate or inactivate", word);
}

static bool read_scope(struct scenario_reading *reading)
{
    const char *text = scenario_options_word(reading, FIRST + 2);
    struct lease_id id;

    reading->to->scope = RECLAIM_ALL;
    if (!text[0]) {
        return true;
    }
    reading->to->name = text + strcspn(text, "=") + (strchr(text, '=') != NULL);
    if (!strncmp(text, "provider=", 9)) {
        reading->to->scope = RECLAIM_PROVIDER;
        return scenario_find_site(reading->scenario, reading->to->name) >= 0 ||
               scenario_options_complain(
                   reading, "unknown site \"%.40s\", expected one of the scenario's",
                   reading->to->name);
    }
    reading->to->scope = RECLAIM_LEASE;
    if (strncmp(text, "lease=", 6) != 0 || !lease_parse_id(reading->to->name, &id)) {
        return scenario_options_complain(reading,
                                         "\"%.40s\", expected provider=SITE or "
                                         "lease=PROVIDER/POLICY/CONSUMER",
                                         text);
    }
    return true;
}

static bool read_set(struct scenario_reading *reading)
{
    const char *value = scenario_options_word(reading, FIRST + 1);
    struct err err;

    if (strcmp(scenario_options_word(reading, FIRST), "reclaim_delay") != 0) {
        return scenario_options_complain(reading, "\"%.40s\", expected reclaim_delay",
                                         scenario_options_word(reading, FIRST));
    }
    if (!strcmp(value, "default")) {
        reading->to->ms = -1;
    } else if (scenario_line_duration(value, MINUTE_MS, &reading->to->ms, &err)) {
        return scenario_options_complain(reading, "reclaim_delay: %s", err.text);
    } else if (conf_check_duration(conf_keys_find("Parameters", "MC_RECLAIM_DELAY"),
                                   value, reading->to->ms, &err)) {
        return scenario_options_complain(reading, "reclaim_delay: %s", err.text);
    }
    return read_scope(reading);
}

static bool read_number(struct scenario_reading *reading, int word, int max)
{
    struct err err;
    int64_t number;

    if (conf_parse_int(scenario_options_word(reading, word), 0, max, &number, &err)) {
        return scenario_options_complain(reading, "%s", err.text);
    }
    reading->to->number = (int)number;
    return true;
}

static bool read_slots(struct scenario_reading *reading)
{
    return read_number(reading, FIRST + 2, SLOTS_MAX) && read_site_and_name(reading);
}

/* jgroup SITE GROUP add|mod|del [N|none] */
static bool read_job_group(struct scenario_reading *reading)
{
    static const char *const actions[] = {[JOB_GROUP_ADD] = "add",
                                          [JOB_GROUP_DELETE] = "del",
                                          [JOB_GROUP_MODIFY] = "mod"};
    const char *word = scenario_options_word(reading, FIRST + 2);
    const char *limit = scenario_options_word(reading, FIRST + 3);
    size_t action = 0;

    while (action < sizeof actions / sizeof actions[0] &&
           strcmp(word, actions[action])) {
        action++;
    }
    if (action == sizeof actions / sizeof actions[0]) {
        return scenario_options_complain(reading, "\"%.40s\", expected add, mod or del",
                                         word);
    }
    reading->to->group_action = (enum job_group_action)action;
    reading->to->number = -1;
    return (limit == NULL || !strcmp(limit, "none") ||
            read_number(reading, FIRST + 3, INT32_MAX)) &&
           read_site_and_name(reading);
}

/* close SITE HOST, open SITE HOST */
static bool read_host(struct scenario_reading *reading)
{
    reading->to->is_on = !strcmp(reading->verb, "close");
    return read_site_and_name(reading);
}

static bool take_value(struct scenario_reading *reading, const char *word,
                       struct load_value *value)
{
    struct arena *arena = &reading->scenario->arena;
    const char *equals = strchr(word, '=');

    if (!equals || equals == word || !equals[1] ||
        strlen(equals + 1) >= LOAD_VALUE_SIZE || equals - word >= NAME_SIZE) {
        return scenario_options_complain(
            reading, "\"%.40s\", expected NAME=VALUE, as maxmem=8000", word);
    }
    *value = (struct load_value){
        .name = arena_strn(arena, word, (size_t)(equals - word)),
        .value = equals + 1,
    };
    return true;
}

/* load SITE HOST NAME=VALUE ... */
static bool read_load(struct scenario_reading *reading)
{
    int n_values = reading->line->n_words - FIRST - 2;

    reading->to->values = arena_alloc(&reading->scenario->arena, (size_t)n_values,
                                      sizeof reading->to->values[0]);
    for (int i = 0; i < n_values; i++) {
        if (!take_value(reading, scenario_options_word(reading, FIRST + 2 + i),
                        &reading->to->values[reading->to->n_values++])) {
            return false;
        }
    }
    return read_site_and_name(reading);
}

/* command PROGRAM TIME [exit=CODE] */
static bool read_command(struct scenario_reading *reading)
{
    reading->to->site = SCENARIO_BROKER; /* no site */
    reading->to->name = scenario_options_word(reading, FIRST);
    if (strcspn(reading->to->name, " \t;&|") < strlen(reading->to->name)) {
        return scenario_options_complain(
            reading, "\"%.40s\", expected the program that a command begins with",
            reading->to->name);
    }
    return read_time(reading, FIRST + 1) &&
           scenario_options_take(reading, command_options, FIRST + 2);
}

/* drain LEASE or SITE, undrain LEASE or SITE */
static bool read_drain(struct scenario_reading *reading)
{
    reading->to->name = scenario_options_word(reading, FIRST);
    reading->to->is_on = !strcmp(reading->verb, "drain");
    return true;
}

static bool read_rebalance(struct scenario_reading *reading)
{
    reading->to->name = scenario_options_word(reading, FIRST);
    return true;
}

/* recover SITE end|adopt */
static bool read_recover(struct scenario_reading *reading)
{
    const char *word = scenario_options_word(reading, FIRST + 1);

    reading->to->is_on = !strcmp(word, "adopt");
    return (reading->to->is_on || !strcmp(word, "end") ||
            scenario_options_complain(reading, "\"%.40s\", expected end or adopt",
                                      word)) &&
           read_site_word(reading, false);
}

/* reload SITE FILE, reload broker FILE */
static bool read_reload(struct scenario_reading *reading)
{
    reading->to->reload =
        arena_alloc(&reading->scenario->arena, 1, sizeof *reading->to->reload);
    reading->to->reload->path = scenario_options_word(reading, FIRST + 1);
    return read_site_word(reading, true);
}

/* partition SITE T, crash SITE|broker T, split-brain broker T */
static bool read_absence(struct scenario_reading *reading)
{
    enum statement_kind kind = reading->to->kind;

    return read_site_word(reading, kind != STATEMENT_PARTITION) &&
           (kind != STATEMENT_SPLIT_BRAIN || reading->to->site < 0 ||
            scenario_options_complain(reading, "\"%s\", expected broker",
                                      scenario_options_word(reading, FIRST))) &&
           read_time(reading, FIRST + 1);
}

static bool read_chance(struct scenario_reading *reading)
{
    struct err err;

    return !scenario_line_chance(scenario_options_word(reading, FIRST),
                                 &reading->to->number, &err) ||
           scenario_options_complain(reading, "%s", err.text);
}

static bool read_delay(struct scenario_reading *reading)
{
    return read_time(reading, FIRST);
}

/* crashes PROBABILITY [TIME] */
static bool read_crashes(struct scenario_reading *reading)
{
    return read_chance(reading) &&
           (reading->line->n_words <= FIRST + 1 || read_time(reading, FIRST + 1));
}

/* backup SITE|broker, restore SITE|broker TIME */
static bool read_copy(struct scenario_reading *reading)
{
    return read_site_word(reading, true) &&
           (reading->to->kind == STATEMENT_BACKUP || read_time(reading, FIRST + 1));
}

/* fail SITE HOST machine|disk|agent|guards [TIME] */
static bool read_fail(struct scenario_reading *reading)
{
    static const struct {
        const char *name;
        enum executor_fault fault;
    } parts[] = {{"machine", EXECUTOR_FAULT_MACHINE},
                 {"disk", EXECUTOR_FAULT_DISK},
                 {"agent", EXECUTOR_FAULT_AGENT},
                 {"guards", EXECUTOR_FAULT_GUARD}};
    const char *name = scenario_options_word(reading, FIRST + 2);

    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (!strcmp(parts[i].name, name)) {
            reading->to->fault = parts[i].fault;
        }
    }
    if (reading->to->fault == EXECUTOR_FAULT_NONE) {
        return scenario_options_complain(
            reading, "\"%.40s\", expected machine, disk, agent or guards", name);
    }
    return read_site_and_name(reading) &&
           (reading->line->n_words <= FIRST + 3 || read_time(reading, FIRST + 3));
}

/* slow SITE HOST TIME */
static bool read_slow(struct scenario_reading *reading)
{
    return read_site_and_name(reading) && read_time(reading, FIRST + 2);
}

static bool read_batch(struct scenario_reading *reading)
{
    return read_number(reading, FIRST, 1000000);
}

struct verb {
    const char *name;
    enum statement_kind kind;
    const char *usage;
    int n_min, n_max;                               /* words after the verb */
    bool (*read)(struct scenario_reading *reading); /* NULL: not built */
};

static const struct verb verbs[] = {
    {"submit", STATEMENT_SUBMIT, "SITE run=TIME [queue= user= slots= name= count= ...]",
     2, 99, read_submit},
    {"workload", STATEMENT_WORKLOAD, "SITE FILE [queue= user= limit_jobs= scale=]", 2,
     99, read_workload},
    {"kill", STATEMENT_CONTROL, "SITE JOB", 2, 2, read_control},
    {"stop", STATEMENT_CONTROL, "SITE JOB", 2, 2, read_control},
    {"resume", STATEMENT_CONTROL, "SITE JOB", 2, 2, read_control},
    {"requeue", STATEMENT_MOVE, "SITE JOB", 2, 2, read_move},
    {"switch", STATEMENT_MOVE, "SITE JOB QUEUE", 3, 3, read_move},
    {"btop", STATEMENT_MOVE, "SITE JOB", 2, 2, read_move},
    {"bbot", STATEMENT_MOVE, "SITE JOB", 2, 2, read_move},
    {"queue", STATEMENT_QUEUE, "SITE QUEUE open|close|activate|inactivate", 3, 3,
     read_queue},
    {"set", STATEMENT_RECLAIM, "reclaim_delay VALUE [provider=SITE or lease=ID]", 2, 3,
     read_set},
    {"slots", STATEMENT_SLOTS, "SITE HOST N", 3, 3, read_slots},
    {"load", STATEMENT_LOAD, "SITE HOST NAME=VALUE ...", 3, 2 + LOAD_VALUES_MAX,
     read_load},
    {"command", STATEMENT_COMMAND, "PROGRAM TIME [exit=CODE]", 2, 3, read_command},
    {"close", STATEMENT_HOST, "SITE HOST", 2, 2, read_host},
    {"open", STATEMENT_HOST, "SITE HOST", 2, 2, read_host},
    {"jgroup", STATEMENT_JOB_GROUP, "SITE GROUP add|mod|del [N|none]", 3, 4,
     read_job_group},
    {"drain", STATEMENT_DRAIN, "LEASE or SITE", 1, 1, read_drain},
    {"undrain", STATEMENT_DRAIN, "LEASE or SITE", 1, 1, read_drain},
    {"rebalance", STATEMENT_REBALANCE, "LEASE", 1, 1, read_rebalance},
    {"recover", STATEMENT_RECOVER, "SITE end|adopt", 2, 2, read_recover},
    {"reload", STATEMENT_RELOAD, "SITE|broker FILE", 2, 2, read_reload},
    {"partition", STATEMENT_PARTITION, "SITE TIME", 2, 2, read_absence},
    {"crash", STATEMENT_CRASH, "SITE|broker TIME", 2, 2, read_absence},
    {"split-brain", STATEMENT_SPLIT_BRAIN, "broker TIME", 2, 2, read_absence},
    {"loss", STATEMENT_LOSS, "PROBABILITY", 1, 1, read_chance},
    {"repeat", STATEMENT_REPEAT, "PROBABILITY", 1, 1, read_chance},
    {"delay", STATEMENT_DELAY, "TIME", 1, 1, read_delay},
    {"reorder", STATEMENT_REORDER, "TIME", 1, 1, read_delay},
    {"crashes", STATEMENT_CRASHES, "PROBABILITY [TIME]", 1, 2, read_crashes},
    {"fail", STATEMENT_FAIL, "SITE HOST machine|disk|agent|guards [TIME]", 3, 4,
     read_fail},
    {"failures", STATEMENT_FAILURES, "PROBABILITY [TIME]", 1, 2, read_crashes},
    {"slow", STATEMENT_SLOW, "SITE HOST TIME", 3, 3, read_slow},
    {"backup", STATEMENT_BACKUP, "SITE|broker", 1, 1, read_copy},
    {"restore", STATEMENT_RESTORE, "SITE|broker TIME", 2, 2, read_copy},
    {"batch", STATEMENT_BATCH, "N", 1, 1, read_batch},
    {"hour", STATEMENT_HOUR, "TIME", 1, 1, read_delay},
    {"resize", STATEMENT_RESIZE, "SITE JOB slots=N|release=HOSTS|cancel=yes", 3, 4,
     read_resize},
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

void scenario_statement_read(struct scenario *scenario,
                             const struct scenario_line *line)
{
    const char *name = line->n_words > VERB ? line->words[VERB].text : "";
    const struct verb *verb = find_verb(name);
    int n_words = line->n_words - FIRST;
    int64_t at_ms;

    if (!scenario_options_when(scenario, line, TIME, &at_ms)) {
        return;
    }
    if (!verb) {
        scenario_build_complain(scenario, line->number,
                                "\"%.40s\" is nothing to do, expected one of%s", name,
                                list_verbs(scenario));
        return;
    }
    if (!verb->read) {
        scenario_build_complain(scenario, line->number, "%s is not supported yet",
                                name);
        return;
    }
    if (n_words < verb->n_min || n_words > verb->n_max) {
        scenario_build_complain(
            scenario, line->number, "%s: %s, expected: at TIME %s %s", name,
            n_words < verb->n_min ? "too short" : "too long", name, verb->usage);
        return;
    }
    struct scenario_reading reading = {
        scenario, line, scenario_build_add_statement(scenario, line), name};
    if (!reading.to) {
        return;
    }
    reading.to->at_ms = at_ms;
    reading.to->kind = verb->kind;
    if (!verb->read(&reading)) {
        scenario->n_statements--;
    }
}
