/* SPDX-License-Identifier: Apache-2.0 */
/* schema_row.c: the fields of rows. A field is stored if its table has a column of its
 * name (sys/db/db.h); fields without one are for the copy alone. */
#include "model/schema_fields.h"

#include "model/row.h"

const char *const schema_row_event_words[] = {
    [HISTORY_REGISTERED] = "registered",
    [HISTORY_MADE] = "made",
    [HISTORY_INACTIVE] = "inactive",
    [HISTORY_ACTIVE] = "active",
    [HISTORY_CHANGED] = "changed",
    [HISTORY_DRAINING] = "draining",
    [HISTORY_ENDED] = "ended",
    [HISTORY_SITE_LOST] = "lost",
    [HISTORY_SITE_BACK] = "back",
    [HISTORY_QUOTA] = "quota",
    [HISTORY_RECALL] = "recall",
    [HISTORY_RECALL_DONE] = "recall_done",
    [HISTORY_REBALANCE] = "rebalance",
    [HISTORY_HOURS] = "hours",
    [HISTORY_LEASE_RESUME] = "resume",
    [HISTORY_SITE_DRAIN] = "site_drain",
    [HISTORY_SITE_RESUME] = "site_resume",
    [HISTORY_RECLAIM_DELAY] = "reclaim_delay",
    [HISTORY_RELOAD] = "reload",
};
const char *const schema_row_job_event_words[] = {
    [JOB_EVENT_SUBMIT] = "submit",   [JOB_EVENT_DISPATCH] = "dispatch",
    [JOB_EVENT_ACCEPT] = "accept",   [JOB_EVENT_START] = "start",
    [JOB_EVENT_SUSPEND] = "suspend", [JOB_EVENT_RESUME] = "resume",
    [JOB_EVENT_KILL] = "kill",       [JOB_EVENT_REQUEUE] = "requeue",
    [JOB_EVENT_SWITCH] = "switch",   [JOB_EVENT_MOVE] = "move",
    [JOB_EVENT_END] = "end",         [JOB_EVENT_RUN_END] = "run_end",
    [JOB_EVENT_UNKNOWN] = "unknown", [JOB_EVENT_KNOWN] = "known",
    [JOB_EVENT_RESIZE] = "resize",   [JOB_EVENT_MODIFY] = "modify",
};
const char *const schema_row_job_state_words[] = {
    [JOB_PEND] = "PEND",   [JOB_PSUSP] = "PSUSP", [JOB_RUN] = "RUN",
    [JOB_USUSP] = "USUSP", [JOB_SSUSP] = "SSUSP", [JOB_DONE] = "DONE",
    [JOB_EXIT] = "EXIT",   [JOB_UNKWN] = "UNKWN",
};
const char *const schema_row_lease_state_words[] = {
    [LEASE_PENDING] = "pending",   [LEASE_ACTIVE] = "active",
    [LEASE_INACTIVE] = "inactive", [LEASE_DRAINING] = "draining",
    [LEASE_ENDED] = "ended",
};
/* A pool's lease is marked by the column is_pool: an older schema knows two words. */
static const char *const lease_type_words[] = {
    [LEASE_EXCLUSIVE] = "exclusive",
    [LEASE_SHARED] = "shared",
    [LEASE_POOL] = "exclusive",
};
static const char *const record_words[] = {
    [RUN_RECORD_TAKEN] = "taken",
    [RUN_RECORD_GUARDED] = "guarded",
    [RUN_RECORD_ENDED] = "ended",
};
static const char *const resize_words[] = {
    [RESIZE_NONE] = "",
    [RESIZE_GROW] = "grow",
    [RESIZE_SHRINK] = "shrink",
};
static const char *const scope_words[] = {
    [RECLAIM_ALL] = "all",
    [RECLAIM_PROVIDER] = "provider",
    [RECLAIM_LEASE] = "lease",
};

