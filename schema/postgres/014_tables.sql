-- SPDX-License-Identifier: Apache-2.0
-- What sublet-broker keeps, in PostgreSQL: the tables of schema/broker as its migration
-- 014 leaves them, with the same names, columns and checks. Migrations of both have the
-- same numbers. What only readers of a snapshot need (views, present_*) is in snapshots,
-- which are SQLite files.
--
-- Texts compare by their bytes, as in a file, so that rows are in the same order.

CREATE TABLE counter (
    name  TEXT COLLATE "C" PRIMARY KEY CHECK (length(name) BETWEEN 1 AND 63),
    value BIGINT NOT NULL CHECK (value >= 0)
);

CREATE TABLE override (
    scope    TEXT COLLATE "C" NOT NULL CHECK (scope IN ('all', 'provider', 'lease')),
    name     TEXT COLLATE "C" NOT NULL CHECK (length(name) <= 199),
    delay_ms BIGINT NOT NULL CHECK (delay_ms >= 0),
    PRIMARY KEY (scope, name)
);

CREATE TABLE lease (
    id               TEXT COLLATE "C" PRIMARY KEY CHECK (length(id) BETWEEN 5 AND 199),
    provider         TEXT COLLATE "C" NOT NULL CHECK (length(provider) BETWEEN 1 AND 63),
    policy           TEXT COLLATE "C" NOT NULL CHECK (length(policy) BETWEEN 1 AND 63),
    consumer         TEXT COLLATE "C" NOT NULL CHECK (length(consumer) BETWEEN 1 AND 63),
    type             TEXT COLLATE "C" NOT NULL CHECK (type IN ('exclusive', 'shared')),
    state            TEXT COLLATE "C" NOT NULL
        CHECK (state IN ('pending', 'active', 'inactive', 'draining', 'ended')),
    epoch            BIGINT NOT NULL CHECK (epoch >= 0),
    is_made          BIGINT NOT NULL CHECK (is_made IN (0, 1)),
    is_withdrawn     BIGINT NOT NULL CHECK (is_withdrawn IN (0, 1)),
    registered_ms    BIGINT NOT NULL CHECK (registered_ms >= 0),
    made_ms          BIGINT NOT NULL CHECK (made_ms >= 0),
    changed_ms       BIGINT NOT NULL CHECK (changed_ms >= 0),
    judged_ms        BIGINT NOT NULL CHECK (judged_ms >= 0),
    reason           TEXT COLLATE "C" NOT NULL,
    is_drain_ordered BIGINT NOT NULL DEFAULT 0 CHECK (is_drain_ordered IN (0, 1)),
    is_drained       BIGINT NOT NULL DEFAULT 0 CHECK (is_drained IN (0, 1)),
    drain            BIGINT NOT NULL DEFAULT 0 CHECK (drain >= 0),
    is_pool          BIGINT NOT NULL DEFAULT 0 CHECK (is_pool IN (0, 1))
);

CREATE TABLE lease_host (
    lease         TEXT COLLATE "C" NOT NULL REFERENCES lease (id) ON DELETE CASCADE,
    place         BIGINT NOT NULL CHECK (place BETWEEN 0 AND 9999),
    host          TEXT COLLATE "C" NOT NULL CHECK (length(host) BETWEEN 1 AND 131),
    n_slots       BIGINT NOT NULL CHECK (n_slots BETWEEN 0 AND 100000),
    provider      BIGINT NOT NULL CHECK (provider BETWEEN 0 AND 100000),
    consumer      BIGINT NOT NULL CHECK (consumer BETWEEN 0 AND 100000),
    provider_used BIGINT NOT NULL CHECK (provider_used BETWEEN 0 AND 100000),
    consumer_used BIGINT NOT NULL CHECK (consumer_used BETWEEN 0 AND 100000),
    is_down       BIGINT NOT NULL CHECK (is_down IN (0, 1)),
    mem_mib       BIGINT CHECK (mem_mib >= 0),
    swp_mib       BIGINT CHECK (swp_mib >= 0),
    PRIMARY KEY (lease, place)
);

