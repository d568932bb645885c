-- SPDX-License-Identifier: Apache-2.0
-- What is done to a job instead of the usual signals ("suspend=TSTP", model/job_control.h):
-- strings with a NUL byte behind each.
ALTER TABLE job ADD COLUMN controls BLOB NOT NULL DEFAULT X'';
ALTER TABLE run_spec ADD COLUMN controls BLOB NOT NULL DEFAULT X'';
