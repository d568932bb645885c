-- SPDX-License-Identifier: Apache-2.0
-- On a host that is down, what a side uses is all that is available to it
-- (docs/http.md), so that available less used is idle in each row.
DROP VIEW v_lease_hosts;
CREATE VIEW v_lease_hosts AS
SELECT lease,
       host,
       n_slots AS slots,
       iif(is_down, provider_used, provider) AS provider_available,
       provider_used,
       iif(is_down, consumer_used, consumer) AS consumer_available,
       consumer_used,
       is_down,
       mem_mib AS mem,
       swp_mib AS swp
FROM lease_host
ORDER BY lease, place;

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
       present_lease.behind_epoch,
       coalesce(present_lease.reason, lease.reason) AS reason
FROM lease
LEFT JOIN lease_host ON lease_host.lease = lease.id
LEFT JOIN present_lease ON present_lease.lease = lease.id
GROUP BY lease.id
ORDER BY lease.id;
