-- SPDX-License-Identifier: Apache-2.0
-- The brokers of this database: each renews its row once a second while it runs. One that
-- has not done so for a day is forgotten. The clock is the server's.
CREATE TABLE broker (
    endpoint TEXT PRIMARY KEY, -- that sites connect to
    name     TEXT NOT NULL,    -- of its machine
    since    TIMESTAMPTZ NOT NULL,
    seen     TIMESTAMPTZ NOT NULL
);

CREATE FUNCTION see_broker(given_endpoint TEXT, given_name TEXT, is_new BOOLEAN)
RETURNS void LANGUAGE sql AS $$
    DELETE FROM broker WHERE seen < clock_timestamp() - interval '1 day';
    INSERT INTO broker
    VALUES (given_endpoint, given_name, clock_timestamp(), clock_timestamp())
    ON CONFLICT (endpoint) DO UPDATE
    SET name = excluded.name, seen = excluded.seen,
        since = CASE WHEN is_new THEN excluded.since ELSE broker.since END;
$$;

-- The last leader has stepped down, and leaves the lead to another broker for a while.
ALTER TABLE leader ADD COLUMN stepped_down BOOLEAN NOT NULL DEFAULT false;

CREATE FUNCTION leave_lead(given_term BIGINT, steps_down BOOLEAN) RETURNS void
LANGUAGE sql AS $$
    UPDATE leader
    SET has_left = true, stepped_down = steps_down, renewed = clock_timestamp()
    WHERE term = given_term;
$$;
