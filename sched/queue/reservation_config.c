/* SPDX-License-Identifier: Apache-2.0 */
/* reservation_config.c: see reservation_config.h. */
#include "sched/queue/reservation_config.h"

#include <string.h>
#include <strings.h>

#include "sched/queue/queue.h"

/* Long against most jobs, so that a large job is not given up while slots come; then
 * other jobs of the queue have a chance. */
enum { COLLECT_MS = 6 * 60 * 60 * 1000, COLLECT_PAUSE_MS = 10 * 60 * 1000 };

enum { INTERVALS_MAX = 1000000 };

static const char word[] = "MAX_RESERVE_TIME";

/* "MAX_RESERVE_TIME[5]"; the manuals have blanks around the brackets too. */
static bool read_intervals(struct arena *arena, const char *text, int64_t *n_intervals)
{
    size_t length = sizeof(word) - 1;
    if (strncasecmp(text, word, length) != 0) {
        return false;
    }
    text += length + strspn(text + length, " \t");
    if (*text++ != '[') {
        return false;
    }
    text += strspn(text, " \t");
    size_t n_digits = strspn(text, "0123456789");
    const char *rest = text + n_digits + strspn(text + n_digits, " \t");
    return strcmp(rest, "]") == 0 &&
           conf_parse_int(arena_strn(arena, text, n_digits), 1, INTERVALS_MAX,
                          n_intervals, NULL) == 0;
}

/* Both have to stand in the same row: an application's RUNLIMIT is not its queue's. */
static void read_slice(struct conf *conf, const struct conf_place *at,
                       struct reservation_config *config)
{
    const char *text = conf_text(at->row, "INTERRUPTIBLE_BACKFILL", NULL);
    int64_t seconds;
    if (text == NULL || conf_parse_int(text, 1, INT32_MAX, &seconds, NULL) != 0) {
        return; /* conf_check has reported it */
    }
    if (!config->is_backfill || conf_text(at->row, "RUNLIMIT", NULL) == NULL) {
        CONF_COMPLAIN(conf, CONF_ERROR, at, "INTERRUPTIBLE_BACKFILL",
                      "the queue has no %s, expected BACKFILL = Y and a RUNLIMIT with "
                      "it",
                      config->is_backfill ? "RUNLIMIT" : "BACKFILL = Y");
        return;
    }
    config->backfill_slice_ms = seconds * 1000;
}

/* The time of that key; 0: it is not there, or wrong. */
static int64_t read_time(struct conf *conf, const struct conf_place *at,
                         const char *key, int64_t session_ms)
{
    const char *text = conf_text(at->row, key, NULL);
    int64_t n_intervals = 0;
    if (text != NULL && !read_intervals(conf->arena, text, &n_intervals)) {
        CONF_COMPLAIN(conf, CONF_ERROR, at, key,
                      "\"%s\", expected MAX_RESERVE_TIME[N]: for N intervals of "
                      "MBD_SLEEP_TIME, 1 to %d",
                      text, INTERVALS_MAX);
    }
    return n_intervals * session_ms;
}

void reservation_config_collect(struct reservation_config *config)
{
    if (config->max_ms == 0) {
        config->max_ms = COLLECT_MS;
        config->session_ms = COLLECT_PAUSE_MS;
        config->is_collecting = true;
    }
}

void reservation_config_read(struct conf *conf, const struct conf_place *at,
                             struct reservation_config *config)
{
    int64_t session_ms = accept_interval_mbd_sleep_ms(conf);
    int64_t slots_ms = read_time(conf, at, "SLOT_RESERVE", session_ms);
    int64_t all_ms = read_time(conf, at, "RESOURCE_RESERVE", session_ms);
    *config = (struct reservation_config){.session_ms = session_ms,
                                          .max_ms = all_ms > 0 ? all_ms : slots_ms,
                                          .has_resources = all_ms > 0};
    if (slots_ms > 0 && all_ms > 0) {
        CONF_COMPLAIN(conf, CONF_WARNING, at, "SLOT_RESERVE",
                      "is ignored: the queue has RESOURCE_RESERVE, which reserves "
                      "slots too");
    }
    if (conf_parse_bool(conf_text(at->row, "BACKFILL", "N"), &config->is_backfill,
                        NULL) != 0) {
        config->is_backfill = false; /* conf_check has reported it */
    }
    read_slice(conf, at, config);
}
