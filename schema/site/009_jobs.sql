-- SPDX-License-Identifier: Apache-2.0
-- Where a job may run: on hosts of its own (-x), on any number of slots up to a most
-- (-n min,max; 0: as many as n_slots).
ALTER TABLE job ADD COLUMN is_exclusive INTEGER NOT NULL DEFAULT 0
    CHECK (is_exclusive = 0 OR is_exclusive = 1);
ALTER TABLE run_spec ADD COLUMN is_exclusive INTEGER NOT NULL DEFAULT 0
    CHECK (is_exclusive = 0 OR is_exclusive = 1);
ALTER TABLE job ADD COLUMN max_slots INTEGER NOT NULL DEFAULT 0
    CHECK (max_slots BETWEEN 0 AND 100000);

-- What happened to jobs, for `hist`: rows as in model/row.h (row_job_event). The oldest go
-- after HISTORY_PERIOD. `site`: of a consumer's job, whose; '': the site's own. Who the
-- job is stands with its first event alone: there user is not NULL.
CREATE TABLE job_event (
    number    INTEGER PRIMARY KEY,
    site      TEXT NOT NULL CHECK (length(site) <= 63),
    id        INTEGER NOT NULL CHECK (id > 0),
    element   INTEGER NOT NULL CHECK (element BETWEEN 0 AND 999999),
    at_ms     INTEGER NOT NULL CHECK (at_ms >= 0),
    event     TEXT NOT NULL CHECK (length(event) BETWEEN 1 AND 15),
    state     TEXT NOT NULL CHECK (length(state) BETWEEN 1 AND 15),
    lease     TEXT NOT NULL CHECK (length(lease) <= 199),
    hosts     TEXT NOT NULL,
    reason    TEXT NOT NULL,
    exit_code INTEGER,
    cpu_ms    INTEGER,
    mem_kib   INTEGER,
    user      TEXT,
    name      TEXT,
    queue     TEXT,
    project   TEXT,
    command   TEXT,
    n_slots   INTEGER
) STRICT;
CREATE INDEX job_event_of_job ON job_event (site, id, element);
CREATE INDEX job_event_of_user ON job_event (site, id, user) WHERE user IS NOT NULL;
