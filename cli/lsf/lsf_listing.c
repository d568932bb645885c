/* SPDX-License-Identifier: Apache-2.0 */
/* lsf_listing.c: listings of hosts, queues, users, groups, limits and resources.
 * Source: LSF's command reference. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bounds.h"
#include "cli/commands.h"
#include "cli/lsf/lsf.h"
#include "sched/resource/resource.h"

#ifndef SUBLET_VERSION
#define SUBLET_VERSION "unknown"
#endif

static const char exported_layout[] =
    "host_name:18 consumer:15 lease:20 max:-6 njobs:-6 "
    "run:-6 ssusp:-6 ususp:-6 rsv:-6";
static const char load_long_layout[] = "host_name:15 status:-6 r15s:-5 r1m:-5 r15m:-5 "
                                       "ut:-4 pg:-5 io:-5 ls:-3 it:-5 tmp:-5 "
                                       "swp:-5 mem:-5";

/* Takes rows out, or adds to them, or prints what is above them. */
typedef void change_fn(struct call *call, struct listing *listing);

/* All rows of the query, or those that the operands name, in this layout. */
static int show_layout(struct call *call, const struct msg_query *query,
                       const char *thing, change_fn *change,
                       const struct lsf_listing *fields, const char *layout)
{
    struct listing listing = {0};
    int status = listing_gather(call, query, thing, &listing);
    if (status == CALL_OK) {
        if (change != NULL) {
            change(call, &listing);
        }
        status = lsf_print_layout(call, fields, layout, listing.rows);
    }
    listing_free(&listing);
    return status;
}

/* The same as paragraphs. */
static int show_long(struct call *call, const struct msg_query *query,
                     const char *thing, change_fn *change,
                     int (*print)(struct call *call, const json_t *rows))
{
    struct listing listing = {0};
    int status = listing_gather(call, query, thing, &listing);
    if (status == CALL_OK) {
        if (change != NULL) {
            change(call, &listing);
        }
        status = print(call, listing.rows);
    }
    listing_free(&listing);
    return status;
}

static int show(struct call *call, const struct msg_query *query, const char *thing,
                change_fn *change, const struct lsf_listing *fields)
{
    return show_layout(call, query, thing, change, fields, fields->layout);
}

/* ---- hosts */

/* An operand that is a host of a condensed group stands for the group, as in LSF: the
 * other hosts of the group are fetched as well. */
static int show_condensed(struct call *call, const struct msg_query *query)
{
    struct listing listing = {0};
    int status = listing_gather(call, query, "Host", &listing);
    if (status == CALL_OK && call->n_operands > 0) {
        lsf_condense_name(call, listing.rows);
        status = call->n_operands > 0 ? listing_gather(call, query, "Host", &listing)
                                      : CALL_OK;
    }
    if (status == CALL_OK) {
        json_t *rows =
            lsf_condense_hosts(&call->arena, listing.rows, call_has(call, "-w"));
        status = lsf_print_rows(call, &lsf_fields_hosts, rows);
        json_decref(rows);
    }
    listing_free(&listing);
    return status;
}

int lsf_listing_hosts(struct call *call)
{
    struct msg_query query = listing_query(QUERY_HOSTS);
    lsf_print_default(call, "LSB_BHOSTS_FORMAT", "-l -w -s -e");
    bool is_plain = !call_has(call, "-o") && !call_has(call, "-json");
    query.res_req = call_text(call, "-R");
    if (call_has(call, "-l") && is_plain) {
        return show_long(call, &query, "Host", NULL, lsf_long_hosts);
    }
    if (call_has(call, "-s")) {
        return lsf_listing_shared(call);
    }
    query.exported = call_has(call, "-e");
    if (!query.exported && !call_has(call, "-X")) {
        return show_condensed(call, &query);
    }
    return show_layout(call, &query, "Host", NULL, &lsf_fields_hosts,
                       query.exported ? exported_layout : lsf_fields_hosts.layout);
}

int lsf_listing_shared(struct call *call)
{
    struct msg_query query = listing_query(QUERY_HOSTS);
    query.shared = true;
    return show(call, &query, "resource", NULL, &lsf_fields_shared);
}

static int show_values(struct call *call);

/* All hosts that are known run jobs. */
static void add_server(struct call *call, struct listing *listing)
{
    json_t *row;
    size_t i;
    (void)call;
    json_array_foreach(listing->rows, i, row)
    {
        json_object_set_new(row, "server", json_string("Yes"));
    }
}

