-- SPDX-License-Identifier: Apache-2.0
-- What has become of a job, in a row that is short where little has: NULL is nothing,
-- none, no or never. An order and an end are there whole or not at all. The key is the
-- job's number times 2^20 and the element (model/job_id.h): SQLite finds a number faster
-- than a record. The program deletes a job's states with it. Why: ADR 19.
--
-- is_taken: while the job is PEND and has no row in `run`, its run on the site's own
-- hosts is 'taken', and executes it as submitted.
ALTER TABLE job_state RENAME TO job_state_22;
CREATE TABLE job_state (
    key               INTEGER PRIMARY KEY CHECK (key > 0),
    state             TEXT NOT NULL CHECK (state = 'PEND' OR state = 'PSUSP' OR state = 'RUN'
                                           OR state = 'USUSP' OR state = 'SSUSP'
                                           OR state = 'DONE' OR state = 'EXIT'
                                           OR state = 'UNKWN'),
    attempt           INTEGER CHECK (attempt > 0),
    lease             TEXT CHECK (length(lease) <= 199),
    epoch             INTEGER CHECK (epoch > 0),
    is_decided        INTEGER CHECK (is_decided = 1),
    is_taken          INTEGER CHECK (is_taken = 1),
    is_killed         INTEGER CHECK (is_killed = 1),
    hosts             TEXT,
    start_ms          INTEGER,
    end_ms            INTEGER,
    reason            TEXT,
    is_dropped        INTEGER CHECK (is_dropped = 1),
    switched_queue    TEXT CHECK (length(switched_queue) <= 63),
    place             INTEGER,
    is_released       INTEGER CHECK (is_released = 1),
    requeue_cause     INTEGER CHECK (requeue_cause BETWEEN 1 AND 7),
    n_requeues        INTEGER CHECK (n_requeues > 0),
    n_pre_fails       INTEGER CHECK (n_pre_fails > 0),
    halt_causes       INTEGER CHECK (halt_causes BETWEEN 1 AND 15),
    halt_yields       INTEGER CHECK (halt_yields = 1),
    halt_by           INTEGER,
    halt_count        INTEGER CHECK (halt_count > 0),
    halt_since_ms     INTEGER,
    halt_resumed_ms   INTEGER,
    halt_total_ms     INTEGER CHECK (halt_total_ms > 0),
    overload          TEXT,
    reserved          TEXT,
    avoided           TEXT,
    backfill_of       INTEGER,
    backfill_until_ms INTEGER,
    resize_number     INTEGER CHECK (resize_number > 0),
    resize_event      TEXT CHECK (resize_event = 'grow' OR resize_event = 'shrink'),
    resize_hosts      TEXT,
    resize_max        INTEGER CHECK (resize_max > 0),
    control_number    INTEGER CHECK (control_number > 0),
    control_action    TEXT CHECK (control_action = 'signal' OR control_action = 'suspend'
                                  OR control_action = 'resume' OR control_action = 'kill'),
    control_signal    INTEGER,
    exit_end          TEXT CHECK (exit_end = 'exited' OR exit_end = 'signalled'
                                  OR exit_end = 'failed' OR exit_end = 'lost'
                                  OR exit_end = 'limit'),
    exit_code         INTEGER,
    exit_start_ms     INTEGER,
    exit_end_ms       INTEGER,
    exit_cpu_ms       INTEGER,
    exit_mem_kib      INTEGER,
    exit_out_bytes    INTEGER,
    exit_err_bytes    INTEGER,
    exit_text         TEXT,
    exit_cause        TEXT CHECK (exit_cause = 'none' OR exit_cause = 'run_limit'
                                  OR exit_cause = 'cpu_limit' OR exit_cause = 'mem_limit'
                                  OR exit_cause = 'swap_limit' OR exit_cause = 'process_limit'
                                  OR exit_cause = 'thread_limit' OR exit_cause = 'pre_exec')
) STRICT;

INSERT INTO job_state (key,
    state, attempt, lease, epoch, is_decided, is_killed, hosts, start_ms, end_ms,
    reason, is_dropped, switched_queue, place, is_released, requeue_cause, n_requeues,
    n_pre_fails, halt_causes, halt_yields, halt_by, halt_count, halt_since_ms,
    halt_resumed_ms, halt_total_ms, overload, reserved, avoided, backfill_of,
    backfill_until_ms, resize_number, resize_event, resize_hosts, resize_max,
    control_number, control_action, control_signal,
    exit_end, exit_code, exit_start_ms, exit_end_ms, exit_cpu_ms, exit_mem_kib,
    exit_out_bytes, exit_err_bytes, exit_text, exit_cause)
SELECT id << 20 | element,
       state, nullif(attempt, 0), nullif(lease, ''), nullif(epoch, 0),
       nullif(is_decided, 0), nullif(is_killed, 0), nullif(hosts, ''),
       nullif(start_ms, 0), nullif(end_ms, 0), nullif(reason, ''),
       nullif(is_dropped, 0), nullif(switched_queue, ''), nullif(place, 0),
       nullif(is_released, 0), nullif(requeue_cause, 0), nullif(n_requeues, 0),
       nullif(n_pre_fails, 0), nullif(halt_causes, 0), nullif(halt_yields, 0),
       nullif(halt_by, 0), nullif(halt_count, 0), nullif(halt_since_ms, 0),
       nullif(halt_resumed_ms, 0), nullif(halt_total_ms, 0), nullif(overload, ''),
       nullif(reserved, ''), nullif(avoided, ''), nullif(backfill_of, 0),
       nullif(backfill_until_ms, 0), nullif(resize_number, 0),
       nullif(resize_event, ''), nullif(resize_hosts, ''), nullif(resize_max, 0),
       nullif(control_number, 0),
       iif(control_number = 0, NULL, control_action),
       iif(control_number = 0, NULL, control_signal),
       nullif(exit_end, 'none'),
       iif(exit_end = 'none', NULL, exit_code),
       iif(exit_end = 'none', NULL, exit_start_ms),
       iif(exit_end = 'none', NULL, exit_end_ms),
       iif(exit_end = 'none', NULL, exit_cpu_ms),
       iif(exit_end = 'none', NULL, exit_mem_kib),
       iif(exit_end = 'none', NULL, exit_out_bytes),
       iif(exit_end = 'none', NULL, exit_err_bytes),
       iif(exit_end = 'none', NULL, exit_text),
       iif(exit_end = 'none', NULL, exit_cause)
  FROM job_state_22;
DROP TABLE job_state_22;
