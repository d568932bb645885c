-- SPDX-License-Identifier: Apache-2.0
-- A file of schema 1 as release 0.1.0 wrote it; made by sqlite3's .dump.
PRAGMA application_id = 1398950995;
PRAGMA user_version = 1;
PRAGMA foreign_keys = OFF;
BEGIN TRANSACTION;
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
INSERT INTO "book" VALUES('north/1/south','1','south','PER_HOST=n1 n2 SLOTS=4 TYPE=shared DISTRIBUTION=[south,1]','shared',4,1,0,0);
CREATE TABLE book_host (
    lease    TEXT NOT NULL REFERENCES book (lease) ON DELETE CASCADE,
    place    INTEGER NOT NULL CHECK (place BETWEEN 0 AND 9999),
    host     TEXT NOT NULL CHECK (length(host) BETWEEN 1 AND 131),
    n_slots  INTEGER NOT NULL CHECK (n_slots BETWEEN 0 AND 100000),
    provider INTEGER NOT NULL CHECK (provider BETWEEN 0 AND 100000),
    consumer INTEGER NOT NULL CHECK (consumer BETWEEN 0 AND 100000),
    PRIMARY KEY (lease, place)
) STRICT, WITHOUT ROWID;
INSERT INTO "book_host" VALUES('north/1/south',0,'n1',4,0,4);
INSERT INTO "book_host" VALUES('north/1/south',1,'n2',4,0,4);
CREATE TABLE counter (
    name  TEXT NOT NULL PRIMARY KEY CHECK (length(name) BETWEEN 1 AND 63),
    value INTEGER NOT NULL CHECK (value >= 0)
) STRICT, WITHOUT ROWID;
INSERT INTO "counter" VALUES('attempt',1);
INSERT INTO "counter" VALUES('boot',1);
INSERT INTO "counter" VALUES('job',1);
CREATE TABLE high (
    consumer TEXT NOT NULL PRIMARY KEY CHECK (length(consumer) BETWEEN 1 AND 63),
    attempt  INTEGER NOT NULL CHECK (attempt >= 0)
) STRICT, WITHOUT ROWID;
INSERT INTO "high" VALUES('south',3);
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
INSERT INTO "job" VALUES(1,1795262340095,'','root',0,0,'normal','true','/','','','',X'504154483D2F7573722F62696E3A2F62696E00484F4D453D2F004C414E473D432E5554462D3800',18,1,X'',0,0);
CREATE TABLE job_state (
    id             INTEGER PRIMARY KEY REFERENCES job (id) ON DELETE CASCADE,
    state          TEXT NOT NULL CHECK (state IN ('PEND', 'PSUSP', 'RUN', 'USUSP', 'SSUSP',
                                                  'DONE', 'EXIT', 'UNKWN')),
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
    control_action TEXT NOT NULL CHECK (control_action IN ('signal', 'suspend', 'resume',
                                                           'kill')),
    control_signal INTEGER NOT NULL,
    exit_end       TEXT NOT NULL CHECK (exit_end IN ('none', 'exited', 'signalled',
                                                     'failed', 'lost', 'limit')),
    exit_code      INTEGER NOT NULL,
    exit_start_ms  INTEGER NOT NULL,
    exit_end_ms    INTEGER NOT NULL,
    exit_cpu_ms    INTEGER NOT NULL,
    exit_mem_kib   INTEGER NOT NULL,
    exit_out_bytes INTEGER NOT NULL,
    exit_err_bytes INTEGER NOT NULL,
    exit_text      TEXT NOT NULL
) STRICT;
INSERT INTO "job_state" VALUES(1,'DONE',1,'',0,1,0,'n1:1',1795262340104,1795262340111,'',0,'signal',0,'exited',0,1795262340104,1795262340111,0,1460,0,0,'');
CREATE TABLE run (
    site           TEXT NOT NULL CHECK (length(site) BETWEEN 1 AND 63),
    attempt        INTEGER NOT NULL CHECK (attempt >= 0),
    job            TEXT NOT NULL,
    lease          TEXT NOT NULL CHECK (length(lease) <= 199),
    record         TEXT NOT NULL CHECK (record IN ('taken', 'guarded', 'ended')),
    hosts          TEXT NOT NULL,
    token          INTEGER NOT NULL,
    control_number INTEGER NOT NULL CHECK (control_number >= 0),
    control_action TEXT NOT NULL CHECK (control_action IN ('signal', 'suspend', 'resume',
                                                           'kill')),
    control_signal INTEGER NOT NULL,
    exit_end       TEXT NOT NULL CHECK (exit_end IN ('none', 'exited', 'signalled',
                                                     'failed', 'lost', 'limit')),
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
COMMIT;
