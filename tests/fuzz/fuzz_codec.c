/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_codec.c: bytes of a peer. Every message that decodes can be encoded and decoded
 * again to the same message. */
#include <stdlib.h>
#include <string.h>

#include "proto/codec.h"
#include "tests/fuzz/input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena;
    struct msg msg, again;
    struct err err;
    uint8_t *first, *second;
    size_t first_length, second_length;
    arena_init(&arena);
    if (codec_decode(&arena, data, size, &msg, &err) < 0) {
        arena_release(&arena);
        return 0;
    }
    if (codec_encode(&msg, &first, &first_length, &err) < 0) {
        input_fail("a %s was taken and is not encoded: %s", msg_kind_name(msg.kind),
                   err.text);
    }
    if (codec_decode(&arena, first, first_length, &again, &err) < 0) {
        input_fail("a %s was encoded and is not taken: %s", msg_kind_name(msg.kind),
                   err.text);
    }
    if (codec_encode(&again, &second, &second_length, &err) < 0 ||
        first_length != second_length || memcmp(first, second, first_length) != 0) {
        input_fail("a %s has two encodings", msg_kind_name(msg.kind));
    }
    free(first);
    free(second);
    arena_release(&arena);
    return 0;
}
