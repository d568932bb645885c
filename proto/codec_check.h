/* SPDX-License-Identifier: Apache-2.0 */
/* codec_check.h: checks a value against its field's bounds, for both packing and
 * unpacking.
 *
 * Errors: ERR_PARSE for invalid content, ERR_BOUNDS for sizes and ranges; the caller
 * puts the field's name before the sentence. Layer: proto. */
#ifndef SUBLET_PROTO_CODEC_CHECK_H
#define SUBLET_PROTO_CODEC_CHECK_H

#include "base/arena.h"
#include "base/err.h"
#include "model/schema.h"

/* ERR_BOUNDS. */
int codec_check_refuse(const struct field *field, int64_t value, struct err *err);
/* Inline, as most fields are numbers that are in their bounds. A FIELD_UINT64 by its
 * bits: its `max` is at most INT64_MAX. */
static inline int codec_check_number(const struct field *field, int64_t value,
                                     struct err *err)
{
    bool is_good =
        (value >= field->min && value <= field->max) || field->kind == FIELD_BOOL;
    return is_good ? ERR_NONE : codec_check_refuse(field, value, err);
}

/* Session and site of the envelope. */
int codec_check_header(uint64_t session, const char *site, size_t length,
                       struct err *err) MUST_CHECK;

/* The members of a list or the bytes of a blob. */
int codec_check_count(const struct field *field, size_t count,
                      struct err *err) MUST_CHECK;

/* A text, or one text of a list. `text` need not end in a NUL. */
int codec_check_text(const struct field *field, const char *text, size_t length,
                     struct err *err) MUST_CHECK;

/* The bytes of all texts of a list. */
int codec_check_total(const struct field *field, size_t total,
                      struct err *err) MUST_CHECK;

/* For structs whose first member is a host's name: ERR_PARSE if a host occurs twice. */
int codec_check_hosts(const void *parts, int count, size_t size,
                      struct err *err) MUST_CHECK;

/* `text` as TALK: invalid UTF-8 and control characters become '?' (white space a
 * blank), and bytes above `max` are cut. Returns the text itself if nothing changes. */
const char *codec_check_talk(struct arena *arena, const char *text, size_t max);

#endif
