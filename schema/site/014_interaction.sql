-- SPDX-License-Identifier: Apache-2.0
-- What connects a job with its user while it runs: nothing, pipes (-I), a
-- pseudo-terminal (-Ip, -Is). Numbers as in model/msg.h.
ALTER TABLE job ADD COLUMN interaction INTEGER NOT NULL DEFAULT 0
    CHECK (interaction = 0 OR interaction = 1 OR interaction = 2 OR interaction = 3);
ALTER TABLE run_spec ADD COLUMN interaction INTEGER NOT NULL DEFAULT 0
    CHECK (interaction = 0 OR interaction = 1 OR interaction = 2 OR interaction = 3);
