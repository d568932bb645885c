/* SPDX-License-Identifier: Apache-2.0 */
/* usage_answer.c: see usage_answer.h. */
#include "site/io/usage_answer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <utlist.h>

#include "model/page.h"
#include "model/record.h"
#include "model/schema.h"
#include "model/usage_ask.h"

/* By provider and consumer, and by the leaf of a plan: the lease is
 * "PROVIDER//CONSUMER:/NODE" in the sums, or the parts of it that the sums are by. */
enum { BY_SITE = 1 << 16, BY_NODE = 1 << 17, BY_PART = BY_SITE | BY_NODE };
enum { WITH_LENT = 1 << 18 };

static const int by_of[USAGE_WORDS] = {
    [USAGE_WORD_LEASE] = USAGE_BY_LEASE,
    [USAGE_WORD_SITE] = BY_SITE,
    [USAGE_WORD_NODE] = BY_NODE,
    [USAGE_WORD_USER] = USAGE_BY_USER,
    [USAGE_WORD_QUEUE] = USAGE_BY_QUEUE,
    [USAGE_WORD_PROJECT] = USAGE_BY_PROJECT,
    [USAGE_WORD_ACCOUNT] = USAGE_BY_ACCOUNT,
    [USAGE_WORD_DAY] = USAGE_BY_DAY,
    [USAGE_WORD_HOUR] = USAGE_BY_HOUR,
    [USAGE_WORD_LENT] = WITH_LENT,
};

enum {
    SLICE_MS = 20,    /* of reading at once */
    SUMS_MAX = 50000, /* that are sorted at once, in about as long */
    ASKED_MAX = 64,
    KEPT_MAX = 4, /* sums whose next page may be asked for ... */
};
#define KEPT_MS INT64_C(60000) /* ... for so long */
#define READ_MS                                                                        \
    (6 * USAGE_HOUR_MS) /* of the ledger, between two looks at the clock               \
                         */

struct answer {
    struct arena *arena; /* of the reply */
    struct arena memory; /* of what was asked */
    const struct msg_query *query;
    struct peer to;
    int by;
    int64_t from_ms, to_ms, next_ms; /* until there it is read */
    struct usage_sums *sums;
    struct page page;
    uint64_t n_rows;
    int64_t kept_ms; /* since then */
    struct answer *next, *prev;
};

