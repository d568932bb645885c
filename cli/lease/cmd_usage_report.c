/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_usage_report.c: see cmd_usage_report.h. Charts are drawings in the page (SVG): a
 * bar for each day, of the slots that were used and of those that were idle, on
 * average. The same numbers are in tables. */
#include "cli/lease/cmd_usage_report.h"

#include <string.h>

#include "cli/lease/cmd_usage_quota.h"
#include "cli/listing/listing.h"
#include "model/quota.h"
#include "model/usage_ask.h"
#include "sys/daemon.h"
#include "usage/usage.h"

enum {
    DAYS_MAX = 31,
    STEP = 28,
    HEIGHT = 140,
    LEFT = 56,
    WIDTH = LEFT + STEP * DAYS_MAX
};

static const char head[] =
    "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width\">\n<style>\n"
    "body{font:15px/1.45 system-ui,sans-serif;color:#1b1f24;max-width:980px;"
    "margin:2em auto;padding:0 1em}\n"
    "h1{font-size:1.5em}h2{font-size:1.1em;margin:2em 0 .3em}\n"
    "p{color:#57606a;margin:.3em 0}table{border-collapse:collapse;width:100%}\n"
    "td,th{text-align:right;padding:.25em .6em;border-bottom:1px solid #d8dee4;"
    "font-variant-numeric:tabular-nums}\n"
    "th{color:#57606a;font-weight:600}td.t,th.t{text-align:left}\n"
    "svg{width:100%;height:auto}text{font-size:11px;fill:#57606a}\n"
    ".used{fill:#2f6f9f}.idle{fill:#c9d7e3}section{break-inside:avoid}\n"
    "@media print{body{margin:0;max-width:none}}\n</style>\n";

/* Names are the users': as text, whatever they are. */
static void print_text(const char *text)
{
    for (; *text != '\0'; text++) {
        switch (*text) {
        case '<':
            printf("&lt;");
            break;
        case '>':
            printf("&gt;");
            break;
        case '&':
            printf("&amp;");
            break;
        case '"':
            printf("&quot;");
            break;
        default:
            putchar(*text);
        }
    }
}

static double number_of(const json_t *row, const char *key)
{
    return json_number_value(json_object_get(row, key));
}

static const char *text_of(const json_t *row, const char *key)
{
    const char *text = json_string_value(json_object_get(row, key));
    return text != NULL ? text : "-";
}

/* ---------------------------------------------------------------- charts */

struct chart {
    double used[DAYS_MAX], idle[DAYS_MAX]; /* slots, on average over a day */
};

static double highest_of(const struct chart *chart)
{
    double highest = 1;
    for (int i = 0; i < DAYS_MAX; i++) {
        double sum = chart->used[i] + chart->idle[i];
        highest = sum > highest ? sum : highest;
    }
    return highest;
}

static void print_bar(const char *kind, int day, double from, double slots,
                      double highest)
{
    if (slots > 0) {
        printf("<rect class=\"%s\" x=\"%d\" y=\"%.1f\" width=\"%d\" height=\"%.1f\">"
               "<title>day %d: %s: %.2f slots</title></rect>\n",
               kind, LEFT + day * STEP + 3,
               HEIGHT * (1 - (from + slots) / highest) + 10, STEP - 6,
               HEIGHT * slots / highest, day + 1, kind, slots);
    }
}

static void print_chart(const struct chart *chart, int n_days)
{
    double highest = highest_of(chart);
    printf("<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"slots by day\">\n"
           "<text x=\"0\" y=\"18\">%.1f slots</text><text x=\"0\" y=\"%d\">0</text>\n",
           WIDTH, HEIGHT + 32, highest, HEIGHT + 10);
    for (int day = 0; day < n_days; day++) {
        print_bar("used", day, 0, chart->used[day], highest);
        print_bar("idle", day, chart->used[day], chart->idle[day], highest);
        printf("<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%d</text>\n",
               LEFT + day * STEP + STEP / 2, HEIGHT + 26, day + 1);
    }
    printf("</svg>\n");
}

/* The rows are by lease, side and day. */
static void print_charts(const json_t *rows, int n_days)
{
    size_t at = 0, n_rows = json_array_size(rows);
    while (at < n_rows) {
        const json_t *first = json_array_get(rows, at), *row = first;
        struct chart chart = {{0}, {0}};
        while (at < n_rows &&
               strcmp(text_of(row, "lease"), text_of(first, "lease")) == 0 &&
               strcmp(text_of(row, "side"), text_of(first, "side")) == 0) {
            const char *date = text_of(row, "day"); /* 2026-11-23 */
            int day = (date[8] - '0') * 10 + date[9] - '1';
            if (day >= 0 && day < DAYS_MAX) {
                chart.used[day] += number_of(row, "used_s") / 86400;
                chart.idle[day] += number_of(row, "idle_s") / 86400;
            }
            row = json_array_get(rows, ++at);
        }
        printf("<section><h2>");
        print_text(text_of(first, "lease"));
        printf(", %s</h2>\n", text_of(first, "side"));
        print_chart(&chart, n_days);
        printf("</section>\n");
    }
}

/* ---------------------------------------------------------------- tables */

