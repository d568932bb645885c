-- SPDX-License-Identifier: Apache-2.0
-- schema/broker/019_hours.sql changes a view of snapshots, which are files.
SELECT 1;
