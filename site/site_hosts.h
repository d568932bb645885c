/* SPDX-License-Identifier: Apache-2.0 */
/* site_hosts.h: the site's own hosts: which are there, in which session, heard when.
 *
 * A sublet-host says HELLO under a session number of its choice; of two connections
 * that claim one host the higher number has it. Then it lists its runs and says SYNCED:
 * from there on the host is ready. One that is silent for HOSTS_SILENT_MS, or has not
 * come for that time after the start, is away until it is heard again.
 *
 * Units: milliseconds. Order: hosts as configured. Layer: site. */
#ifndef SUBLET_SITE_SITE_HOSTS_H
#define SUBLET_SITE_SITE_HOSTS_H

#include <stdbool.h>
#include <stdint.h>

#include "model/effect.h"

struct site_host;
struct site_hosts;

/* `config` is borrowed for the life of the hosts. */
struct site_hosts *site_hosts_new(const struct site_host *config, int n_hosts);
void site_hosts_free(struct site_hosts *hosts);
/* Silence is borne so many times longer (site_config). */
void site_hosts_set_patience(struct site_hosts *hosts, int patience);
/* From here on they are waited for. */
void site_hosts_start(struct site_hosts *hosts, int64_t now_ms);

/* Others are configured now: those that stay keep their session. places[i] is where the
 * i-th stands now, -1: it is gone. `config` is borrowed. */
void site_hosts_change(struct site_hosts *hosts, const struct site_host *config,
                       int n_hosts, int *places, int64_t now_ms);

int site_hosts_count(const struct site_hosts *hosts);
const char *site_hosts_name(const struct site_hosts *hosts, int index);
int site_hosts_max(const struct site_hosts *hosts, int index); /* MXJ */
/* Of one that is leaving: what it had; 0: of another, or not known. */
int site_hosts_stay(const struct site_hosts *hosts, int index);
/* Not configured any more, and away: it may never be back. */
bool site_hosts_is_gone(const struct site_hosts *hosts, int index);
/* It starts no jobs now: its RUNWINDOW or DISPATCH_WINDOW is closed. `local_ms` as in
 * sched/window.h. */
bool site_hosts_is_window_closed(const struct site_hosts *hosts, int index,
                                 int64_t local_ms);
/* The index, or -1. */
int site_hosts_find(const struct site_hosts *hosts, const char *name);
/* Whom this connection and session belong to: the index, or -1 for none now. */
int site_hosts_speaker(const struct site_hosts *hosts, const struct peer *from,
                       uint64_t session);

/* Runs may be started there. */
bool site_hosts_is_ready(const struct site_hosts *hosts, int index);
bool site_hosts_is_away(const struct site_hosts *hosts, int index);
/* The boot that the session is of; "" while there is none. */
const char *site_hosts_boot(const struct site_hosts *hosts, int index);
uint64_t site_hosts_session(const struct site_hosts *hosts, int index);

/* HOST_HELLO: answered with WELCOME, accepted or not. Returns the host's index where a
 * new session begins, else -1. */
int site_hosts_hello(struct site_hosts *hosts, const struct peer *from,
                     const struct msg *msg, int64_t now_ms, struct effects *effects);
/* HOST_SYNCED. */
void site_hosts_synced(struct site_hosts *hosts, int index);
/* Anything was heard. True where the host had been away, in the same session. */
bool site_hosts_heard(struct site_hosts *hosts, int index, int64_t now_ms);
/* It said HELLO long ago and its list never came to an end: some of it was lost. */
bool site_hosts_is_stuck(const struct site_hosts *hosts, int index, int64_t now_ms);
/* A speaker of no session here: it shall say HELLO again. */
void site_hosts_refuse(const struct peer *from, const struct msg *msg,
                       struct effects *effects);

void site_hosts_send(const struct site_hosts *hosts, int index, const struct msg *msg,
                     struct effects *effects);

/* The next host that has just gone away, or -1: call until then. */
int site_hosts_tick(struct site_hosts *hosts, int64_t now_ms);
int64_t site_hosts_wake_ms(const struct site_hosts *hosts);

#endif
