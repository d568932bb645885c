-- SPDX-License-Identifier: Apache-2.0
-- How the commands after the job ended (post_done, post_err of bsub -w).
ALTER TABLE job_state ADD COLUMN exit_post TEXT
    CHECK (exit_post = 'none' OR exit_post = 'done' OR exit_post = 'error');
ALTER TABLE run ADD COLUMN exit_post TEXT NOT NULL DEFAULT 'none'
    CHECK (exit_post = 'none' OR exit_post = 'done' OR exit_post = 'error');
