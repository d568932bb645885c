/* SPDX-License-Identifier: Apache-2.0 */
/* stream_packet.h: what agent and guard tell one another about the terminal of an
 * interactive run, on the socket RUN_DIR_STREAM: one packet each, a head and the bytes.
 *
 * The agent passes on what the user's side says (STREAM_DOWN of model/msg.h) and what
 * the guard says (STREAM_UP): offsets count a stream's bytes since the run began, so a
 * packet that is lost or comes twice does no harm. Guards of an older version outlive
 * an upgrade: this layout does not change.
 *
 * Layer: host (libc only: the guard links it). */
#ifndef SUBLET_HOST_RUN_DIR_STREAM_PACKET_H
#define SUBLET_HOST_RUN_DIR_STREAM_PACKET_H

#include <stdint.h>

#include "base/bounds.h"

enum stream_flag {
    STREAM_END = 1,   /* down: no input behind these bytes */
    STREAM_AGAIN = 2, /* down: nothing has come for a while, send again */
    STREAM_OVER = 4,  /* up: the job's processes are gone */
};

struct stream_head {
    uint32_t flags;
    uint32_t stream; /* up: enum output_stream */
    uint32_t n_bytes;
    uint16_t n_rows, n_columns; /* down; 0: no terminal */
    int64_t offset;             /* of the bytes in their stream */
    int64_t got[2]; /* down: of the output, by stream; up: [0] of the input */
};

struct stream_packet {
    struct stream_head head;
    uint8_t bytes[STREAM_CHUNK_MAX];
};

#endif
