/* SPDX-License-Identifier: Apache-2.0 */
/* limit_amount.c: reads the amounts of resources in a Limit section (limit.h).
 *
 *     MEM      = 2000              MB, or the unit of LSF_UNIT_FOR_LIMITS
 *     TMP      = 50%               of what each host of PER_HOST has
 *     RESOURCE = [lic,4] [scratch,100]
 *
 * Source: LSF's lsb.resources, section Limit. */
#include "sched/limit/limit.h"

#include <string.h>

#include "model/job_rlimit.h"

#define COMPLAIN(conf, at, key, ...)                                                   \
    CONF_COMPLAIN(conf, CONF_ERROR, at, key, __VA_ARGS__)

enum { AMOUNTS_MAX = 16, KIB_PER_MIB = 1024 };

#define AMOUNT_MAX INT64_C(1000000000000) /* as an amount in rusage */

struct reader {
    struct conf *conf;
    const struct conf_place *at;
    struct limit *limit;
    struct limit_amount *amounts;
};

static void add(struct reader *reader, const char *key, struct limit_amount amount)
{
    struct arena *arena = reader->conf->arena;
    for (int i = 0; i < reader->limit->n_amounts; i++) {
        if (strcmp(reader->amounts[i].resource, amount.resource) == 0) {
            COMPLAIN(reader->conf, reader->at, key, "\"%s\" is limited twice",
                     amount.resource);
            return;
        }
    }
    if (reader->limit->n_amounts == AMOUNTS_MAX) {
        COMPLAIN(reader->conf, reader->at, key, "more than %d resources in one section",
                 AMOUNTS_MAX);
        return;
    }
    amount.name = arena_printf(arena, "%s of %s", amount.resource, reader->limit->name);
    reader->amounts[reader->limit->n_amounts++] = amount;
}

/* LSF_UNIT_FOR_LIMITS, in KiB. */
static int64_t unit_kib(const struct conf *conf)
{
    const char *unit = "MB";
    struct conf_place at = {0};
    while (conf_next_row(conf, "", &at)) {
        unit = conf_text(at.row, "LSF_UNIT_FOR_LIMITS", unit);
    }
    int64_t kib = job_rlimit_unit_kib(unit);
    return kib > 0 ? kib : KIB_PER_MIB; /* a malformed one has been reported */
}

static void read_size(struct reader *reader, const char *key, const char *resource)
{
    const char *text = conf_text(reader->at->row, key, NULL);
    size_t length = text != NULL ? strlen(text) : 0;
    bool is_percent = length > 0 && text[length - 1] == '%';
    bool has_each = reader->limit->sides[LIMIT_HOSTS].mode == LIMIT_EACH;
    int64_t number;
    if (text == NULL) {
        return;
    }
    const char *digits =
        arena_strn(reader->conf->arena, text, length - (is_percent ? 1 : 0));
    if (is_percent && !has_each) {
        COMPLAIN(reader->conf, reader->at, key,
                 "%s is a part of what each host has, expected PER_HOST in the same "
                 "section, or an amount without %%",
                 text);
    } else if (conf_parse_int(digits, 0, is_percent ? 100 : AMOUNT_MAX, &number,
                              NULL) != 0) {
        COMPLAIN(reader->conf, reader->at, key,
                 "\"%s\", expected an amount such as 2000%s", text,
                 has_each ? ", or a part of each host's such as 50%" : "");
    } else {
        int64_t kib = job_rlimit_scale(number, unit_kib(reader->conf));
        add(reader, key,
            (struct limit_amount){.resource = resource,
                                  .milli = kib * 1000 / KIB_PER_MIB,
                                  .is_percent = is_percent,
                                  .percent = (int)(is_percent ? number : 0)});
    }
}

/* [NAME,AMOUNT] ..., which a table has in parentheses. */
static void read_resources(struct reader *reader, const char *key)
{
    static const char blanks[] = " \t()";
    const char *text = conf_text(reader->at->row, key, NULL);
    const char *at = text != NULL ? text + strspn(text, blanks) : "";
    while (*at != '\0') {
        size_t length = strcspn(at, "]");
        const char *inside =
            arena_strn(reader->conf->arena, at + 1, length > 0 ? length - 1 : 0);
        const char *comma = strchr(inside, ',');
        int64_t number = 0;
        if (*at != '[' || at[length] != ']' || comma == NULL || comma == inside ||
            conf_parse_int(comma + 1 + strspn(comma + 1, " \t"), 0, AMOUNT_MAX, &number,
                           NULL) != 0) {
            COMPLAIN(reader->conf, reader->at, key,
                     "\"%s\", expected [NAME,AMOUNT] ..., such as [verilog,4]", text);
            return;
        }
        size_t n_name = strcspn(inside, " \t,");
        add(reader, key,
            (struct limit_amount){.resource =
                                      arena_strn(reader->conf->arena, inside, n_name),
                                  .milli = number * 1000});
        at += length + 1;
        at += strspn(at, blanks);
    }
}

bool limit_amount_read(struct conf *conf, const struct conf_place *at,
                       struct limit *limit)
{
    static const char *const keys[] = {"MEM", "SWP", "TMP", "RESOURCE", "LICENSE"};
    struct reader reader = {
        conf, at, limit,
        arena_alloc(conf->arena, AMOUNTS_MAX, sizeof(struct limit_amount))};
    bool has_any = false;
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        has_any = has_any || conf_text(at->row, keys[i], NULL) != NULL;
    }
    read_size(&reader, "MEM", "mem");
    read_size(&reader, "SWP", "swp");
    read_size(&reader, "TMP", "tmp");
    read_resources(&reader, "RESOURCE");
    read_resources(&reader, "LICENSE");
    limit->amounts = reader.amounts;
    return has_any;
}
