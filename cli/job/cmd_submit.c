/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_submit.c: `sublet sub`: a job from options, command line and environment.
 *
 * Unsupported options of bsub are refused, so that no job runs without a requested
 * property.
 * Source: docs/design/interfaces.md "Command line"; LSF's bsub. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cmd_resreq.h"
#include "cli/commands.h"
#include "cli/connect.h"
#include "cli/job_outcome.h"
#include "cli/submit_options.h"
#include "cli/terminal/terminal.h"
#include "model/msg.h"

const struct call_option cmd_submit_options[] = {
    {"-q", "QUEUE", "the queue; else the site's default", false},
    {"-n", "MIN[,MAX]", "job slots; default: the queue's, or 1", false},
    {"-m", "HOSTS", "only these hosts: 'n1+2 group n1@north others', + prefers", false},
    {"-J", "NAME", "the job's name; 'name[1-10,15]%3' makes an array, 3 run at a time",
     false},
    {"-o", "FILE", "append standard output to FILE; %J is the job's id, %I its index",
     false},
    {"-oo", "FILE", "the same, and FILE is emptied when the job starts", false},
    {"-e", "FILE", "append standard error to FILE; else it goes with the output",
     false},
    {"-eo", "FILE", "the same, and FILE is emptied when the job starts", false},
    {"-outdir", "DIR", "made before the job starts, for files of -o and -e: 'out/%J'",
     false},
    {"-report", NULL, "append a report of the job's end to its output file, as bsub",
     false},
    {"-i", "FILE", "standard input", false},
    {"-H", NULL, "hold the job (PSUSP) until it is resumed", false},
    {"-Jd", "TEXT", "description of the job", false},
    {"-cwd", "DIR", "working directory; else this one", false},
    {"-x", NULL, "hosts of its own: nothing else runs there", false},
    {"-r", NULL, "may be run again when its host is lost", false},
    {"-W", "[HOURS:]MINUTES[/HOST]", "run limit, of a host or host model", false},
    {"-wa", "SIGNAL", "signal that warns it before its run limit ends it", false},
    {"-wt", "[HOURS:]MINUTES", "how long before the run limit it is warned", false},
    {"-t", "TIME", "ends at [[[YEAR:]MONTH:]DAY:]HOUR:MINUTE at the latest", false},
    {"-ti", NULL, "with -w: ends once the condition can never be met", false},
    {"-Q", "CODES", "is requeued for these exit codes: '99 EXCLUDE(7)'", false},
    {"-c", "[HOURS:]MINUTES[/HOST]",
     "limit on CPU time of all its processes; scaled by the CPU factor of a host or "
     "model",
     false},
    {"-M", "SIZE", "limit on memory of all its processes: KB, or as 4GB", false},
    {"-v", "SIZE", "limit on their virtual memory", false},
    {"-p", "NUMBER", "limit on its processes at a time", false},
    {"-T", "NUMBER", "limit on its threads at a time", false},
    {"-F", "SIZE", "limit on files that a process writes", false},
    {"-D", "SIZE", "limit on the data segment of a process", false},
    {"-S", "SIZE", "limit on the stack of a process", false},
    {"-C", "SIZE", "limit on core files; 0: none", false},
    {"-E", "COMMAND", "command before the job; if it fails, the job is requeued",
     false},
    {"-Ep", "COMMAND", "command after the job", false},
    {"-w", "CONDITION", "wait for other jobs: 'done(12) && exit(\"prep\",3)'", false},
    {"-b", "TIME", "not before [[[YEAR:]MONTH:]DAY:]HOUR:MINUTE", false},
    {"-P", "PROJECT", "the project that limits may name", false},
    {"-g", "GROUP",
     "the job group, a path such as /risk/portfolio1; it is made if need be", false},
    {"-G", "GROUP", "the user group whose share counts, one of the user's own", false},
    {"-sp", "PRIORITY", "priority among the jobs of the queue", false},
    {"-K", NULL, "wait for the end, and exit as the job does; 126: it never ran",
     false},
    {"--json", NULL, "the job's id as JSON", false},
    {"-R", "STRING", "resource requirements; several are joined", false},
    {"-app", "PROFILE", "application profile", false},
    {"-ar", NULL, "the job grows while it runs, up to MAX of -n, and may be resized",
     false},
    {"-rnc", "COMMAND",
     "command that notifies the job of changed slots, on its first host", false},
    {"-I", NULL, "interactive: connected with this terminal, or these pipes", false},
    {"-Ip", NULL, "interactive, in a terminal of its own", false},
    {"-Is", NULL, "the same, and its terminal handles keys such as Ctrl-C", false},
    {"-U", "RESERVATION", "advance reservation", true},
    {"-env", "LIST",
     "environment variables of the job: none, all, NAME, NAME=VALUE, ~NAME", false},
    {NULL, NULL, NULL, false},
};

/* The id in {"job":12}; 0 if there is none. */
static json_int_t id_of(const char *text)
{
    json_t *answer = json_loads(text != NULL ? text : "", 0, NULL);
    json_int_t id = json_integer_value(json_object_get(answer, "job"));
    json_decref(answer);
    return id;
}

