/* SPDX-License-Identifier: Apache-2.0 */
/* lsf_esub.c: esub, the programs of a site that check and change submissions.
 *
 * The options are written to a file as NAME="value", one on each line, and the program
 * writes to another file what it changes. A value SUB_RESET takes an option away. The
 * next program sees what the one before has changed.
 *
 * Source: LSF's "External job submission and execution controls". */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/begin_time.h"
#include "cli/lsf/lsf.h"
#include "model/job_rlimit.h"

enum {
    ABORT_VALUE = 97, /* LSB_SUB_ABORT_VALUE */
    PROGRAMS_MAX = 64,
    PATH_SIZE = 4096,
};

#define RESET "SUB_RESET"

enum kind {
    AS_TEXT,
    AS_FLAG,    /* Y */
    AS_SECONDS, /* of [HOURS:]MINUTES[/HOST] */
    AS_KIB,     /* of a size */
    AS_INSTANT, /* seconds since 1970, of [[[YEAR:]MONTH:]DAY:]HOUR:MINUTE */
    AS_LEAST,   /* of -n MIN[,MAX] ... */
    AS_MOST,
    AS_HOST, /* of a limit; it is told, and not changed */
};

/* Of several rows of one name, the option that was given counts, else the last one. */
static const struct parameter {
    const char *name, *option;
    enum kind kind;
} parameters[] = {
    {"LSB_SUB_JOB_NAME", "-J", AS_TEXT},
    {"LSB_SUB_QUEUE", "-q", AS_TEXT},
    {"LSB_SUB_NUM_PROCESSORS", "-n", AS_LEAST},
    {"LSB_SUB_MAX_NUM_PROCESSORS", "-n", AS_MOST},
    {"LSB_SUB_HOSTS", "-m", AS_TEXT},
    {"LSB_SUB_RES_REQ", "-R", AS_TEXT},
    {"LSB_SUB_OUT_FILE", "-oo", AS_TEXT},
    {"LSB_SUB_OUT_FILE", "-o", AS_TEXT},
    {"LSB_SUB_ERR_FILE", "-eo", AS_TEXT},
    {"LSB_SUB_ERR_FILE", "-e", AS_TEXT},
    {"LSB_SUB_IN_FILE", "-is", AS_TEXT},
    {"LSB_SUB_IN_FILE", "-i", AS_TEXT},
    {"LSB_SUB_EXCLUSIVE", "-x", AS_FLAG},
    {"LSB_SUB_RERUNNABLE", "-r", AS_FLAG},
    {"LSB_SUB_HOLD", "-H", AS_FLAG},
    {"LSB_SUB_INTERACTIVE", "-I", AS_FLAG},
    {"LSB_SUB_PTY", "-Ip", AS_FLAG},
    {"LSB_SUB_PTY_SHELL", "-Is", AS_FLAG},
    {"LSB_SUB_NOTIFY_BEGIN", "-B", AS_FLAG},
    {"LSB_SUB_NOTIFY_END", "-N", AS_FLAG},
    {"LSB_SUB_MAIL_USER", "-u", AS_TEXT},
    {"LSB_SUB_PRE_EXEC", "-E", AS_TEXT},
    {"LSB_SUB3_POST_EXEC", "-Ep", AS_TEXT},
    {"LSB_SUB_DEPEND_COND", "-w", AS_TEXT},
    {"LSB_SUB_BEGIN_TIME", "-b", AS_INSTANT},
    {"LSB_SUB_TERM_TIME", "-t", AS_INSTANT},
    {"LSB_SUB_PROJECT_NAME", "-P", AS_TEXT},
    {"LSB_SUB_USER_GROUP", "-G", AS_TEXT},
    {"LSB_SUB2_JOB_GROUP", "-g", AS_TEXT},
    {"LSB_SUB2_JOB_PRIORITY", "-sp", AS_TEXT},
    {"LSB_SUB3_APP", "-app", AS_TEXT},
    {"LSB_SUB3_CWD", "-cwd", AS_TEXT},
    {"LSB_SUB3_JOB_REQUEUE", "-Q", AS_TEXT},
    {"LSB_SUB_JOB_WARNING_ACTION", "-wa", AS_TEXT},
    {"LSB_SUB_JOB_ACTION_WARNING_TIME", "-wt", AS_SECONDS},
    {"LSB_SUB_RLIMIT_RUN", "-W", AS_SECONDS},
    {"LSB_SUB_RLIMIT_CPU", "-c", AS_SECONDS},
    {"LSB_SUB_HOST_SPEC", "-c", AS_HOST},
    {"LSB_SUB_HOST_SPEC", "-W", AS_HOST},
    {"LSB_SUB_RLIMIT_RSS", "-M", AS_KIB},
    {"LSB_SUB_RLIMIT_SWAP", "-v", AS_KIB},
    {"LSB_SUB_RLIMIT_FSIZE", "-F", AS_KIB},
    {"LSB_SUB_RLIMIT_DATA", "-D", AS_KIB},
    {"LSB_SUB_RLIMIT_STACK", "-S", AS_KIB},
    {"LSB_SUB_RLIMIT_CORE", "-C", AS_KIB},
    {"LSB_SUB_RLIMIT_PROCESS", "-p", AS_TEXT},
    {"LSB_SUB_RLIMIT_THREAD", "-T", AS_TEXT},
};

