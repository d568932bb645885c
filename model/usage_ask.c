/* SPDX-License-Identifier: Apache-2.0 */
/* usage_ask.c: see usage_ask.h. */
#include "model/usage_ask.h"

#include <string.h>
#include <time.h>

#define DEFAULT_MS (INT64_C(30) * 24 * 3600 * 1000)

static const char *const words_of[USAGE_WORDS] = {
    [USAGE_WORD_LEASE] = "lease",     [USAGE_WORD_SITE] = "site",
    [USAGE_WORD_NODE] = "node",       [USAGE_WORD_USER] = "user",
    [USAGE_WORD_QUEUE] = "queue",     [USAGE_WORD_PROJECT] = "project",
    [USAGE_WORD_ACCOUNT] = "account", [USAGE_WORD_DAY] = "day",
    [USAGE_WORD_HOUR] = "hour",       [USAGE_WORD_LENT] = "lent",
};

int usage_ask_date(const char *text, int64_t *at_ms, struct err *err)
{
    struct tm at = {0};
    const char *end = strptime(text, "%Y-%m-%d", &at);
    if (end != NULL && end[0] == 'T') {
        end = strptime(end, "T%H:%M", &at);
        end = end != NULL && end[0] == 'Z' ? end + 1 : end;
    }
    if (end == NULL || end[0] != '\0' || at.tm_year < 70 || at.tm_min != 0) {
        return err_set(
            err, ERR_PARSE,
            "\"%.80s\", expected a day or a full hour in UTC, such as 2026-11-23 or "
            "2026-11-23T08:00",
            text);
    }
    *at_ms = (int64_t)timegm(&at) * 1000;
    return 0;
}

static int find_word(const char *text, size_t length)
{
    int i = 0;
    while (i < USAGE_WORDS &&
           (strlen(words_of[i]) != length || strncmp(words_of[i], text, length) != 0)) {
        i++;
    }
    return i;
}

int usage_ask_by(const char *text, int *words, struct err *err)
{
    *words = 0;
    while (text[0] != '\0') {
        size_t length = strcspn(text, ",");
        int word = find_word(text, length);
        if (word == USAGE_WORDS) {
            return err_set(err, ERR_PARSE,
                           "\"%.*s\", expected lease, site, node, user, queue, "
                           "project, account, day, hour or lent",
                           length < 80 ? (int)length : 80, text);
        }
        *words |= 1 << word;
        text += length + (text[length] == ',');
    }
    return 0;
}

void usage_ask_period(const struct msg_query *query, int64_t now_ms, int64_t *from_ms,
                      int64_t *to_ms)
{
    *to_ms = query->to_ms > 0 ? query->to_ms : now_ms + 1;
    *from_ms = query->from_ms > 0 ? query->from_ms : *to_ms - DEFAULT_MS;
}
