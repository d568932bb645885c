-- SPDX-License-Identifier: Apache-2.0
-- Where a job may run: on hosts of its own (-x), on any number of slots up to a most
-- (-n min,max; 0: as many as n_slots).
ALTER TABLE job ADD COLUMN is_exclusive INTEGER NOT NULL DEFAULT 0
    CHECK (is_exclusive = 0 OR is_exclusive = 1);
ALTER TABLE run_spec ADD COLUMN is_exclusive INTEGER NOT NULL DEFAULT 0
    CHECK (is_exclusive = 0 OR is_exclusive = 1);
ALTER TABLE job ADD COLUMN max_slots INTEGER NOT NULL DEFAULT 0
    CHECK (max_slots BETWEEN 0 AND 100000);
