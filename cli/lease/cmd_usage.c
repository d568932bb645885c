/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_usage.c: `sublet usage`: the slot time of leases that this site held, used and
 * left idle. Source: docs/usage.md. */
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/lease/cmd_usage_quota.h"
#include "cli/lease/cmd_usage_reconcile.h"
#include "cli/lease/cmd_usage_report.h"
#include "cli/lease/cmd_usage_swf.h"
#include "cli/listing/listing.h"
#include "model/msg.h"
#include "model/usage_ask.h"
#include "usage/usage.h"

const struct call_option cmd_usage_options[] = {
    {"--from", "DATE", "from this day or hour (UTC) on: 2026-11-23, 2026-11-23T08:00",
     false},
    {"--to", "DATE", "before this day or hour (default: now)", false},
    {"--by", "WORDS",
     "sums by lease,site,node,user,project,queue,account,day,hour; with lent", false},
    {"-u", "USER", "of this user's jobs only", false},
    {"-q", "QUEUE", "of jobs of this queue only", false},
    {"-P", "PROJECT", "of jobs of this project only", false},
    {"--csv", NULL, "as CSV", false},
    {"--balance", NULL, "credits that this site and each other one owe each other",
     false},
    {"--report", NULL, "a month as an HTML page with charts", false},
    {"--month", "MONTH", "of the report: 2026-11 (default: the present one)", false},
    {"--swf", NULL, "jobs that ended, in the Standard Workload Format", false},
    {"--reconcile", NULL, "compares the books of both sites and of the broker", false},
    {NULL, NULL, NULL, false},
};

#define SECONDS(heading, path)                                                         \
    {                                                                                  \
        heading, path, true, format_plain                                              \
    }
static const struct column known[] = {
    {"LEASE", "lease", false, format_plain},
    {"PROVIDER", "provider", false, format_plain},
    {"CONSUMER", "consumer", false, format_plain},
    {"NODE", "node", false, format_plain},
    {"SIDE", "side", false, format_plain},
    {"DAY", "day", false, format_plain},
    {"HOUR", "hour", false, format_plain},
    {"USER", "user", false, format_plain},
    {"QUEUE", "queue", false, format_plain},
    {"PROJECT", "project", false, format_plain},
    {"ACCOUNT", "account", false, format_plain},
    SECONDS("HELD_S", "held_s"),
    SECONDS("USED_S", "used_s"),
    SECONDS("IDLE_S", "idle_s"),
    SECONDS("CREDITS", "credits"),
    SECONDS("PRICE", "price"),
    SECONDS("HOURS", "hours"),
    SECONDS("HOURS_USED", "hours_used"),
};
enum { N_KNOWN = sizeof known / sizeof known[0] };

static int read_date(const struct call *call, const char *option, const char *text,
                     int64_t *at_ms)
{
    struct err err;
    return usage_ask_date(text, at_ms, &err) < 0
               ? call_misuse(call, "%s: %s", option, err.text)
               : CALL_OK;
}

/* The columns that the first row has, apart from sites that the lease names. */
static void select_columns(const json_t *rows, bool with_sites, struct column *columns)
{
    const json_t *row = json_array_get(rows, 0);
    bool has_lease = json_object_get(row, "lease") != NULL;
    for (int i = 0; i < N_KNOWN; i++) {
        bool is_site = strcmp(known[i].path, "provider") == 0 ||
                       strcmp(known[i].path, "consumer") == 0;
        if (json_object_get(row, known[i].path) != NULL &&
            (with_sites || !is_site || !has_lease)) {
            *columns++ = known[i];
        }
    }
    *columns = (struct column){NULL, NULL, false, NULL};
}

/* RFC 4180. */
static void print_cell(const char *text)
{
    if (text[strcspn(text, ",\"\r\n")] == '\0') {
        printf("%s", text);
        return;
    }
    putchar('"');
    for (; *text != '\0'; text++) {
        printf(*text == '"' ? "\"\"" : "%c", *text);
    }
    putchar('"');
}

static int print_csv(struct call *call, const struct listing *listing)
{
    struct column columns[N_KNOWN + 1];
    size_t at;
    json_t *row;
    select_columns(listing->rows, true, columns);
    for (int i = 0; columns[i].path != NULL; i++) {
        printf("%s%s", i > 0 ? "," : "", columns[i].path);
    }
    printf("%s", columns[0].path != NULL ? "\r\n" : "");
    json_array_foreach(listing->rows, at, row)
    {
        for (int i = 0; columns[i].path != NULL; i++) {
            json_t *value = json_object_get(row, columns[i].path);
            printf("%s", i > 0 ? "," : "");
            print_cell(json_is_null(value) ? "" : format_plain(&call->arena, value));
        }
        printf("\r\n");
    }
    return call_finish_output();
}

static int show(struct call *call, struct listing *listing)
{
    struct column table[N_KNOWN + 1];
    const struct columns columns = {table, NULL, NULL,
                                    "no slot time is booked in this period"};
    const char *merged =
        json_string_value(json_object_get(listing->object, "merged_before"));
    if (merged != NULL && !call_has(call, "--json")) {
        call_say("before %s, hours are merged into days: LEDGER_SIZE", merged);
    }
    if (call_has(call, "--csv")) {
        return print_csv(call, listing);
    }
    select_columns(listing->rows, false, table);
    return listing_show(call, listing, &columns);
}

/* ---------------------------------------------------------------- balances */

