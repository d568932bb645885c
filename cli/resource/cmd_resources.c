/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_resources.c: `sublet hosts`, `queues`, `users`, `limits` and `exports`: the
 * resources of a site. Source: docs/design/interfaces.md "Command line"; LSF's bhosts,
 * bqueues, busers and blimits.
 */
#include "cli/commands.h"
#include "cli/listing/listing.h"
#include "model/msg.h"

const struct call_option cmd_resources_hosts_options[] = {
    {"-l", NULL, "in full", false},
    {"-e", NULL, "what is exported", false},
    {"-s", NULL, "shared resources: total, reserved and available", false},
    {"-R", "STRING", "those that match the requirement string", false},
    {NULL, NULL, NULL, false},
};

const struct call_option cmd_resources_queues_options[] = {
    {"-l", NULL, "in full", false},
    {NULL, NULL, NULL, false},
};

const struct call_option cmd_resources_limits_options[] = {
    {"-a", NULL, "also those that are not used", false},
    {"-c", NULL, "as configured", false},
    {"-n", "NAME", "of this name, used or not", false},
    {"-u", "USER", "that hold for this user, or group", false},
    {"-q", "QUEUE", "that hold for this queue", false},
    {"-m", "HOST", "that hold for this host, or group", false},
    {"-P", "PROJECT", "that hold for this project", false},
    {NULL, NULL, NULL, false},
};

int cmd_resources_hosts(struct call *call)
{
    struct msg_query query = listing_query(QUERY_HOSTS);
    query.exported = call_has(call, "-e");
    query.shared = call_has(call, "-s");
    if (query.shared &&
        (query.exported || call_has(call, "-R") || call_has(call, "-l"))) {
        return call_misuse(call, "-s cannot be combined with -e, -l or -R");
    }
    query.res_req = call_text(call, "-R");
    return listing_run(call, &query, query.shared ? "resource" : "host",
                       query.shared     ? &columns_hosts_shared
                       : query.exported ? &columns_hosts_exported
                                        : &columns_hosts);
}

int cmd_resources_queues(struct call *call)
{
    struct msg_query query = listing_query(QUERY_QUEUES);
    struct listing listing = {0};
    int status = listing_gather(call, &query, "queue", &listing);
    bool is_long = call_has(call, "-l") && !call_has(call, "--json") &&
                   call_value(call, "-o") == NULL;
    if (status == CALL_OK) {
        status = listing_show(call, &listing, &columns_queues);
    }
    if (status == CALL_OK && is_long && json_array_size(listing.rows) > 1) {
        preempt_matrix_print(&call->arena, listing.rows, !call_has(call, "--noheader"));
        status = call_finish_output();
    }
    listing_free(&listing);
    return status;
}

int cmd_resources_users(struct call *call)
{
    struct msg_query query = listing_query(QUERY_USERS);
    return listing_run(call, &query, "user", &columns_users);
}

int cmd_resources_limits(struct call *call)
{
    struct msg_query query = listing_query(QUERY_LIMITS);
    if (call_has(call, "-n") && call->n_operands > 0) {
        return call_misuse(call, "-n names a limit, as the operands do: expected one");
    }
    query.name = call_text(call, "-n");
    query.queue = call_text(call, "-q");
    query.host = call_text(call, "-m");
    query.project = call_text(call, "-P");
    query.user = listing_user(call, true);
    query.with_ended = call_has(call, "-a");
    query.configured = call_has(call, "-c");
    return listing_run(call, &query, "limit",
                       query.configured ? &columns_limits_configured : &columns_limits);
}

int cmd_resources_exports(struct call *call)
{
    struct msg_query query = listing_query(QUERY_EXPORTS);
    return listing_run(call, &query, "export", &columns_exports);
}
