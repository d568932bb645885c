-- SPDX-License-Identifier: Apache-2.0
-- When the provider's journal got the epoch of the contract.
ALTER TABLE lease ADD COLUMN split_ms INTEGER NOT NULL DEFAULT 0;
