/* SPDX-License-Identifier: Apache-2.0 */
/* peek.c: JOB_PEEK: a piece of the output of a job. */
#include "site/api/site_api.h"

#include <string.h>

#include "base/err.h"
#include "model/job_id.h"
#include "site/api/permission.h"
#include "site/job/job.h"
#include "site/run/outfile.h"

enum { PEEK_MS = 10000 };

static void send_piece(const struct peer *to, uint64_t request, const uint8_t *bytes,
                       int n_bytes, bool is_end, struct effects *effects)
{
    struct msg msg = {.kind = MSG_REPLY, .site = ""};
    msg.reply.request = request;
    msg.reply.text = "";
    msg.reply.next = "";
    msg.reply.bytes = bytes;
    msg.reply.n_bytes = n_bytes;
    msg.reply.is_end = is_end;
    effects_send(effects, to, &msg);
}

static bool is_borrowed(const struct job *job)
{
    return job->attempt != 0 && job->lease[0] != '\0';
}

/* The file that the stream is written to; NULL: the run's host has it. An error stream
 * without a file of its own is written to that of the output. */
static const char *file_of(const struct job *job, enum output_stream stream,
                           struct arena *arena)
{
    if (is_borrowed(job) && !job_is_ended(job)) {
        return NULL; /* the file is written when the job has ended */
    }
    const char *path = outfile_path(arena, job, stream);
    if (path == NULL && stream == OUTPUT_ERR) {
        path = outfile_path(arena, job, OUTPUT_OUT);
    }
    return path;
}

/* Answers what can be answered without asking the host. False: the host has to be
 * asked.
 */
static bool answer_here(const struct site_api *api, const struct job *job,
                        const struct peer *from, const struct msg_peek *peek,
                        struct effects *effects)
{
    const char *path = file_of(job, peek->stream, &effects->arena);
    int64_t n_kept = job->exit == NULL            ? 0
                     : peek->stream == OUTPUT_OUT ? job->exit->out_bytes
                                                  : job->exit->err_bytes;
    if (!permission_may_manage(api->config, from, job)) {
        effects_reply_error(effects, from, peek->request, ERR_DENIED,
                            "Job <%s>: user permission denied, it is %s's", peek->job,
                            job->spec->user);
    } else if (!job_is_ended(job) && job->start_ms == 0) {
        effects_reply_error(effects, from, peek->request, ERR_STATE,
                            "Job <%s>: not yet started", peek->job);
    } else if (path == NULL && job->spec->interaction != INTERACTION_NONE) {
        effects_reply_error(effects, from, peek->request, ERR_STATE,
                            "Job <%s>: it is interactive, its output goes to its "
                            "user's terminal",
                            peek->job);
    } else if (path != NULL && peek->stream == OUTPUT_ERR) {
        send_piece(from, peek->request, NULL, 0, true, effects);
    } else if (path != NULL) {
        effects_reply_error(effects, from, peek->request, ERR_STATE,
                            "Job <%s>: its output goes to the file %s, read it there",
                            peek->job, path);
    } else if (job_is_ended(job) && (n_kept == 0 || peek->offset >= n_kept)) {
        send_piece(from, peek->request, NULL, 0, true, effects);
    } else if (job_is_ended(job) && is_borrowed(job)) {
        effects_reply_error(
            effects, from, peek->request, ERR_NOT_FOUND,
            "Job <%s>: its output stayed under lease %s and is not kept, "
            "name a file with -o",
            peek->job, job->lease);
    } else {
        return false;
    }
    return true;
}

/* True: the host, or the provider, was asked. */
static bool ask(const struct site_api *api, const struct job *job,
                const struct msg_peek *peek, uint64_t number, struct effects *effects)
{
    struct msg msg = {.kind = MSG_OUTPUT_ASK};
    msg.output_ask = (struct msg_output_ask){
        .run = lifecycle_run_id(api->life, job),
        .request = number,
        .stream = peek->stream,
        .offset = peek->offset,
        .n_bytes = OUTPUT_CHUNK_MAX,
    };
    if (is_borrowed(job)) {
        msg.site = arena_strn(&effects->arena, job->lease, strcspn(job->lease, "/"));
        site_uplink_send(api->uplink, &msg, effects);
        return site_uplink_is_up(api->uplink);
    }
    const struct run *run = runs_find(api->runs, &msg.output_ask.run);
    if (run == NULL || run->host < 0 || !host_table_is_ready(api->hosts, run->host)) {
        return false;
    }
    host_table_send(api->hosts, run->host, &msg, effects);
    return true;
}

void peek_request(struct site_api *api, const struct peer *from, const struct msg *msg,
                  struct effects *effects)
{
    const struct msg_peek *peek = &msg->peek;
    const struct job *job = job_table_lookup(api->jobs, peek->job);
    if (job == NULL) {
        bool is_array = job_table_lookup_array(api->jobs, peek->job) != NULL;
        effects_reply_error(
            effects, from, peek->request, is_array ? ERR_STATE : ERR_NOT_FOUND,
            is_array ? "Job <%s>: it is an array, name one element"
                     : "Job <%s> is not found; see `sublet jobs -a -u all`",
            peek->job);
        return;
    }
    if (answer_here(api, job, from, peek, effects)) {
        return;
    }
    struct waiter waiter = {.kind = WAITER_OUTPUT,
                            .key = waiters_next_request(api->waiters),
                            .link = from->link,
                            .request = peek->request,
                            .job = job_key(job),
                            .deadline_ms = api->now_ms + PEEK_MS};
    if (!ask(api, job, peek, waiter.key, effects)) {
        effects_reply_error(effects, from, peek->request, ERR_AWAY,
                            "Job <%s>: its host cannot be reached, try again later",
                            peek->job);
    } else if (!waiters_add(api->waiters, &waiter)) {
        effects_reply_error(effects, from, peek->request, ERR_FULL,
                            "Job <%s>: too many clients wait, try again later",
                            peek->job);
    }
}

bool peek_output(struct site_api *api, const struct msg_output *output,
                 struct effects *effects)
{
    struct waiter waiter;
    if (output->request < WAITERS_REQUEST_MIN) {
        return false;
    }
    if (!waiters_take(api->waiters, WAITER_OUTPUT, output->request, &waiter)) {
        return true; /* the client has gone, or waited too long */
    }
    struct peer to = {.kind = PEER_CLIENT, .name = "", .link = waiter.link};
    const struct job *job = job_table_find(api->jobs, waiter.job);
    if (output->is_gone || job == NULL) {
        effects_reply_error(effects, &to, waiter.request, ERR_NOT_FOUND,
                            "Job <%s>: its output is no longer kept",
                            job_id_text(&effects->arena, job_id_key_number(waiter.job),
                                        job_id_key_index(waiter.job)));
        return true;
    }
    send_piece(&to, waiter.request, output->bytes, output->n_bytes,
               output->is_end && job_is_ended(job), effects);
    return true;
}
