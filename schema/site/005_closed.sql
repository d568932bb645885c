-- SPDX-License-Identifier: Apache-2.0
-- Hosts that an administrator has closed: own ones, and borrowed ones ("n1@north").
CREATE TABLE closed (
    host TEXT NOT NULL PRIMARY KEY CHECK (length(host) BETWEEN 1 AND 131)
) STRICT, WITHOUT ROWID;
