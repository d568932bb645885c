/* SPDX-License-Identifier: Apache-2.0 */
/* site_api.h: the requests of clients of a site: the command line, and the daemon on
 * their behalf. Each has one handler, in a file of its name; a handler answers its
 * request, at once or through site_client.h, and a request that is refused changes
 * nothing.
 *
 * Units: milliseconds. Ownership: the parts are borrowed for the time of one request.
 * Layer: site. */
#ifndef SUBLET_SITE_API_SITE_API_H
#define SUBLET_SITE_API_SITE_API_H

#include "consumer/consumer.h"
#include "model/effect.h"
#include "site/api/permission.h"
#include "site/client/site_client.h"
#include "site/config/site_config.h"
#include "site/exchange/exchange.h"
#include "site/exchange/site_uplink.h"
#include "site/job/history.h"
#include "site/job/job.h"
#include "site/job/queue_table.h"
#include "site/pass/pass_request.h"
#include "site/pass/resreq_cache.h"
#include "site/run/host_admin.h"
#include "site/run/host_table.h"
#include "site/run/runs.h"
#include "site/view/site_view.h"

/* The parts of a site that requests act on. A submission alone is checked against most
 * of them. */
struct site_api {
    const struct site_config *config;
    struct job_table *jobs;
    struct queue_table *queues;
    const struct fairshare_ledger *fairshare;
    struct resreq_cache *resreq_cache;
    const struct rusage_sources *rusage_sources;
    const struct capacity *capacity;
    struct host_table *hosts;
    struct runs *runs;
    struct consumer *consumer;
    struct site_uplink *uplink;
    struct waiters *waiters;
    struct terminals *terminals;
    struct lifecycle *life;
    const struct history *history;
    struct host_admin *host_admin;
    struct provider *provider;
    struct pass_request *pass_request;
    uint64_t *last_job; /* the highest id that a job was given */
    uint64_t nonce;     /* random, for a submission */
    struct journal_loss *loss;
    int64_t now_ms;   /* of the request */
    int64_t local_ms; /* the same as local time, for the windows of hosts */
    struct resize_requests *resize_requests;
};

/* A request: `msg` is of the kind that is named below. */
typedef void site_api_fn(struct site_api *api, const struct peer *from,
                         const struct msg *msg, struct effects *effects);

/* SUBMIT. Checks that the queue exists (none named: the default queue), 1 to SLOTS_MAX
 * slots, that the daemon can run jobs as this user, and that named hosts are known
 * ("h@site": of a lease that is made). A job that needs more slots than there are is
 * accepted: it pends, with that reason. */
site_api_fn submit_request;
/* All checks of SUBMIT but those of requirement strings and of the number of pending
 * jobs: what becomes of the job of that owner, which the row has as it was asked for,
 * and its queue. `bare_limits`: as in SUBMIT. */
struct row_job;
int submit_check(const struct site_api *api, const struct peer *owner,
                 uint64_t bare_limits, struct arena *arena, struct row_job *row,
                 int *queue, struct err *err) MUST_CHECK;
/* A job that ends as an orphan (-ti) depends on another one (-w). */
struct job_terms;
int submit_check_orphan(const struct job_terms *terms, struct err *err) MUST_CHECK;
/* Applies the rules of the queue, the application profile and the site to the spec:
 * defaults and limits of limits. */
struct job_spec;
int submit_check_rules(const struct site_api *api, int queue, uint64_t bare_limits,
                       struct arena *arena, struct job_spec *spec,
                       struct job_terms *terms, struct err *err) MUST_CHECK;
/* Whose bound is reached: {"user", "ann"}, {"group", "team"} or {"site", "north"}. */
struct pending_full {
    const char *key, *name;
};
/* MAX_PEND_JOBS and MAX_PEND_SLOTS of users, groups and the site, for so many jobs more
 * of so many slots each. Administrators have some places more than others. ERR_FULL if
 * pending jobs have to start first: `full` is set. ERR_BOUNDS if that would not help.
 */
int submit_bounds_pending(const struct site_api *api, const struct peer *from,
                          int n_more, int n_slots, struct pending_full *full,
                          struct err *err) MUST_CHECK;
/* USER_JOBS_SIZE: ERR_FULL if its user would have too much with that row and so many
 * jobs more. */
int submit_bounds_size(const struct site_api *api, const struct peer *from,
                       const struct row_job *row, int n_more,
                       struct err *err) MUST_CHECK;
