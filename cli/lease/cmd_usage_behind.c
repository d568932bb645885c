/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_usage_behind.c: see cmd_usage_behind.h. */
#include "cli/lease/cmd_usage_behind.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/listing/listing.h"

enum { PAGES_MAX = 10 }; /* of runs, for one difference */

static int64_t number_of(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text != NULL ? text : "";
}

int cmd_usage_behind_page(struct connect *connect, struct msg_query query,
                          const char *book, json_t **page, struct err *err)
{
    struct listing listing = {0};
    query.host = book;
    int rc = listing_fetch_page(&listing, connect, &query, err);
    *page = rc == 0 ? json_incref(listing.object) : NULL;
    listing_free(&listing);
    return rc;
}

static struct msg_query query_of(const struct cmd_usage_behind *what, const char *by)
{
    struct msg_query query = listing_query(QUERY_LEDGER);
    query.name = what->lease;
    query.by = by;
    query.from_ms = what->from_ms;
    query.to_ms = what->to_ms;
    return query;
}

/* ---------------------------------------------------------------- runs */

static void add_run(struct usage_behind *behind, const json_t *row)
{
    int64_t end_ms = number_of(row, "end_ms");
    const struct usage_run run = {
        .side = strcmp(text_of(row, "side"), "lent") == 0 ? USAGE_LENT : USAGE_CONSUMER,
        .attempt = (uint64_t)number_of(row, "run"),
        .job = text_of(row, "job"),
        .start_ms = number_of(row, "start_ms"),
        .end_ms = end_ms > 0 ? end_ms : USAGE_OPEN,
        .used_ms = number_of(row, "used_ms"),
        .at_ms = number_of(row, "at_ms"),
        .n_slots = (int)number_of(row, "n_slots"),
    };
    usage_behind_run(behind, &run);
}

/* Of one of the two books, page by page. */
static int fetch_runs(const struct cmd_usage_behind *what, const char *book,
                      struct usage_behind *behind, bool *is_cut, struct err *err)
{
    struct msg_query query = query_of(what, "runs");
    char after[24] = "0";
    for (int i = 0; i < PAGES_MAX; i++) {
        json_t *page, *row;
        size_t at;
        query.after = after;
        int rc = cmd_usage_behind_page(what->connect, query, book, &page, err);
        if (rc < 0) {
            return rc;
        }
        json_array_foreach(json_object_get(page, "runs"), at, row)
        {
            add_run(behind, row);
        }
        int64_t next = number_of(page, "next_run");
        json_decref(page);
        if (next == 0) {
            return 0;
        }
        snprintf(after, sizeof(after), "%" PRId64, next);
    }
    *is_cut = true;
    return 0;
}

/* A page from the attempt on, whenever it ran: of those that one side lacks so far.
 * `*last`: the attempt up to which that was all; 0: all there are. */
static int fetch_singles(const struct cmd_usage_behind *what, const char *book,
                         uint64_t attempt, struct usage_behind *behind, uint64_t *last,
                         struct err *err)
{
    struct msg_query query = query_of(what, "runs");
    char after[24];
    json_t *page, *row;
    size_t at;
    snprintf(after, sizeof(after), "%" PRIu64, attempt - 1);
    query.after = after;
    query.from_ms = 0;
    query.to_ms = what->until_ms;
    int rc = cmd_usage_behind_page(what->connect, query, book, &page, err);
    if (rc < 0) {
        return rc;
    }
    json_array_foreach(json_object_get(page, "runs"), at, row)
    {
        if (usage_behind_is_single(behind, (uint64_t)number_of(row, "run"))) {
            add_run(behind, row);
        }
    }
    uint64_t next = (uint64_t)number_of(page, "next_run");
    *last = next != 0 && (*last == 0 || next < *last) ? next : *last;
    json_decref(page);
    return 0;
}

/* The other side may have them at quite another time. */
static int fetch_others(const struct cmd_usage_behind *what,
                        struct usage_behind *behind, struct err *err)
{
    uint64_t attempt = usage_behind_single(behind, 0);
    int rc = 0;
    for (int i = 0; i < PAGES_MAX && attempt != 0 && rc == 0; i++) {
        uint64_t last = 0;
        rc = fetch_singles(what, "site", attempt, behind, &last, err);
        rc = rc == 0 ? fetch_singles(what, "other", attempt, behind, &last, err) : rc;
        attempt = last != 0 ? usage_behind_single(behind, last) : 0;
    }
    return rc;
}

static json_t *show_ms(int64_t at_ms)
{
    char text[32];
    value_format_instant(at_ms, text);
    return json_string(text);
}

static json_t *show_run(const struct usage_run *run)
{
    if (run == NULL) {
        return json_null();
    }
    json_t *shown = json_object();
    json_object_set_new(shown, "from", show_ms(run->start_ms));
    json_object_set_new(shown, "to",
                        run->end_ms == USAGE_OPEN ? json_null() : show_ms(run->end_ms));
    json_object_set_new(shown, "used_ms", json_integer(run->used_ms));
    return shown;
}

