/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_modify.c: `sublet modify`: another value for an option of a submission, or none.
 * Source: LSF's bmod. */
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/connect.h"
#include "cli/job_operand.h"
#include "cli/submit_options.h"
#include "model/job_rlimit.h"

/* An option of a submission, and the one that takes its value away. */
#define PAIR(option, value, what)                                                      \
    {option, value, what, false},                                                      \
    {                                                                                  \
        option "n", NULL, "takes " option " away", false                               \
    }

const struct call_option cmd_modify_options[] = {
    PAIR("-W", "[HOURS:]MINUTES[/HOST]", "run limit; also of a job that runs"),
    PAIR("-M", "SIZE", "limit on memory; also of a job that runs"),
    PAIR("-r", NULL, "may be run again when its host is lost; also of one that runs"),
    PAIR("-J", "NAME", "name; of an array %N, the number that run at a time"),
    PAIR("-q", "QUEUE", "queue"),
    PAIR("-n", "MIN[,MAX]", "job slots"),
    PAIR("-m", "HOSTS", "hosts and groups"),
    PAIR("-R", "STRING", "resource requirements; several are joined"),
    PAIR("-o", "FILE", "file for standard output"),
    PAIR("-oo", "FILE", "the same, emptied when the job starts"),
    PAIR("-e", "FILE", "file for standard error"),
    PAIR("-eo", "FILE", "the same, emptied when the job starts"),
    PAIR("-i", "FILE", "file for standard input"),
    PAIR("-x", NULL, "hosts of its own"),
    PAIR("-c", "[HOURS:]MINUTES", "limit on CPU time"),
    PAIR("-v", "SIZE", "limit on virtual memory"),
    PAIR("-p", "NUMBER", "limit on processes"),
    PAIR("-T", "NUMBER", "limit on threads"),
    PAIR("-F", "SIZE", "limit on files that a process writes"),
    PAIR("-D", "SIZE", "limit on the data segment"),
    PAIR("-S", "SIZE", "limit on the stack"),
    PAIR("-C", "SIZE", "limit on core files"),
    PAIR("-E", "COMMAND", "command before the job"),
    PAIR("-Ep", "COMMAND", "command after the job"),
    PAIR("-w", "CONDITION", "other jobs to wait for"),
    PAIR("-b", "TIME", "earliest start"),
    PAIR("-P", "PROJECT", "project"),
    PAIR("-G", "GROUP", "user group whose share counts"),
    PAIR("-g", "GROUP", "job group"),
    PAIR("-sp", "PRIORITY", "priority"),
    PAIR("-app", "PROFILE", "application profile"),
    PAIR("-Jd", "TEXT", "description"),
    PAIR("-t", "TIME", "latest end"),
    PAIR("-ti", NULL, "end once the condition of -w can never be met"),
    PAIR("-Q", "CODES", "exit codes for which it is requeued"),
    PAIR("-wa", "SIGNAL", "signal that warns the job before its run limit"),
    PAIR("-wt", "[HOURS:]MINUTES", "how long before"),
    {"-cwd", "DIR", "working directory", false},
    {"-env", "LIST", "environment variables", false},
    {"-Z", "COMMAND", "command", false},
    {"-report", NULL, "with -o: a report of the job's end is appended, as bsub", false},
    {NULL, NULL, NULL, false},
};

/* The option that gives a part of the job another value, and the one that takes its
 * value away; NULL: none does. */
