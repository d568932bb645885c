/* SPDX-License-Identifier: Apache-2.0 */
/* resrsv_limit.c: RESRSV_LIMIT of a queue, see resreq_rusage.h. */
#include "sched/resreq/resreq_rusage.h"

#include <stdio.h>
#include <string.h>

#define FAIL(error, place, ...)                                                        \
    resreq_error_set(error, RESREQ_RUSAGE, place, RESREQ_BAD_VALUE, __VA_ARGS__)

/* ---------------------------------------------------------------- reading */

struct reader {
    struct arena *arena;
    const struct resources *resources;
    struct resreq_lex lex;
    struct resrsv_limit *items;
    int n_items;
    struct resreq_error *error;
};

static int take_amount(struct reader *reader, int64_t *milli)
{
    struct lex_token token = resreq_lex_next(&reader->lex);
    return resreq_rusage_read_amount(&token, milli)
               ? 0
               : FAIL(reader->error, token.place,
                      "expected an amount: a number up to 10^12, with a unit K M G T P "
                      "E Z or none");
}

static int take_name(struct reader *reader, struct resreq_place place, int *id)
{
    *id = resources_find(reader->resources, place.source + place.at,
                         (size_t)place.length);
    if (*id < 0) {
        return FAIL(reader->error, place, "there is no resource of this name");
    }
    if (!resources_at(reader->resources, *id)->is_consumable) {
        return FAIL(reader->error, place, "this resource is not consumable");
    }
    for (int i = 0; i < reader->n_items; i++) {
        if (reader->items[i].id == *id) {
            return FAIL(reader->error, place, "it has a range already");
        }
    }
    return 0;
}

/* "mem=10,100", without the brackets. */
static int take_range(struct reader *reader)
{
    struct resrsv_limit limit = {.id = -1};
    struct lex_token name = resreq_lex_next(&reader->lex);
    struct lex_token equals = resreq_lex_next(&reader->lex);
    if (name.kind != LEX_NAME || equals.kind != LEX_ASSIGN) {
        return FAIL(reader->error, name.place,
                    "expected [RESOURCE=MAX] or "
                    "[RESOURCE=MIN,MAX]");
    }
    int code = take_name(reader, name.place, &limit.id);
    code = code != 0 ? code : take_amount(reader, &limit.max_milli);
    if (code == 0 && resreq_lex_peek(&reader->lex).kind == LEX_COMMA) {
        resreq_lex_next(&reader->lex);
        limit.min_milli = limit.max_milli;
        code = take_amount(reader, &limit.max_milli);
    }
    struct lex_token end = resreq_lex_next(&reader->lex);
    if (code == 0 && end.kind != LEX_END) {
        code = FAIL(reader->error, end.place, "expected the bracket's end here");
    }
    if (code == 0 && limit.min_milli > limit.max_milli) {
        code = FAIL(reader->error, name.place, "the least is more than the most");
    }
    if (code == 0) {
        reader->items[reader->n_items++] = limit;
    }
    return code;
}

int resrsv_limit_parse(struct arena *arena, const struct resources *resources,
                       const char *text, struct resrsv_limits *limits,
                       struct resreq_error *error)
{
    struct reader reader = {.arena = arena, .resources = resources, .error = error};
    const char *at = text + strspn(text, " \t");
    int code = 0;
    reader.items =
        arena_alloc(arena, (size_t)RESREQ_RUSAGE_ITEMS_MAX, sizeof(*reader.items));
    while (code == 0 && *at != '\0') {
        size_t length = strcspn(at, "]");
        struct resreq_place place = {text, (int)(at - text), (int)strcspn(at, " \t")};
        if (*at != '[' || at[length] != ']') {
            return FAIL(error, place, "expected [RESOURCE=MAX] or [RESOURCE=MIN,MAX]");
        }
        if (reader.n_items == RESREQ_RUSAGE_ITEMS_MAX) {
            return FAIL(error, place, "at most %d resources", RESREQ_RUSAGE_ITEMS_MAX);
        }
        reader.lex = (struct resreq_lex){text, (int)(at - text) + 1,
                                         (int)(at - text) + (int)length};
        code = take_range(&reader);
        at += length + 1;
        at += strspn(at, " \t");
    }
    *limits = (struct resrsv_limits){.items = reader.items, .n_items = reader.n_items};
    return code;
}

/* ---------------------------------------------------------------- checking */

static int refuse(struct arena *arena, const struct resources *resources,
                  const struct resrsv_limit *limit,
                  const struct resreq_rusage_item *item, struct resreq_error *error)
{
    const char *most = resreq_rusage_amount_text(arena, limit->max_milli);
    const char *name = resources_at(resources, limit->id)->name;
    const char *span =
        limit->min_milli > 0
            ? arena_printf(arena, "from %s to %s",
                           resreq_rusage_amount_text(arena, limit->min_milli), most)
            : arena_printf(arena, "up to %s", most);
    int code =
        FAIL(error, item->place, "RESRSV_LIMIT of the queue allows %s=%s", name, span);
    snprintf(error->text, sizeof(error->text),
             "Error in rusage section: The merged job-level and application-level "
             "rusage value is outside the range set by RESRSV_LIMIT defined in "
             "lsb.queues.");
    return code;
}

int resrsv_limit_check(struct arena *arena, const struct resources *resources,
                       const struct resrsv_limits *limits,
                       const struct resreq_rusages *rusages, struct resreq_error *error)
{
    for (int i = 0; i < rusages->n_alternatives; i++) {
        for (int k = 0; k < rusages->alternatives[i].n_items; k++) {
            const struct resreq_rusage_item *item = &rusages->alternatives[i].items[k];
            const struct resrsv_limit *limit =
                resreq_rusage_find_limit(limits, item->id);
            int64_t milli = item->phases[0].milli;
            if (limit != NULL &&
                (milli < limit->min_milli || milli > limit->max_milli)) {
                return refuse(arena, resources, limit, item, error);
            }
        }
    }
    return 0;
}
