/* SPDX-License-Identifier: Apache-2.0 */
/* export_policy.c: see export_policy.h. */
#include "provider/export_policy.h"

#include <string.h>
#include <strings.h>

#include "base/conf_keys.h"

struct reading {
    struct conf *conf;
    const char *site;
    struct export_policy *policy;
};

/* An error about a cell of the policy; NULL: about the section. */
#define COMPLAIN(reading, cell, ...)                                                   \
    conf_complain((reading)->conf, CONF_ERROR, (reading)->policy->section,             \
                  (reading)->policy->row, cell, __VA_ARGS__)

/* The cell of a key that has a value, or NULL. */
static const struct conf_cell *cell_of(const struct reading *reading, const char *key)
{
    const struct conf_cell *cell = conf_cell(reading->policy->row, key);
    return cell != NULL && cell->value != NULL ? cell : NULL;
}

/* ------------------------------------------------------------ DISTRIBUTION */

static bool has_share(const struct export_policy *policy, const char *consumer)
{
    for (int i = 0; i < policy->n_shares; i++) {
        if (strcmp(policy->shares[i].consumer, consumer) == 0) {
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

/* `[pool:NAME]`: the plan of the pool says who gets how many, so there are no shares.
 */
static bool read_pool(const struct reading *reading, const char *text)
{
    struct export_policy *policy = reading->policy;
    const struct conf_cell *cell = policy->distribution_cell;
    struct err err;
    if (conf_parse_name(text + strlen(pool_word), &err) != ERR_NONE) {
        COMPLAIN(reading, cell, "%s: %s", text, err.text);
        return false;
    }
    if (strlen(text) >= NAME_SIZE) {
        COMPLAIN(reading, cell, "%s is too long, expected a pool's name of at most %d",
                 text, (int)(NAME_SIZE - sizeof(pool_word)));
        return false;
    }
    policy->is_pool = true;
    policy->shares[policy->n_shares++] = (struct export_share){text, 1};
    return true;
}

/* One entry: what stands between its brackets. */
static bool read_share(const struct reading *reading, const char *at, const char *end)
{
    struct export_policy *policy = reading->policy;
    const struct conf_cell *cell = policy->distribution_cell;
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
    if (has_share(policy, consumer)) {
        COMPLAIN(reading, cell, "%s stands in it twice, expected each site once",
                 consumer);
        return false;
    }
    policy->shares[policy->n_shares++] = (struct export_share){consumer, share};
    return true;
}

/* `([a, 1] [b, 2])`, or without the outer parentheses as LSF's own sample has it. */
static bool read_shares(const struct reading *reading, const char *text)
{
    const struct conf_cell *cell = reading->policy->distribution_cell;
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

static bool read_distribution(const struct reading *reading)
{
    struct export_policy *policy = reading->policy;
    policy->distribution_cell = cell_of(reading, "DISTRIBUTION");
    if (policy->distribution_cell == NULL) {
        COMPLAIN(reading, NULL, "%s is missing, expected ([SITE, SHARES] ...)",
                 "DISTRIBUTION");
        return false;
    }
    const char *text = policy->distribution_cell->value;
    /* "[a,1]" is the shortest entry. */
    policy->shares = arena_alloc(reading->conf->arena, strlen(text) / 5 + 1,
                                 sizeof(*policy->shares));
    if (!read_shares(reading, text)) {
        return false;
    }
    if (policy->n_shares == 0) {
        COMPLAIN(reading, policy->distribution_cell,
                 "no site but %s itself is named, expected one that borrows",
                 reading->site);
        return false;
    }
    if (policy->is_pool && policy->n_shares > 1) {
        COMPLAIN(reading, policy->distribution_cell,
                 "a pool and others, expected the pool alone: its plan says who gets "
                 "how many%s",
                 "");
        return false;
    }
    return true;
}

/* ------------------------------------------------------------ hosts */

/* A number that conf_check has judged. */
static bool read_number(const struct conf_cell *cell, int *number)
{
    const struct conf_key *key = conf_keys_find("HostExport", cell->key);
    int64_t value = 0;
    if (key == NULL ||
        conf_parse_int(cell->value, key->min, key->max, &value, NULL) != ERR_NONE) {
        return false;
    }
    *number = (int)value;
    return true;
}

static bool read_per_host(const struct reading *reading)
{
    struct export_policy *policy = reading->policy;
    policy->slots_cell = cell_of(reading, "SLOTS");
    const struct conf_cell *nhosts = cell_of(reading, "NHOSTS");
    if (policy->slots_cell == NULL) {
        COMPLAIN(reading, policy->hosts_cell,
                 "%s is missing, expected a number of slots", "SLOTS");
        return false;
    }
    if (nhosts != NULL) {
        COMPLAIN(reading, nhosts, "not together with %s, expected RES_SELECT",
                 "PER_HOST");
        return false;
    }
    policy->hosts = conf_words(reading->conf->arena, policy->hosts_cell->value);
    if (policy->hosts.count == 0) {
        COMPLAIN(reading, policy->hosts_cell, "names no host, expected one at least");
        return false;
    }
    return read_number(policy->slots_cell, &policy->n_slots);
}

static bool read_res_select(const struct reading *reading)
{
    struct export_policy *policy = reading->policy;
    const struct conf_cell *nhosts = cell_of(reading, "NHOSTS");
    const struct conf_cell *slots = cell_of(reading, "SLOTS");
    if (nhosts == NULL) {
        COMPLAIN(reading, policy->hosts_cell,
                 "%s is missing, expected a number of hosts", "NHOSTS");
        return false;
    }
    if (slots != NULL) {
        COMPLAIN(reading, slots,
                 "not together with %s, which exports whole hosts, expected PER_HOST",
                 "RES_SELECT");
        return false;
    }
    return read_number(nhosts, &policy->n_hosts_max);
}

static bool read_hosts(const struct reading *reading)
{
    struct export_policy *policy = reading->policy;
    const struct conf_cell *per_host = cell_of(reading, "PER_HOST");
    const struct conf_cell *select = cell_of(reading, "RES_SELECT");
    if (per_host != NULL && select != NULL) {
        COMPLAIN(reading, select, "not together with %s, expected one of the two",
                 "PER_HOST");
        return false;
    }
    if (per_host == NULL && select == NULL) {
        COMPLAIN(reading, NULL, "no hosts, expected %s", "PER_HOST or RES_SELECT");
        return false;
    }
    policy->is_per_host = per_host != NULL;
    policy->hosts_cell = per_host != NULL ? per_host : select;
    return policy->is_per_host ? read_per_host(reading) : read_res_select(reading);
}

/* ------------------------------------------------------------ memory, swap space */

static bool read_space(const struct conf_cell *cell, struct space *space)
{
    space->is_given = cell != NULL;
    return cell == NULL || read_number(cell, &space->mib);
}

/* The guides spell the key SWP, the reference SWAP. */
static bool read_spaces(const struct reading *reading)
{
    struct space *spaces = reading->policy->spaces;
    const struct conf_cell *mem = cell_of(reading, "MEM");
    const struct conf_cell *swap = cell_of(reading, "SWAP");
    const struct conf_cell *swp = cell_of(reading, "SWP");
    if (swap != NULL && swp != NULL) {
        COMPLAIN(reading, swp, "not together with %s, which means the same", "SWAP");
        return false;
    }
    if (reading->policy->is_pool && (mem != NULL || swap != NULL || swp != NULL)) {
        COMPLAIN(reading,
                 mem != NULL    ? mem
                 : swap != NULL ? swap
                                : swp,
                 "not together with a pool, whose slots have no site of their own, "
                 "expected a policy without MEM and SWAP");
        return false;
    }
    bool has_mem = read_space(mem, &spaces[SPACE_MEM]);
    bool has_swp = read_space(swap != NULL ? swap : swp, &spaces[SPACE_SWP]);
    return has_mem && has_swp;
}

/* ------------------------------------------------------------ the rest */

static bool is_number(const char *name)
{
    return name[0] != '\0' && name[strspn(name, "0123456789")] == '\0';
}

static bool read_name(const struct reading *reading)
{
    struct export_policy *policy = reading->policy;
    policy->name_cell = cell_of(reading, "NAME");
    policy->name = policy->name_cell != NULL ? policy->name_cell->value : "";
    if (is_number(policy->name)) {
        COMPLAIN(reading, policy->name_cell,
                 "%s is a number, and those are for policies without a name, expected "
                 "a name",
                 policy->name);
        return false;
    }
    return policy->name_cell == NULL || conf_parse_name(policy->name, NULL) == ERR_NONE;
}

static bool read_type(const struct reading *reading)
{
    struct export_policy *policy = reading->policy;
    const struct conf_cell *cell = cell_of(reading, "TYPE");
    if (policy->is_pool && cell != NULL) {
        COMPLAIN(
            reading, cell,
            "not together with a pool, whose plan says who has the slots, expected "
            "a policy without %s",
            "TYPE");
        return false;
    }
    if (policy->is_pool) {
        policy->type = LEASE_POOL;
        return true;
    }
    policy->type = cell != NULL ? LEASE_SHARED : LEASE_EXCLUSIVE;
    if (cell != NULL && strcasecmp(cell->value, "shared") != 0) {
        return false;
    }
    if (policy->type == LEASE_SHARED && policy->is_per_host && policy->n_shares > 1) {
        COMPLAIN(reading, policy->distribution_cell,
                 "a shared host goes to one site, but %s has several, expected one "
                 "(or RES_SELECT, or no TYPE)",
                 "DISTRIBUTION");
        return false;
    }
    return true;
}

static bool read_duration(const struct reading *reading, const char *name, int64_t *ms)
{
    const struct conf_cell *cell = cell_of(reading, name);
    const struct conf_key *key = conf_keys_find("HostExport", name);
    return cell == NULL ||
           (key != NULL &&
            conf_parse_duration(cell->value, key->unit_ms, ms, NULL) == ERR_NONE);
}

static bool read_rebalance(const struct reading *reading,
                           const struct export_defaults *defaults)
{
    struct export_policy *policy = reading->policy;
    policy->reclaim_policy = defaults->reclaim_policy;
    policy->min_hold_ms = defaults->min_hold_ms;
    policy->lease_term_ms = defaults->lease_term_ms;
    const struct conf_cell *cell = cell_of(reading, "RECLAIM_POLICY");
    if (cell != NULL && strcasecmp(cell->value, "lsf") == 0) {
        policy->reclaim_policy = RECLAIM_LSF;
    } else if (cell != NULL && strcasecmp(cell->value, "demand") == 0) {
        policy->reclaim_policy = RECLAIM_DEMAND;
    } else if (cell != NULL) {
        return false;
    }
    return read_duration(reading, "MIN_HOLD", &policy->min_hold_ms) &&
           read_duration(reading, "LEASE_TERM", &policy->lease_term_ms);
}

bool export_policy_read(struct conf *conf, const char *site,
                        const struct export_defaults *defaults,
                        const struct conf_section *section, const struct conf_row *row,
                        struct export_policy *policy)
{
    memset(policy, 0, sizeof(*policy));
    policy->section = section;
    policy->row = row;
    struct reading reading = {conf, site, policy};
    /* Each part is looked at, so that one run shows all that is wrong. */
    bool has_name = read_name(&reading);
    bool has_hosts = read_hosts(&reading);
    bool has_shares = read_distribution(&reading);
    bool has_spaces = read_spaces(&reading);
    bool has_type = has_hosts && has_shares && read_type(&reading);
    bool has_rebalance = read_rebalance(&reading, defaults);
    return has_name && has_hosts && has_spaces && has_shares && has_type &&
           has_rebalance;
}

/* "n1 n2 n3" */
static const char *joined(struct arena *arena, struct conf_words words)
{
    size_t size = 1;
    for (int i = 0; i < words.count; i++) {
        size += strlen(words.words[i]) + 1;
    }
    char *text = arena_alloc(arena, size, 1);
    char *at = text;
    for (int i = 0; i < words.count; i++) {
        size_t length = strlen(words.words[i]);
        if (i > 0) {
            *at++ = ' ';
        }
        memcpy(at, words.words[i], length);
        at += length;
    }
    return text;
}

/* "[south,1] [east,2]": entries as words, then joined. */
static const char *joined_shares(struct arena *arena,
                                 const struct export_policy *policy)
{
    struct conf_words words = {
        arena_alloc(arena, (size_t)policy->n_shares, sizeof(*words.words)),
        policy->n_shares,
    };
    for (int i = 0; i < policy->n_shares; i++) {
        words.words[i] =
            policy->is_pool
                ? arena_printf(arena, "[%s]", policy->shares[i].consumer)
                : arena_printf(arena, "[%s,%lld]", policy->shares[i].consumer,
                               (long long)policy->shares[i].share);
    }
    return joined(arena, words);
}

/* " MEM=100 SWAP=50", what there is of it. */
static const char *spaces_text(struct arena *arena, const struct export_policy *policy)
{
    static const char *const keys[SPACES] = {"MEM", "SWAP"};
    const char *text = "";
    for (int i = 0; i < SPACES; i++) {
        if (policy->spaces[i].is_given) {
            text =
                arena_printf(arena, "%s %s=%d", text, keys[i], policy->spaces[i].mib);
        }
    }
    return text;
}

const char *export_policy_content(struct arena *arena,
                                  const struct export_policy *policy)
{
    const char *shares = joined_shares(arena, policy);
    const char *type = policy->type == LEASE_SHARED ? " TYPE=shared" : "";
    const char *spaces = spaces_text(arena, policy);
    if (policy->is_per_host) {
        return arena_printf(arena, "PER_HOST=%s SLOTS=%d%s%s DISTRIBUTION=%s",
                            joined(arena, policy->hosts), policy->n_slots, spaces, type,
                            shares);
    }
    return arena_printf(arena, "RES_SELECT=%s NHOSTS=%d%s%s DISTRIBUTION=%s",
                        policy->hosts_cell->value, policy->n_hosts_max, spaces, type,
                        shares);
}
