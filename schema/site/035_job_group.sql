-- SPDX-License-Identifier: Apache-2.0
-- Job groups (bgadd, sub -g): a path, its owner, and how many of its jobs may be started;
-- -1: any number. The group of a job is its job_group; '': none.
CREATE TABLE job_group (
    path     TEXT NOT NULL PRIMARY KEY CHECK (length(path) BETWEEN 2 AND 512),
    owner    TEXT NOT NULL,
    max_jobs INTEGER NOT NULL CHECK (max_jobs >= -1)
) STRICT, WITHOUT ROWID;
ALTER TABLE job ADD COLUMN job_group TEXT NOT NULL DEFAULT '';
