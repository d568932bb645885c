/* SPDX-License-Identifier: Apache-2.0 */
/* consumer.h: borrowing: the contracts this site may use, and its attempts on them.
 *
 * The consumer has each CONTRACT as the broker last sent it, offers its slots to the
 * scheduler as hosts `host@site`, and follows every attempt until its end is stored
 * here. START is repeated until it is answered, and a control until it is carried out.
 * Silence is never a reason to requeue. Output is fetched before the end is reported.
 *
 * Units: slots, milliseconds. Ownership: copied. Errors: messages that do not
 * apply are ignored. Order: contracts by lease id, attempts by number. Source:
 * docs/design/safety.md "Jobs" 6-9. Layer: consumer. */
#ifndef SUBLET_CONSUMER_CONSUMER_H
#define SUBLET_CONSUMER_CONSUMER_H

#include <stdbool.h>
#include <stdint.h>

#include "model/effect.h"

struct consumer;
struct consumer *consumer_new(const char *site);
void consumer_free(struct consumer *consumer);
/* A silent provider is asked so many times later, in a simulated world that loses no
 * message. */
void consumer_set_patience(struct consumer *consumer, int patience);

/* The broker's session has begun. Nothing new starts on a contract until it is sent
 * again. The state of each attempt is asked for. */
void consumer_session(struct consumer *consumer, uint64_t session, int64_t now_ms,
                      struct effects *effects);
/* How many commits the site's journal has, for START. */
void consumer_set_commits(struct consumer *consumer, uint64_t commits);
/* The broker is silent: contracts stay, but nothing starts or is sent. */
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
    int n_slots;         /* of the lease there, of both sides */
    int n_held;          /* slots the contract gives this site there */
    int n_used;          /* by its attempts that have neither ended nor yielded */
    bool is_open;        /* jobs may start: the contract is pending or active, its
                            provider connected, the host up */
    bool is_down;        /* the host, according to its provider */
    bool is_unreachable; /* its provider is not connected */
    bool is_made;
    bool is_exclusive;
    bool takes_interactive;
    const char *const *queues; /* only jobs of these may run there; n_queues 0: all */
    int n_queues;
    const struct space *spaces;             /* SPACES of them, given by the contract */
    const struct lease_resource *resources; /* of the contract */
    int n_resources;
};
int consumer_count_hosts(const struct consumer *consumer);
void consumer_host_at(const struct consumer *consumer, int index,
                      struct consumer_host *host);
/* Slots held on all of them, and those that no attempt uses where jobs may start. */
void consumer_count_slots(const struct consumer *consumer, int *n_held, int *n_idle);

/* Grows whenever contracts may give other memory or resources than before. */
uint64_t consumer_changes(const struct consumer *consumer);

/* The contract as last sent; false if there is none. */
int consumer_count_contracts(const struct consumer *consumer);
bool consumer_contract_at(const struct consumer *consumer, int index,
                          struct msg_contract *contract);
/* The time until the broker applies the rebalance rule to the contract next; -1: at no
 * regular instant. */
int64_t consumer_rebalance_in_ms(const struct consumer *consumer, int index,
                                 int64_t now_ms);
bool consumer_find_contract(const struct consumer *consumer, const char *lease,
                            struct msg_contract *contract);

/* The recalls of the contract with that index, by deadline; false: there is none.
 * Borrowed until the next CONTRACT for the lease. */
struct consumer_recall {
    const char *lease;
    int n_used; /* slots of attempts */
    const struct row_recall *recalls;
    int n_recalls;
    bool is_whole; /* whole hosts are recalled, of these */
    const struct host_split *hosts;
    const int *used; /* slots of attempts for each */
    int n_hosts;
};
bool consumer_recall_at(const struct consumer *consumer, int index,
                        struct consumer_recall *recall);

/* START_TIMEOUT: an attempt that has not started for so long is withdrawn. It goes on
 * being this site's until its provider says that it will not start (REFUSED, LOST).
 * Then nothing starts on its lease for as long. 0: never. */
void consumer_set_start_timeout(struct consumer *consumer, int64_t start_timeout_ms);
/* The journal is behind, and had attempts up to this one: they may have started and
 * ended. START is sent again only if the provider has never decided about the attempt;
 * if it has and knows no run, the attempt is LOST, and may have begun. */
void consumer_doubt(struct consumer *consumer, uint64_t attempt);
/* Its provider was asked to withdraw it, and has not answered yet. */
bool consumer_is_withdrawn(const struct consumer *consumer, uint64_t attempt);
/* Nothing starts on the lease, because an attempt on it was withdrawn. */
bool consumer_avoids(const struct consumer *consumer, const char *lease);
/* True if some lease is not avoided any more. */
bool consumer_end_avoiding(struct consumer *consumer, int64_t now_ms);

/* The state of an attempt, for the site to apply to its job. */
enum consumer_report_kind {
    CONSUMER_ADMITTED,
    CONSUMER_REFUSED, /* the job is requeued, and gets a new attempt later */
    CONSUMER_LOST, /* it never began, or its provider has no record of it: requeued if
                      it was never known to run, else as the job's rerun rule says */
    CONSUMER_RUNNING,
    CONSUMER_SUSPENDED,
    CONSUMER_CONTROLLED, /* control_done grew */
    CONSUMER_OUTPUT,     /* a piece to write (bytes, offset, stream); call
                            consumer_written when done */
    CONSUMER_ENDED,      /* its exit is known and all output is fetched: record it, then
                            call consumer_acknowledge */
    CONSUMER_UNKNOWN,    /* its provider has been silent for long: show UNKWN */
};
struct consumer_report {
    enum consumer_report_kind kind;
    uint64_t attempt;
    int64_t start_ms;
    uint64_t control_done;
    struct run_use use;  /* as its provider told last; at_ms 0: not yet */
    bool may_have_begun; /* LOST: the journal is behind, and does not know */
    struct run_exit exit;
    const char *reason;
    enum output_stream stream;
    int64_t offset;
    const uint8_t *bytes;
    int n_bytes;
};

