/* SPDX-License-Identifier: Apache-2.0 */
/* provider_export.c: the ledger brought in line with the export plan, at start and on
 * reload. Which slots move, and when, is reconcile.c's; here is which lease is which.
 *
 * A named policy is known by its name: whatever changes in it, its leases keep their
 * id. One without a name is known by its content: while that is equal it keeps its
 * number, and when it changes it is another policy, whose leases are new contracts; the
 * old ones are withdrawn. A number is not given to another content again, so that a
 * lease id never means two things; a new policy takes its section's place where no
 * policy ever had that number, else the lowest such number.
 *
 * A book that has ended stays, without hosts: it is the memory of the epoch that its
 * lease id has reached. If the policy comes back, the lease goes on under the next one.
 *
 * Example: the file has A, B, C: they are 1, 2, 3. B goes and D comes before C: A and C
 * keep 1 and 3; D stands at place 2, which was B's, so it is 4. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "provider/leaf_contract.h"
#include "provider/provider_parts.h"
#include "provider/reconcile.h"

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

/* The number that a book's policy is; 0 where it has a name. */
static int number_of(const struct ledger_lease *book)
{
    int64_t number = 0;
    for (const char *at = book->policy; *at != '\0'; at++) {
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

/* Of the numbers that this content has had: the section's own place, else the least. */
static int known_number(const struct provider *provider,
                        const struct unnamed_list *list, const struct unnamed *unnamed)
{
    int best = 0;
    for (int i = 0; i < provider->ledger.count; i++) {
        const struct ledger_lease *book = provider->ledger.items[i];
        int number = number_of(book);
        if (number == 0 || strcmp(book->content, unnamed->content) != 0 ||
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

/* First those that had a number, then the new ones. */
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

/* The contract changes, whatever becomes of its slots. */
static void change(struct ledger_lease *book, const char *reason)
{
    book->is_changed = true;
    snprintf(book->reason, sizeof(book->reason), "%s", reason);
}

/* What the policy gives each host now, in its order; hosts that it had stay behind them
 * until they are idle. Returns how many there are. */
static int list_wanted(struct ledger *ledger, const struct ledger_lease *book,
                       const struct export_lease *lease, struct lease_share *hosts)
{
    int n_hosts = 0;
    for (int i = 0; i < book->n_hosts; i++) {
        book->hosts[i].n_wanted = 0;
        memset(book->hosts[i].wanted, 0, sizeof(book->hosts[i].wanted));
    }
    for (int i = 0; i < lease->n_hosts; i++) {
        struct ledger_host *host = ledger_add_host(ledger, lease->hosts[i].host);
        struct lease_share *entry = ledger_find_entry(book, host);
        hosts[n_hosts] = entry != NULL ? *entry : (struct lease_share){.host = host};
        memcpy(hosts[n_hosts].wanted, lease->hosts[i].spaces,
               sizeof(hosts[n_hosts].wanted));
        hosts[n_hosts++].n_wanted = lease->hosts[i].n_slots;
        if (entry != NULL) {
            entry->n_wanted = lease->hosts[i].n_slots;
        }
    }
    for (int i = 0; i < book->n_hosts; i++) {
        if (book->hosts[i].n_wanted == 0 && book->hosts[i].n_slots > 0) {
            hosts[n_hosts++] = book->hosts[i];
        }
    }
    return n_hosts;
}

static bool are_other_hosts(const struct ledger_lease *book,
                            const struct lease_share *hosts, int n_hosts)
{
    bool are_others = n_hosts != book->n_hosts;
    for (int i = 0; !are_others && i < n_hosts; i++) {
        are_others = hosts[i].host != book->hosts[i].host;
    }
    return are_others;
}

/* Which hosts a lease has is part of the contract. How many slots they get, settling
 * will tell. */
static void set_wanted(struct ledger *ledger, struct ledger_lease *book,
                       const struct export_lease *lease)
{
    size_t n_max = (size_t)lease->n_hosts + (size_t)book->n_hosts;
    struct lease_share *hosts = mem_alloc(n_max, sizeof(*hosts));
    int n_hosts = list_wanted(ledger, book, lease, hosts);
    bool are_others = are_other_hosts(book, hosts, n_hosts);
    if (are_others && !book->is_changed) {
        change(book, "export policy changed");
    }
    free(book->hosts);
    book->hosts = hosts;
    book->n_hosts = n_hosts;
    if (are_others) {
        ledger_link(ledger);
    }
}

/* The provider's slots of a lease that becomes exclusive go home first: from there the
 * consumer gets them as they are idle. */
static void make_exclusive(struct ledger_lease *book)
{
    for (int i = 0; i < book->n_hosts; i++) {
        book->hosts[i].n_slots = book->hosts[i].consumer;
        book->hosts[i].provider = 0;
    }
}

static void open_book(struct ledger_lease *book)
{
    change(book, book->epoch == 0 ? "" : "exported again");
    book->is_made = book->is_made && !book->is_ended;
    book->is_withdrawn = false;
    book->is_ended = false;
}

static void set_type(struct ledger_lease *book, enum lease_type type)
{
    if (book->type != type) {
        change(book, "export policy changed");
    }
    if (book->type == LEASE_SHARED && type == LEASE_EXCLUSIVE) {
        make_exclusive(book);
    }
    book->type = type;
}

static void set_terms(struct ledger_lease *book, const struct export_lease *lease)
{
    book->is_dirty = book->is_dirty || book->reclaim_policy != lease->reclaim_policy ||
                     book->min_hold_ms != lease->min_hold_ms ||
                     book->lease_term_ms != lease->lease_term_ms ||
                     book->ends_lost != lease->ends_lost ||
                     book->takes_interactive != lease->takes_interactive;
    book->reclaim_policy = lease->reclaim_policy;
    book->min_hold_ms = lease->min_hold_ms;
    book->lease_term_ms = lease->lease_term_ms;
    book->ends_lost = lease->ends_lost;
    book->takes_interactive = lease->takes_interactive;
}

/* Until hosts are picked for its policy, a lease has those that it had. */
static void keep_book(struct ledger_lease *book)
{
    if (book != NULL) {
        book->is_exported = true;
        book->is_open = true;
        ledger_want_resources(book, NULL, 0); /* others were given them */
    }
}

/* The leaves' contracts of a policy that exports to a pool are exported with it. One
 * that has ended is opened by the broker, when its leaf gets slots again. */
static void export_leaves(struct provider *provider, const struct ledger_lease *idle,
                          struct effects *effects)
{
    for (int i = 0; i < provider->ledger.count; i++) {
        struct ledger_lease *book = provider->ledger.items[i];
        if (!leaf_contract_is_leaf(book) || !ledger_is_same_policy(book, idle) ||
            book->is_drained || book->is_ended) {
            continue;
        }
        book->is_exported = true;
        book->is_dirty =
            book->is_dirty || book->takes_interactive != idle->takes_interactive;
        book->takes_interactive = idle->takes_interactive;
        if (book->is_withdrawn) {
            open_book(book);
        }
        if (strcmp(book->content, idle->content) != 0) {
            ledger_set_content(book, idle->content);
            ledger_store(book, effects);
        }
    }
}

/* What it exports of each host is what all its parts have there. */
static void keep_pool(struct provider *provider, struct ledger_lease *idle,
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
            bool is_part = leaf_contract_is_leaf(link->book) &&
                           ledger_is_same_policy(link->book, idle);
            entry->n_wanted += is_part ? link->book->hosts[link->index].n_slots : 0;
        }
    }
    export_leaves(provider, idle, effects);
}

static void export_lease(struct provider *provider, const struct export_lease *lease,
                         const char *policy, struct effects *effects)
{
    char id[LEASE_ID_SIZE];
    snprintf(id, sizeof(id), "%s/%s/%s", provider->site, policy, lease->consumer);
    struct ledger_lease *book = ledger_find(&provider->ledger, id);
    if (book != NULL && book->is_drained) {
        /* As if the policy were not there, until it is resumed; but nobody else is to
         * have its part. */
        ledger_want_resources(book, lease->resources, lease->n_resources);
        book->has_part = true;
        return;
    }
    if (lease->is_open) {
        keep_book(book);
        keep_pool(provider, book, effects);
        return;
    }
    if (book == NULL) {
        book = ledger_add(&provider->ledger, id, policy, lease->consumer);
    }
    book->is_exported = true;
    book->is_open = false;
    book->is_revised = strcmp(book->content, lease->content) != 0;
    book->is_reshared =
        ledger_want_resources(book, lease->resources, lease->n_resources);
    if (book->epoch == 0 || book->is_withdrawn) {
        open_book(book);
    }
    book->is_made = book->is_made || lease->type == LEASE_POOL;
    set_type(book, lease->type);
    set_terms(book, lease);
    set_wanted(&provider->ledger, book, lease);
    book->needs_reserved = lease->type == LEASE_SHARED && !book->is_made;
    if (book->is_revised) {
        ledger_set_content(book, lease->content);
    }
    if (book->is_revised && !book->is_changed) {
        ledger_store(book, effects);
    }
    if (book->part == LEDGER_IDLE) {
        export_leaves(provider, book, effects);
    }
}

static void withdraw(struct ledger_lease *book, const char *reason)
{
    book->is_withdrawn = true;
    book->needs_reserved = false;
    change(book, reason);
    for (int i = 0; i < book->n_hosts; i++) {
        book->hosts[i].n_wanted = 0;
    }
}

static void withdraw_others(struct provider *provider)
{
    for (int i = 0; i < provider->ledger.count; i++) {
        struct ledger_lease *book = provider->ledger.items[i];
        if (!book->is_exported && !book->has_part) {
            ledger_want_resources(book, NULL, 0);
        }
        if (!book->is_exported && !book->is_withdrawn) {
            withdraw(book, book->is_drained ? "drained by an administrator"
                                            : "export policy withdrawn");
        }
    }
}

/* What is on record says nothing about the sizes of hosts: all are looked at. */
static void unsettle_all(struct provider *provider)
{
    for (int i = 0; i < provider->ledger.n_hosts; i++) {
        provider->ledger.hosts[i]->needs_reconcile = true;
    }
}

/* The broker has a contract of a higher epoch, from a ledger that was lost. Whatever
 * those said, what this one says is the next. */
static void recover(struct provider *provider, struct ledger_lease *book,
                    uint64_t above, int64_t now_ms, struct effects *effects)
{
    if (above == 0 || above < book->epoch || provider->plan == NULL) {
        return;
    }
    effects_log(effects, LOG_LEVEL_NOTICE,
                "lease %s: from epoch %llu to above %llu, by order of an administrator",
                book->lease, (unsigned long long)book->epoch,
                (unsigned long long)above);
    book->epoch = above;
    change(book, "its provider had lost its books");
    provider_refresh(provider, now_ms, effects);
}

void provider_export_drain(struct provider *provider, const struct msg_drain *drain,
                           int64_t now_ms, struct effects *effects)
{
    struct ledger_lease *book = ledger_find(&provider->ledger, drain->lease);
    if (book == NULL) {
        return;
    }
    recover(provider, book, drain->raise_above, now_ms, effects);
    if (drain->number <= book->drain) {
        return;
    }
    bool has_changed = book->is_drained != drain->is_drained;
    book->drain = drain->number;
    book->is_drained = drain->is_drained;
    book->is_dirty = true;
    ledger_store(book, effects);
    if (has_changed && provider->plan != NULL) {
        provider_export(provider, provider->plan, now_ms, effects);
    }
}

void provider_export(struct provider *provider, const struct export_plan *plan,
                     int64_t now_ms, struct effects *effects)
{
    struct unnamed_list list = number_policies(provider, plan);
    for (int i = 0; i < provider->ledger.count; i++) {
        provider->ledger.items[i]->is_exported = false;
        provider->ledger.items[i]->has_part = false;
    }
    for (int i = 0; i < plan->n_leases; i++) {
        char policy[NAME_SIZE];
        if (plan->leases[i].n_hosts == 0 && !plan->leases[i].is_open) {
            continue; /* there were too few hosts for it */
        }
        name_policy(&list, &plan->leases[i], policy);
        export_lease(provider, &plan->leases[i], policy, effects);
    }
    withdraw_others(provider);
    free(list.items);
    provider->plan = plan;
    unsettle_all(provider);
    provider->ledger.needs_reshare = true;
    provider_refresh(provider, now_ms, effects);
    for (int i = 0; i < provider->ledger.count; i++) {
        provider->ledger.items[i]->is_revised = false;
        provider->ledger.items[i]->is_reshared = false;
    }
}
