/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_wait.c: `sublet wait`: waits until jobs have ended. */
#include <jansson.h>

#include "cli/commands.h"
#include "cli/job_operand.h"
#include "cli/job_outcome.h"
#include "cli/listing/listing.h"

/* Waits for the elements of "12[1-5]" one after the other. */
static int wait_for_list(struct call *call, struct connect **connect, const char *list,
                         int *status, struct err *err)
{
    struct listing listing = {0};
    struct msg_query query = listing_query(QUERY_JOBS);
    query.name = list;
    query.with_ended = true;
    int rc = listing_fetch(&listing, *connect, &query, err);
    *status = 0;
    for (size_t i = 0; rc == 0 && i < json_array_size(listing.rows); i++) {
        const json_t *row = json_array_get(listing.rows, i);
        const char *id = json_string_value(json_object_get(row, "id"));
        int one = 0;
        rc = id == NULL ? 0 : job_outcome_wait(call, connect, id, &one, err);
        *status = *status == 0 ? one : *status;
    }
    listing_free(&listing);
    return rc;
}

static int wait_for(struct call *call, struct connect **connect, const char *job,
                    int *status, struct err *err)
{
    return job_operand_is_list(job) ? wait_for_list(call, connect, job, status, err)
                                    : job_outcome_wait(call, connect, job, status, err);
}

int cmd_wait_run(struct call *call)
{
    struct connect *connect;
    struct err err;
    bool are_all_done = true;
    int status = CALL_OK;
    if (call->n_operands == 0) {
        return call_misuse(call, "no job, expected its id");
    }
    for (int i = 0; i < call->n_operands; i++) {
        if (!job_operand_is_valid(call->operands[i])) {
            return call_misuse(call, "'%s' is not a job id, expected a number",
                               call->operands[i]);
        }
    }
    if (connect_new(call, &connect, &err) != 0) {
        return call_fail_err(&err);
    }
    for (int i = 0; status == CALL_OK && i < call->n_operands; i++) {
        int outcome = 0;
        if (wait_for(call, &connect, call->operands[i], &outcome, &err) != 0) {
            status = call_fail_err(&err);
        } else if (outcome != 0) {
            job_outcome_complain(call->operands[i]);
        }
        are_all_done = are_all_done && outcome == 0;
    }
    connect_free(connect);
    return status == CALL_OK && !are_all_done ? CALL_FAILED : status;
}
