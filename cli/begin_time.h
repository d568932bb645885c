/* SPDX-License-Identifier: Apache-2.0 */
/* begin_time.h: parses the earliest start of a job (-b):
 * [[[YEAR:]MONTH:]DAY:]HOUR:MINUTE in local time. An incomplete time is the next such
 * instant: "8:00" is today, or tomorrow if it is later than that now.
 *
 * Source: LSF's bsub -b. Layer: cli. */
#ifndef SUBLET_CLI_BEGIN_TIME_H
#define SUBLET_CLI_BEGIN_TIME_H

#include <stdint.h>
#include <time.h>

#include "base/err.h"

/* Milliseconds of the wall clock; ERR_PARSE if it is not a time, or in the past. */
int begin_time_read(const char *text, time_t now, int64_t *begin_ms,
                    struct err *err) MUST_CHECK;

#endif
