/* SPDX-License-Identifier: Apache-2.0 */
/* wire_clock.h: how far the clock of this machine is from that of a server.
 *
 * The server's time is compared with the middle of the question's and the answer's
 * time, so that the result is wrong by half of the time between these at most. Units:
 * milliseconds. Errors: ERR_AWAY without an answer; ERR_STATE if the server is of an
 * older version and does not know the question. Layer: sys. */
#ifndef SUBLET_SYS_WIRE_WIRE_CLOCK_H
#define SUBLET_SYS_WIRE_WIRE_CLOCK_H

#include <stdint.h>

#include "base/err.h"
#include "sys/wire/wire.h"

struct wire_clock {
    int64_t ahead_ms; /* of this machine; negative: it is behind */
    int64_t error_ms; /* at most */
};

/* A larger difference is wrong: NTP holds clocks closer over any network. */
enum { WIRE_CLOCK_MAX_MS = 1000 };

/* Asks over a client that is connected, and waits for the answer. */
int wire_clock_ask(struct wire_client *client, int timeout_ms,
                   struct wire_clock *difference, struct err *err) MUST_CHECK;

/* ERR_STATE, with what to do, if the difference is too large even if it is wrong by
 * error_ms. `peer` is "the broker". */
int wire_clock_check(const struct wire_clock *difference, const char *peer,
                     struct err *err) MUST_CHECK;

#endif
