/* SPDX-License-Identifier: Apache-2.0 */
/* export.h: evaluates export policies (HostExport): which slots of which host are
 * exported to which consumer.
 *
 * PER_HOST: slots of each named host, distributed to the consumers by highest averages,
 * with ties in the order of DISTRIBUTION. RES_SELECT: whole hosts, the first NHOSTS in
 * file order that match and that no earlier section exports. Their number is
 * distributed by highest averages; the consumer that is listed first gets the first
 * hosts. The site's own entry in DISTRIBUTION is ignored.
 *
 * MEM and SWAP (or SWP) are exported of each host. Consumers that share a host get them
 * in proportion to their slots. A host of type DLINUX can be exported only together
 * with swap space: RES_SELECT skips such a host otherwise.
 *
 * This room does not know the language of RES_SELECT. The caller of export_read says
 * which hosts match, or that this depends on what hosts report. The policy is then
 * deferred.
 *
 * Ownership: everything in conf's arena. Errors: diagnostics of `conf`, naming file,
 * line and key; the plan then leaves that policy out. Source: docs/design/leases.md
 * "Export policies", "Distribution", "Shared leases", "Decided".
 * Layer: provider. */
#ifndef SUBLET_PROVIDER_EXPORT_EXPORT_H
#define SUBLET_PROVIDER_EXPORT_EXPORT_H

#include "base/conf/conf.h"
#include "model/msg.h"

/* A host that may be exported, in file order. */
struct export_host {
    const char *name;
    int max;          /* MXJ */
    const char *type; /* as configured; "", "!": it is not */
    int index;        /* in file order */
};

enum export_answer {
    EXPORT_MATCHED,
    EXPORT_DEFERRED, /* hosts have to report first */
    EXPORT_REFUSED,  /* there is a complaint about the cell */
};

/* Sets matches[i] to 1 if the i-th host matches RES_SELECT, else to 0. */
typedef enum export_answer (*export_match_fn)(void *arg,
                                              const struct conf_section *section,
                                              const struct conf_row *row,
                                              const struct conf_cell *cell,
                                              uint8_t *matches);

/* The site that exports. */
struct export_site {
    const char *name;
    const struct export_host *hosts;
    int n_hosts;
    export_match_fn match;
    void *arg; /* match's */
};

/* Terms of a policy. Parameters has defaults for all but INTERACTIVE. */
struct export_terms {
    enum reclaim_policy reclaim_policy;
    int64_t min_hold_ms, lease_term_ms;
    bool ends_lost;         /* ON_LOST=kill */
    bool takes_interactive; /* INTERACTIVE=Y */
    int price;              /* PRICE: credits for a slot hour; 0: none */
    int64_t n_hours;        /* HOURS: slot hours a month; 0: no bound */
};

/* What a lease gets of a host. */
struct export_part {
    const char *host;
    int index; /* among the site's */
    int n_slots;
    struct space spaces[SPACES];
};

/* One policy towards one consumer: what becomes one lease. */
struct export_lease {
    const char *policy; /* NAME; "": none, provider_export numbers the policy */
    int place;          /* of the section among the HostExports, from 1 */
    const char *consumer;
    const char *content; /* the policy in normal form, the same for all consumers */
    enum lease_type type;
    struct export_terms terms;
    struct export_part *hosts; /* in the policy's order */
    int n_hosts;
    bool is_open; /* its hosts are not chosen yet: an existing lease stays */
    const struct lease_resource *resources; /* by SharedResourceExport */
    int n_resources;
};

/* A policy whose hosts are chosen once they have reported the values that its
 * RES_SELECT names: at most NHOSTS, each whole. Until then its leases are open. */
struct export_deferred {
    const char *name;    /* NAME; without one "#1", with equal content "#2" ... */
    const char *content; /* as its leases' */
    const char *select;  /* RES_SELECT */
    int n_hosts_max;
    int first_lease; /* in the plan: one for each consumer ... */
    int n_shares;
    const int64_t *shares;       /* ... and the share of each */
    struct space spaces[SPACES]; /* of each host */
};

