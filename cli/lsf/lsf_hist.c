/* SPDX-License-Identifier: Apache-2.0 */
/* lsf_hist.c: bhist and bacct, from the history of jobs. Source: LSF's bhist, bacct. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/lsf/lsf.h"

/* ---- which jobs */

static bool is_state(const json_t *row, const char *states)
{
    return strstr(states, lsf_format_get(row, "state")) != NULL;
}

static bool is_wanted(const json_t *row, const void *arg)
{
    static const struct {
        const char *option, *states;
    } choices[] = {{"-p", "PEND PSUSP"},
                   {"-r", "RUN UNKWN"},
                   {"-s", "PSUSP SSUSP USUSP"},
                   {"-d", "DONE EXIT"},
                   {"-e", "EXIT"}};
    const struct call *call = arg;
    bool has_choice = false, is_chosen = false;
    for (size_t i = 0; i < sizeof(choices) / sizeof(choices[0]); i++) {
        if (call_has(call, choices[i].option)) {
            has_choice = true;
            is_chosen = is_chosen || is_state(row, choices[i].states);
        }
    }
    return !has_choice || is_chosen || call_has(call, "-a");
}

static bool has_name(const json_t *row, const void *arg)
{
    static const struct {
        const char *option, *key;
    } names[] = {{"-q", "queue"}, {"-P", "project"}, {"-J", "name"}};
    const struct call *call = arg;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *wanted = call_value(call, names[i].option);
        const char *text = lsf_format_get(row, names[i].key);
        size_t length = wanted != NULL ? strlen(wanted) : 0;
        if (wanted != NULL && (strncmp(text, wanted, length) != 0 ||
                               (text[length] != '\0' && text[length] != '['))) {
            return false;
        }
    }
    return true;
}

/* -m: one of its runs was dispatched there. */
static bool has_run_on(const json_t *row, const void *host)
{
    const json_t *event;
    size_t i;
    json_array_foreach(json_object_get(row, "events"), i, event)
    {
        if (json_object_get(json_object_get(event, "hosts"), host) != NULL) {
            return true;
        }
    }
    return false;
}

/* -C, -S and -D. False if the option's value cannot be read. */
static bool is_in_time(const struct call *call, const json_t *row, bool *is_valid)
{
    static const struct {
        const char *option, *key;
    } spans[] = {{"-C", "end_at"}, {"-S", "submit_at"}, {"-D", "start_at"}};
    for (size_t i = 0; i < sizeof(spans) / sizeof(spans[0]); i++) {
        const char *span = call_value(call, spans[i].option);
        if (span != NULL &&
            !lsf_format_is_within(span, lsf_format_instant(row, spans[i].key),
                                  is_valid)) {
            return false;
        }
    }
    return true;
}

static int refuse_times(const struct call *call)
{
    call_fail("%s: expected times as [[YEAR/]MONTH/]DAY/HOUR:MINUTE",
              call->command->name);
    return LSF_FAILED;
}

/* One query for each id, or one for all. */
static int gather(struct call *call, bool with_ended, struct listing *listing)
{
    struct msg_query query = listing_query(QUERY_HIST);
    query.with_ended = with_ended || call->n_operands > 0;
    query.user = listing_user(call, call->n_operands > 0);
    int status = listing_gather(call, &query, "Job", listing);
    if (status == CALL_OK) {
        listing_filter(listing, has_name, call);
        if (call_has(call, "-m")) {
            listing_filter(listing, has_run_on, call_value(call, "-m"));
        }
    }
    return status;
}

/* ---- bhist */

static bool has_times(const struct call *call)
{
    return call_has(call, "-C") || call_has(call, "-S") || call_has(call, "-D");
}

static int show(struct call *call, const json_t *rows)
{
    bool is_any = json_array_size(rows) > 0;
    if (call_has(call, "-t") && is_any) {
        return lsf_event_times(call, rows);
    }
    if ((call_has(call, "-l") || call_has(call, "-UF")) && is_any) {
        return lsf_event_lives(call, rows);
    }
    if (is_any) {
        printf("Summary of time in seconds spent in various states:\n");
    }
    return lsf_print_rows(call, &lsf_fields_hist, rows);
}

