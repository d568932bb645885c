-- SPDX-License-Identifier: Apache-2.0
-- Jobs that are resized while they run. Of a job: whether it may be (no, yes, auto: also
-- by itself), and the command that is told. Of its attempt: the number of the last
-- resize; while it is under way (grow, shrink), the slots that come or go; how many it
-- asks for (0: no more).
ALTER TABLE job ADD COLUMN resizable TEXT NOT NULL DEFAULT 'no';
ALTER TABLE job ADD COLUMN resize_notify TEXT NOT NULL DEFAULT '';
ALTER TABLE job_state ADD COLUMN resize_number INTEGER NOT NULL DEFAULT 0;
ALTER TABLE job_state ADD COLUMN resize_event TEXT NOT NULL DEFAULT '';
ALTER TABLE job_state ADD COLUMN resize_hosts TEXT NOT NULL DEFAULT '';
ALTER TABLE job_state ADD COLUMN resize_max INTEGER NOT NULL DEFAULT 0;
