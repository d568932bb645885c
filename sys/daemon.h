/* SPDX-License-Identifier: Apache-2.0 */
/* daemon.h: functions for the main of every daemon: clock, signals, readiness, files.
 * Layer: sys. */
#ifndef SUBLET_SYS_DAEMON_H
#define SUBLET_SYS_DAEMON_H

#include <czmq.h>
#include <stdint.h>

#include "base/conf/conf.h"
#include "base/err.h"

/* Milliseconds since 1970: wall clock at the first call plus CLOCK_BOOTTIME since, so
 * it never jumps or goes back while the process lives. */
int64_t daemon_now_ms(void);
/* The offset of local time, for time windows. It changes with summer time, and when the
 * wall clock is set. */
int64_t daemon_utc_offset_ms(void);

/* Blocks SIGTERM, SIGINT, SIGHUP, SIGCHLD and ignores SIGPIPE, before any thread
 * starts (call first in main); then delivers them through the loop by signalfd.
 * `fn` gets the signal's number; returning -1 ends the loop. */
typedef int (*daemon_signal_fn)(int signal, void *arg);
void daemon_block_signals(void);
int daemon_watch_signals(zloop_t *loop, daemon_signal_fn fn, void *arg,
                         struct err *err) MUST_CHECK;

/* Raises the limit of open files to the maximum, since each connection needs one. Not
 * for processes that start user programs, since some fail with descriptors above 1,023.
 */
void daemon_raise_files(void);

/* Reads the command line of a daemon that takes one PATH or more: --help, --version
 * (`name` and the version), --accept-loss. Returns the index of the first PATH. After
 * these options, and after a wrong one (status 2, with the usage text), the process
 * ends. */
int daemon_read_options(int argc, char **argv, const char *name, const char *usage,
                        bool *accepts_loss);

/* Runs the loop until a handler returns -1. */
void daemon_run(zloop_t *loop);

/* "ready" on a line of its own on standard error, and sd_notify. */
void daemon_ready(void);
void daemon_stopping(void);

/* Reads files and directories into `conf`: every *.conf, lsb.*, lsf.* of a directory in
 * the order of names, without backups (*~, *.bak, *.rpmsave ...) and files of other
 * products of IBM, then those of lsbatch/CLUSTER/configdir below it, as LSF keeps them.
 * A file that cannot be read is a diagnostic (error, line 0). Files above 16 MiB are
 * refused. Relative KEY, KEY_FILE, SPOOL, STATE paths in a file are relative to the
 * working directory of the daemon. */
void daemon_conf_read(struct conf *conf, char *const *paths, int n_paths);

/* The time by which conditions of configuration files are judged now. */
struct conf_clock daemon_conf_clock(void);

/* Prints all diagnostics, "FILE:LINE: error: KEY: what, expected ...", a line each. */
void daemon_conf_print_diags(const struct conf *conf, FILE *to);

/* ERR_PARSE with the number of errors and the first of them; 0: there is none. */
int daemon_conf_first_error(const struct conf *conf, struct err *err);

/* A key that is read at the start only. ERR_STATE names the first one that has another
 * value now. */
struct daemon_conf_fixed {
    const char *key, *now, *wanted;
};
int daemon_conf_check_fixed(const char *section, const struct daemon_conf_fixed *keys,
                            size_t n_keys, struct err *err) MUST_CHECK;

/* Creates a directory, and its parents with mode 0755, so that others reach what stands
 * beside it; an existing one is fine. */
int daemon_make_directory(const char *path, int mode, struct err *err) MUST_CHECK;
/* The same for the directory that a file is in. */
int daemon_make_directory_of(const char *file, int mode, struct err *err) MUST_CHECK;
/* ERR_DENIED if other users cannot pass through a directory, or through one above it.
 */
int daemon_check_reach(const char *path, struct err *err) MUST_CHECK;

#endif
