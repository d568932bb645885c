-- SPDX-License-Identifier: Apache-2.0
-- As schema/postgres/016_brokers.sql, which has a table of the brokers of a database. A
-- file has one broker, and nothing changes here: the number alone is the same.
SELECT 1;
