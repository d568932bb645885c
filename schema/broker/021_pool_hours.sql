-- SPDX-License-Identifier: Apache-2.0
-- HOURS. Of a leaf's contract: the slot-milliseconds that its provider has counted in a
-- month, by a count that began at since_ms. Of a node of a plan, or (pool '') of a lease
-- between two sites: the level that was last recorded, of which 1 is 80 % and 2 all.
CREATE TABLE pool_hours (
    pool     TEXT    NOT NULL CHECK (length(pool) <= 63),
    name     TEXT    NOT NULL CHECK (length(name) BETWEEN 1 AND 199),
    since_ms INTEGER NOT NULL CHECK (since_ms >= 0),
    month_ms INTEGER NOT NULL CHECK (month_ms >= 0),
    used_ms  INTEGER NOT NULL CHECK (used_ms >= 0),
    level    INTEGER NOT NULL CHECK (level BETWEEN 0 AND 2),
    PRIMARY KEY (pool, name, since_ms, month_ms)
) STRICT, WITHOUT ROWID;
