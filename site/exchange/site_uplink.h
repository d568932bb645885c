/* SPDX-License-Identifier: Apache-2.0 */
/* site_uplink.h: the session with the broker: HELLO is repeated until WELCOME, then
 * USAGE is sent and PONG expected; silence ends the session.
 *
 * The number of a session is the boot counter times 2^20 plus the count of sessions
 * since the start, so it grows over restarts. If the broker knows a higher number, the
 * next one is above that. A site without a broker has no session and sends nothing.
 *
 * Units: milliseconds. Layer: site. */
#ifndef SUBLET_SITE_EXCHANGE_SITE_UPLINK_H
#define SUBLET_SITE_EXCHANGE_SITE_UPLINK_H

#include <stdbool.h>
#include <stdint.h>

#include "model/effect.h"

struct site_uplink_setting {
    const char *name; /* of the site */
    int roles;
    int64_t reclaim_delay_ms;
    bool is_alone;
    int patience; /* as site_config's */
    bool is_prompt;
    bool has_standbys; /* there is another broker to turn to */
};

struct site_config;
struct site_uplink_setting site_uplink_setting_of(const struct site_config *config);

struct site_uplink;
struct site_uplink *site_uplink_new(const struct site_uplink_setting *setting);
void site_uplink_free(struct site_uplink *uplink);
void site_uplink_start(struct site_uplink *uplink, uint64_t boot, int64_t now_ms);

/* How many commits the broker's store has had, as the broker said: a broker whose store
 * is older hears it in HELLO. It is stored only in batches that store something else,
 * so that sites and broker do not keep each other committing; a start may forget some
 * seconds of it. `load`: true if the counter is this one. */
bool site_uplink_load(struct site_uplink *uplink, const struct row_counter *counter);
void site_uplink_store(struct site_uplink *uplink, int64_t now_ms,
                       struct effects *effects);

/* The content of HELLO has changed: it is sent again, for a new session. True if a
 * session was up. */
bool site_uplink_change(struct site_uplink *uplink,
                        const struct site_uplink_setting *setting, int64_t now_ms);

/* Why there is no connection, as the shell has found; NULL: not known. */
void site_uplink_set_trouble(struct site_uplink *uplink, const char *why);
/* What somebody is told who needs the broker now. */
const char *site_uplink_trouble(const struct site_uplink *uplink);

/* The session is up: WELCOME came, and the broker has not been silent since. */
bool site_uplink_is_up(const struct site_uplink *uplink);
uint64_t site_uplink_session(const struct site_uplink *uplink);

/* Stamped with the session. Only while it is up. */
void site_uplink_send(const struct site_uplink *uplink, const struct msg *msg,
                      struct effects *effects);

/* WELCOME. True if the session begins with it. A standby's refusal ends the session,
 * and RECONNECT is among the effects. */
bool site_uplink_welcome(struct site_uplink *uplink, const struct msg *msg,
                         int64_t now_ms, struct effects *effects);
void site_uplink_pong(struct site_uplink *uplink, const struct msg *msg,
                      int64_t now_ms);
/* The broker does not know this session: a new one is opened. True if one was up. */
bool site_uplink_stale(struct site_uplink *uplink, int64_t now_ms);

/* Sends HELLO, and notices silence: true if the broker has just become silent; then
 * RECONNECT is among the effects. `n_books` goes with HELLO. */
bool site_uplink_tick(struct site_uplink *uplink, int n_books, int64_t now_ms,
                      struct effects *effects);
/* True if USAGE may be sent now. */
bool site_uplink_wants_usage(struct site_uplink *uplink, int64_t now_ms);
/* Sends USAGE if it differs from the last one, or if that was sent long ago. */
void site_uplink_usage(struct site_uplink *uplink, const struct msg_usage *usage,
                       int64_t now_ms, struct effects *effects);
int64_t site_uplink_wake_ms(const struct site_uplink *uplink);

#endif
