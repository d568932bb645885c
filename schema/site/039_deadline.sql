-- SPDX-License-Identifier: Apache-2.0
-- The instant at which a job ends at the latest (bsub -t; 0: none); whether it ends once
-- its dependency can never be met (-ti); the exit codes for which it is requeued (-Q).
ALTER TABLE job ADD COLUMN terminate_ms INTEGER NOT NULL DEFAULT 0 CHECK (terminate_ms >= 0);
ALTER TABLE job ADD COLUMN ends_orphan INTEGER NOT NULL DEFAULT 0 CHECK (ends_orphan IN (0, 1));
ALTER TABLE job ADD COLUMN requeue_codes TEXT NOT NULL DEFAULT '';
