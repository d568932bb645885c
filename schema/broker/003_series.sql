-- SPDX-License-Identifier: Apache-2.0
-- For charts: what sites and leases looked like, sampled at the same instants
-- (SAMPLE_INTERVAL), for a day and a bit (store_series.c says how long and how much).

-- What is sampled: a site, a lease, or all sites together ('all', name '').
CREATE TABLE series (
    id      INTEGER PRIMARY KEY,
    kind    TEXT NOT NULL CHECK (kind IN ('all', 'site', 'lease')),
    name    TEXT NOT NULL CHECK (length(name) <= 199),
    last_ms INTEGER NOT NULL CHECK (last_ms >= 0),
    UNIQUE (kind, name),
    CHECK ((kind = 'all') = (name = ''))
) STRICT;

-- Of a site, or of all: the first six; of a lease: the other four.
CREATE TABLE sample (
    series             INTEGER NOT NULL REFERENCES series (id) ON DELETE CASCADE,
    at_ms              INTEGER NOT NULL CHECK (at_ms > 0),
    own                INTEGER,
    used               INTEGER,
    lent               INTEGER,
    borrowed           INTEGER,
    idle               INTEGER,
    pending            INTEGER,
    provider_available INTEGER,
    provider_used      INTEGER,
    consumer_available INTEGER,
    consumer_used      INTEGER,
    PRIMARY KEY (series, at_ms)
) STRICT, WITHOUT ROWID;
