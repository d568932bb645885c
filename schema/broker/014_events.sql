-- SPDX-License-Identifier: Apache-2.0
-- Events of further kinds, also of no lease, site or node: a table's checks cannot be
-- changed, so it is made anew, and the program alone knows the kinds from now on.
DROP VIEW v_lease_history;
CREATE TABLE event_14 (
    id                 INTEGER PRIMARY KEY,
    at_ms              INTEGER NOT NULL CHECK (at_ms >= 0),
    event              TEXT NOT NULL CHECK (length(event) BETWEEN 1 AND 63),
    lease              TEXT NOT NULL CHECK (length(lease) <= 199),
    site               TEXT NOT NULL CHECK (length(site) <= 63),
    state              TEXT NOT NULL CHECK (state = 'pending' OR state = 'active'
                                            OR state = 'inactive' OR state = 'draining'
                                            OR state = 'ended' OR state = ''),
    epoch              INTEGER NOT NULL CHECK (epoch >= 0),
    provider_available INTEGER NOT NULL CHECK (provider_available >= 0),
    provider_used      INTEGER NOT NULL CHECK (provider_used >= 0),
    consumer_available INTEGER NOT NULL CHECK (consumer_available >= 0),
    consumer_used      INTEGER NOT NULL CHECK (consumer_used >= 0),
    reason             TEXT NOT NULL,
    pool               TEXT NOT NULL DEFAULT '' CHECK (length(pool) <= 63),
    node               TEXT NOT NULL DEFAULT '' CHECK (length(node) <= 127),
    quota              INTEGER NOT NULL DEFAULT 0 CHECK (quota >= 0),
    demand             INTEGER NOT NULL DEFAULT 0 CHECK (demand >= 0),
    slots              INTEGER NOT NULL DEFAULT 0 CHECK (slots >= 0),
    deadline_ms        INTEGER NOT NULL DEFAULT 0 CHECK (deadline_ms >= 0),
    CHECK (lease = '' OR site = ''),
    CHECK ((lease = '') = (state = ''))
) STRICT;
INSERT INTO event_14 SELECT * FROM event;
DROP TABLE event;
ALTER TABLE event_14 RENAME TO event;
CREATE INDEX event_of_lease ON event (lease, id);
CREATE VIEW v_lease_history AS
SELECT id AS seq,
       strftime('%Y-%m-%dT%H:%M:%fZ', at_ms / 1000.0, 'unixepoch') AS at,
       lease,
       event,
       state,
       epoch,
       provider_available,
       provider_used,
       consumer_available,
       consumer_used,
       reason
FROM event
WHERE lease <> ''
ORDER BY id;
