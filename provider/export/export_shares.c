/* SPDX-License-Identifier: Apache-2.0 */
/* export_shares.c: DISTRIBUTION: the share of each site in what is exported.
 *
 * `([a, 1] [b, 2])`, or without the outer parentheses as LSF's own sample has it. Only
 * ratios matter. The site's own entry is ignored, and another site must be named.
 * `([pool:NAME])`: a pool, alone.
 *
 * Ownership: everything in conf's arena. Errors: diagnostics of `conf`.
 * Source: docs/design/leases.md "Export policies", "Shared resources". */
#include "provider/export/export_policy.h"

#include <string.h>

#include "base/bounds.h"
#include "base/webster.h"

struct reading {
    struct conf *conf;
    const char *site;
    const struct conf_section *section;
    const struct conf_row *row;
    struct export_shares *shares;
};

/* An error about the cell; NULL: about the section. */
#define COMPLAIN(reading, cell, ...)                                                   \
    conf_complain((reading)->conf, CONF_ERROR, (reading)->section, (reading)->row,     \
                  cell, __VA_ARGS__)

static bool has_share(const struct export_shares *shares, const char *consumer)
{
    for (int i = 0; i < shares->count; i++) {
        if (strcmp(shares->items[i].consumer, consumer) == 0) {
            return true;
        }
    }
    return false;
}

static const char *trimmed(struct arena *arena, const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\t')) {
        at++;
    }
    while (end > at && (end[-1] == ' ' || end[-1] == '\t')) {
        end--;
    }
    return arena_strn(arena, at, (size_t)(end - at));
}

static const char pool_word[] = "pool:";

/* `[pool:NAME]`: there are no shares, because the plan of the pool distributes. */
static bool read_pool(struct reading *reading, const char *text)
{
    struct export_shares *shares = reading->shares;
    struct err err;
    if (conf_parse_name(text + strlen(pool_word), &err) != ERR_NONE) {
        COMPLAIN(reading, shares->cell, "%s: %s", text, err.text);
        return false;
    }
    if (strlen(text) >= NAME_SIZE) {
        COMPLAIN(reading, shares->cell,
                 "%s is too long, expected a pool's name of at most %d", text,
                 (int)(NAME_SIZE - sizeof(pool_word)));
        return false;
    }
    shares->is_pool = true;
    shares->items[shares->count++] = (struct export_share){text, 1};
    return true;
}

/* The text between the brackets of one entry. */
static bool read_share(struct reading *reading, const char *at, const char *end)
{
    const struct conf_cell *cell = reading->shares->cell;
    struct arena *arena = reading->conf->arena;
    const char *comma = memchr(at, ',', (size_t)(end - at));
    if (comma == NULL &&
        strncmp(trimmed(arena, at, end), pool_word, strlen(pool_word)) == 0) {
        return read_pool(reading, trimmed(arena, at, end));
    }
    if (comma == NULL) {
        COMPLAIN(reading, cell, "\"[%s]\" has no share, expected [SITE, SHARES]",
                 trimmed(arena, at, end));
        return false;
    }
    const char *consumer = trimmed(arena, at, comma);
    const char *shares = trimmed(arena, comma + 1, end);
    struct err err;
    int64_t share = 0;
    if (conf_parse_name(consumer, &err) != ERR_NONE) {
        COMPLAIN(reading, cell, "%s", err.text);
        return false;
    }
    if (conf_parse_int(shares, 1, INT32_MAX, &share, &err) != ERR_NONE) {
        COMPLAIN(reading, cell, "shares of %s: %s", consumer, err.text);
        return false;
    }
    if (strcmp(consumer, reading->site) == 0) {
        return true;
    }
    if (has_share(reading->shares, consumer)) {
        COMPLAIN(reading, cell, "%s appears twice, expected each site once", consumer);
        return false;
    }
    reading->shares->items[reading->shares->count++] =
        (struct export_share){consumer, share};
    return true;
}

static bool read_shares(struct reading *reading, const char *text)
{
    const struct conf_cell *cell = reading->shares->cell;
    const char *at = text + strspn(text, " \t");
    bool is_open = *at == '(';
    at += is_open;
    for (;;) {
        at += strspn(at, " \t");
        if (is_open && *at == ')') {
            is_open = false;
            at++;
            at += strspn(at, " \t");
            break;
        }
        const char *end = *at == '[' ? strchr(at, ']') : NULL;
        if (end == NULL) {
            break;
        }
        if (!read_share(reading, at + 1, end)) {
            return false;
        }
        at = end + 1;
    }
    if (*at != '\0' || is_open) {
        COMPLAIN(reading, cell, "cannot read \"%s\", expected ([SITE, SHARES] ...)",
                 *at != '\0' ? at : text);
        return false;
    }
    return true;
}

bool export_shares_read(struct conf *conf, const char *site,
                        const struct conf_section *section, const struct conf_row *row,
                        struct export_shares *shares)
{
    struct reading reading = {conf, site, section, row, shares};
    const struct conf_cell *cell = conf_cell(row, "DISTRIBUTION");
    if (cell == NULL || cell->value == NULL) {
        COMPLAIN(&reading, NULL, "%s is missing, expected ([SITE, SHARES] ...)",
                 "DISTRIBUTION");
        return false;
    }
    /* "[a,1]" is the shortest entry. */
    *shares = (struct export_shares){
        .cell = cell,
        .items = arena_alloc(conf->arena, strlen(cell->value) / 5 + 1,
                             sizeof(*shares->items)),
    };
    if (!read_shares(&reading, cell->value)) {
        return false;
    }
    if (shares->count == 0) {
        COMPLAIN(&reading, cell,
                 "no site but %s itself is named, expected one that borrows", site);
        return false;
    }
    if (shares->is_pool && shares->count > 1) {
        COMPLAIN(&reading, cell,
                 "a pool and others, expected the pool alone: its plan decides which "
                 "node gets "
                 "how many%s",
                 "");
        return false;
    }
    return true;
}

int64_t *export_shares_divide(struct arena *arena, const struct export_shares *shares,
                              int64_t n)
{
    size_t count = (size_t)shares->count;
    int64_t *weights = arena_alloc(arena, count, sizeof(*weights));
    int64_t *parts = arena_alloc(arena, count, sizeof(*parts));
    for (int i = 0; i < shares->count; i++) {
        weights[i] = shares->items[i].share;
    }
    webster_share(n, weights, shares->count, parts);
    return parts;
}
