-- SPDX-License-Identifier: Apache-2.0
-- How many commits the provider's journal had with the epoch; 0: not known. A STATE with
-- fewer is of an older copy of that journal.
ALTER TABLE lease ADD COLUMN commits INTEGER NOT NULL DEFAULT 0 CHECK (commits >= 0);
