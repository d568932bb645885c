-- SPDX-License-Identifier: Apache-2.0
-- Slot hours of the contracts of leaves of a plan are counted without a bound (n_hours
-- 0), from since_ms on; price: of a slot hour, as the broker told it.
CREATE TABLE quota_36 (
    name      TEXT    NOT NULL PRIMARY KEY CHECK (length(name) BETWEEN 1 AND 199),
    n_hours   INTEGER NOT NULL CHECK (n_hours >= 0),
    month_ms  INTEGER NOT NULL,
    used_ms   INTEGER NOT NULL CHECK (used_ms >= 0),
    booked_ms INTEGER NOT NULL,
    n_used    INTEGER NOT NULL CHECK (n_used >= 0),
    since_ms  INTEGER NOT NULL,
    price     INTEGER NOT NULL CHECK (price >= 0)
) STRICT, WITHOUT ROWID;
INSERT INTO quota_36 SELECT *, 0, 0 FROM quota;
DROP TABLE quota;
ALTER TABLE quota_36 RENAME TO quota;
