-- SPDX-License-Identifier: Apache-2.0
-- Run limits of a host (bsub -W 60/hostA), and what they are on the hosts of an attempt.
ALTER TABLE job ADD COLUMN run_limit_host TEXT NOT NULL DEFAULT '';
ALTER TABLE job_state ADD COLUMN run_limit_ms INTEGER;
