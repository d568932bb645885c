/* SPDX-License-Identifier: Apache-2.0 */
/* codec_run.c: the shapes of messages about runs, between consumer and provider and
 * between a site and its hosts. */
#include "model/job_control.h"
#include "model/msg.h"
#include "model/row.h"
#include "proto/codec_field.h"
#include "proto/sublet.pb-c.h"

SAME(CONTROL_ACTION, CONTROL_SIGNAL);
SAME(CONTROL_ACTION, CONTROL_SUSPEND);
SAME(CONTROL_ACTION, CONTROL_RESUME);
SAME(CONTROL_ACTION, CONTROL_KILL);
SAME(OUTPUT_STREAM, OUTPUT_OUT);
SAME(OUTPUT_STREAM, OUTPUT_ERR);
SAME(INTERACTION, INTERACTION_NONE);
SAME(INTERACTION, INTERACTION_PIPES);
SAME(INTERACTION, INTERACTION_PTY);
SAME(INTERACTION, INTERACTION_SHELL);
SAME(RUN_END, RUN_END_NONE);
SAME(RUN_END, RUN_END_EXITED);
SAME(RUN_END, RUN_END_SIGNALLED);
SAME(RUN_END, RUN_END_FAILED);
SAME(RUN_END, RUN_END_LOST);
SAME(RUN_END, RUN_END_LIMIT);
SAME(RUN_CAUSE, RUN_CAUSE_NONE);
SAME(RUN_CAUSE, RUN_CAUSE_RUN_LIMIT);
SAME(RUN_CAUSE, RUN_CAUSE_CPU_LIMIT);
SAME(RUN_CAUSE, RUN_CAUSE_MEM_LIMIT);
SAME(RUN_CAUSE, RUN_CAUSE_SWAP_LIMIT);
SAME(RUN_CAUSE, RUN_CAUSE_PROCESS_LIMIT);
SAME(RUN_CAUSE, RUN_CAUSE_THREAD_LIMIT);
SAME(RUN_CAUSE, RUN_CAUSE_PRE_EXEC);
SAME(RESIZE_EVENT, RESIZE_NONE);
SAME(RESIZE_EVENT, RESIZE_GROW);
SAME(RESIZE_EVENT, RESIZE_SHRINK);
SAME(RUN_PHASE, RUN_UNKNOWN);
SAME(RUN_PHASE, RUN_WAITING);
SAME(RUN_PHASE, RUN_RUNNING);
SAME(RUN_PHASE, RUN_SUSPENDED);
SAME(RUN_PHASE, RUN_ENDED);
SAME(ATTEMPT_PHASE, ATTEMPT_TAKEN);
SAME(ATTEMPT_PHASE, ATTEMPT_REFUSED);
SAME(ATTEMPT_PHASE, ATTEMPT_RUNNING);
SAME(ATTEMPT_PHASE, ATTEMPT_SUSPENDED);
SAME(ATTEMPT_PHASE, ATTEMPT_ENDED);
SAME(ATTEMPT_PHASE, ATTEMPT_LOST);
SAME(ATTEMPT_PHASE, ATTEMPT_ABSENT);

#define ID_MAX                                                                         \
    (UINT32_MAX - INT64_C(1)) /* the one above means "none" to the kernel              \
                               */

#define OURS struct run_id
#define THEIRS Sublet__RunId
static const struct codec_field run_id[] = {
    NAME(site),
    UINT64(attempt),
};
static SHAPE(run_id_shape, sublet__run_id, run_id);
#undef OURS
#undef THEIRS

/* A run id that may be empty: a user does not know it, and a run may not exist. */
#define OURS struct run_id
#define THEIRS Sublet__RunId
static const struct codec_field any_run_id[] = {
    TEXT(site, NAME, 0, NAME_SIZE - 1),
    UINT64(attempt),
};
static SHAPE(any_run_id_shape, sublet__run_id, any_run_id);
#undef OURS
#undef THEIRS

#define OURS struct host_slots
#define THEIRS Sublet__HostSlots
static const struct codec_field slots[] = {
    TEXT(host, HOST, 1, HOST_NAME_SIZE - 1),
    INT(n_slots, 1, SLOTS_MAX),
};
static HOST_SHAPE(slots_shape, sublet__host_slots, slots);
#undef OURS
#undef THEIRS

