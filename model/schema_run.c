/* SPDX-License-Identifier: Apache-2.0 */
/* schema_run.c: the fields of messages about runs, between consumer and provider and
 * between a site and its hosts. */
#include "model/schema_fields.h"

#include "model/cpu.h"
#include "model/job_control.h"
#include "model/msg.h"
#include "model/row.h"

#define ID_MAX                                                                         \
    (UINT32_MAX - INT64_C(1)) /* the one above means "none" to the kernel              \
                               */

static const char *const action_words[] = {
    [CONTROL_SIGNAL] = "signal",
    [CONTROL_SUSPEND] = "suspend",
    [CONTROL_RESUME] = "resume",
    [CONTROL_KILL] = "kill",
};
static const char *const end_words[] = {
    [RUN_END_NONE] = "none",           [RUN_END_EXITED] = "exited",
    [RUN_END_SIGNALLED] = "signalled", [RUN_END_FAILED] = "failed",
    [RUN_END_LOST] = "lost",           [RUN_END_LIMIT] = "limit",
};
static const char *const cause_words[] = {
    [RUN_CAUSE_NONE] = "none",
    [RUN_CAUSE_RUN_LIMIT] = "run_limit",
    [RUN_CAUSE_CPU_LIMIT] = "cpu_limit",
    [RUN_CAUSE_MEM_LIMIT] = "mem_limit",
    [RUN_CAUSE_SWAP_LIMIT] = "swap_limit",
    [RUN_CAUSE_PROCESS_LIMIT] = "process_limit",
    [RUN_CAUSE_THREAD_LIMIT] = "thread_limit",
    [RUN_CAUSE_PRE_EXEC] = "pre_exec",
    [RUN_CAUSE_NOT_BEGUN] = "not_begun",
};
static const char *const post_words[] = {
    [RUN_POST_NONE] = "none",
    [RUN_POST_DONE] = "done",
    [RUN_POST_ERR] = "error",
};

#define S struct run_id
static const struct field run_id[] = {
    NAME(1, site),
    UINT64(2, attempt),
    UINT64(3, nonce),
};
const struct schema schema_run_id = SCHEMA("RunId", run_id);
#undef S

#define S struct journal_mark
static const struct field mark[] = {
    UINT64(1, commits),
    UINT64(2, attempt),
    UINT64(3, job),
};
const struct schema schema_run_mark = SCHEMA("JournalMark", mark);
#undef S

/* A run id that may be empty: a user does not know it, and a run may not exist. */
#define S struct run_id
static const struct field any_run_id[] = {
    TEXT(1, site, NAME, 0, NAME_SIZE - 1),
    UINT64(2, attempt),
    UINT64(3, nonce),
};
static const struct schema any_run_id_schema = SCHEMA("RunId", any_run_id);
#undef S

#define S struct host_slots
static const struct field slots[] = {
    TEXT(1, host, HOST, 1, HOST_NAME_SIZE - 1),
    INT(2, n_slots, 1, SLOTS_MAX),
};
const struct schema schema_run_slots = HOST_SCHEMA("HostSlots", slots);
#undef S