int lsf_hist_run(struct call *call)
{
    struct listing listing = {0};
    bool is_valid = true;
    bool with_ended = call_has(call, "-a") || call_has(call, "-d") ||
                      call_has(call, "-e") || call_has(call, "-t") || has_times(call);
    int status = gather(call, with_ended, &listing);
    if (status == CALL_OK) {
        listing_filter(&listing, is_wanted, call);
        for (size_t i = json_array_size(listing.rows); i-- > 0;) {
            if (!is_in_time(call, json_array_get(listing.rows, i), &is_valid)) {
                json_array_remove(listing.rows, i);
            }
        }
        status = is_valid ? show(call, listing.rows) : refuse_times(call);
    }
    listing_free(&listing);
    return status;
}

/* ---- bacct */

/* One measure of jobs. */
struct measure {
    double sum, most, least;
    int count;
};

static void take(struct measure *measure, double value)
{
    measure->sum += value;
    measure->most = measure->count == 0 ? value : fmax(measure->most, value);
    measure->least = measure->count == 0 ? value : fmin(measure->least, value);
    measure->count++;
}

static double average(const struct measure *measure)
{
    return measure->count > 0 ? measure->sum / measure->count : 0;
}

struct account {
    struct measure cpu, wait, turnaround, hog, expansion, run;
    int n_done, n_exit;
    int64_t first, last; /* when the first and the last one ended */
};

static double number_of(const json_t *row, const char *key)
{
    return json_number_value(json_object_get(row, key));
}

static double hog_of(double cpu, double turnaround)
{
    return turnaround > 0 ? cpu / turnaround : 0;
}

static void add_job(struct account *account, const json_t *row)
{
    double cpu = number_of(row, "cpu_s"), run = number_of(row, "run_s");
    double wait = number_of(row, "pend_s") + number_of(row, "psusp_s");
    double turnaround = number_of(row, "total_s");
    int64_t end = lsf_format_instant(row, "end_at");
    account->n_done += is_state(row, "DONE");
    account->n_exit += is_state(row, "EXIT");
    take(&account->cpu, cpu);
    take(&account->wait, wait);
    take(&account->turnaround, turnaround);
    take(&account->hog, hog_of(cpu, turnaround));
    take(&account->expansion, run > 0 ? turnaround / run : 0);
    take(&account->run, run);
    account->first = account->first == 0 || end < account->first ? end : account->first;
    account->last = end > account->last ? end : account->last;
}

static void print_pair(const char *what, const struct measure *measure, int decimals)
{
    printf(" Maximum %s:%*.*f      Minimum %s:%*.*f\n", what, (int)(26 - strlen(what)),
           decimals, measure->most, what, (int)(26 - strlen(what)), decimals,
           measure->least);
}

static void print_summary(struct arena *arena, const struct account *account)
{
    double hours = (double)(account->last - account->first) / 3600;
    int count = account->n_done + account->n_exit;
    printf("\nSUMMARY:      ( time unit: second ) \n");
    printf(" Total number of done jobs:%8d      Total number of exited jobs:%6d\n",
           account->n_done, account->n_exit);
    printf(" Total CPU time consumed:%10.1f      Average CPU time consumed:%8.1f\n",
           account->cpu.sum, average(&account->cpu));
    print_pair("CPU time of a job", &account->cpu, 1);
    printf(" Total wait time in queues:%8.1f\n", account->wait.sum);
    printf(" Average wait time in queue:%7.1f\n", average(&account->wait));
    print_pair("wait time in queue", &account->wait, 1);
    printf(" Average turnaround time:%10.0f (seconds/job)\n",
           average(&account->turnaround));
    print_pair("turnaround time", &account->turnaround, 0);
    printf(" Average hog factor of a job:%6.2f ( cpu time / turnaround time )\n",
           average(&account->hog));
    print_pair("hog factor of a job", &account->hog, 2);
    printf(" Average expansion factor of a job:%5.2f ( turnaround time / run time )\n",
           average(&account->expansion));
    print_pair("expansion factor of a job", &account->expansion, 2);
    printf(" Total Run time consumed:%10.0f      Average Run time consumed:%8.0f\n",
           account->run.sum, average(&account->run));
    print_pair("Run time of a job", &account->run, 0);
    if (count > 0) {
        printf(" Total throughput:%17.2f (jobs/hour)  during%9.2f hours\n",
               hours > 0 ? count / hours : 0.0, hours);
        printf(" Beginning time:       %-20s Ending time:       %s\n",
               lsf_format_long_time(arena, account->first),
               lsf_format_long_time(arena, account->last));
    }
}

