/* SPDX-License-Identifier: Apache-2.0 */
/* journal_fields.h: fields and groups of fields of a row into a statement and out of
 * its result: what several tables have in common.
 *
 * Each group takes `*at`, the number of the last parameter bound, or `column`, its
 * first column. A bind that fails (no memory) leaves NULL, which NOT NULL then refuses.
 * Unsigned numbers keep their 64 bits, not their order.
 * Ownership: texts of single fields are borrowed until the statement runs again; what a
 * group reads is copied into the arena.
 * Errors: reading gives ERR_IO for what the schema or this file would not have written.
 * Layer: site/io. */
#ifndef SUBLET_SITE_IO_JOURNAL_FIELDS_H
#define SUBLET_SITE_IO_JOURNAL_FIELDS_H

#include <sqlite3.h>
#include <stdint.h>

#include "base/err.h"
#include "model/row.h"

#define JOURNAL_SPEC_COLUMNS                                                           \
    "name, user, uid, gid, queue, command, cwd, in_file, out_file, err_file, env,"     \
    " umask, n_slots, hosts_asked, run_limit_ms, is_rerunnable, res_reqs,"             \
    " is_exclusive, app, limits, pre_execs, post_execs, interaction, controls"
#define JOURNAL_CONTROL_COLUMNS "control_number, control_action, control_signal"
#define JOURNAL_EXIT_COLUMNS                                                           \
    "exit_end, exit_code, exit_start_ms, exit_end_ms, exit_cpu_ms, exit_mem_kib,"      \
    " exit_out_bytes, exit_err_bytes, exit_text, exit_cause"

enum { JOURNAL_SPEC_WIDTH = 24, JOURNAL_CONTROL_WIDTH = 3, JOURNAL_EXIT_WIDTH = 10 };

void journal_fields_bind_text(sqlite3_stmt *statement, int at, const char *text);
void journal_fields_bind_int(sqlite3_stmt *statement, int at, int64_t number);
/* What says nothing ("", no host, 0) is left NULL. */
void journal_fields_bind_some_text(sqlite3_stmt *statement, int at, const char *text);
void journal_fields_bind_some_int(sqlite3_stmt *statement, int at, int64_t number);
void journal_fields_bind_some_hosts(sqlite3_stmt *statement, int at,
                                    const struct host_slots *hosts, int n_hosts);
void journal_fields_bind_hosts(sqlite3_stmt *statement, int at,
                               const struct host_slots *hosts, int n_hosts);
void journal_fields_bind_spec(sqlite3_stmt *statement, int *at,
                              const struct job_spec *spec);
void journal_fields_bind_control(sqlite3_stmt *statement, int *at,
                                 const struct run_control *control);
void journal_fields_bind_exit(sqlite3_stmt *statement, int *at,
                              const struct run_exit *exit);

const char *journal_fields_text(sqlite3_stmt *statement, int column);
/* The place of a column's word among `words`, in `*index`; of NULL that of the first.
 */
int journal_fields_read_word(sqlite3_stmt *statement, int column,
                             const char *const *words, int n_words, int *index,
                             struct err *err) MUST_CHECK;
int journal_fields_read_hosts(sqlite3_stmt *statement, int column, struct arena *arena,
                              const struct host_slots **hosts, int *n_hosts,
                              struct err *err) MUST_CHECK;
void journal_fields_read_spec(sqlite3_stmt *statement, int column, struct arena *arena,
                              struct job_spec *spec);
int journal_fields_read_control(sqlite3_stmt *statement, int column,
                                struct run_control *control,
                                struct err *err) MUST_CHECK;
int journal_fields_read_exit(sqlite3_stmt *statement, int column, struct arena *arena,
                             struct run_exit *exit, struct err *err) MUST_CHECK;

/* SQLite's complaint about the statement's connection. */
int journal_fields_fail(sqlite3_stmt *statement, const char *what, struct err *err);

#endif
