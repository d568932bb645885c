/* SPDX-License-Identifier: Apache-2.0 */
/* export.c: see export.h. Sections are taken in file order, because RES_SELECT skips
 * hosts of earlier ones. Each is parsed by itself (export_policy.c), its slots are
 * distributed, and the result is checked against what earlier sections export.
 *
 * Example: hostA and hostB, SLOTS=4, DISTRIBUTION=([c1, 1] [c2, 3]): on each host the
 * seats go c2 (3/1), c1 (1/1, equal to c2's 3/3, and earlier), c2 (3/3), c2 (3/5): one
 * slot for c1 and three for c2.
 *
 * Layer: provider. */
#include "provider/export/export.h"

#include <stdlib.h>
#include <string.h>

#include "base/webster.h"
#include "provider/export/export_policy.h"

/* What an earlier section exports of a host. */
struct use {
    const struct export_policy *policy;
    const char *consumer;
    struct use *next;
};

/* A host with what is exported of it so far. */
struct candidate {
    const struct export_host *host;
    int n_exported;
    struct use *uses;
    int policy_place; /* of the last policy that named it: to find it named twice */
};

struct export
{
    struct conf *conf;
    struct arena *arena;
    const struct export_site *site;
    struct candidate *candidates; /* file order */
    struct candidate **by_name;
    int n_candidates;
    struct export_policy **policies; /* taken into the plan */
    int n_policies;
    struct export_plan *plan;
    int leases_capacity, deferred_capacity, claims_capacity;
};

/* What one consumer gets of one host, before it is gathered into leases. */
struct piece {
    struct candidate *candidate;
    int share; /* index into the policy's shares */
    int n_slots;
    struct space spaces[SPACES];
};

struct pieces {
    struct piece *items;
    int count, capacity;
};

/* An error about a cell of a policy. */
#define COMPLAIN(export, severity, policy, cell, ...)                                  \
    conf_complain((export)->conf, severity, (policy)->section, (policy)->row, cell,    \
                  __VA_ARGS__)

/* Makes room for one more. The old array stays in the arena until its release. */
static void *grown(struct arena *arena, void *items, int count, int *capacity,
                   size_t size)
{
    if (count < *capacity) {
        return items;
    }
    *capacity = *capacity == 0 ? 8 : *capacity * 2;
    void *copy = arena_alloc(arena, (size_t)*capacity, size);
    if (count > 0) {
        memcpy(copy, items, (size_t)count * size);
    }
    return copy;
}

/* ------------------------------------------------------------ hosts */

static int compare_names(const void *a, const void *b)
{
    const struct candidate *const *left = a, *const *right = b;
    return strcmp((*left)->host->name, (*right)->host->name);
}

static void add_candidates(struct export *export)
{
    const struct export_host *hosts = export->site->hosts;
    int n_hosts = export->site->n_hosts;
    export->candidates =
        arena_alloc(export->arena, (size_t)n_hosts, sizeof(*export->candidates));
    export->by_name =
        arena_alloc(export->arena, (size_t)n_hosts, sizeof(*export->by_name));
    export->n_candidates = n_hosts;
    for (int i = 0; i < n_hosts; i++) {
        export->candidates[i].host = &hosts[i];
        export->by_name[i] = &export->candidates[i];
    }
    if (n_hosts > 0) {
        qsort(export->by_name, (size_t)n_hosts, sizeof(*export->by_name),
              compare_names);
    }
}

static struct candidate *find_candidate(const struct export *export, const char *name)
{
    struct export_host host = {.name = name};
    struct candidate key = {.host = &host}, *pointer = &key;
    if (export->n_candidates == 0) {
        return NULL;
    }
    struct candidate **found =
        bsearch(&pointer, export->by_name, (size_t) export->n_candidates,
                sizeof(*export->by_name), compare_names);
    return found != NULL ? *found : NULL;
}

/* ------------------------------------------------------------ sharing out */

static void add_piece(struct export *export, struct pieces *pieces,
                      struct candidate *candidate, const struct piece *piece)
{
    pieces->items = grown(export->arena, pieces->items, pieces->count,
                          &pieces->capacity, sizeof(*pieces->items));
    pieces->items[pieces->count] = *piece;
    pieces->items[pieces->count++].candidate = candidate;
}

