/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_usage_reconcile.c: see cmd_usage_reconcile.h. */
#include "cli/lease/cmd_usage_reconcile.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cli/connect.h"
#include "cli/lease/cmd_usage_behind.h"
#include "cli/listing/format.h"
#include "cli/listing/listing.h"
#include "model/msg.h"
#include "sys/daemon.h"
#include "usage/usage.h"

#define DEFAULT_MS (30 * USAGE_DAY_MS)

enum { BEHIND_MAX = 50 }; /* differences of a lease that are followed to their runs */

enum { BOOK_SITE, BOOK_OTHER, BOOK_BROKER, BOOKS };
static const char *const books[BOOKS] = {"site", "other", "broker"};

struct comparison {
    struct call *call;
    struct connect *connect;
    int64_t from_ms, to_ms;
    json_t *pages[BOOKS]; /* arrays of answers */
    json_t *rows;         /* differences */
    const char *lease;
    const char *sites[USAGE_BOOKS]; /* whose books; USAGE_LENT: the consumer's */
    int n_unknown, n_known;
};

static int64_t number_of(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

/* ---------------------------------------------------------------- books */

static int fetch_page(struct comparison *comparison, int book, int64_t *from_ms,
                      struct err *err)
{
    struct msg_query query = listing_query(QUERY_LEDGER);
    json_t *page;
    query.name = comparison->lease;
    query.from_ms = *from_ms;
    query.to_ms = comparison->to_ms;
    int rc = cmd_usage_behind_page(comparison->connect, query, books[book], &page, err);
    if (rc == 0) {
        *from_ms = number_of(page, "next_ms");
        json_array_append_new(comparison->pages[book], page);
    }
    return rc;
}

static int fetch_books(struct comparison *comparison, struct err *err)
{
    int rc = 0;
    for (int book = 0; book < BOOKS && rc == 0; book++) {
        int64_t from_ms = comparison->from_ms;
        json_decref(comparison->pages[book]);
        comparison->pages[book] = json_array();
        while (from_ms > 0 && rc == 0) {
            rc = fetch_page(comparison, book, &from_ms, err);
        }
    }
    return rc;
}

static int64_t latest(const struct comparison *comparison, const char *key)
{
    int64_t number = 0;
    for (int book = 0; book < BOOKS; book++) {
        int64_t of_book = number_of(json_array_get(comparison->pages[book], 0), key);
        number = of_book > number ? of_book : number;
    }
    return number;
}

static void add_page(struct usage_reconcile *reconcile, const json_t *page, int book)
{
    size_t at;
    json_t *row;
    json_array_foreach(json_object_get(page, "ledger"), at, row)
    {
        const char *name = json_string_value(json_object_get(row, "side"));
        bool is_provider = name != NULL && strcmp(name, "provider") == 0;
        bool is_lent = name != NULL && strcmp(name, "lent") == 0;
        enum usage_side side = is_provider ? USAGE_PROVIDER : USAGE_CONSUMER;
        int64_t hour_ms = number_of(row, "hour_ms"),
                held_ms = number_of(row, "held_ms");
        if (book == BOOK_BROKER) {
            usage_reconcile_broker(reconcile, side, hour_ms, held_ms,
                                   (int)number_of(row, "n_changes"),
                                   (int)number_of(row, "n_slots"));
        } else if (!is_lent) {
            usage_reconcile_site(reconcile, side, hour_ms, held_ms);
        }
        if (book != BOOK_BROKER && !is_provider) {
            usage_reconcile_used(reconcile, is_lent, hour_ms, number_of(row, "used_ms"),
                                 number_of(row, "n_moved"));
        }
    }
}

/* Each site has the side that is its own. */
static int book_of(const struct comparison *comparison, enum usage_side side)
{
    size_t at;
    json_t *row;
    const json_t *page = json_array_get(comparison->pages[BOOK_SITE], 0);
    json_array_foreach(json_object_get(page, "ledger"), at, row)
    {
        const char *name = json_string_value(json_object_get(row, "side"));
        bool is_it = name != NULL && strcmp(name, usage_side_name(side)) == 0;
        return is_it ? BOOK_SITE : BOOK_OTHER;
    }
    page = json_array_get(comparison->pages[BOOK_OTHER], 0);
    json_array_foreach(json_object_get(page, "ledger"), at, row)
    {
        const char *name = json_string_value(json_object_get(row, "side"));
        bool is_it = name != NULL && strcmp(name, usage_side_name(side)) == 0;
        return is_it ? BOOK_OTHER : BOOK_SITE;
    }
    return BOOK_SITE;
}

static void add_books(struct comparison *comparison, struct usage_reconcile *reconcile)
{
    const json_t *of_broker = json_array_get(comparison->pages[BOOK_BROKER], 0);
    for (int book = 0; book < BOOKS; book++) {
        size_t at;
        json_t *page;
        json_array_foreach(comparison->pages[book], at, page)
        {
            add_page(reconcile, page, book);
        }
    }
    for (int side = 0; side < USAGE_SIDES; side++) {
        int book = book_of(comparison, (enum usage_side)side);
        const json_t *of_site = json_array_get(comparison->pages[book], 0);
        usage_reconcile_begin(reconcile, (enum usage_side)side,
                              number_of(of_site, "first_ms"),
                              number_of(of_broker, "first_ms"));
    }
    usage_reconcile_begin(
        reconcile, USAGE_LENT,
        number_of(json_array_get(comparison->pages[BOOK_SITE], 0), "first_ms"),
        number_of(json_array_get(comparison->pages[BOOK_OTHER], 0), "first_ms"));
}

/* ---------------------------------------------------------------- absences */

static void note_event(struct comparison *comparison, struct usage_reconcile *reconcile,
                       const json_t *row, int64_t lost_ms[USAGE_SIDES])
{
    const char *event = json_string_value(json_object_get(row, "event"));
    const char *site = json_string_value(json_object_get(row, "site"));
    const char *at = json_string_value(json_object_get(row, "at"));
    int64_t at_ms = 0;
    for (int side = 0; side < USAGE_SIDES && event != NULL && site != NULL; side++) {
        if (strcmp(site, comparison->sites[side]) != 0 || at == NULL ||
            !format_read_instant(at, &at_ms)) {
            continue;
        }
        if (strcmp(event, "lost") == 0) {
            lost_ms[side] = at_ms;
        } else if (strcmp(event, "back") == 0) {
            usage_reconcile_away(reconcile, (enum usage_side)side,
                                 lost_ms[side] > 0 ? lost_ms[side] : at_ms, at_ms);
            lost_ms[side] = 0;
        }
    }
}

/* The broker's events of its two sites: when they were lost. */
static int add_absences(struct comparison *comparison,
                        struct usage_reconcile *reconcile, struct err *err)
{
    struct listing events = {0};
    struct msg_query query = listing_query(QUERY_EVENTS);
    int64_t lost_ms[USAGE_SIDES] = {0};
    int rc = listing_fetch(&events, comparison->connect, &query, err);
    size_t at;
    json_t *row;
    json_array_foreach(events.rows, at, row)
    {
        note_event(comparison, reconcile, row, lost_ms);
    }
    for (int side = 0; side < USAGE_SIDES; side++) {
        if (lost_ms[side] > 0) {
            usage_reconcile_away(reconcile, (enum usage_side)side, lost_ms[side],
                                 comparison->to_ms);
        }
    }
    listing_free(&events);
    return rc;
}

/* ---------------------------------------------------------------- differences */

static const char *explain(const struct comparison *comparison,
                           const struct usage_difference *difference)
{
    const char *site = comparison->sites[difference->side];
    struct arena *arena = &comparison->call->arena;
    char from[32], to[32];
    switch (difference->cause) {
    case USAGE_CAUSE_YOUNG:
        return "one of the books begins later";
    case USAGE_CAUSE_AWAY:
        value_format_instant(difference->away_from_ms, from);
        value_format_instant(difference->away_to_ms, to);
        return arena_printf(arena, "%s was away from %s to %s",
                            difference->side == USAGE_LENT ? "one of the two" : site,
                            from, to);
    case USAGE_CAUSE_CLOCK:
        if (difference->side == USAGE_LENT) {
            return "the clock of one of the two was wrong";
        }
        return arena_printf(arena, "the clock of %s or of the broker was wrong", site);
    case USAGE_CAUSE_NONE:
    default:
        return "not known";
    }
}

static json_t *show_ms(int64_t at_ms)
{
    char text[32];
    value_format_instant(at_ms, text);
    return json_string(text);
}

static void add_difference(void *arg, const struct usage_difference *difference)
{
    static const char *const causes[] = {"unknown", "begins_later", "away", "clock"};
    struct comparison *comparison = arg;
    json_t *row = json_object();
    json_object_set_new(row, "lease", json_string(comparison->lease));
    json_object_set_new(row, "side", json_string(usage_side_name(difference->side)));
    json_object_set_new(row, "site", json_string(comparison->sites[difference->side]));
    json_object_set_new(row, "from", show_ms(difference->start_ms));
    json_object_set_new(row, "to", show_ms(difference->end_ms));
    json_object_set_new(row, "site_ms", json_integer(difference->site_ms));
    json_object_set_new(row,
                        difference->side == USAGE_LENT ? "provider_ms" : "broker_ms",
                        json_integer(difference->broker_ms));
    json_object_set_new(
        row, "difference_s",
        json_real((double)(difference->site_ms - difference->broker_ms) / 1000));
    json_object_set_new(row, "cause", json_string(causes[difference->cause]));
    json_object_set_new(row, "reason", json_string(explain(comparison, difference)));
    json_array_append_new(comparison->rows, row);
    comparison->n_known += difference->cause != USAGE_CAUSE_NONE;
}

/* ---------------------------------------------------------------- behind them */

/* Why a run differs, by what is known of that time. */
static void explain_run(const struct comparison *comparison, json_t *run,
                        const struct usage_reconcile *reconcile)
{
    struct arena *arena = &comparison->call->arena;
    int64_t from_ms = 0, to_ms = 0, away_ms[2];
    bool is_shifted =
        strcmp(json_string_value(json_object_get(run, "cause")), "clock") == 0;
    const char *reason = "not known", *cause = "unknown";
    format_read_instant(json_string_value(json_object_get(run, "from")), &from_ms);
    format_read_instant(json_string_value(json_object_get(run, "to")), &to_ms);
    if (is_shifted) {
        cause = "clock";
        reason = "the same time by both, at another time: the clock of one of the two "
                 "was wrong";
    } else if (usage_reconcile_find_away(reconcile, USAGE_LENT, from_ms, to_ms,
                                         &away_ms[0], &away_ms[1])) {
        char from[32], to[32];
        value_format_instant(away_ms[0], from);
        value_format_instant(away_ms[1], to);
        cause = "away";
        reason = arena_printf(arena, "one of the two was away from %s to %s", from, to);
    }
    json_object_set_new(run, "cause", json_string(cause));
    json_object_set_new(run, "reason", json_string(reason));
}

/* The hours differ, and nothing behind them does: they are not what their runs and
 * splits come to. */
static void note_nothing(json_t *row, const char *key, const char *cause)
{
    if (json_array_size(json_object_get(row, key)) == 0 &&
        strcmp(cause, "unknown") == 0) {
        json_object_set_new(
            row, "reason",
            json_string(strcmp(key, "runs") == 0
                            ? "not known: no run differs, so that the hours of one of "
                              "the two are not those of its runs"
                            : "not known: no split differs, so that the hours of one "
                              "of the two are not those of its splits"));
    }
}

static int look_behind(struct comparison *comparison, json_t *row,
                       const struct usage_reconcile *reconcile, struct err *err)
{
    struct cmd_usage_behind what = {.connect = comparison->connect,
                                    .lease = comparison->lease,
                                    .until_ms = comparison->to_ms};
    const char *side = json_string_value(json_object_get(row, "side"));
    const char *cause = json_string_value(json_object_get(row, "cause"));
    bool is_lent = strcmp(side, "lent") == 0;
    enum usage_side which =
        strcmp(side, "provider") == 0 ? USAGE_PROVIDER : USAGE_CONSUMER;
    size_t at;
    json_t *run;
    format_read_instant(json_string_value(json_object_get(row, "from")), &what.from_ms);
    format_read_instant(json_string_value(json_object_get(row, "to")), &what.to_ms);
    int rc = is_lent ? cmd_usage_behind_runs(&what, row, err)
                     : cmd_usage_behind_splits(
                           &what, which, books[book_of(comparison, which)], row, err);
    json_array_foreach(json_object_get(row, "runs"), at, run)
    {
        explain_run(comparison, run, reconcile);
    }
    note_nothing(row, is_lent ? "runs" : "splits", cause);
    return rc;
}

/* Of the differences from `first` on; of the further ones only the hours are told. */
static int look_behind_all(struct comparison *comparison, size_t first,
                           const struct usage_reconcile *reconcile, struct err *err)
{
    size_t count = json_array_size(comparison->rows);
    int rc = 0;
    for (size_t i = first; i < count && i < first + BEHIND_MAX && rc == 0; i++) {
        rc = look_behind(comparison, json_array_get(comparison->rows, i), reconcile,
                         err);
    }
    return rc;
}

static void name_sites(struct comparison *comparison)
{
    size_t length;
    struct arena *arena = &comparison->call->arena;
    const char *lease = comparison->lease;
    const char *consumer = msg_lease_consumer(lease, &length);
    comparison->sites[USAGE_CONSUMER] = arena_strn(arena, consumer, length);
    comparison->sites[USAGE_PROVIDER] = arena_strn(arena, lease, strcspn(lease, "/"));
    comparison->sites[USAGE_LENT] = comparison->sites[USAGE_CONSUMER];
}

static int compare_lease(struct comparison *comparison, const char *lease,
                         struct err *err)
{
    comparison->lease = arena_str(&comparison->call->arena, lease);
    name_sites(comparison);
    int rc = fetch_books(comparison, err);
    if (rc < 0) {
        return rc;
    }
    struct usage_reconcile *reconcile =
        usage_reconcile_new(comparison->to_ms, latest(comparison, "merged_ms"));
    add_books(comparison, reconcile);
    rc = add_absences(comparison, reconcile, err);
    if (rc == 0) {
        size_t first = json_array_size(comparison->rows);
        comparison->n_unknown +=
            usage_reconcile_each(reconcile, add_difference, comparison);
        rc = look_behind_all(comparison, first, reconcile, err);
    }
    usage_reconcile_free(reconcile);
    return rc;
}

/* ---------------------------------------------------------------- the command */

static void print_rows(const struct comparison *comparison, int n_leases)
{
    size_t at;
    json_t *row;
    json_array_foreach(comparison->rows, at, row)
    {
#define TEXT_OF(key) json_string_value(json_object_get(row, key))
        bool is_lent = json_object_get(row, "provider_ms") != NULL;
        printf("%s, %s (%s)%s, %s to %s: %.3f slot-seconds in its books, %.3f in the "
               "%s's, difference %+.3f: %s\n",
               TEXT_OF("lease"), is_lent ? "consumer" : TEXT_OF("side"),
               TEXT_OF("site"), is_lent ? ", used" : "", TEXT_OF("from"), TEXT_OF("to"),
               (double)number_of(row, "site_ms") / 1000,
               (double)number_of(row, is_lent ? "provider_ms" : "broker_ms") / 1000,
               is_lent ? "provider" : "broker",
               json_real_value(json_object_get(row, "difference_s")),
               TEXT_OF("reason"));
#undef TEXT_OF
        cmd_usage_behind_print(row);
    }
    if (comparison->n_unknown > 0) {
        printf("The books of %d lease%s do not balance: differences without a known "
               "reason: %d.\n",
               n_leases, n_leases == 1 ? "" : "s", comparison->n_unknown);
    } else {
        printf("The books of %d lease%s balance%s.\n", n_leases,
               n_leases == 1 ? "" : "s",
               comparison->n_known > 0 ? ", but for what is named above" : "");
    }
}

/* ---------------------------------------------------------------- CSV */

static const char *cell(struct comparison *comparison, const json_t *row,
                        const char *key)
{
    json_t *value = json_object_get(row, key);
    return value == NULL || json_is_null(value)
               ? ""
               : format_plain(&comparison->call->arena, value);
}

/* No text of it has a comma, a quotation mark or the end of a line, but reasons. */
static void print_line(struct comparison *comparison, const json_t *difference,
                       const json_t *of, const char *ours, const char *theirs)
{
    const json_t *our = json_object_get(of, ours), *their = json_object_get(of, theirs);
    const char *reason = cell(comparison, of, "reason");
    printf("%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,\"%s\"\r\n",
           cell(comparison, difference, "lease"), cell(comparison, difference, "side"),
           cell(comparison, of, "job"), cell(comparison, of, "run"),
           cell(comparison, of, "epoch"), cell(comparison, our, "from"),
           cell(comparison, our, "to"), cell(comparison, their, "from"),
           cell(comparison, their, "to"), cell(comparison, of, "difference_s"),
           cell(comparison, of, "cause"), reason);
}

/* A line for each difference, and for each run and split behind it. */
static void print_csv(struct comparison *comparison)
{
    size_t at, k;
    json_t *row, *part;
    printf("lease,side,job,run,epoch,from,to,other_from,other_to,difference_s,cause,"
           "reason\r\n");
    json_array_foreach(comparison->rows, at, row)
    {
        json_t *whole = json_pack("{s:O}", "time", row);
        json_object_set(whole, "difference_s", json_object_get(row, "difference_s"));
        json_object_set(whole, "cause", json_object_get(row, "cause"));
        json_object_set(whole, "reason", json_object_get(row, "reason"));
        print_line(comparison, row, whole, "time", "");
        json_decref(whole);
        json_array_foreach(json_object_get(row, "runs"), k, part)
        {
            print_line(comparison, row, part, "consumer", "provider");
        }
        json_array_foreach(json_object_get(row, "splits"), k, part)
        {
            print_line(comparison, row, part, "site", "broker");
        }
    }
}

static int finish(struct comparison *comparison, int n_leases)
{
    if (call_has(comparison->call, "--json")) {
        json_t *root = json_pack("{s:i, s:b, s:i, s:O}", "schema_version", 1,
                                 "balanced", comparison->n_unknown == 0, "leases",
                                 n_leases, "differences", comparison->rows);
        json_dumpf(root, stdout, JSON_INDENT(2));
        putchar('\n');
        json_decref(root);
    } else if (call_has(comparison->call, "--csv")) {
        print_csv(comparison);
    } else {
        print_rows(comparison, n_leases);
    }
    int status = call_finish_output();
    return status == CALL_OK && comparison->n_unknown > 0 ? CALL_FAILED : status;
}

/* The leases of this site, whose name the ledger's rows have. */
static int compare_all(struct comparison *comparison, int *n_leases, struct err *err)
{
    struct listing leases = {0};
    struct msg_query query = listing_query(QUERY_USAGE);
    size_t at;
    json_t *row;
    const char *last = "";
    query.from_ms = comparison->from_ms;
    query.to_ms = comparison->to_ms;
    int rc = listing_fetch(&leases, comparison->connect, &query, err);
    json_array_foreach(leases.rows, at, row)
    {
        const char *lease = json_string_value(json_object_get(row, "lease"));
        if (rc == 0 && lease != NULL && strcmp(lease, last) != 0) {
            rc = compare_lease(comparison, lease, err);
            last = comparison->lease;
            ++*n_leases;
        }
    }
    listing_free(&leases);
    return rc;
}

int cmd_usage_reconcile_run(struct call *call, int64_t from_ms, int64_t to_ms)
{
    struct comparison comparison = {.call = call, .rows = json_array()};
    struct err err = {0};
    int n_leases = call->n_operands;
    comparison.to_ms = to_ms > 0 ? to_ms : daemon_now_ms();
    comparison.from_ms = from_ms > 0 ? from_ms : comparison.to_ms - DEFAULT_MS;
    comparison.from_ms -= comparison.from_ms % USAGE_HOUR_MS;
    int rc = connect_new(call, &comparison.connect, &err);
    for (int i = 0; i < call->n_operands && rc == 0; i++) {
        rc = compare_lease(&comparison, call->operands[i], &err);
    }
    if (rc == 0 && call->n_operands == 0) {
        rc = compare_all(&comparison, &n_leases, &err);
    }
    int status = rc == 0 ? finish(&comparison, n_leases) : call_fail_err(&err);
    for (int book = 0; book < BOOKS; book++) {
        json_decref(comparison.pages[book]);
    }
    json_decref(comparison.rows);
    connect_free(comparison.connect);
    return status;
}
