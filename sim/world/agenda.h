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

/* The effects of a batch that was committed, or the copy of a message, as long as one
 * of the messages is in transit. */
struct sent {
    struct effects effects;
    int n_users;
    struct sent *next; /* of those that are used again */
};

struct agenda_item {
    int64_t at_ms;
    uint64_t order;
    enum agenda_kind kind;
    int from, to;
    uint64_t number;
    bool is_to_deposed; /* message to the deposed one of two brokers */
    const struct msg *msg;
    struct sent *sent; /* that has the message */
};

struct agenda {
    struct agenda_item *items; /* a binary heap */
    int count, capacity;
    uint64_t next_order;
    struct sent *unused; /* with their memory */
    int n_unused;
};

/* A new one, with no effects and one user. */
struct sent *agenda_new_sent(struct agenda *agenda);
/* It has one user less. */
void agenda_release_sent(struct agenda *agenda, struct sent *sent);

void agenda_release(struct agenda *agenda);
/* Sets the order of the item, which is a user of what was sent. */
void agenda_add(struct agenda *agenda, struct agenda_item item);
/* The time of the first item; INT64_MAX if the agenda is empty. */
int64_t agenda_next_ms(const struct agenda *agenda);
/* Removes the first item, which remains a user; false if the agenda is empty. */
bool agenda_take(struct agenda *agenda, struct agenda_item *item);

#endif
