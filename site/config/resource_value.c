/* SPDX-License-Identifier: Apache-2.0 */
/* resource_value.c: values of resources as text; see resource_config.h. */
#include "site/config/resource_config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "model/msg.h"

bool resource_value_parse_number(const char *text, double *number)
{
    const char *digits = text + (text[0] == '-' || text[0] == '+');
    char *end;
    if (strspn(digits, ".0123456789") == 0) {
        return false; /* strtod reads names of infinities too */
    }
    if (digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X')) {
        return false;
    }
    double value = strtod(text, &end);
    if (end == text || *end != '\0' || !(fabs(value) < HUGE_VAL)) {
        return false;
    }
    *number = value;
    return true;
}

bool resource_value_parse_flag(const char *text, bool *flag)
{
    static const struct {
        const char *word;
        bool flag;
    } words[] = {{"1", true},   {"0", false},  {"Y", true},    {"N", false},
                 {"yes", true}, {"no", false}, {"true", true}, {"false", false}};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strcasecmp(words[i].word, text) == 0) {
            *flag = words[i].flag;
            return true;
        }
    }
    return false;
}

bool resource_value_set(struct resource_table *table, int row, int id, const char *text)
{
    double number;
    bool flag;
    switch (resources_at(resource_table_resources(table), id)->type) {
    case RESOURCE_NUMERIC:
        if (!resource_value_parse_number(text, &number)) {
            return false;
        }
        resource_table_set_number(table, row, id, number);
        return true;
    case RESOURCE_BOOLEAN:
        if (!resource_value_parse_flag(text, &flag)) {
            return false;
        }
        resource_table_set_flag(table, row, id, flag);
        return true;
    case RESOURCE_STRING:
        break;
    }
    resource_table_set_text(table, row, id, text);
    return true;
}

const char *resource_value_find_reported(const struct msg_host_load *msg,
                                         const char *name)
{
    for (int i = 0; i < msg->n_values; i++) {
        if (strcmp(msg->values[i].name, name) == 0) {
            return msg->values[i].value;
        }
    }
    return NULL;
}
