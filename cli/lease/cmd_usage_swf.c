/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_usage_swf.c: see cmd_usage_swf.h. */
#include "cli/lease/cmd_usage_swf.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/listing/format.h"
#include "cli/listing/listing.h"
#include "model/usage_ask.h"

enum status { STATUS_FAILED = 0, STATUS_COMPLETED = 1, STATUS_CANCELLED = 5 };

struct swf_row {
    const json_t *job;
    const char *lease; /* of its last run; "": own hosts */
    int64_t submit_s, start_s, end_s;
    int64_t n_allocated;
    bool has_run, is_killed;
    size_t place;
};

struct trace {
    struct call *call;
    const struct msg_query *asked;
    int64_t from_ms, to_ms;
    struct swf_row *rows;
    size_t count;
    json_t *users, *queues, *leases; /* the number of each name */
};

static const char *text_of(const json_t *row, const char *key)
{
    const char *text = json_string_value(json_object_get(row, key));
    return text != NULL ? text : "";
}

/* -1: not known. */
static int64_t seconds_of(const json_t *row, const char *key)
{
    int64_t at_ms;
    return format_read_instant(text_of(row, key), &at_ms) ? at_ms / 1000 : -1;
}

static int64_t slots_of(const json_t *row)
{
    const json_t *slots = json_object_get(row, "slots");
    return json_is_integer(slots) ? json_integer_value(slots) : -1;
}

/* ---------------------------------------------------------------- which jobs */

/* The slots of all hosts of the event; -1: some of them are not listed. */
static int64_t allocated_by(const json_t *event)
{
    int64_t sum = 0;
    const char *host;
    json_t *n_slots, *hosts = json_object_get(event, "hosts");
    if ((json_int_t)json_object_size(hosts) !=
        json_integer_value(json_object_get(event, "n_hosts"))) {
        return -1;
    }
    json_object_foreach(hosts, host, n_slots)
    {
        sum += json_integer_value(n_slots);
    }
    return sum > 0 ? sum : -1;
}

static void read_events(struct swf_row *row)
{
    size_t at;
    json_t *event;
    row->n_allocated = slots_of(row->job);
    row->lease = "";
    json_array_foreach(json_object_get(row->job, "events"), at, event)
    {
        const char *name = text_of(event, "event");
        bool is_start = strcmp(name, "start") == 0;
        if (is_start || strcmp(name, "resize") == 0) {
            int64_t n_slots = allocated_by(event);
            row->n_allocated = n_slots > 0 ? n_slots : row->n_allocated;
        }
        row->lease = is_start ? text_of(event, "lease") : row->lease;
        row->is_killed = row->is_killed || strcmp(name, "kill") == 0;
    }
}

static bool equals(const char *wanted, const char *text)
{
    return wanted[0] == '\0' || strcmp(wanted, text) == 0;
}

static bool is_on_lease(const struct call *call, const char *lease)
{
    bool is_named = call->n_operands == 0;
    for (int i = 0; i < call->n_operands; i++) {
        is_named = is_named || strcmp(call->operands[i], lease) == 0;
    }
    return is_named;
}

/* A consumer's job ("12@south") is in the trace of the consumer. */
static bool is_wanted(const struct trace *out, const struct swf_row *row)
{
    const char *project = text_of(row->job, "project");
    const char *state = text_of(row->job, "state");
    int64_t end_ms = row->end_s * 1000;
    return (strcmp(state, "DONE") == 0 || strcmp(state, "EXIT") == 0) &&
           strchr(text_of(row->job, "id"), '@') == NULL && row->submit_s >= 0 &&
           end_ms >= out->from_ms && end_ms < out->to_ms &&
           equals(out->asked->user, text_of(row->job, "user")) &&
           equals(out->asked->queue, text_of(row->job, "queue")) &&
           equals(out->asked->project, project[0] != '\0' ? project : "default") &&
           is_on_lease(out->call, row->lease);
}

static void add_job(struct trace *out, const json_t *job)
{
    struct swf_row row = {.job = job,
                          .submit_s = seconds_of(job, "submit_at"),
                          .start_s = seconds_of(job, "start_at"),
                          .end_s = seconds_of(job, "end_at"),
                          .place = out->count};
    row.has_run = row.start_s >= 0;
    read_events(&row);
    if (is_wanted(out, &row)) {
        out->rows[out->count++] = row;
    }
}

static int compare(const void *left, const void *right)
{
    const struct swf_row *a = left, *b = right;
    if (a->submit_s != b->submit_s) {
        return a->submit_s < b->submit_s ? -1 : 1;
    }
    return a->place < b->place ? -1 : 1;
}

/* ---------------------------------------------------------------- lines */

