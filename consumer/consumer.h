/* SPDX-License-Identifier: Apache-2.0 */
/* consumer.h: borrowing: the contracts this site may use, and its attempts on them.
 *
 * The consumer has each CONTRACT as the broker last sent it, offers its slots to the
 * scheduler as hosts `host@site`, and follows every attempt until its end is stored
 * here. START is sent again until answered; silence is never a reason to requeue;
 * orders are sent again until carried out; output is fetched before the end is
 * reported.
 *
 * Units: slots, milliseconds. Ownership: copied. Errors: messages that make no sense
 * here are ignored. Order: contracts by lease id, attempts by number. Source:
 * docs/design/safety.md "Jobs" 6-9. Layer: consumer. */
#ifndef SUBLET_CONSUMER_CONSUMER_H
#define SUBLET_CONSUMER_CONSUMER_H

#include <stdbool.h>
#include <stdint.h>

#include "model/effect.h"

struct consumer;
struct consumer *consumer_new(const char *site);
void consumer_free(struct consumer *consumer);
/* Silence of a provider raises questions so many times later, in a simulated world
 * where nothing is lost. */
void consumer_set_patience(struct consumer *consumer, int patience);

/* The broker's session began. Nothing new starts on a contract before it was sent
 * again. Attempts are asked about. */
void consumer_session(struct consumer *consumer, uint64_t session, int64_t now_ms,
                      struct effects *effects);
/* The broker is silent: contracts stay, nothing new starts, nothing is sent. */
void consumer_broker_lost(struct consumer *consumer);
/* CONTRACT of this session; sends the ACK. */
void consumer_contract(struct consumer *consumer, const struct msg *msg, int64_t now_ms,
                       struct effects *effects);

/* Borrowed hosts as the scheduler sees them; index from 0, in lease id order, then the
 * contract's host order. */
struct consumer_host {
    const char *name; /* "n1@north" */
    const char *host; /* "n1" */
    const char *site; /* "north" */
    const char *lease;
    uint64_t epoch;
    int n_slots;     /* of the lease there, of both sides */
    int n_held;      /* slots the contract gives this site there */
    int n_used;      /* by its attempts that have neither ended nor yielded */
    bool is_open;    /* something may start: contract pending or active, provider
                        here, host up */
    bool is_down;    /* the host, by its provider's word */
    bool is_unheard; /* its provider is out of reach: no order arrives */
    bool is_made;
    bool is_exclusive;
    bool takes_interactive;
    const char *const *queues; /* whose jobs alone may go there; n_queues 0: all */
    int n_queues;
    const struct space *spaces; /* SPACES of them, that the contract gives it there */
    const struct lease_resource *resources; /* of the contract */
    int n_resources;
};
int consumer_count_hosts(const struct consumer *consumer);
void consumer_host_at(const struct consumer *consumer, int index,
                      struct consumer_host *host);

/* Grows whenever what contracts give besides slots may be other than before. */
uint64_t consumer_changes(const struct consumer *consumer);

/* A contract's standing for display and demand: false where the id is unknown. */
int consumer_count_contracts(const struct consumer *consumer);
bool consumer_contract_at(const struct consumer *consumer, int index,
                          struct msg_contract *contract);
bool consumer_find_contract(const struct consumer *consumer, const char *lease,
                            struct msg_contract *contract);

/* What is recalled of the contract with that index, by deadline; false: nothing.
 * Borrowed until the next CONTRACT for the lease. */
struct consumer_recall {
    const char *lease;
    int n_used; /* slots of attempts */
    const struct row_recall *recalls;
    int n_recalls;
    bool is_whole; /* whole hosts are: these */
    const struct host_split *hosts;
    const int *used; /* slots of attempts for each */
    int n_hosts;
};
bool consumer_recall_at(const struct consumer *consumer, int index,
                        struct consumer_recall *recall);

