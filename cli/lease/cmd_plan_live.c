/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_plan_live.c: see cmd_plan_live.h; and `sublet pools`. The pool need not be named
 * if there is only one. Source: docs/design/interfaces.md "Command line". */
#include "cli/lease/cmd_plan_live.h"

#include <string.h>

#include "cli/commands.h"
#include "cli/listing/listing.h"

int cmd_plan_live_pools(struct call *call)
{
    struct msg_query query = listing_query(QUERY_POOLS);
    return listing_run(call, &query, "pool", &columns_pools);
}

/* The pool named, or the only one. */
static int choose_pool(struct call *call, const char *given, const char **pool)
{
    struct msg_query query = listing_query(QUERY_POOLS);
    struct listing listing = {0};
    *pool = given;
    int status = given != NULL ? CALL_OK : listing_get(call, &query, &listing);
    if (status == CALL_OK && given == NULL) {
        const json_t *row = json_array_get(listing.rows, 0);
        const char *name = json_string_value(json_object_get(row, "pool"));
        *pool = arena_str(&call->arena, name);
        status = name == NULL ? call_fail("plan: the broker has no pools")
                 : json_array_size(listing.rows) > 1
                     ? call_misuse(call, "the broker has several pools: give --pool "
                                         "NAME, one that 'sublet pools' shows")
                     : CALL_OK;
    }
    listing_free(&listing);
    return status;
}

struct nodes {
    const struct listing *listing;
    char **names;
    int count;
};

static bool is_asked_for(const json_t *row, const void *arg)
{
    const struct nodes *nodes = arg;
    const char *name = json_string_value(listing_value(nodes->listing, row, "node"));
    for (int i = 0; i < nodes->count; i++) {
        if (strcmp(name, nodes->names[i]) == 0) {
            return true;
        }
    }
    return nodes->count == 0;
}

void cmd_plan_live_filter(struct call *call, struct listing *listing, int first)
{
    struct nodes nodes = {listing, call->operands + first, call->n_operands - first};
    listing_filter(listing, is_asked_for, &nodes);
}

static int check_found(const struct call *call, const struct listing *listing)
{
    size_t n_asked = (size_t)call->n_operands - 1;
    return n_asked > 0 && json_array_size(listing->rows) == 0
               ? call_fail(
                     "plan: no node \"%s\" in the plan; with a file, also give --slots",
                     call->operands[1])
               : CALL_OK;
}

/* All nodes, or only those of the command line: a plan may be large. */
static int get_nodes(struct call *call, struct msg_query *query, bool with_why,
                     struct listing *listing)
{
    int first = with_why && call->n_operands > 1 ? 1 : call->n_operands - 1;
    int status = CALL_OK;
    for (int i = first; i < call->n_operands && status == CALL_OK; i++) {
        query->host = first == 1 && with_why ? call->operands[i] : "";
        status = listing_get(call, query, listing);
    }
    return status;
}

int cmd_plan_live_run(struct call *call, bool with_why)
{
    const char *given = call_value(call, "--pool");
    if (!with_why && call->n_operands > 2) {
        return call_misuse(call, "show: expected a pool or none");
    }
    if (!with_why && call->n_operands == 2) {
        given = call->operands[1];
    }
    struct msg_query query = listing_query(QUERY_PLAN);
    struct listing listing = {0};
    query.fields = listing_fields(call, with_why ? &columns_plan_why : &columns_plan);
    int status = choose_pool(call, given, &query.name);
    if (status == CALL_OK) {
        status = get_nodes(call, &query, with_why, &listing);
    }
    if (status == CALL_OK && with_why) {
        status = check_found(call, &listing);
    }
    if (status == CALL_OK) {
        status =
            listing_show(call, &listing, with_why ? &columns_plan_why : &columns_plan);
    }
    listing_free(&listing);
    return status;
}
