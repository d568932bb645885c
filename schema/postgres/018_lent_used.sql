-- SPDX-License-Identifier: Apache-2.0
-- As schema/broker/018_lent_used.sql.
ALTER TABLE sample ADD COLUMN lent_used BIGINT;