/* What an attempt has come to; the site applies it to its job. */
enum consumer_report_kind {
    CONSUMER_TAKEN,
    CONSUMER_REFUSED, /* requeue, new attempt later */
    CONSUMER_LOST,    /* never began, or its trace is gone: requeue if never known to
                         run, else as the job's rerun rule says */
    CONSUMER_RUNNING,
    CONSUMER_SUSPENDED,
    CONSUMER_CONTROLLED, /* control_done grew */
    CONSUMER_OUTPUT,     /* a piece to write (bytes, offset, stream); call
                            consumer_written when done */
    CONSUMER_ENDED,      /* exit is known and all output is here: record it, then
                            consumer_acknowledge */
    CONSUMER_UNKNOWN,    /* provider silent for long: show UNKWN; RUNNING etc. follow */
};
struct consumer_report {
    enum consumer_report_kind kind;
    uint64_t attempt;
    int64_t start_ms;
    uint64_t control_done;
    struct run_exit exit;
    const char *reason;
    enum output_stream stream;
    int64_t offset;
    const uint8_t *bytes;
    int n_bytes;
};

/* A new attempt, *after* the site appended its ROW_JOB_STATE to the same effects: sends
 * START. `hosts` are the provider's names. At load (consumer_resume): START may or may
 * not have arrived; `is_taken`: it has. One whose end is on record is not resumed: its
 * provider tells the end until it is acknowledged, and that needs no attempt here. The
 * spec is kept until the attempt is decided. */
struct consumer_attempt {
    uint64_t attempt;
    const char *job;
    const char *lease;
    uint64_t epoch;
    const struct host_slots *hosts;
    int n_hosts;
    const struct job_spec *spec;
    int priority;      /* of its queue */
    int64_t end_by_ms; /* 0: no such time */
    bool is_taken;
    bool has_out_file, has_err_file; /* output must be fetched before the end */
    struct run_control control;
};
void consumer_start(struct consumer *consumer, const struct consumer_attempt *attempt,
                    int64_t now_ms, struct effects *effects);
void consumer_resume(struct consumer *consumer, const struct consumer_attempt *attempt,
                     int64_t now_ms);
/* The latest order; sends it, and again until control_done reaches its number. */
void consumer_control(struct consumer *consumer, uint64_t attempt,
                      const struct run_control *control, int64_t now_ms,
                      struct effects *effects);
/* It is suspended, as the latest order said, and has yielded its slots. */
bool consumer_is_yielded(const struct consumer *consumer, uint64_t attempt);
/* A piece was written (or could not be: error; the end is then reported with what is
 * missing in its text). After the last piece the end is reported by the next tick. */
void consumer_written(struct consumer *consumer, uint64_t attempt, bool is_ok,
                      int64_t now_ms, struct effects *effects);
/* The end is on record here: sends ATTEMPT_ACK and forgets the attempt. A provider that
 * asks again is answered by the site with another ACK. */
void consumer_acknowledge(struct consumer *consumer, uint64_t attempt,
                          struct effects *effects);

/* ATTEMPT_STATE, OUTPUT relayed from a provider (an OUTPUT that it did not ask for is
 * ignored; its own requests have bit 61 set). Calls `on_report` for each piece of
 * news, at most a few; what it points to lives until the call returns. An ended attempt
 * that is unknown here is acknowledged again. */
typedef void (*consumer_report_fn)(void *arg, const struct consumer_report *report);
void consumer_message(struct consumer *consumer, const struct msg *msg, int64_t now_ms,
                      struct effects *effects, consumer_report_fn on_report, void *arg);
/* Resends (START and orders every 1 s, ASK every 10 s), UNKNOWN after 30 s of silence.
 */
void consumer_tick(struct consumer *consumer, int64_t now_ms, struct effects *effects,
                   consumer_report_fn on_report, void *arg);
int64_t consumer_wake_ms(const struct consumer *consumer);

/* For USAGE: demands in lease id order; `waiting` gives n_waiting per contract index.
 */
void consumer_demands(const struct consumer *consumer, const int *waiting,
                      struct arena *arena, struct lease_demand **demands,
                      int *n_demands);

#endif
