/* SPDX-License-Identifier: Apache-2.0 */
/* leader.h: when a broker may take the lead of others on the same database.
 *
 * The database has one row: who leads, since when and with which term, and when that
 * was renewed, all by the server's clock. The leader renews it each LEADER_RENEW_MS,
 * and with each batch. A term is taken by a condition on the row in the server, and
 * each transaction of a leader checks its term there: what is decided here only says
 * when to try. Layer: broker. */
#ifndef SUBLET_BROKER_LEADER_LEADER_H
#define SUBLET_BROKER_LEADER_LEADER_H

#include <stdbool.h>
#include <stdint.h>

enum {
    LEADER_RENEW_MS = 1000,
    LEADER_LOOK_MS = 250,   /* how often a standby looks at the row */
    LEADER_STALE_MS = 3000, /* not renewed for so long: it is gone, or paused */
    /* Its session has ended as well, so that it is dead or cut off. Long enough for a
     * leader that connects again after its server was restarted. */
    LEADER_DEAD_MS = 1500,
    /* A broker that has stepped down leads again if no other one has for so long. */
    LEADER_STEP_DOWN_MS = 10000,
};

/* The row as a standby sees it. */
struct leader_row {
    int64_t term;
    int64_t age_ms; /* since it was renewed */
    bool has_session;
    bool has_left;     /* it has ended in order, or nobody ever led */
    bool stepped_down; /* it has left by `sublet brokers step-down`, and is this broker
                        */
};

bool leader_may_take(const struct leader_row *row);

#endif
