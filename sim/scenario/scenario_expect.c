/* SPDX-License-Identifier: Apache-2.0 */
/* scenario_expect.c: "expect at TIME KIND KEY... FIELD OP VALUE". */
#include "sim/scenario/scenario_expect.h"

#include <string.h>

#include "sim/scenario/scenario_options.h"

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

static bool read_thing(struct scenario_reading *reading, int *at)
{
    const char *name = scenario_options_word(reading, 3);

    for (size_t i = 0; i < sizeof things / sizeof things[0]; i++) {
        if (strcmp(things[i].name, name) != 0) {
            continue;
        }
        reading->to->expect.thing = things[i].name;
        *at = 4;
        if (things[i].has_site) {
            const char *site = scenario_options_word(reading, (*at)++);

            reading->to->site = scenario_find_site(reading->scenario, site);
            if (reading->to->site < 0) {
                return scenario_options_complain(
                    reading, "unknown site \"%.40s\", expected one of the scenario's",
                    site);
            }
        }
        return true;
    }
    if (!strcmp(name, "node")) {
        reading->to->expect.thing = "node";
        reading->to->expect.pool = scenario_options_word(reading, 4);
        *at = 5;
        return true;
    }
    return scenario_options_complain(
        reading, "\"%.40s\", expected job, host, queue, lease, site or node", name);
}

static bool read_expect(struct scenario_reading *reading)
{
    struct statement_expect *expect = &reading->to->expect;
    int at = 0;

    if (!read_thing(reading, &at)) {
        return false;
    }
    if (reading->line->n_words != at + 4 ||
        !is_operator(scenario_options_word(reading, at + 2))) {
        return scenario_options_complain(
            reading,
            "expected: expect at TIME %s %s FIELD OP VALUE, where OP is one "
            "of == != < <= > >=",
            expect->thing, at == 5 ? "SITE NAME" : "NAME");
    }
    expect->name = scenario_options_word(reading, at);
    expect->field = scenario_options_word(reading, at + 1);
    expect->op = scenario_options_word(reading, at + 2);
    expect->value = scenario_options_word(reading, at + 3);
    expect->is_quoted = reading->line->words[at + 3].is_quoted;
    return true;
}

void scenario_expect_read(struct scenario *scenario, const struct scenario_line *line)
{
    int64_t at_ms;

    if (line->n_words < 2 || strcmp(line->words[1].text, "at") != 0) {
        scenario_build_complain(scenario, line->number,
                                "expected: expect at TIME KIND KEY FIELD OP VALUE");
        return;
    }
    if (!scenario_options_when(scenario, line, 2, &at_ms)) {
        return;
    }
    struct scenario_reading reading = {
        scenario, line, scenario_build_add_statement(scenario, line), "expect"};
    if (!reading.to) {
        return;
    }
    reading.to->at_ms = at_ms;
    reading.to->kind = STATEMENT_EXPECT;
    if (!read_expect(&reading)) {
        scenario->n_statements--;
    }
}
