/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_resreq.c: `sublet resreq check` and `match`: requirement strings without a
 * daemon, or with the names that a site defines. */
#include "cli/cmd_resreq.h"

#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/listing/listing.h"
#include "cli/resource/resreq_hosts.h"

const struct call_option cmd_resreq_options[] = {
    {"--lenient", NULL, "as with LSF_STRICT_RESREQ=N", false},
    {"--site", NULL, "check: names must be those that the site defines", false},
    {"--all", NULL, "check: every section, not select alone", false},
    {"--hosts", "FILE", "match: file of hosts, one JSON object on each line", false},
    {"--local", "HOST", "match: the host that type==local means", false},
    {NULL, NULL, NULL, false},
};

/* Prints the error; returns CALL_BAD_RESREQ. */
static int refuse(struct call *call, const struct resreq_error *fault,
                  const char *consequence)
{
    fflush(stdout);
    fprintf(stderr, "%s%s\n%s\n", fault->text, consequence,
            resreq_error_pointer(&call->arena, fault->source, fault->at, fault->hint));
    return CALL_BAD_RESREQ;
}

/* Prints warnings. */
static void show_notes(struct call *call, const struct resreq_notes *notes)
{
    fflush(stdout);
    for (const struct resreq_note *note = notes->first; note != NULL;
         note = note->next) {
        fprintf(stderr, "Warning in resource requirement string:\n%s\n",
                resreq_error_pointer(&call->arena, note->source, note->at, note->text));
    }
}

static enum resource_type type_of(const char *name)
{
    for (int type = RESOURCE_NUMERIC; type <= RESOURCE_STRING; type++) {
        if (name != NULL &&
            strcmp(resource_type_name((enum resource_type)type), name) == 0) {
            return (enum resource_type)type;
        }
    }
    return RESOURCE_NUMERIC;
}

/* Adds what the site defines; false, with an error, if it does not answer. */
static bool read_site(struct call *call, struct resources *resources, struct err *err)
{
    struct msg_query query = listing_query(QUERY_LOAD);
    struct listing listing = {0};
    struct connect *connect;
    const char *name;
    json_t *row;
    if (connect_new(call, &connect, err) != 0) {
        return false;
    }
    bool is_there = listing_fetch_page(&listing, connect, &query, err) == 0;
    connect_free(connect);
    json_object_foreach(json_object_get(listing.object, "resources"), name, row)
    {
        struct resource resource = {
            .name = name,
            .type = type_of(json_string_value(json_object_get(row, "type"))),
            .interval_ms =
                json_integer_value(json_object_get(row, "interval_s")) * 1000,
            .is_increasing = json_is_true(json_object_get(row, "increasing")),
            .is_consumable = json_is_true(json_object_get(row, "consumable")),
        };
        int id;
        struct err ignored; /* a name that is built in here */
        if (resources_add(resources, &resource, &id, &ignored) != 0) {
            continue;
        }
    }
    listing_free(&listing);
    return is_there;
}

int cmd_resreq_check(struct call *call, const char *const *strings, int n_strings,
                     const struct cmd_resreq_rules *how)
{
    struct resources *resources = resources_new();
    struct err err;
    bool has_names = how->asks_site && read_site(call, resources, &err);
    if (how->needs_site && !has_names) {
        resources_free(resources);
        return call_fail_err(&err);
    }
    struct resreq_rules rules = {
        .language = {.resources = resources,
                     .unit_types = {.n_names = -1},
                     .is_lenient = how->is_lenient,
                     .is_open = !has_names,
                     .has_local = true},
        .reading = how->reading,
    };
    struct resreq_strings from = {.strings = strings, .n_strings = n_strings};
    struct resreq_notes notes = {.arena = &call->arena};
    struct resreq_error fault;
    struct resreq resreq;
    int code = resreq_compile(&call->arena, &rules, &from, &resreq, &notes, &fault);
    resources_free(resources);
    if (code != 0) {
        return refuse(call, &fault, RESREQ_NOT_SUBMITTED);
    }
    show_notes(call, &notes);
    puts("Resource requirement string is valid.");
    return call_finish_output();
}

