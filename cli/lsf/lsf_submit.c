/* SPDX-License-Identifier: Apache-2.0 */
/* lsf_submit.c: bsub and bmod. Source: LSF's command reference. */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/lsf/lsf.h"
#include "cli/submit_options.h"

/* Set if the line names no queue. */
static const char default_queue[] = "default queue";

/* Variables that stand for options. */
static void add_defaults(struct call *call)
{
    static const struct {
        const char *option, *variable;
    } defaults[] = {{"-q", "LSB_DEFAULTQUEUE"},
                    {"-P", "LSB_DEFAULTPROJECT"},
                    {"-G", "LSB_DEFAULT_USERGROUP"}};
    if (!call_has(call, "-q")) {
        lsf_line_add(call, default_queue, "");
    }
    for (size_t i = 0; i < sizeof(defaults) / sizeof(defaults[0]); i++) {
        const char *value = getenv(defaults[i].variable);
        if (value != NULL && value[0] != '\0' && !call_has(call, defaults[i].option)) {
            lsf_line_add(call, defaults[i].option,
                         arena_strn(&call->arena, value, strcspn(value, " ")));
        }
    }
}

/* The site does not know who chose the queue. */
static const char *announce(struct call *call, const struct msg_reply *reply)
{
    static const char words[] = "is submitted to queue ";
    const char *at = strstr(reply->text, words);
    bool is_default = call_has(call, default_queue);
    if (getenv("BSUB_QUIET") != NULL) {
        return "";
    }
    if (at == NULL || !is_default) {
        return reply->text;
    }
    return arena_printf(&call->arena, "%.*sis submitted to default queue %s",
                        (int)(at - reply->text), reply->text, at + strlen(words));
}

/* If pending jobs are at their bound, the site says when to try again. LSB_NTRIES is
 * how often bsub tries; without it, until the job is submitted. */
static bool retry(struct call *call, const struct msg_reply *reply, int n_tries)
{
    const char *most = getenv("LSB_NTRIES"), *name;
    json_t *answer = json_loads(reply->json != NULL ? reply->json : "", 0, NULL);
    json_int_t wait_s = json_integer_value(json_object_get(answer, "retry_s"));
    bool is_tried = wait_s > 0 && (most == NULL || n_tries < strtol(most, NULL, 10));
    (void)call;
    if (is_tried) {
        if ((name = json_string_value(json_object_get(answer, "user"))) != NULL) {
            fprintf(stderr, "User <%s>: ", name);
        } else if ((name = json_string_value(json_object_get(answer, "group"))) !=
                   NULL) {
            fprintf(stderr, "Group <%s>: ", name);
        }
        fprintf(stderr, "Pending job threshold reached. Retrying in %lld seconds...\n",
                (long long)wait_s);
        sleep((unsigned)wait_s);
    }
    json_decref(answer);
    return is_tried;
}

/* ---- -pack */

/* Another bsub, with these words as its line. */
static bool submit_line(struct call *call, char **words)
{
    int n_words = 0, status = 0;
    while (words[n_words] != NULL) {
        n_words++;
    }
    char **argv = arena_alloc(&call->arena, (size_t)n_words + 2, sizeof(*argv));
    argv[0] = arena_str(&call->arena, "bsub");
    memcpy(argv + 1, words, (size_t)n_words * sizeof(*argv));
    pid_t pid = fork();
    if (pid == 0) {
        int null = open("/dev/null", O_RDONLY);
        if (null >= 0) {
            dup2(null, STDIN_FILENO);
        }
        execv("/proc/self/exe", argv);
        _exit(LSF_FAILED);
    }
    return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
           WEXITSTATUS(status) == 0;
}

/* Jobs that wait for their user have a line of their own. */
static bool is_interactive(char **words)
{
    static const char *const options[] = {"-K", "-I", "-Ip", "-Is", "-pack"};
    for (; *words != NULL && (*words)[0] == '-'; words++) {
        for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
            if (strcmp(*words, options[i]) == 0) {
                return true;
            }
        }
    }
    return false;
}

/* A line that is refused is said, and the others are submitted. */
static int submit_pack(struct call *call, const char *path)
{
    FILE *file = fopen(path, "re");
    char *line = NULL;
    size_t room = 0;
    int number = 0, n_failed = 0;
    if (file == NULL) {
        call_fail("bsub: -pack: %s: %s", path, strerror(errno));
        return LSF_FAILED;
    }
    while (getline(&line, &room, file) >= 0) {
        char **words = submit_options_words(&call->arena, line);
        number++;
        if (words != NULL && words[0] == NULL) {
            continue;
        }
        bool is_bad = words == NULL || is_interactive(words);
        if (is_bad || !submit_line(call, words)) {
            call_fail("bsub: -pack: %s:%d: %s", path, number,
                      words == NULL ? "a quote that does not end; no job was submitted"
                      : is_bad ? "-I and -K have no place here; no job was submitted"
                               : "this job was not submitted");
            n_failed++;
        }
    }
    free(line);
    fclose(file);
    return n_failed == 0 ? CALL_OK : LSF_FAILED;
}

int lsf_submit_run(struct call *call)
{
    if (call_has(call, "-pack")) {
        if (call->n_given > 1 || call->n_operands > 0) {
            call_fail(
                "bsub: -pack: expected it alone; options are in the file's lines");
            return LSF_FAILED;
        }
        return submit_pack(call, call_value(call, "-pack"));
    }
    static const struct cmd_submit_words words = {
        announce, "<<Waiting for dispatch ...>>\n", "<<Job is finished>>\n", false,
        retry};
    static const struct cmd_submit_words quiet = {announce, "", "", false, retry};
    struct msg msg = {.kind = MSG_SUBMIT};
    int status = submit_options_command(call, &msg.submit.spec);
    if (status == CALL_OK) {
        status = lsf_esub_run(call, &msg.submit.spec.command);
    }
    bool has_report = !call_has(call, "-N");
    if (status == CALL_OK) {
        status = lsf_line_judge(call);
    }
    if (status != CALL_OK) {
        return status;
    }
    if (getenv("BSUB_CHK_RESREQ") != NULL) {
        return cmd_submit_check(call);
    }
    add_defaults(call);
    if (has_report) {
        lsf_line_add(call, "-report", "");
    }
    return cmd_submit_as(call, &msg, getenv("BSUB_QUIET") != NULL ? &quiet : &words);
}

int lsf_submit_modify(struct call *call)
{
    int status = lsf_esub_run(call, NULL);
    if (status == CALL_OK) {
        status = lsf_line_judge(call);
    }
    if (status != CALL_OK) {
        return status;
    }
    lsf_line_add(call, "-report", "");
    return cmd_modify_run(call);
}
