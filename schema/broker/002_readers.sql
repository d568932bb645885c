-- SPDX-License-Identifier: Apache-2.0
-- For readers: events of sites beside those of leases, and the views that a snapshot
-- offers to dashboards.

-- A member that was here once. Lost outlives the broker: only who was lost comes back.
CREATE TABLE site (
    name     TEXT NOT NULL PRIMARY KEY CHECK (length(name) BETWEEN 1 AND 63),
    is_lost  INTEGER NOT NULL CHECK (is_lost IN (0, 1)),
    since_ms INTEGER NOT NULL CHECK (since_ms >= 0)
) STRICT, WITHOUT ROWID;

-- History becomes that of leases and sites: one order, one id. Ids grow by one and are
-- never used again; the oldest rows are deleted (store_history.c says when), so that a
-- reader who finds its last id gone knows what it missed.
CREATE TABLE event (
    id                 INTEGER PRIMARY KEY,
    at_ms              INTEGER NOT NULL CHECK (at_ms >= 0),
    event              TEXT NOT NULL CHECK (event = 'registered' OR event = 'made'
                                            OR event = 'inactive' OR event = 'active'
                                            OR event = 'changed' OR event = 'draining'
                                            OR event = 'ended' OR event = 'lost'
                                            OR event = 'back'),
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
    CHECK ((lease = '') <> (site = '')),
    CHECK ((lease = '') = (state = ''))
) STRICT;

INSERT INTO event (id, at_ms, event, lease, site, state, epoch, provider_available,
                   provider_used, consumer_available, consumer_used, reason)
SELECT seq, at_ms, event, lease, '', state, epoch, provider_available,
       provider_used, consumer_available, consumer_used, reason
FROM history;

DROP TABLE history;

CREATE INDEX event_of_lease ON event (lease, id);

-- What of a listing is not in the tables above, because only the running broker knows
-- it: written, as JSON shows it, when a snapshot is made. In the broker's own file it
-- is as old as the last one.
CREATE TABLE present_lease (
    lease             TEXT NOT NULL PRIMARY KEY,
    status            TEXT,
    reclaim_delay_s   ANY,
    next_rebalance_at TEXT
) STRICT, WITHOUT ROWID;

CREATE TABLE present_site (
    site           TEXT NOT NULL PRIMARY KEY,
    roles          TEXT NOT NULL,
    status         TEXT NOT NULL,
    slots_own      INTEGER,
    slots_used     INTEGER,
    slots_lent     INTEGER,
    slots_borrowed INTEGER,
    slots_idle     INTEGER,
    pending        INTEGER,
    jobs_PEND INTEGER,
    jobs_PSUSP INTEGER,
    jobs_RUN INTEGER,
    jobs_USUSP INTEGER,
    jobs_SSUSP INTEGER,
    jobs_UNKWN INTEGER,
    jobs_DONE INTEGER,
    jobs_EXIT INTEGER,
    schedule_passes INTEGER,
    schedule_s     REAL,
    since          TEXT
) STRICT, WITHOUT ROWID;

-- A host that is down counts for neither side's available (docs/http.md).
CREATE VIEW v_lease_hosts AS
SELECT lease,
       host,
       n_slots AS slots,
       iif(is_down, 0, provider) AS provider_available,
       provider_used,
       iif(is_down, 0, consumer) AS consumer_available,
       consumer_used,
       is_down
FROM lease_host
ORDER BY lease, place;

CREATE VIEW v_leases AS
SELECT lease.id,
       lease.provider,
       lease.policy,
       lease.consumer,
       lease.type,
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
       lease.reason
FROM lease
LEFT JOIN lease_host ON lease_host.lease = lease.id
LEFT JOIN present_lease ON present_lease.lease = lease.id
GROUP BY lease.id
ORDER BY lease.id;

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

CREATE VIEW v_sites AS
SELECT site, roles, status, slots_own, slots_used, slots_lent, slots_borrowed,
       slots_idle, pending, jobs_PEND, jobs_PSUSP, jobs_RUN, jobs_USUSP, jobs_SSUSP,
       jobs_UNKWN, jobs_DONE, jobs_EXIT, schedule_passes, schedule_s, since
FROM present_site
ORDER BY site;
