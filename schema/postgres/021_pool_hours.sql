-- SPDX-License-Identifier: Apache-2.0
-- As schema/broker/021_pool_hours.sql.
CREATE TABLE pool_hours (
    pool     TEXT COLLATE "C" NOT NULL CHECK (length(pool) <= 63),
    name     TEXT COLLATE "C" NOT NULL CHECK (length(name) BETWEEN 1 AND 199),
    since_ms BIGINT NOT NULL CHECK (since_ms >= 0),
    month_ms BIGINT NOT NULL CHECK (month_ms >= 0),
    used_ms  BIGINT NOT NULL CHECK (used_ms >= 0),
    level    BIGINT NOT NULL CHECK (level BETWEEN 0 AND 2),
    PRIMARY KEY (pool, name, since_ms, month_ms)
);
