/* SPDX-License-Identifier: Apache-2.0 */
/* store_series.h: samples of sites, leases, pools and nodes of plans over
 * time, for charts.
 *
 * Samples are deleted after STORE_SERIES_KEEP_MS, and a series that is not sampled any
 * more (an ended lease) with its last sample. The sampler spaces them so that there are
 * at most STORE_SERIES_ROWS_MAX rows: some 80 MiB. Order: by instant. Layer:
 * broker/io. */
#ifndef SUBLET_BROKER_IO_STORE_SERIES_H
#define SUBLET_BROKER_IO_STORE_SERIES_H

#include "base/value.h"
#include "sys/db/db.h"

enum {
    STORE_SERIES_KEEP_MS = 25 * 3600 * 1000,
    STORE_SERIES_ROWS_MAX = 2000000,
    STORE_SERIES_POINTS_MAX = 1500, /* of one answer: a minute each, for 25 hours */
};

enum store_series_kind {
    STORE_SERIES_ALL,
    STORE_SERIES_SITE,
    STORE_SERIES_LEASE,
    STORE_SERIES_POOL,
    STORE_SERIES_NODE, /* its name: POOL/NODE, "p/eng/sim" */
    STORE_SERIES_KINDS,
};

struct store_series {
    sqlite3_stmt *name, *cut, *forget, *find;
    sqlite3_stmt *put[STORE_SERIES_KINDS], *read[STORE_SERIES_KINDS];
};

/* Of a site or all: own used lent borrowed idle pending. Of a lease: the available and
 * used of its provider, then of its consumer. Of a pool: slots idle alloc recalled
 * demand. Of a node: quota alloc recalled demand. */
enum {
    STORE_SERIES_SITE_NUMBERS = 6,
    STORE_SERIES_LEASE_NUMBERS = 4,
    STORE_SERIES_POOL_NUMBERS = 5,
    STORE_SERIES_NODE_NUMBERS = 4,
};

int store_series_put(struct store_series *series, struct db *db,
                     enum store_series_kind kind, const char *name, int64_t at_ms,
                     const int64_t *numbers, struct err *err) MUST_CHECK;
/* Deletes some of the series without samples of that time; call it again. */
int store_series_forget(struct store_series *series, struct db *db, int64_t now_ms,
                        struct err *err) MUST_CHECK;
struct store_series_ask {
    enum store_series_kind kind;
    const char *name;
    int64_t from_ms, to_ms;
};
/* {"schema_version":1,"series":[...]}: at most some STORE_SERIES_POINTS_MAX rows, each
 * the last sample of its part of the time. ERR_NOT_FOUND if nothing of that name was
 * sampled. */
int store_series_read(struct store_series *series, struct db *db,
                      const struct store_series_ask *ask, struct arena *arena,
                      struct value **value, struct err *err) MUST_CHECK;

#endif
