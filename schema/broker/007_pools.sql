-- SPDX-License-Identifier: Apache-2.0
-- Pools. A lease's type counts for nothing where it is a pool's: what is idle in one, or
-- what a leaf of its plan has.
ALTER TABLE lease ADD COLUMN is_pool INTEGER NOT NULL DEFAULT 0
    CHECK (is_pool = 0 OR is_pool = 1);

-- Why a lease is not made yet is known while the broker serves, and not on record.
ALTER TABLE present_lease ADD COLUMN reason TEXT;

-- The views show it.
DROP VIEW v_leases;
CREATE VIEW v_leases AS
SELECT lease.id,
       lease.provider,
       lease.policy,
       lease.consumer,
       iif(lease.is_pool, 'pool', lease.type) AS type,
       lease.state,
       present_lease.status,
       lease.epoch,
       coalesce(sum(iif(is_down, 0, lease_host.provider)), 0) AS provider_available,
       coalesce(sum(provider_used), 0) AS provider_used,
       coalesce(sum(iif(is_down, 0, lease_host.consumer)), 0) AS consumer_available,
       coalesce(sum(consumer_used), 0) AS consumer_used,
       count(host) AS n_hosts,
       present_lease.reclaim_delay_s,
       present_lease.next_rebalance_at,
       strftime('%Y-%m-%dT%H:%M:%fZ', nullif(registered_ms, 0) / 1000.0, 'unixepoch')
           AS registered_at,
       strftime('%Y-%m-%dT%H:%M:%fZ', nullif(made_ms, 0) / 1000.0, 'unixepoch')
           AS made_at,
       strftime('%Y-%m-%dT%H:%M:%fZ', nullif(changed_ms, 0) / 1000.0, 'unixepoch')
           AS changed_at,
       lease.is_drained AS drained,
       coalesce(present_lease.reason, lease.reason) AS reason
FROM lease
LEFT JOIN lease_host ON lease_host.lease = lease.id
LEFT JOIN present_lease ON present_lease.lease = lease.id
GROUP BY lease.id
ORDER BY lease.id;

-- Events of nodes beside those of leases and sites: quotas that change, and recalls,
-- which have a lease too. A table's checks cannot be changed, so it is made anew.
DROP VIEW v_lease_history;
CREATE TABLE event_7 (
    id                 INTEGER PRIMARY KEY,
    at_ms              INTEGER NOT NULL CHECK (at_ms >= 0),
    event              TEXT NOT NULL CHECK (event = 'registered' OR event = 'made'
                                            OR event = 'inactive' OR event = 'active'
                                            OR event = 'changed' OR event = 'draining'
                                            OR event = 'ended' OR event = 'lost'
                                            OR event = 'back' OR event = 'quota'
                                            OR event = 'recall'
                                            OR event = 'recall_done'),
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
    CHECK ((lease = '') + (site = '') + (node = '') < 3),
    CHECK (lease = '' OR site = ''),
    CHECK ((lease = '') = (state = ''))
) STRICT;
INSERT INTO event_7 (id, at_ms, event, lease, site, state, epoch, provider_available,
                     provider_used, consumer_available, consumer_used, reason)
SELECT id, at_ms, event, lease, site, state, epoch, provider_available, provider_used,
       consumer_available, consumer_used, reason
FROM event;
DROP TABLE event;
ALTER TABLE event_7 RENAME TO event;
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
