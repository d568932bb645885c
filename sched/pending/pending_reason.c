/* SPDX-License-Identifier: Apache-2.0 */
/* pending_reason.c: see pending.h. */
#include "sched/pending/pending.h"

#include <string.h>

struct reason_row {
    const char *name, *text, *help;
};

static const struct reason_row rows[REASONS] = {
#define X(id, name, text, help) [id] = {name, text, help},
    REASON_TABLE(X)
#undef X
};

static const struct reason_row *row_of(enum pending_reason reason)
{
    return &rows[(unsigned)reason < REASONS ? reason : REASON_NEW];
}

const char *pending_reason_name(enum pending_reason reason)
{
    return row_of(reason)->name;
}

const char *pending_reason_help(enum pending_reason reason)
{
    return row_of(reason)->help;
}

/* Reasons that are explained by counting hosts. */
static bool is_about_hosts(enum pending_reason reason)
{
    return reason == REASON_NO_HOST || reason == REASON_AVOIDED ||
           reason == REASON_UNMET || reason == REASON_TOO_LARGE ||
           reason == REASON_CLOSED || reason == REASON_BUSY ||
           reason == REASON_ACCEPT_INTERVAL || reason == REASON_HOST_LIMIT ||
           reason == REASON_EXCLUSIVE || reason == REASON_RUSAGE ||
           reason == REASON_RESERVED_BY_OTHERS || reason == REASON_LOAD ||
           reason == REASON_SPAN || reason == REASON_SPAN_LARGE;
}

int pending_reason_list(const struct pending_verdict *verdict,
                        struct pending_reason_hosts groups[REASON_HOST_GROUPS])
{
    bool counts_full =
        verdict->reason != REASON_TOO_LARGE && verdict->reason != REASON_SPAN_LARGE;
    bool is_exclusive = verdict->reason == REASON_EXCLUSIVE;
    bool is_span = verdict->reason == REASON_SPAN;
    const struct pending_reason_hosts all[REASON_HOST_GROUPS] = {
        {counts_full ? verdict->n_full : 0,
         is_exclusive ? "with other jobs" : "without a free slot",
         is_exclusive ? "Job's requirement for exclusive execution not satisfied"
                      : "Job slot limit reached"},
        {is_span ? verdict->n_small : 0, "with too few free slots for the span",
         "Not enough processors to meet the job's spanning requirement"},
        {is_span ? verdict->n_apart : 0, "with too few equal hosts (same)",
         "Hosts do not meet the job's same or cu requirement"},
        {verdict->n_exclusive, "with an exclusive job", "Running an exclusive job"},
        {verdict->n_loaded, "above loadSched", "Host load exceeded threshold"},
        {verdict->n_limited, "at the limit", "Resource limit defined on host reached"},
        {verdict->n_short, "with too little of a resource that the job reserves",
         "Job's requirements for resource reservation not satisfied"},
        {verdict->n_accept_interval, "that accepted a job within JOB_ACCEPT_INTERVAL",
         "Just started a job recently"},
        {verdict->n_closed, "closed or unreachable",
         "Closed by administrator or unreachable"},
        {verdict->n_unmet, "that do not meet its resource requirements",
         "Job requirements not satisfied"},
        {verdict->n_reserved,
         "on which a resource in its select section is reserved by other jobs",
         "Job's requirements for resource reservation not satisfied"},
        {verdict->n_avoided, "excluded after it exited there with an EXCLUDE code",
         "Job exited on the host with an exit code of EXCLUDE"},
        {verdict->n_excluded, "not usable by the queue, or not in the job's host list",
         "Not usable to the queue or not specified in job submission"},
    };
    int n_groups = 0;
    if (!is_about_hosts(verdict->reason)) {
        return 0;
    }
    for (int i = 0; i < REASON_HOST_GROUPS; i++) {
        if (all[i].n_hosts > 0) {
            groups[n_groups++] = all[i];
        }
    }
    return n_groups;
}

const char *pending_reason_hosts(struct arena *arena,
                                 const struct pending_verdict *verdict)
{
    struct pending_reason_hosts groups[REASON_HOST_GROUPS];
    int n_groups = pending_reason_list(verdict, groups);
    const char *text = "";
    for (int i = 0; i < n_groups; i++) {
        text = arena_printf(arena, "%s%s%d host%s %s", text, i > 0 ? ", " : "",
                            groups[i].n_hosts, groups[i].n_hosts == 1 ? "" : "s",
                            groups[i].what);
    }
    return text;
}

/* "mem (need 4096, 3 hosts of 5 lack it)". */
static const char *rusage_text(struct arena *arena,
                               const struct pending_verdict *verdict)
{
    int n_hosts = verdict->n_hosts - verdict->n_excluded - verdict->n_avoided -
                  verdict->n_unmet - verdict->n_reserved;
    const char *need =
        arena_printf(arena, "%s (need %s%s", verdict->resource,
                     resreq_rusage_amount_text(arena, verdict->need_milli),
                     verdict->is_per_slot ? " for each slot" : "");
    return verdict->n_of_resource > 0
               ? arena_printf(arena, "%s, %d host%s of %d lack%s it)", need,
                              verdict->n_of_resource,
                              verdict->n_of_resource == 1 ? "" : "s", n_hosts,
                              verdict->n_of_resource == 1 ? "s" : "")
               : arena_printf(arena, "%s)", need);
}

/* "mem (800, of which 600 are reserved)". */
static const char *reserved_text(struct arena *arena,
                                 const struct pending_verdict *verdict)
{
    return arena_printf(arena, "%s (%s, of which %s are reserved)", verdict->resource,
                        resreq_rusage_amount_text(arena, verdict->total_milli),
                        resreq_rusage_amount_text(arena, verdict->reserved_milli));
}

