-- SPDX-License-Identifier: Apache-2.0
-- A file of schema 1 as release 0.1.0 wrote it; made by sqlite3's .dump.
PRAGMA application_id = 1398950978;
PRAGMA user_version = 1;
PRAGMA foreign_keys = OFF;
BEGIN TRANSACTION;
CREATE TABLE counter (
    name  TEXT NOT NULL PRIMARY KEY CHECK (length(name) BETWEEN 1 AND 63),
    value INTEGER NOT NULL CHECK (value >= 0)
) STRICT, WITHOUT ROWID;
INSERT INTO "counter" VALUES('boot',1);
CREATE TABLE history (
    seq                INTEGER PRIMARY KEY,
    at_ms              INTEGER NOT NULL CHECK (at_ms >= 0),
    lease              TEXT NOT NULL CHECK (length(lease) BETWEEN 5 AND 199),
    event              TEXT NOT NULL CHECK (event IN ('registered', 'made', 'inactive',
                                                      'active', 'changed', 'draining',
                                                      'ended')),
    state              TEXT NOT NULL CHECK (state IN ('pending', 'active', 'inactive',
                                                      'draining', 'ended')),
    epoch              INTEGER NOT NULL CHECK (epoch >= 0),
    provider_available INTEGER NOT NULL CHECK (provider_available >= 0),
    provider_used      INTEGER NOT NULL CHECK (provider_used >= 0),
    consumer_available INTEGER NOT NULL CHECK (consumer_available >= 0),
    consumer_used      INTEGER NOT NULL CHECK (consumer_used >= 0),
    reason             TEXT NOT NULL
) STRICT;
INSERT INTO "history" VALUES(1,1795262339574,'north/1/south','registered','pending',1,7,0,1,0,'policy 1 of north exports to south');
INSERT INTO "history" VALUES(2,1795262339665,'north/1/south','made','active',1,7,0,1,1,'the consumer''s first job was scheduled onto it');
INSERT INTO "history" VALUES(3,1795262341665,'north/1/south','inactive','inactive',1,7,0,1,0,'idle: provider 7, consumer 1; idle slots go to the consumer');
INSERT INTO "history" VALUES(4,1795262341668,'north/1/south','active','active',2,0,0,8,0,'idle: provider 7, consumer 1; idle slots go to the consumer');
INSERT INTO "history" VALUES(5,1795262343666,'north/1/south','inactive','inactive',2,0,0,8,0,'idle: provider 0, consumer 8; idle slots go to the provider');
INSERT INTO "history" VALUES(6,1795262343676,'north/1/south','active','active',3,8,0,0,0,'idle: provider 0, consumer 8; idle slots go to the provider');
INSERT INTO "history" VALUES(7,1795262345665,'north/1/south','inactive','inactive',3,8,0,0,0,'idle: provider 8, consumer 0; idle slots go to the consumer');
INSERT INTO "history" VALUES(8,1795262345672,'north/1/south','active','active',4,0,0,8,0,'idle: provider 8, consumer 0; idle slots go to the consumer');
CREATE TABLE lease (
    id            TEXT NOT NULL PRIMARY KEY CHECK (length(id) BETWEEN 5 AND 199),
    provider      TEXT NOT NULL CHECK (length(provider) BETWEEN 1 AND 63),
    policy        TEXT NOT NULL CHECK (length(policy) BETWEEN 1 AND 63),
    consumer      TEXT NOT NULL CHECK (length(consumer) BETWEEN 1 AND 63),
    type          TEXT NOT NULL CHECK (type IN ('exclusive', 'shared')),
    state         TEXT NOT NULL CHECK (state IN ('pending', 'active', 'inactive',
                                                 'draining', 'ended')),
    epoch         INTEGER NOT NULL CHECK (epoch >= 0),
    is_made       INTEGER NOT NULL CHECK (is_made IN (0, 1)),
    is_withdrawn  INTEGER NOT NULL CHECK (is_withdrawn IN (0, 1)),
    registered_ms INTEGER NOT NULL CHECK (registered_ms >= 0),
    made_ms       INTEGER NOT NULL CHECK (made_ms >= 0),
    changed_ms    INTEGER NOT NULL CHECK (changed_ms >= 0),
    judged_ms     INTEGER NOT NULL CHECK (judged_ms >= 0),
    reason        TEXT NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO "lease" VALUES('north/1/south','north','1','south','shared','active',4,1,0,1795262339574,1795262339665,1795262345672,1795262345665,'idle: provider 8, consumer 0; idle slots go to the consumer');
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
INSERT INTO "lease_host" VALUES('north/1/south',0,'n1',4,0,4,0,0,0);
INSERT INTO "lease_host" VALUES('north/1/south',1,'n2',4,0,4,0,0,0);
CREATE TABLE override (
    scope    TEXT NOT NULL CHECK (scope IN ('all', 'provider', 'lease')),
    name     TEXT NOT NULL CHECK (length(name) <= 199),
    delay_ms INTEGER NOT NULL CHECK (delay_ms >= 0),
    PRIMARY KEY (scope, name)
) STRICT, WITHOUT ROWID;
INSERT INTO "override" VALUES('lease','north/1/south',2000);
CREATE INDEX history_of_lease ON history (lease, seq);
COMMIT;