static void print_hours(double seconds)
{
    printf("<td>%.2f</td>", seconds / 3600);
}

static void print_table(const char *title, const char *const *keys, const json_t *rows)
{
    size_t at;
    json_t *row;
    printf("<section><h2>%s</h2>\n<table><tr>", title);
    for (int i = 0; keys[i] != NULL; i++) {
        printf("<th class=\"t\">%s</th>", keys[i]);
    }
    printf(
        "<th>held (h)</th><th>used (h)</th><th>idle (h)</th><th>credits</th></tr>\n");
    json_array_foreach(rows, at, row)
    {
        printf("<tr>");
        for (int i = 0; keys[i] != NULL; i++) {
            printf("<td class=\"t\">");
            print_text(text_of(row, keys[i]));
            printf("</td>");
        }
        print_hours(number_of(row, "held_s"));
        print_hours(number_of(row, "used_s"));
        print_hours(number_of(row, "idle_s"));
        printf("<td>%.2f</td></tr>\n", number_of(row, "credits"));
    }
    printf("</table></section>\n");
}

/* ---------------------------------------------------------------- quotas */

static void print_count(const json_t *row, const char *key)
{
    const json_t *value = json_object_get(row, key);
    if (json_is_integer(value)) {
        printf("<td>%lld</td>", (long long)json_integer_value(value));
    } else {
        printf("<td>-</td>");
    }
}

static void print_quotas(const char *what, const char *key, const json_t *rows)
{
    size_t at;
    json_t *row;
    json_array_foreach(rows, at, row)
    {
        if (json_integer_value(json_object_get(row, "price")) == 0 &&
            !json_is_integer(json_object_get(row, "hours"))) {
            continue;
        }
        printf("<tr><td class=\"t\">%s</td><td class=\"t\">", what);
        if (json_object_get(row, "pool") != NULL) {
            print_text(text_of(row, "pool"));
            printf(": ");
        }
        print_text(text_of(row, key));
        printf("</td>");
        print_count(row, "price");
        print_count(row, "hours");
        print_count(row, "hours_used");
        printf("</tr>\n");
    }
}

/* PRICE and HOURS, which the broker knows, and only of the present month. */
static void print_terms(struct call *call)
{
    json_t *leases = cmd_usage_quota_leases(call);
    json_t *nodes = leases != NULL ? cmd_usage_quota_nodes(call) : NULL;
    printf("<section><h2>Prices and quotas now</h2>\n");
    if (nodes == NULL) {
        printf("<p>Not known: the broker does not answer.</p></section>\n");
    } else {
        printf(
            "<table><tr><th class=\"t\"></th><th class=\"t\"></th><th>credits per slot "
            "hour</th><th>slot hours a month</th><th>used</th></tr>\n");
        print_quotas("lease", "lease", leases);
        print_quotas("node", "node", nodes);
        printf("</table></section>\n");
    }
    json_decref(leases);
    json_decref(nodes);
}

/* ---------------------------------------------------------------- the page */

static int read_month(struct call *call, const char *month, struct msg_query *query)
{
    struct err err;
    query->from_ms = quota_month_ms(daemon_now_ms());
    if (month != NULL && (strlen(month) != strlen("2026-11") ||
                          usage_ask_date(arena_printf(&call->arena, "%s-01", month),
                                         &query->from_ms, &err) < 0)) {
        return call_misuse(call, "--month: \"%s\", expected a month, as 2026-11",
                           month);
    }
    query->to_ms = quota_month_ms(query->from_ms + 31 * USAGE_DAY_MS);
    return CALL_OK;
}

int cmd_usage_report_run(struct call *call, struct msg_query *query, const char *month)
{
    static const char *const by[] = {"lease,lent", "lease,day,lent", "user,project"};
    static const char *const lease_keys[] = {"lease", "side", NULL};
    static const char *const user_keys[] = {"side", "user", "project", NULL};
    enum { LEASES, DAYS, USERS, LISTINGS };
    struct listing listings[LISTINGS] = {{0}};
    int status = read_month(call, month, query);
    for (int i = 0; i < LISTINGS && status == CALL_OK; i++) {
        query->by = by[i];
        status = listing_gather(call, query, "lease", &listings[i]);
    }
    if (status == CALL_OK) {
        char date[32];
        value_format_instant(query->from_ms, date);
        printf(
            "%s<title>Leases in %.7s</title></head><body>\n<h1>Leases in %.7s</h1>\n"
            "<p>Slot hours of this site's ledger, by its own records. Times are UTC. "
            "Bars: slots on average over each day, used and idle.</p>\n",
            head, date, date);
        print_table("By lease", lease_keys, listings[LEASES].rows);
        print_charts(listings[DAYS].rows,
                     (int)((query->to_ms - query->from_ms) / USAGE_DAY_MS));
        print_table("By user and project", user_keys, listings[USERS].rows);
        if (query->from_ms == quota_month_ms(daemon_now_ms())) {
            print_terms(call);
        }
        printf("</body></html>\n");
        status = call_finish_output();
    }
    for (int i = 0; i < LISTINGS; i++) {
        listing_free(&listings[i]);
    }
    return status;
}
