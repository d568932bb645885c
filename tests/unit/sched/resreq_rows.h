/* SPDX-License-Identifier: Apache-2.0 */
/* resreq_rows.h: what the runners of tests/data/resreq_*.tsv share: rows of columns,
 * several strings in one, and the hosts of resreq_hosts.txt. */
#ifndef SUBLET_TESTS_RESREQ_ROWS_H
#define SUBLET_TESTS_RESREQ_ROWS_H

#include "sched/resource/resource.h"

enum { RESREQ_ROWS_STRINGS_MAX = 8 };

struct resreq_rows_hosts {
    struct resources *resources;
    struct resource_table *table;
    char names[16][16];
    int n_hosts;
};

void resreq_rows_load(struct resreq_rows_hosts *hosts);
void resreq_rows_release(struct resreq_rows_hosts *hosts);
/* The row of a host; the test fails where there is none. */
int resreq_rows_find(const struct resreq_rows_hosts *hosts, const char *name);

/* Cuts `text` at " ;; "; returns how many strings that makes. */
int resreq_rows_strings(char *text, const char **strings);

/* Calls `run` for every row of a file that is no comment, cut into `n_columns`; `at` is
 * "FILE:LINE". The test fails where it returned false. Returns how many rows there
 * were. */
int resreq_rows_each(const char *file, int n_columns,
                     bool (*run)(char *const *columns, const char *at, void *context),
                     void *context);

#endif
