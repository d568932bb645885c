/* SPDX-License-Identifier: Apache-2.0 */
/* hosts.h: where a site's sublet-hosts connect: a socket file in the spool for
 * those on this machine, and, with LISTEN, TCP with CURVE for the others. There the key
 * tells which host speaks: HOST_KEYS has one for each. HOST_KEY is one for all of them.
 * The sessions, and which host may have one, are site/run/host_table.h's.
 *
 * Ownership: loop and shell are borrowed; the setup until hosts_new returns.
 * Errors: as wire.h has them, for keys and endpoints.
 * Layer: site/io. */
#ifndef SUBLET_SITE_IO_HOSTS_H
#define SUBLET_SITE_IO_HOSTS_H

#include "site/config/site_config.h"
#include "sys/shell.h"

struct hosts;
int hosts_new(zloop_t *loop, struct shell *shell, const struct site_setup *setup,
              struct hosts **hosts, struct err *err) MUST_CHECK;
void hosts_free(struct hosts *hosts); /* NULL is fine */

/* The keys of hosts as they are on the disk now: reads them, and on success makes them
 * the only ones. A connection of another key is not heard any more. */
int hosts_reload(struct hosts *hosts, const struct site_setup *setup,
                 struct err *err) MUST_CHECK;

/* "ipc://SPOOL/hosts.sock"; the caller frees it. */
char *hosts_endpoint(const char *spool);

#endif