/* The same for MAX_PEND_SLOTS alone. */
int submit_bounds_slots(const struct site_api *api, const struct peer *from,
                        int64_t n_more, struct err *err) MUST_CHECK;

/* JOB_CONTROL. KILL ends a pending job, and so does each signal that ends programs: its
 * state is EXIT without an exit code (LSF's TERM_OWNER). SUSPEND holds a pending job
 * (PSUSP). The signals STOP and TSTP are SUSPEND, CONT is RESUME, KILL is KILL. If some
 * jobs cannot take the action, the answer is an error, and the others have taken it. */
site_api_fn job_signal_request;

/* JOB_MOVE: requeue, switch to another queue, move to the top or the bottom. */
site_api_fn job_move_request;

/* JOB_MODIFY: a job, or an array, becomes another one. One that has started takes a run
 * limit, a memory limit, rerunnability and, on own hosts, requirements, whose rusage it
 * reserves from then on; it keeps its id, its
 * place and the time of its submission. All checks of SUBMIT apply, for its owner. */
site_api_fn job_modify_request;

/* JOB_RESIZE: other slots for running jobs (`resize`), fewer (`resize release`), no
 * more
 * (`resize cancel`). A user keeps within the -n min,max of a job that is resizable (sub
 * -ar, RESIZABLE_JOBS); an administrator may resize any running job. A slot of the
 * first host stays, since the command runs there. Jobs on borrowed hosts keep their
 * slots. Order: elements of an array by index. Source: docs/design/scheduling.md
 * "Resizable jobs", docs/design/leases.md "The consumer's side". */
site_api_fn job_resize_request;

/* ORPHAN (administrators): adopts or ends runs that the journal does not have. */
site_api_fn orphan_request;

/* QUEUE_CONTROL (administrators): open, close, activate or inactivate a queue. */
site_api_fn queue_control_request;

/* HOST_CONTROL (administrators): close or open a host. */
site_api_fn host_control_request;

/* JOB_GROUP: adds, deletes or changes a job group (site/job/job_group.h). Any user adds
 * one; its owner, the owner of one above it, and administrators delete and change it.
 * Administrators alone give it another owner. */
site_api_fn job_group_order_request;

/* RECONFIG (administrators): the daemon reads its configuration files again. */
site_api_fn reconfig_request;

/* QUERY: answered by a listing, from the journal (EFFECT_HISTORY), or by the broker. */
void query_request(struct site_api *api, struct site_view *view,
                   const struct peer *from, const struct msg *msg,
                   struct effects *effects);

/* JOB_PEEK: a piece of a job's output. Output that goes to a file is read there: the
 * answer is an error that names the file, except that the error stream alone is
 * answered as empty. While a job runs on borrowed hosts its output file does not exist
 * here yet. Output without a file is fetched from the job's host, directly or through
 * the provider; after a job has ended on a borrowed host its output is not kept. */
site_api_fn peek_request;
/* OUTPUT of a run of this site, from a host or a provider. True: a client asked for it.
 */
bool peek_output(struct site_api *api, const struct msg_output *output,
                 struct effects *effects);

/* QUERY_LEDGER (administrators): the books of a lease of this site. */
site_api_fn ledger_request;
/* LEDGER_ASK of the lease's other site, and its LEDGER. */
void ledger_request_asked(struct site_api *api, const struct msg *msg,
                          struct effects *effects);
void ledger_request_answered(struct site_api *api, const struct msg *msg,
                             struct effects *effects);

/* QUERY, SET_RECLAIM, SET_DRAIN and REBALANCE (all but QUERY for administrators):
 * passed on to the broker under a number of this site's own; and the broker's REPLY. */
site_api_fn forward_request;
void forward_reply(struct waiters *waiters, const struct msg_reply *reply,
                   struct effects *effects);

/* An interactive job ends when the connection of its user is lost for good. A job that
 * has an attempt gets SIGHUP, as from a terminal that is hung up, and is then killed in
 * the usual way in case it ignores that signal. */
/* The client's connection has closed. */
void hangup_gone(struct terminals *terminals, struct job_table *jobs,
                 struct lifecycle *life, uint64_t link, int64_t now_ms,
                 struct effects *effects);
/* Users who have not come back within TERMINALS_PATIENCE_MS. */
void hangup_late(struct terminals *terminals, struct job_table *jobs,
                 struct lifecycle *life, int64_t now_ms, struct effects *effects);

#endif
