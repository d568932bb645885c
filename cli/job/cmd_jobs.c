/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_jobs.c: `sublet jobs`: the caller's unfinished jobs, or those selected.
 * Source: docs/design/interfaces.md "Command line"; LSF's bjobs. */
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/job_operand.h"
#include "cli/listing/listing.h"
#include "model/msg.h"
#include "site/job/job_group.h"

const struct call_option cmd_jobs_options[] = {
    {"-u", "USER", "of this user; all: of everyone", false},
    {"-q", "QUEUE", "of this queue", false},
    {"-m", "HOST", "on this host", false},
    {"-a", NULL, "the ended ones too", false},
    {"-p", NULL, "the waiting ones only", false},
    {"-J", "NAME", "of this name; of an array all elements", false},
    {"-app", "PROFILE", "of this application profile", false},
    {"-g", "GROUP", "of this job group and those below it; GROUP/: of it alone", false},
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

static bool has_text(const json_t *row, const char *key, const char *text)
{
    const char *found = json_string_value(json_object_get(row, key));
    return found != NULL && strcmp(found, text) == 0;
}

static bool is_of_application(const json_t *row, const void *name)
{
    return has_text(row, "app", name);
}

static bool is_of_group(const json_t *row, const void *name)
{
    return has_text(row, "user_group", name);
}

static bool is_in_job_group(const json_t *row, const void *group)
{
    const char *path = json_string_value(json_object_get(row, "job_group"));
    return path != NULL && job_group_contains(group, path);
}

static bool is_waiting(const json_t *row, const void *unused)
{
    (void)unused;
    return has_text(row, "state", "PEND") || has_text(row, "state", "PSUSP");
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
               table_pad(arena, format_plain(arena, json_object_get(row, "user")), 8),
               format_plain(arena, json_object_get(row, "state")),
               format_plain(arena, json_object_get(row, "queue")),
               format_plain(arena, json_object_get(row, "slots")),
               table_pad(arena, format_plain(arena, json_object_get(row, "name")), 12),
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
    static const struct {
        const char *option;
        listing_keep_fn keep;
    } filters[] = {{"-J", is_named},
                   {"-app", is_of_application},
                   {"-G", is_of_group},
                   {"-g", is_in_job_group},
                   {"-p", is_waiting}};
    struct listing listing = {0};
    struct msg_query query = listing_query(QUERY_JOBS);
    for (int i = 0; i < call->n_operands; i++) {
        if (!job_operand_is_valid(call->operands[i])) {
            return call_misuse(call, "'%s' is not a job id, expected a number",
                               call->operands[i]);
        }
    }
    query.user = listing_user(call, call->n_operands > 0 || call_has(call, "-J"));
    query.queue = call_text(call, "-q");
    query.host = call_text(call, "-m");
    query.with_ended = call_has(call, "-a") || call->n_operands > 0;
    int status = listing_gather(call, &query, "job", &listing);
    for (size_t i = 0; i < sizeof(filters) / sizeof(filters[0]); i++) {
        if (call_has(call, filters[i].option)) {
            listing_filter(&listing, filters[i].keep,
                           call_value(call, filters[i].option));
        }
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
    return status;
}
