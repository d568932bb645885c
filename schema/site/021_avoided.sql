-- SPDX-License-Identifier: Apache-2.0
-- Hosts on which a job is not to run again, as it exited there with a code of EXCLUDE
-- (REQUEUE_EXIT_VALUES): names joined by blanks.
ALTER TABLE job_state ADD COLUMN avoided TEXT NOT NULL DEFAULT '';