static bool is_named_twice(struct export *export, const struct export_policy *policy,
                           struct candidate *candidate)
{
    if (candidate->policy_place == policy->place) {
        COMPLAIN(export, CONF_ERROR, policy, policy->hosts_cell,
                 "host %s appears twice, expected each host once",
                 candidate->host->name);
        return true;
    }
    candidate->policy_place = policy->place;
    return false;
}

static bool has_room(struct export *export, const struct export_policy *policy,
                     const struct candidate *candidate)
{
    int max = candidate->host->max;
    if (policy->n_slots <= max - candidate->n_exported) {
        return true;
    }
    if (candidate->n_exported == 0) {
        COMPLAIN(export, CONF_ERROR, policy, policy->slots_cell,
                 "%d slots of host %s, expected at most its MXJ of %d", policy->n_slots,
                 candidate->host->name, max);
    } else {
        COMPLAIN(
            export, CONF_ERROR, policy, policy->slots_cell,
            "%d slots of host %s, of which earlier policies export %d, expected at "
            "most its MXJ of %d in all",
            policy->n_slots, candidate->host->name, candidate->n_exported, max);
    }
    return false;
}

/* docs/design/leases.md "Export policies": "to export hosts of type DLINUX, exporting
 * swap is mandatory". */
bool export_lacks_swap(const struct space spaces[SPACES], const char *type)
{
    return !spaces[SPACE_SWP].is_given && strcmp(type, "DLINUX") == 0;
}

static bool lacks_swap(const struct export_policy *policy,
                       const struct candidate *candidate)
{
    return !policy->shares.is_pool &&
           export_lacks_swap(policy->spaces, candidate->host->type);
}

static bool has_swap(struct export *export, const struct export_policy *policy,
                     const struct candidate *candidate)
{
    if (lacks_swap(policy, candidate)) {
        COMPLAIN(export, CONF_ERROR, policy, policy->hosts_cell,
                 "host %s is of type DLINUX and can be exported only with swap space, "
                 "expected SWAP",
                 candidate->host->name);
        return false;
    }
    return true;
}

/* What each consumer gets of each host: its slots, and as much of memory and swap space
 * in proportion. */
static const struct piece *share_host(struct export *export,
                                      const struct export_policy *policy)
{
    const int64_t *slots =
        export_shares_divide(export->arena, &policy->shares, policy->n_slots);
    size_t n_shares = (size_t)policy->shares.count;
    int64_t *mib = arena_alloc(export->arena, n_shares, sizeof(*mib));
    struct piece *parts = arena_alloc(export->arena, n_shares, sizeof(*parts));
    for (int i = 0; i < policy->shares.count; i++) {
        parts[i].share = i;
        parts[i].n_slots = (int)slots[i];
    }
    for (int k = 0; k < SPACES; k++) {
        bool is_given = policy->spaces[k].is_given;
        webster_share(policy->spaces[k].mib, slots, policy->shares.count, mib);
        for (int i = 0; i < policy->shares.count; i++) {
            parts[i].spaces[k] = (struct space){is_given, (int)mib[i]};
        }
    }
    return parts;
}

/* PER_HOST: distributes the slots of each host. */
static bool share_slots(struct export *export, const struct export_policy *policy,
                        struct pieces *pieces)
{
    const struct piece *parts = share_host(export, policy);
    bool is_good = true;
    for (int i = 0; i < policy->hosts.count; i++) {
        struct candidate *candidate = find_candidate(export, policy->hosts.words[i]);
        if (candidate == NULL) {
            COMPLAIN(export, CONF_ERROR, policy, policy->hosts_cell,
                     "host \"%s\" is unknown, expected one of section Host",
                     policy->hosts.words[i]);
            is_good = false;
            continue;
        }
        if (is_named_twice(export, policy, candidate) ||
            !has_room(export, policy, candidate) ||
            !has_swap(export, policy, candidate)) {
            is_good = false;
            continue;
        }
        for (int j = 0; j < policy->shares.count; j++) {
            if (parts[j].n_slots > 0) {
                add_piece(export, pieces, candidate, &parts[j]);
            }
        }
    }
    return is_good;
}

