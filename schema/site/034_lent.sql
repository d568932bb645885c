-- SPDX-License-Identifier: Apache-2.0
-- The ledger of a provider also has the consumer's side, from its own records (side 2).
-- cost_ms: used_ms times the price of a slot hour. n_moved: slots whose use has begun,
-- and those whose use has ended.
CREATE TABLE usage_34 (
    n_hours  INTEGER NOT NULL CHECK (n_hours = 1 OR n_hours = 24),
    start_ms INTEGER NOT NULL,
    lease    TEXT NOT NULL CHECK (length(lease) BETWEEN 1 AND 199),
    side     INTEGER NOT NULL CHECK (side BETWEEN 0 AND 2), -- consumer, provider, lent
    user     TEXT NOT NULL,
    queue    TEXT NOT NULL,
    project  TEXT NOT NULL,
    account  TEXT NOT NULL,
    held_ms  INTEGER NOT NULL,
    used_ms  INTEGER NOT NULL,
    idle_ms  INTEGER NOT NULL,
    cost_ms  INTEGER NOT NULL,
    n_moved  INTEGER NOT NULL,
    PRIMARY KEY (n_hours, start_ms, lease, side, user, queue, project, account)
) STRICT, WITHOUT ROWID;
INSERT INTO usage_34 SELECT *, 0, 0 FROM usage;
DROP TABLE usage;
ALTER TABLE usage_34 RENAME TO usage;

CREATE TABLE usage_level_34 (
    lease     TEXT NOT NULL CHECK (length(lease) BETWEEN 1 AND 199),
    side      INTEGER NOT NULL CHECK (side BETWEEN 0 AND 2),
    n_held    INTEGER NOT NULL CHECK (n_held >= 0),
    booked_ms INTEGER NOT NULL,
    price     INTEGER NOT NULL CHECK (price >= 0),
    PRIMARY KEY (lease, side)
) STRICT, WITHOUT ROWID;
INSERT INTO usage_level_34 SELECT *, 0 FROM usage_level;
DROP TABLE usage_level;
ALTER TABLE usage_level_34 RENAME TO usage_level;

-- A row was counted with about twice what it takes.
UPDATE usage_size SET n_bytes = (SELECT ifnull(sum(44 + length(lease) + length(user)
    + length(queue) + length(project) + length(account)), 0) FROM usage);
