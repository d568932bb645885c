-- SPDX-License-Identifier: Apache-2.0
-- The ledger: slot-milliseconds of leases on this site's side that were held, used and
-- idle, as in usage/usage.h. start_ms is that of an hour, or of a day (n_hours 24) whose
-- hours were merged. What is booked is added to its row.
CREATE TABLE usage (
    n_hours  INTEGER NOT NULL CHECK (n_hours = 1 OR n_hours = 24),
    start_ms INTEGER NOT NULL,
    lease    TEXT NOT NULL CHECK (length(lease) BETWEEN 1 AND 199),
    side     INTEGER NOT NULL CHECK (side = 0 OR side = 1), -- consumer, provider
    user     TEXT NOT NULL,
    queue    TEXT NOT NULL,
    project  TEXT NOT NULL,
    account  TEXT NOT NULL,
    held_ms  INTEGER NOT NULL,
    used_ms  INTEGER NOT NULL,
    idle_ms  INTEGER NOT NULL,
    PRIMARY KEY (n_hours, start_ms, lease, side, user, queue, project, account)
) STRICT, WITHOUT ROWID;

-- What a side holds, and until when it is booked.
CREATE TABLE usage_level (
    lease     TEXT NOT NULL CHECK (length(lease) BETWEEN 1 AND 199),
    side      INTEGER NOT NULL CHECK (side = 0 OR side = 1),
    n_held    INTEGER NOT NULL CHECK (n_held >= 0),
    booked_ms INTEGER NOT NULL,
    PRIMARY KEY (lease, side)
) STRICT, WITHOUT ROWID;

-- About how many bytes the rows of usage have, and before when hours are days.
CREATE TABLE usage_size (
    one       INTEGER PRIMARY KEY CHECK (one = 1),
    n_bytes   INTEGER NOT NULL,
    merged_ms INTEGER NOT NULL
) STRICT;
INSERT INTO usage_size VALUES (1, 0, 0);
