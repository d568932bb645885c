/* SPDX-License-Identifier: Apache-2.0 */
/* export.h: export policies (HostExport) evaluated: which slots of which host go to
 * whom.
 *
 * PER_HOST: slots of each named host, shared out among the consumers per host by
 * highest averages, seat after seat in the order of DISTRIBUTION. RES_SELECT: whole
 * hosts, the first NHOSTS matches in file order that no earlier section took, counted
 * out by highest averages, first all of the first-listed consumer. The site's own entry
 * in DISTRIBUTION is ignored.
 *
 * MEM and SWAP (or SWP) are exported of each host. Consumers that share a host get them
 * in proportion to their slots; a host that goes whole takes all of it along. Hosts of
 * type DLINUX are exported with swap space only: RES_SELECT passes over others.
 *
 * What RES_SELECT means is the requirement language's, which this room does not know:
 * whoever reads policies says which hosts match; or that only the hosts can tell, and
 * then the policy is a late one.
 *
 * Ownership: everything in conf's arena. Errors: diagnostics of `conf`, naming file,
 * line and key; the plan then leaves that policy out. Source: docs/design/leases.md
 * "Export policies", "Distribution", "Shared leases", "Decided".
 * Layer: provider. */
#ifndef SUBLET_PROVIDER_EXPORT_EXPORT_H
#define SUBLET_PROVIDER_EXPORT_EXPORT_H

#include "base/conf.h"
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
    EXPORT_LATER,   /* hosts have to tell first */
    EXPORT_REFUSED, /* the cell has been complained about */
};

/* Which hosts RES_SELECT means: matches[i] becomes 1 for the i-th host if it does, else
 * 0. */
typedef enum export_answer (*export_match_fn)(void *arg,
                                              const struct conf_section *section,
                                              const struct conf_row *row,
                                              const struct conf_cell *cell,
                                              uint8_t *matches);

/* What policies are about. */
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
    const char *policy; /* NAME; "" where unnamed: provider_export numbers it */
    int place;          /* of the section among the HostExports, from 1 */
    const char *consumer;
    const char *content; /* the policy as a normal text (for all its consumers) */
    enum lease_type type;
    struct export_terms terms;
    struct export_part *hosts; /* in the policy's order */
    int n_hosts;
    bool is_open; /* its hosts are still to be picked: a lease of the policy stays */
    const struct lease_resource *resources; /* by SharedResourceExport */
    int n_resources;
};

/* A policy whose hosts are picked when they have told what its RES_SELECT names: whole
 * ones, NHOSTS at most. Until then its leases are open. */
struct export_late {
    const char *name;    /* NAME; unnamed: "#1", of those with equal content "#2" ... */
    const char *content; /* as its leases' */
    const char *select;  /* RES_SELECT */
    int n_hosts_max;
    int first_lease; /* of the plan's, one for each consumer ... */
    int n_shares;
    const int64_t *shares;       /* ... and what each gets */
    struct space spaces[SPACES]; /* of each host */
};

/* That a policy names a site, whether anything came of it or not. */
struct export_claim {
    int place; /* as in export_lease */
    const char *consumer;
};

struct export_plan {
    struct export_lease *leases;
    int n_leases;
    struct export_late *late;
    int n_late;
    struct export_claim *claims; /* of all policies, for who reads on */
    int n_claims;
    struct export_shared *shared; /* export_shared.h */
    int n_shared;
};

/* A host of that type is not exported with nothing but this. */
bool export_lacks_swap(const struct space spaces[SPACES], const char *type);

/* Complaints: SLOTS above MXJ (sums too), an unknown host, a host twice, PER_HOST and
 * RES_SELECT together or neither, missing SLOTS, NHOSTS or DISTRIBUTION, a share that
 * is no positive integer, a consumer twice, shared PER_HOST with two consumers, a host
 * of a shared policy that another policy exports to someone else, a NAME twice or a
 * number, SWAP and SWP together, a DLINUX host in PER_HOST without swap space. */
void export_read(struct conf *conf, const struct export_site *site,
                 const struct export_terms *defaults, struct export_plan *plan);

/* Hosts were picked for a late policy: its leases get them, the first host the first
 * consumer. Nobody is left out but for want of hosts; a lease without any is none. */
void export_give(struct arena *arena, struct export_plan *plan,
                 const struct export_late *late, const struct export_host *hosts,
                 int n_hosts);

#endif
