/* SPDX-License-Identifier: Apache-2.0 */
/* view_rows.h: the listings that site_view.h is made of, and the parts of rows that
 * they share. Slots, not jobs, are counted everywhere, as bhosts and bqueues do.
 * Fields: docs/design/interfaces.md "JSON". Layer: site. */
#ifndef SUBLET_SITE_VIEW_VIEW_ROWS_H
#define SUBLET_SITE_VIEW_VIEW_ROWS_H

#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/value.h"
#include "model/msg.h"
#include "sched/resource/resource.h"
#include "site/view/site_view.h"

struct affinity_host;
struct reservation_config;
struct job;
struct page;

/* The slots that are reserved for a pending job, and the job whose reserved slots a
 * backfill job uses. */
struct fairshare_tree;
struct slot_counts;
void reservation_view_add_job(struct site_view *view, struct arena *arena,
                              struct value *row, const struct job *job);
/* "; it has reserved 3 of 4 slots ..."; "": none. */
const char *reservation_view_job_text(struct site_view *view, struct arena *arena,
                                      const struct job *job);
/* "; slots are kept: 1 for suspended job <7> until ..."; "" if none are that the job
 * could have. */
const char *reservation_view_kept_text(struct site_view *view, struct arena *arena,
                                       const struct job *job);
/* "; slots are reserved: 3 on hosts of its queue by job <2> until about ..."; "": other
 * jobs reserve none there. */
const char *reservation_view_others_text(struct site_view *view, struct arena *arena,
                                         const struct job *job);
/* Reserved slots that no backfill job uses: by host, of a queue, of an account. */
void reservation_view_count_hosts(struct site_view *view, struct slot_counts *own,
                                  struct slot_counts *borrowed);
int64_t reservation_view_queue_slots(struct site_view *view, int queue);
/* SLOT_RESERVE and BACKFILL of a queue. */
void reservation_view_add_queue(struct arena *arena, struct value *row,
                                const struct reservation_config *reserve);
int64_t reservation_view_account_slots(struct site_view *view,
                                       const struct fairshare_tree *tree, int account);
/* The processors that a running job has, as text and task by task (affinity). */
void affinity_view_add_job(struct site_view *view, struct arena *arena,
                           struct value *row, const struct job *job);
/* The processors that jobs with affinity may have on a host, and those that they have;
 * NULL: it is not this site's. */
void affinity_view_add_host(struct arena *arena, struct value *row,
                            const struct affinity_host *host);
/* `jobs`, by id. A job that is asked for by id or name is shown after its end too. */
void job_view_list(struct site_view *view, struct page *page,
                   const struct msg_query *query);
void queue_view_list(struct site_view *view, struct page *page,
                     const struct msg_query *query);
/* `hosts`: own hosts in the order of the configuration, with the slots in use by all
 * jobs, then borrowed hosts with the slots in use by jobs of this site. */
void host_view_list(struct site_view *view, struct page *page,
                    const struct msg_query *query);
/* `hosts -e`: the slots that each consumer holds and uses on own hosts. */
void export_view_list_hosts(struct site_view *view, struct page *page,
                            const struct msg_query *query);
/* The hosts that a listing (`hosts`, `load`) shows, in its order: indexes, own hosts
 * from 0, then borrowed hosts. A requirement string selects and orders them. ERR_PARSE
 * with LSF's sentence and this program's. */
int load_view_select(struct site_view *view, struct arena *arena,
                     const struct msg_query *query, int **places, int *n_places,
                     struct err *err) MUST_CHECK;
/* `load`: the load of the hosts that load_view_select gives. */
void load_view_list(struct site_view *view, struct page *page,
                    const struct msg_query *query);
/* Adds the resources and the load of a host, given by its index in host_resources.h;
 * -1: nothing is known. */
void load_view_add_resources(struct site_view *view, struct arena *arena,
                             struct value *row, int host, const char *architecture);
/* Adds the load thresholds of a host or queue: a row loadSched, a row loadStop. */
void load_view_add_thresholds(struct site_view *view, struct arena *arena,
                              struct value *row,
                              const struct load_thresholds *thresholds);
/* `users`: accounts of each fairshare scope in the order of its tree, then users with
 * jobs in queues without shares. */