int lsf_listing_lshosts(struct call *call)
{
    struct msg_query query = listing_query(QUERY_HOSTS);
    lsf_print_default(call, "LSF_LSHOSTS_FORMAT", "-l -w -s");
    if (call_has(call, "-s")) {
        return show_values(call);
    }
    if (call_has(call, "-l") && !call_has(call, "-o")) {
        return cmd_resources_hosts(call);
    }
    query.res_req = call_text(call, "-R");
    return show(call, &query, "Host", add_server, &lsf_fields_lshosts);
}

/* -n */
static void take_first(struct call *call, struct listing *listing)
{
    const char *count = call_value(call, "-n");
    size_t most = count != NULL ? strtoul(count, NULL, 10) : SIZE_MAX;
    while (json_array_size(listing->rows) > most) {
        json_array_remove(listing->rows, json_array_size(listing->rows) - 1);
    }
}

static bool is_operand(const struct call *call, const char *word)
{
    for (int i = 0; i < call->n_operands; i++) {
        if (strcmp(call->operands[i], word) == 0) {
            return true;
        }
    }
    return false;
}

/* A row for each value of section Resource, by resource and then by host. */
static json_t *list_values(const struct call *call, const json_t *hosts)
{
    json_t *names = json_object(), *rows = json_array(), *unused;
    const json_t *host;
    const char *name;
    size_t i;
    json_array_foreach(hosts, i, host)
    {
        const json_t *load = json_object_get(host, "load");
        json_object_update_missing(names, json_object_get(host, "values"));
        json_object_update_missing(names, json_object_get(load, "resources"));
    }
    json_object_foreach(names, name, unused)
    {
        json_array_foreach(hosts, i, host)
        {
            const json_t *load = json_object_get(host, "load");
            json_t *value = json_object_get(json_object_get(host, "values"), name);
            if (value == NULL) {
                value = json_object_get(json_object_get(load, "resources"), name);
            }
            if (value != NULL && (call->n_operands == 0 || is_operand(call, name))) {
                json_array_append_new(rows, json_pack("{s:s, s:O, s:s}", "resource",
                                                      name, "value", value, "location",
                                                      lsf_format_get(host, "host")));
            }
        }
    }
    json_decref(names);
    return rows;
}

/* lsload -s: the operands are names of resources. */
static int show_values(struct call *call)
{
    struct listing listing = {0};
    struct msg_query query = listing_query(QUERY_HOSTS);
    int status = listing_get(call, &query, &listing);
    if (status == CALL_OK) {
        json_t *rows = list_values(call, listing.rows);
        status = lsf_print_rows(call, &lsf_fields_values, rows);
        json_decref(rows);
    }
    listing_free(&listing);
    return status;
}

/* -I: "ut:mem" as a layout, with the columns of the plain output. */
static const char *indices_layout(struct call *call, const char *names)
{
    const char *text = "host_name:15 status:-6";
    while (*(names += strspn(names, ": ")) != '\0') {
        size_t length = strcspn(names, ": ");
        text = arena_printf(&call->arena, "%s %.*s:-6", text, (int)length, names);
        names += length;
    }
    return text;
}

int lsf_listing_load(struct call *call)
{
    lsf_print_default(call, "LSF_LSLOAD_FORMAT", "-l -w -s -I");
    if (call_has(call, "-s")) {
        return show_values(call);
    }
    struct msg_query query = listing_query(QUERY_LOAD);
    const char *indices = call_value(call, "-I");
    query.res_req = call_text(call, "-R");
    return show_layout(call, &query, "Host", take_first, &lsf_fields_load,
                       indices != NULL        ? indices_layout(call, indices)
                       : call_has(call, "-l") ? load_long_layout
                                              : lsf_fields_load.layout);
}

