/* SPDX-License-Identifier: Apache-2.0 */
/* codec_client.c: the shapes of requests of the command line, and of the reply. */
#include "base/err.h"
#include "model/msg.h"
#include "proto/codec_field.h"
#include "proto/sublet.pb-c.h"

SAME(QUERY_KIND, QUERY_JOBS);
SAME(QUERY_KIND, QUERY_HOSTS);
SAME(QUERY_KIND, QUERY_QUEUES);
SAME(QUERY_KIND, QUERY_EXPORTS);
SAME(QUERY_KIND, QUERY_LEASES);
SAME(QUERY_KIND, QUERY_LEASE_HISTORY);
SAME(QUERY_KIND, QUERY_SITES);
SAME(QUERY_KIND, QUERY_RECLAIM);
SAME(QUERY_KIND, QUERY_VERSION);
SAME(QUERY_KIND, QUERY_EVENTS);
SAME(QUERY_KIND, QUERY_LOAD);
SAME(QUERY_KIND, QUERY_HIST);
SAME(QUERY_KIND, QUERY_USERS);
SAME(QUERY_KIND, QUERY_POOLS);
SAME(QUERY_KIND, QUERY_PLAN);
SAME(QUERY_KIND, QUERY_LIMITS);
SAME(RECLAIM_SCOPE, RECLAIM_ALL);
SAME(RECLAIM_SCOPE, RECLAIM_PROVIDER);
SAME(RECLAIM_SCOPE, RECLAIM_LEASE);
SAME(RESIZABLE, RESIZABLE_NO);
SAME(RESIZABLE, RESIZABLE_YES);
SAME(RESIZABLE, RESIZABLE_AUTO);
SAME(JOB_RESIZE_ORDER, JOB_RESIZE_TO);
SAME(JOB_RESIZE_ORDER, JOB_RESIZE_RELEASE);
SAME(JOB_RESIZE_ORDER, JOB_RESIZE_KEEP);
SAME(JOB_RESIZE_ORDER, JOB_RESIZE_CANCEL);
SAME(DRAIN_SCOPE, DRAIN_LEASE);
SAME(DRAIN_SCOPE, DRAIN_SITE);

enum { CODE_MIN = ERR_AWAY, STATES_MAX = (1 << (LEASE_ENDED + 1)) - 1 };

enum { PRIORITY_MAX = 1000000000 }; /* of -sp; MAX_USER_PRIORITY is far below */

#define OURS struct job_terms
#define THEIRS Sublet__JobTerms
static const struct codec_field terms[] = {
    TEXT(depend, LINE, 0, TEXT_MAX),
    TIME(begin_ms),
    TEXT(project, LINE, 0, NAME_SIZE - 1),
    INT64(priority, 0, PRIORITY_MAX),
    BOOL(has_slots),
    INT(max_slots, 0, SLOTS_MAX),
    TEXT(user_group, LINE, 0, NAME_SIZE - 1),
    ENUM(resizable, RESIZABLE_AUTO),
    TEXT(resize_notify, FREE, 0, EXEC_BYTES_MAX),
};
static SHAPE(terms_shape, sublet__job_terms, terms);
#undef OURS
#undef THEIRS

#define OURS struct msg_submit
#define THEIRS Sublet__Submit
static const struct codec_field submit[] = {
    UINT64(request),
    PART(spec, &codec_run_job_spec),
    PART(terms, &terms_shape),
    UINT64(bare_limits),
};
SHAPE(codec_client_submit, sublet__submit, submit);
#undef OURS
#undef THEIRS

#define OURS struct msg_job_control
#define THEIRS Sublet__JobControl
static const struct codec_field job_control[] = {
    UINT64(request),
    ENUM(action, CONTROL_KILL),
    INT(signal, 0, CODEC_SIGNAL_MAX),
    TEXTS(jobs, JOBS_PER_COMMAND_MAX, JOB, 1, CODEC_JOB_MAX,
          JOBS_PER_COMMAND_MAX *CODEC_JOB_MAX),
};
SHAPE(codec_client_job_control, sublet__job_control, job_control);
#undef OURS
#undef THEIRS

#define OURS struct msg_job_move
#define THEIRS Sublet__JobMove
static const struct codec_field job_move[] = {
    UINT64(request),
    ENUM(move, MOVE_BOTTOM),
    TEXT(queue, NAME, 0, NAME_SIZE - 1),
    TEXTS(jobs, JOBS_PER_COMMAND_MAX, JOB, 1, CODEC_JOB_MAX,
          JOBS_PER_COMMAND_MAX *CODEC_JOB_MAX),
};
SHAPE(codec_client_job_move, sublet__job_move, job_move);
#undef OURS
#undef THEIRS

#define OURS struct host_slots
#define THEIRS Sublet__HostSlots
static const struct codec_field slots_asked[] = {
    TEXT(host, HOST, 1, HOST_NAME_SIZE - 1),
    INT(n_slots, 0, SLOTS_MAX),
};
static HOST_SHAPE(slots_asked_shape, sublet__host_slots, slots_asked);
#undef OURS
#undef THEIRS

