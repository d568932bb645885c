/* SPDX-License-Identifier: Apache-2.0 */
/* lsf_jobs.c: bjobs. Source: LSF's bjobs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/lsf/lsf.h"

static const char wide_layout[] =
    "jobid:=7 user stat queue:10 from_host exec_host job_name submit_time:=12 "
    "proj_name:10 w_cpu mem:7 swap:7 pids start_time:=15 finish_time:=15 slots";
static const char priority_layout[] =
    "jobid:=7 user stat queue:10 from_host exec_host job_name submit_time:=12 "
    "job_priority:=12";
static const char array_layout[] =
    "jobid:=8 a_spec:11 a_owner:7 a_njobs:-5 a_pend:-4 a_done:-4 a_run:-4 a_exit:-4 "
    "a_ssusp:-5 a_ususp:-5 a_psusp:-5";

/* ---- what LSF shows and the site has in other words */

static void set_text(json_t *row, const char *key, const char *text)
{
    json_object_set_new(row, key, json_string(text));
}

/* Held, or waiting for another job, a time or an administrator: not for slots. */
static bool is_ineligible(const json_t *row)
{
    static const char words[] =
        " dependency dependency_never begin_time new_job_delay retry queue_gone "
        "doubted ";
    const char *word = lsf_format_get(row, "pending");
    size_t length = strlen(word);
    for (const char *at = strstr(words, word); at != NULL && length > 0;
         at = strstr(at + 1, word)) {
        if (at > words && at[-1] == ' ' && at[length] == ' ') {
            return true;
        }
    }
    return strcmp(lsf_format_get(row, "state"), "PSUSP") == 0;
}

/* With -X the hosts of condensed groups are shown. */
static void add_exec_hosts(json_t *row, bool is_condensed)
{
    json_t *shown = json_object_get(row, "condensed_hosts");
    bool has_group = is_condensed && json_is_object(shown);
    json_object_set(row, "exec_hosts",
                    has_group ? shown : json_object_get(row, "hosts"));
}

static void annotate(struct arena *arena, json_t *row)
{
    const char *state = lsf_format_get(row, "state");
    int64_t submitted = lsf_format_instant(row, "submit_at");
    int64_t started = lsf_format_instant(row, "start_at");
    bool waits = strcmp(state, "PEND") == 0 || strcmp(state, "PSUSP") == 0;
    if (json_is_integer(json_object_get(row, "n_hosts"))) {
        json_object_set(row, "slots_allocated", json_object_get(row, "slots"));
        json_object_set(row, "exec_cwd", json_object_get(row, "cwd"));
    }
    if (!json_is_number(json_object_get(row, "rss_kib"))) {
        json_object_set(row, "rss_kib", json_object_get(row, "mem_kib"));
    }
    if (started >= submitted || waits) {
        int64_t until = waits ? (int64_t)time(NULL) : started;
        json_object_set_new(row, "pend_s", json_integer(until - submitted));
    }
    if (strcmp(state, "EXIT") == 0) {
        json_object_set(row, "exit_reason", json_object_get(row, "reason"));
    }
    set_text(row, "pend_state", !waits ? "" : is_ineligible(row) ? "IPEND" : "EPEND");
    json_t *reason = json_array_get(json_object_get(row, "pending_reasons"), 0);
    if (reason != NULL) {
        json_object_set(row, "pend_reason", reason);
    }
    double cpu = json_number_value(json_object_get(row, "cpu_s"));
    set_text(row, "cpu_clock",
             arena_printf(arena, "%03d:%02d:%05.2f", (int)cpu / 3600,
                          (int)cpu / 60 % 60, cpu - (int)cpu / 60 * 60));
}

/* ---- which states */

static bool has_state(const json_t *row, const void *arg)
{
    static const struct {
        const char *option, *states;
    } choices[] = {
        {"-p", "PEND PSUSP"},  {"-psum", "PEND PSUSP"},     {"-pe", "PEND PSUSP"},
        {"-pi", "PEND PSUSP"}, {"-pei", "PEND PSUSP"},      {"-plan", "PEND"},
        {"-r", "RUN UNKWN"},   {"-s", "PSUSP SSUSP USUSP"}, {"-d", "DONE EXIT"}};
    const struct call *call = arg;
    const char *state = lsf_format_get(row, "state");
    bool has_choice = false, is_chosen = false;
    for (size_t i = 0; i < sizeof(choices) / sizeof(choices[0]); i++) {
        if (call_has(call, choices[i].option)) {
            has_choice = true;
            is_chosen = is_chosen || strstr(choices[i].states, state) != NULL;
        }
    }
    return !has_choice || is_chosen || call_has(call, "-a");
}

