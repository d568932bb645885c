/* SPDX-License-Identifier: Apache-2.0 */
/* metrics_thread.h: a thread that prints and compresses the answers to /metrics.
 *
 * The answer of 1,000 leases has 0.7 MB. The loop takes a snapshot, the thread makes
 * the text of it, and the loop sends that: meanwhile it serves the members. The thread
 * reads snapshots, and nothing else of the broker.
 *
 * Ownership: an answer that nobody takes is freed when METRICS_ANSWERS_MAX newer ones
 * are asked for, or at the end. Layer: broker/io. */
#ifndef SUBLET_BROKER_IO_METRICS_THREAD_H
#define SUBLET_BROKER_IO_METRICS_THREAD_H

#include <czmq.h>

#include "broker/io/metrics_snapshot.h"
#include "sys/http/http.h"

enum { METRICS_ANSWERS_MAX = 16 };

struct metrics_thread;
struct metrics_thread *metrics_thread_new(zloop_t *loop);
void metrics_thread_free(struct metrics_thread *thread); /* NULL is fine */
/* Resumes the requests of this server when there is an answer. */
void metrics_thread_serve(struct metrics_thread *thread, struct http *http);

/* Begins an answer, whose ticket is returned: never 0. Takes the snapshot. */
uint64_t metrics_thread_begin(struct metrics_thread *thread,
                              struct metrics_snapshot *snapshot, bool is_gzip);

enum metrics_answer { METRICS_NONE, METRICS_LATER, METRICS_DONE };
/* METRICS_DONE: `answer` has the text, and the ticket is used up. METRICS_NONE: there
 * is no such ticket, or no more. */
enum metrics_answer metrics_thread_take(struct metrics_thread *thread, uint64_t ticket,
                                        struct http_answer *answer);

#endif