#define S struct job_spec
static const struct field spec[] = {
    TEXT(1, name, LINE, 0, REASON_SIZE - 1), /* short enough for a page of a listing */
    TEXT(2, user, LINE, 0, NAME_SIZE - 1),   /* a user of the system */
    INT64(3, uid, 0, ID_MAX),
    INT64(4, gid, 0, ID_MAX),
    TEXT(5, queue, NAME, 0, NAME_SIZE - 1),
    TEXT(6, command, FREE, 0, COMMAND_MAX),
    PATH(7, cwd),
    PATH(8, in_file),
    PATH(9, out_file),
    PATH(10, err_file),
    TEXTS(11, env, ENV_MAX, ENV, 2, ENV_BYTES_MAX, ENV_BYTES_MAX),
    INT64(12, umask, 0, MODE_MAX),
    INT(13, n_slots, 1, SLOTS_MAX),
    TEXTS(14, hosts_asked, HOSTS_MAX, LINE, 1, HOST_NAME_SIZE - 1, TEXT_MAX),
    TIME(15, run_limit_ms),
    BOOL(16, is_rerunnable),
    TEXTS(17, res_reqs, RES_REQS_MAX, FREE, 1, RES_REQ_MAX, RES_REQS_BYTES_MAX),
    TEXT(70, app, NAME, 0, NAME_SIZE - 1),
    TEXTS(71, limits, JOB_RLIMITS_MAX, LINE, 1, JOB_RLIMIT_TEXT_SIZE - 1, TEXT_MAX),
    TEXTS(72, pre_execs, EXEC_COMMANDS_MAX, FREE, 1, EXEC_BYTES_MAX, EXEC_BYTES_MAX),
    TEXTS(73, post_execs, EXEC_COMMANDS_MAX, FREE, 1, EXEC_BYTES_MAX, EXEC_BYTES_MAX),
    BOOL(80, is_exclusive),
    ENUM(130, interaction, INTERACTION_SHELL),
    TEXTS(150, controls, JOB_CONTROL_KINDS, FREE, 1, EXEC_BYTES_MAX, EXEC_BYTES_MAX),
    BOOL(400, replaces_out),
    BOOL(401, replaces_err),
    TIME(402, report_ms),
};
const struct schema schema_run_job_spec = SCHEMA("JobSpec", spec);
#undef S

#define S struct run_exit
static const struct field run_exit[] = {
    WORD(1, end, end_words),
    INT(2, code, -1, EXIT_MAX),
    TIME(3, start_ms),
    TIME(4, end_ms),
    TIME(5, cpu_ms),
    INT64(6, mem_kib, 0, NUMBER_MAX),
    INT64(7, out_bytes, 0, NUMBER_MAX),
    INT64(8, err_bytes, 0, NUMBER_MAX),
    TALK(9, text, TEXT_MAX),
    WORD(70, cause, cause_words),
    BOOL(110, is_recalled),
    WORD(460, post, post_words),
};
const struct schema schema_run_exit = SCHEMA("RunExit", run_exit);
#undef S

#define S struct run_use
static const struct field use[] = {
    TIME(1, start_ms),
    TIME(2, at_ms),
    TIME(3, used_ms),
    INT(4, n_slots, 0, TOTAL_MAX),
};
const struct schema schema_run_use = SCHEMA("RunUse", use);
#undef S

#define S struct run_control
static const struct field control[] = {
    UINT64(1, number),
    WORD(2, action, action_words),
    INT(3, signal, 0, SIGNAL_MAX),
    INT(151, reasons, 0, SUSPEND_CAUSES),
    TIME(400, run_limit_ms),
    INT64(401, mem_limit_kib, 0, NUMBER_MAX),
    COLUMN(BOOL, yields),
};
const struct schema schema_run_order = SCHEMA("Control", control);
#undef S

#define S struct msg_start
static const struct field start[] = {
    PART(1, run, &schema_run_id),
    LEASE(2, lease),
    UINT64(3, epoch),
    JOB(4, job),
    PARTS(5, hosts, 1, HOSTS_MAX, &schema_run_slots),
    PART(6, spec, &schema_run_job_spec),
    INT(110, priority, 0, INT32_MAX),
    TIME(300, end_within_ms),
    UINT64(320, commits),
};
const struct schema schema_run_leased_start = SCHEMA("Start", start);
#undef S

#define S struct msg_attempt
static const struct field attempt[] = {
    PART(1, run, &schema_run_id), BOOL(270, is_withdrawn), BOOL(320, lists),
    UINT64(321, list_to),         UINT64(322, commits),
};
const struct schema schema_run_attempt = SCHEMA("Attempt", attempt);
#undef S

#define S struct msg_attempt_state
static const struct field attempt_state[] = {
    PART(1, run, &schema_run_id),
    ENUM(2, state, ATTEMPT_ABSENT),
    TIME(3, start_ms),
    UINT64(4, control_done),
    PART(5, exit, &schema_run_exit),
    TALK(6, reason, REASON_SIZE - 1),
    PART(320, mark, &schema_run_mark),
    PART(360, use, &schema_run_use),
};
const struct schema schema_run_attempt_state = SCHEMA("AttemptState", attempt_state);
#undef S

