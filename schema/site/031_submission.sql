-- SPDX-License-Identifier: Apache-2.0
-- Whether the files of -oo and -eo are emptied at the start; the submission that a
-- report in the file of -o names (0: no report); the description of -Jd.
ALTER TABLE job ADD COLUMN replaces_out INTEGER NOT NULL DEFAULT 0 CHECK (replaces_out IN (0, 1));
ALTER TABLE job ADD COLUMN replaces_err INTEGER NOT NULL DEFAULT 0 CHECK (replaces_err IN (0, 1));
ALTER TABLE job ADD COLUMN report_ms INTEGER NOT NULL DEFAULT 0;
ALTER TABLE job ADD COLUMN description TEXT NOT NULL DEFAULT '';
ALTER TABLE run_spec ADD COLUMN replaces_out INTEGER NOT NULL DEFAULT 0 CHECK (replaces_out IN (0, 1));
ALTER TABLE run_spec ADD COLUMN replaces_err INTEGER NOT NULL DEFAULT 0 CHECK (replaces_err IN (0, 1));
ALTER TABLE run_spec ADD COLUMN report_ms INTEGER NOT NULL DEFAULT 0;
