/* SPDX-License-Identifier: Apache-2.0 */
/* begin_time.c: see begin_time.h. */
#include "cli/begin_time.h"

#include <ctype.h>
#include <stdbool.h>

enum { FIELDS_MIN = 2, FIELDS_MAX = 5, YEAR_MIN = 1970, YEAR_MAX = 9999, TRIES = 60 };

static int fail(const char *text, const char *why, struct err *err)
{
    return err_set(err, ERR_PARSE,
                   "\"%s\" %s, expected [[[YEAR:]MONTH:]DAY:]HOUR:MINUTE", text, why);
}

/* Reads the numbers between colons; returns their count, or -1. */
static int read_fields(const char *text, int *fields)
{
    int count = 0;
    for (;; text++) {
        int number = 0, n_digits = 0;
        for (; isdigit((unsigned char)*text) && n_digits < 4; text++, n_digits++) {
            number = number * 10 + (*text - '0');
        }
        if (n_digits == 0 || count == FIELDS_MAX) {
            return -1;
        }
        fields[count++] = number;
        if (*text != ':') {
            return *text == '\0' ? count : -1;
        }
    }
}

/* False if there is no such instant: 31 April, 2:30 at the begin of summer time. */
static bool make_time(const struct tm *wanted, time_t *at)
{
    struct tm tm = *wanted;
    tm.tm_isdst = -1;
    *at = mktime(&tm);
    return *at != (time_t)-1 && tm.tm_mon == wanted->tm_mon &&
           tm.tm_mday == wanted->tm_mday && tm.tm_hour == wanted->tm_hour;
}

/* Advances the largest field that is not given: day, month or year. */
static void advance(struct tm *tm, int n_fields)
{
    struct tm noon = *tm;
    noon.tm_isdst = -1;
    switch (n_fields) {
    case 2:
        noon.tm_mday++;
        noon.tm_hour = 12;
        mktime(&noon);
        tm->tm_mday = noon.tm_mday;
        tm->tm_mon = noon.tm_mon;
        tm->tm_year = noon.tm_year;
        break;
    case 3:
        tm->tm_year += tm->tm_mon == 11;
        tm->tm_mon = (tm->tm_mon + 1) % 12;
        break;
    default:
        tm->tm_year++;
        break;
    }
}

int begin_time_read(const char *text, time_t now, int64_t *begin_ms, struct err *err)
{
    int fields[FIELDS_MAX];
    int count = read_fields(text, fields);
    struct tm tm;
    time_t at;
    if (count < FIELDS_MIN) {
        return fail(text, "is no time", err);
    }
    if (localtime_r(&now, &tm) == NULL) {
        return fail(text, "cannot be placed in this time zone", err);
    }
    tm.tm_sec = 0;
    tm.tm_min = fields[count - 1];
    tm.tm_hour = fields[count - 2];
    tm.tm_mday = count > 2 ? fields[count - 3] : tm.tm_mday;
    tm.tm_mon = count > 3 ? fields[count - 4] - 1 : tm.tm_mon;
    tm.tm_year = count > 4 ? fields[0] - 1900 : tm.tm_year;
    if (tm.tm_min > 59 || tm.tm_hour > 23 || tm.tm_mday < 1 || tm.tm_mday > 31 ||
        tm.tm_mon < 0 || tm.tm_mon > 11 || tm.tm_year < YEAR_MIN - 1900 ||
        tm.tm_year > YEAR_MAX - 1900) {
        return fail(text, "is not a time of the calendar", err);
    }
    for (int i = 0; i < TRIES; i++) {
        if (make_time(&tm, &at) && at > now) {
            *begin_ms = (int64_t)at * 1000;
            return 0;
        }
        if (count == FIELDS_MAX) {
            return fail(text, "is over, or not a time of the calendar", err);
        }
        advance(&tm, count);
    }
    return fail(text, "is not a time of the calendar", err);
}