enum { PARAMETERS = sizeof(parameters) / sizeof(parameters[0]) };

static const char command_line[] = "LSB_SUB_COMMAND_LINE";
static const char additional[] = "LSB_SUB_ADDITIONAL";

/* ---- what the program reads */

/* A shell that sources the file gets the value as it is. */
static void write_value(FILE *file, const char *name, const char *value)
{
    fprintf(file, "%s=\"", name);
    for (const char *at = value; *at != '\0'; at++) {
        if (strchr("\"\\$`", *at) != NULL) {
            fputc('\\', file);
        }
        fputc(*at, file);
    }
    fputs("\"\n", file);
}

static void write_instant(FILE *file, const char *name, const char *text)
{
    int64_t at_ms;
    if (begin_time_read(text, time(NULL), &at_ms, NULL) == 0) {
        fprintf(file, "%s=%lld\n", name, (long long)(at_ms / 1000));
    }
}

/* Several -R, as they were given. */
static const char *join(struct call *call, const char *option)
{
    const char *text = "";
    for (int i = 0; i < call->n_given; i++) {
        const struct call_given *given = &call->given[i];
        if (strcmp(given->option->name, option) == 0) {
            text = arena_printf(&call->arena, "%s%s%s", text,
                                text[0] != '\0' ? " " : "", given->value);
        }
    }
    return text;
}

/* A value that cannot be read is told as it is: the submission will refuse it. */
static void write_parameter(FILE *file, struct call *call, const struct parameter *at)
{
    const char *text = call_text(call, at->option), *comma = strchr(text, ',');
    int64_t number;
    bool is_bare;
    switch (at->kind) {
    case AS_FLAG:
        fprintf(file, "%s=Y\n", at->name);
        return;
    case AS_SECONDS:
        if (job_rlimit_parse_host_time(text, &number, NULL) == 0) {
            fprintf(file, "%s=%lld\n", at->name, (long long)(number / 1000));
        }
        return;
    case AS_KIB:
        if (job_rlimit_parse(JOB_RLIMIT_MEM, text, 1, &number, &is_bare, NULL) == 0) {
            fprintf(file, "%s=%lld\n", at->name, (long long)number);
        }
        return;
    case AS_INSTANT:
        write_instant(file, at->name, text);
        return;
    case AS_LEAST:
        fprintf(file, "%s=%.*s\n", at->name, (int)strcspn(text, ","), text);
        return;
    case AS_MOST:
        fprintf(file, "%s=%s\n", at->name, comma != NULL ? comma + 1 : text);
        return;
    case AS_HOST:
        if (job_rlimit_host(text)[0] != '\0') {
            write_value(file, at->name, job_rlimit_host(text));
        }
        return;
    case AS_TEXT:
        break;
    }
    write_value(file, at->name, join(call, at->option));
}

