-- SPDX-License-Identifier: Apache-2.0
-- Pools. A contract of a policy that exports to a pool (its type counts for nothing
-- then), and the latest recall of its slots: the number, whether hosts come back whole,
-- and what is not home yet. Of a run: how important its queue is, and that its end was
-- ordered because its slots were recalled.
ALTER TABLE book ADD COLUMN is_pool INTEGER NOT NULL DEFAULT 0
    CHECK (is_pool = 0 OR is_pool = 1);
ALTER TABLE book ADD COLUMN recall INTEGER NOT NULL DEFAULT 0 CHECK (recall >= 0);
ALTER TABLE book ADD COLUMN is_whole INTEGER NOT NULL DEFAULT 0
    CHECK (is_whole = 0 OR is_whole = 1);
ALTER TABLE run ADD COLUMN priority INTEGER NOT NULL DEFAULT 0 CHECK (priority >= 0);
ALTER TABLE run ADD COLUMN is_recalled INTEGER NOT NULL DEFAULT 0
    CHECK (is_recalled = 0 OR is_recalled = 1);

CREATE TABLE book_recall (
    lease       TEXT NOT NULL REFERENCES book (lease) ON DELETE CASCADE,
    place       INTEGER NOT NULL CHECK (place BETWEEN 0 AND 15),
    n_held      INTEGER NOT NULL CHECK (n_held >= 0),
    deadline_ms INTEGER NOT NULL CHECK (deadline_ms >= 0),
    PRIMARY KEY (lease, place)
) STRICT, WITHOUT ROWID;
