-- SPDX-License-Identifier: Apache-2.0
-- The broker's books: the slots that each side of a lease holds by its contract, from
-- the commit of start_ms to the next one of the lease.
CREATE TABLE held (
    lease    TEXT NOT NULL CHECK (length(lease) BETWEEN 1 AND 199),
    start_ms INTEGER NOT NULL CHECK (start_ms >= 0),
    epoch    INTEGER NOT NULL CHECK (epoch >= 0),
    provider INTEGER NOT NULL CHECK (provider >= 0),
    consumer INTEGER NOT NULL CHECK (consumer >= 0),
    PRIMARY KEY (lease, start_ms)
) STRICT, WITHOUT ROWID;
CREATE INDEX held_of_time ON held (start_ms);

-- What is older, summed by hour (n_hours 1) or day (24), in slot-milliseconds.
CREATE TABLE held_sum (
    lease       TEXT NOT NULL CHECK (length(lease) BETWEEN 1 AND 199),
    n_hours     INTEGER NOT NULL CHECK (n_hours = 1 OR n_hours = 24),
    start_ms    INTEGER NOT NULL CHECK (start_ms >= 0),
    provider_ms INTEGER NOT NULL,
    consumer_ms INTEGER NOT NULL,
    PRIMARY KEY (lease, n_hours, start_ms)
) STRICT, WITHOUT ROWID;
CREATE INDEX held_sum_of_time ON held_sum (n_hours, start_ms);

-- About how many bytes both have.
CREATE TABLE held_size (
    one     INTEGER PRIMARY KEY CHECK (one = 1),
    n_bytes INTEGER NOT NULL
) STRICT;
