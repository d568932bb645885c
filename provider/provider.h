/* SPDX-License-Identifier: Apache-2.0 */
/* provider.h: lending: the ledger of the slots that this site exports, and its fencing.
 *
 * The site is the only authority over its slots. The ledger says which slots of which
 * host a lease has, which side holds them under which epoch, whether the lease is
 * frozen, and which attempts of which consumer were admitted. Requests of the broker
 * and of consumers are checked against the ledger alone.
 *
 * Units: slots, milliseconds. Ownership: names are copied. Errors: a request that does
 * not hold is answered (STATE, ATTEMPT_STATE) and changes nothing. Order: leases by id;
 * the slots of own jobs are attributed first to slots that are not exported, then to
 * shared leases in order of id. Source: docs/design/safety.md "Contract" 2-4 and "Jobs"
 * 7-9; docs/design/leases.md "Export policies", "Distribution", "Shared resources",
 * "Shared leases". Layer: provider. */
#ifndef SUBLET_PROVIDER_PROVIDER_H
#define SUBLET_PROVIDER_PROVIDER_H

#include <stdbool.h>
#include <stdint.h>

#include "model/effect.h"
#include "provider/export/export.h"
#include "provider/user_map.h"

struct provider;
struct provider *provider_new(const char *site, int64_t freeze_timeout_ms);
void provider_free(struct provider *provider);
/* Messages that are repeated only in case one was lost are sent so many times less
 * often, in a simulated world where no message is lost. */
void provider_set_patience(struct provider *provider, int patience);
/* For simulated worlds: how long the slot hours of HOURS are; 0: an hour. Before
 * anything is loaded. */
void provider_set_hour(struct provider *provider, int64_t hour_ms);

/* ROW_BOOK, ROW_HIGH, and ROW_RUN of consumers (lease not empty). */
void provider_load(struct provider *provider, const struct row *row);

/* Brings the ledger in line with the export plan, at start and on reload.
 * A new policy opens a lease at epoch 1: if it is shared, one slot on its first host is
 * the consumer's and the others the provider's; if it is exclusive, all are the
 * consumer's. An equal policy keeps its split. A changed one gets the next epoch, and
 * idle slots are taken first. One that is gone or drained is withdrawn.
 * Slots in use stay until their jobs end. A new or larger lease waits for them, so
 * report the use of own jobs before. A lease that has ended stays as the memory of its
 * epoch, above which it continues if its policy comes back.
 * The plan is borrowed until the next call. */
void provider_export(struct provider *provider, const struct export_plan *plan,
                     int64_t now_ms, struct effects *effects);

/* From the next provider_export on, leases exist without slots, and no job starts on
 * them: `reason` says why. NULL: slots are lent. Borrowed until the next call. */
void provider_withhold(struct provider *provider, const char *reason);

/* The slots of the host change sides only together, because another scheduler than the
 * site's own has the host. */
void provider_set_whole(struct provider *provider, const char *host);
/* From now on a lease is frozen only once its idle hosts are held, so that the other
 * scheduler starts nothing there: FREEZE makes them candidates (provider_contract_at),
 * and provider_set_held says which of them are held. All slots of the provider on other
 * hosts then count as used. Nothing is held if that takes longer than
 * PROVIDER_PREPARE_FREEZES times FREEZE_TIMEOUT. */
enum { PROVIDER_PREPARE_FREEZES = 4 };
void provider_set_prepares(struct provider *provider);
/* False: the freeze is over, or was never accepted. */
bool provider_set_held(struct provider *provider, const char *lease, uint64_t freeze,
                       const char *const *hosts, int n_hosts, int64_t now_ms);

/* FREEZE_TIMEOUT, for later freezes. */
void provider_set_freeze_timeout(struct provider *provider, int64_t freeze_timeout_ms);

/* Which users of other sites may run here; NULL: all. Borrowed until the next call. */
void provider_set_users(struct provider *provider, const struct user_map *users);

