-- SPDX-License-Identifier: Apache-2.0
-- As schema/broker/017_books.sql.
CREATE TABLE held (
    lease    TEXT COLLATE "C" NOT NULL CHECK (length(lease) BETWEEN 1 AND 199),
    start_ms BIGINT NOT NULL CHECK (start_ms >= 0),
    epoch    BIGINT NOT NULL CHECK (epoch >= 0),
    provider BIGINT NOT NULL CHECK (provider >= 0),
    consumer BIGINT NOT NULL CHECK (consumer >= 0),
    PRIMARY KEY (lease, start_ms)
);
CREATE INDEX held_of_time ON held (start_ms);

CREATE TABLE held_sum (
    lease       TEXT COLLATE "C" NOT NULL CHECK (length(lease) BETWEEN 1 AND 199),
    n_hours     BIGINT NOT NULL CHECK (n_hours IN (1, 24)),
    start_ms    BIGINT NOT NULL CHECK (start_ms >= 0),
    provider_ms BIGINT NOT NULL,
    consumer_ms BIGINT NOT NULL,
    PRIMARY KEY (lease, n_hours, start_ms)
);
CREATE INDEX held_sum_of_time ON held_sum (n_hours, start_ms);

CREATE TABLE held_size (
    one     BIGINT PRIMARY KEY CHECK (one = 1),
    n_bytes BIGINT NOT NULL
);
