-- Why a job that has begun stands still, who made it so, and for how long: the causes
-- (1 a user, 2 it gave its slots to others, 4 its queue's window, 8 load; added up),
-- whether its slots are others' while it stands still, the job that it gave way to (0:
-- none), how often it had to, since when it stands still (0: it does not), when it went
-- on last (0: never), and how long it had stood still before.
ALTER TABLE job_state ADD COLUMN halt_causes INTEGER NOT NULL DEFAULT 0
    CHECK (halt_causes BETWEEN 0 AND 15);
ALTER TABLE job_state ADD COLUMN halt_yields INTEGER NOT NULL DEFAULT 0
    CHECK (halt_yields IN (0, 1));
ALTER TABLE job_state ADD COLUMN halt_by INTEGER NOT NULL DEFAULT 0;
ALTER TABLE job_state ADD COLUMN halt_count INTEGER NOT NULL DEFAULT 0
    CHECK (halt_count >= 0);
ALTER TABLE job_state ADD COLUMN halt_since_ms INTEGER NOT NULL DEFAULT 0;
ALTER TABLE job_state ADD COLUMN halt_resumed_ms INTEGER NOT NULL DEFAULT 0;
ALTER TABLE job_state ADD COLUMN halt_total_ms INTEGER NOT NULL DEFAULT 0
    CHECK (halt_total_ms >= 0);
-- Until now only users made jobs stand still.
UPDATE job_state SET halt_causes = 1
    WHERE control_number > 0 AND control_action = 'suspend'
      AND state <> 'DONE' AND state <> 'EXIT' AND attempt > 0;
UPDATE job_state SET halt_since_ms = max(start_ms, 1) WHERE state = 'USUSP' AND attempt > 0;
