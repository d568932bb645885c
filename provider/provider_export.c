/* SPDX-License-Identifier: Apache-2.0 */
/* provider_export.c: brings the ledger in line with the export plan, at start and on
 * reload. It decides which policy has which lease; reconcile.c decides which slots
 * move.
 *
 * A named policy keeps its lease ids whatever changes in it. A policy without a name is
 * identified by its content. While that is the same it keeps its number. When it
 * changes it is another policy, whose leases are new contracts, and the old ones are
 * withdrawn. A number is never used for two contents, so that a lease id never means
 * two things. A new policy gets the position of its section as its number, if no policy
 * had it before, else the lowest unused number.
 *
 * A lease that has ended stays, without hosts, as the memory of the epoch that its id
 * has reached. If the policy comes back, the lease continues under the next epoch.
 *
 * Example: the file has A, B and C, numbered 1, 2 and 3. B is replaced by D: A and C
 * keep 1 and 3. D is at position 2, which was B's number, so it gets 4. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "provider/leaf_contract.h"
#include "provider/provider_parts.h"

/* ------------------------------------------------------------ numbers */

/* A section of the plan without a name. */
struct unnamed {
    int place;
    const char *content;
    int number; /* 0: not known yet */
};

struct unnamed_list {
    struct unnamed *items;
    int count;
};

/* The number of the lease's policy; 0 if it has a name. */
static int number_of(const struct ledger_lease *lease)
{
    int64_t number = 0;
    for (const char *at = lease->policy; *at != '\0'; at++) {
        if (*at < '0' || *at > '9' || number > INT32_MAX / 10 - 1) {
            return 0;
        }
        number = number * 10 + (*at - '0');
    }
    return (int)number;
}

static bool is_claimed(const struct unnamed_list *list, int number)
{
    for (int i = 0; i < list->count; i++) {
        if (list->items[i].number == number) {
            return true;
        }
    }
    return false;
}

static bool is_used(const struct provider *provider, int number)
{
    for (int i = 0; i < provider->ledger.count; i++) {
        if (number_of(provider->ledger.items[i]) == number) {
            return true;
        }
    }
    return false;
}

/* A number that this content had: its section's position, else the least; 0: none. */
static int known_number(const struct provider *provider,
                        const struct unnamed_list *list, const struct unnamed *unnamed)
{
    int best = 0;
    for (int i = 0; i < provider->ledger.count; i++) {
        const struct ledger_lease *lease = provider->ledger.items[i];
        int number = number_of(lease);
        if (number == 0 || strcmp(lease->content, unnamed->content) != 0 ||
            is_claimed(list, number)) {
            continue;
        }
        if (number == unnamed->place) {
            return number;
        }
        best = best == 0 || number < best ? number : best;
    }
    return best;
}

static int new_number(const struct provider *provider, const struct unnamed_list *list,
                      const struct unnamed *unnamed)
{
    int number = unnamed->place;
    bool is_free = !is_claimed(list, number) && !is_used(provider, number);
    for (int next = 1; !is_free; next++) {
        number = next;
        is_free = !is_claimed(list, number) && !is_used(provider, number);
    }
    return number;
}

static struct unnamed_list list_unnamed(const struct export_plan *plan)
{
    struct unnamed_list list = {mem_alloc((size_t)plan->n_leases, sizeof(*list.items)),
                                0};
    for (int i = 0; i < plan->n_leases; i++) {
        const struct export_lease *lease = &plan->leases[i];
        bool is_same_section =
            list.count > 0 && list.items[list.count - 1].place == lease->place;
        if (lease->policy[0] == '\0' && !is_same_section) {
            list.items[list.count++] =
                (struct unnamed){.place = lease->place, .content = lease->content};
        }
    }
    return list;
}

/* Policies that had a number come before new ones. */
static struct unnamed_list number_policies(const struct provider *provider,
                                           const struct export_plan *plan)
{
    struct unnamed_list list = list_unnamed(plan);
    for (int i = 0; i < list.count; i++) {
        list.items[i].number = known_number(provider, &list, &list.items[i]);
    }
    for (int i = 0; i < list.count; i++) {
        if (list.items[i].number == 0) {
            list.items[i].number = new_number(provider, &list, &list.items[i]);
        }
    }
    return list;
}