/* A policy names this site, whether or not it got a lease. */
struct export_claim {
    int place; /* as in export_lease */
    const char *consumer;
};

struct export_plan {
    struct export_lease *leases;
    int n_leases;
    struct export_deferred *deferred;
    int n_deferred;
    struct export_claim *claims; /* of all policies; export_shared_read needs them */
    int n_claims;
    struct export_shared *shared; /* below */
    int n_shared;
};

/* True if a host of that type cannot be exported with these. */
bool export_lacks_swap(const struct space spaces[SPACES], const char *type);

/* Complaints: SLOTS above MXJ (sums too), an unknown host, a host twice, PER_HOST and
 * RES_SELECT together or neither, missing SLOTS, NHOSTS or DISTRIBUTION, a share that
 * is no positive integer, a consumer twice, shared PER_HOST with two consumers, a host
 * of a shared policy that another policy exports to someone else, a NAME twice or a
 * number, SWAP and SWP together, a DLINUX host in PER_HOST without swap space. */
void export_read(struct conf *conf, const struct export_site *site,
                 const struct export_terms *defaults, struct export_plan *plan);

/* Distributes the hosts that were chosen for a deferred policy to its leases, the first
 * host to the first consumer. A lease that gets none does not exist. */
void export_assign_hosts(struct arena *arena, struct export_plan *plan,
                         const struct export_deferred *late,
                         const struct export_host *hosts, int n_hosts);

/* ---------------------------------------------------------------- export_shared.c */

/* SharedResourceExport: instances of shared resources that go to sites
 * which borrow hosts.
 *
 * NAME, NINSTANCES and DISTRIBUTION are required. Each site in DISTRIBUTION must be
 * named by an earlier HostExport. It gets instances of a place (ResourceMap) only if an
 * earlier HostExport exports a host in that place to it, and its jobs can use them only
 * on such hosts. A site without such a host gets none, and the others share its part.
 * NINSTANCES, or as many as exist, are distributed by highest averages. If the
 * instances of a place are measured, it counts as having NINSTANCES. Places are used in
 * file order.
 *
 * The instances of a site are not counted by host: each of its leases with hosts in the
 * place names the same pool.
 *
 * Ownership: in the arena given, or conf's. Source: docs/design/leases.md "Shared
 * resources"; docs/adr/0006. */

/* Hosts that share instances of a resource. */
struct export_place {
    int64_t n_instances; /* -1: measured */
    const int *hosts;    /* indexes into the site's */
    int n_hosts;
};

struct export_resource {
    const char *name;
    bool is_numeric;
    int traits;                        /* enum resource_trait */
    const struct export_place *places; /* in file order: pools 1, 2 ... */
    int n_places;                      /* 0: it is not shared */
};

/* A section that was checked. */
struct export_shared {
    const char *name;
    int traits;
    int64_t n_instances;
    int n_before;     /* how many policies are before it: only these count */
    const int *pools; /* by host of the site: the number of its place; 0: none */
    int n_hosts;
    const int64_t *counts; /* by place: its instances */
    int n_places;
    const char **consumers;
    const int64_t *shares;
    int n_shares;
};

/* Reads the sections into a plan that export_read made of the same site, and gives.
 * Complaints, and the section is left out: a key is missing, an unknown resource, one
 * that is not numeric or not shared, a site that no HostExport before it names, the
 * same resource for a site twice, too much for a lease. Warnings: a site gets none. */
void export_shared_read(struct conf *conf, const struct export_site *site,
                        const struct export_resource *resources, int n_resources,
                        struct export_plan *plan);

/* Gives the plan's leases their resources, by the hosts that they have now. False: for
 * a lease it was too much, and something was left out. */
bool export_shared_give(struct arena *arena, struct export_plan *plan);

#endif