static const struct {
    const char *set, *unset;
    enum job_field field;
} parts[] = {
    {"-J", "-Jn", JOB_FIELD_NAME},      {"-q", "-qn", JOB_FIELD_QUEUE},
    {"-Z", NULL, JOB_FIELD_COMMAND},    {"-cwd", NULL, JOB_FIELD_CWD},
    {"-i", "-in", JOB_FIELD_IN},        {"-o", "-on", JOB_FIELD_OUT},
    {"-oo", "-oon", JOB_FIELD_OUT},     {"-e", "-en", JOB_FIELD_ERR},
    {"-eo", "-eon", JOB_FIELD_ERR},     {"-Jd", "-Jdn", JOB_FIELD_DESCRIPTION},
    {"-env", NULL, JOB_FIELD_ENV},      {"-n", "-nn", JOB_FIELD_SLOTS},
    {"-m", "-mn", JOB_FIELD_HOSTS},     {"-R", "-Rn", JOB_FIELD_RES_REQS},
    {"-W", "-Wn", JOB_FIELD_RUN_LIMIT}, {"-r", "-rn", JOB_FIELD_RERUNNABLE},
    {"-x", "-xn", JOB_FIELD_EXCLUSIVE}, {"-app", "-appn", JOB_FIELD_APP},
    {"-E", "-En", JOB_FIELD_PRE_EXECS}, {"-Ep", "-Epn", JOB_FIELD_POST_EXECS},
    {"-w", "-wn", JOB_FIELD_DEPEND},    {"-b", "-bn", JOB_FIELD_BEGIN},
    {"-P", "-Pn", JOB_FIELD_PROJECT},   {"-sp", "-spn", JOB_FIELD_PRIORITY},
    {"-G", "-Gn", JOB_FIELD_GROUP},     {"-g", "-gn", JOB_FIELD_JOB_GROUP},
    {"-t", "-tn", JOB_FIELD_TERMINATE}, {"-ti", "-tin", JOB_FIELD_ORPHAN},
    {"-Q", "-Qn", JOB_FIELD_REQUEUE},   {"-wa", "-wan", JOB_FIELD_WARNING},
};

/* What the options change. Both forms of one option contradict each other. */
static int read_fields(struct call *call, struct msg_job_modify *modify)
{
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        bool is_set = call_has(call, parts[i].set);
        bool is_unset = parts[i].unset != NULL && call_has(call, parts[i].unset);
        if (is_set && is_unset) {
            return call_misuse(call, "%s and %s contradict each other", parts[i].set,
                               parts[i].unset);
        }
        modify->fields |= (uint64_t)(is_set || is_unset) << parts[i].field;
    }
    for (int i = 0; i < JOB_RLIMITS; i++) {
        const char *option = job_rlimit_kinds[i].option;
        bool is_given = option != NULL &&
                        (call_has(call, option) ||
                         call_has(call, arena_printf(&call->arena, "%sn", option)));
        modify->limits |= (uint64_t)is_given << i;
    }
    return modify->fields != 0 || modify->limits != 0
               ? CALL_OK
               : call_misuse(call, "nothing to change, expected an option of bsub, or "
                                   "one that takes its value away, as -Wn");
}

static int read_job(struct call *call, struct msg_job_modify *modify)
{
    if (call->n_operands != 1 || !job_operand_is_valid(call->operands[0])) {
        return call_misuse(call, "expected one job, as 12");
    }
    modify->job = call->operands[0];
    modify->to.spec.command = call_text(call, "-Z");
    if (call_has(call, "-Z") && (modify->to.spec.command[0] == '\0' ||
                                 strlen(modify->to.spec.command) > COMMAND_MAX)) {
        return call_misuse(call, "-Z: expected a command of at most %d bytes",
                           COMMAND_MAX);
    }
    return CALL_OK;
}

int cmd_modify_run(struct call *call)
{
    struct msg msg = {.kind = MSG_JOB_MODIFY};
    struct msg_job_modify *modify = &msg.job_modify;
    const char *text;
    int status = read_job(call, modify);
    if (status == CALL_OK) {
        status = read_fields(call, modify);
    }
    if (status == CALL_OK) {
        status = submit_options_read(call, &modify->to);
    }
    if (status == CALL_OK && !call_has(call, "-env")) {
        modify->to.spec.n_env = 0; /* not read */
    }
    if (status == CALL_OK) {
        status = connect_request(call, &msg, &modify->request, &text);
    }
    if (status != CALL_OK) {
        return status;
    }
    puts(text);
    return call_finish_output();
}