static void name_policy(const struct unnamed_list *list,
                        const struct export_lease *lease, char *name)
{
    snprintf(name, NAME_SIZE, "%s", lease->policy);
    for (int i = 0; lease->policy[0] == '\0' && i < list->count; i++) {
        if (list->items[i].place == lease->place) {
            snprintf(name, NAME_SIZE, "%d", list->items[i].number);
        }
    }
}

/* ------------------------------------------------------------ ledger */

static void change(struct ledger_lease *lease, const char *reason)
{
    lease->is_changed = true;
    snprintf(lease->reason, sizeof(lease->reason), "%s", reason);
}

/* Lists the hosts of the policy in its order, then hosts that it had before and that
 * are still in use. Returns how many there are. */
static int list_wanted(struct ledger *ledger, const struct ledger_lease *lease,
                       const struct export_lease *planned, struct lease_share *hosts)
{
    int n_hosts = 0;
    for (int i = 0; i < lease->n_hosts; i++) {
        lease->hosts[i].n_wanted = 0;
        memset(lease->hosts[i].wanted, 0, sizeof(lease->hosts[i].wanted));
    }
    for (int i = 0; i < planned->n_hosts; i++) {
        struct ledger_host *host = ledger_add_host(ledger, planned->hosts[i].host);
        struct lease_share *entry = ledger_find_entry(lease, host);
        hosts[n_hosts] = entry != NULL ? *entry : (struct lease_share){.host = host};
        memcpy(hosts[n_hosts].wanted, planned->hosts[i].spaces,
               sizeof(hosts[n_hosts].wanted));
        hosts[n_hosts++].n_wanted = planned->hosts[i].n_slots;
        if (entry != NULL) {
            entry->n_wanted = planned->hosts[i].n_slots;
        }
    }
    for (int i = 0; i < lease->n_hosts; i++) {
        if (lease->hosts[i].n_wanted == 0 && lease->hosts[i].n_slots > 0) {
            hosts[n_hosts++] = lease->hosts[i];
        }
    }
    return n_hosts;
}

static bool are_other_hosts(const struct ledger_lease *lease,
                            const struct lease_share *hosts, int n_hosts)
{
    bool are_others = n_hosts != lease->n_hosts;
    for (int i = 0; !are_others && i < n_hosts; i++) {
        are_others = hosts[i].host != lease->hosts[i].host;
    }
    return are_others;
}

/* Sets which hosts the lease has, which is part of the contract. How many slots it gets
 * there is decided by reconcile(). */
static void set_wanted(struct ledger *ledger, struct ledger_lease *lease,
                       const struct export_lease *planned)
{
    size_t n_max = (size_t)planned->n_hosts + (size_t)lease->n_hosts;
    struct lease_share *hosts = mem_alloc(n_max, sizeof(*hosts));
    int n_hosts = list_wanted(ledger, lease, planned, hosts);
    bool are_others = are_other_hosts(lease, hosts, n_hosts);
    if (are_others && !lease->is_changed) {
        change(lease, "export policy changed");
    }
    free(lease->hosts);
    lease->hosts = hosts;
    lease->n_hosts = n_hosts;
    if (are_others) {
        ledger_link(ledger);
    }
}

/* The provider's slots leave a lease that becomes exclusive; reconcile() gives them to
 * the consumer as they become idle. */
static void make_exclusive(struct ledger_lease *lease)
{
    for (int i = 0; i < lease->n_hosts; i++) {
        lease->hosts[i].n_slots = lease->hosts[i].consumer;
        lease->hosts[i].provider = 0;
    }
}

static void open_lease(struct ledger_lease *lease)
{
    change(lease, lease->epoch == 0 ? "" : "exported again");
    lease->is_made = lease->is_made && !lease->is_ended;
    lease->is_withdrawn = false;
    lease->is_ended = false;
}

static void set_type(struct ledger_lease *lease, enum lease_type type)
{
    if (lease->type != type) {
        change(lease, "export policy changed");
    }
    if (lease->type == LEASE_SHARED && type == LEASE_EXCLUSIVE) {
        make_exclusive(lease);
    }
    lease->type = type;
}

