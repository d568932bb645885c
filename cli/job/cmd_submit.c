/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_submit.c: `sublet sub`: a job from options, command line and environment.
 *
 * The job gets the caller's environment, working directory and umask. Unsupported
 * options of bsub are refused, so that no job runs without a requested property.
 * Source: docs/design/interfaces.md "Command line"; LSF's bsub. */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/conf/conf.h"
#include "cli/cmd_resreq.h"
#include "cli/commands.h"
#include "cli/connect.h"
#include "cli/job/begin_time.h"
#include "cli/job/embedded_options.h"
#include "cli/job/job_env.h"
#include "cli/job_outcome.h"
#include "cli/terminal/terminal.h"
#include "model/job_rlimit.h"
#include "model/msg.h"

extern char **environ;

const struct call_option cmd_submit_options[] = {
    {"-q", "QUEUE", "the queue; else the site's default", false},
    {"-n", "MIN[,MAX]", "job slots; default: the queue's, or 1", false},
    {"-m", "HOSTS", "only these hosts: 'n1+2 group n1@north others', + prefers", false},
    {"-J", "NAME", "the job's name; 'name[1-10,15]%3' makes an array, 3 run at a time",
     false},
    {"-o", "FILE", "standard output; %J is the job's id, %I its index", false},
    {"-e", "FILE", "standard error; else with the output", false},
    {"-i", "FILE", "standard input", false},
    {"-cwd", "DIR", "working directory; else this one", false},
    {"-x", NULL, "hosts of its own: nothing else runs there", false},
    {"-r", NULL, "may be run again when its host is lost", false},
    {"-W", "[HOURS:]MINUTES", "run limit", false},
    {"-c", "[HOURS:]MINUTES", "limit on CPU time of all its processes", false},
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

/* ---- options */

/* "4", "2,8" */
static int read_slots(struct call *call, struct job_spec *spec, struct job_terms *terms)
{
    const char *value = call_value(call, "-n");
    const char *comma = value != NULL ? strchr(value, ',') : NULL;
    struct err err;
    int64_t n_slots = 1, max_slots = 0;
    if (comma != NULL) {
        if (conf_parse_int(comma + 1, 1, SLOTS_MAX, &max_slots, &err) != 0) {
            return call_misuse(call, "-n: %s", err.text);
        }
        value = arena_strn(&call->arena, value, (size_t)(comma - value));
    }
    if (value != NULL && conf_parse_int(value, 1, SLOTS_MAX, &n_slots, &err) != 0) {
        return call_misuse(call, "-n: %s", err.text);
    }
    if (comma != NULL && max_slots < n_slots) {
        return call_misuse(call, "-n: %d,%d: expected MIN,MAX", (int)n_slots,
                           (int)max_slots);
    }
    spec->n_slots = (int)n_slots;
    terms->max_slots = (int)max_slots;
    return CALL_OK;
}

/* "90", "1:30", or a number with a suffix. */
static int read_run_limit(const struct call *call, struct job_spec *spec)
{
    const char *value = call_value(call, "-W");
    struct err err;
    if (value == NULL) {
        return CALL_OK;
    }
    if (job_rlimit_parse_time(value, &spec->run_limit_ms, &err) != 0) {
        return call_misuse(call, "-W: %s", err.text);
    }
    if (spec->run_limit_ms <= 0) {
        return call_misuse(call, "-W: a run limit of 0, expected at least a minute");
    }
    return CALL_OK;
}

/* A size without a unit is marked as bare, since the site's unit applies. */
static int read_limits(struct call *call, struct msg_submit *submit)
{
    struct job_rlimits limits = job_rlimits_none();
    struct err err;
    for (int i = 0; i < JOB_RLIMITS; i++) {
        const char *option = job_rlimit_kinds[i].option;
        const char *value = option != NULL ? call_value(call, option) : NULL;
        bool is_bare = false;
        if (value != NULL && job_rlimit_parse((enum job_rlimit)i, value, 1,
                                              &limits.values[i], &is_bare, &err) != 0) {
            return call_misuse(call, "%s: %s", option, err.text);
        }
        submit->bare_limits |= is_bare ? UINT64_C(1) << i : 0;
    }
    submit->spec.n_limits =
        job_rlimits_write(&call->arena, &limits, &submit->spec.limits);
    return CALL_OK;
}

/* A pre-execution or post-execution command. */
static int read_command_around(struct call *call, const char *option,
                               const char *const **list, int *n_list)
{
    enum { BYTES_MAX = EXEC_BYTES_MAX / 2 };
    const char *value = call_value(call, option);
    if (value == NULL) {
        return CALL_OK;
    }
    if (value[strspn(value, " \t\r\n")] == '\0' || strlen(value) >= BYTES_MAX) {
        return call_misuse(call, "%s: expected a command of at most %d bytes", option,
                           BYTES_MAX - 1);
    }
    const char **commands = arena_alloc(&call->arena, 1, sizeof(*commands));
    commands[0] = value;
    *list = commands;
    *n_list = 1;
    return CALL_OK;
}

static int read_hosts(struct call *call, struct job_spec *spec)
{
    const char *value = call_value(call, "-m");
    struct conf_words words = conf_words(&call->arena, value);
    if (value != NULL && words.count == 0) {
        return call_misuse(call, "-m: no host, expected names as \"n1 n2@north\"");
    }
    spec->hosts_asked = words.words;
    spec->n_hosts_asked = words.count;
    return CALL_OK;
}

static int read_resizable(struct call *call, struct job_terms *terms)
{
    const char *command = call_text(call, "-rnc");
    if (call_has(call, "-rnc") && (command[strspn(command, " \t\r\n")] == '\0' ||
                                   strlen(command) > EXEC_BYTES_MAX)) {
        return call_misuse(call, "-rnc: expected a command of at most %d bytes",
                           EXEC_BYTES_MAX);
    }
    terms->resizable = call_has(call, "-ar") ? RESIZABLE_AUTO : RESIZABLE_NO;
    terms->resize_notify = command;
    return CALL_OK;
}

static void read_requirements(struct call *call, struct job_spec *spec)
{
    const char **strings =
        arena_alloc(&call->arena, (size_t)call->n_given + 1, sizeof(*strings));
    for (int i = 0; i < call->n_given; i++) {
        if (strcmp(call->given[i].option->name, "-R") == 0 &&
            call->given[i].value[0] != '\0') {
            strings[spec->n_res_reqs++] = call->given[i].value;
        }
    }
    spec->res_reqs = strings;
}

/* ---- surroundings */

static bool is_utf8(const char *text)
{
    json_t *probe = json_string(text);
    json_decref(probe);
    return probe != NULL;
}

static int read_environment(struct call *call, struct job_spec *spec)
{
    const char *list = call_value(call, "-env");
    static char *const nothing[] = {NULL};
    size_t bytes = 0;
    int count, n_env = 0;
    const char **env;
    struct err err;
    if (job_env_select(&call->arena, list != NULL ? list : "all",
                       environ != NULL ? environ : nothing, &env, &count, &err) != 0) {
        return call_misuse(call, "-env: %s", err.text);
    }
    for (int i = 0; i < count; i++) {
        if (!is_utf8(env[i])) {
            call_say("sub: variable %.*s is not UTF-8 and stays here",
                     (int)strcspn(env[i], "="), env[i]);
            continue;
        }
        bytes += strlen(env[i]) + 1;
        env[n_env++] = env[i];
    }
    if (n_env > ENV_MAX || bytes > ENV_BYTES_MAX) {
        return call_fail("sub: the environment has %d variables in %zu bytes, at most "
                         "%d in %d go along; unset some (or name them with -env); no "
                         "job was submitted",
                         n_env, bytes, ENV_MAX, ENV_BYTES_MAX);
    }
    spec->env = env;
    spec->n_env = n_env;
    return CALL_OK;
}

static int read_directory(struct call *call, struct job_spec *spec)
{
    const char *asked = call_value(call, "-cwd");
    char *here = getcwd(NULL, 0);
    if (asked != NULL && asked[0] == '/') {
        spec->cwd = asked;
    } else if (here == NULL) {
        return call_fail("sub: this directory has no name: %s; give -cwd DIR",
                         strerror(errno));
    } else {
        spec->cwd = asked != NULL ? arena_printf(&call->arena, "%s/%s", here, asked)
                                  : arena_str(&call->arena, here);
    }
    free(here);
    return CALL_OK;
}

static void read_umask(struct job_spec *spec)
{
    mode_t mask = umask(0);
    umask(mask);
    spec->umask = (int64_t)mask;
}

/* -I, -Ip, -Is: the last one applies. */
static int read_interaction(struct call *call, struct job_spec *spec)
{
    static const struct {
        const char *option;
        enum interaction interaction;
    } kinds[] = {{"-I", INTERACTION_PIPES},
                 {"-Ip", INTERACTION_PTY},
                 {"-Is", INTERACTION_SHELL}};
    for (int i = 0; i < call->n_given; i++) {
        for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
            if (strcmp(call->given[i].option->name, kinds[k].option) == 0) {
                spec->interaction = kinds[k].interaction;
            }
        }
    }
    if (spec->interaction != INTERACTION_NONE && call_has(call, "-K")) {
        return call_misuse(call, "-K waits for a job that is not interactive, expected "
                                 "it without -I");
    }
    return CALL_OK;
}

