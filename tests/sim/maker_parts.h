/* SPDX-License-Identifier: Apache-2.0 */
/* maker_parts.h: what the files that make a federation share. maker_sites.c chooses the
 * sites and writes their files, maker_pool.c writes a plan, and maker.c the statements.
 */
#ifndef SUBLET_TESTS_SIM_MAKER_PARTS_H
#define SUBLET_TESTS_SIM_MAKER_PARTS_H

#include <stdbool.h>
#include <stdio.h>

#include "base/rng.h"

enum {
    SITES_MAX = 8,
    HOSTS_OF_SITE_MAX = 4,
    SLOTS_OF_HOST_MAX = 6,
    POLICIES_MAX = 3,
    DISTURBED_S = 300, /* how long users and faults are active */
};

struct maker_policy {
    int first_host, n_hosts;
    int n_slots;   /* 0: whole hosts, by RES_SELECT */
    bool is_named; /* called "p1"; otherwise by its number */
    bool is_shared, is_demand;
    bool is_pool; /* a plan chooses its consumers */
    int consumers[2], shares[2];
    bool is_drained[2], was_drained[2]; /* the lease of each consumer: now, and ever */
    int n_consumers;
    int min_hold_s, lease_term_s; /* 0: not set */
    bool ends_lost;
    bool is_batch; /* no interactive jobs */
    int mem, swap; /* MB of each host; 0: none */
};

/* The shared resource "lic", and the instances that are lent with hosts. */
struct maker_licences {
    int n_placed[2]; /* instances at its two places: the first hosts, and the others */
    int n_first;     /* hosts of the first place; 0: the site does not have it */
    int n_instances; /* exported; 0: none */
    bool is_otherwise; /* defined differently from other sites */
};

struct maker_site {
    int n_hosts;
    int slots[HOSTS_OF_SITE_MAX];
    bool is_changed[HOSTS_OF_SITE_MAX]; /* to be restored at the end */
    bool is_closed[HOSTS_OF_SITE_MAX];  /* likewise */
    bool is_slow[HOSTS_OF_SITE_MAX];    /* likewise */
    bool was_closed[HOSTS_OF_SITE_MAX]; /* ever: its site may have been away when it was
                                           to be opened */
    int n_private;                      /* slots that no policy can lend */
    int limits[HOSTS_OF_SITE_MAX];      /* slots of jobs there; 0: no section Limit */
    bool limits_together;               /* ... of these hosts, as a group */
    bool can_borrow;
    bool has_urgent, has_far, preempts;
    bool resizes;            /* some of its jobs, while they run */
    bool reserves_slots;     /* some queues reserve, and some backfill */
    bool has_pool;           /* its queues on own hosts form a slot pool */
    bool has_commands;       /* pre- and post-execution commands, and job controls */
    int requeue_code;        /* REQUEUE_EXIT_VALUES; 0: none */
    const char *shares;      /* of users in queue normal; NULL: none */
    int reclaim_s, freeze_s; /* 0: not set */
    struct maker_policy policies[POLICIES_MAX];
    int n_policies;
    struct maker_licences licences;
    int memory[HOSTS_OF_SITE_MAX]; /* MB that each host reports; 0: none */
    bool has_thresholds;           /* of load */
    int queue_length[HOSTS_OF_SITE_MAX], pages[HOSTS_OF_SITE_MAX];
    bool counts_cpus; /* MXJ of its hosts is "!", and they report CPUs */
    int cpus[HOSTS_OF_SITE_MAX];
    bool is_used[HOSTS_OF_SITE_MAX]; /* a user is working at the host */
    bool is_drained, was_drained;    /* the whole site */
    int n_jobs;
    int sizes[DISTURBED_S];     /* elements of each job; 0: no array */
    bool is_again[DISTURBED_S]; /* the job is requeued again and again */
    int work_left_s;            /* slot seconds that its users may still request */
    bool has_backup, was_restored;
    bool has_other;          /* a second configuration, "s1-1.conf" ... */
    bool is_reloaded;        /* ... is loaded, to be restored at the end */
    bool has_more, was_more; /* one more host: now, and ever */
};

struct maker_faults {
    const char *loss, *repeat; /* probabilities; NULL: none */
    int delay_s, reorder_s;
    const char *crashes;  /* probability and longest time down; NULL: none */
    const char *failures; /* of hosts, likewise */
    int sudden;           /* chance in 100 that a statement is a fault */
    int batch;            /* events per batch of a daemon; 0: no limit */
};

struct maker {
    struct rng rng;
    struct maker_site sites[SITES_MAX];
    int n_sites;
    struct maker_faults faults;
    int left_out; /* the site, from 1, that is no member in broker-1.conf; 0: there is
                     no such file */
    bool is_reloaded;
    bool has_backup;
    bool has_pool;  /* "p", with a plan in the broker's file */
    bool has_loads; /* all hosts report their load */
    bool has_hours; /* of policies and nodes, small enough to be used up */
    bool has_host_faults;
    bool has_site_copies; /* journals of sites are restored from copies */
    char *body;
    size_t length;
    FILE *out;
};

/* In [low, high]. */
int maker_between(struct maker *maker, int low, int high);
bool maker_chance(struct maker *maker, int percent);
/* Appends to the text that is being written. */
void maker_say(struct maker *maker, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A site may be the consumer of sites before it: choose all sites, then write their
 * files. */
void maker_choose_site(struct maker *maker, int self);
void maker_write_site(struct maker *maker, int self);
/* Another configuration of the same site: changed or removed policies, one host more or
 * less. */
void maker_write_other_site(struct maker *maker, int self);
/* Memory, swap space and shared resources (maker_grants.c): chooses them with the
 * policies; writes their sections before and after the policies, the reports of the
 * hosts, and the requirement of a job. */
void maker_choose_grants(struct maker *maker, struct maker_site *site);
void maker_write_resources(struct maker *maker, int self);
void maker_write_shared(struct maker *maker, int self);
void maker_write_load(struct maker *maker, int self, int host);
/* Chooses the load of the host from now on; none if `is_calm`. */
void maker_choose_load(struct maker *maker, struct maker_site *site, int host,
                       bool is_calm);
void maker_write_wish(struct maker *maker, int self);
/* The span of a parallel job. */
void maker_write_span(struct maker *maker, int self, int n_slots);
void maker_write_usage(struct maker *maker, int self);
/* The members: all except that one (from 1); 0: all. */
void maker_write_broker(struct maker *maker, int but);
/* Slots of the host that no policy can lend and that jobs may use. */
int maker_private_on(const struct maker_site *site, int host);
/* A pool and its plan, without a leaf for that site. */
void maker_write_pool(struct maker *maker, int but);

#endif
