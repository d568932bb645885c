/* SPDX-License-Identifier: Apache-2.0 */
/* hosts.h: where a site's sublet-hosts connect: a socket file in the spool for
 * those on this machine, and, with LISTEN, TCP with CURVE for the others, who share one
 * key. The sessions on it are site/site_hosts's: which host speaks is in its
 * HOST_HELLO.
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

/* "ipc://SPOOL/hosts.sock"; the caller frees it. */
char *hosts_endpoint(const char *spool);

#endif