#define OURS struct job_spec
#define THEIRS Sublet__JobSpec
static const struct codec_field spec[] = {
    TEXT(name, LINE, 0, REASON_SIZE - 1), /* short enough for a page of a listing */
    TEXT(user, LINE, 0, NAME_SIZE - 1),   /* a user of the system */
    INT64(uid, 0, ID_MAX),
    INT64(gid, 0, ID_MAX),
    TEXT(queue, NAME, 0, NAME_SIZE - 1),
    TEXT(command, FREE, 0, COMMAND_MAX),
    PATH(cwd),
    PATH(in_file),
    PATH(out_file),
    PATH(err_file),
    TEXTS(env, ENV_MAX, ENV, 2, ENV_BYTES_MAX, ENV_BYTES_MAX),
    INT64(umask, 0, CODEC_MODE_MAX),
    INT(n_slots, 1, SLOTS_MAX),
    TEXTS(hosts_asked, HOSTS_MAX, LINE, 1, HOST_NAME_SIZE - 1, TEXT_MAX),
    TIME(run_limit_ms),
    BOOL(is_rerunnable),
    TEXTS(res_reqs, RES_REQS_MAX, FREE, 1, RES_REQ_MAX, RES_REQS_BYTES_MAX),
    BOOL(is_exclusive),
    TEXT(app, NAME, 0, NAME_SIZE - 1),
    TEXTS(limits, JOB_RLIMITS_MAX, LINE, 1, JOB_RLIMIT_TEXT_SIZE - 1, TEXT_MAX),
    TEXTS(pre_execs, EXEC_COMMANDS_MAX, FREE, 1, EXEC_BYTES_MAX, EXEC_BYTES_MAX),
    TEXTS(post_execs, EXEC_COMMANDS_MAX, FREE, 1, EXEC_BYTES_MAX, EXEC_BYTES_MAX),
    ENUM(interaction, INTERACTION_SHELL),
    TEXTS(controls, JOB_CONTROL_KINDS, FREE, 1, EXEC_BYTES_MAX, EXEC_BYTES_MAX),
};
SHAPE(codec_run_job_spec, sublet__job_spec, spec);
#undef OURS
#undef THEIRS

#define OURS struct run_exit
#define THEIRS Sublet__RunExit
static const struct codec_field exit_fields[] = {
    ENUM(end, RUN_END_LIMIT),
    INT(code, -1, CODEC_EXIT_MAX),
    TIME(start_ms),
    TIME(end_ms),
    TIME(cpu_ms),
    INT64(mem_kib, 0, CODEC_NUMBER_MAX),
    INT64(out_bytes, 0, CODEC_NUMBER_MAX),
    INT64(err_bytes, 0, CODEC_NUMBER_MAX),
    TALK(text, TEXT_MAX),
    BOOL(is_recalled),
    ENUM(cause, RUN_CAUSE_PRE_EXEC),
};
static SHAPE(exit_shape, sublet__run_exit, exit_fields);
#undef OURS
#undef THEIRS

#define OURS struct run_control
#define THEIRS Sublet__Control
static const struct codec_field control[] = {
    UINT64(number),
    ENUM(action, CONTROL_KILL),
    INT(signal, 0, CODEC_SIGNAL_MAX),
    INT(reasons, 0, SUSPEND_CAUSES),
};
static SHAPE(control_shape, sublet__control, control);
#undef OURS
#undef THEIRS

/* ---------------------------------------------------------------- attempts */

#define OURS struct msg_start
#define THEIRS Sublet__Start
static const struct codec_field start[] = {
    PART(run, &run_id_shape),
    LEASE(lease),
    UINT64(epoch),
    JOB(job),
    PARTS(hosts, 1, HOSTS_MAX, &slots_shape),
    PART(spec, &codec_run_job_spec),
    INT(priority, 0, INT32_MAX),
    TIME(end_within_ms),
};
SHAPE(codec_run_leased_start, sublet__start, start);
#undef OURS
#undef THEIRS

#define OURS struct msg_attempt
#define THEIRS Sublet__Attempt
static const struct codec_field attempt[] = {PART(run, &run_id_shape)};
SHAPE(codec_run_attempt, sublet__attempt, attempt);
#undef OURS
#undef THEIRS

