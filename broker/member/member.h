/* SPDX-License-Identifier: Apache-2.0 */
/* member.h: the members of the federation: which roles each may have, which are
 * connected, and in which session.
 *
 * A site opens a session with HELLO and a number of its choice, above all that it used
 * before. Messages of an earlier session are ignored. A site that is silent for
 * LOST_AFTER is lost; any message of its session, or a new HELLO, brings it back.
 *
 *     HELLO n    accepted if n is above the current session, or the current session is
 *                lost, or there was none since this broker started. The same n again is
 *                answered again
 *
 * Units: milliseconds. Ownership: names are copied; members live as long as the table.
 * Order: by name. Source: docs/design/safety.md "Everywhere", docs/design/interfaces.md
 * "Configuration" LOST_AFTER. Layer: broker. */
#ifndef SUBLET_BROKER_MEMBER_MEMBER_H
#define SUBLET_BROKER_MEMBER_MEMBER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/timer_heap.h"
#include "broker/member/streams.h"
#include "model/effect.h"

struct broker_config;
struct lease;

/* How a lease or a site looked when it was last listed, and since which revision
 * (revision.h). */
struct revision_stamp {
    uint64_t stamp, revision;
};

struct member {
    struct timer timer; /* first, see timer_heap.h; expires when silence would mean that
                           the member is lost */
    char name[NAME_SIZE];
    int roles_allowed; /* by the configuration; 0: not a member any more, but leases
                          name it */
    int max_leases;    /* with each other site, by the configuration; 0: not given */
    int roles_before;  /* members_reload's */
    bool is_refused; /* a STATE in this session named a consumer that is no member, or a
                        lease too many: to be stated again when members change */
    int roles;       /* of roles_allowed, what HELLO claimed */
    uint64_t session; /* 0: none since the start */
    uint64_t link;    /* the connection that said HELLO: messages go there */
    bool is_here;
    bool is_known;   /* it was here once, maybe before a restart; on disk, as are ... */
    bool is_lost;    /* ... this (never by a restart alone) ... */
    bool is_drained; /* ... and this: all its leases are drained, by an administrator */
    int64_t last_message_ms;
    int64_t since_ms;    /* it is here, or away, since then */
    int64_t silent_ms;   /* the first start of the broker after which no message of it
                            has arrived; on disk; 0: one has */
    int64_t patience_ms; /* no LEASE_TERM ends before */
    int64_t reclaim_delay_ms; /* MC_RECLAIM_DELAY of the site; 0: not configured */
    uint64_t revision;        /* of the last CONTRACT in this session */
    int n_leases;             /* open leases that it provides */
    int n_lease_hosts; /* hosts of all leases that it provides, also ended ones */
    struct lease *lent, *borrowed; /* all leases that name it, in no order
                                      (lease.h) */
    struct msg_usage usage;        /* the latest of this session, without its lists */
    bool has_usage;
    struct queue_demand *queues; /* of the latest usage, sorted by queue */
    int n_queues;
    int64_t asked_ms;          /* when more of its jobs waited than before */
    struct priority_use *uses; /* likewise; sorted by lease and priority once they are
                                  looked at */
    int n_uses;
    bool are_uses_sorted;
    struct journal_mark mark; /* how far its journal was at most; on disk some seconds
                                 later */
    bool is_mark_unstored;
    int64_t mark_stored_ms;
    uint64_t n_usages;            /* grows with each USAGE, and with each session */
    struct token_bucket sessions; /* that it may open: each has all its leases stated,
                                     and their consumers told */
    struct streams streams;       /* of terminals, from this site */
    struct revision_stamp stamp;
};

struct members {
    struct member **items;
    int count, capacity;
    int64_t lost_after_ms;
    struct timer_heap timers;
};

void members_init(struct members *members, const struct broker_config *config);
void members_release(struct members *members);
/* Restores a row from disk; of a site that is no member: nothing. */
void members_load(struct members *members, const struct row_site *row);
/* Replaces the configuration. A site that is no member any more stays, without roles. A
 * member is away until its next HELLO if its session has a role that it may not have
 * any more, or lacks one that it may have now, or if it is a provider that had a lease
 * with a site that was no member. */
