-- SPDX-License-Identifier: Apache-2.0
-- What leases cost, and what is used of their slot hours of the month.
ALTER TABLE present_lease ADD COLUMN price INTEGER;
ALTER TABLE present_lease ADD COLUMN hours INTEGER;
ALTER TABLE present_lease ADD COLUMN hours_used INTEGER;

DROP VIEW v_leases;
CREATE VIEW v_leases AS
SELECT lease.id,
       lease.provider,
       lease.policy,
       lease.consumer,
       iif(lease.is_pool, 'pool', lease.type) AS type,
       lease.state,
       present_lease.status,
       lease.epoch,
       coalesce(sum(iif(is_down, provider_used, lease_host.provider)), 0)
           AS provider_available,
       coalesce(sum(provider_used), 0) AS provider_used,
       coalesce(sum(iif(is_down, consumer_used, lease_host.consumer)), 0)
           AS consumer_available,
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
       present_lease.interactive,
       present_lease.price,
       present_lease.hours,
       present_lease.hours_used,
       present_lease.behind_epoch,
       coalesce(present_lease.reason, lease.reason) AS reason
FROM lease
LEFT JOIN lease_host ON lease_host.lease = lease.id
LEFT JOIN present_lease ON present_lease.lease = lease.id
GROUP BY lease.id
ORDER BY lease.id;
