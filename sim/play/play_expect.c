/* SPDX-License-Identifier: Apache-2.0 */
/* play_expect.c: compares expectations with the objects of listings.
 *
 * A number compares with a number; a duration or an instant (as time since the start)
 * also with a time ("10m"). Texts compare byte by byte. <, <= and so on need two values
 * of the same ordered kind. An object or array compares as its compact JSON. */
#include "sim/play/play_expect.h"

#include <string.h>

#include "sim/play/expect_value.h"

static struct msg_query query_of(enum query_kind kind, const char *name)
{
    return (struct msg_query){.kind = kind,
                              .name = name,
                              .user = "",
                              .queue = "",
                              .host = "",
                              .provider = "",
                              .consumer = "",
                              .with_ended = true,
                              .after = ""};
}

/* The first row of a listing, or NULL. */
static const struct value *first_row(const struct value *listing)
{
    for (const struct value *at = listing->first; at; at = at->next) {
        if (at->kind == VALUE_ARRAY) {
            return at->first;
        }
    }
    return NULL;
}

static const struct value *ask_site(struct play *play, const struct statement *at,
                                    struct arena *arena, enum query_kind kind,
                                    const char *name, const char **why)
{
    struct site *site = world_site(play->world, at->site);
    struct msg_query query = query_of(kind, name);
    const char *next;

    if (!site) {
        *why = "its site is down";
        return NULL;
    }
    *why = "there is none";
    return first_row(site_view(site, arena, &query, world_now_ms(play->world), &next));
}

/* `node`: of a plan; "" otherwise. */
static const struct value *ask_broker(struct play *play, struct arena *arena,
                                      enum query_kind kind, const char *name,
                                      const char *node, const char **why)
{
    const struct broker *broker = world_broker(play->world);
    struct msg_query query = query_of(kind, name);
    const char *next;

    if (!broker) {
        *why = "the broker is down";
        return NULL;
    }
    *why = "there is none";
    query.host = node;
    return first_row(
        broker_view(broker, arena, &query, world_now_ms(play->world), &next));
}

/* The object in a listing; NULL with the reason in `why`. */
static const struct value *find_thing(struct play *play, const struct statement *at,
                                      struct arena *arena, const char **why)
{
    const struct statement_expect *expect = &at->expect;

    if (!strcmp(expect->thing, "lease")) {
        return ask_broker(play, arena, QUERY_LEASES, expect->name, "", why);
    }
    if (!strcmp(expect->thing, "site")) {
        return ask_broker(play, arena, QUERY_SITES, expect->name, "", why);
    }
    if (!strcmp(expect->thing, "node")) {
        return ask_broker(play, arena, QUERY_PLAN, expect->pool, expect->name, why);
    }
    if (!strcmp(expect->thing, "host")) {
        return ask_site(play, at, arena, QUERY_HOSTS, expect->name, why);
    }
    if (!strcmp(expect->thing, "queue")) {
        return ask_site(play, at, arena, QUERY_QUEUES, expect->name, why);
    }
    const char *id = play_state_job_id(play, at->site, expect->name, arena);
    if (!id) {
        *why = "it is not submitted";
        return NULL;
    }
    return ask_site(play, at, arena, QUERY_JOBS, id, why);
}

static const char *list_fields(struct arena *arena, const struct value *thing)
{
    const char *text = "";

    for (const struct value *at = thing->first; at; at = at->next) {
        text = arena_printf(arena, "%s %s", text, at->key);
    }
    return text;
}

void play_expect(struct play *play, const struct statement *at)
{
    const struct statement_expect *expect = &at->expect;
    struct expect_wish wish = {expect->op, expect->value, expect->is_quoted,
                               PLAY_EPOCH_MS};
    struct arena arena;
    const char *why = "";

    arena_init(&arena);
    const struct value *thing = find_thing(play, at, &arena, &why);
    const struct value *found = thing ? expect_value_find(thing, expect->field) : NULL;
    if (!thing) {
        play_state_remark(play, at->line, false, "%s: found nothing: %s", at->text,
                          why);
    } else if (!found) {
        play_state_remark(play, at->line, false, "%s: no such field, expected one of%s",
                          at->text, list_fields(&arena, thing));
    } else if (!expect_value_holds(found, &wish)) {
        play_state_remark(play, at->line, false, "%s: expected %s %s, found %s",
                          at->text, expect->op, expect->value,
                          expect_value_show(&arena, found, PLAY_EPOCH_MS));
    }
    arena_release(&arena);
}
