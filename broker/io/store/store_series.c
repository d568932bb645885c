/* SPDX-License-Identifier: Apache-2.0 */
/* store_series.c: samples of sites, leases, pools and nodes of plans over time
 * (store.h).
 */
#include "broker/io/store/store_parts.h"

#include <string.h>

const struct store_series_def store_series_defs[STORE_SERIES_KINDS] = {
    [STORE_SERIES_ALL] = {"all",
                          {"own", "used", "lent", "borrowed", "idle", "pending",
                           "lent_used"}},
    [STORE_SERIES_SITE] = {"site",
                           {"own", "used", "lent", "borrowed", "idle", "pending",
                            "lent_used"}},
    [STORE_SERIES_LEASE] = {"lease",
                            {"provider_available", "provider_used",
                             "consumer_available", "consumer_used"}},
    [STORE_SERIES_POOL] = {"pool", {"slots", "idle", "alloc", "recalled", "demand"}},
    [STORE_SERIES_NODE] = {"node", {"quota", "alloc", "recalled", "demand"}},
};

int store_series_count(enum store_series_kind kind)
{
    int count = 0;
    while (store_series_defs[kind].columns[count] != NULL) {
        count++;
    }
    return count;
}

int64_t store_series_keep_ms(enum store_series_kind kind)
{
    bool is_many = kind == STORE_SERIES_LEASE || kind == STORE_SERIES_NODE;
    return is_many ? STORE_SERIES_FINE_MS : STORE_SERIES_KEEP_MS;
}

const char *store_series_join(struct arena *arena, enum store_series_kind kind)
{
    const char *const *columns = store_series_defs[kind].columns;
    const char *text = columns[0];
    for (int i = 1; columns[i] != NULL; i++) {
        text = arena_printf(arena, "%s, %s", text, columns[i]);
    }
    return text;
}

/* ---------------------------------------------------------------- write */

int store_series_put(struct store *store, enum store_series_kind kind, const char *name,
                     int64_t at_ms, const int64_t *numbers, struct err *err)
{
    int rc = store->ops->put_sample(store, kind, name, at_ms, numbers, err);
    return rc < 0 ? err_prefix(err, "sample") : 0;
}

int store_series_forget(struct store *store, int64_t now_ms, struct err *err)
{
    int rc = store->ops->forget_series(store, now_ms, err);
    return rc < 0 ? err_prefix(err, "series") : 0;
}

/* ---------------------------------------------------------------- read */

/* Rows that are being added to an answer. */
struct reading {
    enum store_series_kind kind;
    struct arena *arena;
    struct value *rows;
};

/* A column SIDE_NAME of a lease is the field NAME of the object SIDE, whose columns are
 * consecutive.
 */
static void add_number(const struct reading *reading, struct value *row,
                       const char *column, int64_t number)
{
    struct arena *arena = reading->arena;
    const char *name = reading->kind == STORE_SERIES_LEASE ? strchr(column, '_') : NULL;
    struct value *in = row;
    if (name != NULL) {
        const char *side = arena_strn(arena, column, (size_t)(name - column));
        bool is_there = strcmp(row->last->key, side) == 0;
        in = is_there ? row->last : value_add(arena, row, side, value_object(arena));
    }
    column = name != NULL ? name + 1 : column;
    if (number == STORE_SERIES_UNKNOWN) {
        value_add_null(arena, in, column);
    } else {
        value_add_int(arena, in, column, number);
    }
}

static void add_row(void *arg, int64_t at_ms, const int64_t *numbers)
{
    const struct reading *reading = arg;
    const char *const *columns = store_series_defs[reading->kind].columns;
    struct value *row =
        value_add(reading->arena, reading->rows, NULL, value_object(reading->arena));
    value_add_instant(reading->arena, row, "at", at_ms);
    for (int i = 0; columns[i] != NULL; i++) {
        add_number(reading, row, columns[i], numbers[i]);
    }
}

int store_series_read(struct store *store, const struct store_series_ask *ask,
                      struct arena *arena, struct value **value, struct err *err)
{
    struct store_samples samples = {.kind = ask->kind};
    int rc =
        store->ops->find_series(store, ask, &samples.series, &samples.from_ms, err);
    if (rc < 0) {
        return rc;
    }
    if (samples.series < 0 && ask->kind != STORE_SERIES_ALL) {
        return err_set(err, ERR_NOT_FOUND, "%s \"%s\": no sample was taken",
                       store_series_defs[ask->kind].kind, ask->name);
    }
    *value = value_object(arena);
    value_add_int(arena, *value, "schema_version", 1);
    struct reading reading = {.kind = ask->kind, .arena = arena};
    reading.rows = value_add(arena, *value, "series", value_array(arena));
    samples.bucket_ms = (ask->to_ms - samples.from_ms) / STORE_SERIES_POINTS_MAX + 1;
    return store->ops->read_samples(store, &samples, add_row, &reading, err);
}