/* Free slots of hosts that take jobs: nothing ends a job there before its run limit. */
int lsf_listing_slots(struct call *call)
{
    struct listing listing = {0};
    struct msg_query query = listing_query(QUERY_HOSTS);
    json_int_t n_free = 0, most = 0;
    const char *wanted = call_value(call, "-n"), *hosts = "";
    json_t *row;
    size_t i;
    query.res_req = call_text(call, "-R");
    int status = listing_get(call, &query, &listing);
    json_array_foreach(listing.rows, i, row)
    {
        most = json_integer_value(json_object_get(row, "max")) -
               json_integer_value(json_object_get(row, "njobs"));
        if (strcmp(lsf_format_get(row, "status"), "ok") == 0 && most > 0) {
            n_free += most;
            hosts = arena_printf(&call->arena, "%s%s%lld*%s", hosts,
                                 hosts[0] != '\0' ? ":" : "", (long long)most,
                                 lsf_format_get(row, "host"));
        }
    }
    listing_free(&listing);
    if (status == CALL_OK &&
        (n_free <= 0 || (wanted != NULL && n_free < strtoll(wanted, NULL, 10)))) {
        call_fail("No backfill window exists at this time.");
        return LSF_FAILED;
    }
    if (status == CALL_OK) {
        json_t *rows = json_pack("[{s:I,s:s,s:s}]", "slots", n_free, "runtime",
                                 "UNLIMITED", "hosts", hosts);
        status = lsf_print_layout(call, &lsf_fields_slots,
                                  call_has(call, "-l") ? "slots:15 runtime:15 hosts:=20"
                                                       : lsf_fields_slots.layout,
                                  rows);
        json_decref(rows);
    }
    return status;
}

/* ---- queues, users, limits */

static bool has_word(const json_t *row, const char *key, const char *word)
{
    const char *text = lsf_format_get(row, key);
    size_t length = strlen(word);
    if (text[0] == '\0' || strcmp(text, "all") == 0 || strcmp(text, "all users") == 0) {
        return true;
    }
    for (; *text != '\0'; text += strcspn(text, " "), text += strspn(text, " ")) {
        if (strcspn(text, " +") == length && strncmp(text, word, length) == 0) {
            return true;
        }
    }
    return false;
}

static bool may_use(const json_t *row, const void *arg)
{
    const struct call *call = arg;
    const char *host = call_value(call, "-m"), *user = call_value(call, "-u");
    return (host == NULL || has_word(row, "hosts", host)) &&
           (user == NULL || has_word(row, "users", user));
}

static void take_usable(struct call *call, struct listing *listing)
{
    listing_filter(listing, may_use, call);
}

int lsf_listing_queues(struct call *call)
{
    const struct msg_query query = listing_query(QUERY_QUEUES);
    lsf_print_default(call, "LSB_BQUEUES_FORMAT", "-l -w -r");
    bool is_long = call_has(call, "-l") || call_has(call, "-r");
    if (is_long && !call_has(call, "-o")) {
        return show_long(call, &query, "Queue", take_usable, lsf_long_queues);
    }
    return show(call, &query, "Queue", take_usable, &lsf_fields_queues);
}

/* A user of several fairshare scopes is one row: the first. Without operands it is the
 * caller. */
int lsf_listing_users(struct call *call)
{
    struct listing listing = {0};
    struct msg_query query = listing_query(QUERY_USERS);
    lsf_print_default(call, "LSB_BUSERS_FORMAT", "-w");
    json_t *seen = json_object();
    bool is_all = call->n_operands == 1 && strcmp(call->operands[0], "all") == 0;
    const char *self = call->n_operands == 0 ? listing_user(call, false) : NULL;
    call->n_operands = is_all ? 0 : call->n_operands;
    int status = listing_gather(call, &query, "User", &listing);
    for (size_t i = 0; i < json_array_size(listing.rows);) {
        json_t *row = json_array_get(listing.rows, i);
        const char *user = lsf_format_get(row, "user");
        bool is_other = self != NULL && strcmp(user, self) != 0;
        if (is_other || json_object_get(seen, user) != NULL) {
            json_array_remove(listing.rows, i);
        } else {
            json_object_set_new(seen, user, json_true());
            i++;
        }
    }
    if (status == CALL_OK && self != NULL && json_array_size(listing.rows) == 0) {
        json_array_append_new(listing.rows, json_pack("{s:s}", "user", self));
    }
    if (status == CALL_OK) {
        status = lsf_print_rows(call, &lsf_fields_users, listing.rows);
    }
    json_decref(seen);
    listing_free(&listing);
    return status;
}

static void print_title(struct call *call, struct listing *listing)
{
    (void)call;
    if (json_array_size(listing->rows) > 0) {
        printf("\nINTERNAL RESOURCE LIMITS:\n\n");
    }
}

