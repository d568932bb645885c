/* SPDX-License-Identifier: Apache-2.0 */
/* ledger.h: the provider's ledger: leases with their hosts, hosts with the slots that
 * the site itself uses, and which slots each side of a lease uses.
 *
 * The ledger decides nothing, except by one rule. The slots that the site's own jobs
 * use on a host are attributed first to slots that no lease has, then to slots that the
 * provider holds of leases, in order of lease id. A frozen lease is never attributed
 * more than when it froze, and what it loses while frozen it does not get back. If the
 * jobs then do not fit (a host shrank, another lease grew), the freeze lapses, and a
 * proposal that still comes is checked against the true counts.
 *
 * The slots of a host may have to change sides together (is_whole). Each side then uses
 * either none of what it holds there, or all of it, so that no split divides the host.
 *
 * Ownership: the ledger owns all strings. Order: leases by id, hosts by name; a lease's
 * hosts in its policy's order; a host's links by lease id.
 * Source: docs/design/leases.md "Decided". Layer: provider. */
#ifndef SUBLET_PROVIDER_LEDGER_H
#define SUBLET_PROVIDER_LEDGER_H

#include <stdbool.h>
#include <stdint.h>

#include <stdlib.h>

#define uthash_fatal(text) abort() /* out of memory, as everywhere */
#include <uthash.h>

#include "model/effect.h"
#include "model/quota.h"
#include "provider/export/export.h"

/* The role of a lease in its policy. A policy that exports to a pool has one contract
 * for the idle slots, whose consumer is "pool:NAME", and one for each leaf of the plan.
 * A leaf of the site itself holds its slots on the provider's side of the split, the
 * others on the consumer's. Slots of a host move between these contracts; together they
 * always have what the policy exports there. */
enum ledger_part { LEDGER_WHOLE, LEDGER_IDLE, LEDGER_LEAF, LEDGER_OWN_LEAF };

struct ledger_lease;

/* A lease on a host. */
struct ledger_link {
    struct ledger_lease *lease;
    int index; /* into the lease's hosts */
};

struct ledger_host {
    char *name;
    bool is_known; /* the site has reported what follows */
    int max;       /* MXJ */
    int local_used;
    int local_yielded;          /* of suspended jobs that have yielded their slots */
    int64_t spaces_mib[SPACES]; /* memory and swap space; -1: not known */
    bool is_down;
    bool is_awaited;          /* it has not connected since the site started */
    bool is_used_exclusively; /* by an exclusive job */
    bool is_whole;            /* its slots change sides only together */
    bool needs_reconcile;     /* reconcile.c has to handle it */
    struct ledger_link *links;
    int n_links, links_capacity;
    UT_hash_handle hh;
};

/* A lease's share of a host. Always n_slots = provider + consumer. What a side uses is
 * at most what it holds, even if its jobs, suspended ones included, want more. */
struct lease_share {
    struct ledger_host *host;
    int n_wanted; /* by the export policy; 0: the lease gives up the host */
    int n_slots, provider, consumer;
    int provider_used, consumer_used;
    int consumer_running, consumer_yielded; /* slots of the consumer's jobs */
    bool is_unheld; /* while the lease is frozen: all that the provider has is used */
    bool is_recalled_whole; /* all of it is recalled (lease_recall.h); in memory only */
    struct space wanted[SPACES]; /* that the export policy gives it */
    struct space spaces[SPACES]; /* that the consumer has */
};

