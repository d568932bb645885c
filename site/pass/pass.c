/* SPDX-License-Identifier: Apache-2.0 */
/* pass.c: see pass.h. A step that needs an earlier one takes its result. */
#include "site/pass/pass.h"

void pass_make(struct pass *pass, struct pass_parts *parts, struct arena *arena,
               int max_starts, int64_t now_ms, int64_t utc_offset_ms,
               struct effects *effects)
{
    const struct site_config *config = parts->config;
    int64_t local_ms = now_ms + utc_offset_ms;
    int n_hosts;
    struct place_host *hosts =
        capacity_hosts(parts->capacity, arena, local_ms, &n_hosts);
    struct rusage_pass *left =
        rusage_pass_new(parts->rusage_sources, arena, hosts, n_hosts, now_ms);
    preempt_claims_begin_pass(parts->claims, hosts, n_hosts, left, now_ms, local_ms,
                              effects);
    if (resreq_cache_trim(parts->resreq_cache)) {
        class_snapshot_forget_matches(parts->snapshot);
    }
    const struct affinity_host *affinity =
        capacity_affinity(parts->capacity, arena, n_hosts);
    struct pass_terms terms = {
        .queues = parts->queues,
        .match = resreq_match_new(parts->resreq_cache, arena, hosts, n_hosts, left,
                                  affinity, local_ms),
        .host_lists = parts->host_lists,
        .rusages = left,
        .local_ms = local_ms,
    };
    struct place_snapshot *shot = arena_alloc(arena, 1, sizeof(*shot));
    *shot = (struct place_snapshot){
        .queues = config->queues,
        .n_queues = config->n_queues,
        .limits = parts->limits,
        .affinity = affinity,
        .hosts = hosts,
        .n_hosts = n_hosts,
        .now_ms = now_ms,
        .max_starts = max_starts,
    };
    shot->classes = class_snapshot_update(parts->snapshot, parts->jobs, config, &terms,
                                          arena, &shot->n_classes);
    resize_requests_add_classes(parts->resize_requests, &terms, arena, shot);
    fairshare_ledger_rank(parts->fairshare);
    fairshare_ledger_snapshot(parts->fairshare, arena, now_ms, shot);
    preempt_claims_list_resumes(parts->claims, left, arena, shot);
    shot->load_excess =
        load_suspend_snapshot(parts->load_suspend, arena, hosts, n_hosts);
    shot->supply = rusage_pass_supply(left);
    shot->preempt = preempt_claims_snapshot(parts->claims, &terms, arena, shot);
    shot->reservations =
        reservation_table_snapshot(parts->reservations, left, arena, shot);
    *pass = (struct pass){
        .arena = arena, .now_ms = now_ms, .rusages = left, .snapshot = shot};
    place_plan(arena, shot, &pass->plan);
}