static bool write_parameters(struct call *call, const char *command, const char *path)
{
    FILE *file = fopen(path, "we");
    if (file == NULL) {
        return false;
    }
    for (int i = 0; i < PARAMETERS; i++) {
        if (call_has(call, parameters[i].option)) {
            write_parameter(file, call, &parameters[i]);
        }
    }
    if (call_has(call, "-a")) {
        write_value(file, additional, call_text(call, "-a"));
    }
    if (command != NULL && strchr(command, '\n') == NULL) { /* a script is no line */
        write_value(file, command_line, command);
    }
    return fclose(file) == 0;
}

/* ---- what it changes */

static void take_away(struct call *call, const char *option)
{
    int n_kept = 0;
    for (int i = 0; i < call->n_given; i++) {
        if (strcmp(call->given[i].option->name, option) != 0) {
            call->given[n_kept++] = call->given[i];
        }
    }
    call->n_given = n_kept;
}

static const char *instant_text(struct call *call, const char *value)
{
    time_t at = (time_t)strtoll(value, NULL, 10);
    struct tm tm;
    localtime_r(&at, &tm);
    return arena_printf(&call->arena, "%d:%d:%d:%d:%d", tm.tm_year + 1900,
                        tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min);
}

/* The option's value; NULL: not one of that kind. */
static const char *option_value(struct call *call, const struct parameter *at,
                                const char *value)
{
    const char *old = call_text(call, at->option);
    bool is_number = value[0] != '\0' && strspn(value, "0123456789") == strlen(value);
    const char *comma = strchr(old, ','), *host = strchr(old, '/');
    switch (at->kind) {
    case AS_TEXT:
        return value;
    case AS_FLAG:
        return strcmp(value, "Y") == 0 ? "" : NULL;
    case AS_SECONDS:
        return !is_number ? NULL
                          : arena_printf(&call->arena, "%ss%s", value,
                                         host != NULL ? host : "");
    case AS_KIB:
        return !is_number ? NULL : arena_printf(&call->arena, "%sKB", value);
    case AS_INSTANT:
        return is_number ? instant_text(call, value) : NULL;
    case AS_LEAST:
        return !is_number ? NULL
                          : arena_printf(&call->arena, "%s%s", value,
                                         comma != NULL ? comma : "");
    case AS_MOST:
        return !is_number ? NULL
                          : arena_printf(&call->arena, "%.*s,%s",
                                         old[0] != '\0' ? (int)strcspn(old, ",") : 1,
                                         old[0] != '\0' ? old : "1", value);
    case AS_HOST:
        break;
    }
    return NULL;
}

static const struct parameter *find(const struct call *call, const char *name)
{
    const struct parameter *found = NULL;
    for (int i = 0; i < PARAMETERS; i++) {
        if (strcmp(parameters[i].name, name) == 0) {
            found = &parameters[i];
            if (call_has(call, found->option)) {
                return found;
            }
        }
    }
    return found;
}

/* 0, or LSF_FAILED after a sentence. */
static int change(struct call *call, const char *program, const char *name,
                  const char *value, const char **command)
{
    const struct parameter *at = find(call, name);
    if (strcmp(name, command_line) == 0 && command != NULL) {
        *command = value;
        return 0;
    }
    if (at == NULL || at->kind == AS_HOST) {
        call_say("%s: %s: %s is not supported, and nothing was changed by it",
                 call->command->name, program, name);
        return 0;
    }
    if (strcmp(value, RESET) == 0) {
        take_away(call, at->option);
        return 0;
    }
    const char *changed = option_value(call, at, value);
    if (changed == NULL) {
        call_fail("%s: %s: %s=%.40s: expected %s or " RESET, call->command->name,
                  program, name, value, at->kind == AS_FLAG ? "Y" : "a number");
        return LSF_FAILED;
    }
    take_away(call, at->option);
    lsf_line_add(call, at->option, changed);
    return 0;
}