/* "r1m 2.6 > 2 on n1, and 2 more hosts". */
static const char *load_text(struct arena *arena, const struct pending_verdict *verdict)
{
    const char *text = load_threshold_text(arena, &verdict->load);
    if (verdict->loaded_host != NULL) {
        text = arena_printf(arena, "%s on %s", text, verdict->loaded_host);
    }
    return verdict->n_loaded > 1
               ? arena_printf(arena, "%s, and %d more host%s", text,
                              verdict->n_loaded - 1, verdict->n_loaded == 2 ? "" : "s")
               : text;
}

/* "span[ptile=4] same[] cu[]". */
static const char *span_name(struct arena *arena,
                             const struct pending_reason_span *span)
{
    const char *text = "";
    switch (span->kind) {
    case PLACE_SPAN_HOST:
        text = "span[hosts=1]";
        break;
    case PLACE_SPAN_PTILE:
        text = span->n_span > 0 ? arena_printf(arena, "span[ptile=%d]", span->n_span)
                                : "span[ptile='!']";
        break;
    case PLACE_SPAN_BLOCK:
        text = arena_printf(arena, "span[block=%d]", span->n_span);
        break;
    case PLACE_SPAN_STRIPE:
        text = span->n_span > 0 ? arena_printf(arena, "span[stripe=%d]", span->n_span)
                                : "span[stripe]";
        break;
    case PLACE_SPAN_NONE:
        break;
    }
    if (span->is_same) {
        text = arena_printf(arena, "%s%ssame[]", text, text[0] != '\0' ? " " : "");
    }
    if (span->has_units) {
        text = arena_printf(arena, "%s%scu[]", text, text[0] != '\0' ? " " : "");
    }
    return !span->has_first ? text
                            : arena_printf(arena, "%s%sfirst execution host", text,
                                           text[0] != '\0' ? ", " : "");
}

/* "no host has 8 free slots (span[hosts=1]); most free: n3 with 6", "4 of 8 slots have
 * room (span[ptile=4])". */
static const char *span_text(struct arena *arena,
                             const struct pending_reason_span *span)
{
    const char *name = span_name(arena, span);
    if (span->kind != PLACE_SPAN_HOST) {
        return arena_printf(arena, "%d of %d slots have room%s (%s)", span->n_fit,
                            span->n_wanted, span->is_impossible ? " on idle hosts" : "",
                            name);
    }
    const char *text =
        arena_printf(arena, "no host has %d %sslots (%s)", span->n_wanted,
                     span->is_impossible ? "" : "free ", name);
    return span->n_fit == 0
               ? text
               : arena_printf(arena, "%s; %s: %s with %d", text,
                              span->is_impossible ? "the largest" : "most free",
                              span->host != NULL ? span->host : "a borrowed one",
                              span->n_fit);
}

/* The text of a row with the name in place of %s. */
static const char *with_name(struct arena *arena, const char *text, const char *limit)
{
    const char *gap = text;
    while (gap[0] != '\0' && !(gap[0] == '%' && gap[1] == 's')) {
        gap++;
    }
    if (gap[0] == '\0') {
        return text;
    }
    return arena_printf(arena, "%.*s%s%s", (int)(gap - text), text,
                        limit != NULL ? limit : "", gap + 2);
}

const char *pending_reason_text(struct arena *arena,
                                const struct pending_verdict *verdict)
{
    const char *name =
        verdict->reason == REASON_RUSAGE               ? rusage_text(arena, verdict)
        : verdict->reason == REASON_RESERVED_BY_OTHERS ? reserved_text(arena, verdict)
        : verdict->reason == REASON_LOAD               ? load_text(arena, verdict)
        : verdict->reason == REASON_SPAN || verdict->reason == REASON_SPAN_LARGE
            ? span_text(arena, &verdict->span)
            : verdict->limit;
    return with_name(arena, row_of(verdict->reason)->text, name);
}

const char *pending_reason_plain(struct arena *arena, enum pending_reason reason)
{
    const char *text = row_of(reason)->text, *gap = strstr(text, " %s");
    size_t n_before = gap == NULL ? strlen(text) : (size_t)(gap - text);
    n_before -= n_before > 0 && text[n_before - 1] == ':';
    return arena_printf(arena, "%.*s%s", (int)n_before, text,
                        gap != NULL ? gap + strlen(" %s") : "");
}

const char *pending_reason_preempt(struct arena *arena,
                                   const struct pending_verdict *verdict)
{
    static const char *const guards[REASON_PROTECTIONS] = {
#define X(id, name) [id] = name,
        REASON_PROTECTION_TABLE(X)
#undef X
    };
    const struct pending_reason_preempt *preempt = &verdict->preempt;
    const char *text = "";
    if (preempt->n_queues == 0) {
        return text;
    }
    if (preempt->is_delayed) {
        return "it may preempt other jobs when PREEMPT_DELAY has passed";
    }
    if (preempt->n_jobs == 0) {
        return "no running job on its hosts may be preempted by it";
    }
    for (int i = 0; i < REASON_PROTECTIONS; i++) {
        const char *between = text[0] != '\0' ? ", " : "";
        if (preempt->n_protected[i] > 0) {
            text = i == REASON_UNPROTECTED
                       ? arena_printf(arena, "%d that would not make enough room",
                                      preempt->n_protected[i])
                       : arena_printf(arena, "%s%s%d protected by %s", text, between,
                                      preempt->n_protected[i], guards[i]);
        }
    }
    return arena_printf(arena, "jobs on its hosts that its queue may preempt: %s",
                        text);
}
