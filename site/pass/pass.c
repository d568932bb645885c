/* SPDX-License-Identifier: Apache-2.0 */
/* pass.c: see pass.h. A step that needs an earlier one takes its result. */
#include "site/pass/pass.h"

void pass_make(struct pass *pass, const struct pass_parts *parts, struct arena *arena,
               int max_starts, int64_t now_ms, int64_t utc_offset_ms,
               struct effects *effects)
{
    const struct site_config *config = parts->config;
    int64_t local_ms = now_ms + utc_offset_ms;
    int n_hosts;
    struct place_host *hosts =
        capacity_hosts(parts->capacity, arena, local_ms, &n_hosts);
    struct rusage_pass *left =
        rusage_pass_new(parts->reserves, arena, hosts, n_hosts, now_ms);
    *pass = (struct pass){
        .arena = arena,
        .now_ms = now_ms,
        .reserves = left,
        .snapshot = {.queues = config->queues,
                     .n_queues = config->n_queues,
                     .limits = parts->limits,
                     .hosts = hosts,
                     .n_hosts = n_hosts,
                     .now_ms = now_ms,
                     .max_starts = max_starts},
    };
    struct place_snapshot *shot = &pass->snapshot;
    preempt_claims_begin_pass(parts->preempts, hosts, n_hosts, left, now_ms, local_ms,
                              effects);
    if (resreq_cache_trim(parts->needs)) {
        class_snapshot_forget_matches(parts->shown);
    }
    pass->terms = (struct pass_terms){
        .queues = parts->queues,
        .match = resreq_match_new(parts->needs, arena, hosts, n_hosts, left),
        .host_lists = parts->asked_lists,
        .rusages = left,
        .local_ms = local_ms};
    shot->classes = class_snapshot_update(parts->shown, parts->jobs, config,
                                          &pass->terms, arena, &shot->n_classes);
    resize_requests_add_classes(parts->resizes, &pass->terms, arena, shot, now_ms);
    fairshare_ledger_snapshot(parts->shares, arena, now_ms, shot);
    preempt_claims_list_resumes(parts->preempts, left, arena, shot);
    shot->load_excess = load_suspend_snapshot(parts->overloads, arena, hosts, n_hosts);
    shot->supply = rusage_pass_supply(left);
    shot->preempt = preempt_claims_snapshot(parts->preempts, &pass->terms, arena, shot);
    shot->reservations =
        reservation_table_snapshot(parts->slot_reserves, left, arena, shot);
    place_plan(arena, shot, &pass->plan);
}