#define S struct msg_attempt_control
static const struct field lifecycle_control[] = {
    PART(1, run, &schema_run_id),
    PART(2, control, &schema_run_order),
};
const struct schema schema_run_attempt_control =
    SCHEMA("AttemptControl", lifecycle_control);
#undef S

#define S struct msg_output_ask
static const struct field output_ask[] = {
    PART(1, run, &schema_run_id),         UINT64(2, request),
    ENUM(3, stream, OUTPUT_ERR),          INT64(4, offset, 0, NUMBER_MAX),
    INT(5, n_bytes, 0, OUTPUT_CHUNK_MAX),
};
const struct schema schema_run_output_ask = SCHEMA("OutputAsk", output_ask);
#undef S

#define S struct msg_output
static const struct field output[] = {
    PART(1, run, &schema_run_id),
    UINT64(2, request),
    ENUM(3, stream, OUTPUT_ERR),
    INT64(4, offset, 0, NUMBER_MAX),
    BYTES(5, bytes, OUTPUT_CHUNK_MAX),
    BOOL(6, is_end),
    BOOL(7, is_gone),
};
const struct schema schema_run_output = SCHEMA("Output", output);
#undef S

#define S struct msg_stream_down
static const struct field stream_down[] = {
    PART(130, run, &any_run_id_schema),
    TEXT(131, job, JOB, 0, JOB_MAX),
    INT64(132, got_out, 0, NUMBER_MAX),
    INT64(133, got_err, 0, NUMBER_MAX),
    INT64(134, offset, 0, NUMBER_MAX),
    BYTES(135, bytes, STREAM_CHUNK_MAX),
    BOOL(136, is_end),
    BOOL(137, is_again),
    INT(138, n_rows, 0, TERMINAL_SIZE_MAX),
    INT(139, n_columns, 0, TERMINAL_SIZE_MAX),
};
const struct schema schema_run_stream_down = SCHEMA("StreamDown", stream_down);
#undef S

#define S struct msg_relayed
static const struct field relayed[] = {
    COLUMN(TEXT, run_site),
    COLUMN(TEXT, lease),
    COLUMN(INT, n_data),
    BYTES(0, body, FRAME_MAX),
};
const struct schema schema_run_relayed = SCHEMA("relayed", relayed);
#undef S

#define S struct msg_stream_up
static const struct field stream_up[] = {
    PART(130, run, &any_run_id_schema),
    TEXT(131, job, JOB, 0, JOB_MAX),
    ENUM(132, stream, OUTPUT_ERR),
    INT64(133, offset, 0, NUMBER_MAX),
    BYTES(134, bytes, STREAM_CHUNK_MAX),
    INT64(135, got_in, 0, NUMBER_MAX),
    BOOL(136, is_over),
    TALK(137, note, TEXT_MAX),
};
const struct schema schema_run_stream_up = SCHEMA("StreamUp", stream_up);
#undef S

#define S struct msg_host_hello
static const struct field host_hello[] = {
    TEXT(1, name, HOST, 1, HOST_NAME_SIZE - 1),
    TEXT(2, boot_id, NAME, 0, NAME_SIZE - 1),
    INT(3, n_cpus, 0, SLOTS_MAX),
    BOOL(320, knows_nonces),
    PART(321, mark, &schema_run_mark),
    TEXT(450, topology, LINE, 0, CPU_TOPOLOGY_TEXT_MAX),
};
const struct schema schema_run_host_hello = SCHEMA("HostHello", host_hello);
#undef S

#define S struct msg_host_alive
static const struct field alive[] = {
    UINT64(1, seq),
    PART(320, mark, &schema_run_mark),
};
const struct schema schema_run_alive = SCHEMA("Alive", alive);
#undef S

#define S struct load_value
static const struct field load_value[] = {
    TEXT(1, name, LINE, 1, NAME_SIZE - 1),
    TEXT(2, value, LINE, 0, LOAD_VALUE_SIZE - 1),
    BOOL(3, is_exclusive),
};
static const struct schema load_value_schema = SCHEMA("LoadValue", load_value);
#undef S

