-- SPDX-License-Identifier: Apache-2.0
-- What is around a job's execution: its application profile, its limits ("mem=1048576",
-- model/job_rlimit.h), the commands before and after it (lists: each string with a NUL byte
-- behind it). In its state: how often its exit code has requeued it, how many times in a
-- row a command before it has failed. Of an end: the limit, or what else, was behind it.
ALTER TABLE job ADD COLUMN app TEXT NOT NULL DEFAULT '' CHECK (length(app) <= 63);
ALTER TABLE job ADD COLUMN limits BLOB NOT NULL DEFAULT X'';
ALTER TABLE job ADD COLUMN pre_execs BLOB NOT NULL DEFAULT X'';
ALTER TABLE job ADD COLUMN post_execs BLOB NOT NULL DEFAULT X'';
ALTER TABLE run_spec ADD COLUMN app TEXT NOT NULL DEFAULT '' CHECK (length(app) <= 63);
ALTER TABLE run_spec ADD COLUMN limits BLOB NOT NULL DEFAULT X'';
ALTER TABLE run_spec ADD COLUMN pre_execs BLOB NOT NULL DEFAULT X'';
ALTER TABLE run_spec ADD COLUMN post_execs BLOB NOT NULL DEFAULT X'';
ALTER TABLE job_state ADD COLUMN n_requeues INTEGER NOT NULL DEFAULT 0
    CHECK (n_requeues >= 0);
ALTER TABLE job_state ADD COLUMN n_pre_fails INTEGER NOT NULL DEFAULT 0
    CHECK (n_pre_fails >= 0);
ALTER TABLE job_state ADD COLUMN exit_cause TEXT NOT NULL DEFAULT 'none'
    CHECK (exit_cause = 'none' OR exit_cause = 'run_limit' OR exit_cause = 'cpu_limit'
           OR exit_cause = 'mem_limit' OR exit_cause = 'swap_limit'
           OR exit_cause = 'process_limit' OR exit_cause = 'thread_limit'
           OR exit_cause = 'pre_exec');
ALTER TABLE run ADD COLUMN exit_cause TEXT NOT NULL DEFAULT 'none'
    CHECK (exit_cause = 'none' OR exit_cause = 'run_limit' OR exit_cause = 'cpu_limit'
           OR exit_cause = 'mem_limit' OR exit_cause = 'swap_limit'
           OR exit_cause = 'process_limit' OR exit_cause = 'thread_limit'
           OR exit_cause = 'pre_exec');
