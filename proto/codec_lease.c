/* SPDX-License-Identifier: Apache-2.0 */
/* codec_lease.c: the shapes of messages between sites and broker. */
#include "base/err.h"
#include "model/msg.h"
#include "proto/codec_field.h"
#include "proto/sublet.pb-c.h"

SAME(LEASE_TYPE, LEASE_EXCLUSIVE);
SAME(LEASE_TYPE, LEASE_SHARED);
SAME(LEASE_TYPE, LEASE_POOL);
SAME(LEASE_STATE, LEASE_PENDING);
SAME(LEASE_STATE, LEASE_ACTIVE);
SAME(LEASE_STATE, LEASE_INACTIVE);
SAME(LEASE_STATE, LEASE_DRAINING);
SAME(LEASE_STATE, LEASE_ENDED);
SAME(RECLAIM_POLICY, RECLAIM_LSF);
SAME(RECLAIM_POLICY, RECLAIM_DEMAND);

enum {
    ROLES_MAX = ROLE_PROVIDER | ROLE_CONSUMER | ROLE_ADMIN,
    TOTAL_MAX = INT32_MAX, /* sums over hosts and jobs */
    CODE_MIN = ERR_AWAY,   /* the last of the error table */
};

#define OURS struct msg_hello
#define THEIRS Sublet__Hello
static const struct codec_field hello[] = {
    NAME(name),
    INT(roles, 0, ROLES_MAX),
    INT(n_books, 0, LEASES_MAX),
    TIME(reclaim_delay_ms),
};
SHAPE(codec_lease_hello, sublet__hello, hello);
#undef OURS
#undef THEIRS

#define OURS struct msg_welcome
#define THEIRS Sublet__Welcome
static const struct codec_field welcome[] = {
    BOOL(is_accepted),
    UINT64(min_session),
    TALK(text, TEXT_MAX),
    TIME(lost_after_ms),
};
SHAPE(codec_lease_welcome, sublet__welcome, welcome);
#undef OURS
#undef THEIRS

#define OURS struct lease_demand
#define THEIRS Sublet__LeaseDemand
static const struct codec_field demand[] = {
    LEASE(lease),
    UINT64(epoch),
    INT(n_used, 0, TOTAL_MAX),
    INT(n_waiting, 0, TOTAL_MAX),
    BOOL(is_unnamed),
};
static SHAPE(demand_shape, sublet__lease_demand, demand);
#undef OURS
#undef THEIRS

#define OURS struct queue_demand
#define THEIRS Sublet__QueueDemand
static const struct codec_field queue_demand[] = {
    NAME(queue),
    INT(n_waiting, 0, TOTAL_MAX),
};
static SHAPE(queue_demand_shape, sublet__queue_demand, queue_demand);
#undef OURS
#undef THEIRS

#define OURS struct msg_job_counts
#define THEIRS Sublet__JobCounts
static const struct codec_field job_counts[] = {
    INT(pend, 0, JOBS_MAX),  INT(psusp, 0, JOBS_MAX), INT(run, 0, JOBS_MAX),
    INT(ususp, 0, JOBS_MAX), INT(ssusp, 0, JOBS_MAX), INT(unkwn, 0, JOBS_MAX),
    INT(done, 0, TOTAL_MAX), INT(exit, 0, TOTAL_MAX),
};
static SHAPE(job_counts_shape, sublet__job_counts, job_counts);
#undef OURS
#undef THEIRS

#define OURS struct msg_pass_times
#define THEIRS Sublet__PassTimes
static const struct codec_field pass_times[] = {
    UINT64(us100),   UINT64(us250),   UINT64(us1000),   UINT64(us2500),
    UINT64(us10000), UINT64(us50000), UINT64(us250000), UINT64(us1000000),
};
static SHAPE(pass_times_shape, sublet__pass_times, pass_times);
#undef OURS
#undef THEIRS

#define OURS struct msg_usage
#define THEIRS Sublet__Usage
static const struct codec_field usage[] = {
    UINT64(seq),
    INT(n_own, 0, TOTAL_MAX),
    INT(n_own_used, 0, TOTAL_MAX),
    INT(n_lent, 0, TOTAL_MAX),
    INT(n_borrowed, 0, TOTAL_MAX),
    INT(n_idle, 0, TOTAL_MAX),
    INT(n_waiting, 0, TOTAL_MAX),
    PART(jobs, &job_counts_shape),
    UINT64(n_passes),
    UINT64(passes_us),
    PART(pass_times, &pass_times_shape),
    PARTS(demands, 0, LEASES_MAX, &demand_shape),
    PARTS(queues, 0, QUEUES_MAX, &queue_demand_shape),
};
SHAPE(codec_lease_usage, sublet__usage, usage);
#undef OURS
#undef THEIRS

#define OURS struct msg_pong
#define THEIRS Sublet__Pong
static const struct codec_field pong[] = {UINT64(seq)};
SHAPE(codec_lease_pong, sublet__pong, pong);
#undef OURS
#undef THEIRS

#define OURS struct msg_error
#define THEIRS Sublet__Error
static const struct codec_field error[] = {
    INT(code, CODE_MIN, 0),
    TALK(text, TEXT_MAX),
    INT(about, 0, MSG_KINDS - 1),
};
SHAPE(codec_lease_error, sublet__error, error);
#undef OURS
#undef THEIRS

