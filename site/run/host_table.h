/* SPDX-License-Identifier: Apache-2.0 */
/* host_table.h: the table of the site's own hosts: their sessions, and which of them
 * are reachable.
 *
 * A sublet-host sends HELLO with a session number of its choice; if two connections
 * claim the same host, the higher number wins. Then it lists its runs and sends SYNCED;
 * from then on the host is ready. A host that is silent for HOSTS_SILENT_MS, or has not
 * connected for that time after the start, is away until it is heard again.
 *
 * A host without MXJ has as many slots as it reports CPUs. The journal keeps the latest
 * report, so that a restart does not change its slots; before the first one it has
 * none.
 *
 * Units: milliseconds. Order: hosts as configured. Layer: site. */
#ifndef SUBLET_SITE_RUN_HOST_TABLE_H
#define SUBLET_SITE_RUN_HOST_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "model/cpu.h"
#include "model/effect.h"
#include "model/row.h"

struct site_host;
struct host_table;

/* `config` is borrowed. */
struct host_table *host_table_new(const struct site_host *config, int n_hosts);
void host_table_free(struct host_table *hosts);
/* All timeouts are so many times longer (site_config). */
void host_table_set_patience(struct host_table *hosts, int patience);
/* The site starts: timeouts begin. */
void host_table_start(struct host_table *hosts, int64_t now_ms);

/* Other hosts are configured: those that stay keep their session. places[i] is the new
 * index of the i-th host; -1: it is removed. `config` is borrowed. */
void host_table_change(struct host_table *hosts, const struct site_host *config,
                       int n_hosts, int *places, int64_t now_ms,
                       struct effects *effects);

int host_table_count(const struct host_table *hosts);
const char *host_table_name(const struct host_table *hosts, int index);
/* MXJ, or the number of its CPUs; 0 if they are not known yet. */
int host_table_max(const struct host_table *hosts, int index);
void host_table_load_cpus(struct host_table *hosts, const struct row_cpus *row);
/* The host reports its CPUs, `row->host` aside. True if that changes its slots. */
bool host_table_set_cpus(struct host_table *hosts, int index,
                         const struct row_cpus *row, struct effects *effects);
/* The former slots of a host that is leaving; 0: any other host, or not known. */
int host_table_leaving_max(const struct host_table *hosts, int index);
/* The host is not configured any more, and away: it may never come back. */
bool host_table_is_gone(const struct host_table *hosts, int index);
/* It starts no jobs now: its RUNWINDOW or DISPATCH_WINDOW is closed. `local_ms` as in
 * base/window.h. */
bool host_table_is_window_closed(const struct host_table *hosts, int index,
                                 int64_t local_ms);
int host_table_find(const struct host_table *hosts, const char *name);
/* The host that this connection and session belong to: its index, or -1. */
int host_table_find_session(const struct host_table *hosts, const struct peer *from,
                            uint64_t session);

/* Its runs are known, and it takes orders. */
bool host_table_is_ready(const struct host_table *hosts, int index);
/* The journal is behind, and some host may have an unknown run with slots on any other
 * host, as only the first host of a run knows the run: a host has not connected since
 * the start; or one that is not configured, but has been a host of this site, was
 * refused; or the start is less than HOSTS_SILENT_MS ago, in which each host that runs
 * tries to connect. */
bool host_table_is_awaiting(const struct host_table *hosts);
/* The last such host that is not configured; NULL: none. */
const char *host_table_unknown(const struct host_table *hosts);
/* Its processors for jobs with affinity, as HELLO has them and AFFINITY of section Host
 * allows; NULL: it takes no such jobs. */
const struct cpu_topology *host_table_topology(const struct host_table *hosts,
                                               int index);
/* Runs may be started there: it is ready, and no other host is awaited. */
bool host_table_is_usable(const struct host_table *hosts, int index);
bool host_table_is_away(const struct host_table *hosts, int index);
/* What HOST_LOAD says of a host that another scheduler has: slots of jobs that the site
 * does not know, and whether it takes no job at all. True if that has changed. */
bool host_table_set_foreign(struct host_table *hosts, int index, int n_slots,
                            bool is_out);
int host_table_foreign(const struct host_table *hosts, int index);
bool host_table_is_out(const struct host_table *hosts, int index);
/* The boot of the host in its session; "": it has none. */
const char *host_table_boot(const struct host_table *hosts, int index);
uint64_t host_table_session(const struct host_table *hosts, int index);

/* HOST_HELLO: answered with WELCOME, accepted or not. Returns the index of the host if
 * a new session begins, else -1. A sender that does not prove to be that host is
 * refused. */
int host_table_hello(struct host_table *hosts, const struct peer *from,
                     const struct msg *msg, int64_t now_ms, struct effects *effects);
/* HOST_SYNCED. */
void host_table_synced(struct host_table *hosts, int index);
/* Any message of the host. True if it had been away, in the same session. */
bool host_table_heard(struct host_table *hosts, int index, int64_t now_ms);
/* It sent HELLO long ago, but never SYNCED: part of its list was lost. */
bool host_table_is_stuck(const struct host_table *hosts, int index, int64_t now_ms);
/* The sender has no session here: asks it to send HELLO again. */
void host_table_refuse(const struct peer *from, const struct msg *msg,
                       struct effects *effects);

/* Its sublet-host reports the nonces of runs. */
bool host_table_knows_nonces(const struct host_table *hosts, int index);
/* What WELCOME says: how far the journal is, and the own attempts whose runs a host
 * describes by RUN_FOUND; all runs, if the journal is behind. */
void host_table_set_mark(struct host_table *hosts, const struct journal_mark *mark,
                         uint64_t list_from, uint64_t list_to, bool is_behind);
void host_table_send(const struct host_table *hosts, int index, const struct msg *msg,
                     struct effects *effects);

/* The next host that has become away; -1: none. To be called until then. May end
 * host_table_is_awaiting. */
int host_table_tick(struct host_table *hosts, int64_t now_ms);
int64_t host_table_wake_ms(const struct host_table *hosts);

#endif
