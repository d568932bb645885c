/* SPDX-License-Identifier: Apache-2.0 */
/* usage_answer.c: see usage_answer.h. */
#include "site/io/usage_answer.h"

#include <stdio.h>
#include <string.h>

#include "model/page.h"
#include "model/usage_ask.h"

/* By provider and consumer: the lease is "PROVIDER//CONSUMER" in the sums. */
enum { BY_SITE = 1 << 16 };

static const int by_of[USAGE_WORDS] = {
    [USAGE_WORD_LEASE] = USAGE_BY_LEASE,     [USAGE_WORD_SITE] = BY_SITE,
    [USAGE_WORD_USER] = USAGE_BY_USER,       [USAGE_WORD_QUEUE] = USAGE_BY_QUEUE,
    [USAGE_WORD_PROJECT] = USAGE_BY_PROJECT, [USAGE_WORD_ACCOUNT] = USAGE_BY_ACCOUNT,
    [USAGE_WORD_DAY] = USAGE_BY_DAY,         [USAGE_WORD_HOUR] = USAGE_BY_HOUR,
};

struct answer {
    struct arena *arena;
    const struct msg_query *query;
    int by;
    struct usage_sums *sums;
    struct page page;
    uint64_t n_rows;
};

static int read_by(const char *text, int *by, struct err *err)
{
    int words = 0, rc = usage_ask_by(text, &words, err);
    rc = rc < 0 ? err_prefix(err, "--by") : 0;
    *by = USAGE_BY_SIDE;
    for (int i = 0; i < USAGE_WORDS; i++) {
        *by |= (words & 1 << i) != 0 ? by_of[i] : 0;
    }
    return rc;
}

static void add_to_sums(void *arg, const struct usage_row *row)
{
    struct answer *answer = arg;
    const struct msg_query *query = answer->query;
    struct usage_row of_sites = *row;
    if (!page_is_named(row->lease, query->name) ||
        !page_is_named(row->owner.user, query->user) ||
        !page_is_named(row->owner.queue, query->queue) ||
        !page_is_named(row->owner.project, query->project)) {
        return;
    }
    if ((answer->by & BY_SITE) != 0 && (answer->by & USAGE_BY_LEASE) == 0) {
        char sites[LEASE_ID_SIZE];
        size_t length;
        const char *consumer = msg_lease_consumer(row->lease, &length);
        snprintf(sites, sizeof(sites), "%.*s//%.*s", (int)strcspn(row->lease, "/"),
                 row->lease, (int)length, consumer);
        of_sites.lease = sites;
        usage_sums_add(answer->sums, &of_sites);
    } else {
        usage_sums_add(answer->sums, row);
    }
}

static void add_sites(struct arena *arena, struct value *to, const char *lease)
{
    size_t length;
    const char *consumer = msg_lease_consumer(lease, &length);
    value_add_text(arena, to, "provider",
                   arena_strn(arena, lease, strcspn(lease, "/")));
    value_add_text(arena, to, "consumer", arena_strn(arena, consumer, length));
}

static void add_start(struct arena *arena, struct value *to, int by, int64_t start_ms)
{
    char text[32];
    if ((by & USAGE_BY_HOUR) != 0) {
        value_add_instant(arena, to, "hour", start_ms);
    } else if ((by & USAGE_BY_DAY) != 0) {
        value_format_instant(start_ms, text);
        value_add_text(arena, to, "day", arena_strn(arena, text, 10));
    }
}

static struct value *show_row(const struct answer *answer, const struct usage_row *row)
{
    struct arena *arena = answer->arena;
    struct value *shown = value_object(arena);
    const struct {
        int by;
        const char *key, *text;
    } owners[] = {
        {USAGE_BY_USER, "user", row->owner.user},
        {USAGE_BY_QUEUE, "queue", row->owner.queue},
        {USAGE_BY_PROJECT, "project", row->owner.project},
        {USAGE_BY_ACCOUNT, "account", row->owner.account},
    };
    if ((answer->by & USAGE_BY_LEASE) != 0) {
        value_add_text(arena, shown, "lease", arena_str(arena, row->lease));
    }
    if ((answer->by & (USAGE_BY_LEASE | BY_SITE)) != 0) {
        add_sites(arena, shown, row->lease);
    }
    value_add_text(arena, shown, "side", usage_side_name(row->side));
    add_start(arena, shown, answer->by, row->start_ms);
    for (size_t i = 0; i < sizeof(owners) / sizeof(owners[0]); i++) {
        if ((answer->by & owners[i].by) != 0) {
            value_add_nonempty(arena, shown, owners[i].key,
                               arena_str(arena, owners[i].text));
        }
    }
    value_add_int(arena, shown, "held_s", usage_sums_held_seconds(row));
    value_add_int(arena, shown, "used_s", usage_sums_seconds(row->used_ms));
    value_add_int(arena, shown, "idle_s", usage_sums_seconds(row->idle_ms));
    value_add_real(arena, shown, "credits", usage_sums_credits(row->cost_ms));
    return shown;
}

static void add_to_page(void *arg, const struct usage_row *row)
{
    struct answer *answer = arg;
    answer->n_rows++;
    if (page_wants(&answer->page, answer->n_rows)) {
        page_add_number(&answer->page, answer->n_rows, show_row(answer, row));
    }
}

/* The period, and before when there are days in place of hours. */
static int add_head(struct answer *answer, struct usage_store *store, int64_t from_ms,
                    int64_t to_ms, struct err *err)
{
    struct value *root = answer->page.root;
    int64_t merged_ms;
    int rc = usage_store_merged_ms(store, &merged_ms, err);
    if (rc == 0) {
        value_add_instant(answer->arena, root, "from", from_ms);
        value_add_instant(answer->arena, root, "to", to_ms);
        if (merged_ms > 0) {
            value_add_instant(answer->arena, root, "merged_before", merged_ms);
        }
    }
    return rc;
}

void usage_answer(struct usage_store *store, const struct effect *ask, int64_t now_ms,
                  struct effects *more)
{
    const struct msg_query *query = &ask->history.query;
    struct answer answer = {.arena = &more->arena, .query = query};
    struct peer to = ask->history.to;
    struct err err = {0};
    int64_t from_ms, to_ms;
    usage_ask_period(query, now_ms, &from_ms, &to_ms);
    to.name = arena_str(&more->arena, to.name);
    page_init(&answer.page, answer.arena, "usage", query);
    usage_book(usage_store_usage(store), now_ms);
    int rc = read_by(query->by[0] != '\0' ? query->by : "lease", &answer.by, &err);
    if (rc == 0) {
        int lease = (answer.by & BY_SITE) != 0 ? USAGE_BY_LEASE : 0;
        answer.sums = usage_sums_new((answer.by & ~BY_SITE) | lease);
        rc = usage_store_read(store, from_ms, to_ms, add_to_sums, &answer, &err);
    }
    if (rc == 0) {
        rc = add_head(&answer, store, from_ms, to_ms, &err);
    }
    if (rc == 0) {
        usage_sums_each(answer.sums, add_to_page, &answer);
        effects_reply(more, &to, query->request, "", answer.page.root,
                      page_next(&answer.page));
    } else {
        effects_reply_error(more, &to, query->request, rc, "usage: %s", err.text);
    }
    usage_sums_free(answer.sums);
}
