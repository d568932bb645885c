/* SPDX-License-Identifier: Apache-2.0 */
/* effect.c: see effect.h. */
#include "model/effect.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum {
    FIRST_CAPACITY = 4,
    TRIMMED_LEAST = 32,
    /* A larger array, after a burst such as all leases of a federation, is freed. */
    REUSED_CAPACITY_MAX = 4096,
};

void effects_init(struct effects *effects)
{
    memset(effects, 0, sizeof(*effects));
    arena_init(&effects->arena);
}

void effects_clear(struct effects *effects)
{
    arena_clear(&effects->arena);
    effects->count = 0;
    if (effects->capacity > REUSED_CAPACITY_MAX) {
        free(effects->items);
        effects->items = NULL;
        effects->capacity = 0;
    }
}

void effects_release(struct effects *effects)
{
    arena_release(&effects->arena);
    free(effects->items);
    effects_init(effects);
}

void effects_trim(struct effects *effects)
{
    if (effects->capacity - effects->count >= TRIMMED_LEAST) {
        effects->capacity = effects->count;
        effects->items = mem_grow(effects->items, (size_t)effects->capacity,
                                  sizeof(*effects->items));
    }
}

struct effect *effects_add(struct effects *effects, enum effect_kind kind)
{
    if (effects->count == effects->capacity) {
        effects->capacity =
            effects->capacity == 0 ? FIRST_CAPACITY : effects->capacity * 2;
        effects->items = mem_grow(effects->items, (size_t)effects->capacity,
                                  sizeof(*effects->items));
    }
    struct effect *effect = &effects->items[effects->count++];
    memset(effect, 0, sizeof(*effect));
    effect->kind = kind;
    return effect;
}

void effects_store(struct effects *effects, const struct row *row)
{
    row_copy(&effects->arena, row, &effects_add(effects, EFFECT_STORE)->row);
}

void effects_send(struct effects *effects, const struct peer *to, const struct msg *msg)
{
    /* The peer is usually that of the event, which is freed after the step. */
    char *name = arena_str(&effects->arena, to->name);
    struct effect *effect = effects_add(effects, EFFECT_SEND);
    effect->send.to = *to;
    effect->send.to.name = name;
    msg_copy(&effects->arena, msg, &effect->send.msg);
}

void effects_log(struct effects *effects, enum log_level level, const char *format, ...)
{
    struct effect *effect = effects_add(effects, EFFECT_LOG);
    effect->log.level = level;
    va_list args;
    va_start(args, format);
    effect->log.text = arena_vprintf(&effects->arena, format, args);
    va_end(args);
}

/* The texts must be in the effects' arena. */
static void send_reply(struct effects *effects, const struct peer *to,
                       const struct msg_reply *reply)
{
    struct msg msg = {.kind = MSG_REPLY, .site = "", .reply = *reply};
    msg.reply.bytes = (const uint8_t *)"";
    effects_send(effects, to, &msg);
}

void effects_reply_error(struct effects *effects, const struct peer *to,
                         uint64_t request, int code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *text = arena_vprintf(&effects->arena, format, args);
    va_end(args);
    send_reply(effects, to,
               &(struct msg_reply){
                   .request = request, .code = code, .text = text, .next = ""});
}

void effects_reply_refusal(struct effects *effects, const struct peer *to,
                           uint64_t request, int code, const char *text,
                           const struct value *value)
{
    send_reply(effects, to,
               &(struct msg_reply){.request = request,
                                   .code = code,
                                   .text = arena_str(&effects->arena, text),
                                   .value = value,
                                   .next = ""});
}

void effects_reply(struct effects *effects, const struct peer *to, uint64_t request,
                   const char *text, const struct value *value, const char *next)
{
    struct arena *arena = &effects->arena;
    send_reply(effects, to,
               &(struct msg_reply){
                   .request = request,
                   .text = arena_str(arena, text != NULL ? text : ""),
                   .value = value,
                   .next = arena_str(arena, next != NULL ? next : ""),
               });
}
