/* SPDX-License-Identifier: Apache-2.0 */
/* window.c: see window.h. A daily window is seven windows of the week. */
#include "base/window.h"

#include <ctype.h>
#include <string.h>

#include "base/conf/conf.h"

enum {
    DAY_MIN = 24 * 60,
    HOUR_MIN = 60,
    DAYS = 7,
    THURSDAY = 4,
    FIELDS_MAX = 3,
    WINDOWS_MAX = 100, /* windows of one key: more are a mistake */
};

#define MINUTE_MS INT64_C(60000)

/* ---------------------------------------------------------------- reading */

struct time_of {
    int fields[FIELDS_MAX];
    int n_fields;
};

/* Parses "20", "20:30" or "5:20:30". Returns the end, or NULL. */
static const char *read_time(const char *at, struct time_of *time)
{
    time->n_fields = 0;
    for (;;) {
        int number = 0, n_digits = 0;
        for (; isdigit((unsigned char)*at) && n_digits < 2; at++, n_digits++) {
            number = number * 10 + (*at - '0');
        }
        if (n_digits == 0 || time->n_fields == FIELDS_MAX) {
            return NULL;
        }
        time->fields[time->n_fields++] = number;
        if (*at != ':') {
            return at;
        }
        at++;
    }
}

/* Minutes of the day or week; -1: the time does not exist. */
static int minutes_of(const struct time_of *time)
{
    bool has_day = time->n_fields == FIELDS_MAX;
    int day = has_day ? time->fields[0] : 0;
    int hour = time->fields[has_day];
    int minute = time->n_fields > 1 ? time->fields[has_day + 1] : 0;
    bool is_midnight = hour == DAY_MIN / HOUR_MIN && minute == 0;
    if (day > DAYS || (hour >= DAY_MIN / HOUR_MIN && !is_midnight) ||
        minute >= HOUR_MIN) {
        return -1;
    }
    return (day % DAYS * DAY_MIN + hour * HOUR_MIN + minute) %
           (has_day ? WINDOW_WEEK_MIN : DAY_MIN + 1);
}

static int add_windows(const char *word, struct window *items, int *count,
                       struct err *err)
{
    struct time_of from, to;
    const char *at = read_time(word, &from);
    if (at == NULL || *at != '-' || (at = read_time(at + 1, &to)) == NULL ||
        *at != '\0') {
        return err_set(err, ERR_PARSE,
                       "\"%s\" is not a time window, expected [DAY:]HOUR[:MINUTE]-"
                       "[DAY:]HOUR[:MINUTE]",
                       word);
    }
    int first = minutes_of(&from), last = minutes_of(&to);
    if (first < 0 || last < 0) {
        return err_set(err, ERR_PARSE,
                       "\"%s\": no such time, expected days 0 to 7, hours 0 to 23, "
                       "minutes 0 to 59",
                       word);
    }
    bool is_weekly = from.n_fields == FIELDS_MAX;
    if (is_weekly != (to.n_fields == FIELDS_MAX)) {
        return err_set(err, ERR_PARSE,
                       "\"%s\" has a day at one end, expected it at both", word);
    }
    if (first == last) {
        return err_set(err, ERR_PARSE, "\"%s\" ends when it begins", word);
    }
    if (is_weekly) {
        items[(*count)++] = (struct window){first, last};
        return 0;
    }
    if (last < first) {
        last += DAY_MIN;
    }
    for (int day = 0; day < DAYS; day++) {
        items[(*count)++] = (struct window){
            (day * DAY_MIN + first) % WINDOW_WEEK_MIN,
            (day * DAY_MIN + last) % WINDOW_WEEK_MIN,
        };
    }
    return 0;
}

int window_read(struct arena *arena, const char *text, struct window_list *list,
                struct err *err)
{
    struct conf_words words = conf_words(arena, text);
    if (words.count == 0 || words.count > WINDOWS_MAX) {
        return err_set(err, ERR_PARSE, "%d time windows, expected 1 to %d", words.count,
                       WINDOWS_MAX);
    }
    struct window *items =
        arena_alloc(arena, (size_t)words.count * DAYS, sizeof(*items));
    int count = 0;
    for (int i = 0; i < words.count; i++) {
        int code = add_windows(words.words[i], items, &count, err);
        if (code != 0) {
            return code;
        }
    }
    *list = (struct window_list){items, count, arena_str(arena, text)};
    return 0;
}

/* ---------------------------------------------------------------- looking */

static int minute_of_week(int64_t local_ms)
{
    int64_t minutes = local_ms / MINUTE_MS - (local_ms % MINUTE_MS < 0);
    int64_t of_week = (minutes + THURSDAY * DAY_MIN) % WINDOW_WEEK_MIN;
    return (int)(of_week < 0 ? of_week + WINDOW_WEEK_MIN : of_week);
}

bool window_is_open(const struct window_list *list, int64_t local_ms)
{
    int now = list->n_items > 0 ? minute_of_week(local_ms) : 0;
    for (int i = 0; i < list->n_items; i++) {
        const struct window *window = &list->items[i];
        bool is_after = now >= window->from, is_before = now < window->to;
        bool goes_over = window->to <= window->from;
        if (goes_over ? is_after || is_before : is_after && is_before) {
            return true;
        }
    }
    return list->n_items == 0;
}

/* Minutes from now until that minute of the week, from 1 to a whole week. */
static int minutes_until(int now, int minute)
{
    int ahead = (minute - now + WINDOW_WEEK_MIN) % WINDOW_WEEK_MIN;
    return ahead > 0 ? ahead : WINDOW_WEEK_MIN;
}

int64_t window_next_ms(const struct window_list *list, int64_t local_ms)
{
    int now = minute_of_week(local_ms);
    int soonest = WINDOW_WEEK_MIN + 1;
    for (int i = 0; i < list->n_items; i++) {
        int from = minutes_until(now, list->items[i].from);
        int to = minutes_until(now, list->items[i].to);
        soonest = from < soonest ? from : soonest;
        soonest = to < soonest ? to : soonest;
    }
    if (soonest > WINDOW_WEEK_MIN) {
        return INT64_MAX;
    }
    int64_t into_ms = local_ms % MINUTE_MS;
    return local_ms - (into_ms < 0 ? into_ms + MINUTE_MS : into_ms) +
           soonest * MINUTE_MS;
}
