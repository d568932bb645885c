-- SPDX-License-Identifier: Apache-2.0
-- What a leased run uses of its lease: slot-milliseconds until an instant, and the slots
-- in use from then on, by the provider's record; in that of the job as it was told.
ALTER TABLE run ADD COLUMN use_start_ms INTEGER NOT NULL DEFAULT 0;
ALTER TABLE run ADD COLUMN use_used_ms INTEGER NOT NULL DEFAULT 0;
ALTER TABLE run ADD COLUMN use_at_ms INTEGER NOT NULL DEFAULT 0;
ALTER TABLE run ADD COLUMN use_n_slots INTEGER NOT NULL DEFAULT 0;
ALTER TABLE job_state ADD COLUMN use_start_ms INTEGER NOT NULL DEFAULT 0;
ALTER TABLE job_state ADD COLUMN use_used_ms INTEGER NOT NULL DEFAULT 0;
ALTER TABLE job_state ADD COLUMN use_at_ms INTEGER NOT NULL DEFAULT 0;
ALTER TABLE job_state ADD COLUMN use_n_slots INTEGER NOT NULL DEFAULT 0;

-- When the journal got the epoch of the contract.
ALTER TABLE book ADD COLUMN split_ms INTEGER NOT NULL DEFAULT 0;

-- The runs behind the hours of the ledger, as this site has them on record: of side 0 as
-- their provider told, of side 2 its own. end_ms is 2^63 - 1 until a run ends; n_slots are
-- in use from at_ms on.
CREATE TABLE usage_run (
    lease    TEXT NOT NULL CHECK (length(lease) BETWEEN 1 AND 199),
    attempt  INTEGER NOT NULL,
    side     INTEGER NOT NULL CHECK (side IN (0, 2)), -- consumer, lent
    job      TEXT NOT NULL,
    start_ms INTEGER NOT NULL,
    end_ms   INTEGER NOT NULL,
    used_ms  INTEGER NOT NULL,
    at_ms    INTEGER NOT NULL,
    n_slots  INTEGER NOT NULL,
    PRIMARY KEY (lease, attempt, side)
) STRICT, WITHOUT ROWID;

-- What a side holds from an instant on, and the epoch of the contract.
CREATE TABLE usage_split (
    lease   TEXT NOT NULL CHECK (length(lease) BETWEEN 1 AND 199),
    side    INTEGER NOT NULL CHECK (side BETWEEN 0 AND 2), -- consumer, provider, lent
    at_ms   INTEGER NOT NULL,
    epoch   INTEGER NOT NULL,
    n_slots INTEGER NOT NULL CHECK (n_slots >= 0),
    PRIMARY KEY (lease, side, at_ms)
) STRICT, WITHOUT ROWID;

-- Both count for the size of the ledger.
CREATE TRIGGER usage_run_grows AFTER INSERT ON usage_run BEGIN
    UPDATE usage_size SET n_bytes = n_bytes + 44 + length(new.lease) + length(new.job);
END;
CREATE TRIGGER usage_run_shrinks AFTER DELETE ON usage_run BEGIN
    UPDATE usage_size SET n_bytes = n_bytes - 44 - length(old.lease) - length(old.job);
END;
CREATE TRIGGER usage_split_grows AFTER INSERT ON usage_split BEGIN
    UPDATE usage_size SET n_bytes = n_bytes + 24 + length(new.lease);
END;
CREATE TRIGGER usage_split_shrinks AFTER DELETE ON usage_split BEGIN
    UPDATE usage_size SET n_bytes = n_bytes - 24 - length(old.lease);
END;
