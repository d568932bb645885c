/* SPDX-License-Identifier: Apache-2.0 */
/* reservation_view.c: slots that are reserved for pending jobs, by job, host, queue and
 * fairshare account; and the job whose reserved slots a backfill job uses. Slots that a
 * backfill job uses count as that job's. */
#include <string.h>

#include "base/value.h"
#include "model/job_id.h"
#include "site/job/job.h"
#include "site/view/slot_count.h"
#include "site/view/view_rows.h"

enum { SHOWN_HOSTS_MAX = 500, NAMED_PARTS_MAX = 4, NAMED_JOBS_MAX = 3 };

static int available_slots(const struct reserved_job *reserved)
{
    int n_slots = msg_sum_slots(reserved->hosts, reserved->n_hosts);
    for (int i = 0; i < reserved->n_hosts; i++) {
        n_slots -= reserved->lent[i];
    }
    return n_slots;
}

/* ---------------------------------------------------------------- a job */

/* {"n1":{"mem":200}} */
static void add_resources(struct arena *arena, struct value *row,
                          const struct reserved_job *reserved)
{
    struct value *hosts = NULL;
    for (int i = 0; i < reserved->n_parts && i < SHOWN_HOSTS_MAX; i++) {
        const struct reserved_amount *part = &reserved->parts[i];
        if (hosts == NULL) {
            hosts = value_add(arena, row, "reserved_resources", value_object(arena));
        }
        struct value *host = hosts->first;
        while (host != NULL && strcmp(host->key, part->host) != 0) {
            host = host->next;
        }
        if (host == NULL) {
            host = value_add(arena, hosts, arena_str(arena, part->host),
                             value_object(arena));
        }
        rusage_view_add_amount(arena, host, arena_str(arena, part->resource),
                               part->milli);
    }
    if (hosts == NULL) {
        value_add_null(arena, row, "reserved_resources");
    }
}

void reservation_view_add_job(struct site_view *view, struct arena *arena,
                              struct value *row, const struct job *job)
{
    struct reserved_job reserved = {.n_hosts = 0};
    uint64_t of = job->backfill.lender;
    if (reservation_table_find(view->reservations, job_key(job), &reserved)) {
        struct value *hosts =
            value_add(arena, row, "reserved_slots", value_object(arena));
        for (int i = 0; i < reserved.n_hosts && i < SHOWN_HOSTS_MAX; i++) {
            value_add_int(arena, hosts, arena_str(arena, reserved.hosts[i].host),
                          reserved.hosts[i].n_slots);
        }
    } else {
        reserved.start_ms = BACKFILL_NEVER;
        value_add_null(arena, row, "reserved_slots");
    }
    add_resources(arena, row, &reserved);
    value_add_instant(arena, row, "reserved_since", reserved.since_ms);
    value_add_instant(arena, row, "start_estimate",
                      reserved.start_ms != BACKFILL_NEVER ? reserved.start_ms : 0);
    value_add_text(arena, row, "backfill_of",
                   of != 0
                       ? job_id_text(arena, job_id_key_number(of), job_id_key_index(of))
                       : NULL);
    value_add_instant(arena, row, "backfill_until", job->backfill.until_ms);
    value_add_instant(arena, row, "backfill_end",
                      job_is_run_limit_cut(job, view->event_ms) && job_is_in_gap(job)
                          ? job->backfill.until_ms
                          : 0);
}

/* ", 200 of 400 mem on n1, 0 of 400 mem on n2, ..." */
static const char *parts_text(struct arena *arena, const struct reserved_job *reserved)
{
    const char *text = "";
    for (int i = 0; i < reserved->n_parts && i < NAMED_PARTS_MAX; i++) {
        const struct reserved_amount *part = &reserved->parts[i];
        text = arena_printf(arena, "%s, %s of %s %s on %s", text,
                            resreq_rusage_amount_text(arena, part->milli),
                            resreq_rusage_amount_text(arena, part->need_milli),
                            part->resource, part->host);
    }
    return reserved->n_parts > NAMED_PARTS_MAX ? arena_printf(arena, "%s, ...", text)
                                               : text;
}

const char *reservation_view_job_text(struct site_view *view, struct arena *arena,
                                      const struct job *job)
{
    struct reserved_job reserved;
    if (!reservation_table_find(view->reservations, job_key(job), &reserved)) {
        return "";
    }
    int n_slots = msg_sum_slots(reserved.hosts, reserved.n_hosts);
    int n_lent = n_slots - available_slots(&reserved);
    const char *text =
        arena_printf(arena, "; it has reserved %d of %d slots", n_slots,
                     reserved.n_wanted > 0 ? reserved.n_wanted : job->spec->n_slots);
    if (n_lent > 0) {
        text = arena_printf(arena, "%s, of which backfill jobs use %d", text, n_lent);
    }
    text = arena_printf(arena, "%s%s", text, parts_text(arena, &reserved));
    if (reserved.start_ms != BACKFILL_NEVER) {
        char at[32];
        value_format_instant(reserved.start_ms, at);
        return arena_printf(arena, "%s; it can start at about %.19sZ", text, at);
    }
    return arena_printf(
        arena, "%s; when it can start depends on %s", text,
        reserved.lease[0] == '\0'
            ? "jobs without a run limit"
            : "jobs without a run limit, or slots that its lease does not have yet");
}

