/* SPDX-License-Identifier: Apache-2.0 */
/* wire_refusals.h: handshakes that a server refused: their number, and a line in the
 * log for each address and key, once a minute. Part of wire.h. Layer: sys. */
#ifndef SUBLET_SYS_WIRE_WIRE_REFUSALS_H
#define SUBLET_SYS_WIRE_WIRE_REFUSALS_H

#include "sys/log.h"
#include "sys/wire/wire.h"

enum { WIRE_REFUSALS_RECENT = 64, WIRE_REFUSALS_ADDRESS = 64 };

struct wire_refusals {
    struct {
        char address[WIRE_REFUSALS_ADDRESS];
        char key_z85[41];
        int64_t logged_ms;
    } recent[WIRE_REFUSALS_RECENT];
    int n_recent, next;
    struct log_limit limit;
    uint64_t n_keys;     /* with a key that is not on the list */
    uint64_t n_unsealed; /* sealed for the key of another server */
};

/* `of`: what the peers of the server are. */
void wire_refusals_add_key(struct wire_refusals *refusals, enum peer_kind of,
                           const char *address, const char *key_z85, int64_t now_ms);
void wire_refusals_add_unsealed(struct wire_refusals *refusals, enum peer_kind of,
                                const char *address, int64_t now_ms);

#endif
