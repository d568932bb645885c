-- SPDX-License-Identifier: Apache-2.0
-- By when a run's job has to end, as it uses slots that another job reserves; 0: no such
-- time.
ALTER TABLE run ADD COLUMN end_by_ms INTEGER NOT NULL DEFAULT 0;
