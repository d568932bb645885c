-- SPDX-License-Identifier: Apache-2.0
-- A change of a contract appends to the history and to the books, and changes no page in
-- the middle of a table or an index. The broker has an index of the history in memory.
DROP INDEX event_of_lease;

-- Entries that are not in `held` yet. They are moved there together, in the order of
-- its key.
CREATE TABLE held_recent (
    lease    TEXT NOT NULL CHECK (length(lease) BETWEEN 1 AND 199),
    start_ms INTEGER NOT NULL CHECK (start_ms >= 0),
    epoch    INTEGER NOT NULL CHECK (epoch >= 0),
    provider INTEGER NOT NULL CHECK (provider >= 0),
    consumer INTEGER NOT NULL CHECK (consumer >= 0)
) STRICT;