#define OURS struct msg_job_resize
#define THEIRS Sublet__JobResize
static const struct codec_field job_resize[] = {
    UINT64(request),
    ENUM(order, JOB_RESIZE_CANCEL),
    INT(n_slots, 0, SLOTS_MAX),
    PARTS(hosts, 0, HOSTS_MAX, &slots_asked_shape),
    BOOL(is_last),
    JOB(job),
};
SHAPE(codec_client_job_resize, sublet__job_resize, job_resize);
#undef OURS
#undef THEIRS

#define OURS struct msg_queue_control
#define THEIRS Sublet__QueueControl
static const struct codec_field queue_control[] = {
    UINT64(request),
    ENUM(order, QUEUE_INACTIVATE),
    NAME(queue),
};
SHAPE(codec_client_queue_control, sublet__queue_control, queue_control);
#undef OURS
#undef THEIRS

#define OURS struct msg_wait
#define THEIRS Sublet__Wait
static const struct codec_field wait[] = {
    UINT64(request),
    JOB(job),
};
SHAPE(codec_client_wait, sublet__wait, wait);
#undef OURS
#undef THEIRS

#define OURS struct msg_peek
#define THEIRS Sublet__Peek
static const struct codec_field peek[] = {
    UINT64(request),
    JOB(job),
    ENUM(stream, OUTPUT_ERR),
    INT64(offset, 0, CODEC_NUMBER_MAX),
};
SHAPE(codec_client_peek, sublet__peek, peek);
#undef OURS
#undef THEIRS

#define OURS struct msg_query
#define THEIRS Sublet__Query
static const struct codec_field query[] = {
    UINT64(request),
    ENUM(kind, QUERY_KINDS - 1),
    TEXT(name, LINE, 0, LEASE_ID_SIZE - 1), /* unchecked input of the user */
    TEXT(user, LINE, 0, NAME_SIZE - 1),
    TEXT(queue, LINE, 0, NAME_SIZE - 1),
    TEXT(host, LINE, 0, HOST_NAME_SIZE - 1),
    BOOL(with_ended),
    BOOL(exported),
    TEXT(after, LINE, 0, LEASE_ID_SIZE - 1),
    INT(limit, 0, PAGE_ROWS_MAX),
    TEXT(provider, LINE, 0, NAME_SIZE - 1),
    TEXT(consumer, LINE, 0, NAME_SIZE - 1),
    INT(states, 0, STATES_MAX),
    TEXT(res_req, FREE, 0, TEXT_MAX),
    INT(last, 0, PAGE_ROWS_MAX),
    BOOL(shared),
    TEXT(project, LINE, 0, NAME_SIZE - 1),
    BOOL(configured),
};
SHAPE(codec_client_query, sublet__query, query);
#undef OURS
#undef THEIRS

#define OURS struct msg_set_reclaim
#define THEIRS Sublet__SetReclaim
static const struct codec_field set_reclaim[] = {
    UINT64(request),
    ENUM(scope, RECLAIM_LEASE),
    TEXT(name, LEASE, 0, LEASE_ID_SIZE - 1),
    INT64(delay_ms, -1, CODEC_NUMBER_MAX),
};
SHAPE(codec_client_set_reclaim, sublet__set_reclaim, set_reclaim);
#undef OURS
#undef THEIRS

#define OURS struct msg_host_control
#define THEIRS Sublet__HostControl
static const struct codec_field host_control[] = {
    UINT64(request),
    TEXT(host, HOST, 1, HOST_NAME_SIZE - 1),
    BOOL(is_closed),
};
SHAPE(codec_client_host_control, sublet__host_control, host_control);
#undef OURS
#undef THEIRS

#define OURS struct msg_reconfig
#define THEIRS Sublet__Reconfig
static const struct codec_field reconfig[] = {UINT64(request)};
SHAPE(codec_client_reconfig, sublet__reconfig, reconfig);
#undef OURS
#undef THEIRS

#define OURS struct msg_set_drain
#define THEIRS Sublet__SetDrain
static const struct codec_field set_drain[] = {
    UINT64(request),  ENUM(scope, DRAIN_SITE), TEXT(name, LEASE, 1, LEASE_ID_SIZE - 1),
    BOOL(is_drained), BOOL(is_recovery),
};
SHAPE(codec_client_set_drain, sublet__set_drain, set_drain);
#undef OURS
#undef THEIRS

#define OURS struct msg_snapshot
#define THEIRS Sublet__Snapshot
static const struct codec_field snapshot[] = {
    UINT64(request),
    UINT64(ticket),
    INT64(offset, 0, CODEC_NUMBER_MAX),
};
SHAPE(codec_client_snapshot, sublet__snapshot, snapshot);
#undef OURS
#undef THEIRS

#define OURS struct msg_reply
#define THEIRS Sublet__Reply
static const struct codec_field reply[] = {
    UINT64(request),
    INT(code, CODE_MIN, 0),
    TALK(text, TEXT_MAX),
    {
        .type = CODEC_TEXT,
        CODEC_BOTH(json, sizeof(char *), sizeof(ProtobufCBinaryData)),
        .charset = CODEC_FREE,
        .min = 0,
        .max = FRAME_MAX,
        .empty_is_null = true,
    },
    TEXT(next, LINE, 0, LEASE_ID_SIZE - 1),
    BYTES(bytes, OUTPUT_CHUNK_MAX),
    BOOL(is_end),
};
SHAPE(codec_client_reply, sublet__reply, reply);
#undef OURS
#undef THEIRS
