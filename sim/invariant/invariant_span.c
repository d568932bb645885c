/* SPDX-License-Identifier: Apache-2.0 */
/* invariant_span.c: the slots of a job are distributed as its span demands (13). */

#include "sim/invariant/invariant_state.h"

#include <string.h>

#include "sched/resreq/resreq.h"

/* A span does not depend on the site's resources. */
void invariant_span_read(const struct job_spec *spec, struct seen_submission *seen)
{
    struct arena arena;
    struct resources *resources;
    struct resreq resreq;
    struct resreq_error fault;
    struct resreq_notes notes = {.arena = &arena};
    struct resreq_strings from = {.strings = spec->res_reqs,
                                  .n_strings = spec->n_res_reqs};
    bool has_span = false;

    for (int i = 0; i < spec->n_res_reqs; i++) {
        has_span = has_span || strstr(spec->res_reqs[i], "span[");
    }
    if (!has_span) {
        return;
    }
    arena_init(&arena);
    resources = resources_new();
    struct resreq_rules rules = {.language = {.resources = resources,
                                              .unit_types = {.n_names = -1},
                                              .is_open = true,
                                              .has_local = true},
                                 .reading = RESREQ_READ_ALL};
    if (!resreq_compile(&arena, &rules, &from, &resreq, &notes, &fault) &&
        !resreq.next && !resreq.is_compound) { /* it is unknown which of several
                                                  alternatives a job uses */
        seen->span = resreq.span.kind;
        seen->n_span = resreq.span.n_slots;
    }
    resources_free(resources);
    arena_release(&arena);
}

bool invariant_span_check(const struct seen_submission *of, const char *key,
                          const struct row_job_state *row, struct invariants_text *text)
{
    int n_parts = 0;

    if (of->span == RESREQ_SPAN_HOST && row->n_hosts > 1) {
        return invariant_state_fail(text, "job %s has %d hosts, of span[hosts=1]", key,
                                    row->n_hosts);
    }
    for (int i = 0; i < row->n_hosts; i++) {
        int n_slots = row->hosts[i].n_slots;

        if (of->span == RESREQ_SPAN_PTILE && n_slots > of->n_span) {
            return invariant_state_fail(text,
                                        "job %s has %d slots on a host, of ptile=%d",
                                        key, n_slots, of->n_span);
        }
        n_parts += (of->span == RESREQ_SPAN_PTILE || of->span == RESREQ_SPAN_BLOCK) &&
                   n_slots % of->n_span != 0;
    }
    return n_parts <= 1 ||
           invariant_state_fail(text, "job %s has less than %d slots on several hosts",
                                key, of->n_span);
}
