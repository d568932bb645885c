/* SPDX-License-Identifier: Apache-2.0 */
/* lsf_control.c: bkill, bstop, bresume, brequeue, bswitch, btop, bbot, bresize, bpeek
 * and bwait. Source: LSF's command reference. */
#include <czmq.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/connect.h"
#include "cli/lsf/lsf.h"
#include "sched/pending/pending.h"

/* ---- orders about jobs */

static int order(struct call *call, int first, int (*run)(struct call *call))
{
    int status = lsf_select_jobs(call, first);
    return status == CALL_OK ? run(call) : status;
}

static int list_signals(void)
{
    for (int i = 1; i < NSIG; i++) {
        const char *name = sigabbrev_np(i);
        if (name != NULL) {
            printf("%s%s", name, i % 8 == 0 ? "\n" : " ");
        }
    }
    putchar('\n');
    return call_finish_output();
}

int lsf_control_kill(struct call *call)
{
    return call_has(call, "-l") ? list_signals() : order(call, 0, cmd_job_control_kill);
}

int lsf_control_stop(struct call *call)
{
    return order(call, 0, cmd_job_control_stop);
}

int lsf_control_resume(struct call *call)
{
    return order(call, 0, cmd_job_control_resume);
}

/* The states whose jobs brequeue's options mean; "": none is given. */
static const char *requeue_states(struct call *call)
{
    static const char *const states[][2] = {{"-a", "RUN SSUSP USUSP DONE EXIT"},
                                            {"-r", "RUN"},
                                            {"-d", "DONE"},
                                            {"-e", "EXIT"}};
    const char *text = "";
    for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
        if (call_has(call, states[i][0])) {
            text = arena_printf(&call->arena, "%s %s", text, states[i][1]);
        }
    }
    return text;
}

/* Orders for those of the jobs that have ended, and for those that have not. */
static int requeue_by_state(struct call *call, const char *states)
{
    struct listing listing = {0};
    const json_t *row;
    size_t i;
    int n_missing, counts[2] = {0, 0};
    int status = lsf_select_rows(call, 0, true, &listing, &n_missing);
    size_t most = json_array_size(listing.rows) + 1;
    char **ids[2] = {arena_alloc(&call->arena, most, sizeof(char *)),
                     arena_alloc(&call->arena, most, sizeof(char *))};
    json_array_foreach(listing.rows, i, row)
    {
        const char *state = lsf_format_get(row, "state");
        bool has_ended = strcmp(state, "DONE") == 0 || strcmp(state, "EXIT") == 0;
        if (strstr(states, state) != NULL) {
            ids[has_ended][counts[has_ended]++] =
                arena_str(&call->arena, lsf_format_plain(&call->arena, row, "id"));
        }
    }
    listing_free(&listing);
    if (status == CALL_OK && counts[0] + counts[1] == 0) {
        call_fail("No matching job found");
        return LSF_FAILED;
    }
    for (int k = 0; status == CALL_OK && k < 2; k++) {
        call->operands = ids[k];
        call->n_operands = counts[k];
        if (counts[k] > 0) {
            status = k == 0 ? cmd_job_move_requeue(call) : cmd_job_move_rerun(call);
        }
    }
    return status == CALL_OK && n_missing > 0 ? LSF_FAILED : status;
}

int lsf_control_requeue(struct call *call)
{
    const char *states = requeue_states(call);
    if (states[0] != '\0') {
        return requeue_by_state(call, states);
    }
    if (call->n_operands == 0 && !call_has(call, "-u")) {
        lsf_line_add(call, "-u", listing_user(call, false)); /* the latest one */
    }
    return order(call, 0, cmd_job_move_requeue);
}

int lsf_control_switch(struct call *call)
{
    if (call->n_operands == 0) {
        call_fail("bswitch: Destination queue name must be specified.");
        return LSF_FAILED;
    }
    return order(call, 1, cmd_job_move_switch);
}

/* The last operand may be a position, which is the first one here. */
static int move(struct call *call, int (*run)(struct call *call))
{
    if (call->n_operands == 2 && strcmp(call->operands[1], "1") != 0) {
        call_fail("%s: position %s: jobs move to position 1 alone", call->command->name,
                  call->operands[1]);
        return LSF_FAILED;
    }
    call->n_operands = call->n_operands == 2 ? 1 : call->n_operands;
    return order(call, 0, run);
}

int lsf_control_top(struct call *call)
{
    return move(call, cmd_job_move_top);
}

int lsf_control_bottom(struct call *call)
{
    return move(call, cmd_job_move_bottom);
}

/* ---- bresize */

/* "2*hostA" as "2@hostA"; "all" and "~hostA" as all-but. */
static int release(struct call *call, char **words, char *job)
{
    int n_out = 0;
    char **out = arena_alloc(&call->arena, (size_t)call->n_operands + 4, sizeof(*out));
    bool is_all = strcmp(words[0], "all") == 0;
    out[n_out++] = job;
    out[n_out++] = arena_str(&call->arena, "release");
    if (is_all) {
        out[n_out++] = arena_str(&call->arena, "all-but");
    }
    for (int i = is_all; i < call->n_operands - 2; i++) {
        char *word = arena_str(&call->arena, words[i] + (words[i][0] == '~'));
        char *star = strchr(word, '*');
        if (star != NULL) {
            *star = '@';
        }
        out[n_out++] = word;
    }
    call->operands = out;
    call->n_operands = n_out;
    return cmd_resize_run(call);
}

