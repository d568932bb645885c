/* SPDX-License-Identifier: Apache-2.0 */
/* msg.c: see msg.h. */
#include "model/msg.h"

#include <string.h>

#include "model/record.h"

#define KIND(kind, kind_tag, kind_schema)                                              \
    [MSG_##kind] = {.name = #kind, .tag = (kind_tag), .schema = &schema_##kind_schema}
const struct msg_kind_info msg_kinds[MSG_KINDS] = {
    [MSG_NONE] = {.name = "NONE"},
    KIND(HELLO, 10, lease_hello),
    KIND(WELCOME, 11, lease_welcome),
    KIND(USAGE, 12, lease_usage),
    KIND(PONG, 13, lease_pong),
    KIND(ERROR, 14, lease_error),
    KIND(STATE, 15, lease_state),
    KIND(STATE_ASK, 16, lease_id),
    KIND(FREEZE, 17, lease_freeze),
    KIND(PROPOSE, 18, lease_propose),
    KIND(DRAIN, 21, lease_drain),
    KIND(LEASE_OPEN, 110, lease_open),
    KIND(RECALL, 111, lease_recall),
    KIND(EVICT, 120, lease_evict),
    KIND(CONTRACT, 19, lease_contract),
    KIND(CONTRACT_ACK, 20, lease_contract_ack),
    KIND(START, 30, run_leased_start),
    KIND(ATTEMPT_ASK, 31, run_attempt),
    KIND(ATTEMPT_STATE, 32, run_attempt_state),
    KIND(ATTEMPT_ACK, 33, run_attempt),
    KIND(ATTEMPT_CONTROL, 34, run_attempt_control),
    KIND(OUTPUT_ASK, 35, run_output_ask),
    KIND(OUTPUT, 36, run_output),
    KIND(LEASE_LOAD, 37, run_lease_load),
    KIND(LEASE_LOAD_ASK, 38, lease_id),
    KIND(HOST_HELLO, 50, run_host_hello),
    KIND(HOST_SYNCED, 51, run_nothing),
    KIND(HOST_WELCOME, 52, lease_welcome),
    KIND(HOST_ALIVE, 53, run_alive),
    KIND(HOST_PONG, 54, run_alive),
    KIND(RUN_START, 55, run_start),
    KIND(RUN_GO, 56, run_go),
    KIND(RUN_CONTROL, 57, run_control),
    KIND(RUN_FORGET, 58, run_forget),
    KIND(RUN_STATE, 59, run_state),
    KIND(HOST_LOAD, 60, run_host_load),
    KIND(SUBMIT, 70, client_submit),
    KIND(JOB_CONTROL, 71, client_job_control),
    KIND(JOB_MOVE, 90, client_job_move),
    KIND(QUEUE_CONTROL, 91, client_queue_control),
    KIND(WAIT, 72, client_wait),
    KIND(JOB_PEEK, 73, client_peek),
    KIND(QUERY, 74, client_query),
    KIND(SET_RECLAIM, 75, client_set_reclaim),
    KIND(SET_DRAIN, 78, client_set_drain),
    KIND(RECONFIG, 79, client_reconfig),
    KIND(HOST_CONTROL, 80, client_host_control),
    KIND(REPLY, 76, client_reply),
    KIND(SNAPSHOT, 77, client_snapshot),
    KIND(STREAM_DOWN, 131, run_stream_down),
    KIND(STREAM_UP, 132, run_stream_up),
    KIND(RUN_RESIZE, 277, run_resize),
    KIND(JOB_RESIZE, 278, client_job_resize),
    KIND(ATTEMPT_FOUND, 320, run_leased_start),
    KIND(RUN_FOUND, 321, run_start),
    KIND(ORPHAN, 322, client_orphan),
    KIND(REBALANCE, 340, client_rebalance),
    KIND(JOB_MODIFY, 360, client_job_modify),
    KIND(STEP_DOWN, 380, client_reconfig),
    KIND(LEDGER_ASK, 400, lease_ledger_ask),
    KIND(LEDGER, 401, lease_ledger),
    KIND(CLOCK, 410, client_clock),
    KIND(JOB_GROUP, 447, client_job_group),
};

const char *msg_kind_name(enum msg_kind kind)
{
    const char *name = (unsigned)kind < MSG_KINDS ? msg_kinds[kind].name : NULL;
    return name != NULL ? name : "?";
}

const char *msg_lease_consumer(const char *lease, size_t *length)
{
    const char *first = strchr(lease, '/');
    const char *second = first != NULL ? strchr(first + 1, '/') : NULL;
    const char *consumer = second != NULL ? second + 1 : lease + strlen(lease);
    const char *colon = strchr(consumer, ':');
    bool is_leaf = colon != NULL && colon[1] == '/';
    *length = is_leaf ? (size_t)(colon - consumer) : strlen(consumer);
    return consumer;
}

const char *msg_lease_state_name(enum lease_state state)
{
    return (unsigned)state <= LEASE_ENDED ? schema_row_lease_state_words[state] : "?";
}

const char *msg_lease_type_name(enum lease_type type)
{
    static const char *const names[] = {
        [LEASE_EXCLUSIVE] = "exclusive",
        [LEASE_SHARED] = "shared",
        [LEASE_POOL] = "pool",
    };
    return (unsigned)type <= LEASE_POOL ? names[type] : "?";
}

static bool raise(uint64_t *number, uint64_t to)
{
    bool is_below = *number < to;
    *number = is_below ? to : *number;
    return is_below;
}

bool msg_raise_mark(struct journal_mark *mark, const struct journal_mark *other)
{
    bool is_below = raise(&mark->commits, other->commits);
    is_below |= raise(&mark->attempt, other->attempt);
    return raise(&mark->job, other->job) || is_below;
}

int msg_sum_slots(const struct host_slots *hosts, int n_hosts)
{
    int n_slots = 0;
    for (int i = 0; i < n_hosts; i++) {
        n_slots += hosts[i].n_slots;
    }
    return n_slots;
}

int64_t msg_end_within_ms(int64_t end_by_ms, int64_t now_ms)
{
    if (end_by_ms == 0) {
        return 0;
    }
    return end_by_ms > now_ms ? end_by_ms - now_ms : 1;
}

void msg_copy(struct arena *arena, const struct msg *from, struct msg *to)
{
    *to = *from;
    to->site = arena_str(arena, from->site);
    const struct schema *schema =
        from->is_relayed ? &schema_run_relayed : msg_kinds[from->kind].schema;
    record_copy(arena, schema, &from->hello, &to->hello);
}
