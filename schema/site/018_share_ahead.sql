-- SPDX-License-Identifier: Apache-2.0
-- How far a queue of a slot pool is ahead of its share, or behind it, in milliseconds of
-- one slot; whether its jobs waited for slots from that instant on.
ALTER TABLE share ADD COLUMN ahead_ms REAL NOT NULL DEFAULT 0;
ALTER TABLE share ADD COLUMN is_waiting INTEGER NOT NULL DEFAULT 0
    CHECK (is_waiting = 0 OR is_waiting = 1);