int lsf_control_resize(struct call *call)
{
    const char *what = call->n_operands > 0 ? call->operands[0] : "";
    const char *slots = call_value(call, "-n");
    char *last = call->n_operands > 1 ? call->operands[call->n_operands - 1] : NULL;
    char *words[] = {last, NULL};
    if (last != NULL && strcmp(what, "release") == 0 && call->n_operands > 2) {
        return release(call, call->operands + 1, last);
    }
    if (last != NULL && strcmp(what, "cancel") == 0) {
        words[1] = arena_str(&call->arena, "cancel");
    } else if (last != NULL && strcmp(what, "request") == 0 && slots != NULL) {
        words[1] = arena_printf(&call->arena, "slots=%s", slots);
    } else {
        call_fail("bresize: expected release HOSTS JOB, cancel JOB, or "
                  "request -n NUMBER JOB");
        return LSF_FAILED;
    }
    call->operands = words;
    call->n_operands = 2;
    return cmd_resize_run(call);
}

/* ---- bpeek */

/* "out.%J" of job 12 as "/home/lisa/out.12". */
static const char *file_of(struct arena *arena, const json_t *row)
{
    const char *file = lsf_format_get(row, "out_file");
    const char *cwd = lsf_format_get(row, "cwd");
    const char *text = file[0] == '/' ? "" : arena_printf(arena, "%s/", cwd);
    while (*file != '\0') {
        size_t length = strcspn(file, "%");
        text = arena_printf(arena, "%s%.*s", text, (int)length, file);
        file += length;
        if (strncmp(file, "%J", 2) == 0 || strncmp(file, "%I", 2) == 0) {
            text =
                arena_printf(arena, "%s%s", text,
                             file[1] == 'J' ? lsf_format_job_id(arena, row, "id")
                                            : lsf_format_job_index(arena, row, "id"));
            file += 2;
        } else if (*file == '%') {
            text = arena_printf(arena, "%s%%", text);
            file++;
        }
    }
    return text;
}

static void copy_rest(FILE *from)
{
    char bytes[8192];
    size_t length;
    while ((length = fread(bytes, 1, sizeof(bytes), from)) > 0) {
        fwrite(bytes, 1, length, stdout);
    }
    clearerr(from);
    fflush(stdout);
}

/* The row of the one job that is meant; NULL after an error. */
static json_t *fetch_job(struct call *call)
{
    struct listing listing = {0};
    struct msg_query query = listing_query(QUERY_JOBS);
    query.name = call->operands[0];
    query.with_ended = true;
    json_t *row = listing_get(call, &query, &listing) == CALL_OK
                      ? json_incref(json_array_get(listing.rows, 0))
                      : NULL;
    listing_free(&listing);
    return row;
}

/* The output goes to a file, which is here. */
static int peek_file(struct call *call, const char *path)
{
    enum { FOLLOW_MS = 300 };
    FILE *file = fopen(path, "re");
    bool is_over = !call_has(call, "-f");
    if (file == NULL) {
        call_fail("%s: %s", path, strerror(errno));
        return LSF_FAILED;
    }
    copy_rest(file);
    while (!is_over) {
        json_t *row = fetch_job(call);
        is_over = row == NULL || json_is_string(json_object_get(row, "end_at"));
        json_decref(row);
        copy_rest(file);
        zclock_sleep(is_over ? 0 : FOLLOW_MS);
    }
    fclose(file);
    return call_finish_output();
}

static int peek_job(struct call *call, const json_t *row)
{
    if (!json_is_string(json_object_get(row, "start_at"))) {
        call_fail("Job <%s> : Not yet started.", call->operands[0]);
        return LSF_FAILED;
    }
    printf("<< output from stdout >>\n");
    fflush(stdout);
    return lsf_format_get(row, "out_file")[0] != '\0'
               ? peek_file(call, file_of(&call->arena, row))
               : cmd_peek_run(call);
}

int lsf_control_peek(struct call *call)
{
    if (call->n_operands == 0 && !call_has(call, "-u")) {
        lsf_line_add(call, "-u", listing_user(call, false));
    }
    int status = lsf_select_jobs(call, 0);
    if (status != CALL_OK) {
        return status;
    }
    json_t *row = fetch_job(call);
    status = row != NULL ? peek_job(call, row) : LSF_FAILED;
    json_decref(row);
    return status;
}

/* ---- bwait */

struct outlook {
    const json_t *rows;
    struct arena *arena;
};

static bool is_job(const struct outlook *outlook, const json_t *row, uint64_t id)
{
    const char *text = lsf_format_job_id(outlook->arena, row, "id");
    return strtoull(text, NULL, 10) == id;
}