/* Slots that all leases have on this host, and those that consumers hold now. */
int provider_exported(const struct provider *provider, const char *host);
int provider_lent(const struct provider *provider, const char *host);
/* The ledger's record of a host, whose address never changes: for a caller that looks
 * at thousands of hosts in every pass. It is added if there is none. */
struct ledger_host;
const struct ledger_host *provider_host(struct provider *provider, const char *host);
const char *provider_host_name(const struct ledger_host *host);
/* How many slots the site's own jobs may use on the host in all, at least `local_used`,
 * the number that they use now. `max` is MXJ. */
int provider_host_local_max(const struct ledger_host *host, int max, int local_used);
int provider_host_lent(const struct ledger_host *host);
/* Both of them at once. */
struct provider_host_slots {
    int local_max, lent;
};
struct provider_host_slots provider_host_slots(const struct ledger_host *host, int max,
                                               int local_used);
/* Of these, slots of exclusive leases and of pools: no rebalance returns them. */
int provider_host_lent_for_good(const struct ledger_host *host);
/* True while slots of the host that leases have are about to be divided anew: own jobs
 * use no more of them until then. */
bool provider_host_is_changing(const struct ledger_host *host);

/* Memory or swap space (MB) that leases have on this host. */
int64_t provider_space(const struct provider *provider, const char *host,
                       enum space_kind kind);
/* What the host has in all; -1: not reported. */
int64_t provider_known_space(const struct provider *provider, const char *host,
                             enum space_kind kind);
/* Instances that all leases of one consumer share in a pool of a resource. Listed by
 * resource, pool, consumer. */
struct provider_pool {
    const char *resource, *consumer;
    int pool;
    int n_instances;
};
int provider_list_pools(const struct provider *provider, struct arena *arena,
                        struct provider_pool **pools);
/* Grows whenever what is exported of hosts may have changed. */
uint64_t provider_changes(const struct provider *provider);

/* The site reports changes at the end of its step; a value holds until the next report.
 * STATE is sent at the next provider_tick() if that changes it. Slots of own jobs that
 * begin are reported before the next message is handled, as proposals are checked
 * against them. */
void provider_set_local_used(struct provider *provider, const char *host, int max,
                             int local_used);
/* Slots of suspended own jobs that have yielded them: they count as used as far as the
 * provider holds slots for them. */
void provider_set_local_yielded(struct provider *provider, const char *host,
                                int n_slots);
void provider_set_down(struct provider *provider, const char *host, bool is_down);
/* The host has not connected since the start: nothing starts there yet. Its slots count
 * all the same, so that a restart of the site is no loss of hosts. */
void provider_set_awaited(struct provider *provider, const char *host, bool is_awaited);
/* An exclusive job, own or borrowed, runs on the host. No other job starts there, and
 * STATE says that the host is down. */
void provider_set_used_exclusively(struct provider *provider, const char *host,
                                   bool is_taken);
/* Memory and swap space (MB) of the host, exported or not; -1: not reported. */
void provider_set_spaces(struct provider *provider, const char *host,
                         const int64_t mib[SPACES]);
void provider_set_waiting(struct provider *provider, int n_waiting_slots);
/* Slots that jobs wait for which the site does not know: of another scheduler. */
void provider_set_foreign_waiting(struct provider *provider, int n_waiting_slots);
/* How many commits the site's journal has. */
void provider_set_commits(struct provider *provider, uint64_t commits);
/* The journal was behind, and is to have so many commits now. STATE tells the broker,
 * which may know a contract that was lost: docs/design/safety.md "Journals that are
 * behind". Call it before provider_set_commits. */
void provider_doubt(struct provider *provider, uint64_t commits,
                    struct effects *effects);

/* FREEZE, PROPOSE, DRAIN, STATE_ASK, LEASE_OPEN, RECALL from the broker. Answers with
 * STATE. */
void provider_broker_message(struct provider *provider, const struct msg *msg,
                             int64_t now_ms, struct effects *effects);
/* The broker's session began: STATE of every lease is sent. 0: the session is lost, and
 * nothing is sent until the next one. */
void provider_session(struct provider *provider, uint64_t session, int64_t now_ms,
                      struct effects *effects);
