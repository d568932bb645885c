/* SPDX-License-Identifier: Apache-2.0 */
/* lone_site.h: a site's step machine in the benchmark's own process, alone, without a
 * store: its jobs come as rows of a journal, its hosts only say that they are there.
 *
 * lone_site_init sets the configuration up; it may be added to, or another be read,
 * until lone_site_begin makes the site. */
#ifndef SUBLET_TESTS_BENCH_LONE_SITE_H
#define SUBLET_TESTS_BENCH_LONE_SITE_H

#include "site/config/site_config.h"

enum { LONE_SITE_NAME_SIZE = 16 };

struct journal;

struct lone_site {
    char (*hosts)[LONE_SITE_NAME_SIZE], (*queues)[LONE_SITE_NAME_SIZE],
        (*users)[LONE_SITE_NAME_SIZE];
    struct site_host *host_configs;
    struct queue_config *queue_configs; /* of rising priority */
    struct site_config config;
    struct arena arena;    /* of a configuration that was read, and strings */
    const char **res_reqs; /* of jobs, in turn ... */
    int n_res_reqs;        /* ... 0: they require nothing */
    struct journal
        *journal; /* jobs that are loaded go there too; NULL: there is none */
    struct site *site;
    struct effects effects; /* of the last step, until the next tick */
    int64_t now_ms;
    uint64_t last_job;
};

void lone_site_init(struct lone_site *lone, int n_hosts, int host_slots, int n_queues,
                    int n_users);
void lone_site_release(struct lone_site *lone);
/* The same hosts and queues from a file: with these lines in section Parameters, and
 * these in all queues, in the first so many (the lowest), and in the last so many. */
struct lone_site_text {
    const char *parameters, *all, *low, *high;
    int n_low, n_high;
};
void lone_site_read(struct lone_site *lone, const struct lone_site_text *text);
/* So many different ones, by a number from 1 on between the two texts. */
void lone_site_require(struct lone_site *lone, const char *before, const char *behind,
                       int n_strings);
void lone_site_begin(struct lone_site *lone);
/* All rows are loaded; `last_id`: that jobs have had, at least those that were. */
void lone_site_start(struct lone_site *lone, uint64_t last_id);

struct job_spec lone_site_spec(const struct lone_site *lone, int queue, int user,
                               int n_slots);
void lone_site_load_spec(struct lone_site *lone, const struct job_spec *spec);
void lone_site_load_job(struct lone_site *lone, int queue, int user, int n_slots);
/* A job that runs there with all of its slots: of each host one, before any other job,
 * in their order; and behind all jobs, as in a journal, what they execute. */
void lone_site_load_running(struct lone_site *lone, int host,
                            const struct job_spec *spec);
void lone_site_load_runs(struct lone_site *lone, int n_slots);

struct peer lone_site_host(const struct lone_site *lone, int host);
/* A message comes; what comes of it is not looked at. */
void lone_site_hear(struct lone_site *lone, const struct peer *from, struct msg *msg);
/* HELLO and SYNCED of each, with no run, and with memory where jobs require some. */
void lone_site_hosts_come(struct lone_site *lone);
/* The same, each with the run that was loaded. */
void lone_site_runs_come(struct lone_site *lone);
/* A host says SYNCED once more: a pass is due, and nothing has changed. */
void lone_site_nudge(struct lone_site *lone);

/* One tick, and how many messages of the kind it has for hosts. */
int lone_site_tick(struct lone_site *lone, enum msg_kind kind);

#endif
