-- SPDX-License-Identifier: Apache-2.0
-- The CPUs of own hosts as they reported them last: the slots of hosts without MXJ.
CREATE TABLE cpus (
    host TEXT NOT NULL PRIMARY KEY CHECK (length(host) BETWEEN 1 AND 131),
    n_procs INTEGER NOT NULL,
    n_cores INTEGER NOT NULL,
    n_threads INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