static bool is_free(const struct candidate *candidate)
{
    return candidate->n_exported == 0 && candidate->host->max > 0;
}

/* RES_SELECT skips it. */
static bool is_left_out(const struct export_policy *policy,
                        const struct candidate *candidate)
{
    return is_free(candidate) && lacks_swap(policy, candidate);
}

static void note_left_out(struct export *export, const struct export_policy *policy,
                          const uint8_t *matches)
{
    for (int i = 0; i < export->n_candidates; i++) {
        const struct candidate *candidate = &export->candidates[i];
        if (matches[i] && is_left_out(policy, candidate)) {
            COMPLAIN(export, CONF_WARNING, policy, policy->hosts_cell,
                     "hosts of type DLINUX, as %s, are left out: they can be exported "
                     "only together with swap space, expected SWAP",
                     candidate->host->name);
            return;
        }
    }
}

/* The policy's hosts: the first NHOSTS that match and are free. Returns how many. */
static int pick_hosts(const struct export *export, const struct export_policy *policy,
                      const uint8_t *matches, struct candidate **picked)
{
    int n_picked = 0;
    for (int i = 0; i < export->n_candidates && n_picked < policy->n_hosts_max; i++) {
        if (matches[i] && is_free(&export->candidates[i]) &&
            !is_left_out(policy, &export->candidates[i])) {
            picked[n_picked++] = &export->candidates[i];
        }
    }
    return n_picked;
}

/* RES_SELECT: whole hosts, the first of them to the first consumer. */
static void share_hosts(struct export *export, const struct export_policy *policy,
                        const uint8_t *matches, struct pieces *pieces)
{
    size_t n_hosts = (size_t) export->n_candidates;
    struct candidate **picked = arena_alloc(export->arena, n_hosts, sizeof(*picked));
    note_left_out(export, policy, matches);
    int n_picked = pick_hosts(export, policy, matches, picked);
    if (n_picked == 0) {
        COMPLAIN(export, CONF_WARNING, policy, policy->hosts_cell,
                 "no host that earlier policies left matches, so nothing is exported");
        return;
    }
    int64_t *seats = export_shares_divide(export->arena, &policy->shares, n_picked);
    for (int i = 0, share = 0; i < n_picked; i++) {
        while (seats[share] == 0) {
            share++;
        }
        seats[share]--;
        struct piece piece = {.share = share, .n_slots = picked[i]->host->max};
        memcpy(piece.spaces, policy->spaces, sizeof(piece.spaces));
        add_piece(export, pieces, picked[i], &piece);
    }
}

/* ------------------------------------------------------------ beside other policies */

static bool is_at_odds(const struct use *use, const struct export_policy *policy,
                       const char *consumer)
{
    bool is_shared = use->policy->type == LEASE_SHARED || policy->type == LEASE_SHARED;
    return is_shared && strcmp(use->consumer, consumer) != 0;
}

/* A host of a shared policy has one consumer, in all policies. */
static bool check_shared(struct export *export, const struct export_policy *policy,
                         const struct pieces *pieces)
{
    bool is_good = true;
    for (int i = 0; i < pieces->count; i++) {
        const struct candidate *candidate = pieces->items[i].candidate;
        const char *consumer = policy->shares.items[pieces->items[i].share].consumer;
        for (const struct use *use = candidate->uses; use != NULL; use = use->next) {
            if (!is_at_odds(use, policy, consumer)) {
                continue;
            }
            COMPLAIN(export, CONF_ERROR, policy, policy->hosts_cell,
                     "host %s goes to %s here and to %s in the policy of line %d, and "
                     "one of the two is shared, expected one consumer for it",
                     candidate->host->name, consumer, use->consumer,
                     use->policy->section->line);
            is_good = false;
            break;
        }
    }
    return is_good;
}

static bool check_name(struct export *export, const struct export_policy *policy)
{
    for (int i = 0; policy->name[0] != '\0' && i < export->n_policies; i++) {
        if (strcmp(export->policies[i]->name, policy->name) == 0) {
            COMPLAIN(export, CONF_ERROR, policy, policy->name_cell,
                     "%s is the policy's name of line %d too, expected another",
                     policy->name, export->policies[i]->section->line);
            return false;
        }
    }
    return true;
}

