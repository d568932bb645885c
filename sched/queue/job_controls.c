/* SPDX-License-Identifier: Apache-2.0 */
/* job_controls.c: see job_controls.h. */
#include "sched/queue/job_controls.h"

#include <string.h>
#include <strings.h>

#include "base/bounds.h"

static const char blanks[] = " \t";

/* The text without blanks around it. */
static const char *trim(struct arena *arena, const char *text, size_t length)
{
    size_t before = strspn(text, blanks);
    before = before < length ? before : length;
    text += before;
    length -= before;
    while (length > 0 && strchr(blanks, text[length - 1]) != NULL) {
        length--;
    }
    return arena_strn(arena, text, length);
}

/* True if the command runs that program: "/opt/lsf/bin/bkill -s 9" runs "bkill". */
static bool is_program(const char *command, const char *program)
{
    size_t length = strcspn(command, " \t;&|");
    const char *name = command;
    for (const char *at = command; at < command + length; at++) {
        name = *at == '/' ? at + 1 : name;
    }
    size_t n = (size_t)(command + length - name);
    return strlen(program) == n && strncmp(name, program, n) == 0;
}

/* True if the command is `sublet` with that word. */
static bool is_ours(const char *command, const char *word)
{
    size_t length = strcspn(command, blanks);
    const char *second = command + length + strspn(command + length, blanks);
    size_t n = strcspn(second, blanks);
    return is_program(command, "sublet") && strlen(word) == n &&
           strncmp(second, word, n) == 0;
}

static bool is_requeue(const char *command)
{
    return is_program(command, "brequeue") || is_ours(command, "requeue");
}

/* True for commands that would wait for themselves. */
static bool is_circular(enum job_control action, const char *command)
{
    switch (action) {
    case JOB_CONTROL_SUSPEND:
        return is_program(command, "bstop") || is_ours(command, "stop");
    case JOB_CONTROL_RESUME:
        return is_program(command, "bresume") || is_ours(command, "resume");
    case JOB_CONTROL_TERMINATE:
        return is_program(command, "bkill") || is_ours(command, "kill") ||
               is_requeue(command);
    case JOB_CONTROL_WARN:
    case JOB_CONTROL_KINDS:
        break;
    }
    return false;
}

int job_controls_read_one(struct arena *arena, enum job_control action,
                          const char *text, struct job_controls *controls,
                          struct err *err)
{
    const char *trimmed = trim(arena, text, strlen(text));
    if (trimmed[0] == '\0') {
        return err_set(err, ERR_PARSE,
                       "nothing to %s a job with, expected a signal or a "
                       "command",
                       job_control_name(action));
    }
    if (strcasecmp(trimmed, "CHKPNT") == 0) {
        return err_set(err, ERR_UNBUILT,
                       "CHKPNT: checkpoints are not supported, expected a signal or a "
                       "command");
    }
    if (strlen(trimmed) >= EXEC_BYTES_MAX / JOB_CONTROL_KINDS) {
        return err_set(err, ERR_PARSE,
                       "the command is too long, expected at most %d "
                       "bytes",
                       EXEC_BYTES_MAX / JOB_CONTROL_KINDS - 1);
    }
    if (is_circular(action, trimmed)) {
        return err_set(
            err, ERR_PARSE,
            "\"%.40s\" would wait for itself, expected a signal or a command "
            "that acts on the job's processes",
            trimmed);
    }
    if (strncmp(trimmed, "SIG", 3) == 0 && job_control_signal(trimmed) == 0 &&
        strpbrk(trimmed, blanks) == NULL) {
        return err_set(err, ERR_PARSE, "unknown signal \"%.40s\"", trimmed);
    }
    controls->actions[action] = trimmed;
    return 0;
}

/* Finds the bracket that closes; NULL if there is none. */
static const char *find_end(const char *text)
{
    int depth = 1;
    for (; *text != '\0'; text++) {
        depth += *text == '[' ? 1 : *text == ']' ? -1 : 0;
        if (depth == 0) {
            return text;
        }
    }
    return NULL;
}

static bool read_word(const char **text, enum job_control *action)
{
    size_t length = strcspn(*text, " \t[");
    for (int i = 0; i < JOB_CONTROL_KINDS; i++) {
        const char *name = job_control_name((enum job_control)i);
        if (i != JOB_CONTROL_WARN && strlen(name) == length &&
            strncasecmp(*text, name, length) == 0) {
            *action = (enum job_control)i;
            *text += length;
            *text += strspn(*text, blanks);
            return true;
        }
    }
    return false;
}

int job_controls_read(struct arena *arena, const char *text,
                      struct job_controls *controls, struct err *err)
{
    struct job_controls all = {{NULL}};
    for (text += strspn(text, blanks); *text != '\0'; text += strspn(text, blanks)) {
        enum job_control action = JOB_CONTROL_SUSPEND;
        if (!read_word(&text, &action) || *text != '[') {
            return err_set(
                err, ERR_PARSE,
                "\"%.40s\", expected SUSPEND[...] RESUME[...] TERMINATE[...]", text);
        }
        const char *end = find_end(text + 1);
        if (end == NULL) {
            return err_set(err, ERR_PARSE, "a bracket is not closed, expected %s[...]",
                           job_control_name(action));
        }
        if (all.actions[action] != NULL) {
            return err_set(err, ERR_PARSE, "%s appears twice",
                           job_control_name(action));
        }
        const char *one = arena_strn(arena, text + 1, (size_t)(end - text - 1));
        int code = job_controls_read_one(arena, action, one, &all, err);
        if (code != 0) {
            return code;
        }
        text = end + 1;
    }
    *controls = all;
    return 0;
}

bool job_controls_requeue(const struct job_controls *controls)
{
    const char *suspend = controls->actions[JOB_CONTROL_SUSPEND];
    return suspend != NULL && is_requeue(suspend);
}