int lsf_listing_limits(struct call *call)
{
    struct msg_query query = listing_query(QUERY_LIMITS);
    query.name = call_text(call, "-n");
    query.queue = call_text(call, "-q");
    query.host = call_text(call, "-m");
    query.project = call_text(call, "-P");
    query.user = listing_user(call, true);
    query.with_ended = call_has(call, "-a");
    query.configured = call_has(call, "-c");
    return show(call, &query, "Limit", print_title, &lsf_fields_limits);
}

static bool is_of_partition(const json_t *row, const void *arg)
{
    const char *wanted = arg, *partition = lsf_format_get(row, "partition");
    return partition[0] != '\0' && (wanted == NULL || strcmp(partition, wanted) == 0);
}

int lsf_listing_partitions(struct call *call)
{
    static const char layout[] = "user:15 share:-6 priority:-9 started:-8 reserved:-8 "
                                 "cpu_time:-9 run_time:-9";
    struct listing listing = {0};
    struct msg_query query = listing_query(QUERY_USERS);
    const char *wanted = call->n_operands > 0 ? call->operands[0] : NULL;
    const char *last = "";
    json_t *row, *one = json_array();
    size_t i;
    int status = listing_get(call, &query, &listing);
    listing_filter(&listing, is_of_partition, wanted);
    json_array_foreach(listing.rows, i, row)
    {
        const char *partition = lsf_format_get(row, "partition");
        bool is_next = strcmp(partition, last) != 0;
        if (is_next) {
            printf("%sHOST_PARTITION_NAME: %s\n\nSHARE_INFO_FOR: %s/\n",
                   i > 0 ? "\n" : "", partition, partition);
            last = partition;
        } else if (i == 1) {
            lsf_line_add(call, "--noheader", "");
        }
        json_array_append(one, row);
        lsf_print_layout(call, &lsf_fields_users, layout, one);
        json_array_clear(one);
    }
    if (status == CALL_OK && json_array_size(listing.rows) == 0) {
        call_fail("No host partition defined.");
        status = LSF_FAILED;
    }
    json_decref(one);
    listing_free(&listing);
    return status;
}

/* ---- groups, profiles, parameters */

static bool is_of_kind(const json_t *row, const void *kind)
{
    return strcmp(lsf_format_get(row, "kind"), kind) == 0;
}

static void take_user_groups(struct call *call, struct listing *listing)
{
    (void)call;
    listing_filter(listing, is_of_kind, "user");
}

static void take_host_groups(struct call *call, struct listing *listing)
{
    (void)call;
    listing_filter(listing, is_of_kind, "host");
}

static void take_units(struct call *call, struct listing *listing)
{
    (void)call;
    listing_filter(listing, is_of_kind, "unit");
}

int lsf_listing_user_groups(struct call *call)
{
    const struct msg_query query = listing_query(QUERY_GROUPS);
    return show(call, &query, "group", take_user_groups, &lsf_fields_groups);
}

int lsf_listing_host_groups(struct call *call)
{
    const struct msg_query query = listing_query(QUERY_GROUPS);
    return call_has(call, "-cu")
               ? show(call, &query, "compute unit", take_units, &lsf_fields_units)
               : show(call, &query, "group", take_host_groups, &lsf_fields_host_groups);
}

int lsf_listing_apps(struct call *call)
{
    struct listing listing = {0};
    struct msg_query query = listing_query(QUERY_APPS);
    const json_t *row;
    size_t i;
    if (!call_has(call, "-l")) {
        return show(call, &query, "Application profile", NULL, &lsf_fields_apps);
    }
    int status = listing_gather(call, &query, "Application profile", &listing);
    json_array_foreach(listing.rows, i, row)
    {
        printf("\nAPPLICATION NAME: %s\n -- %s\n\nSTATISTICS:\n",
               lsf_format_get(row, "app"), lsf_format_get(row, "description"));
        printf("   NJOBS     PEND      RUN     SUSP\n%8s %8s %8s %8s\n\nPARAMETERS:\n",
               lsf_format_count(&call->arena, row, "njobs"),
               lsf_format_count(&call->arena, row, "pend"),
               lsf_format_count(&call->arena, row, "run"),
               lsf_format_count(&call->arena, row, "susp"));
        printf("RES_REQ: %s\n", lsf_format_get(row, "res_req"));
    }
    listing_free(&listing);
    return status != CALL_OK ? status : call_finish_output();
}

