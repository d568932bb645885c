/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_jobs.c: `sublet jobs`: the caller's unfinished jobs, or those selected.
 * Source: docs/design/interfaces.md "Command line"; LSF's bjobs. */
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/job_operand.h"
#include "cli/listing/listing.h"
#include "model/msg.h"

const struct call_option cmd_jobs_options[] = {
    {"-u", "USER", "of this user; all: of everyone", false},
    {"-q", "QUEUE", "of this queue", false},
    {"-m", "HOST", "on this host", false},
    {"-a", NULL, "the ended ones too", false},
    {"-p", NULL, "the waiting ones only", false},
    {"-J", "NAME", "of this name; of an array all elements", false},
    {"-app", "PROFILE", "of this application profile", false},
    {"-G", "GROUP", "submitted for this user group (sub -G)", false},
    {"-l", NULL, "in full, with the reason", false},
    {NULL, NULL, NULL, false},
};

static bool is_named(const json_t *row, const void *name)
{
    const char *text = json_string_value(json_object_get(row, "name"));
    size_t length = strlen(name);
    return text != NULL && strncmp(text, name, length) == 0 &&
           (text[length] == '\0' || text[length] == '[');
}

static bool is_of_application(const json_t *row, const void *name)
{
    const char *app = json_string_value(json_object_get(row, "app"));
    return app != NULL && strcmp(app, name) == 0;
}

static bool is_of_group(const json_t *row, const void *name)
{
    const char *group = json_string_value(json_object_get(row, "user_group"));
    return group != NULL && strcmp(group, name) == 0;
}

static bool is_waiting(const json_t *row, const void *unused)
{
    const char *state = json_string_value(json_object_get(row, "state"));
    (void)unused;
    return state != NULL && (strcmp(state, "PEND") == 0 || strcmp(state, "PSUSP") == 0);
}

static int fetch(struct call *call, struct connect *connect, struct listing *listing)
{
    struct msg_query query = listing_query(QUERY_JOBS);
    struct err err;
    int n_queries = call->n_operands > 0 ? call->n_operands : 1;
    query.user = listing_user(call, call->n_operands > 0 || call_has(call, "-J"));
    query.queue = call_has(call, "-q") ? call_value(call, "-q") : "";
    query.host = call_has(call, "-m") ? call_value(call, "-m") : "";
    query.with_ended = call_has(call, "-a") || call->n_operands > 0;
    for (int i = 0; i < n_queries; i++) {
        size_t before = json_array_size(listing->rows);
        if (call->n_operands > 0) {
            query.name = call->operands[i];
        }
        if (listing_fetch(listing, connect, &query, &err) != 0) {
            return call_fail_err(&err);
        }
        if (call->n_operands > 0 && json_array_size(listing->rows) == before) {
            return call_fail("job <%s> is not found; see 'sublet jobs -a -u all'",
                             query.name);
        }
    }
    return CALL_OK;
}

/* As bjobs -p: one line per job, followed by its pending reasons. */
static int show_waiting(struct call *call, const struct listing *listing)
{
    static const char line[] = "%-8s %-8s %-5s %-10s %5s %-12s %s\n";
    struct arena *arena = &call->arena;
    size_t at, place;
    json_t *row, *reason;
    if (json_array_size(listing->rows) == 0) {
        call_say("%s", columns_jobs_waiting.nothing);
    } else if (!call_has(call, "--noheader")) {
        printf(line, "JOBID", "USER", "STAT", "QUEUE", "SLOTS", "JOB_NAME",
               "SUBMIT_TIME");
    }
    json_array_foreach(listing->rows, at, row)
    {
        printf(line, format_plain(arena, json_object_get(row, "id")),
               format_plain(arena, json_object_get(row, "user")),
               format_plain(arena, json_object_get(row, "state")),
               format_plain(arena, json_object_get(row, "queue")),
               format_plain(arena, json_object_get(row, "slots")),
               format_plain(arena, json_object_get(row, "name")),
               format_time(arena, json_object_get(row, "submit_at")));
        if (!json_is_array(json_object_get(row, "pending_reasons"))) {
            printf(" %s;\n", format_plain(arena, json_object_get(row, "reason")));
        }
        json_array_foreach(json_object_get(row, "pending_reasons"), place, reason)
        {
            printf(" %s;\n", json_string_value(reason));
        }
    }
    return call_finish_output();
}

int cmd_jobs_run(struct call *call)
{
    struct listing listing = {NULL, NULL};
    struct connect *connect;
    struct err err;
    int status;
    for (int i = 0; i < call->n_operands; i++) {
        if (!job_operand_is_valid(call->operands[i])) {
            return call_misuse(call, "'%s' is no job id, expected a number",
                               call->operands[i]);
        }
    }
    if (connect_new(call, &connect, &err) != 0) {
        return call_fail_err(&err);
    }
    status = fetch(call, connect, &listing);
    if (status == CALL_OK && call_has(call, "-J")) {
        listing_filter(&listing, is_named, call_value(call, "-J"));
    }
    if (status == CALL_OK && call_has(call, "-app")) {
        listing_filter(&listing, is_of_application, call_value(call, "-app"));
    }
    if (status == CALL_OK && call_has(call, "-G")) {
        listing_filter(&listing, is_of_group, call_value(call, "-G"));
    }
    if (status == CALL_OK && call_has(call, "-p")) {
        listing_filter(&listing, is_waiting, NULL);
    }
    bool is_plain = !call_has(call, "--json") && !call_has(call, "-o") &&
                    !call_has(call, "-l") && !call_has(call, "--sort");
    if (status == CALL_OK && call_has(call, "-p") && is_plain) {
        status = show_waiting(call, &listing);
    } else if (status == CALL_OK) {
        status =
            listing_show(call, &listing,
                         call_has(call, "-p") ? &columns_jobs_waiting : &columns_jobs);
    }
    listing_free(&listing);
    connect_free(connect);
    return status;
}