/* ------------------------------------------------------------ the plan */

/* An empty lease at the end of the plan, with room for so many hosts. */
static void add_lease(struct export *export, const struct export_policy *policy,
                      int share, const char *content, int n_hosts)
{
    struct export_plan *plan = export->plan;
    plan->leases = grown(export->arena, plan->leases, plan->n_leases,
                         &export->leases_capacity, sizeof(*plan->leases));
    plan->leases[plan->n_leases++] = (struct export_lease){
        .policy = policy->name,
        .place = policy->place,
        .consumer = policy->shares.items[share].consumer,
        .content = content,
        .type = policy->type,
        .terms = policy->terms,
        .hosts =
            arena_alloc(export->arena, (size_t)n_hosts, sizeof(struct export_part)),
    };
}

/* A lease for each consumer that got something, in the order of DISTRIBUTION. */
static void add_leases(struct export *export, const struct export_policy *policy,
                       const struct pieces *pieces)
{
    const char *content = export_policy_content(export->arena, policy);
    size_t n_shares = (size_t)policy->shares.count;
    int *n_hosts = arena_alloc(export->arena, n_shares, sizeof(*n_hosts));
    int *index = arena_alloc(export->arena, n_shares, sizeof(*index));
    for (int i = 0; i < pieces->count; i++) {
        n_hosts[pieces->items[i].share]++;
    }
    for (int i = 0; i < policy->shares.count; i++) {
        index[i] = export->plan->n_leases;
        if (n_hosts[i] > 0) {
            add_lease(export, policy, i, content, n_hosts[i]);
        } else if (pieces->count > 0) {
            COMPLAIN(export, CONF_WARNING, policy, policy->shares.cell,
                     "nothing is left for %s: there is too little to divide",
                     policy->shares.items[i].consumer);
        }
    }
    for (int i = 0; i < pieces->count; i++) {
        const struct piece *piece = &pieces->items[i];
        struct export_lease *lease = &export->plan->leases[index[piece->share]];
        struct export_part *part = &lease->hosts[lease->n_hosts++];
        part->host = piece->candidate->host->name;
        part->index = (int)(piece->candidate - export->candidates);
        part->n_slots = piece->n_slots;
        memcpy(part->spaces, piece->spaces, sizeof(part->spaces));
    }
}

static void record_uses(struct export *export, const struct export_policy *policy,
                        const struct pieces *pieces)
{
    for (int i = 0; i < pieces->count; i++) {
        struct candidate *candidate = pieces->items[i].candidate;
        struct use *use = arena_alloc(export->arena, 1, sizeof(*use));
        use->policy = policy;
        use->consumer = policy->shares.items[pieces->items[i].share].consumer;
        use->next = candidate->uses;
        candidate->uses = use;
        candidate->n_exported += pieces->items[i].n_slots;
    }
}

/* ------------------------------------------------------------ later */

static const char *deferred_name(struct export *export,
                                 const struct export_policy *policy,
                                 const char *content)
{
    const struct export_plan *plan = export->plan;
    int number = 1;
    for (int i = 0; i < plan->n_deferred; i++) {
        number += plan->deferred[i].name[0] == '#' &&
                  !strcmp(plan->deferred[i].content, content);
    }
    return policy->name[0] != '\0' ? policy->name
                                   : arena_printf(export->arena, "#%d", number);
}

/* A lease for each consumer, without hosts. */
static void add_deferred(struct export *export, const struct export_policy *policy)
{
    struct export_plan *plan = export->plan;
    const char *content = export_policy_content(export->arena, policy);
    int64_t *shares =
        arena_alloc(export->arena, (size_t)policy->shares.count, sizeof(*shares));
    plan->deferred = grown(export->arena, plan->deferred, plan->n_deferred,
                           &export->deferred_capacity, sizeof(*plan->deferred));
    plan->deferred[plan->n_deferred] = (struct export_deferred){
        .name = deferred_name(export, policy, content),
        .content = content,
        .select = policy->hosts_cell->value,
        .n_hosts_max = policy->n_hosts_max,
        .first_lease = plan->n_leases,
        .n_shares = policy->shares.count,
        .shares = shares,
    };
    memcpy(plan->deferred[plan->n_deferred++].spaces, policy->spaces,
           sizeof(policy->spaces));
    for (int i = 0; i < policy->shares.count; i++) {
        shares[i] = policy->shares.items[i].share;
        add_lease(export, policy, i, content, 0);
        plan->leases[plan->n_leases - 1].is_open = true;
    }
}

