/* SPDX-License-Identifier: Apache-2.0 */
/* scenario_read.c: reads the lines, then the files that they name, then checks names
 * and sorts statements. scenario_statement.c and scenario_expect.c read one line each.
 */
#include "sim/scenario/scenario.h"

#include <stdlib.h>
#include <string.h>

#include "sim/scenario/scenario_build.h"
#include "sim/scenario/scenario_check.h"
#include "sim/scenario/scenario_expect.h"
#include "sim/scenario/scenario_files.h"
#include "sim/scenario/scenario_statement.h"

/* The state of reading before the files are read. */
struct reading {
    struct scenario *scenario;
    const char *broker; /* path */
    int broker_line;
    const char *site_paths[SCENARIO_SITES_MAX];
    int until_line;
};

/* ---- the lines */

static void read_broker(struct reading *reading, const struct scenario_line *line)
{
    if (line->n_words != 2) {
        scenario_build_complain(reading->scenario, line->number,
                                "expected: broker FILE");
    } else if (reading->broker) {
        scenario_build_complain(reading->scenario, line->number,
                                "a second broker, expected one (line %d)",
                                reading->broker_line);
    } else {
        reading->broker = line->words[1].text;
        reading->broker_line = line->number;
    }
}

static void read_site(struct reading *reading, const struct scenario_line *line)
{
    struct scenario *scenario = reading->scenario;
    struct err err;

    if (line->n_words != 3) {
        scenario_build_complain(scenario, line->number, "expected: site NAME FILE");
    } else if (conf_parse_name(line->words[1].text, &err)) {
        scenario_build_complain(scenario, line->number, "%s", err.text);
    } else if (scenario_find_site(scenario, line->words[1].text) >= 0) {
        scenario_build_complain(scenario, line->number,
                                "site \"%s\" twice, expected each site once",
                                line->words[1].text);
    } else if (scenario->n_sites == SCENARIO_SITES_MAX) {
        scenario_build_complain(scenario, line->number,
                                "too many sites, expected at most %d",
                                SCENARIO_SITES_MAX);
    } else {
        reading->site_paths[scenario->n_sites] = line->words[2].text;
        scenario->sites[scenario->n_sites++] =
            (struct scenario_site){.name = line->words[1].text, .line = line->number};
    }
}

static void read_until(struct reading *reading, const struct scenario_line *line)
{
    struct scenario *scenario = reading->scenario;
    struct err err;

    if (line->n_words != 2) {
        scenario_build_complain(scenario, line->number, "expected: until TIME");
    } else if (reading->until_line) {
        scenario_build_complain(scenario, line->number,
                                "a second until, expected one (line %d)",
                                reading->until_line);
    } else if (scenario_line_duration(line->words[1].text, 1000, &scenario->until_ms,
                                      &err)) {
        scenario_build_complain(scenario, line->number, "until: %s", err.text);
    } else {
        reading->until_line = line->number;
    }
}

static void read_hour(struct reading *reading, const struct scenario_line *line)
{
    struct scenario *scenario = reading->scenario;
    struct err err;

    if (line->n_words != 2) {
        scenario_build_complain(scenario, line->number, "expected: hour TIME");
    } else if (scenario_line_duration(line->words[1].text, 1000, &scenario->hour_ms,
                                      &err)) {
        scenario_build_complain(scenario, line->number, "hour: %s", err.text);
    }
}

static void read_line(struct reading *reading, const struct scenario_line *line)
{
    struct scenario *scenario = reading->scenario;
    const char *word = line->n_words > 0 ? line->words[0].text : "";

    if (line->n_words == 0) {
        return;
    }
    if (!strcmp(word, "at")) {
        scenario_statement_read(scenario, line);
    } else if (!strcmp(word, "expect")) {
        scenario_expect_read(scenario, line);
    } else if (!strcmp(word, "site")) {
        read_site(reading, line);
    } else if (!strcmp(word, "broker")) {
        read_broker(reading, line);
    } else if (!strcmp(word, "until")) {
        read_until(reading, line);
    } else if (!strcmp(word, "hour")) {
        read_hour(reading, line);
    } else {
        scenario_build_complain(
            scenario, line->number,
            "\"%.40s\" is not a statement, expected broker, site, at, until, "
            "hour or expect",
            word);
    }
}

static void read_lines(struct reading *reading, const char *text, size_t length)
{
    struct scenario *scenario = reading->scenario;
    const char *end = text + length;
    struct scenario_line line = {.number = 0};
    struct err err;

    while (text < end) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        size_t size = (size_t)((newline ? newline : end) - text);

        line.number++;
        if (scenario_line_split(&scenario->arena, text, size, &line, &err)) {
            scenario_build_complain(scenario, line.number, "%s", err.text);
        } else {
            read_line(reading, &line);
        }
        text += size + (newline != NULL);
    }
}

/* ---- the whole */

static int compare_statements(const void *a, const void *b)
{
    const struct statement *one = a, *other = b;

    if (one->at_ms != other->at_ms) {
        return one->at_ms < other->at_ms ? -1 : 1;
    }
    return one->line - other->line;
}

/* Without `until`, the end is the last instant named. */
static void find_end(struct reading *reading)
{
    struct scenario *scenario = reading->scenario;

    for (int i = 0; i < scenario->n_statements; i++) {
        const struct statement *at = &scenario->statements[i];

        if (reading->until_line && at->at_ms > scenario->until_ms) {
            scenario_build_complain(
                scenario, at->line,
                "later than the end (until, line %d), expected a time "
                "before it",
                reading->until_line);
        } else if (at->at_ms > scenario->until_ms) {
            scenario->until_ms = at->at_ms;
        }
        scenario->n_expects += at->kind == STATEMENT_EXPECT;
        scenario->has_faults |=
            at->kind >= STATEMENT_FIRST_FAULT && at->kind <= STATEMENT_LAST_FAULT;
    }
}

struct scenario *scenario_read(const char *file, const char *text, size_t length,
                               const struct scenario_files *files)
{
    struct scenario *scenario = mem_alloc(1, sizeof *scenario);
    struct reading reading = {.scenario = scenario};

    arena_init(&scenario->arena);
    conf_init(&scenario->conf, &scenario->arena);
    scenario->file = arena_str(&scenario->arena, file);
    scenario->sites =
        arena_alloc(&scenario->arena, SCENARIO_SITES_MAX, sizeof scenario->sites[0]);
    read_lines(&reading, text, length);
    if (scenario->n_sites == 0) {
        scenario_build_complain(scenario, 0, "no site, expected: site NAME FILE");
    }
    find_end(&reading);
    scenario_files_read(scenario, reading.broker, reading.broker_line,
                        reading.site_paths, files);
    scenario_check_names(scenario);
    if (scenario->n_statements > 1) {
        qsort(scenario->statements, (size_t)scenario->n_statements,
              sizeof scenario->statements[0], compare_statements);
    }
    return scenario;
}
