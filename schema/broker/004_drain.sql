-- SPDX-License-Identifier: Apache-2.0
-- Draining. Of a lease: whether an administrator ordered it for this lease itself, and
-- the latest order to its provider with its number, whatever gave rise to it. Of a
-- site: whether all its leases are drained, those to come too.
ALTER TABLE lease ADD COLUMN is_drain_ordered INTEGER NOT NULL DEFAULT 0
    CHECK (is_drain_ordered = 0 OR is_drain_ordered = 1);
ALTER TABLE lease ADD COLUMN is_drained INTEGER NOT NULL DEFAULT 0
    CHECK (is_drained = 0 OR is_drained = 1);
ALTER TABLE lease ADD COLUMN drain INTEGER NOT NULL DEFAULT 0 CHECK (drain >= 0);
ALTER TABLE site ADD COLUMN is_drained INTEGER NOT NULL DEFAULT 0
    CHECK (is_drained = 0 OR is_drained = 1);

-- The views show it.
DROP VIEW v_leases;
CREATE VIEW v_leases AS
SELECT lease.id,
       lease.provider,
       lease.policy,
       lease.consumer,
       lease.type,
       lease.state,
       present_lease.status,
       lease.epoch,
       coalesce(sum(iif(is_down, 0, lease_host.provider)), 0) AS provider_available,
       coalesce(sum(provider_used), 0) AS provider_used,
       coalesce(sum(iif(is_down, 0, lease_host.consumer)), 0) AS consumer_available,
       coalesce(sum(consumer_used), 0) AS consumer_used,
       count(host) AS n_hosts,
       present_lease.reclaim_delay_s,
       present_lease.next_rebalance_at,
       strftime('%Y-%m-%dT%H:%M:%fZ', nullif(registered_ms, 0) / 1000.0, 'unixepoch')
           AS registered_at,
       strftime('%Y-%m-%dT%H:%M:%fZ', nullif(made_ms, 0) / 1000.0, 'unixepoch')
           AS made_at,
       strftime('%Y-%m-%dT%H:%M:%fZ', nullif(changed_ms, 0) / 1000.0, 'unixepoch')
           AS changed_at,
       lease.is_drained AS drained,
       lease.reason
FROM lease
LEFT JOIN lease_host ON lease_host.lease = lease.id
LEFT JOIN present_lease ON present_lease.lease = lease.id
GROUP BY lease.id
ORDER BY lease.id;

DROP VIEW v_sites;
CREATE VIEW v_sites AS
SELECT site, roles, status, slots_own, slots_used, slots_lent, slots_borrowed,
       slots_idle, pending, jobs_PEND, jobs_PSUSP, jobs_RUN, jobs_USUSP, jobs_SSUSP,
       jobs_UNKWN, jobs_DONE, jobs_EXIT, schedule_passes, schedule_s,
       coalesce((SELECT is_drained FROM site AS kept WHERE kept.name = present_site.site), 0)
           AS drained,
       since
FROM present_site
ORDER BY site;