/* ---- the command */

/* A script on standard input, as bsub takes it. */
static int read_script(struct call *call, struct job_spec *spec)
{
    char *text = arena_alloc(&call->arena, COMMAND_MAX + 1, 1);
    size_t length;
    if (isatty(STDIN_FILENO)) {
        call_say("sub: reading the job's script from the terminal, Ctrl-D ends it");
    }
    length = fread(text, 1, COMMAND_MAX + 1, stdin);
    if (ferror(stdin)) {
        return call_fail("sub: standard input cannot be read: %s", strerror(errno));
    }
    if (length > COMMAND_MAX) {
        return call_fail("sub: the script is larger than %d bytes; put it into a file "
                         "and submit its name",
                         COMMAND_MAX);
    }
    if (strlen(text) != length) {
        return call_fail("sub: the script holds a NUL byte: not a shell script");
    }
    if (text[strspn(text, " \t\r\n")] == '\0') {
        return call_misuse(call, "no command: expected it on the line or on standard "
                                 "input");
    }
    spec->command = text;
    return embedded_options_read(call, text);
}

static int read_command(struct call *call, struct job_spec *spec)
{
    const char *text = "";
    if (call->n_operands == 0) {
        return read_script(call, spec);
    }
    for (int i = 0; i < call->n_operands; i++) {
        text = arena_printf(&call->arena, "%s%s%s", text, i > 0 ? " " : "",
                            call->operands[i]);
    }
    if (strlen(text) > COMMAND_MAX) {
        return call_fail("sub: the command is larger than %d bytes; put it into a file",
                         COMMAND_MAX);
    }
    if (text[strspn(text, " \t\r\n")] == '\0') {
        return call_misuse(call, "the command is empty");
    }
    spec->command = text;
    return CALL_OK;
}

