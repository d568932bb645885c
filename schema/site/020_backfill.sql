-- SPDX-License-Identifier: Apache-2.0
-- Whose reserved slots a job was given (the key of a job, model/job_id.h; 0: nobody's),
-- and until when that one could not start.
ALTER TABLE job_state ADD COLUMN backfill_of INTEGER NOT NULL DEFAULT 0;
ALTER TABLE job_state ADD COLUMN backfill_until_ms INTEGER NOT NULL DEFAULT 0;
