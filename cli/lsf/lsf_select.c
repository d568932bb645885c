/* SPDX-License-Identifier: Apache-2.0 */
/* lsf_select.c: the jobs that operands and options mean. */
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "base/conf/conf.h"
#include "cli/job_operand.h"
#include "cli/lsf/lsf.h"
#include "site/job/job_group.h"

/* ---- filters: the value of an option is a list of names */

static bool is_listed(const char *text, const char *names)
{
    size_t length = strlen(text);
    while (*(names += strspn(names, " \t")) != '\0') {
        size_t end = strcspn(names, " \t");
        if (end == length && strncmp(names, text, length) == 0) {
            return true;
        }
        names += end;
    }
    return false;
}

/* "lisa" and "lisa*" name a job, or all elements of an array; "lisa[3]" names one. */
static bool is_named(const json_t *row, const void *pattern)
{
    const char *name = lsf_format_get(row, "name");
    char array[256];
    snprintf(array, sizeof(array), "%.*s", (int)strcspn(name, "["), name);
    return strcmp(name, pattern) == 0 || fnmatch(pattern, array, 0) == 0;
}

/* "all": on any own host. */
static bool is_on_host(const json_t *row, const void *names)
{
    const char *host;
    json_t *slots;
    bool is_all = is_listed("all", names);
    json_object_foreach(json_object_get(row, "hosts"), host, slots)
    {
        if (is_listed(host, names) || (is_all && strchr(host, '@') == NULL)) {
            return true;
        }
    }
    return false;
}

static bool is_in_queue(const json_t *row, const void *names)
{
    return is_listed(lsf_format_get(row, "queue"), names);
}

static bool is_of_project(const json_t *row, const void *names)
{
    return is_listed(lsf_format_get(row, "project"), names);
}

static bool is_of_application(const json_t *row, const void *names)
{
    return is_listed(lsf_format_get(row, "app"), names);
}

static bool is_of_group(const json_t *row, const void *names)
{
    return is_listed(lsf_format_get(row, "user_group"), names);
}

static bool is_in_job_group(const json_t *row, const void *group)
{
    const char *path = lsf_format_get(row, "job_group");
    return path[0] != '\0' && job_group_contains(group, path);
}

static bool is_in_state(const json_t *row, const void *word)
{
    static const struct {
        const char *word, *states;
    } words[] = {{"run", "RUN"}, {"pend", "PEND PSUSP"}, {"susp", "SSUSP USUSP"}};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strcmp(words[i].word, word) == 0) {
            return is_listed(lsf_format_get(row, "state"), words[i].states);
        }
    }
    return false;
}

static const struct {
    const char *option;
    listing_keep_fn keep;
} filters[] = {{"-J", is_named},       {"-q", is_in_queue},         {"-m", is_on_host},
               {"-P", is_of_project},  {"-app", is_of_application}, {"-G", is_of_group},
               {"-stat", is_in_state}, {"-g", is_in_job_group}};
enum { FILTERS = sizeof(filters) / sizeof(filters[0]) };

static bool has_filter(const struct call *call)
{
    bool has_one = call_has(call, "-u");
    for (int i = 0; i < FILTERS; i++) {
        has_one = has_one || call_has(call, filters[i].option);
    }
    return has_one;
}

/* ---- rows */

/* Adds the rows of one id. Returns CALL_OK also if there is no such job. */
static int add_one(struct connect *connect, const char *id, struct listing *listing,
                   int *n_missing)
{
    struct msg_query query = listing_query(QUERY_JOBS);
    struct err err;
    query.name = id;
    query.with_ended = true;
    size_t before = json_array_size(listing->rows);
    int code = listing_fetch(listing, connect, &query, &err);
    if (code != 0 && code != ERR_NOT_FOUND) {
        call_fail_err(&err);
        return LSF_FAILED;
    }
    if (code == ERR_NOT_FOUND || json_array_size(listing->rows) == before) {
        call_fail("Job <%s> is not found", id);
        ++*n_missing;
    }
    return CALL_OK;
}

static int check_ids(const struct call *call, int first)
{
    for (int i = first; i < call->n_operands; i++) {
        if (!job_operand_is_valid(call->operands[i]) &&
            strcmp(call->operands[i], "0") != 0) {
            call_fail("%s: Illegal job ID.", call->operands[i]);
            return LSF_FAILED;
        }
    }
    return CALL_OK;
}

