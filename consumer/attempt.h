/* SPDX-License-Identifier: Apache-2.0 */
/* attempt.h: this site's attempts on borrowed slots, and the messages about them to
 * their providers.
 *
 * An attempt only moves forward: sent, admitted, running or suspended, ended. Each
 * message is repeated until the attempt's state shows that it arrived.
 *
 * Ownership: copied. The whole START is stored until the attempt is decided.
 * Order: by attempt number. Source: docs/design/safety.md [6]. Layer: consumer. */
#ifndef SUBLET_CONSUMER_ATTEMPT_H
#define SUBLET_CONSUMER_ATTEMPT_H

#include "base/resend.h"
#include "consumer/consumer.h"

enum {
    ATTEMPTS_ASK_MS = 10000,     /* silence after which its state is asked for */
    ATTEMPTS_UNKNOWN_MS = 30000, /* silence after which its state counts as unknown */
    OUTPUT_FETCH_CUT_MS = 10000, /* for which output may come after a kill */
};

enum attempts_phase {
    ATTEMPTS_SENT, /* START may have arrived or not */
    ATTEMPTS_ADMITTED,
    ATTEMPTS_RUNNING,
    ATTEMPTS_SUSPENDED,
    ATTEMPTS_ENDED, /* the end is known; its output may not be fetched yet */
};

enum output_fetch_phase { FETCH_NONE, FETCH_ASKED, FETCH_WRITING, FETCH_DONE };

struct attempt {
    uint64_t number;
    uint64_t nonce; /* of its submission */
    char *lease, *provider;
    struct host_slots *hosts;
    int n_hosts;
    int place; /* of the first of them in its contract (contract.h) */
    enum attempts_phase phase;
    struct arena start_memory; /* of `start`; empty once it is decided */
    struct msg_start start;
    int64_t end_by_ms;
    uint64_t epoch;
    bool has_out_file, has_err_file;
    bool has_post; /* it has post-exec commands */
    int priority;  /* of its queue */
    struct run_control control;
    uint64_t control_done;
    int64_t start_ms;
    struct run_use use; /* as told last */
    bool is_orphan;     /* see orphan_found; `start` is kept as long */
    bool is_given_up;   /* an orphan that is being ended */
    bool is_yielded;    /* it is suspended, and its slots are not in use */
    bool is_unknown;    /* reported as UNKNOWN after a long silence */
    bool is_reported;   /* its end was */
    int64_t received_ms, asked_ms;
    int64_t sent_ms;   /* its first START, or the start of this site */
    bool is_withdrawn; /* it waits for too long; its provider is asked to withdraw it */
    bool is_doubted;   /* of a journal that is behind: it may have started and ended */
    struct resend resend; /* of START, and of OUTPUT_ASK */
    struct resend control_resend;
    struct run_exit exit;
    char *end_text;
    /* Output that is being fetched, one piece at a time. */
    enum output_fetch_phase fetch;
    enum output_stream stream;
    int64_t offset;
    uint64_t request;
    int n_piece;        /* bytes of the piece being written */
    bool is_last_piece; /* of the stream */
    int64_t cut_ms;     /* what has not come by then is given up; 0: never */
};

struct attempts {
    char *site; /* this one */
    uint64_t session;
    uint64_t commits;  /* of its journal, for START and ACK */
    uint64_t requests; /* counter of OUTPUT_ASK */
    struct attempt **items;
    int count, capacity;
};

void attempts_init(struct attempts *attempts, const char *site);
void attempts_release(struct attempts *attempts);

struct attempt *attempts_find(const struct attempts *attempts, uint64_t number);
/* The first attempt above a number, or NULL. A walk may add and remove attempts. */
struct attempt *attempts_next(const struct attempts *attempts, uint64_t number);
/* Its provider has answered START. */
bool attempt_is_decided(const struct attempt *attempt);
bool attempt_is_ended(const struct attempt *attempt);
/* Its state is asked for. If false, START is sent until it is decided. */
bool attempt_is_asked_for(const struct attempt *attempt);
/* It may not have started yet. */
bool attempt_is_starting(const struct attempt *attempt);

/* NULL if there is an attempt with that number already. */
struct attempt *attempts_add(struct attempts *attempts,
                             const struct consumer_attempt *from, int64_t now_ms);
void attempts_remove(struct attempts *attempts, uint64_t number);
/* Its provider has admitted it: START is not needed any more. */
void attempts_decide(struct attempt *attempt);

/* Without a session none of them sends anything. */
void attempts_send_start(struct attempts *attempts, struct attempt *attempt,
                         int64_t now_ms, struct effects *effects);
void attempts_send_ask(struct attempts *attempts, struct attempt *attempt,
                       int64_t now_ms, struct effects *effects);
/* Sends the latest control if it is due. */
void attempts_send_control(struct attempts *attempts, struct attempt *attempt,
                           int64_t now_ms, struct effects *effects);
void attempts_send_acknowledge(struct attempts *attempts, const char *provider,
                               const struct run_id *run, uint64_t commits,
                               struct effects *effects);
/* The id of its run. */
struct run_id attempts_run(const struct attempts *attempts,
                           const struct attempt *attempt);
/* Asks the provider for its runs with these attempts. */
void attempts_send_list(struct attempts *attempts, const char *provider, uint64_t from,
                        uint64_t to, struct effects *effects);
void attempts_send_output_ask(struct attempts *attempts, struct attempt *attempt,
                              int64_t now_ms, struct effects *effects);

/* ------------------------------------------------------------ output_fetch.c */

/* The attempt has ended: asks for the first piece of its output, if it has any. */
void output_fetch_begin(struct attempts *attempts, struct attempt *attempt,
                        int64_t now_ms, struct effects *effects);
/* A piece has arrived. True: it has to be written, then output_fetch_written. */
bool output_fetch_take(struct attempts *attempts, struct attempt *attempt,
                       const struct msg_output *piece, int64_t now_ms,
                       struct effects *effects);
void output_fetch_written(struct attempts *attempts, struct attempt *attempt,
                          bool is_ok, int64_t now_ms, struct effects *effects);
/* The job was killed while its output is being fetched. */
void output_fetch_cut(struct attempt *attempt, int64_t now_ms);
/* When the rest of the output is to be given up; INT64_MAX: not by time. */
int64_t output_fetch_cut_at(const struct attempt *attempt);
void output_fetch_give_up(struct attempt *attempt);

#endif