#define IS_POOL                                                                        \
    {                                                                                  \
        FIELD(INT, 0, "is_pool", type, sizeof(int)), .is_flag = true,                  \
                                                     .flag = LEASE_POOL                \
    }
#define WHOLE(prefix, field, part_schema)                                              \
    {                                                                                  \
        FIELD(PART, 0, prefix, field, sizeof(((S *)0)->field)), .part = (part_schema), \
                                                                .is_whole = true       \
    }
/* Its column is NULL unless the bool `given` is true. */
#define GIVEN(field_kind, field, column, given)                                        \
    {                                                                                  \
        FIELD(field_kind, 0, #column, field, sizeof(((S *)0)->field)),                 \
            .given_offset = offsetof(S, given) + 1                                     \
    }

#define S struct row_counter
static const struct field counter[] = {
    KEY(TEXT, name),
    COLUMN(UINT64, value),
};
static const struct schema counter_schema = SCHEMA("counter", counter);
#undef S

/* ---------------------------------------------------------------- broker */

#define S struct row_override
static const struct field override[] = {
    KEY_WORD(scope, scope_words),
    KEY(TEXT, name),
    COLUMN(INT64, delay_ms),
};
static const struct schema override_schema = SCHEMA("override", override);
#undef S

#define S struct row_lease
static const struct field lease[] = {
    KEY(TEXT, id),
    COLUMN(TEXT, provider),
    COLUMN(TEXT, policy),
    COLUMN(TEXT, consumer),
    WORD(0, type, lease_type_words),
    IS_POOL,
    WORD(0, state, schema_row_lease_state_words),
    COLUMN(UINT64, epoch),
    COLUMN(BOOL, is_made),
    COLUMN(BOOL, is_withdrawn),
    COLUMN(BOOL, is_drain_ordered),
    COLUMN(BOOL, is_drained),
    COLUMN(UINT64, drain),
    COLUMN(UINT64, commits),
    COLUMN(INT64, registered_ms),
    COLUMN(INT64, made_ms),
    COLUMN(INT64, changed_ms),
    COLUMN(INT64, split_ms),
    COLUMN(INT64, judged_ms),
    COLUMN(TEXT, reason),
    LIST(hosts, &schema_lease_split),
    LIST(resources, &schema_lease_resource),
};
static const struct schema lease_schema = SCHEMA("lease", lease);
#undef S

#define S struct row_site
static const struct field site[] = {
    KEY(TEXT, name),          COLUMN(BOOL, is_lost),
    COLUMN(BOOL, is_drained), COLUMN(INT64, since_ms),
    COLUMN(INT64, silent_ms), COLUMNS("mark_", mark, &schema_run_mark),
};
static const struct schema site_schema = SCHEMA("site", site);
#undef S

#define S struct row_pool
static const struct field pool[] = {
    KEY(TEXT, name),
    COLUMN(TEXT, window),
    COLUMN(INT64, slots),
    COLUMN(BOOL, is_gone),
};
static const struct schema pool_schema = SCHEMA("pool", pool);
#undef S

#define S struct row_kept
static const struct field kept[] = {
    KEY(TEXT, pool),
    KEY(TEXT, node),
    COLUMN(INT64, slots),
    COLUMN(BOOL, is_gone),
};
static const struct schema kept_schema = SCHEMA("pool_kept", kept);
#undef S

#define S struct row_hours
static const struct field hours[] = {
    KEY(TEXT, pool),       KEY(TEXT, name),        KEY(INT64, since_ms),
    KEY(INT64, month_ms),  COLUMN(INT64, used_ms), COLUMN(INT, level),
    COLUMN(BOOL, is_gone),
};
static const struct schema hours_schema = SCHEMA("pool_hours", hours);
#undef S

#define S struct row_history
static const struct field history[] = {
    COLUMN(UINT64, id),
    COLUMN(INT64, at_ms),
    COLUMN(TEXT, lease),
    COLUMN(TEXT, site),
    WORD(0, event, schema_row_event_words),
    COLUMN(TEXT, state),
    COLUMN(UINT64, epoch),
    COLUMN(INT, provider_available),
    COLUMN(INT, provider_used),
    COLUMN(INT, consumer_available),
    COLUMN(INT, consumer_used),
    COLUMN(TEXT, reason),
    COLUMN(TEXT, pool),
    COLUMN(TEXT, node),
    COLUMN(INT64, quota),
    COLUMN(INT64, demand),
    COLUMN(INT64, slots),
    COLUMN(INT64, deadline_ms),
};
static const struct schema history_schema = SCHEMA("event", history);
#undef S

/* ---------------------------------------------------------------- site */

#define S struct row_recall
static const struct field recall[] = {
    COLUMN(INT, n_held),
    COLUMN(INT64, deadline_ms),
};
static const struct schema recall_schema = SCHEMA("book_recall", recall);
#undef S

#define S struct row_book
static const struct field book[] = {
    KEY(TEXT, lease),
    COLUMN(TEXT, policy),
    COLUMN(TEXT, consumer),
    COLUMN(TEXT, content),
    WORD(0, type, lease_type_words),
    IS_POOL,
    COLUMN(UINT64, epoch),
    COLUMN(BOOL, is_made),
    COLUMN(BOOL, is_withdrawn),
    COLUMN(BOOL, is_ended),
    COLUMN(BOOL, is_drained),
    COLUMN(UINT64, drain),
    COLUMN(BOOL, is_gone),
    COLUMN(UINT64, commits),
    COLUMN(UINT64, lost_from),
    COLUMN(UINT64, lost_to),
    COLUMN(INT64, split_ms),
    LIST(hosts, &schema_lease_split),
    COLUMN(UINT64, recall),
    COLUMN(BOOL, is_whole),
    LIST(recalls, &recall_schema),
    LIST(resources, &schema_lease_resource),
};
static const struct schema book_schema = SCHEMA("book", book);
#undef S

#define S struct row_high
static const struct field high[] = {
    KEY(TEXT, consumer),
    COLUMN(UINT64, attempt),
    COLUMN(UINT64, job),
    COLUMN(UINT64, commits),
};
static const struct schema high_schema = SCHEMA("high", high);
#undef S

#define S struct row_queue
static const struct field queue[] = {
    KEY(TEXT, name),
    COLUMN(BOOL, is_closed),
    COLUMN(BOOL, is_inactive),
};
static const struct schema queue_schema = SCHEMA("queue", queue);
#undef S

#define S struct row_job
static const struct field job[] = {
    KEY(UINT64, id),
    COLUMN(UINT64, nonce),
    COLUMN(INT64, submit_ms),
    COLUMN(BOOL, is_array),
    COLUMNS("", spec, &schema_run_job_spec),
    COLUMNS("", terms, &schema_client_job_terms),
};
static const struct schema job_schema = SCHEMA("job", job);
#undef S

#define S struct job_suspension
static const struct field suspension[] = {
    COLUMN(INT, causes),     COLUMN(BOOL, yields),
    COLUMN(UINT64, by),      COLUMN_AS(INT, n_preempted, "count"),
    COLUMN(INT64, since_ms), COLUMN(INT64, resumed_ms),
    COLUMN(INT64, total_ms),
};
static const struct schema suspension_schema = SCHEMA("halt", suspension);
#undef S

#define S struct job_resize
static const struct field resize[] = {
    COLUMN(UINT64, number),
    WORD(0, event, resize_words),
    LIST(hosts, &schema_run_slots),
    COLUMN_AS(INT, max_slots, "max"),
};
static const struct schema resize_schema = SCHEMA("resize", resize);
#undef S

#define S struct row_job_state
static const struct field job_state[] = {
    {
        .name = "key",
        .kind = FIELD_JOB_KEY,
        .offset = FIELD_AT(id, sizeof(uint64_t)),
        .count_offset = FIELD_AT(index, sizeof(int)),
        .is_key = true,
    },
    WORD(0, state, schema_row_job_state_words),
    COLUMN(UINT64, attempt),
    COLUMN(TEXT, lease),
    COLUMN(UINT64, epoch),
    COLUMN(BOOL, is_decided),
    COLUMN(BOOL, is_taken),
    COLUMN(BOOL, is_killed),
    LIST(hosts, &schema_run_slots),
    COLUMN(INT64, start_ms),
    COLUMN(INT64, end_ms),
    WHOLE("control_", control, &schema_run_order),
    WHOLE("exit_", exit, &schema_run_exit),
    COLUMNS("use_", use, &schema_run_use),
    COLUMN(TEXT, reason),
    COLUMN_AS(TEXT, queue, "switched_queue"),
    COLUMN(INT64, place),
    COLUMN(BOOL, is_released),
    COLUMN(INT, requeue_cause),
    COLUMNS("halt_", suspension, &suspension_schema),
    COLUMN(TEXT, overload),
    COLUMN(TEXT, reserved),
    COLUMN(UINT64, backfill_of),
    COLUMN(INT64, backfill_until_ms),
    COLUMN(INT64, run_limit_ms),
    COLUMN(INT, n_requeues),
    COLUMN(INT, n_pre_fails),
    COLUMN(TEXT, avoided),
    COLUMNS("resize_", resize, &resize_schema),
    COLUMN(BOOL, is_dropped),
    COLUMN(BOOL, is_gone),
};
static const struct schema job_state_schema = SCHEMA("job_state", job_state);
#undef S

#define S struct job_facts
static const struct field facts[] = {
    COLUMN(BOOL, is_given),
    COLUMN(TEXT, user),
    COLUMN(TEXT, name),
    COLUMN(TEXT, queue),
    COLUMN(TEXT, project),
    COLUMN(TEXT, command),
    GIVEN(INT, n_slots, n_slots, is_given),
};
static const struct schema facts_schema = SCHEMA("facts", facts);
#undef S

#define S struct job_event_end
static const struct field event_end[] = {
    COLUMN(BOOL, is_given),
    COLUMN(BOOL, has_code),
    GIVEN(INT, code, exit_code, has_code),
    GIVEN(INT64, cpu_ms, cpu_ms, is_given),
    COLUMN(INT64, mem_kib),
};
static const struct schema event_end_schema = SCHEMA("end", event_end);
#undef S

#define S struct row_job_event
static const struct field job_event[] = {
    COLUMN(UINT64, number),
    COLUMN(TEXT, site),
    COLUMN(UINT64, id),
    COLUMN_AS(INT, index, "element"),
    COLUMN(INT64, at_ms),
    WORD(0, event, schema_row_job_event_words),
    WORD(0, state, schema_row_job_state_words),
    COLUMN(TEXT, lease),
    LIST(hosts, &schema_run_slots),
    COLUMN(TEXT, reason),
    WHOLE("", end, &event_end_schema),
    WHOLE("", facts, &facts_schema),
    COLUMN(BOOL, is_trim),
};
static const struct schema job_event_schema = SCHEMA("job_event", job_event);
#undef S

#define S struct row_run
static const struct field run[] = {
    /* The nonce is no part of the key: an attempt of a site is on record once. */
    KEY_AS(TEXT, run.site, "site"),
    KEY_AS(UINT64, run.attempt, "attempt"),
    COLUMN_AS(UINT64, run.nonce, "nonce"),
    COLUMN(TEXT, job),
    COLUMN(TEXT, lease),
    WORD(0, record, record_words),
    LIST(hosts, &schema_run_slots),
    OPTION(spec, &schema_run_job_spec),
    COLUMN(UINT64, token),
    COLUMNS("control_", control, &schema_run_order),
    COLUMNS("exit_", exit, &schema_run_exit),
    COLUMN_AS(BOOL, exit.is_recalled, "is_recalled"),
    COLUMN(INT, priority),
    COLUMN(INT64, end_by_ms),
    COLUMNS("use_", use, &schema_run_use),
    COLUMN(TEXT, binding),
    COLUMN(BOOL, is_gone),
};
static const struct schema run_schema = SCHEMA("run", run);
#undef S

#define S struct row_closed
static const struct field closed[] = {
    KEY(TEXT, host),
    COLUMN(BOOL, is_closed),
};
static const struct schema closed_schema = SCHEMA("closed", closed);
#undef S

#define S struct row_job_group
static const struct field job_group[] = {
    KEY(TEXT, path),
    COLUMN(TEXT, owner),
    COLUMN(INT, max_jobs),
    COLUMN(BOOL, is_gone),
};
static const struct schema job_group_schema = SCHEMA("job_group", job_group);
#undef S

#define S struct row_pick
static const struct field pick[] = {
    KEY(TEXT, policy),
    KEY(TEXT, content),
    COLUMN(TEXT, hosts),
    COLUMN(BOOL, is_gone),
};
static const struct schema pick_schema = SCHEMA("pick", pick);
#undef S

#define S struct row_cpus
static const struct field cpus[] = {
    KEY(TEXT, host),        COLUMN(INT, n_procs),  COLUMN(INT, n_cores),
    COLUMN(INT, n_threads), COLUMN(BOOL, is_gone),
};
static const struct schema cpus_schema = SCHEMA("cpus", cpus);
#undef S

#define S struct row_share
static const struct field share[] = {
    KEY(TEXT, scope),      KEY(TEXT, account),     COLUMN(REAL, cpu_ms),
    COLUMN(REAL, past_ms), COLUMN(REAL, ahead_ms), COLUMN(BOOL, is_waiting),
    COLUMN(INT64, at_ms),  COLUMN(BOOL, is_gone),
};
static const struct schema share_schema = SCHEMA("share", share);
#undef S

#define S struct row_lease_account
static const struct field lease_account[] = {
    KEY(TEXT, site),
    KEY(TEXT, user),
    COLUMN(INT64, uid),
    COLUMN(BOOL, is_gone),
};
static const struct schema lease_account_schema =
    SCHEMA("lease_account", lease_account);
#undef S

#define S struct row_quota
static const struct field quota[] = {
    KEY(TEXT, name),         COLUMN(INT64, n_hours),   COLUMN(INT64, month_ms),
    COLUMN(INT64, used_ms),  COLUMN(INT64, booked_ms), COLUMN(INT, n_used),
    COLUMN(INT64, since_ms), COLUMN(INT, price),       COLUMN(BOOL, is_gone),
};
static const struct schema quota_schema = SCHEMA("quota", quota);
#undef S

const struct schema *const schema_row_kinds[ROW_KINDS] = {
    [ROW_COUNTER] = &counter_schema,
    [ROW_OVERRIDE] = &override_schema,
    [ROW_LEASE] = &lease_schema,
    [ROW_SITE] = &site_schema,
    [ROW_POOL] = &pool_schema,
    [ROW_KEPT] = &kept_schema,
    [ROW_HOURS] = &hours_schema,
    [ROW_HISTORY] = &history_schema,
    [ROW_BOOK] = &book_schema,
    [ROW_HIGH] = &high_schema,
    [ROW_QUEUE] = &queue_schema,
    [ROW_JOB] = &job_schema,
    [ROW_JOB_STATE] = &job_state_schema,
    [ROW_RUN] = &run_schema,
    [ROW_CLOSED] = &closed_schema,
    [ROW_PICK] = &pick_schema,
    [ROW_CPUS] = &cpus_schema,
    [ROW_SHARE] = &share_schema,
    [ROW_LEASE_ACCOUNT] = &lease_account_schema,
    [ROW_QUOTA] = &quota_schema,
    [ROW_JOB_EVENT] = &job_event_schema,
    [ROW_JOB_GROUP] = &job_group_schema,
};
