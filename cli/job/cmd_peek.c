/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_peek.c: `sublet peek`: the output of a job so far, or with -f until it ends, on
 * standard output and standard error. */
#include <czmq.h>
#include <stdio.h>

#include "cli/commands.h"
#include "cli/connect.h"
#include "cli/job_operand.h"
#include "model/msg.h"

const struct call_option cmd_peek_options[] = {
    {"-f", NULL, "follow until the job has ended", false},
    {NULL, NULL, NULL, false},
};

enum { FOLLOW_MS = 300 };

struct stream {
    enum output_stream which;
    FILE *to;
    int64_t offset;
    bool is_ended;
};

/* Prints the output available now. */
static int print_stream(struct connect *connect, const char *job, struct stream *stream,
                        struct err *err)
{
    int n_bytes = 1;
    while (!stream->is_ended && n_bytes > 0) {
        struct msg msg = {
            .kind = MSG_JOB_PEEK,
            .peek = {.job = job, .stream = stream->which, .offset = stream->offset}};
        struct arena arena;
        struct msg_reply reply;
        int rc;
        arena_init(&arena);
        rc = connect_ask(connect, &msg, &msg.peek.request, CONNECT_PATIENCE_MS, &arena,
                         &reply, err);
        if (rc == 0) {
            n_bytes = reply.n_bytes;
            if (n_bytes > 0) {
                fwrite(reply.bytes, 1, (size_t)n_bytes, stream->to);
            }
            stream->offset += n_bytes;
            stream->is_ended = reply.is_end;
        }
        arena_release(&arena);
        if (rc == ERR_NOT_FOUND && stream->which == OUTPUT_ERR) {
            stream->is_ended = true; /* it is merged into the output */
        } else if (rc != 0) {
            return rc;
        }
    }
    return fflush(stream->to) == 0 ? 0
                                   : err_set(err, ERR_IO, "output cannot be written");
}

int cmd_peek_run(struct call *call)
{
    struct stream streams[] = {{OUTPUT_OUT, stdout, 0, false},
                               {OUTPUT_ERR, stderr, 0, false}};
    struct connect *connect;
    struct err err;
    bool is_following = call_has(call, "-f");
    int rc = 0;
    if (call->n_operands != 1 || !job_operand_is_valid(call->operands[0])) {
        return call_misuse(call, "expected one job's id");
    }
    if (connect_new(call, &connect, &err) != 0) {
        return call_fail_err(&err);
    }
    for (;;) {
        for (int i = 0; rc == 0 && i < 2; i++) {
            rc = print_stream(connect, call->operands[0], &streams[i], &err);
        }
        if (rc != 0 || !is_following || (streams[0].is_ended && streams[1].is_ended)) {
            break;
        }
        zclock_sleep(FOLLOW_MS);
    }
    connect_free(connect);
    return rc != 0 ? call_fail_err(&err) : CALL_OK;
}
