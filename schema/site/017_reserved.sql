-- SPDX-License-Identifier: Apache-2.0
-- What a job with an attempt reserves (rusage), as it was when it was dispatched: a
-- text that sched/resreq_usage.h reads. "": nothing.
ALTER TABLE job_state ADD COLUMN reserved TEXT NOT NULL DEFAULT '';
