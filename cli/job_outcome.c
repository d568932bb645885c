/* SPDX-License-Identifier: Apache-2.0 */
/* job_outcome.c: see job_outcome.h. */
#include "cli/job_outcome.h"

#include <czmq.h>
#include <jansson.h>
#include <string.h>

#include "cli/listing/listing.h"
#include "model/msg.h"

enum { RETRY_MS = 500, RETRIES_MAX = 120 }; /* a minute for a daemon to restart */

int job_outcome_connect_again(const struct call *call, struct connect **connect,
                              struct err *err)
{
    int rc = ERR_AWAY;
    connect_free(*connect);
    *connect = NULL;
    call_say("the site does not answer; waiting until it does");
    for (int i = 0; rc != 0 && i < RETRIES_MAX; i++) {
        zclock_sleep(RETRY_MS);
        rc = connect_new(call, connect, err);
    }
    return rc;
}

/* A job that is not DONE never has status 0. */
static int status_of(const json_t *row)
{
    const char *state = json_string_value(json_object_get(row, "state"));
    const json_t *code = json_object_get(row, "exit_code");
    if (state != NULL && strcmp(state, "DONE") == 0) {
        return 0;
    }
    if (json_is_integer(code) && (json_integer_value(code) & 0xff) != 0) {
        return (int)json_integer_value(code) & 0xff;
    }
    return json_is_string(json_object_get(row, "start_at")) ? CALL_FAILED
                                                            : OUTCOME_WITHDRAWN;
}

/* Reads the result from the listing, which has one row per element of an array. */
static int read_state(struct connect *connect, const char *job, int *status,
                      struct err *err)
{
    struct listing listing = {0};
    struct msg_query query = listing_query(QUERY_JOBS);
    int rc;
    query.name = job;
    query.with_ended = true;
    rc = listing_fetch(&listing, connect, &query, err);
    if (rc == 0) {
        size_t n_rows = json_array_size(listing.rows);
        *status = 0;
        for (size_t i = 0; i < n_rows && *status == 0; i++) {
            *status = status_of(json_array_get(listing.rows, i));
        }
        if (n_rows == 0) {
            rc = err_set(err, ERR_NOT_FOUND, "job <%s> is not found", job);
        }
    }
    listing_free(&listing);
    return rc;
}

int job_outcome_wait(const struct call *call, struct connect **connect, const char *job,
                     int *status, struct err *err)
{
    struct msg msg = {.kind = MSG_WAIT, .wait = {.job = job}};
    struct msg_reply reply;
    struct arena arena;
    int rc;
    arena_init(&arena);
    for (;;) {
        rc = connect_ask(*connect, &msg, &msg.wait.request, -1, &arena, &reply, err);
        if (rc == 0) {
            rc = read_state(*connect, job, status, err);
        }
        if (rc != ERR_AWAY) {
            break;
        }
        rc = job_outcome_connect_again(call, connect, err);
        if (rc != 0) {
            break;
        }
    }
    arena_release(&arena);
    return rc;
}

int job_outcome_complain(const char *job)
{
    return call_fail("job <%s> did not end well; see 'sublet jobs -l %s'", job, job);
}
