-- SPDX-License-Identifier: Apache-2.0
-- What sublet-site keeps: its books of lent slots, its jobs, and what runs on its hosts.
-- Rows as in model/row.h.
--
-- Instants and durations are milliseconds; an instant of 0 is "never". Enums are the
-- words that people see. 64-bit numbers without order (token) use the sign bit too.
-- `hosts` of a job or run: "n1:2 n1@north:1", host and slots, the first executes.
-- `env`, `hosts_asked`: strings, each followed by a NUL byte.
-- A CHECK here is a second look at what the codec and the step machine have judged
-- already: none of them may depend on a peer's good manners.
-- Words stand in an OR: SQLite builds a table for `IN ('a', 'b', 'c')` at every check.

-- Numbers that only grow.
CREATE TABLE counter (
    name  TEXT NOT NULL PRIMARY KEY CHECK (length(name) BETWEEN 1 AND 63),
    value INTEGER NOT NULL CHECK (value >= 0)
) STRICT, WITHOUT ROWID;

-- A lease that this site is the provider of.
CREATE TABLE book (
    lease        TEXT NOT NULL PRIMARY KEY CHECK (length(lease) BETWEEN 5 AND 199),
    policy       TEXT NOT NULL CHECK (length(policy) BETWEEN 1 AND 63),
    consumer     TEXT NOT NULL CHECK (length(consumer) BETWEEN 1 AND 63),
    content      TEXT NOT NULL,
    type         TEXT NOT NULL CHECK (type IN ('exclusive', 'shared')),
    epoch        INTEGER NOT NULL CHECK (epoch >= 0),
    is_made      INTEGER NOT NULL CHECK (is_made IN (0, 1)),
    is_withdrawn INTEGER NOT NULL CHECK (is_withdrawn IN (0, 1)),
    is_ended     INTEGER NOT NULL CHECK (is_ended IN (0, 1))
) STRICT, WITHOUT ROWID;

-- Keyed by the host's place in the lease: a change of the split writes the rows that
-- differ, and hosts that are gone are the tail.
CREATE TABLE book_host (
    lease    TEXT NOT NULL REFERENCES book (lease) ON DELETE CASCADE,
    place    INTEGER NOT NULL CHECK (place BETWEEN 0 AND 9999),
    host     TEXT NOT NULL CHECK (length(host) BETWEEN 1 AND 131),
    n_slots  INTEGER NOT NULL CHECK (n_slots BETWEEN 0 AND 100000),
    provider INTEGER NOT NULL CHECK (provider BETWEEN 0 AND 100000),
    consumer INTEGER NOT NULL CHECK (consumer BETWEEN 0 AND 100000),
    PRIMARY KEY (lease, place)
) STRICT, WITHOUT ROWID;

-- Attempts of a consumer up to here are decided.
CREATE TABLE high (
    consumer TEXT NOT NULL PRIMARY KEY CHECK (length(consumer) BETWEEN 1 AND 63),
    attempt  INTEGER NOT NULL CHECK (attempt >= 0)
) STRICT, WITHOUT ROWID;

-- A job of this site, as submitted.
CREATE TABLE job (
    id            INTEGER PRIMARY KEY CHECK (id > 0),
    submit_ms     INTEGER NOT NULL CHECK (submit_ms >= 0),
    name          TEXT NOT NULL,
    user          TEXT NOT NULL,
    uid           INTEGER NOT NULL,
    gid           INTEGER NOT NULL,
    queue         TEXT NOT NULL,
    command       TEXT NOT NULL,
    cwd           TEXT NOT NULL,
    in_file       TEXT NOT NULL,
    out_file      TEXT NOT NULL,
    err_file      TEXT NOT NULL,
    env           BLOB NOT NULL,
    umask         INTEGER NOT NULL,
    n_slots       INTEGER NOT NULL CHECK (n_slots BETWEEN 0 AND 100000),
    hosts_asked   BLOB NOT NULL,
    run_limit_ms  INTEGER NOT NULL CHECK (run_limit_ms >= 0),
    is_rerunnable INTEGER NOT NULL CHECK (is_rerunnable IN (0, 1))
) STRICT;