#define S struct run_load
static const struct field run_load[] = {
    PART(1, run, &schema_run_id),       TIME(2, cpu_ms),
    INT64(481, mem_kib, 0, NUMBER_MAX), INT64(482, rss_kib, 0, NUMBER_MAX),
    INT64(483, vsz_kib, 0, NUMBER_MAX), INT(484, n_threads, 0, RUN_THREADS_MAX),
};
static const struct schema run_load_schema = SCHEMA("RunLoad", run_load);
#undef S

#define S struct msg_host_load
static const struct field host_load[] = {
    PARTS(1, values, 0, LOAD_VALUES_MAX, &load_value_schema),
    PARTS(190, runs, 0, RUN_LOADS_MAX, &run_load_schema),
    INT(301, n_foreign, 0, SLOTS_MAX),
    BOOL(302, is_out),
};
const struct schema schema_run_host_load = SCHEMA("HostLoad", host_load);
#undef S

#define S struct lease_load_host
static const struct field lease_load_host[] = {
    TEXT(1, host, HOST, 1, HOST_NAME_SIZE - 1),
    PARTS(2, values, 0, LOAD_VALUES_MAX, &load_value_schema),
    PARTS(3, thresholds, 0, LOAD_VALUES_MAX, &load_value_schema),
};
static const struct schema lease_load_host_schema =
    HOST_SCHEMA("LeaseLoadHost", lease_load_host);
#undef S

#define S struct msg_lease_load
static const struct field lease_load[] = {
    LEASE(1, lease),
    PARTS(2, hosts, 0, LEASE_LOAD_HOSTS_MAX, &lease_load_host_schema),
};
const struct schema schema_run_lease_load = SCHEMA("LeaseLoad", lease_load);
#undef S

#define S struct msg_run_start
static const struct field run_start[] = {
    PART(1, run, &schema_run_id),
    JOB(2, job),
    TEXT(3, lease, LEASE, 0, LEASE_ID_SIZE - 1),
    PARTS(4, hosts, 1, HOSTS_MAX, &schema_run_slots),
    PART(5, spec, &schema_run_job_spec),
    TEXT(6, account, LINE, 0, NAME_SIZE - 1),
    TIME(70, terminate_ms),
    TIME(301, end_within_ms),
    TEXT(450, binding, LINE, 0, CPU_BINDING_TEXT_MAX),
};
const struct schema schema_run_start = SCHEMA("RunStart", run_start);
#undef S

#define S struct msg_run_go
static const struct field run_go[] = {
    PART(1, run, &schema_run_id),
    UINT64(2, token),
    UINT64(320, commits),
};
const struct schema schema_run_go = SCHEMA("RunGo", run_go);
#undef S

#define S struct msg_run_control
static const struct field run_control[] = {
    PART(1, run, &schema_run_id),
    PART(2, control, &schema_run_order),
};
const struct schema schema_run_control = SCHEMA("RunControl", run_control);
#undef S

#define S struct msg_run_resize
static const struct field run_resize[] = {
    PART(1, run, &schema_run_id),
    UINT64(2, number),
    ENUM(3, event, RESIZE_SHRINK),
    PARTS(4, hosts, 1, HOSTS_MAX, &schema_run_slots),
    PARTS(5, all, 1, HOSTS_MAX, &schema_run_slots),
    TEXT(6, command, FREE, 0, EXEC_BYTES_MAX),
};
const struct schema schema_run_resize = SCHEMA("RunResize", run_resize);
#undef S

#define S struct msg_run
static const struct field run_forget[] = {
    PART(1, run, &schema_run_id),
};
const struct schema schema_run_forget = SCHEMA("RunForget", run_forget);
#undef S

#define S struct msg_run_state
static const struct field run_state[] = {
    PART(1, run, &schema_run_id),
    ENUM(2, phase, RUN_ENDED),
    UINT64(3, token),
    TIME(4, start_ms),
    UINT64(5, control_done),
    PART(6, exit, &schema_run_exit),
    UINT64(279, resize_done),
    INT(280, resize_code, 0, EXIT_MAX),
    BOOL(320, is_refused),
};
const struct schema schema_run_state = SCHEMA("RunState", run_state);
#undef S

const struct schema schema_run_nothing = {.name = "Nothing"};
