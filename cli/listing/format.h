/* SPDX-License-Identifier: Apache-2.0 */
/* format.h: formats single values of JSON for tables.
 *
 * A value that is null, absent or empty becomes "-". A value of another kind than
 * expected is formatted by format_plain. Units: local time; slots; durations as "10s",
 * "5m", "1h30m". Ownership: texts are made in the arena given, or borrowed from the
 * value. Layer: cli. */
#ifndef SUBLET_CLI_LISTING_FORMAT_H
#define SUBLET_CLI_LISTING_FORMAT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

/* `value` is NULL if the row has no such field. */
typedef const char *(*format_fn)(struct arena *arena, json_t *value);

const char *format_plain(struct arena *arena, json_t *value);
/* Milliseconds, of whole seconds. False: the text is none; `*at_ms` is 0. */
bool format_read_instant(const char *text, int64_t *at_ms);
const char *format_time(struct arena *arena, json_t *value);
const char *format_duration(struct arena *arena, json_t *value);
/* The same, but "" for 0, which a block omits. */
const char *format_count_if_any(struct arena *arena, json_t *value);
const char *format_duration_if_any(struct arena *arena, json_t *value);
/* One side of a lease: used/available. */
const char *format_side(struct arena *arena, json_t *value);
/* {"used":2,"limit":6} as "2/6"; a configured limit: "6", or "50%". */
const char *format_used(struct arena *arena, json_t *value);
/* {"mem":{"used":2,"limit":6},"lic":{...}} as "mem=2/6 lic=1/4". */
const char *format_each_used(struct arena *arena, json_t *value);
/* A load index as in lsload: one decimal; a fraction as "12%"; MB as "895M", from 10 GB
 * on "12.3G", likewise "12.3T". */
const char *format_index(struct arena *arena, json_t *value);
const char *format_percent(struct arena *arena, json_t *value);
const char *format_size(struct arena *arena, json_t *value);
/* KiB as MB and so on. */
const char *format_kib(struct arena *arena, json_t *value);
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
