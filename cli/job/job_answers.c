/* SPDX-License-Identifier: Apache-2.0 */
/* job_answers.c: see job_answers.h. */
#include "cli/job/job_answers.h"

#include <jansson.h>
#include <stdio.h>

#include "cli/call.h"

static void print_row(const json_t *row)
{
    const char *text = json_string_value(json_object_get(row, "text"));
    if (text != NULL && json_is_true(json_object_get(row, "done"))) {
        puts(text);
    } else if (text != NULL) {
        call_say("%s", text);
    }
}

int job_answers_print(const struct msg_reply *reply, int code, const struct err *err)
{
    json_t *answer = json_loads(reply->json != NULL ? reply->json : "", 0, NULL);
    const json_t *rows = json_object_get(answer, "jobs"), *row;
    size_t i;
    json_array_foreach(rows, i, row)
    {
        print_row(row);
    }
    if (json_array_size(rows) == 0 && code != 0) {
        call_fail_err(err);
    } else if (json_array_size(rows) == 0) {
        puts(reply->text);
    }
    json_decref(answer);
    int status = call_finish_output();
    return code != 0 ? CALL_FAILED : status;
}
