/* SPDX-License-Identifier: Apache-2.0 */
/* accept_interval.c: JOB_ACCEPT_INTERVAL, see queue.h. */
#include "sched/queue/queue.h"

#include <stdlib.h>
#include <string.h>

#include "base/conf/conf_value.h"

static const char key[] = "JOB_ACCEPT_INTERVAL";

enum { DAY_MS = 24 * 3600 * 1000 };

int64_t accept_interval_mbd_sleep_ms(const struct conf *conf)
{
    struct conf_place at = conf_value_last(conf, "Parameters", "MBD_SLEEP_TIME");
    return conf_value_duration(conf, &at, "MBD_SLEEP_TIME", 60000);
}

/* -1: not a valid time. */
static int64_t parse(const struct conf *conf, const char *text)
{
    size_t n_digits = strspn(text, "0123456789");
    const char *unit = text + n_digits;
    int64_t count = strtoll(text, NULL, 10);
    if (n_digits == 0 || n_digits > 8 || strlen(unit) > 1 ||
        strspn(unit, "sSmM") != strlen(unit)) {
        return -1;
    }
    int64_t unit_ms = *unit == '\0' ? accept_interval_mbd_sleep_ms(conf)
                      : *unit == 's' || *unit == 'S' ? 1000
                                                     : 60000;
    return count <= DAY_MS / unit_ms ? count * unit_ms : -1;
}

int64_t accept_interval_read(struct conf *conf, const struct conf_place *at,
                             int64_t otherwise_ms)
{
    const char *text = conf_text(at->row, key, NULL);
    if (text == NULL) {
        return otherwise_ms;
    }
    int64_t ms = parse(conf, text);
    if (ms < 0) {
        CONF_COMPLAIN(conf, CONF_ERROR, at, key,
                      "bad interval \"%s\", expected a number of intervals of "
                      "MBD_SLEEP_TIME, or a number with s or m, up to a day",
                      text);
    }
    return ms > 0 ? ms : 0;
}

int64_t accept_interval_read_default(struct conf *conf)
{
    struct conf_place at = conf_value_last(conf, "Parameters", key);
    return accept_interval_read(conf, &at, 0);
}
