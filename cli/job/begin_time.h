/* SPDX-License-Identifier: Apache-2.0 */
/* begin_time.h: when a job may begin at the earliest (-b), as people write it:
 * [[[YEAR:]MONTH:]DAY:]HOUR:MINUTE in local time. What is left out is the next such
 * instant: "8:00" is today, or tomorrow where that is over.
 *
 * Source: LSF's bsub -b. Layer: cli. */
#ifndef SUBLET_CLI_JOB_BEGIN_TIME_H
#define SUBLET_CLI_JOB_BEGIN_TIME_H

#include <stdint.h>
#include <time.h>

#include "base/err.h"

/* Milliseconds of the wall clock; ERR_PARSE for what is no time, or one that is over.
 */
int begin_time_read(const char *text, time_t now, int64_t *begin_ms,
                    struct err *err) MUST_CHECK;

#endif