void share_view_list(struct site_view *view, struct page *page,
                     const struct msg_query *query);
/* `limits`: each limit with its use, then the slots of own hosts. */
void limit_view_list(struct site_view *view, struct page *page,
                     const struct msg_query *query);
/* `runs`: those that the journal does not have. */
void orphan_view_list(struct site_view *view, struct page *page,
                      const struct msg_query *query);
/* Adds the slot pool and the fairshare accounts of a queue; more accounts if the queue
 * is asked for by name. */
void share_view_add_queue(struct site_view *view, struct arena *arena,
                          struct value *row, int queue, bool is_asked);
/* Adds an amount, given in thousandths of the resource's unit. */
void rusage_view_add_amount(struct arena *arena, struct value *row, const char *key,
                            int64_t milli);
struct rusage_totals;
/* Adds the total, reserved and available amounts of each resource of the host that jobs
 * have reserved; `place`: its index in the pass. */
void rusage_view_add_host(struct arena *arena, struct value *row,
                          const struct rusage_totals *seen, int place);
/* `hosts -s`: shared resources (ResourceMap), by location. */
void rusage_view_list_shared(struct site_view *view, struct page *page,
                             const struct msg_query *query);
/* `jgroups`: job groups by path, with the numbers of their jobs. */
void job_group_view_list(struct site_view *view, struct page *page,
                         const struct msg_query *query);
/* `groups`: user groups, then host groups. */
void config_view_list_groups(struct site_view *view, struct page *page,
                             const struct msg_query *query);
/* `apps`: application profiles with the slots of their jobs. */
void config_view_list_apps(struct site_view *view, struct page *page,
                           const struct msg_query *query);
/* `params`: the name of the site and the parameters of section Parameters; "what" is
 * LSF's word for those that bparams shows. */
void config_view_list_params(struct site_view *view, struct page *page,
                             const struct msg_query *query);
/* `exports`: export policies and their leases. */
void export_view_list(struct site_view *view, struct page *page,
                      const struct msg_query *query);

/* ---- what jobs come under: limits, commands before and after, exit codes. Limits are
 * an object: "run_s", "cpu_s" in seconds, "mem_kib" and its like in KiB, others counts.
 */

/* Of a job: its application profile and limits; its commands too if it is asked for. */
void config_view_add_job_rules(struct arena *arena, struct value *row,
                               const struct site_config *config, const struct job *job,
                               bool is_asked);
/* The same of a queue, as configured. */
void config_view_add_queue_rules(struct arena *arena, struct value *row,
                                 const struct queue_rules *rules);

/* The job slot limits of a queue as in bqueues: of the queue (max), per user (jl_u),
 * per processor (jl_p), per host (jl_h), per job (PROCLIMIT); and its users. */
void config_view_add_queue_limits(struct arena *arena, struct value *row,
                                  const struct site_config *config,
                                  const struct queue_config *queue);
/* The slots per user of a host (JL/U). */
void config_view_add_host_limit(struct arena *arena, struct value *row,
                                const struct site_config *config, const char *host);

/* ---- why a pending job does not run */

/* Lease by lease: an array of {"lease","reason"}, of all leases that are known here and
 * have not ended. The reason is the first of several in the order in which they would
 * have to be removed. NULL: the job does not wait for slots, but for other jobs, a time
 * or its queue. Source: docs/design/leases.md "Running jobs". */
struct value *pending_reason_view_leases(struct site_view *view, struct arena *arena,
                                         const struct job *job);
/* Part by part of its requirement: an array of {"part","hosts","of"}, of the parts that
 * some host does not meet; NULL: every host meets the requirement. A part is what
 * stands between the outermost && of a selection (of the job's -R, its application's,
 * its queue's RES_REQ); each is matched by itself, over the hosts that the queue and -m
 * allow. The type of the local host is a part if no other part names a type.
 * Source: docs/design/resreq.md. */
struct value *pending_reason_view_unmet(struct site_view *view, struct arena *arena,
                                        const struct job *job);

/* What is left of resources that jobs reserve, at this moment. */
struct rusage_pass *rusage_view_left(struct site_view *view, struct arena *arena);

#endif
