/* SPDX-License-Identifier: Apache-2.0 */
/* codec_relay.h: the decoder of the broker, which does not open the bodies that it only
 * relays.
 *
 * Of such a message the envelope is checked as always, and in the body the fields `run`
 * (its site), `lease` and `bytes` (their number), by their bounds; each may be there
 * once, so that no later decoder finds another one. The rest is checked by the
 * receiver, who decodes all of it.
 *
 * Ownership, errors: as codec.h. Layer: proto. */
#ifndef SUBLET_PROTO_CODEC_RELAY_H
#define SUBLET_PROTO_CODEC_RELAY_H

#include "proto/codec.h"

/* True if messages of that kind are relayed. */
typedef bool (*codec_relay_fn)(enum msg_kind kind);

/* As codec_decode, but a message that is relayed gets `relayed` for a body. `relays`
 * NULL: none is. */
int codec_relay_decode(struct arena *arena, const uint8_t *bytes, size_t length,
                       codec_relay_fn relays, struct msg *msg,
                       struct err *err) MUST_CHECK;

#endif
