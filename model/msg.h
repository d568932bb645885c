/* SPDX-License-Identifier: Apache-2.0 */
/* msg.h: every message that sites, broker, hosts and the command line exchange.
 *
 * Each message states a whole fact, so that it does no harm if it is repeated or late.
 * The codec (proto/codec) has checked every field against bounds.h before a step
 * machine sees it: names are clean, counts and numbers are in range, enums are known.
 * The receiver decides what a name means.
 *
 * Units: milliseconds, bytes, KiB; whole slots.
 * Ownership: pointers are borrowed: on receipt they live until the step returns,
 * in an effect they live in the effects' arena. Texts are "" rather than NULL
 * unless the comment of a field says otherwise.
 * Source: docs/design/safety.md (numbers in brackets below are its steps).
 * Layer: model. */
#ifndef SUBLET_MODEL_MSG_H
#define SUBLET_MODEL_MSG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bounds.h"
#include "model/msg_client.h"
#include "model/msg_job.h"
#include "model/msg_lease.h"
#include "model/msg_run.h"

struct arena;
struct schema;
struct value;

enum { PROTOCOL_VERSION = 1 };

enum role { ROLE_PROVIDER = 1, ROLE_CONSUMER = 2, ROLE_ADMIN = 4 };

enum msg_kind {
    MSG_NONE,
    /* site <-> broker */
    MSG_HELLO,        /* site: opens a session */
    MSG_WELCOME,      /* broker: session accepted */
    MSG_USAGE,        /* site: heartbeat, totals, demand per lease */
    MSG_PONG,         /* broker: answers each USAGE */
    MSG_ERROR,        /* either: what was refused and why */
    MSG_STATE,        /* provider: a lease as in its ledger [Contract] */
    MSG_STATE_ASK,    /* broker: send STATE of this lease */
    MSG_FREEZE,       /* broker [1] */
    MSG_PROPOSE,      /* broker [3] */
    MSG_CONTRACT,     /* broker: a lease as its consumer is to see it [5] */
    MSG_CONTRACT_ACK, /* consumer */
    MSG_DRAIN, /* broker: an administrator's order, repeated until STATE has it */
    /* consumer <-> provider, relayed by the broker */
    MSG_START,         /* consumer [6] */
    MSG_ATTEMPT_ASK,   /* consumer: asks for the state of an attempt */
    MSG_ATTEMPT_STATE, /* provider [7, 8, 9]: the answer to START, ASK, CONTROL and
                          ACK; also sent on each change; once the attempt has
                          ended, repeated until ACK */
    MSG_ATTEMPT_ACK, /* consumer: the end is stored here, the provider may forget it [9]
                      */
    MSG_ATTEMPT_CONTROL, /* consumer: suspend, resume, signal, kill */
    /* site <-> host, and relayed between sites for leased runs */
    MSG_OUTPUT_ASK, /* asks for a piece of a run's output */
    MSG_OUTPUT,     /* the piece */
    /* consumer <-> provider again */
    MSG_LEASE_LOAD,     /* provider: resources and load of some or all hosts of a lease;
                           periodically, and on request */
    MSG_LEASE_LOAD_ASK, /* consumer: asks for them */
    /* site <-> sublet-host */
    MSG_HOST_HELLO,   /* host: opens a session; a RUN_STATE for each run follows */
    MSG_HOST_SYNCED,  /* host: all runs have been reported */
    MSG_HOST_WELCOME, /* site */
    MSG_HOST_ALIVE,   /* host: heartbeat */
    MSG_HOST_PONG,    /* site */
    MSG_RUN_START,    /* site: start a guard that waits */
    MSG_RUN_GO,       /* site: the guard is stored, the run may start */
    MSG_RUN_CONTROL,  /* site: suspend, resume, signal, kill */
    MSG_RUN_FORGET,   /* site: the end is stored, delete the run's directory */
    MSG_RUN_STATE,    /* host: state of a run; answers START, GO, CONTROL; on change */
    MSG_HOST_LOAD,    /* host: its resources and its load, complete, periodically */
    /* command line <-> site or broker */
    MSG_SUBMIT,
    MSG_JOB_CONTROL,
    MSG_WAIT,     /* answered when the job has ended */
    MSG_JOB_PEEK, /* a piece of a job's output */
    MSG_QUERY,    /* a listing */
    MSG_SET_RECLAIM,
    MSG_REPLY,
    MSG_SNAPSHOT,     /* an administrator asks the broker for a piece of its database */
    MSG_SET_DRAIN,    /* drains a lease or a site, or ends that */
    MSG_RECONFIG,     /* reads the configuration again */
    MSG_HOST_CONTROL, /* site: closes or opens a host */
    MSG_JOB_MOVE,     /* requeue, switch, btop, bbot */
    MSG_QUEUE_CONTROL,
    /* broker -> site; the order of the kinds is that of the wire */
    MSG_LEASE_OPEN, /* broker: a leaf of a plan is to have a contract; repeated until
                       STATE has it */
    MSG_RECALL,     /* broker: a leaf's contract is to shrink; repeated until STATE
                       has it */
    MSG_EVICT,      /* broker: the consumer is lost for longer than its term, and the
                       policy has ON_LOST=kill; repeated until nothing runs */
    /* the user of an interactive job, and the guard of its run, by site and host */
    MSG_STREAM_DOWN, /* user: input, and how much output has arrived */
    MSG_STREAM_UP,   /* guard: output, and how much input was accepted */
    /* jobs that are resized while they run */
    MSG_RUN_RESIZE, /* site: other slots; the notification command runs, RUN_STATE
                     * answers
                     */
    MSG_JOB_RESIZE, /* command line */
    /* runs that the journal of their site does not have */
    MSG_ATTEMPT_FOUND, /* provider: START as it was; answers an ASK that `lists`, before
                          the ATTEMPT_STATE */
    MSG_RUN_FOUND,     /* host: RUN_START as it was, before the RUN_STATE */
    MSG_ORPHAN,        /* command line: what becomes of them */
    MSG_REBALANCE,     /* broker: the rule is applied to a lease now */
    MSG_JOB_MODIFY,    /* command line: a waiting job becomes another one (bmod) */
    MSG_STEP_DOWN,     /* broker: it becomes a standby */
    MSG_LEDGER_ASK,    /* either site of a lease: asks for the other one's books */
    MSG_LEDGER,        /* a page of them */
    MSG_CLOCK,     /* whoever has a key asks a server for its time; the answer, too */
    MSG_JOB_GROUP, /* command line: adds, deletes or changes a job group */
    MSG_KINDS
};

