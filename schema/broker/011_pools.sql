-- SPDX-License-Identifier: Apache-2.0
-- What the next cycle of a pool has to know where it goes by the plan of another time
-- window: the window and the size of the latest one, and what nodes keep of the policy
-- that they had before, until they have no more than that.
CREATE TABLE pool (
    name   TEXT NOT NULL PRIMARY KEY CHECK (length(name) BETWEEN 1 AND 63),
    window TEXT NOT NULL CHECK (length(window) <= 63),
    slots  INTEGER NOT NULL CHECK (slots >= 0)
) STRICT, WITHOUT ROWID;

CREATE TABLE pool_kept (
    pool  TEXT NOT NULL REFERENCES pool (name) ON DELETE CASCADE,
    node  TEXT NOT NULL CHECK (length(node) BETWEEN 1 AND 127),
    slots INTEGER NOT NULL CHECK (slots >= 0),
    PRIMARY KEY (pool, node)
) STRICT, WITHOUT ROWID;