CREATE TABLE lease_resource (
    lease       TEXT COLLATE "C" NOT NULL REFERENCES lease (id) ON DELETE CASCADE,
    place       BIGINT NOT NULL CHECK (place BETWEEN 0 AND 999),
    name        TEXT COLLATE "C" NOT NULL CHECK (length(name) BETWEEN 1 AND 63),
    pool        BIGINT NOT NULL CHECK (pool >= 0),
    n_instances BIGINT NOT NULL CHECK (n_instances >= 0),
    traits      BIGINT NOT NULL CHECK (traits BETWEEN 0 AND 15),
    hosts       TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (lease, place)
);

CREATE TABLE site (
    name         TEXT COLLATE "C" PRIMARY KEY CHECK (length(name) BETWEEN 1 AND 63),
    is_lost      BIGINT NOT NULL CHECK (is_lost IN (0, 1)),
    since_ms     BIGINT NOT NULL CHECK (since_ms >= 0),
    is_drained   BIGINT NOT NULL DEFAULT 0 CHECK (is_drained IN (0, 1)),
    silent_ms    BIGINT NOT NULL DEFAULT 0 CHECK (silent_ms >= 0),
    mark_commits BIGINT NOT NULL DEFAULT 0 CHECK (mark_commits >= 0),
    mark_attempt BIGINT NOT NULL DEFAULT 0 CHECK (mark_attempt >= 0),
    mark_job     BIGINT NOT NULL DEFAULT 0 CHECK (mark_job >= 0)
);

CREATE TABLE pool (
    name     TEXT COLLATE "C" PRIMARY KEY CHECK (length(name) BETWEEN 1 AND 63),
    "window" TEXT COLLATE "C" NOT NULL CHECK (length("window") <= 63),
    slots    BIGINT NOT NULL CHECK (slots >= 0)
);

CREATE TABLE pool_kept (
    pool  TEXT COLLATE "C" NOT NULL REFERENCES pool (name) ON DELETE CASCADE,
    node  TEXT COLLATE "C" NOT NULL CHECK (length(node) BETWEEN 1 AND 127),
    slots BIGINT NOT NULL CHECK (slots >= 0),
    PRIMARY KEY (pool, node)
);

-- Ids grow by one and are never used again, also after a transaction that was undone:
-- the statement that adds a row takes the number behind the last one, as SQLite does,
-- where a sequence would leave a gap.
CREATE TABLE event (
    id                 BIGINT PRIMARY KEY,
    at_ms              BIGINT NOT NULL CHECK (at_ms >= 0),
    event              TEXT COLLATE "C" NOT NULL CHECK (length(event) BETWEEN 1 AND 63),
    lease              TEXT COLLATE "C" NOT NULL CHECK (length(lease) <= 199),
    site               TEXT COLLATE "C" NOT NULL CHECK (length(site) <= 63),
    state              TEXT COLLATE "C" NOT NULL
        CHECK (state IN ('pending', 'active', 'inactive', 'draining', 'ended', '')),
    epoch              BIGINT NOT NULL CHECK (epoch >= 0),
    provider_available BIGINT NOT NULL CHECK (provider_available >= 0),
    provider_used      BIGINT NOT NULL CHECK (provider_used >= 0),
    consumer_available BIGINT NOT NULL CHECK (consumer_available >= 0),
    consumer_used      BIGINT NOT NULL CHECK (consumer_used >= 0),
    reason             TEXT COLLATE "C" NOT NULL,
    pool               TEXT COLLATE "C" NOT NULL DEFAULT '' CHECK (length(pool) <= 63),
    node               TEXT COLLATE "C" NOT NULL DEFAULT '' CHECK (length(node) <= 127),
    quota              BIGINT NOT NULL DEFAULT 0 CHECK (quota >= 0),
    demand             BIGINT NOT NULL DEFAULT 0 CHECK (demand >= 0),
    slots              BIGINT NOT NULL DEFAULT 0 CHECK (slots >= 0),
    deadline_ms        BIGINT NOT NULL DEFAULT 0 CHECK (deadline_ms >= 0),
    CHECK (lease <> '' OR site <> '' OR node <> ''),
    CHECK (lease = '' OR site = ''),
    CHECK ((lease = '') = (state = ''))
);
CREATE INDEX event_of_lease ON event (lease, id);

