/* SPDX-License-Identifier: Apache-2.0 */
/* pass.c: see pass.h. A step that needs an earlier one takes its result. */
#include "site/pass.h"

void pass_make(struct pass *pass, const struct pass_parts *parts, struct arena *arena,
               int max_starts, int64_t now_ms, int64_t utc_offset_ms,
               struct effects *effects)
{
    const struct site_config *config = parts->config;
    int64_t local_ms = now_ms + utc_offset_ms;
    int n_hosts;
    struct place_host *hosts =
        capacity_hosts(parts->capacity, arena, local_ms, &n_hosts);
    struct reserves_pass *left =
        reserves_pass_new(parts->reserves, arena, hosts, n_hosts, now_ms);
    *pass = (struct pass){
        .arena = arena,
        .now_ms = now_ms,
        .reserves = left,
        .terms = {parts->queues, parts->needs, parts->asked_lists, left, local_ms},
        .snapshot = {.queues = config->queues,
                     .n_queues = config->n_queues,
                     .limits = parts->limits,
                     .hosts = hosts,
                     .n_hosts = n_hosts,
                     .now_ms = now_ms,
                     .max_starts = max_starts},
    };
    struct place_snapshot *shot = &pass->snapshot;
    preempts_begin(parts->preempts, hosts, n_hosts, left, now_ms, local_ms, effects);
    needs_begin(parts->needs, arena, hosts, n_hosts, left);
    shot->classes = shown_lines_look(parts->shown, parts->jobs, config, &pass->terms,
                                     arena, &shot->n_classes);
    resizes_show(parts->resizes, &pass->terms, arena, shot, now_ms);
    shares_show(parts->shares, arena, now_ms, shot);
    preempts_show_returns(parts->preempts, left, arena, shot);
    shot->load_excess = overloads_show(parts->overloads, arena, hosts, n_hosts);
    shot->supply = reserves_show(left);
    shot->preempt = preempts_show(parts->preempts, &pass->terms, arena, shot);
    shot->reservations = slot_reserves_show(parts->slot_reserves, left, arena, shot);
    place_plan(arena, shot, &pass->plan);
}
