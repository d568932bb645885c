-- SPDX-License-Identifier: Apache-2.0
-- A site that nothing was heard of since the broker started: since which start, so that
-- LEASE_TERM does not begin anew with each. 0: it was heard of.
ALTER TABLE site ADD COLUMN silent_ms INTEGER NOT NULL DEFAULT 0 CHECK (silent_ms >= 0);