static json_t *find_balance(json_t *balances, const char *site)
{
    size_t at;
    json_t *row;
    json_array_foreach(balances, at, row)
    {
        if (strcmp(json_string_value(json_object_get(row, "site")), site) == 0) {
            return row;
        }
    }
    row = json_pack("{s:s, s:f, s:f, s:f}", "site", site, "owes", 0.0, "is_owed", 0.0,
                    "net", 0.0);
    json_array_append_new(balances, row);
    return row;
}

static void add_credits(json_t *balance, const char *key, double credits, double net)
{
    double sum = json_real_value(json_object_get(balance, key)) + credits;
    double net_sum = json_real_value(json_object_get(balance, "net")) + net;
    json_object_set_new(balance, key, json_real(sum));
    json_object_set_new(balance, "net", json_real(net_sum));
}

/* The rows by site become one for each other site. */
static void balance_rows(struct listing *listing)
{
    json_t *balances = json_array(), *row;
    size_t at;
    json_array_foreach(listing->rows, at, row)
    {
        const char *side = json_string_value(json_object_get(row, "side"));
        bool is_lent = strcmp(side, usage_side_name(USAGE_LENT)) == 0;
        double credits = json_number_value(json_object_get(row, "credits"));
        if (is_lent || strcmp(side, usage_side_name(USAGE_CONSUMER)) == 0) {
            const char *other = is_lent ? "consumer" : "provider";
            add_credits(
                find_balance(balances, json_string_value(json_object_get(row, other))),
                is_lent ? "owes" : "is_owed", credits, is_lent ? credits : -credits);
        }
    }
    json_t *object =
        json_pack("{s:i, s:o, s:O, s:O}", "schema_version", 1, "balances", balances,
                  "from", json_object_get(listing->object, "from"), "to",
                  json_object_get(listing->object, "to"));
    json_decref(listing->object);
    listing->object = object;
    listing->rows = balances;
}

static int show_balance(struct call *call, struct msg_query *query)
{
    static const struct column table[] = {
        {"SITE", "site", false, format_plain},
        {"OWES", "owes", true, format_plain},
        {"IS_OWED", "is_owed", true, format_plain},
        {"NET", "net", true, format_plain},
        {NULL, NULL, false, NULL},
    };
    const struct columns columns = {table, NULL, NULL,
                                    "no slot time is booked in this period"};
    struct listing listing = {0};
    query->by = "site,lent";
    int status = listing_gather(call, query, "lease", &listing);
    if (status == CALL_OK) {
        balance_rows(&listing);
        status = listing_show(call, &listing, &columns);
    }
    listing_free(&listing);
    return status;
}

/* A trace has the fields of its format. */
static int check_alone(const struct call *call, const char *option)
{
    static const char *const others[] = {"--by", "--json", "--csv",      "--reconcile",
                                         "-o",   "--sort", "--noheader", "--balance"};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        if (call_has(call, others[i])) {
            return call_misuse(call, "%s cannot be given with %s", others[i], option);
        }
    }
    return CALL_OK;
}

int cmd_usage_run(struct call *call)
{
    struct listing listing = {0};
    struct msg_query query = listing_query(QUERY_USAGE);
    const char *from = call_value(call, "--from"), *to = call_value(call, "--to");
    const char *by = call_value(call, "--by"), *user = call_value(call, "-u");
    const char *queue = call_value(call, "-q"), *project = call_value(call, "-P");
    int status =
        from != NULL ? read_date(call, "--from", from, &query.from_ms) : CALL_OK;
    if (status == CALL_OK && to != NULL) {
        status = read_date(call, "--to", to, &query.to_ms);
    }
    if (status == CALL_OK && to != NULL && query.to_ms <= query.from_ms) {
        status = call_misuse(call, "--to is not later than --from");
    }
    query.by = by != NULL ? by : "";
    query.user = user != NULL && strcmp(user, "all") != 0 ? user : "";
    query.queue = queue != NULL ? queue : "";
    query.project = project != NULL ? project : "";
    if (status == CALL_OK && call_has(call, "--report")) {
        status =
            from != NULL || to != NULL
                ? call_misuse(call, "--report is of a --month, not --from and --to")
                : check_alone(call, "--report");
        return status == CALL_OK
                   ? cmd_usage_report_run(call, &query, call_value(call, "--month"))
                   : status;
    }
    if (status == CALL_OK && call_has(call, "--month")) {
        status = call_misuse(call, "--month is of --report");
    }
    if (status == CALL_OK && call_has(call, "--swf")) {
        status = check_alone(call, "--swf");
        return status == CALL_OK ? cmd_usage_swf_run(call, &query) : status;
    }
    if (status == CALL_OK && call_has(call, "--balance")) {
        return call_has(call, "--by")
                   ? call_misuse(call, "--by cannot be given with --balance")
                   : show_balance(call, &query);
    }
    if (status == CALL_OK && call_has(call, "--reconcile")) {
        return cmd_usage_reconcile_run(call, query.from_ms, query.to_ms);
    }
    if (status == CALL_OK) {
        status = listing_gather(call, &query, "lease", &listing);
    }
    if (status == CALL_OK && by != NULL && strstr(by, "node") != NULL) {
        json_t *nodes = cmd_usage_quota_nodes(call); /* without it: not known */
        cmd_usage_quota_join(nodes, listing.rows);
        json_decref(nodes);
    }
    if (status == CALL_OK) {
        status = show(call, &listing);
    }
    listing_free(&listing);
    return status;
}
