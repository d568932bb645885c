/* SPDX-License-Identifier: Apache-2.0 */
/* maker_parts.h: what the files that make a federation share: maker_sites.c chooses the
 * sites and writes their files, maker_pool.c a plan, maker.c what happens in them. */
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
    DISTURBED_S = 300, /* how long users and faults are at work */
};

struct maker_policy {
    int first_host, n_hosts;
    int n_slots;   /* 0: whole hosts, by RES_SELECT */
    bool is_named; /* "p1"; else its number */
    bool is_shared, is_demand;
    bool is_pool; /* the plan says who gets it; then nothing else does */
    int consumers[2], shares[2];
    bool is_drained[2], was_drained[2]; /* each consumer's lease: now, and ever */
    int n_consumers;
    int min_hold_s, lease_term_s; /* 0: not said */
    bool ends_lost;
    bool is_batch; /* no interactive jobs */
    int mem, swap; /* MB of each host; 0: none */
};

/* A shared resource, "lic", and what of it goes along with hosts. */
struct maker_licences {
    int n_placed[2];   /* instances at its places: the first hosts, and the others */
    int n_first;       /* hosts of the first place; 0: the site has none of it */
    int n_instances;   /* exported; 0: none */
    bool is_otherwise; /* defined unlike other sites' */
};

struct maker_site {
    int n_hosts;
    int slots[HOSTS_OF_SITE_MAX];
    bool is_changed[HOSTS_OF_SITE_MAX]; /* to be set right in the end */
    bool is_closed[HOSTS_OF_SITE_MAX];  /* likewise */
    bool was_closed[HOSTS_OF_SITE_MAX]; /* ever: its site may have been away when it was
                                           to be opened */
    int n_private;                      /* slots that no policy can lend */
    bool can_borrow;
    bool has_urgent, has_far, preempts;
    bool resizes;            /* some of its jobs, while they run */
    bool reserves_slots;     /* some of its queues do, and some fill the gaps */
    bool has_pool;           /* its queues on own hosts share them */
    bool has_commands;       /* before and after its jobs, and to stop and end them */
    int requeue_code;        /* its jobs that exit with that run again; 0: none */
    const char *shares;      /* of users in queue normal; NULL: none */
    int reclaim_s, freeze_s; /* 0: not said */
    struct maker_policy policies[POLICIES_MAX];
    int n_policies;
    struct maker_licences licences;
    int memory[HOSTS_OF_SITE_MAX]; /* MB that each host tells of; 0: it tells nothing */
    bool has_thresholds;           /* of load */
    int queue_length[HOSTS_OF_SITE_MAX], pages[HOSTS_OF_SITE_MAX];
    bool is_used[HOSTS_OF_SITE_MAX]; /* somebody is at the host */
    bool is_drained, was_drained;    /* the whole site */
    int n_jobs;
    int sizes[DISTURBED_S];     /* elements of each job; 0: no array */
    bool is_again[DISTURBED_S]; /* the job is one that runs again and again */
    int work_left_s;            /* slot seconds that its users may still ask for */
    bool has_other;             /* a second configuration, "s1-1.conf" ... */
    bool is_reloaded;           /* ... was given to it, to be set right in the end */
    bool has_more, was_more;    /* it has one host more; and was ever given to it */
};

struct maker_faults {
    const char *loss, *repeat; /* probabilities; NULL: none */
    int delay_s, reorder_s;
    const char *crashes; /* probability and longest time down; NULL: none */
    int sudden;          /* chance in 100 that a statement is a fault */
    int batch;           /* events that a daemon takes at a time; 0: all there are */
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
    bool has_loads; /* all hosts tell how loaded they are */
    char *body;
    size_t length;
    FILE *out;
};

/* In [low, high]. */
int maker_between(struct maker *maker, int low, int high);
bool maker_chance(struct maker *maker, int percent);
/* Into the text that is being written. */
void maker_say(struct maker *maker, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* One may be the consumer of those before it: all of them, then their files. */
void maker_choose_site(struct maker *maker, int self);
void maker_write_site(struct maker *maker, int self);
/* Another configuration of the same site: policies that are changed or gone, one host
 * more or less. */
void maker_write_other_site(struct maker *maker, int self);
/* Memory, swap space and shared resources (maker_grants.c): chosen with the policies;
 * the sections about them, those before the policies and those behind; what its hosts
 * tell; the requirement of a job that wants some of it where it is borrowed. */
void maker_choose_grants(struct maker *maker, struct maker_site *site);
void maker_write_resources(struct maker *maker, int self);
void maker_write_shared(struct maker *maker, int self);
void maker_write_load(struct maker *maker, int self, int host);
/* How loaded it is from now on: not at all where it is calm. */
void maker_choose_load(struct maker *maker, struct maker_site *site, int host,
                       bool is_calm);
void maker_write_wish(struct maker *maker, int self);
/* How the slots of a parallel job lie. */
void maker_write_shape(struct maker *maker, int self, int n_slots);
void maker_write_usage(struct maker *maker, int self);
/* Members: all but one (from 1); 0: all. */
void maker_write_broker(struct maker *maker, int but);
/* A pool and its plan, without a leaf of that one. */
void maker_write_pool(struct maker *maker, int but);

#endif
