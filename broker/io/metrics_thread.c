/* SPDX-License-Identifier: Apache-2.0 */
/* metrics_thread.c: see metrics_thread.h. The loop and the thread exchange pointers to
 * jobs: while the thread has a job, the loop does not touch it. */
#include "broker/io/metrics_thread.h"

#include <stdlib.h>

#include <utlist.h>

#include "broker/io/metrics_text.h"
#include "sys/http/gzip.h"

struct job {
    uint64_t ticket;
    struct metrics_snapshot *snapshot; /* the thread's, which frees it */
    bool is_gzip;                      /* it is to be compressed, and then: it is */
    char *text;
    size_t length;
    bool is_done; /* the loop's */
    struct job *next;
};

struct metrics_thread {
    zloop_t *loop;
    struct http *http;
    zactor_t *actor;
    struct job *jobs; /* the oldest first */
    uint64_t last_ticket;
};

/* ---------------------------------------------------------------- the thread */

static void print(struct job *job)
{
    job->text = metrics_text_print(job->snapshot, &job->length);
    metrics_snapshot_free(job->snapshot);
    job->snapshot = NULL;
    job->is_gzip = job->is_gzip && gzip_replace(&job->text, &job->length);
}

/* Until a message that is no pointer: the end of the actor. */
static void run(zsock_t *pipe, void *arg)
{
    struct job *job;
    (void)arg;
    zsock_signal(pipe, 0);
    while (zsock_recv(pipe, "p", &job) == 0 && job != NULL) {
        print(job);
        zsock_send(pipe, "p", job);
    }
}

/* ---------------------------------------------------------------- the loop */

static void forget(struct metrics_thread *thread, struct job *job)
{
    LL_DELETE(thread->jobs, job);
    metrics_snapshot_free(job->snapshot);
    free(job->text);
    free(job);
}

static int take_back(zloop_t *loop, zsock_t *pipe, void *arg)
{
    struct metrics_thread *thread = arg;
    struct job *job;
    (void)loop;
    if (zsock_recv(pipe, "p", &job) == 0 && job != NULL) {
        job->is_done = true;
        if (thread->http != NULL) {
            http_resume(thread->http);
        }
    }
    return 0;
}

struct metrics_thread *metrics_thread_new(zloop_t *loop)
{
    struct metrics_thread *thread = mem_alloc(1, sizeof(*thread));
    thread->loop = loop;
    thread->actor = zactor_new(run, NULL);
    if (thread->actor == NULL ||
        zloop_reader(loop, zactor_sock(thread->actor), take_back, thread) < 0) {
        abort(); /* out of memory */
    }
    return thread;
}

void metrics_thread_free(struct metrics_thread *thread)
{
    if (thread == NULL) {
        return;
    }
    zloop_reader_end(thread->loop, zactor_sock(thread->actor));
    zactor_destroy(&thread->actor); /* after its last job */
    while (thread->jobs != NULL) {
        forget(thread, thread->jobs);
    }
    free(thread);
}

void metrics_thread_serve(struct metrics_thread *thread, struct http *http)
{
    thread->http = http;
}

/* The oldest answer that is there: its client has gone, or is about to take it. */
static void forget_oldest(struct metrics_thread *thread)
{
    struct job *job;
    int count;
    LL_COUNT(thread->jobs, job, count);
    LL_SEARCH_SCALAR(thread->jobs, job, is_done, true);
    if (count >= METRICS_ANSWERS_MAX && job != NULL) {
        forget(thread, job);
    }
}

uint64_t metrics_thread_begin(struct metrics_thread *thread,
                              struct metrics_snapshot *snapshot, bool is_gzip)
{
    struct job *job = mem_alloc(1, sizeof(*job));
    forget_oldest(thread);
    job->ticket = ++thread->last_ticket;
    job->snapshot = snapshot;
    job->is_gzip = is_gzip;
    LL_APPEND(thread->jobs, job);
    zsock_send(thread->actor, "p", job);
    return job->ticket;
}

enum metrics_answer metrics_thread_take(struct metrics_thread *thread, uint64_t ticket,
                                        struct http_answer *answer)
{
    struct job *job;
    LL_SEARCH_SCALAR(thread->jobs, job, ticket, ticket);
    if (job == NULL) {
        return METRICS_NONE;
    }
    if (!job->is_done) {
        return METRICS_LATER;
    }
    answer->text = job->text;
    answer->length = job->length;
    answer->is_gzip = job->is_gzip;
    job->text = NULL;
    forget(thread, job);
    return METRICS_DONE;
}
