/* SPDX-License-Identifier: Apache-2.0 */
/* codec_relay.c: see codec_relay.h. */
#include "proto/codec_relay.h"

#include <string.h>

#include "proto/codec_check.h"
#include "proto/codec_wire.h"

/* ---------------------------------------------------------------- the body */

static const struct field *field_of(const struct schema *schema, const char *name)
{
    for (int i = 0; i < schema->n_fields; i++) {
        if (strcmp(schema->fields[i].name, name) == 0) {
            return &schema->fields[i];
        }
    }
    return NULL;
}

static int refuse(const struct field *field, struct err *err)
{
    return err_set(err, ERR_PARSE, "%s: expected once, and as a field", field->name);
}

static int read_text(struct arena *arena, const struct field *field,
                     struct codec_wire_span body, const char **text, struct err *err)
{
    struct codec_wire_span value;
    if (!codec_wire_find_once(body, field->tag, &value)) {
        return refuse(field, err);
    }
    if (codec_check_text(field, (const char *)value.at, value.length, err) < 0) {
        return err_prefix(err, "%s", field->name);
    }
    *text = arena_strn(arena, (const char *)value.at, value.length);
    return ERR_NONE;
}

static int read_body(struct arena *arena, const struct schema *schema,
                     struct codec_wire_span body, struct msg_relayed *relayed,
                     struct err *err)
{
    const struct field *run = field_of(schema, "run"),
                       *lease = field_of(schema, "lease"),
                       *data = field_of(schema, "bytes");
    struct codec_wire_span value;
    int status = ERR_NONE;
    if (run != NULL) {
        status = codec_wire_find_once(body, run->tag, &value)
                     ? read_text(arena, &run->part->fields[0], value,
                                 &relayed->run_site, err)
                     : refuse(run, err);
    }
    if (status == ERR_NONE && lease != NULL) {
        status = read_text(arena, lease, body, &relayed->lease, err);
    }
    if (status == ERR_NONE && data != NULL) {
        status = codec_wire_find_once(body, data->tag, &value)
                     ? codec_check_count(data, value.length, err)
                     : refuse(data, err);
        relayed->n_data = (int)value.length;
    }
    return status;
}

/* ---------------------------------------------------------------- the envelope */

static int take_relayed(struct arena *arena, const struct codec_wire_envelope *envelope,
                        struct msg *msg, struct err *err)
{
    const char *site = (const char *)envelope->site.at;
    struct msg_relayed relayed = {.n_body = (int)envelope->whole_body.length};
    int status =
        codec_check_header(envelope->session, site, envelope->site.length, err);
    if (status == ERR_NONE) {
        status = read_body(arena, msg_kinds[envelope->kind].schema, envelope->body,
                           &relayed, err);
    }
    if (status != ERR_NONE) {
        return err_prefix(err, "%s", msg_kind_name(envelope->kind));
    }
    relayed.body =
        arena_copy(arena, envelope->whole_body.at, envelope->whole_body.length);
    *msg = (struct msg){.kind = envelope->kind,
                        .session = envelope->session,
                        .site = arena_strn(arena, site, envelope->site.length),
                        .is_relayed = true,
                        .relayed = relayed};
    return ERR_NONE;
}

int codec_relay_decode(struct arena *arena, const uint8_t *bytes, size_t length,
                       codec_relay_fn relays, struct msg *msg, struct err *err)
{
    struct codec_wire_envelope envelope;
    if (relays == NULL || length > FRAME_MAX) {
        return codec_decode(arena, bytes, length, msg, err);
    }
    memset(msg, 0, sizeof(*msg));
    int status = codec_wire_read_envelope(bytes, length, &envelope, err);
    if (status != ERR_NONE) {
        return status;
    }
    return relays(envelope.kind) ? take_relayed(arena, &envelope, msg, err)
                                 : codec_decode(arena, bytes, length, msg, err);
}