/* ---- -pe, -pi, -plan and -rusage */

static bool has_pend_state(const json_t *row, const void *word)
{
    return strcmp(lsf_format_get(row, "pend_state"), word) == 0;
}

static bool is_planned(const json_t *row, const void *unused)
{
    (void)unused;
    return json_is_string(json_object_get(row, "start_estimate")) ||
           json_is_integer(json_object_get(row, "reserved_slots"));
}

/* The name is a word of a rusage section of the requirements. */
static bool reserves(const char *string, const char *name, size_t length)
{
    const char *at = string;
    while ((at = strstr(at, "rusage[")) != NULL) {
        const char *end = at + strcspn(at, "]");
        for (at += strlen("rusage["); at < end; at++) {
            size_t n = strcspn(at, "=:,| ]");
            if (n == length && strncmp(at, name, n) == 0) {
                return true;
            }
            at += n;
        }
    }
    return false;
}

static bool reserves_any(const json_t *row, const void *names)
{
    const char *at = names, *string = lsf_format_get(row, "resreq");
    while (*(at += strspn(at, " ,")) != '\0') {
        size_t length = strcspn(at, " ,");
        if (reserves(string, at, length)) {
            return true;
        }
        at += length;
    }
    return false;
}

static void filter(const struct call *call, struct listing *listing)
{
    if (call_has(call, "-pe")) {
        listing_filter(listing, has_pend_state, "EPEND");
    }
    if (call_has(call, "-pi")) {
        listing_filter(listing, has_pend_state, "IPEND");
    }
    if (call_has(call, "-plan")) {
        listing_filter(listing, is_planned, NULL);
    }
    if (call_has(call, "-rusage")) {
        listing_filter(listing, reserves_any, call_value(call, "-rusage"));
    }
}

/* ---- -p and -s: each job, and why it does not run */

static void print_reasons(const json_t *row)
{
    json_t *reasons = json_object_get(row, "pending_reasons"), *reason;
    const char *why = lsf_format_get(row, "reason");
    size_t i;
    json_array_foreach(reasons, i, reason)
    {
        printf(" %s;\n", json_string_value(reason));
    }
    if (json_array_size(reasons) == 0 && why[0] != '\0') {
        printf(" %s;\n", why);
    }
}

static int show_reasons(struct call *call, const json_t *rows)
{
    json_t *row, *one = json_array();
    size_t i;
    int status = json_array_size(rows) > 0
                     ? CALL_OK
                     : lsf_print_rows(call, &lsf_fields_jobs, rows);
    json_array_foreach(rows, i, row)
    {
        json_array_append(one, row);
        status = lsf_print_rows(call, &lsf_fields_jobs, one);
        print_reasons(row);
        json_array_clear(one);
        if (i == 0) {
            lsf_line_add(call, "--noheader", "");
        }
    }
    json_decref(one);
    return status;
}

/* ---- -l */

static const char *add(struct arena *arena, const char *text, const char *label,
                       const char *value)
{
    return value[0] == '\0' ? text
                            : arena_printf(arena, "%s, %s <%s>", text, label, value);
}

static void print_head(struct call *call, struct arena *arena, const json_t *row)
{
    const char *text =
        arena_printf(arena, "Job <%s>", lsf_format_plain(arena, row, "id"));
    text = add(arena, text, "Job Name", lsf_format_get(row, "name"));
    text = add(arena, text, "User", lsf_format_get(row, "user"));
    text = add(arena, text, "Project", lsf_format_get(row, "project"));
    text = add(arena, text, "User Group", lsf_format_get(row, "user_group"));
    text = add(arena, text, "Application", lsf_format_get(row, "app"));
    text = add(arena, text, "Status", lsf_format_get(row, "state"));
    text = add(arena, text, "Queue", lsf_format_get(row, "queue"));
    text = add(arena, text, "Job Priority", lsf_format_plain(arena, row, "priority"));
    text = add(arena, text, "Job Description", lsf_format_get(row, "description"));
    text = add(arena, text, "Command", lsf_format_get(row, "command"));
    lsf_print_paragraph(call, text);
}