static void add_run_difference(void *arg, const struct usage_run_difference *difference)
{
    json_t *rows = arg, *row = json_object();
    json_object_set_new(row, "run", json_integer((json_int_t)difference->attempt));
    json_object_set_new(row, "job", json_string(difference->job));
    json_object_set_new(row, "from", show_ms(difference->from_ms));
    json_object_set_new(row, "to", show_ms(difference->to_ms));
    json_object_set_new(row, "consumer", show_run(difference->consumer));
    json_object_set_new(row, "provider", show_run(difference->provider));
    json_object_set_new(row, "difference_s",
                        json_real((double)difference->difference_ms / 1000));
    json_object_set_new(row, "cause",
                        json_string(difference->is_shifted ? "clock" : "unknown"));
    json_array_append_new(rows, row);
}

int cmd_usage_behind_runs(const struct cmd_usage_behind *what, json_t *difference,
                          struct err *err)
{
    static const char *const books[] = {"site", "other"};
    struct usage_behind *behind = usage_behind_new(what->until_ms);
    json_t *rows = json_array();
    bool is_cut = false;
    int rc = 0;
    for (int i = 0; i < 2 && rc == 0; i++) {
        rc = fetch_runs(what, books[i], behind, &is_cut, err);
    }
    rc = rc == 0 ? fetch_others(what, behind, err) : rc;
    if (rc == 0) {
        usage_behind_each_run(behind, add_run_difference, rows);
    }
    json_object_set_new(difference, "runs", rows);
    json_object_set_new(difference, "is_cut", json_boolean(is_cut));
    usage_behind_free(behind);
    return rc;
}

/* ---------------------------------------------------------------- splits */

static int fetch_splits(const struct cmd_usage_behind *what, const char *book,
                        enum usage_side side, struct usage_behind *behind,
                        struct err *err)
{
    json_t *page, *row;
    size_t at;
    int rc = cmd_usage_behind_page(what->connect, query_of(what, "splits"), book, &page,
                                   err);
    if (rc < 0) {
        return rc;
    }
    json_array_foreach(json_object_get(page, "splits"), at, row)
    {
        const struct usage_split split = {.side = side,
                                          .n_slots = (int)number_of(row, "n_slots"),
                                          .epoch = (uint64_t)number_of(row, "epoch"),
                                          .at_ms = number_of(row, "at_ms")};
        if (strcmp(text_of(row, "side"), usage_side_name(side)) == 0) {
            usage_behind_split(behind, strcmp(book, "broker") == 0, &split);
        }
    }
    json_decref(page);
    return 0;
}

static json_t *show_split(const struct usage_split *split)
{
    if (split == NULL) {
        return json_null();
    }
    json_t *shown = json_object();
    json_object_set_new(shown, "from", show_ms(split->at_ms));
    json_object_set_new(shown, "slots", json_integer(split->n_slots));
    return shown;
}

static void add_split_difference(void *arg,
                                 const struct usage_split_difference *difference)
{
    json_t *rows = arg, *row = json_object();
    json_object_set_new(row, "epoch", json_integer((json_int_t)difference->epoch));
    json_object_set_new(row, "site", show_split(difference->site));
    json_object_set_new(row, "broker", show_split(difference->broker));
    json_array_append_new(rows, row);
}

int cmd_usage_behind_splits(const struct cmd_usage_behind *what, enum usage_side side,
                            const char *book, json_t *difference, struct err *err)
{
    struct usage_behind *behind = usage_behind_new(what->until_ms);
    json_t *rows = json_array();
    int rc = fetch_splits(what, book, side, behind, err);
    rc = rc == 0 ? fetch_splits(what, "broker", side, behind, err) : rc;
    if (rc == 0) {
        usage_behind_each_split(behind, add_split_difference, rows);
    }
    json_object_set_new(difference, "splits", rows);
    usage_behind_free(behind);
    return rc;
}

/* ---------------------------------------------------------------- text */

static void print_times(const char *whose, const json_t *run)
{
    if (json_is_null(run)) {
        printf("; %s has no record of it", whose);
        return;
    }
    const char *to = text_of(run, "to");
    printf("; %s: from %s %s%s, %.3f slot-seconds", whose, text_of(run, "from"),
           to[0] != '\0' ? "to " : "on", to, (double)number_of(run, "used_ms") / 1000);
}

static void print_split(const char *whose, const json_t *split)
{
    if (json_is_null(split)) {
        printf("; %s has no record of it", whose);
        return;
    }
    printf("; %s: %" PRId64 " slots from %s on", whose, number_of(split, "slots"),
           text_of(split, "from"));
}

void cmd_usage_behind_print(const json_t *difference)
{
    size_t at;
    json_t *row;
    json_array_foreach(json_object_get(difference, "runs"), at, row)
    {
        printf("  job <%s>, run %" PRId64, text_of(row, "job"), number_of(row, "run"));
        print_times("consumer", json_object_get(row, "consumer"));
        print_times("provider", json_object_get(row, "provider"));
        printf("; difference %+.3f%s%s\n",
               json_real_value(json_object_get(row, "difference_s")),
               text_of(row, "reason")[0] != '\0' ? ": " : "", text_of(row, "reason"));
    }
    json_array_foreach(json_object_get(difference, "splits"), at, row)
    {
        printf("  contract, epoch %" PRId64, number_of(row, "epoch"));
        print_split(text_of(difference, "site"), json_object_get(row, "site"));
        print_split("broker", json_object_get(row, "broker"));
        printf("\n");
    }
    if (json_is_true(json_object_get(difference, "is_cut"))) {
        printf("  (of more runs than can be compared: ask for a shorter period)\n");
    }
}
