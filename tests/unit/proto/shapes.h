/* SPDX-License-Identifier: Apache-2.0 */
/* shapes.h: messages made from the codec's own tables, for tests: one with every
 * field set, and the places in it that a test may spoil. Each is also there as
 * protobuf-c has it, which encodes and decodes without our code. */
#ifndef SUBLET_TESTS_UNIT_PROTO_SHAPES_H
#define SUBLET_TESTS_UNIT_PROTO_SHAPES_H

#include "base/arena.h"
#include "model/msg.h"
#include "model/schema.h"
#include "proto/sublet.pb-c.h"

enum { SHAPES_PLACES_MAX = 400, SHAPES_MEMBERS = 3 };

/* One field of one struct within a message, in our form and in the generated one. */
struct shapes_place {
    const struct field *field;
    const ProtobufCFieldDescriptor *wire;
    const struct schema *schema; /* that the field is of */
    char *ours;
    char *theirs;
};

struct shapes_message {
    struct msg ours;
    Sublet__Envelope theirs; /* the same */
    struct shapes_place places[SHAPES_PLACES_MAX];
    int n_places;
};

/* A message with a value in every field, no two alike where there is room. */
void shapes_build(struct arena *arena, enum msg_kind kind,
                  struct shapes_message *message);

/* As it would go over the wire, whatever is in it. */
uint8_t *shapes_pack(struct arena *arena, const struct shapes_message *message,
                     size_t *length);

/* Fails the test where two structs of a shape differ. */
void shapes_assert_same(const struct schema *schema, const void *a, const void *b);

#endif
