-- SPDX-License-Identifier: Apache-2.0
-- What users have used in a queue with fairshare or a host partition ('queue/normal',
-- 'partition/fast'), or a queue in a slot pool ('pool/A'): processor time, run time of
-- ended jobs or slot time of the queue, in milliseconds, as of an instant. It fades.
CREATE TABLE share (
    scope   TEXT NOT NULL CHECK (length(scope) BETWEEN 1 AND 79),
    account TEXT NOT NULL,
    cpu_ms  REAL NOT NULL CHECK (cpu_ms >= 0),
    past_ms REAL NOT NULL CHECK (past_ms >= 0),
    at_ms   INTEGER NOT NULL,
    PRIMARY KEY (scope, account)
) STRICT, WITHOUT ROWID;
