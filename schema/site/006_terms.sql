-- What a job waits for and where it stands among others: the condition as it was given
-- and with ids for names, the instant before which it does not start, its project, its
-- priority among the jobs of its queue. In its state: the queue that it was switched to
-- ('': as submitted), its place by btop and bbot, and whether its condition was met: what
-- it waited for may be forgotten by then; and whether a user wants it to wait again, and
-- its run is being ended for that.
ALTER TABLE job ADD COLUMN depend TEXT NOT NULL DEFAULT '';
ALTER TABLE job ADD COLUMN depend_on TEXT NOT NULL DEFAULT '';
ALTER TABLE job ADD COLUMN begin_ms INTEGER NOT NULL DEFAULT 0 CHECK (begin_ms >= 0);
ALTER TABLE job ADD COLUMN project TEXT NOT NULL DEFAULT '';
ALTER TABLE job ADD COLUMN priority INTEGER NOT NULL DEFAULT 0;
ALTER TABLE job_state ADD COLUMN switched_queue TEXT NOT NULL DEFAULT ''
    CHECK (length(switched_queue) <= 63);
ALTER TABLE job_state ADD COLUMN place INTEGER NOT NULL DEFAULT 0;
ALTER TABLE job_state ADD COLUMN is_released INTEGER NOT NULL DEFAULT 0
    CHECK (is_released IN (0, 1));
ALTER TABLE job_state ADD COLUMN is_requeued INTEGER NOT NULL DEFAULT 0
    CHECK (is_requeued IN (0, 1));

-- Queues that an administrator has closed (no new jobs) or inactivated (none starts).
CREATE TABLE queue (
    name        TEXT NOT NULL PRIMARY KEY CHECK (length(name) BETWEEN 1 AND 63),
    is_closed   INTEGER NOT NULL CHECK (is_closed IN (0, 1)),
    is_inactive INTEGER NOT NULL CHECK (is_inactive IN (0, 1))
) STRICT, WITHOUT ROWID;
