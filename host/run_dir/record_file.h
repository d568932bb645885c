/* SPDX-License-Identifier: Apache-2.0 */
/* record_file.h: the record of a run on disk, in its directory.
 *
 * A read returns the last record that was written completely, whenever the writer was
 * killed or a write was cut short: the first record is renamed into place, and later
 * ones are written in turn to one of two places in the file.
 *
 * Errors: ERR_NOT_FOUND no record, ERR_PARSE damaged, ERR_IO the system's words.
 * Layer: host (libc only: the guard links it). */
#ifndef SUBLET_HOST_RUN_DIR_RECORD_FILE_H
#define SUBLET_HOST_RUN_DIR_RECORD_FILE_H

#include "host/exec/guard_record.h"

/* `dir` is the open directory of the run. */
int record_file_read(int dir, struct guard_record *record, struct err *err) MUST_CHECK;
/* Counts record->seq up. A record that continues that of another guard must begin with
 * what was read. */
int record_file_write(int dir, struct guard_record *record, struct err *err) MUST_CHECK;

#endif