void export_assign_hosts(struct arena *arena, struct export_plan *plan,
                         const struct export_deferred *late,
                         const struct export_host *hosts, int n_hosts)
{
    int64_t *seats = arena_alloc(arena, (size_t)late->n_shares, sizeof(*seats));
    webster_share(n_hosts, late->shares, late->n_shares, seats);
    for (int i = 0, next = 0; i < late->n_shares; i++) {
        struct export_lease *lease = &plan->leases[late->first_lease + i];
        lease->is_open = false;
        lease->n_hosts = (int)seats[i];
        lease->hosts = arena_alloc(arena, (size_t)seats[i], sizeof(*lease->hosts));
        for (int k = 0; k < lease->n_hosts; k++, next++) {
            struct export_part *part = &lease->hosts[k];
            part->host = hosts[next].name;
            part->index = hosts[next].index;
            part->n_slots = hosts[next].max;
            memcpy(part->spaces, late->spaces, sizeof(part->spaces));
        }
    }
}

/* ------------------------------------------------------------ the whole */

static void take_policy(struct export *export, struct export_policy *policy,
                        int *capacity)
{
    export->policies = grown(export->arena, export->policies, export->n_policies,
                             capacity, sizeof(struct export_policy *));
    export->policies[export->n_policies++] = policy;
}

static void add_claims(struct export *export, const struct export_policy *policy)
{
    struct export_plan *plan = export->plan;
    for (int i = 0; i < policy->shares.count; i++) {
        plan->claims = grown(export->arena, plan->claims, plan->n_claims,
                             &export->claims_capacity, sizeof(*plan->claims));
        plan->claims[plan->n_claims++] =
            (struct export_claim){policy->place, policy->shares.items[i].consumer};
    }
}

static void add_policy(struct export *export, struct export_policy *policy,
                       int *policies_capacity)
{
    const struct export_site *site = export->site;
    struct pieces pieces = {0};
    uint8_t *matches =
        arena_alloc(export->arena, (size_t)site->n_hosts, sizeof(*matches));
    enum export_answer answer =
        policy->is_per_host ? EXPORT_MATCHED
                            : site->match(site->arg, policy->section, policy->row,
                                          policy->hosts_cell, matches);
    bool is_good = answer != EXPORT_REFUSED;
    if (policy->is_per_host) {
        is_good = share_slots(export, policy, &pieces);
    } else if (answer == EXPORT_MATCHED) {
        share_hosts(export, policy, matches, &pieces);
    }
    bool has_own_name = check_name(export, policy);
    bool has_own_hosts = check_shared(export, policy, &pieces);
    if (!is_good || !has_own_name || !has_own_hosts) {
        return;
    }
    take_policy(export, policy, policies_capacity);
    if (answer == EXPORT_DEFERRED) {
        add_deferred(export, policy);
        return;
    }
    add_leases(export, policy, &pieces);
    record_uses(export, policy, &pieces);
}

void export_read(struct conf *conf, const struct export_site *site,
                 const struct export_terms *defaults, struct export_plan *plan)
{
    memset(plan, 0, sizeof(*plan));
    struct export export = {
        .conf = conf, .arena = conf->arena, .site = site, .plan = plan};
    add_candidates(&export);
    int policies_capacity = 0, place = 0;
    const struct conf_section *section = NULL;
    while ((section = conf_next(conf, "HostExport", section)) != NULL) {
        for (int i = 0; i < section->n_rows; i++) {
            struct export_policy *policy =
                arena_alloc(export.arena, 1, sizeof(*policy));
            bool is_good = export_policy_read(conf, site->name, defaults, section,
                                              &section->rows[i], policy);
            policy->place = ++place;
            add_claims(&export, policy);
            if (is_good) {
                add_policy(&export, policy, &policies_capacity);
            }
        }
    }
}
