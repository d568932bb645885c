/* SPDX-License-Identifier: Apache-2.0 */
/* site_config.h: the configuration of a site: its sections are judged and turned into
 * one struct.
 *
 * Errors become diagnostics of `conf`. Units: milliseconds, slots. Ownership: all is in
 * conf's arena. Source: docs/design/leases.md "Export policies", docs/design/resreq.md
 * "Sections", "Select". Layer: site. */
#ifndef SUBLET_SITE_CONFIG_SITE_CONFIG_H
#define SUBLET_SITE_CONFIG_SITE_CONFIG_H

#include "base/conf/conf.h"
#include "provider/export/export.h"
#include "provider/user_map.h"
#include "sched/fairshare/fairshare.h"
#include "sched/limit/limit.h"
#include "sched/preempt/preempt.h"
#include "sched/queue/queue.h"
#include "sched/resreq/resreq.h"
#include "site/config/resource_config.h"

/* What an amount of a resource in rusage applies to. */
struct rusage_method {
    const char *resource;
    enum resreq_scope scope;
};

struct site_host {
    const char *name;
    int max;                  /* MXJ; if is_counted: the most that it may be */
    bool is_counted;          /* it has as many slots as CPUs, known when it connects */
    enum ncpus_unit cpus;     /* what counts as one then */
    const char *type, *model; /* "" or "!": as the host detects them */
    bool is_here;             /* HOSTS_HERE */
    struct window_list run_windows, dispatch_windows;
    bool has_affinity;                   /* AFFINITY: it takes jobs with affinity ... */
    const struct cpu_set *affinity_cpus; /* ... on these processors; NULL: on all */
    struct load_thresholds thresholds;   /* of load */
    bool is_leaving; /* no longer configured; kept until its last job has ended */
    int n_stay;      /* if it is leaving: its former slots, for suspended jobs; 0: not
                        known */
};

/* What the federation sees of the site: in the order of the key's words. */
enum overview { OVERVIEW_COUNTS, OVERVIEW_NAMES, OVERVIEW_NONE };

/* Numbers from first to last, both included. */
struct uid_range {
    int64_t first, last;
};

/* MAX_PEND_JOBS, MAX_PEND_SLOTS: elements of arrays count one by one. */
enum { PEND_JOBS_DEFAULT = 100000 }; /* of a user */
struct pend_bound {
    const char *user; /* or GROUP@: each of its users; or a group */
    int max;
};
struct pend_config {
    int of_site;   /* all pending jobs; 0: no bound */
    int of_others; /* of a user without a row */
    const struct pend_bound *bounds;
    int n_bounds;
    struct pend_bound *groups; /* of all users of a group together */
    int n_groups;
};
/* How many jobs of the user may be pending, or how many slots they may ask for. */
int pend_config_of_user(const struct pend_config *pend, const struct groups *groups,
                        const char *user);

/* Compute units: groups of own hosts that stand for the network's layout, such as
 * enclosures, racks of these, and so on. */
struct compute_unit_host {
    const char *name;
    int unit;
};
struct compute_unit_type {
    const struct compute_unit_host *hosts; /* by name, each once */
    int n_hosts;
    int n_units; /* numbered from 0 in file order */
};
struct compute_units {
    struct resreq_unit_types types;          /* COMPUTE_UNIT_TYPES, the finest first */
    const struct compute_unit_type *of_type; /* by type */
};
/* The type that jobs of the queue may have exclusively; -1: none, or it is unknown. */
int compute_units_exclusive_type(const struct compute_units *units,
                                 const struct queue_config *queue);
/* Jobs of the queue may have units of that type exclusively: it allows that type or a
 * coarser one. */
bool compute_units_may_exclude(const struct compute_units *units,
                               const struct queue_config *queue, int type);
/* The unit of that type that has the host; -1: none has. */
int compute_unit_of(const struct compute_units *units, int type, const char *host);