static void print_submission(struct call *call, struct arena *arena, const json_t *row)
{
    json_int_t slots = json_integer_value(json_object_get(row, "slots"));
    const char *text =
        arena_printf(arena, "%s: Submitted from host <%s>",
                     lsf_format_long_time(arena, lsf_format_instant(row, "submit_at")),
                     lsf_format_from_host(arena, row, ""));
    text = add(arena, text, "CWD", lsf_format_get(row, "cwd"));
    text = add(arena, text, "Input File", lsf_format_get(row, "in_file"));
    text = add(arena, text, "Output File", lsf_format_get(row, "out_file"));
    text = add(arena, text, "Error File", lsf_format_get(row, "err_file"));
    if (json_is_true(json_object_get(row, "exclusive"))) {
        text = arena_printf(arena, "%s, Exclusive Execution", text);
    }
    if (json_is_true(json_object_get(row, "rerunnable"))) {
        text = arena_printf(arena, "%s, Re-runnable", text);
    }
    if (slots > 1) {
        text = arena_printf(arena, "%s, %lld Task(s)", text, (long long)slots);
    }
    text = add(arena, text, "Requested Resources", lsf_format_get(row, "resreq"));
    text = add(arena, text, "Dependency Condition", lsf_format_get(row, "depend"));
    text =
        add(arena, text, "Specified Hosts", lsf_format_joined(arena, row, "ask_hosts"));
    text = add(arena, text, "Specified Start Time",
               lsf_format_time(arena, row, "begin_at"));
    text = add(arena, text, "Specified Termination Time",
               lsf_format_time(arena, row, "terminate_at"));
    text =
        add(arena, text, "Requeue Exit Values", lsf_format_get(row, "requeue_codes"));
    lsf_print_paragraph(call, arena_printf(arena, "%s;", text));
}

static void print_start(struct call *call, struct arena *arena, const json_t *row)
{
    int64_t start = lsf_format_instant(row, "start_at");
    const char *hosts = lsf_format_exec_host(arena, row, "hosts");
    const char *slots = lsf_format_plain(arena, row, "slots_allocated");
    if (start < 0) {
        return;
    }
    const char *text =
        arena_printf(arena,
                     "%s: Started %s Task(s) on Host(s) <%s>, Allocated %s Slot(s) on "
                     "Host(s) <%s>",
                     lsf_format_long_time(arena, start), slots, hosts, slots, hosts);
    text = add(arena, text, "Execution CWD", lsf_format_get(row, "cwd"));
    text = add(arena, text, "Lease", lsf_format_get(row, "lease"));
    lsf_print_paragraph(call, arena_printf(arena, "%s;", text));
}

static void print_end(struct call *call, struct arena *arena, const json_t *row)
{
    int64_t end = lsf_format_instant(row, "end_at");
    const char *code = lsf_format_plain(arena, row, "exit_code");
    const char *post = lsf_format_get(row, "post_state");
    bool is_done = strcmp(lsf_format_get(row, "state"), "DONE") == 0;
    double cpu = json_number_value(json_object_get(row, "cpu_s"));
    if (end < 0) {
        return;
    }
    const char *what = is_done ? "Done successfully"
                       : code[0] == '\0'
                           ? "Exited"
                           : arena_printf(arena, "Exited with exit code %s", code);
    const char *text = arena_printf(arena, "%s: %s. The CPU time used is %.1f seconds.",
                                    lsf_format_long_time(arena, end), what, cpu);
    lsf_print_paragraph(call, text);
    if (!is_done && lsf_format_get(row, "reason")[0] != '\0') {
        lsf_print_paragraph(call, arena_printf(arena, "%s: Completed <exit>; %s.",
                                               lsf_format_long_time(arena, end),
                                               lsf_format_get(row, "reason")));
    }
    if (post[0] != '\0') {
        lsf_print_paragraph(call, arena_printf(arena, "%s: Post job process %s;",
                                               lsf_format_long_time(arena, end),
                                               strcmp(post, "POST_DONE") == 0
                                                   ? "done successfully"
                                                   : "has error"));
    }
}