struct ledger_lease {
    char *lease; /* id */
    char *policy, *consumer, *content;
    enum lease_type type;
    struct export_terms terms;
    uint64_t epoch;
    uint64_t commits, lost_from, lost_to; /* as in msg_state */
    int64_t split_ms;
    bool is_made, is_withdrawn, is_ended;
    bool is_drained; /* by DRAIN: withdrawn, whatever the policies say */
    uint64_t drain;  /* its number */
    enum ledger_part part;
    uint64_t recall;                        /* number of the latest RECALL */
    bool is_whole;                          /* it wants hosts whole */
    struct row_recall recalls[RECALLS_MAX]; /* open recalls, by deadline */
    int n_recalls;
    int n_due;         /* of these, when lease_recall_tick was last called */
    bool is_frozen;    /* in memory only, as are all below but the hosts */
    bool is_preparing; /* it will be frozen once the site holds its idle hosts */
    int64_t frozen_until_ms;
    uint64_t freeze;  /* the highest number accepted */
    bool is_changed;  /* differs from the epoch on record */
    bool is_exported; /* provider_export: the plan has it */
    bool is_revised;  /* provider_export: it gives other slots than before */
    bool is_reshared; /* provider_export: other shared resources */
    bool has_part;    /* provider_export: drained, but its policy exists */
    bool is_open;     /* provider_export: its hosts are not picked yet */
    bool is_withheld; /* provider_export: it gets no slots (provider_withhold) */
    bool is_dirty;    /* differs from the STATE last sent */
    int64_t sent_ms;  /* when STATE was last sent */
    int n_repeats;    /* repetitions since then */
    int64_t paced_ms; /* when the next one is due at one per gap */
    struct lease_share *hosts;
    int n_hosts;
    struct lease_resource *resources; /* shared ones, that the consumer has */
    int n_resources;
    struct lease_resource *wanted; /* of these, that the export policy gives */
    int n_wanted;
    struct quota quota;     /* HOURS, of the slots in n_running */
    int64_t hours_since_ms; /* when that count began; 0: nothing is counted */
    enum quota_level quota_level;
    int n_running; /* slots of the consumer's jobs that have not yielded them */
    char reason[REASON_SIZE];
};

struct ledger {
    struct ledger_lease **items;
    int count, capacity;
    struct ledger_host **hosts; /* by name */
    struct ledger_host *table;  /* a scheduler asks about every host in every pass */
    int n_hosts, hosts_capacity;
    uint64_t n_changes; /* of what is exported besides slots */
    bool needs_reshare; /* shared_instances.c has to run */
    uint64_t commits;   /* of the journal, as of the latest commit */
    int64_t now_ms;     /* the latest that was told */
};

void ledger_release(struct ledger *ledger);

struct ledger_lease *ledger_find(const struct ledger *ledger, const char *id);
/* A new lease, at epoch 0 and without hosts. */
struct ledger_lease *ledger_add(struct ledger *ledger, const char *id,
                                const char *policy, const char *consumer);
void ledger_set_content(struct ledger_lease *lease, const char *content);
/* True if they differ from before. */
bool ledger_set_resources(struct ledger_lease *lease,
                          const struct lease_resource *resources, int n_resources);
/* Likewise what the export policy gives it. */
bool ledger_want_resources(struct ledger_lease *lease,
                           const struct lease_resource *resources, int n_resources);

struct ledger_host *ledger_find_host(const struct ledger *ledger, const char *name);
struct ledger_host *ledger_add_host(struct ledger *ledger, const char *name);

/* The lease's share of a host, or NULL. */
struct lease_share *ledger_find_entry(const struct ledger_lease *lease,
                                      const struct ledger_host *host);
/* The site holds the slots as a leaf of a pool and must return each one that becomes
 * idle. */
bool ledger_is_owed(const struct ledger_lease *lease);
/* Call it after any change of which hosts a lease has. */
void ledger_link(struct ledger *ledger);

/* Call it after a change of what the consumer holds or its jobs use. */
void ledger_count_consumer(struct lease_share *entry);
/* The contract with the idle slots of the policy's pool; NULL: the policy exports to no
 * pool now. `id` is any lease id of the policy, or "PROVIDER/POLICY/". */
struct ledger_lease *ledger_find_idle(const struct ledger *ledger, const char *id);
/* The proposed split of a host, usually the one at `place`; or NULL. */
const struct host_split *ledger_find_split(const struct msg_propose *msg, int place,
                                           const char *host);
bool ledger_is_same_policy(const struct ledger_lease *a, const struct ledger_lease *b);
/* All slots of the lease, of both sides. */
int ledger_count_held(const struct ledger_lease *lease);

/* The lease is not frozen any more, nor about to be. Attribute its hosts after it. */
void ledger_thaw(struct ledger_lease *lease);
/* Attributes a host's local use again; marks leases whose part of it changed. */
void ledger_attribute(struct ledger_host *host);

/* The lease's contract is another one from the next commit on. */
void ledger_begin_epoch(const struct ledger *ledger, struct ledger_lease *lease);
/* The journal has lost commits up to that number, and of each lease the epochs that
 * they made. Stores that. */
void ledger_doubt(struct ledger *ledger, uint64_t lost_to, struct effects *effects);
/* Stores the lease's row. */
void ledger_store(const struct ledger_lease *lease, struct effects *effects);
void ledger_load(struct ledger *ledger, const struct row_book *row);

#endif