static bool names_jobs(const struct call *call, int first)
{
    bool is_all =
        call->n_operands == first + 1 && strcmp(call->operands[first], "0") == 0;
    return call->n_operands > first && !is_all;
}

/* The names of -m, and the members of those that are host groups or compute units. */
static int hosts_meant(struct call *call, struct connect *connect, const char **names)
{
    struct msg_query query = listing_query(QUERY_GROUPS);
    struct listing groups = {0};
    struct err err;
    const json_t *row;
    size_t i;
    *names = call_value(call, "-m");
    if (listing_fetch(&groups, connect, &query, &err) != 0) {
        call_fail_err(&err);
        listing_free(&groups);
        return LSF_FAILED;
    }
    json_array_foreach(groups.rows, i, row)
    {
        if (strcmp(lsf_format_get(row, "kind"), "user") != 0 &&
            is_listed(lsf_format_get(row, "group"), call_value(call, "-m"))) {
            *names = arena_printf(&call->arena, "%s %s", *names,
                                  lsf_format_joined(&call->arena, row, "members"));
        }
    }
    listing_free(&groups);
    return CALL_OK;
}

int lsf_select_rows(struct call *call, int first, bool with_ended,
                    struct listing *listing, int *n_missing)
{
    const char *hosts = NULL;
    struct msg_query query = listing_query(QUERY_JOBS);
    struct connect *connect;
    struct err err;
    int status = check_ids(call, first);
    *n_missing = 0;
    if (status != CALL_OK) {
        return status;
    }
    if (connect_new(call, &connect, &err) != 0) {
        call_fail_err(&err);
        return LSF_FAILED;
    }
    if (names_jobs(call, first)) {
        for (int i = first; status == CALL_OK && i < call->n_operands; i++) {
            status = add_one(connect, call->operands[i], listing, n_missing);
        }
    } else {
        query.user = listing_user(call, false);
        query.with_ended = with_ended;
        if (listing_fetch(listing, connect, &query, &err) != 0) {
            call_fail_err(&err);
            status = LSF_FAILED;
        }
    }
    if (status == CALL_OK && call_has(call, "-m")) {
        status = hosts_meant(call, connect, &hosts);
    }
    connect_free(connect);
    for (int i = 0; status == CALL_OK && i < FILTERS; i++) {
        if (call_has(call, filters[i].option)) {
            bool is_hosts = strcmp(filters[i].option, "-m") == 0;
            listing_filter(listing, filters[i].keep,
                           is_hosts ? hosts : call_value(call, filters[i].option));
        }
    }
    return status;
}

int lsf_select_jobs(struct call *call, int first)
{
    bool is_all = call_has(call, "-stat") || (call->n_operands == first + 1 &&
                                              strcmp(call->operands[first], "0") == 0);
    bool has_ids = names_jobs(call, first);
    struct listing listing = {0};
    int n_missing;
    if (has_ids && !has_filter(call)) {
        return check_ids(call, first);
    }
    if (!has_ids && !is_all && !has_filter(call) && first == 0) {
        call_fail("%s: Job ID is required, or 0 for all of your jobs.",
                  call->command->name);
        return LSF_FAILED;
    }
    int status = lsf_select_rows(call, first, false, &listing, &n_missing);
    size_t count = json_array_size(listing.rows);
    if (status == CALL_OK && count == 0) {
        call_fail("No matching job found");
        status = LSF_FAILED;
    }
    if (status == CALL_OK) {
        char **ids = arena_alloc(&call->arena, (size_t)first + count, sizeof(*ids));
        size_t from = is_all || has_ids ? 0 : count - 1; /* the latest */
        call->n_operands = first;
        memcpy(ids, call->operands, (size_t)first * sizeof(*ids));
        for (size_t i = from; i < count; i++) {
            const json_t *row = json_array_get(listing.rows, i);
            ids[call->n_operands++] = arena_str(
                &call->arena, format_plain(&call->arena, json_object_get(row, "id")));
        }
        call->operands = ids;
    }
    listing_free(&listing);
    return status;
}
