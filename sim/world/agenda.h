/* SPDX-License-Identifier: Apache-2.0 */
/* agenda.h: the future events of a simulated world, ordered by time.
 *
 * Units: virtual milliseconds. Ownership: the agenda owns the messages of its items,
 * the caller those of items it has taken. Order: by time, then in the order of adding.
 * Layer: sim (model, base). */
#ifndef SUBLET_SIM_WORLD_AGENDA_H
#define SUBLET_SIM_WORLD_AGENDA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "model/effect.h"

enum agenda_kind {
    AGENDA_MESSAGE,       /* daemon to daemon */
    AGENDA_TO_HOST,       /* site `from` to its host `to` */
    AGENDA_FROM_HOST,     /* host `from` to its site `to` */
    AGENDA_RUN_END,       /* the work of run `number` on host `to` is done */
    AGENDA_WRITTEN,       /* output of job `number` of site `to` is on disk */
    AGENDA_RESTART,       /* daemon `to` comes back */
    AGENDA_HOST_TICK,     /* heartbeat of host `to` */
    AGENDA_HOST_RETURN,   /* the agent of host `to` is started again */
    AGENDA_LEAVE_DEPOSED, /* site `to` connects to the new one of two brokers */
    AGENDA_DEPOSED_END,
};

struct agenda_item {
    int64_t at_ms;
    uint64_t order;
    enum agenda_kind kind;
    int from, to;
    uint64_t number;
    bool is_to_deposed;    /* message to the deposed one of two brokers */
    struct posted *posted; /* of a message */
};

/* The effects of a batch that was committed, as long as one of its messages is in
 * transit. */
struct sent {
    struct effects effects;
    int n_users;
};
void agenda_release_sent(struct sent *sent);

/* A message in transit. */
struct posted {
    const struct msg *msg;
    struct sent *sent;  /* the batch that has it; NULL: it is a copy, in ... */
    struct arena arena; /* ... this arena */
};
void agenda_free_posted(struct posted *posted);

struct agenda {
    struct agenda_item *items; /* a binary heap */
    int count, capacity;
    uint64_t next_order;
};

void agenda_release(struct agenda *agenda);
/* Takes ownership of the item's message and sets its order. */
void agenda_add(struct agenda *agenda, struct agenda_item item);
/* The time of the first item; INT64_MAX if the agenda is empty. */
int64_t agenda_next_ms(const struct agenda *agenda);
/* Removes the first item; false if the agenda is empty. */
bool agenda_take(struct agenda *agenda, struct agenda_item *item);

#endif
