-- SPDX-License-Identifier: Apache-2.0
-- What a lease of this provider exports besides slots. Of each host: memory and swap
-- space in MB (NULL: not exported, both sides compete for it).
ALTER TABLE book_host ADD COLUMN mem_mib INTEGER CHECK (mem_mib >= 0);
ALTER TABLE book_host ADD COLUMN swp_mib INTEGER CHECK (swp_mib >= 0);

-- Of shared resources: how many instances, of which place of ResourceMap, seen from
-- which of the lease's hosts (names, in their order, joined by blanks; '' is all of
-- them), how the resource is defined (model/msg.h).
CREATE TABLE book_resource (
    lease       TEXT NOT NULL REFERENCES book (lease) ON DELETE CASCADE,
    place       INTEGER NOT NULL CHECK (place BETWEEN 0 AND 999),
    name        TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 63),
    pool        INTEGER NOT NULL CHECK (pool >= 0),
    n_instances INTEGER NOT NULL CHECK (n_instances >= 0),
    traits      INTEGER NOT NULL CHECK (traits BETWEEN 0 AND 15),
    hosts       TEXT NOT NULL,
    PRIMARY KEY (lease, place)
) STRICT, WITHOUT ROWID;
