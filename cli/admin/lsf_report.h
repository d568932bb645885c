/* SPDX-License-Identifier: Apache-2.0 */
/* lsf_report.h: what becomes of the configuration of an LSF cluster, for
 * `sublet check --lsf DIR`: each parameter that is set, sorted by its class
 * (base/conf/lsf_keys.h), then errors and unknown keys.
 *
 * A key is listed once in each file, with its first line and the number of further
 * ones. Prints to standard output. Layer: cli. */
#ifndef SUBLET_CLI_ADMIN_LSF_REPORT_H
#define SUBLET_CLI_ADMIN_LSF_REPORT_H

#include "base/conf/conf.h"

/* `directory` is shown in the first line. Returns how many parameters are refused. */
int lsf_report_print(const struct conf *conf, const char *directory);

#endif