struct site_config {
    const char *name;
    int roles;
    const struct site_host *hosts; /* file order */
    int n_hosts;
    const struct queue_config *queues; /* file order */
    int n_queues;
    int64_t accept_ms; /* the longest JOB_ACCEPT_INTERVAL of them; 0: none has any */
    const char *default_queue;
    bool is_group_strict;          /* STRICT_UG_CONTROL */
    const char *default_project;   /* of jobs without -P; "default" */
    const char *default_job_group; /* DEFAULT_JOBGROUP, with %p and %u; "": none */
    struct groups groups;
    struct fairshare fairshare;
    struct slot_pools pools;
    const struct application *applications; /* file order */
    int n_applications;
    const char *default_application; /* "": none */
    struct job_rules rules;          /* of section Parameters, for all jobs */
    int64_t limit_unit_kib;          /* LSF_UNIT_FOR_LIMITS */
    int64_t terminate_ms;            /* JOB_TERMINATE_INTERVAL */
    bool has_thresholds;             /* of load, or conditions, anywhere */
    int64_t pg_idle_ms;              /* PG_SUSP_IT */
    int64_t load_interval_ms;   /* SBD_SLEEP_TIME; hosts report their load as often */
    const struct limit *limits; /* of queues, hosts, users, and Limit sections */
    int n_limits;
    struct preempt_policy preempt;
    struct export_plan exports;
    struct resource_config resource_config;
    int64_t reclaim_delay_ms; /* MC_RECLAIM_DELAY; 0: not configured */
    int64_t freeze_timeout_ms;
    int64_t start_timeout_ms; /* START_TIMEOUT, of jobs on borrowed hosts */
    bool writes_reports; /* JOB_REPORT: into the output files of jobs that ask for it */
    int64_t clean_period_ms;       /* ended jobs are removed after it */
    int64_t history_period_ms;     /* events of jobs are removed after it */
    enum overview overview;        /* OVERVIEW */
    int ledger_mib;                /* LEDGER_SIZE */
    int user_jobs_mib;             /* USER_JOBS_SIZE */
    int max_user_priority;         /* of -sp; 0: no user may set one */
    struct job_raise raise;        /* JOB_PRIORITY_OVER_TIME */
    int max_array_size;            /* elements of an array, and its largest index */
    struct pend_config pend;       /* MAX_PEND_JOBS */
    struct pend_config pend_slots; /* MAX_PEND_SLOTS */
    int64_t retry_ms;              /* SUB_TRY_INTERVAL */
    const char *lease_account;     /* LEASE_USER: the account of leased jobs; "": the
                                      daemon's own, for root one of lease_uids */
    struct uid_range lease_uids;   /* LEASE_UIDS */
    const char *withheld;          /* why no slots are lent; NULL: they are */
    struct user_map users;   /* UserMap: other accounts of leased jobs, by their user */
    const char *own_account; /* of the daemon, where leased jobs run as it; else "" */
    int64_t daemon_uid; /* 0: jobs run as their users; else only its own may submit */
    const char *const *admins; /* users and user groups besides root and the daemon's */
    int n_admins;
    struct compute_units units;          /* section ComputeUnit */
    bool is_resreq_lenient;              /* LSF_STRICT_RESREQ=N */
    bool is_sched_by_slot;               /* PARALLEL_SCHED_BY_SLOT */
    bool is_reserved_per_slot;           /* RESOURCE_RESERVE_PER_SLOT */
    const struct rusage_method *methods; /* section ReservationUsage */
    int n_methods;
    const char *const *preemptable; /* PREEMPTABLE_RESOURCES */
    int n_preemptable;
    bool is_slurm;     /* SCHEDULER: Slurm has the hosts, and starts all jobs there */
    bool is_alone;     /* there is no broker */
    bool has_standbys; /* BROKER lists several */
    /* Of simulated worlds; 0 in a daemon. */
    int patience;    /* if no message can be lost, timeouts are so many times longer */
    bool is_prompt;  /* USAGE is sent at each change, since a message costs nothing */
    int64_t hour_ms; /* how long the slot hours of HOURS are */
};

/* A broker, and the file with its public key. */
struct site_broker {
    const char *endpoint, *key;
};

/* What commands of Slurm are run, and what is given to jobs of leases. */
struct site_slurm {
    const char *conf, *bin, *partition, *account; /* SLURM_CONF ...; "": default */
    const char *spool;                            /* SLURM_SPOOL: all nodes see it */
    int64_t term_ms;     /* SLURM_TERM: leases end so long after the last renewal */
    int64_t interval_ms; /* SLURM_INTERVAL, between two looks at the cluster */
};

/* SLURM_BORROW_*: borrowed hosts as nodes of the site's own Slurm cluster. */
struct site_slurm_borrow {
    const char *partition; /* and queue; NULL: there are no such nodes */
    const char *slurmd;    /* what starts it at the providers */
    int n_nodes;           /* at one time */
    int64_t idle_ms, stay_ms;
};

