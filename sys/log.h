/* SPDX-License-Identifier: Apache-2.0 */
/* log.h: lines on standard error, with journal levels ("<4>") when the journal reads
 * them (JOURNAL_STREAM is set), else with time and level. Levels above the threshold
 * (default LOG_LEVEL_INFO; SUBLET_LOG=debug) are dropped.
 * Layer: sys. */
#ifndef SUBLET_SYS_LOG_H
#define SUBLET_SYS_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "model/effect.h"

/* `program` begins each line; borrowed for ever. */
void log_init(const char *program);
void log_line(enum log_level level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A limited rate for lines that a peer can cause: at most `burst` in any window of ten
 * seconds, then one line with the number of dropped lines. */
struct log_limit {
    int64_t window_ms;
    int count, burst;
    uint64_t suppressed;
};
bool log_limit_pass(struct log_limit *limit, int64_t now_ms);

#endif