static int read_terms(struct call *call, struct job_terms *terms)
{
    const char *begin = call_value(call, "-b"), *priority = call_value(call, "-sp");
    struct err err;
    terms->depend = call_text(call, "-w");
    terms->depend_on = "";
    terms->project = call_text(call, "-P");
    terms->user_group = call_text(call, "-G");
    if (call_has(call, "-G") && terms->user_group[0] == '\0') {
        return call_misuse(call, "-G: no group, expected one of section UserGroup");
    }
    terms->has_slots = call_has(call, "-n");
    if (strlen(terms->depend) > TEXT_MAX || strlen(terms->project) >= NAME_SIZE ||
        strlen(terms->user_group) >= NAME_SIZE) {
        return call_misuse(call,
                           "-w, -P or -G is too long, expected at most %d, %d and %d "
                           "bytes",
                           TEXT_MAX, NAME_SIZE - 1, NAME_SIZE - 1);
    }
    if (begin != NULL &&
        begin_time_read(begin, time(NULL), &terms->begin_ms, &err) != 0) {
        return call_misuse(call, "-b: %s", err.text);
    }
    if (priority != NULL &&
        conf_parse_int(priority, 1, INT32_MAX / 2, &terms->priority, &err) != 0) {
        return call_misuse(call, "-sp: %s", err.text);
    }
    return CALL_OK;
}

/* The options about its execution. */
static int read_around(struct call *call, struct msg_submit *submit)
{
    struct job_spec *spec = &submit->spec;
    spec->app = call_text(call, "-app");
    if (strlen(spec->app) >= NAME_SIZE) {
        return call_misuse(call,
                           "-app: the name is too long, expected at most %d bytes",
                           NAME_SIZE - 1);
    }
    int status = read_limits(call, submit);
    if (status == CALL_OK) {
        status = read_command_around(call, "-E", &spec->pre_execs, &spec->n_pre_execs);
    }
    return status != CALL_OK ? status
                             : read_command_around(call, "-Ep", &spec->post_execs,
                                                   &spec->n_post_execs);
}

