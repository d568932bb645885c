/* SPDX-License-Identifier: Apache-2.0 */
/* scenario_build.c: see scenario_build.h. */
#include "sim/scenario/scenario_build.h"

#include <stdarg.h>
#include <string.h>

void scenario_build_complain(struct scenario *scenario, int line, const char *format,
                             ...)
{
    struct conf_section about = {.name = "", .file = scenario->file};
    struct conf_row row = {.line = line};
    va_list args;

    va_start(args, format);
    const char *text = arena_vprintf(&scenario->arena, format, args);
    va_end(args);
    conf_complain(&scenario->conf, CONF_ERROR, &about, &row, NULL, "%s", text);
}

struct statement *scenario_build_add_statement(struct scenario *scenario,
                                               const struct scenario_line *line)
{
    int count = scenario->n_statements;

    if (count == SCENARIO_STATEMENTS_MAX) {
        scenario_build_complain(scenario, line->number,
                                "too many statements, expected at most %d",
                                SCENARIO_STATEMENTS_MAX);
        return NULL;
    }
    /* grows at each power of two */
    if ((count & (count - 1)) == 0) {
        size_t capacity = count == 0 ? 1 : 2 * (size_t)count;
        struct statement *grown =
            arena_alloc(&scenario->arena, capacity, sizeof grown[0]);

        if (count > 0) {
            memcpy(grown, scenario->statements, (size_t)count * sizeof grown[0]);
        }
        scenario->statements = grown;
    }
    struct statement *added = &scenario->statements[scenario->n_statements++];
    *added = (struct statement){
        .line = line->number, .text = line->text, .site = SCENARIO_BROKER, .name = ""};
    return added;
}
