-- SPDX-License-Identifier: Apache-2.0
-- What the consumer's jobs have used of HOURS of a lease since the month began, in
-- slot-milliseconds, and the slots in use from booked_ms on.
CREATE TABLE quota (
    name      TEXT    NOT NULL PRIMARY KEY CHECK (length(name) BETWEEN 1 AND 199),
    n_hours   INTEGER NOT NULL CHECK (n_hours > 0),
    month_ms  INTEGER NOT NULL,
    used_ms   INTEGER NOT NULL CHECK (used_ms >= 0),
    booked_ms INTEGER NOT NULL,
    n_used    INTEGER NOT NULL CHECK (n_used >= 0)
) STRICT, WITHOUT ROWID;