/* What it uses; of a job that has ended the peak of its memory. */
static void print_usage(struct arena *arena, const json_t *row)
{
    const char *mem = lsf_format_mem(arena, row, "rss_kib");
    const char *swap = lsf_format_mem(arena, row, "vsz_kib");
    const char *peak = lsf_format_mem(arena, row, "mem_kib");
    if (swap[0] != '\0') {
        printf("%s: Resource usage collected.\n"
               "                     MEM: %s;  SWAP: %s;  NTHREAD: %s\n",
               lsf_format_long_time(arena, (int64_t)time(NULL)), mem, swap,
               lsf_format_plain(arena, row, "threads"));
    }
    if (peak[0] != '\0') {
        printf("\n MEMORY USAGE:\n MAX MEM: %s\n", peak);
    }
}

static void print_requirements(const json_t *row)
{
    const char *combined = lsf_format_get(row, "combined_resreq");
    if (combined[0] != '\0') {
        printf("\n RESOURCE REQUIREMENT DETAILS:\n Combined: %s\n Effective: %s\n",
               combined, lsf_format_get(row, "start_at")[0] != '\0' ? combined : "-");
    }
}

static void print_limits(struct arena *arena, const json_t *row)
{
    const char *run = lsf_format_limit_time(arena, row, "limits.run_s");
    const char *cpu = lsf_format_limit_time(arena, row, "limits.cpu_s");
    const char *mem = lsf_format_limit_size(arena, row, "limits.mem_kib");
    if (cpu[0] != '\0') {
        printf("\n CPULIMIT\n %s\n", cpu);
    }
    if (run[0] != '\0') {
        printf("\n RUNLIMIT\n %s\n", run);
    }
    if (mem[0] != '\0') {
        printf("\n MEMLIMIT\n %s\n", mem);
    }
}

/* A line for each element that a task has, as LSF does. */
static void print_affinity(const json_t *row)
{
    const json_t *task, *id;
    size_t i, k;
    printf(
        "\n AFFINITY:\n"
        "                     CPU BINDING                          MEMORY BINDING\n"
        "                     ------------------------             "
        "--------------------\n"
        " HOST                TYPE   LEVEL  EXCL   IDS             POL   NUMA SIZE\n");
    json_array_foreach(json_object_get(row, "affinity"), i, task)
    {
        const char *level = lsf_format_get(task, "level");
        const char *exclusive = lsf_format_get(task, "exclusive");
        const char *policy = lsf_format_get(task, "membind");
        bool is_bound = policy[0] != '\0';
        json_array_foreach(json_object_get(task, "ids"), k, id)
        {
            printf(" %-19.19s %-6s %-6s %-6s %-15s %-5.5s %-4s %s\n",
                   lsf_format_get(task, "host"), lsf_format_get(task, "type"),
                   level[0] != '\0' ? level : "-",
                   exclusive[0] != '\0' ? exclusive : "-", json_string_value(id),
                   is_bound ? policy : "-",
                   is_bound ? lsf_format_get(task, "nodes") : "-", "-");
        }
    }
}

/* A listing of many jobs does not have their processors: each job is asked for. */
static void show_affinity(struct call *call, const json_t *row)
{
    struct msg_query query = listing_query(QUERY_JOBS);
    struct listing listing = {0};
    query.name = lsf_format_plain(&call->arena, row, "id");
    query.with_ended = true;
    if (listing_get(call, &query, &listing) == CALL_OK) {
        const json_t *job = json_array_get(listing.rows, 0);
        if (json_array_size(json_object_get(job, "affinity")) > 0) {
            print_affinity(job);
        }
    }
    listing_free(&listing);
}

static int show_long(struct call *call, const json_t *rows)
{
    struct arena *arena = &call->arena;
    const json_t *row;
    size_t i;
    json_array_foreach(rows, i, row)
    {
        const char *state = lsf_format_get(row, "state");
        bool waits = strcmp(state, "PEND") == 0 || strcmp(state, "PSUSP") == 0;
        bool is_suspended = strcmp(state, "SSUSP") == 0 || strcmp(state, "USUSP") == 0;
        if (i > 0) {
            lsf_print_separator();
        }
        putchar('\n');
        print_head(call, arena, row);
        print_submission(call, arena, row);
        print_start(call, arena, row);
        print_end(call, arena, row);
        print_usage(arena, row);
        print_limits(arena, row);
        if (call_has(call, "-aff")) {
            show_affinity(call, row);
        }
        if (waits || is_suspended) {
            printf("\n %s REASONS:\n", waits ? "PENDING" : "SUSPENDING");
            print_reasons(row);
        }
        print_requirements(row);
    }
    if (json_array_size(rows) == 0) {
        return lsf_print_rows(call, &lsf_fields_jobs, rows);
    }
    return call_finish_output();
}

