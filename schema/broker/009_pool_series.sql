-- SPDX-License-Identifier: Apache-2.0
-- For charts also pools, and the nodes of their plans: 'pool', name POOL; 'node', name
-- POOL/NODE ("p/eng/sim"). A table's checks cannot be changed, so it is made anew, and
-- with it the one that refers to it.
CREATE TABLE series_9 (
    id      INTEGER PRIMARY KEY,
    kind    TEXT NOT NULL CHECK (kind = 'all' OR kind = 'site' OR kind = 'lease'
                                 OR kind = 'pool' OR kind = 'node'),
    name    TEXT NOT NULL CHECK (length(name) <= 199),
    last_ms INTEGER NOT NULL CHECK (last_ms >= 0),
    UNIQUE (kind, name),
    CHECK ((kind = 'all') = (name = ''))
) STRICT;
INSERT INTO series_9 (id, kind, name, last_ms)
SELECT id, kind, name, last_ms FROM series;

-- Of a site, or of all: the first six; of a lease: the next four; of a pool: idle, slots
-- and what follows but for quota; of a node: quota and what follows.
CREATE TABLE sample_9 (
    series             INTEGER NOT NULL REFERENCES series_9 (id) ON DELETE CASCADE,
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
    slots              INTEGER,
    quota              INTEGER,
    alloc              INTEGER,
    recalled           INTEGER,
    demand             INTEGER,
    PRIMARY KEY (series, at_ms)
) STRICT, WITHOUT ROWID;
INSERT INTO sample_9 (series, at_ms, own, used, lent, borrowed, idle, pending,
                      provider_available, provider_used, consumer_available,
                      consumer_used)
SELECT series, at_ms, own, used, lent, borrowed, idle, pending, provider_available,
       provider_used, consumer_available, consumer_used
FROM sample;

DROP TABLE sample;
DROP TABLE series;
ALTER TABLE series_9 RENAME TO series;
ALTER TABLE sample_9 RENAME TO sample;
