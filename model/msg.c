/* SPDX-License-Identifier: Apache-2.0 */
/* msg.c: see msg.h. */
#include "model/msg.h"

#include <string.h>

static const char *const kind_names[MSG_KINDS] = {
    [MSG_NONE] = "NONE",
    [MSG_HELLO] = "HELLO",
    [MSG_WELCOME] = "WELCOME",
    [MSG_USAGE] = "USAGE",
    [MSG_PONG] = "PONG",
    [MSG_ERROR] = "ERROR",
    [MSG_STATE] = "STATE",
    [MSG_STATE_ASK] = "STATE_ASK",
    [MSG_FREEZE] = "FREEZE",
    [MSG_PROPOSE] = "PROPOSE",
    [MSG_DRAIN] = "DRAIN",
    [MSG_CONTRACT] = "CONTRACT",
    [MSG_CONTRACT_ACK] = "CONTRACT_ACK",
    [MSG_START] = "START",
    [MSG_ATTEMPT_ASK] = "ATTEMPT_ASK",
    [MSG_ATTEMPT_STATE] = "ATTEMPT_STATE",
    [MSG_ATTEMPT_ACK] = "ATTEMPT_ACK",
    [MSG_ATTEMPT_CONTROL] = "ATTEMPT_CONTROL",
    [MSG_OUTPUT_ASK] = "OUTPUT_ASK",
    [MSG_OUTPUT] = "OUTPUT",
    [MSG_LEASE_LOAD] = "LEASE_LOAD",
    [MSG_LEASE_LOAD_ASK] = "LEASE_LOAD_ASK",
    [MSG_HOST_HELLO] = "HOST_HELLO",
    [MSG_HOST_SYNCED] = "HOST_SYNCED",
    [MSG_HOST_WELCOME] = "HOST_WELCOME",
    [MSG_HOST_ALIVE] = "HOST_ALIVE",
    [MSG_HOST_PONG] = "HOST_PONG",
    [MSG_RUN_START] = "RUN_START",
    [MSG_RUN_GO] = "RUN_GO",
    [MSG_RUN_CONTROL] = "RUN_CONTROL",
    [MSG_RUN_FORGET] = "RUN_FORGET",
    [MSG_RUN_STATE] = "RUN_STATE",
    [MSG_HOST_LOAD] = "HOST_LOAD",
    [MSG_SUBMIT] = "SUBMIT",
    [MSG_JOB_CONTROL] = "JOB_CONTROL",
    [MSG_JOB_RESIZE] = "JOB_RESIZE",
    [MSG_RUN_RESIZE] = "RUN_RESIZE",
    [MSG_JOB_MOVE] = "JOB_MOVE",
    [MSG_QUEUE_CONTROL] = "QUEUE_CONTROL",
    [MSG_WAIT] = "WAIT",
    [MSG_JOB_PEEK] = "JOB_PEEK",
    [MSG_QUERY] = "QUERY",
    [MSG_SET_RECLAIM] = "SET_RECLAIM",
    [MSG_SET_DRAIN] = "SET_DRAIN",
    [MSG_RECONFIG] = "RECONFIG",
    [MSG_HOST_CONTROL] = "HOST_CONTROL",
    [MSG_REPLY] = "REPLY",
    [MSG_SNAPSHOT] = "SNAPSHOT",
    [MSG_LEASE_OPEN] = "LEASE_OPEN",
    [MSG_RECALL] = "RECALL",
    [MSG_EVICT] = "EVICT",
    [MSG_STREAM_DOWN] = "STREAM_DOWN",
    [MSG_STREAM_UP] = "STREAM_UP",
};

/* The entry's name, or "?" for a number that the table does not have. */
static const char *name_at(const char *const *names, size_t count, size_t index)
{
    return index < count && names[index] != NULL ? names[index] : "?";
}

const char *msg_kind_name(enum msg_kind kind)
{
    return name_at(kind_names, MSG_KINDS, (size_t)kind);
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
    static const char *const names[] = {
        [LEASE_PENDING] = "pending",   [LEASE_ACTIVE] = "active",
        [LEASE_INACTIVE] = "inactive", [LEASE_DRAINING] = "draining",
        [LEASE_ENDED] = "ended",
    };
    return name_at(names, sizeof(names) / sizeof(names[0]), (size_t)state);
}

const char *msg_lease_type_name(enum lease_type type)
{
    static const char *const names[] = {
        [LEASE_EXCLUSIVE] = "exclusive",
        [LEASE_SHARED] = "shared",
        [LEASE_POOL] = "pool",
    };
    return name_at(names, sizeof(names) / sizeof(names[0]), (size_t)type);
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
