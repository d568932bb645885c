/* SPDX-License-Identifier: Apache-2.0 */
/* submit_options.c: see submit_options.h.
 *
 * The job gets the caller's environment, working directory and umask. */
#include "cli/submit_options.h"

#include <errno.h>
#include <jansson.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/conf/conf.h"
#include "cli/begin_time.h"
#include "cli/job/embedded_options.h"
#include "cli/job/job_env.h"
#include "model/job_control.h"
#include "model/job_rlimit.h"

extern char **environ;

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

/* "90", "1:30", a number with a suffix, or "90/EPYC7". */
static int read_run_limit(const struct call *call, struct job_spec *spec,
                          struct job_terms *terms)
{
    const char *value = call_value(call, "-W");
    struct err err;
    if (value == NULL) {
        return CALL_OK;
    }
    if (job_rlimit_parse_host_time(value, &spec->run_limit_ms, &err) != 0) {
        return call_misuse(call, "-W: %s", err.text);
    }
    terms->run_limit_host = job_rlimit_host(value);
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
        if (value != NULL && i == JOB_RLIMIT_CPU) {
            limits.cpu_host = job_rlimit_host(value);
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

char **submit_options_words(struct arena *arena, const char *line)
{
    return embedded_options_words(arena, line);
}

void submit_options_requirements(struct call *call, struct job_spec *spec)
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

/* LS_SUBCWD and LSB_SUB_HOST, the directory and the host of the submission, and
 * LSB_OUTDIR, in place of those of a job that submits another one. */
static const char **with_origin(struct call *call, const char *directory,
                                const char **env, int *count)
{
    char host[HOST_NAME_SIZE] = "";
    char *here = getcwd(NULL, 0);
    const char **all = arena_alloc(&call->arena, (size_t)*count + 3, sizeof(*all));
    int n_all = 0;
    for (int i = 0; i < *count; i++) {
        if (strncmp(env[i], "LS_SUBCWD=", 10) != 0 &&
            strncmp(env[i], "LSB_OUTDIR=", 11) != 0 &&
            strncmp(env[i], "LSB_SUB_HOST=", 13) != 0) {
            all[n_all++] = env[i];
        }
    }
    if (here != NULL) {
        all[n_all++] = arena_printf(&call->arena, "LS_SUBCWD=%s", here);
    }
    if (gethostname(host, sizeof(host) - 1) == 0) {
        all[n_all++] = arena_printf(&call->arena, "LSB_SUB_HOST=%s", host);
    }
    if (directory != NULL) {
        all[n_all++] = arena_printf(&call->arena, "LSB_OUTDIR=%s", directory);
    }
    free(here);
    *count = n_all;
    return all;
}

static int read_environment(struct call *call, const char *directory,
                            struct job_spec *spec)
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
    env = with_origin(call, directory, env, &count);
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

int submit_options_command(struct call *call, struct job_spec *spec)
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

/* The option, else the variable of the environment; "": neither. */
static const char *text_or_variable(const struct call *call, const char *option,
                                    const char *variable)
{
    const char *value = call_has(call, option) ? NULL : getenv(variable);
    return value != NULL ? value : call_text(call, option);
}

static int read_terms(struct call *call, struct job_terms *terms)
{
    const char *begin = call_value(call, "-b"), *priority = call_value(call, "-sp");
    const char *terminate = call_value(call, "-t");
    struct err err;
    terms->depend = call_text(call, "-w");
    terms->depend_on = "";
    terms->project = text_or_variable(call, "-P", "LSB_DEFAULTPROJECT");
    terms->job_group = text_or_variable(call, "-g", "LSB_DEFAULT_JOBGROUP");
    terms->user_group = call_text(call, "-G");
    if (call_has(call, "-G") && terms->user_group[0] == '\0') {
        return call_misuse(call, "-G: no group, expected one of section UserGroup");
    }
    terms->has_slots = call_has(call, "-n");
    terms->description = call_text(call, "-Jd");
    if (strlen(terms->description) > TEXT_MAX) {
        return call_misuse(call, "-Jd: expected a description of at most %d bytes",
                           TEXT_MAX);
    }
    if (strlen(terms->depend) > TEXT_MAX || strlen(terms->project) >= NAME_SIZE ||
        strlen(terms->user_group) >= NAME_SIZE) {
        return call_misuse(call,
                           "-w, -P or -G is too long, expected at most %d, %d and %d "
                           "bytes",
                           TEXT_MAX, NAME_SIZE - 1, NAME_SIZE - 1);
    }
    if (strlen(terms->job_group) >= JOB_GROUP_SIZE) {
        return call_misuse(call, "-g is too long, expected at most %d bytes",
                           JOB_GROUP_SIZE - 1);
    }
    if (begin != NULL &&
        begin_time_read(begin, time(NULL), &terms->begin_ms, &err) != 0) {
        return call_misuse(call, "-b: %s", err.text);
    }
    if (terminate != NULL &&
        begin_time_read(terminate, time(NULL), &terms->terminate_ms, &err) != 0) {
        return call_misuse(call, "-t: %s", err.text);
    }
    terms->ends_orphan = call_has(call, "-ti");
    terms->requeue_codes = call_text(call, "-Q");
    if (strlen(terms->requeue_codes) > TEXT_MAX) {
        return call_misuse(call, "-Q: expected exit codes of at most %d bytes",
                           TEXT_MAX);
    }
    if (priority != NULL &&
        conf_parse_int(priority, 1, INT32_MAX / 2, &terms->priority, &err) != 0) {
        return call_misuse(call, "-sp: %s", err.text);
    }
    return CALL_OK;
}

/* -wa: a signal. -wt is one of the limits. */
static int read_warning(struct call *call, struct job_spec *spec)
{
    const char *signal = call_value(call, "-wa");
    if (signal == NULL) {
        return CALL_OK;
    }
    if (job_control_signal(signal) == 0) {
        return call_misuse(call, "-wa: no signal '%s', expected a name such as URG",
                           signal);
    }
    const char **controls = arena_alloc(&call->arena, 1, sizeof(*controls));
    controls[0] =
        arena_printf(&call->arena, "%s=%s", job_control_name(JOB_CONTROL_WARN), signal);
    spec->controls = controls;
    spec->n_controls = 1;
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
        status = read_warning(call, spec);
    }
    if (status == CALL_OK) {
        status = read_command_around(call, "-E", &spec->pre_execs, &spec->n_pre_execs);
    }
    return status != CALL_OK ? status
                             : read_command_around(call, "-Ep", &spec->post_execs,
                                                   &spec->n_post_execs);
}

/* The last one applies. */
static const char *read_output(const struct call *call, const char *append,
                               const char *replace, bool *replaces)
{
    const char *file = "";
    for (int i = 0; i < call->n_given; i++) {
        const char *name = call->given[i].option->name;
        if (strcmp(name, append) == 0 || strcmp(name, replace) == 0) {
            file = call->given[i].value;
            *replaces = strcmp(name, replace) == 0;
        }
    }
    return file;
}

/* "%U" and "%P", the user and the project; %J and %I are known at the start. NULL,
 * after a sentence, for others. */
static const char *fill_directory(struct call *call, const char *from)
{
    const char *text = "";
    const struct passwd *self = getpwuid(getuid());
    while (*from != '\0') {
        size_t length = strcspn(from, "%");
        char kind = from[length] == '%' ? from[length + 1] : '\0';
        const char *value = kind == 'J'   ? "%J"
                            : kind == 'I' ? "%I"
                            : kind == 'U' ? (self != NULL ? self->pw_name : "")
                            : kind == 'P'
                                ? text_or_variable(call, "-P", "LSB_DEFAULTPROJECT")
                                : NULL;
        if (from[length] == '%' && value == NULL) {
            call_misuse(call, "-outdir: %%%c: expected %%J, %%I, %%U or %%P",
                        kind != '\0' ? kind : ' ');
            return NULL;
        }
        text = arena_printf(&call->arena, "%s%.*s%s", text, (int)length, from,
                            value != NULL ? value : "");
        from += length + (value != NULL ? 2 : 0);
    }
    return text;
}

/* -outdir: relative files of -o and -e are in it. It is made before the job begins. */
static int read_output_directory(struct call *call, struct job_spec *spec,
                                 const char **directory)
{
    const char *asked = call_value(call, "-outdir");
    const char **files[] = {&spec->out_file, &spec->err_file};
    *directory = NULL;
    if (asked == NULL) {
        return CALL_OK;
    }
    asked = fill_directory(call, asked);
    if (asked == NULL || asked[0] == '\0') {
        return asked == NULL ? CALL_MISUSED
                             : call_misuse(call, "-outdir: no directory");
    }
    *directory =
        asked[0] == '/' ? asked : arena_printf(&call->arena, "%s/%s", spec->cwd, asked);
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        if ((*files[i])[0] != '\0' && (*files[i])[0] != '/') {
            *files[i] = arena_printf(&call->arena, "%s/%s", *directory, *files[i]);
        }
    }
    return CALL_OK;
}

int submit_options_read(struct call *call, struct msg_submit *submit)
{
    struct job_spec *spec = &submit->spec;
    struct job_terms *terms = &submit->terms;
    const char *directory = NULL;
    int status = read_slots(call, spec, terms);
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
    spec->out_file = read_output(call, "-o", "-oo", &spec->replaces_out);
    spec->err_file = read_output(call, "-e", "-eo", &spec->replaces_err);
    spec->report_ms = call_has(call, "-report") ? (int64_t)time(NULL) * 1000 : 0;
    submit->is_held = call_has(call, "-H");
    spec->is_rerunnable = call_has(call, "-r");
    spec->is_exclusive = call_has(call, "-x");
    read_umask(spec);
    submit_options_requirements(call, spec);
    if (status == CALL_OK) {
        status = read_interaction(call, spec);
    }
    if (status == CALL_OK) {
        status = read_run_limit(call, spec, terms);
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
        status = read_output_directory(call, spec, &directory);
    }
    if (status == CALL_OK) {
        status = read_environment(call, directory, spec);
    }
    return status;
}
