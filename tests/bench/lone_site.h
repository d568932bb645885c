/* SPDX-License-Identifier: Apache-2.0 */
/* lone_site.h: a site's step machine in the benchmark's own process, without a store
 * and without hosts. Its jobs are loaded like rows of a journal, and its hosts send
 * only HELLO and SYNCED.
 *
 * lone_site_init prepares the configuration, which may be changed or read from a text
 * until lone_site_begin makes the site. */
#ifndef SUBLET_TESTS_BENCH_LONE_SITE_H
#define SUBLET_TESTS_BENCH_LONE_SITE_H

#include "site/config/site_config.h"
#include "site/site.h"

enum { LONE_SITE_NAME_SIZE = 16 };

struct journal;

struct lone_site {
    char (*hosts)[LONE_SITE_NAME_SIZE], (*queues)[LONE_SITE_NAME_SIZE],
        (*users)[LONE_SITE_NAME_SIZE];
    struct site_host *host_configs;
    struct queue_config *queue_configs; /* in the order of rising priority */
    struct site_config config;
    struct arena arena;      /* of the configuration and of strings */
    const char **res_reqs;   /* of jobs, used in rotation ... */
    int n_res_reqs;          /* ... 0: jobs have no requirements */
    struct journal *journal; /* also stores the jobs that are loaded; NULL: none */
    struct site *site;
    struct effects effects; /* of the last step, until the next tick */
    int64_t now_ms;
    uint64_t last_job;
};

void lone_site_init(struct lone_site *lone, int n_hosts, int host_slots, int n_queues,
                    int n_users);
void lone_site_release(struct lone_site *lone);
/* Reads the same hosts and queues from a text, with lines for section Parameters, for
 * all queues, for the `n_low` first (lowest) queues, and for the `n_high` last ones. */
struct lone_site_text {
    const char *parameters, *all, *low, *high;
    int n_low, n_high;
};
void lone_site_read(struct lone_site *lone, const struct lone_site_text *text);
/* Sets `n_strings` different requirements of jobs: a number from 1 on between the two
 * texts. */
void lone_site_require(struct lone_site *lone, const char *before, const char *behind,
                       int n_strings);
void lone_site_begin(struct lone_site *lone);
/* Ends the loading of rows. `last_id`: the highest id that a job has had. */
void lone_site_start(struct lone_site *lone, uint64_t last_id);

struct job_spec lone_site_spec(const struct lone_site *lone, int queue, int user,
                               int n_slots);
void lone_site_load_spec(struct lone_site *lone, const struct job_spec *spec);
void lone_site_load_job(struct lone_site *lone, int queue, int user, int n_slots);
/* Loads a job that uses all slots of the host. Call it once per host, in their order,
 * before other jobs are loaded; then, after all jobs, lone_site_load_runs for the rows
 * of their runs. */
void lone_site_load_running(struct lone_site *lone, int host,
                            const struct job_spec *spec);
void lone_site_load_runs(struct lone_site *lone, int n_slots);

struct peer lone_site_host(const struct lone_site *lone, int host);
/* Steps the site with a message and ignores the effects. */
void lone_site_hear(struct lone_site *lone, const struct peer *from, struct msg *msg);
/* HELLO and SYNCED of each host, without runs; with memory if jobs require some. */
void lone_site_hosts_come(struct lone_site *lone);
/* The same, with the run that was loaded for each host. */
void lone_site_runs_come(struct lone_site *lone);
/* A host sends SYNCED again: a pass is due, though nothing has changed. */
void lone_site_nudge(struct lone_site *lone);

/* One tick; returns the number of messages of that kind to hosts. */
int lone_site_tick(struct lone_site *lone, enum msg_kind kind);

#endif