/* Runs until the job has ended. Standard output gets only the job's output. */
static int connect_terminal(struct call *call, struct connect **connect, json_int_t id,
                            enum interaction interaction)
{
    const char *job = arena_printf(&call->arena, "%" JSON_INTEGER_FORMAT, id);
    call->has_outcome = true;
    return terminal_run(call, connect, job, interaction);
}

static int wait_for_end(struct call *call, struct connect **connect, json_int_t id,
                        bool complains)
{
    struct err err;
    int status = 0;
    char job[32];
    snprintf(job, sizeof job, "%" JSON_INTEGER_FORMAT, id);
    if (job_outcome_wait(call, connect, job, &status, &err) != 0) {
        return call_fail_err(&err);
    }
    if (status != 0 && complains) {
        job_outcome_complain(job);
    }
    call->has_outcome = true;
    return status; /* the job's, as LSF's bsub -K */
}

/* Shows the position of an error in a requirement string below the site's sentence. */
static int refuse(struct call *call, const struct job_spec *spec,
                  const struct msg_reply *reply, const struct err *err)
{
    json_t *answer = json_loads(reply->json != NULL ? reply->json : "", 0, NULL);
    json_t *string = json_object_get(answer, "resreq");
    const char *hint = json_string_value(json_object_get(answer, "hint"));
    json_int_t index = json_integer_value(string);
    json_int_t at = json_integer_value(json_object_get(answer, "at"));
    int status = CALL_BAD_RESREQ;
    if (!json_is_integer(string) || hint == NULL) {
        status = call_fail_err(err);
    } else if (index >= 0 && index < spec->n_res_reqs && at >= 0 &&
               at <= (json_int_t)strlen(spec->res_reqs[index])) {
        fprintf(
            stderr, "%s\n%s\n", reply->text,
            resreq_error_pointer(&call->arena, spec->res_reqs[index], (int)at, hint));
    } else {
        fprintf(stderr, "%s\nin the queue's RES_REQ: %s\n", reply->text, hint);
    }
    json_decref(answer);
    return status;
}

static void show_warnings(const struct msg_reply *reply)
{
    size_t index;
    json_t *warning;
    json_t *answer = json_loads(reply->json != NULL ? reply->json : "", 0, NULL);
    json_array_foreach(json_object_get(answer, "warnings"), index, warning)
    {
        call_say("sub: warning: -R: %s", json_string_value(warning));
    }
    json_decref(answer);
}

/* What follows the submission: with -I the terminal, with -K the end of the job. */
static int follow(struct call *call, struct connect **connect, const struct msg *msg,
                  const struct msg_reply *reply, const struct cmd_submit_words *words)
{
    enum interaction interaction = msg->submit.spec.interaction;
    json_int_t id = id_of(reply->json);
    FILE *to = interaction != INTERACTION_NONE ? stderr : stdout;
    const char *sentence = words->announce(call, reply);
    if (sentence[0] != '\0') {
        fprintf(to, "%s\n", sentence);
    }
    int status = call_finish_output();
    if (status == CALL_OK && interaction != INTERACTION_NONE) {
        return connect_terminal(call, connect, id, interaction);
    }
    if (status == CALL_OK && call_has(call, "-K")) {
        fputs(words->waiting, stderr);
        status = wait_for_end(call, connect, id, words->complains);
        fputs(call->has_outcome ? words->finished : "", stderr);
    }
    return status;
}

int cmd_submit_as(struct call *call, struct msg *msg,
                  const struct cmd_submit_words *words)
{
    struct connect *connect = NULL;
    struct msg_reply reply;
    struct err err;
    int code, n_tries = 0, status = submit_options_read(call, &msg->submit);
    if (status != CALL_OK) {
        return status;
    }
    do {
        connect_free(connect);
        if (connect_new(call, &connect, &err) != 0) {
            return call_fail_err(&err);
        }
        code = connect_ask(connect, msg, &msg->submit.request, CONNECT_PATIENCE_MS,
                           &call->arena, &reply, &err);
    } while (code != 0 && words->retry != NULL &&
             words->retry(call, &reply, ++n_tries));
    if (code != 0) {
        status = refuse(call, &msg->submit.spec, &reply, &err);
    } else {
        show_warnings(&reply);
        status = follow(call, &connect, msg, &reply, words);
    }
    connect_free(connect);
    return status;
}

int cmd_submit_check(struct call *call)
{
    struct job_spec spec = {.n_res_reqs = 0};
    submit_options_requirements(call, &spec);
    return cmd_resreq_check(
        call, spec.res_reqs, spec.n_res_reqs,
        &(struct cmd_resreq_rules){.reading = RESREQ_READ_SELECT, .asks_site = true});
}

static const char *announce(struct call *call, const struct msg_reply *reply)
{
    return call_has(call, "--json") && reply->json != NULL ? reply->json : reply->text;
}

int cmd_submit_run(struct call *call)
{
    static const struct cmd_submit_words words = {announce, "", "", true, NULL};
    struct msg msg = {.kind = MSG_SUBMIT};
    if (getenv("BSUB_CHK_RESREQ") != NULL) {
        return cmd_submit_check(call) == CALL_OK ? CALL_OK : CALL_BAD_RESREQ;
    }
    int status = submit_options_command(call, &msg.submit.spec);
    return status != CALL_OK ? status : cmd_submit_as(call, &msg, &words);
}
