-- SPDX-License-Identifier: Apache-2.0
-- The user group whose share counts for a job (sub -G); '': where its user stands. Of
-- such jobs an account of table share is called by group and user ('lab/ana').
ALTER TABLE job ADD COLUMN user_group TEXT NOT NULL DEFAULT '';