static void print_job(struct call *call, struct arena *arena, const json_t *row)
{
    double cpu = number_of(row, "cpu_s"), turnaround = number_of(row, "total_s");
    lsf_print_separator();
    putchar('\n');
    lsf_print_paragraph(
        call, arena_printf(arena,
                           "Job <%s>, Job Name <%s>, User <%s>, Project <%s>, Status "
                           "<%s>, Queue <%s>, Command <%s>",
                           lsf_format_plain(arena, row, "id"),
                           lsf_format_get(row, "name"), lsf_format_get(row, "user"),
                           lsf_format_get(row, "project")[0] != '\0'
                               ? lsf_format_get(row, "project")
                               : "default",
                           lsf_format_get(row, "state"), lsf_format_get(row, "queue"),
                           lsf_format_get(row, "command")));
    printf("%s: Completed <%s>.\n",
           lsf_format_long_time(arena, lsf_format_instant(row, "end_at")),
           is_state(row, "DONE") ? "done" : "exit");
    printf("\nAccounting information about this job:\n"
           "     CPU_T     WAIT     TURNAROUND   STATUS     HOG_FACTOR    MEM    SWAP\n"
           "%10.2f%9.0f%15.0f     %-4s%15.4f      -       -\n",
           cpu, number_of(row, "pend_s") + number_of(row, "psusp_s"), turnaround,
           is_state(row, "DONE") ? "done" : "exit", hog_of(cpu, turnaround));
}

static void print_heading(struct call *call)
{
    const char *queue = call_value(call, "-q"), *project = call_value(call, "-P");
    const char *host = call_value(call, "-m");
    const char *user = listing_user(call, call->n_operands > 0);
    printf("\nAccounting information about jobs that are: \n");
    printf("  - submitted by %s%s, \n", user[0] != '\0' ? "users " : "all users", user);
    printf("  - accounted on %s%s.\n", project != NULL ? "project " : "all projects",
           project != NULL ? project : "");
    printf("  - completed normally or exited\n");
    printf("  - executed on %s%s.\n", host != NULL ? "host " : "all hosts",
           host != NULL ? host : "");
    printf("  - submitted to %s%s.\n", queue != NULL ? "queue " : "all queues",
           queue != NULL ? queue : "");
    printf("  - accounted on all service classes.\n");
    lsf_print_separator();
}

int lsf_hist_account(struct call *call)
{
    struct listing listing = {0};
    struct account account = {.n_done = 0};
    bool is_long = call_has(call, "-l") || call_has(call, "-UF"), is_valid = true;
    const json_t *row;
    size_t i;
    int status = gather(call, true, &listing);
    if (status != CALL_OK) {
        listing_free(&listing);
        return status;
    }
    print_heading(call);
    json_array_foreach(listing.rows, i, row)
    {
        bool is_kind = (!call_has(call, "-d") && !call_has(call, "-e")) ||
                       (call_has(call, "-d") && is_state(row, "DONE")) ||
                       (call_has(call, "-e") && is_state(row, "EXIT"));
        if (is_state(row, "DONE EXIT") && is_kind && is_in_time(call, row, &is_valid)) {
            add_job(&account, row);
            if (is_long) {
                print_job(call, &call->arena, row);
            }
        }
    }
    print_summary(&call->arena, &account);
    listing_free(&listing);
    status = call_finish_output();
    return is_valid ? status : refuse_times(call);
}