#define OURS struct msg_attempt_state
#define THEIRS Sublet__AttemptState
static const struct codec_field attempt_state[] = {
    PART(run, &run_id_shape), ENUM(state, ATTEMPT_ABSENT),
    TIME(start_ms),           UINT64(control_done),
    PART(exit, &exit_shape),  TALK(reason, REASON_SIZE - 1),
};
SHAPE(codec_run_attempt_state, sublet__attempt_state, attempt_state);
#undef OURS
#undef THEIRS

#define OURS struct msg_attempt_control
#define THEIRS Sublet__AttemptControl
static const struct codec_field lifecycle_control[] = {
    PART(run, &run_id_shape),
    PART(control, &control_shape),
};
SHAPE(codec_run_attempt_control, sublet__attempt_control, lifecycle_control);
#undef OURS
#undef THEIRS

#define OURS struct msg_output_ask
#define THEIRS Sublet__OutputAsk
static const struct codec_field output_ask[] = {
    PART(run, &run_id_shape),          UINT64(request),
    ENUM(stream, OUTPUT_ERR),          INT64(offset, 0, CODEC_NUMBER_MAX),
    INT(n_bytes, 0, OUTPUT_CHUNK_MAX),
};
SHAPE(codec_run_output_ask, sublet__output_ask, output_ask);
#undef OURS
#undef THEIRS

#define OURS struct msg_output
#define THEIRS Sublet__Output
static const struct codec_field output[] = {
    PART(run, &run_id_shape),
    UINT64(request),
    ENUM(stream, OUTPUT_ERR),
    INT64(offset, 0, CODEC_NUMBER_MAX),
    BYTES(bytes, OUTPUT_CHUNK_MAX),
    BOOL(is_end),
    BOOL(is_gone),
};
SHAPE(codec_run_output, sublet__output, output);
#undef OURS
#undef THEIRS

/* ---------------------------------------------------------------- interactive */

#define OURS struct msg_stream_down
#define THEIRS Sublet__StreamDown
static const struct codec_field stream_down[] = {
    PART(run, &any_run_id_shape),
    TEXT(job, JOB, 0, CODEC_JOB_MAX),
    INT64(got_out, 0, CODEC_NUMBER_MAX),
    INT64(got_err, 0, CODEC_NUMBER_MAX),
    INT64(offset, 0, CODEC_NUMBER_MAX),
    BYTES(bytes, STREAM_CHUNK_MAX),
    BOOL(is_end),
    BOOL(is_again),
    INT(n_rows, 0, TERMINAL_SIZE_MAX),
    INT(n_columns, 0, TERMINAL_SIZE_MAX),
};
SHAPE(codec_run_stream_down, sublet__stream_down, stream_down);
#undef OURS
#undef THEIRS

#define OURS struct msg_stream_up
#define THEIRS Sublet__StreamUp
static const struct codec_field stream_up[] = {
    PART(run, &any_run_id_shape),
    TEXT(job, JOB, 0, CODEC_JOB_MAX),
    ENUM(stream, OUTPUT_ERR),
    INT64(offset, 0, CODEC_NUMBER_MAX),
    BYTES(bytes, STREAM_CHUNK_MAX),
    INT64(got_in, 0, CODEC_NUMBER_MAX),
    BOOL(is_over),
    TALK(note, TEXT_MAX),
};
SHAPE(codec_run_stream_up, sublet__stream_up, stream_up);
#undef OURS
#undef THEIRS

/* ---------------------------------------------------------------- hosts */

#define OURS struct msg_host_hello
#define THEIRS Sublet__HostHello
static const struct codec_field host_hello[] = {
    TEXT(name, HOST, 1, HOST_NAME_SIZE - 1),
    TEXT(boot_id, NAME, 0, NAME_SIZE - 1),
    INT(n_cpus, 0, SLOTS_MAX),
};
SHAPE(codec_run_host_hello, sublet__host_hello, host_hello);
#undef OURS
#undef THEIRS

const struct codec_shape codec_run_nothing = {.descriptor =
                                                  &sublet__nothing__descriptor};

#define OURS struct msg_host_alive
#define THEIRS Sublet__Alive
static const struct codec_field alive[] = {UINT64(seq)};
SHAPE(codec_run_alive, sublet__alive, alive);
#undef OURS
#undef THEIRS

#define OURS struct load_value
#define THEIRS Sublet__LoadValue
static const struct codec_field load_value[] = {
    TEXT(name, LINE, 1, NAME_SIZE - 1),
    TEXT(value, LINE, 0, LOAD_VALUE_SIZE - 1),
    BOOL(is_exclusive),
};
static SHAPE(load_value_shape, sublet__load_value, load_value);
#undef OURS
#undef THEIRS

