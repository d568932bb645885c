/* SPDX-License-Identifier: Apache-2.0 */
/* log.c: see log.h. */
#include "sys/log.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/value.h"

enum {
    LINE_SIZE = 2048, /* a longer line is cut */
    WINDOW_MS = 10000,
    BURST_DEFAULT = 10,
};

static const char *program_name = "sublet";
static enum log_level threshold = LOG_LEVEL_INFO;
static bool is_for_journal;

static const char *level_name(enum log_level level)
{
    switch (level) {
    case LOG_LEVEL_ERROR:
        return "error";
    case LOG_LEVEL_WARNING:
        return "warning";
    case LOG_LEVEL_NOTICE:
        return "notice";
    case LOG_LEVEL_INFO:
        return "info";
    case LOG_LEVEL_DEBUG:
        return "debug";
    }
    return "?";
}

void log_init(const char *program)
{
    program_name = program;
    is_for_journal = getenv("JOURNAL_STREAM") != NULL;
    const char *wanted = getenv("SUBLET_LOG");
    threshold = LOG_LEVEL_INFO;
    for (int level = LOG_LEVEL_ERROR; wanted != NULL && level <= LOG_LEVEL_DEBUG;
         level++) {
        if (strcmp(wanted, level_name((enum log_level)level)) == 0) {
            threshold = (enum log_level)level;
        }
    }
}

static int64_t wall_clock_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Formats the prefix of a line; returns its length. */
static size_t format_prefix(char *line, size_t size, enum log_level level)
{
    int length;
    if (is_for_journal) {
        length = snprintf(line, size, "<%d>", (int)level);
    } else {
        char instant[32];
        value_format_instant(wall_clock_ms(), instant);
        length = snprintf(line, size, "%s %s: %s: ", instant, program_name,
                          level_name(level));
    }
    return length < 0 ? 0 : (size_t)length < size ? (size_t)length : size - 1;
}

void log_line(enum log_level level, const char *format, ...)
{
    if (level > threshold) {
        return;
    }
    char line[LINE_SIZE];
    size_t prefix = format_prefix(line, sizeof(line), level);
    va_list args;
    va_start(args, format);
    vsnprintf(line + prefix, sizeof(line) - prefix, format, args);
    va_end(args);

    size_t length = strlen(line);
    for (size_t i = prefix; i < length; i++) {
        /* Replaces control characters. */
        if ((unsigned char)line[i] < 0x20 || line[i] == 0x7f) {
            line[i] = ' ';
        }
    }
    length = length < sizeof(line) - 1 ? length : sizeof(line) - 2;
    line[length] = '\n';
    ssize_t ignored = write(STDERR_FILENO, line, length + 1);
    (void)ignored; /* there is no other place for errors */
}

bool log_limit_pass(struct log_limit *limit, int64_t now_ms)
{
    if (now_ms - limit->window_ms >= WINDOW_MS) {
        if (limit->suppressed > 0) {
            log_line(LOG_LEVEL_WARNING,
                     "%" PRIu64 " more lines like these were left out",
                     limit->suppressed);
        }
        limit->window_ms = now_ms;
        limit->count = 0;
        limit->suppressed = 0;
    }
    if (limit->count < (limit->burst > 0 ? limit->burst : BURST_DEFAULT)) {
        limit->count++;
        return true;
    }
    limit->suppressed++;
    return false;
}
