/* SPDX-License-Identifier: Apache-2.0 */
/* shared_instances.c: shared resources of leases: how many instances of a resource pool
 * each consumer has.
 *
 * A policy says how many instances each consumer is to have of a pool (the places of
 * ResourceMap, in file order); the sum over all policies is what is exported. A lease
 * that is withdrawn, or whose hosts are not picked yet, keeps what it has until it ends
 * or is exported again, and others wait for that. All consumers together never have
 * more than is exported, apart from what such leases keep.
 *
 * Leases of one consumer with hosts in a pool share the same instances. They count
 * once, as the most that one of them has.
 *
 * Units: instances. Order: what does not divide evenly goes to the earlier consumer.
 * Source: docs/design/leases.md "Shared resources"; docs/adr/0006. Pool by pool: no
 * consumer loses instances that it has and is still to have. Exported instances that no
 * lease has, those that are ending included, go to the consumers that lack some, by
 * highest averages of what they lack.
 *
 * Example: of 10 licences south has 7 and east 3. South's policy is removed while a job
 * of it runs, and another gives east all 10. South keeps 7, so east still has 3. When
 * south's job has ended, east gets the 7. If another lease had given the 10 to south
 * again, it would have had 7 of them at once, the ones that it has. */
#include "provider/reconcile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/webster.h"

/* A consumer's part of a pool. */
struct part {
    const char *resource, *consumer;
    int pool;
    int64_t n_exported; /* that the policies give it */
    int64_t n_wanted;   /* of these, those of leases that are not ending or open */
    int64_t n_had;      /* that these leases have already */
    int64_t n_held;     /* that ending or open leases have */
    int64_t n_given;
};

/* The policies decide nothing for it now: it keeps what it has. */
static bool is_fixed(const struct ledger_lease *lease)
{
    return lease->is_withdrawn || lease->is_open;
}

static int compare_parts(const void *left, const void *right)
{
    const struct part *a = left, *b = right;
    int order = strcmp(a->resource, b->resource);
    order = order != 0 ? order : (a->pool > b->pool) - (a->pool < b->pool);
    return order != 0 ? order : strcmp(a->consumer, b->consumer);
}

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Leases of one consumer share the same instances, as many as the most that one of them
 * names. */
static int merge_parts(struct part *parts, int n_parts)
{
    int n_merged = 0;
    if (n_parts > 0) {
        qsort(parts, (size_t)n_parts, sizeof(*parts), compare_parts);
    }
    for (int i = 0; i < n_parts; i++) {
        struct part *last = n_merged > 0 ? &parts[n_merged - 1] : NULL;
        if (last == NULL || compare_parts(last, &parts[i]) != 0) {
            parts[n_merged++] = parts[i];
        } else {
            last->n_exported = most(last->n_exported, parts[i].n_exported);
            last->n_wanted = most(last->n_wanted, parts[i].n_wanted);
            last->n_had = most(last->n_had, parts[i].n_had);
            last->n_held = most(last->n_held, parts[i].n_held);
        }
    }
    return n_merged;
}

/* One part for what the policies give the lease, one for what it has. The names of the
 * latter are copied, as that list is replaced when something is given. */
static int add_parts(const struct ledger_lease *lease, struct arena *arena,
                     struct part *parts)
{
    int n = 0;
    for (int i = 0; i < lease->n_wanted; i++) {
        int n_instances = lease->wanted[i].n_instances;
        parts[n++] = (struct part){
            .resource = lease->wanted[i].name,
            .consumer = lease->consumer,
            .pool = lease->wanted[i].pool,
            .n_exported = n_instances,
            .n_wanted = is_fixed(lease) ? 0 : n_instances,
        };
    }
    for (int i = 0; i < lease->n_resources; i++) {
        int n_instances = lease->resources[i].n_instances;
        parts[n++] = (struct part){
            .resource = arena_str(arena, lease->resources[i].name),
            .consumer = lease->consumer,
            .pool = lease->resources[i].pool,
            .n_had = is_fixed(lease) ? 0 : n_instances,
            .n_held = is_fixed(lease) ? n_instances : 0,
        };
    }
    return n;
}

