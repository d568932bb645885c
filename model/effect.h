/* SPDX-License-Identifier: Apache-2.0 */
/* effect.h: the input (events) and output (effects) of a step machine.
 *
 * An event carries the time. The shell carries out effects in their order, except that
 * all STOREs of a batch of events are committed in one transaction before anything else
 * of the batch is done. A shell ends every batch with one EVENT_TICK.
 *
 * Ownership: effects own an arena that holds all that they point to, until
 * effects_clear. An event's pointers live until the step returns. Layer: model. */
#ifndef SUBLET_MODEL_EFFECT_H
#define SUBLET_MODEL_EFFECT_H

#include "base/arena.h"
#include "model/msg.h"
#include "model/row.h"

/* The other end of a connection, authenticated by CURVE key, as a host of this site, or
 * by the kernel's credentials. RUN: a run of this host, which gets its orders. */
enum peer_kind { PEER_NONE, PEER_BROKER, PEER_SITE, PEER_HOST, PEER_CLIENT, PEER_RUN };

/* How a sublet-host shows which host it is. */
enum host_proof {
    HOST_PROOF_LOCAL,  /* it reached the site's own socket, which only root can */
    HOST_PROOF_SHARED, /* it has HOST_KEY: it may be any host but those of HOSTS_HERE */
    HOST_PROOF_KEY,    /* it has the key of the host that is its peer's name */
};

struct peer {
    enum peer_kind kind;
    const char *name; /* member (site, or admin's key), host, user */
    uint64_t link;    /* the connection, so that an answer goes back the same way */
    int roles;        /* enum role: members of the broker; a site's admin: ROLE_ADMIN;
                         of hosts: enum host_proof */
    int64_t uid, gid; /* clients of a site */
};

enum event_kind {
    EVENT_TICK,    /* time has passed, or a batch ends */
    EVENT_MESSAGE, /* `msg` has arrived from `from` */
    EVENT_GONE,    /* the connection `from` has closed (clients; best effort) */
    EVENT_WRITTEN, /* output of job `job` was written up to `offset` or failed */
};

struct event {
    enum event_kind kind;
    int64_t now_ms; /* grows; close to wall clock */
    struct peer from;
    const struct msg *msg;
    uint64_t nonce; /* MESSAGE: of a SUBMIT, a random number of 63 bits, never 0 */
    int64_t utc_offset_ms; /* TICK: of local time, for time windows */
    int64_t
        last_tick_us; /* TICK: duration of the shell's last tick; only for display */
    struct {
        uint64_t job;
        int error; /* errno; 0: written */
    } written;
};

enum effect_kind {
    EFFECT_STORE,
    EFFECT_SEND,
    EFFECT_RECONNECT, /* the broker is silent, or a standby: close the uplink, and open
                         it to another one */
    EFFECT_HISTORY,   /* read history rows from the store and send them as REPLY */
    EFFECT_SNAPSHOT,  /* send a piece of a copy of the store as REPLY */
    EFFECT_RELOAD,    /* read the configuration again, pass it in, send REPLY */
    EFFECT_STEP_DOWN, /* broker: send REPLY, and become a standby; as `reload` */
    EFFECT_WRITE,     /* write a piece of fetched output as the job's user */
    EFFECT_LOG,
};

enum log_level {
    LOG_LEVEL_ERROR = 3,
    LOG_LEVEL_WARNING,
    LOG_LEVEL_NOTICE,
    LOG_LEVEL_INFO,
    LOG_LEVEL_DEBUG
};

struct effect {
    enum effect_kind kind;
    union {
        struct row row;
        struct {
            struct peer to; /* kind and name, or kind and link */
            struct msg msg;
        } send;
        struct {
            const char *endpoint; /* of the leader, from a standby; "": not known */
        } reconnect;
        struct {
            struct peer to;
            uint64_t session;       /* of the query, for the REPLY */
            struct msg_query query; /* name: the lease; after: seq; limit */
            const uint64_t *keys;   /* of a site: these jobs, if the query names none */
            int n_keys;
            bool has_more; /* there are more jobs than those */
        } history;
        struct {
            struct peer to;
            uint64_t session;
            struct msg_snapshot ask;
        } snapshot;
        struct {
            struct peer to;
            uint64_t session, request;
        } reload;
        struct {
            uint64_t job; /* key (model/job_id.h) */
            int64_t uid, gid;
            const char *path; /* absolute */
            int64_t umask;
            int64_t offset;
            bool makes_directory; /* that of the path, with those above it (-outdir) */
            bool replaces; /* the piece at offset 0 empties the file, and each has its
                              place; else they are appended */
            const uint8_t *bytes;
            int n_bytes;
        } write;
        struct {
            enum log_level level;
            const char *text;
        } log;
    };
};

struct effects {
    struct arena arena;
    struct effect *items;
    int count, capacity;
};

void effects_init(struct effects *effects);
void effects_clear(struct effects *effects);
/* Frees the room for more effects, if it is kept for long. */
void effects_trim(struct effects *effects);
void effects_release(struct effects *effects);

/* Appends a zeroed effect. The pointer is valid until the next append. */
struct effect *effects_add(struct effects *effects, enum effect_kind kind);

/* The row, or the message, is copied with all that it points to. A reply's `value` must
 * live in the effects' arena. */
void effects_store(struct effects *effects, const struct row *row);
void effects_send(struct effects *effects, const struct peer *to,
                  const struct msg *msg);
void effects_log(struct effects *effects, enum log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Sends a REPLY: an error (code < 0, with a sentence), or success. */
void effects_reply_error(struct effects *effects, const struct peer *to,
                         uint64_t request, int code, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* An error with a value that the command line shows in addition to the sentence. */
void effects_reply_refusal(struct effects *effects, const struct peer *to,
                           uint64_t request, int code, const char *text,
                           const struct value *value);
void effects_reply(struct effects *effects, const struct peer *to, uint64_t request,
                   const char *text, const struct value *value, const char *next);

#endif
