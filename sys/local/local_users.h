/* SPDX-License-Identifier: Apache-2.0 */
/* local_users.h: the users of a local server: how many connections each has, and what
 * each may ask for (base/rate_limit.h). Root and the user of the daemon have no bounds,
 * and places of their own.
 *
 * Part of local.h. Layer: sys. */
#ifndef SUBLET_SYS_LOCAL_LOCAL_USERS_H
#define SUBLET_SYS_LOCAL_LOCAL_USERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "model/effect.h"

enum {
    LOCAL_CONNECTIONS_MAX = 1000,
    LOCAL_CONNECTIONS_RESERVED = 100, /* of these, for administrators */
    LOCAL_CONNECTIONS_PER_USER = 250,
    /* The least that a request costs of a user's rate limit: 250 requests a second, and
     * 500 at once. */
    LOCAL_REQUEST_US = 1000,
};

struct local_users;
struct local_users *local_users_new(void);
void local_users_free(struct local_users *users);

/* Counts a connection of the user. ERR_FULL if there is no room for it. A privileged
 * user may have a reserved one; it leaves as it has joined. */
int local_users_join(struct local_users *users, const struct peer *peer,
                     bool is_privileged, struct err *err);
void local_users_leave(struct local_users *users, const struct peer *peer,
                       bool is_privileged);

/* The user may ask now; else from `ready_ms` on. */
bool local_users_may_ask(struct local_users *users, const struct peer *peer,
                         int64_t now_ms, int64_t *ready_ms);
/* A request of the user took so much processor time. */
void local_users_charge(struct local_users *users, const struct peer *peer,
                        int64_t work_us);

#endif
