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
 * shared leases in order of id. Source: ARCHITECTURE 2 "Contract" 2-4 and "Jobs" 7-9;
 * lsf.md 1.2-1.5. Layer: provider. */
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

/* ROW_BOOK, ROW_HIGH, and ROW_RUN of consumers (lease not empty). */
void provider_load(struct provider *provider, const struct row *row);

/* Brings the ledger in line with the export plan (at start; on reload): a new policy
 * opens a book at epoch 1 (shared: all but one slot, on its first host, the provider's;
 * exclusive: all the consumer's); an equal one keeps its split; a changed or shrunken
 * one is the next epoch (idle slots taken first); one that is gone is withdrawn. What
 * is in use stays until it ends; a new or larger lease waits for such slots, and for
 * those that the site's own jobs use: so tell those before, where they are known. A
 * lease that ended stays as the memory of its epoch; if its policy comes back, it goes
 * on above. What is drained counts as gone. The plan is borrowed until the next call.
 */
void provider_export(struct provider *provider, const struct export_plan *plan,
                     int64_t now_ms, struct effects *effects);

/* FREEZE_TIMEOUT, for freezes from now on. */
void provider_set_freeze_timeout(struct provider *provider, int64_t freeze_timeout_ms);

/* Who of other sites runs here; NULL: everybody. Borrowed until the next call. */
void provider_set_users(struct provider *provider, const struct user_map *users);

/* What the site's scheduler may use. `local_used`: slots of its own jobs on the host,
 * in use. Returns how many slots its own jobs may use there in all, not
 * below local_used where a lease is frozen or shrank: nothing new then. `max` is MXJ.
 */
int provider_local_max(const struct provider *provider, const char *host, int max,
                       int local_used);
/* Exported by all leases on this host; lent: held by consumers now. */
int provider_exported(const struct provider *provider, const char *host);
int provider_lent(const struct provider *provider, const char *host);
/* The ledger's record of a host, for a caller that asks about thousands of hosts again
 * and again; its address never changes. Then the two functions above for it. */
struct ledger_host;
const struct ledger_host *provider_host(struct provider *provider, const char *host);
const char *provider_host_name(const struct ledger_host *host);
int provider_host_local_max(const struct ledger_host *host, int max, int local_used);
int provider_host_lent(const struct ledger_host *host);

/* Memory or swap space (MB) that leases have on this host: its own jobs do without.
 * provider_changes grows whenever what is exported of hosts may be other than before.
 */
int64_t provider_space(const struct provider *provider, const char *host,
                       enum space_kind kind);
/* What the host has of it, exported or not; -1: not reported. */
int64_t provider_known_space(const struct provider *provider, const char *host,
                             enum space_kind kind);
/* Instances that all leases of one consumer have of a pool together; one for each, by
 * resource, pool, consumer. */
struct provider_pool {
    const char *resource, *consumer;
    int pool;
    int n_instances;
};
int provider_list_pools(const struct provider *provider, struct arena *arena,
                        struct provider_pool **pools);
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
/* An exclusive job, own or borrowed, runs on the host: nothing else starts there, and
 * to its leases the host looks down. */
void provider_set_used_exclusively(struct provider *provider, const char *host,
                                   bool is_taken);
/* Memory and swap space (MB) of the host, exported or not; -1: not reported. */
void provider_set_spaces(struct provider *provider, const char *host,
                         const int64_t mib[SPACES]);
void provider_set_waiting(struct provider *provider, int n_waiting_slots);

/* FREEZE, PROPOSE, DRAIN, STATE_ASK, LEASE_OPEN, RECALL from the broker. Answers with
 * STATE. */
void provider_broker_message(struct provider *provider, const struct msg *msg,
                             int64_t now_ms, struct effects *effects);
/* The broker's session began: every book's STATE goes out (0: it is lost, nothing is
 * sent until the next). n_books for HELLO. */
void provider_session(struct provider *provider, uint64_t session, int64_t now_ms,
                      struct effects *effects);
int provider_count_leases(const struct provider *provider);

/* START, judged [7]. `verdict` says what the site must do. */
enum provider_verdict {
    PROVIDER_ADMITTED, /* on record: store the run and start its guard */
    PROVIDER_KNOWN,    /* taken before: answer with the run as it is */
    PROVIDER_REFUSED,  /* decided against: the reason is in the answer */
};
/* For TAKEN: high-water mark (and the lease made) are among the effects, and STATE if
 * the lease was made; the site appends ROW_RUN in the same batch. For REFUSED the mark
 * likewise. ATTEMPT_STATE is the site's to send in every case. */
enum provider_verdict provider_run_start(struct provider *provider,
                                         const struct msg_start *start, int64_t now_ms,
                                         struct effects *effects, const char **reason);
/* LOST or ABSENT: what to answer about an attempt that has no run. */
enum attempt_state provider_run_unknown_state(const struct provider *provider,
                                              const struct run_id *run);
/* A consumer's run was suspended and has yielded its slots, which other runs of the
 * lease may use meanwhile; or it resumes, for which its slots must be free. */
void provider_run_set_yielded(struct provider *provider, const struct run_id *run,
                              bool is_yielded);
bool provider_run_may_resume(const struct provider *provider, const struct run_id *run);
/* A consumer's run ended (its slots are free) and, later, was acknowledged. */
void provider_run_ended(struct provider *provider, const struct run_id *run);
void provider_run_forgotten(struct provider *provider, const struct run_id *run);

/* Of the book at that place, slots in use whose time is over: they were recalled, and
 * the site is to end as many, until this says false. `is_own`: its own jobs use them.
 */
struct provider_overdue {
    const char *lease;
    int n_slots;
    bool is_own;
    const struct host_slots *hosts; /* all that is on them, where hosts go whole */
    int n_hosts;
};
bool provider_overdue_at(const struct provider *provider, int index,
                         struct arena *arena, struct provider_overdue *overdue);
/* Of its own jobs on the host: slots that count as that lease's. */
int provider_own_used(const struct provider *provider, const char *lease,
                      const char *host);

/* Lapsed freezes, withdrawn leases that emptied, STATEs that are due: on change, at
 * once, but for a lease that changes more than 20 times in a row: then ten a second;
 * else each 5 s, of what has ended each minute. */
void provider_tick(struct provider *provider, int64_t now_ms, struct effects *effects);
int64_t provider_wake_ms(const struct provider *provider);

/* A book as STATE would say it; false where there is none. Borrowed until the next
 * call. */
bool provider_find_lease(const struct provider *provider, const char *lease,
                         struct msg_state *state);
const char *provider_lease_id(const struct provider *provider, int index);

#endif
