/* SPDX-License-Identifier: Apache-2.0 */
/* format.c: see format.h. */
#include "cli/listing/format.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/digits.h"

static const char unset[] = "-";

static const char *or_unset(const char *text)
{
    return text != NULL && text[0] != '\0' ? text : unset;
}

/* Adds an item to a list. */
static const char *append(struct arena *arena, const char *list, const char *separator,
                          const char *item)
{
    return arena_printf(arena, "%s%s%s", list, list[0] != '\0' ? separator : "", item);
}

static const char *format_words(struct arena *arena, const json_t *array)
{
    const char *text = "";
    const json_t *item;
    size_t i;
    json_array_foreach(array, i, item)
    {
        if (!json_is_string(item)) {
            return NULL;
        }
        text = append(arena, text, " ", json_string_value(item));
    }
    return or_unset(text);
}

static const char *format_json(struct arena *arena, json_t *value)
{
    char *text =
        json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
    const char *copy = text != NULL ? arena_str(arena, text) : unset;
    free(text);
    return copy;
}

static const char *format_integer(struct arena *arena, json_int_t number)
{
    char digits[DIGITS_SIZE];
    size_t length = digits_write(digits, number);
    return arena_strn(arena, digits, length);
}

const char *format_plain(struct arena *arena, json_t *value)
{
    const char *words;
    switch (value != NULL ? json_typeof(value) : JSON_NULL) {
    case JSON_NULL:
        return unset;
    case JSON_STRING:
        return or_unset(json_string_value(value));
    case JSON_INTEGER:
        return format_integer(arena, json_integer_value(value));
    case JSON_REAL:
        return arena_printf(arena, "%g", json_real_value(value));
    case JSON_TRUE:
        return "true";
    case JSON_FALSE:
        return "false";
    case JSON_ARRAY:
        words = format_words(arena, value);
        return words != NULL ? words : format_json(arena, value);
    case JSON_OBJECT:
        break;
    }
    return format_json(arena, value);
}

bool format_read_instant(const char *text, int64_t *at_ms)
{
    struct tm utc = {0};
    bool is_read = strptime(text, "%Y-%m-%dT%H:%M:%S", &utc) != NULL;
    *at_ms = is_read ? (int64_t)timegm(&utc) * 1000 : 0;
    return is_read;
}

/* "2026-11-21T10:08:12.345Z" as "Nov 21 10:08:12" in local time. */
const char *format_time(struct arena *arena, json_t *value)
{
    const char *text = json_string_value(value);
    struct tm utc = {0}, local;
    char shown[32];
    time_t at;
    if (text == NULL || strptime(text, "%Y-%m-%dT%H:%M:%S", &utc) == NULL) {
        return format_plain(arena, value);
    }
    at = timegm(&utc);
    if (localtime_r(&at, &local) == NULL ||
        strftime(shown, sizeof shown, "%b %e %H:%M:%S", &local) == 0) {
        return text;
    }
    return arena_str(arena, shown);
}

/* Seconds as "10s", "5m", "1h30m". */
const char *format_duration(struct arena *arena, json_t *value)
{
    double seconds = json_number_value(value);
    int64_t whole = (int64_t)seconds;
    if (!json_is_number(value)) {
        return format_plain(arena, value);
    }
    if (seconds - (double)whole > 0 || whole < 60 || whole % 60 != 0) {
        return arena_printf(arena, "%gs", seconds);
    }
    if (whole < 3600) {
        return arena_printf(arena, "%" PRId64 "m", whole / 60);
    }
    if (whole % 3600 == 0) {
        return arena_printf(arena, "%" PRId64 "h", whole / 3600);
    }
    return arena_printf(arena, "%" PRId64 "h%" PRId64 "m", whole / 3600,
                        whole % 3600 / 60);
}

static bool is_zero(const json_t *value)
{
    return json_is_number(value) && !(json_number_value(value) > 0);
}

const char *format_count_if_any(struct arena *arena, json_t *value)
{
    return is_zero(value) ? "" : format_plain(arena, value);
}

const char *format_duration_if_any(struct arena *arena, json_t *value)
{
    return is_zero(value) ? "" : format_duration(arena, value);
}

/* {"available":6,"used":2} as "2/6". */
const char *format_side(struct arena *arena, json_t *value)
{
    const json_t *available = json_object_get(value, "available");
    const json_t *used = json_object_get(value, "used");
    if (available == NULL || used == NULL) {
        return format_plain(arena, value);
    }
    return arena_printf(arena, "%" JSON_INTEGER_FORMAT "/%" JSON_INTEGER_FORMAT,
                        json_integer_value(used), json_integer_value(available));
}

static const char *amount_text(struct arena *arena, const json_t *amount)
{
    return arena_printf(arena, "%.10g", json_number_value(amount));
}

/* {"used":2,"limit":6} as "2/6"; as configured (no "used"): "6", or "50%". */
const char *format_used(struct arena *arena, json_t *value)
{
    const json_t *used = json_object_get(value, "used");
    const json_t *limit = json_object_get(value, "limit");
    const json_t *percent = json_object_get(value, "percent");
    if (!json_is_number(limit)) {
        return json_is_integer(percent)
                   ? arena_printf(arena, "%" JSON_INTEGER_FORMAT "%%",
                                  json_integer_value(percent))
                   : unset;
    }
    if (!json_is_number(used)) {
        return amount_text(arena, limit);
    }
    return arena_printf(arena, "%s/%s", amount_text(arena, used),
                        amount_text(arena, limit));
}