/* 1 for the first name, and so on. */
static int64_t number_of(json_t *names, const char *name)
{
    json_t *number = json_object_get(names, name);
    if (number == NULL) {
        number = json_integer((json_int_t)json_object_size(names) + 1);
        json_object_set_new(names, name, number);
    }
    return json_integer_value(number);
}

static enum status status_of(const struct swf_row *row)
{
    return strcmp(text_of(row->job, "state"), "DONE") == 0 ? STATUS_COMPLETED
           : row->is_killed || !row->has_run               ? STATUS_CANCELLED
                                                           : STATUS_FAILED;
}

/* A job that ran has run for a second at least: one of 0 seconds counts as one that
 * never ran. */
static int64_t run_of(const struct swf_row *row)
{
    int64_t run_s = row->end_s - row->start_s;
    return !row->has_run ? -1 : run_s < 1 ? 1 : run_s;
}

static int64_t cpu_of(const struct swf_row *row)
{
    const json_t *cpu = json_object_get(row->job, "cpu_s");
    return row->has_run && json_is_number(cpu) && row->n_allocated > 0
               ? llround(json_number_value(cpu) / (double)row->n_allocated)
               : -1;
}

static void print_row(const struct trace *out, size_t at)
{
    const struct swf_row *row = &out->rows[at];
    int64_t until_s = row->has_run ? row->start_s : row->end_s;
    printf("%zu %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " -1 %" PRId64
           " -1 -1 %d %" PRId64 " -1 -1 %" PRId64 " %" PRId64 " -1 -1\n",
           at + 1, row->submit_s - out->rows[0].submit_s, until_s - row->submit_s,
           run_of(row), row->has_run ? row->n_allocated : -1, cpu_of(row),
           slots_of(row->job), status_of(row),
           number_of(out->users, text_of(row->job, "user")),
           number_of(out->queues, text_of(row->job, "queue")),
           row->has_run ? number_of(out->leases, row->lease) : -1);
}

static void print_time(const char *key, int64_t at_s)
{
    char text[64];
    struct tm utc;
    time_t at = (time_t)at_s;
    if (gmtime_r(&at, &utc) != NULL &&
        strftime(text, sizeof(text), "%a %b %d %H:%M:%S UTC %Y", &utc) > 0) {
        printf("; %s: %s\n", key, text);
    }
}

static void print_header(const struct trace *out)
{
    const char *name;
    json_t *number;
    int64_t last_s = out->rows[0].end_s;
    for (size_t i = 0; i < out->count; i++) {
        last_s = out->rows[i].end_s > last_s ? out->rows[i].end_s : last_s;
        number_of(out->queues, text_of(out->rows[i].job, "queue"));
        if (out->rows[i].has_run) {
            number_of(out->leases, out->rows[i].lease);
        }
    }
    printf("; Version: 2.2\n; MaxJobs: %zu\n; MaxRecords: %zu\n", out->count,
           out->count);
    printf("; UnixStartTime: %" PRId64 "\n; TimeZoneString: UTC\n",
           out->rows[0].submit_s);
    print_time("StartTime", out->rows[0].submit_s);
    print_time("EndTime", last_s);
    json_object_foreach(out->queues, name, number)
    {
        printf("; Queue: %" JSON_INTEGER_FORMAT " %s\n", json_integer_value(number),
               name);
    }
    json_object_foreach(out->leases, name, number)
    {
        printf("; Partition: %" JSON_INTEGER_FORMAT " %s\n", json_integer_value(number),
               name[0] != '\0' ? name : "own hosts");
    }
}

static int print_trace(struct trace *out)
{
    if (out->count == 0) {
        call_say("no job ended in this period");
        return CALL_OK;
    }
    qsort(out->rows, out->count, sizeof(*out->rows), compare);
    print_header(out);
    for (size_t i = 0; i < out->count; i++) {
        print_row(out, i);
    }
    return call_finish_output();
}

int cmd_usage_swf_run(struct call *call, const struct msg_query *asked)
{
    struct listing listing = {0};
    struct trace out = {.call = call, .asked = asked};
    struct msg_query query = listing_query(QUERY_HIST);
    size_t at;
    json_t *job;
    query.with_ended = true;
    usage_ask_period(asked, (int64_t)time(NULL) * 1000 + 1000, &out.from_ms,
                     &out.to_ms);
    int status = listing_get(call, &query, &listing);
    if (status == CALL_OK) {
        out.rows =
            arena_alloc(&call->arena, json_array_size(listing.rows), sizeof(*out.rows));
        out.users = json_object();
        out.queues = json_object();
        out.leases = json_object();
        json_array_foreach(listing.rows, at, job)
        {
            add_job(&out, job);
        }
        status = print_trace(&out);
    }
    json_decref(out.users);
    json_decref(out.queues);
    json_decref(out.leases);
    listing_free(&listing);
    return status;
}