static void set_terms(struct ledger_lease *lease, const struct export_terms *terms)
{
    const struct export_terms *old = &lease->terms;
    lease->is_dirty |= old->reclaim_policy != terms->reclaim_policy ||
                       old->min_hold_ms != terms->min_hold_ms ||
                       old->lease_term_ms != terms->lease_term_ms ||
                       old->ends_lost != terms->ends_lost ||
                       old->price != terms->price ||
                       old->takes_interactive != terms->takes_interactive;
    lease->terms = *terms;
}

/* Until hosts are picked for its policy, the lease keeps those that it has. */
static void hold_lease(struct ledger_lease *lease)
{
    if (lease != NULL) {
        lease->is_exported = true;
        lease->is_open = true;
        ledger_want_resources(lease, NULL, 0); /* they were given to other leases */
    }
}

/* The contracts of leaves are exported with the policy. One that has ended is opened by
 * the broker when its leaf gets slots again. */
static void export_leaves(struct provider *provider, const struct ledger_lease *idle,
                          struct effects *effects)
{
    for (int i = 0; i < provider->ledger.count; i++) {
        struct ledger_lease *lease = provider->ledger.items[i];
        if (!leaf_contract_is_leaf(lease) || !ledger_is_same_policy(lease, idle) ||
            lease->is_drained || lease->is_ended) {
            continue;
        }
        lease->is_exported = true;
        lease->is_revised |= provider_quota_withhold(provider, lease);
        lease->is_dirty |=
            lease->terms.takes_interactive != idle->terms.takes_interactive;
        lease->terms.takes_interactive = idle->terms.takes_interactive;
        if (lease->is_withdrawn) {
            open_lease(lease);
        }
        if (strcmp(lease->content, idle->content) != 0) {
            ledger_set_content(lease, idle->content);
            ledger_store(lease, effects);
        }
    }
}

/* Until hosts are picked, the policy exports the slots that its leases have. */
static void hold_pool(struct provider *provider, struct ledger_lease *idle,
                      struct effects *effects)
{
    if (idle == NULL || idle->part != LEDGER_IDLE) {
        return;
    }
    for (int i = 0; i < idle->n_hosts; i++) {
        struct lease_share *entry = &idle->hosts[i];
        entry->n_wanted = entry->n_slots;
        for (int k = 0; k < entry->host->n_links; k++) {
            const struct ledger_link *link = &entry->host->links[k];
            bool is_part = leaf_contract_is_leaf(link->lease) &&
                           ledger_is_same_policy(link->lease, idle);
            entry->n_wanted += is_part ? link->lease->hosts[link->index].n_slots : 0;
        }
    }
    export_leaves(provider, idle, effects);
}

static void export_lease(struct provider *provider, const struct export_lease *planned,
                         const char *policy, struct effects *effects)
{
    char id[LEASE_ID_SIZE];
    snprintf(id, sizeof(id), "%s/%s/%s", provider->site, policy, planned->consumer);
    struct ledger_lease *lease = ledger_find(&provider->ledger, id);
    if (lease != NULL && lease->is_drained) {
        /* Until it is resumed the policy counts as gone, but its shared resources are
         * given to no other lease. */
        ledger_want_resources(lease, planned->resources, planned->n_resources);
        lease->has_part = true;
        return;
    }
    if (planned->is_open) {
        hold_lease(lease);
        hold_pool(provider, lease, effects);
        return;
    }
    if (lease == NULL) {
        lease = ledger_add(&provider->ledger, id, policy, planned->consumer);
    }
    lease->is_exported = true;
    lease->is_open = false;
    lease->is_revised = strcmp(lease->content, planned->content) != 0;
    provider_quota_set(provider, lease, planned->terms.n_hours, provider->now_ms,
                       effects);
    lease->is_revised |= provider_quota_withhold(provider, lease);
    lease->is_reshared = ledger_want_resources(
        lease, planned->resources, lease->is_withheld ? 0 : planned->n_resources);
    if (lease->epoch == 0 || lease->is_withdrawn) {
        open_lease(lease);
    }
    lease->is_made = lease->is_made || planned->type == LEASE_POOL;
    set_type(lease, planned->type);
    set_terms(lease, &planned->terms);
    set_wanted(&provider->ledger, lease, planned);
    if (lease->is_revised) {
        ledger_set_content(lease, planned->content);
    }
    if (lease->is_revised && !lease->is_changed) {
        ledger_store(lease, effects);
    }
    if (lease->part == LEDGER_IDLE) {
        export_leaves(provider, lease, effects);
    }
}