void members_reload(struct members *members, const struct broker_config *config,
                    int64_t now_ms);

/* All are away after a start. A lost member is away since it was lost. One that was not
 * is away since the first start after which no message of it has arrived, and is lost
 * after LOST_AFTER. */
void members_start(struct members *members, int64_t now_ms, struct effects *effects);

/* The member, or NULL. */
struct member *members_find(const struct members *members, const char *name);
/* The member, or a new one without roles: a lease on disk may name a site that was
 * removed from the configuration since. */
struct member *members_find_or_retire(struct members *members, const char *name);

/* MAX_LEASES of the two: the smaller one if both have one. */
int members_max_leases(const struct member *provider, const struct member *consumer);

enum hello_verdict {
    HELLO_REFUSED,  /* an earlier session than the open one */
    HELLO_TOO_SOON, /* it has opened too many lately */
    HELLO_REPEATED, /* the open session: nothing has changed */
    HELLO_ACCEPTED,
};
enum hello_verdict members_hello(struct members *members, struct member *member,
                                 uint64_t session, uint64_t link,
                                 const struct msg_hello *hello, int64_t now_ms);

/* A message of the member's session came: true if it was lost until now. */
bool members_note_message(struct members *members, struct member *member,
                          int64_t now_ms);

/* Marks the next member that has been silent for too long as lost, and returns it; NULL
 * if there is none. */
struct member *members_lose(struct members *members, int64_t now_ms);
int64_t members_wake_ms(const struct members *members);

/* The site has sent a mark. It is stored now and then: a start of the broker may forget
 * the last one. */
void member_note_mark(struct member *member, const struct journal_mark *mark,
                      int64_t now_ms, struct effects *effects);

/* ---------------------------------------------------------------- one member */

/* Stores its row. */
void member_store(const struct member *member, struct effects *effects);
/* Puts an event of a site into history, or with "" one of the whole federation. */
void member_record(const char *site, enum history_event what, const char *reason,
                   int64_t now_ms, struct effects *effects);

/* It is here, in that role. */
bool member_is_here(const struct member *member, enum role role);

/* When a member that is away has been away for `term_ms`, restarts of the broker
 * included; but not before it has had LOST_AFTER since the latest start to come back.
 */
int64_t member_term_ms(const struct member *member, int64_t term_ms);

/* Replaces what waits in its queues, and what its jobs use of contracts of leaves. */
void member_set_demand(struct member *member, const struct msg_usage *usage);
/* What waits in these queues (n_queues 0: in all), list by list; NULL behind the last.
 * `*at` is 0 at first. */
const struct queue_demand *member_demands(const struct member *member,
                                          const char *const *queues, int n_queues,
                                          int *at, int *n_demands);
/* Slots that wait in these queues; n_queues 0: in all. */
int64_t member_count_waiting(const struct member *member, const char *const *queues,
                             int n_queues);

/* What its jobs use of the contract, lowest priority first. */
const struct priority_use *member_find_uses(struct member *member, const char *lease,
                                            int *n_uses);

/* ---------------------------------------------------------------- outbox.c */

/* The broker's messages: to a member in its session, or back to the sender of a
 * message. Texts are copied into the effects' arena; everything else that a message
 * points to must be there already. */

/* Under the member's session, over the link of its HELLO. `site` is the sender of a
 * relayed message, else "". The message's session and site are filled in. */
void outbox_send(struct effects *effects, const struct member *to, const char *site,
                 const struct msg *msg);

/* MSG_ERROR about the event's message, under the session that the message named, so
 * that the sender knows it as its own. Logged as a warning, except a stale session. */
void outbox_refuse(struct effects *effects, const struct event *event, int code,
                   const char *format, ...) __attribute__((format(printf, 4, 5)));

/* REPLY to a request, under the session of the message that asked. */
void outbox_reply(struct effects *effects, const struct event *event, uint64_t request,
                  const char *text, const struct value *value, const char *next);
void outbox_reply_error(struct effects *effects, const struct event *event,
                        uint64_t request, int code, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

#endif
