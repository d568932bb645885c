/* SPDX-License-Identifier: Apache-2.0 */
/* facts_value.c: see facts_value.h. */
#include "site/facts_value.h"

#include <string.h>

#include "site/facts_config.h"

bool facts_value_set(struct resource_table *table, int row, int id, const char *text)
{
    double number;
    bool flag;
    switch (resources_at(resource_table_resources(table), id)->type) {
    case RESOURCE_NUMERIC:
        if (!facts_config_number(text, &number)) {
            return false;
        }
        resource_table_set_number(table, row, id, number);
        return true;
    case RESOURCE_BOOLEAN:
        if (!facts_config_flag(text, &flag)) {
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

const char *facts_value_told(const struct msg_host_load *msg, const char *name)
{
    for (int i = 0; i < msg->n_values; i++) {
        if (strcmp(msg->values[i].name, name) == 0) {
            return msg->values[i].value;
        }
    }
    return NULL;
}
