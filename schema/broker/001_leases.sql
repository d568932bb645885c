-- SPDX-License-Identifier: Apache-2.0
-- What sublet-broker keeps: contracts with their splits, overrides of the reclaim
-- delay, and every change of a contract as history. Rows as in model/row.h.
--
-- Instants and durations are milliseconds; an instant of 0 is "never". Enums are the
-- words that people see. A CHECK here is a second look at what the codec and the step
-- machine have judged already: none of them may depend on a peer's good manners.
-- Words stand in an OR: SQLite builds a table for `IN ('a', 'b', 'c')` at every check.

-- Numbers that only grow.
CREATE TABLE counter (
    name  TEXT NOT NULL PRIMARY KEY CHECK (length(name) BETWEEN 1 AND 63),
    value INTEGER NOT NULL CHECK (value >= 0)
) STRICT, WITHOUT ROWID;

CREATE TABLE override (
    scope    TEXT NOT NULL CHECK (scope = 'all' OR scope = 'provider' OR scope = 'lease'),
    name     TEXT NOT NULL CHECK (length(name) <= 199),
    delay_ms INTEGER NOT NULL CHECK (delay_ms >= 0),
    PRIMARY KEY (scope, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE lease (
    id            TEXT NOT NULL PRIMARY KEY CHECK (length(id) BETWEEN 5 AND 199),
    provider      TEXT NOT NULL CHECK (length(provider) BETWEEN 1 AND 63),
    policy        TEXT NOT NULL CHECK (length(policy) BETWEEN 1 AND 63),
    consumer      TEXT NOT NULL CHECK (length(consumer) BETWEEN 1 AND 63),
    type          TEXT NOT NULL CHECK (type IN ('exclusive', 'shared')),
    state         TEXT NOT NULL CHECK (state = 'pending' OR state = 'active'
                                       OR state = 'inactive' OR state = 'draining'
                                       OR state = 'ended'),
    epoch         INTEGER NOT NULL CHECK (epoch >= 0),
    is_made       INTEGER NOT NULL CHECK (is_made IN (0, 1)),
    is_withdrawn  INTEGER NOT NULL CHECK (is_withdrawn IN (0, 1)),
    registered_ms INTEGER NOT NULL CHECK (registered_ms >= 0),
    made_ms       INTEGER NOT NULL CHECK (made_ms >= 0),
    changed_ms    INTEGER NOT NULL CHECK (changed_ms >= 0),
    judged_ms     INTEGER NOT NULL CHECK (judged_ms >= 0),
    reason        TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Keyed by the host's place in the lease: a change of the split writes the rows that
-- differ, and hosts that are gone are the tail.
CREATE TABLE lease_host (
    lease         TEXT NOT NULL REFERENCES lease (id) ON DELETE CASCADE,
    place         INTEGER NOT NULL CHECK (place BETWEEN 0 AND 9999),
    host          TEXT NOT NULL CHECK (length(host) BETWEEN 1 AND 131),
    n_slots       INTEGER NOT NULL CHECK (n_slots BETWEEN 0 AND 100000),
    provider      INTEGER NOT NULL CHECK (provider BETWEEN 0 AND 100000),
    consumer      INTEGER NOT NULL CHECK (consumer BETWEEN 0 AND 100000),
    provider_used INTEGER NOT NULL CHECK (provider_used BETWEEN 0 AND 100000),
    consumer_used INTEGER NOT NULL CHECK (consumer_used BETWEEN 0 AND 100000),
    is_down       INTEGER NOT NULL CHECK (is_down IN (0, 1)),
    PRIMARY KEY (lease, place)
) STRICT, WITHOUT ROWID;

-- Append only. It names leases, but outlives them: no reference.
CREATE TABLE history (
    seq                INTEGER PRIMARY KEY,
    at_ms              INTEGER NOT NULL CHECK (at_ms >= 0),
    lease              TEXT NOT NULL CHECK (length(lease) BETWEEN 5 AND 199),
    event              TEXT NOT NULL CHECK (event = 'registered' OR event = 'made'
                                            OR event = 'inactive' OR event = 'active'
                                            OR event = 'changed' OR event = 'draining'
                                            OR event = 'ended'),
    state              TEXT NOT NULL CHECK (state = 'pending' OR state = 'active'
                                            OR state = 'inactive' OR state = 'draining'
                                            OR state = 'ended'),
    epoch              INTEGER NOT NULL CHECK (epoch >= 0),
    provider_available INTEGER NOT NULL CHECK (provider_available >= 0),
    provider_used      INTEGER NOT NULL CHECK (provider_used >= 0),
    consumer_available INTEGER NOT NULL CHECK (consumer_available >= 0),
    consumer_used      INTEGER NOT NULL CHECK (consumer_used >= 0),
    reason             TEXT NOT NULL
) STRICT;

CREATE INDEX history_of_lease ON history (lease, seq);
