/* SPDX-License-Identifier: Apache-2.0 */
/* resource_value.h: a value as text, as hosts and the configuration have it, put into
 * the table by its resource's type. Layer: site. */
#ifndef SUBLET_SITE_CONFIG_RESOURCE_VALUE_H
#define SUBLET_SITE_CONFIG_RESOURCE_VALUE_H

#include "model/msg.h"
#include "sched/resource/resource.h"

/* False where the text is no value of that type: nothing was set. */
bool resource_value_set(struct resource_table *table, int row, int id,
                        const char *text);
/* What the host says of a resource; NULL: nothing. */
const char *resource_value_find_reported(const struct msg_host_load *msg,
                                         const char *name);

/* A number as requirement strings and elims write it: all of the text, finite. */
bool resource_value_parse_number(const char *text, double *number);
/* 1, Y, yes, true and their opposites. */
bool resource_value_parse_flag(const char *text, bool *flag);

#endif
