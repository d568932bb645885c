/* SPDX-License-Identifier: Apache-2.0 */
/* schema_lease.c: the fields of messages between sites and broker. */
#include "model/schema_fields.h"

#include "base/err.h"
#include "model/msg.h"

enum {
    ROLES_MAX = ROLE_PROVIDER | ROLE_CONSUMER | ROLE_ADMIN,
    CODE_MIN = ERR_AWAY, /* the last of the error table */
};

/* Memory or swap space: its column is NULL if it is not exported. */
#define SPACE(tag, kind, given_name, name)                                             \
    BOOL_AS(tag, spaces[kind].is_given, given_name),                                   \
    {                                                                                  \
        FIELD(INT, (tag) + 1, #name, spaces[kind].mib, sizeof(int)),                   \
            .max = SPACE_MAX_MIB,                                                      \
            .given_offset = offsetof(S, spaces[kind].is_given) + 1                     \
    }

#define S struct msg_hello
static const struct field hello[] = {
    NAME(1, name),
    INT(2, roles, 0, ROLES_MAX),
    INT(3, n_books, 0, LEASES_MAX),
    TIME(4, reclaim_delay_ms),
    UINT64(320, broker_commits),
};
const struct schema schema_lease_hello = SCHEMA("Hello", hello);
#undef S

#define S struct msg_welcome
static const struct field welcome[] = {
    BOOL(1, is_accepted),
    UINT64(2, min_session),
    TALK(3, text, TEXT_MAX),
    TIME(4, lost_after_ms),
    PART(320, mark, &schema_run_mark),
    BOOL(321, lists_runs),
    UINT64(322, list_from),
    UINT64(323, list_to),
    UINT64(324, broker_commits),
    BOOL(325, lists_all),
    BOOL(326, is_standby),
};
const struct schema schema_lease_welcome = SCHEMA("Welcome", welcome);
#undef S

#define S struct lease_demand
static const struct field demand[] = {
    LEASE(1, lease),
    UINT64(2, epoch),
    INT(3, n_used, 0, TOTAL_MAX),
    INT(4, n_waiting, 0, TOTAL_MAX),
    BOOL(120, is_unnamed),
};
static const struct schema demand_schema = SCHEMA("LeaseDemand", demand);
#undef S

#define S struct queue_demand
static const struct field queue_demand[] = {
    NAME(1, queue),
    INT(2, n_waiting, 0, TOTAL_MAX),
    INT(3, job_size, 0, TOTAL_MAX),
    UINT64(4, needs),
};
static const struct schema queue_demand_schema = SCHEMA("QueueDemand", queue_demand);
#undef S

#define S struct priority_use
static const struct field priority_use[] = {
    LEASE(1, lease),
    INT(2, priority, 0, INT32_MAX),
    INT(3, n_slots, 0, TOTAL_MAX),
};
static const struct schema priority_use_schema = SCHEMA("PriorityUse", priority_use);
#undef S

#define S struct msg_job_counts
static const struct field job_counts[] = {
    INT(1, pend, 0, JOBS_MAX),  INT(2, psusp, 0, JOBS_MAX), INT(3, run, 0, JOBS_MAX),
    INT(4, ususp, 0, JOBS_MAX), INT(5, ssusp, 0, JOBS_MAX), INT(6, unkwn, 0, JOBS_MAX),
    INT(7, done, 0, TOTAL_MAX), INT(8, exit, 0, TOTAL_MAX),
};
static const struct schema job_counts_schema = SCHEMA("JobCounts", job_counts);
#undef S

#define S struct msg_pass_times
static const struct field pass_times[] = {
    UINT64(1, us100),   UINT64(2, us250),   UINT64(3, us1000),   UINT64(4, us2500),
    UINT64(5, us10000), UINT64(6, us50000), UINT64(7, us250000), UINT64(8, us1000000),
};
static const struct schema pass_times_schema = SCHEMA("PassTimes", pass_times);
#undef S

#define S struct msg_usage
static const struct field usage[] = {
    UINT64(1, seq),
    INT(2, n_own, 0, TOTAL_MAX),
    INT(3, n_own_used, 0, TOTAL_MAX),
    INT(4, n_lent, 0, TOTAL_MAX),
    INT(5, n_borrowed, 0, TOTAL_MAX),
    INT(6, n_idle, 0, TOTAL_MAX),
    INT(7, n_waiting, 0, TOTAL_MAX),
    PARTS(8, demands, 0, LEASES_MAX, &demand_schema),
    PART(9, jobs, &job_counts_schema),
    UINT64(10, n_passes),
    UINT64(11, passes_us),
    PART(12, pass_times, &pass_times_schema),
    PARTS(110, queues, 0, QUEUES_MAX, &queue_demand_schema),
    PARTS(111, uses, 0, LEASES_MAX, &priority_use_schema),
    PART(320, mark, &schema_run_mark),
    PART(321, lost, &schema_run_mark),
};
const struct schema schema_lease_usage = SCHEMA("Usage", usage);
#undef S

#define S struct msg_pong
static const struct field pong[] = {
    UINT64(1, seq),
    UINT64(320, broker_commits),
};
const struct schema schema_lease_pong = SCHEMA("Pong", pong);
#undef S

#define S struct msg_error
static const struct field error[] = {
    INT(1, code, CODE_MIN, 0),
    TALK(2, text, TEXT_MAX),
    INT(3, about, 0, MSG_KINDS - 1),
};
const struct schema schema_lease_error = SCHEMA("Error", error);
#undef S

#define S struct host_split
static const struct field split[] = {
    TEXT(1, host, HOST, 1, HOST_NAME_SIZE - 1),
    INT(2, n_slots, 0, SLOTS_MAX),
    INT(3, provider, 0, SLOTS_MAX),
    INT(4, consumer, 0, SLOTS_MAX),
    INT(5, provider_used, 0, SLOTS_MAX),
    INT(6, consumer_used, 0, SLOTS_MAX),
    BOOL(7, is_down),
    SPACE(60, SPACE_MEM, has_mem, mem_mib),
    SPACE(62, SPACE_SWP, has_swp, swp_mib),
};
const struct schema schema_lease_split = HOST_SCHEMA("HostSplit", split);
#undef S

#define S struct recall
static const struct field recall_part[] = {
    INT(1, n_held, 0, TOTAL_MAX),
    TIME(2, left_ms),
};
static const struct schema recall_part_schema = SCHEMA("RecallPart", recall_part);
#undef S

#define S struct lease_resource
static const struct field resource[] = {
    TEXT(1, name, LINE, 1, NAME_SIZE - 1),
    INT(2, pool, 0, INT32_MAX),
    INT(3, n_instances, 0, INSTANCES_MAX),
    INT(4, traits, 0, TRAITS),
    TEXT(5, hosts, LINE, 0, RESOURCE_HOSTS_SIZE - 1),
};
const struct schema schema_lease_resource = SCHEMA("LeaseResource", resource);
#undef S

#define S struct msg_state
static const struct field state[] = {
    LEASE(1, lease),
    UINT64(2, epoch),
    ENUM(3, type, LEASE_POOL),
    BOOL(4, is_made),
    BOOL(5, is_withdrawn),
    BOOL(6, is_ended),
    BOOL(7, is_frozen),
    UINT64(8, freeze),
    INT(9, provider_waiting, 0, TOTAL_MAX),
    ENUM(10, reclaim_policy, RECLAIM_DEMAND),
    TIME(11, min_hold_ms),
    TIME(12, lease_term_ms),
    PARTS(13, hosts, 0, HOSTS_MAX, &schema_lease_split),
    TALK(14, reason, REASON_SIZE - 1),
    UINT64(15, drain),
    BOOL(16, is_drained),
    PARTS(60, resources, 0, LEASE_RESOURCES_MAX, &schema_lease_resource),
    UINT64(110, recall),
    PARTS(111, recalls, 0, RECALLS_MAX, &recall_part_schema),
    BOOL(120, ends_lost),
    UINT64(121, last_attempt),
    BOOL(260, takes_interactive),
    NULL_TEXT(270, withheld, TALK, REASON_SIZE - 1),
    UINT64(320, commits),
    UINT64(321, lost_from),
    UINT64(322, lost_to),
    INT(340, price, 0, PRICE_MAX),
    INT64(341, n_hours, 0, HOURS_MAX),
    TIME(342, hours_ms),
    TIME(343, hours_month_ms),
    TIME(344, hours_since_ms),
    TIME(360, split_ms),
};
const struct schema schema_lease_state = SCHEMA("State", state);
#undef S

#define S struct msg_lease
static const struct field lease[] = {
    LEASE(1, lease),
};
const struct schema schema_lease_id = SCHEMA("Lease", lease);
#undef S

#define S struct msg_lease_open
static const struct field lease_open[] = {
    LEASE(1, lease),
    UINT64(320, above),
    INT(340, price, 0, PRICE_MAX),
};
const struct schema schema_lease_open = SCHEMA("LeaseOpen", lease_open);
#undef S

#define S struct msg_freeze
static const struct field freeze[] = {
    LEASE(1, lease),
    UINT64_AS(2, base, base_epoch),
    UINT64(3, freeze),
};
const struct schema schema_lease_freeze = SCHEMA("Freeze", freeze);
#undef S

#define S struct msg_propose
static const struct field propose[] = {
    LEASE(1, lease),
    UINT64_AS(2, base, base_epoch),
    PARTS(3, hosts, 0, HOSTS_MAX, &schema_lease_split),
};
const struct schema schema_lease_propose = SCHEMA("Propose", propose);
#undef S

#define S struct msg_drain
static const struct field drain[] = {
    LEASE(1, lease),
    UINT64(2, number),
    BOOL(3, is_drained),
    UINT64(110, raise_above),
};
const struct schema schema_lease_drain = SCHEMA("Drain", drain);
#undef S

#define S struct msg_recall
static const struct field recall_order[] = {
    LEASE(1, lease),
    UINT64(2, number),
    BOOL(3, is_whole),
    PARTS(4, recalls, 0, RECALLS_MAX, &recall_part_schema),
};
const struct schema schema_lease_recall = SCHEMA("Recall", recall_order);
#undef S

#define S struct msg_evict
static const struct field evict[] = {
    LEASE(1, lease),
    UINT64(2, attempt),
};
const struct schema schema_lease_evict = SCHEMA("Evict", evict);
#undef S

#define S struct msg_contract
static const struct field contract[] = {
    LEASE(1, lease),
    UINT64(2, revision),
    UINT64(3, epoch),
    ENUM(4, type, LEASE_POOL),
    ENUM(5, state, LEASE_ENDED),
    BOOL(6, is_made),
    BOOL(7, is_provider_here),
    PARTS(8, hosts, 0, HOSTS_MAX, &schema_lease_split),
    PARTS(60, resources, 0, LEASE_RESOURCES_MAX, &schema_lease_resource),
    TEXTS(110, queues, QUEUES_MAX, NAME, 1, NAME_SIZE - 1, QUEUES_MAX *NAME_SIZE),
    TIME(111, grace_ms),
    PARTS(112, recalls, 0, RECALLS_MAX, &recall_part_schema),
    BOOL(210, is_whole),
    BOOL(260, takes_interactive),
    NULL_TEXT(270, withheld, TALK, REASON_SIZE - 1),
    TIME(320, rebalance_in_ms),
    TIME(321, rebalance_every_ms),
    INT(340, price, 0, PRICE_MAX),
    TIME(360, split_ms),
};
const struct schema schema_lease_contract = SCHEMA("Contract", contract);
#undef S

#define S struct msg_contract_ack
static const struct field contract_ack[] = {
    LEASE(1, lease),
    UINT64(2, revision),
};
const struct schema schema_lease_contract_ack = SCHEMA("ContractAck", contract_ack);
#undef S

#define S struct ledger_hour
static const struct field ledger_hour[] = {
    TIME(1, start_ms),
    BOOL(2, is_provider),
    TIME(3, held_ms),
    TIME(4, used_ms),
    TIME(5, idle_ms),
    INT(6, n_changes, 0, TOTAL_MAX),
    INT(7, n_slots, 0, TOTAL_MAX),
    BOOL(8, is_lent),
    TIME(9, n_moved),
};
static const struct schema ledger_hour_schema = SCHEMA("LedgerHour", ledger_hour);
#undef S

#define S struct msg_ledger_ask
static const struct field ledger_ask[] = {
    UINT64(1, request),
    LEASE(2, lease),
    TIME(3, from_ms),
    TIME(4, to_ms),
    ENUM(5, detail, LEDGER_SPLITS),
    UINT64(6, after),
};
const struct schema schema_lease_ledger_ask = SCHEMA("LedgerAsk", ledger_ask);
#undef S

#define S struct ledger_run
static const struct field ledger_run[] = {
    UINT64(1, attempt), JOB(2, job),
    BOOL(3, is_lent),   TIME(4, start_ms),
    TIME(5, end_ms),    TIME(6, used_ms),
    TIME(7, at_ms),     INT(8, n_slots, 0, TOTAL_MAX),
};
static const struct schema ledger_run_schema = SCHEMA("LedgerRun", ledger_run);
#undef S

#define S struct ledger_split
static const struct field ledger_split[] = {
    TIME(1, at_ms),
    UINT64(2, epoch),
    BOOL(3, is_provider),
    BOOL(4, is_lent),
    INT(5, n_slots, 0, TOTAL_MAX),
};
static const struct schema ledger_split_schema = SCHEMA("LedgerSplit", ledger_split);
#undef S

#define S struct msg_ledger
static const struct field ledger[] = {
    UINT64(1, request),
    LEASE(2, lease),
    PARTS(3, hours, 0, LEDGER_HOURS_MAX, &ledger_hour_schema),
    TIME(4, next_ms),
    TIME(5, first_ms),
    TIME(6, merged_ms),
    PARTS(7, runs, 0, LEDGER_RUNS_MAX, &ledger_run_schema),
    PARTS(8, splits, 0, LEDGER_SPLITS_MAX, &ledger_split_schema),
    UINT64(9, next_run),
};
const struct schema schema_lease_ledger = SCHEMA("Ledger", ledger);
#undef S
