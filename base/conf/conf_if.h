/* SPDX-License-Identifier: Apache-2.0 */
/* conf_if.h: the conditions of LSF's time-dependent configuration.
 *
 *     #if time(5:19:00-1:8:30 20:00-8:30) || !time(8-18)
 *     ...
 *     #elif time(12:00-13:00 UTC)
 *     ...
 *     #else
 *     ...
 *     #endif
 *
 * Windows are written as in window.h, in local time or, with UTC or GMT as the last
 * word, in that. Conditions are joined by ! && || and parentheses; && binds tighter.
 *
 * Source: LSF's administration guide, "Automatic time-based configuration". Layer:
 * base.
 */
#ifndef SUBLET_BASE_CONF_IF_H
#define SUBLET_BASE_CONF_IF_H

#include "base/conf/conf.h"

/* ERR_PARSE with what was expected, and `*value` false. */
int conf_if_eval(struct arena *arena, const char *text, const struct conf_clock *clock,
                 bool *value, struct err *err) MUST_CHECK;

#endif