static int find_jobs(void *arg, const char *name, const uint64_t **ids)
{
    struct outlook *outlook = arg;
    size_t at, length = strlen(name);
    const json_t *row;
    int count = 0;
    bool is_prefix = length > 0 && name[length - 1] == '*';
    uint64_t *found =
        arena_alloc(outlook->arena, json_array_size(outlook->rows) + 1, sizeof(*found));
    json_array_foreach(outlook->rows, at, row)
    {
        const char *own = lsf_format_get(row, "name");
        size_t n = strcspn(own, "[");
        uint64_t id = strtoull(lsf_format_job_id(outlook->arena, row, "id"), NULL, 10);
        bool is_it = is_prefix ? n >= length - 1 && strncmp(own, name, length - 1) == 0
                               : n == length && strncmp(own, name, n) == 0;
        is_it = is_it || strtoull(name, NULL, 10) == id;
        if (is_it && (count == 0 || found[count - 1] != id)) {
            found[count++] = id;
        }
    }
    *ids = found;
    return count;
}

static void count_state(const json_t *row, struct depend_counts *counts)
{
    const char *state = lsf_format_get(row, "state");
    const json_t *code = json_object_get(row, "exit_code");
    int number = (int)json_integer_value(code);
    const char *post = lsf_format_get(row, "post_state");
    counts->n_jobs++;
    counts->n_post_done += strcmp(post, "POST_DONE") == 0;
    counts->n_post_err += strcmp(post, "POST_ERR") == 0;
    if (strcmp(state, "PEND") == 0 || strcmp(state, "PSUSP") == 0) {
        counts->n_pend++;
    } else if (strcmp(state, "DONE") == 0) {
        counts->n_done++;
    } else if (strcmp(state, "EXIT") == 0) {
        counts->min_code = counts->n_exit == 0 || number < counts->min_code
                               ? number
                               : counts->min_code;
        counts->max_code = counts->n_exit == 0 || number > counts->max_code
                               ? number
                               : counts->max_code;
        counts->n_exit++;
        counts->n_never_started += !json_is_string(json_object_get(row, "start_at"));
    } else {
        counts->n_run++;
    }
}

static void look(void *arg, uint64_t id, int index, struct depend_counts *counts)
{
    struct outlook *outlook = arg;
    const json_t *row;
    size_t at;
    *counts = (struct depend_counts){.n_jobs = 0};
    json_array_foreach(outlook->rows, at, row)
    {
        int own =
            (int)strtol(lsf_format_job_index(outlook->arena, row, "id"), NULL, 10);
        if (is_job(outlook, row, id) && (index == DEPEND_ARRAY || index == own)) {
            count_state(row, counts);
        }
    }
}

/* Judges the condition by all jobs as they are now. */
static int judge(struct call *call, const char *condition, enum depend_verdict *verdict)
{
    struct listing listing = {0};
    struct msg_query query = listing_query(QUERY_JOBS);
    struct arena arena;
    const char *resolved;
    struct err err;
    query.with_ended = true;
    int status = listing_get(call, &query, &listing);
    if (status != CALL_OK) {
        return status;
    }
    arena_init(&arena);
    struct outlook outlook = {listing.rows, &arena};
    if (depend_resolve(&arena, condition, find_jobs, &outlook, &resolved, &err) != 0) {
        call_fail("%s. Wait condition is never satisfied", err.text);
        status = LSF_FAILED;
    } else {
        *verdict = depend_evaluate(resolved, 0, look, &outlook);
    }
    arena_release(&arena);
    listing_free(&listing);
    return status;
}

int lsf_control_wait(struct call *call)
{
    enum { LOOK_MS = 500, MINUTE_MS = 60000 };
    const char *condition = call_value(call, "-w");
    const char *patience = call_value(call, "-t");
    int64_t left_ms =
        patience != NULL ? strtoll(patience, NULL, 10) * MINUTE_MS : INT64_MAX;
    enum depend_verdict verdict = DEPEND_PENDING;
    for (int i = 0; condition == NULL && i < call->n_operands; i++) {
        call->operands[0] =
            i == 0 ? arena_printf(&call->arena, "ended(%s)", call->operands[0])
                   : arena_printf(&call->arena, "%s && ended(%s)", call->operands[0],
                                  call->operands[i]);
    }
    if (condition == NULL && call->n_operands == 0) {
        call_fail("bwait: -w: a condition is required");
        return LSF_FAILED;
    }
    condition = condition != NULL ? condition : call->operands[0];
    for (;;) {
        int status = judge(call, condition, &verdict);
        if (status != CALL_OK || verdict == DEPEND_MET) {
            return status;
        }
        if (verdict == DEPEND_NEVER) {
            call_fail("Wait condition is never satisfied");
            return LSF_FAILED;
        }
        if (left_ms <= 0) {
            call_fail("Timeout expired");
            return LSF_FAILED;
        }
        zclock_sleep(LOOK_MS);
        left_ms -= LOOK_MS;
    }
}
