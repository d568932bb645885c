/* SPDX-License-Identifier: Apache-2.0 */
/* schema_client.c: the fields of requests of the command line, and of the reply. */
#include "model/schema_fields.h"

#include "base/err.h"
#include "model/msg.h"

enum {
    CODE_MIN = ERR_AWAY, /* the last of the error table */
    STATES_MAX = (1 << (LEASE_ENDED + 1)) - 1,
    PRIORITY_MAX = 1000000000, /* of -sp; MAX_USER_PRIORITY is far below */
};

static const char *const resizable_words[] = {
    [RESIZABLE_NO] = "no",
    [RESIZABLE_YES] = "yes",
    [RESIZABLE_AUTO] = "auto",
};

#define S struct job_terms
static const struct field terms[] = {
    TEXT(1, depend, LINE, 0, TEXT_MAX),
    TIME(2, begin_ms),
    TEXT(3, project, LINE, 0, NAME_SIZE - 1),
    INT64(4, priority, 0, PRIORITY_MAX),
    BOOL(5, has_slots),
    INT(80, max_slots, 0, SLOTS_MAX),
    WORD(275, resizable, resizable_words),
    TEXT(276, resize_notify, FREE, 0, EXEC_BYTES_MAX),
    TEXT(312, user_group, LINE, 0, NAME_SIZE - 1),
    TEXT(400, description, FREE, 0, TEXT_MAX),
    TEXT(440, job_group, LINE, 0, JOB_GROUP_SIZE - 1),
    TIME(460, terminate_ms),
    BOOL(461, ends_orphan),
    TEXT(462, requeue_codes, LINE, 0, TEXT_MAX),
    TEXT(480, run_limit_host, LINE, 0, HOST_NAME_SIZE - 1),
    COLUMN(TEXT, depend_on),
};
const struct schema schema_client_job_terms = SCHEMA("JobTerms", terms);
#undef S

#define S struct msg_submit
static const struct field submit[] = {
    UINT64(1, request),
    PART(2, spec, &schema_run_job_spec),
    PART(3, terms, &schema_client_job_terms),
    UINT64(70, bare_limits),
    BOOL(400, is_held),
};
const struct schema schema_client_submit = SCHEMA("Submit", submit);
#undef S

#define S struct msg_job_modify
static const struct field job_modify[] = {
    UINT64(1, request), TEXT(2, job, JOB, 1, JOB_MAX),      UINT64(3, fields),
    UINT64(4, limits),  PART(5, to, &schema_client_submit),
};
const struct schema schema_client_job_modify = SCHEMA("JobModify", job_modify);
#undef S

#define S struct msg_job_control
static const struct field job_control[] = {
    UINT64(1, request),
    ENUM(2, action, CONTROL_KILL),
    INT(3, signal, 0, SIGNAL_MAX),
    TEXTS(4, jobs, JOBS_PER_COMMAND_MAX, JOB, 1, JOB_MAX,
          JOBS_PER_COMMAND_MAX *JOB_MAX),
    TEXT(471, reason, LINE, 0, KILL_REASON_MAX),
};
const struct schema schema_client_job_control = SCHEMA("JobControl", job_control);
#undef S

#define S struct msg_job_move
static const struct field job_move[] = {
    UINT64(1, request),
    ENUM(2, move, MOVE_RERUN),
    TEXT(3, queue, NAME, 0, NAME_SIZE - 1),
    TEXTS(4, jobs, JOBS_PER_COMMAND_MAX, JOB, 1, JOB_MAX,
          JOBS_PER_COMMAND_MAX *JOB_MAX),
    BOOL(470, is_held),
};
const struct schema schema_client_job_move = SCHEMA("JobMove", job_move);
#undef S

#define S struct host_slots
static const struct field slots_asked[] = {
    TEXT(1, host, HOST, 1, HOST_NAME_SIZE - 1),
    INT(2, n_slots, 0, SLOTS_MAX),
};
static const struct schema slots_asked_schema = HOST_SCHEMA("HostSlots", slots_asked);
#undef S

#define S struct msg_job_resize
static const struct field job_resize[] = {
    UINT64(1, request),
    ENUM(2, order, JOB_RESIZE_CANCEL),
    INT(3, n_slots, 0, SLOTS_MAX),
    PARTS(4, hosts, 0, HOSTS_MAX, &slots_asked_schema),
    BOOL(5, is_last),
    JOB(6, job),
};
const struct schema schema_client_job_resize = SCHEMA("JobResize", job_resize);
#undef S

#define S struct msg_queue_control
static const struct field queue_control[] = {
    UINT64(1, request),
    ENUM(2, order, QUEUE_INACTIVATE),
    NAME(3, queue),
};
const struct schema schema_client_queue_control = SCHEMA("QueueControl", queue_control);
#undef S

#define S struct msg_orphan
static const struct field orphan[] = {
    UINT64(1, request),
    ENUM(2, order, ORPHAN_ACCEPT_LOSS),
    UINT64(3, attempt),
    TEXT(4, host, HOST, 0, HOST_NAME_SIZE - 1),
};
const struct schema schema_client_orphan = SCHEMA("Orphan", orphan);
#undef S

