-- SPDX-License-Identifier: Apache-2.0
-- Limits of a run that were changed since it started: the orders about it repeat them.
ALTER TABLE job_state ADD COLUMN control_run_limit_ms INTEGER;
ALTER TABLE job_state ADD COLUMN control_mem_limit_kib INTEGER;
ALTER TABLE run ADD COLUMN control_run_limit_ms INTEGER NOT NULL DEFAULT 0;
ALTER TABLE run ADD COLUMN control_mem_limit_kib INTEGER NOT NULL DEFAULT 0;
