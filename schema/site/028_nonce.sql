-- SPDX-License-Identifier: Apache-2.0
-- The random number of a submission, by which runs are told apart if an attempt number
-- was used again; 0: submitted before there was one. How far a consumer's journal was at
-- its last START.
ALTER TABLE job ADD COLUMN nonce INTEGER NOT NULL DEFAULT 0 CHECK (nonce >= 0);
ALTER TABLE run ADD COLUMN nonce INTEGER NOT NULL DEFAULT 0 CHECK (nonce >= 0);
ALTER TABLE high ADD COLUMN job INTEGER NOT NULL DEFAULT 0 CHECK (job >= 0);
ALTER TABLE high ADD COLUMN commits INTEGER NOT NULL DEFAULT 0 CHECK (commits >= 0);