int provider_count_leases(const struct provider *provider);

/* The lease at that index as another scheduler has to know it. */
struct provider_contract {
    const char *lease, *policy, *consumer;
    uint64_t epoch;
    bool ends_lost;           /* its jobs end with the contract (ON_LOST); else, and
                                 while it drains, they run on */
    const char *const *hosts; /* with slots of the consumer, in the policy's order */
    int n_hosts;
    uint64_t freeze;               /* of the candidates */
    const char *const *candidates; /* hosts that are idle and may become the consumer's,
                                      while the lease is frozen or is to be */
    int n_candidates;
};
/* False: it has ended, or has no such hosts. Texts are the provider's, lists are in the
 * arena. */
bool provider_contract_at(const struct provider *provider, int index,
                          struct arena *arena, struct provider_contract *contract);

/* The decision about a START: what the site must do. */
enum provider_verdict {
    PROVIDER_ADMITTED, /* on record: store the run and start its guard */
    PROVIDER_KNOWN,    /* admitted before: answer with the run as it is */
    PROVIDER_REFUSED,
};
/* Unless the attempt is known, the effects store its number as the highest decided one.
 * If it is admitted they also say that the lease is made, if it was not, and the site
 * appends ROW_RUN to the same batch. The site always sends ATTEMPT_STATE. `reason`: a
 * reason of the site's own to refuse the job, NULL for none; then why it is refused. */
enum provider_verdict provider_run_start(struct provider *provider,
                                         const struct msg_start *start, int64_t now_ms,
                                         struct effects *effects, const char **reason);
/* The consumer withdraws an attempt that has no run here, or none any more: it will
 * never be admitted. The effects store that. */
void provider_run_withdraw(struct provider *provider, const struct run_id *run,
                           struct effects *effects);
/* LOST or ABSENT: what to answer about an attempt that has no run. */
enum attempt_state provider_run_unknown_state(const struct provider *provider,
                                              const struct run_id *run);
/* What the consumer's STARTs told of its journal: it is behind if it is below that. */
struct journal_mark provider_run_mark(const struct provider *provider,
                                      const char *consumer);
/* A consumer's run was suspended and has yielded its slots, which other runs of the
 * lease may use meanwhile; or it resumes, for which its slots must be free. */
void provider_run_set_yielded(struct provider *provider, const struct run_id *run,
                              bool is_yielded, int64_t now_ms, struct effects *effects);
bool provider_run_may_resume(const struct provider *provider, const struct run_id *run);
/* A consumer's run ended (its slots are free) and, later, was acknowledged. */
void provider_run_ended(struct provider *provider, const struct run_id *run);
void provider_run_acknowledged(struct provider *provider, const struct msg_attempt *ack,
                               struct effects *effects);
/* It was withdrawn. */
void provider_run_forgotten(struct provider *provider, const struct run_id *run);

/* Recalled slots of the lease at that index that are in use after the deadline: the
 * site ends jobs on as many, until this returns false. */
struct provider_overdue {
    const char *lease;
    int n_slots;
    bool is_own;                    /* the site's own jobs use them */
    const struct host_slots *hosts; /* to empty, if whole hosts are recalled */
    int n_hosts;
};
bool provider_overdue_at(const struct provider *provider, int index,
                         struct arena *arena, struct provider_overdue *overdue);
/* Slots of the lease on the host that the site's own jobs use. */
int provider_own_used(const struct provider *provider, const char *lease,
                      const char *host);

/* Ends freezes that have timed out and withdrawn leases that are empty, and sends STATE
 * of leases that have changed or whose last STATE is old. */
void provider_tick(struct provider *provider, int64_t now_ms, struct effects *effects);
int64_t provider_wake_ms(const struct provider *provider);

/* The lease as in STATE; false if there is none. The result is valid until the next
 * call, whose result takes its memory. */
bool provider_find_lease(struct provider *provider, const char *lease,
                         struct msg_state *state);
const char *provider_lease_id(const struct provider *provider, int index);

#endif
