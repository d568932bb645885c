/* SPDX-License-Identifier: Apache-2.0 */
/* job_attempt.h: this site's attempts on borrowed slots, and the messages about them to
 * their providers.
 *
 * An attempt only moves forward: sent, taken, running or suspended, ended. Each message
 * is sent again after a while until its purpose is met.
 *
 * Ownership: copied; the whole START stays until the attempt is decided.
 * Order: by attempt number. Source: docs/design/safety.md [6]. Layer: consumer. */
#ifndef SUBLET_CONSUMER_ATTEMPT_H
#define SUBLET_CONSUMER_ATTEMPT_H

#include "consumer/consumer.h"

enum {
    ATTEMPTS_RESEND_MS = 1000,   /* START, orders, output */
    ATTEMPTS_ASK_MS = 10000,     /* how is it, where nothing was heard for so long */
    ATTEMPTS_UNKNOWN_MS = 30000, /* silence after which its state counts as unknown */
};

enum attempts_phase {
    ATTEMPTS_SENT, /* START may have arrived or not */
    ATTEMPTS_TAKEN,
    ATTEMPTS_RUNNING,
    ATTEMPTS_SUSPENDED,
    ATTEMPTS_ENDED, /* the end is known; its output may still be there */
};

enum output_fetch_phase { FETCH_NONE, FETCH_ASKED, FETCH_WRITING, FETCH_DONE };

struct attempt {
    uint64_t number;
    char *lease, *provider;
    struct host_slots *hosts;
    int n_hosts;
    enum attempts_phase phase;
    struct arena start_memory; /* of what START says; empty once decided */
    struct row start;          /* as a ROW_RUN */
    uint64_t epoch;
    bool has_out_file, has_err_file;
    bool has_post; /* commands are to run after it */
    struct run_control control;
    uint64_t control_done;
    int64_t start_ms;
    bool is_yielded;  /* it is suspended, and its slots are not in use */
    bool is_unknown;  /* silent for long, and reported so */
    bool is_reported; /* its end was */
    int64_t heard_ms, said_ms, asked_ms, ordered_ms; /* START or output; ASK; order */
    struct run_exit exit;
    char *end_text;
    /* Output that is being fetched, one piece at a time. */
    enum output_fetch_phase fetch;
    enum output_stream stream;
    int64_t offset;
    uint64_t request;
    int n_piece;        /* bytes of the piece being written */
    bool is_last_piece; /* of the stream */
};

struct attempts {
    char *site; /* this one */
    uint64_t session;
    uint64_t requests; /* counter of OUTPUT_ASK */
    struct attempt **items;
    int count, capacity;
};

void attempts_init(struct attempts *attempts, const char *site);
void attempts_release(struct attempts *attempts);

struct attempt *attempts_find(const struct attempts *attempts, uint64_t number);
/* The first one above a number, or NULL: to walk while attempts come and go. */
struct attempt *attempts_next(const struct attempts *attempts, uint64_t number);
/* Its provider has answered START. */
bool attempt_is_decided(const struct attempt *attempt);
bool attempt_is_ended(const struct attempt *attempt);

/* NULL where the number is there already. */
struct attempt *attempts_add(struct attempts *attempts,
                             const struct consumer_attempt *from, int64_t now_ms);
void attempts_remove(struct attempts *attempts, uint64_t number);
/* It was taken: START is not needed any more. */
void attempts_decide(struct attempt *attempt);

/* Each says nothing without a session. */
void attempts_send_start(struct attempts *attempts, struct attempt *attempt,
                         int64_t now_ms, struct effects *effects);
void attempts_send_ask(struct attempts *attempts, struct attempt *attempt,
                       int64_t now_ms, struct effects *effects);
/* Sends the latest order, unless it was carried out or was just sent. */
void attempts_send_order(struct attempts *attempts, struct attempt *attempt,
                         int64_t now_ms, struct effects *effects);
void attempts_send_acknowledge(struct attempts *attempts, const char *provider,
                               uint64_t number, struct effects *effects);
void attempts_send_output_ask(struct attempts *attempts, struct attempt *attempt,
                              int64_t now_ms, struct effects *effects);

/* ------------------------------------------------------------ output_fetch.c */

/* The attempt has ended: asks for the first piece, or there is none to ask for. */
void output_fetch_begin(struct attempts *attempts, struct attempt *attempt,
                        int64_t now_ms, struct effects *effects);
/* Asks again where an answer is due. */
void output_fetch_ask_again(struct attempts *attempts, struct attempt *attempt,
                            int64_t now_ms, struct effects *effects);
/* A piece came. True: it is to be written, output_fetch_written follows. */
bool output_fetch_take(struct attempts *attempts, struct attempt *attempt,
                       const struct msg_output *piece, int64_t now_ms,
                       struct effects *effects);
void output_fetch_written(struct attempts *attempts, struct attempt *attempt,
                          bool is_ok, int64_t now_ms, struct effects *effects);

#endif
