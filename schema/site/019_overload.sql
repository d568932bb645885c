-- SPDX-License-Identifier: Apache-2.0
-- The load that a job stands still for (halt_causes has 8), or after which it went on:
-- a text for people. "": none.
ALTER TABLE job_state ADD COLUMN overload TEXT NOT NULL DEFAULT '';