#define OURS struct run_load
#define THEIRS Sublet__RunLoad
static const struct codec_field run_load[] = {
    PART(run, &run_id_shape),
    TIME(cpu_ms),
};
static SHAPE(run_load_shape, sublet__run_load, run_load);
#undef OURS
#undef THEIRS

#define OURS struct msg_host_load
#define THEIRS Sublet__HostLoad
static const struct codec_field host_load[] = {
    PARTS(values, 0, LOAD_VALUES_MAX, &load_value_shape),
    PARTS(runs, 0, RUN_LOADS_MAX, &run_load_shape),
};
SHAPE(codec_run_host_load, sublet__host_load, host_load);
#undef OURS
#undef THEIRS

#define OURS struct lease_load_host
#define THEIRS Sublet__LeaseLoadHost
static const struct codec_field lease_load_host[] = {
    TEXT(host, HOST, 1, HOST_NAME_SIZE - 1),
    PARTS(values, 0, LOAD_VALUES_MAX, &load_value_shape),
    PARTS(thresholds, 0, LOAD_VALUES_MAX, &load_value_shape),
};
static HOST_SHAPE(lease_load_host_shape, sublet__lease_load_host, lease_load_host);
#undef OURS
#undef THEIRS

#define OURS struct msg_lease_load
#define THEIRS Sublet__LeaseLoad
static const struct codec_field lease_load[] = {
    LEASE(lease),
    PARTS(hosts, 0, LEASE_LOAD_HOSTS_MAX, &lease_load_host_shape),
};
SHAPE(codec_run_lease_load, sublet__lease_load, lease_load);
#undef OURS
#undef THEIRS

#define OURS struct msg_run_start
#define THEIRS Sublet__RunStart
static const struct codec_field run_start[] = {
    PART(run, &run_id_shape),
    JOB(job),
    TEXT(lease, LEASE, 0, LEASE_ID_SIZE - 1),
    PARTS(hosts, 1, HOSTS_MAX, &slots_shape),
    PART(spec, &codec_run_job_spec),
    TEXT(account, LINE, 0, NAME_SIZE - 1),
    TIME(terminate_ms),
    TIME(end_within_ms),
};
SHAPE(codec_run_start, sublet__run_start, run_start);
#undef OURS
#undef THEIRS

#define OURS struct msg_run_go
#define THEIRS Sublet__RunGo
static const struct codec_field run_go[] = {
    PART(run, &run_id_shape),
    UINT64(token),
};
SHAPE(codec_run_go, sublet__run_go, run_go);
#undef OURS
#undef THEIRS

#define OURS struct msg_run_control
#define THEIRS Sublet__RunControl
static const struct codec_field run_control[] = {
    PART(run, &run_id_shape),
    PART(control, &control_shape),
};
SHAPE(codec_run_control, sublet__run_control, run_control);
#undef OURS
#undef THEIRS

#define OURS struct msg_run_resize
#define THEIRS Sublet__RunResize
static const struct codec_field run_resize[] = {
    PART(run, &run_id_shape),
    UINT64(number),
    ENUM(event, RESIZE_SHRINK),
    PARTS(hosts, 1, HOSTS_MAX, &slots_shape),
    PARTS(all, 1, HOSTS_MAX, &slots_shape),
    TEXT(command, FREE, 0, EXEC_BYTES_MAX),
};
SHAPE(codec_run_resize, sublet__run_resize, run_resize);
#undef OURS
#undef THEIRS

#define OURS struct msg_run
#define THEIRS Sublet__RunForget
static const struct codec_field run_forget[] = {PART(run, &run_id_shape)};
SHAPE(codec_run_forget, sublet__run_forget, run_forget);
#undef OURS
#undef THEIRS

#define OURS struct msg_run_state
#define THEIRS Sublet__RunState
static const struct codec_field run_state[] = {
    PART(run, &run_id_shape),
    ENUM(phase, RUN_ENDED),
    UINT64(token),
    TIME(start_ms),
    UINT64(control_done),
    PART(exit, &exit_shape),
    UINT64(resize_done),
    INT(resize_code, 0, CODEC_EXIT_MAX),
};
SHAPE(codec_run_state, sublet__run_state, run_state);
#undef OURS
#undef THEIRS