/* {"mem":{"used":2,"limit":6},"lic":...} as "mem=2/6 lic=1/4". */
const char *format_each_used(struct arena *arena, json_t *value)
{
    const char *text = "", *key;
    json_t *item;
    json_object_foreach(value, key, item)
    {
        text = arena_printf(arena, "%s%s%s=%s", text, text[0] != '\0' ? " " : "", key,
                            format_used(arena, item));
    }
    return text[0] != '\0' ? text : "-";
}

const char *format_index(struct arena *arena, json_t *value)
{
    return json_is_number(value) ? arena_printf(arena, "%.1f", json_number_value(value))
                                 : format_plain(arena, value);
}

const char *format_percent(struct arena *arena, json_t *value)
{
    return json_is_number(value)
               ? arena_printf(arena, "%.0f%%", json_number_value(value) * 100.0)
               : format_plain(arena, value);
}

static const char *size_text(struct arena *arena, double mib)
{
    const double step = 1024.0, most = 10000.0; /* as in LSF: 6348M */
    if (mib < most) {
        return arena_printf(arena, "%.0fM", mib);
    }
    return mib / step < most ? arena_printf(arena, "%.1fG", mib / step)
                             : arena_printf(arena, "%.1fT", mib / step / step);
}

const char *format_size(struct arena *arena, json_t *value)
{
    return json_is_number(value) ? size_text(arena, json_number_value(value))
                                 : format_plain(arena, value);
}

const char *format_kib(struct arena *arena, json_t *value)
{
    return json_is_number(value) ? size_text(arena, json_number_value(value) / 1024)
                                 : format_plain(arena, value);
}

static const char *join(struct arena *arena, const char *text, const char *name,
                        const char *value)
{
    return append(arena, text, " ", arena_printf(arena, "%s=%s", name, value));
}

const char *format_members(struct arena *arena, json_t *value)
{
    const char *text = "";
    const char *name;
    json_t *member;
    json_object_foreach(value, name, member)
    {
        text = join(arena, text, name, format_plain(arena, member));
    }
    return or_unset(text);
}

const char *format_load(struct arena *arena, json_t *value)
{
    static const struct {
        const char *name;
        format_fn format;
    } shown[] = {
        {"r15s", format_index}, {"r1m", format_index}, {"r15m", format_index},
        {"ut", format_percent}, {"pg", format_index},  {"io", format_index},
        {"ls", format_plain},   {"it", format_plain},  {"tmp", format_size},
        {"swp", format_size},   {"mem", format_size},
    };
    const char *text = "";
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
        json_t *index = json_object_get(value, shown[i].name);
        if (json_is_number(index)) {
            text = join(arena, text, shown[i].name, shown[i].format(arena, index));
        }
    }
    const char *measured = format_members(arena, json_object_get(value, "resources"));
    if (strcmp(measured, unset) != 0) {
        text = append(arena, text, " ", measured);
    }
    return or_unset(text);
}

/* [{"name":"lic","instances":3}] as "lic=3". */
const char *format_instances(struct arena *arena, json_t *value)
{
    const char *text = "";
    size_t i;
    json_t *entry;
    json_array_foreach(value, i, entry)
    {
        const char *count = format_plain(arena, json_object_get(entry, "instances"));
        text =
            join(arena, text, json_string_value(json_object_get(entry, "name")), count);
    }
    return or_unset(text);
}

const char *format_reserved(struct arena *arena, json_t *value)
{
    const char *text = "";
    const char *name;
    json_t *pool;
    json_object_foreach(value, name, pool)
    {
        const char *total = format_plain(arena, json_object_get(pool, "total"));
        const char *held = format_plain(arena, json_object_get(pool, "reserved"));
        text = join(arena, text, name, arena_printf(arena, "%s of %s", held, total));
    }
    return or_unset(text);
}

/* {"n1@north":2,"s1":1} as "2*n1@north:s1", as bjobs does. */
const char *format_hosts(struct arena *arena, json_t *value)
{
    const char *text = "";
    const char *host;
    json_t *slots;
    json_object_foreach(value, host, slots)
    {
        json_int_t count = json_integer_value(slots);
        const char *item =
            count == 1
                ? host
                : arena_printf(arena, "%" JSON_INTEGER_FORMAT "*%s", count, host);
        text = append(arena, text, ":", item);
    }
    return or_unset(text);
}

static const char *text_of(const json_t *item, const char *key)
{
    return or_unset(json_string_value(json_object_get(item, key)));
}

const char *format_reasons(struct arena *arena, json_t *value)
{
    const char *text = "";
    size_t at;
    json_t *item;
    json_array_foreach(value, at, item)
    {
        text = append(arena, text, "; ",
                      arena_printf(arena, "%s: %s", text_of(item, "lease"),
                                   text_of(item, "reason")));
    }
    return or_unset(text);
}

const char *format_unmet(struct arena *arena, json_t *value)
{
    const char *text = "";
    size_t at;
    json_t *item;
    json_array_foreach(value, at, item)
    {
        text = append(arena, text, "; ",
                      arena_printf(arena,
                                   "%s (%" JSON_INTEGER_FORMAT
                                   " of %" JSON_INTEGER_FORMAT " hosts)",
                                   text_of(item, "part"),
                                   json_integer_value(json_object_get(item, "hosts")),
                                   json_integer_value(json_object_get(item, "of"))));
    }
    return or_unset(text);
}