static void withdraw(struct ledger_lease *lease, const char *reason)
{
    lease->is_withdrawn = true;
    change(lease, reason);
    for (int i = 0; i < lease->n_hosts; i++) {
        lease->hosts[i].n_wanted = 0;
    }
}

static void withdraw_others(struct provider *provider)
{
    for (int i = 0; i < provider->ledger.count; i++) {
        struct ledger_lease *lease = provider->ledger.items[i];
        if (!lease->is_exported && !lease->has_part) {
            ledger_want_resources(lease, NULL, 0);
        }
        if (!lease->is_exported && !lease->is_withdrawn) {
            withdraw(lease, lease->is_drained ? "drained by an administrator"
                                              : "export policy withdrawn");
        }
    }
}

/* The broker knows the contract at another epoch, from a ledger that was lost: it
 * continues above that epoch, and above the present one. */
static void recover(struct provider *provider, struct ledger_lease *lease,
                    const struct msg_drain *drain, int64_t now_ms,
                    struct effects *effects)
{
    uint64_t above = drain->raise_above;
    bool is_needed = lease->lost_to != 0 && drain->number > lease->drain;
    bool is_late = above < lease->epoch && !is_needed;
    if (above == 0 || above > TOLD_NUMBER_MAX || is_late || provider->plan == NULL) {
        return;
    }
    effects_log(effects, LOG_LEVEL_NOTICE,
                "lease %s: from epoch %llu to above %llu, by order of an administrator",
                lease->lease, (unsigned long long)lease->epoch,
                (unsigned long long)above);
    lease->epoch = above > lease->epoch ? above : lease->epoch;
    lease->lost_from = lease->lost_to = 0;
    change(lease, "its provider had lost its journal");
    provider_refresh(provider, now_ms, effects);
}

void provider_export_drain(struct provider *provider, const struct msg_drain *drain,
                           int64_t now_ms, struct effects *effects)
{
    struct ledger_lease *lease = ledger_find(&provider->ledger, drain->lease);
    if (lease == NULL) {
        return;
    }
    recover(provider, lease, drain, now_ms, effects);
    if (drain->number <= lease->drain) {
        return;
    }
    bool has_changed = lease->is_drained != drain->is_drained;
    lease->drain = drain->number;
    lease->is_drained = drain->is_drained;
    lease->is_dirty = true;
    ledger_store(lease, effects);
    if (has_changed && provider->plan != NULL) {
        provider_export(provider, provider->plan, now_ms, effects);
    }
}

void provider_export(struct provider *provider, const struct export_plan *plan,
                     int64_t now_ms, struct effects *effects)
{
    struct unnamed_list list = number_policies(provider, plan);
    provider->now_ms = provider->ledger.now_ms = now_ms;
    for (int i = 0; i < provider->ledger.count; i++) {
        provider->ledger.items[i]->is_exported = false;
        provider->ledger.items[i]->has_part = false;
    }
    for (int i = 0; i < plan->n_leases; i++) {
        char policy[NAME_SIZE];
        if (plan->leases[i].n_hosts == 0 && !plan->leases[i].is_open) {
            continue; /* there were too few hosts */
        }
        name_policy(&list, &plan->leases[i], policy);
        export_lease(provider, &plan->leases[i], policy, effects);
    }
    withdraw_others(provider);
    free(list.items);
    provider->plan = plan;
    for (int i = 0; i < provider->ledger.n_hosts; i++) {
        provider->ledger.hosts[i]->needs_reconcile = true;
    }
    provider->ledger.needs_reshare = true;
    provider_refresh(provider, now_ms, effects);
    for (int i = 0; i < provider->ledger.count; i++) {
        provider->ledger.items[i]->is_revised = false;
        provider->ledger.items[i]->is_reshared = false;
    }
}
