/* SPDX-License-Identifier: Apache-2.0 */
/* lsf_job_group.c: bjgroup, bgadd, bgmod and bgdel. */
#include <stdlib.h>
#include <string.h>

#include "cli/jgroup_order.h"
#include "cli/lsf/lsf.h"
#include "site/job/job_group.h"

static const char *path_of(const json_t *row)
{
    return lsf_format_get(row, "group");
}

/* Without -s groups of one level stand together: /A /X /A/B /X/Y. */
static int by_level(const void *left, const void *right)
{
    const char *a = path_of(*(json_t *const *)left);
    const char *b = path_of(*(json_t *const *)right);
    int order = 0;
    for (const char *at = a; *at != '\0'; at++) {
        order += *at == '/';
    }
    for (const char *at = b; *at != '\0'; at++) {
        order -= *at == '/';
    }
    return order != 0 ? order : strcmp(a, b);
}

static void sort_by_level(struct listing *listing)
{
    size_t count = json_array_size(listing->rows);
    json_t **rows = malloc((count + 1) * sizeof(json_t *));
    if (rows == NULL) {
        abort();
    }
    for (size_t i = 0; i < count; i++) {
        rows[i] = json_incref(json_array_get(listing->rows, i));
    }
    qsort(rows, count, sizeof(json_t *), by_level);
    for (size_t i = 0; i < count; i++) {
        json_array_set_new(listing->rows, i, rows[i]);
    }
    free(rows);
}

static bool is_in(const json_t *row, const void *group)
{
    return job_group_contains(group, path_of(row));
}

/* "2/10", or "2/-" without a limit. */
static void add_columns(struct arena *arena, json_t *row)
{
    const json_t *limit = json_object_get(row, "limit");
    long long started = json_integer_value(json_object_get(row, "started"));
    const char *text = json_is_integer(limit)
                           ? arena_printf(arena, "%lld/%lld", started,
                                          (long long)json_integer_value(limit))
                           : arena_printf(arena, "%lld/-", started);
    json_object_set_new(row, "jlimit", json_string(text));
    json_object_set_new(row, "sla", json_string("()"));
}

int lsf_job_group_list(struct call *call)
{
    struct msg_query query = listing_query(QUERY_JOB_GROUPS);
    struct listing listing = {0};
    const char *group = call_value(call, "-s");
    json_t *row;
    size_t i;
    int status = listing_get(call, &query, &listing);
    if (status != CALL_OK) {
        listing_free(&listing);
        return status;
    }
    if (group == NULL) {
        sort_by_level(&listing);
    } else if (strcmp(group, "all") != 0) {
        listing_filter(&listing, is_in, group);
    }
    json_array_foreach(listing.rows, i, row)
    {
        add_columns(&call->arena, row);
    }
    if (json_array_size(listing.rows) == 0) {
        call_fail(group == NULL ? "No job group found" : "%s: No such job group",
                  group);
        status = LSF_FAILED;
    } else {
        status = lsf_print_rows(call, &lsf_fields_job_groups, listing.rows);
    }
    listing_free(&listing);
    return status;
}

/* ---- orders */

static int send_one(struct call *call, struct msg_job_group *order, const char *path)
{
    order->path = path;
    if (strlen(path) >= JOB_GROUP_SIZE || strlen(order->owner) >= NAME_SIZE) {
        call_fail("the job group or its owner is too long");
        return LSF_FAILED;
    }
    return jgroup_order_send(call, order);
}

static int send(struct call *call, enum job_group_action action)
{
    struct msg_job_group order = {.action = action, .owner = call_text(call, "-u")};
    const char *limit = call_has(call, "-Ln") ? "none" : call_value(call, "-L");
    struct err err;
    if (call->n_operands != 1) {
        return call_misuse(call, "expected one job group");
    }
    if (jgroup_order_read_limit(limit, &order, &err) != 0) {
        call_fail("-L: %s", err.text);
        return LSF_FAILED;
    }
    return send_one(call, &order, call->operands[0]);
}

int lsf_job_group_add(struct call *call)
{
    return send(call, JOB_GROUP_ADD);
}

int lsf_job_group_modify(struct call *call)
{
    if (!call_has(call, "-L") && !call_has(call, "-Ln") && !call_has(call, "-u")) {
        return call_misuse(call, "nothing to change, expected -L, -Ln or -u");
    }
    return send(call, JOB_GROUP_MODIFY);
}

/* The empty groups of the user, those that are deepest first, so that the ones above
 * become empty too. */
static int delete_empty(struct call *call)
{
    struct msg_job_group order = {.action = JOB_GROUP_DELETE, .owner = ""};
    struct msg_query query = listing_query(QUERY_JOB_GROUPS);
    struct listing listing = {0};
    const char *user = listing_user(call, false);
    int status = listing_get(call, &query, &listing), n_deleted = 0;
    for (size_t i = json_array_size(listing.rows); status == CALL_OK && i-- > 0;) {
        const json_t *row = json_array_get(listing.rows, i);
        long long n_jobs = json_integer_value(json_object_get(row, "njobs")) -
                           json_integer_value(json_object_get(row, "finish"));
        if (n_jobs == 0 &&
            (user[0] == '\0' || strcmp(lsf_format_get(row, "owner"), user) == 0)) {
            status = send_one(call, &order, path_of(row));
            n_deleted++;
        }
    }
    listing_free(&listing);
    if (status == CALL_OK && n_deleted == 0) {
        call_fail("No job group found");
        status = LSF_FAILED;
    }
    return status;
}

int lsf_job_group_delete(struct call *call)
{
    struct msg_job_group order = {.action = JOB_GROUP_DELETE, .owner = ""};
    int status = CALL_OK;
    if (call->n_operands == 0) {
        return call_misuse(call, "expected a job group, or 0 for all that are empty");
    }
    if (call->n_operands == 1 && strcmp(call->operands[0], "0") == 0) {
        return delete_empty(call);
    }
    for (int i = 0; i < call->n_operands; i++) {
        int one = send_one(call, &order, call->operands[i]);
        status = status != CALL_OK ? status : one;
    }
    return status;
}
