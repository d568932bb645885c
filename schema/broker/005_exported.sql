-- SPDX-License-Identifier: Apache-2.0
-- What a lease exports besides slots. Of each host: memory and swap space in MB (NULL:
-- not exported, both sides compete for it).
ALTER TABLE lease_host ADD COLUMN mem_mib INTEGER CHECK (mem_mib >= 0);
ALTER TABLE lease_host ADD COLUMN swp_mib INTEGER CHECK (swp_mib >= 0);

-- Of shared resources: how many instances, from which pool of the provider's (leases of
-- one pool share them), seen from which of the lease's hosts (names, in their order,
-- joined by blanks; '' is all of them), how the provider defines it (model/msg.h).
CREATE TABLE lease_resource (
    lease       TEXT NOT NULL REFERENCES lease (id) ON DELETE CASCADE,
    place       INTEGER NOT NULL CHECK (place BETWEEN 0 AND 999),
    name        TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 63),
    pool        INTEGER NOT NULL CHECK (pool >= 0),
    n_instances INTEGER NOT NULL CHECK (n_instances >= 0),
    traits      INTEGER NOT NULL CHECK (traits BETWEEN 0 AND 15),
    hosts       TEXT NOT NULL,
    PRIMARY KEY (lease, place)
) STRICT, WITHOUT ROWID;

-- The views show it.
DROP VIEW v_lease_hosts;
CREATE VIEW v_lease_hosts AS
SELECT lease,
       host,
       n_slots AS slots,
       iif(is_down, 0, provider) AS provider_available,
       provider_used,
       iif(is_down, 0, consumer) AS consumer_available,
       consumer_used,
       is_down,
       mem_mib AS mem,
       swp_mib AS swp
FROM lease_host
ORDER BY lease, place;

CREATE VIEW v_lease_resources AS
SELECT lease, name, n_instances AS instances, hosts
FROM lease_resource
ORDER BY lease, place;