#define OURS struct host_split
#define THEIRS Sublet__HostSplit
static const struct codec_field split[] = {
    TEXT(host, HOST, 1, HOST_NAME_SIZE - 1),
    INT(n_slots, 0, SLOTS_MAX),
    INT(provider, 0, SLOTS_MAX),
    INT(consumer, 0, SLOTS_MAX),
    INT(provider_used, 0, SLOTS_MAX),
    INT(consumer_used, 0, SLOTS_MAX),
    BOOL(is_down),
    BOOL_AS(spaces[SPACE_MEM].is_given, has_mem),
    INT_AS(spaces[SPACE_MEM].mib, mem_mib, 0, SPACE_MAX_MIB),
    BOOL_AS(spaces[SPACE_SWP].is_given, has_swp),
    INT_AS(spaces[SPACE_SWP].mib, swp_mib, 0, SPACE_MAX_MIB),
};
static HOST_SHAPE(split_shape, sublet__host_split, split);
#undef OURS
#undef THEIRS

#define OURS struct recall
#define THEIRS Sublet__RecallPart
static const struct codec_field recall_part[] = {
    INT(n_held, 0, TOTAL_MAX),
    TIME(left_ms),
};
static SHAPE(recall_shape, sublet__recall_part, recall_part);
#undef OURS
#undef THEIRS

#define OURS struct lease_resource
#define THEIRS Sublet__LeaseResource
static const struct codec_field resource[] = {
    TEXT(name, LINE, 1, NAME_SIZE - 1),
    INT(pool, 0, INT32_MAX),
    INT(n_instances, 0, INSTANCES_MAX),
    INT(traits, 0, TRAITS),
    TEXT(hosts, LINE, 0, RESOURCE_HOSTS_SIZE - 1),
};
static SHAPE(resource_shape, sublet__lease_resource, resource);
#undef OURS
#undef THEIRS

#define OURS struct msg_state
#define THEIRS Sublet__State
static const struct codec_field state[] = {
    LEASE(lease),
    UINT64(epoch),
    ENUM(type, LEASE_POOL),
    BOOL(is_made),
    BOOL(is_withdrawn),
    BOOL(is_ended),
    BOOL(is_frozen),
    UINT64(freeze),
    UINT64(drain),
    BOOL(is_drained),
    INT(provider_waiting, 0, TOTAL_MAX),
    ENUM(reclaim_policy, RECLAIM_DEMAND),
    TIME(min_hold_ms),
    TIME(lease_term_ms),
    PARTS(hosts, 0, HOSTS_MAX, &split_shape),
    PARTS(resources, 0, LEASE_RESOURCES_MAX, &resource_shape),
    TALK(reason, REASON_SIZE - 1),
    BOOL(ends_lost),
    BOOL(takes_interactive),
    UINT64(last_attempt),
    UINT64(recall),
    PARTS(recalls, 0, RECALLS_MAX, &recall_shape),
};
SHAPE(codec_lease_state, sublet__state, state);
#undef OURS
#undef THEIRS

#define OURS struct msg_lease
#define THEIRS Sublet__Lease
static const struct codec_field lease[] = {LEASE(lease)};
SHAPE(codec_lease, sublet__lease, lease);
#undef OURS
#undef THEIRS

#define OURS struct msg_freeze
#define THEIRS Sublet__Freeze
static const struct codec_field freeze[] = {
    LEASE(lease),
    UINT64_AS(base, base_epoch),
    UINT64(freeze),
};
SHAPE(codec_lease_freeze, sublet__freeze, freeze);
#undef OURS
#undef THEIRS

#define OURS struct msg_propose
#define THEIRS Sublet__Propose
static const struct codec_field propose[] = {
    LEASE(lease),
    UINT64_AS(base, base_epoch),
    PARTS(hosts, 0, HOSTS_MAX, &split_shape),
};
SHAPE(codec_lease_propose, sublet__propose, propose);
#undef OURS
#undef THEIRS

#define OURS struct msg_drain
#define THEIRS Sublet__Drain
static const struct codec_field drain[] = {
    LEASE(lease),
    UINT64(number),
    BOOL(is_drained),
    UINT64(raise_above),
};
SHAPE(codec_lease_drain, sublet__drain, drain);
#undef OURS
#undef THEIRS

#define OURS struct msg_recall
#define THEIRS Sublet__Recall
static const struct codec_field recall_order[] = {
    LEASE(lease),
    UINT64(number),
    BOOL(is_whole),
    PARTS(recalls, 0, RECALLS_MAX, &recall_shape),
};
SHAPE(codec_lease_recall, sublet__recall, recall_order);
#undef OURS
#undef THEIRS

#define OURS struct msg_evict
#define THEIRS Sublet__Evict
static const struct codec_field evict[] = {LEASE(lease), UINT64(attempt)};
SHAPE(codec_lease_evict, sublet__evict, evict);
#undef OURS
#undef THEIRS

#define OURS struct msg_contract
#define THEIRS Sublet__Contract
static const struct codec_field contract[] = {
    LEASE(lease),
    UINT64(revision),
    UINT64(epoch),
    ENUM(type, LEASE_POOL),
    ENUM(state, LEASE_ENDED),
    BOOL(is_made),
    BOOL(is_provider_here),
    PARTS(hosts, 0, HOSTS_MAX, &split_shape),
    TEXTS(queues, QUEUES_MAX, NAME, 1, NAME_SIZE - 1, QUEUES_MAX *NAME_SIZE),
    TIME(grace_ms),
    PARTS(recalls, 0, RECALLS_MAX, &recall_shape),
    BOOL(is_whole),
    BOOL(takes_interactive),
    PARTS(resources, 0, LEASE_RESOURCES_MAX, &resource_shape),
};
SHAPE(codec_lease_contract, sublet__contract, contract);
#undef OURS
#undef THEIRS

#define OURS struct msg_contract_ack
#define THEIRS Sublet__ContractAck
static const struct codec_field contract_ack[] = {
    LEASE(lease),
    UINT64(revision),
};
SHAPE(codec_lease_contract_ack, sublet__contract_ack, contract_ack);
#undef OURS
#undef THEIRS
