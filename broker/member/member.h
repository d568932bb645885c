/* SPDX-License-Identifier: Apache-2.0 */
/* member.h: the members of the federation: who may be what, who is here, in which
 * session.
 *
 * A site opens a session with HELLO and a number of its choice, above all that it used
 * before; what an earlier session sent counts for nothing. A site that is silent for
 * LOST_AFTER is lost; any message of its session, or a new HELLO, brings it back.
 *
 *     HELLO n    accepted if n is above the current session, or the current one is
 * lost, or none was seen since this broker started; the same n again is answered again
 *
 * Units: milliseconds. Ownership: names are copied; members live as long as `sessions`.
 * Order: members by name. Source: ARCHITECTURE 2 "Everywhere", INTERFACES 1 LOST_AFTER.
 * Layer: broker (base only). */
#ifndef SUBLET_BROKER_MEMBER_MEMBER_H
#define SUBLET_BROKER_MEMBER_MEMBER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/timer_heap.h"
#include "broker/broker.h"
#include "broker/member/streams.h"
#include "broker/revision.h"
#include "model/effect.h"

struct lease;

struct member {
    struct timer
        alarm; /* first: timer_heap.h; when silence would mean that it is lost */
    char name[NAME_SIZE];
    int roles_allowed; /* by the configuration; 0: no member any more, but leases name
                          it */
    int roles_before;  /* members_reload's */
    bool is_refused;   /* a STATE in this session names who is no consumer: to be told
                          anew when members change */
    int roles;         /* of those, what HELLO claimed */
    uint64_t session;  /* 0: none was seen since the start */
    uint64_t link;     /* the connection that said HELLO: where messages go */
    bool is_here;
    bool is_known;   /* it was here once, maybe before a restart: on disk ... */
    bool is_lost;    /* ... like this; a restart alone loses nobody */
    bool is_drained; /* by an administrator: its leases are, those to come too */
    int64_t heard_ms;
    int64_t since_ms;         /* here or away */
    int64_t silent_ms;        /* a start of the broker: nothing was heard of it since,
                                 by any; on disk; 0: something was */
    int64_t patience_ms;      /* no LEASE_TERM ends before */
    int64_t reclaim_delay_ms; /* MC_RECLAIM_DELAY of the site; 0: not configured */
    uint64_t revision;        /* of the last CONTRACT in this session */
    int n_leases, n_lease_hosts; /* open, that it is provider of; hosts: of ended too */
    struct lease *lent, *borrowed; /* lease_table.h: all that name it, in no order */
    struct msg_usage usage;        /* the latest of this session, without its demands */
    bool has_usage;
    struct queue_demand *queues; /* of that usage: where something waits */
    int n_queues;
    uint64_t n_usages;      /* grows with each, and with each session */
    struct streams streams; /* that it says */
    struct change change;
};

struct members {
    struct member **items;
    int count;
    int64_t lost_after_ms;
    struct timer_heap alarms;
};

void members_init(struct members *sessions, const struct broker_config *config);
void members_release(struct members *sessions);
/* As the disk has it; of no member: nothing. */
void members_load(struct members *sessions, const struct row_site *row);
/* Other members. Who is none any more keeps its place, without roles; whose session has
 * a role that it may not have any more, or lacks one that it may have now, is away
 * until its next HELLO; likewise a provider that had a lease with no member. */
void members_reload(struct members *sessions, const struct broker_config *config,
                    int64_t now_ms);

/* The member's row. */
void member_store(const struct member *member, struct effects *effects);
/* Nobody is here. Who was lost is away since then; who was not, since the first start
 * of which it has not been heard, and is lost after LOST_AFTER. */
void members_start(struct members *sessions, int64_t now_ms, struct effects *effects);

/* When a member that is away has been so for `term_ms`, restarts of the broker or not;
 * but not before it has had LOST_AFTER since the latest start to come back. */
int64_t member_term_ms(const struct member *member, int64_t term_ms);

/* The member, or NULL. */
struct member *members_find(const struct members *sessions, const char *name);
/* The member, or a new one without roles: a lease on disk may name a site that was
 * taken off the list since. */
struct member *members_find_or_retire(struct members *sessions, const char *name);

enum hello_verdict {
    HELLO_REFUSED,  /* an earlier session than the one that is open */
    HELLO_REPEATED, /* the one that is open: nothing has changed */
    HELLO_ACCEPTED,
};
enum hello_verdict members_hello(struct members *sessions, struct member *member,
                                 uint64_t session, uint64_t link,
                                 const struct msg_hello *hello, int64_t now_ms);

/* A message of the member's session came: true where it was lost until now. */
bool members_hear(struct members *sessions, struct member *member, int64_t now_ms);

/* Marks the next member that has been silent for too long as lost and returns it; NULL
 * where there is none. */
struct member *members_lose(struct members *sessions, int64_t now_ms);
int64_t members_wake_ms(const struct members *sessions);

/* Here, in that role. */
bool member_is_here(const struct member *member, enum role role);

#endif
