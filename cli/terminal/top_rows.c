/* SPDX-License-Identifier: Apache-2.0 */
/* top_rows.c: see top_rows.h. */
#include "cli/terminal/top_rows.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

const char top_rows_letters[TOP_PARTS + 1] = "Pp~cC";

const char *top_rows_sort_name(enum top_sort sort)
{
    static const char *const names[TOP_SORTS] = {"id", "slots", "state", "last change",
                                                 "next rebalance"};
    return names[sort];
}

/* Milliseconds since 1970 of "2026-11-21T10:08:12.345Z"; -1 if it is not an instant. */
static int64_t instant(const json_t *value)
{
    const char *text = json_string_value(value);
    struct tm utc = {0};
    const char *rest = text != NULL ? strptime(text, "%Y-%m-%dT%H:%M:%S", &utc) : NULL;
    if (rest == NULL) {
        return -1;
    }
    int64_t ms = rest[0] == '.' ? strtol(rest + 1, NULL, 10) : 0;
    return (int64_t)timegm(&utc) * 1000 + ms;
}

/* ---------------------------------------------------------------- reading */

static const char *text_of(const json_t *row, const char *key)
{
    const char *text = json_string_value(json_object_get(row, key));
    return text != NULL ? text : "";
}

static int count_of(const json_t *side, const char *key)
{
    return (int)json_integer_value(json_object_get(side, key));
}

static int at_least_0(int number)
{
    return number > 0 ? number : 0;
}

static void read_slots(const json_t *row, bool is_moving, int slots[TOP_PARTS])
{
    const json_t *provider = json_object_get(row, "provider");
    const json_t *consumer = json_object_get(row, "consumer");
    slots[TOP_PROVIDER_USED] = count_of(provider, "used");
    slots[TOP_CONSUMER_USED] = count_of(consumer, "used");
    int idle = at_least_0(count_of(provider, "available") - slots[TOP_PROVIDER_USED]);
    int idle_there =
        at_least_0(count_of(consumer, "available") - slots[TOP_CONSUMER_USED]);
    slots[TOP_PROVIDER_IDLE] = is_moving ? 0 : idle;
    slots[TOP_CONSUMER_IDLE] = is_moving ? 0 : idle_there;
    slots[TOP_TRANSIT] = is_moving ? idle + idle_there : 0;
}

static struct top_lease read_lease(const json_t *row, int64_t now_ms)
{
    int64_t changed_ms = instant(json_object_get(row, "changed_at"));
    int64_t next_ms = instant(json_object_get(row, "next_rebalance_at"));
    bool is_away = strcmp(text_of(row, "status"), "disc") == 0;
    struct top_lease lease = {
        .id = text_of(row, "id"),
        .state = is_away ? "disc" : text_of(row, "state"),
        .reason = text_of(row, "reason"),
        .age_ms = changed_ms < 0        ? -1
                  : now_ms > changed_ms ? now_ms - changed_ms
                                        : 0,
        .next_ms = next_ms < 0        ? -1
                   : next_ms > now_ms ? next_ms - now_ms
                                      : 0,
    };
    read_slots(row, strcmp(text_of(row, "state"), "inactive") == 0, lease.slots);
    return lease;
}

static bool has_word(const struct top_lease *lease, const char *word)
{
    return strcasestr(lease->id, word) != NULL ||
           strcasestr(lease->state, word) != NULL ||
           strcasestr(lease->reason, word) != NULL;
}

static bool fits(const struct top_lease *lease, const char *filter, struct arena *arena)
{
    for (const char *at = filter + strspn(filter, " "); *at != '\0';) {
        size_t length = strcspn(at, " ");
        if (!has_word(lease, arena_strn(arena, at, length))) {
            return false;
        }
        at += length + strspn(at + length, " ");
    }
    return true;
}

/* ---------------------------------------------------------------- order */

struct order {
    enum top_sort sort;
    bool is_reversed;
};

static int sum_of(const int slots[TOP_PARTS])
{
    int sum = 0;
    for (int i = 0; i < TOP_PARTS; i++) {
        sum += slots[i];
    }
    return sum;
}

static int sign_of(int64_t number)
{
    return (number > 0) - (number < 0);
}

static int compare(const void *left, const void *right, void *arg)
{
    const struct top_lease *a = left, *b = right;
    const struct order *order = arg;
    int result = 0;
    switch (order->sort) {
    case TOP_BY_SLOTS:
        result = sum_of(b->slots) - sum_of(a->slots);
        break;
    case TOP_BY_STATE:
        result = strcmp(a->state, b->state);
        break;
    case TOP_BY_CHANGE:
        result = sign_of(a->age_ms - b->age_ms);
        break;
    case TOP_BY_NEXT: /* none is due: last */
        result = sign_of((a->next_ms < 0) - (b->next_ms < 0));
        result = result != 0 ? result : sign_of(a->next_ms - b->next_ms);
        break;
    case TOP_BY_ID:
    case TOP_SORTS:
        break;
    }
    result = result != 0 ? result : strcmp(a->id, b->id);
    return order->is_reversed ? -result : result;
}

void top_rows_read(const json_t *leases, const char *filter, enum top_sort sort,
                   bool is_reversed, int64_t now_ms, struct arena *arena,
                   struct top_rows *rows)
{
    size_t i;
    json_t *row;
    *rows = (struct top_rows){0};
    rows->items = arena_alloc(arena, json_array_size(leases), sizeof(*rows->items));
    json_array_foreach((json_t *)(uintptr_t)leases, i, row)
    {
        struct top_lease lease = read_lease(row, now_ms);
        rows->n_all++;
        rows->n_inactive += strcmp(lease.state, "inactive") == 0;
        rows->n_away += strcmp(lease.state, "disc") == 0;
        if (fits(&lease, filter, arena)) {
            rows->items[rows->count++] = lease;
        }
    }
    struct order order = {sort, is_reversed};
    qsort_r(rows->items, (size_t)rows->count, sizeof(*rows->items), compare, &order);
}

/* ---------------------------------------------------------------- bars */

/* By largest remainders, so that the letters add up to the width. A part that would get
 * none takes one from the widest part. */
void top_rows_bar(const int slots[TOP_PARTS], int width, char *bar)
{
    int cells[TOP_PARTS] = {0}, total = sum_of(slots), at = 0;
    for (int i = 0, seen = 0; i < TOP_PARTS && total > 0; i++) {
        int before = (int)((int64_t)seen * width / total);
        seen += slots[i];
        cells[i] = (int)((int64_t)seen * width / total) - before;
    }
    for (int i = 0; i < TOP_PARTS; i++) {
        int widest = 0;
        for (int j = 1; j < TOP_PARTS; j++) {
            widest = cells[j] > cells[widest] ? j : widest;
        }
        if (slots[i] > 0 && cells[i] == 0 && cells[widest] > 1) {
            cells[widest]--;
            cells[i]++;
        }
    }
    for (int i = 0; i < TOP_PARTS; i++) {
        memset(bar + at, top_rows_letters[i], (size_t)cells[i]);
        at += cells[i];
    }
    bar[at] = '\0';
}
