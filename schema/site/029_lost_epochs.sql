-- SPDX-License-Identifier: Apache-2.0
-- How many commits the journal had with a lease's epoch (0: not known), and which commits
-- with epochs of the lease it has lost: those above lost_from, up to lost_to.
ALTER TABLE book ADD COLUMN commits INTEGER NOT NULL DEFAULT 0 CHECK (commits >= 0);
ALTER TABLE book ADD COLUMN lost_from INTEGER NOT NULL DEFAULT 0 CHECK (lost_from >= 0);
ALTER TABLE book ADD COLUMN lost_to INTEGER NOT NULL DEFAULT 0 CHECK (lost_to >= 0);
