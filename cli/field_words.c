/* SPDX-License-Identifier: Apache-2.0 */
/* field_words.c: see field_words.h. */
#include "cli/field_words.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { NAME_MAX_SIZE = 32 };
static const char capitals[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

/* Each field of a request that users set, and the options that set it, of which the one
 * that was given counts. The last word is that of an operand; "*": as the usage has it.
 */
static const struct {
    const char *path;
    const char *words;
    const char *command; /* NULL: any */
} rows[] = {
    {"spec: name", "-J", NULL},
    {"spec: queue", "-q", NULL},
    {"spec: command", "COMMAND", NULL},
    {"spec: cwd", "-cwd", NULL},
    {"spec: in_file", "-i -is", NULL},
    {"spec: out_file", "-o -oo", NULL},
    {"spec: err_file", "-e -eo", NULL},
    {"spec: n_slots", "-n", NULL},
    {"spec: hosts_asked", "-m", NULL},
    {"spec: run_limit_ms", "-W", NULL},
    {"spec: res_reqs", "-R", NULL},
    {"spec: app", "-app", NULL},
    {"spec: pre_execs", "-E", NULL},
    {"spec: post_execs", "-Ep", NULL},
    {"terms: depend", "-w", NULL},
    {"terms: begin_ms", "-b", NULL},
    {"terms: terminate_ms", "-t", NULL},
    {"terms: requeue_codes", "-Q", NULL},
    {"terms: project", "-P", NULL},
    {"terms: priority", "-sp", NULL},
    {"terms: max_slots", "-n", NULL},
    {"terms: resize_notify", "-rnc", NULL},
    {"terms: user_group", "-G", NULL},
    {"terms: description", "-Jd", NULL},
    {"terms: job_group", "-g", NULL},
    {"name", "--lease --provider", "reclaim-delay"},
    {"name", "-n", "limits"},
    {"name", "--site *", NULL},
    {"user", "-u", NULL},
    {"queue", "-q QUEUE", NULL},
    {"host", "-m HOST", NULL},
    {"hosts", "HOST", NULL},
    {"n_slots", "slots", NULL},
    {"job", "JOB", NULL},
    {"jobs", "JOB", NULL},
    {"lease", "LEASE", NULL},
    {"after", "--after", NULL},
    {"last", "--last", NULL},
    {"provider", "--provider", NULL},
    {"consumer", "--consumer", NULL},
    {"res_req", "-R", NULL},
    {"project", "-P", NULL},
    {"fields", "-o", NULL},
    {"by", "--by", NULL},
    {"from_ms", "--from", NULL},
    {"to_ms", "--to", NULL},
    {"delay_ms", "VALUE", NULL},
};

/* The words of a path that the user did not write: fields of the message and of its
 * parts. Texts of users stand behind them. */
static const char *skip_fields(const char *text)
{
    for (;;) {
        const char *at = text;
        while (islower((unsigned char)*at) || *at == '_') {
            at++;
        }
        if (at == text || strncmp(at, ": ", 2) != 0) {
            return text;
        }
        text = at + 2;
    }
}

/* The first operand as the usage has it: "QUEUE: " of "[QUEUE...]". */
static void name_operand(const char *operands, char name[NAME_MAX_SIZE])
{
    operands += strcspn(operands, capitals);
    snprintf(name, NAME_MAX_SIZE, "%.*s: ", (int)strspn(operands, capitals), operands);
}

/* "-J: ", or what else the row's words say. */
static void choose_word(const struct call *call, const char *words,
                        char name[NAME_MAX_SIZE])
{
    for (;;) {
        size_t length = strcspn(words, " ");
        snprintf(name, NAME_MAX_SIZE, "%.*s", (int)length, words);
        if (words[length] == '\0' || call_has(call, name)) {
            break;
        }
        words += length + 1;
    }
    if (strcmp(name, "*") == 0) {
        name_operand(call->command->operands, name);
    } else {
        snprintf(name + strlen(name), 3, ": ");
    }
}

/* "": the user set no such field. */
static void name_field(const struct call *call, const char *path,
                       char name[NAME_MAX_SIZE])
{
    name[0] = '\0';
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        size_t length = strlen(rows[i].path);
        bool is_of = rows[i].command == NULL ||
                     strcmp(rows[i].command, call->command->name) == 0;
        if (is_of && strncmp(path, rows[i].path, length) == 0 &&
            strncmp(path + length, ": ", 2) == 0) {
            choose_word(call, rows[i].words, name);
            return;
        }
    }
}

void field_words_apply(const struct call *call, const struct msg *msg, struct err *err)
{
    const char *kind = msg_kind_name(msg->kind);
    size_t length = strlen(kind);
    if (call->command == NULL || strncmp(err->text, kind, length) != 0 ||
        strncmp(err->text + length, ": ", 2) != 0) {
        return;
    }
    char name[NAME_MAX_SIZE], text[sizeof(err->text)];
    const char *path = err->text + length + 2;
    path += strncmp(path, "to: ", 4) == 0 ? 4 : 0; /* of a job that is modified */
    name_field(call, path, name);
    snprintf(text, sizeof(text), "%s", skip_fields(path));
    err_set(err, err->code, "%s: %s%s", call->command->name, name, text);
}