struct usage_answer {
    zloop_t *loop;
    struct shell *shell;
    struct usage_store *store;
    struct answer *asked; /* the first one is being read */
    struct answer *kept;  /* the oldest first */
    int timer;            /* 0: none is */
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

/* "/eng/sim" of "north/spare/south:/eng/sim"; "": it is no leaf's. */
static const char *node_of(const char *lease)
{
    const char *node = strstr(lease, ":/");
    return node != NULL ? node + 1 : "";
}

static void add_to_sums(void *arg, const struct usage_row *row)
{
    struct answer *answer = arg;
    const struct msg_query *query = answer->query;
    struct usage_row of_sites = *row;
    if ((row->side == USAGE_LENT && (answer->by & WITH_LENT) == 0) ||
        !page_is_named(row->lease, query->name) ||
        !page_is_named(row->owner.user, query->user) ||
        !page_is_named(row->owner.queue, query->queue) ||
        !page_is_named(row->owner.project, query->project)) {
        return;
    }
    if ((answer->by & BY_PART) != 0 && (answer->by & USAGE_BY_LEASE) == 0) {
        bool by_site = (answer->by & BY_SITE) != 0;
        char parts[LEASE_ID_SIZE];
        size_t length;
        const char *consumer = msg_lease_consumer(row->lease, &length);
        const char *node = (answer->by & BY_NODE) != 0 ? node_of(row->lease) : "";
        snprintf(parts, sizeof(parts), "%.*s//%.*s%s%s",
                 by_site ? (int)strcspn(row->lease, "/") : 0, row->lease,
                 by_site ? (int)length : 0, consumer, node[0] != '\0' ? ":" : "", node);
        of_sites.lease = parts;
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
    if ((answer->by & BY_NODE) != 0) {
        value_add_nonempty(arena, shown, "node", node_of(row->lease));
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
    value_add_int(arena, shown, "idle_s", usage_sums_idle_seconds(row));
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

/* ---------------------------------------------------------------- slices */

static void free_answer(struct answer *answer)
{
    usage_sums_free(answer->sums);
    arena_release(&answer->memory);
    free(answer);
}

static void take_query(struct answer *answer, const struct effect *ask)
{
    arena_clear(&answer->memory);
    struct msg_query *query = arena_alloc(&answer->memory, 1, sizeof(*query));
    record_copy(&answer->memory, &schema_client_query, &ask->history.query, query);
    answer->query = query;
    answer->to = ask->history.to;
    answer->to.name = arena_str(&answer->memory, answer->to.name);
}

static struct answer *new_answer(const struct effect *ask, int64_t now_ms)
{
    struct answer *answer = mem_alloc(1, sizeof(*answer));
    arena_init(&answer->memory);
    take_query(answer, ask);
    const struct msg_query *query = answer->query;
    usage_ask_period(query, now_ms, &answer->from_ms, &answer->to_ms);
    return answer;
}

static int begin(struct answer *answer, struct usage_store *store, struct err *err)
{
    int64_t first_ms = 0;
    int rc = read_by(answer->query->by[0] != '\0' ? answer->query->by : "lease",
                     &answer->by, err);
    rc = rc == 0 ? usage_store_first_ms(store, &first_ms, err) : rc;
    int lease = (answer->by & BY_PART) != 0 ? USAGE_BY_LEASE : 0;
    answer->sums = usage_sums_new((answer->by & ~(BY_PART | WITH_LENT)) | lease);
    answer->next_ms =
        first_ms > answer->from_ms ? first_ms - first_ms % READ_MS : answer->from_ms;
    return rc;
}

/* Reads for a while; 1: there is more. */
static int read_slice(struct answer *answer, struct usage_store *store, struct err *err)
{
    int64_t end_us = zclock_usecs() + SLICE_MS * 1000;
    int rc = 0;
    while (rc == 0 && answer->next_ms < answer->to_ms && zclock_usecs() < end_us) {
        int64_t from_ms =
            answer->next_ms > answer->from_ms ? answer->next_ms : answer->from_ms;
        int64_t end_ms = answer->next_ms + READ_MS;
        answer->next_ms = end_ms < answer->to_ms ? end_ms : answer->to_ms;
        rc =
            usage_store_read(store, from_ms, answer->next_ms, add_to_sums, answer, err);
        if (rc == 0 && usage_sums_count(answer->sums) > SUMS_MAX) {
            rc = err_set(err, ERR_FULL,
                         "more than %d rows, expected a shorter period (--from, --to) "
                         "or fewer words in --by",
                         (int)SUMS_MAX);
        }
    }
    return rc == 0 && answer->next_ms < answer->to_ms ? 1 : rc;
}

static int fill_page(struct answer *answer, struct usage_store *store,
                     struct effects *more, struct err *err)
{
    answer->arena = &more->arena;
    answer->n_rows = 0;
    page_init(&answer->page, answer->arena, "usage", answer->query);
    int rc = add_head(answer, store, answer->from_ms, answer->to_ms, err);
    if (rc == 0) {
        usage_sums_each(answer->sums, add_to_page, answer);
    }
    return rc;
}

static void reply(struct answer *answer, struct usage_store *store, int rc,
                  struct err *err, struct effects *more)
{
    struct peer to = answer->to;
    to.name = arena_str(&more->arena, to.name);
    rc = rc == 0 ? fill_page(answer, store, more, err) : rc;
    if (rc == 0) {
        effects_reply(more, &to, answer->query->request, "", answer->page.root,
                      page_next(&answer->page));
    } else {
        effects_reply_error(more, &to, answer->query->request, rc, "usage: %s",
                            err->text);
    }
}

/* ---------------------------------------------------------------- further pages */

/* All of it is told, or nobody has asked for more in time. */
static void drop_kept(struct usage_answer *answers, int64_t now_ms)
{
    struct answer *answer, *next, *other;
    int n_kept;
    DL_COUNT(answers->kept, other, n_kept);
    DL_FOREACH_SAFE(answers->kept, answer, next)
    {
        if (n_kept > KEPT_MAX || now_ms - answer->kept_ms >= KEPT_MS) {
            DL_DELETE(answers->kept, answer);
            free_answer(answer);
            n_kept--;
        }
    }
}

/* After a reply: a page that has a next one leaves its sums, so that the period is read
 * once and all pages are of the same instant. */
static void finish(struct usage_answer *answers, struct answer *answer, int rc)
{
    if (rc == 0 && page_next(&answer->page)[0] != '\0') {
        answer->kept_ms = zclock_mono();
        DL_APPEND(answers->kept, answer);
    } else {
        free_answer(answer);
    }
    drop_kept(answers, zclock_mono());
}

static bool is_same_question(const struct msg_query *one, const struct msg_query *other)
{
    return strcmp(one->name, other->name) == 0 && strcmp(one->user, other->user) == 0 &&
           strcmp(one->queue, other->queue) == 0 &&
           strcmp(one->project, other->project) == 0 &&
           strcmp(one->by, other->by) == 0 && one->from_ms == other->from_ms &&
           one->to_ms == other->to_ms;
}

/* The sums of the pages before; NULL: there are none any more. */
static struct answer *take_kept(struct usage_answer *answers,
                                const struct msg_query *query)
{
    struct answer *answer;
    drop_kept(answers, zclock_mono());
    DL_FOREACH (answers->kept, answer) {
        if (query->after[0] != '\0' && is_same_question(answer->query, query)) {
            DL_DELETE(answers->kept, answer);
            return answer;
        }
    }
    return NULL;
}

/* ---------------------------------------------------------------- in turn */

static int on_timer(zloop_t *loop, int timer, void *arg)
{
    struct usage_answer *answers = arg;
    struct answer *answer = answers->asked;
    struct err err = {0};
    if (answer == NULL) {
        return 0; /* the timer has ended, but was due more than once */
    }
    int rc = read_slice(answer, answers->store, &err);
    if (rc <= 0) {
        reply(answer, answers->store, rc, &err, shell_effects(answers->shell));
        DL_DELETE(answers->asked, answer);
        finish(answers, answer, rc);
        shell_run_batch(answers->shell);
    }
    if (answers->asked == NULL) {
        zloop_timer_end(loop, timer);
        answers->timer = 0;
    }
    return 0;
}

struct usage_answer *usage_answer_new(zloop_t *loop, struct shell *shell,
                                      struct usage_store *store)
{
    struct usage_answer *answers = mem_alloc(1, sizeof(*answers));
    *answers = (struct usage_answer){.loop = loop, .shell = shell, .store = store};
    return answers;
}

void usage_answer_free(struct usage_answer *answers)
{
    struct answer *answer, *next;
    if (answers == NULL) {
        return;
    }
    DL_FOREACH_SAFE(answers->kept, answer, next)
    {
        DL_DELETE(answers->kept, answer);
        free_answer(answer);
    }
    DL_FOREACH_SAFE(answers->asked, answer, next)
    {
        DL_DELETE(answers->asked, answer);
        free_answer(answer);
    }
    if (answers->timer != 0) {
        zloop_timer_end(answers->loop, answers->timer);
    }
    free(answers);
}

void usage_answer_ask(struct usage_answer *answers, const struct effect *ask,
                      int64_t now_ms, struct effects *more)
{
    struct answer *answer = take_kept(answers, &ask->history.query), *other;
    struct err err = {0};
    int n_asked;
    if (answer != NULL) {
        take_query(answer, ask);
        reply(answer, answers->store, 0, &err, more);
        finish(answers, answer, 0);
        return;
    }
    answer = new_answer(ask, now_ms);
    DL_COUNT(answers->asked, other, n_asked);
    usage_book(usage_store_usage(answers->store), now_ms);
    int rc = n_asked >= ASKED_MAX
                 ? err_set(&err, ERR_FULL, "%d questions wait for an answer", n_asked)
                 : begin(answer, answers->store, &err);
    if (rc == 0) {
        rc = n_asked > 0 ? 1 : read_slice(answer, answers->store, &err);
    }
    if (rc <= 0) {
        reply(answer, answers->store, rc, &err, more);
        finish(answers, answer, rc);
        return;
    }
    DL_APPEND(answers->asked, answer);
    if (answers->timer == 0) {
        answers->timer = zloop_timer(answers->loop, 1, 0, on_timer, answers);
    }
}
