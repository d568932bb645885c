-- SPDX-License-Identifier: Apache-2.0
-- How far a site's journal was: the number of its commits, and the highest numbers of an
-- attempt and of a job.
ALTER TABLE site ADD COLUMN mark_commits INTEGER NOT NULL DEFAULT 0 CHECK (mark_commits >= 0);
ALTER TABLE site ADD COLUMN mark_attempt INTEGER NOT NULL DEFAULT 0 CHECK (mark_attempt >= 0);
ALTER TABLE site ADD COLUMN mark_job INTEGER NOT NULL DEFAULT 0 CHECK (mark_job >= 0);
-- How far it was behind what others know of it.
ALTER TABLE present_site ADD COLUMN journal_lost_commits INTEGER;
ALTER TABLE present_site ADD COLUMN journal_lost_attempts INTEGER;
ALTER TABLE present_site ADD COLUMN journal_lost_jobs INTEGER;
DROP VIEW v_sites;
CREATE VIEW v_sites AS
SELECT site, roles, status, slots_own, slots_used, slots_lent, slots_borrowed,
       slots_idle, pending, jobs_PEND, jobs_PSUSP, jobs_RUN, jobs_USUSP, jobs_SSUSP,
       jobs_UNKWN, jobs_DONE, jobs_EXIT, schedule_passes, schedule_s,
       coalesce((SELECT is_drained FROM site AS kept WHERE kept.name = present_site.site), 0)
           AS drained,
       since, journal_lost_commits, journal_lost_attempts, journal_lost_jobs
FROM present_site
ORDER BY site;
