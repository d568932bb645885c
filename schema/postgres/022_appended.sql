-- SPDX-License-Identifier: Apache-2.0
-- Nothing: the tables that schema/broker/022_appended.sql changes are as before here.
SELECT 1;