int lsf_listing_params(struct call *call)
{
    struct listing listing = {0};
    struct msg_query query = listing_query(QUERY_PARAMS);
    bool is_all = call_has(call, "-a") || call_has(call, "-l");
    const json_t *row;
    size_t i;
    int status = listing_get(call, &query, &listing);
    if (status == CALL_OK && is_all) {
        printf("\n");
    }
    json_array_foreach(listing.rows, i, row)
    {
        const char *name = lsf_format_get(row, "name");
        const char *value = lsf_format_plain(&call->arena, row, "value");
        const char *what = lsf_format_get(row, "what");
        if (is_all) {
            printf("    %s = %s\n", name, value);
        } else if (what[0] != '\0') {
            printf("%s:  %s\n", what, value);
        }
    }
    listing_free(&listing);
    return status != CALL_OK ? status : call_finish_output();
}

/* ---- the site */

int lsf_listing_id(struct call *call)
{
    struct listing listing = {0};
    struct msg_query query = listing_query(QUERY_PARAMS);
    char host[HOST_NAME_SIZE] = "";
    const char *site = "";
    const json_t *row;
    size_t i;
    int status = listing_get(call, &query, &listing);
    json_array_foreach(listing.rows, i, row)
    {
        bool is_name = strcmp(lsf_format_get(row, "name"), "SITE") == 0;
        site = is_name ? lsf_format_get(row, "value") : site;
    }
    if (status == CALL_OK) {
        gethostname(host, sizeof(host) - 1);
        printf("Commands of LSF 10.1.0, of Sublet %s\n\nMy cluster name is %s\n"
               "My master name is %s\n",
               SUBLET_VERSION, site, host);
        status = call_finish_output();
    }
    listing_free(&listing);
    return status;
}

/* The broker's leases, from this site's side. */
int lsf_listing_clusters(struct call *call)
{
    struct listing listing = {0}, params = {0};
    struct msg_query leases = listing_query(QUERY_LEASES);
    struct msg_query query = listing_query(QUERY_PARAMS);
    const json_t *row;
    size_t i;
    int status = listing_get(call, &query, &params);
    if (status == CALL_OK) {
        status = listing_get(call, &leases, &listing);
    }
    if (status != CALL_OK) {
        listing_free(&params);
        return status;
    }
    const char *self = lsf_format_get(json_array_get(params.rows, 0), "value");
    printf("[Resource Lease Information ]\n%-18s %-14s %s\n", "REMOTE_CLUSTER",
           "RESOURCE_FLOW", "STATUS");
    json_array_foreach(listing.rows, i, row)
    {
        bool imports = strcmp(lsf_format_get(row, "consumer"), self) == 0;
        const char *status_word = lsf_format_get(row, "status");
        if (imports || strcmp(lsf_format_get(row, "provider"), self) == 0) {
            printf("%-18s %-14s %s\n",
                   lsf_format_get(row, imports ? "provider" : "consumer"),
                   imports ? "IMPORT" : "EXPORT",
                   status_word[0] != '\0' ? status_word : lsf_format_get(row, "state"));
        }
    }
    listing_free(&listing);
    listing_free(&params);
    return call_finish_output();
}

static json_t *resource_row(const char *name, const char *type, bool is_increasing,
                            const char *description, int64_t interval_s)
{
    bool is_number = strcmp(type, resource_type_name(RESOURCE_NUMERIC)) == 0;
    return json_pack("{s:s,s:s,s:s,s:s,s:I}", "name", name, "type", type, "order",
                     !is_number      ? "N/A"
                     : is_increasing ? "Inc"
                                     : "Dec",
                     "description", description, "interval", (json_int_t)interval_s);
}

/* Built-in resources, then those of section Resource. */
static json_t *list_resources(const struct resources *builtin, const json_t *defined)
{
    json_t *rows = json_array(), *row;
    const char *name;
    for (int id = 0; id < resources_count(builtin); id++) {
        const struct resource *at = resources_at(builtin, id);
        json_t *one =
            resource_row(at->name, resource_type_name(at->type), at->is_increasing,
                         at->description, at->interval_ms / 1000);
        json_object_set_new(one, "consumable", json_boolean(at->is_consumable));
        json_object_set_new(one, "builtin", json_true());
        json_array_append_new(rows, one);
    }
    json_object_foreach((json_t *)(uintptr_t)defined, name, row)
    {
        json_t *one = resource_row(
            name, lsf_format_get(row, "type"),
            json_is_true(json_object_get(row, "increasing")),
            lsf_format_get(row, "description"),
            (int64_t)json_integer_value(json_object_get(row, "interval_s")));
        json_object_set(one, "consumable", json_object_get(row, "consumable"));
        if (json_is_true(json_object_get(row, "consumable"))) {
            json_object_set(one, "released", json_object_get(row, "released"));
        }
        json_array_append_new(rows, one);
    }
    return rows;
}

