/* SPDX-License-Identifier: Apache-2.0 */
/* lsf_submit.c: bsub and bmod. Source: LSF's command reference. */
#include <stdlib.h>
#include <string.h>

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

int lsf_submit_run(struct call *call)
{
    static const struct cmd_submit_words words = {
        announce, "<<Waiting for dispatch ...>>\n", "<<Job is finished>>\n", false};
    static const struct cmd_submit_words quiet = {announce, "", "", false};
    struct msg msg = {.kind = MSG_SUBMIT};
    int status = submit_options_command(call, &msg.submit.spec);
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
    lsf_line_add(call, "-report", "");
    return cmd_modify_run(call);
}
