/* SPDX-License-Identifier: Apache-2.0 */
/* site_stage.h: one site on a stage: a journal that keeps what was committed, a clock,
 * and what it said, to whom. The test plays its hosts, its broker and its users.
 *
 * A batch is one event and the tick that ends it; its rows are committed, then what it
 * sent can be looked at until the next batch. */
#ifndef SUBLET_TESTS_UNIT_SITE_SITE_STAGE_H
#define SUBLET_TESTS_UNIT_SITE_SITE_STAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/value.h"
#include "model/effect.h"
#include "site/config/site_config.h"
#include "site/site.h"

struct stage_row {
    struct arena arena;
    struct row row;
};

struct site_stage {
    struct arena arena;
    struct site_config config;
    struct site *site;
    struct effects effects; /* of the last batch */
    int64_t now_ms, started_ms;
    int64_t utc_offset_ms;  /* of the clock on the wall */
    struct stage_row *rows; /* the journal */
    int n_rows, rows_capacity;
    uint64_t host_session;
    uint64_t session; /* with the broker; 0: none */
    uint64_t request; /* of the last client's */
    uint64_t nonce;   /* of a submission, and of what hosts and providers report */
    const char *told; /* history: "1 submit; 1 dispatch n1=1; ..." */
};

/* The standard site: "south" with hosts s1 (2 slots) and s2 (2 slots); queues normal
 * (all allremote), local (all) and lease (allremote); 100000 is the first instant. */
void site_stage_init(struct site_stage *stage);
/* Another configuration, as its text. */
void site_stage_init_text(struct site_stage *stage, const char *text);
/* The running site gets another configuration; false where it is refused. */
bool site_stage_reload(struct site_stage *stage, const char *text);
void site_stage_release(struct site_stage *stage);

/* kill -9 and start again, from the journal. */
void site_stage_restart(struct site_stage *stage);
/* The same with another configuration. */
void site_stage_restart_text(struct site_stage *stage, const char *text);
/* The next batch is stepped and its effects lost, rows and all: a crash before the
 * commit. Then a start. */
void site_stage_lose_message(struct site_stage *stage, const struct peer *from,
                             const struct msg *msg);

void site_stage_message(struct site_stage *stage, const struct peer *from,
                        const struct msg *msg);
void site_stage_event(struct site_stage *stage, const struct event *event);
/* Time passes, tick by tick as the site asks for them. */
void site_stage_pass(struct site_stage *stage, int64_t ms);
/* Until each host has had time to connect since the start. */
void site_stage_settle(struct site_stage *stage);

/* The n-th (from 0) message of the last batch of that kind; NULL: there is none. */
const struct msg *site_stage_sent(const struct site_stage *stage, enum msg_kind kind,
                                  int n);
int site_stage_count(const struct site_stage *stage, enum msg_kind kind);
const struct effect *site_stage_effect(const struct site_stage *stage,
                                       enum effect_kind kind);
/* Rows of the journal. */
const struct row_job_state *site_stage_job_row(const struct site_stage *stage,
                                               uint64_t id);
const struct row_run *site_stage_run_row(const struct site_stage *stage,
                                         const char *site, uint64_t attempt);
int site_stage_count_rows(const struct site_stage *stage, enum row_kind kind);

/* Hosts: link 1 for s1, 2 for s2 and so on. */
struct peer site_stage_host(const char *name);
void site_stage_host_hello(struct site_stage *stage, const char *host);
void site_stage_host_synced(struct site_stage *stage, const char *host);
void site_stage_host_up(struct site_stage *stage, const char *host); /* both */
void site_stage_host_alive(struct site_stage *stage, const char *host);
/* RUN_STATE; `fill` has phase and what goes with it. */
void site_stage_run_state(struct site_stage *stage, const char *host, const char *site,
                          uint64_t attempt, const struct msg_run_state *fill);
void site_stage_waiting(struct site_stage *stage, const char *host, uint64_t attempt,
                        uint64_t token);
void site_stage_running(struct site_stage *stage, const char *host, uint64_t attempt,
                        uint64_t token);
void site_stage_exited(struct site_stage *stage, const char *host, uint64_t attempt,
                       int code);

/* The broker. */
void site_stage_broker(struct site_stage *stage, struct msg *msg);
void site_stage_broker_up(struct site_stage *stage); /* HELLO is welcomed */
/* A contract of provider "north": host n1 with so many slots held here. */
void site_stage_contract(struct site_stage *stage, uint64_t epoch,
                         enum lease_state state, int n_held, bool is_made);
/* What a provider says of an attempt. */
void site_stage_attempt(struct site_stage *stage, uint64_t attempt,
                        const struct msg_attempt_state *fill);
void site_stage_attempt_is(struct site_stage *stage, uint64_t attempt,
                           enum attempt_state state);

/* Users. "ana" is uid 1001, "root" 0. */
struct peer site_stage_user(const char *name);
/* Submits; returns the id, 0 where it was refused. */
uint64_t site_stage_submit(struct site_stage *stage, const char *queue,
                           const char *command);
uint64_t site_stage_submit_spec(struct site_stage *stage, const char *user,
                                const struct job_spec *spec);
struct job_spec site_stage_spec(const char *queue, const char *command);
/* The order's answer. */
const struct msg_reply *site_stage_control(struct site_stage *stage, const char *user,
                                           const char *job, enum control_action action,
                                           int signal);
const struct msg_reply *site_stage_reply(const struct site_stage *stage);
const struct msg_reply *site_stage_query(struct site_stage *stage,
                                         const struct msg_query *query);

/* What `jobs` shows of a job: the text at a path, "" for null. */
const char *site_stage_job_text(struct site_stage *stage, uint64_t id,
                                const char *path);
int64_t site_stage_job_int(struct site_stage *stage, uint64_t id, const char *path);
enum job_state site_stage_state(const struct site_stage *stage, uint64_t id);
uint64_t site_stage_attempt_of(const struct site_stage *stage, uint64_t id);

#endif
