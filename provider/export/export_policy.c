/* SPDX-License-Identifier: Apache-2.0 */
/* export_policy.c: see export_policy.h. */
#include "provider/export/export_policy.h"

#include <string.h>
#include <strings.h>

#include "base/conf/conf_keys.h"

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

static bool read_per_host(struct reading *reading)
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

static bool read_res_select(struct reading *reading)
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

static bool read_hosts(struct reading *reading)
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
static bool read_spaces(struct reading *reading)
{
    struct space *spaces = reading->policy->spaces;
    const struct conf_cell *mem = cell_of(reading, "MEM");
    const struct conf_cell *swap = cell_of(reading, "SWAP");
    const struct conf_cell *swp = cell_of(reading, "SWP");
    if (swap != NULL && swp != NULL) {
        COMPLAIN(reading, swp, "not together with %s, which means the same", "SWAP");
        return false;
    }
    if (reading->policy->shares.is_pool &&
        (mem != NULL || swap != NULL || swp != NULL)) {
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

static bool read_name(struct reading *reading)
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

static bool read_type(struct reading *reading)
{
    struct export_policy *policy = reading->policy;
    const struct conf_cell *cell = cell_of(reading, "TYPE");
    if (policy->shares.is_pool && cell != NULL) {
        COMPLAIN(reading, cell,
                 "not together with a pool, whose plan says which node has the slots, "
                 "expected "
                 "a policy without %s",
                 "TYPE");
        return false;
    }
    if (policy->shares.is_pool) {
        policy->type = LEASE_POOL;
        return true;
    }
    policy->type = cell != NULL ? LEASE_SHARED : LEASE_EXCLUSIVE;
    if (cell != NULL && strcasecmp(cell->value, "shared") != 0) {
        return false;
    }
    if (policy->type == LEASE_SHARED && policy->is_per_host &&
        policy->shares.count > 1) {
        COMPLAIN(reading, policy->shares.cell,
                 "a shared host goes to one site, but %s has several, expected one "
                 "(or RES_SELECT, or no TYPE)",
                 "DISTRIBUTION");
        return false;
    }
    return true;
}

static bool read_duration(struct reading *reading, const char *name, int64_t *ms)
{
    const struct conf_cell *cell = cell_of(reading, name);
    const struct conf_key *key = conf_keys_find("HostExport", name);
    return cell == NULL ||
           (key != NULL &&
            conf_parse_duration(cell->value, key->unit_ms, ms, NULL) == ERR_NONE);
}

static bool read_price(struct reading *reading)
{
    struct export_terms *terms = &reading->policy->terms;
    const struct conf_cell *price = cell_of(reading, "PRICE");
    const struct conf_cell *hours = cell_of(reading, "HOURS");
    const struct conf_cell *first = price != NULL ? price : hours;
    int n_hours = 0;
    if (first != NULL && reading->policy->shares.is_pool) {
        COMPLAIN(
            reading, first,
            "the slots go to a pool, expected %s in section PlanNode of the broker",
            first->key);
        return false;
    }
    bool is_valid = (price == NULL || read_number(price, &terms->price)) &&
                    (hours == NULL || read_number(hours, &n_hours));
    terms->n_hours = n_hours;
    return is_valid;
}

/* A word that is not allowed was complained about by conf_check. */
static bool read_terms(struct reading *reading)
{
    struct export_terms *terms = &reading->policy->terms;
    const struct conf_cell *interactive = cell_of(reading, "INTERACTIVE");
    const struct conf_cell *reclaim = cell_of(reading, "RECLAIM_POLICY");
    const struct conf_cell *lost = cell_of(reading, "ON_LOST");
    terms->takes_interactive = true;
    if (interactive != NULL &&
        conf_parse_bool(interactive->value, &terms->takes_interactive, NULL) != 0) {
        return false;
    }
    if (lost != NULL) {
        terms->ends_lost = strcasecmp(lost->value, "kill") == 0;
    }
    if (reclaim != NULL) {
        bool is_lsf = strcasecmp(reclaim->value, "lsf") == 0;
        terms->reclaim_policy = is_lsf ? RECLAIM_LSF : RECLAIM_DEMAND;
        if (!is_lsf && strcasecmp(reclaim->value, "demand") != 0) {
            return false;
        }
    }
    return read_duration(reading, "MIN_HOLD", &terms->min_hold_ms) &&
           read_duration(reading, "LEASE_TERM", &terms->lease_term_ms);
}

bool export_policy_read(struct conf *conf, const char *site,
                        const struct export_terms *defaults,
                        const struct conf_section *section, const struct conf_row *row,
                        struct export_policy *policy)
{
    memset(policy, 0, sizeof(*policy));
    policy->section = section;
    policy->row = row;
    policy->terms = *defaults;
    struct reading reading = {conf, site, policy};
    /* Each part is looked at, so that one run shows all that is wrong. */
    bool has_name = read_name(&reading);
    bool has_hosts = read_hosts(&reading);
    bool has_shares = export_shares_read(conf, site, section, row, &policy->shares);
    bool has_spaces = read_spaces(&reading);
    bool has_type = has_hosts && has_shares && read_type(&reading);
    bool has_terms = read_terms(&reading);
    bool has_price = has_shares && read_price(&reading);
    return has_name && has_hosts && has_spaces && has_type && has_terms && has_price;
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
        arena_alloc(arena, (size_t)policy->shares.count, sizeof(*words.words)),
        policy->shares.count,
    };
    for (int i = 0; i < policy->shares.count; i++) {
        const struct export_share *share = &policy->shares.items[i];
        words.words[i] = policy->shares.is_pool
                             ? arena_printf(arena, "[%s]", share->consumer)
                             : arena_printf(arena, "[%s,%lld]", share->consumer,
                                            (long long)share->share);
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