/* ---- -A and -sum */

static void count(json_t *into, const char *key)
{
    json_int_t number = json_integer_value(json_object_get(into, key));
    json_object_set_new(into, key, json_integer(number + 1));
}

/* One row for each array. */
static json_t *join_arrays(struct arena *arena, const json_t *rows)
{
    json_t *arrays = json_array(), *last = NULL;
    const char *last_id = "";
    json_t *row;
    size_t i;
    json_array_foreach(rows, i, row)
    {
        const char *id = lsf_format_job_id(arena, row, "id");
        if (strcmp(lsf_format_job_index(arena, row, "id"), "0") == 0) {
            continue;
        }
        if (last == NULL || strcmp(id, last_id) != 0) {
            last = json_object();
            last_id = id;
            set_text(last, "id", id);
            set_text(last, "user", lsf_format_get(row, "user"));
            set_text(last, "name", lsf_format_get(row, "array"));
            json_array_append_new(arrays, last);
        }
        count(last, "njobs");
        count(last, lsf_format_get(row, "state"));
    }
    return arrays;
}

static int show_sum(struct call *call, const json_t *rows)
{
    static const char *const states[] = {"RUN", "SSUSP", "USUSP", "UNKWN", "PEND"};
    json_t *sum = json_object();
    const json_t *row;
    size_t i;
    json_array_foreach(rows, i, row)
    {
        const char *state = lsf_format_get(row, "state");
        count(sum, strcmp(state, "PSUSP") == 0 ? "PEND" : state);
    }
    if (!call_has(call, "--noheader")) {
        printf("%-12s %-12s %-12s %-12s %-12s %s\n", "RUN", "SSUSP", "USUSP", "UNKNOWN",
               "PEND", "FWD_PEND");
    }
    for (size_t k = 0; k < sizeof(states) / sizeof(states[0]); k++) {
        printf("%-12lld ",
               (long long)json_integer_value(json_object_get(sum, states[k])));
    }
    puts("0");
    json_decref(sum);
    return call_finish_output();
}

/* ---- -psum, -pei and -script */

/* By their number, and equal ones by their text. */
static int compare_reasons(const void *a, const void *b)
{
    const json_t *x = *(json_t *const *)a, *y = *(json_t *const *)b;
    json_int_t n = json_integer_value(json_object_get(x, "jobs"));
    json_int_t m = json_integer_value(json_object_get(y, "jobs"));
    return n != m ? (n < m) - (n > m)
                  : strcmp(lsf_format_get(x, "reason"), lsf_format_get(y, "reason"));
}

static int show_reason_sum(struct call *call, const json_t *rows)
{
    json_t *counts = json_object(), *number;
    size_t i, n_reasons = 0;
    const json_t *row;
    const char *key;
    json_array_foreach(rows, i, row)
    {
        const char *reason = lsf_format_get(row, "pend_reason");
        count(counts, reason[0] != '\0' ? reason : lsf_format_get(row, "reason"));
    }
    json_t **sorted =
        arena_alloc(&call->arena, json_object_size(counts) + 1, sizeof(*sorted));
    json_object_foreach(counts, key, number)
    {
        sorted[n_reasons++] = json_pack("{s:s,s:O}", "reason", key, "jobs", number);
    }
    qsort(sorted, n_reasons, sizeof(*sorted), compare_reasons);
    printf("Pending reason summary: published %s\nSummarizing %zu pending jobs:\n",
           lsf_format_long_time(&call->arena, (int64_t)time(NULL)),
           json_array_size(rows));
    for (i = 0; i < n_reasons; i++) {
        printf(" %8lld  %s;\n",
               (long long)json_integer_value(json_object_get(sorted[i], "jobs")),
               lsf_format_get(sorted[i], "reason"));
        json_decref(sorted[i]);
    }
    json_decref(counts);
    return call_finish_output();
}