/* Cuts NAME="value" into both. False: it is something else. */
static bool read_line(char *line, char **value)
{
    char *equals = strchr(line, '='), *to;
    if (equals == NULL) {
        return false;
    }
    *equals = '\0';
    *value = to = equals + 1;
    char quote = *to == '"' || *to == '\'' ? *to : '\0';
    for (char *from = to + (quote != '\0'); *from != '\0' && *from != quote; from++) {
        from += quote == '"' && *from == '\\' && from[1] != '\0';
        *to++ = *from;
    }
    *to = '\0';
    return line[0] != '\0' && line[strcspn(line, " \t")] == '\0';
}

/* 0, or LSF_FAILED after a sentence. `command` NULL: they are variables of the job. */
static int read_changes(struct call *call, const char *program, const char *path,
                        bool is_environment, const char **command)
{
    FILE *file = fopen(path, "re");
    char *line = NULL, *value;
    size_t room = 0;
    int code = 0;
    while (file != NULL && code == 0 && getline(&line, &room, file) >= 0) {
        char *text = line + strspn(line, " \t");
        text[strcspn(text, "\n")] = '\0';
        if (text[0] == '\0' || text[0] == '#') {
            continue;
        }
        text = arena_str(&call->arena, text);
        if (!read_line(text, &value)) {
            call_fail("%s: %s: expected NAME=\"value\" and no \"%.40s\"",
                      call->command->name, program, text);
            code = LSF_FAILED;
        } else if (is_environment) {
            setenv(text, value, 1);
        } else {
            code = change(call, program, text, value, command);
        }
    }
    free(line);
    if (file != NULL) {
        fclose(file);
    }
    return code;
}

/* ---- the programs */

struct esub {
    const char *name; /* "esub" or "esub.fluent" */
    char *argv[PROGRAMS_MAX];
};

static bool is_name(const char *text, size_t length)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    return length > 0 && strspn(text, letters) >= length &&
           (length != 4 || strncmp(text, "user", 4) != 0);
}

/* "fluent(5, new)": arguments in brackets, separated by commas. Returns what follows,
 * or NULL if it is no such text. */
static const char *read_one(struct call *call, const char *text, struct esub *esub)
{
    size_t length = strcspn(text, " \t(");
    int n_args = 1;
    if (!is_name(text, length)) {
        return NULL;
    }
    *esub = (struct esub){
        .name = arena_printf(&call->arena, "esub.%.*s", (int)length, text)};
    text += length;
    text += strspn(text, " \t");
    if (*text != '(') {
        return text;
    }
    do {
        text++;
        text += strspn(text, " \t");
        length = strcspn(text, ",)");
        if (text[length] == '\0' || n_args + 1 >= PROGRAMS_MAX) {
            return NULL;
        }
        esub->argv[n_args++] = arena_strn(&call->arena, text, length);
        text += length;
    } while (*text == ',');
    text++;
    return text + strspn(text, " \t");
}

/* Returns the number of programs, or -1 after a sentence. */
static int read_names(struct call *call, const char *from, const char *text,
                      struct esub *esubs, int count)
{
    const char *at = text + strspn(text, " \t");
    while (at != NULL && *at != '\0' && count < PROGRAMS_MAX) {
        at = read_one(call, at, &esubs[count]);
        count += at != NULL;
    }
    if (at == NULL || *at != '\0') {
        call_fail("%s: %s: \"%s\": expected names of letters, digits, _ and -, with "
                  "arguments as NAME(ARGUMENT,...), and not \"user\"",
                  call->command->name, from, text);
        return -1;
    }
    return count;
}

static void run_child(const char *path, struct esub *esub)
{
    int null = open("/dev/null", O_WRONLY);
    if (null >= 0) {
        dup2(null, STDOUT_FILENO); /* LSF gives that to eexec */
    }
    esub->argv[0] = (char *)(uintptr_t)path;
    execv(path, esub->argv);
    fprintf(stderr, "%s: %s\n", path, strerror(errno));
    _exit(ABORT_VALUE);
}