/* Reserved slots on hosts of that queue that no backfill job uses. */
static int available_on_queue(const struct reserved_job *reserved,
                              const struct queue_config *queue)
{
    int n_slots = 0, preference;
    for (int i = 0; i < reserved->n_hosts; i++) {
        const char *host = reserved->hosts[i].host, *at = strchr(host, '@');
        if (queue_allows(queue, host, at != NULL ? at + 1 : "", &preference)) {
            n_slots += reserved->hosts[i].n_slots - reserved->lent[i];
        }
    }
    return n_slots;
}

static const char *until_text(struct arena *arena, int64_t start_ms)
{
    char at[32];
    if (start_ms == BACKFILL_NEVER) {
        return "until that starts";
    }
    value_format_instant(start_ms, at);
    return arena_printf(arena, "until about %.19sZ", at);
}

const char *reservation_view_others_text(struct site_view *view, struct arena *arena,
                                         const struct job *job)
{
    const char *text = "";
    int n_named = 0;
    for (int i = 0; job->queue >= 0 && i < reservation_table_count(view->reservations);
         i++) {
        struct reserved_job reserved;
        reservation_table_at(view->reservations, i, &reserved);
        int n_slots = available_on_queue(&reserved, &view->config->queues[job->queue]);
        if (n_slots == 0 || reserved.job == job_key(job)) {
            continue;
        }
        if (n_named++ == NAMED_JOBS_MAX) {
            return arena_printf(arena, "%s, ...", text);
        }
        text = arena_printf(arena, "%s%s%d on hosts of its queue by job <%s> %s", text,
                            text[0] != '\0' ? ", " : "; slots are reserved: ", n_slots,
                            job_id_text(arena, job_id_key_number(reserved.job),
                                        job_id_key_index(reserved.job)),
                            until_text(arena, reserved.start_ms));
    }
    return text;
}

/* Slots are kept for a job of that queue from jobs of the other one. */
static bool keeps_from(const struct site_config *config, int queue, int other)
{
    int own = config->queues[queue].priority, of_other = config->queues[other].priority;
    return own != of_other ? own > of_other : queue <= other;
}

const char *reservation_view_kept_text(struct site_view *view, struct arena *arena,
                                       const struct job *job)
{
    const char *text = "";
    int n_kept, n_named = 0;
    const struct kept_slots *kept = preempt_claims_kept(view->claims, &n_kept);
    for (int i = 0; job->queue >= 0 && i < n_kept; i++) {
        const struct job *owner = job_table_find_const(view->jobs, kept[i].job);
        if (owner == NULL || owner->queue < 0 || job_is_ended(owner) ||
            !keeps_from(view->config, owner->queue, job->queue)) {
            continue;
        }
        if (n_named++ == NAMED_JOBS_MAX) {
            return arena_printf(arena, "%s, ...", text);
        }
        text =
            arena_printf(arena, "%s%s%d for suspended job <%s> %s", text,
                         text[0] != '\0' ? ", " : "; slots are kept: ", kept[i].n_slots,
                         job_id_text(arena, job_id_key_number(kept[i].job),
                                     job_id_key_index(kept[i].job)),
                         until_text(arena, kept[i].until_ms));
    }
    return text;
}

/* ---------------------------------------------------------------- sums */

void reservation_view_count_hosts(struct site_view *view, struct slot_counts *own,
                                  struct slot_counts *borrowed)
{
    for (int i = 0; i < reservation_table_count(view->reservations); i++) {
        struct reserved_job reserved;
        reservation_table_at(view->reservations, i, &reserved);
        for (int k = 0; k < reserved.n_hosts; k++) {
            slot_counts_add(reserved.lease[0] == '\0' ? own : borrowed,
                            reserved.hosts[k].host, reserved.lease, SLOT_COUNT_RSV,
                            reserved.hosts[k].n_slots - reserved.lent[k], false);
        }
    }
}

void reservation_view_add_queue(struct arena *arena, struct value *row,
                                const struct reservation_config *reserve)
{
    value_add_known(arena, row, "max_reserve_s", reserve->max_ms > 0,
                    reserve->max_ms / 1000);
    value_add_bool(arena, row, "backfill", reserve->is_backfill);
}

int64_t reservation_view_queue_slots(struct site_view *view, int queue)
{
    int64_t n_slots = 0;
    for (int i = 0; i < reservation_table_count(view->reservations); i++) {
        struct reserved_job reserved;
        reservation_table_at(view->reservations, i, &reserved);
        const struct job *job = job_table_find_const(view->jobs, reserved.job);
        n_slots += job != NULL && job->queue == queue ? available_slots(&reserved) : 0;
    }
    return n_slots;
}

int64_t reservation_view_account_slots(struct site_view *view,
                                       const struct fairshare_tree *tree, int account)
{
    int64_t n_slots = 0;
    for (int i = 0; i < reservation_table_count(view->reservations); i++) {
        struct reserved_job reserved;
        reservation_table_at(view->reservations, i, &reserved);
        const struct job *job = job_table_find_const(view->jobs, reserved.job);
        if (job == NULL || job->fairshare.scope < 0 ||
            fairshare_ledger_scope_tree(view->fairshare, job->fairshare.scope) !=
                tree) {
            continue;
        }
        int at = job->fairshare.account;
        while (at > 0 && at != account) {
            at = fairshare_tree_at(tree, at)->parent;
        }
        n_slots += at == account ? available_slots(&reserved) : 0;
    }
    return n_slots;
}