#define S struct msg_wait
static const struct field wait[] = {
    UINT64(1, request),
    JOB(2, job),
};
const struct schema schema_client_wait = SCHEMA("Wait", wait);
#undef S

#define S struct msg_peek
static const struct field peek[] = {
    UINT64(1, request),
    JOB(2, job),
    ENUM(3, stream, OUTPUT_ERR),
    INT64(4, offset, 0, NUMBER_MAX),
};
const struct schema schema_client_peek = SCHEMA("Peek", peek);
#undef S

#define S struct msg_query
static const struct field query[] = {
    UINT64(1, request),
    ENUM(2, kind, QUERY_KINDS - 1),
    TEXT(3, name, LINE, 0, LEASE_ID_SIZE - 1), /* unchecked input of the user */
    TEXT(4, user, LINE, 0, NAME_SIZE - 1),
    TEXT(5, queue, LINE, 0, NAME_SIZE - 1),
    TEXT(6, host, LINE, 0, HOST_NAME_SIZE - 1),
    BOOL(7, with_ended),
    BOOL(8, exported),
    TEXT(9, after, LINE, 0, LEASE_ID_SIZE - 1),
    INT(10, limit, 0, PAGE_ROWS_MAX),
    TEXT(11, provider, LINE, 0, NAME_SIZE - 1),
    TEXT(12, consumer, LINE, 0, NAME_SIZE - 1),
    INT(13, states, 0, STATES_MAX),
    TEXT(14, res_req, FREE, 0, TEXT_MAX),
    INT(20, last, 0, PAGE_ROWS_MAX),
    BOOL(170, shared),
    TEXT(310, project, LINE, 0, NAME_SIZE - 1),
    BOOL(311, configured),
    TEXT(312, fields, LINE, 0, TEXT_MAX),
    TEXT(313, by, LINE, 0, NAME_SIZE - 1),
    INT64(314, from_ms, 0, NUMBER_MAX),
    INT64(315, to_ms, 0, NUMBER_MAX),
    COLUMN(UINT64, since),
};
const struct schema schema_client_query = SCHEMA("Query", query);
#undef S

#define S struct msg_set_reclaim
static const struct field set_reclaim[] = {
    UINT64(1, request),
    ENUM(2, scope, RECLAIM_LEASE),
    TEXT(3, name, LEASE, 0, LEASE_ID_SIZE - 1),
    INT64(4, delay_ms, -1, NUMBER_MAX),
};
const struct schema schema_client_set_reclaim = SCHEMA("SetReclaim", set_reclaim);
#undef S

#define S struct msg_rebalance
static const struct field rebalance[] = {
    UINT64(1, request),
    LEASE(2, lease),
};
const struct schema schema_client_rebalance = SCHEMA("Rebalance", rebalance);
#undef S

#define S struct msg_host_control
static const struct field host_control[] = {
    UINT64(1, request),
    TEXT(2, host, HOST, 1, HOST_NAME_SIZE - 1),
    BOOL(3, is_closed),
};
const struct schema schema_client_host_control = SCHEMA("HostControl", host_control);
#undef S

#define S struct msg_job_group
static const struct field job_group[] = {
    UINT64(441, request),
    ENUM(442, action, JOB_GROUP_MODIFY),
    TEXT(443, path, LINE, 1, JOB_GROUP_SIZE - 1),
    BOOL(444, has_limit),
    INT(445, limit, -1, INT32_MAX),
    TEXT(446, owner, LINE, 0, NAME_SIZE - 1),
};
const struct schema schema_client_job_group = SCHEMA("JobGroup", job_group);
#undef S

#define S struct msg_reconfig
static const struct field reconfig[] = {
    UINT64(1, request),
};
const struct schema schema_client_reconfig = SCHEMA("Reconfig", reconfig);
#undef S

#define S struct msg_set_drain
static const struct field set_drain[] = {
    UINT64(1, request),
    ENUM(2, scope, DRAIN_SITE),
    TEXT(3, name, LEASE, 1, LEASE_ID_SIZE - 1),
    BOOL(4, is_drained),
    BOOL(110, is_recovery),
};
const struct schema schema_client_set_drain = SCHEMA("SetDrain", set_drain);
#undef S

#define S struct msg_snapshot
static const struct field snapshot[] = {
    UINT64(1, request),
    UINT64(2, ticket),
    SINT64(3, offset, 0, NUMBER_MAX),
};
const struct schema schema_client_snapshot = SCHEMA("Snapshot", snapshot);
#undef S

#define S struct msg_reply
static const struct field reply[] = {
    UINT64(1, request),
    INT(2, code, CODE_MIN, 0),
    TALK(3, text, TEXT_MAX),
    NULL_TEXT(4, json, FREE, FRAME_MAX),
    TEXT(5, next, LINE, 0, LEASE_ID_SIZE - 1),
    BYTES(6, bytes, OUTPUT_CHUNK_MAX),
    BOOL(7, is_end),
};
const struct schema schema_client_reply = SCHEMA("Reply", reply);
#undef S

#define S struct msg_clock
static const struct field clock_fields[] = {
    TIME(1, asked_ms),
    TIME(2, now_ms),
};
const struct schema schema_client_clock = SCHEMA("Clock", clock_fields);
#undef S