/* 0, or LSF_FAILED after a sentence. */
static int run_one(struct call *call, const char *path, struct esub *esub,
                   const char *directory, const char **command)
{
    const char *parameters_path = arena_printf(&call->arena, "%s/parm", directory);
    const char *changes_path = arena_printf(&call->arena, "%s/modify", directory);
    const char *variables_path = arena_printf(&call->arena, "%s/env", directory);
    int status = 0;
    unlink(changes_path);
    unlink(variables_path);
    if (!write_parameters(call, command != NULL ? *command : NULL, parameters_path)) {
        call_fail("%s: %s: %s. Job not submitted.", call->command->name,
                  parameters_path, strerror(errno));
        return LSF_FAILED;
    }
    setenv("LSB_SUB_PARM_FILE", parameters_path, 1);
    setenv("LSB_SUB_MODIFY_FILE", changes_path, 1);
    setenv("LSB_SUB_MODIFY_ENVFILE", variables_path, 1);
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        run_child(path, esub);
    }
    bool has_ended = pid > 0 && waitpid(pid, &status, 0) == pid;
    if (!has_ended || !WIFEXITED(status) || WEXITSTATUS(status) == ABORT_VALUE) {
        call_fail("Request aborted by esub. Job not submitted.");
        return LSF_FAILED;
    }
    int code = read_changes(call, esub->name, changes_path, false, command);
    return code == 0 ? read_changes(call, esub->name, variables_path, true, NULL)
                     : code;
}

/* In a directory of their own, so that nobody else writes into their files. */
static int run_all(struct call *call, const char *programs, struct esub *esubs,
                   int count, const char **command)
{
    static const char *const files[] = {"parm", "modify", "env"};
    static const char *const variables[] = {"LSB_SUB_PARM_FILE", "LSB_SUB_MODIFY_FILE",
                                            "LSB_SUB_MODIFY_ENVFILE",
                                            "LSB_SUB_ABORT_VALUE", "LSF_INVOKE_CMD"};
    const char *tmp = getenv("TMPDIR");
    char *directory = arena_printf(&call->arena, "%s/esub.XXXXXX",
                                   tmp != NULL && tmp[0] != '\0' ? tmp : "/tmp");
    int code = 0;
    if (mkdtemp(directory) == NULL) {
        call_fail("%s: %s: %s. Job not submitted.", call->command->name, directory,
                  strerror(errno));
        return LSF_FAILED;
    }
    setenv("LSB_SUB_ABORT_VALUE", "97", 1);
    setenv("LSF_INVOKE_CMD", call->command->name, 1);
    for (int i = 0; i < count && code == 0; i++) {
        const char *path = arena_printf(&call->arena, "%s/%s", programs, esubs[i].name);
        code = run_one(call, path, &esubs[i], directory, command);
    }
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        unlink(arena_printf(&call->arena, "%s/%s", directory, files[i]));
    }
    rmdir(directory);
    for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
        unsetenv(variables[i]); /* the job does not have them */
    }
    return code;
}

int lsf_esub_run(struct call *call, const char **command)
{
    const char *programs = getenv("LSF_SERVERDIR"), *method = getenv("LSB_ESUB_METHOD");
    static struct esub esubs[PROGRAMS_MAX];
    int count = 0;
    bool has_names = (method != NULL && method[0] != '\0') || call_has(call, "-a");
    if (programs == NULL || programs[0] == '\0') {
        if (has_names) {
            call_fail(
                "%s: LSF_SERVERDIR is not set, and has the programs of %s; set it "
                "in the environment. Job not submitted.",
                call->command->name, call_has(call, "-a") ? "-a" : "LSB_ESUB_METHOD");
        }
        return has_names ? LSF_FAILED : CALL_OK;
    }
    if (access(arena_printf(&call->arena, "%s/esub", programs), X_OK) == 0) {
        esubs[count++] = (struct esub){.name = "esub"};
    }
    count =
        read_names(call, "LSB_ESUB_METHOD", method != NULL ? method : "", esubs, count);
    if (count >= 0) {
        count = read_names(call, "-a", call_text(call, "-a"), esubs, count);
    }
    if (count <= 0) {
        return count < 0 ? LSF_FAILED : CALL_OK;
    }
    return run_all(call, programs, esubs, count, command);
}