struct msg_error {
    int code; /* enum err_code */
    const char *text;
    int about; /* the msg_kind that was refused; 0: none */
};

/* The wall clocks of both sides, in ms since 1970. */
struct msg_clock {
    int64_t asked_ms; /* of the side that asks, when it asked */
    int64_t now_ms;   /* of the side that answers; 0: the question */
};

/* The body of a message that the broker relays and does not open
 * (proto/codec_relay.h). */
struct msg_relayed {
    const char *run_site, *lease; /* NULL: the kind has none */
    int n_data;                   /* bytes of output or of a terminal */
    const uint8_t *body;
    int n_body;
};

struct msg {
    enum msg_kind kind;
    /* The session, between site and broker and between site and host. The connecting
     * side chooses the number at HELLO, above all numbers that it used before. Both
     * sides put it into all later messages. 0 for the command line. */
    uint64_t session;
    /* Of relayed messages: the receiver on the way to the broker, the sender on the way
     * from it. "": not relayed. */
    const char *site;
    bool is_relayed; /* the body is `relayed`, whatever the kind */
    union {
        struct msg_relayed relayed;
        struct msg_hello hello;
        struct msg_welcome welcome; /* also HOST_WELCOME */
        struct msg_usage usage;
        struct msg_pong pong;
        struct msg_error error;
        struct msg_state state;
        struct msg_lease state_ask;
        struct msg_freeze freeze;
        struct msg_propose propose;
        struct msg_drain drain;
        struct msg_lease_open lease_open;
        struct msg_recall recall;
        struct msg_evict evict;
        struct msg_contract contract;
        struct msg_contract_ack contract_ack;
        struct msg_start start;     /* also ATTEMPT_FOUND */
        struct msg_attempt attempt; /* ASK, ACK */
        struct msg_attempt_state attempt_state;
        struct msg_attempt_control lifecycle_control;
        struct msg_output_ask output_ask;
        struct msg_output output;
        struct msg_stream_down stream_down;
        struct msg_stream_up stream_up;
        struct msg_lease_load lease_load;
        struct msg_lease lease_load_ask;
        struct msg_ledger_ask ledger_ask;
        struct msg_ledger ledger;
        struct msg_host_hello host_hello;
        struct msg_host_alive host_alive; /* ALIVE, PONG */
        struct msg_host_load host_load;
        struct msg_run_start run_start; /* also RUN_FOUND */
        struct msg_run_go run_go;
        struct msg_run_control run_control;
        struct msg_run_resize run_resize;
        struct msg_run run; /* FORGET */
        struct msg_run_state run_state;
        struct msg_submit submit;
        struct msg_job_control job_control;
        struct msg_job_move job_move;
        struct msg_job_modify job_modify;
        struct msg_job_resize job_resize;
        struct msg_queue_control queue_control;
        struct msg_orphan orphan;
        struct msg_wait wait;
        struct msg_peek peek; /* JOB_PEEK */
        struct msg_query query;
        struct msg_set_reclaim set_reclaim;
        struct msg_rebalance rebalance;
        struct msg_set_drain set_drain;
        struct msg_reconfig reconfig; /* STEP_DOWN as well */
        struct msg_host_control host_control;
        struct msg_job_group job_group;
        struct msg_reply reply;
        struct msg_snapshot snapshot;
        struct msg_clock clock;
    };
};

/* The table of kinds: the tag of the body in the envelope, which is never used again,
 * and the fields of the body (model/schema.h), which is a member of the union. */
struct msg_kind_info {
    const char *name;
    int tag;
    const struct schema *schema;
};
extern const struct msg_kind_info msg_kinds[MSG_KINDS];

/* "FREEZE" and so on, for logs and metrics; "?" for a number out of range. */
const char *msg_kind_name(enum msg_kind kind);
/* A deep copy into an arena; `to` may be `from`. */
void msg_copy(struct arena *arena, const struct msg *from, struct msg *to);

#endif