/* ---------------------------------------------------------------- match */

/* A string with a cu section considers only hosts in a compute unit. */
static bool is_considered(const struct resreq *resreq, const struct resreq_host *host)
{
    return (resreq->sections & 1U << RESREQ_CU) == 0 || host->has_cu;
}

static int print_matches(struct call *call, const struct resreq_hosts *hosts,
                         const struct resreq *resreq, const struct resreq_local *local)
{
    int *rows = arena_alloc(&call->arena, (size_t)hosts->n_hosts + 1, sizeof(*rows));
    int n_rows = resreq_list_hosts(resreq, hosts->table, local, rows);
    for (int i = 0; i < n_rows; i++) {
        if (is_considered(resreq, &hosts->hosts[rows[i]])) {
            puts(hosts->hosts[rows[i]].name);
        }
    }
    return call_finish_output();
}

static int match_among(struct call *call, const struct resreq_hosts *hosts)
{
    const char *name = call_value(call, "--local");
    int local_row = name != NULL ? resreq_hosts_find(hosts, name) : -1;
    if (name != NULL && local_row < 0) {
        return call_fail("resreq: --local %s: no such host in %s", name,
                         call_value(call, "--hosts"));
    }
    struct resreq_rules rules = {
        .language = {.resources = hosts->resources,
                     .unit_types = {.n_names = -1},
                     .is_lenient = call_has(call, "--lenient"),
                     .has_local = name != NULL},
        .reading = RESREQ_READ_ALL,
        .defaults_any = name == NULL,
    };
    struct resreq_strings from = {
        .strings = (const char *const *)call->operands + 1,
        .n_strings = call->n_operands - 1,
    };
    struct resreq_notes notes = {.arena = &call->arena};
    struct resreq_local local = {.type = "", .model = ""};
    struct resreq_error fault;
    struct resreq resreq;
    if (resreq_compile(&call->arena, &rules, &from, &resreq, &notes, &fault) != 0) {
        return refuse(call, &fault, "");
    }
    show_notes(call, &notes);
    if (name != NULL) {
        local.type = resource_table_text(hosts->table, local_row, RESOURCE_TYPE);
        local.model = resource_table_text(hosts->table, local_row, RESOURCE_MODEL);
    }
    return print_matches(call, hosts, &resreq, &local);
}

static int match_run(struct call *call)
{
    const char *file = call_value(call, "--hosts");
    struct resreq_hosts hosts;
    struct err err;
    if (file == NULL) {
        return call_misuse(call, "match needs --hosts FILE");
    }
    int status = resreq_hosts_read(&hosts, &call->arena, file, &err) == 0
                     ? match_among(call, &hosts)
                     : call_fail("resreq: %s", err.text);
    resreq_hosts_release(&hosts);
    return status;
}

int cmd_resreq_run(struct call *call)
{
    const char *what = call->n_operands > 0 ? call->operands[0] : "";
    if (strcmp(what, "check") != 0 && strcmp(what, "match") != 0) {
        return call_misuse(call, "expected check or match, then STRING...");
    }
    if (call->n_operands < 2) {
        return call_misuse(call, "no requirement string");
    }
    if (strcmp(what, "match") == 0) {
        return call_has(call, "--all") || call_has(call, "--site")
                   ? call_misuse(call, "--all and --site require check")
                   : match_run(call);
    }
    if (call_has(call, "--hosts") || call_has(call, "--local")) {
        return call_misuse(call, "--hosts and --local go with match");
    }
    return cmd_resreq_check(
        call, (const char *const *)call->operands + 1, call->n_operands - 1,
        &(struct cmd_resreq_rules){
            .is_lenient = call_has(call, "--lenient"),
            .reading = call_has(call, "--all") ? RESREQ_READ_ALL : RESREQ_READ_SELECT,
            .asks_site = call_has(call, "--site"),
            .needs_site = call_has(call, "--site")});
}
