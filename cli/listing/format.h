/* SPDX-License-Identifier: Apache-2.0 */
/* format.h: single values of JSON as people read them in a table.
 *
 * What is null, absent or empty reads "-". What is not of the expected shape reads as
 * format_plain has it.
 * Units: local time; slots; durations as "10s", "5m", "1h30m".
 * Ownership: texts are made in the arena given, or borrowed from the value.
 * Layer: cli. */
#ifndef SUBLET_CLI_LISTING_FORMAT_H
#define SUBLET_CLI_LISTING_FORMAT_H

#include <jansson.h>

#include "base/arena.h"

/* `value` is NULL where the row has no such field. */
typedef const char *(*format_fn)(struct arena *arena, json_t *value);

const char *format_plain(struct arena *arena, json_t *value);
const char *format_time(struct arena *arena, json_t *value);
const char *format_duration(struct arena *arena, json_t *value);
/* The same, "" where it is 0: a block leaves that out. */
const char *format_count_if_any(struct arena *arena, json_t *value);
const char *format_duration_if_any(struct arena *arena, json_t *value);
/* One side of a lease: used/available. */
const char *format_side(struct arena *arena, json_t *value);
/* A limit, {"used":2,"limit":6} as "2/6"; as it is configured: "6". */
const char *format_used(struct arena *arena, json_t *value);
/* A load index as lsload prints it: one digit behind the point; a fraction as "12%";
 * MB as "895M", from 10 GB on "12.3G", likewise "12.3T". */
const char *format_index(struct arena *arena, json_t *value);
const char *format_percent(struct arena *arena, json_t *value);
const char *format_size(struct arena *arena, json_t *value);
/* {"a":1,"b":"x"} as "a=1 b=x". */
const char *format_members(struct arena *arena, json_t *value);
const char *format_instances(struct arena *arena, json_t *value);
/* {"lic":{"total":5,"reserved":2}} as "lic=2 of 5". */
const char *format_reserved(struct arena *arena, json_t *value);
/* A host's load, "r15s=0.1 ut=12% mem=895M licences=17". */
const char *format_load(struct arena *arena, json_t *value);
/* Slots by host, as bjobs does: "2*n1@north:s1". */
const char *format_hosts(struct arena *arena, json_t *value);
/* [{"lease":"a/1/b","reason":"it is draining"}] as "a/1/b: it is draining; ...". */
const char *format_reasons(struct arena *arena, json_t *value);
/* [{"part":"mem > 5","hosts":1,"of":2}] as "mem > 5 (1 of 2 hosts); ...". */
const char *format_unmet(struct arena *arena, json_t *value);

#endif
