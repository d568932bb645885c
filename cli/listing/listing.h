/* SPDX-License-Identifier: Apache-2.0 */
/* listing.h: fetches a listing page by page and prints it as JSON, table or blocks.
 *
 * --json prints the daemon's object unchanged, with the pages merged; -o, --sort,
 * --noheader and -l change what is shown of it. Filters that a query does not know are
 * applied here, to JSON and table alike. Order: the daemon's, unless --sort says
 * otherwise; ties keep it. Ownership: a listing owns its JSON until listing_free.
 * Layer: cli. */
#ifndef SUBLET_CLI_LISTING_LISTING_H
#define SUBLET_CLI_LISTING_LISTING_H

#include <jansson.h>
#include <stdbool.h>

#include "base/err.h"
#include "cli/call.h"
#include "cli/connect.h"
#include "cli/listing/columns.h"
#include "model/msg.h"

/* --json --noheader -o --sort, the options of every listing. */
extern const struct call_option listing_options[];

struct listing {
    json_t *object; /* schema_version and one array */
    json_t *rows;   /* that array, borrowed */
    json_t *fields; /* NULL: rows are objects; else rows are arrays of these fields */
};

/* A query for everything of that kind. */
struct msg_query listing_query(enum query_kind kind);

/* Fetches all pages and appends the rows to `listing`, which is zeroed at first. If the
 * query names fields, the rows may be arrays, or objects of all fields. */
int listing_fetch(struct listing *listing, struct connect *connect,
                  const struct msg_query *query, struct err *err) MUST_CHECK;
/* Fetches a single page. */
int listing_fetch_page(struct listing *listing, struct connect *connect,
                       const struct msg_query *query, struct err *err) MUST_CHECK;
/* Fetches all pages over a connection of its own; returns the exit status. */
int listing_get(struct call *call, const struct msg_query *query,
                struct listing *listing);
void listing_free(struct listing *listing);

/* The value of a row at a path, or NULL. */
json_t *listing_value(const struct listing *listing, const json_t *row,
                      const char *path);
/* The fields that listing_show needs, for a query; "": all. */
const char *listing_fields(struct call *call, const struct columns *columns);

/* Removes the rows for which `keep` is false. */
typedef bool (*listing_keep_fn)(const json_t *row, const void *arg);
void listing_filter(struct listing *listing, listing_keep_fn keep, const void *arg);

/* Prints the listing by the call's options; returns the exit status. */
int listing_show(struct call *call, struct listing *listing,
                 const struct columns *columns);

/* Connects and fetches into `listing`, by one query per operand (as `name`), or one for
 * all. Returns the exit status. `thing` is the kind of the operands, for errors. */
int listing_gather(struct call *call, const struct msg_query *query, const char *thing,
                   struct listing *listing);

/* listing_gather and listing_show. */
int listing_run(struct call *call, const struct msg_query *query, const char *thing,
                const struct columns *columns);

/* The user of a listing of jobs: -u USER, or "" for -u all. Without -u it is the
 * caller, or all users if jobs are named. */
const char *listing_user(struct call *call, bool is_named);

/* ---- tables, on standard output; coloured on a terminal, unless NO_COLOR is set */

/* `columns` ends with a NULL heading; `rows` is an array of objects, or of arrays in
 * which each column has a place. */
void table_print_places(struct arena *arena, const struct column *columns,
                        const size_t *places, const json_t *rows, bool has_heading);
/* The same with an array of objects. */
void table_print(struct arena *arena, const struct column *columns, const json_t *rows,
                 bool has_heading);
/* A block of "Heading: value" lines for each row; fields without a value are left out.
 */
void table_print_blocks(struct arena *arena, const struct column *columns,
                        const json_t *rows);
/* The text, with blanks behind it up to that many columns of a terminal. */
const char *table_pad(struct arena *arena, const char *text, int width);
/* Which queues preempt which, as a matrix: a row for each queue that preempts another,
 * a column for each queue that is preempted; "yes", or its preference. `queues` are
 * rows of that listing, in whose order queues are shown. Prints nothing if none
 * preempts. */
void preempt_matrix_print(struct arena *arena, const json_t *queues, bool has_heading);

#endif