CREATE TABLE series (
    id      BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    kind    TEXT COLLATE "C" NOT NULL
        CHECK (kind IN ('all', 'site', 'lease', 'pool', 'node')),
    name    TEXT COLLATE "C" NOT NULL CHECK (length(name) <= 199),
    last_ms BIGINT NOT NULL CHECK (last_ms >= 0),
    UNIQUE (kind, name),
    CHECK ((kind = 'all') = (name = ''))
);

CREATE TABLE sample (
    series             BIGINT NOT NULL REFERENCES series (id) ON DELETE CASCADE,
    at_ms              BIGINT NOT NULL CHECK (at_ms > 0),
    own                BIGINT,
    used               BIGINT,
    lent               BIGINT,
    borrowed           BIGINT,
    idle               BIGINT,
    pending            BIGINT,
    provider_available BIGINT,
    provider_used      BIGINT,
    consumer_available BIGINT,
    consumer_used      BIGINT,
    slots              BIGINT,
    quota              BIGINT,
    alloc              BIGINT,
    recalled           BIGINT,
    demand             BIGINT,
    PRIMARY KEY (series, at_ms)
);

-- Who leads: one row. `pid` and `session_at` are the leader's session, `batch` the number
-- of its latest transaction: after a connection is lost they tell whether the last one
-- was committed. The clock is the server's.
CREATE TABLE leader (
    one        BIGINT PRIMARY KEY DEFAULT 1 CHECK (one = 1),
    term       BIGINT NOT NULL CHECK (term >= 0),
    name       TEXT NOT NULL,
    pid        BIGINT NOT NULL,
    session_at TIMESTAMPTZ,
    since      TIMESTAMPTZ,
    renewed    TIMESTAMPTZ NOT NULL,
    has_left   BOOLEAN NOT NULL,
    batch      BIGINT NOT NULL CHECK (batch >= 0)
);
INSERT INTO leader VALUES (1, 0, '', 0, NULL, NULL, clock_timestamp(), true, 0);

-- The first statement of each transaction of a leader: it fails if another one leads, and
-- holds the row until the end of the transaction, so that no one takes the lead meanwhile.
CREATE FUNCTION check_term(given_term BIGINT, given_batch BIGINT) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    UPDATE leader SET renewed = clock_timestamp(), batch = coalesce(given_batch, batch)
    WHERE term = given_term AND NOT has_left;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'term % is over, another broker leads', given_term
            USING ERRCODE = 'SB001';
    END IF;
END $$;

-- Ends the session of that term's leader, whose transaction would hold the row. Never that
-- of another term, or of another process which has its number now.
CREATE FUNCTION end_session(given_term BIGINT) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_terminate_backend(activity.pid, 2000)
    FROM pg_stat_activity AS activity, leader
    WHERE activity.pid = leader.pid AND activity.backend_start = leader.session_at
        AND activity.pid <> pg_backend_pid() AND leader.term = given_term;
END $$;

-- Takes the lead from a term that has been seen: 1 row with the new term, or none, if the
-- leader has renewed it, or another one was first.
CREATE FUNCTION take_lead(seen_term BIGINT, given_name TEXT, stale_ms BIGINT)
RETURNS BIGINT LANGUAGE plpgsql AS $$
DECLARE
    taken BIGINT;
BEGIN
    PERFORM 1 FROM leader WHERE term = seen_term AND (has_left
        OR renewed <= clock_timestamp() - stale_ms * interval '1 millisecond');
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    PERFORM end_session(seen_term);
    UPDATE leader
    SET term = term + 1, name = given_name, pid = pg_backend_pid(),
        session_at = (SELECT backend_start FROM pg_stat_activity AS activity
                      WHERE activity.pid = pg_backend_pid()),
        since = clock_timestamp(), renewed = clock_timestamp(), has_left = false
    WHERE term = seen_term AND (has_left
        OR renewed <= clock_timestamp() - stale_ms * interval '1 millisecond')
    RETURNING term INTO taken;
    RETURN taken;
END $$;
