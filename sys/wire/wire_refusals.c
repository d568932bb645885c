/* SPDX-License-Identifier: Apache-2.0 */
/* wire_refusals.c: see wire_refusals.h. */
#include "sys/wire/wire_refusals.h"

#include <string.h>

enum { LOG_EVERY_MS = 60000 };

/* Whether this one was not logged for a while; from now on it was. */
static bool is_news(struct wire_refusals *refusals, const char *address,
                    const char *key_z85, int64_t now_ms)
{
    int at = 0;
    while (at < refusals->n_recent &&
           (strcmp(refusals->recent[at].address, address) != 0 ||
            strcmp(refusals->recent[at].key_z85, key_z85) != 0)) {
        at++;
    }
    if (at < refusals->n_recent &&
        now_ms - refusals->recent[at].logged_ms < LOG_EVERY_MS) {
        return false;
    }
    if (!log_limit_pass(&refusals->limit, now_ms)) {
        return false;
    }
    if (at == refusals->n_recent) { /* the oldest one makes place */
        at = refusals->next;
        refusals->next = (refusals->next + 1) % WIRE_REFUSALS_RECENT;
        refusals->n_recent += refusals->n_recent < WIRE_REFUSALS_RECENT;
        snprintf(refusals->recent[at].address, sizeof(refusals->recent[at].address),
                 "%s", address);
        snprintf(refusals->recent[at].key_z85, sizeof(refusals->recent[at].key_z85),
                 "%s", key_z85);
    }
    refusals->recent[at].logged_ms = now_ms;
    return true;
}

void wire_refusals_add_key(struct wire_refusals *refusals, enum peer_kind of,
                           const char *address, const char *key_z85, int64_t now_ms)
{
    refusals->n_keys++;
    if (is_news(refusals, address, key_z85, now_ms)) {
        log_line(LOG_LEVEL_WARNING,
                 "a handshake from %s is refused: no %s has the public key %s", address,
                 of == PEER_HOST ? "host" : "Member", key_z85);
    }
}

void wire_refusals_add_unsealed(struct wire_refusals *refusals, enum peer_kind of,
                                const char *address, int64_t now_ms)
{
    refusals->n_unsealed++;
    if (is_news(refusals, address, "", now_ms)) {
        log_line(LOG_LEVEL_WARNING,
                 "a handshake from %s is refused: it is meant for another public key "
                 "than this daemon's; compare %s there with the .key file here",
                 address, of == PEER_HOST ? "--site-key" : "BROKER_KEY");
    }
}
