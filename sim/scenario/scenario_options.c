/* SPDX-License-Identifier: Apache-2.0 */
/* scenario_options.c: see scenario_options.h. */
#include "sim/scenario/scenario_options.h"

#include <stdarg.h>
#include <string.h>

enum { SECOND_MS = 1000, RUN_S_MAX = 315360000 };

bool scenario_options_complain(struct scenario_reading *reading, const char *format,
                               ...)
{
    va_list args;

    va_start(args, format);
    const char *text = arena_vprintf(&reading->scenario->arena, format, args);
    va_end(args);
    scenario_build_complain(reading->scenario, reading->line->number, "%s: %s",
                            reading->verb, text);
    return false;
}

const char *scenario_options_word(struct scenario_reading *reading, int index)
{
    return index < reading->line->n_words ? reading->line->words[index].text : "";
}

static bool take_count(struct scenario_reading *reading,
                       const struct scenario_option *option, const char *value, int *to)
{
    struct err err;
    int64_t number;

    if (conf_parse_int(value, option->min, option->max, &number, &err)) {
        return scenario_options_complain(reading, "%s: %s", option->key, err.text);
    }
    *to = (int)number;
    return true;
}

bool scenario_options_take_time(struct scenario_reading *reading,
                                const struct scenario_option *option, const char *value,
                                int64_t *to)
{
    struct err err;

    if (scenario_line_duration(value, option->unit_ms, to, &err)) {
        return scenario_options_complain(reading, "%s: %s", option->key, err.text);
    }
    if (*to < option->min || *to / SECOND_MS > RUN_S_MAX) {
        return scenario_options_complain(
            reading, "%s: %s is out of bounds, expected %s", option->key, value,
            option->min > 0 ? "more than 0" : "at most 10 years");
    }
    return true;
}

static bool take_yesno(struct scenario_reading *reading,
                       const struct scenario_option *option, const char *value,
                       bool *to)
{
    *to = !strcmp(value, "yes") || !strcmp(value, "y") || !strcmp(value, "Y");
    return *to || !strcmp(value, "no") || !strcmp(value, "n") || !strcmp(value, "N") ||
           scenario_options_complain(reading, "%s: \"%.40s\", expected yes or no",
                                     option->key, value);
}

static bool take_scale(struct scenario_reading *reading,
                       const struct scenario_option *option, const char *value,
                       int64_t *to)
{
    struct err err;

    if (scenario_line_decimal(value, SWF_SCALE_ONE, to, &err)) {
        return scenario_options_complain(reading, "%s: %s", option->key, err.text);
    }
    return (*to > 0 && *to <= 1000 * SWF_SCALE_ONE) ||
           scenario_options_complain(
               reading, "%s: %s is out of bounds, expected more than 0, up to 1000",
               option->key, value);
}

static bool take_value(struct scenario_reading *reading,
                       const struct scenario_option *option, const char *value)
{
    char *to = (char *)reading->to + option->offset;
    struct err err;

    switch (option->kind) {
    case OPTION_NAME:
        if (conf_parse_name(value, &err)) {
            return scenario_options_complain(reading, "%s: %s", option->key, err.text);
        }
        *(const char **)(void *)to = value;
        return true;
    case OPTION_TEXT:
        *(const char **)(void *)to = value;
        return true;
    case OPTION_COUNT:
        return take_count(reading, option, value, (int *)(void *)to);
    case OPTION_TIME:
        return scenario_options_take_time(reading, option, value,
                                          (int64_t *)(void *)to);
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
    return scenario_options_complain(reading, "%s= is not supported yet", option->key);
}

/* The keys as text: "queue= user= ...". */
static const char *list_options(struct scenario_reading *reading,
                                const struct scenario_option *options)
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

static bool take_option(struct scenario_reading *reading,
                        const struct scenario_option *options, const char *text,
                        unsigned *taken)
{
    size_t length = strcspn(text, "=");

    for (int i = 0; options[i].key; i++) {
        if (strlen(options[i].key) != length ||
            strncmp(options[i].key, text, length) != 0 || text[length] != '=') {
            continue;
        }
        if (*taken & 1u << i) {
            return scenario_options_complain(reading, "%s= twice, expected it once",
                                             options[i].key);
        }
        *taken |= 1u << i;
        return take_value(reading, &options[i], text + length + 1);
    }
    return scenario_options_complain(reading, "\"%.40s\", expected one of%s", text,
                                     list_options(reading, options));
}

bool scenario_options_take(struct scenario_reading *reading,
                           const struct scenario_option *options, int first)
{
    unsigned taken = 0;
    bool is_good = true;

    for (int i = first; i < reading->line->n_words; i++) {
        is_good &=
            take_option(reading, options, scenario_options_word(reading, i), &taken);
    }
    return is_good;
}

bool scenario_options_when(struct scenario *scenario, const struct scenario_line *line,
                           int index, int64_t *at_ms)
{
    struct err err;

    if (line->n_words <= index) {
        scenario_build_complain(scenario, line->number,
                                "no time, expected: at TIME ...");
        return false;
    }
    if (scenario_line_duration(line->words[index].text, SECOND_MS, at_ms, &err)) {
        scenario_build_complain(scenario, line->number, "at: %s", err.text);
        return false;
    }
    return true;
}
