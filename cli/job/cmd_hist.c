/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_hist.c: `sublet hist`: the history of jobs, also of ended ones: the time in each
 * state, and with -l each event with its time, hosts and reason. Source:
 * docs/design/interfaces.md "Command line"; LSF's bhist. */
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/listing/listing.h"
#include "model/msg.h"

const struct call_option cmd_hist_options[] = {
    {"-l", NULL, "each event", false},
    {"-a", NULL, "the ended ones too", false},
    {"-d", NULL, "the ended ones only", false},
    {"-u", "USER", "of this user; all: of everyone", false},
    {NULL, NULL, NULL, false},
};

static const char *text_of(const json_t *row, const char *key)
{
    const char *text = json_string_value(json_object_get(row, key));
    return text != NULL ? text : "";
}

static bool is_ended(const json_t *row, const void *unused)
{
    const char *state = text_of(row, "state");
    (void)unused;
    return strcmp(state, "DONE") == 0 || strcmp(state, "EXIT") == 0;
}

/* ---- -l, as bhist -l */

static void print_hosts(struct arena *arena, const json_t *event)
{
    json_t *hosts = json_object_get(event, "hosts");
    if (json_is_object(hosts)) {
        printf(" <%s>", format_hosts(arena, hosts));
    }
}

static void print_reason(const json_t *event, const char *joint)
{
    const char *reason = text_of(event, "reason");
    if (reason[0] != '\0') {
        printf("%s%s", joint, reason);
    }
}

/* Prints the reason unless the exit code implies it. */
static void print_end_reason(const json_t *event)
{
    static const char known[] = "exited with code ";
    const char *reason = text_of(event, "reason");
    if (strncmp(reason, known, strlen(known)) == 0) {
        reason += strcspn(reason, ";");
        printf("%s", reason);
    } else if (reason[0] != '\0') {
        printf(": %s", reason);
    }
}

static void print_end(struct arena *arena, const json_t *row, const json_t *event)
{
    json_t *code = json_object_get(event, "exit_code");
    json_t *cpu = json_object_get(row, "cpu_s");
    if (strcmp(text_of(event, "state"), "DONE") == 0) {
        printf("Done successfully");
    } else if (json_is_integer(code)) {
        printf("Exited with exit code %" JSON_INTEGER_FORMAT, json_integer_value(code));
    } else {
        printf("Exited");
    }
    print_end_reason(event);
    if (json_number_value(cpu) > 0) {
        printf(". The CPU time used is %s seconds", format_plain(arena, cpu));
    }
}

/* The end of a run whose job was requeued. */
static void print_run_end(const json_t *event)
{
    json_t *code = json_object_get(event, "exit_code");
    printf("Its run ended");
    if (json_is_integer(code)) {
        printf(" with exit code %" JSON_INTEGER_FORMAT, json_integer_value(code));
    }
    print_reason(event, ": ");
}

/* Admission by the provider; at the provider: of a consumer's job. */
static void print_accept(struct arena *arena, const json_t *row, const json_t *event)
{
    bool is_guest = strchr(text_of(row, "id"), '@') != NULL;
    printf("%s <%s>", is_guest ? "Came by lease" : "Accepted by the provider, lease",
           text_of(event, "lease"));
    if (is_guest) {
        printf(", hosts");
        print_hosts(arena, event);
    }
}

static void print_event(struct arena *arena, const json_t *row, const json_t *event)
{
    static const struct {
        const char *event, *text;
        bool has_hosts, is_quoted;
    } texts[] = {
        {"submit", "Submitted to queue", false, false},
        {"dispatch", "Dispatched to", true, false},
        {"start", "Started on", true, false},
        {"suspend", "Suspended", false, false},
        {"resume", "Resumed", false, false},
        {"kill", "Termination is requested", false, false},
        {"requeue", "Waits again", false, false},
        {"resize", "Resized to", true, false},
        {"switch", "Switched to queue", false, true},
        {"modify", "Parameters of Job are changed, queue", false, true},
        {"move", "Moved", false, false},
        {"unknown", "Its state is unknown", false, false},
        {"known", "Its state is known again", false, false},
    };
    const char *what = text_of(event, "event");
    printf("%s: ", format_time(arena, json_object_get(event, "at")));
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (strcmp(texts[i].event, what) != 0) {
            continue;
        }
        printf("%s", texts[i].text);
        if (strcmp(what, "submit") == 0) {
            printf(" <%s>", text_of(row, "queue"));
        }
        if (texts[i].has_hosts) {
            print_hosts(arena, event);
        }
        if (text_of(event, "lease")[0] != '\0') {
            printf(", lease <%s>", text_of(event, "lease"));
        }
        if (texts[i].is_quoted) {
            printf(" <%s>", text_of(event, "reason"));
        } else {
            print_reason(event, ": ");
        }
    }
    if (strcmp(what, "run_end") == 0) {
        print_run_end(event);
    } else if (strcmp(what, "end") == 0) {
        print_end(arena, row, event);
    } else if (strcmp(what, "accept") == 0) {
        print_accept(arena, row, event);
    }
    printf(";\n");
}

static const struct column times_table[] = {
    {"PEND", "pend_s", false, format_plain},
    {"PSUSP", "psusp_s", false, format_plain},
    {"RUN", "run_s", false, format_plain},
    {"USUSP", "ususp_s", false, format_plain},
    {"SSUSP", "ssusp_s", false, format_plain},
    {"UNKWN", "unkwn_s", false, format_plain},
    {"TOTAL", "total_s", false, format_plain},
    {NULL, NULL, false, NULL},
};

static void print_life(struct arena *arena, json_t *row)
{
    size_t at;
    json_t *event, *alone = json_array();
    printf("Job <%s>", format_plain(arena, json_object_get(row, "id")));
    printf(", Job Name <%s>, User <%s>", text_of(row, "name"), text_of(row, "user"));
    if (text_of(row, "project")[0] != '\0') {
        printf(", Project <%s>", text_of(row, "project"));
    }
    printf(", Queue <%s>, Command <%s>\n", text_of(row, "queue"),
           text_of(row, "command"));
    json_array_foreach(json_object_get(row, "events"), at, event)
    {
        print_event(arena, row, event);
    }
    printf("\nSeconds spent in each state:\n");
    json_array_append(alone, row);
    table_print(arena, times_table, alone, true);
    json_decref(alone);
}

static int print_lives(struct call *call, const struct listing *listing)
{
    size_t at;
    json_t *row;
    json_array_foreach(listing->rows, at, row)
    {
        if (at > 0) {
            printf("------------------------------------------------------------\n");
        }
        print_life(&call->arena, row);
    }
    if (json_array_size(listing->rows) == 0) {
        call_say("%s", columns_hist.nothing);
    }
    return call_finish_output();
}

/* ---- */

int cmd_hist_run(struct call *call)
{
    struct listing listing = {0};
    struct msg_query query = listing_query(QUERY_HIST);
    query.with_ended =
        call_has(call, "-a") || call_has(call, "-d") || call->n_operands > 0;
    query.user = listing_user(call, call->n_operands > 0);
    int status = listing_gather(call, &query, "job", &listing);
    if (status == CALL_OK && call_has(call, "-d")) {
        listing_filter(&listing, is_ended, NULL);
    }
    if (status == CALL_OK) {
        bool is_long =
            call_has(call, "-l") && !call_has(call, "--json") && !call_has(call, "-o");
        status = is_long ? print_lives(call, &listing)
                         : listing_show(call, &listing, &columns_hist);
    }
    listing_free(&listing);
    return status;
}