static int show_both(struct call *call, const json_t *rows)
{
    static const struct {
        const char *word, *heading;
    } parts[] = {{"EPEND", "ELIGIBLE PENDING JOBS"},
                 {"IPEND", "INELIGIBLE PENDING JOBS"}};
    for (size_t k = 0; k < sizeof(parts) / sizeof(parts[0]); k++) {
        json_t *chosen = json_array();
        json_t *row;
        size_t i;
        json_array_foreach(rows, i, row)
        {
            if (has_pend_state(row, parts[k].word)) {
                json_array_append(chosen, row);
            }
        }
        printf("%s:\n", parts[k].heading);
        lsf_print_rows(call, &lsf_fields_jobs, chosen);
        json_decref(chosen);
    }
    return call_finish_output();
}

static int show_scripts(struct call *call, const json_t *rows)
{
    const json_t *row;
    size_t i;
    if (json_array_size(rows) == 0) {
        return lsf_print_rows(call, &lsf_fields_jobs, rows);
    }
    json_array_foreach(rows, i, row)
    {
        const char *command = lsf_format_get(row, "command");
        size_t length = strlen(command);
        printf("%s%s", command, length > 0 && command[length - 1] == '\n' ? "" : "\n");
    }
    return call_finish_output();
}

/* ---- */

/* The layout that the options choose. */
static const char *layout_of(struct call *call)
{
    static const char *const more[][2] = {
        {"-WF", "finish_time:=16"}, {"-WL", "time_left:=11"}, {"-WP", "%complete:=11"}};
    const char *layout = call_has(call, "-W")     ? wide_layout
                         : call_has(call, "-pri") ? priority_layout
                                                  : lsf_fields_jobs.layout;
    for (size_t i = 0; i < sizeof(more) / sizeof(more[0]); i++) {
        if (call_has(call, more[i][0])) {
            layout = arena_printf(&call->arena, "%s %s", layout, more[i][1]);
        }
    }
    return layout;
}

static int show(struct call *call, const struct listing *listing)
{
    bool is_chosen = call_has(call, "-o") || call_has(call, "-json");
    if (call_has(call, "-sum")) {
        return show_sum(call, listing->rows);
    }
    if (call_has(call, "-script")) {
        return show_scripts(call, listing->rows);
    }
    if (call_has(call, "-psum") && json_array_size(listing->rows) > 0) {
        return show_reason_sum(call, listing->rows);
    }
    if (call_has(call, "-pei") && !is_chosen) {
        return show_both(call, listing->rows);
    }
    if (call_has(call, "-A")) {
        json_t *arrays = join_arrays(&call->arena, listing->rows);
        int status = lsf_print_layout(call, &lsf_fields_jobs, array_layout, arrays);
        json_decref(arrays);
        return status;
    }
    if ((call_has(call, "-l") || call_has(call, "-UF")) && !is_chosen) {
        return show_long(call, listing->rows);
    }
    bool has_reasons = call_has(call, "-p") || call_has(call, "-s") ||
                       call_has(call, "-pe") || call_has(call, "-pi");
    if (has_reasons && !is_chosen) {
        return show_reasons(call, listing->rows);
    }
    return lsf_print_layout(call, &lsf_fields_jobs, layout_of(call), listing->rows);
}

int lsf_jobs_run(struct call *call)
{
    struct listing listing = {0};
    json_t *row;
    size_t i;
    int n_missing;
    lsf_print_default(call, "LSB_BJOBS_FORMAT", "-l -UF -W -WF -WL -WP -pri -A");
    bool with_ended = call_has(call, "-a") || call_has(call, "-d");
    int status = lsf_select_rows(call, 0, with_ended, &listing, &n_missing);
    if (status == CALL_OK) {
        listing_filter(&listing, has_state, call);
        json_array_foreach(listing.rows, i, row)
        {
            annotate(&call->arena, row);
            add_exec_hosts(row, !call_has(call, "-X"));
        }
        filter(call, &listing);
        bool is_all_missing = n_missing > 0 && json_array_size(listing.rows) == 0 &&
                              !call_has(call, "-json");
        status = is_all_missing ? LSF_FAILED : show(call, &listing);
    }
    listing_free(&listing);
    return status == CALL_OK && n_missing > 0 ? LSF_FAILED : status;
}
