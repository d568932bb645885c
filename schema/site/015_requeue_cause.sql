-- SPDX-License-Identifier: Apache-2.0
-- Why a job is to wait again, or had to: numbers as in model/row.h (enum requeue_cause).
-- Before, that it was to; whom its run was ended for then is not known any more.
ALTER TABLE job_state ADD COLUMN requeue_cause INTEGER NOT NULL DEFAULT 0
    CHECK (requeue_cause >= 0 AND requeue_cause <= 7);
UPDATE job_state SET requeue_cause = 2 WHERE is_requeued = 1;
ALTER TABLE job_state DROP COLUMN is_requeued;