/* A new attempt, *after* the site appended its ROW_JOB_STATE to the same effects: sends
 * START. `hosts` are the provider's names. At load (consumer_resume) START may or may
 * not have arrived; `is_admitted` says that it has. An attempt whose end is on record
 * is not resumed: its provider repeats the end until it is acknowledged. The spec is
 * copied until the attempt is decided. */
struct consumer_attempt {
    uint64_t attempt, nonce;
    const char *job;
    const char *lease;
    uint64_t epoch;
    const struct host_slots *hosts;
    int n_hosts;
    const struct job_spec *spec;
    int priority;      /* of its queue */
    int64_t end_by_ms; /* 0: no such time */
    bool is_admitted;
    bool has_out_file, has_err_file; /* output must be fetched before the end */
    struct run_control control;
};
void consumer_start(struct consumer *consumer, const struct consumer_attempt *attempt,
                    int64_t now_ms, struct effects *effects);
void consumer_resume(struct consumer *consumer, const struct consumer_attempt *attempt,
                     int64_t now_ms);
/* Sends the latest control, and repeats it until control_done reaches its number. */
void consumer_control(struct consumer *consumer, uint64_t attempt,
                      const struct run_control *control, int64_t now_ms,
                      struct effects *effects);
/* Why the attempt is suspended is not on record: others may use its slots. */
void consumer_keep_suspended(struct consumer *consumer, uint64_t attempt);
/* It is suspended by the latest control, and has yielded its slots. */
bool consumer_is_yielded(const struct consumer *consumer, uint64_t attempt);
/* A piece was written, or could not be: then the text of the end says what is missing.
 * After the last piece the end is reported by the next tick. */
void consumer_written(struct consumer *consumer, uint64_t attempt, bool is_ok,
                      int64_t now_ms, struct effects *effects);
/* A user has killed its job: if its run has ended, output that does not come within 10
 * s is given up, and the text of the end says so. */
void consumer_cut_output(struct consumer *consumer, uint64_t attempt, int64_t now_ms);
/* Its run has ended, and its output is being fetched. */
bool consumer_is_fetching(const struct consumer *consumer, uint64_t attempt);
/* The end is on record here: sends ATTEMPT_ACK and forgets the attempt. A provider that
 * asks again is answered by the site with another ACK. */
void consumer_acknowledge(struct consumer *consumer, uint64_t attempt,
                          struct effects *effects);

/* ATTEMPT_STATE and OUTPUT, relayed from a provider. An OUTPUT that the consumer did
 * not ask for is ignored; its own requests have bit 61 set. Calls `on_report` for each
 * change of an attempt; the report is valid until the call returns. An ended attempt
 * that is unknown here is acknowledged again. */
typedef void (*consumer_report_fn)(void *arg, const struct consumer_report *report);
void consumer_message(struct consumer *consumer, const struct msg *msg, int64_t now_ms,
                      struct effects *effects, consumer_report_fn on_report, void *arg);
/* Repeats messages (START and controls every 1 s, ASK every 10 s), UNKNOWN after 30 s
 * of silence.
 */
void consumer_tick(struct consumer *consumer, int64_t now_ms, struct effects *effects,
                   consumer_report_fn on_report, void *arg);
int64_t consumer_wake_ms(const struct consumer *consumer);

/* ---- orphans: runs at providers that the journal does not have, because it was
 * replaced by an older copy or has lost commits. Their slots are in use. */

/* Attempts that a lost part of the journal may have sent; `to` 0: none. With
 * `is_asking` providers are asked for their runs from now on. */
void orphan_keep(struct consumer *consumer, uint64_t from, uint64_t to, bool is_asking,
                 int64_t now_ms);
/* ATTEMPT_FOUND. True: there is one more. */
bool orphan_found(struct consumer *consumer, const struct msg *msg, int64_t now_ms,
                  struct effects *effects);

struct consumer_orphan {
    const struct msg_start *start;
    const char *provider;
    enum run_phase phase;
    int64_t start_ms;
    uint64_t control_done;
    bool is_given_up; /* it is being ended */
};
/* The first one above that attempt; false: there is none. Borrowed until the next
 * message. */
bool orphan_next(const struct consumer *consumer, uint64_t after,
                 struct consumer_orphan *orphan);
/* A job has it now: it is followed and reported as any other. */
void orphan_adopt(struct consumer *consumer, uint64_t attempt, int64_t now_ms);
/* It is killed, and forgotten when it has ended. */
void orphan_end(struct consumer *consumer, uint64_t attempt, int64_t now_ms,
                struct effects *effects);

/* For USAGE: demands in lease id order; `waiting` gives n_waiting per contract index.
 */
void consumer_demands(const struct consumer *consumer, const int *waiting,
                      struct arena *arena, struct lease_demand **demands,
                      int *n_demands);

/* For USAGE: what jobs use of the contracts of leaves, by priority of their queues. The
 * entries are not merged, and in no order; there is room for `n_more` others. */
struct priority_use *consumer_uses(const struct consumer *consumer, int n_more,
                                   struct arena *arena, int *n_uses);

#endif
