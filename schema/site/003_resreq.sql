-- SPDX-License-Identifier: Apache-2.0
-- Requirement strings of a job, as they were given: each followed by a NUL byte.
ALTER TABLE job ADD COLUMN res_reqs BLOB NOT NULL DEFAULT X'';
ALTER TABLE run_spec ADD COLUMN res_reqs BLOB NOT NULL DEFAULT X'';
