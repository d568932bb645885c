-- SPDX-License-Identifier: Apache-2.0
-- Job arrays: one row of `job` for all elements, whose name has the index list
-- ("lisa[1-10]"), and a state for each element that is not as it was at submission
-- (PEND, without an attempt). `element` 0 is a job of no array. One that is_dropped is
-- forgotten; the array goes with the last.
ALTER TABLE job ADD COLUMN is_array INTEGER NOT NULL DEFAULT 0 CHECK (is_array IN (0, 1));

ALTER TABLE job_state RENAME TO job_state_1;
CREATE TABLE job_state (
    id             INTEGER NOT NULL REFERENCES job (id) ON DELETE CASCADE,
    element        INTEGER NOT NULL CHECK (element BETWEEN 0 AND 999999),
    state          TEXT NOT NULL CHECK (state = 'PEND' OR state = 'PSUSP' OR state = 'RUN'
                                        OR state = 'USUSP' OR state = 'SSUSP' OR state = 'DONE'
                                        OR state = 'EXIT' OR state = 'UNKWN'),
    attempt        INTEGER NOT NULL CHECK (attempt >= 0),
    lease          TEXT NOT NULL CHECK (length(lease) <= 199),
    epoch          INTEGER NOT NULL CHECK (epoch >= 0),
    is_decided     INTEGER NOT NULL CHECK (is_decided IN (0, 1)),
    is_killed      INTEGER NOT NULL CHECK (is_killed IN (0, 1)),
    hosts          TEXT NOT NULL,
    start_ms       INTEGER NOT NULL,
    end_ms         INTEGER NOT NULL,
    reason         TEXT NOT NULL,
    control_number INTEGER NOT NULL CHECK (control_number >= 0),
    control_action TEXT NOT NULL CHECK (control_action = 'signal' OR control_action = 'suspend'
                                        OR control_action = 'resume' OR control_action = 'kill'),
    control_signal INTEGER NOT NULL,
    exit_end       TEXT NOT NULL CHECK (exit_end = 'none' OR exit_end = 'exited'
                                        OR exit_end = 'signalled' OR exit_end = 'failed'
                                        OR exit_end = 'lost' OR exit_end = 'limit'),
    exit_code      INTEGER NOT NULL,
    exit_start_ms  INTEGER NOT NULL,
    exit_end_ms    INTEGER NOT NULL,
    exit_cpu_ms    INTEGER NOT NULL,
    exit_mem_kib   INTEGER NOT NULL,
    exit_out_bytes INTEGER NOT NULL,
    exit_err_bytes INTEGER NOT NULL,
    exit_text      TEXT NOT NULL,
    is_dropped     INTEGER NOT NULL DEFAULT 0 CHECK (is_dropped IN (0, 1)),
    PRIMARY KEY (id, element)
) STRICT, WITHOUT ROWID;

INSERT INTO job_state (id, element, state, attempt, lease, epoch, is_decided, is_killed, hosts, start_ms, end_ms, reason,
    control_number, control_action, control_signal, exit_end, exit_code, exit_start_ms,
    exit_end_ms, exit_cpu_ms, exit_mem_kib, exit_out_bytes, exit_err_bytes, exit_text)
SELECT id, 0, state, attempt, lease, epoch, is_decided, is_killed, hosts, start_ms, end_ms, reason,
       control_number, control_action, control_signal, exit_end, exit_code, exit_start_ms,
       exit_end_ms, exit_cpu_ms, exit_mem_kib, exit_out_bytes, exit_err_bytes, exit_text
  FROM job_state_1;
DROP TABLE job_state_1;