/* Reads the command first, since a script may have embedded options. */
static int read_spec(struct call *call, struct msg_submit *submit)
{
    struct job_spec *spec = &submit->spec;
    struct job_terms *terms = &submit->terms;
    int status = read_command(call, spec);
    if (status == CALL_OK) {
        status = read_slots(call, spec, terms);
    }
    if (status == CALL_OK) {
        status = read_terms(call, terms);
    }
    if (status == CALL_OK) {
        status = read_resizable(call, terms);
    }
    spec->user = "";
    spec->name = call_text(call, "-J"); /* "a[1-10]": the site checks the list */
    spec->queue = call_text(call, "-q");
    spec->in_file = call_text(call, "-i");
    spec->out_file = call_text(call, "-o");
    spec->err_file = call_text(call, "-e");
    spec->is_rerunnable = call_has(call, "-r");
    spec->is_exclusive = call_has(call, "-x");
    read_umask(spec);
    read_requirements(call, spec);
    if (status == CALL_OK) {
        status = read_interaction(call, spec);
    }
    if (status == CALL_OK) {
        status = read_run_limit(call, spec);
    }
    if (status == CALL_OK) {
        status = read_around(call, submit);
    }
    if (status == CALL_OK) {
        status = read_hosts(call, spec);
    }
    if (status == CALL_OK) {
        status = read_directory(call, spec);
    }
    if (status == CALL_OK) {
        status = read_environment(call, spec);
    }
    return status;
}

/* ---- */

/* The id in {"job":12}; 0 if there is none. */
static json_int_t id_of(const char *text)
{
    json_t *answer = json_loads(text != NULL ? text : "", 0, NULL);
    json_int_t id = json_integer_value(json_object_get(answer, "job"));
    json_decref(answer);
    return id;
}

/* Runs until the job has ended. Standard output gets only the job's output. */
static int connect_terminal(struct call *call, struct connect **connect,
                            const struct msg_reply *reply, enum interaction interaction)
{
    fprintf(stderr, "%s\n",
            call_has(call, "--json") && reply->json != NULL ? reply->json
                                                            : reply->text);
    const char *job =
        arena_printf(&call->arena, "%" JSON_INTEGER_FORMAT, id_of(reply->json));
    return terminal_run(call, connect, job, interaction);
}

static int wait_for_end(struct call *call, struct connect **connect, json_int_t id)
{
    struct err err;
    int status = 0;
    char job[32];
    snprintf(job, sizeof job, "%" JSON_INTEGER_FORMAT, id);
    if (job_outcome_wait(call, connect, job, &status, &err) != 0) {
        return call_fail_err(&err);
    }
    if (status != 0) {
        job_outcome_complain(job);
    }
    return status; /* the job's, as LSF's bsub -K */
}

/* BSUB_CHK_RESREQ: strictly checks the selection without submitting a job, by the names
 * that the site defines if it answers. */
static int check_requirements(struct call *call)
{
    struct job_spec spec = {.n_res_reqs = 0};
    read_requirements(call, &spec);
    return cmd_resreq_check(
        call, spec.res_reqs, spec.n_res_reqs,
        &(struct cmd_resreq_rules){.reading = RESREQ_READ_SELECT, .asks_site = true});
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

int cmd_submit_run(struct call *call)
{
    struct msg msg = {.kind = MSG_SUBMIT};
    struct connect *connect;
    struct msg_reply reply;
    struct err err;
    if (getenv("BSUB_CHK_RESREQ") != NULL) {
        return check_requirements(call) == CALL_OK ? CALL_OK : CALL_BAD_RESREQ;
    }
    int status = read_spec(call, &msg.submit);
    if (status != CALL_OK) {
        return status;
    }
    if (connect_new(call, &connect, &err) != 0) {
        return call_fail_err(&err);
    }
    if (connect_ask(connect, &msg, &msg.submit.request, CONNECT_PATIENCE_MS,
                    &call->arena, &reply, &err) != 0) {
        status = refuse(call, &msg.submit.spec, &reply, &err);
        connect_free(connect);
        return status;
    }
    show_warnings(&reply);
    if (msg.submit.spec.interaction != INTERACTION_NONE) {
        status = connect_terminal(call, &connect, &reply, msg.submit.spec.interaction);
        connect_free(connect);
        return status;
    }
    puts(call_has(call, "--json") && reply.json != NULL ? reply.json : reply.text);
    status = call_finish_output();
    if (status == CALL_OK && call_has(call, "-K")) {
        status = wait_for_end(call, &connect, id_of(reply.json));
    }
    connect_free(connect);
    return status;
}