/* What only the daemon needs is beside what the step machine gets. */
struct site_setup {
    struct site_config config;
    struct site_broker *brokers; /* in the order of BROKER; none: alone */
    int n_brokers;
    const char *broker, *broker_key; /* both as they are written; NULL: alone */
    const char *key;
    const char *spool;
    const char *socket;                /* default SPOOL/sublet.sock */
    const char *http_host, *http_port; /* NULL: no metrics; "*": all addresses */
    const char *const *http_hosts;     /* HTTP_HOSTS */
    int n_http_hosts;
    const char *listen;    /* NULL: no hosts on other machines */
    const char *host_keys; /* directory of their public keys, HOST.key; NULL: none */
    const char *host_key;  /* public key that any of them may have; NULL: none */
    const char **hosts_here;
    int n_hosts_here;
    /* Given to the hosts of HOSTS_HERE: */
    const char **elims; /* ELIM */
    int n_elims;
    const char *local_resources; /* LSF_LOCAL_RESOURCES; NULL: none */
    struct site_slurm slurm;     /* with SCHEDULER = slurm */
    struct site_slurm_borrow slurm_borrow;
};

/* True if there is a Site section. Errors: no NAME or SPOOL; BROKER without KEY and
 * BROKER_KEY, or with another number of keys than one, or one for each broker; a broker
 * twice; a host or queue twice; an unknown host in HOSTS_HERE, PER_HOST or HOSTS;
 * no queue; whatever the readers of other sections find. */
bool site_config_read(struct conf *conf, struct site_setup *setup);
/* For a simulation: of section Site only NAME is needed; nothing is connected, and the
 * site is not alone. */
bool site_config_read_simulated(struct conf *conf, struct site_setup *setup);

/* What is known only where the daemon runs. */
struct site_machine {
    int64_t uid;            /* of the daemon's own account; 0: root */
    const char *user;       /* its name */
    int64_t lease_user_uid; /* of the account LEASE_USER; -1: there is none */
    const char
        *uids_taken; /* the account that has a number of lease_uids; NULL: none */
};
/* Decides under which account leased jobs run, and fills in daemon_uid, lease_account
 * and withheld. Errors: LEASE_USER is no account, or root's; LEASE_UIDS has numbers
 * that are somebody's. */
void lease_user_judge(struct conf *conf, const struct site_machine *machine,
                      struct site_config *config);
/* The accounts that jobs of users of that site run as here, separated by commas, each
 * once; "": none. Only where UserMap or LEASE_USER name them all. */
const char *lease_user_accounts(const struct site_config *config, const char *consumer,
                                struct arena *arena);

/* The rules for jobs of a queue (by index; -1: it is not configured any more) and of an
 * application ("": none): those of section Parameters, of the queue and of the profile.
 * An application that is not configured any more has no rules. */
struct job_rules_stack site_config_rules_stack(const struct site_config *config,
                                               int queue, const char *app);
/* The same, merged. */
void site_config_rules(const struct site_config *config, int queue, const char *app,
                       struct job_rules *rules);
/* No host of the site has a smaller CPU factor. */
double site_config_least_cpu_factor(const struct site_config *config);
/* A job with that spec is followed by post-execution commands. */
bool site_config_has_post(const struct site_config *config, int queue,
                          const struct job_spec *spec);

/* ---- requirement strings and rusage */

/* The rules by which the configuration has requirement strings read. */
struct resreq_rules resreq_config_rules(const struct site_config *config,
                                        const struct resources *resources);
/* The rules for a RES_SELECT or a condition, which has no local host. */
struct resreq_rules resreq_config_select_rules(const struct site_config *config,
                                               const struct resources *resources);
extern const struct resreq_local resreq_config_nowhere;

/* A condition of a queue (STOP_COND, RESUME_COND); it is valid. */
void threshold_config_compile(struct arena *arena, const struct site_config *config,
                              const struct resources *resources, const char *text,
                              struct resreq *condition);

/* RESREQ_SCOPE_DEFAULT: the configuration does not say. */
enum resreq_scope rusage_config_scope(const struct site_config *config,
                                      const char *resource);
/* Jobs that reserve the resource are preempted for it. */
bool rusage_config_is_preemptable(const struct site_config *config,
                                  const char *resource);

#endif
