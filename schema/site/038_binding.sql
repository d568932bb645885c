-- SPDX-License-Identifier: Apache-2.0
-- The processors that the tasks of a run are bound to (affinity); '': it has none.
ALTER TABLE run ADD COLUMN binding TEXT NOT NULL DEFAULT '';