static const char *yes_no(const json_t *row, const char *key)
{
    return json_is_true(json_object_get(row, key)) ? "Yes" : "No";
}

/* lsinfo -l */
static int show_resources_long(struct call *call, const json_t *rows)
{
    const json_t *row;
    size_t i;
    if (json_array_size(rows) == 0) {
        return lsf_print_rows(call, &lsf_fields_resources, rows);
    }
    json_array_foreach(rows, i, row)
    {
        json_int_t interval = json_integer_value(json_object_get(row, "interval"));
        printf("%sRESOURCE_NAME:  %s\nDESCRIPTION: %s\n"
               "TYPE      ORDER  INTERVAL  BUILTIN  DYNAMIC  RELEASE  CONSUMABLE\n"
               "%-7s   %5s  %8lld  %7s  %7s  %7s  %10s\n",
               i > 0 ? "\n" : "", lsf_format_get(row, "name"),
               lsf_format_get(row, "description"), lsf_format_get(row, "type"),
               lsf_format_get(row, "order"), (long long)interval,
               yes_no(row, "builtin"), interval > 0 ? "Yes" : "No",
               yes_no(row, "released"), yes_no(row, "consumable"));
    }
    return call_finish_output();
}

static bool is_named(const json_t *row, const struct call *call)
{
    for (int i = 0; i < call->n_operands; i++) {
        if (strcmp(lsf_format_get(row, "name"), call->operands[i]) == 0) {
            return true;
        }
    }
    return call->n_operands == 0;
}

/* lsinfo -m and -t: what the hosts are. */
static int show_models(struct call *call, bool is_type)
{
    struct listing listing = {0};
    struct msg_query query = listing_query(QUERY_HOSTS);
    const char *key = is_type ? "type" : "model";
    json_t *seen = json_object(), *rows = json_array();
    const json_t *row;
    size_t i;
    int status = listing_get(call, &query, &listing);
    json_array_foreach(listing.rows, i, row)
    {
        const char *name = lsf_format_get(row, key);
        if (name[0] != '\0' && json_object_get(seen, name) == NULL) {
            json_object_set_new(seen, name, json_true());
            json_array_append_new(rows, json_pack("{s:s,s:O?,s:s}", "name", name,
                                                  "cpuf", json_object_get(row, "cpuf"),
                                                  "architecture",
                                                  lsf_format_get(row, "architecture")));
        }
    }
    if (status == CALL_OK) {
        status = lsf_print_rows(call, is_type ? &lsf_fields_types : &lsf_fields_models,
                                rows);
    }
    json_decref(rows);
    json_decref(seen);
    listing_free(&listing);
    return status;
}

int lsf_listing_resources(struct call *call)
{
    struct listing listing = {0};
    if (call_has(call, "-m") || call_has(call, "-M") || call_has(call, "-t")) {
        return show_models(call, call_has(call, "-t"));
    }
    struct msg_query query = listing_query(QUERY_LOAD);
    int status = listing_get(call, &query, &listing);
    if (status != CALL_OK) {
        return status;
    }
    struct resources *builtin = resources_new();
    json_t *rows =
        list_resources(builtin, json_object_get(listing.object, "resources"));
    for (size_t i = 0; i < json_array_size(rows);) {
        if (is_named(json_array_get(rows, i), call)) {
            i++;
        } else {
            json_array_remove(rows, i);
        }
    }
    bool is_long = call_has(call, "-l");
    status = is_long ? show_resources_long(call, rows)
                     : lsf_print_rows(call, &lsf_fields_resources, rows);
    json_decref(rows);
    resources_free(builtin);
    listing_free(&listing);
    if (status != CALL_OK || is_long || call->n_operands > 0 || call_has(call, "-r")) {
        return status;
    }
    putchar('\n');
    status = show_models(call, true);
    putchar('\n');
    return status == CALL_OK ? show_models(call, false) : status;
}