/* By resource, pool, consumer. */
static struct part *list_parts(const struct ledger *ledger, struct arena *arena,
                               int *n_parts)
{
    size_t n_all = 0;
    for (int i = 0; i < ledger->count; i++) {
        n_all +=
            (size_t)ledger->items[i]->n_wanted + (size_t)ledger->items[i]->n_resources;
    }
    struct part *parts = arena_alloc(arena, n_all, sizeof(*parts));
    int n = 0;
    for (int i = 0; i < ledger->count; i++) {
        n += add_parts(ledger->items[i], arena, &parts[n]);
    }
    *n_parts = merge_parts(parts, n);
    return parts;
}

/* What the consumer has already, and may keep. */
static int64_t count_out(const struct part *part)
{
    return most(part->n_given, part->n_held);
}

/* What is exported and no consumer has. */
static int64_t count_left(const struct part *parts, int n_parts)
{
    int64_t left = 0;
    for (int i = 0; i < n_parts; i++) {
        left += parts[i].n_exported - count_out(&parts[i]);
    }
    return most(left, 0);
}

/* Shares what is left of the pool, at most what is left of the resource, over its
 * parts. Returns how many instances were given. */
static int64_t give_pool(struct part *parts, int n_parts, int64_t left_of_all)
{
    int64_t *lacks = mem_alloc((size_t)n_parts, sizeof(*lacks));
    int64_t *shares = mem_alloc((size_t)n_parts, sizeof(*shares));
    int64_t left = least(count_left(parts, n_parts), left_of_all), lacking = 0;
    for (int i = 0; i < n_parts; i++) {
        lacks[i] = parts[i].n_wanted - parts[i].n_given;
        lacking += lacks[i];
    }
    if (lacking > left && left > 0) {
        webster_share(left, lacks, n_parts, shares);
    }
    for (int i = 0; i < n_parts; i++) {
        parts[i].n_given += lacking > left ? shares[i] : lacks[i];
    }
    free(lacks);
    free(shares);
    return least(lacking, left);
}

static void give_resource(struct part *parts, int n_parts)
{
    for (int i = 0; i < n_parts; i++) {
        parts[i].n_given =
            least(parts[i].n_wanted, most(parts[i].n_had, parts[i].n_held));
    }
    int64_t left = count_left(parts, n_parts);
    for (int i = 0, n; i < n_parts; i += n) {
        for (n = 1; i + n < n_parts && parts[i].pool == parts[i + n].pool; n++) {
        }
        left -= give_pool(&parts[i], n, left);
    }
}

static void give_all(struct part *parts, int n_parts)
{
    for (int i = 0, n; i < n_parts; i += n) {
        for (n = 1;
             i + n < n_parts && strcmp(parts[i].resource, parts[i + n].resource) == 0;
             n++) {
        }
        give_resource(&parts[i], n);
    }
}

static void note_change(struct ledger_lease *lease)
{
    if (!lease->is_changed) {
        snprintf(lease->reason, sizeof(lease->reason), "%s",
                 lease->epoch == 0 ? ""
                 : lease->is_revised || lease->is_reshared
                     ? "export policy changed"
                     : "shared resources became free");
    }
    lease->is_changed = true;
}

static void take(struct ledger_lease *lease, const struct part *parts, int n_parts)
{
    struct lease_resource *given = mem_alloc((size_t)lease->n_wanted, sizeof(*given));
    for (int i = 0; i < lease->n_wanted; i++) {
        const struct lease_resource *wanted = &lease->wanted[i];
        const struct part key = {.resource = wanted->name,
                                 .consumer = lease->consumer,
                                 .pool = wanted->pool};
        const struct part *part =
            bsearch(&key, parts, (size_t)n_parts, sizeof(*parts), compare_parts);
        given[i] = *wanted;
        given[i].n_instances = (int)least(part->n_given, wanted->n_instances);
    }
    if (ledger_set_resources(lease, given, lease->n_wanted)) {
        note_change(lease);
    }
    free(given);
}

void shared_instances_reconcile(struct ledger *ledger)
{
    struct arena arena;
    int n_parts;
    if (!ledger->needs_reshare) {
        return;
    }
    arena_init(&arena);
    struct part *parts = list_parts(ledger, &arena, &n_parts);
    give_all(parts, n_parts);
    for (int i = 0; i < ledger->count; i++) {
        if (!is_fixed(ledger->items[i])) {
            take(ledger->items[i], parts, n_parts);
        }
    }
    arena_release(&arena);
    ledger->needs_reshare = false;
}