-- What has become of it.
CREATE TABLE job_state (
    id             INTEGER PRIMARY KEY REFERENCES job (id) ON DELETE CASCADE,
    state          TEXT NOT NULL CHECK (state = 'PEND' OR state = 'PSUSP' OR state = 'RUN'
                                        OR state = 'USUSP' OR state = 'SSUSP' OR state = 'DONE'
                                        OR state = 'EXIT' OR state = 'UNKWN'),
    attempt        INTEGER NOT NULL CHECK (attempt >= 0),
    lease          TEXT NOT NULL CHECK (length(lease) <= 199),
    epoch          INTEGER NOT NULL CHECK (epoch >= 0),
    is_decided     INTEGER NOT NULL CHECK (is_decided IN (0, 1)),
    is_killed      INTEGER NOT NULL CHECK (is_killed IN (0, 1)),
    hosts          TEXT NOT NULL,
    start_ms       INTEGER NOT NULL,
    end_ms         INTEGER NOT NULL,
    reason         TEXT NOT NULL,
    control_number INTEGER NOT NULL CHECK (control_number >= 0),
    control_action TEXT NOT NULL CHECK (control_action = 'signal' OR control_action = 'suspend'
                                        OR control_action = 'resume' OR control_action = 'kill'),
    control_signal INTEGER NOT NULL,
    exit_end       TEXT NOT NULL CHECK (exit_end = 'none' OR exit_end = 'exited'
                                        OR exit_end = 'signalled' OR exit_end = 'failed'
                                        OR exit_end = 'lost' OR exit_end = 'limit'),
    exit_code      INTEGER NOT NULL,
    exit_start_ms  INTEGER NOT NULL,
    exit_end_ms    INTEGER NOT NULL,
    exit_cpu_ms    INTEGER NOT NULL,
    exit_mem_kib   INTEGER NOT NULL,
    exit_out_bytes INTEGER NOT NULL,
    exit_err_bytes INTEGER NOT NULL,
    exit_text      TEXT NOT NULL
) STRICT;

-- A run on this site's own hosts: of its own job, or of a consumer's.
CREATE TABLE run (
    site           TEXT NOT NULL CHECK (length(site) BETWEEN 1 AND 63),
    attempt        INTEGER NOT NULL CHECK (attempt >= 0),
    job            TEXT NOT NULL,
    lease          TEXT NOT NULL CHECK (length(lease) <= 199),
    record         TEXT NOT NULL CHECK (record = 'taken' OR record = 'guarded'
                                        OR record = 'ended'),
    hosts          TEXT NOT NULL,
    token          INTEGER NOT NULL,
    control_number INTEGER NOT NULL CHECK (control_number >= 0),
    control_action TEXT NOT NULL CHECK (control_action = 'signal' OR control_action = 'suspend'
                                        OR control_action = 'resume' OR control_action = 'kill'),
    control_signal INTEGER NOT NULL,
    exit_end       TEXT NOT NULL CHECK (exit_end = 'none' OR exit_end = 'exited'
                                        OR exit_end = 'signalled' OR exit_end = 'failed'
                                        OR exit_end = 'lost' OR exit_end = 'limit'),
    exit_code      INTEGER NOT NULL,
    exit_start_ms  INTEGER NOT NULL,
    exit_end_ms    INTEGER NOT NULL,
    exit_cpu_ms    INTEGER NOT NULL,
    exit_mem_kib   INTEGER NOT NULL,
    exit_out_bytes INTEGER NOT NULL,
    exit_err_bytes INTEGER NOT NULL,
    exit_text      TEXT NOT NULL,
    PRIMARY KEY (site, attempt)
) STRICT, WITHOUT ROWID;

-- What it runs: written once, with the first row of the run.
CREATE TABLE run_spec (
    site          TEXT NOT NULL,
    attempt       INTEGER NOT NULL,
    name          TEXT NOT NULL,
    user          TEXT NOT NULL,
    uid           INTEGER NOT NULL,
    gid           INTEGER NOT NULL,
    queue         TEXT NOT NULL,
    command       TEXT NOT NULL,
    cwd           TEXT NOT NULL,
    in_file       TEXT NOT NULL,
    out_file      TEXT NOT NULL,
    err_file      TEXT NOT NULL,
    env           BLOB NOT NULL,
    umask         INTEGER NOT NULL,
    n_slots       INTEGER NOT NULL CHECK (n_slots BETWEEN 0 AND 100000),
    hosts_asked   BLOB NOT NULL,
    run_limit_ms  INTEGER NOT NULL CHECK (run_limit_ms >= 0),
    is_rerunnable INTEGER NOT NULL CHECK (is_rerunnable IN (0, 1)),
    PRIMARY KEY (site, attempt),
    FOREIGN KEY (site, attempt) REFERENCES run (site, attempt) ON DELETE CASCADE
) STRICT;
