-- SPDX-License-Identifier: Apache-2.0
-- As schema/broker/015_lease_commits.sql.
ALTER TABLE lease ADD COLUMN commits BIGINT NOT NULL DEFAULT 0 CHECK (commits >= 0);
