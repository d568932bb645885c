/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_events.c: `sublet events`: the history of leases and sites, one JSON object per
 * line, oldest first; with --follow also new events. Source: docs/design/interfaces.md
 * "Command line", "Scenarios". */
#include <czmq.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/connect.h"
#include "cli/listing/listing.h"
#include "model/msg.h"

const struct call_option cmd_events_options[] = {
    {"--after", "ID", "only events after this one", false},
    {"--last", "N", "only the last so many of these", false},
    {"--follow", NULL, "continue until interrupted", false},
    {"--json", NULL, "as without it: one JSON object per line", false},
    {NULL, NULL, NULL, false},
};

enum { FOLLOW_MS = 500 };

/* The id of the last event printed, for the next query. */
struct place {
    char after[32];
    int last; /* of the first page; 0: all */
};

static int print_page(struct connect *connect, struct place *place, size_t *n_rows,
                      struct err *err)
{
    struct listing listing = {0};
    struct msg_query query = listing_query(QUERY_EVENTS);
    query.after = place->after;
    query.last = place->last;
    place->last = 0;
    int rc = listing_fetch_page(&listing, connect, &query, err);
    size_t at;
    json_t *row;
    *n_rows = json_array_size(listing.rows);
    json_array_foreach(listing.rows, at, row)
    {
        json_dumpf(row, stdout, JSON_COMPACT);
        putchar('\n');
        snprintf(place->after, sizeof(place->after), "%" JSON_INTEGER_FORMAT,
                 json_integer_value(json_object_get(row, "id")));
    }
    listing_free(&listing);
    return rc;
}

static int take_last(const struct call *call, struct place *place)
{
    const char *last = call_value(call, "--last");
    size_t length = last != NULL ? strlen(last) : 0;
    place->last = length > 0 && length <= 3 ? (int)strtol(last, NULL, 10) : 0;
    if (last == NULL || (strspn(last, "0123456789") == length && place->last > 0 &&
                         place->last <= PAGE_ROWS_MAX)) {
        return CALL_OK;
    }
    return call_misuse(call, "--last: '%s', expected a number from 1 to %d", last,
                       PAGE_ROWS_MAX);
}

static int take_place(const struct call *call, struct place *place)
{
    const char *after = call_value(call, "--after");
    place->after[0] = '\0';
    if (after == NULL) {
        return CALL_OK;
    }
    size_t length = strlen(after);
    if (length == 0 || length > 18 || strspn(after, "0123456789") != length) {
        return call_misuse(call, "--after: '%s', expected the id of an event", after);
    }
    memcpy(place->after, after, length + 1);
    return CALL_OK;
}

int cmd_events_run(struct call *call)
{
    struct connect *connect;
    struct place place;
    struct err err;
    size_t n_rows = 1;
    int rc = 0, status = take_place(call, &place);
    if (status != CALL_OK) {
        return status;
    }
    status = take_last(call, &place);
    if (status != CALL_OK) {
        return status;
    }
    if (call->n_operands > 0) {
        return call_misuse(call, "expected no operand");
    }
    if (connect_new(call, &connect, &err) != 0) {
        return call_fail_err(&err);
    }
    while (rc == 0 && status == CALL_OK && (n_rows > 0 || call_has(call, "--follow"))) {
        rc = print_page(connect, &place, &n_rows, &err);
        status = call_finish_output();
        if (n_rows == 0 && rc == 0 && call_has(call, "--follow")) {
            zclock_sleep(FOLLOW_MS);
        }
    }
    connect_free(connect);
    return rc != 0 ? call_fail_err(&err) : status;
}
