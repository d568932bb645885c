/* SPDX-License-Identifier: Apache-2.0 */
/* plan_window.c: see plan_window.h. */
#include "broker/plan/plan_window.h"

#include <stdbool.h>
#include <string.h>

#define MINUTE_MS INT64_C(60000)
#define DAY_MS (PLAN_DAY_MIN * MINUTE_MS)

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

int plan_window_parse(const char *text, int *minute, struct err *err)
{
    if (strlen(text) == 5 && is_digit(text[0]) && is_digit(text[1]) && text[2] == ':' &&
        is_digit(text[3]) && is_digit(text[4])) {
        int hours = (text[0] - '0') * 10 + text[1] - '0';
        int minutes = (text[3] - '0') * 10 + text[4] - '0';
        if (minutes < 60 && hours * 60 + minutes <= PLAN_DAY_MIN) {
            *minute = hours * 60 + minutes;
            return ERR_NONE;
        }
    }
    return err_set(err, ERR_PARSE,
                   "\"%.20s\" is not a time of day, expected HH:MM, 00:00 to 24:00",
                   text);
}

static bool covers(const struct plan_window *window, int minute)
{
    if (window->from_min < window->to_min) {
        return minute >= window->from_min && minute < window->to_min;
    }
    return minute >= window->from_min || minute < window->to_min;
}

int plan_window_check(const struct plan_window *windows, int n_windows, struct err *err)
{
    for (int minute = 0; minute < PLAN_DAY_MIN; minute++) {
        const struct plan_window *found = NULL;
        for (int i = 0; i < n_windows; i++) {
            if (covers(&windows[i], minute) && found != NULL) {
                return err_set(err, ERR_STATE,
                               "\"%s\" and \"%s\" both cover %02d:%02d, expected "
                               "windows that do not overlap",
                               found->name, windows[i].name, minute / 60, minute % 60);
            }
            found = covers(&windows[i], minute) ? &windows[i] : found;
        }
        if (found == NULL) {
            return err_set(err, ERR_STATE,
                           "no window covers %02d:%02d, expected windows from 00:00 to "
                           "24:00 without a gap",
                           minute / 60, minute % 60);
        }
    }
    return ERR_NONE;
}

static int64_t of_day(int64_t now_ms)
{
    int64_t rest = now_ms % DAY_MS;
    return rest < 0 ? rest + DAY_MS : rest;
}

int plan_window_at(const struct plan_window *windows, int n_windows, int64_t now_ms)
{
    int minute = (int)(of_day(now_ms) / MINUTE_MS);
    int found = 0;
    for (int i = 0; i < n_windows; i++) {
        found = covers(&windows[i], minute) ? i : found;
    }
    return found;
}

int64_t plan_window_end_ms(const struct plan_window *windows, int n_windows,
                           int64_t now_ms)
{
    if (n_windows < 2) {
        return INT64_MAX;
    }
    int at = plan_window_at(windows, n_windows, now_ms);
    int64_t left_ms = windows[at].to_min * MINUTE_MS - of_day(now_ms);
    return now_ms + (left_ms > 0 ? left_ms : left_ms + DAY_MS);
}
